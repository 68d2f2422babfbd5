#!/usr/bin/env python3
"""Quenches in CuPy: electrons fill the lower half of the spectrum, then a field is switched on.

The density matrix rho of the ground state evolves as U rho U^+ with the propagator U = exp(-i H' dt), a Taylor series that
is squared again and again; all the time goes into products of complex matrices. What theory conserves is the error: U^+ U =
1, and the number of electrons. Two systems of n states:
- a chaotic quantum dot: H is drawn from the Gaussian unitary ensemble. Its matrices are dense and even.
- a disordered wire: Anderson's model with a magnetic flux. Its states are localised, so that elements of rho and U fall off
  exponentially with their distance from the diagonal, down to 1e-300: data that few schemes are made for.
"""
import sys
import time

import cupy as cp

from measure import tell


def dot(n, rng):
    """Energies within -2 and 2."""
    h = (rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n))) / (2 * n) ** 0.5
    return (h + h.conj().T) / 2**0.5


def wire(n, rng):
    h = cp.diag(rng.random(n) - 0.5).astype(cp.complex128)
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


def quench(name, at_rest, steps=6):
    n = at_rest.shape[0]
    begin = time.perf_counter()
    rho = ground_state(at_rest)
    electrons = float(cp.trace(rho).real)
    u = propagator(at_rest + cp.diag(2.0 * cp.arange(n) / n), 1.0)
    for _ in range(steps):
        rho = u @ rho @ u.conj().T
    cp.cuda.Device().synchronize()
    seconds = time.perf_counter() - begin
    unitarity = float(cp.abs(u.conj().T @ u - cp.eye(n)).max())
    tell(f"cupy quench of a {name}, {n}", seconds=seconds, error=unitarity, electrons=electrons,
         electrons_drift=abs(float(cp.trace(rho).real) - electrons))


size = int(sys.argv[1]) if len(sys.argv) > 1 else 4096
generator = cp.random.default_rng(4)
warm = cp.ones((size, size), dtype=cp.complex128)
warm @ warm  # libraries are loaded and memory is taken before the clock runs
for name, hamiltonian in (("quantum dot", dot), ("disordered wire", wire)):
    at_rest = hamiltonian(size, generator)
    quench(name, at_rest)
    quench(f"{name} again", at_rest)  # all kernels are loaded by now, those of cuBLAS for data that are too wide too
