"""PETSc: the density matrix of a disordered chain by purification, on the processes of mpirun: petsc_purification.py [N].

Matrices are PETSc's of ScaLAPACK's kind, products PBLAS's. All else is done element by element, so that under a
reproducible contract the same matrices come about on every number of processes.
"""
import sys

import numpy
from petsc4py import PETSc


def hamiltonian(n):
    """Hops that fall off with the square of the distance, a tenth of them random."""
    matrix = PETSc.Mat().create()
    matrix.setSizes([n, n])
    matrix.setType("scalapack")
    matrix.setUp()
    if PETSc.COMM_WORLD.rank == 0:
        sites = numpy.arange(n, dtype=PETSc.IntType)
        noise = numpy.random.default_rng(1).standard_normal((n, n))
        hops = (1 + 0.05 * (noise + noise.T)) / (1.0 + abs(sites[:, None] - sites)) ** 2
        matrix.setValues(sites, sites, hops)
    matrix.assemble()
    return matrix


def purify(matrix, steps):
    """McWeeny: x becomes 3 x^2 - 2 x^3, from 5/8 - H / 8: states below 1 are kept."""
    x = matrix.copy()
    x.scale(-1.0 / 8)
    x.shift(0.625)
    for _ in range(steps):
        square = x.matMult(x)
        cube = square.matMult(x)
        square.scale(3.0)
        square.axpy(-2.0, cube)
        x = square
    return x


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    matrix = hamiltonian(n)
    product = matrix.matMult(purify(matrix, 20))
    energy = product.getDiagonal().sum()
    if PETSc.COMM_WORLD.rank == 0:
        print(f"ENERGY| {energy:.14f}")


main()
