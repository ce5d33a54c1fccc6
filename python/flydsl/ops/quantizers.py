"""`flydsl.ops.quantize_per_token`, `quantize_per_tensor`, `quantize_mx` and `quantize_blocks`."""

from __future__ import annotations

from operator import index
from typing import Any

from flydsl.kernels.quant.device_quant import (
    MX,
    SIDE,
    build_block_quant_module,
    build_mx_quant_module,
    build_row_quant_module,
    build_tensor_quant_module,
)
from flydsl.ops import arrays
from flydsl.ops.op import Arguments, Op, numpy_only, why_not_rows

NAMES = {
    "int8": "i8", "i8": "i8", "fp8": "fp8", "float8_e4m3fn": "fp8", "fp8_fnuz": "fp8_fnuz",
    "float8_e4m3fnuz": "fp8_fnuz", "bf8": "bf8", "float8_e5m2": "bf8",
}  # fmt: skip


def _row_shapes(x: Any, quant: str, whole: bool) -> Arguments:
    scales = (1,) if whole else (*x.shape[:-1], 1)
    return arrays.empty(x, tuple(x.shape), quant), arrays.empty(x, scales, "f32")


def _launch_rows(arguments: Arguments, results: Arguments) -> None:
    x, quant, whole = arguments
    matrix, out = (arrays.rows(value) for value in (x, results[0]))
    m, n = matrix.shape
    if not (m and n):  # a row of nothing is one of zeros
        arrays.filled(results[1], 1.0)
    elif whole:
        tops = arrays.empty(x, (m,), "f32")
        run = build_tensor_quant_module(n, arrays.NAMES[x.dtype], quant)
        arrays.launch(run, x, matrix, out, tops, results[1], m)
    else:
        run = build_row_quant_module(n, arrays.NAMES[x.dtype], quant)
        arrays.launch(run, x, matrix, out, arrays.numbers(results[1]), m)


QUANTIZE_ROWS = Op("quantize_rows", "Tensor x, str dtype, bool whole", _row_shapes, _launch_rows, outputs=2, results=2)


def _mx_shapes(x: Any, quant: str) -> Arguments:
    n = x.shape[-1]
    size = n // 2 if quant == "mxfp4" else n
    lead = tuple(x.shape[:-1])
    return arrays.empty(x, (*lead, size), "u8"), arrays.empty(x, (*lead, n // 32), "u8")


def _launch_mx(arguments: Arguments, results: Arguments) -> None:
    x, quant = arguments
    matrix, out, scales = (arrays.rows(value) for value in (x, *results))
    m, n = matrix.shape
    if m and n:
        arrays.launch(build_mx_quant_module(n, arrays.NAMES[x.dtype], quant), x, matrix, out, scales, m)


QUANTIZE_MX = Op("quantize_mx", "Tensor x, str dtype", _mx_shapes, _launch_mx, outputs=2, results=2)


def _block_shapes(x: Any, rows: int, quant: str) -> Arguments:
    m, n = x.shape
    return arrays.empty(x, (m, n), quant), arrays.empty(x, (m // rows, n // SIDE), "f32")


def _launch_blocks(arguments: Arguments, results: Arguments) -> None:
    x, rows, quant = arguments
    matrix, out, scales = (arrays.rows(value) for value in (x, *results))
    m, n = matrix.shape
    if m and n:
        arrays.launch(build_block_quant_module(n, arrays.NAMES[x.dtype], rows, quant), x, matrix, out, scales, m)


QUANTIZE_BLOCKS = Op(
    "quantize_blocks", "Tensor x, int rows, str dtype", _block_shapes, _launch_blocks, outputs=2, results=2
)


def why_not(input: Any) -> str | None:
    """Return why there is no kernel, or None; torch has nothing to leave these to."""
    return why_not_rows(input)


def _name(dtype: Any) -> str:
    name = getattr(dtype, "__name__", str(dtype)).split(".")[-1]
    if name not in NAMES:
        raise ValueError(f"dtype must be one of {', '.join(NAMES)}, got {dtype!r}")
    return NAMES[name]


def _quantized(name: str, op: Op, input: Any, *how: Any) -> tuple[Any, Any]:
    """Return what an op makes of an array that it can take, by a recorded call if there is one."""
    if not arrays.is_followed() and (found := op.lanes.again(input, *how)) is not None:
        return found
    numpy_only(name, why_not(input))
    return op(input, *how, key=how)


def quantize_per_token(input: Any, dtype: Any = "int8") -> tuple[Any, Any]:
    """Return (q, scale): each row over max |x| / the largest number of the format, 127 or 448; rows of zeros have scale
    1.

    No scale is below 2^-126, so that each has an inverse. int8 is cut off toward zero, which is the contract of
    FlyDSL's quantisers; 8-bit floats are rounded to nearest. Scales are exact to 1e-6, codes to one step.
    """
    return _quantized("quantize_per_token", QUANTIZE_ROWS, input, _name(dtype), False)


def quantize_per_tensor(input: Any, dtype: Any = "fp8") -> tuple[Any, Any]:
    """Return (q, scale of one element), as `quantize_per_token` of all elements as one row. Accuracy as there."""
    return _quantized("quantize_per_tensor", QUANTIZE_ROWS, input, _name(dtype), True)


@QUANTIZE_MX.answers("input", "dtype")
def quantize_mx(input: Any, dtype: str = "mxfp4") -> tuple[Any, Any]:
    """Return (bytes, e8m0 scales) of groups of 32 along the last dimension, for "mxfp8", "mxfp8_whole", "mxfp6" and
    "mxfp4"; bit by bit as `flydsl.kernels.quant.formats.quantize_mx` says.
    """
    if not arrays.is_followed() and (found := QUANTIZE_MX.lanes.again(input, dtype)) is not None:
        return found
    numpy_only("quantize_mx", why_not(input))
    if dtype not in MX:
        raise ValueError(f"dtype must be one of {', '.join(MX)}, got {dtype!r}")
    if not input.shape or input.shape[-1] % 32:
        raise ValueError(f"the last dimension is a multiple of 32, got shape {tuple(input.shape)}")
    return QUANTIZE_MX(input, dtype, key=(dtype,))


def quantize_blocks(input: Any, block: tuple[int, int] = (1, 128), dtype: Any = "fp8") -> tuple[Any, Any]:
    """Return (q, f32 scales) of a matrix with a scale for each block of (1, 128) or (128, 128). Accuracy as of
    `quantize_per_token`.
    """
    if not isinstance(block, (tuple, list)) or tuple(block) not in ((1, SIDE), (SIDE, SIDE)):
        raise ValueError(f"blocks are (1, 128) or (128, 128), got {block}")
    (rows, columns), name = block, _name(dtype)
    if not arrays.is_followed() and (found := QUANTIZE_BLOCKS.lanes.again(input, rows, name)) is not None:
        return found
    numpy_only("quantize_blocks", why_not(input))
    if not all(hasattr(side, "__index__") for side in block):
        raise TypeError(f"blocks are (1, 128) or (128, 128), of integers; got {block}")
    if len(input.shape) != 2 or input.shape[0] % rows or input.shape[1] % columns:
        raise ValueError(f"blocks of {block} do not divide {tuple(input.shape)}")
    return QUANTIZE_BLOCKS(input, index(rows), name, key=(rows, name))
