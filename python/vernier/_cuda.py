"""Finds cuBLAS where pip or conda has put it, before libvernier asks the loader for it."""

import contextlib
import functools


@functools.cache
def load():
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib
    except ImportError:
        return  # the loader's own search: the program's cuBLAS if it is loaded already, else the system's
    for name in ("cublasLt", "cublas"):
        with contextlib.suppress(Exception):  # libvernier says what is missing, where it needs it
            load_nvidia_dynamic_lib(name)
