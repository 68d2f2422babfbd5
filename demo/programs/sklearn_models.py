"""scikit-learn: principal components and a Gaussian process."""
import numpy
from sklearn.decomposition import PCA
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

rng = numpy.random.default_rng(1)
x = rng.standard_normal((4000, 20)) @ rng.standard_normal((20, 500)) + 0.1 * rng.standard_normal((4000, 500))
pca = PCA(n_components=20, svd_solver="covariance_eigh").fit(x)
print("value explained", pca.explained_variance_ratio_.sum())
y = pca.transform(x)
print("error reconstruction", numpy.linalg.norm(pca.inverse_transform(y) - x) / numpy.linalg.norm(x))
t = rng.uniform(-3, 3, (1200, 3))
z = numpy.sin(t).sum(axis=1) + 0.05 * rng.standard_normal(1200)
gp = GaussianProcessRegressor(RBF(1.0) + WhiteKernel(0.01), optimizer=None).fit(t, z)
print("value likelihood", gp.log_marginal_likelihood_value_)
print("error prediction", float(numpy.std(gp.predict(t[:200]) - numpy.sin(t[:200]).sum(axis=1))))
