#!/usr/bin/env python3
"""What a call from Python costs, beside CuPy's and PyTorch's own and the C interface, on a machine with a GPU.

usage: bench/python_gpu.py -o bench/results/python_h200.json [--commit HASH]
"""
import argparse
import ctypes
import json
import os
import random
import statistics
import time
from pathlib import Path

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import cupy
import jax
import numpy as np
import torch

import vernier

jax.config.update("jax_enable_x64", True)
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


def milliseconds(calls, rounds=24):
    """Medians by events of calls in random orders: what runs before a product, by its power, moves the clock of the next."""
    times = {name: [] for name in calls}
    for call in calls.values():
        call()
    order = random.Random(1)
    for _ in range(rounds):
        for name in order.sample(list(calls), len(calls)):
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            begin.record()
            for _ in range(5):
                calls[name]()
            end.record()
            end.synchronize()
            times[name].append(cupy.cuda.get_elapsed_time(begin, end) / 5)
    return {name: round(statistics.median(t), 4) for name, t in times.items()}


def nvmath_calls(x):
    """nvmath-python's product, with all that it prepares and with that done before; nothing where it is not installed."""
    try:
        from nvmath.linalg.advanced import Matmul, matmul
        prepared = Matmul(x, x)
        prepared.plan()
        prepared.execute()
    except Exception as missing:
        print("nvmath-python:", missing)
        return {}
    return {"nvmath-python": lambda: matmul(x, x), "nvmath-python, planned": prepared.execute}


def overheads(c):
    n = 16
    a, out = np.random.rand(n, n), np.empty((n, n))
    nothing, wait = lambda: None, cupy.cuda.runtime.deviceSynchronize
    x, y = cupy.asarray(a), cupy.asarray(out)
    t, s = torch.from_numpy(a).cuda(), torch.empty(n, n, dtype=torch.float64, device="cuda")
    j = jax.device_put(a, jax.devices("gpu")[0])
    address = lambda z: z.ctypes.data
    own, jaxs = jax.jit(vernier.jax.matmul), jax.jit(jax.numpy.matmul)
    c_call = c.call(c.lib.vernier_cuda_gemm, n, x.data.ptr, x.data.ptr, y.data.ptr)
    rows = {
        "cpu": ({"C, by ctypes": c.call(c.lib.vernier_dgemm, n, address(a), address(a), address(out)), "ctypes alone": c.lib.vernier_version,
                 "vernier, out": lambda: vernier.matmul(a, a, out=out), "vernier": lambda: vernier.matmul(a, a),
                 "numpy": lambda: np.matmul(a, a)}, nothing),
        "cupy": ({"C, by ctypes": c_call, "vernier, out": lambda: vernier.matmul(x, x, out=y), "vernier": lambda: vernier.matmul(x, x),
                  "cupy, out": lambda: cupy.matmul(x, x, out=y), "cupy": lambda: cupy.matmul(x, x), **nvmath_calls(x)}, wait),
        "torch": ({"C, by ctypes": c_call, "vernier, out": lambda: vernier.matmul(t, t, out=s), "vernier": lambda: vernier.matmul(t, t),
                   "vernier.torch": lambda: vernier.torch.matmul(t, t), "torch, out": lambda: torch.matmul(t, t, out=s),
                   "torch": lambda: torch.matmul(t, t), "a new tensor": lambda: t.new_empty(n, n), **nvmath_calls(t)}, wait),
        "jax": ({"vernier, in jit": lambda: own(j, j), "vernier": lambda: vernier.matmul(j, j), "jax, in jit": lambda: jaxs(j, j)}, wait)}
    return [{"where": where, "n": n, **{name: microseconds(call, w) for name, call in calls.items()}} for where, (calls, w) in rows.items()]


def times(c):
    rows = []
    for n in (2048, 4096, 8192):
        a, b, out = cupy.random.rand(n, n) - 0.5, cupy.random.rand(n, n) - 0.5, cupy.empty((n, n))
        t, s, d = (torch.from_dlpack(x) for x in (a, b, out))
        native = lambda: cupy.matmul(a, b, out=out)
        rows.append({"n": n, **milliseconds({
            "C": c.call(c.lib.vernier_cuda_gemm, n, a.data.ptr, b.data.ptr, out.data.ptr),
            "vernier of cupy": lambda: vernier.matmul(a, b, out=out),
            "vernier of torch": lambda: vernier.matmul(t, s, out=d)}), **milliseconds({"cupy": native}, 6)})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", required=True)
    parser.add_argument("--commit", default="")
    arguments = parser.parse_args()
    c = C()
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    result = {"device": properties["name"].decode(), "driver": cupy.cuda.runtime.driverGetVersion(), "commit": arguments.commit,
              "cupy": cupy.__version__, "jax": jax.__version__, "torch": torch.__version__, "numpy": np.__version__,
              "microseconds until a call returns, best of 40 series of 200": overheads(c),
              "milliseconds of a product, medians of 24 in random order": times(c)}
    Path(arguments.o).write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
