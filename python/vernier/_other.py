"""matmul of arrays that _vernier does not read itself: tensors that PyTorch must see, JAX, DLPack; and refusals."""

from . import _namespace, _refuse, _vernier


def matmul(a, b, contract, out, report, engine, threads, progress):
    given = [(a, "a"), (b, "b")] + ([] if out is None else [(out, "out")])
    options = (contract, report, engine, threads, progress)
    if all(_namespace.is_jax(x) for x, _ in given):
        return _jax(a, b, out, *options)
    for x, name in given:
        _refuse.array(x, name)
    _refuse.dtypes(a, b)
    _refuse.pair(a, b)
    if all(_namespace.is_torch(x) for x, _ in given):
        return _torch(a, b, out, *options)
    if out is not None:
        _refuse_out(a, out)
    return _by_exchange(a, b, out, *options)


def _refuse_out(a, out):
    if _refuse.dtype_name(out) != _refuse.dtype_name(a):
        _refuse.out_dtype(out, a)
    if _refuse.device_of(out) != _refuse.device_of(a):
        raise ValueError(f"matmul: a is on {_refuse.device_of(a)} and out on {_refuse.device_of(out)}")
    if _refuse.kind_of(out) != _refuse.kind_of(a) and _namespace.adapter(out) is not _namespace.adapter(a):
        raise TypeError(f"matmul: out is a {_refuse.kind_of(out)}; a {_refuse.kind_of(a)} is expected")


def _torch(a, b, out, contract, report, engine, threads, progress):
    from . import _torch

    plain = [x if x is None else _torch.resolved(x) for x in (a, b, out)]
    if not _torch.needs_operator(*plain):
        if any(x is not y for x, y in zip(plain, (a, b, out))):
            return _vernier.matmul(*plain[:2], contract, plain[2], report, engine, threads, progress)
        raise ValueError(f"matmul: tensors of layout {a.layout} on {a.device}; strided ones on a CPU or a CUDA GPU are "
                         "expected: a.to_dense()")
    if out is not None or report or engine or threads or progress is not None:
        raise ValueError("matmul: out, report, engine, threads and progress are not for tensors with gradients, of a "
                         "compiled program or inside a mode of PyTorch; use torch.no_grad() or leave them out")
    from . import torch

    return torch.matmul(a, b, contract)


def _jax(a, b, out, contract, report, engine, threads, progress):
    if out is not None or report or engine or threads or progress is not None:
        raise ValueError("matmul: arrays of JAX are immutable and belong to compiled programs: out, report, engine, "
                         "threads and progress are for other libraries")
    from . import jax

    return jax.matmul(a, b, contract)


def _by_exchange(a, b, out, contract, report, engine, threads, progress):
    """Any other library, through NumPy's or CuPy's view of the same memory."""
    module = _exchange_module(a, b, out)
    view = [None if x is None else _view(module, x) for x in (a, b, out)]
    if any(type(x) is type(y) for x, y in zip(view, (a, b))):
        raise TypeError(f"matmul: a is a {_refuse.kind_of(a)} and b a {_refuse.kind_of(b)}; convert one to the other's "
                        "library")
    result, told = _vernier.matmul(view[0], view[1], contract, view[2], True, engine, threads, progress)
    if out is not None:
        result = out
    elif hasattr(a, "__array_namespace__"):
        space = a.__array_namespace__()
        result = space.asarray(module.asarray(result)) if module.__name__ == "numpy" else space.from_dlpack(result)
    return (result, told) if report else result


def _exchange_module(a, b, out):
    import numpy

    if all(_refuse.device_of(x) == "the CPU" for x in (a, b)):
        return numpy
    try:
        import cupy
    except ImportError:
        raise TypeError(f"matmul: a {_refuse.kind_of(a)} on a GPU is seen through CuPy, which is not installed") from None
    return cupy


def _view(module, x):
    if module.__name__ != "numpy":
        return module.asarray(x) if hasattr(x, "__cuda_array_interface__") else module.from_dlpack(x)
    if hasattr(x, "__dlpack__"):
        return module.from_dlpack(x)
    return module.asarray(x)
