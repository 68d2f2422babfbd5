"""einsum and tensordot: sums of products as matrix products under a contract."""

from __future__ import annotations

import math
from typing import Any, Sequence

from . import _refuse
from ._namespace import adapter
from ._products import matmul


def einsum(subscripts: str, *operands: Any, contract: str | None = None, optimize: Any = "auto") -> Any:
    """numpy.einsum under a contract: each pair of operands is one (batched) matmul, in the order that opt_einsum finds.

    subscripts  "ij,jk->ik", with or without "->" and "..."
    operands    arrays of one library, device and dtype
    contract    of each matmul, as in matmul(). The bound of the whole is that of the products in turn.
    optimize    of opt_einsum.contract_path: "auto", "greedy", "optimal", or a path

    Sums over an index of one operand alone are products with a vector of ones, under the same contract.
    """
    import opt_einsum

    space = _space("einsum", operands)
    if not isinstance(subscripts, str) or not all(c.isalpha() or c in ".,-> " for c in subscripts):
        raise ValueError(f"einsum: subscripts are {subscripts!r:.60}; letters are expected, as in 'ij,jk->ik'")
    if "," in subscripts.partition("->")[2]:
        raise ValueError(f"einsum: subscripts are {subscripts!r:.60}; one array is expected behind ->")
    inputs, output, _ = opt_einsum.parser.parse_einsum_input((subscripts, *operands))
    terms = _without_repeated(subscripts, operands, inputs.split(","))
    shapes, inputs = [tuple(x.shape) for x, _ in terms], [indices for _, indices in terms]
    _check_sizes(inputs, shapes)
    path, _ = opt_einsum.contract_path(f"{','.join(inputs)}->{output}", *shapes, shapes=True, optimize=optimize)
    for step in path:
        chosen = [terms.pop(i) for i in sorted(step, reverse=True)][::-1]
        term = chosen[0]
        for position, other in enumerate(chosen[1:], 2):
            kept = set(output).union(*(t[1] for t in terms), *(t[1] for t in chosen[position:]))
            term = _pair(space, term, other, kept, contract)
        terms.append(term)
    x, indices = _reduced(space, *terms[0], set(output), contract)
    return space.permute(x, tuple(indices.index(i) for i in output)) if indices != output else x


def tensordot(a: Any, b: Any, axes: int | Sequence[Sequence[int]] = 2, contract: str | None = None) -> Any:
    """numpy.tensordot under a contract: the sum of products over `axes` of a and b, as one matmul.

    axes  a number n: the last n axes of a with the first n of b; or a pair of sequences of axes
    """
    space = _space("tensordot", (a, b))
    of_a, of_b = _axes(a, b, axes)
    if [a.shape[i] for i in of_a] != [b.shape[i] for i in of_b]:
        raise ValueError(f"tensordot: axes {of_a} of a of shape {tuple(a.shape)} and {of_b} of b of shape {tuple(b.shape)} "
                         "differ in size")
    free_a, free_b = [i for i in range(a.ndim) if i not in of_a], [i for i in range(b.ndim) if i not in of_b]
    inner = math.prod(a.shape[i] for i in of_a)
    rows, columns = [a.shape[i] for i in free_a], [b.shape[i] for i in free_b]
    left = space.permute(a, (*free_a, *of_a)).reshape((math.prod(rows), inner))
    right = space.permute(b, (*of_b, *free_b)).reshape((inner, math.prod(columns)))
    return matmul(left, right, contract).reshape((*rows, *columns))


def _axes(a, b, axes):
    """Two lists of axes counted from 0, as many of a as of b and none twice."""
    if isinstance(axes, int):
        if not 0 <= axes <= min(a.ndim, b.ndim):
            raise ValueError(f"tensordot: axes is {axes}; a and b have {a.ndim} and {b.ndim} dimensions")
        return list(range(a.ndim - axes, a.ndim)), list(range(axes))
    of_a, of_b = ([side] if isinstance(side, int) else list(side) for side in axes)
    for own, x, name in ((of_a, a, "a"), (of_b, b, "b")):
        if len(of_a) != len(of_b) or any(not -x.ndim <= i < x.ndim for i in own) or len({i % x.ndim for i in own}) < len(own):
            raise ValueError(f"tensordot: axes {of_a} and {of_b}; as many of a as of b are expected, none twice, and of {name} "
                             f"from {-x.ndim} to {x.ndim - 1}")
    return [i % a.ndim for i in of_a], [i % b.ndim for i in of_b]


def _space(routine, operands):
    if not operands:
        raise TypeError(f"{routine}: no operands; arrays are expected behind the subscripts")
    for number, x in enumerate(operands):
        _refuse.array(x, f"operand {number}", routine)
        _refuse.dtypes(operands[0], x, routine)
    space = adapter(operands[0])
    if space is None or any(adapter(x) is not space for x in operands):
        raise TypeError(f"{routine}: operands are {', '.join(map(_refuse.kind_of, operands))}; arrays of one of NumPy, "
                        "CuPy, PyTorch and JAX are expected")
    return space


def _without_repeated(subscripts, operands, inputs):
    """Operands and their indices, without axes of length 1 behind "..." along which another operand is longer."""
    longer = {i for x, indices in zip(operands, inputs) for i, s in zip(indices, x.shape) if i not in subscripts and s != 1}
    terms = []
    for x, indices in zip(operands, inputs):
        kept = [k for k, i in enumerate(indices) if x.shape[k] != 1 or i not in longer]
        if len(kept) < len(indices):
            x, indices = x.reshape(tuple(x.shape[k] for k in kept)), "".join(indices[k] for k in kept)
        terms.append((x, indices))
    return terms


def _check_sizes(inputs, shapes):
    sizes = {}
    for indices, shape in zip(inputs, shapes):
        for index, size in zip(indices, shape):
            if sizes.setdefault(index, size) != size:
                raise ValueError(f"einsum: index {index!r} has sizes {sizes[index]} and {size}; they must be equal")


def _reduced(space, x, indices, kept, contract):
    """x with each index once, and without those that nobody else has."""
    unique = "".join(dict.fromkeys(indices))
    if unique != indices:
        x = space.diagonals(x, indices, unique)
    gone = [i for i in unique if i not in kept]
    if not gone:
        return x, unique
    left = [i for i in unique if i in kept]
    sizes = dict(zip(unique, x.shape))
    rows = [sizes[i] for i in left]
    matrix = space.permute(x, tuple(unique.index(i) for i in (*left, *gone))).reshape(
        (math.prod(rows), math.prod(sizes[i] for i in gone)))
    total = matmul(matrix, space.ones(matrix.shape[1], x), contract)
    return total.reshape(tuple(rows)), "".join(left)


def _pair(space, first, second, kept, contract):
    x, of_x = _reduced(space, *first, kept | set(second[1]), contract)
    y, of_y = _reduced(space, *second, kept | set(of_x), contract)
    sizes = {**dict(zip(of_x, x.shape)), **dict(zip(of_y, y.shape))}
    both = [i for i in of_x if i in of_y]
    batch, inner = [i for i in both if i in kept], [i for i in both if i not in kept]
    left, right = [i for i in of_x if i not in both], [i for i in of_y if i not in both]

    def size(indices):
        return tuple(sizes[i] for i in indices)

    def matrices(array, own, rows, columns):
        order = tuple(own.index(i) for i in (*batch, *rows, *columns))
        return space.permute(array, order).reshape((*size(batch), math.prod(size(rows)), math.prod(size(columns))))

    product = matmul(matrices(x, of_x, left, inner), matrices(y, of_y, inner, right), contract)
    return product.reshape((*size(batch), *size(left), *size(right))), "".join((*batch, *left, *right))
