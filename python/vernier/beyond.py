"""Beyond double: products and solutions of twice the digits, enclosures, and proofs.

    c = vernier.beyond.matmul(a, b)            # DD: c.hi + c.lo, the exact product of doubles but for one rounding
    x = vernier.beyond.solve(a, b)             # DD: 31 digits
    t = vernier.beyond.matmul_ends(a, b)       # Ends: t.low <= a @ b <= t.high, each rounded once
    x = vernier.beyond.verified_solve(a, b)    # Ends: proved to hold the solution

Arrays are float64 or complex128, of NumPy or PyTorch on a CPU, of CuPy or PyTorch on a GPU, where products and
verified_solve have the same calls.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _refuse, _vernier
from ._linalg import _by_rows_or_columns
from ._namespace import adapter
from ._vernier import QuadReport, QuadSolveReport, VerifiedReport

__all__ = ["DD", "Determinant", "Discs", "Ends", "QuadReport", "QuadSolveReport", "VerifiedReport", "matmul", "matmul_discs",
           "matmul_ends", "solve", "verified_definite", "verified_determinant", "verified_inverse", "verified_solve"]


class DD:
    """A matrix of double-doubles: unevaluated sums hi + lo of two float64, some 31 digits.

    parts is one float64 array with hi and lo last, of shape (m, n, 2), and (m, n, 2, 2) for complex numbers: real and
    imaginary part, then hi and lo. DD(a) takes an array of float64 or complex128 (lo is 0), of NumPy's long double, or
    NumPy's structures of hi and lo, as numpy() gives them.
    """

    __array_ufunc__ = None  # so that NumPy leaves a @ x to __rmatmul__
    __array_priority__ = 1000

    def __init__(self, x: Any, lo: Any = None):
        self.parts = _parts(x, lo)

    @classmethod
    def of_parts(cls, parts: Any) -> DD:
        """The matrix of which `parts` holds hi and lo, as described above."""
        if _refuse.dtype_name(parts) != "float64" or parts.ndim not in (3, 4) or any(s != 2 for s in parts.shape[2:]):
            raise ValueError(f"DD: parts have shape {tuple(parts.shape)} of {_refuse.dtype_name(parts)}; expected float64 and "
                             "(m, n, 2) or (m, n, 2, 2)")
        made = cls.__new__(cls)
        made.parts = parts
        return made

    @property
    def hi(self) -> Any:
        """The numbers rounded to float64; for complex ones real and imaginary parts lie last."""
        return self.parts[..., 0]

    @property
    def lo(self) -> Any:
        return self.parts[..., 1]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.parts.shape[:2])

    @property
    def is_complex(self) -> bool:
        return self.parts.ndim == 4

    @property
    def real(self) -> DD:
        return DD.of_parts(self.parts[:, :, 0]) if self.is_complex else self

    @property
    def imag(self) -> DD:
        if not self.is_complex:
            raise ValueError("DD: a real matrix has no imaginary part")
        return DD.of_parts(self.parts[:, :, 1])

    @property
    def T(self) -> DD:
        return DD.of_parts(adapter(self.parts).permute(self.parts, (1, 0, *range(2, self.parts.ndim))))

    def numpy(self) -> Any:
        """NumPy's structures with fields hi and lo, as `numpy.save` writes them for the command line."""
        import numpy

        parts = self.parts.get() if hasattr(self.parts, "get") else numpy.asarray(self.parts.cpu() if hasattr(self.parts, "cpu") else
                                                                                  self.parts)
        return numpy.ascontiguousarray(parts).view([("hi", "<f8"), ("lo", "<f8")])[..., 0]

    def __matmul__(self, other: Any) -> DD:
        return matmul(self, other)

    def __rmatmul__(self, other: Any) -> DD:
        return matmul(other, self)

    def __getitem__(self, index: tuple[int, int]) -> Any:
        """The exact value of one entry: a fractions.Fraction, of complex ones a pair of them."""
        from fractions import Fraction

        words = self.parts[index].reshape(-1, 2).tolist()
        values = [Fraction(hi) + Fraction(lo) for hi, lo in words]
        return values[0] if len(values) == 1 else tuple(values)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"DD: {rows} x {columns} {'complex ' if self.is_complex else ''}double-doubles in {_refuse.kind_of(self.parts)}"


@dataclasses.dataclass(frozen=True)
class Ends:
    """An enclosure by its ends: low <= x <= high, of complex numbers in each part."""

    low: Any
    high: Any


@dataclasses.dataclass(frozen=True)
class Discs:
    """An enclosure by midpoints and radii: |x - mid| <= rad; rad None is zero."""

    mid: Any
    rad: Any = None


@dataclasses.dataclass(frozen=True)
class Determinant:
    """low 2^exponent <= det <= high 2^exponent, the larger magnitude in [1/2, 1)."""

    low: float
    high: float
    exponent: int


def matmul(a: Any, b: Any, contract: str | None = None, *, engine: str = "", threads: int = 0, report: bool = False) -> Any:
    """a @ b as a DD, of arrays of float64 or complex128 and of DD: two matrices.

    contract  "dd" (the default): |T - AB| <= (k + 1) 2^-106 |A||B|; "bits(n)" up to 150; "exact", also "+down", "+up"
              and "+toward-zero": rounded once
    report    True: returns (DD, QuadReport)
    """
    _refuse.options_of("beyond.matmul", contract=contract, engine=engine, threads=threads)
    space, (a, b) = _operands("beyond.matmul", a, b)
    is_complex = _is_complex(a)
    if is_complex != _is_complex(b) or (is_complex and isinstance(a, DD) != isinstance(b, DD)):
        raise TypeError("beyond.matmul: complex matrices are both arrays or both DD: DD(a), and DD(a + 0j) for a real one")
    m, k, n = *a.shape, b.shape[1]
    if k != b.shape[0]:
        raise ValueError(f"beyond.matmul: a of shape {tuple(a.shape)} and b of shape {tuple(b.shape)} do not fit")
    left, right = _data(a), _data(b)
    result = space.empty_like((m, n, 2, 2) if is_complex else (m, n, 2), _real(left))
    told = _vernier.quad_matmul(left, right, result, isinstance(a, DD), isinstance(b, DD), contract or "", engine, threads)
    return (DD.of_parts(result), told) if report else DD.of_parts(result)


def solve(a: Any, b: Any, *, threads: int = 0, report: bool = False, verified: bool = False) -> Any:
    """x with a @ x = b as a DD, for conditions up to some 1e30; a and b are float64 or DD, on the CPU, b a matrix or vector.

    report  True: returns (DD, QuadSolveReport), also where corrections do not converge. Else that is BoundNotMet. A
            singular matrix is a ValueError.
    verified  True: the report's forward_error is proved, for conditions up to some 1e15. Else that is BoundNotMet, too.
    """
    _refuse.options_of("beyond.solve", threads=threads)
    if not isinstance(b, DD) and getattr(b, "ndim", 2) == 1:
        b = b.reshape((-1, 1))
    space, (a, b) = _operands("beyond.solve", a, b)
    _fits("beyond.solve", a, b)
    if isinstance(a, DD) and not isinstance(b, DD):
        b = DD(b)
    x = space.empty_like((b.shape[1], a.shape[0], 2), _real(_data(a)))
    told = _vernier.quad_solve(_columns(a), _columns(b), x, isinstance(a, DD), isinstance(b, DD), threads, verified)
    if told.info > 0:
        raise ValueError(f"beyond.solve: the matrix is singular: pivot {told.info} is zero")
    if not (told.ok and told.verified == verified) and not report:
        reason = told.reason or "the error is not proved"
        raise _vernier.BoundNotMet(f"beyond.solve: {reason}; ask for (x, report) with report=True")
    return (DD.of_parts(x).T, told) if report else DD.of_parts(x).T


def matmul_ends(a: Any, b: Any, *, engine: str = "", threads: int = 0) -> Ends:
    """Ends around all products of matrices in a and b, which are Ends or arrays; of arrays the product rounded down and up."""
    return Ends(*_interval("matmul_ends", *(x if isinstance(x, Ends) else Ends(x, x) for x in (a, b)), True, engine, threads))


def matmul_discs(a: Any, b: Any, *, engine: str = "", threads: int = 0) -> Discs:
    """Discs around all products of matrices in a and b, which are Discs or arrays; radii are at most 1.5 times the best."""
    return Discs(*_interval("matmul_discs", *(x if isinstance(x, Discs) else Discs(x) for x in (a, b)), False, engine, threads))


def verified_solve(a: Any, b: Any, *, threads: int = 0, report: bool = False) -> Any:
    """Ends that are proved to hold the solution of a @ x = b, for float64 of conditions up to some 1e15.

    report  True: returns (Ends or None, VerifiedReport). Else what could not be proved is BoundNotMet.
    """
    one = getattr(b, "ndim", 2) == 1
    space, (a, b) = _operands("verified_solve", a, b.reshape((-1, 1)) if one else b)
    _real_arrays("verified_solve", a, b)
    _fits("verified_solve", a, b)
    low, high = (space.empty_like((b.shape[1], a.shape[0]), a) for _ in range(2))
    told = _vernier.verified_solve(_rows(_transposed(a)), _rows(_transposed(b)), low, high, threads)
    ends = Ends(*(x[0] if one else _transposed(x) for x in (low, high)))
    return _proved("verified_solve", ends, told, report)


def verified_inverse(a: Any, *, threads: int = 0, report: bool = False) -> Any:
    """Ends that are proved to hold the inverse of a float64 matrix."""
    space, a = _square_real("verified_inverse", a)
    low, high = (space.empty_like(tuple(a.shape), a) for _ in range(2))
    return _proved("verified_inverse", Ends(low, high), _vernier.verified_inverse(_rows(a), low, high, threads), report)


def verified_determinant(a: Any, *, threads: int = 0, report: bool = False) -> Any:
    """A Determinant, both ends proved, of a float64 matrix."""
    _, a = _square_real("verified_determinant", a)
    low, high, exponent, told = _vernier.verified_determinant(_rows(a), threads)
    return _proved("verified_determinant", Determinant(low, high, exponent), told, report)


def verified_definite(a: Any, *, threads: int = 0, report: bool = False) -> Any:
    """A positive number that all eigenvalues of a symmetric float64 matrix exceed, which proves it definite.

    Of a the lower triangle is read.
    """
    _, a = _square_real("verified_definite", a)
    bound, told = _vernier.verified_definite(_rows(_transposed(a)), threads)
    return _proved("verified_definite", bound, told, report)


def _parts(x, lo):
    if lo is not None:
        return _pair_of_parts(x, lo)
    if getattr(x, "dtype", None) is not None and getattr(x.dtype, "names", None) == ("hi", "lo"):
        return _pair_of_parts(x["hi"], x["lo"])
    if str(getattr(x, "dtype", "")) == "float128":  # NumPy's long double: 64 bits on x86
        import numpy

        hi = x.astype("float64")
        return _pair_of_parts(hi, numpy.subtract(x, hi, out=numpy.zeros_like(x), where=numpy.isfinite(hi)).astype("float64"))
    _refuse.array(x, "x", "DD")
    if x.ndim != 2 or _refuse.dtype_name(x) not in ("float64", "complex128"):
        raise TypeError(f"DD: x has shape {tuple(x.shape)} of {_refuse.dtype_name(x)}; a matrix of float64 or complex128 is expected")
    if _is_complex(x):
        return adapter(x).stacked([_stacked(y, _zeros(y)) for y in (x.real, x.imag)], 2)
    return _stacked(x, _zeros(x))


def _zeros(x):
    zeros = adapter(x).empty_like(tuple(x.shape), x)
    zeros[...] = 0
    return zeros


def _pair_of_parts(hi, lo):
    for x, name in ((hi, "hi"), (lo, "lo")):
        _refuse.array(x, name, "DD")
        if _refuse.dtype_name(x) != "float64" or len(x.shape) not in (2, 3) or any(s != 2 for s in x.shape[2:]):
            raise TypeError(f"DD: {name} has shape {tuple(x.shape)} of {_refuse.dtype_name(x)}; float64 and (m, n) or (m, n, 2) are expected")
    if tuple(hi.shape) != tuple(lo.shape):
        raise ValueError(f"DD: hi has shape {tuple(hi.shape)} and lo {tuple(lo.shape)}; they must be equal")
    _refuse.pair(hi, lo, "DD")
    return _stacked(hi, lo)


def _stacked(hi, lo):
    return adapter(hi).stacked([hi, lo], -1)


def _operands(routine, a, b):
    for x, name in ((a, "a"), (b, "b")):
        _refuse.gradient(x.parts if isinstance(x, DD) else x, name, routine)
        if isinstance(x, DD):
            continue
        _refuse.array(x, name, routine)
        if _refuse.dtype_name(x) not in ("float64", "complex128"):
            raise TypeError(f"{routine}: {name} has dtype {_refuse.dtype_name(x)}; float64, complex128 or a DD is expected")
        if x.ndim != 2:
            raise ValueError(f"{routine}: {name} has shape {tuple(x.shape)}; a matrix is expected")
    x, y = (z.parts if isinstance(z, DD) else z for z in (a, b))
    _refuse.pair(x, y, routine)
    space = adapter(x)
    if space is None or not hasattr(space, "stacked"):
        raise TypeError(f"{routine}: a is a {_refuse.kind_of(x)}; an array of NumPy, CuPy or PyTorch is expected")
    resolved = getattr(space, "resolved", lambda z: z)  # PyTorch's lazy conjugates
    return space, tuple(z if isinstance(z, DD) else resolved(z) for z in (a, b))


def _fits(routine, a, b):
    if a.shape[0] != a.shape[1] or a.shape[0] != b.shape[0] or _is_complex(a) or _is_complex(b):
        raise ValueError(f"{routine}: a has shape {tuple(a.shape)} and b {tuple(b.shape)}; a real square matrix and as many rows "
                         "of b are expected")


def _real_arrays(routine, *arrays):
    for x in arrays:
        if isinstance(x, DD) or _is_complex(x):
            raise TypeError(f"{routine}: a matrix of float64 is expected")


def _square_real(routine, a):
    space, (a, _) = _operands(routine, a, a)
    _real_arrays(routine, a)
    if a.shape[0] != a.shape[1]:
        raise ValueError(f"{routine}: a has shape {tuple(a.shape)}; a square matrix is expected")
    return space, a


def _is_complex(x):
    return x.is_complex if isinstance(x, DD) else _refuse.dtype_name(x) == "complex128"


def _real(x):
    """An array of float64 of x's library and device."""
    return x.real if _refuse.dtype_name(x) == "complex128" else x


def _transposed(x):
    return x.T if isinstance(x, DD) else adapter(x).permute(x, (1, 0))


def _rows(x):
    """x by rows, copied only where it does not lie so."""
    down, along = adapter(x).element_strides(x)
    return x if along == 1 and down == max(1, x.shape[1]) else adapter(x).contiguous(x)


def _columns(x):
    """x by columns: its transpose by rows."""
    return _data(x.T) if isinstance(x, DD) else _rows(_transposed(x))


def _data(x):
    if not isinstance(x, DD):
        return x if _by_rows_or_columns(x) else adapter(x).contiguous(x)
    expected = [1]
    for size in x.parts.shape[:0:-1]:
        expected.insert(0, expected[0] * size)
    return x.parts if list(adapter(x.parts).element_strides(x.parts)) == expected else adapter(x.parts).contiguous(x.parts)


def _interval(routine, a, b, ends, engine, threads):
    first, second = ("low", "high") if ends else ("mid", "rad")
    space, (left, right) = _operands(routine, getattr(a, first), getattr(b, first))
    if left.shape[1] != right.shape[0] or _is_complex(left) != _is_complex(right):
        raise ValueError(f"{routine}: a of shape {tuple(left.shape)} and b of shape {tuple(right.shape)} do not fit; both are real or "
                         "both complex")
    others = []
    for x, other in ((left, getattr(a, second)), (right, getattr(b, second))):
        if other is not None:
            _refuse.array(other, second, routine)
            _refuse.pair(x, other, routine)
        if other is not None and (tuple(other.shape) != tuple(x.shape)
                                  or _refuse.dtype_name(other) != _refuse.dtype_name(x if ends else _real(x))):
            raise ValueError(f"{routine}: {first} has shape {tuple(x.shape)} and {second} {tuple(other.shape)} of "
                             f"{_refuse.dtype_name(other)}; they must be alike")
        others.append(other if other is None else _rows(other))
    shape = (left.shape[0], right.shape[1])
    result = space.empty_like(shape, left)
    other = space.empty_like(shape, left if ends else _real(left))
    _vernier.interval_matmul(_rows(left), others[0], _rows(right), others[1], result, other, ends, engine, threads)
    return result, other


def _proved(routine, answer, told, report):
    if not told.verified and not report:
        raise _vernier.BoundNotMet(f"{routine}: not verified: {told.reason}")
    if report:
        return (answer if told.verified else None), told
    return answer
