"""One function for arrays of any library and device; what does not belong together is refused in one message."""
import importlib.util

import numpy as np

import vernier

a = np.random.default_rng(1).standard_normal((100, 100))
expected = vernier.matmul(a, a, "exact")
print("numpy:", type(expected).__name__)

arrays = {"numpy": a}
if importlib.util.find_spec("jax"):
    import jax

    jax.config.update("jax_enable_x64", True)
    arrays["jax"] = jax.numpy.asarray(a)
if importlib.util.find_spec("torch"):
    import torch

    arrays["torch"] = torch.from_numpy(a)
    if torch.cuda.is_available():
        arrays["torch on a GPU"] = arrays["torch"].cuda()
if importlib.util.find_spec("cupy"):
    import cupy

    arrays["cupy"] = cupy.asarray(a)

for name, x in arrays.items():
    t = vernier.matmul(x, x, "exact")
    on_cpu = t.get() if name == "cupy" else np.asarray(t.cpu() if "torch" in name else t)
    print(f"{name}: {type(t).__name__}, the same bits: {np.array_equal(on_cpu, expected)}")
    assert type(t) is type(x) and np.array_equal(on_cpu, expected)

for name, x in list(arrays.items())[1:]:
    try:
        vernier.matmul(a, x)
    except (TypeError, ValueError) as error:
        print("refused:", error)
