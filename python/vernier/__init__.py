"""Linear algebra of stated accuracy out of low-precision matrix engines.

    import vernier
    c = vernier.matmul(a, b)                          # NumPy, CuPy, PyTorch, JAX, or anything with DLPack
    c, report = vernier.matmul(a, b, "exact", report=True)

Importing vernier imports none of these libraries. vernier.torch, vernier.jax and
vernier.beyond (more digits, enclosures, proofs) are loaded when they are named.
"""

import typing as _typing

from ._contract import einsum, tensordot
from ._linalg import LU, Cholesky, Prepared, backward_errors, cholesky, lu_factor, lu_solve, prepare, solve
from ._machine import Info, explain, info
from ._products import dot_exact, matmul, record
from ._vernier import BoundNotMet, Certificate, Plan, Report, version

if _typing.TYPE_CHECKING:
    from . import beyond, jax, models, torch

__version__ = version()
__all__ = ["BoundNotMet", "Certificate", "Cholesky", "Info", "LU", "Plan", "Prepared", "Report", "backward_errors", "beyond",
           "cholesky", "dot_exact", "einsum", "explain", "info", "jax", "lu_factor", "lu_solve", "matmul", "models", "prepare", "record", "solve",
           "tensordot", "torch"]


def __getattr__(name):
    if name in ("beyond", "jax", "models", "torch"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return __all__
