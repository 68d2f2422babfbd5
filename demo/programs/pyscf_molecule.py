"""PySCF: a few water molecules by RHF, MP2 and CCSD, or all of it with fitted densities: pyscf_molecule.py [BASIS [MOLECULES [df]]]."""
import sys

import pyscf

basis = sys.argv[1] if len(sys.argv) > 1 else "cc-pvdz"
count = int(sys.argv[2]) if len(sys.argv) > 2 else 2
fitted = sys.argv[3:] == ["df"]
waters = [f"O 0 {2.9 * i} {0.1 * i}; H 0.7572 {2.9 * i + 0.1 * (i % 2)} {0.5865 + 0.1 * i}; "
          f"H -0.7572 {2.9 * i + 0.1 * (i % 2)} {0.5865 + 0.1 * i}" for i in range(count)]
field = pyscf.M(atom="; ".join(waters), basis=basis, verbose=0).RHF()
if fitted:
    field = field.density_fit()
print("value RHF", field.run(conv_tol=1e-11).e_tot)
mp2 = field.MP2()
mp2.kernel(with_t2=not fitted)  # amplitudes of many molecules would not fit into memory
print("value MP2", mp2.e_corr)
if not fitted:
    print("value CCSD", field.CCSD().run(conv_tol=1e-9).e_corr)
