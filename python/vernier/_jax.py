"""What einsum and tensordot ask of JAX."""

import jax.numpy as jnp

permute = jnp.transpose


def ones(n, like):
    return jnp.ones(n, like.dtype)


def diagonals(x, indices, unique):
    return jnp.einsum(f"{indices}->{unique}", x)
