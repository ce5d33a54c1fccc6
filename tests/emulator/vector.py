"""Instructions of the vector unit: arithmetic by its table, comparisons, choices, and carries."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tests.emulator import division, narrow, packed
from tests.emulator.arithmetic import OTHER_NAMES, ROWS, fused, fused_half
from tests.emulator.disassembly import Instruction
from tests.emulator.lanes import INSTRUCTIONS, lane_mask, with_mask
from tests.emulator.operands import KINDS, reader, register, scalar_writer, writer
from tests.emulator.scalar import RELATIONS
from tests.emulator.sources import CLAMPED, moved_source, result, source
from tests.emulator.wave import EXEC, Wave

Run = Callable[[Wave], Any]

# Instructions of arithmetic --------------------------------------------------------------------


def _arithmetic(one: Instruction, row: tuple[str, str, Any], generation: float, lanes: int) -> Run:
    made, kinds, plain = row
    act: Callable[..., Any] = plain
    if "clamp" in one.modifiers and one.name in CLAMPED:
        act = CLAMPED[one.name]
    keep = result(one, made, generation)
    takes = [source(one, place, kind) for place, kind in enumerate(kinds)]
    if "dpp" not in one.form:
        if len(takes) == 1:
            (only,) = takes
            return lambda w: keep(w, _as(act(only(w)), made))
        if len(takes) == 2:
            first, second = takes
            return lambda w: keep(w, _as(act(first(w), second(w)), made))
        return lambda w: keep(w, _as(act(*(take(w) for take in takes)), made))
    moved = moved_source(one, kinds[0], lanes)

    def run(w: Wave) -> None:
        value, written = moved(w)
        with_mask(w, written, lambda: keep(w, _as(act(value, *(take(w) for take in takes[1:])), made)))

    return run


def _as(value: Any, kind: str) -> Any:
    wanted = KINDS[kind]
    if value.dtype == wanted:
        return value
    same_bits = value.itemsize == np.dtype(wanted).itemsize and kind not in "fhd"
    return value.view(wanted) if same_bits else value.astype(wanted)


_ACCUMULATING = {"v_fmac_f32": ("f", "fff", fused), "v_fmac_f16": ("h", "hhh", fused_half),
                 "v_fmac_f64": ("d", "ddd", ROWS["v_fma_f64"][2])}  # fmt: skip


def _accumulating(one: Instruction, generation: float, lanes: int) -> Run | None:
    """a * b + the result's register, or with a constant among the three."""
    name, operands = one.name, one.operands
    if name in _ACCUMULATING:
        return _arithmetic(replace(one, operands=(*operands, operands[0])), _ACCUMULATING[name], generation, lanes)
    if name.startswith(("v_fmaak_", "v_fmamk_")):
        return _arithmetic(one, ROWS["v_fma_f32" if name.endswith("32") else "v_fma_f16"], generation, lanes)
    return None


# Comparisons and masks -------------------------------------------------------------------------

_LETTERS = {"f32": "f", "f16": "h", "f64": "d", "i32": "i", "u32": "u", "i16": "s", "u16": "w", "i64": "l", "u64": "q"}


def _relation(name: str) -> Callable[[Any, Any], Any]:
    if name == "o":
        return lambda a, b: ~(np.isnan(a) | np.isnan(b))
    if name == "u":
        return lambda a, b: np.isnan(a) | np.isnan(b)
    if name == "neq":
        return lambda a, b: ~(a == b)
    if name == "lg":
        return lambda a, b: (a < b) | (a > b)
    if name.startswith("n") and name != "ne":
        inner = _relation(name[1:])
        return lambda a, b: ~inner(a, b)
    return RELATIONS[name]


def _classified(a: Any, wanted: Any) -> Any:
    """Whether a number is of one of the classes whose bits are asked for."""
    small = (np.abs(a) < np.float32(2.0**-126)) & (a != 0)
    below = np.signbit(a)
    large, zero = np.isfinite(a) & (a != 0) & ~small, a == 0
    classes = [
        np.zeros(a.shape, bool), np.isnan(a), np.isneginf(a), below & large, below & small,
        below & zero, ~below & zero, ~below & small, ~below & large, np.isposinf(a),
    ]  # fmt: skip
    found = np.zeros(a.shape, bool)
    for bit, of_class in enumerate(classes):
        found |= of_class & (wanted >> np.uint32(bit) & np.uint32(1)).astype(bool)
    return found


def _compares(one: Instruction, generation: float, lanes: int) -> Run | None:
    found = re.fullmatch(r"v_cmp(x?)_(\w+?)_([fiu]\d\d)", one.name)
    if found is None:
        return None
    changes, relation, kind = bool(found[1]), found[2], _LETTERS[found[3]]
    words = lanes // 32
    if changes and generation > 9:
        one = replace(one, operands=("exec", *one.operands))
    if relation == "class":
        kinds, act = kind + "u", _classified
    else:
        kinds, act = kind * 2, _relation(relation)
    takes = [source(one, place, letter) for place, letter in enumerate(kinds)]
    keep = scalar_writer(one.operands[0], words)

    def run(w: Wave) -> None:
        if "dpp" in one.form:
            raise NotImplementedError(one.text)
        mask = lane_mask(w, act(takes[0](w), takes[1](w)))
        keep(w, mask)
        if changes:
            w.set_scalar(EXEC, mask, words)

    return run


def _chooses(one: Instruction, generation: float, lanes: int) -> Run:
    kind = "w" if one.name.endswith("16") else "u"
    text = one.operands[3] if len(one.operands) > 3 else "vcc"
    mask = register(text)
    assert mask is not None
    floats = "f" if any("|" in operand or operand.startswith("-v") for operand in one.operands) else kind
    keep, takes = result(one, floats, generation), [source(one, place, floats) for place in range(2)]
    moved = moved_source(one, floats, lanes) if "dpp" in one.form else None

    def run(w: Wave) -> None:
        first, written = moved(w) if moved else (takes[0](w), None)
        value = np.where(w.mask_of(mask.number), takes[1](w), first)
        if written is None:
            keep(w, value)
        else:
            with_mask(w, written, lambda: keep(w, value))

    return run


def _carries(one: Instruction, generation: float, lanes: int) -> Run:
    """Sums and differences of 32 bits with a bit that is carried out, and perhaps one in."""
    less, turned = "sub" in one.name, "rev" in one.name
    keep, words = result(one, "u", generation), lanes // 32
    out = scalar_writer(one.operands[1], words)
    takes = [reader(text, "u") for text in one.operands[2:4]]
    carried = register(one.operands[4]) if len(one.operands) > 4 else None

    def run(w: Wave) -> None:
        first, second = (take(w).astype(np.int64) for take in (takes[::-1] if turned else takes))
        bit = w.mask_of(carried.number).astype(np.int64) if carried else 0
        value = first - second - bit if less else first + second + bit
        out(w, lane_mask(w, (value < 0) | (value >> 32 > 0)))
        keep(w, (value & 0xFFFFFFFF).astype(np.uint32))

    return run


def _long_product(one: Instruction, generation: float, lanes: int) -> Run:
    """A product of 32 bits beside a sum of 64, with the bit that is carried out."""
    kind, wide = ("u", "q") if "u64" in one.name else ("i", "l")
    keep, out = writer(one.operands[0], wide), scalar_writer(one.operands[1], lanes // 32)
    first, second, third = reader(one.operands[2], kind), reader(one.operands[3], kind), reader(one.operands[4], wide)

    def run(w: Wave) -> None:
        product = first(w).astype(KINDS[wide]) * second(w).astype(KINDS[wide])
        value = product + third(w)
        out(w, lane_mask(w, value.view(np.uint64) < product.view(np.uint64)))
        keep(w, value)

    return run


def _bitwise(one: Instruction, generation: float, lanes: int) -> Run:
    """Any function of three bits, by its table."""
    kind = "w" if one.name.endswith("16") else "u"
    takes, table = [source(one, place, kind) for place in range(len(one.operands) - 1)], one.number("bitop3")
    keep = result(one, kind, generation)

    def run(w: Wave) -> None:
        given = [take(w) for take in takes]
        given += [np.zeros_like(given[0])] * (3 - len(given))
        made = np.zeros_like(given[0])
        for row in range(8):
            if table >> row & 1:  # the first source is the highest bit of a row's number
                hits = [bits if row >> 2 - at & 1 else ~bits for at, bits in enumerate(given)]
                made = made | np.bitwise_and.reduce(hits)
        keep(w, made)

    return run


_SPECIAL: dict[str, Callable[[Instruction, float, int], Run]] = {
    **division.INSTRUCTIONS, **packed.INSTRUCTIONS, **narrow.INSTRUCTIONS,
    "v_cndmask_b32": _chooses, "v_cndmask_b16": _chooses,
    "v_mad_u64_u32": _long_product, "v_mad_i64_i32": _long_product,
    **dict.fromkeys((f"v_{kind}_co_u32" for kind in ("add", "addc", "sub", "subb", "subrev", "subbrev")), _carries),
    **dict.fromkeys(("v_bitop3_b32", "v_bitop3_b16", "v_bitop2_b32"), _bitwise),
}  # fmt: skip


def vector_instruction(one: Instruction, generation: float, lanes: int) -> Run | None:
    """What an instruction of the vector unit does; None where it is none that is known."""
    name = one.name.replace("v_dual_", "v_")
    name = OTHER_NAMES.get(name, name)
    one = replace(one, name=name)
    if name in INSTRUCTIONS:
        return INSTRUCTIONS[name](one)
    if name in _SPECIAL:
        return _SPECIAL[name](one, generation, lanes)
    if name in ROWS:
        return _arithmetic(one, ROWS[name], generation, lanes)
    return _accumulating(one, generation, lanes) or _compares(one, generation, lanes)
