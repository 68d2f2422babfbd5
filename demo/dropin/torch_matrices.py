#!/usr/bin/env python3
"""Products and solves in PyTorch. Run it as it is, and under `vernier run`."""
import statistics
import sys

import numpy as np
import torch

from measure import product_error, residual, scattered, tell

torch.backends.cuda.matmul.allow_tf32 = False


def median_seconds(work, repeats=9):
    for _ in range(3):
        work()
    times = []
    for _ in range(repeats):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    return statistics.median(times)


def product(dtype, n):
    rng = np.random.default_rng(1)
    a, b = scattered(rng, n, n, dtype), scattered(rng, n, n, dtype)
    x, y = torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda()
    c = x @ y
    tell(f"torch {dtype} {n}", seconds=median_seconds(lambda: torch.matmul(x, y, out=c)),
         error=product_error(a, b, lambda rows: c[torch.from_numpy(rows).cuda()].cpu().numpy()))


def solve(n):
    rng = np.random.default_rng(2)
    a, b = scattered(rng, n, n, "float64"), scattered(rng, n, 1, "float64")
    x, y = torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda()
    solution = torch.linalg.solve(x, y)
    tell(f"torch linalg.solve float64 {n}", seconds=median_seconds(lambda: torch.linalg.solve(x, y), 3),
         error=residual(a, solution.cpu().numpy(), b))


sizes = [int(s) for s in sys.argv[1:]] or [2048, 4096, 8192]
for size in sizes:
    for dtype in ("float64", "float32", "complex128", "complex64"):
        product(dtype, size)
solve(sizes[-1])
