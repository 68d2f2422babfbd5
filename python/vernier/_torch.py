"""What _vernier asks of PyTorch: its current stream, its caching allocator, and whether it has to see a product."""

import torch
import torch.autograd.forward_ad as forward_mode

from . import _cuda

if torch.version.cuda is not None:
    _cuda.load()
dtypes = (torch.float32, torch.float64, torch.complex64, torch.complex128)
strided = torch.strided


def empty(shape, dtype, device="cpu"):  # whatever torch.set_default_device says
    return torch.empty(shape, dtype=dtype, device=device)


def permute(x, order):
    return x.permute(order)


def contiguous(x):
    return x.contiguous() if not x.is_contiguous() else x.clone(memory_format=torch.contiguous_format)


def by_columns(x):
    x = x.detach().resolve_conj().resolve_neg()
    if x.ndim == 1:
        return x.clone(memory_format=torch.contiguous_format)
    return x.mT.clone(memory_format=torch.contiguous_format).mT


def pivots(count, like):
    return torch.empty(count, dtype=torch.int64, device=like.device)


def address(x):
    return x.data_ptr()


def shares_memory(x, y):
    return True  # PyTorch cannot tell; the ranges meet


def resolved(x):
    """x with the numbers in memory that it shows."""
    if x.layout is not torch.strided:
        return x
    return x.resolve_conj().resolve_neg() if x.is_conj() or x.is_neg() else x


# Gradients in either mode and modes of operations: a product that one of these sees goes through vernier.torch.
grad_enabled = torch.is_grad_enabled
forward_enabled = torch._C._is_fwd_grad_enabled
modes = (torch._C._len_torch_function_stack, torch._C._len_torch_dispatch_stack)
# DLPack's table of C functions, under its name and that of PyTorch 2.10; None before.
exchange = getattr(torch.Tensor, "__dlpack_c_exchange_api__", getattr(torch.Tensor, "__c_dlpack_exchange_api__", None))
current_device = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)
_current_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)
_gpus = [torch.device("cuda", i) for i in range(64)]


def needs_operator(*tensors):
    """Gradients, forward mode, compilation, transforms and modes: the product has to go through vernier.torch."""
    tensors = [x for x in tensors if x is not None]
    if grad_enabled() and any(x.requires_grad for x in tensors):
        return True
    return (forward_mode._current_level >= 0 and forward_enabled() or any(mode() for mode in modes) or torch.compiler.is_compiling()
            or any(type(x) not in _PLAIN or _is_wrapped(x) for x in tensors))


_PLAIN = (torch.Tensor, torch.nn.Parameter)
_is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor  # by vmap, grad or jvp


def stream(device):
    if current_device() != device:
        raise ValueError(f"the tensors lie on GPU {device} and GPU {torch.cuda.current_device()} is current; use "
                         f"with torch.cuda.device({device}):")
    return _current_stream(device)


def workspace(size, device):
    memory = torch.empty(size, dtype=torch.uint8, device=_gpus[device])
    return memory, memory.data_ptr()


def empty_like(shape, x):
    return torch.empty(shape, dtype=x.dtype, device=x.device)


def element_strides(x):
    return x.stride()


def joined(x, y, axis):
    return torch.cat([x, y], axis)


def stacked(arrays, axis):
    return torch.stack(arrays, axis)


def negative_identity(n, like):
    return -torch.eye(n, dtype=like.dtype, device=like.device)


def clear_above_diagonal(x):
    x.tril_()


def ones(n, like):
    return torch.ones(n, dtype=like.dtype, device=like.device)


def diagonals(x, indices, unique):
    return torch.einsum(f"{indices}->{unique}", x)
