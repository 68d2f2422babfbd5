"""A training step with the same bits for any number of threads and any engine.

A small network is trained twice, with one thread and with four, on two engines: under "fp64+reproducible" the weights
agree bit for bit, as they would on another machine or on a GPU.
"""
import numpy as np

import vernier


def train(**options):
    def product(a, b):
        return vernier.matmul(a, b, "fp64+reproducible", **options)

    random = np.random.default_rng(1)
    x, y = random.standard_normal((64, 20)), random.standard_normal((64, 3))
    first, second = random.standard_normal((20, 30)) / 5, random.standard_normal((30, 3)) / 5
    for _ in range(10):
        hidden = np.maximum(product(x, first), 0)
        error = product(hidden, second) - y
        of_second = product(hidden.T, error)
        of_first = product(x.T, product(error, second.T) * (hidden > 0))
        first, second = first - 1e-3 * of_first, second - 1e-3 * of_second
    return first, second, (error**2).mean()


one, four = train(threads=1), train(threads=4, engine="portable")
print(f"loss {one[2]:.6f}; weights agree bit for bit: {all(np.array_equal(a, b) for a, b in zip(one, four))}")
assert all(np.array_equal(a, b) for a, b in zip(one, four))
