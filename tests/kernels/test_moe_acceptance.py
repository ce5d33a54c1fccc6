"""Whole layers of experts: every kind on every target, at the shapes that reach every branch, against float64.

The reference multiplies the numbers that the quantised operands of each stage stand for.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.kernels.gemm import hopper_grouped
from flydsl.kernels.gemm.hopper.plan import GemmConfig
from flydsl.kernels.moe import layer, references
from flydsl.kernels.moe.expert_weights import (
    BLOCKS,
    FP8,
    KINDS,
    MX,
    WHOLE,
    prepare_experts,
    quantised_blocks,
    quantised_groups,
    quantised_rows,
)
from flydsl.kernels.moe.layer import run_experts
from flydsl.kernels.moe.references import widened
from flydsl.kernels.quant.formats import dequantize_mx, quantize_mx
from tests.support.experts import Sizes, awkward_ids, cosine, guarded, random_ids, untouched

SHAPES = ((3, 4, 2), (33, 8, 2), (129, 65, 8))
"""Tokens, experts and slots."""
CASES = [(arch, kind, shape) for arch, kinds in KINDS.items() for kind in kinds for shape in SHAPES]


def least_cosine(kind: str) -> float:
    if kind in ("int4", "int4_bf16", "a8w4", "mxfp4"):
        return 0.99
    return 0.99999 if kind == "plain" else 0.9995


def numbers_of(x: np.ndarray, kind: str, arch: str, weights: bool) -> np.ndarray:
    """What rows or weights stand for once they are quantised."""
    flat = x.reshape(-1, x.shape[-1])
    if weights and kind.startswith("int4"):
        scale = np.abs(flat.astype(np.float32)).max(-1, keepdims=True) / 7
        return (np.rint(flat.astype(np.float32) / scale) * scale.astype(np.float64)).reshape(x.shape)
    if kind in MX:
        format = MX[kind][weights]
        return dequantize_mx(*quantised_groups(flat, format, None), f"mx{format}").reshape(x.shape)
    if kind == BLOCKS:
        return widened(*quantised_blocks(flat, 128 if weights else 1, FP8[arch], None), 128 if weights else 1,
                       128).reshape(x.shape)  # fmt: skip
    if kind in ("fp8", "int8", "int4"):
        return widened(*quantised_rows(flat, FP8[arch] if kind == "fp8" else "i8_rounded", None)).reshape(x.shape)
    return x.astype(np.float64)


def first_weights(w1: np.ndarray, kind: str, arch: str) -> np.ndarray:
    """Hopper has gate and up in turns before it takes blocks."""
    if arch != "sm_90a":
        return numbers_of(w1, kind, arch, True)
    experts, rows, depth = w1.shape
    turned = w1.reshape(experts, 2, rows // 2, depth).swapaxes(1, 2).reshape(w1.shape)
    found = numbers_of(turned, kind, arch, True)
    return found.reshape(experts, rows // 2, 2, depth).swapaxes(1, 2).reshape(w1.shape)


@pytest.mark.parametrize(
    ("arch", "kind", "shape"), CASES, ids=lambda value: value if isinstance(value, str) else "x".join(map(str, value))
)
def test_layers(
    arch: str, kind: str, shape: tuple[int, int, int], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", arch)
    model, inter = 256, 256 if kind in MX else 128
    sizes = Sizes(*shape, model, inter)
    ids, weights = random_ids(sizes)
    dtype: Any = ml_dtypes.bfloat16 if kind != "plain" else np.float16
    x = rng.standard_normal((sizes.tokens, model)).astype(dtype)
    w1 = (rng.standard_normal((sizes.experts, 2 * inter, model)) / 16).astype(dtype)
    w2 = (rng.standard_normal((sizes.experts, model, inter)) / 16).astype(dtype)
    y, whole = guarded((sizes.tokens, model), dtype)
    run_experts(x, ids, weights, prepare_experts(w1, w2, kind, arch), y)
    inner = references.stage1(numbers_of(x, kind, arch, False), first_weights(w1, kind, arch), ids)
    if kind in MX and arch == "gfx950":  # quantised where the sums are, before they are rounded
        format = f"mx{WHOLE[MX[kind].rows]}"
        inner = dequantize_mx(*quantize_mx(inner, format), format)
    else:
        inner = numbers_of(inner.astype(dtype), kind, arch, False)
    want = references.reduce_slots(references.stage2(inner, numbers_of(w2, kind, arch, True), ids, weights))
    found = cosine(y, want)
    assert found >= least_cosine(kind)
    assert untouched(whole), "wrote outside"


def test_rows_copied_first(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Hopper, rows of many tokens are copied in the order of experts; it changes no bit of the result. Tiles are
    small, which compile in a third of the time."""
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setattr(hopper_grouped, "choose_config", lambda *_: GemmConfig(64, 128, 1, 3))
    (tokens, experts, topk), model, inter = SHAPES[1], 256, 128
    x, w1, w2 = (
        (rng.standard_normal(shape) / 16).astype(ml_dtypes.bfloat16)
        for shape in ((tokens, model), (experts, 2 * inter, model), (experts, model, inter))
    )
    ids = rng.integers(-1, experts, (tokens, topk)).astype(np.int32)
    weights, found = rng.uniform(0.2, 1, ids.shape).astype(np.float32), []
    prepared = prepare_experts(w1, w2, BLOCKS, "sm_90a")
    for columns in (layer.COPIED[1], 0):
        monkeypatch.setattr(layer, "COPIED", {1: columns})
        monkeypatch.setattr(layer, "MANY_ROWS", 0)
        y, whole = guarded((tokens, model), ml_dtypes.bfloat16)
        run_experts(x, ids, weights, prepared, y)
        assert untouched(whole)
        found.append(y.view(np.uint16))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("arch", ["gfx950", "sm_90a"])
def test_guards(arch: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random dimensions: one expert for all, an expert listed twice, experts without tokens, ids of no expert; rows
    behind the last token are NaN, and rows around the result stay as they were."""
    monkeypatch.setenv("ARCH", arch)
    experts, topk, model, inter = int(rng.integers(3, 9)), 2, *(64 * int(rng.integers(1, 6)) for _ in range(2))
    w1 = (rng.standard_normal((experts, 2 * inter, model)) / model**0.5).astype(np.float16)
    w2 = (rng.standard_normal((experts, model, inter)) / inter**0.5).astype(np.float16)
    prepared, tokens = prepare_experts(w1, w2, "plain", arch), int(rng.integers(2, 30))
    x, _ = guarded((tokens, model), np.float16)
    x[:] = rng.standard_normal(x.shape).astype(np.float16)
    weights = rng.uniform(0.2, 1, (tokens, topk)).astype(np.float32)
    for ids in awkward_ids(rng, experts, (tokens, topk)):
        y, whole = guarded((tokens, model), np.float16)
        run_experts(x, ids, weights, prepared, y)
        want = references.moe(x, ids, weights, w1, w2)
        assert np.abs(y - want).max() <= 2.0**-9 * max(np.abs(want).max(), 1) and untouched(whole)
