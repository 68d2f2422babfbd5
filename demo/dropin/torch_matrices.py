#!/usr/bin/env python3
"""Products and solves in PyTorch. Run it as it is, and under `vernier run`."""
import statistics
import sys

import torch

from measure import backward_error, product_error, samples, tell

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


def matrix(rows, columns, dtype, phi):
    """(rand - 0.5) exp(phi randn), the test matrices of the papers; phi = 0 is what programs try first."""
    def real(of):
        return (torch.rand(rows, columns, dtype=of, device="cuda") - 0.5) * torch.exp(
            phi * torch.randn(rows, columns, dtype=of, device="cuda"))
    if not dtype.is_complex:
        return real(dtype)
    return torch.complex(real(dtype.to_real()), real(dtype.to_real()))


def product(dtype, n, phi=0.5):
    a, b = matrix(n, n, dtype, phi), matrix(n, n, dtype, phi)
    c = a @ b
    rows = torch.from_numpy(samples(n)).cuda()
    error = product_error(a[rows].cpu().numpy(), b[:, rows].cpu().numpy(), c[rows][:, rows].cpu().numpy())
    tell(f"torch {dtype} {n}{'' if phi else ', even'}".replace("torch.", ""), seconds=median_seconds(lambda: torch.matmul(a, b, out=c)),
         error=error)


def solve(n):
    a, b = matrix(n, n, torch.float64, 0.5), matrix(n, 1, torch.float64, 0.5)
    x = torch.linalg.solve(a, b)
    rows = torch.from_numpy(samples(n)).cuda()
    error = backward_error(a[rows].cpu().numpy(), float(a.abs().sum(1).max()), x.cpu().numpy(), b[rows].cpu().numpy(),
                           float(b.abs().max()))
    tell(f"torch linalg.solve float64 {n}", seconds=median_seconds(lambda: torch.linalg.solve(a, b), 3), error=error)


torch.manual_seed(1)
sizes = [int(s) for s in sys.argv[1:]] or [2048, 4096, 8192]
for size in sizes:
    for dtype in (torch.float64, torch.float32, torch.complex128, torch.complex64):
        product(dtype, size)
    for dtype in (torch.float64, torch.complex128):
        product(dtype, size, 0)
solve(sizes[-1])
