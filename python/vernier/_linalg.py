"""Linear systems, factorisations and prepared factors."""

from __future__ import annotations

import math
import warnings
from typing import Any, Iterator

from . import _refuse, _vernier
from ._namespace import adapter
from ._products import matmul


def solve(a: Any, b: Any, contract: str | None = None, *, factors: str = "auto", refinement: str = "auto",
          tolerance: float = 0.0, condition: bool = False, forward_error: bool = False,
          componentwise_error: bool = False, report: bool = False) -> Any:
    """x with a @ x = b, and a measured backward error for each right-hand side.

    a, b        of NumPy, CuPy or PyTorch: a square, b a vector or a matrix; x has b's shape. A complex system on a GPU is
                solved, and certified, as the real one of twice the order
    contract    of the products in the factorisation; None: as the factors
    factors     "auto", "bf16", "fp16", "fp32" or "fp64": what the LU factors are kept in
    refinement  "auto", "classical" or "gmres"
    tolerance   of max |b - A x| / (|A| max |x| + max |b|); 0: max(4, sqrt(n)) u
    condition, forward_error, componentwise_error
                estimate or measure these too
    report      True: returns (x, Certificate), also where the tolerance was not reached

    Raises ValueError for a singular matrix and for NaN or infinity; BoundNotMet where the tolerance was not reached
    and nobody asked for the certificate. A matrix that is singular to working precision is a RuntimeWarning.
    """
    _refuse.options_of("solve", contract=contract, factors=factors, refinement=refinement, tolerance=tolerance)
    space = _square("solve", a)
    _right_hand_side("solve", a, b)
    options = (factors, refinement, tolerance, condition, forward_error, componentwise_error, contract or "")
    if _refuse.dtype_name(a).startswith("complex") and _refuse.device_of(a) != "the CPU":
        x, done = _solve_doubled(space, a, b, options)
    else:
        x, done = _solve(space, a, b, options)
    _judge(done, report)
    return (x, done) if report else x


def _solve(space, a, b, options):
    right = space.by_columns(b)
    if not _by_rows_or_columns(a):
        a = space.contiguous(a)
    x = space.by_columns(right)
    return x, _vernier.solve(a, right, x, *options)


def _solve_doubled(space, a, b, options):
    """[Re -Im; Im Re] [Re x; Im x] = [Re b; Im b]: GPUs have no complex factors."""
    rows = [space.joined(a.real, -a.imag, 1), space.joined(a.imag, a.real, 1)]
    x, done = _solve(space, space.joined(*rows, 0), space.joined(b.real, b.imag, 0), options)
    n = a.shape[0]
    return x[:n] + 1j * x[n:], done


def _judge(done, report):
    if done.verdict == "singular":
        raise ValueError(f"solve: the matrix is singular: pivot {done.info} is zero")
    if done.verdict == "ill-conditioned":
        warnings.warn("solve: the matrix is singular to working precision: no digit of x need be right", RuntimeWarning,
                      stacklevel=3)
    elif not report and not done.ok:
        raise _vernier.BoundNotMet(f"solve: the backward error is {done.backward_error:.1e}, above the tolerance "
                                   f"{done.tolerance:.1e}; ask for (x, certificate) with report=True")


class LU:
    """P A = L U, as lu_factor returns it; ``lu, piv = factors`` gives what scipy.linalg.lu_factor does."""

    def __init__(self, factors: Any, pivots: Any, info: int, contract: str):
        self.factors = factors  #: L below the diagonal, U on and above it
        self.pivots = pivots  #: row i was exchanged with row pivots[i], counted from 1
        self.info = info  #: 0, or i: the i-th pivot is zero, counted from 1
        self._contract = contract

    def solve(self, b: Any, transposed: bool = False) -> Any:
        """x with A x = b, or with A^T x = b."""
        n, pivots, space = self.factors.shape[0], self.pivots, adapter(self.factors)
        if tuple(self.factors.shape) != (n, n):
            raise ValueError(f"lu_solve: the factors have shape {tuple(self.factors.shape)}; those of a square matrix are expected")
        if self.info > 0:
            raise ValueError(f"lu_solve: the matrix is singular: pivot {self.info} is zero")
        _right_hand_side("lu_solve", self.factors, b)
        if (tuple(pivots.shape) != (n,) or _refuse.dtype_name(pivots) != "int64" or adapter(pivots) is not space
                or _refuse.device_of(pivots) != _refuse.device_of(b)):
            raise ValueError(f"lu_solve: pivots have shape {tuple(pivots.shape)} of {_refuse.dtype_name(pivots)}; {n} of int64 "
                             "beside the factors are expected")
        x, pivots = space.by_columns(b), space.contiguous(pivots)  # the pivots of a copy, too, or of a pickled one
        _vernier.solve_lu(self.factors, space.address(pivots), x, transposed, self._contract)
        return x

    def __iter__(self) -> Iterator[Any]:
        return iter((self.factors, self.pivots - 1))

    def __repr__(self) -> str:
        rows, columns = self.factors.shape
        return f"LU of a {rows} x {columns} matrix of {_refuse.dtype_name(self.factors)}, info {self.info}"


def lu_factor(a: Any, contract: str | None = None) -> LU:
    """P A = L U with partial pivoting, its large products under the contract; a stays. Complex ones lie on the CPU."""
    _refuse.options_of("lu_factor", contract=contract)
    space = _matrix("lu_factor", a)
    factors, pivots = space.by_columns(a), space.pivots(min(a.shape), a)
    info = _vernier.factor_lu(factors, space.address(pivots), contract or "")
    return LU(factors, pivots, info, contract or "")


def lu_solve(lu: LU, b: Any, *, a: Any = None, report: bool = False, transposed: bool = False) -> Any:
    """x with A x = b, from the factors of A. With report=True and the matrix a: (x, Certificate), as solve gives it."""
    if not isinstance(lu, LU):
        raise TypeError(f"lu_solve: lu is a {_refuse.kind_of(lu)}; what lu_factor returned is expected")
    x = lu.solve(b, transposed)
    return (x, _certificate("lu_solve", a.T if transposed and a is not None else a, x, b)) if report else x


def _certificate(routine, a, x, b):
    if a is None:
        raise ValueError(f"{routine}: a backward error is measured with the matrix itself: give a=")
    return _vernier.certificate(backward_errors(a, x, b), _refuse.dtype_name(a), a.shape[0])


def backward_errors(a: Any, x: Any, b: Any) -> list[float]:
    """max |b - A x| / (|A| max |x| + max |b|) for each column, |A| the largest row sum; residuals are rounded once.

    Infinite where a, x or b hold NaN or an infinity, or where the quotient's terms overflow or underflow to zero.
    """
    space = _square("backward_errors", a)
    _right_hand_side("backward_errors", a, b)
    _refuse.array(x, "x", "backward_errors")
    if tuple(x.shape) != tuple(b.shape):
        raise ValueError(f"backward_errors: x has shape {tuple(x.shape)} and b {tuple(b.shape)}; they must be equal")
    right, left = (y if y.ndim == 2 else y[:, None] for y in (b, x))
    if 0 in right.shape:
        return [0.0] * right.shape[1]
    minus = space.negative_identity(right.shape[1], a)
    residual = matmul(space.joined(a, right, 1), space.joined(left, minus, 0), "exact")
    norm = float(abs(a).sum(1).max())
    return [_quotient(norm, *(float(abs(y[:, j]).max()) for y in (residual, left, right))) for j in range(right.shape[1])]


def _quotient(norm, residual, x, b):
    size = norm * x + b
    if 0 < size < math.inf and residual < math.inf:  # false for NaN
        return residual / size
    return 0.0 if b == 0 and (norm == 0 and x < math.inf or x == 0 and norm < math.inf) else math.inf


class Cholesky:
    """A = L L^T, for complex A L L^H, as cholesky returns it."""

    def __init__(self, lower: Any, contract: str):
        self.lower = lower  #: L, with zeros above the diagonal
        self._contract = contract

    def solve(self, b: Any, *, a: Any = None, report: bool = False) -> Any:
        """x with A x = b. With report=True and the matrix a: (x, Certificate), as solve gives it."""
        _right_hand_side("cholesky", self.lower, b)
        x = adapter(b).by_columns(b)
        _vernier.solve_cholesky(self.lower, x, self._contract)
        return (x, _certificate("cholesky", a, x, b)) if report else x

    def __repr__(self) -> str:
        return f"Cholesky of a matrix of order {self.lower.shape[0]} of {_refuse.dtype_name(self.lower)}"


def cholesky(a: Any, contract: str | None = None) -> Cholesky:
    """A = L L^T of a symmetric, or L L^H of a Hermitian, positive definite a; ``.lower`` is L.

    Of a the lower triangle is read. Complex ones lie on the CPU.

    Raises ValueError where a leading minor is not positive.
    """
    _refuse.options_of("cholesky", contract=contract)
    space = _square("cholesky", a)
    lower = space.by_columns(a)
    info = _vernier.factor_cholesky(lower, contract or "")
    if info > 0:
        raise ValueError(f"cholesky: the matrix is not positive definite: the leading minor of order {info} is not positive")
    space.clear_above_diagonal(lower)
    return Cholesky(lower, contract or "")


class Prepared:
    """A factor whose residues are made once, as prepare returns it: ``p @ b`` for a left factor, ``a @ p`` for a right."""

    __array_ufunc__ = None  # so that NumPy leaves a @ p to __rmatmul__
    __array_priority__ = 1000

    def __init__(self, held: Any, x: Any):
        self._held, self._space = held, adapter(x)
        self.shape = tuple(x.shape)
        self.dtype = x.dtype

    def matmul(self, other: Any, *, out: Any = None, report: bool = False) -> Any:
        """The product with the other factor, a matrix; out lies by rows."""
        if isinstance(other, Prepared):
            raise TypeError("prepare: the other factor is prepared too; an array is expected")
        _refuse.array(other, "other", "prepare")
        _refuse.gradient(other, "other", "prepare")
        if out is not None:
            _refuse.array(out, "out", "prepare")
        if other.ndim != 2 or adapter(other) is not self._space or _refuse.dtype_name(other) != self._held.dtype:
            raise TypeError(f"prepare: the other factor has {other.ndim} dimensions of {_refuse.dtype_name(other)}; a matrix of "
                            f"{self._held.dtype} of the library of the prepared one is expected")
        inner, other_inner = (self.shape[1], other.shape[0]) if self._held.left else (self.shape[0], other.shape[1])
        if inner != other_inner:
            raise ValueError(f"prepare: the prepared factor of shape {self.shape} and one of shape {tuple(other.shape)} do not fit")
        shape = (self.shape[0], other.shape[1]) if self._held.left else (other.shape[0], self.shape[1])
        if not _by_rows_or_columns(other):
            other = self._space.contiguous(other)
        result = self._space.empty_like(shape, other)
        told = self._held.multiply(other, result)
        if out is not None:
            if tuple(out.shape) != shape or _refuse.dtype_name(out) != self._held.dtype:
                raise ValueError(f"prepare: out has shape {tuple(out.shape)}; expected {shape} of {self._held.dtype}")
            out[...] = result
            result = out
        return (result, told) if report else result

    def __matmul__(self, other: Any) -> Any:
        if not self._held.left:
            raise ValueError("prepare: this is a right factor: a @ p")
        return self.matmul(other)

    def __rmatmul__(self, other: Any) -> Any:
        if self._held.left:
            raise ValueError("prepare: this is a left factor: p @ b")
        return self.matmul(other)

    def __repr__(self) -> str:
        return repr(self._held)


def prepare(x: Any, side: str = "left", contract: str | None = None, *, engine: str = "", threads: int = 0) -> Prepared:
    """x as a factor of many products: its residues are made once. Later changes to x have no effect.

    x         a matrix of NumPy, CuPy or PyTorch; complex ones lie on the CPU
    side      "left" for p @ b, "right" for a @ p
    contract  of all the products; "exact" cannot be prepared
    """
    _refuse.options_of("prepare", contract=contract, engine=engine, threads=threads)
    space = _matrix("prepare", x)
    if side not in ("left", "right"):
        raise ValueError(f"prepare: side is {side!r}; expected 'left' or 'right'")
    if not _by_rows_or_columns(x):
        x = space.contiguous(x)
    return Prepared(_vernier.Prepared(x, side == "left", contract or "", engine, threads), x)


def _matrix(routine, a):
    _refuse.array(a, "a", routine)
    _refuse.gradient(a, "a", routine)
    space = adapter(a)
    if space is None or not hasattr(space, "by_columns"):
        raise TypeError(f"{routine}: a is a {_refuse.kind_of(a)}; an array of NumPy, CuPy or PyTorch is expected")
    if a.ndim != 2:
        raise ValueError(f"{routine}: a has shape {tuple(a.shape)}; a matrix is expected")
    return space


def _square(routine, a):
    space = _matrix(routine, a)
    if a.shape[0] != a.shape[1]:
        raise ValueError(f"{routine}: a has shape {tuple(a.shape)}; a square matrix is expected")
    return space


def _right_hand_side(routine, a, b):
    _refuse.array(b, "b", routine)
    _refuse.gradient(b, "b", routine)
    _refuse.dtypes(a, b, routine)
    _refuse.pair(a, b, routine)
    if b.ndim not in (1, 2) or b.shape[0] != a.shape[0]:
        raise ValueError(f"{routine}: b has shape {tuple(b.shape)}; a vector or matrix of {a.shape[0]} rows is expected")


def _by_rows_or_columns(x):
    """Does a leading dimension describe x?"""
    rows, columns = x.shape
    down, along = adapter(x).element_strides(x)
    return (along == 1 and down >= columns) or (down == 1 and along >= rows)
