"""Products under a contract as an operator of PyTorch.

    vernier.torch.matmul(a, b, "fp64")                # gradients, torch.compile, CUDA graphs
    with vernier.torch.precision("fp64"):             # torch.matmul, linear, bmm and @ inside
        loss = model(x)

The backward pass keeps the same contract. Workspace on a GPU is the caching allocator's.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.autograd.forward_ad as forward_mode
from torch.overrides import TorchFunctionMode

from . import _torch, _vernier

__all__ = ["matmul", "precision"]


@torch.library.custom_op("vernier::matmul", mutates_args=())
def _product(a: torch.Tensor, b: torch.Tensor, contract: str) -> torch.Tensor:
    with torch.no_grad(), forward_mode._set_fwd_grad_enabled(False):
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


def _gradients(ctx, gradient, product):
    a, b = ctx.saved_tensors
    left, right = a if a.ndim > 1 else a.unsqueeze(0), b if b.ndim > 1 else b.unsqueeze(1)
    if a.ndim == 1:
        gradient = gradient.unsqueeze(-1 if b.ndim == 1 else -2)
    if b.ndim == 1:
        gradient = gradient.unsqueeze(-1)
    of_a = of_b = None
    if ctx.needs_input_grad[0]:
        of_a = product(gradient, right.mH, ctx.contract).sum_to_size(left.shape).reshape(a.shape)
    if ctx.needs_input_grad[1]:
        of_b = product(left.mH, gradient, ctx.contract).sum_to_size(right.shape).reshape(b.shape)
    return of_a, of_b, None


_product.register_autograd(lambda ctx, gradient: _gradients(ctx, gradient, _product), setup_context=_keep)


class _Product(torch.autograd.Function):
    """The operator for torch.func's transforms and forward mode, of which operators of torch.library know nothing."""

    @staticmethod
    def forward(a, b, contract):
        return _product(a, b, contract)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _keep(ctx, inputs, output)
        ctx.save_for_forward(*inputs[:2])

    @staticmethod
    def backward(ctx, gradient):
        return _gradients(ctx, gradient, _Product.apply)

    @staticmethod
    def jvp(ctx, of_a, of_b, _):
        a, b = ctx.saved_tensors
        terms = [_Product.apply(x, y, ctx.contract) for x, y in ((of_a, b), (a, of_b)) if x is not None and y is not None]
        return terms[0] if len(terms) == 1 else terms[0] + terms[1]

    @staticmethod
    def vmap(info, in_dims, a, b, contract):
        dimensions = [x.ndim - (d is not None) for x, d in zip((a, b), in_dims)]
        vectors = [count == 1 for count in dimensions]
        batch = max(2, *dimensions)

        def laid_out(x, d, vector, columns):  # the new batch first, then as many dimensions as the other has
            x = x.unsqueeze(0) if d is None else x.movedim(d, 0)
            x = x.unsqueeze(columns) if vector else x
            return x.reshape(x.shape[0], *[1] * (batch + 1 - x.ndim), *x.shape[1:])

        product = _Product.apply(laid_out(a, in_dims[0], vectors[0], 1), laid_out(b, in_dims[1], vectors[1], 2), contract)
        product = product.squeeze(-2) if vectors[0] else product
        return product.squeeze(-1) if vectors[1] else product, 0


def matmul(a: torch.Tensor, b: torch.Tensor, contract: str | None = None) -> torch.Tensor:
    """vernier.matmul with gradients, for torch.compile and CUDA graphs; the shapes of torch.matmul.

    Reverse and forward mode, torch.func's grad, vmap, jvp and what is made of them work, to any order.
    """
    if torch.compiler.is_compiling():
        return _product(a, b, contract or "")
    if not _torch.needs_operator(a, b):  # spares the dispatcher's time
        return _vernier.matmul(_torch.resolved(a), _torch.resolved(b), contract, None, False, "", 0, None)
    return _Product.apply(a, b, contract or "")


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
