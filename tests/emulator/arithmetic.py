"""Arithmetic of the vector unit: for each instruction the types of its result and sources, and a function of arrays.

Types are letters of `operands.KINDS`. What reads masks, moves lanes or has several results is in `vector.py` and
`lanes.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any
Row = tuple[str, str, Callable[..., Array]]


def fused(a: Array, b: Array, c: Array) -> Array:
    """One rounding of a * b + c, but for ties of ties."""
    return (a.astype(np.float64) * b + c).astype(np.float32)


def fused_half(a: Array, b: Array, c: Array) -> Array:
    return (a.astype(np.float64) * b + c).astype(np.float16)


def flushed(value: Array) -> Array:
    """Zeros for what is subnormal."""
    return np.where(np.abs(value) < np.float32(2.0**-126), np.copysign(np.float32(0), value), value)


def _transcendental(act: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Those take no subnormal numbers and make none."""
    return lambda a: flushed(act(flushed(a).astype(np.float64)).astype(np.float32))


def _clamped(low: int, high: int, kind: Any) -> Callable[[Array], Array]:
    def convert(a: Array) -> Array:
        wide = np.trunc(np.nan_to_num(a.astype(np.float64), nan=0.0, posinf=high, neginf=low))
        return np.clip(wide, low, high).astype(np.int64).astype(kind)

    return convert


def _wide(act: Callable[..., Array], kind: Any) -> Callable[..., Array]:
    """Integers of 32 bits by arithmetic of 64."""
    return lambda *given: act(*(one.astype(np.int64) for one in given)).astype(kind)


def _u(number: int) -> np.uint32:
    return np.uint32(number)


def _bits_of_field(a: Array, b: Array, c: Array) -> Array:
    width = c & _u(31)
    return (a >> (b & _u(31))) & ((_u(1) << width) - _u(1))


def _signed_field(a: Array, b: Array, c: Array) -> Array:
    offset, width = b.astype(np.int64) & 31, c.astype(np.int64) & 31
    found = (a.astype(np.int64) >> offset) & ((1 << width) - 1)
    sign = np.where(width > 0, 1 << np.maximum(width - 1, 0), 0)
    return np.where(found & sign, found - (sign << 1), found).astype(np.int32)


def _permuted(a: Array, b: Array, c: Array) -> Array:
    """Each byte of the selector names one of eight bytes, b's first, or a constant."""
    source = np.stack([b, a], axis=-1).copy().view(np.uint8)
    chosen = c.copy().view(np.uint8).reshape(-1, 4)
    picked = np.take_along_axis(source, np.minimum(chosen, 7), axis=1)
    sign = {8: 1, 9: 3, 10: 5, 11: 7}
    for code, byte in sign.items():
        picked = np.where(chosen == code, np.where(source[:, byte : byte + 1] & 128, 255, 0), picked)
    picked = np.where(chosen == 12, 0, np.where(chosen >= 13, 255, picked)).astype(np.uint8)
    return picked.view(np.uint32).reshape(-1)


def _aligned(a: Array, b: Array, amount: Array) -> Array:
    both = b.astype(np.uint64) | a.astype(np.uint64) << np.uint64(32)
    return (both >> amount.astype(np.uint64)).astype(np.uint32)


def _reversed_bits(a: Array) -> Array:
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF)):
        a = (a >> _u(shift)) & _u(mask) | (a & _u(mask)) << _u(shift)
    return a


def _highest(a: Array) -> Array:
    """How many zeros lead."""
    return np.array([32 - int(x).bit_length() if x else -1 for x in a], np.int32)


def _lowest(a: Array) -> Array:
    return np.array([(int(x) & -int(x)).bit_length() - 1 for x in a], np.int32)


def _counted(a: Array) -> Array:
    return np.bitwise_count(a).astype(np.uint32)


def _middle(a: Array, b: Array, c: Array) -> Array:
    return np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))


def _quiet_middle(a: Array, b: Array, c: Array) -> Array:
    middle = np.fmax(np.fmin(a, b), np.fmin(np.fmax(a, b), c))
    return np.where(np.isnan(a) | np.isnan(b) | np.isnan(c), np.fmin(np.fmin(a, b), c), middle)


def _byte(number: int) -> Callable[[Array], Array]:
    return lambda a: (a >> _u(8 * number) & _u(255)).astype(np.float32)


def _exponent(a: Array) -> Array:
    return np.where(np.isfinite(a), np.frexp(a)[1], 0).astype(np.int32)


def _mantissa(a: Array) -> Array:
    return np.where(np.isfinite(a), np.frexp(a)[0], a).astype(np.float32)


def _scaled(a: Array, b: Array) -> Array:
    return np.ldexp(a.astype(np.float64), np.clip(b, -2000, 2000)).astype(np.float32)


def _toward_zero_half(a: Array) -> Array:
    near = a.astype(np.float16)
    beyond = np.abs(near.astype(np.float32)) > np.abs(a)
    return np.where(beyond, np.nextafter(near, np.float16(0)), near).astype(np.float16)


def _packed(low: Array, high: Array) -> Array:
    return low.view(np.uint16).astype(np.uint32) | high.view(np.uint16).astype(np.uint32) << _u(16)


def bf16_bits(a: Array) -> Array:
    """f32 rounded to bf16, as 16 bits."""
    bits = a.view(np.uint32)
    rounded = (bits + _u(0x7FFF) + (bits >> _u(16) & _u(1))) >> _u(16)
    return np.where(np.isnan(a), bits >> _u(16) | _u(0x40), rounded).astype(np.uint16)


_I, _U = np.int32, np.uint32

ROWS: dict[str, Row] = {
    # Moves and bits
    "v_mov_b32": ("u", "u", lambda a: a), "v_mov_b64": ("q", "q", lambda a: a),
    "v_mov_b16": ("w", "w", lambda a: a),
    "v_accvgpr_write_b32": ("u", "u", lambda a: a), "v_accvgpr_read_b32": ("u", "u", lambda a: a),
    "v_accvgpr_mov_b32": ("u", "u", lambda a: a),
    "v_not_b32": ("u", "u", lambda a: ~a), "v_and_b32": ("u", "uu", lambda a, b: a & b),
    "v_or_b32": ("u", "uu", lambda a, b: a | b), "v_xor_b32": ("u", "uu", lambda a, b: a ^ b),
    "v_xnor_b32": ("u", "uu", lambda a, b: ~(a ^ b)), "v_or3_b32": ("u", "uuu", lambda a, b, c: a | b | c),
    "v_xor3_b32": ("u", "uuu", lambda a, b, c: a ^ b ^ c), "v_and_or_b32": ("u", "uuu", lambda a, b, c: a & b | c),
    "v_and_b16": ("w", "ww", lambda a, b: a & b), "v_or_b16": ("w", "ww", lambda a, b: a | b),
    "v_xor_b16": ("w", "ww", lambda a, b: a ^ b),
    "v_bfi_b32": ("u", "uuu", lambda a, b, c: a & b | ~a & c), "v_bfe_u32": ("u", "uuu", _bits_of_field),
    "v_bfe_i32": ("i", "iuu", _signed_field), "v_bfrev_b32": ("u", "u", _reversed_bits),
    "v_perm_b32": ("u", "uuu", _permuted),
    "v_alignbit_b32": ("u", "uuu", lambda a, b, c: _aligned(a, b, c & _u(31))),
    "v_alignbyte_b32": ("u", "uuu", lambda a, b, c: _aligned(a, b, (c & _u(3)) * _u(8))),
    "v_bcnt_u32_b32": ("u", "uu", lambda a, b: _counted(a) + b),
    "v_ffbh_u32": ("i", "u", _highest), "v_ffbl_b32": ("i", "u", _lowest),
    "v_lshlrev_b32": ("u", "uu", lambda a, b: b << (a & _u(31))),
    "v_lshrrev_b32": ("u", "uu", lambda a, b: b >> (a & _u(31))),
    "v_ashrrev_i32": ("i", "ui", lambda a, b: b >> (a & _u(31)).astype(_I)),
    "v_lshlrev_b64": ("q", "uq", lambda a, b: b << (a & _u(63)).astype(np.uint64)),
    "v_lshrrev_b64": ("q", "uq", lambda a, b: b >> (a & _u(63)).astype(np.uint64)),
    "v_ashrrev_i64": ("l", "ul", lambda a, b: b >> (a & _u(63)).astype(np.int64)),
    "v_lshlrev_b16": ("w", "ww", lambda a, b: b << (a & np.uint16(15))),
    "v_lshrrev_b16": ("w", "ww", lambda a, b: b >> (a & np.uint16(15))),
    "v_ashrrev_i16": ("s", "ws", lambda a, b: b >> (a & np.uint16(15)).astype(np.int16)),
    "v_lshl_add_u32": ("u", "uuu", lambda a, b, c: (a << (b & _u(31))) + c),
    "v_add_lshl_u32": ("u", "uuu", lambda a, b, c: (a + b) << (c & _u(31))),
    "v_lshl_or_b32": ("u", "uuu", lambda a, b, c: a << (b & _u(31)) | c),
    "v_lshl_add_u64": ("q", "quq", lambda a, b, c: (a << (b & _u(7)).astype(np.uint64)) + c),
    "v_xad_u32": ("u", "uuu", lambda a, b, c: (a ^ b) + c),
    "v_pack_b32_f16": ("u", "hh", _packed),
    # Integers
    "v_add_u32": ("u", "uu", lambda a, b: a + b), "v_sub_u32": ("u", "uu", lambda a, b: a - b),
    "v_subrev_u32": ("u", "uu", lambda a, b: b - a), "v_add3_u32": ("u", "uuu", lambda a, b, c: a + b + c),
    "v_add_i32": ("i", "ii", lambda a, b: a + b), "v_sub_i32": ("i", "ii", lambda a, b: a - b),
    "v_add_u64": ("q", "qq", lambda a, b: a + b), "v_sub_u64": ("q", "qq", lambda a, b: a - b),
    "v_add_u16": ("w", "ww", lambda a, b: a + b), "v_sub_u16": ("w", "ww", lambda a, b: a - b),
    "v_subrev_u16": ("w", "ww", lambda a, b: b - a), "v_mul_lo_u16": ("w", "ww", lambda a, b: a * b),
    "v_max_u16": ("w", "ww", np.maximum), "v_min_u16": ("w", "ww", np.minimum),
    "v_max_i16": ("s", "ss", np.maximum), "v_min_i16": ("s", "ss", np.minimum),
    "v_mad_u16": ("w", "www", lambda a, b, c: a * b + c), "v_mad_i16": ("s", "sss", lambda a, b, c: a * b + c),
    "v_mad_u32_u16": ("u", "wwu", lambda a, b, c: a.astype(_U) * b + c),
    "v_mad_i32_i16": ("i", "ssi", lambda a, b, c: a.astype(_I) * b + c),
    "v_mul_lo_u32": ("u", "uu", lambda a, b: a * b),
    "v_mul_hi_u32": ("u", "uu", lambda a, b: (a.astype(np.uint64) * b >> np.uint64(32)).astype(_U)),
    "v_mul_hi_i32": ("i", "ii", _wide(lambda a, b: a * b >> 32, _I)),
    "v_mul_u32_u24": ("u", "uu", lambda a, b: (a & _u(0xFFFFFF)) * (b & _u(0xFFFFFF))),
    "v_mul_i32_i24": ("i", "ii", lambda a, b: (a << 8 >> 8) * (b << 8 >> 8)),
    "v_mul_hi_u32_u24": ("u", "uu", _wide(lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 32, _U)),
    "v_mad_u32_u24": ("u", "uuu", lambda a, b, c: (a & _u(0xFFFFFF)) * (b & _u(0xFFFFFF)) + c),
    "v_mad_i32_i24": ("i", "iii", lambda a, b, c: (a << 8 >> 8) * (b << 8 >> 8) + c),
    "v_mad_nc_u64_u32": ("q", "uuq", lambda a, b, c: a.astype(np.uint64) * b + c),
    "v_mad_nc_i64_i32": ("l", "iil", lambda a, b, c: a.astype(np.int64) * b + c),
    "v_mad_u32": ("u", "uuu", lambda a, b, c: a * b + c), "v_mul_u64": ("q", "qq", lambda a, b: a * b),
    "v_sad_u32": ("u", "uuu", lambda a, b, c: np.maximum(a, b) - np.minimum(a, b) + c),
    "v_max_i64": ("l", "ll", np.maximum), "v_min_i64": ("l", "ll", np.minimum),
    "v_max_u64": ("q", "qq", np.maximum), "v_min_u64": ("q", "qq", np.minimum),
    # f32
    "v_add_f32": ("f", "ff", lambda a, b: a + b), "v_sub_f32": ("f", "ff", lambda a, b: a - b),
    "v_subrev_f32": ("f", "ff", lambda a, b: b - a), "v_mul_f32": ("f", "ff", lambda a, b: a * b),
    "v_fma_f32": ("f", "fff", fused),
    "v_max_f32": ("f", "ff", np.fmax), "v_min_f32": ("f", "ff", np.fmin), "v_med3_f32": ("f", "fff", _quiet_middle),
    "v_max3_f32": ("f", "fff", lambda a, b, c: np.fmax(np.fmax(a, b), c)),
    "v_min3_f32": ("f", "fff", lambda a, b, c: np.fmin(np.fmin(a, b), c)),
    "v_minmax_num_f32": ("f", "fff", lambda a, b, c: np.fmax(np.fmin(a, b), c)),
    "v_maxmin_num_f32": ("f", "fff", lambda a, b, c: np.fmin(np.fmax(a, b), c)),
    "v_maximum_f32": ("f", "ff", np.maximum), "v_minimum_f32": ("f", "ff", np.minimum),
    "v_maximum3_f32": ("f", "fff", lambda a, b, c: np.maximum(np.maximum(a, b), c)),
    "v_minimum3_f32": ("f", "fff", lambda a, b, c: np.minimum(np.minimum(a, b), c)),
    "v_maximumminimum_f32": ("f", "fff", lambda a, b, c: np.minimum(np.maximum(a, b), c)),
    "v_minimummaximum_f32": ("f", "fff", lambda a, b, c: np.maximum(np.minimum(a, b), c)),
    "v_exp_f32": ("f", "f", _transcendental(np.exp2)), "v_log_f32": ("f", "f", _transcendental(np.log2)),
    "v_rcp_f32": ("f", "f", _transcendental(lambda a: 1 / a)),
    "v_rcp_iflag_f32": ("f", "f", _transcendental(lambda a: 1 / a)),
    "v_rsq_f32": ("f", "f", _transcendental(lambda a: 1 / np.sqrt(a))),
    "v_sqrt_f32": ("f", "f", _transcendental(np.sqrt)),
    "v_sin_f32": ("f", "f", _transcendental(lambda a: np.sin(2 * np.pi * a))),
    "v_cos_f32": ("f", "f", _transcendental(lambda a: np.cos(2 * np.pi * a))),
    "v_tanh_f32": ("f", "f", _transcendental(np.tanh)),
    "v_floor_f32": ("f", "f", np.floor), "v_ceil_f32": ("f", "f", np.ceil), "v_trunc_f32": ("f", "f", np.trunc),
    "v_rndne_f32": ("f", "f", np.rint), "v_fract_f32": ("f", "f", lambda a: a - np.floor(a)),
    "v_ldexp_f32": ("f", "fi", _scaled), "v_frexp_exp_i32_f32": ("i", "f", _exponent),
    "v_frexp_mant_f32": ("f", "f", _mantissa),
    # f16
    "v_add_f16": ("h", "hh", lambda a, b: a + b), "v_sub_f16": ("h", "hh", lambda a, b: a - b),
    "v_subrev_f16": ("h", "hh", lambda a, b: b - a), "v_mul_f16": ("h", "hh", lambda a, b: a * b),
    "v_fma_f16": ("h", "hhh", fused_half), "v_max_f16": ("h", "hh", np.fmax), "v_min_f16": ("h", "hh", np.fmin),
    "v_max3_f16": ("h", "hhh", lambda a, b, c: np.fmax(np.fmax(a, b), c)),
    "v_maximum_f16": ("h", "hh", np.maximum), "v_minimum_f16": ("h", "hh", np.minimum),
    "v_rcp_f16": ("h", "h", lambda a: (1 / a.astype(np.float32)).astype(np.float16)),
    "v_sqrt_f16": ("h", "h", np.sqrt), "v_floor_f16": ("h", "h", np.floor), "v_rndne_f16": ("h", "h", np.rint),
    "v_exp_f16": ("h", "h", lambda a: np.exp2(a.astype(np.float32)).astype(np.float16)),
    "v_log_f16": ("h", "h", lambda a: np.log2(a.astype(np.float32)).astype(np.float16)),
    "v_ldexp_f16": ("h", "hs", lambda a, b: np.ldexp(a.astype(np.float64), b).astype(np.float16)),
    # f64
    "v_add_f64": ("d", "dd", lambda a, b: a + b), "v_mul_f64": ("d", "dd", lambda a, b: a * b),
    "v_fma_f64": ("d", "ddd", lambda a, b, c: (a.astype(np.longdouble) * b + c).astype(np.float64)),
    "v_max_f64": ("d", "dd", np.fmax), "v_min_f64": ("d", "dd", np.fmin), "v_rcp_f64": ("d", "d", lambda a: 1 / a),
    "v_sqrt_f64": ("d", "d", np.sqrt), "v_rsq_f64": ("d", "d", lambda a: 1 / np.sqrt(a)),
    "v_ldexp_f64": ("d", "di", np.ldexp), "v_rndne_f64": ("d", "d", np.rint), "v_floor_f64": ("d", "d", np.floor),
    # Conversions
    "v_cvt_f32_f16": ("f", "h", lambda a: a.astype(np.float32)),
    "v_cvt_f16_f32": ("h", "f", lambda a: a.astype(np.float16)),
    "v_cvt_f32_bf16": ("f", "b", lambda a: (a.astype(_U) << _u(16)).view(np.float32)),
    "v_cvt_f32_i32": ("f", "i", lambda a: a.astype(np.float32)),
    "v_cvt_f32_u32": ("f", "u", lambda a: a.astype(np.float32)),
    "v_cvt_f16_u16": ("h", "w", lambda a: a.astype(np.float16)),
    "v_cvt_f16_i16": ("h", "s", lambda a: a.astype(np.float16)),
    "v_cvt_i16_f16": ("s", "h", _clamped(-(1 << 15), (1 << 15) - 1, np.int16)),
    "v_cvt_u16_f16": ("w", "h", _clamped(0, (1 << 16) - 1, np.uint16)),
    "v_cvt_i32_f32": ("i", "f", _clamped(-(1 << 31), (1 << 31) - 1, _I)),
    "v_cvt_u32_f32": ("u", "f", _clamped(0, (1 << 32) - 1, _U)),
    "v_cvt_f64_f32": ("d", "f", lambda a: a.astype(np.float64)),
    "v_cvt_f32_f64": ("f", "d", lambda a: a.astype(np.float32)),
    "v_cvt_f64_i32": ("d", "i", lambda a: a.astype(np.float64)),
    "v_cvt_f64_u32": ("d", "u", lambda a: a.astype(np.float64)),
    "v_cvt_i32_f64": ("i", "d", _clamped(-(1 << 31), (1 << 31) - 1, _I)),
    "v_cvt_u32_f64": ("u", "d", _clamped(0, (1 << 32) - 1, _U)),
    "v_cvt_off_f32_i4": ("f", "u", lambda a: (((a & _u(15)) ^ _u(8)).astype(np.float32) - 8) / 16),
    "v_cvt_pkrtz_f16_f32": ("u", "ff", lambda a, b: _packed(_toward_zero_half(a), _toward_zero_half(b))),
    "v_cvt_pk_f16_f32": ("u", "ff", lambda a, b: _packed(a.astype(np.float16), b.astype(np.float16))),
    "v_cvt_pk_bf16_f32": ("u", "ff", lambda a, b: _packed(bf16_bits(a), bf16_bits(b))),
    "v_cvt_pk_u16_u32": ("u", "uu", lambda a, b: np.minimum(a, _u(0xFFFF)) | np.minimum(b, _u(0xFFFF)) << _u(16)),
}  # fmt: skip
for _number in range(4):
    ROWS[f"v_cvt_f32_ubyte{_number}"] = ("f", "u", _byte(_number))
for _kind, _letter in (("i32", "i"), ("u32", "u")):
    ROWS |= {
        f"v_max_{_kind}": (_letter, _letter * 2, np.maximum), f"v_min_{_kind}": (_letter, _letter * 2, np.minimum),
        f"v_max3_{_kind}": (_letter, _letter * 3, lambda a, b, c: np.maximum(np.maximum(a, b), c)),
        f"v_min3_{_kind}": (_letter, _letter * 3, lambda a, b, c: np.minimum(np.minimum(a, b), c)),
        f"v_med3_{_kind}": (_letter, _letter * 3, _middle),
        f"v_minmax_{_kind}": (_letter, _letter * 3, lambda a, b, c: np.maximum(np.minimum(a, b), c)),
        f"v_maxmin_{_kind}": (_letter, _letter * 3, lambda a, b, c: np.minimum(np.maximum(a, b), c)),
    }  # fmt: skip

OTHER_NAMES = {
    "v_add_nc_u32": "v_add_u32", "v_sub_nc_u32": "v_sub_u32", "v_subrev_nc_u32": "v_subrev_u32",
    "v_add_nc_i32": "v_add_i32", "v_sub_nc_i32": "v_sub_i32", "v_add_nc_u16": "v_add_u16",
    "v_sub_nc_u16": "v_sub_u16", "v_add_nc_u64": "v_add_u64", "v_sub_nc_u64": "v_sub_u64",
    "v_max_num_f32": "v_max_f32", "v_min_num_f32": "v_min_f32", "v_max_num_f16": "v_max_f16",
    "v_min_num_f16": "v_min_f16", "v_max3_num_f32": "v_max3_f32", "v_min3_num_f32": "v_min3_f32",
    "v_med3_num_f32": "v_med3_f32", "v_max_num_f64": "v_max_f64", "v_min_num_f64": "v_min_f64",
    "v_max3_num_f16": "v_max3_f16",
    "v_clz_i32_u32": "v_ffbh_u32", "v_ctz_i32_b32": "v_ffbl_b32", "v_cvt_pk_rtz_f16_f32": "v_cvt_pkrtz_f16_f32",
    "v_add_co_ci_u32": "v_addc_co_u32", "v_sub_co_ci_u32": "v_subb_co_u32", "v_subrev_co_ci_u32": "v_subbrev_co_u32",
    "v_mad_co_u64_u32": "v_mad_u64_u32", "v_mad_co_i64_i32": "v_mad_i64_i32",
}  # fmt: skip
"""What later targets call instructions of gfx9."""
