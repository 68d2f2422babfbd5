"""Double-doubles, enclosures and proofs, beside exact rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

import vernier
from vernier import beyond

DIRECTED = {"exact+down": lambda c, t: c <= t, "exact+up": lambda c, t: c >= t}


def spread(m, n, seed=1):
    generator = np.random.default_rng(seed)
    return (generator.random((m, n)) - 0.5) * np.exp(2 * generator.standard_normal((m, n)))


def fractions(x):
    if isinstance(x, beyond.DD):
        return [[x[i, j] for j in range(x.shape[1])] for i in range(x.shape[0])]
    return [[Fraction(float(y)) for y in row] for row in x]


def product(a, b):
    """a @ b and |a| @ |b|, exactly."""
    a, columns = fractions(a), list(zip(*fractions(b)))
    return ([[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a],
            [[sum(abs(x * y) for x, y in zip(row, column)) for column in columns] for row in a])


def hilbert(n):
    return np.array([[1.0 / (i + j + 1) for j in range(n)] for i in range(n)])


@pytest.mark.parametrize("forms", ["doubles", "left", "right", "both", "views"])
def test_every_entry_keeps_the_bound_of_dd(forms):
    a, b = spread(5, 20), spread(20, 4, seed=2)
    left = beyond.DD(a, a * 2.0**-55) if forms in ("left", "both") else a
    right = beyond.DD(b, -b * 2.0**-56) if forms in ("right", "both") else b
    if forms == "views":
        left, right = np.asfortranarray(a), np.repeat(np.repeat(b, 2, 0), 3, 1)[::2, ::3]
    c, report = beyond.matmul(left, right, report=True)
    exact, size = product(left, right)
    assert c.shape == (5, 4) and report.moduli > 0 and "dd" in repr(report)
    assert all(abs(c[i, j] - exact[i][j]) <= 21 * size[i][j] / 2**106 for i in range(5) for j in range(4))
    assert (np.abs(c.lo) <= np.spacing(np.abs(c.hi)) / 2).all()


@pytest.mark.parametrize("contract", ["exact", "exact+down", "exact+up"])
def test_exact_products_are_rounded_once(contract):
    a, b = spread(3, 9), spread(9, 3, seed=2)
    c, (exact, _) = beyond.matmul(a, b, contract), product(a, b)
    for i in range(3):
        for j in range(3):
            assert c.hi[i, j] == float(exact[i][j])
            rest = exact[i][j] - Fraction(c.hi[i, j])
            if contract == "exact":
                assert c.lo[i, j] == float(rest)
            else:
                assert DIRECTED[contract](Fraction(c.lo[i, j]), rest) and abs(Fraction(c.lo[i, j]) - rest) <= Fraction(np.spacing(abs(float(rest))))


def test_complex_matrices_and_operators():
    a, b = spread(3, 6) + 1j * spread(3, 6, seed=3), spread(6, 2, seed=2) - 1j * spread(6, 2, seed=4)
    c = beyond.DD(a) @ beyond.DD(b)
    plain = beyond.matmul(a, b)
    real = beyond.matmul(np.hstack([a.real, -a.imag]), np.vstack([b.real, b.imag]))
    assert c.is_complex and fractions(c.real) == fractions(plain.real) == fractions(real)
    assert c[0, 1] == (c.real[0, 1], c.imag[0, 1])
    assert fractions(spread(3, 3) @ beyond.DD(np.eye(3))) == fractions(spread(3, 3))


def test_structures_and_long_doubles_are_read_without_loss():
    x = np.array([[1 / np.longdouble(3), 2], [0, -np.longdouble(1) / 7]])
    held = beyond.DD(x)
    assert (held.hi + held.lo.astype(np.longdouble) == x).all()
    again = beyond.DD(held.numpy())
    assert held.numpy().dtype.names == ("hi", "lo") and (again.parts == held.parts).all() and held.T.shape == (2, 2)


def test_infinities_have_no_second_part():
    for x in (np.array([[np.inf, -1.0]]), np.array([[np.inf, -1.0]], np.longdouble), np.array([[np.inf - 1j, 1]])):
        assert not beyond.DD(x).lo.any()


def test_complex_structures_come_back():
    z = beyond.DD(spread(2, 3) + 1j * spread(2, 3, seed=2))
    assert (beyond.DD(z.numpy()).parts == z.parts).all() and z.is_complex


@pytest.mark.parametrize("dd", [False, True])
def test_solutions_have_the_digits_of_dd(dd):
    a = hilbert(8)
    matrix = beyond.DD(a, a * 2.0**-60) if dd else a
    b = beyond.matmul(matrix, np.arange(1.0, 9.0).reshape(8, 1), "exact")  # of 106 bits
    x, report = beyond.solve(matrix, b, report=True)
    assert report.ok and report.backward_error <= report.tolerance
    assert all(abs(x[i, 0] - (i + 1)) < Fraction(1, 10**18) for i in range(8))
    assert beyond.solve(np.eye(3) * 4, np.ones(3))[2, 0] == Fraction(1, 4)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dd", [False, True])
def test_matrices_that_are_not_symmetric_are_solved_in_either_order(order, dd):
    a, b = (np.asarray(x, order=order) for x in (spread(6, 6) + 4 * np.eye(6), spread(6, 2, seed=2)))
    x, report = beyond.solve(beyond.DD(a) if dd else a, b, report=True, verified=True)
    assert report.verified and report.forward_error < 2.0**-95
    for i in range(6):
        for j in range(2):
            residual = sum(Fraction(a[i, k]) * x[k, j] for k in range(6)) - Fraction(b[i, j])
            assert abs(residual) < Fraction(1, 2**90)


def test_ends_and_discs_hold_the_exact_product():
    a, b, rad = spread(4, 7), spread(7, 3, seed=2), np.full((4, 7), 1e-3)
    exact, size = product(a, b)
    ends, discs = beyond.matmul_ends(a, b), beyond.matmul_discs(beyond.Discs(a, rad), b)
    wide = beyond.matmul_ends(beyond.Ends(a - rad, a + rad), b)
    for i in range(4):
        for j in range(3):
            assert Fraction(ends.low[i, j]) <= exact[i][j] <= Fraction(ends.high[i, j]) <= Fraction(np.nextafter(ends.low[i, j], np.inf))
            assert wide.low[i, j] < ends.low[i, j] and ends.high[i, j] < wide.high[i, j]
            least = sum(Fraction(1e-3) * abs(Fraction(y)) for y in b[:, j])
            assert abs(Fraction(discs.mid[i, j]) - exact[i][j]) + least <= Fraction(discs.rad[i, j]) <= least * 3 / 2
    z = beyond.matmul_discs(beyond.Discs(np.array([[3 + 4j]]), np.array([[1.0]])), np.array([[3 - 4j]]))
    assert z.mid == 25 and 5 <= z.rad < 5.0000001


def test_proofs_hold_and_their_absence_is_told():
    a = np.array([[4.0, 1], [1, 3]])
    x, report = beyond.verified_solve(a, np.array([1.0, 2]), report=True)
    assert report.verified and report.contraction < 1 and x.low.shape == (2,)
    for low, high, exact in zip(x.low, x.high, (Fraction(1, 11), Fraction(7, 11))):
        assert Fraction(low) <= exact <= Fraction(high) and high - low < 1e-15
    unsymmetric = np.array([[2.0, 1], [0, 4]])
    inverse, exact = beyond.verified_inverse(unsymmetric), ((0.5, -0.125), (0, 0.25))
    assert (inverse.low <= exact).all() and (exact <= inverse.high).all() and (inverse.high - inverse.low < 1e-15).all()
    d = beyond.verified_determinant(a)
    assert d.low * 2**d.exponent <= 11 <= d.high * 2**d.exponent
    assert 1 < beyond.verified_definite(np.array([[4.0, np.nan], [1, 3]])) < 2.382  # of the lower triangle
    singular = np.array([[1.0, 2], [2, 4]])
    assert beyond.verified_solve(singular, np.ones(2), report=True)[0] is None
    for call in (beyond.verified_inverse, beyond.verified_determinant, beyond.verified_definite, lambda x: beyond.verified_solve(x, np.ones(2))):
        with pytest.raises(vernier.BoundNotMet, match="not verified"):
            call(singular)


EYE = np.eye(3)


@pytest.mark.parametrize("call, error, words", [
    (lambda: beyond.matmul(EYE, np.eye(4)), ValueError, "do not fit"),
    (lambda: beyond.matmul(EYE.astype("float32"), EYE), TypeError, "float32"),
    (lambda: beyond.matmul(EYE, EYE + 0j), TypeError, "complex"),
    (lambda: beyond.matmul(EYE, EYE, "fp64"), ValueError, "fp64"),
    (lambda: beyond.matmul(EYE[0], EYE), ValueError, "matrix"),
    (lambda: beyond.matmul([[1.0]], EYE), TypeError, "list"),
    (lambda: beyond.DD.of_parts(EYE), ValueError, r"\(m, n, 2\)"),
    (lambda: beyond.DD(EYE, np.eye(2)), ValueError, "equal"),
    (lambda: beyond.DD(EYE, [1.0]), TypeError, "lo is a builtins.list"),
    (lambda: beyond.DD(EYE + 0j, EYE), TypeError, "hi has shape.*complex128"),
    (lambda: beyond.DD(EYE[0], EYE[0]), TypeError, r"\(3,\)"),
    (lambda: beyond.matmul(EYE, EYE, 5), TypeError, "contract is 5"),
    (lambda: beyond.solve(EYE, EYE, threads="2"), TypeError, "threads is '2'"),
    (lambda: beyond.matmul_ends(beyond.Ends(EYE, [1.0]), EYE), TypeError, "high is a builtins.list"),
    (lambda: beyond.matmul_discs(beyond.Discs(EYE, np.ones((2, 2))), EYE), ValueError, "alike"),
    (lambda: beyond.solve(np.zeros((3, 3)), EYE), ValueError, "singular"),
    (lambda: beyond.solve(np.ones((3, 2)), EYE), ValueError, "square"),
    (lambda: beyond.verified_solve(EYE + 0j, EYE), TypeError, "float64"),
    (lambda: beyond.verified_solve(np.full((3, 3), np.inf), EYE), ValueError, "inf")])
def test_mistakes_are_refused_in_one_message(call, error, words):
    with pytest.raises(error, match=words):
        call()
