"""gpu4pyscf: water molecules by RHF and MP2 with fitted densities, or RHF and CCSD: gpu4pyscf_molecule.py [BASIS [MOLECULES [ccsd]]]."""
import sys
import time

import cupy
import pyscf

from gpu4pyscf.cc import ccsd_incore
from gpu4pyscf.mp import dfmp2

basis = sys.argv[1] if len(sys.argv) > 1 else "cc-pvdz"
count = int(sys.argv[2]) if len(sys.argv) > 2 else 2
waters = [f"O 0 {2.9 * i} {0.1 * i}; H 0.7572 {2.9 * i + 0.1 * (i % 2)} {0.5865 + 0.1 * i}; "
          f"H -0.7572 {2.9 * i + 0.1 * (i % 2)} {0.5865 + 0.1 * i}" for i in range(count)]
start = time.monotonic()


def lap():
    """Seconds since the last lap; GPU work included."""
    global start
    cupy.cuda.Device().synchronize()
    before, start = start, time.monotonic()
    return start - before


molecule = pyscf.M(atom="; ".join(waters), basis=basis, verbose=0, max_memory=60000)
field = molecule.RHF().density_fit().to_gpu()
field.conv_tol = 1e-10
print("value RHF", float(field.kernel()), flush=True)
print("seconds RHF", lap(), flush=True)
if sys.argv[3:] == ["ccsd"]:
    exact = molecule.RHF().to_gpu().run(conv_tol=1e-10)
    print("value exact_RHF", float(exact.e_tot), flush=True)
    print("seconds exact_RHF", lap(), flush=True)
    energy = ccsd_incore.CCSD(exact)
    energy.conv_tol = 1e-8
    energy.kernel()
    print("value CCSD", float(energy.e_corr), flush=True)
    print("seconds CCSD", lap(), flush=True)
else:
    print("value MP2", float(dfmp2.DFMP2(field).kernel()[0]), flush=True)
    print("seconds MP2", lap(), flush=True)
