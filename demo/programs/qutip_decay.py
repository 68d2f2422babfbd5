"""QuTiP: the propagator of a driven, damped oscillator, and its steady state."""
import sys

import numpy
import qutip

n = int(sys.argv[1]) if len(sys.argv) > 1 else 22
a = qutip.destroy(n)
h = a.dag() * a + 0.3 * (a + a.dag())
liouvillian = qutip.liouvillian(h, [numpy.sqrt(0.2) * a])
u = qutip.Qobj(liouvillian.full(), dims=liouvillian.dims).expm(dtype="dense").full()
u = numpy.linalg.matrix_power(u, 256)
rho = (u @ qutip.operator_to_vector(qutip.basis(n, 0).proj()).full()).reshape(n, n, order="F")
print("error trace", abs(numpy.trace(rho) - 1))
print("value photons", float(numpy.trace(a.dag().full() @ a.full() @ rho).real))
