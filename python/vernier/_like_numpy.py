"""What NumPy and CuPy spell alike."""


def element_strides(x):
    return tuple(s // x.itemsize if s % x.itemsize == 0 else 0 for s in x.strides)


class Functions:
    """Those of the library xp."""

    def __init__(self, xp):
        self._xp = xp

    def empty_like(self, shape, x):
        return self._xp.empty(shape, x.dtype)

    def joined(self, x, y, axis):
        return self._xp.concatenate([x, y], axis)

    def stacked(self, arrays, axis):
        return self._xp.stack(arrays, axis)

    def negative_identity(self, n, like):
        return -self._xp.eye(n, dtype=like.dtype)

    def clear_above_diagonal(self, x):
        x[...] = self._xp.tril(x)

    def ones(self, n, like):
        return self._xp.ones(n, like.dtype)

    def diagonals(self, x, indices, unique):
        return self._xp.einsum(f"{indices}->{unique}", x)
