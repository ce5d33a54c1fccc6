"""Gradients of attention by MFMA and WMMA on virtual AMD GPUs against float64, and what their machine code has."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.kernels.attention.backward import attention_backward, backward
from flydsl.kernels.attention.scores import Features
from flydsl.kernels.attention.wave_backward import WAVE_PLAN
from tests.support import random_data
from tests.support.attention_reference import attend, check_gradients, gradients
from tests.support.mma_code import artifact_of
from tests.support.turns import in_turns

TYPES: dict[str, Any] = {"bf16": ml_dtypes.bfloat16, "f16": np.float16}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


def inputs(b: int, h: int, kv: int, queries: int, keys: int, d: int = 64, dv: int = 0) -> list[Any]:
    """dout, q, k, v."""
    rng = random_data.generator()
    shapes = ((b, h, queries, dv or d), (b, h, queries, d), (b, kv, keys, d), (b, kv, keys, dv or d))
    return [rng.standard_normal(shape) for shape in shapes]


def run(shape: tuple[int, ...], dtype: str = "f16", **features: Any) -> None:
    dout, q, k, v = (x.astype(TYPES[dtype]) for x in inputs(*shape))
    expected = attend(q, k, v, **features)
    out, lse = expected.out.astype(q.dtype), expected.lse.astype(np.float32)
    found = attention_backward(dout, q, k, v, out, lse, **features)
    check_gradients(found, gradients(dout, q, k, v, **features), (shape, features))


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1201"])
def test_every_target(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lengths, heads that share keys; queries that see no key, and keys that no query sees."""
    monkeypatch.setenv("ARCH", arch)
    drawn = random_data.generator().integers(2, 201, 2)
    heads = {"gfx942": (192, 128), "gfx950": (128, 32), "gfx1201": (256, 256)}[arch]  # long ones take several launches
    lengths = (2, 1), (129, 65), (int(drawn[0]), int(drawn[1]))
    for shapes in in_turns(([(1, 2, 1, *of) for of in lengths], [(1, 2, 1, 1, 1)], [(1, 2, 1, 70, 90, *heads)]), 2):
        for shape in shapes:
            run(shape, "bf16" if len(shape) > 5 else "f16", is_causal=len(shape) == 5)


def test_features(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    slopes, mask = rng.uniform(0, 0.3, 2).astype(np.float32), rng.standard_normal((2, 1, 70, 90)).astype(np.float32)
    run((2, 2, 1, 70, 90), window=(40, 10), softcap=3.0, alibi_slopes=slopes, attn_mask=mask, scale=0.3)


def test_sequences_of_different_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    """One behind the other, some of them empty; one without keys, beside one that is NaN."""
    monkeypatch.setenv("ARCH", "gfx942")
    starts, key_starts = np.array([0, 70, 70, 71, 100, 130], np.int32), np.array([0, 33, 97, 130, 130, 160], np.int32)
    tensors = [x[0].astype(np.float16).swapaxes(0, 1).copy() for x in inputs(1, 2, 1, 130, 160)]
    dout, q, k, v = tensors
    for x, places in zip(tensors, (starts, starts, key_starts, key_starts), strict=True):
        x[places[4] :] = np.nan
    out, lse, parts = np.zeros_like(q), np.zeros((2, 130), np.float32), []
    for (a, b), (c, d) in zip(pairwise(starts), pairwise(key_starts), strict=True):
        part = [x[None, s:e].swapaxes(1, 2) for x, s, e in ((dout, a, b), (q, a, b), (k, c, d), (v, c, d))]
        expected = attend(*part[1:])
        out[a:b], lse[:, a:b] = expected.out[0].swapaxes(0, 1), expected.lse[0]
        parts.append(((a, c, c), (b, d, d), part))
    found = attention_backward(dout, q, k, v, out, lse, cu_seqlens_q=starts, cu_seqlens_k=key_starts, max_seqlen_q=70)
    for first, last, part in parts[:4]:
        mine = [x[None, s:e].swapaxes(1, 2) for x, s, e in zip(found, first, last, strict=True)]
        check_gradients(mine, gradients(*part), first)


CAPPED = Features(right=True, softcap=True, scale_first=True)


@pytest.mark.parametrize(
    ("arch", "d", "kernels", "features"),
    [
        ("gfx950", 128, 3, Features(right=True)), ("gfx942", 256, 5, Features(right=True)),
        ("gfx1201", 256, 9, Features(right=True)), ("gfx950", 128, 3, CAPPED),
    ],
)  # fmt: skip
def test_machine_code_keeps_everything_in_registers(
    arch: str, d: int, kernels: int, features: Features, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FLYDSL_COMPILE_OPT_LEVEL")
    tensors = [np.zeros((1, 2, 256, d), ml_dtypes.bfloat16) for _ in range(8)]
    plan = replace(WAVE_PLAN, dtype=fx.BFloat16, d=d, dv=d, features=features)
    stats, lse = np.zeros((16, 64), np.float32), np.zeros((1, 2, 256), np.float32)
    numbers = (1.0, 5.0 if features.softcap else 0.0, 0, 0, 1, 256, 256, 1, plan)
    given = (*tensors[:5], lse, *tensors[5:], None, stats, *[None] * 7, *numbers)
    binary = artifact_of(backward, given, arch).device_binary
    # The notes of a code object are MessagePack: a name, and a small number as one byte.
    for count in (b".vgpr_spill_count", b".sgpr_spill_count", b".private_segment_fixed_size"):
        assert binary.count(count + b"\0") == kernels, count
