"""Weights of a layer of experts as the kernels of a target read them.

experts = prepare_experts(w1, w2, kind="fp8", arch="gfx950")

w1 is [E, 2 inter, model], gate rows before up rows, w2 [E, model, inter], both f16 or bf16. A kind says what they
become.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from flydsl.kernels.blocks.inputs import contiguous, empty_beside, on_given_stream, stream_of
from flydsl.kernels.quant.device_quant import (
    build_block_quant_module,
    build_mx_quant_module,
    build_row_quant_module,
)
from flydsl.kernels.quant.shuffles import pack_int4, scale_32x4, shuffle_scale_w4, shuffle_weight

FP8 = {"gfx942": "fp8_fnuz", "gfx950": "fp8", "gfx1250": "fp8", "sm_90a": "fp8"}
"""Targets with kernels -> what their 8-bit floats are called."""
CODES = {"fp8": "float8_e4m3fn", "fp8_fnuz": "float8_e4m3fnuz", "i8_rounded": "int8"}
TYPES = {"float16": ("fp16", "f16"), "bfloat16": ("bf16", "bf16")}
"""Type of x -> kind of a stage, and what quantisers and results call it."""
PLAIN, BLOCKS = "plain", "fp8_blockscale"


class MxFormats(NamedTuple):
    """Formats with a scale for 32 elements, of rows and of weights."""

    rows: str
    weights: str


MX = {"mxfp4": MxFormats("fp4", "fp4"), "a8w4": MxFormats("fp8", "fp4"), "mxfp8": MxFormats("fp8", "fp8")}
WHOLE = {"fp4": "fp4", "fp8": "fp8_whole"}
"""How quantisers call a format, those that cut no element off."""
ROWS = (PLAIN, "fp8", "int8", "int4", "int4_bf16", BLOCKS)
KINDS = {"gfx942": ROWS, "gfx950": (*ROWS, *MX), "gfx1250": (PLAIN, *MX), "sm_90a": (PLAIN, BLOCKS)}
SIDE = 128
"""Of a block that has a scale."""


@dataclass(frozen=True, eq=False)
class Experts:
    """Weights of a layer as the kernels of a target read them, with their scales."""

    kind: str
    arch: str
    w1: Any
    w2: Any
    scale1: Any
    scale2: Any

    @property
    def shape(self) -> tuple[int, int, int]:
        """Experts, model and inter."""
        count, model, inter = self.w2.shape
        packed = self.kind.startswith("int4") or (self.kind in MX and MX[self.kind].weights == "fp4")
        return count, model, inter * 2 if packed else inter


def name_of(x: Any) -> str:
    return str(x.dtype).removeprefix("torch.")


# Weights -------------------------------------------------------------------------------------------------------------


@on_given_stream
def prepare_experts(w1: Any, w2: Any, kind: str = PLAIN, arch: str = "gfx942", stream: object = None) -> Experts:
    """Weights in f16 or bf16 as a kind: "plain", "fp8", "int8", "int4" and "fp8_blockscale" multiply such numbers,
    "int4_bf16" weights of four bits with bf16; "mxfp4", "mxfp8" and "a8w4" (rows of fp8, weights of fp4) have a scale
    for 32 elements."""
    check_weights(w1, w2, kind, arch)
    stream = stream_of(w1, stream)
    if arch == "sm_90a":  # gate and up in turns, for an epilogue that takes neighbours
        count, columns, model = w1.shape
        w1 = w1.reshape(count, 2, columns // 2, model).swapaxes(1, 2).reshape(count, columns, model)
        if kind == PLAIN:
            return Experts(kind, arch, contiguous(w1), contiguous(w2), None, None)
        found = [quantised_blocks(contiguous(w), SIDE, FP8[arch], stream) for w in (w1, w2)]
        scales = [s.reshape(w.shape[0], -1, w.shape[2] // SIDE).swapaxes(1, 2) for w, (_, s) in zip((w1, w2), found)]
        return Experts(kind, arch, *(q.reshape(w.shape) for w, (q, _) in zip((w1, w2), found)), *scales)
    pairs = [ordered(contiguous(w), kind, arch, stream) for w in (w1, w2)]
    return Experts(kind, arch, *(codes for codes, _ in pairs), *(scale for _, scale in pairs))


def check_weights(w1: Any, w2: Any, kind: str, arch: str) -> None:
    """Refuse weights that do not go together."""
    if arch not in KINDS:
        raise ValueError(f"experts run on {', '.join(KINDS)}, not on {arch}")
    if kind not in KINDS[arch]:
        raise ValueError(f"kind must be one of {', '.join(KINDS[arch])} on {arch}, got {kind!r}")
    if len(w1.shape) != 3 or len(w2.shape) != 3:
        raise ValueError(
            f"w1 is (E, 2 inter, model) and w2 (E, model, inter), got {tuple(w1.shape)}, {tuple(w2.shape)}"
        )
    count, columns, model = w1.shape
    if tuple(w2.shape) != (count, model, columns // 2) or columns % 2:
        raise ValueError(
            f"w1 of {tuple(w1.shape)} goes with w2 of {(count, model, columns // 2)}, not {tuple(w2.shape)}"
        )
    names = name_of(w1), name_of(w2)
    if names[0] != names[1] or names[0] not in TYPES:
        raise ValueError(f"weights are given in {' or '.join(TYPES)}, both the same; got {names[0]} and {names[1]}")
    step = 256 if kind in MX else SIDE if kind == BLOCKS else 32 if arch == "sm_90a" else 64
    for name, value in (("model", model), ("inter", columns // 2)):
        if value % step or value == 0:
            raise ValueError(f"{name} must be a positive multiple of {step} for {kind} weights, got {value}")


def check_experts(experts: Experts) -> None:
    """Refuse weights that were put together by hand and do not go together, and scales of blocks on Hopper. Elsewhere
    launches look at how many scales there are, and convert them, but for those that are bytes."""
    count, model, inter = experts.shape
    wanted = {"w1": (count, 2 * inter, model * experts.w2.shape[2] // max(inter, 1))}
    if experts.arch == "sm_90a" and experts.kind == BLOCKS:
        wanted["scale1"] = count, model // SIDE, 2 * inter // SIDE
        wanted["scale2"] = count, inter // SIDE, model // SIDE
    for name, shape in wanted.items():
        found = getattr(experts, name)
        if tuple(found.shape) != shape:
            raise ValueError(f"with w2 of {tuple(experts.w2.shape)}, {name} is {shape}, got {tuple(found.shape)}")
        if name != "w1" and name_of(found) != "float32":
            raise ValueError(f"{name} holds {name_of(found)}; scales of blocks are float32")
    for name in ("scale1", "scale2") if experts.kind in MX else ():
        if getattr(experts, name).dtype.itemsize != 1:
            raise ValueError(f"{name} holds {name_of(getattr(experts, name))}; scales of {experts.kind} are bytes")


def ordered(w: Any, kind: str, arch: str, stream: object) -> tuple[Any, Any]:
    """Weights of a kind in the order of the preshuffle GEMM, and their scales."""
    flat = w.reshape(-1, w.shape[-1])
    if kind == PLAIN:
        return shuffle_weight(flat).reshape(w.shape), None
    if kind.startswith("int4"):
        wide = flat.astype("float32") if hasattr(flat, "astype") else flat.float()
        top = abs(wide).max(-1) if hasattr(flat, "astype") else wide.abs().amax(-1)
        scale = top / 7 + (top == 0)
        codes = rounded(wide / scale[:, None])
        return pack_int4(shuffle_weight(codes)).reshape(*w.shape[:2], -1), scale
    if kind in MX:
        codes, scale = quantised_groups(flat, MX[kind].weights, stream)
        ordered_scale = scale_32x4(scale) if arch == "gfx1250" else shuffle_scale_w4(scale, w.shape[0])
        return shuffle_weight(codes).reshape(*w.shape[:2], -1), ordered_scale
    if kind == BLOCKS:
        codes, scale = quantised_blocks(w, SIDE, FP8[arch], stream)
    else:
        codes, scale = quantised_rows(flat, FP8[arch] if kind == "fp8" else "i8_rounded", stream)
    return shuffle_weight(bytes_of(codes)).reshape(w.shape), scale


def rounded(numbers: Any) -> Any:
    return numbers.round().astype("int8") if hasattr(numbers, "astype") else numbers.round().char()


def bytes_of(codes: Any) -> Any:
    """8-bit codes as integers, which everything takes."""
    if not hasattr(codes, "new_empty"):
        return codes.view("int8")
    import torch

    return codes.view(torch.int8)


def quantised_rows(x: Any, quant: str, stream: object) -> tuple[Any, Any]:
    """Codes and a scale for each row of a matrix."""
    rows, length = x.shape
    codes, scale = empty_beside(x, (rows, length), CODES[quant]), empty_beside(x, (rows,), "float32")
    if rows:
        build_row_quant_module(length, TYPES[name_of(x)][1], quant)(x, codes, scale, rows, stream)
    return codes, scale


def quantised_blocks(x: Any, side: int, quant: str, stream: object) -> tuple[Any, Any]:
    """Codes and a scale for each ``side`` rows by 128 columns of an array's rows."""
    flat = x.reshape(-1, x.shape[-1])
    rows, length = flat.shape
    codes = empty_beside(x, (rows, length), CODES[quant])
    scale = empty_beside(x, (rows // side, length // SIDE), "float32")
    if rows:
        build_block_quant_module(length, TYPES[name_of(x)][1], side, quant)(flat, codes, scale, rows, stream)
    return codes, scale


def quantised_groups(x: Any, format: str, stream: object) -> tuple[Any, Any]:
    """Bytes of codes, and a scale for each 32 elements of a matrix's rows, with room for the largest of them."""
    rows, length = x.shape
    codes = empty_beside(x, (rows, length // 2 if format == "fp4" else length), "uint8")
    scale = empty_beside(x, (rows, length // 32), "uint8")
    if rows:
        build_mx_quant_module(length, TYPES[name_of(x)][1], f"mx{WHOLE[format]}")(x, codes, scale, rows, stream)
    return codes, scale
