"""Matrix products of stated accuracy out of low-precision matrix engines."""

from ._matmul import matmul, record
from ._vernier import BoundNotMet, Report, version

__version__ = version()
__all__ = ["BoundNotMet", "Report", "matmul", "record"]
