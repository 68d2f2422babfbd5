"""The module of vernier that knows the library of an array."""

import importlib
import sys

_BY_PACKAGE = {"numpy": "_numpy", "cupy": "_cupy", "cupyx": "_cupy", "torch": "_torch", "jax": "_jax", "jaxlib": "_jax"}


def adapter(x):
    """_numpy, _cupy, _torch or _jax; None for an array of none of these libraries."""
    if is_jax(x):
        return importlib.import_module("vernier._jax")
    for base in type(x).__mro__:
        name = _BY_PACKAGE.get(base.__module__.partition(".")[0])
        if name is not None:
            return importlib.import_module(f"vernier.{name}")
    return None


def is_jax(x):
    jax = sys.modules.get("jax")
    return jax is not None and hasattr(jax, "Array") and isinstance(x, jax.Array)


def is_torch(x):
    torch = sys.modules.get("torch")
    return torch is not None and hasattr(torch, "Tensor") and isinstance(x, torch.Tensor)
