#!/usr/bin/env python3
"""What a call from Python costs, beside CuPy's and PyTorch's own and the C interface, on a machine with a GPU.

usage: bench/python_gpu.py -o bench/results/python_h200.json [--commit HASH]
"""
import argparse
import ctypes
import json
import os
import statistics
import time
from pathlib import Path

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import cupy
import numpy as np
import torch

import vernier


DOUBLE = ord("D")  # VERNIER_D


class C:
    """The C interface of the library that the package holds."""

    def __init__(self):
        lib = self.lib = ctypes.CDLL(str(next(Path(vernier.__file__).parent.glob("libvernier*.so*"))))
        p, i = ctypes.c_void_p, ctypes.c_int64
        self.handle = p()
        lib.vernier_create(ctypes.byref(self.handle))
        shape = [ctypes.c_int, ctypes.c_int, i, i, i, p, p, i, p, i, p, p, i]
        lib.vernier_dgemm.argtypes = [p, *shape]
        lib.vernier_cuda_gemm.argtypes = [p, ctypes.c_int, *shape]
        self.one, self.zero = ctypes.c_double(1), ctypes.c_double(0)

    def call(self, function, n, a, b, c):
        arguments = (self.handle, *([DOUBLE] if function is self.lib.vernier_cuda_gemm else []), ord("N"), ord("N"), n, n, n,
                     ctypes.addressof(self.one), b, n, a, n, ctypes.addressof(self.zero), c, n)
        status = function(*arguments)
        assert status == 0, status
        return lambda: function(*arguments)


def microseconds(call, wait, count=200, repeats=40):
    """The least mean time of a call until it returns, of several series."""
    best = float("inf")
    for _ in range(repeats):
        wait()
        begin = time.perf_counter()
        for _ in range(count):
            call()
        best = min(best, time.perf_counter() - begin)
    wait()
    return round(1e6 * best / count, 2)


def milliseconds(calls, rounds=12):
    """Medians of calls that alternate in rotating order, by events: after cuBLAS, which takes less power, clocks are higher."""
    times = {name: [] for name in calls}
    for name in calls:
        calls[name]()
    names = list(calls)
    for turn in range(rounds):
        for i in range(len(names)):
            name = names[(turn + i) % len(names)]
            call = calls[name]
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            begin.record()
            for _ in range(5):
                call()
            end.record()
            end.synchronize()
            times[name].append(cupy.cuda.get_elapsed_time(begin, end) / 5)
    return {name: round(statistics.median(t), 4) for name, t in times.items()}


def overheads(c):
    rows, n = [], 16
    a, out = np.random.rand(n, n), np.empty((n, n))
    address = lambda x: x.ctypes.data
    rows.append({"where": "cpu", "n": n, "C, by ctypes": microseconds(c.call(c.lib.vernier_dgemm, n, address(a), address(a), address(out)), lambda: None),
                 "ctypes alone": microseconds(c.lib.vernier_version, lambda: None),
                 "vernier, out": microseconds(lambda: vernier.matmul(a, a, out=out), lambda: None),
                 "vernier": microseconds(lambda: vernier.matmul(a, a), lambda: None),
                 "numpy": microseconds(lambda: np.matmul(a, a), lambda: None)})
    x, y = cupy.asarray(a), cupy.asarray(out)
    wait = cupy.cuda.runtime.deviceSynchronize
    rows.append({"where": "cupy", "n": n, "C, by ctypes": microseconds(c.call(c.lib.vernier_cuda_gemm, n, x.data.ptr, x.data.ptr, y.data.ptr), wait),
                 "vernier, out": microseconds(lambda: vernier.matmul(x, x, out=y), wait),
                 "vernier": microseconds(lambda: vernier.matmul(x, x), wait),
                 "cupy, out": microseconds(lambda: cupy.matmul(x, x, out=y), wait),
                 "cupy": microseconds(lambda: cupy.matmul(x, x), wait)})
    t, s = torch.from_numpy(a).cuda(), torch.empty(n, n, dtype=torch.float64, device="cuda")
    rows.append({"where": "torch", "n": n, "vernier, out": microseconds(lambda: vernier.matmul(t, t, out=s), wait),
                 "vernier": microseconds(lambda: vernier.matmul(t, t), wait),
                 "vernier.torch": microseconds(lambda: vernier.torch.matmul(t, t), wait),
                 "torch": microseconds(lambda: torch.matmul(t, t), wait)})
    return rows


def times(c):
    rows = []
    for n in (2048, 4096, 8192):
        a, b, out = cupy.random.rand(n, n) - 0.5, cupy.random.rand(n, n) - 0.5, cupy.empty((n, n))
        t, s, d = (torch.from_dlpack(x) for x in (a, b, out))
        rows.append({"n": n, **milliseconds({
            "C": c.call(c.lib.vernier_cuda_gemm, n, a.data.ptr, b.data.ptr, out.data.ptr),
            "vernier of cupy": lambda: vernier.matmul(a, b, out=out),
            "vernier of torch": lambda: vernier.matmul(t, s, out=d), "cupy": lambda: cupy.matmul(a, b, out=out)})})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", required=True)
    parser.add_argument("--commit", default="")
    arguments = parser.parse_args()
    c = C()
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    result = {"device": properties["name"].decode(), "driver": cupy.cuda.runtime.driverGetVersion(), "commit": arguments.commit,
              "cupy": cupy.__version__, "torch": torch.__version__, "numpy": np.__version__,
              "microseconds until a call returns, best of 40 series of 200": overheads(c),
              "milliseconds of a product, medians of 12 in rotating order": times(c)}
    Path(arguments.o).write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
