"""FlyDSL's quantisers of the host by their own names, for arrays of NumPy and tensors of PyTorch, and back to numbers.

q, scale = pertoken_quant(x, quant_dtype="fp8")              a scale for each row
codes, scale, scaled = per_1x32_f4_quant(x)                  E8M0 scales of 32 elements; so f8, f6
codes, scale = dynamic_mxfp4_quant(x, shuffle=True)          the same with another rounding, of scales and of codes

Results are of the kind of what is given and lie where that does; they are computed on the host. Codes of six and of
four bits, and E8M0 scales, are bytes. What the GPU's quantisers give is in `formats.py`: rows that hold NaN or infinity
have scales that say so there, and here neither is left.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from flydsl.kernels.quant.formats import (
    codes_of,
    e8m0_to_f32,
    f32_to_e8m0,
    groups_of,
    number_bytes,
    pack_uint4,
    quantize_mx,
    unpacked_pairs,
)
from flydsl.kernels.quant.host_arrays import PAIRS, as_f32, as_numpy, beside, held_as, name_of
from flydsl.kernels.quant.shuffles import e8m0_shuffle

HALFWAY = np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0], np.float32)
"""Between the numbers of E2M1 of one sign, from the least on."""


def get_dtype_max(dtype: Any) -> float:
    """Return the largest number of a type of NumPy, ml_dtypes or PyTorch, or of the name of one."""
    name = name_of(dtype)
    kind = np.dtype(getattr(ml_dtypes, "float4_e2m1fn" if name == PAIRS else name, name))
    integer = kind.kind in "iu" or name.startswith(("int", "uint"))
    return float((ml_dtypes.iinfo if integer else ml_dtypes.finfo)(kind).max)


def pertoken_quant(
    x: Any, scale: Any = None, x_scale: Any = None, scale_dtype: Any = "float32", quant_dtype: Any = "int8",
    dtypeMax: float | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Return (q, scales[..., 1]) of rows: a scale is max |x| / dtypeMax, the type's largest number; 1 for zeros.

    Elements are multiplied by ``x_scale`` first, where there is one; NaN counts as 0, infinity as the largest number of
    f32. ``scale`` is taken where it is given. Integers are cut off toward zero, floats rounded to nearest, both
    saturated; int4 is held in int8. One scale for all is that of ``x.reshape(1, -1)``.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        wide = as_f32(x) if x_scale is None else as_f32(x) * as_f32(x_scale)
    wide = np.nan_to_num(wide)
    most = np.float32(get_dtype_max(quant_dtype) if dtypeMax is None else dtypeMax)
    if scale is None:
        exact = np.abs(wide).max(-1, keepdims=True, initial=0) / most
        steps = np.where(exact == 0, np.float32(1), exact)
    else:
        steps = as_f32(scale)
    with np.errstate(over="ignore"):
        codes = codes_of(wide / steps, held_as(quant_dtype), float(most))
    return beside(x, codes), beside(x, steps.astype(held_as(scale_dtype)))


# Groups of 32 --------------------------------------------------------------------------------------------------------


def per_1x32_f4_quant(x: Any, shuffle: bool = False) -> tuple[Any, Any, Any]:
    """Return (bytes of two E2M1, E8M0 scales, what was rounded: x / scale in f32) of groups of 32 along the last mode.

    With ``shuffle`` scales are in the order of `e8m0_shuffle`.
    """
    packed, scale, scaled = _quantised(x, "mxfp4")
    return beside(x, packed), _ordered(x, scale, shuffle), beside(x, scaled)


def per_1x32_f8_quant(x: Any, shuffle: bool = False) -> tuple[Any, Any]:
    """Return (OCP's e4m3, E8M0 scales) of groups of 32: the scale is that of max |x| / 448, and codes are saturated."""
    packed, scale, _ = _quantised(x, "mxfp8")
    return beside(x, packed.view(ml_dtypes.float8_e4m3fn)), _ordered(x, scale, shuffle)


def per_1x32_f6_quant(x: Any, shuffle: bool = False) -> tuple[Any, Any, Any]:
    """Return (bytes, E8M0 scales, codes) of E2M3, the codes with a byte for each. 32 bytes have 32 codes: 24 hold them
    one behind the other, and 8 are zero."""
    packed, scale, scaled = _quantised(x, "mxfp6")
    codes = number_bytes(scaled, "mxfp6")
    return beside(x, packed), _ordered(x, scale, shuffle), beside(x, codes)


def dynamic_mxfp4_quant(x: Any, shuffle: bool = False) -> tuple[Any, Any]:
    """Return (bytes of two E2M1, E8M0 scales) of groups of 32, rounded otherwise than by `per_1x32_f4_quant`.

    A scale is a quarter of max |x| rounded to a power of two, up from 1.75 times one on, and codes halfway between two
    numbers are those of the larger magnitude. With ``shuffle`` scales are in the order of `e8m0_shuffle`.
    """
    wide = as_f32(x)
    groups = groups_of(wide)
    bits = np.abs(groups).max(-1, initial=0).astype(np.float32).view(np.uint32)
    exponent = ((bits.astype(np.int64) + 0x200000) >> 23).astype(np.int32)
    scale = np.where(exponent >= 255, 254, np.clip(exponent - 2, 0, 254)).astype(np.uint8)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = groups / e8m0_to_f32(scale)[..., None]
    codes = np.searchsorted(HALFWAY, np.abs(scaled), side="right").astype(np.uint8)
    codes |= np.signbit(scaled).astype(np.uint8) << 3
    return beside(x, pack_uint4(codes.reshape(wide.shape))), _ordered(x, scale, shuffle)


def _quantised(x: Any, dtype: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what `quantize_mx` gives, and the numbers that it rounded."""
    wide = as_f32(x)
    packed, scale = quantize_mx(wide, dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = groups_of(wide) / e8m0_to_f32(scale)[..., None]
    return packed, scale, scaled.reshape(wide.shape)


def _ordered(like: Any, scale: np.ndarray, shuffle: bool) -> Any:
    return beside(like, e8m0_shuffle(scale.reshape(-1, scale.shape[-1])) if shuffle else scale)


# Codes as numbers ----------------------------------------------------------------------------------------------------


def mxfp4_to_f32(x: Any) -> Any:
    """Return the numbers of bytes of two E2M1, the low half first, in f32 and without a scale."""
    return beside(x, unpacked_pairs(as_numpy(x).view(np.uint8)).view(ml_dtypes.float4_e2m1fn).astype(np.float32))


def fp6_e2m3_to_f32(x: Any) -> Any:
    """Return the numbers of E2M3 codes, one in a byte, in f32."""
    codes = as_numpy(x).view(np.uint8) & 63
    return beside(x, codes.view(ml_dtypes.float6_e2m3fn).astype(np.float32))


def fp8_e4m3_to_f32(x: Any) -> Any:
    """Return the numbers of e4m3 in f32: bytes are OCP's, and arrays of 8-bit floats what they say."""
    codes = as_numpy(x)
    codes = codes.view(ml_dtypes.float8_e4m3fn) if codes.dtype.kind in "iu" else codes
    return beside(x, codes.astype(np.float32))


# Drawn ---------------------------------------------------------------------------------------------------------------


def random_e8m0(
    rows: int, cols: int, low_exp: int = 127, high_exp: int = 132, *, rng: np.random.Generator | None = None,
    like: Any = None,
) -> Any:  # fmt: skip
    """Return drawn scales as bytes, from ``low_exp`` to below ``high_exp``; a tensor beside ``like`` if that is one."""
    drawn = (rng or np.random.default_rng()).integers(low_exp, high_exp, (rows, cols), dtype=np.uint8)
    return beside(like, drawn)


def random_fp4_packed(rows: int, cols: int, *, rng: np.random.Generator | None = None, like: Any = None) -> Any:
    """Return drawn codes of four bits, two in a byte, ``cols`` of them in a row of ``cols / 2``; likewise a tensor."""
    if cols % 2:
        raise ValueError(f"two codes share a byte, got {cols} in a row")
    return beside(like, (rng or np.random.default_rng()).integers(0, 256, (rows, cols // 2), dtype=np.uint8))


__all__ = [
    "dynamic_mxfp4_quant", "e8m0_shuffle", "e8m0_to_f32", "f32_to_e8m0", "fp6_e2m3_to_f32", "fp8_e4m3_to_f32",
    "get_dtype_max", "mxfp4_to_f32", "pack_uint4", "per_1x32_f4_quant", "per_1x32_f6_quant", "per_1x32_f8_quant",
    "pertoken_quant", "random_e8m0", "random_fp4_packed",
]  # fmt: skip
