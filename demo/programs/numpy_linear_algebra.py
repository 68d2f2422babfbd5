"""NumPy and SciPy: a product, a solve, eigenvectors, a Cholesky factorization and an exponential, with their errors."""
import sys

import numpy
import scipy.linalg

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
rng = numpy.random.default_rng(1)
a, b = rng.standard_normal((n, n)), rng.standard_normal((n, n))
c = a @ b
rows = slice(0, n, max(1, n // 40))
exact = a[rows].astype(numpy.longdouble) @ b[:, rows].astype(numpy.longdouble)
print("error product", float(numpy.max(numpy.abs(c[rows, rows] - exact) / (numpy.abs(a[rows]) @ numpy.abs(b[:, rows])))))
x = numpy.linalg.solve(a, b)
print("error solve", numpy.linalg.norm(a @ x - b) / (numpy.linalg.norm(a) * numpy.linalg.norm(x)))
s = a + a.T
w, v = scipy.linalg.eigh(s)
print("error eigh", numpy.linalg.norm(s @ v - v * w) / numpy.linalg.norm(s))
p = a @ a.T + n * numpy.eye(n)
low = scipy.linalg.cholesky(p, lower=True)
print("error cholesky", numpy.linalg.norm(low @ low.T - p) / numpy.linalg.norm(p))
e = scipy.linalg.expm(s / n)
print("error expm", numpy.linalg.norm(e - (v * numpy.exp(w / n)) @ v.T) / numpy.linalg.norm(e))
print("value trace", numpy.trace(e))
