"""Attention forward by MFMA and WMMA on virtual AMD GPUs against float64, and what their machine code has."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention import exchanged_waves
from flydsl.kernels.attention.attention import attention, forward
from flydsl.kernels.attention.hopper_forward import ForwardPlan
from flydsl.kernels.attention.scores import Features
from tests.support import random_data
from tests.support.attention_reference import attend, check
from tests.support.mma_code import artifact_of
from tests.support.turns import in_turns

TYPES: dict[str, Any] = {"bf16": ml_dtypes.bfloat16, "f16": np.float16}
ARCHS = ("gfx942", "gfx950", "gfx1201")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


def inputs(b: int, h: int, kv: int, queries: int, keys: int, d: int = 64, dv: int | None = None) -> list[Any]:
    rng = random_data.generator()
    return [rng.standard_normal(shape) for shape in ((b, h, queries, d), (b, kv, keys, d), (b, kv, keys, dv or d))]


def run(shape: tuple[int, ...], dtype: str = "f16", **features: Any) -> None:
    q, k, v = (x.astype(TYPES[dtype]) for x in inputs(*shape))
    out = np.full((*q.shape[:-1], v.shape[-1]), np.nan, q.dtype)
    _, lse = attention(q, k, v, out=out, return_lse=True, **features)
    check(out, lse, attend(q, k, v, **features), (shape, features))


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("d", [32, 96])
def test_surplus_threads_write_nothing(d: int, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pieces of a tile do not come out even among threads, those that are left over share one to read alone."""
    monkeypatch.setenv("ARCH", arch)
    with flyc.sanitize("race"):
        run((1, 1, 1, 20, 70, d), is_causal=True)


@pytest.mark.parametrize("arch", ARCHS)
def test_every_target(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lengths, heads that share keys; zeros for queries that see no key; and both types, a window or one query."""
    monkeypatch.setenv("ARCH", arch)
    drawn = random_data.generator().integers(2, 701, 2)
    for queries, keys in ((2, 1), (129, 65), (200, 63), (int(drawn[0]), int(drawn[1]))):
        run((1, 2, 1, queries, keys), is_causal=True)
    others: list[tuple[tuple[int, ...], str, dict[str, Any]]] = [
        ((1, 2, 1, 1, 1), "f16", {"is_causal": True}),
        ((2, 2, 2, 70, 200, 128), "bf16", {}),
        ((1, 1, 1, 200, 170), "f16", {"window": (40, 20)}),
    ]
    for shape, dtype, features in in_turns(others):
        run(shape, dtype, **features)


def test_tiles_without_gaps(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """Heads of 128 on gfx942: lengths, queries that see no key, both types, distances, shorter keys than values."""
    monkeypatch.setenv("ARCH", "gfx942")
    for queries, keys in ((2, 1), (129, 65), (200, 63)):
        run((1, 2, 1, queries, keys, 128), is_causal=True)
    slopes, sinks = rng.uniform(0, 0.3, 2).astype(np.float32), rng.standard_normal(2).astype(np.float32)
    others: list[tuple[tuple[int, ...], dict[str, Any]]] = [
        ((2, 2, 1, 70, 190, 128), {"is_causal": True, "alibi_slopes": slopes, "sinks": sinks, "scale": 0.3}),
        ((1, 1, 1, 70, 130, 64, 128), {}),
    ]
    for shape, features in in_turns(others):
        run(shape, "bf16", **features)


def test_keys_of_several_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here one reaches two blocks of keys, where it would 65536."""
    monkeypatch.setenv("ARCH", "gfx942")
    monkeypatch.setattr(exchanged_waves, "REACH", 2 * 64 * 128 * 2)
    for dtype, is_causal in in_turns((("bf16", True), ("f16", False))):
        for queries, keys in ((200, 450), (10, 65), (130, 384)):
            run((1, 2, 1, queries, keys, 128), dtype, is_causal=is_causal)


HEADS = (("gfx942", 96, 96), ("gfx950", 192, 128), ("gfx950", 128, 64), ("gfx950", 256, 256), ("gfx1201", 256, 256),
         ("gfx1201", 96, 96), ("gfx1201", 64, 64))  # fmt: skip


@pytest.mark.parametrize(("arch", "d", "dv"), HEADS)
def test_head_sizes(arch: str, d: int, dv: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    run((1, 2, 1, 70, 90, d, dv), "bf16", is_causal=True)


@pytest.mark.parametrize("arch", ARCHS)
def test_rows_apart_and_on_top_of_each_other(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys with others between them, and values that are one row for all tokens."""
    monkeypatch.setenv("ARCH", arch)
    q, k, v = (x.astype(np.float16) for x in inputs(1, 1, 1, 40, 150, 128))
    k, v = np.repeat(k, 3, axis=3)[..., :128], np.lib.stride_tricks.as_strided(v, v.shape, (*v.strides[:2], 0, 2))
    assert k.strides[2] == 3 * 128 * 2
    out = np.full(q.shape, np.nan, q.dtype)
    _, lse = attention(q, k, v, out=out, return_lse=True)
    check(out, lse, attend(q, k, v), arch)


@pytest.mark.parametrize("arch", ARCHS)
def test_a_key_that_is_no_number(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sees it gets none either, also where a NaN has bits that rounding carries into the sign; others do."""
    monkeypatch.setenv("ARCH", arch)
    q, k, v = (x.astype(ml_dtypes.bfloat16) for x in inputs(1, 1, 1, 70, 70, 128))
    k[0, 0, 40] = np.uint16(0x7FFF).view(ml_dtypes.bfloat16)
    out = np.asarray(attention(q, k, v, is_causal=True), np.float64)[0, 0]
    assert np.isnan(out[40:]).all() and np.isfinite(out[:40]).all()


def test_a_target_without_the_instruction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Either half of a wave of gfx11 wants all of an operand, which the first product does not leave it."""
    monkeypatch.setenv("ARCH", "gfx1100")
    q, k, v = (x.astype(np.float16) for x in inputs(1, 1, 1, 16, 16))
    with pytest.raises(ValueError, match="this target has no matrix instruction for attention in Float16"):
        attention(q, k, v)


def test_what_is_added_to_scores(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    slopes, sinks = rng.uniform(0, 0.3, 2).astype(np.float32), rng.standard_normal(2).astype(np.float32)
    run((2, 2, 1, 70, 90), is_causal=True, softcap=3.0, alibi_slopes=slopes, sinks=sinks, scale=0.3)
    run((2, 2, 1, 70, 90), attn_mask=rng.standard_normal((2, 1, 70, 90)).astype(np.float32))


def test_a_mask_of_truth_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps keys where it holds; a query for which it never does gets zeros."""
    monkeypatch.setenv("ARCH", "gfx942")
    q, k, v = (x.astype(np.float16) for x in inputs(1, 2, 1, 70, 90))
    kept = random_data.generator().integers(0, 2, (70, 90)).astype(bool)
    kept[3] = False
    expected = attend(q, k, v, attn_mask=np.where(kept, 0, -np.inf))
    check(attention(q, k, v, attn_mask=kept), None, expected)


@pytest.mark.parametrize(("arch", "d"), [("gfx950", 64), ("gfx942", 128)])
def test_sequences_of_different_lengths(arch: str, d: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    starts, key_starts = np.array([0, 70, 70, 71, 200], np.int32), np.array([0, 33, 97, 250, 250], np.int32)
    q, k, v = (x[0].astype(np.float16).swapaxes(0, 1) for x in inputs(1, 2, 1, 200, 250, d))
    out = attention(q, k, v, cu_seqlens_q=starts, cu_seqlens_k=key_starts, max_seqlen_q=129, is_causal=True)
    for (a, b), (c, e) in zip(pairwise(starts), pairwise(key_starts), strict=True):
        parts = [x[None, first:end].swapaxes(1, 2) for x, first, end in ((q, a, b), (k, c, e), (v, c, e))]
        if b > a:
            check(out[a:b].swapaxes(0, 1)[None], None, attend(*parts, is_causal=True), (a, b, c, e))


@pytest.mark.parametrize(("arch", "d"), [("gfx942", 128), ("gfx950", 128), ("gfx950", 256), ("gfx1201", 128)])
def test_machine_code_keeps_everything_in_registers(arch: str, d: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLYDSL_COMPILE_OPT_LEVEL")
    tensors = [np.zeros((1, 2, 256, d), ml_dtypes.bfloat16) for _ in range(4)]
    plan = ForwardPlan(fx.BFloat16, d, d, features=Features(right=True))
    given = (*tensors, None, None, None, None, None, None, 1.0, 0.0, 0, 0, 1, 256, 4, 4, plan)
    binary = artifact_of(forward, given, arch).device_binary
    # The notes of a code object are MessagePack: a name, and a small number as one byte.
    for count in (b".vgpr_spill_count", b".sgpr_spill_count", b".private_segment_fixed_size"):
        assert count + b"\0" in binary, (arch, d, count)
