#!/usr/bin/env python3
"""One dtype after another in one PyTorch process, captured products, and steps of a training. Arguments choose parts.

Under `vernier run` each part should take what it takes in a process of its own: `torch_sequence.py complex128`."""
import statistics
import sys

import torch

from measure import product_error, samples, tell

torch.backends.cuda.matmul.allow_tf32 = False
PARTS = ["warm", "float32", "complex128", "complex64", "float64", "captured", "training"]


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


def error_of(a, b, c):
    rows = torch.from_numpy(samples(a.shape[0])).cuda()
    return product_error(a[rows].cpu().numpy(), b[:, rows].cpu().numpy(), c[rows][:, rows].cpu().numpy())


def product(name, dtype, n):
    a, b = (torch.randn(n, n, dtype=dtype, device="cuda") for _ in range(2))
    c = a @ b
    tell(f"sequence: {name} {n}", seconds=median_seconds(lambda: torch.matmul(a, b, out=c)), error=error_of(a, b, c))


def captured(dtype, n):
    a, b = (torch.randn(n, n, dtype=dtype, device="cuda") for _ in range(2))
    c = torch.empty_like(a)
    torch.matmul(a, b, out=c)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        torch.matmul(a, b, out=c)
    seconds = median_seconds(graph.replay)
    tell(f"sequence: captured {dtype} {n}".replace("torch.", ""), seconds=seconds, error=error_of(a, b, c))


def training(steps=7, width=4096, batch=2048):
    """Three linear layers in float32; the error is the loss's, against the same steps in float64."""
    def run(dtype):
        torch.manual_seed(2)
        layers = [torch.nn.Linear(width, width) for _ in range(3)]
        model = torch.nn.Sequential(layers[0], torch.nn.GELU(), layers[1], torch.nn.ReLU(), layers[2])
        model = model.to("cuda", dtype)
        x, y = (torch.randn(batch, width, device="cuda").to(dtype) for _ in range(2))
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

        def step():
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            return loss
        losses = [float(step()) for _ in range(steps)]
        return losses[-1], median_seconds(step, 5)
    loss, seconds = run(torch.float32)
    exact, _ = run(torch.float64)
    tell(f"sequence: training step float32 {batch} x {width}", seconds=seconds, error=abs(loss - exact) / exact)


torch.manual_seed(1)
for part in sys.argv[1:] or PARTS:
    if part == "warm":
        product("float32", torch.float32, 1024)
    elif part == "captured":
        for dtype in (torch.float64, torch.float32, torch.complex128, torch.complex64):
            captured(dtype, 4096)
    elif part == "training":
        training()
    else:
        product(part, getattr(torch, part), 4096)
