#!/usr/bin/env python3
"""Seconds of crlin's verified solution (pip install crlin) beside numpy.linalg.solve and, with --library
libvernier.so, vernier_verified_solve, in turns in one process: bench/crlin_speed.py [--library L] N ..."""
import argparse
import ctypes
import json
import os
import time

import crlin
import numpy


class Vernier:
    """verified_solve by the C interface; NaN where nothing is proved."""

    def __init__(self, path, threads):
        self.library = ctypes.CDLL(path)
        self.handle = ctypes.c_void_p()
        if self.library.vernier_create(ctypes.byref(self.handle)) != 0:
            raise RuntimeError("vernier_create")
        self.library.vernier_set_threads(self.handle, ctypes.c_int(threads))

    def solve(self, a, b):
        n = ctypes.c_int64(len(b))
        low, high = numpy.full_like(b, numpy.nan), numpy.full_like(b, numpy.nan)

        def pointer(x):
            return ctypes.c_void_p(x.ctypes.data)

        code = self.library.vernier_verified_solve(self.handle, n, ctypes.c_int64(1), pointer(a), n, pointer(b), n,
                                                   pointer(low), pointer(high), n)
        if code != 0:
            raise RuntimeError(f"vernier_verified_solve: {code}")
        return low, high


def matrix(n, condition):
    """Normal numbers, or singular values evenly spaced in their logarithms between orthogonal matrices, each the
    product of six random reflections."""
    random = numpy.random.default_rng(n)
    if not condition:
        return numpy.asfortranarray(random.standard_normal((n, n)))
    a = numpy.diag(numpy.geomspace(1, 1 / condition, n))
    for _ in range(6):
        v, w = random.standard_normal(n), random.standard_normal(n)
        a -= numpy.outer(v, (2 / (v @ v)) * (v @ a))
        a -= numpy.outer((2 / (w @ w)) * (a @ w), w)
    return numpy.asfortranarray(a)


def measure(n, rounds, vernier, pause, condition, rival):
    a = matrix(n, condition)
    b = a @ numpy.ones(n)
    by_rows = numpy.ascontiguousarray(a)
    calls = {"numpy_solve": lambda: numpy.linalg.solve(a, b), "crlin_classical": lambda: crlin.solve(by_rows, b)}
    if not rival:
        del calls["crlin_classical"]
    if vernier:
        calls["vernier_verified"] = lambda: vernier.solve(a, b)
    seconds = {name: [] for name in calls}
    for turn in range(rounds + 1):
        for name, call in calls.items():
            time.sleep(pause)
            start = time.perf_counter()
            call()
            if turn > 0 or rounds == 0:
                seconds[name].append(time.perf_counter() - start)
    result = {"n": n, "pause": pause, "condition": condition,
              **{name: float(numpy.median(times)) for name, times in seconds.items()}}
    if rival:
        result["crlin_to_solve"] = result["crlin_classical"] / result["numpy_solve"]
    if vernier:
        if rival:
            result["crlin_to_vernier"] = result["crlin_classical"] / result["vernier_verified"]
        result["vernier_to_solve"] = result["vernier_verified"] / result["numpy_solve"]
        low, high = vernier.solve(a, b)
        result["verified"] = bool(numpy.all(low <= high))
        result["all"] = seconds
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pause", type=float, default=0,
                        help="seconds before each call: OpenBLAS's threads wait in a loop for some 30 ms")
    parser.add_argument("--condition", type=float, default=0)
    parser.add_argument("--alone", action="store_true", help="without crlin")
    parser.add_argument("n", type=int, nargs="+")
    arguments = parser.parse_args()
    threads = int(os.environ.get("OMP_NUM_THREADS", len(os.sched_getaffinity(0))))  # of crlin and NumPy too
    vernier = Vernier(arguments.library, threads) if arguments.library else None
    for n in arguments.n:
        result = measure(n, arguments.rounds, vernier, arguments.pause, arguments.condition, not arguments.alone)
        print(json.dumps({"crlin": crlin.version(), "numpy": numpy.__version__, "threads": threads, **result}),
              flush=True)


if __name__ == "__main__":
    main()
