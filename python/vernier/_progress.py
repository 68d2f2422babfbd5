"""A bar of tqdm for a function that tells fractions."""

import contextlib


@contextlib.contextmanager
def bar(title):
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ValueError("progress=True needs tqdm: pip install vernier[progress], or give a function") from None
    with tqdm(total=100, desc=title, unit="%") as shown:
        yield lambda fraction: shown.update(round(100 * fraction) - shown.n)
