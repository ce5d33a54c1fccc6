"""Attention with its features together, on the virtual GPU of every target, against float64.

A target is a feature like others. A run has three sizes of heads, and each choice of each other feature, among its
results, and again among its gradients; which others it meets, and on which target, changes from seed to seed.
`make thorough` has every two.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flydsl.kernels.attention.attention import attention
from flydsl.kernels.attention.backward import attention_backward
from tests.support.attention_cases import FEATURES, REFUSED, call_of, run_case
from tests.support.pairwise import completed, crossed, in_turn, with_few

TARGETS = ("gfx942", "gfx950", "gfx1201", "sm_90a")
FEW = with_few(FEATURES, "head", 3)
RESULTS = crossed({**FEW, "target": TARGETS}, REFUSED)
GRADIENTS = [case | {"target": target} for target in ("gfx950", "sm_90a") for case in crossed(FEW, REFUSED)]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")


@pytest.mark.parametrize("number", in_turn(RESULTS, "results"))
def test_results(number: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """And logarithms of sums."""
    case = RESULTS[number]
    monkeypatch.setenv("ARCH", case["target"])
    run_case(case, call_of(case, rng, 200), attention)


@pytest.mark.parametrize("number", in_turn(GRADIENTS))
def test_gradients(number: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """And results, of which they are made."""
    case = GRADIENTS[number]
    monkeypatch.setenv("ARCH", case["target"])
    run_case(case, call_of(case, rng, 120), attention, attention_backward)


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
