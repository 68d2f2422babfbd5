"""Products under a contract in programs of JAX: a custom call of XLA on CPUs and GPUs.

    f = jax.jit(lambda a, b: vernier.jax.matmul(a, b, "fp64"))

jit, vmap and reverse-mode gradients work; the backward pass keeps the same contract. float64 needs jax_enable_x64.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp

from . import _cuda, _vernier

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


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def _product(a, b, contract):  # of one batch, each with two dimensions more
    shape = (*a.shape[:-1], b.shape[-1])
    call = jax.ffi.ffi_call("vernier_matmul", jax.ShapeDtypeStruct(shape, a.dtype), vmap_method="broadcast_all")
    return call(a, b, contract=contract)


def _forward(a, b, contract):
    return _product(a, b, contract), (a, b)


def _backward(contract, kept, gradient):
    a, b = kept
    return (_product(gradient, jnp.swapaxes(b, -1, -2), contract), _product(jnp.swapaxes(a, -1, -2), gradient, contract))


_product.defvjp(_forward, _backward)


def matmul(a: Any, b: Any, contract: str | None = None) -> Any:
    """a @ b under a contract, with the shapes and the broadcasting of jax.numpy.matmul; a and b have one dtype."""
    _register()
    a, b = jnp.asarray(a), jnp.asarray(b)
    _check(a, b)
    contract = _vernier.check_contract(contract) if contract else ""
    left = a[None, :] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    batch = jnp.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    if right.ndim == 2 and left.ndim > 2 and "reproducible" not in contract:  # the rows of one product
        result = _product(left.reshape(-1, left.shape[-1]), right, contract).reshape(*batch, left.shape[-2], right.shape[-1])
    else:
        result = _product(jnp.broadcast_to(left, batch + left.shape[-2:]), jnp.broadcast_to(right, batch + right.shape[-2:]),
                          contract)
    rows = () if a.ndim == 1 else (left.shape[-2],)
    columns = () if b.ndim == 1 else (right.shape[-1],)
    return result.reshape(*batch, *rows, *columns)


def _check(a, b):
    if a.dtype != b.dtype:
        raise TypeError(f"matmul: a is {a.dtype} and b is {b.dtype}; convert one: a.astype(b.dtype)")
    if a.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise TypeError(f"matmul: a has dtype {a.dtype}; expected float32, float64, complex64 or complex128")
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("matmul: a scalar; one dimension at least is expected; use * to scale")
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        raise ValueError(f"matmul: a of shape {a.shape} has {a.shape[-1]} columns and b of shape {b.shape} has "
                         f"{b.shape[-2 if b.ndim > 1 else 0]} rows; they must be equal")
