"""vernier.matmul against exact products: rationals of Python's fractions, which round nowhere."""

import os
import signal
import subprocess
import sys
import threading
from fractions import Fraction

import numpy as np
import pytest

import vernier

KINDS = ["float32", "float64", "complex64", "complex128"]


def random(shape, kind, seed=1):
    generator = np.random.default_rng(seed)
    x = generator.standard_normal(shape)
    if kind.startswith("complex"):
        x = x + 1j * generator.standard_normal(shape)
    return x.astype(kind)


def exact_error(t, a, b):
    """The largest |t - ab| / (|a||b|) of real matrices, exactly."""
    worst = Fraction(0)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            terms = [Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a[i], b[:, j])]
            worst = max(worst, abs(Fraction(float(t[i, j])) - sum(terms)) / sum(map(abs, terms)))
    return worst


@pytest.mark.parametrize("kind, digits", [("float32", 24), ("float64", 53)])
@pytest.mark.parametrize("engine", ["", "portable"])
def test_every_entry_keeps_the_bound_of_its_contract(kind, digits, engine):
    a, b = random((9, 31), kind), random((31, 7), kind, 2)
    t = vernier.matmul(a, b, engine=engine)
    assert exact_error(t, a, b) <= Fraction(33, 2**digits)


def test_contract_exact_is_the_exact_sum_rounded_once():
    a, b = np.array([[1e16, 1.0, -1e16]]), np.ones((3, 1))
    assert vernier.matmul(a, b, "exact")[0, 0] == 1.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shapes", [((5,), (5,)), ((5,), (5, 3)), ((4, 5), (5,)), ((4, 5), (5, 3)), ((2, 1, 4, 5), (3, 5, 2)),
                                    ((2, 4, 5), (5,)), ((0, 5), (5, 3)), ((4, 0), (0, 3)), ((0, 4, 5), (5, 3))])
def test_shapes_and_values_are_those_of_numpy(kind, shapes):
    a, b = random(shapes[0], kind), random(shapes[1], kind, 2)
    t, expected = vernier.matmul(a, b), np.matmul(a, b)
    assert np.shape(t) == expected.shape and t.dtype == expected.dtype
    np.testing.assert_allclose(t, expected, rtol=0, atol=1e-4 if kind in ("float32", "complex64") else 1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_views_have_the_bits_of_their_copies(kind):
    base, b = random((24, 40), kind), random((12, 9), kind, 2)
    for view in (base[:12, :12], base[:12, 1:13].T, base[::2, 3:15], base[::-2, 4:28:2], base[:12:3, 39:27:-1]):
        assert np.array_equal(vernier.matmul(view, b, "exact" if kind in ("float32", "float64") else None, engine="portable"),
                              vernier.matmul(view.copy(), b, "exact" if kind in ("float32", "float64") else None,
                                             engine="portable"))


def test_out_is_filled_where_it_lies_whatever_its_strides():
    a, b = random((6, 8), "float64"), random((8, 5), "float64", 2)
    expected = vernier.matmul(a, b, "exact")
    frame = np.full((14, 12), 7.0)
    for out in (np.empty((6, 5)), np.empty((5, 6)).T, frame[1:7, 2:7], frame[::2, ::2][:6, :5]):
        assert vernier.matmul(a, b, "exact", out=out) is out
        assert np.array_equal(out, expected)


def test_batches_in_any_order_and_with_gaps():
    a, b = np.round(9 * random((3, 4, 5), "float64")), np.round(9 * random((3, 5, 6), "float64", 2))
    for x, y, out in ((a[::-1], b, None), (a, b[::-1], None), (a.transpose(1, 0, 2), b[0], None), (a, b, np.empty((3, 4, 6))[::-1]),
                      (a, b, np.empty((3, 8, 6))[:, ::2])):
        assert np.array_equal(vernier.matmul(x, y, out=out), np.matmul(x, y))


def test_entries_around_out_stay():
    frame = np.full((9, 9), 7.0)
    vernier.matmul(random((3, 4), "float64"), random((4, 5), "float64"), out=frame[2:5, 2:7])
    frame[2:5, 2:7] = 7.0
    assert (frame == 7.0).all()


def read_only():
    out = np.empty((4, 4))
    out.flags.writeable = False
    return out


SQUARE = np.eye(4)


@pytest.mark.parametrize("a, b, options, error, words", [
    (np.ones((3, 5)), SQUARE, {}, ValueError, "5 columns"),
    (np.ones((2, 4, 4)), np.ones((3, 4, 4)), {}, ValueError, "broadcast"),
    (SQUARE, SQUARE, {"contract": "fp65"}, ValueError, "fp65"),
    (SQUARE, SQUARE, {"engine": "abacus"}, ValueError, "abacus"),
    (SQUARE.astype(int), SQUARE, {}, TypeError, "int64"),
    (SQUARE.astype(object), SQUARE, {}, TypeError, "object"),
    (SQUARE.astype(">f8"), SQUARE, {}, TypeError, "byte order"),
    (SQUARE.astype("float32"), SQUARE, {}, TypeError, "astype"),
    (np.ma.masked_array(SQUARE), SQUARE, {}, TypeError, "masked"),
    ([[1.0]], SQUARE, {}, TypeError, "asarray"),
    (None, SQUARE, {}, TypeError, "NoneType"),
    (np.float64(2) * np.ones(()), SQUARE, {}, (ValueError, TypeError), "a is a"),
    (SQUARE, SQUARE, {"out": read_only()}, ValueError, "read-only"),
    (SQUARE, SQUARE, {"out": SQUARE}, ValueError, "overlaps a"),
    (SQUARE, SQUARE, {"out": np.empty((4, 5))}, ValueError, "expected"),
    (SQUARE, SQUARE, {"out": np.empty((4, 4), "float32")}, TypeError, "expected float64"),
])
def test_mistakes_are_refused_in_one_message(a, b, options, error, words):
    with pytest.raises(error, match=words):
        vernier.matmul(a, b, **options)


def test_a_batch_that_fails_leaves_out_as_it_was():
    a = np.ones((2, 64, 64))
    a[1] = np.ldexp(1.0, np.arange(-512, 512, 16))[None, :] * a[1]
    out = np.full((2, 64, 64), 7.0)
    with pytest.raises(vernier.BoundNotMet):
        vernier.matmul(a, a, "fp64+reproducible+no-fallback", out=out)
    assert (out == 7.0).all()


def test_report_and_record_tell_of_each_product():
    with vernier.record() as reports:
        t, own = vernier.matmul(SQUARE, SQUARE, "fp64+reproducible", report=True)
        vernier.matmul(np.ones((3, 4, 4)), SQUARE)
    vernier.matmul(SQUARE, SQUARE)
    assert own.scheme == "residues" and own.contract == "fp64+reproducible" and own.log2_bound <= -50
    assert len(reports) == 2 and "residues" in repr(own)


@pytest.mark.parametrize("contract", ["fp64", "fp64+reproducible"])
def test_many_matrices_with_one_keep_the_bound_of_each(contract):
    a, b = random((3, 5, 9), "float64"), random((9, 4), "float64", 2)
    t = vernier.matmul(a, b, contract)
    assert all(exact_error(t[i], a[i], b) <= Fraction(10, 2**53) for i in range(3))


def test_under_reproducible_contracts_each_matrix_of_a_batch_has_the_bits_it_has_alone():
    a, b = random((3, 5, 9), "float64"), random((2, 1, 9, 4), "float64", 2)
    t = vernier.matmul(a, b, "fp64+reproducible")
    for i in range(2):
        for j in range(3):
            assert np.array_equal(t[i, j], vernier.matmul(a[j], b[i, 0], "fp64+reproducible"))


def test_progress_rises_to_one_and_its_errors_do_not_stop_the_product(monkeypatch):
    a, seen, errors = random((300, 300), "float64"), [], []
    monkeypatch.setattr(sys, "unraisablehook", errors.append)
    expected = vernier.matmul(a, a, "fp64+reproducible", progress=seen.append)
    assert seen == sorted(seen) and seen[-1] == 1
    assert np.array_equal(vernier.matmul(a, a, "fp64+reproducible", progress=lambda fraction: 1 / 0), expected)
    assert errors and all(e.exc_type is ZeroDivisionError for e in errors)


def test_threads_multiply_side_by_side_and_record_their_own():
    a = random((64, 64), "float64")
    expected, lengths = vernier.matmul(a, a, "exact"), []

    def work():
        with vernier.record() as reports:
            assert all(np.array_equal(vernier.matmul(a, a, "exact"), expected) for _ in range(5))
        lengths.append(len(reports))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lengths == [5, 5, 5, 5]


def test_a_child_of_fork_multiplies():
    a = random((100, 100), "float64")
    expected = vernier.matmul(a, a, "fp64+reproducible")
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if np.array_equal(vernier.matmul(a, a, "fp64+reproducible"), expected) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_subinterpreter_refuses_or_imports_and_leaves_the_main_one_alone():
    program = """
import sys
import numpy, vernier
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters

def outcome(module):
    try:
        return str(interpreters.run_string(interpreters.create(), f"import {module}") or "")
    except Exception as error:  # that of the subinterpreter
        return str(error)

before, outcomes = vernier.matmul(numpy.eye(3), numpy.ones((3, 3))), [outcome("numpy"), outcome("vernier")]
assert all(not o or "ImportError" in o for o in outcomes), outcomes
assert sys.version_info < (3, 12) or all(outcomes), outcomes  # NumPy is refused, and so is this
assert (vernier.matmul(numpy.eye(3), numpy.ones((3, 3))) == before).all()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_import_brings_no_array_library():
    program = "import sys, vernier; sys.exit(any(n in sys.modules for n in ('numpy', 'torch', 'jax', 'cupy')))"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
