"""Sums over a token's experts on the virtual GPU, against float64; and the second stage that ends with them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.kernels.moe import references
from flydsl.kernels.moe.moe_gemm_2stage.moe_reduce import MoeGemm2Mode, compile_moe_gemm2_ex, compile_moe_reduction
from tests.support.experts import Sizes, cosine, guarded, order_of, random_ids, untouched, weights_of

DTYPES: dict[str, Any] = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


def check(rng: np.random.Generator, tokens: int, topk: int, length: int, dtype: str, masked: bool) -> None:
    x = rng.standard_normal((tokens, topk, length)).astype(DTYPES[dtype])
    mask = rng.integers(0, 2, (tokens, topk)).astype(np.int8)
    want = references.reduce_slots(x, mask if masked else None)
    if masked:
        x[mask == 0] = np.nan  # nobody wrote those
    y, whole = guarded((tokens, length), DTYPES[dtype])
    compile_moe_reduction(topk=topk, model_dim=length, dtype_str=dtype, use_mask=masked)(x, y, mask, tokens)
    bound = {"f32": 1e-6, "f16": 2.0**-11, "bf16": 2.0**-8}[dtype]
    assert (np.abs(y.astype(np.float64) - want) <= bound * np.abs(want) + 1e-5).all()
    assert untouched(whole)


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1250", "sm_90a"])
def test_sums(arch: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    for tokens in (1, 5, 65):
        check(rng, tokens, 8, 2304, "bf16", False)
    check(rng, 5, 6, 100, "f16", True)  # no multiple of what a thread takes
    check(rng, 129, 3, 1029, "f32", True)


def test_masks_of_experts(rng: np.random.Generator) -> None:
    tokens, topk, experts, length = 7, 3, 5, 64
    x = rng.standard_normal((tokens, topk, length)).astype(np.float16)
    ids, mask = rng.integers(0, experts, (tokens, topk)).astype(np.int32), np.array([1, 0, 1, 1, 0], np.int32)
    y = np.full((tokens, length), np.nan, np.float32)
    run = compile_moe_reduction(topk=topk, model_dim=length, use_mask=True, num_experts=experts, out_dtype_str="f32")
    run(x, y, mask, ids, tokens)
    np.testing.assert_allclose(y, references.reduce_slots(x, mask[ids]), atol=1e-5)


@pytest.mark.parametrize("masked", [False, True])
def test_second_stage_with_a_reduction(masked: bool, rng: np.random.Generator) -> None:
    sizes = Sizes(13, 4, 2)
    ids, weights = random_ids(sizes)
    mask = (ids != 2).astype(np.int8)
    there = np.where(mask, ids, -1)
    order = order_of(there, weights, sizes)
    a2 = rng.standard_normal((13, 2, 128)).astype(np.float16)
    w2 = weights_of(rng.standard_normal((4, 256, 128)).astype(np.float32) / 12, "fp16", "gfx942")
    run = compile_moe_gemm2_ex(
        model_dim=256, inter_dim=128, experts=4, topk=2, tile_m=16, tile_n=64, tile_k=64, doweight_stage2=True,
        in_dtype="fp16", mode="reduce",
    )  # fmt: skip
    assert run.mode is MoeGemm2Mode.REDUCE
    out, whole = guarded((13, 256), np.float16)
    options = {"valid_mask": mask} if masked else {}
    run(out, a2, w2.codes, None, None, order.ids, order.expert_ids, order.weights, order.num_valid, 13, 256, 128,
        len(order.expert_ids), **options)  # fmt: skip
    want = references.reduce_slots(references.stage2(a2, w2.numbers, there, weights))
    assert np.abs(out - want).max() <= 2.0**-9 * np.abs(want).max() and cosine(out, want) > 0.9999
    assert untouched(whole)


def test_bad_choices_are_refused() -> None:
    with pytest.raises(ValueError, match="dtype_str must be one of f32, f16, fp16, bf16, fp8, got 'fp4'"):
        compile_moe_reduction(topk=2, model_dim=8, dtype_str="fp4")
    with pytest.raises(ValueError, match="model_dim must be a multiple of 32 for rows of fp8, got 40"):
        compile_moe_reduction(topk=2, model_dim=40, dtype_str="fp8")
    with pytest.raises(ValueError, match="topk must be at least 1, got 0"):
        compile_moe_reduction(topk=0, model_dim=8)
    with pytest.raises(ValueError, match="X must hold Float16, not Float32"):
        x = np.zeros((2, 2, 8), np.float32)
        compile_moe_reduction(topk=2, model_dim=8)(x, x[:, 0], None, 2)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_arrays_of_fewer_tokens_are_refused(place: int) -> None:
    """What lies behind them was read and written."""
    arrays = [np.zeros((6, 2, 64), np.float16), np.zeros((6, 64), np.float16), np.ones((6, 2), np.int8)]
    arrays[place] = arrays[place][:3]
    run = compile_moe_reduction(topk=2, model_dim=64, use_mask=True)
    with pytest.raises(RuntimeError, match=r"(X|Y|valid_mask) has \d+ elements, and the kernel uses"):
        run(*arrays, 6)


def test_aligned_rows_are_read_by_wide_accesses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    x, y = np.ones((4, 8, 1024), ml_dtypes.bfloat16), np.zeros((4, 1024), ml_dtypes.bfloat16)
    run = compile_moe_reduction(topk=8, model_dim=1024, dtype_str="bf16", aligned=True)
    run(x, y, None, 4)
    assert (y == 8).all()
    counts = run.specialisations[0].kernels[0].instructions
    assert counts["global loads"] == 8 and counts["global stores"] == 1


@pytest.mark.parametrize("place", [0, 1, 2])
def test_arrays_whose_elements_lie_apart_are_refused(place: int, rng: np.random.Generator) -> None:
    """They were taken as they lie, with what is between them."""
    x, mask = rng.standard_normal((6, 2, 64)).astype(np.float16), np.ones((6, 2), np.int8)
    arrays = [x, np.zeros((6, 64), np.float16), mask]
    run = compile_moe_reduction(topk=2, model_dim=64, use_mask=True)
    for apart in (lambda a: np.repeat(a, 2, 0)[::2], lambda a: np.tile(a, 2)[..., : a.shape[-1]]):
        given = [apart(array) if index == place else array for index, array in enumerate(arrays)]
        with pytest.raises(RuntimeError, match=rf"an array of {arrays[place].size} elements is taken as it lies, and"):
            run(*given, 6)
    run(*(array[:1] for array in arrays), 1)  # a mode of one element may have any stride
    run(*(array[:0] for array in arrays), 0)
    assert arrays[1][0].any() and not arrays[1][1:].any()
