"""Writes the input of a simulation program: inputs.py PROGRAM SIZE [FOLDER].

    pw.x     silicon, 8 SIZE^3 atoms, plane waves, one k point that is not Gamma
    abinit   the same crystal by LOBPCG
    cp2k     SIZE^3 water molecules, Gaussians and plane waves, by diagonalisation
    band     cp2k: SIZE molecules, one of which turns: a nudged elastic band of four images, a process each
    rpa      cp2k: SIZE molecules, energy in the random-phase approximation
    nwchem   a chain of SIZE water molecules, SCF, MP2 and CCSD
    mpb      8 SIZE bands of a cubic lattice of dielectric spheres
    hpcc     HPL with n = SIZE on one process, by columns of 384 and of 1024"""
import pathlib
import random
import sys

LATTICE = 10.2631  # of silicon, in bohr
SPACING = 3.104  # of water molecules, in angstrom
DIAMOND = [(x / 4, y / 4, z / 4) for x, y, z in ((0, 0, 0), (0, 2, 2), (2, 0, 2), (2, 2, 0), (1, 1, 1), (1, 3, 3), (3, 1, 3), (3, 3, 1))]


def silicon(size):
    """Atoms of a cube of size^3 cells, moved a little, in units of the cube."""
    move = random.Random(1)
    cells = [(i, j, k) for i in range(size) for j in range(size) for k in range(size)]
    return [tuple((c + x + move.uniform(-0.01, 0.01)) / size for c, x in zip(cell, atom)) for cell in cells for atom in DIAMOND]


def waters(size, spacing=SPACING):
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
    return water_box(waters(size), SPACING * size)


def water_box(molecules, edge):
    atoms = "\n".join(f"{name} {numbers(a)}" for name, a in molecules)
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
   ABC {edge:.4f} {edge:.4f} {edge:.4f}
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
"""


def band(size):
    """Each image has its own self-consistent field, from atoms on, on a process of its own."""
    first = waters(2)[:3 * size]
    oxygen = first[0][1]
    last = [(name, [x, 2 * oxygen[1] - y, z + 0.4] if 0 < i < 3 else [x, y, z]) for i, (name, (x, y, z)) in enumerate(first)]
    images = "\n".join("  &REPLICA\n   &COORD\n" + "\n".join(numbers(a) for _, a in image) + "\n   &END COORD\n  &END REPLICA"
                       for image in (first, last))
    text = water_box(first, 2 * SPACING).replace("RUN_TYPE ENERGY", "RUN_TYPE BAND").replace("CUTOFF 200", "CUTOFF 120")
    return text.replace("  &SCF\n", "  &QS\n   EXTRAPOLATION USE_GUESS\n  &END QS\n  &SCF\n") + f"""&MOTION
 &BAND
  NPROC_REP 1
  NUMBER_OF_REPLICA 4
  K_SPRING 0.05
  ROTATE_FRAMES F
  &OPTIMIZE_BAND
   OPT_TYPE MD
   &MD
    MAX_STEPS 2
   &END MD
  &END OPTIMIZE_BAND
  &CONVERGENCE_CONTROL
  &END CONVERGENCE_CONTROL
{images}
 &END BAND
&END MOTION
"""


def rpa(size):
    """Its products have all pairs of orbitals for k; a group of processes has each frequency."""
    text = water_box(waters(2)[:3 * size], 2 * SPACING).replace("CUTOFF 200", "CUTOFF 120\n   REL_CUTOFF 30")
    text = text.replace("BASIS_SET_FILE_NAME GTH_BASIS_SETS", "BASIS_SET_FILE_NAME HFX_BASIS\n  BASIS_SET_FILE_NAME BASIS_RI_cc-TZ")
    text = text.replace("TZV2P-GTH", "cc-TZV2P-GTH\n   BASIS_SET RI_AUX RI_DZ").replace("PADE", "PBE").replace("NAME POTENTIAL", "NAME GTH_POTENTIALS")
    return text.replace("  &END XC\n", """   &WF_CORRELATION
    MEMORY 800
    GROUP_SIZE 1
    &RI_RPA
     QUADRATURE_POINTS 4
     MINIMAX_QUADRATURE
     NUM_INTEG_GROUPS 1
    &END RI_RPA
    &RI
     ROW_BLOCK 32
     COL_BLOCK 32
    &END RI
    &INTEGRALS
     &WFC_GPW
      CUTOFF 60
      REL_CUTOFF 20
      EPS_GRID 1e-6
     &END WFC_GPW
    &END INTEGRALS
   &END WF_CORRELATION
  &END XC
""")


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


def mpb(size):
    return f"""(set! num-bands {8 * size})
(set! k-points (list (vector3 0 0 0) (vector3 0.5 0 0) (vector3 0.5 0.5 0)))
(set! geometry (list (make sphere (center 0 0 0) (radius 0.25) (material (make dielectric (epsilon 11.56))))))
(set! geometry-lattice (make lattice (size 1 1 1)))
(set! resolution {8 + 8 * size})
(run)
"""


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


FILES = {"pw.x": (pw, "pw.in"), "abinit": (abinit, "abinit.in"), "cp2k": (cp2k, "cp2k.inp"), "band": (band, "cp2k.inp"),
         "rpa": (rpa, "cp2k.inp"), "nwchem": (nwchem, "nwchem.nw"), "mpb": (mpb, "mpb.ctl"),
         "hpcc": (hpcc, "hpccinf.txt")}

if __name__ == "__main__":
    write, name = FILES[sys.argv[1]]
    folder = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else ".")
    (folder / name).write_text(write(int(sys.argv[2])))
