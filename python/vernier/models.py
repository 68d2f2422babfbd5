"""What matrix engines compute, bit for bit: models of instructions, and probes that find out what an engine does.

    e = vernier.models.engine("hopper-wgmma-fp16-fp32")
    e.dot([1.0, 2.0 ** -25], [1.0, 1.0])              # one instruction
    vernier.models.multiply(e, a, b)                  # a product of matrices on it
    print(vernier.models.probe("volta-fp16-fp32"))    # block length, rounding, order of accumulation
"""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _vernier
from ._vernier import EngineModel, Finding, ProbeReport

__all__ = ["EngineModel", "Finding", "Hardware", "ProbeReport", "engine", "engines", "hardware", "multiply", "probe"]


@dataclasses.dataclass(frozen=True)
class Hardware:
    """An engine that can be probed where it runs."""

    name: str
    instruction: str
    model: str  #: what it should compute
    missing: str  #: what this machine lacks; empty if it runs here


def engines() -> list[EngineModel]:
    """All instructions that the model knows."""
    return list(_vernier.engine_models())


def engine(name: str) -> EngineModel:
    """The model of that name; a ValueError where there is none."""
    return _vernier.engine_model(name)


def hardware() -> list[Hardware]:
    """The engines that the library can drive, here or elsewhere."""
    return [Hardware(*e) for e in _vernier.hardware()]


def probe(name: str | EngineModel) -> ProbeReport:
    """What an engine computes, from its results alone: a model, or hardware such as "cpu:..." and "gpu:..."."""
    return _vernier.probe(name.name if isinstance(name, EngineModel) else name)


def multiply(model: EngineModel, a: Any, b: Any) -> Any:
    """a @ b as the instruction computes it, for matrices of NumPy: rounded to its formats first, the result as float64."""
    import numpy

    a, b = numpy.asarray(a, float), numpy.asarray(b, float)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise ValueError(f"multiply: two matrices that fit are expected, not shapes {a.shape} and {b.shape}")
    result = numpy.empty((a.shape[0], b.shape[1]))
    model._multiply(a, b, result)
    return result
