"""Attention with every two of its features together, on the virtual GPU of every target, against float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flydsl.kernels.attention.attention import attention
from flydsl.kernels.attention.backward import attention_backward
from tests.support.attention_cases import FEATURES, REFUSED, call_of, crossed, run_case

CASES = crossed()


def test_every_two_meet() -> None:
    """But for those that are refused together."""
    met = {frozenset(pair) for case in CASES for a in case.items() for b in case.items() if (pair := (a, b)) and a != b}
    wanted = {
        frozenset(((a, x), (b, y))) for a in FEATURES for b in FEATURES if a < b
        for x in FEATURES[a] for y in FEATURES[b]
    }  # fmt: skip
    assert wanted - met == {REFUSED} and len(CASES) < 30


def cases_of(*archs: str) -> Any:
    """Each case on each target, as one table: no run leaves one out."""
    table = [(arch, number) for arch in archs for number in range(len(CASES))]
    return pytest.mark.parametrize(("arch", "number"), table)


def run(
    arch: str, number: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, longest: int, **how: Any
) -> None:
    monkeypatch.setenv("ARCH", arch)
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")
    queries, keys = (int(x) for x in rng.integers(1, longest, 2))
    run_case(CASES[number], call_of(CASES[number], rng, queries, keys), attention, **how)


@cases_of("gfx942", "gfx1201")
def test_results(arch: str, number: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """And logarithms of sums."""
    run(arch, number, rng, monkeypatch, 200)


@cases_of("gfx950", "sm_90a")
def test_gradients(arch: str, number: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """And results, of which they are made."""
    run(arch, number, rng, monkeypatch, 120, backward=attention_backward)
