"""A kernel of one wave that issues a list of matrix instructions, each on registers read from one array of words.

Every thread finds its registers of A, B, C and the scales of one instruction in a row of ``words``; results go to the
same places of ``out``. So one kernel serves any instruction, whatever its layout, and one compilation a list of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr.tensors.element import element_class
from flydsl.target.dtype import register_type, width_bits
from flydsl.target.mma_facts import fragment_elem
from tests.support.mma_reference import Array
from tests.support.mma_registers import pack, unpack


@dataclass(frozen=True)
class Registers:
    """One operand of one instruction: its element class, values a thread, and the words of the row that hold them."""

    dtype: Any
    values: int
    first: int
    words: int


def operands_of(op: Any) -> list[tuple[str, int]]:
    """(element, values a thread) of A, B, C and of the scales, if there are."""
    elems = (op.elem_a, op.elem_b, op.elem_c)
    found = [(elem, tv[1].size()) for elem, tv in zip(elems, op.tv_layouts(), strict=True)]
    return found + [(op.state_types[field], 1) for field in op.state]


def plan(ops: Sequence[Any]) -> tuple[list[list[Registers]], int]:
    """Where each instruction's operands lie in a row, and how many words a row has."""
    at, plans = 0, []
    for op in ops:
        row = []
        for elem, values in operands_of(op):
            words = values * width_bits(fragment_elem(elem)) // 32
            row.append(Registers(element_class(register_type(fragment_elem(elem))), values, at, words))
            at += words
        plans.append(row)
    return plans, at


def _read(words: fx.Tensor, place: Registers) -> Any:
    """One operand of this thread, as a vector of its elements."""
    row = fx.make_rmem_tensor(place.words, fx.Int32)
    for index in range(place.words):
        row[index] = words[fx.thread_idx.x, place.first + index]
    return row.load().bitcast(place.dtype)


Issue = Callable[[Any, list[Any]], Any]
"""Issues an instruction on this thread's vectors of A, B, C and scales; gives the vector of accumulators."""


def by_atom(op: Any, given: list[Any]) -> Any:
    """Through ``mma_atom_call`` on register tensors."""
    tensors = []
    for vector in given[:3]:
        tensor = fx.make_rmem_tensor(vector.numel, vector.dtype)
        tensor.store(vector)
        tensors.append(tensor)
    state = {field: value[0] for field, value in zip(op.state, given[3:], strict=True)}
    rA, rB, rC = tensors
    fx.mma_atom_call(fx.make_mma_atom(op), rC, rA, rB, rC, **state)
    return rC.load()


def launcher(ops: Sequence[Any], issue: Issue = by_atom) -> Any:
    """A jit function that runs the instructions on (words, out)."""
    places, _ = plan(ops)
    threads = ops[0].thr_layout().size()

    @flyc.kernel
    def one_wave(words: fx.Tensor, out: fx.Tensor):
        for op, row in zip(ops, places, strict=True):
            result = issue(op, [_read(words, place) for place in row]).bitcast(fx.Int32)
            for index in range(row[2].words):
                out[fx.thread_idx.x, row[2].first + index] = result[index]

    @flyc.jit
    def run(words: fx.Tensor, out: fx.Tensor):
        one_wave(words, out).launch(grid=(1, 1, 1), block=(threads, 1, 1))

    return run


def write_words(ops: Sequence[Any], operands: Sequence[Sequence[Array]]) -> Array:
    """All operands as a row of words a thread."""
    places, width = plan(ops)
    words = np.zeros((ops[0].thr_layout().size(), width), np.int32)
    for op, row, given in zip(ops, places, operands, strict=True):
        for place, (elem, _), values in zip(row, operands_of(op), given, strict=True):
            words[:, place.first : place.first + place.words] = pack(values, elem)
    return words


def read_out(ops: Sequence[Any], out: Array) -> list[Array]:
    """Each thread's accumulators of each instruction."""
    places, _ = plan(ops)
    return [
        unpack(out[:, row[2].first : row[2].first + row[2].words], op.elem_c)
        for op, row in zip(ops, places, strict=True)
    ]


def run_wave(ops: Sequence[Any], operands: Sequence[Sequence[Array]], run: Any = None) -> list[Array]:
    """Each thread's accumulators after each instruction; operands are (threads, values) of A, B, C and scales."""
    words = write_words(ops, operands)
    out = np.full(words.shape, 0x7FC00BAD, np.int32)
    (run or launcher(ops))(words, out)
    return read_out(ops, out)
