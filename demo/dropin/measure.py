"""What the programs beside this file share: errors against extended precision, and one line for each result."""
import json

import numpy as np

SAMPLES = 48  # rows and columns of a product that are computed again in extended precision


def samples(n, count=SAMPLES):
    return np.arange(0, n, max(1, n // count))[:count]


def product_error(rows_of_a, columns_of_b, c):
    """The largest error of C = A B in sampled rows and columns, relative to |A| |B|."""
    wide = np.clongdouble if c.dtype.kind == "c" else np.longdouble
    exact = rows_of_a.astype(wide) @ columns_of_b.astype(wide)
    scale = np.abs(rows_of_a).astype(np.float64) @ np.abs(columns_of_b).astype(np.float64)
    return float(np.max(np.abs(c - exact) / scale))


def backward_error(rows_of_a, norm_of_a, x, rows_of_b, norm_of_b):
    """|b - A x| / (|A| |x| + |b|) in the infinity norm, of sampled rows in extended precision."""
    r = rows_of_b.astype(np.longdouble) - rows_of_a.astype(np.longdouble) @ x.astype(np.longdouble)
    return float(np.max(np.abs(r)) / (norm_of_a * np.max(np.abs(x)) + norm_of_b))


def tell(what, **values):
    print(json.dumps({"what": what} | values), flush=True)
