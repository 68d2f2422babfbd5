"""PyTorch, on the GPU where there is one: the operator, its gradients, compilation, and the block of one precision."""

import numpy as np
import pytest

import vernier

torch = pytest.importorskip("torch")
import torch.autograd.forward_ad as forward_ad

operator = vernier.torch.matmul  # naming it registers the operator, whichever test comes first

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
KINDS = [torch.float32, torch.float64, torch.complex64, torch.complex128]


def integers(*shape, kind=torch.float64, seed=1):
    return torch.randint(-9, 10, shape, generator=torch.Generator().manual_seed(seed)).to(kind).to(DEVICE)


def shown(x):
    return x.detach().resolve_conj().cpu().numpy()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shapes", [((5,), (5,)), ((5,), (5, 3)), ((4, 5), (5,)), ((4, 5), (5, 3)), ((2, 1, 4, 5), (3, 5, 2)),
                                    ((2, 4, 5), (5,)), ((0, 5), (5, 3)), ((4, 0), (0, 3))])
def test_products_are_those_of_integers(kind, shapes):
    a, b = integers(*shapes[0], kind=kind), integers(*shapes[1], kind=kind, seed=2)
    t = vernier.matmul(a, b)
    assert isinstance(t, torch.Tensor) and t.dtype == kind
    assert np.array_equal(shown(t), np.matmul(shown(a), shown(b)))


def test_views_conjugates_and_out():
    frame = integers(12, 12, kind=torch.complex128) * (1 + 2j)
    b, out = integers(6, 4, kind=torch.complex128, seed=2), torch.empty((4, 6), dtype=torch.complex128, device=DEVICE).mT
    for a in (frame[:6, :6], frame[::2, ::2], frame[:6, :6].mT, frame[:6, :6].mH, frame[:6, :6].conj()):
        assert vernier.matmul(a, b, out=out) is out
        assert np.array_equal(shown(out), shown(a) @ shown(b))
    imaginary = frame.conj().imag[:6, :6]  # a lazy negation
    assert np.array_equal(shown(vernier.matmul(imaginary, b.real)), imaginary.resolve_neg().cpu().numpy() @ b.real.cpu().numpy())


@pytest.mark.parametrize("kind", [torch.float64, torch.complex128])
@pytest.mark.parametrize("shapes", [((5,), (5,)), ((5,), (5, 3)), ((4, 5), (5,)), ((4, 5), (5, 3)), ((2, 1, 3, 2), (3, 2, 2)),
                                    ((2, 4, 5), (5,)), ((2, 3, 4), (4, 2))])
def test_gradients(kind, shapes):
    a, b = (torch.randn(s, dtype=kind, requires_grad=True, device=DEVICE) for s in shapes)
    assert torch.autograd.gradcheck(lambda x, y: vernier.torch.matmul(x, y, "exact"), (a, b))
    assert vernier.matmul(a, b).requires_grad
    with torch.no_grad():
        assert not vernier.matmul(a, b).requires_grad


def test_second_derivatives():
    a, b = (torch.randn(3, 3, dtype=torch.float64, requires_grad=True, device=DEVICE) for _ in range(2))
    assert torch.autograd.gradgradcheck(lambda x, y: vernier.torch.matmul(x, y), (a, b))


def test_forward_mode_is_not_forgotten():
    a, b = (torch.randn(3, 3, dtype=torch.float64, requires_grad=True, device=DEVICE) for _ in range(2))
    assert torch.autograd.gradcheck(lambda x, y: vernier.torch.matmul(x, y), (a, b), check_forward_ad=True)
    plain, tangent = a.detach(), b.detach()
    with forward_ad.dual_level():
        for multiply in (vernier.matmul, vernier.torch.matmul):
            t = multiply(forward_ad.make_dual(plain, tangent), plain)
            assert torch.allclose(forward_ad.unpack_dual(t).tangent, tangent @ plain)


@pytest.mark.parametrize("multiply", [vernier.matmul, vernier.torch.matmul])
@pytest.mark.parametrize("transform", ["grad", "jacrev", "jacfwd", "hessian"])
def test_transforms_of_functions_are_pytorchs(multiply, transform):
    a, b = integers(3, 4), integers(4, 2, seed=2)
    total = (lambda x: x.sum()) if transform in ("grad", "hessian") else (lambda x: x)
    cost = lambda product: lambda x: total(product(x, b) ** 2)
    derivative = getattr(torch.func, transform)
    assert torch.allclose(derivative(cost(multiply))(a), derivative(cost(torch.matmul))(a))


@pytest.mark.parametrize("shapes, axes", [(((3, 4, 5), (3, 5, 2)), (0, 0)), (((3, 4, 5), (5, 2)), (0, None)), (((4, 5), (5, 2, 3)), (None, 2)),
                                          (((3, 5), (5, 2)), (0, None)), (((3, 2, 4, 5), (3, 5)), (0, 0)), (((3, 5), (3, 5)), (0, 0)),
                                          (((4, 3, 5), (2, 5, 6)), (1, None)), (((5,), (3, 2, 5, 4)), (None, 0))])
def test_vmap_is_pytorchs(shapes, axes):
    a, b = integers(*shapes[0]), integers(*shapes[1], seed=2)
    mapped = lambda product: torch.func.vmap(product, in_dims=axes)(a, b)
    assert torch.equal(mapped(vernier.matmul), mapped(torch.matmul))
    gradients = lambda product: torch.func.vmap(torch.func.grad(lambda x, y: (product(x, y) ** 2).sum(), (0, 1)), in_dims=axes)(a, b)
    for own, pytorchs in zip(gradients(vernier.matmul), gradients(torch.matmul)):
        assert torch.allclose(own, pytorchs)


@pytest.mark.parametrize("shapes", [((4, 5), (5, 3)), ((2, 4, 5), (5,))])
def test_the_operator_passes_opcheck(shapes):
    a, b = (torch.randn(s, dtype=torch.float64, requires_grad=True, device=DEVICE) for s in shapes)
    torch.library.opcheck(torch.ops.vernier.matmul.default, (a, b, "fp64"))


def test_a_compiled_program_holds_the_operator():
    f = torch.compile(lambda a, b: vernier.torch.matmul(a, b, "exact") + 1, fullgraph=True, backend="aot_eager")
    assert f(torch.tensor([[1e16, 1.0, -1e16]], dtype=torch.float64, device=DEVICE),
             torch.ones(3, 1, dtype=torch.float64, device=DEVICE)).item() == 2.0


def test_inside_the_block_modules_keep_the_contract():
    layer = torch.nn.Linear(3, 1, dtype=torch.float64, device=DEVICE)
    with torch.no_grad():
        layer.weight.fill_(1)
        layer.bias.fill_(0.5)
    x = torch.tensor([[1e16, 1.0, -1e16]], dtype=torch.float64, device=DEVICE)
    with vernier.torch.precision("exact"), vernier.record() as reports:
        results = [layer(x), x @ layer.weight.T + 0.5, torch.matmul(x, layer.weight.T) + 0.5, torch.bmm(x[None], layer.weight.T[None]) + 0.5]
        assert (torch.ones(2, 2, dtype=torch.int64) @ torch.ones(2, 2, dtype=torch.int64) == 2).all()
    assert all(r.item() == 1.5 for r in results) and len(reports) == 4
    results[0].sum().backward()
    assert torch.equal(layer.weight.grad, x)


@pytest.mark.parametrize("call, error, words", [
    (lambda: vernier.matmul(torch.eye(3, dtype=torch.int64), torch.eye(3)), TypeError, "int64"),
    (lambda: vernier.matmul(torch.eye(3), torch.eye(3).double()), TypeError, "float32"),
    (lambda: vernier.matmul(torch.eye(3), np.eye(3, dtype="float32")), TypeError, "library"),
    (lambda: vernier.matmul(torch.eye(3), torch.eye(3).to_sparse()), ValueError, "to_dense"),
    (lambda: vernier.matmul(torch.eye(3), torch.eye(3, device="meta")), ValueError, "meta"),
    (lambda: vernier.matmul(torch.eye(3), torch.eye(3, requires_grad=True), report=True), ValueError, "no_grad"),
    (lambda: vernier.beyond.matmul(torch.eye(3, dtype=torch.float64, requires_grad=True), torch.eye(3).double()), ValueError, "detach"),
    (lambda: vernier.solve(torch.eye(3, requires_grad=True), torch.ones(3)), ValueError, "detach"),
    (lambda: vernier.torch.precision("fp65"), ValueError, "fp65")])
def test_mistakes_are_refused_in_one_message(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_beyond_double():
    a, b = torch.randn(6, 7, dtype=torch.float64).to(DEVICE), torch.randn(7, 5, dtype=torch.float64).to(DEVICE)
    on_cpu = vernier.beyond.matmul(shown(a), shown(b))
    assert np.array_equal(vernier.beyond.matmul(a, b).numpy(), on_cpu.numpy())
    assert np.array_equal(shown(vernier.beyond.matmul_ends(a, b).low), vernier.beyond.matmul_ends(shown(a), shown(b)).low)
    z = torch.complex(a, -a)
    assert np.array_equal(vernier.beyond.matmul(z, z.mH).numpy(), vernier.beyond.matmul(shown(z), shown(z.mH)).numpy())
    s = torch.diag(torch.tensor([2.0, 4.0, 8.0], dtype=torch.float64, device=DEVICE))
    inverse, d = vernier.beyond.verified_inverse(s), vernier.beyond.verified_determinant(s)
    assert inverse.low[1, 1] <= 0.25 <= inverse.high[1, 1] and inverse.high.device == s.device
    assert d.low * 2.0**d.exponent <= 64 <= d.high * 2.0**d.exponent and 1 < vernier.beyond.verified_definite(s) <= 2


def test_solvers_and_prepared_factors():
    a, b = (torch.randn(s, dtype=torch.float64, device=DEVICE) for s in ((9, 9), (9,)))
    x, certificate = vernier.solve(a, b, report=True)
    assert x.shape == (9,) and certificate.ok and torch.allclose(a @ x, b)
    assert torch.allclose(vernier.lu_factor(a).solve(b), x) and torch.allclose(vernier.cholesky(a @ a.mT).solve(a @ (a.mT @ x)), x)
    assert torch.equal(vernier.prepare(a, contract="fp64+reproducible") @ a, vernier.matmul(a, a, "fp64+reproducible"))
    assert torch.allclose(vernier.einsum("ij,jk,k->i", a, a, b), a @ (a @ b))
