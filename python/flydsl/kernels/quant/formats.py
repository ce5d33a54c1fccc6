"""What quantisers give, computed by NumPy: the references of the kernels, and host functions in their own right.

Results are arrays of NumPy. Functions of FlyDSL's names, here those of E8M0 and `pack_uint4` and all others in
`host_quantisers.py`, give tensors of PyTorch for tensors. Rows that hold NaN or infinity have scales that say so here,
as the kernels have it.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from flydsl.kernels.quant.host_arrays import as_f32, as_numpy, beside

TYPES: dict[str, Any] = {
    "i8": np.int8, "fp8": ml_dtypes.float8_e4m3fn, "fp8_fnuz": ml_dtypes.float8_e4m3fnuz, "bf8": ml_dtypes.float8_e5m2,
    "i4": np.int8,
}  # fmt: skip
"""Formats of rows and blocks, and what holds them."""
LARGEST = {"i8": 127.0, "fp8": 448.0, "fp8_fnuz": 240.0, "bf8": 57344.0, "i4": 7.0}
GROUP = 32
"""Elements that share a scale in the MX formats."""


def codes_of(x: np.ndarray, kind: Any, most: float) -> np.ndarray:
    """Numbers as codes of a type up to ``most``: integers are cut off toward zero, floats rounded to nearest, both
    saturated. NaN is the float's, and the integer 0."""
    inside = np.clip(x, -most, most)
    return (np.trunc(np.nan_to_num(inside)) if np.dtype(kind).kind == "i" else inside).astype(kind)


def rounded(x: np.ndarray, dtype: str) -> np.ndarray:
    """`codes_of` a format of rows and blocks."""
    return codes_of(x, TYPES[dtype], LARGEST[dtype])


def _over(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Divide numbers by their scale; infinity over infinity is NaN, as the kernels have it."""
    with np.errstate(invalid="ignore"):
        return x / scale


def scale_of(top: np.ndarray, dtype: str) -> np.ndarray:
    """Return what a format's largest number stands for: ``top``, at least by the smallest normal number; 1 for
    zeros."""
    if dtype not in TYPES:
        raise ValueError(f"dtype must be one of {', '.join(TYPES)}, got {dtype!r}")
    exact = np.maximum(top / np.float32(LARGEST[dtype]), np.finfo(np.float32).smallest_normal)
    return np.where(top == 0, np.float32(1), exact).astype(np.float32)


def quantize_per_token(x: Any, dtype: str = "i8", smooth: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Return (q, scale of each row): scale = max |x| / the format's largest number, 1 for rows of zeros; a row with NaN
    has the scale NaN, and one with infinity that, as `ops.quantize_per_token` gives them. `pertoken_quant` takes NaN as
    0 and infinity as the largest number."""
    wide = as_f32(x)
    wide = wide if smooth is None else wide * as_f32(smooth)
    top = np.abs(wide).max(-1, keepdims=True, initial=0)
    scale = scale_of(top, dtype)
    return rounded(_over(wide, scale), dtype), scale


def quantize_per_tensor(x: Any, dtype: str = "fp8") -> tuple[np.ndarray, np.ndarray]:
    """Return (q, one scale for all)."""
    wide = as_f32(x)
    q, scale = quantize_per_token(wide.reshape(1, -1), dtype)
    return q.reshape(wide.shape), scale.reshape(1)


def quantize_blocks(x: Any, rows: int = 1, columns: int = 128, dtype: str = "fp8") -> tuple[np.ndarray, np.ndarray]:
    """Return (q, f32 scales) with a scale for every block of rows by columns, which the extents are multiples of."""
    wide = as_f32(x)
    m, n = wide.shape
    if m % rows or n % columns:
        raise ValueError(f"{m} x {n} elements are no blocks of {rows} x {columns}")
    blocks = wide.reshape(m // rows, rows, n // columns, columns)
    top = np.abs(blocks).max((1, 3), keepdims=True)
    scale = scale_of(top, dtype)
    return rounded(_over(blocks, scale), dtype).reshape(m, n), scale[:, 0, :, 0]


# Scales that are powers of two ---------------------------------------------------------------------------------------


def f32_to_e8m0(x: Any) -> Any:
    """Return the exponent of a number, one more from a significand of 1.5 on; 255 stays 255."""
    bits = as_numpy(x).astype(np.float32).view(np.uint32)
    exponent, rest = (bits >> 23) & 0xFF, bits & 0x7FFFFF
    up = np.where(exponent == 0, rest > 0x400000, rest >= 0x400000)
    return beside(x, np.where(exponent == 255, 255, exponent + up).astype(np.uint8))


def e8m0_to_f32(scale: Any) -> Any:
    """2 to the power of a byte less 127; 255 is NaN."""
    codes = as_numpy(scale)
    codes = (codes if codes.dtype.kind in "iu" else codes.view(np.uint8)).astype(np.uint32)
    bits = np.where(codes == 0, 0x400000, np.where(codes == 255, 0x7FC00000, codes << 23))
    return beside(scale, bits.astype(np.uint32).view(np.float32))


MX: dict[str, tuple[Any, float, float]] = {
    "mxfp8": (ml_dtypes.float8_e4m3fn, 448.0, 448.0), "mxfp6": (ml_dtypes.float6_e2m3fn, 7.5, 4.0),
    "mxfp4": (ml_dtypes.float4_e2m1fn, 6.0, 4.0), "mxfp8_whole": (ml_dtypes.float8_e4m3fn, 448.0, 256.0),
}  # fmt: skip
"""Name -> (type, largest number, what the largest element of a group is divided by for its scale).

A scale is rounded to a power of two and leaves up to 1.5 times the divisor: more than e4m3 holds in "mxfp8", where
FlyDSL's scales cut the largest elements off too. "mxfp8_whole" leaves room for them."""


def quantize_mx(x: Any, dtype: str = "mxfp4") -> tuple[np.ndarray, np.ndarray]:
    """Return (bytes, e8m0 scales) of groups of 32 along the last dimension.

    mxfp8 and mxfp8_whole have a byte for each element, mxfp4 one for two, the even one in the low half; mxfp6 has 32
    bytes for 32 elements, of which the first 24 hold their codes one behind the other and the rest are zero.
    """
    _, top, divisor = MX[dtype]
    wide = as_f32(x)
    groups = groups_of(wide)
    largest = np.abs(groups).max(-1)
    scale = f32_to_e8m0((np.maximum(largest, 1e-30) if top == 448 else largest) / np.float32(divisor))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        packed = pack_codes(number_bytes(groups / e8m0_to_f32(scale)[..., None], dtype), dtype)
    return packed.reshape(*wide.shape[:-1], packed.shape[-2] * packed.shape[-1]), scale


def groups_of(x: np.ndarray) -> np.ndarray:
    """Return rows cut into groups of 32."""
    if x.shape[-1] % GROUP:
        raise ValueError(f"rows of {x.shape[-1]} elements are no groups of {GROUP}")
    return x.reshape(*x.shape[:-1], x.shape[-1] // GROUP, GROUP)


def number_bytes(x: np.ndarray, dtype: str) -> np.ndarray:
    """Numbers, divided by their scale already, as codes of an MX format with a byte for each."""
    kind, top, _ = MX[dtype]
    with np.errstate(invalid="ignore"):  # codes of less than 8 bits have none for NaN
        return np.clip(x, -top, top).astype(kind).view(np.uint8)


def dequantize_mx(packed: Any, scale: Any, dtype: str = "mxfp4") -> np.ndarray:
    """Return the numbers, in float64, of what `quantize_mx` gives for formats of 8 and of 4 bits."""
    codes = as_numpy(packed).view(np.uint8)
    wide = (unpacked_pairs(codes) if dtype == "mxfp4" else codes).view(MX[dtype][0]).astype(np.float64)
    return wide * np.repeat(e8m0_to_f32(as_numpy(scale)).astype(np.float64), GROUP, -1)


def unpacked_pairs(codes: np.ndarray) -> np.ndarray:
    """Codes of four bits, two in a byte, as bytes of their own."""
    return np.stack([codes & 15, codes >> 4], -1).reshape(*codes.shape[:-1], 2 * codes.shape[-1])


def pack_uint4(codes: Any) -> Any:
    """Codes of four bits, one in a byte, as half as many bytes: the even one in the low half."""
    if codes.shape[-1] % 2:
        raise ValueError(f"two codes share a byte, got {codes.shape[-1]} in a row")
    return (codes[..., 0::2] & 15) | ((codes[..., 1::2] & 15) << 4)


def pack_codes(codes: np.ndarray, dtype: str) -> np.ndarray:
    """Codes of groups of 32 as bytes."""
    if dtype.startswith("mxfp8"):
        return codes
    if dtype == "mxfp4":
        return pack_uint4(codes)
    a, b, c, d = (codes[..., i::4] & 63 for i in range(4))
    packed = np.stack([a | (b << 6), (b >> 2) | (c << 4), (c >> 4) | (d << 2)], -1).astype(np.uint8)
    packed = packed.reshape(*codes.shape[:-1], 24)
    return np.concatenate([packed, np.zeros((*codes.shape[:-1], 8), np.uint8)], -1)
