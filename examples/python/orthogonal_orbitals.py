"""Orbitals that stay orthogonal: C^T S C = 1 for an ill-conditioned overlap matrix, checked with products of stated accuracy.

Orbitals from a Cholesky factor of S are orthonormal in the metric S up to rounding. The check itself must not add errors
of its own: in float32 products it fails, under "exact" it shows what the orbitals really are.
"""
import numpy as np

import vernier

positions = np.linspace(0, 12, 60)
overlap = np.exp(-((positions[:, None] - positions) ** 2))  # of Gaussians on a line
overlap += 1e-9 * np.eye(len(positions))
factor = vernier.cholesky(overlap)
orbitals = np.linalg.inv(factor.lower).T  # C with C^T S C = 1


def deviation(contract, kind="float64"):
    c, s = orbitals.astype(kind), overlap.astype(kind)
    return abs(vernier.einsum("mi,mn,nj->ij", c, s, c, contract=contract) - np.eye(len(c))).max()


single, double, exact = deviation("fp32", "float32"), deviation("fp64"), deviation("exact")
print(f"condition {np.linalg.cond(overlap):.1e}; |C'SC - 1|: float32 {single:.1e}, fp64 {double:.1e}, exact {exact:.1e}")
assert exact < 1e-5 < single
