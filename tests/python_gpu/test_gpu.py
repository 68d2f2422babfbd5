"""CuPy, PyTorch and JAX on a GPU: exact products, streams, capture, solvers, refusals. Run on a machine that has them:

    python -m pytest tests/python_gpu
"""

import os
from fractions import Fraction

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import cupy
import jax
import numpy as np
import pytest
import torch

import vernier

jax.config.update("jax_enable_x64", True)
KINDS = ["float32", "float64", "complex64", "complex128"]


def integers(*shape, kind="float64", seed=1):
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(kind)


def spread(m, n, kind="float64", seed=1):
    generator = np.random.default_rng(seed)
    return ((generator.random((m, n)) - 0.5) * np.exp(0.5 * generator.standard_normal((m, n)))).astype(kind)


def largest_error(t, a, b, entries=40):
    """The largest |t - ab| / (|a||b|) of some entries, exactly."""
    worst, generator = Fraction(0), np.random.default_rng(9)
    for i, j in zip(generator.integers(t.shape[0], size=entries), generator.integers(t.shape[1], size=entries)):
        terms = [Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a[i], b[:, j])]
        worst = max(worst, abs(Fraction(float(t[i, j])) - sum(terms)) / sum(map(abs, terms)))
    return worst


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shapes", [((5,), (5,)), ((5,), (5, 3)), ((4, 5), (5,)), ((64, 80), (80, 48)), ((2, 1, 4, 5), (3, 5, 2)),
                                    ((2, 4, 5), (5,)), ((3, 40, 50), (50, 30)), ((0, 5), (5, 3)), ((4, 0), (0, 3)), ((0, 4, 5), (5, 3))])
def test_products_of_cupy_are_those_of_integers(kind, shapes):
    a, b = integers(*shapes[0], kind=kind), integers(*shapes[1], kind=kind, seed=2)
    t = vernier.matmul(cupy.asarray(a), cupy.asarray(b))
    assert isinstance(t, cupy.ndarray) and t.dtype == kind and np.array_equal(t.get(), np.matmul(a, b))


@pytest.mark.parametrize("contract, bits", [("fp64", 53), ("fp64+reproducible", 53), ("bits(60)", 60)])
@pytest.mark.parametrize("n", [96, 1500])
def test_every_entry_keeps_its_bound(contract, bits, n):
    a, b = spread(n, n), spread(n, n, seed=2)
    t, report = vernier.matmul(cupy.asarray(a), cupy.asarray(b), contract, report=True)
    assert largest_error(t.get(), a, b) <= Fraction(n + 1, 2**bits) + Fraction(1, 2**53)
    if "reproducible" in contract:
        assert np.array_equal(t.get(), vernier.matmul(a, b, contract)) and report.scheme == "residues"


def test_exact_is_the_rounded_sum_and_the_cpus_bits():
    a, b = spread(200, 700), spread(700, 100, seed=2)
    assert np.array_equal(vernier.matmul(cupy.asarray(a), cupy.asarray(b), "exact").get(), vernier.matmul(a, b, "exact"))


def test_views_and_out_of_cupy():
    frame, b = cupy.asarray(integers(40, 40)), cupy.asarray(integers(12, 9, seed=2))
    for a in (frame[:12, :12], frame[:12, 1:13].T, frame[::2, ::2][:12, :12], frame[::-2, 4:28:2]):
        for out in (cupy.full((len(a), 9), 7.0), cupy.full((9, len(a)), 7.0).T, cupy.full((2 * len(a), 18), 7.0)[::2, ::2]):
            assert vernier.matmul(a, b, out=out) is out and np.array_equal(out.get(), a.get() @ b.get())


@pytest.mark.parametrize("n", [64, 2048])
def test_products_wait_for_what_their_stream_did_before(n):
    a = integers(n, n)
    expected = a @ a
    for library in ("cupy", "torch"):
        if library == "cupy":
            with cupy.cuda.Stream(non_blocking=True) as stream:
                x = cupy.zeros((n, n))
                for _ in range(50):
                    x = x + 1  # work in front
                x = x * 0 + cupy.asarray(a)
                t = vernier.matmul(x, x) + 0
                stream.synchronize()
            got = t.get()
        else:
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                x = torch.zeros((n, n), dtype=torch.float64, device="cuda")
                for _ in range(50):
                    x = x + 1
                x = x * 0 + torch.from_numpy(a).cuda()
                t = vernier.matmul(x, x) + 0
                stream.synchronize()
            got = t.cpu().numpy()
        assert np.array_equal(got, expected)


@pytest.mark.parametrize("n", [64, 2048])
def test_a_captured_product_replays_on_new_data(n):
    a, b = (torch.from_numpy(integers(n, n, seed=s)).cuda() for s in (1, 2))
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        vernier.torch.matmul(a, b)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        t = vernier.torch.matmul(a, b, "fp64")
    for seed in (3, 4):
        a.copy_(torch.from_numpy(integers(n, n, seed=seed)))
        t.fill_(7)
        graph.replay()
        torch.cuda.synchronize()
        assert np.array_equal(t.cpu().numpy(), a.cpu().numpy() @ b.cpu().numpy())


def test_a_compiled_model_trains_the_same_twice():
    def train():
        torch.manual_seed(0)
        layer = torch.nn.Linear(64, 8, dtype=torch.float64, device="cuda")
        step = torch.compile(lambda x: (vernier.torch.matmul(x, layer.weight.mT, "fp64+reproducible") ** 2).sum())
        for _ in range(3):
            step(torch.ones(4, 64, dtype=torch.float64, device="cuda") / 3).backward()
            with torch.no_grad():
                layer.weight -= 1e-3 * layer.weight.grad
                layer.weight.grad = None
        return layer.weight.detach()

    assert torch.equal(train(), train())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shapes", [((5,), (5, 3)), ((64, 80), (80, 48)), ((2, 1, 4, 5), (3, 5, 2)), ((3, 40, 50), (50, 30))])
def test_products_of_jax_are_those_of_integers(kind, shapes):
    a, b = integers(*shapes[0], kind=kind), integers(*shapes[1], kind=kind, seed=2)
    t = jax.jit(vernier.jax.matmul)(jax.numpy.asarray(a), jax.numpy.asarray(b))
    assert t.devices() == {jax.devices("gpu")[0]} and np.array_equal(np.asarray(t), np.matmul(a, b))


def test_vmap_and_gradients_of_jax():
    a, b = jax.numpy.asarray(integers(3, 4, 5)), jax.numpy.asarray(integers(3, 5, 2, seed=2))
    assert np.array_equal(jax.jit(jax.vmap(vernier.jax.matmul))(a, b), np.matmul(np.asarray(a), np.asarray(b)))
    cost = lambda multiply: lambda x, y: (multiply(x, y) ** 2).sum()
    for x, y in zip(jax.grad(cost(vernier.jax.matmul), (0, 1))(a[0], b[0]), jax.grad(cost(jax.numpy.matmul), (0, 1))(a[0], b[0])):
        np.testing.assert_allclose(x, y, rtol=1e-13)


@pytest.mark.parametrize("make", [cupy.asarray, lambda x: torch.from_numpy(x).cuda()])
def test_solvers_where_the_matrix_lies(make):
    a, b = spread(300, 300), spread(300, 2, seed=2)
    x, certificate = vernier.solve(make(a), make(b), report=True)
    assert type(x) is type(make(b)) and certificate.ok
    assert vernier.lu_solve(vernier.lu_factor(make(a)), make(b), a=make(a), report=True)[1].backward_error < 300 * 2.0**-53
    square = a @ a.T + np.eye(300)
    factor = vernier.cholesky(make(square))
    lower = np.asarray(factor.lower.get() if hasattr(factor.lower, "get") else factor.lower.cpu())
    assert (abs(lower @ lower.T - square) <= 700 * 2.0**-53 * (abs(lower) @ abs(lower.T))).all()


def host(x):
    return x.get() if hasattr(x, "get") else x.cpu().numpy() if hasattr(x, "cpu") else np.asarray(x)


MAKERS = [cupy.asarray, lambda x: torch.from_numpy(x).cuda()]


@pytest.mark.parametrize("kind", ["complex64", "complex128"])
@pytest.mark.parametrize("make", MAKERS)
def test_a_complex_system_is_solved_where_it_lies(make, kind):
    a, b = ((spread(*s, seed=1) + 1j * spread(*s, seed=2)).astype(kind) for s in ((200, 200), (200, 3)))
    x, certificate = vernier.solve(make(a), make(b), report=True)
    assert type(x) is type(make(b)) and certificate.ok
    residual = abs(b - vernier.matmul(a, host(x), "exact")).max() / (abs(a).sum(1).max() * abs(host(x)).max())
    assert host(x).dtype == kind and residual < 30 * np.finfo(kind).eps
    assert vernier.solve(make(a), make(b[:, 0].copy())).shape == (200,)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("contract", ["dd", "exact", "exact+down"])
def test_double_doubles_have_the_cpus_bits(make, contract):
    a, b = spread(150, 300), spread(300, 70, seed=2)
    lo_a, lo_b = a * 2.0**-55, b * -(2.0**-56)
    dd = vernier.beyond.DD
    for left, right in (((a,), (b,)), ((a, lo_a), (b, lo_b)), ((a,), (b, lo_b)), ((a, lo_a), (b,))):
        on_gpu = [make(x[0]) if len(x) == 1 else dd(*map(make, x)) for x in (left, right)]
        on_cpu = [x[0] if len(x) == 1 else dd(*x) for x in (left, right)]
        t = vernier.beyond.matmul(*on_gpu, contract)
        assert type(t.parts) is type(make(a)) and np.array_equal(t.numpy(), vernier.beyond.matmul(*on_cpu, contract).numpy())
    z, w = a + 1j * a[::-1], b - 1j * b[::-1]
    if contract == "dd":
        assert np.array_equal(vernier.beyond.matmul(make(z), make(w)).numpy(), vernier.beyond.matmul(z, w).numpy())


@pytest.mark.parametrize("make", MAKERS)
def test_intervals_and_proofs_where_the_matrix_lies(make):
    a, b, rad = spread(100, 120), spread(120, 40, seed=2), np.full((100, 120), 1e-3)
    beyond = vernier.beyond
    for own, cpus in ((beyond.matmul_ends(make(a), make(b)), beyond.matmul_ends(a, b)),
                      (beyond.matmul_ends(beyond.Ends(make(a - rad), make(a + rad)), make(b)), beyond.matmul_ends(beyond.Ends(a - rad, a + rad), b))):
        assert np.array_equal(host(own.low), cpus.low) and np.array_equal(host(own.high), cpus.high)
    own, cpus = beyond.matmul_discs(beyond.Discs(make(a), make(rad)), make(b)), beyond.matmul_discs(beyond.Discs(a, rad), b)
    assert np.array_equal(host(own.mid), cpus.mid) and np.array_equal(host(own.rad), cpus.rad)
    square, right = integers(60, 60) + 60 * np.eye(60), integers(60, 2, seed=3)
    proved = beyond.verified_solve(make(square), make(right))
    x = beyond.solve(square, right)
    for i in range(60):
        for j in range(2):
            assert Fraction(float(host(proved.low)[i, j])) <= x[i, j] <= Fraction(float(host(proved.high)[i, j]))


def test_forward_mode_of_jax_on_the_gpu():
    a, b = jax.numpy.asarray(integers(3, 4)), jax.numpy.asarray(integers(4, 2, seed=2))
    for mode in (jax.jacfwd, jax.jacrev, jax.hessian):
        cost = lambda multiply: lambda x: (multiply(x, b) ** 2).sum(0)
        np.testing.assert_allclose(mode(cost(vernier.jax.matmul))(a), mode(cost(jax.numpy.matmul))(a), rtol=1e-13)


def test_prepared_factors_have_the_bits_of_the_product():
    a, b = cupy.asarray(spread(300, 200)), cupy.asarray(spread(200, 100, seed=2))
    expected = vernier.matmul(a, b, "fp64+reproducible")
    assert (vernier.prepare(a, contract="fp64+reproducible") @ b == expected).all()
    assert (a @ vernier.prepare(b, "right", "fp64+reproducible") == expected).all()


class Foreign:
    """An array of no known library, by the interface alone."""

    dtype, shape, ndim = np.dtype("float64"), (3, 3), 2

    def __init__(self, array):
        self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__


def test_any_array_of_the_cuda_interface():
    a = cupy.asarray(integers(3, 3))
    assert (vernier.matmul(Foreign(a), Foreign(a)) == a @ a).all()


def test_mistakes_are_refused_in_one_message():
    eye = cupy.eye(3)
    for call, error, words in [
            (lambda: vernier.matmul(eye, np.eye(3)), ValueError, "GPU 0 and b on the CPU"),
            (lambda: vernier.matmul(torch.eye(3), torch.eye(3).cuda()), ValueError, "a is on the CPU and b on GPU 0"),
            (lambda: vernier.matmul(eye, torch.eye(3, dtype=torch.float64).cuda()), TypeError, "library"),
            (lambda: vernier.matmul(eye.astype(int), eye), TypeError, "int64"),
            (lambda: vernier.matmul(eye, cupy.ones((4, 3))), ValueError, "columns"),
            (lambda: vernier.matmul(eye, eye, "fp65"), ValueError, "fp65"),
            (lambda: vernier.matmul(eye, eye, out=eye), ValueError, "overlaps a"),
            (lambda: vernier.matmul(eye, eye, out=np.eye(3)), ValueError, "out on")]:
        with pytest.raises(error, match=words):
            call()
