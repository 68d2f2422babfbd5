"""A linear system with a certificate: a measured backward error, an estimated condition and forward error."""
import numpy as np

import vernier

n = 400
a = np.random.default_rng(1).standard_normal((n, n)) + 3 * np.eye(n)
b = a @ np.ones(n)

x, certificate = vernier.solve(a, b, condition=True, forward_error=True, report=True)
print(certificate)
assert certificate.ok and certificate.backward_error <= certificate.tolerance

try:  # without a certificate, an answer that misses its tolerance is an error
    vernier.solve(a, b, tolerance=1e-40)
except vernier.BoundNotMet as error:
    print("refused:", error)
else:
    raise AssertionError("no answer is that good")
