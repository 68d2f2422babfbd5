"""Threads that multiply side by side; without a GIL, importing vernier leaves it off."""

import subprocess
import sys
import sysconfig
import threading
import time

import numpy as np
import pytest

import vernier

THREADS = 8


def in_threads(work):
    """work(i) of each thread, all begun at once; the first exception is raised here."""
    results, errors = [None] * THREADS, []
    barrier = threading.Barrier(THREADS)

    def run(i):
        try:
            barrier.wait()
            results[i] = work(i)
        except BaseException as error:  # told below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a GIL")
def test_the_gil_stays_off():
    assert not sys._is_gil_enabled()


def test_products_of_threads_have_the_bits_of_one():
    random = np.random.default_rng(1)
    a, b = random.random((THREADS, 40, 30)), random.random((30, 50))
    expected = [vernier.matmul(x, b, "fp64+reproducible") for x in a]

    def work(i):
        out = np.empty((40, 50))
        return all(np.array_equal(vernier.matmul(a[i], b, "fp64+reproducible", out=out), expected[i]) for _ in range(20))

    assert all(in_threads(work))


def test_one_prepared_factor_serves_all_threads():
    random = np.random.default_rng(2)
    a, b = random.random((30, 40)), random.random((THREADS, 40, 20))
    prepared = vernier.prepare(a, "left")
    expected = [prepared @ x for x in b]
    assert all(in_threads(lambda i: all(np.array_equal(prepared @ b[i], expected[i]) for _ in range(20))))


def test_errors_are_those_of_the_thread_that_erred():
    a = np.ones((4, 4))

    def work(i):
        for _ in range(20):
            with pytest.raises(ValueError, match=f"fp{i}x"):
                vernier.matmul(a, a, f"fp{i}x")
        return True

    assert all(in_threads(work))


def test_systems_and_models_of_threads_do_not_meet():
    random = np.random.default_rng(3)
    a, x = random.random((THREADS, 30, 30)) + 30 * np.eye(30), random.random((30,))

    def work(i):
        answer = vernier.solve(a[i], a[i] @ x)
        return np.max(np.abs(answer - x)) < 1e-13 and bool(vernier.models.engines())

    assert all(in_threads(work))


# The interpreter ends such threads where they ask for its lock: after a product, and for its progress.
@pytest.mark.parametrize("call", [
    "vernier.matmul(x, x, 'exact')", "vernier.matmul(x, x, 'exact', progress=abs)", "vernier.solve(x, x)",
    "vernier.prepare(x) @ x", "vernier.beyond.matmul(x, x)",
])
def test_a_program_ends_while_its_daemons_multiply(call):
    program = ["import threading, time, numpy, vernier", "x = numpy.random.default_rng(3).random((150, 150))",
               "def work():", f"    while True: {call}",
               "for _ in range(4): threading.Thread(target=work, daemon=True).start()", "time.sleep(0.2)"]
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", "\n".join(program)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr[-2000:]


def test_an_interrupt_within_progress_comes_behind_the_product():
    x = np.random.default_rng(4).random((700, 700))
    calls, out = [], np.zeros((700, 700))

    def interrupted(fraction):
        calls.append(fraction)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vernier.matmul(x, x, "exact", progress=interrupted, out=out)
        time.sleep(1)
    assert len(calls) == 1
    assert np.array_equal(out, vernier.matmul(x, x, "exact"))
