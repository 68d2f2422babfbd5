"""Products under a contract as an operator of PyTorch.

    vernier.torch.matmul(a, b, "fp64")                # gradients, torch.compile, CUDA graphs
    with vernier.torch.precision("fp64"):             # torch.matmul, linear, bmm and @ inside
        loss = model(x)

The backward pass keeps the same contract. Workspace on a GPU is the caching allocator's.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from . import _torch, _vernier

__all__ = ["matmul", "precision"]


@torch.library.custom_op("vernier::matmul", mutates_args=())
def _product(a: torch.Tensor, b: torch.Tensor, contract: str) -> torch.Tensor:
    with torch.no_grad():
        return _vernier.matmul(_torch.resolved(a), _torch.resolved(b), contract or None, None, False, "", 0, None)


@_product.register_fake
def _(a, b, contract):
    torch._check(a.dtype == b.dtype, lambda: f"matmul: a is {a.dtype} and b is {b.dtype}; convert one")
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    rows = a.shape[-2:-1] if a.ndim > 1 else ()
    columns = b.shape[-1:] if b.ndim > 1 else ()
    return a.new_empty((*batch, *rows, *columns))


def _keep(ctx, inputs, output):
    a, b, ctx.contract = inputs
    ctx.save_for_backward(a, b)


def _gradients(ctx, gradient):
    a, b = ctx.saved_tensors
    left, right = a if a.ndim > 1 else a.unsqueeze(0), b if b.ndim > 1 else b.unsqueeze(1)
    if a.ndim == 1:
        gradient = gradient.unsqueeze(-1 if b.ndim == 1 else -2)
    if b.ndim == 1:
        gradient = gradient.unsqueeze(-1)
    of_a = of_b = None
    if ctx.needs_input_grad[0]:
        of_a = _product(gradient, right.mH, ctx.contract).sum_to_size(left.shape).reshape(a.shape)
    if ctx.needs_input_grad[1]:
        of_b = _product(left.mH, gradient, ctx.contract).sum_to_size(right.shape).reshape(b.shape)
    return of_a, of_b, None


_product.register_autograd(_gradients, setup_context=_keep)


def matmul(a: torch.Tensor, b: torch.Tensor, contract: str | None = None) -> torch.Tensor:
    """vernier.matmul with gradients, for torch.compile and CUDA graphs; the shapes of torch.matmul."""
    if not torch.compiler.is_compiling() and not _torch.needs_operator(a, b, None):  # spares the dispatcher's time
        return _vernier.matmul(_torch.resolved(a), _torch.resolved(b), contract, None, False, "", 0, None)
    return _product(a, b, contract or "")


_MATMULS = {torch.matmul, torch.mm, torch.bmm, torch.mv, torch.Tensor.matmul, torch.Tensor.mm, torch.Tensor.bmm,
            torch.Tensor.mv, torch.Tensor.__matmul__}


class precision(TorchFunctionMode):
    """A block inside which matmul, mm, bmm, mv, @ and linear are Vernier's, under one contract.

    Only floats and doubles, real and complex, are taken; other tensors, and calls with out=, stay PyTorch's own.
    """

    def __init__(self, contract: str):
        super().__init__()
        self.contract = _vernier.check_contract(contract)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in _MATMULS and len(args) == 2 and not kwargs and _taken(*args):
            return matmul(*args, self.contract)
        if func is torch.Tensor.__rmatmul__ and _taken(*args):
            return matmul(args[1], args[0], self.contract)
        if func is torch.nn.functional.linear:
            return self._linear(func, *args, **kwargs)
        return func(*args, **kwargs)

    def _linear(self, func: Any, input: Any, weight: Any, bias: Any = None) -> Any:
        if not _taken(input, weight):
            return func(input, weight, bias)
        product = matmul(input, weight.mT if weight.ndim > 1 else weight, self.contract)
        return product if bias is None else product + bias


def _taken(a, b):
    tensors = isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)
    return (tensors and a.dtype == b.dtype and a.dtype in _torch.dtypes and a.device == b.device
            and a.layout is torch.strided and b.layout is torch.strided and a.ndim > 0 and b.ndim > 0)
