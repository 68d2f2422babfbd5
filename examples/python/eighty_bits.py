"""A product in bits(80): more digits than a double holds, as a sum of two doubles.

T = RN(AB) under "bits(80)"; what is left, AB - T, is another product, [A, -T] [B; 1].
"""
from fractions import Fraction

import numpy as np

import vernier

random = np.random.default_rng(1)
a, b = random.standard_normal((20, 50)), random.standard_normal((50, 10))
identity = np.eye(10)

high = vernier.matmul(a, b, "bits(80)")
low = vernier.matmul(np.hstack([a, -high]), np.vstack([b, identity]), "bits(110)")

exact = sum(Fraction(u) * Fraction(v) for u, v in zip(a[0], b[:, 0]))
size = sum(abs(Fraction(u) * Fraction(v)) for u, v in zip(a[0], b[:, 0]))
one, two = (float(abs(t - exact) / size) for t in (Fraction(high[0, 0]), Fraction(high[0, 0]) + Fraction(low[0, 0])))
print(f"error relative to |A||B|: one double {one:.1e}, two {two:.1e}")
assert two < 2.0**-80 < one
