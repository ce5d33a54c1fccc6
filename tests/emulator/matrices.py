"""Matrix instructions: where lanes hold the elements of operands and results, and the products."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tests.emulator.disassembly import Instruction
from tests.emulator.operands import constant, file_of, reader, register
from tests.emulator.wave import Wave

Run = Callable[[Wave], Any]
_BITS = {"f32": 32, "xf32": 32, "f16": 16, "bf16": 16, "fp8": 8, "bf8": 8, "i8": 8, "u8": 8, "i4": 4, "u4": 4,
         "e2m3": 6, "e3m2": 6, "e2m1": 4}  # fmt: skip
_CODES = {0: ("fp8", 8), 1: ("bf8", 8), 2: ("e2m3", 6), 3: ("e3m2", 6), 4: ("e2m1", 4)}
"""Formats of `f8f6f4` by number."""
_SMALL: dict[str, Any] = {
    "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn, "e2m1": ml_dtypes.float4_e2m1fn,
}  # fmt: skip


def _words(w: Wave, text: str, count: int) -> np.ndarray:
    """Registers of an operand, a row of words for each lane."""
    place = register(text)
    assert place is not None and place.words >= count, f"{text} for {count} registers"
    return np.ascontiguousarray(file_of(w, place.file)[place.number : place.number + count].T)


def _unpacked(words: np.ndarray, bits: int, count: int) -> np.ndarray:
    """Codes of so many bits, the first in the lowest bits."""
    flags = np.unpackbits(words.view(np.uint8).reshape(len(words), -1), axis=1, bitorder="little")
    parts = flags[:, : bits * count].reshape(len(words), count, bits)
    return (parts.astype(np.uint32) << np.arange(bits, dtype=np.uint32)).sum(axis=2, dtype=np.uint32)


def _decoded(codes: np.ndarray, kind: str, w: Wave) -> np.ndarray:
    if kind in ("f32", "xf32"):
        return codes.astype(np.uint32).view(np.float32).astype(np.float64)
    if kind in ("f16", "bf16"):
        return codes.astype(np.uint16).view(np.float16 if kind == "f16" else ml_dtypes.bfloat16).astype(np.float64)
    if kind in ("fp8", "bf8"):
        return codes.astype(np.uint8).view(getattr(w.group, kind)).astype(np.float64)
    if kind in _SMALL:
        return codes.astype(np.uint8).view(_SMALL[kind]).astype(np.float64)
    signed, bits = kind.startswith("i"), _BITS[kind]
    wide = codes.astype(np.int64)
    return np.where(signed & (wide >> bits - 1 & 1).astype(bool), wide - (1 << bits), wide).astype(np.float64)


def _operand(
    w: Wave, text: str, kind: str, rows: int, depth: int, places: np.ndarray, lanes: slice = slice(None)
) -> np.ndarray:
    """A dense matrix of (rows, depth); `places` says which k each element of each lane is."""
    words = _words(w, text, -(-places.shape[1] * _BITS[kind] // 32))[lanes]
    return _dense(w, words, kind, rows, depth, places)


def _dense(w: Wave, words: np.ndarray, kind: str, rows: int, depth: int, places: np.ndarray) -> np.ndarray:
    codes = _unpacked(words, _BITS[kind], places.shape[1])
    values = _decoded(codes.reshape(-1), kind, w).reshape(codes.shape)
    dense = np.full((rows, depth), np.nan)
    dense[(np.arange(len(places)) % rows)[:, None], places] = values
    return dense


def _consecutive(lanes: int, rows: int, depth: int) -> np.ndarray:
    """Each group of `rows` lanes has the next part of k."""
    each = depth * rows // lanes
    return (np.arange(lanes) // rows)[:, None] * each + np.arange(each)


def _split(lanes: int, rows: int, depth: int, run: int) -> np.ndarray:
    """Lanes hold runs of `run` elements, which groups of lanes take in turns."""
    groups = lanes // rows
    each = depth // groups
    at = np.arange(each)
    return (at // run * run * groups + at % run)[None, :] + (np.arange(lanes) // rows)[:, None] * run


def _result_rows(lanes: int, size: int) -> np.ndarray:
    """The row of each register of each lane in a result of matrix cores with 64 lanes."""
    count = size * size // lanes
    at, group = np.arange(count), np.arange(lanes)[:, None] // size
    return 8 * (at // 4) + 4 * group + at % 4 if size == 32 else 4 * group + at


def _accumulate(one: Instruction, w: Wave, product: np.ndarray, rows: np.ndarray, integer: bool) -> None:
    place, held = register(one.operands[0]), one.operands[3]
    assert place is not None
    count, lanes = rows.shape[1], np.arange(w.lanes)
    if constant(held, "f") is not None:
        base = np.broadcast_to(reader(held, "i" if integer else "f")(w)[:, None], (w.lanes, count)).astype(np.float64)
    else:
        base = _words(w, held, count).view(np.int32 if integer else np.float32).astype(np.float64)
    columns = (lanes % product.shape[1])[:, None]
    total = base + product[rows, columns]
    if integer and "clamp" in one.modifiers:
        total = np.clip(total, -(1 << 31), (1 << 31) - 1)
    whole = (total.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32) if integer else total.astype(np.float32)
    made = whole.view(np.uint32)
    file_of(w, place.file)[place.number : place.number + count] = made.T


def _core(one: Instruction) -> Run | None:
    """`v_mfma_f32_16x16x16_f16` and its like: 64 lanes, one block."""
    found = re.fullmatch(r"v_mfma_(f32|i32)_(\d+)x(\d+)x(\d+)_(\w+)", one.name)
    if found is None or found[5] == "f8f6f4" or re.match(r"\d+b_", found[5]):
        return None
    size, other, depth = (int(part) for part in found.groups()[1:4])
    kinds = found[5].split("_") * (1 if "_" in found[5] else 2)
    if size != other or any(one.number(name) for name in ("cbsz", "abid", "blgp")):
        raise NotImplementedError(one.text)
    places, rows = _consecutive(64, size, depth), _result_rows(64, size)

    def run(w: Wave) -> None:
        a, b = (_operand(w, one.operands[1 + at], kinds[at], size, depth, places) for at in range(2))
        _accumulate(one, w, a @ b.T, rows, found[1] == "i32")

    return run


def _blocks(one: Instruction) -> Run | None:
    """`v_mfma_f32_32x32x4_2b_f16` and its like: products side by side, of which a lane takes part in one."""
    found = re.fullmatch(r"v_mfma_(f32|i32)_(\d+)x\d+x(\d+)_(\d+)b_(\w+)", one.name)
    if found is None:
        return None
    size, depth, count, kind = int(found[2]), int(found[3]), int(found[4]), found[5]
    if any(one.number(name) for name in ("cbsz", "abid", "blgp")):
        raise NotImplementedError(one.text)
    lanes = np.arange(64)
    places = np.broadcast_to(np.arange(depth), (size, depth))
    if size == 4:
        rows = lanes[:, None] // 4 * 4 + np.arange(4)
    else:
        inner = _result_rows(64, size)
        rows = np.concatenate([block * size + inner for block in range(count)], axis=1)

    def run(w: Wave) -> None:
        stacked = []
        for block in range(count):
            of_block = slice(block * size, (block + 1) * size)
            a, b = (_operand(w, one.operands[1 + at], kind, size, depth, places, of_block) for at in range(2))
            stacked.append(a @ b.T)
        _accumulate(one, w, np.concatenate(stacked), rows, found[1] == "i32")

    return run


def _core_of_f64(one: Instruction) -> Run | None:
    """`v_mfma_f64_16x16x4_f64`, or four blocks of 4 x 4: two registers an element."""
    found = re.fullmatch(r"v_mfma_f64_(16x16x4|4x4x4_4b)_f64", one.name)
    if found is None:
        return None
    size, blocks = (16, 1) if found[1] == "16x16x4" else (4, 4)
    lanes = np.arange(64)
    row, block, k = lanes % size, lanes // size % blocks, lanes // 16
    count = 4 if blocks == 1 else 1

    def wide(w: Wave, text: str, number: int) -> np.ndarray:
        if register(text) is None:
            return np.broadcast_to(reader(text, "d")(w)[:, None], (64, number))
        return _words(w, text, 2 * number).view(np.float64)

    def run(w: Wave) -> None:
        dense = np.zeros((2, blocks, size, 4))
        for side in range(2):
            dense[side, block, row, k] = wide(w, one.operands[1 + side], 1)[:, 0]
        product = dense[0] @ dense[1].swapaxes(1, 2)
        base, place = wide(w, one.operands[3], count), register(one.operands[0])
        rows = 4 * np.arange(count) + lanes[:, None] // 16 if blocks == 1 else lanes[:, None] // 16
        total = np.ascontiguousarray(base + product[block[:, None], rows, row[:, None]])
        assert place is not None
        file_of(w, place.file)[place.number : place.number + 2 * count] = total.view(np.uint32).T

    return run


def _scales(w: Wave, text: str, byte: int, rows: int, groups: int) -> np.ndarray:
    """What each row's blocks of 32 are multiplied by."""
    place = register(text)
    codes = (reader(text, "u")(w) >> np.uint32(8 * byte) & np.uint32(255)).astype(np.float64)
    assert place is not None
    values = np.where(codes == 255, np.nan, np.exp2(codes - 127))
    return values[: rows * groups].reshape(groups, rows).T


def _scaled_core(one: Instruction) -> Run | None:
    """`v_mfma_scale_f32_16x16x128_f8f6f4`, with or without scales."""
    found = re.fullmatch(r"v_mfma_(scale_)?f32_(\d+)x\d+x(\d+)_f8f6f4", one.name)
    if found is None:
        return None
    size, depth = int(found[2]), int(found[3])
    formats = [_CODES[one.number(name)] for name in ("cbsz", "blgp")]
    rows, groups = _result_rows(64, size), 64 // size
    places = [_split(64, size, depth, 16) if bits == 8 else _consecutive(64, size, depth) for _, bits in formats]
    low, high = one.numbers("op_sel", [0, 0, 0]), one.numbers("op_sel_hi", [0, 0, 0])

    def run(w: Wave) -> None:
        sides = []
        for at, (kind, _) in enumerate(formats):
            side = _operand(w, one.operands[1 + at], kind, size, depth, places[at])
            if found[1]:
                scales = _scales(w, one.operands[4 + at], low[at] + 2 * high[at], size, groups)
                side = side * np.repeat(scales, 32, axis=1)
            sides.append(side)
        _accumulate(one, w, sides[0] @ sides[1].T, rows, integer=False)

    return run


def _runs(kind: str) -> int:
    """How many elements of a row one half of a wave of 32 has before the other half's follow, on gfx12."""
    return {4: 32, 6: 32, 8: 16}.get(_BITS[kind], 8) if kind != "f32" else 2


def _waves_of_32(one: Instruction, generation: float) -> Run | None:
    """`v_wmma_f32_16x16x16_f16` and its like."""
    found = re.fullmatch(r"v_wmma_(f32|i32)_16x16x(\d+)_(\w+)", one.name)
    if found is None:
        return None
    depth = int(found[2])
    kinds = found[3].split("_") * (1 if "_" in found[3] else 2)
    if found[1] == "i32":
        signs = one.numbers("neg_lo", [0, 0, 0])
        kinds = [("i" if signs[at] else "u") + kinds[at][-1] for at in range(2)]
    elif {"neg_lo", "neg_hi"} & set(one.modifiers):
        raise NotImplementedError(one.text)
    lanes, at = np.arange(32), np.arange(8)
    if generation == 11:  # every lane has a whole row, twice
        places, rows = np.broadcast_to(np.arange(depth), (32, depth)), 2 * at + lanes[:, None] // 16
    else:
        places, rows = _split(32, 16, depth, min(_runs(kinds[0]), depth // 2)), 8 * (lanes[:, None] // 16) + at

    def run(w: Wave) -> None:
        a, b = (_operand(w, one.operands[1 + at], kinds[at], 16, depth, places) for at in range(2))
        _accumulate(one, w, a @ b.T, rows, found[1] == "i32")

    return run


_FORMATS = {"MATRIX_FMT_FP8": "fp8", "MATRIX_FMT_BF8": "bf8", "MATRIX_FMT_FP6": "e2m3", "MATRIX_FMT_BF6": "e3m2",
            "MATRIX_FMT_FP4": "e2m1"}  # fmt: skip


def _scaled_waves_of_32(one: Instruction) -> Run | None:
    """`v_wmma_scale_f32_16x16x128_f8f6f4` and `v_wmma_scale_f32_32x16x128_f4` of gfx1250."""
    found = re.fullmatch(r"v_wmma_(scale_|scale16_)?f32_(16|32)x16x128_(f8f6f4|f4)", one.name)
    if found is None:
        return None
    height, each = int(found[2]), {"scale16_": 16}.get(found[1] or "", 32)
    named = [one.modifiers.get(f"matrix_{side}_fmt", "MATRIX_FMT_FP8") for side in "ab"]
    kinds = ["e2m1"] * 2 if found[3] == "f4" else [_FORMATS[name] for name in named]
    halves = [one.modifiers.get(f"matrix_{side}_scale", "MATRIX_SCALE_ROW0") for side in "ab"]
    if any(f"matrix_{side}_scale_fmt" in one.modifiers for side in "ab"):
        raise NotImplementedError(one.text)
    heights = [height, 16]
    lanes, at = np.arange(32)[:, None], np.arange(8 * (height // 16))
    rows = 8 * (lanes // 16) + at % 8 + 16 * (at // 8)

    def side_of(w: Wave, side: int) -> np.ndarray:
        kind, tall = kinds[side], heights[side]
        places = _split(32, 16, 128, _runs(kind))
        count = places.shape[1]
        words = _words(w, one.operands[1 + side], count * _BITS[kind] // 32 * (tall // 16))
        parts = [_dense(w, part, kind, 16, 128, places) for part in np.split(words, tall // 16, axis=1)]
        dense = np.concatenate(parts)
        if not found[1]:
            return dense
        place = register(one.operands[4 + side])
        assert place is not None
        held = _words(w, one.operands[4 + side], 128 // each // 4)
        first = 16 if tall == 16 and halves[side] == "MATRIX_SCALE_ROW1" else 0
        codes = held.view(np.uint8).reshape(32, -1)[first : first + tall].astype(np.float64)
        return dense * np.repeat(np.where(codes == 255, np.nan, np.exp2(codes - 127)), each, axis=1)

    def run(w: Wave) -> None:
        _accumulate(one, w, side_of(w, 0) @ side_of(w, 1).T, rows, integer=False)

    return run


def matrix_instruction(one: Instruction, generation: float) -> Run | None:
    """What a matrix instruction does; None where it is none that is known."""
    cores = _core(one) or _blocks(one) or _core_of_f64(one) or _scaled_core(one)
    return cores or _waves_of_32(one, generation) or _scaled_waves_of_32(one)
