#!/usr/bin/env python3
"""Products in JAX, compiled, in float64 and float32; eight in a row, and thirty small ones, which XLA captures in command
buffers. Run it as it is, and under `vernier run`."""
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


@jax.jit
def chain(a, b):
    """The last factor and the last product; division by 16 keeps their sizes at n = 4096."""
    factor = product = a
    for _ in range(8):
        factor, product = product, jnp.matmul(product, b, precision="highest") / 16
    return factor, product


def products_in_a_row(n):
    keys = jax.random.split(jax.random.PRNGKey(2), 2)
    a, b = (jax.random.uniform(key, (n, n), "float64") - 0.5 for key in keys)
    factor, c = chain(a, b)
    rows = samples(n)
    error = product_error(np.asarray(factor[rows]), np.asarray(b[:, rows]), 16 * np.asarray(c[rows][:, rows]))
    tell(f"jax eight float64 {n}", seconds=median_seconds(lambda: chain(a, b)[1]) / 8, error=error)


def product(dtype, n):
    keys = jax.random.split(jax.random.PRNGKey(1), 4)
    a, b = (((jax.random.uniform(keys[i], (n, n), dtype) - 0.5) *
             jnp.exp(0.5 * jax.random.normal(keys[i + 2], (n, n), dtype))) for i in range(2))
    c = matmul(a, b)
    rows = samples(n)
    error = product_error(np.asarray(a[rows]), np.asarray(b[:, rows]), np.asarray(c[rows][:, rows]))
    tell(f"jax {dtype} {n}", seconds=median_seconds(lambda: matmul(a, b)), error=error)


@jax.jit
def network(x, weights):
    for w in weights:
        x = jnp.tanh(jnp.matmul(x, w, precision="highest"))
    return x


def small_products_in_a_row(n=256, layers=30):
    """Launches are what they cost; the error is that of the first layer."""
    keys = jax.random.split(jax.random.PRNGKey(3), layers + 1)
    x, *weights = (jax.random.uniform(key, (n, n), "float32") - 0.5 for key in keys)
    first = np.asarray(network(x, weights[:1])).astype("float64")
    exact = np.tanh(np.asarray(x, "float64") @ np.asarray(weights[0], "float64"))
    tell(f"jax {layers} small float32 {n}", seconds=median_seconds(lambda: network(x, weights), 21), error=float(np.max(np.abs(first - exact))))


small_products_in_a_row()
for size in [int(s) for s in sys.argv[1:]] or [4096, 8192]:
    for dtype in ("float64", "float32"):
        product(dtype, size)
    products_in_a_row(size)
