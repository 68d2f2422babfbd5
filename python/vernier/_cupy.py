"""What _vernier asks of CuPy: its current stream and its memory pool."""

import cupy
import numpy

from . import _cuda

_cuda.load()
dtypes = tuple(numpy.dtype(name) for name in ("float32", "float64", "complex64", "complex128"))
empty = cupy.empty
permute = cupy.transpose
_current_stream = cupy.cuda.get_current_stream
_current_device = cupy.cuda.runtime.getDevice


def contiguous(x):
    return cupy.array(x, order="C", copy=True)


def by_columns(x):
    return cupy.array(x, order="F", copy=True)


def pivots(count, like):
    x = cupy.empty(count, numpy.int64)
    return x, x.data.ptr


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


def empty_like(shape, x):
    return cupy.empty(shape, x.dtype)


def element_strides(x):
    return tuple(s // x.itemsize if s % x.itemsize == 0 else 0 for s in x.strides)


def joined(x, y, axis):
    return cupy.concatenate([x, y], axis)


def negative_identity(n, like):
    return -cupy.eye(n, dtype=like.dtype)


def clear_above_diagonal(x):
    x[...] = cupy.tril(x)


def ones(n, like):
    return cupy.ones(n, like.dtype)


def diagonals(x, indices, unique):
    return cupy.einsum(f"{indices}->{unique}", x)
