"""Solvers, factorisations, prepared factors, sums of products, models: NumPy arrays on the CPU."""

import copy
import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import vernier


def random(shape, kind="float64", seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype(kind)


def backward_error(a, x, b):
    """max |b - A x| / (|A| max |x| + max |b|) of vectors, exactly."""
    rows = [[Fraction(float(v)) for v in row] for row in a]
    xs, bs = [Fraction(float(v)) for v in x], [Fraction(float(v)) for v in b]
    residual = max(abs(r - sum(u * v for u, v in zip(row, xs))) for row, r in zip(rows, bs))
    norm = max(sum(map(abs, row)) for row in rows)
    return residual / (norm * max(map(abs, xs)) + max(map(abs, bs)))


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_certificate_bounds_the_backward_error_of_each_column(kind, order):
    a, b = np.array(random((12, 12), kind), order=order), random((12, 3), kind, 2)
    x, certificate = vernier.solve(a, b, report=True)
    assert x.shape == b.shape and x.dtype == b.dtype and certificate.ok and "backward" in repr(certificate)
    for j, column in enumerate(certificate.columns):
        assert backward_error(a, x[:, j], b[:, j]) <= Fraction(column.backward_error) <= Fraction(certificate.tolerance)


def random_complex(shape, kind, seed=1):
    return (random(shape, seed=seed) + 1j * random(shape, seed=seed + 100)).astype(kind)


def residuals(a, x, b):
    """b - A x of complex vectors, exactly, rounded at the end."""
    def parts(z):
        return Fraction(float(z.real)), Fraction(float(z.imag))

    result = []
    for row, right in zip(a, b):
        real, imaginary = parts(right)
        for (p, q), (r, s) in zip(map(parts, row), map(parts, x)):
            real, imaginary = real - p * r + q * s, imaginary - p * s - q * r
        result.append(complex(float(real), float(imaginary)))
    return np.array(result)


def complex_backward_error(a, x, b):
    return abs(residuals(a, x, b)).max() / (abs(a).sum(1).max() * abs(x).max() + abs(b).max())


@pytest.mark.parametrize("kind", ["complex64", "complex128"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_complex_systems_have_true_certificates(kind, order):
    a, b = np.array(random_complex((12, 12), kind), order=order), random_complex((12, 3), kind, 2)
    x, certificate = vernier.solve(a, b, report=True)
    assert x.shape == b.shape and x.dtype == b.dtype and certificate.ok
    for j, column in enumerate(certificate.columns):  # moduli are rounded
        assert complex_backward_error(a, x[:, j], b[:, j]) <= column.backward_error * 1.000001 <= certificate.tolerance * 1.000001


@pytest.mark.parametrize("kind", ["complex64", "complex128"])
def test_complex_factors_solve(kind):
    u, a, b = np.finfo(kind).eps / 2, random_complex((20, 20), kind), random_complex(20, kind, 2)
    lu = vernier.lu_factor(a)
    x, certificate = vernier.lu_solve(lu, b, a=a, report=True)
    assert "time" not in str(certificate)  # nothing but the error was measured
    assert x.dtype == b.dtype and complex_backward_error(a, x, b) < 20 * u
    assert certificate.backward_error == pytest.approx(complex_backward_error(a, x, b), rel=1e-3)
    assert complex_backward_error(a.T, vernier.lu_solve(lu, b, transposed=True), b) < 20 * u
    hermitian = vernier.matmul(a, a.conj().T) + 20 * np.eye(20, dtype=kind)
    factor = vernier.cholesky(hermitian)
    lower = factor.lower.astype("complex128")
    assert (np.triu(lower, 1) == 0).all() and abs(lower @ lower.conj().T - hermitian).max() < 200 * u * abs(hermitian).max()
    assert complex_backward_error(hermitian, factor.solve(b), b) < 20 * u


def test_a_complex_matrix_that_is_singular_or_not_definite_is_refused():
    with pytest.raises(ValueError, match="singular"):
        vernier.solve(np.zeros((3, 3), "complex128"), np.ones(3, "complex128"))
    with pytest.raises(ValueError, match="not positive definite"):
        vernier.cholesky(-np.eye(3, dtype="complex64"))


def test_a_right_hand_side_of_one_dimension_gives_one():
    a, b = random((9, 9)), random(9, seed=2)
    x = vernier.solve(a, b)
    assert x.shape == (9,) and backward_error(a, x, b) < Fraction(1, 10**15)


def test_a_strided_matrix_is_solved_as_its_copy():
    frame, b = random((18, 18)), random(9, seed=2)
    assert np.array_equal(vernier.solve(frame[::2, ::2], b), vernier.solve(frame[::2, ::2].copy(), b))


def test_a_tolerance_out_of_reach_raises_unless_the_certificate_is_asked_for():
    a = 1 / (np.arange(1, 13)[:, None] + np.arange(12.0))  # Hilbert's
    with pytest.raises(vernier.BoundNotMet, match="tolerance"):
        vernier.solve(a, np.ones(12), tolerance=1e-30)
    x, certificate = vernier.solve(a, np.ones(12), tolerance=1e-30, report=True)
    assert not certificate.ok and certificate.backward_error > 1e-30


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_lu_factors_multiply_to_the_permuted_matrix_and_solve(kind):
    a, b = random((40, 40), kind), random((40, 2), kind, 2)
    lu = vernier.lu_factor(a)
    factors, pivots = lu
    permuted = a.copy()
    for i, p in enumerate(pivots):
        permuted[[i, p]] = permuted[[p, i]]
    lower, upper = np.tril(factors, -1) + np.eye(40, dtype=kind), np.triu(factors)
    u = np.finfo(kind).eps / 2
    assert (abs(vernier.matmul(lower, upper, "exact") - permuted) <= 41 * u * (abs(lower) @ abs(upper))).all()
    x, certificate = vernier.lu_solve(lu, b, a=a, report=True)
    assert certificate.backward_error < 40 * u and len(certificate.columns) == 2
    assert certificate.ok == (certificate.backward_error <= certificate.tolerance) and certificate.tolerance == np.sqrt(40) * u
    assert Fraction(certificate.columns[0].backward_error) >= backward_error(a, x[:, 0], b[:, 0]) * Fraction(99, 100)
    assert vernier.lu_solve(lu, b, a=a, report=True, transposed=True)[1].backward_error < 40 * u
    assert not vernier.lu_solve(lu, b, a=2 * a, report=True)[1].ok


def test_reports_go_to_other_processes():
    a, b = random((40, 40)), random((40, 2), seed=2)
    p, dd = vernier.prepare(a), vernier.beyond
    told = [vernier.explain(40, 40, 40, "bits(30)+reproducible"), vernier.matmul(a, a, "exact", report=True)[1],
            p.matmul(a, report=True)[1], vernier.solve(a, b, report=True)[1], dd.matmul(a, a, report=True)[1],
            dd.solve(a, b, report=True)[1], dd.verified_solve(a, b, report=True)[1]]
    for report in told:
        for again in (copy.copy(report), copy.deepcopy(report), pickle.loads(pickle.dumps(report))):
            assert type(again) is type(report) and repr(again) == repr(report) and again.json() == report.json()
    assert pickle.loads(pickle.dumps(told[3])).columns[1].backward_error == told[3].columns[1].backward_error


def test_nothing_is_said_at_the_end_of_what_an_array_class_of_the_program_keeps():
    program = ("import numpy, vernier\nclass Own(numpy.ndarray):\n    def f(self): pass\n"
               "a = numpy.eye(3)\nreport = vernier.matmul(a.view(Own), a, report=True)[1]\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == ""


def test_matrices_at_odd_addresses_are_copied():
    a, b = random((20, 20)), random((20, 2), seed=2)
    odd = np.frombuffer(bytearray(b"x" + a.tobytes()), offset=1).reshape(20, 20)
    assert not odd.flags.aligned
    assert np.array_equal(vernier.solve(odd, b), vernier.solve(a, b))
    assert np.array_equal(vernier.prepare(odd) @ odd, vernier.prepare(a) @ a)
    assert np.array_equal(vernier.beyond.matmul(odd, odd).parts, vernier.beyond.matmul(a, a).parts)
    assert np.array_equal(vernier.beyond.matmul_ends(odd, odd).low, vernier.beyond.matmul_ends(a, a).low)
    assert vernier.beyond.verified_determinant(odd) == vernier.beyond.verified_determinant(a)


@pytest.mark.parametrize("again", [copy.deepcopy, copy.copy, lambda x: pickle.loads(pickle.dumps(x))])
def test_factors_that_were_copied_solve_by_their_own_pivots(again):
    a, b = random((6, 6)), random((6, 2), seed=2)
    lu = vernier.lu_factor(a)
    expected, copied = lu.solve(b), again(lu)
    if copied.pivots is not lu.pivots:
        lu.pivots[:] = range(1, 7)
    copied.pivots = np.repeat(copied.pivots, 2)[::2]
    del lu
    assert np.array_equal(copied.solve(b), expected)
    for pivots in (copied.pivots[:3], copied.pivots.astype("int32"), np.ones((6, 1), "int64")):
        copied.pivots = pivots
        with pytest.raises(ValueError, match="6 of int64"):
            copied.solve(b)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
def test_factors_of_a_matrix_that_is_not_square_do_not_solve(shape):
    with pytest.raises(ValueError, match="square"):
        vernier.lu_factor(random(shape)).solve(np.ones(shape[0]))


def test_nothing_that_is_not_finite_has_a_small_backward_error():
    a, b, nan = random((5, 5)), random((5, 2), seed=2), np.full((5, 2), np.nan)
    for where in (a, b):
        broken = where.copy()
        broken[2, 1] = np.nan
        x, certificate = vernier.lu_solve(vernier.lu_factor(broken if where is a else a), broken if where is b else b,
                                          a=broken if where is a else a, report=True)
        assert not certificate.ok and certificate.backward_error == np.inf
    assert vernier.backward_errors(a, nan, b) == vernier.backward_errors(a, np.full((5, 2), np.inf), b) == [np.inf] * 2
    assert vernier.backward_errors(a, nan, 0 * b) == vernier.backward_errors(0 * a, nan, 0 * b) == [np.inf] * 2
    wide = np.array([[1e300, -1e300], [1, 1]])  # |A| |x| overflows
    assert vernier.backward_errors(wide, np.full(2, 1e10), np.array([1e200, 2e10])) == [np.inf]
    assert vernier.backward_errors(a, 0 * b, 0 * b) == vernier.backward_errors(0 * a, b, 0 * b) == [0, 0]
    assert vernier.backward_errors(np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((0, 2))) == [0, 0]
    assert vernier.backward_errors(np.zeros((0, 0)), np.zeros(0), np.zeros(0)) == [0]
    assert vernier.backward_errors(a, np.zeros((5, 0)), np.zeros((5, 0))) == []


def test_cholesky_gives_the_lower_factor_and_solves():
    a = random((30, 30))
    a = vernier.matmul(a, a.T, "exact") + 30 * np.eye(30)
    factor = vernier.cholesky(a)
    lower = factor.lower
    assert (np.triu(lower, 1) == 0).all()
    assert (abs(vernier.matmul(lower, lower.T, "exact") - a) <= 31 * 2.0**-53 * (abs(lower) @ abs(lower.T))).all()
    b = random(30, seed=3)
    x, certificate = factor.solve(b, a=a, report=True)
    assert certificate.ok and backward_error(a, x, b) < Fraction(1, 10**14)


def test_prepared_factors_have_the_bits_of_the_product():
    a, b = random((20, 33)), random((33, 7), seed=2)
    expected = vernier.matmul(a, b, "fp64+reproducible")
    left, right = vernier.prepare(a, contract="fp64+reproducible"), vernier.prepare(b.T.copy().T, "right", "fp64+reproducible")
    assert np.array_equal(left @ b, expected) and np.array_equal(a @ right, expected)
    assert np.array_equal(left @ np.asfortranarray(b), expected)
    out = np.empty((20, 7))
    result, report = left.matmul(b, out=out, report=True)
    assert result is out and np.array_equal(out, expected) and report.prepared_b and not report.prepared_a
    assert "20 x 33" in repr(left)
    a[:] = 0
    assert np.array_equal(left @ b, expected)


@pytest.mark.parametrize("kind", ["complex64", "complex128"])
def test_complex_factors_are_prepared(kind):
    a, b = random_complex((20, 33), kind), random_complex((33, 7), kind, 2)
    size = abs(a).astype("float64") @ abs(b).astype("float64")
    for t in (vernier.prepare(a) @ b, a @ vernier.prepare(b, "right")):
        assert t.dtype == kind and (abs(t - vernier.matmul(a, b, "exact")) <= 35 * np.finfo(kind).eps * size).all()


def test_a_matrix_singular_to_working_precision_is_a_warning():
    n = np.arange(25.0)
    hilbert = 1 / (n[:, None] + n + 1)
    with pytest.warns(RuntimeWarning, match="working precision"):
        vernier.solve(hilbert, np.ones(25))


@pytest.mark.parametrize("subscripts, shapes", [
    ("ij,jk->ik", [(3, 4), (4, 5)]), ("ij,kj", [(3, 4), (5, 4)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
    ("ij,jk,kl->il", [(3, 4), (4, 5), (5, 2)]), ("i,j->ij", [(3,), (4,)]), ("i,i->", [(5,), (5,)]), ("ijk,k->ji", [(2, 3, 4), (4,)]),
    ("ii,ij->j", [(4, 4), (4, 3)]), ("ij,k->i", [(3, 4), (5,)]), ("...ij,jk->...ik", [(2, 2, 3, 4), (4, 5)]), ("ij->j", [(3, 4)]),
    ("abc,cde,bd->ae", [(2, 3, 4), (4, 5, 6), (3, 5)]), ("...ij,...jk", [(2, 1, 3, 4), (1, 5, 4, 2)]), ("...i,i->...", [(1, 3), (3,)]),
    ("...,...l,...jk,...ll", [(2,), (1, 2, 2), (1, 1, 4, 4), (2, 1, 2, 2)]), ("...i,...i->i...", [(0, 3), (1, 3)]),
    ("ljj,lli,...lkk", [(0, 3, 3), (0, 0, 2), (2, 0, 2, 2)]), ("ij,kl->j", [(3, 4), (0, 2)])])
def test_einsum_is_numpys(subscripts, shapes):
    operands = [np.round(8 * random(shape, seed=i)) for i, shape in enumerate(shapes)]  # integers, whose sums are exact
    assert np.array_equal(vernier.einsum(subscripts, *operands), np.einsum(subscripts, *operands))


@pytest.mark.parametrize("shapes, axes", [(((4, 3), (2, 5)), 0), (((4, 3, 4), (4, 2)), 1), (((4, 3, 4), (3, 4, 2)), 2),
                                          (((4, 3, 4), (3, 4, 4)), ([1], [0])), (((4, 3, 4), (3, 4, 4)), ([0, 2], [2, 1])),
                                          (((4, 3), (2, 4)), (0, 1)), (((4, 3), (2, 4)), (-2, -1))])
def test_tensordot_is_numpys(shapes, axes):
    a, b = (np.round(8 * random(shape, seed=i)) for i, shape in enumerate(shapes))
    assert np.array_equal(vernier.tensordot(a, b, axes), np.tensordot(a, b, axes))


def test_sums_keep_their_contract():
    x = np.array([1e16, 1.0, -1e16, 0.5])
    assert vernier.dot_exact(x, np.ones(4)) == 1.5
    assert vernier.einsum("i,i->", x, np.ones(4), contract="exact") == 1.5
    assert vernier.tensordot(x, np.ones(4), 1, "exact") == 1.5


@pytest.mark.parametrize("call, error, words", [
    (lambda: vernier.solve(np.zeros((3, 3)), np.ones(3)), ValueError, "singular"),
    (lambda: vernier.solve(np.ones((3, 4)), np.ones(3)), ValueError, "square"),
    (lambda: vernier.solve(np.eye(3), np.ones(4)), ValueError, "3 rows"),
    (lambda: vernier.solve(np.eye(3), np.ones(3, "float32")), TypeError, "astype"),
    (lambda: vernier.prepare(np.eye(3)) @ (np.eye(3) + 0j), TypeError, "complex128"),
    (lambda: vernier.lu_solve(vernier.lu_factor(np.eye(3)), np.ones(3), report=True), ValueError, "give a="),
    (lambda: vernier.solve(np.eye(3) * np.nan, np.ones(3)), ValueError, "NaN"),
    (lambda: vernier.solve(np.eye(3), np.ones(3), factors="fp8"), ValueError, "bf16"),
    (lambda: vernier.solve(np.ones((3, 3), int), np.ones(3)), TypeError, "int64"),
    (lambda: vernier.cholesky(-np.eye(3)), ValueError, "order 1"),
    (lambda: vernier.lu_solve(vernier.lu_factor(np.zeros((3, 3))), np.ones(3)), ValueError, "pivot 1"),
    (lambda: vernier.prepare(np.eye(3), "middle"), ValueError, "left"),
    (lambda: vernier.prepare(np.eye(3), contract="exact"), ValueError, "exact"),
    (lambda: vernier.prepare(np.eye(3)) @ np.ones((4, 2)), ValueError, "do not fit"),
    (lambda: vernier.einsum("ij,jk->ik", np.ones((3, 4)), np.ones((5, 3))), ValueError, "sizes 4 and 5"),
    (lambda: vernier.tensordot(np.ones((3, 4)), np.ones((5, 3)), 1), ValueError, "differ"),
    (lambda: vernier.dot_exact(np.eye(3), np.eye(3)), ValueError, "ravel"),
    (lambda: vernier.models.engine("hoper-wgmma-fp16-fp32"), ValueError, "no modelled engine"),
    (lambda: vernier.explain(3, 3, 3, dtype="int8"), TypeError, "float32")])
def test_mistakes_are_refused_in_one_message(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_explain_and_info_tell_what_would_be_done():
    plan = vernier.explain(512, 256, 128, "fp64+reproducible")
    assert plan.scheme == "residues" and plan.moduli > 10 and "residues" in repr(plan)
    assert vernier.explain(np.ones((4, 5)), np.ones((5, 6)), contract="fp64+reproducible").contract == "fp64+reproducible"
    info = vernier.info()
    assert info.version == vernier.__version__ and any(e.name == "portable" and e.supported for e in info.engines)
    assert "portable" in repr(info) and "GPU:" in repr(info)


def test_models_compute_what_the_instruction_does_and_probes_find_it():
    engine = vernier.models.engine("volta-fp16-fp32")
    assert engine.dot([1.0, 2.0**-14], [1.0, 2.0**-14]) == 1.0 and "fp16" in repr(engine)
    a, b = np.round(8 * random((5, 20))), np.round(8 * random((20, 3), seed=2))
    assert np.array_equal(vernier.models.multiply(engine, a, b), a @ b)
    report = vernier.models.probe(engine)
    assert report.findings and report.tree and report.findings[0].topic in repr(report)
    assert len(vernier.models.engines()) > 20
