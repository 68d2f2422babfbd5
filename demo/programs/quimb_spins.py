"""quimb: a chain of spins, evolved exactly."""
import sys

import numpy
import quimb

n = int(sys.argv[1]) if len(sys.argv) > 1 else 10
h = quimb.ham_heis(n, sparse=False)
e, v = numpy.linalg.eigh(numpy.asarray(h))
print("value ground", float(e[0]))
u = (v * numpy.exp(-2j * e)) @ v.conj().T
print("error unitarity", float(numpy.linalg.norm(u @ u.conj().T - numpy.eye(len(e))) / numpy.sqrt(len(e))))
state = u @ quimb.neel_state(n)
print("value entropy", float(quimb.entropy_subsys(state, [2] * n, range(n // 2))))
