"""Instructions of the scalar unit: arithmetic, comparisons, branches, and masks of lanes."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.emulator.disassembly import Instruction
from tests.emulator.operands import register, scalar_reader, scalar_writer
from tests.emulator.wave import Wave

M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
Run = Callable[[Wave], Any]

OTHER_NAMES = {
    "s_add_co_i32": "s_add_i32", "s_add_co_u32": "s_add_u32", "s_add_co_ci_u32": "s_addc_u32",
    "s_sub_co_i32": "s_sub_i32", "s_sub_co_u32": "s_sub_u32", "s_sub_co_ci_u32": "s_subb_u32",
    "s_addk_co_i32": "s_addk_i32", "s_and_not1_b32": "s_andn2_b32", "s_and_not1_b64": "s_andn2_b64",
    "s_or_not1_b32": "s_orn2_b32", "s_or_not1_b64": "s_orn2_b64", "s_ctz_i32_b32": "s_ff1_i32_b32",
    "s_ctz_i32_b64": "s_ff1_i32_b64", "s_clz_i32_u32": "s_flbit_i32_b32", "s_clz_i32_u64": "s_flbit_i32_b64",
    "s_and_not1_saveexec_b32": "s_andn2_saveexec_b32", "s_and_not1_saveexec_b64": "s_andn2_saveexec_b64",
    "s_add_nc_u64": "s_add_u64", "s_sub_nc_u64": "s_sub_u64",
}  # fmt: skip
"""What gfx11 and gfx12 call instructions of gfx9."""


def signed(value: int, bits: int = 32) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _float(bits: int) -> np.float32:
    return np.uint32(bits).view(np.float32)


def _bits(value: Any) -> int:
    return int(np.float32(value).view(np.uint32))


def _half(bits: int) -> np.float16:
    return np.uint16(bits & 0xFFFF).view(np.float16)


def _half_bits(value: Any) -> int:
    return int(np.float16(value).view(np.uint16))


def _overflows(value: int) -> int:
    return int(not -(1 << 31) <= value < 1 << 31)


def _field(value: int, where: int, bits: int, is_signed: bool) -> int:
    offset, width = where & (bits - 1), where >> 16 & 127
    found = value >> offset & (1 << width) - 1
    return signed(found, width) if is_signed and width and offset + width <= bits else found


def _to_integer(bits: int, low: int, high: int) -> int:
    value = float(_float(bits))
    return 0 if math.isnan(value) else int(min(max(value, low), high))


def _nonzero(value: int) -> tuple[int, int]:
    return value, int(value != 0)


def _logic(bits: int) -> dict[str, Any]:
    full = (1 << bits) - 1
    found: dict[str, Any] = {
        "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
        "andn2": lambda a, b: a & ~b, "orn2": lambda a, b: a | ~b, "nand": lambda a, b: ~(a & b),
        "nor": lambda a, b: ~(a | b), "xnor": lambda a, b: ~(a ^ b),
    }  # fmt: skip
    return {f"s_{name}_b{bits}": (act, full) for name, act in found.items()}


LOGIC = {**_logic(32), **_logic(64)}

# name -> (words of the result, words of the sources, function of them and SCC that returns the result and SCC, or None
# where SCC stays).
ARITHMETIC: dict[str, tuple[int, tuple[int, ...], Callable[..., tuple[int, int | None]]]] = {
    "s_mov_b32": (1, (1,), lambda c, a: (a, None)),
    "s_mov_b64": (2, (2,), lambda c, a: (a, None)),
    "s_cmov_b32": (1, (1, 1), lambda c, a, old: (a if c else old, None)),
    "s_add_u32": (1, (1, 1), lambda c, a, b: (a + b, a + b >> 32)),
    "s_addc_u32": (1, (1, 1), lambda c, a, b: (a + b + c, a + b + c >> 32)),
    "s_sub_u32": (1, (1, 1), lambda c, a, b: (a - b, int(a < b))),
    "s_subb_u32": (1, (1, 1), lambda c, a, b: (a - b - c, int(a < b + c))),
    "s_add_i32": (1, (1, 1), lambda c, a, b: (a + b, _overflows(signed(a) + signed(b)))),
    "s_sub_i32": (1, (1, 1), lambda c, a, b: (a - b, _overflows(signed(a) - signed(b)))),
    "s_mul_i32": (1, (1, 1), lambda c, a, b: (a * b, None)),
    "s_mul_hi_u32": (1, (1, 1), lambda c, a, b: (a * b >> 32, None)),
    "s_mul_hi_i32": (1, (1, 1), lambda c, a, b: (signed(a) * signed(b) >> 32, None)),
    "s_mul_u64": (2, (2, 2), lambda c, a, b: (a * b, None)),
    "s_add_u64": (2, (2, 2), lambda c, a, b: (a + b, None)),
    "s_sub_u64": (2, (2, 2), lambda c, a, b: (a - b, None)),
    "s_lshl_b32": (1, (1, 1), lambda c, a, b: _nonzero(a << (b & 31) & M32)),
    "s_lshr_b32": (1, (1, 1), lambda c, a, b: _nonzero(a >> (b & 31))),
    "s_ashr_i32": (1, (1, 1), lambda c, a, b: _nonzero(signed(a) >> (b & 31) & M32)),
    "s_lshl_b64": (2, (2, 1), lambda c, a, b: _nonzero(a << (b & 63) & M64)),
    "s_lshr_b64": (2, (2, 1), lambda c, a, b: _nonzero(a >> (b & 63))),
    "s_ashr_i64": (2, (2, 1), lambda c, a, b: _nonzero(signed(a, 64) >> (b & 63) & M64)),
    "s_bfm_b32": (1, (1, 1), lambda c, a, b: (((1 << (a & 31)) - 1) << (b & 31), None)),
    "s_bfm_b64": (2, (1, 1), lambda c, a, b: (((1 << (a & 63)) - 1) << (b & 63), None)),
    "s_bfe_u32": (1, (1, 1), lambda c, a, b: _nonzero(_field(a, b, 32, False))),
    "s_bfe_i32": (1, (1, 1), lambda c, a, b: _nonzero(_field(a, b, 32, True) & M32)),
    "s_bfe_u64": (2, (2, 1), lambda c, a, b: _nonzero(_field(a, b, 64, False))),
    "s_bfe_i64": (2, (2, 1), lambda c, a, b: _nonzero(_field(a, b, 64, True) & M64)),
    "s_bitset0_b32": (1, (1, 1), lambda c, a, old: (old & ~(1 << (a & 31)), None)),
    "s_bitset1_b32": (1, (1, 1), lambda c, a, old: (old | 1 << (a & 31), None)),
    "s_brev_b32": (1, (1,), lambda c, a: (int(f"{a:032b}"[::-1], 2), None)),
    "s_bcnt1_i32_b32": (1, (1,), lambda c, a: _nonzero(a.bit_count())),
    "s_bcnt1_i32_b64": (1, (2,), lambda c, a: _nonzero(a.bit_count())),
    "s_ff1_i32_b32": (1, (1,), lambda c, a: ((a & -a).bit_length() - 1, None)),
    "s_ff1_i32_b64": (1, (2,), lambda c, a: ((a & -a).bit_length() - 1, None)),
    "s_flbit_i32_b32": (1, (1,), lambda c, a: (32 - a.bit_length() if a else -1, None)),
    "s_flbit_i32_b64": (1, (2,), lambda c, a: (64 - a.bit_length() if a else -1, None)),
    "s_not_b32": (1, (1,), lambda c, a: _nonzero(~a & M32)),
    "s_not_b64": (2, (2,), lambda c, a: _nonzero(~a & M64)),
    "s_abs_i32": (1, (1,), lambda c, a: _nonzero(abs(signed(a)) & M32)),
    "s_sext_i32_i8": (1, (1,), lambda c, a: (signed(a, 8), None)),
    "s_sext_i32_i16": (1, (1,), lambda c, a: (signed(a, 16), None)),
    "s_min_i32": (1, (1, 1), lambda c, a, b: (min(signed(a), signed(b)), int(signed(a) < signed(b)))),
    "s_max_i32": (1, (1, 1), lambda c, a, b: (max(signed(a), signed(b)), int(signed(a) > signed(b)))),
    "s_min_u32": (1, (1, 1), lambda c, a, b: (min(a, b), int(a < b))),
    "s_max_u32": (1, (1, 1), lambda c, a, b: (max(a, b), int(a > b))),
    "s_cselect_b32": (1, (1, 1), lambda c, a, b: (a if c else b, None)),
    "s_cselect_b64": (2, (2, 2), lambda c, a, b: (a if c else b, None)),
    "s_pack_ll_b32_b16": (1, (1, 1), lambda c, a, b: (a & 0xFFFF | b << 16, None)),
    "s_pack_lh_b32_b16": (1, (1, 1), lambda c, a, b: (a & 0xFFFF | b & 0xFFFF0000, None)),
    "s_pack_hh_b32_b16": (1, (1, 1), lambda c, a, b: (a >> 16 | b & 0xFFFF0000, None)),
    "s_pack_hl_b32_b16": (1, (1, 1), lambda c, a, b: (a >> 16 | b << 16, None)),
    "s_add_f32": (1, (1, 1), lambda c, a, b: (_bits(_float(a) + _float(b)), None)),
    "s_sub_f32": (1, (1, 1), lambda c, a, b: (_bits(_float(a) - _float(b)), None)),
    "s_mul_f32": (1, (1, 1), lambda c, a, b: (_bits(_float(a) * _float(b)), None)),
    "s_cvt_f32_u32": (1, (1,), lambda c, a: (_bits(a), None)),
    "s_cvt_f32_i32": (1, (1,), lambda c, a: (_bits(signed(a)), None)),
    "s_cvt_u32_f32": (1, (1,), lambda c, a: (_to_integer(a, 0, M32), None)),
    "s_cvt_i32_f32": (1, (1,), lambda c, a: (_to_integer(a, -(1 << 31), (1 << 31) - 1), None)),
    "s_cvt_f32_f16": (1, (1,), lambda c, a: (_bits(_half(a)), None)),
    "s_cvt_hi_f32_f16": (1, (1,), lambda c, a: (_bits(_half(a >> 16)), None)),
    "s_cvt_f16_f32": (1, (1,), lambda c, a: (_half_bits(_float(a)), None)),
    "s_floor_f32": (1, (1,), lambda c, a: (_bits(np.floor(_float(a))), None)),
    "s_ceil_f32": (1, (1,), lambda c, a: (_bits(np.ceil(_float(a))), None)),
    "s_trunc_f32": (1, (1,), lambda c, a: (_bits(np.trunc(_float(a))), None)),
    "s_rndne_f32": (1, (1,), lambda c, a: (_bits(np.rint(_float(a))), None)),
    "s_add_f16": (1, (1, 1), lambda c, a, b: (_half_bits(_half(a) + _half(b)), None)),
    "s_sub_f16": (1, (1, 1), lambda c, a, b: (_half_bits(_half(a) - _half(b)), None)),
    "s_mul_f16": (1, (1, 1), lambda c, a, b: (_half_bits(_half(a) * _half(b)), None)),
    "s_max_num_f16": (1, (1, 1), lambda c, a, b: (_half_bits(np.fmax(_half(a), _half(b))), None)),
    "s_min_num_f16": (1, (1, 1), lambda c, a, b: (_half_bits(np.fmin(_half(a), _half(b))), None)),
    "s_maximum_f32": (1, (1, 1), lambda c, a, b: (_bits(np.maximum(_float(a), _float(b))), None)),
    "s_minimum_f32": (1, (1, 1), lambda c, a, b: (_bits(np.minimum(_float(a), _float(b))), None)),
    "s_max_num_f32": (1, (1, 1), lambda c, a, b: (_bits(np.fmax(_float(a), _float(b))), None)),
    "s_min_num_f32": (1, (1, 1), lambda c, a, b: (_bits(np.fmin(_float(a), _float(b))), None)),
}
for _amount in (1, 2, 3, 4):
    ARITHMETIC[f"s_lshl{_amount}_add_u32"] = (
        1, (1, 1), lambda c, a, b, n=_amount: ((a << n) + b, int((a << n) + b > M32)),
    )  # fmt: skip

_CHANGING = ("s_cmov_b32", "s_bitset0_b32", "s_bitset1_b32")
"""What the result's register held is their last source."""

RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b, "lg": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b, "ne": lambda a, b: a != b,
}  # fmt: skip


def _compares(name: str, operands: tuple[str, ...]) -> Run | None:
    parts = name.split("_")
    if parts[0] != "s" or parts[1] not in ("cmp", "cmpk", "bitcmp1", "bitcmp0"):
        return None
    words = 2 if name.endswith("64") else 1
    first = scalar_reader(operands[0], words)
    second = scalar_reader(operands[1], 1 if parts[1].startswith("bit") else words)
    if parts[1].startswith("bit"):
        wanted = int(parts[1][-1])

        def bit(w: Wave) -> None:
            w.scc = int((first(w) >> (second(w) & (32 * words - 1)) & 1) == wanted)

        return bit
    kind = parts[3]
    relation = RELATIONS.get(parts[2].removeprefix("n") if kind == "f32" and parts[2] != "neq" else parts[2])
    if (kind == "f32" and parts[2] not in RELATIONS) or relation is None:
        raise NotImplementedError(name)

    def take(read: Callable[[Wave], int], w: Wave, is_constant: bool) -> Any:
        value = read(w)
        if parts[1] == "cmpk" and is_constant:
            value = signed(value, 16) & M32 if kind == "i32" else value & 0xFFFF
        return signed(value) if kind == "i32" else _float(value) if kind == "f32" else value

    def compare(w: Wave) -> None:
        w.scc = int(bool(relation(take(first, w, False), take(second, w, True))))

    return compare


def _exec_mask(name: str, operands: tuple[str, ...]) -> Run | None:
    """``s_and_saveexec_b64 old, mask``: keeps the mask of lanes, and changes it."""
    if "_saveexec_" not in name:
        return None
    kind, _, size = name.removeprefix("s_").partition("_saveexec_")
    act, full = LOGIC[f"s_{kind}_{size}"]
    words = int(size[1:]) // 32
    keep, take = scalar_writer(operands[0], words), scalar_reader(operands[1], words)

    def run(w: Wave) -> None:
        mask, old = take(w), w.exec
        keep(w, old)
        w.set_exec(act(mask, old) & full)
        w.scc = int(w.exec != 0)

    return run


_BRANCHES: dict[str, Callable[[Wave], bool]] = {
    "s_branch": lambda w: True,
    "s_cbranch_scc0": lambda w: w.scc == 0,
    "s_cbranch_scc1": lambda w: w.scc == 1,
    "s_cbranch_vccz": lambda w: w.scalar(106, w.lanes // 32) == 0,
    "s_cbranch_vccnz": lambda w: w.scalar(106, w.lanes // 32) != 0,
    "s_cbranch_execz": lambda w: w.exec == 0,
    "s_cbranch_execnz": lambda w: w.exec != 0,
}


def _branches(one: Instruction) -> Run | None:
    if one.name in _BRANCHES:
        taken, target = _BRANCHES[one.name], one.end + 4 * signed(int(one.operands[0], 0), 16)

        def branch(w: Wave) -> None:
            if taken(w):
                w.pc = target

        return branch
    if one.name == "s_getpc_b64":
        keep = scalar_writer(one.operands[0], 2)
        return lambda w: keep(w, w.code_base + one.end)
    if one.name in ("s_setpc_b64", "s_swappc_b64"):
        take = scalar_reader(one.operands[-1], 2)
        back = scalar_writer(one.operands[0], 2) if one.name == "s_swappc_b64" else None

        def jump(w: Wave) -> None:
            target = take(w) - w.code_base
            if back:
                back(w, w.code_base + one.end)
            w.pc = target

        return jump
    return None


def _short_constant(name: str, operands: tuple[str, ...]) -> Run | None:
    """Arithmetic with 16 bits of the instruction."""
    if name not in ("s_movk_i32", "s_addk_i32", "s_mulk_i32", "s_cmovk_i32"):
        return None
    keep, take, number = scalar_writer(operands[0]), scalar_reader(operands[0]), signed(int(operands[1], 0), 16)

    def run(w: Wave) -> None:
        if name == "s_addk_i32":
            w.scc = _overflows(signed(take(w)) + number)
        if name != "s_cmovk_i32" or w.scc:
            old = take(w) if name in ("s_addk_i32", "s_mulk_i32") else 0
            keep(w, {"s_addk_i32": old + number, "s_mulk_i32": old * number}.get(name, number))

    return run


def scalar_instruction(one: Instruction) -> Run | None:
    """What an instruction of the scalar unit does; None where it is none."""
    name, operands = OTHER_NAMES.get(one.name, one.name), one.operands
    if name in LOGIC:
        act, full = LOGIC[name]
        words = 2 if full == M64 else 1
        keep, first, second = scalar_writer(operands[0], words), *(scalar_reader(o, words) for o in operands[1:])

        def logic(w: Wave) -> None:
            value = act(first(w), second(w)) & full
            keep(w, value)
            w.scc = int(value != 0)

        return logic
    if name in ARITHMETIC:
        words, sources, arithmetic = ARITHMETIC[name]
        given = (*operands[1:], operands[0]) if name in _CHANGING else operands[1:]
        takes = [scalar_reader(text, size) for text, size in zip(given, sources, strict=True)]
        keep, full = scalar_writer(operands[0], words), (1 << 32 * words) - 1

        def calculate(w: Wave) -> None:
            with np.errstate(all="ignore"):
                value, scc = arithmetic(w.scc, *(take(w) for take in takes))
            keep(w, value & full)
            if scc is not None:
                w.scc = scc

        return calculate
    if name in ("s_fmac_f32", "s_fmaak_f32", "s_fmamk_f32"):
        return _fused(name, operands)
    return _compares(name, operands) or _exec_mask(name, operands) or _branches(one) or _short_constant(name, operands)


def _fused(name: str, operands: tuple[str, ...]) -> Run:
    order = {"s_fmac_f32": (1, 2, 0), "s_fmaak_f32": (1, 2, 3), "s_fmamk_f32": (1, 2, 3)}[name]
    takes = [scalar_reader(operands[place]) for place in order]
    keep = scalar_writer(operands[0])

    def run(w: Wave) -> None:
        a, b, c = (float(_float(take(w))) for take in takes)
        keep(w, int.from_bytes(struct.pack("<f", np.float32(a * b + c)), "little"))

    return run


def is_scalar_register(text: str) -> bool:
    place = register(text)
    return place is not None and place.file == "s"
