#!/usr/bin/env python3
"""Products, batches and solves in CuPy. Run it as it is, and under `vernier run`."""
import statistics
import sys

import cupy
import numpy as np

from measure import backward_error, product_error, samples, tell


def median_seconds(work, repeats=9):
    for _ in range(3):
        work()
    times = []
    for _ in range(repeats):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end) / 1e3)
    return statistics.median(times)


def scattered(shape, dtype):
    """(rand - 0.5) exp(0.5 randn), the test matrices of the papers."""
    def real():
        return (cupy.random.random(shape) - 0.5) * cupy.exp(0.5 * cupy.random.standard_normal(shape))
    return (real() + 1j * real() if np.dtype(dtype).kind == "c" else real()).astype(dtype)


def error_of(a, b, c):
    rows = cupy.asarray(samples(a.shape[0]))
    return product_error(cupy.asnumpy(a[rows]), cupy.asnumpy(b[:, rows]), cupy.asnumpy(c[rows][:, rows]))


def product(dtype, n):
    a, b = scattered((n, n), dtype), scattered((n, n), dtype)
    c = a @ b
    tell(f"cupy {dtype} {n}", seconds=median_seconds(lambda: cupy.matmul(a, b, out=c)), error=error_of(a, b, c))


def batch(n, count):
    a = scattered((count, n, n), "float64")
    c = a @ a
    tell(f"cupy batch of {count} float64 {n}", seconds=median_seconds(lambda: cupy.matmul(a, a, out=c)),
         error=max(error_of(a[i], a[i], c[i]) for i in range(count)))


def solve(n):
    a, b = scattered((n, n), "float64"), scattered((n, 1), "float64")
    x = cupy.linalg.solve(a, b)
    rows = cupy.asarray(samples(n))
    error = backward_error(cupy.asnumpy(a[rows]), float(cupy.abs(a).sum(axis=1).max()), cupy.asnumpy(x),
                           cupy.asnumpy(b[rows]), float(cupy.abs(b).max()))
    tell(f"cupy linalg.solve float64 {n}", seconds=median_seconds(lambda: cupy.linalg.solve(a, b), 3), error=error)


cupy.random.seed(1)
sizes = [int(s) for s in sys.argv[1:]] or [4096]
for size in sizes:
    for dtype in ("float64", "float32", "complex128"):
        product(dtype, size)
batch(sizes[-1] // 2, 4)
solve(2 * sizes[-1])
