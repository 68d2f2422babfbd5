"""scikit-learn: principal components and a Gaussian process."""
import sys

import numpy
from sklearn.decomposition import PCA
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

scale = int(sys.argv[1]) if len(sys.argv) > 1 else 1
rng = numpy.random.default_rng(1)
x = rng.standard_normal((4000 * scale, 20)) @ rng.standard_normal((20, 500 * scale)) + 0.1 * rng.standard_normal((4000 * scale, 500 * scale))
pca = PCA(n_components=20, svd_solver="covariance_eigh").fit(x)
print("value explained", pca.explained_variance_ratio_.sum())
y = pca.transform(x)
print("error reconstruction", numpy.linalg.norm(pca.inverse_transform(y) - x) / numpy.linalg.norm(x))
t = rng.uniform(-3, 3, (1200 * scale, 3))
z = numpy.sin(t).sum(axis=1) + 0.05 * rng.standard_normal(len(t))
gp = GaussianProcessRegressor(RBF(1.0) + WhiteKernel(0.01), optimizer=None).fit(t, z)
print("value likelihood", gp.log_marginal_likelihood_value_)
print("error prediction", float(numpy.std(gp.predict(t[:200]) - numpy.sin(t[:200]).sum(axis=1))))
