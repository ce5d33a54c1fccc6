"""The stages of a mixture of experts with scales of blocks on the virtual GPU, against float64."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.kernels.gemm.preshuffle_gemm import shuffle_weight
from flydsl.kernels.moe import references
from flydsl.kernels.moe.blockscale_2stage import (
    compile_moe_blockscale_gemm1,
    compile_moe_blockscale_gemm2,
    compile_moe_blockscale_gemm2_ex,
)
from flydsl.kernels.moe.references import widened
from flydsl.kernels.quant.formats import quantize_blocks
from tests.support.experts import FP8, Sizes, cosine, guarded, order_of, random_ids, untouched


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_a_layer(arch: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both stages and the whole, with rows quantised anew between them."""
    monkeypatch.setenv("ARCH", arch)
    for tokens in (3, 40):
        sizes = Sizes(tokens, 4, 2, model=384, inter=256, unit=16)
        (ids, weights), (model, inter) = random_ids(sizes), (sizes.model, sizes.inter)
        order = order_of(ids, weights, sizes)
        x, sx = quantize_blocks(rng.standard_normal((tokens, model)), dtype=FP8[arch])
        w1, s1 = quantize_blocks(rng.standard_normal((4 * 2 * inter, model)) / 20, 128, 128, FP8[arch])
        w2, s2 = quantize_blocks(rng.standard_normal((4 * model, inter)) / 16, 128, 128, FP8[arch])
        dims: dict[str, Any] = {
            "model_dim": model, "inter_dim": inter, "experts": 4, "topk": 2, "tile_m": 16, "tile_n": 64, "tile_k": 128,
        }  # fmt: skip
        listed = (order.ids, order.expert_ids, order.weights, order.num_valid, tokens)
        a2, whole = guarded((tokens, 2, inter), ml_dtypes.bfloat16)
        stage1 = compile_moe_blockscale_gemm1(**dims, doweight_stage1=False, out_dtype="bf16")
        stage1(a2, x.view(np.int8), shuffle_weight(w1), sx.T.copy(), s1, *listed, inter, model, len(order.expert_ids))
        wide1 = widened(w1, s1, 128, 128).reshape(4, -1, model)
        want = references.stage1(widened(x, sx, 1, 128), wide1, ids)
        assert cosine(a2, want) > 0.9999 and np.abs(a2.astype(float) - want).max() < 2.0**-7 * np.abs(want).max()
        assert untouched(whole)

        q, sq = quantize_blocks(a2.reshape(-1, inter), dtype=FP8[arch])
        wide2 = widened(w2, s2, 128, 128).reshape(4, model, inter)
        want = references.stage2(widened(q, sq, 1, 128).reshape(tokens, 2, inter), wide2, ids, weights).sum(1)
        for run in (compile_moe_blockscale_gemm2(**dims, doweight_stage2=True),
                    compile_moe_blockscale_gemm2_ex(**dims, doweight_stage2=True, mode="reduce")):  # fmt: skip
            y, whole = guarded((tokens, model), np.float16, 0.0)
            run(y, q, shuffle_weight(w2), sq.T.copy(), s2, *listed, model, inter, len(order.expert_ids))
            assert np.abs(y.astype(float) - want).max() < 2.0**-9 * np.abs(want).max() and untouched(whole)
        exact = references.moe(widened(x, sx, 1, 128), ids, weights, wide1, wide2)
        assert cosine(y, exact) > 0.999


def test_bad_choices_are_refused() -> None:
    dims: dict[str, Any] = {
        "model_dim": 256, "inter_dim": 128, "experts": 4, "topk": 2, "tile_m": 16, "tile_n": 64, "tile_k": 128,
        "doweight_stage1": False,
    }  # fmt: skip
    with pytest.raises(ValueError, match="scale_block_k must be 128, got 64"):
        compile_moe_blockscale_gemm1(**dims, scale_block_k=64)
    with pytest.raises(ValueError, match="inter_dim must be a positive multiple of 128, a block of scales; got 192"):
        compile_moe_blockscale_gemm1(**{**dims, "inter_dim": 192})
