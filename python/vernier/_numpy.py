"""What _vernier asks of NumPy."""

import numpy

dtypes = tuple(numpy.dtype(name) for name in ("float32", "float64", "complex64", "complex128"))
empty = numpy.empty
permute = numpy.transpose


def contiguous(x):
    return numpy.array(x, order="C", copy=True, subok=False)


def by_columns(x):
    return numpy.array(x, order="F", copy=True, subok=False)


def pivots(count, like):
    x = numpy.empty(count, numpy.int64)
    return x, x.ctypes.data


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


def empty_like(shape, x):
    return numpy.empty(shape, x.dtype)


def element_strides(x):
    return tuple(s // x.itemsize if s % x.itemsize == 0 else 0 for s in x.strides)


def joined(x, y, axis):
    return numpy.concatenate([x, y], axis)


def negative_identity(n, like):
    return -numpy.eye(n, dtype=like.dtype)


def clear_above_diagonal(x):
    x[...] = numpy.tril(x)


def ones(n, like):
    return numpy.ones(n, like.dtype)


def diagonals(x, indices, unique):
    return numpy.einsum(f"{indices}->{unique}", x)
