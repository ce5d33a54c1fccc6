"""Attention over paged caches on virtual AMD GPUs against float64: pages, parts, new tokens, caches of 8 bits."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.kernels.attention import wave_decode
from flydsl.kernels.attention.paged import mla_decode, paged_attention
from tests.kernels.attention.test_hopper_decode import caches
from tests.support import random_data
from tests.support.attention_reference import attend, check
from tests.support.turns import in_turns


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


def run(
    lengths: list[int], page: int, heads: tuple[int, int] = (4, 2), tokens: int = 1, stored: Any = np.float16,
    scales: tuple[float, float] = (1.0, 1.0), d: int = 64, **features: Any,
) -> None:  # fmt: skip
    (k, v), tables, contents = caches(lengths, page, heads[1], d, stored)
    q = random_data.generator().standard_normal((len(lengths), tokens, heads[0], d)).astype(np.float16)
    given = q[:, 0] if tokens == 1 else q
    out = np.full(given.shape, np.nan, np.float16)
    named = dict(zip(("k_scale", "v_scale"), scales, strict=True))
    paged_attention(given, k, v, tables, np.array(lengths, np.int32), out=out, **named, **features)
    known = {name: value for name, value in features.items() if name in ("softcap", "sinks")}
    for row, content in enumerate(contents):
        wide = [x.astype(np.float64) * factor for x, factor in zip(content, scales, strict=True)]
        parts = [x.swapaxes(0, 1)[None] for x in (q[row], *wide)]
        expected = attend(*parts, is_causal=True, window=(features.get("window"), None), **known)
        check(out.reshape(q.shape)[row].swapaxes(0, 1)[None], None, expected, (lengths, page, row))


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1201"])
def test_every_target(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sequences of one part and of several, and one that has no token at all; pages of one size and another."""
    monkeypatch.setenv("ARCH", arch)
    drawn = random_data.generator().integers(1, 701, 2)
    run([1, 63, 0, *(int(n) for n in drawn)], 16)
    run([900, 3], 48)


@pytest.mark.parametrize("arch", ["gfx950", "gfx1201", "sm_90a"])
def test_a_latent_cache(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values are the first 512 of the 576 elements of keys, and all heads share them."""
    monkeypatch.setenv("ARCH", arch)
    lengths, page, rng = [700 if arch == "sm_90a" else 100, 37], 16, random_data.generator()
    (cache, _), tables, contents = caches(lengths, page, 1, 576, np.float16)
    q = rng.standard_normal((2, 16, 576)).astype(np.float16)
    out = mla_decode(q, cache[:, :, 0], tables, np.array(lengths, np.int32), scale=0.07)
    for row, (content, _) in enumerate(contents):
        keys = content.swapaxes(0, 1)[None]
        expected = attend(q[row][None, :, None], keys, keys[..., :512], scale=0.07)
        check(out[row][None, :, None], None, expected)
    with pytest.raises(ValueError, match=r"kv_cache is \(pages, tokens, d\) with d of 512 at least"):
        mla_decode(q, cache[:, :, 0, :256], tables, np.array(lengths, np.int32))


def test_parts_of_scores_do_not_race(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waves that share queries add up their parts of scores behind a barrier, here with heads that need no parts."""
    monkeypatch.setenv("ARCH", "gfx1201")
    monkeypatch.setattr(wave_decode, "splits", lambda *_: True)
    with flyc.sanitize("race"):
        run([40, 20], 16, d=256)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_surplus_threads_write_nothing(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    q, cache = np.ones((1, 3, 576), np.float16), np.ones((3, 16, 576), np.float16)
    tables, lengths = np.array([[2, 0, 1]], np.int32), np.array([40], np.int32)
    with flyc.sanitize("race"):
        for call in in_turns((lambda: run([40, 7], 16, d=32), lambda: mla_decode(q, cache, tables, lengths))):
            call()


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    q, lengths = np.zeros((1, 4, 64), np.float16), np.zeros(1, np.int32)
    one, other = (np.zeros((3, 16, 2, 64), kind) for kind in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2))
    tables = np.zeros((1, 1), np.int32)
    monkeypatch.setenv("ARCH", "gfx942")
    with pytest.raises(ValueError, match="k_cache is float8_e4m3fn and v_cache float8_e5m2"):
        paged_attention(q, one, other, tables, lengths)
    monkeypatch.setenv("ARCH", "sm_90a")
    amd = one.astype(ml_dtypes.float8_e4m3fnuz)
    with pytest.raises(ValueError, match="give all the same type"):
        paged_attention(q, amd, amd, tables, lengths)
