"""Every planted mistake between ranks is found, with its line, rank and block; correct protocols are silent."""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable

import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.base.errors import DslRuntimeError, SanitizerError
from flydsl.kernels.comm.collectives import COLLECTIVES, NARROW
from tests.kernels.test_collectives import calls_of
from tests.unit.ranks.planted_protocols import CORRECT_ONES, PLANTED, Options, Planted

WORLD = 3
SEEDS = range(1, 1 + int(os.environ.get("FLYDSL_TEST_INTERLEAVINGS", "2")))


def test_there_are_enough() -> None:
    assert len(PLANTED) >= 24


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)
def test_planted(planted: Planted) -> None:
    for seed in SEEDS:
        with pytest.raises(DslRuntimeError) as caught, flyc.sanitize("ranks"):
            ranks = flyc.virtual_ranks(WORLD, seed=seed, resident=planted.resident)
            ranks.run(lambda rank: planted.program(rank, planted.options))
        error = caught.value
        assert any(part in error.message for part in planted.message.split("|")), error.message
        assert "rank" in error.message
        assert "block" in error.message
        assert error.location is not None
        line = linecache.getline(error.location.file, error.location.line)
        assert any(part in line for part in planted.line.split("|")), f"{error}\nnames {line}"
        if isinstance(error, SanitizerError):
            assert error.fault.check == "ranks"


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
@pytest.mark.parametrize(("name", "options", "program"), CORRECT_ONES, ids=[name for name, _, _ in CORRECT_ONES])
def test_correct_protocols_are_silent(
    name: str, options: Options, program: Callable[..., None], arch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", arch)
    for seed in SEEDS:
        with flyc.sanitize("ranks"):
            flyc.virtual_ranks(WORLD, seed=seed).run(lambda rank: program(rank, options))


@pytest.mark.parametrize("name", COLLECTIVES)
def test_collectives_are_silent(name: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    n = int(rng.integers(100, 400))
    inputs = rng.standard_normal((3, WORLD, n * WORLD)).astype(np.float32)
    wires = (None, "fp8") if name in NARROW else (None,)
    for wire in wires:
        for _ in SEEDS:
            with flyc.sanitize("ranks"):
                flyc.virtual_ranks(WORLD, seed=int(rng.integers(1, 1000))).run(calls_of(name, "f32", inputs, n, wire))


def test_other_sanitizers_are_for_one_rank() -> None:
    with pytest.raises(DslRuntimeError, match='with the sanitizer "ranks" alone'), flyc.sanitize("bounds"):
        flyc.virtual_ranks(2).run(lambda rank: CORRECT_ONES[0][2](rank, Options()))
    with pytest.raises(ValueError, match="runs alone"):
        flyc.sanitize("ranks", "race")
