"""What _vernier asks of CuPy: its current stream and its memory pool."""

import cupy
import numpy

from . import _cuda, _like_numpy
from ._like_numpy import element_strides  # noqa: F401, an adapter has it

_cuda.load()
dtypes = tuple(numpy.dtype(name) for name in ("float32", "float64", "complex64", "complex128"))
empty = cupy.empty
permute = cupy.transpose
_alike = _like_numpy.Functions(cupy)
empty_like, joined, ones, stacked = _alike.empty_like, _alike.joined, _alike.ones, _alike.stacked
negative_identity, clear_above_diagonal, diagonals = (_alike.negative_identity, _alike.clear_above_diagonal,
                                                      _alike.diagonals)
_current_stream = cupy.cuda.get_current_stream
_current_device = cupy.cuda.runtime.getDevice


def contiguous(x):
    return cupy.array(x, order="C", copy=True)


def by_columns(x):
    return cupy.array(x, order="F", copy=True)


def pivots(count, like):
    return cupy.empty(count, numpy.int64)


def address(x):
    return x.data.ptr


def shares_memory(x, y):
    return bool(cupy.shares_memory(x, y))


def stream(device):
    if _current_device() != device:
        raise ValueError(f"the arrays lie on GPU {device} and GPU {_current_device()} is current; use "
                         f"with cupy.cuda.Device({device}):")
    return _current_stream().ptr


def workspace(size, device):
    memory = cupy.cuda.alloc(size)
    return memory, memory.ptr
