"""FlyDSL's own entry points of attention, on the virtual gfx942."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from kernels.attention.flash_attn_interface import flydsl_flash_attn_func
from kernels.attention.swa_gfx950 import build_gqa_attn
from kernels.flash_attn_generic import build_flash_attn_func_module
from tests.support import random_data
from tests.support.attention_reference import attend, check


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


def tokens(batch: int, length: int, heads: int, dtype: Any = np.float16) -> Any:
    return random_data.generator().uniform(-1, 1, (batch, length, heads, 64)).astype(dtype)


def heads_first(*tensors: Any) -> list[Any]:
    return [x.swapaxes(1, 2) for x in tensors]


def test_flattened_tensors() -> None:
    """The builder's function, with as many key heads and with fewer; sequences one behind the other."""
    q, k, v = tokens(2, 130, 4), tokens(2, 130, 2), tokens(2, 130, 2)
    out = np.full(q.size, np.nan, np.float16)
    build = build_flash_attn_func_module
    build(4, 64, num_kv_heads=2)(q.reshape(-1), k.reshape(-1), v.reshape(-1), out, 2, 130)
    check(out.reshape(q.shape).swapaxes(1, 2), None, attend(*heads_first(q, k, v), is_causal=True))
    starts = np.array([0, 130, 260], np.int32)
    again = np.full(q.size, np.nan, np.float16)
    build(4, 64, num_kv_heads=2, cu_seqlens_q=starts)(q.reshape(-1), k.reshape(-1), v.reshape(-1), again, 2, 130)
    assert (again == out).all()
    with pytest.raises(ValueError, match="built for bf16, and Q is float16"):
        build(4, 64, dtype_str="bf16")(q, k, v, out, 2, 130)


def test_plain_tensors() -> None:
    q, k, v = tokens(1, 70, 2, ml_dtypes.bfloat16), *(tokens(1, 90, 2, ml_dtypes.bfloat16) for _ in range(2))
    sink = np.array([0.5, -1], np.float32)
    out, lse = flydsl_flash_attn_func(q, k, v, sink=sink, return_lse=True)
    check(out.swapaxes(1, 2), lse, attend(*heads_first(q, k, v), is_causal=True, sinks=sink))
    scaled = flydsl_flash_attn_func(q, k, v, causal=False, softmax_scale=0.5, waves_per_eu=2, dualwave_swp_setprio=True)
    check(scaled.swapaxes(1, 2), None, attend(*heads_first(q, k, v), scale=0.5))
    for unheard in ({"sliding_window": (10, 0)}, {"dropout_p": 0.1}, {"attn_mask": sink}, {"kv_seqstart": sink}):
        with pytest.raises(NotImplementedError, match=f"{next(iter(unheard))} is not supported by flydsl_flash_attn"):
            flydsl_flash_attn_func(q, k, v, **unheard)
    with pytest.raises(NotImplementedError, match="return_lse is not supported by build_flash_attn_func_module"):
        build_flash_attn_func_module(2, 64, return_lse=True, has_bias=False)
    with pytest.raises(ValueError, match="Q has 70 tokens for each of 1 sequences, and seq_len is 60"):
        build_flash_attn_func_module(2, 64, dtype_str="bf16")(q, k, v, np.empty_like(q), 1, 60)
    with pytest.raises(NotImplementedError, match="block_table"):
        flydsl_flash_attn_func(q, k, v, block_table=np.zeros((1, 1), np.int32))


def test_sliding_windows() -> None:
    """Rows of tensors may lie further apart than their heads are long."""
    q, k, v = tokens(1, 200, 2), tokens(1, 200, 1), tokens(1, 200, 1)
    wide = np.zeros((200, 256), np.float16)
    wide[:, :128] = q.reshape(200, 128)
    out = np.full((200, 128), np.nan, np.float16)
    run = build_gqa_attn(ATTN_B=1, ATTN_H=2, ATTN_H_KV=1, ATTN_D=64, sliding_window=(50, 10))
    run(wide, k, v, out, 256, 64, 64, 128, 200, 200)
    check(out.reshape(q.shape).swapaxes(1, 2), None, attend(*heads_first(q, k, v), window=(50, 10)))
    with pytest.raises(ValueError, match=r"O of .* is written, and its elements lie apart"):
        run(wide, k, v, wide[:, :128], 256, 64, 64, 128, 200, 200)


@pytest.mark.parametrize(("queries", "keys"), [(8, 40), (40, 8)])
def test_sliding_windows_of_other_lengths(queries: int, keys: int) -> None:
    """Windows are counted from the first key: with more keys, or more queries, they were refused."""
    q, k, v = tokens(1, queries, 2), tokens(1, keys, 1), tokens(1, keys, 1)
    out = np.full_like(q, np.nan)
    left, right = 4, 2
    run = build_gqa_attn(ATTN_B=1, ATTN_H=2, ATTN_H_KV=1, ATTN_D=64, sliding_window=(left, right))
    run(q, k, v, out, 128, 64, 64, 128, queries, keys)
    seen_by_none = keys + left
    for i in range(min(queries, seen_by_none)):
        seen = slice(max(i - left, 0), i + right + 1)
        one = heads_first(q[:, i : i + 1], k[:, seen], v[:, seen])
        check(out[:, i : i + 1].swapaxes(1, 2), None, attend(*one))
    assert not out[:, seen_by_none:].any()
