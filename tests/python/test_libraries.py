"""Arrays of other libraries on the CPU, exchanged without copies: JAX, array-api-strict, anything with DLPack."""

import subprocess
import sys

import numpy as np
import pytest

import vernier

ints = np.random.default_rng(5).integers(-9, 10, 4000).astype(float)  # products of which are exact


def integers(*shape, kind="float64"):
    return ints[: int(np.prod(shape))].reshape(shape).astype(kind)


class TestArrayApi:
    strict = pytest.importorskip("array_api_strict")

    def test_a_strict_array_comes_back(self):
        a, b = self.strict.asarray(integers(4, 5)), self.strict.asarray(integers(5, 3))
        t, report = vernier.matmul(a, b, "exact", report=True)
        assert type(t) is type(a) and np.array_equal(np.asarray(t), integers(4, 5) @ integers(5, 3))
        assert report.contract == "exact"

    def test_one_kind_with_another_is_refused(self):
        with pytest.raises(TypeError, match="convert one"):
            vernier.matmul(self.strict.asarray(np.eye(3)), np.eye(3))


class Exchanged:
    """No array but DLPack's two methods."""

    dtype, shape = np.dtype("float64"), (3, 3)

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_anything_with_dlpack_is_multiplied_where_it_lies():
    a, out = integers(3, 3), np.empty((3, 3))
    assert np.array_equal(vernier.matmul(Exchanged(a), Exchanged(a)), a @ a)
    vernier.matmul(Exchanged(a), Exchanged(a), out=Exchanged(out))
    assert np.array_equal(out, a @ a)


class OnGpu:
    """What an array on a GPU says of itself."""

    dtype, shape, ndim = np.dtype("float64"), (3, 3), 2
    __cuda_array_interface__ = {"shape": (3, 3), "typestr": "<f8", "data": (0, False), "version": 3}


def test_an_array_of_another_device_is_refused():
    with pytest.raises(ValueError, match="a is on a GPU and b on the CPU"):
        vernier.matmul(OnGpu(), np.eye(3))
    with pytest.raises(TypeError, match="CuPy"):
        vernier.matmul(OnGpu(), OnGpu())
    with pytest.raises(ValueError, match="CUDA"):
        vernier.explain(8, 8, 8, device="cuda")


class TestJax:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    if not vernier.info().jax:
        pytest.fail("this wheel was built without jaxlib")

    @pytest.mark.parametrize("kind", ["float32", "float64", "complex64", "complex128"])
    @pytest.mark.parametrize("shapes", [((5,), (5,)), ((5,), (5, 3)), ((4, 5), (5,)), ((4, 5), (5, 3)), ((2, 1, 4, 5), (3, 5, 2)),
                                        ((2, 4, 5), (5, 3)), ((0, 5), (5, 3)), ((4, 0), (0, 3))])
    def test_products_are_those_of_integers(self, kind, shapes):
        a, b = (integers(*shape, kind=kind) for shape in shapes)
        t = vernier.matmul(*map(self.jax.numpy.asarray, (a, b)))
        assert isinstance(t, self.jax.Array) and t.dtype == kind and t.shape == np.matmul(a, b).shape
        assert np.array_equal(t, np.matmul(a, b))

    def test_jit_vmap_and_their_order(self):
        a, b = self.jax.numpy.asarray(integers(3, 4, 5)), self.jax.numpy.asarray(integers(3, 5, 2))
        product = lambda x, y: vernier.jax.matmul(x, y, "exact")
        expected = np.matmul(a, b)
        assert np.array_equal(self.jax.jit(product)(a, b), expected)
        assert np.array_equal(self.jax.vmap(product)(a, b), expected)
        assert np.array_equal(self.jax.jit(self.jax.vmap(product))(a, b), expected)
        assert np.array_equal(self.jax.vmap(product, in_axes=(None, 0))(a[0], b), np.matmul(a[0], b))

    @pytest.mark.parametrize("kind", ["float64", "complex128"])
    def test_gradients_are_those_of_jax(self, kind):
        a, b = (self.jax.numpy.asarray(integers(*s, kind=kind)) for s in ((3, 4), (4, 2)))
        if kind == "complex128":
            a, b = a * (1 + 2j), b * (2 - 1j)
        cost = lambda multiply: lambda x, y: (abs(multiply(x, y)) ** 2).sum()
        own = self.jax.grad(cost(vernier.jax.matmul), (0, 1))(a, b)
        for x, y in zip(own, self.jax.grad(cost(self.jax.numpy.matmul), (0, 1))(a, b)):
            np.testing.assert_allclose(x, y, rtol=1e-13)

    def test_a_second_derivative(self):
        a = self.jax.numpy.asarray(integers(3, 3))
        cube = lambda multiply: lambda x: multiply(multiply(x, x), x).sum()
        second = lambda multiply: self.jax.grad(lambda x: (self.jax.grad(cube(multiply))(x) ** 2).sum())(a)
        np.testing.assert_allclose(second(vernier.jax.matmul), second(self.jax.numpy.matmul), rtol=1e-13)

    @pytest.mark.parametrize("mode", ["jacfwd", "jacrev", "hessian"])
    def test_forward_mode_and_mixed_modes_are_those_of_jax(self, mode):
        a, b = (self.jax.numpy.asarray(integers(*s)) for s in ((3, 4), (4, 2)))
        derivative = getattr(self.jax, mode)
        cost = lambda multiply: lambda x, y: (multiply(x, y) ** 2).sum(0)
        for argument in (0, 1):
            own = derivative(cost(vernier.jax.matmul), argument)(a, b)
            np.testing.assert_allclose(own, derivative(cost(self.jax.numpy.matmul), argument)(a, b), rtol=1e-13)

    @pytest.mark.parametrize("contract", ["fp64", "fp64+reproducible"])
    @pytest.mark.parametrize("axes", [(0, None), (None, 0), (1, 2)])
    def test_vmap_of_one_side_and_of_gradients(self, contract, axes):
        a, b = (self.jax.numpy.asarray(integers(*s)) for s in ((3, 4, 5), (3, 5, 2)))
        a, b = (x[0] if d is None else self.jax.numpy.moveaxis(x, 0, d) for x, d in zip((a, b), axes))
        product = lambda x, y: vernier.jax.matmul(x, y, contract)
        assert np.array_equal(self.jax.vmap(product, axes)(a, b), self.jax.vmap(self.jax.numpy.matmul, axes)(a, b))
        cost = lambda multiply: self.jax.grad(lambda x, y: (multiply(x, y) ** 2).sum())
        np.testing.assert_allclose(self.jax.vmap(cost(product), axes)(a, b),
                                   self.jax.vmap(cost(self.jax.numpy.matmul), axes)(a, b), rtol=1e-13)

    def test_a_product_split_over_devices(self):
        program = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax, numpy, vernier
from jax.sharding import Mesh, PartitionSpec as P
a, b = (jax.numpy.arange(n * 4, dtype="float32").reshape(n, 4) for n in (6, 4))
shard_map = getattr(jax, "shard_map", None) or __import__("jax.experimental.shard_map", fromlist=["shard_map"]).shard_map
mesh = Mesh(numpy.array(jax.devices()), ("i",))
split = shard_map(lambda x, y: vernier.jax.matmul(x, y), mesh=mesh, in_specs=(P("i"), P()), out_specs=P("i"))
assert (split(a, b) == a @ b).all()
assert (jax.grad(lambda y: split(a, y).sum())(b) == jax.grad(lambda y: (a @ y).sum())(b)).all()
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr

    def test_einsum_and_the_bound_inside_jit(self):
        a = self.jax.numpy.asarray([[1e16, 1.0, -1e16]])
        f = self.jax.jit(lambda x: vernier.einsum("ij,kj->ik", x, self.jax.numpy.ones((1, 3)), contract="exact"))
        assert f(a)[0, 0] == 1.0

    def test_mistakes_are_refused_before_the_program_runs(self):
        eye = self.jax.numpy.eye(3)
        with pytest.raises(ValueError, match="fp65"):
            vernier.matmul(eye, eye, "fp65")
        with pytest.raises(ValueError, match="columns"):
            vernier.matmul(eye, self.jax.numpy.ones((4, 3)))
        with pytest.raises(TypeError, match="astype"):
            vernier.matmul(eye, eye.astype("float32"))
        with pytest.raises(ValueError, match="immutable"):
            vernier.matmul(eye, eye, out=eye)
