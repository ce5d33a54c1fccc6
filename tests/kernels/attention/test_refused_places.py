"""Tensors that begin between the accesses of a kernel for Hopper, and workspaces of other calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.ops as ops
from flydsl.kernels.attention.attention import attention
from flydsl.kernels.attention.backward import attention_backward
from flydsl.kernels.attention.fp8_forward import attention_fp8
from flydsl.kernels.attention.paged import mla_decode, paged_attention, paged_workspace

FP8 = ml_dtypes.float8_e4m3fn
TABLES, LENGTHS = np.arange(24, dtype=np.int32)[None], np.array([1200], np.int32)


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


def late(array: np.ndarray) -> np.ndarray:
    """The same numbers, an element behind a multiple of 16 bytes."""
    memory = np.zeros(array.nbytes + 32, np.uint8)
    memory = memory[-memory.ctypes.data % 16 + array.itemsize :]
    found = memory[: array.nbytes].view(array.dtype).reshape(array.shape)
    found[...] = array
    return found


def drawn(rng: np.random.Generator, *shape: int, dtype: Any = np.float16) -> np.ndarray:
    return rng.standard_normal(shape).astype(dtype)


def test_results_and_gradients(rng: np.random.Generator) -> None:
    q, k, v = drawn(rng, 1, 2, 20, 64), drawn(rng, 1, 1, 70, 64), drawn(rng, 1, 1, 70, 64)
    out, lse = attention(q, k, v, return_lse=True)
    with pytest.raises(ValueError, match="out is reached 16 bytes at once, and begins 2 bytes behind"):
        attention(q, k, v, out=late(out))
    wanted = attention_backward(q, q, k, v, out, lse)
    for place, name in enumerate("qkv"):
        grads = [late(x) if other == place else np.zeros_like(x) for other, x in enumerate((q, k, v))]
        with pytest.raises(ValueError, match=f"the gradient of {name} is reached 16 bytes at once"):
            attention_backward(q, q, k, v, out, lse, grads=(grads[0], grads[1], grads[2]))
    for given, found in zip(wanted, attention_backward(late(q), q, k, v, out, lse), strict=True):
        assert np.array_equal(given, found)


def test_eight_bits(rng: np.random.Generator) -> None:
    q, k = drawn(rng, 1, 2, 20, 64, dtype=FP8), drawn(rng, 1, 1, 70, 64, dtype=FP8)
    with pytest.raises(ValueError, match="v is reached 16 bytes at once, and begins 1 bytes behind"):
        attention_fp8(q, k, late(k))
    with pytest.raises(ValueError, match="out is reached 16 bytes at once"):
        attention_fp8(q, k, k, out=late(np.zeros(q.shape, ml_dtypes.bfloat16)))


def test_caches(rng: np.random.Generator) -> None:
    q, k, v = drawn(rng, 1, 4, 64), drawn(rng, 24, 64, 1, 64), drawn(rng, 24, 64, 1, 64)
    calls: dict[str, Callable[[], Any]] = {
        "q": lambda: paged_attention(late(q), k, v, TABLES, LENGTHS),
        "out": lambda: paged_attention(q, k, v, TABLES, LENGTHS, out=late(q)),
    }
    latent, room = drawn(rng, 24, 64, 576), late(np.zeros((1, 4, 512), np.float16))
    calls["out of mla"] = lambda: mla_decode(drawn(rng, 1, 4, 576), latent, TABLES, LENGTHS, scale=0.1, out=room)
    for name, call in calls.items():
        with pytest.raises(ValueError, match=f"{name.split()[0]} is reached 16 bytes at once"):
            call()


@pytest.mark.parametrize("arch", ["sm_90a", "gfx942"])
def test_workspaces_of_other_calls(arch: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """What lies behind theirs was written, and what they hold was read as f32."""
    monkeypatch.setenv("ARCH", arch)
    q, k = drawn(rng, 1, 4, 64), drawn(rng, 24, 64, 1, 64)
    v = k + np.float16(0)
    results, logarithms, counters = paged_workspace(q, k, v, TABLES)
    assert results.shape[1] > 1, "of parts"
    wanted = paged_attention(q, k, v, TABLES, LENGTHS)
    for others in (
        (results[:, :1].copy(), logarithms, counters), (results, logarithms[:, :1].copy(), counters),
        (np.zeros(results.shape, np.float64), logarithms, counters),
        (results, np.zeros(logarithms.shape, np.int32), counters),
        (results, logarithms, counters[:0]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"an array of workspace is .*: pass what paged_workspace gives"):
            paged_attention(q, k, v, TABLES, LENGTHS, workspace=others)
    found = paged_attention(q, k, v, TABLES, LENGTHS, workspace=(results, logarithms, counters * 0))
    assert np.array_equal(found, wanted)


def test_vectors_that_lie_apart(rng: np.random.Generator) -> None:
    q, k = drawn(rng, 1, 2, 20, 64), drawn(rng, 1, 1, 70, 64)
    sinks = drawn(rng, 4, dtype=np.float32)[::2]
    assert np.array_equal(attention(q, k, k, sinks=sinks), attention(q, k, k, sinks=sinks.copy()))
    starts = np.array([0, 0, 10, 0, 20, 0], np.int32)[::2]
    rows = drawn(rng, 20, 2, 64)
    with pytest.raises(ValueError, match="the elements of cu_seqlens_q lie 2 apart: pass a copy"):
        attention(rows, rows, rows, cu_seqlens_q=starts, cu_seqlens_k=starts)
    cache, queries = drawn(rng, 24, 64, 1, 64), drawn(rng, 1, 2, 64)
    found = [ops.paged_attention(queries, cache, cache + 0, TABLES, LENGTHS, sinks=x) for x in (sinks, sinks.copy())]
    assert np.array_equal(*found)
