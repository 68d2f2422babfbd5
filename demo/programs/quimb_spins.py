"""quimb: a chain of spins, evolved exactly."""
import numpy
import quimb

h = quimb.ham_heis(10, sparse=False)
e, v = numpy.linalg.eigh(numpy.asarray(h))
print("value ground", float(e[0]))
u = (v * numpy.exp(-2j * e)) @ v.conj().T
print("error unitarity", float(numpy.linalg.norm(u @ u.conj().T - numpy.eye(len(e))) / numpy.sqrt(len(e))))
state = u @ quimb.neel_state(10)
print("value entropy", float(quimb.entropy_subsys(state, [2] * 10, range(5))))
