"""What _vernier asks of NumPy."""

import numpy

from . import _like_numpy

dtypes = tuple(numpy.dtype(name) for name in ("float32", "float64", "complex64", "complex128"))
empty = numpy.empty
permute = numpy.transpose
_alike = _like_numpy.Functions(numpy)
empty_like, joined, ones, stacked = _alike.empty_like, _alike.joined, _alike.ones, _alike.stacked
negative_identity, clear_above_diagonal, diagonals = (_alike.negative_identity, _alike.clear_above_diagonal,
                                                      _alike.diagonals)


def element_strides(x):
    return _like_numpy.element_strides(x) if x.flags.aligned else (0,) * x.ndim


def contiguous(x):
    return numpy.array(x, order="C", copy=True, subok=False)


def by_columns(x):
    return numpy.array(x, order="F", copy=True, subok=False)


def pivots(count, like):
    return numpy.empty(count, numpy.int64)


def address(x):
    return x.ctypes.data


def shares_memory(x, y):
    try:
        return numpy.shares_memory(x, y, max_work=100000)
    except RuntimeError:  # too hard to decide: TooHardError is one
        return True


def stream(device):
    return 0


def workspace(size, device):
    raise AssertionError("products on a CPU take no device memory")
