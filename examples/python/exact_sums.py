"""Exact sums in statistics: the variance of numbers far from zero, from sums that are rounded once.

The textbook formula (sum x^2 - (sum x)^2 / n) / (n - 1) loses all digits in double precision where the mean is large.
Its two sums, taken exactly in two parts each, give the variance to the last digits.
"""
import fractions

import numpy as np

import vernier

x = 1e8 + np.random.default_rng(1).standard_normal(10_000)
ones, n = np.ones_like(x), len(x)


def parts(a, b):
    """a . b as a sum of two doubles: the rounded sum, and the rounded sum of what is left."""
    high = vernier.dot_exact(a, b)
    return fractions.Fraction(high) + fractions.Fraction(vernier.dot_exact(np.append(a, -high), np.append(b, 1.0)))


plain = (np.dot(x, x) - np.dot(x, ones) ** 2 / n) / (n - 1)
exact = float((parts(x, x) - parts(x, ones) ** 2 / n) / (n - 1))
true = float(np.var([fractions.Fraction(v) for v in x - 1e8], ddof=1))  # x - 1e8 is exact

print(f"double precision {plain:.15g}, exact sums {exact:.15g}, true {true:.15g}")
assert abs(exact - true) <= 1e-13 * true < abs(plain - true)
