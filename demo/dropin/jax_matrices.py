#!/usr/bin/env python3
"""Products in JAX, compiled, in float64 and float32. Run it as it is, and under `vernier run`."""
import statistics
import sys
import time

import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
import numpy as np

from measure import product_error, samples, tell


def median_seconds(work, repeats=7):
    work().block_until_ready()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work().block_until_ready()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


@jax.jit
def matmul(a, b):
    return jnp.matmul(a, b, precision="highest")


def product(dtype, n):
    keys = jax.random.split(jax.random.PRNGKey(1), 4)
    a, b = (((jax.random.uniform(keys[i], (n, n), dtype) - 0.5) *
             jnp.exp(0.5 * jax.random.normal(keys[i + 2], (n, n), dtype))) for i in range(2))
    c = matmul(a, b)
    rows = samples(n)
    error = product_error(np.asarray(a[rows]), np.asarray(b[:, rows]), np.asarray(c[rows][:, rows]))
    tell(f"jax {dtype} {n}", seconds=median_seconds(lambda: matmul(a, b)), error=error)


for size in [int(s) for s in sys.argv[1:]] or [4096, 8192]:
    for dtype in ("float64", "float32"):
        product(dtype, size)
