#!/usr/bin/env python3
"""A quench in a disordered wire, in CuPy: electrons fill the lower half of the band, then a field is switched on.

H is the tight-binding Hamiltonian of n sites with random energies (Anderson's model); the density matrix rho of the
ground state evolves as U rho U^+ with the propagator U = exp(-i H' dt), a Taylor series that is squared again and again.
All the time goes into products of complex matrices. What theory conserves is the error: U^+ U = 1, the number of
electrons, and rho^2 = rho.
"""
import sys
import time

import cupy as cp

from measure import tell


def hamiltonian(n, disorder, field, rng):
    h = cp.diag(disorder * (rng.random(n) - 0.5) + field * cp.arange(n) / n).astype(cp.complex128)
    i = cp.arange(n - 1)
    h[i, i + 1] = -cp.exp(0.1j)  # a magnetic flux makes the hopping complex
    h[i + 1, i] = -cp.exp(-0.1j)
    return h


def propagator(h, t, squarings=6, terms=10):
    """exp(-i H t) = (sum_j x^j / j!)^(2^s), x = -i H t / 2^s, the sum by Horner's rule."""
    n = h.shape[0]
    x = (-1j * t / 2**squarings) * h
    u = cp.eye(n, dtype=cp.complex128)
    for j in range(terms, 0, -1):
        u = x @ u / j
        u += cp.eye(n, dtype=cp.complex128)
    for _ in range(squarings):
        u = u @ u
    return u


def ground_state(h, iterations=24):
    """The projector on the states below zero, by the iteration of McWeeny: P <- 3 P^2 - 2 P^3."""
    n = h.shape[0]
    bound = float(cp.abs(h).sum(axis=1).max())
    p = 0.5 * cp.eye(n, dtype=cp.complex128) - h / (2 * bound)
    for _ in range(iterations):
        p2 = p @ p
        p = 3 * p2 - 2 * (p2 @ p)
    return p


def main(n=4096, steps=6):
    rng = cp.random.default_rng(4)
    at_rest = hamiltonian(n, 1.0, 0.0, rng)
    begin = time.perf_counter()
    rho = ground_state(at_rest)
    electrons = float(cp.trace(rho).real)
    u = propagator(at_rest + cp.diag(2.0 * cp.arange(n) / n), 1.0)
    for _ in range(steps):
        rho = u @ rho @ u.conj().T
    cp.cuda.Device().synchronize()
    seconds = time.perf_counter() - begin
    unitarity = float(cp.abs(u.conj().T @ u - cp.eye(n)).max())
    tell(f"cupy quench {n}", seconds=seconds, error=unitarity, electrons=electrons,
         electrons_drift=abs(float(cp.trace(rho).real) - electrons),
         current=float((2 * (cp.exp(0.1j) * cp.diag(rho, 1)).imag).mean()))


warm = cp.ones((512, 512), dtype=cp.complex128)
warm @ warm
main(*[int(s) for s in sys.argv[1:]])
