"""A layer of experts with random weights in every kind of number, and what its stages must give in float64."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from flydsl.kernels.gemm.preshuffle_gemm import pack_int4, shuffle_weight
from flydsl.kernels.moe import references
from flydsl.kernels.moe.references import Order, widened
from flydsl.kernels.quant.formats import dequantize_mx, quantize_mx, quantize_per_token
from flydsl.kernels.quant.shuffles import shuffle_scale_for_int4
from tests.support import random_data

FP8 = {"gfx942": "fp8_fnuz", "gfx950": "fp8"}
OUT: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}
PLAIN: dict[str, Any] = {"fp16": np.float16, "bf16": ml_dtypes.bfloat16}


@dataclass(frozen=True)
class Sizes:
    """(tokens, experts, topk), (model, inter), and the rows of a block."""

    tokens: int
    experts: int
    topk: int
    model: int = 256
    inter: int = 128
    unit: int = 16


@dataclass(frozen=True)
class Operand:
    """What a kernel reads, its scales, and its numbers."""

    codes: Any
    scale: Any
    numbers: np.ndarray


def rows_of(x: np.ndarray, kind: str, arch: str) -> Operand:
    """Activations in a kind."""
    if kind in PLAIN:
        codes = x.astype(PLAIN[kind])
        return Operand(codes, None, codes.astype(np.float64))
    codes, scale = quantize_per_token(x, FP8[arch] if kind == "fp8" else "i8")
    return Operand(codes.view(np.int8), scale.reshape(-1), widened(codes, scale))


def weights_of(w: np.ndarray, kind: str, arch: str) -> Operand:
    """Weights [E, n, k] in a kind, shuffled."""
    flat = w.reshape(-1, w.shape[-1])
    if kind.startswith("int4_bf16_"):
        return grouped_weights(w, kind)
    if kind in ("int4", "int4_bf16"):
        scale = np.abs(flat).max(-1, keepdims=True).astype(np.float32) / 7
        codes = np.rint(flat / scale).astype(np.int8)
        shuffled = pack_int4(shuffle_weight(codes))
        return Operand(shuffled, scale.reshape(-1), widened(codes, scale).reshape(w.shape))
    found = rows_of(flat, "int8" if kind == "int8smooth" else kind, arch)
    return Operand(shuffle_weight(found.codes), found.scale, found.numbers.reshape(w.shape))


def grouped_weights(w: np.ndarray, kind: str) -> Operand:
    """Weights of four bits with a scale for each 32 along K, [E, K / 32, N] of f32 or bf16."""
    dtype = ml_dtypes.bfloat16 if kind.endswith("bf16") and kind != "int4_bf16" else np.float32
    groups = w.reshape(*w.shape[:2], -1, 32)
    scale = (np.abs(groups).max(-1) / 7).astype(dtype)
    codes = np.clip(np.rint(groups / scale.astype(np.float32)[..., None]), -8, 7).astype(np.int8)
    numbers = (codes.astype(np.float64) * scale.astype(np.float64)[..., None]).reshape(w.shape)
    shuffled = pack_int4(shuffle_weight(codes.reshape(-1, w.shape[-1])))
    return Operand(shuffled, shuffle_scale_for_int4(scale.swapaxes(1, 2).copy()), numbers)


MX = {"fp4": ("mxfp4", "mxfp4"), "fp8": ("mxfp8", "mxfp8"), "a8w4": ("mxfp8", "mxfp4")}
"""Kinds with a scale for 32 elements -> formats of rows and of weights."""


def mx_operand(x: np.ndarray, kind: str, weights: bool = False) -> Operand:
    """Rows or weights of a kind of gfx1250 as they come from quantisers, nothing shuffled."""
    if kind in PLAIN:
        codes = x.astype(PLAIN[kind])
        return Operand(codes, None, codes.astype(np.float64))
    quant = MX[kind][weights]
    flat = x.reshape(-1, x.shape[-1])
    codes, scale = quantize_mx(flat, quant)
    return Operand(codes, scale, dequantize_mx(codes, scale, quant).reshape(x.shape))


def random_ids(sizes: Sizes) -> tuple[np.ndarray, np.ndarray]:
    """Experts of tokens, some of which list one twice, and their weights."""
    rng = random_data.generator()
    ids = rng.integers(0, sizes.experts, (sizes.tokens, sizes.topk)).astype(np.int32)
    weights = rng.uniform(0.2, 1, ids.shape).astype(np.float32)
    return ids, weights


def order_of(ids: np.ndarray, weights: np.ndarray, sizes: Sizes) -> Order:
    return references.sort_by_expert(ids, weights, sizes.experts, sizes.unit)


def guarded(shape: tuple[int, ...], dtype: Any, fill: float = np.nan) -> tuple[np.ndarray, np.ndarray]:
    """An array of rows filled with a number, and the larger one around it, which has rows of NaN."""
    size = int(np.prod(shape[1:]))
    whole = np.full((shape[0] + 6, size), np.nan, dtype)
    inside = whole[3 : 3 + shape[0]]
    inside[:] = np.array(fill).astype(dtype)
    return inside.reshape(shape), whole


def awkward_ids(rng: np.random.Generator, experts: int, shape: tuple[int, int]) -> Iterator[np.ndarray]:
    """Yield ids of experts, (tokens, experts of a token): one for all, one listed twice, some of no expert, and any."""
    for case in range(4):
        ids = rng.integers(0, experts, shape).astype(np.int32)
        if case == 0:
            ids[:] = experts - 1
        elif case == 1:
            ids[:, 1] = ids[:, 0]
        elif case == 2:
            ids[:] = rng.choice([-1, 0, experts, 2**30, -(2**31)], ids.shape)
        yield ids


def untouched(whole: np.ndarray) -> bool:
    return bool(np.isnan(np.concatenate([whole[:3], whole[-3:]]).astype(np.float32)).all())


def cosine(got: np.ndarray, want: np.ndarray) -> float:
    a, b = got.astype(np.float64).ravel(), want.ravel()
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))
