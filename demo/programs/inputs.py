"""Writes the input of a simulation program: inputs.py PROGRAM SIZE [FOLDER].

    pw.x     silicon, 8 SIZE^3 atoms, plane waves, one k point that is not Gamma
    abinit   the same crystal by LOBPCG
    cp2k     SIZE^3 water molecules, Gaussians and plane waves, by diagonalisation
    nwchem   a chain of SIZE water molecules, SCF, MP2 and CCSD
    hpcc     HPL with n = SIZE on one process, by columns of 384 and of 1024"""
import pathlib
import random
import sys

LATTICE = 10.2631  # of silicon, in bohr
DIAMOND = [(x / 4, y / 4, z / 4) for x, y, z in ((0, 0, 0), (0, 2, 2), (2, 0, 2), (2, 2, 0), (1, 1, 1), (1, 3, 3), (3, 1, 3), (3, 3, 1))]


def silicon(size):
    """Atoms of a cube of size^3 cells, moved a little, in units of the cube."""
    move = random.Random(1)
    cells = [(i, j, k) for i in range(size) for j in range(size) for k in range(size)]
    return [tuple((c + x + move.uniform(-0.01, 0.01)) / size for c, x in zip(cell, atom)) for cell in cells for atom in DIAMOND]


def waters(size, spacing=3.104):
    """Atoms of size^3 molecules on a grid, in angstrom, turned at random."""
    turn = random.Random(2)
    atoms = []
    for cell in ((i, j, k) for i in range(size) for j in range(size) for k in range(size)):
        oxygen = [spacing * c + turn.uniform(-0.1, 0.1) for c in cell]
        axes = turn.choice([(0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2)])
        atoms.append(("O", oxygen))
        for sign in (1, -1):
            hydrogen = list(oxygen)
            hydrogen[axes[0]] += sign * 0.7572
            hydrogen[axes[1]] += 0.5865
            atoms.append(("H", hydrogen))
    return atoms


def numbers(values):
    return " ".join(f"{x:.8f}" for x in values)


def pw(size):
    atoms = "\n".join(f"Si {numbers(a)}" for a in silicon(size))
    return f"""&control
 calculation = 'scf', prefix = 'si', outdir = '.', pseudo_dir = '/usr/share/espresso/pseudo', disk_io = 'none'
/
&system
 ibrav = 1, celldm(1) = {LATTICE * size}, nat = {8 * size**3}, ntyp = 1, ecutwfc = 16, nbnd = {18 * size**3}, nosym = .true.
/
&electrons
 conv_thr = 1e-9
/
ATOMIC_SPECIES
 Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS crystal
{atoms}
K_POINTS crystal
1
0.25 0.25 0.25 1
"""


def abinit(size):
    atoms = "\n ".join(numbers(a) for a in silicon(size))
    return f"""pseudos "/usr/share/abinit/psp/14si.pspnc"
acell 3*{LATTICE * size}
ntypat 1
znucl 14
natom {8 * size**3}
typat {8 * size**3}*1
xred
 {atoms}
ecut 8
nband {18 * size**3}
nsym 1
kptopt 0
nkpt 1
kpt 0.25 0.25 0.25
istwfk 1
occopt 1
wfoptalg 14
fftalg 112
toldfe 1d-9
nstep 20
prtwf 0
prtden 0
prteig 0
"""


def cp2k(size):
    atoms = "\n".join(f"{name} {numbers(a)}" for name, a in waters(size))
    return f"""&GLOBAL
 PROJECT water
 RUN_TYPE ENERGY
 PRINT_LEVEL LOW
 PREFERRED_DIAG_LIBRARY SL
&END GLOBAL
&FORCE_EVAL
 METHOD Quickstep
 &DFT
  BASIS_SET_FILE_NAME GTH_BASIS_SETS
  POTENTIAL_FILE_NAME POTENTIAL
  &MGRID
   CUTOFF 200
  &END MGRID
  &SCF
   SCF_GUESS ATOMIC
   EPS_SCF 1e-7
   MAX_SCF 30
   &DIAGONALIZATION
   &END DIAGONALIZATION
   &MIXING
    METHOD BROYDEN_MIXING
    ALPHA 0.4
   &END MIXING
  &END SCF
  &XC
   &XC_FUNCTIONAL PADE
   &END XC_FUNCTIONAL
  &END XC
 &END DFT
 &SUBSYS
  &CELL
   ABC 3*{3.104 * size:.4f}
  &END CELL
  &COORD
{atoms}
  &END COORD
  &KIND O
   BASIS_SET TZV2P-GTH
   POTENTIAL GTH-PADE-q6
  &END KIND
  &KIND H
   BASIS_SET TZV2P-GTH
   POTENTIAL GTH-PADE-q1
  &END KIND
 &END SUBSYS
&END FORCE_EVAL
""".replace(f"3*{3.104 * size:.4f}", " ".join([f"{3.104 * size:.4f}"] * 3))


def nwchem(size):
    atoms = "\n ".join(f"{name} {numbers((a[0], a[1], a[2]))}" for name, a in chain(size))
    return f"""start water
memory total 3000 mb
geometry units angstrom noautosym
 {atoms}
end
basis spherical
 * library cc-pvtz
end
scf
 thresh 1e-8
end
ccsd
 freeze atomic
 thresh 1e-7
end
task ccsd energy
"""


def chain(size):
    return [(name, (x, y, z + 2.9 * i)) for i in range(size)
            for name, (x, y, z) in (("O", (0, 0, 0)), ("H", (0.7572, 0.5865, 0.1)), ("H", (-0.7572, 0.5865, -0.1)))]


def hpcc(size):
    return f"""HPL input
by inputs.py
HPL.out output file name (if any)
8 device out (6=stdout,7=stderr,file)
1 # of problems sizes (N)
{size} Ns
2 # of NBs
384 1024 NBs
0 PMAP process mapping (0=Row-,1=Column-major)
1 # of process grids (P x Q)
1 Ps
1 Qs
16.0 threshold
1 # of panel fact
1 PFACTs (0=left, 1=Crout, 2=Right)
1 # of recursive stopping criterium
4 NBMINs (>= 1)
1 # of panels in recursion
2 NDIVs
1 # of recursive panel fact.
1 RFACTs (0=left, 1=Crout, 2=Right)
1 # of broadcast
1 BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1 # of lookahead depth
0 DEPTHs (>=0)
2 SWAP (0=bin-exch,1=long,2=mix)
64 swapping threshold
0 L1 in (0=transposed,1=no-transposed) form
0 U in (0=transposed,1=no-transposed) form
1 Equilibration (0=no,1=yes)
8 memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0 Number of additional problem sizes for PTRANS
1200 values of N
0 number of additional blocking sizes for PTRANS
40 values of NB
"""


FILES = {"pw.x": (pw, "pw.in"), "abinit": (abinit, "abinit.in"), "cp2k": (cp2k, "cp2k.inp"), "nwchem": (nwchem, "nwchem.nw"),
         "hpcc": (hpcc, "hpccinf.txt")}

if __name__ == "__main__":
    write, name = FILES[sys.argv[1]]
    folder = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else ".")
    (folder / name).write_text(write(int(sys.argv[2])))
