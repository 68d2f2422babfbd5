#!/usr/bin/env python3
"""Products captured in a CUDA graph, and in eight threads with a stream each, in PyTorch."""
import threading

import torch

from measure import tell

torch.backends.cuda.matmul.allow_tf32 = False


def graph(dtype, n=4096):
    a, b = (torch.randn(n, n, device="cuda", dtype=dtype) for _ in range(2))
    c = torch.empty_like(a)
    torch.matmul(a, b, out=c)  # before the capture, as PyTorch asks
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        torch.matmul(a, b, out=c)
    wrong = 0
    for i in range(5):
        a.copy_(torch.randn(n, n, device="cuda", dtype=dtype))
        captured.replay()
        reference = a.double() @ b.double()
        scale = a.double().abs() @ b.double().abs()
        torch.cuda.synchronize()
        wrong = max(wrong, float(((c.double() - reference).abs() / scale).max()))
    tell(f"torch graph {dtype} {n}".replace("torch.", ""), error=wrong)


def threads(count=8, n=3072, rounds=10):
    a = [torch.randn(n, n, device="cuda", dtype=torch.float64) for _ in range(count)]
    expected = [x @ x for x in a]
    torch.cuda.synchronize()
    wrong = [0] * count

    def work(i):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(rounds):
                wrong[i] += not torch.equal(a[i] @ a[i], expected[i])
        stream.synchronize()

    workers = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    tell(f"torch {count} threads, {count} streams", products=count * rounds, wrong=sum(wrong))


graph(torch.float32)
graph(torch.float64)
threads()
