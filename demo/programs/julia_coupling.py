"""Coupling tables of atomic cluster expansion, computed by Julia: ace-jax-coupling of PyPI is a Julia program, compiled, with
Julia's own runtime, libblastrampoline and OpenBLAS. julia_coupling.py L ORDER [LIBRARY]: with LIBRARY, as a Julia program that
calls BLAS.lbt_forward(LIBRARY)."""
import ctypes
import itertools
import sys

import ace_jax_coupling
import numpy

most, order, *library = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]


def tables(most, order):
    radial = [(n, l) for n in range(2) for l in range(most + 1)]
    angular = [(l, m) for l in range(most + 1) for m in range(-l, l + 1)]
    bodies = (b for k in range(1, order + 1) for b in itertools.combinations_with_replacement(radial, k))
    return ace_jax_coupling.couple_raw([b for b in bodies if sum(l for _, l in b) % 2 == 0], radial, angular)


if library:
    tables(1, 2)  # loads the runtime
    with open("/proc/self/maps") as maps:
        trampoline = ctypes.CDLL(next(line.split()[-1] for line in maps if "libblastrampoline" in line))
    forwarded = trampoline.lbt_forward(library[0].encode(), 0, 1, None)  # not clear, verbose, no hint
    if forwarded == 0:
        sys.exit("nothing was forwarded")
found = tables(most, order)
print(f"value couplings {float(len(found.A2B_vals))!r}")
print(f"value squares {float((found.A2B_vals ** 2).sum())!r}")
print(f"value sizes {float(numpy.abs(found.A2B_vals).sum())!r}")
