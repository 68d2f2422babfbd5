"""One package of PyPI on data that it makes itself: packages.py NAME [SCALE]."""
import sys

import numpy

scale = int(sys.argv[2]) if len(sys.argv) > 2 else 1
rng = numpy.random.default_rng(3)


def normal(*shape):
    return rng.standard_normal(shape)


def value(name, x):
    print(f"value {name} {float(x)!r}")


def error(name, x):
    print(f"error {name} {float(x)!r}")


def cvxopt():
    from cvxopt import matrix, solvers, spmatrix
    n = 200 * scale
    a = normal(n, n)
    bounds = matrix(numpy.vstack([-numpy.eye(n), numpy.eye(n)])), matrix(numpy.ones(2 * n))
    found = solvers.qp(matrix(a @ a.T / n + numpy.eye(n)), matrix(normal(n)), *bounds, options={"show_progress": False})
    value("quadratic", found["primal objective"])
    error("quadratic", found["relative gap"])
    n = 60 * scale
    weights = rng.integers(-3, 4, (n, n)).astype(float)
    diagonal = spmatrix(-1.0, [i * n + i for i in range(n)], range(n), (n * n, n))
    found = solvers.sdp(matrix(numpy.ones(n)), Gs=[diagonal], hs=[matrix(-(weights + weights.T))], options={"show_progress": False})
    value("cut", found["primal objective"])
    error("cut", found["relative gap"])


def dipy():
    from dipy.core.gradients import gradient_table
    from dipy.denoise.localpca import mppca
    from dipy.reconst.dti import TensorModel
    strength, directions = numpy.r_[0, numpy.full(64, 1000.0)], normal(65, 3)
    directions /= numpy.linalg.norm(directions, axis=1)[:, None]
    directions[0] = 0
    data = 100 * numpy.exp(-strength * 7e-4) * (1 + 0.02 * normal(12 * scale, 12 * scale, 12, 65))
    tensors = TensorModel(gradient_table(strength, bvecs=directions)).fit(data)
    value("anisotropy", tensors.fa.mean())
    error("diffusivity", abs(tensors.md.mean() / 7e-4 - 1))
    value("denoised", mppca(data, patch_radius=2).sum())


def faiss():
    import faiss as library
    x = normal(20000 * scale, 256).astype("float32")
    index = library.IndexFlatL2(256)
    index.add(x)
    distances, found = index.search(x[:1000 * scale] + numpy.float32(0.01), 5)
    exact = ((x[:1000 * scale, None].astype(float) + numpy.float32(0.01) - x[found]) ** 2).sum(axis=2)
    value("found", found.sum())
    error("distances", (abs(distances - exact) / (2 * 256)).max())
    clusters = library.Kmeans(256, 64, niter=8, seed=1)
    clusters.train(x)
    value("clusters", clusters.obj[-1])
    components = library.PCAMatrix(256, 32)
    components.train(x)
    value("components", abs(components.apply(x[:100])).sum())


def gensim():
    import scipy.sparse
    from gensim import matutils, models
    documents = scipy.sparse.random(3000 * scale, 2500, density=0.02, random_state=1, format="csc")
    topics = models.LsiModel(matutils.Sparse2Corpus(documents), num_topics=300, chunksize=800, random_seed=1).projection
    for i, x in enumerate(topics.s[:5]):
        value(f"singular{i}", x)
    error("orthogonality", abs(topics.u.T @ topics.u - numpy.eye(topics.u.shape[1])).max())


def hmmlearn():
    from hmmlearn.hmm import GaussianHMM
    x = numpy.cumsum(normal(4000 * scale, 40), axis=0) * 0.1
    value("likelihood", GaussianHMM(6, "full", n_iter=8, random_state=1).fit(x).score(x))


def linearmodels():
    import pandas
    from linearmodels import IV2SLS, PanelOLS
    index = pandas.MultiIndex.from_product([range(300 * scale), range(20)])
    x = pandas.DataFrame(normal(len(index), 120), index=index)
    y = x.sum(axis=1) + normal(len(index))
    found = PanelOLS(y, x, entity_effects=True).fit(cov_type="clustered", cluster_entity=True)
    value("panel", found.params.iloc[0])
    value("deviation", found.std_errors.iloc[0])
    z = normal(6000 * scale, 300)
    x = z[:, :50] + 0.1 * normal(len(z), 50)
    found = IV2SLS(x.sum(axis=1) + normal(len(z)), None, x, z).fit(cov_type="robust")
    value("instrumented", found.params.iloc[0])
    value("robust", found.std_errors.iloc[0])


def pyamg():
    import pyamg as library
    matrix, modes = library.gallery.linear_elasticity((120 * scale, 120 * scale))
    b = numpy.ones(matrix.shape[0])
    x = library.smoothed_aggregation_solver(matrix, B=modes).solve(b, tol=1e-10)
    value("moved", abs(x).sum())
    error("residual", numpy.linalg.norm(matrix @ x - b) / numpy.linalg.norm(b))


def qiskit():
    from qiskit import QuantumCircuit, transpile
    from qiskit.quantum_info import Operator, Pauli, random_unitary
    from qiskit_aer import AerSimulator
    product = Operator(random_unitary(256 * scale, seed=1)).compose(Operator(random_unitary(256 * scale, seed=2))).data
    value("product", abs(product).sum())
    error("unitarity", abs(product @ product.conj().T - numpy.eye(len(product))).max())
    circuit = QuantumCircuit(26)
    for layer in range(14):
        for i in range(26):
            circuit.rx(0.3 + 0.1 * i + layer, i)
        for i in range(layer % 2, 25, 2):
            circuit.cx(i, i + 1)
            circuit.rzz(0.7, i, i + 1)
    circuit.save_expectation_value(Pauli("Z" + "I" * 25), range(26))
    chains = AerSimulator(method="matrix_product_state", matrix_product_state_max_bond_dimension=64 * scale)
    value("chain", chains.run(transpile(circuit, chains)).result().data()["expectation_value"])


def umap():
    import umap as library
    x = normal(1500 * scale, 300)
    x[:len(x) // 2] += 2
    y = library.UMAP(n_neighbors=10, random_state=1, n_epochs=60).fit_transform(x)
    value("spread", y.std())


globals()[sys.argv[1]]()
