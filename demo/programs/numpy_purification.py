"""NumPy: the density matrix of a disordered chain by purification (SP2), and its energy: numpy_purification.py [N]."""
import sys

import numpy

n = int(sys.argv[1]) if len(sys.argv) > 1 else 600
rng = numpy.random.default_rng(1)
sites = numpy.arange(n)
h = numpy.exp(-abs(sites[:, None] - sites) / 20) * (1 + 0.1 * rng.standard_normal((n, n)))
h = (h + h.T) / 2
bound = numpy.linalg.norm(h, 1)
p = (bound * numpy.eye(n) - h) / (2 * bound)
for _ in range(40):
    q = p @ p
    square, reflected = numpy.trace(q), 2 * numpy.trace(p) - numpy.trace(q)
    p = q if abs(square - n / 2) < abs(reflected - n / 2) else 2 * p - q
print("value trace", numpy.trace(p))
print("value energy", float(numpy.sum(p * h)))
print("error symmetry", numpy.linalg.norm(p - p.T) / numpy.linalg.norm(p))
