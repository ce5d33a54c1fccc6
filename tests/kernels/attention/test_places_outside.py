"""Starts and lengths in a GPU's memory, which nobody looks at before a launch, lead to no memory outside of arrays."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.kernels.attention.attention as forward
from flydsl.kernels.attention.backward import attention_backward
from flydsl.kernels.attention.paged import mla_decode, paged_attention
from kernels.pa_decode_fp8 import pa_decode_ps_launch

TARGETS = ("gfx942", "sm_90a")
TOKENS, D = 30, 32
STARTS = {
    "behind the end": ([0, 40, 30], [0, 30, 30]),
    "far": ([0, 2**31 - 1, 90], [0, 30, 30]),
    "before": ([-5, 10, 30], [0, 10, 30]),
    "back": ([30, 0, 30], [30, 30, 30]),
}
"""Starts that cannot be, and what they are taken for; a sequence that ends before it starts has no tokens."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


def in_bounds(run: Any, *given: Any, **how: Any) -> Any:
    with flyc.sanitize("bounds"):
        return run(*given, **how)


@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize("name", STARTS)
def test_starts_of_sequences(name: str, arch: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    monkeypatch.setattr(forward, "check_starts", lambda *_: None)
    q, k, v, do = (rng.standard_normal((TOKENS, 1, D)).astype(np.float16) for _ in range(4))
    wrong, right = (np.array(starts, np.int32) for starts in STARTS[name])
    found = []
    for starts in (wrong, right):
        how = {"cu_seqlens_q": starts, "cu_seqlens_k": starts, "max_seqlen_q": TOKENS, "max_seqlen_k": TOKENS}
        out, lse = np.zeros_like(q), np.zeros((1, TOKENS), np.float32)
        in_bounds(forward.attention, q, k, v, out=out, lse=lse, **how)
        found.append((out, *in_bounds(attention_backward, do, q, k, v, out, lse, **how)))
    if name != "back":  # whose second sequence is read from the first token on
        for result, expected in zip(*found, strict=True):
            np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize("lengths", [[20, 33], [40, 1 << 20], [2**31 - 1, 2**31 - 1]])
def test_lengths_that_no_table_has_pages_for(
    lengths: list[int], arch: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", arch)
    q = rng.standard_normal((2, 2, D)).astype(np.float16)
    keys, values = (rng.standard_normal((3, 16, 1, D)).astype(np.float16) for _ in range(2))
    tables, wrong = np.array([[0, 1], [2, 2]], np.int32), np.array(lengths, np.int32)
    found, right = (in_bounds(paged_attention, q, keys, values, tables, x) for x in (wrong, np.minimum(wrong, 32)))
    np.testing.assert_array_equal(found, right)


def test_lengths_of_a_latent_cache(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    q, cache = (rng.standard_normal(shape).astype(np.float16) for shape in ((1, 16, 576), (2, 64, 576)))
    tables, lengths = np.array([[1]], np.int32), (np.array([length], np.int32) for length in (500, 64))
    found, right = (in_bounds(mla_decode, q, cache, tables, length, scale=0.1) for length in lengths)
    np.testing.assert_array_equal(found, right)


@pytest.mark.parametrize(("starts", "lengths"), [([0, 2, 3], [20, 900]), ([9, 3, 9], [5, 0]), ([-7, 2, 3], [20, 16])])
def test_starts_in_a_list_of_pages(starts: list[int], lengths: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those of a sequence without tokens, which begins where the list ends."""
    monkeypatch.setenv("ARCH", "gfx942")
    keys = np.zeros((3, 1, 4, 16, 16), ml_dtypes.float8_e4m3fnuz)
    values, (query, output) = np.zeros((3, 1, 64, 16), keys.dtype), np.zeros((2, 2, 4, 64), np.float16)
    listed = (np.array(numbers, np.int32) for numbers in (lengths, [0, 1, 2], starts))
    in_bounds(pa_decode_ps_launch, output, query, keys, values, *listed, None, 1.0, 1.0)
