"""PySCF: RHF, MP2 and CCSD of a few water molecules: pyscf_molecule.py [BASIS [MOLECULES]]."""
import sys

import pyscf

basis = sys.argv[1] if len(sys.argv) > 1 else "cc-pvdz"
count = int(sys.argv[2]) if len(sys.argv) > 2 else 2
waters = [f"O 0 {2.9 * i} {0.1 * i}; H 0.7572 {2.9 * i + 0.1 * (i % 2)} {0.5865 + 0.1 * i}; "
          f"H -0.7572 {2.9 * i + 0.1 * (i % 2)} {0.5865 + 0.1 * i}" for i in range(count)]
field = pyscf.M(atom="; ".join(waters), basis=basis, verbose=0).RHF().run(conv_tol=1e-11)
print("value RHF", field.e_tot)
print("value MP2", field.MP2().run().e_corr)
clusters = field.CCSD().run(conv_tol=1e-9)
print("value CCSD", clusters.e_corr)
