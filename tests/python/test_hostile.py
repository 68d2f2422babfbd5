"""Arrays and options that a person should not give: a right result, or one message that says what to do."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import vernier

SQUARE = np.arange(16.0).reshape(4, 4)


def placed(memory, shape, strides):
    return as_strided(memory, shape, strides)


@pytest.mark.parametrize("a", [
    placed(np.ones(1), (4, 4), (0, 0)), placed(np.arange(4.0), (4, 4), (0, 8)), placed(np.arange(7.0), (4, 4), (8, 8)),
    placed(np.arange(8.0), (1, 4), (2**62, 8)), np.arange(32.0)[::-2].reshape(4, 4), SQUARE[::-1, ::-1],
    np.frombuffer(b"\0" + SQUARE.tobytes(), np.uint8)[1:].view(np.float64).reshape(4, 4),
    np.zeros((4, 4), [("a", "f8"), ("b", "i1")])["a"],
])
def test_operands_in_any_memory_are_read_right(a):
    assert np.array_equal(vernier.matmul(a, SQUARE), np.matmul(np.array(a), SQUARE))


@pytest.mark.parametrize("memory, strides", [(np.zeros(1), (0, 0)), (np.zeros(4), (0, 8)), (np.zeros(4), (8, 0)),
                                             (np.zeros(7), (8, 8)), (np.zeros(10), (16, 8)), (np.zeros(22), (-8, 8))])
def test_an_out_whose_elements_share_memory_is_refused_and_stays(memory, strides):
    out = placed(memory[memory.size // 2 if strides[0] < 0 else 0:], (4, 4), strides)
    with pytest.raises(ValueError, match="share memory"):
        vernier.matmul(SQUARE, SQUARE, out=out)
    assert not memory.any()


@pytest.mark.parametrize("out", [
    np.zeros((4, 4))[::-1, ::-1], np.zeros((8, 12))[::2, ::-3], np.zeros((4, 4), [("b", "i1"), ("a", "f8")])["a"],
    np.frombuffer(bytearray(129), np.uint8)[1:].view(np.float64).reshape(4, 4), placed(np.zeros(40), (4, 4), (8, 80)),
])
def test_an_out_in_any_other_memory_is_filled(out):
    assert vernier.matmul(SQUARE, SQUARE, out=out) is out
    assert np.array_equal(out, SQUARE @ SQUARE)


def test_neighbours_may_be_read_and_written_at_once():
    frame = np.arange(32.0).reshape(4, 8)
    expected = frame[:, ::2] @ SQUARE
    vernier.matmul(frame[:, ::2], SQUARE, out=frame[:, 1::2])
    assert np.array_equal(frame[:, 1::2], expected)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3, 4), (2, 0, 4), (0, 1, 4, 4)])
def test_arrays_without_elements_give_zeros_or_nothing(shape):
    a, b = np.ones(shape), np.ones((shape[-1], 3))
    assert np.array_equal(vernier.matmul(a, b), np.matmul(a, b))
    assert np.array_equal(vernier.matmul(np.ones((3, 0)), np.ones((0, 2))), np.zeros((3, 2)))


@pytest.mark.parametrize("shape", [(0,), (0, 1), (0, 2)])
def test_systems_without_unknowns_are_solved(shape):
    for b in (np.zeros(shape), np.zeros(shape, order="F")):
        assert vernier.solve(np.zeros((0, 0)), b).shape == shape
        assert vernier.lu_solve(vernier.lu_factor(np.zeros((0, 0))), b).shape == shape
    assert vernier.solve(np.eye(3), np.zeros((3, 0))).shape == (3, 0)


def test_einsum_without_operands_says_what_it_needs():
    with pytest.raises(TypeError, match="no operands"):
        vernier.einsum("")


@pytest.mark.parametrize("a, b", [(placed(np.ones(1), (2**45, 1), (0, 0)), np.ones((1, 1))),
                                  (placed(np.ones(1), (1, 2**50), (0, 0)), placed(np.ones(1), (2**50, 1), (0, 0))),
                                  (np.broadcast_to(SQUARE, (2**40, 4, 4)), SQUARE),
                                  (placed(np.ones(1), (2**31, 1), (0, 0)), placed(np.ones(1), (1, 2**31), (0, 0)))])
def test_what_no_memory_holds_is_an_error(a, b):
    with pytest.raises((MemoryError, ValueError)):
        vernier.matmul(a, b)


class Lies(np.ndarray):
    __array_struct__ = 5


class OnGpu:
    dtype, shape, ndim = np.dtype("float64"), (4, 4), 2

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **unused):
        raise AssertionError("nobody should ask")


def test_arrays_on_two_devices_are_refused_before_anything_is_asked_of_them():
    for a, b in ((SQUARE, OnGpu()), (OnGpu(), SQUARE)):
        with pytest.raises(ValueError, match="the CPU.*GPU 0|GPU 0.*the CPU"):
            vernier.matmul(a, b)
    with pytest.raises((ValueError, TypeError), match="GPU 0|OnGpu"):
        vernier.matmul(SQUARE, SQUARE, out=OnGpu())


@pytest.mark.parametrize("a, error, words", [
    (np.ones((1,) * 15 + (4, 4)), ValueError, "17 dimensions; at most 16"), (np.array(2.0), ValueError, "scalar"),
    (SQUARE.astype(np.longdouble), TypeError, "float128|longdouble"), (SQUARE.astype(np.float16), TypeError, "float16"),
    (SQUARE.astype(bool), TypeError, "bool"), (SQUARE.astype(str), TypeError, "U"), (2.0, TypeError, "asarray"),
    (np.zeros((4, 4), "M8[s]"), TypeError, "datetime64"), (SQUARE.view(Lies), (ValueError, TypeError), "PyCapsule"),
])
def test_arrays_of_another_kind_are_refused_by_name(a, error, words):
    with pytest.raises(error, match=words):
        vernier.matmul(a, SQUARE)


@pytest.mark.parametrize("options, words", [
    ({"contract": 5}, "contract is 5"), ({"contract": b"fp64"}, "contract is b'fp64'"), ({"contract": "fp64\0"}, "contract is"),
    ({"contract": "fp64\ud800"}, "contract is"), ({"engine": None}, "engine is None"), ({"engine": 3}, "engine is 3"),
    ({"threads": 1.5}, "threads is 1.5"), ({"threads": 2**40}, "threads is"), ({"report": "yes"}, "report is 'yes'"),
    ({"progress": 5}, "progress is a builtins.int"), ({"out": (np.empty((4, 4)),)}, "out is a builtins.tuple"),
])
def test_options_of_another_kind_are_refused_by_name(options, words):
    with pytest.raises(TypeError, match=words):
        vernier.matmul(SQUARE, SQUARE, **options)


@pytest.mark.parametrize("call", [
    lambda: vernier.tensordot(SQUARE, SQUARE, 5), lambda: vernier.tensordot(SQUARE, SQUARE, -1),
    lambda: vernier.tensordot(SQUARE, SQUARE, ([7], [1])), lambda: vernier.tensordot(SQUARE, SQUARE, ([0, 0], [1, 1])),
    lambda: vernier.tensordot(SQUARE, SQUARE, ([0, 1], [1])), lambda: vernier.einsum("i$,jk", SQUARE, SQUARE),
    lambda: vernier.einsum("ij,jk->z", SQUARE, SQUARE), lambda: vernier.solve(np.zeros((3, 3)), np.ones(3)),
    lambda: vernier.solve(np.full((3, 3), np.nan), np.ones(3)), lambda: vernier.solve(np.ones((2, 3, 3)), np.ones(3)),
    lambda: vernier.cholesky(-np.eye(3)), lambda: vernier.prepare(np.array(1.0)), lambda: vernier.prepare(SQUARE, "up"),
    lambda: vernier.backward_errors(SQUARE, np.ones(3), np.ones(4)), lambda: vernier.explain(2**62, 2**62, 2**62),
    lambda: vernier.explain(-1, 2, 3), lambda: vernier.explain(2, 2**70, 3), lambda: vernier.einsum("ij,jk->ik,", SQUARE, SQUARE),
    lambda: vernier.dot_exact(np.ones(3), np.ones(4)), lambda: vernier.models.probe("abacus"),
])
def test_other_functions_say_what_is_wrong(call):
    with pytest.raises(ValueError, match=".{20}"):
        call()


@pytest.mark.parametrize("call, words", [
    (lambda: vernier.solve(SQUARE, SQUARE, tolerance="1"), "tolerance is '1'"), (lambda: vernier.solve(SQUARE, SQUARE, 5), "contract is 5"),
    (lambda: vernier.solve(SQUARE, SQUARE, factors=None), "factors is None"), (lambda: vernier.lu_factor(SQUARE, 3), "contract is 3"),
    (lambda: vernier.cholesky(SQUARE, b"fp64"), "contract is b'fp64'"), (lambda: vernier.prepare(SQUARE, threads="2"), "threads is '2'"),
    (lambda: vernier.explain(2.5, 2, 3), "m is 2.5"), (lambda: vernier.explain(2, 2, "3"), "k is '3'"),
    (lambda: vernier.prepare(SQUARE) @ vernier.prepare(SQUARE), "prepared too"),
    (lambda: vernier.prepare(SQUARE).matmul(SQUARE, out=[1]), "out is a builtins.list"),
    (lambda: vernier.matmul(vernier.prepare(SQUARE), SQUARE), "a is a prepared factor"),
    (lambda: vernier.matmul(SQUARE, vernier.prepare(SQUARE, "right")), "b is a prepared factor"),
])
def test_other_functions_refuse_another_kind_by_name(call, words):
    with pytest.raises(TypeError, match=words):
        call()
