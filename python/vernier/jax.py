"""Products under a contract in programs of JAX: a custom call of XLA on CPUs and GPUs.

    f = jax.jit(lambda a, b: vernier.jax.matmul(a, b, "fp64"))

jit, vmap and gradients of any order and mode work; derivatives are products under the same contract. float64 needs
jax_enable_x64.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import _cuda, _refuse, _vernier

__all__ = ["matmul"]


@functools.cache
def _register() -> None:
    targets = _vernier.jax_targets()
    if not targets:
        raise ValueError("vernier.jax: this build of vernier is without it: install jaxlib, then build again")
    if jax.default_backend() in ("gpu", "cuda"):
        _cuda.load()
    for platform, handler in targets.items():
        jax.ffi.register_ffi_target("vernier_matmul", handler, platform=platform)


# a: batch x m x k, b: batch x k x n, of the same batch.
_primitive = Primitive("vernier_matmul")


def _product(a, b, contract):
    if not isinstance(a, jax.core.Tracer) and not isinstance(b, jax.core.Tracer):
        return _alone(a, b, contract)  # what binding comes to, sooner
    return _primitive.bind(a, b, contract=contract)


@functools.partial(jax.jit, static_argnames="contract")
def _alone(a, b, contract):
    return _product(a, b, contract)


def _call(a, b, *, contract):
    shape = (*a.shape[:-1], b.shape[-1])
    return jax.ffi.ffi_call("vernier_matmul", jax.ShapeDtypeStruct(shape, a.dtype))(a, b, contract=contract)


def _of_left(gradient, _, b, *, contract):
    return _product(gradient, jnp.swapaxes(b, -1, -2), contract)


def _of_right(gradient, a, _, *, contract):
    return _product(jnp.swapaxes(a, -1, -2), gradient, contract)


def _batched(operands, axes, *, contract):
    (a, b), (of_a, of_b) = operands, axes  # None: the same for all
    a = a if of_a is None else jnp.moveaxis(a, of_a, 0)
    b = b if of_b is None else jnp.moveaxis(b, of_b, 0)
    if of_b is None and b.ndim == 2 and _rows_may_join(contract):
        return _product(a.reshape(-1, a.shape[-1]), b, contract).reshape(*a.shape[:-1], b.shape[-1]), 0
    count = (a if of_b is None else b).shape[0]
    if of_a is None:
        a = jnp.broadcast_to(a, (count, *a.shape))
    if of_b is None:
        b = jnp.broadcast_to(b, (count, *b.shape))
    return _product(a, b, contract), 0


def _rows_may_join(contract):
    """Under reproducible contracts each matrix keeps the bits that it has alone."""
    return "reproducible" not in contract


_primitive.def_impl(_alone)
_primitive.def_abstract_eval(lambda a, b, *, contract: a.update(shape=(*a.shape[:-1], b.shape[-1]), weak_type=False))
ad.defbilinear(_primitive, _of_left, _of_right)
batching.primitive_batchers[_primitive] = _batched
mlir.register_lowering(_primitive, mlir.lower_fun(_call, multiple_results=False))


def matmul(a: Any, b: Any, contract: str | None = None) -> Any:
    """a @ b under a contract, with the shapes and the broadcasting of jax.numpy.matmul; a and b have one dtype."""
    _register()
    a, b = (x if isinstance(x, jax.Array) else jnp.asarray(x) for x in (a, b))
    _check(a, b)
    a, b = _varying_alike(a, b)
    contract = _vernier.check_contract(contract) if contract else ""
    if a.ndim == b.ndim == 2:
        return _product(a, b, contract)
    left = a[None, :] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    batch = left.shape[:-2]
    if batch != right.shape[:-2]:
        batch = jnp.broadcast_shapes(batch, right.shape[:-2])
    if right.ndim == 2 and left.ndim > 2 and _rows_may_join(contract):  # the rows of one product
        result = _product(left.reshape(-1, left.shape[-1]), right, contract).reshape(*batch, left.shape[-2], right.shape[-1])
    else:
        result = _product(*(_of_batch(x, batch) for x in (left, right)), contract)
    rows = () if a.ndim == 1 else (left.shape[-2],)
    columns = () if b.ndim == 1 else (right.shape[-1],)
    shape = (*batch, *rows, *columns)
    return result if result.shape == shape else result.reshape(shape)


def _of_batch(x, batch):
    # Outside of jit each operation of JAX takes tens of microseconds, also one that changes nothing.
    return x if x.shape[:-2] == batch else jnp.broadcast_to(x, batch + x.shape[-2:])


def _varying_alike(a, b):
    """Inside shard_map: both vary over the axes of either, as the operands of JAX's own products come to."""
    if not hasattr(jax.lax, "pcast") or not (isinstance(a, jax.core.Tracer) or isinstance(b, jax.core.Tracer)):
        return a, b
    of_a, of_b = _varying(a), _varying(b)
    return tuple(x if own >= other else jax.lax.pcast(x, tuple(other - own), to="varying")
                 for x, own, other in ((a, of_a, of_b), (b, of_b, of_a)))


def _varying(x):
    kind = jax.typeof(x)
    manual = getattr(kind, "manual_axis_type", None)
    return manual.varying if manual is not None else getattr(kind, "vma", frozenset())


def _check(a, b):
    if a.dtype != b.dtype:
        raise TypeError(f"matmul: a is {a.dtype} and b is {b.dtype}; convert one: a.astype(b.dtype)")
    if _refuse.dtype_name(a) not in _refuse.KINDS:
        raise TypeError(f"matmul: a has dtype {a.dtype}; expected float32, float64, complex64 or complex128")
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("matmul: a scalar; one dimension at least is expected; use * to scale")
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        raise ValueError(f"matmul: a of shape {a.shape} has {a.shape[-1]} columns and b of shape {b.shape} has "
                         f"{b.shape[-2 if b.ndim > 1 else 0]} rows; they must be equal")
