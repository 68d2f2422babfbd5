"""Why an array is not taken, in one message: what, where, what was expected, what to do instead."""

import functools
import numbers
import sys

KINDS = ("float32", "float64", "complex64", "complex128")
MOST_DIMENSIONS = 16


def kind_of(x):
    return f"{type(x).__module__}.{type(x).__qualname__}"


def dtype_name(x):
    try:
        return _name_of(x.dtype)
    except TypeError:  # no dtype of an array library
        return str(x.dtype)


@functools.cache
def _name_of(dtype):
    """NumPy takes ten microseconds to spell one."""
    return str(dtype).rsplit(".", 1)[-1]


def out_dtype(out, a):
    raise TypeError(f"matmul: out has dtype {dtype_name(out)}; expected {dtype_name(a)}")


def contract(x):
    raise TypeError(f"matmul: contract is {x!r:.40}; a name is expected, such as 'fp64' or 'exact'")


def progress(x):
    raise TypeError(f"matmul: progress is a {kind_of(x)}; a function of the fraction that is done, or True, is expected")


def options(report, engine, threads):
    """Says which option of matmul has a type that it cannot have, if one has."""
    if not isinstance(report, bool):
        raise TypeError(f"matmul: report is {report!r:.40}; True or False is expected") from None
    if not isinstance(engine, str):
        raise TypeError(f"matmul: engine is {engine!r:.40}; a name is expected: '' chooses, vernier.info() lists them") from None
    if not isinstance(threads, int) or not -2**31 <= threads < 2**31:
        raise TypeError(f"matmul: threads is {threads!r:.40}; a number of threads is expected, or 0") from None


_OPTIONS = {"contract": (str, "a name"), "engine": (str, "a name"), "factors": (str, "a name"), "refinement": (str, "a name"),
            "tolerance": (numbers.Real, "a number"), "threads": (numbers.Integral, "a number of threads, or 0,")}


def options_of(routine, **given):
    """Says which option of another routine has a type that it cannot have, if one has."""
    for name, x in given.items():
        kind, wanted = _OPTIONS[name]
        if not isinstance(x, kind) and not (x is None and name == "contract"):
            raise TypeError(f"{routine}: {name} is {x!r:.40}; {wanted} is expected")


def prepared(a, b):
    """Says how a prepared factor multiplies, if one of the two is such."""
    for x, name in ((a, "a"), (b, "b")):
        if kind_of(x) == "vernier._linalg.Prepared":
            raise TypeError(f"matmul: {name} is a prepared factor: p @ b with a left one, a @ p with a right one") from None


def overlap(x, out, name):
    """The ranges of x and out meet: NumPy and CuPy can tell whether an element is in both."""
    from ._namespace import adapter

    shares = getattr(adapter(out), "shares_memory", None)
    if shares is None or shares(x, out):
        raise ValueError(f"matmul: out overlaps {name}; give an array of its own, with memory that a and b do not share")


def array(x, name, routine="matmul"):
    """Raises what is wrong with an array that describes itself, but not as a product can take it."""
    if type(x).__name__ == "MaskedArray":
        raise TypeError(f"{routine}: {name} is a masked array, whose mask a product would ignore; use {name}.filled(0)")
    if not hasattr(x, "dtype") or not hasattr(x, "shape"):
        raise TypeError(f"{routine}: {name} is a {kind_of(x)}; an array is expected: numpy.asarray({name})")
    if len(x.shape) > MOST_DIMENSIONS:
        raise ValueError(f"{routine}: {name} has {len(x.shape)} dimensions; at most {MOST_DIMENSIONS} are expected")
    if dtype_name(x) not in KINDS:
        cast = f"{name}.to(torch.float64)" if kind_of(x).startswith("torch") else f"{name}.astype('float64')"
        raise TypeError(f"{routine}: {name} has dtype {dtype_name(x)}; expected float32, float64, complex64 or complex128 "
                        f"of native byte order: {cast}")


def gradient(x, name, routine):
    """PyTorch would lose the gradient in silence."""
    torch = sys.modules.get("torch")
    if torch is not None and getattr(x, "requires_grad", False) is True and torch.is_grad_enabled():
        raise ValueError(f"{routine}: {name} wants a gradient, of which {routine} knows nothing; give {name}.detach()")


def dtypes(a, b, routine="matmul"):
    if dtype_name(a) != dtype_name(b):
        raise TypeError(f"{routine}: a is {dtype_name(a)} and b is {dtype_name(b)}; convert one, for instance by "
                        "a.astype(b.dtype)")


def pair(a, b, routine="matmul"):
    """Raises where two good arrays do not belong together."""
    from ._namespace import adapter

    if device_of(a) != device_of(b):
        raise ValueError(f"{routine}: a is on {device_of(a)} and b on {device_of(b)}; move one to the other's device")
    if adapter(a) is not adapter(b) or (adapter(a) is None and kind_of(a) != kind_of(b)):
        raise TypeError(f"{routine}: a is a {kind_of(a)} and b a {kind_of(b)}; convert one to the other's library")


def device_of(x):
    """A short name of the device of x."""
    if type(x).__module__.partition(".")[0] == "torch":
        return "the CPU" if x.device.type == "cpu" else str(x.device).replace("cuda:", "GPU ")
    if hasattr(x, "__dlpack_device__"):
        kind, number = x.__dlpack_device__()
        return "the CPU" if int(kind) in (1, 3) else f"GPU {int(number)}"
    if hasattr(x, "__cuda_array_interface__"):
        return "a GPU"
    return "the CPU"
