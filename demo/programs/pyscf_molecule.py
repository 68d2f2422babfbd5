"""PySCF: RHF, MP2 and CCSD of two water molecules."""
import sys

import pyscf

basis = sys.argv[1] if len(sys.argv) > 1 else "cc-pvdz"
molecule = pyscf.M(atom="""O 0 0 0; H 0.7572 0 0.5865; H -0.7572 0 0.5865
                           O 0 2.9 0.1; H 0.7572 3.0 0.69; H -0.7572 3.0 0.69""", basis=basis, verbose=0)
field = molecule.RHF().run(conv_tol=1e-11)
print("value RHF", field.e_tot)
print("value MP2", field.MP2().run().e_corr)
clusters = field.CCSD().run(conv_tol=1e-9)
print("value CCSD", clusters.e_corr)
