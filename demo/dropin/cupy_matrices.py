#!/usr/bin/env python3
"""Products, batches and solves in CuPy. Run it as it is, and under `vernier run`."""
import statistics
import sys

import cupy
import numpy as np

from measure import product_error, residual, scattered, tell


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


def product(dtype, n):
    rng = np.random.default_rng(1)
    a, b = scattered(rng, n, n, dtype), scattered(rng, n, n, dtype)
    x, y = cupy.asarray(a), cupy.asarray(b)
    c = x @ y
    tell(f"cupy {dtype} {n}", seconds=median_seconds(lambda: cupy.matmul(x, y, out=c)),
         error=product_error(a, b, lambda rows: cupy.asnumpy(c[cupy.asarray(rows)])))


def batch(n, count):
    rng = np.random.default_rng(3)
    a = np.stack([scattered(rng, n, n, "float64") for _ in range(count)])
    x = cupy.asarray(a)
    c = x @ x
    tell(f"cupy batch of {count} float64 {n}", seconds=median_seconds(lambda: cupy.matmul(x, x, out=c)),
         error=max(product_error(a[i], a[i], lambda rows: cupy.asnumpy(c[i][cupy.asarray(rows)])) for i in (0, count - 1)))


def solve(n):
    rng = np.random.default_rng(2)
    a, b = scattered(rng, n, n, "float64"), scattered(rng, n, 1, "float64")
    x, y = cupy.asarray(a), cupy.asarray(b)
    solution = cupy.linalg.solve(x, y)
    tell(f"cupy linalg.solve float64 {n}", seconds=median_seconds(lambda: cupy.linalg.solve(x, y), 3),
         error=residual(a, cupy.asnumpy(solution), b))


sizes = [int(s) for s in sys.argv[1:]] or [4096]
for size in sizes:
    for dtype in ("float64", "float32", "complex128"):
        product(dtype, size)
batch(sizes[-1] // 2, 4)
solve(2 * sizes[-1])
