"""Attention with every two of its features together, on the virtual GPU of every target, against float64."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from flydsl.kernels.attention.attention import attention
from flydsl.kernels.attention.backward import attention_backward
from tests.support import random_data
from tests.support.attention_cases import FEATURES, REFUSED, call_of, run_case
from tests.support.pairwise import completed, crossed

CASES = crossed(FEATURES, REFUSED)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


def cases_of(*archs: str) -> Any:
    """Each case on each target, as one table: no run leaves one out."""
    table = [(arch, number) for arch in archs for number in range(len(CASES))]
    return pytest.mark.parametrize(("arch", "number"), table)


@cases_of("gfx942", "gfx1201")
def test_results(arch: str, number: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """And logarithms of sums."""
    monkeypatch.setenv("ARCH", arch)
    run_case(CASES[number], call_of(CASES[number], rng, 200), attention)


@cases_of("gfx950", "sm_90a")
def test_gradients(arch: str, number: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """And results, of which they are made; each case's gradients on one of the two targets, the other one with the next
    seed. `make thorough` has them on both."""
    monkeypatch.setenv("ARCH", arch)
    turn = ("gfx950", "sm_90a")[(number + random_data.SEED) % 2]
    functions = [attention_backward] if arch == turn or os.environ.get("FLYDSL_TEST_ALL") else []
    run_case(CASES[number], call_of(CASES[number], rng, 120), attention, *functions)


@pytest.mark.parametrize("choices", REFUSED, ids=lambda bar: " with ".join(sorted(f"{name} {x}" for name, x in bar)))
def test_what_is_refused(choices: Any, rng: np.random.Generator) -> None:
    case = completed(choices, FEATURES, REFUSED)
    with pytest.raises(ValueError, match=REFUSED[choices]):
        run_case(case, call_of(case, rng, 20), attention)


@pytest.mark.parametrize("sinks", [None, np.array([0.5, -2], np.float32)], ids=["alone", "with sinks"])
def test_no_key_at_all(sinks: Any) -> None:
    """Logarithms are those of sinks, as where some other sequence has keys."""
    q, none = np.ones((3, 2, 64), np.float16), np.ones((0, 2, 64), np.float16)
    starts = {"cu_seqlens_q": np.array([0, 3], np.int32), "cu_seqlens_k": np.zeros(2, np.int32)}
    found = [attention(q, none, none, sinks=sinks, return_lse=True, **starts)]
    out, lse = attention(
        q.swapaxes(0, 1)[None], none.swapaxes(0, 1)[None], none.swapaxes(0, 1)[None], sinks=sinks, return_lse=True
    )
    found.append((out, lse[0]))
    for out, lse in found:
        assert not out.any() and (lse == (-np.inf if sinks is None else sinks[:, None])).all() and lse.shape == (2, 3)
