#!/usr/bin/env python3
"""Seconds of crlin's verified solution (pip install crlin) beside numpy.linalg.solve: bench/crlin_speed.py N ..."""
import json
import sys
import time

import crlin
import numpy


def seconds(call, repeats=2):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(n):
    random = numpy.random.default_rng(n)
    a = random.standard_normal((n, n))
    b = a @ numpy.ones(n)
    plain, proved = seconds(lambda: numpy.linalg.solve(a, b)), seconds(lambda: crlin.solve(a, b))
    return {"n": n, "numpy_solve": plain, "crlin_classical": proved, "crlin_to_solve": proved / plain}


if __name__ == "__main__":
    print(json.dumps({"crlin": crlin.version(), "numpy": numpy.__version__, "sizes": [measure(int(n)) for n in sys.argv[1:]]}, indent=1))
