"""What the programs beside this file share: random matrices, errors against extended precision, one line for each result."""
import json

import numpy as np

SAMPLES = 48  # rows and columns of a product that are computed again in extended precision


def scattered(rng, rows, columns, dtype):
    """(rand - 0.5) exp(0.5 randn), the test matrices of the papers."""
    def real():
        return (rng.random((rows, columns)) - 0.5) * np.exp(0.5 * rng.standard_normal((rows, columns)))
    return (real() + 1j * real() if np.dtype(dtype).kind == "c" else real()).astype(dtype)


def product_error(a, b, rows_of_c):
    """The largest error of a few rows of C = A B, relative to |A| |B|; rows_of_c(rows) gives them."""
    step = max(1, a.shape[0] // SAMPLES)
    rows, columns = np.arange(0, a.shape[0], step)[:SAMPLES], np.arange(0, b.shape[1], step)[:SAMPLES]
    wide = np.clongdouble if a.dtype.kind == "c" else np.longdouble
    exact = a[rows].astype(wide) @ b[:, columns].astype(wide)
    scale = np.abs(a[rows]).astype(np.float64) @ np.abs(b[:, columns]).astype(np.float64)
    return float(np.max(np.abs(rows_of_c(rows)[:, columns] - exact) / scale))


def residual(a, x, b):
    """|b - A x| / (|A| |x| + |b|), the normwise backward error in the infinity norm, in extended precision for a few rows."""
    step = max(1, a.shape[0] // 256)
    r = b[::step].astype(np.longdouble) - a[::step].astype(np.longdouble) @ x.astype(np.longdouble)
    return float(np.max(np.abs(r)) / (np.max(np.sum(np.abs(a), axis=1)) * np.max(np.abs(x)) + np.max(np.abs(b))))


def tell(what, **values):
    print(json.dumps({"what": what} | values), flush=True)
