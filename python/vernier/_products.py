"""matmul, dot_exact and record: what people call; the work is _vernier's."""

from __future__ import annotations

from typing import Any, Callable

from . import _refuse, _vernier


class record:
    """A block whose products are reported: ``with vernier.record() as reports: ...`` fills the list `reports`.

    It holds the products that the thread which opened the block makes inside it, in order: one Report for a product or
    for a batch of them.
    """

    def __enter__(self) -> list[_vernier.Report]:
        reports: list[_vernier.Report] = []
        _vernier.push_record(reports)
        return reports

    def __exit__(self, *unused: object) -> None:
        _vernier.pop_record()


def matmul(a: Any, b: Any, contract: str | None = None, *, out: Any = None, report: bool = False, engine: str = "",
           threads: int = 0, progress: bool | Callable[[float], object] = False, rounding: str = "nearest") -> Any:
    """The matrix product a @ b under a contract, with the shapes and the broadcasting of numpy.matmul.

    a, b      arrays of one library, device and dtype (float32, float64, complex64, complex128): NumPy, CuPy, PyTorch,
              JAX, or anything with __dlpack__ or __cuda_array_interface__. Products are made where the arrays lie, on
              the current stream of their library; the result is an array of the same kind.
    contract  "fp32", "fp64", "fp64-normwise", "bits(60)", "normwise(60)" or "exact", each optionally followed by
              "+reproducible" and "+no-fallback"; None is "fp32" for float32 and complex64, "fp64" otherwise
    out       an array of the shape and dtype of the result, which may not overlap a or b
    report    True: returns (result, Report)
    engine    "" chooses; or the name of an engine, or "native"
    threads   0 leaves the number to OpenMP
    progress  a function of the fraction that is done, or True for a bar of tqdm; on a CPU
    rounding  of "exact": "nearest", "down", "up" or "toward-zero"; "down" and "up" enclose the exact product. Any but
              "nearest" makes "exact" the default contract

    Every entry of the result T keeps |T - AB| <= (k + 1) u |A||B| under "fp64" (u = 2^-53) and "fp32" (u = 2^-24,
    with u |T| on top for float32 results). Batches go to the batched routines; many matrices a with one matrix b are one
    product, unless the contract is reproducible. Raises ValueError, TypeError, MemoryError or BoundNotMet; out is then
    as it was.
    """
    if rounding != "nearest":
        contract = f"{contract or 'exact'}+{rounding}"
    if progress is not True:
        try:
            return _vernier.matmul(a, b, contract, out, report, engine, threads, None if progress is False else progress)
        except TypeError:
            _refuse.options(report, engine, threads)
            _refuse.prepared(a, b)
            raise
    from ._progress import bar

    with bar("matmul") as moved:
        return _vernier.matmul(a, b, contract, out, report, engine, threads, moved)


def dot_exact(x: Any, y: Any) -> Any:
    """The sum of x[i] * y[i], an exact real number that is rounded once to the dtype of x and y.

    x, y  vectors of one length; with y = 1, ..., 1 it is the exact sum of x
    """
    for array, name in ((x, "x"), (y, "y")):
        if getattr(array, "ndim", 1) != 1:
            raise ValueError(f"dot_exact: {name} has {array.ndim} dimensions; a vector is expected: {name}.ravel()")
    return matmul(x, y, "exact")
