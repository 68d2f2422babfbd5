"""GPAW: silicon in plane waves, or a chain of water in atomic orbitals where the argument says so."""
import sys

import numpy
from ase.build import bulk
from gpaw import GPAW, PW

size = int(sys.argv[1]) if len(sys.argv) > 1 else 1
atoms = bulk("Si", cubic=True).repeat(size)
atoms.rattle(0.02, seed=1)
atoms.calc = GPAW(mode=PW(200), xc="LDA", kpts=[(0.25, 0.25, 0.25)], symmetry="off", nbands=18 * size**3, txt=None,
                  convergence={"energy": 1e-6}, random=False)
print("value energy", atoms.get_potential_energy())
print("value gap", float(numpy.diff(atoms.calc.get_eigenvalues()[16 * size**3 - 1:16 * size**3 + 1])[0]))
