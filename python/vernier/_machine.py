"""What this machine has, and what would be done."""

from __future__ import annotations

import dataclasses
import operator
from typing import Any

from . import _refuse, _vernier


@dataclasses.dataclass(frozen=True)
class Engine:
    name: str
    description: str
    supported: bool  #: by this machine
    missing: str  #: what the machine lacks, if not


@dataclasses.dataclass(frozen=True)
class Info:
    """What vernier.info() found; its repr is for people."""

    version: str
    engines: tuple[Engine, ...]  #: int8 engines of the CPU, in order of preference
    part_engines: tuple[Engine, ...]  #: for products of float32 under fp32
    default_engine: str
    native_blas: str
    gpu: str  #: the current GPU, or why there is none
    gpu_engines: tuple[Engine, ...]
    jax: bool  #: was vernier.jax built?

    def __repr__(self) -> str:
        lines = [f"Vernier {self.version}", f"conventional products: {self.native_blas}"]
        for title, engines in (("CPU", self.engines), ("CPU, float32", self.part_engines), ("GPU", self.gpu_engines)):
            for e in engines:
                state = "default" if e.name == self.default_engine else "yes" if e.supported else f"no: {e.missing}"
                lines.append(f"{title}: {e.name}, {e.description} ({state})")
        lines.append(f"GPU: {self.gpu}")
        lines.append(f"vernier.jax: {'yes' if self.jax else 'not in this build'}")
        return "\n".join(lines)


def info() -> Info:
    """The engines of this machine, the BLAS underneath, the GPU."""
    from . import _cuda

    _cuda.load()
    try:
        gpu, gpu_engines = _vernier.device_name(), _vernier.gpu_engines()
    except (ValueError, RuntimeError) as error:
        gpu, gpu_engines = f"none: {error}", []

    def told(engines):
        return tuple(Engine(*e) for e in engines)

    return Info(_vernier.version(), told(_vernier.engines()), told(_vernier.part_engines()), _vernier.default_engine(),
                _vernier.native_blas(), gpu, told(gpu_engines), bool(_vernier.jax_targets()))


def explain(m: Any, n: Any, k: int | None = None, contract: str | None = None, *, dtype: str = "float64",
            device: str = "cpu", engine: str = "", threads: int = 0) -> _vernier.Plan:
    """The plan of a product of an m x k by a k x n matrix, for data of ordinary exponents; or of two matrices.

        vernier.explain(4096, 4096, 512, "fp64")
        vernier.explain(a, b, contract="fp64")

    device  "cpu" or "cuda", for sizes; arrays are where they are
    """
    if k is None:
        for x, name in ((m, "a"), (n, "b")):
            _refuse.array(x, name, "explain")
        _refuse.dtypes(m, n, "explain")
        dtype, device = _refuse.dtype_name(m), "cpu" if _refuse.device_of(m) == "the CPU" else "cuda"
        if m.ndim != 2 or n.ndim != 2 or m.shape[1] != n.shape[0]:
            raise ValueError(f"explain: two matrices that fit are expected, not shapes {tuple(m.shape)} and {tuple(n.shape)}")
        m, n, k = m.shape[0], n.shape[1], m.shape[1]
    for size, name in ((m, "m"), (n, "n"), (k, "k")):
        try:
            size = operator.index(size)
        except TypeError:
            raise TypeError(f"explain: {name} is {size!r:.40}; a number of rows or columns is expected") from None
        if not 0 <= size <= 2**40:
            raise ValueError(f"explain: {name} is {size!r:.40}; a number from 0 to 2**40 is expected")
    if device not in ("cpu", "cuda"):
        raise ValueError(f"explain: device is {device!r}; expected 'cpu' or 'cuda'")
    return _vernier.explain(dtype, device == "cuda", m, n, k, contract or "", engine, threads)
