"""matmul for NumPy arrays: shapes, checks and copies; the product itself is the library's."""

import sys
import threading

from ._vernier import product

_KINDS = ("float32", "float64", "complex64", "complex128")
_open_records = threading.local()


class record:
    """A block whose products are reported: ``with vernier.record() as reports: ...`` fills the list `reports`.

    It holds the products that the thread which opened the block makes inside it, in order.
    """

    def __enter__(self):
        self._reports = []
        stack = getattr(_open_records, "stack", None)
        if stack is None:
            stack = _open_records.stack = []
        stack.append(self._reports)
        return self._reports

    def __exit__(self, *unused):
        _open_records.stack.pop()


def matmul(a, b, contract=None, *, out=None, report=False, engine="", threads=0):
    """The matrix product a @ b under a contract, with the shapes and the broadcasting of numpy.matmul.

    a, b      NumPy arrays of one dtype: float32, float64, complex64 or complex128
    contract  "fp32", "fp64", "fp64-normwise", "bits(60)" or "exact", each optionally followed by "+reproducible"
              and "+no-fallback"; None is "fp32" for float32 and complex64, "fp64" otherwise
    out       an array of the shape and dtype of the result, which may not overlap a or b
    report    True: returns (result, reports), one Report for each matrix of the result
    engine    "" chooses; or the name of an engine, or "native"
    threads   0 leaves the number to OpenMP

    Every entry of the result T keeps |T - AB| <= (k + 1) u |A||B| under "fp64" (u = 2^-53) and "fp32" (u = 2^-24,
    with u |T| on top for float32 results). Raises ValueError, TypeError, MemoryError or BoundNotMet; out is then as it
    was.
    """
    np = sys.modules.get("numpy")
    _check_array(np, a, "a")
    _check_array(np, b, "b")
    if a.dtype != b.dtype:
        raise TypeError(f"matmul: a is {a.dtype} and b is {b.dtype}; convert one: a.astype(b.dtype)")
    left = a[None, :] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    shape, batch = _result_shape(np, a, b, left, right)
    if out is not None:
        _check_out(np, out, a, b, shape)
    direct = out is not None and not batch and out.ndim == 2 and _gemm_takes(out)
    result = out if direct else np.empty(batch + (left.shape[-2], right.shape[-1]), a.dtype)
    reports = _run(np, left, right, result, batch, "" if contract is None else contract, engine, threads)
    for opened in getattr(_open_records, "stack", ()):
        opened.extend(reports)
    if not direct:
        result = result.reshape(shape)
        if out is not None:  # after the last matrix: nothing may fail once out is written
            np.copyto(out, result)
            result = out
    if shape == () and out is None:
        result = result[()]
    return (result, reports) if report else result


def _run(np, left, right, result, batch, contract, engine, threads):
    if not batch:
        return [product(_operand(np, left), _operand(np, right), result, contract, engine, threads)]
    left = np.broadcast_to(left, batch + left.shape[-2:])
    right = np.broadcast_to(right, batch + right.shape[-2:])
    return [product(_operand(np, left[i]), _operand(np, right[i]), result[i], contract, engine, threads)
            for i in np.ndindex(*batch)]


def _gemm_takes(x):
    """Does a leading dimension describe the matrix x, by rows or by columns?"""
    if not x.flags.aligned:
        return False
    size, (rows, columns), (down, along) = x.itemsize, x.shape, x.strides
    by_rows = (columns <= 1 or along == size) and (rows <= 1 or (down >= size * max(1, columns) and down % size == 0))
    by_columns = (rows <= 1 or down == size) and (columns <= 1 or (along >= size * max(1, rows) and along % size == 0))
    return by_rows or by_columns


def _operand(np, x):
    return x if _gemm_takes(x) else np.array(x, order="C", copy=True)


def _check_array(np, x, name):
    if np is None or not isinstance(x, np.ndarray):
        raise TypeError(f"matmul: {name} is a {type(x).__module__}.{type(x).__qualname__}; a numpy.ndarray is expected: "
                        f"numpy.asarray({name}), or numpy.from_dlpack({name}) for a tensor on the CPU")
    masked = sys.modules.get("numpy.ma")
    if masked is not None and isinstance(x, masked.MaskedArray):
        raise TypeError(f"matmul: {name} is a masked array, whose mask a product would ignore; use {name}.filled(0)")
    if x.dtype.name not in _KINDS or not x.dtype.isnative:
        raise TypeError(f"matmul: {name} has dtype {x.dtype}; expected float32, float64, complex64 or complex128 of "
                        f"native byte order: {name}.astype('float64')")
    if x.ndim == 0:
        raise ValueError(f"matmul: {name} is a scalar; one dimension at least is expected; use * to scale")


def _result_shape(np, a, b, left, right):
    if left.shape[-1] != right.shape[-2]:
        raise ValueError(f"matmul: a of shape {a.shape} has {left.shape[-1]} columns and b of shape {b.shape} has "
                         f"{right.shape[-2]} rows; they must be equal")
    batch = left.shape[:-2]
    if batch != right.shape[:-2]:
        try:
            batch = np.broadcast_shapes(batch, right.shape[:-2])
        except ValueError:
            raise ValueError(f"matmul: the batches {left.shape[:-2]} of a and {right.shape[:-2]} of b do not "
                             "broadcast") from None
    rows = () if a.ndim == 1 else (left.shape[-2],)
    columns = () if b.ndim == 1 else (right.shape[-1],)
    return batch + rows + columns, batch


def _check_out(np, out, a, b, shape):
    _check_array_or_scalar_out(np, out)
    if out.dtype != a.dtype:
        raise TypeError(f"matmul: out has dtype {out.dtype}; expected {a.dtype}")
    if out.shape != shape:
        raise ValueError(f"matmul: out has shape {out.shape}; expected {shape}")
    if not out.flags.writeable:
        raise ValueError("matmul: out is read-only; give an array that may be written")
    for x, name in ((a, "a"), (b, "b")):
        if _overlap(np, x, out):
            raise ValueError(f"matmul: out overlaps {name}; give an array of its own: numpy.empty({shape})")


def _check_array_or_scalar_out(np, out):
    if not isinstance(out, np.ndarray) or type(out).__name__ == "MaskedArray":
        raise TypeError(f"matmul: out is a {type(out).__qualname__}; a plain numpy.ndarray is expected")


def _overlap(np, x, y):
    if not np.may_share_memory(x, y):
        return False
    try:
        return np.shares_memory(x, y, max_work=100000)
    except RuntimeError:  # too hard to decide: TooHardError is one
        return True
