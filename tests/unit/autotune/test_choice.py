"""Which configuration a call takes: the winner in memory, a shipped one, the default, or that of a search."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.autotune import Autotuner, Config, autotune
from flydsl.base import knobs
from tests.unit.autotune.kernels_to_tune import SIZE, Clock, arrays, axpy, axpy_kernel, blocks, fresh


def tuned(configs: Any, clock: Clock, **options: Any) -> Autotuner:
    return autotune(configs, **{"key": ["n"], "do_bench": clock, **options})(fresh(axpy))


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of shipped configurations."""
    directory = tmp_path / "shipped"
    directory.mkdir()
    monkeypatch.setenv(knobs.AUTOTUNE_CONFIG_DIR.name, str(directory))
    return directory


def run(function: Autotuner, n: int = SIZE) -> Config:
    """Call it, check what it computed, and say which configuration that was."""
    a, b, expected = arrays(n)
    function(a, b, n)
    np.testing.assert_allclose(b, expected, rtol=1e-5, atol=1e-6)
    return function.best_config(a, b, n)


# Timings on disk -----------------------------------------------------------------------------------------------------


def test_a_later_start_searches_nothing() -> None:
    clock = Clock(b64=1.0)
    assert run(tuned(blocks(32, 64), clock)) == Config(BLOCK=64)
    assert run(tuned(blocks(32, 64), clock)) == Config(BLOCK=64)
    assert clock.measured == [32, 64]


def test_a_new_configuration_tunes_only_itself() -> None:
    clock = Clock(b64=1.0, b128=0.5)
    run(tuned(blocks(32, 64), clock))
    assert run(tuned(blocks(32, 64, 128), clock)) == Config(BLOCK=128)
    assert clock.measured == [32, 64, 128]
    assert run(tuned(blocks(32, 64), clock)) == Config(BLOCK=64), "a configuration taken away does not win"
    assert clock.measured == [32, 64, 128]


def test_a_new_wrong_configuration_is_checked_against_known_ones() -> None:
    clock = Clock(b128=0.5)
    run(tuned(blocks(32, 64), clock))
    later = tuned([Config(BLOCK=128, FACTOR=3.0), *blocks(32, 64)], clock)
    with pytest.warns(RuntimeWarning, match="FACTOR=3.0"):
        assert run(later) == Config(BLOCK=32)
    again = tuned([Config(BLOCK=128, FACTOR=3.0), *blocks(32, 64)], clock)
    assert run(again) == Config(BLOCK=32)
    assert clock.measured == [32, 64]


def test_an_interrupted_search_keeps_what_it_has() -> None:
    clock = Clock()
    interrupts: list[int] = []

    def impatient(fn: Any, warmup: int, rep: int) -> float:
        if fn.config.kwargs["BLOCK"] == 64 and not interrupts:
            interrupts.append(64)
            raise KeyboardInterrupt
        return clock(fn, warmup, rep)

    function = tuned(blocks(32, 64), clock, do_bench=impatient)
    a, b, _ = arrays()
    before = b.copy()
    with pytest.raises(KeyboardInterrupt):
        function(a, b, SIZE)
    np.testing.assert_array_equal(b, before)
    assert clock.measured == [32]
    assert run(function) == Config(BLOCK=32)
    assert clock.measured == [32, 64]


def test_failures_are_tried_again_when_nothing_else_is_left() -> None:
    clock = Clock()
    function = tuned(blocks(2048, 4096), clock)
    for _ in range(2):
        a, b, _ = arrays()
        with pytest.raises(RuntimeError, match="BLOCK=4096 is too much"):
            function(a, b, SIZE)


@pytest.mark.parametrize(
    ("change", "again"),
    [
        ({"n": SIZE}, False),
        ({"n": SIZE - 1}, True),
        ({"dtype": np.float64}, True),
        ({"reverse": True}, True),
        ({"environment": ("FLYDSL_COMPILE_OPT_LEVEL", "1")}, True),
        ({"environment": ("ARCH", "gfx950")}, True),
        ({"environment": ("FLYDSL_DEBUG_LOG_LEVEL", "ERROR")}, False),
        ({"clock": True}, True),
    ],
    ids=str,
)
@pytest.mark.parametrize("where", ["memory", "disk"])
def test_what_a_timing_depends_on(
    change: dict[str, Any], again: bool, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def call(function: Autotuner, n: int = SIZE, dtype: Any = np.float32, reverse: bool = False) -> None:
        a = np.ones((n, 1), dtype)
        b = np.ones((1, n) if reverse else (n, 1), dtype)
        function(flyc.from_dlpack(a[:, 0]), flyc.from_dlpack(b.reshape(-1)[::-1] if reverse else b[:, 0]), n)

    clock = Clock()
    function = tuned(blocks(32), clock, check=False)
    call(function)
    if where == "disk" or "clock" in change:
        other = (lambda fn, warmup, rep: clock(fn, warmup, rep)) if "clock" in change else clock
        function = tuned(blocks(32), other, check=False)
    if "environment" in change:
        monkeypatch.setenv(*change["environment"])
    call(function, **{name: value for name, value in change.items() if name in ("n", "dtype", "reverse")})
    assert clock.measured == [32] * (2 if again else 1)


def test_hints_of_the_function_are_part_of_the_key() -> None:
    clock = Clock()
    function = tuned(blocks(32), clock)
    for hints in ({}, {"waves_per_eu": 2}, {}, {"waves_per_eu": 2}):
        function.fn.compile_hints = hints
        run(function)
    assert clock.measured == [32, 32]


def test_key_values_of_different_types_differ() -> None:
    clock = Clock()

    @autotune(blocks(32), key=["option"], do_bench=clock)
    @flyc.jit
    def function(A: fx.Tensor, B: fx.Tensor, option: fx.Constexpr[Any], BLOCK: fx.Constexpr[int]):
        axpy_kernel(A, B, 7, BLOCK, 2.0).launch(grid=(1, 1, 1), block=(BLOCK, 1, 1))

    a, b, _ = arrays()
    for option in (1, True, 1.0, "1", None, (1, 2), fx.Float32, 1):
        function(a, b, option)
    assert len(clock.measured) == 7


SCALE = 2.0


def test_a_changed_kernel_is_tuned_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()

    @autotune(blocks(32), do_bench=clock)
    @flyc.jit
    def function(A: fx.Tensor, B: fx.Tensor, n: fx.Int32, BLOCK: fx.Constexpr[int]):
        axpy_kernel(A, B, n, BLOCK, SCALE).launch(grid=((n + BLOCK - 1) // BLOCK, 1, 1), block=(BLOCK, 1, 1))

    for scale in (2.0, 3.0, 2.0):
        monkeypatch.setattr("tests.unit.autotune.test_choice.SCALE", scale)
        monkeypatch.setitem(globals(), "SCALE", scale)
        a, b, _ = arrays()
        expected = b + np.float32(scale) * a
        function(a, b, SIZE)
        np.testing.assert_allclose(b, expected, rtol=1e-5, atol=1e-6)
    assert clock.measured == [32, 32], "the first value's timing is still on disk"


# Defaults ------------------------------------------------------------------------------------------------------------


def test_default_is_used_without_measuring(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    function = tuned(blocks(32, 64), clock, default=lambda args: Config(BLOCK=128 if args["n"] > 100 else 16))
    assert run(function) == Config(BLOCK=128) and run(function, 50) == Config(BLOCK=16)
    assert clock.measured == []
    monkeypatch.setenv(knobs.AUTOTUNE.name, "1")
    assert run(function) == Config(BLOCK=32)
    assert clock.measured == [32, 64]
    monkeypatch.delenv(knobs.AUTOTUNE.name)
    assert run(function) == Config(BLOCK=32), "the winner is in memory now"


def test_default_may_be_a_config_or_take_nothing() -> None:
    assert run(tuned(blocks(32), Clock(), default=Config(BLOCK=64))) == Config(BLOCK=64)
    assert run(tuned(blocks(32), Clock(), default=lambda: Config(BLOCK=64))) == Config(BLOCK=64)
    a, b, _ = arrays()
    with pytest.raises(TypeError, match="gave a int, not a Config"):
        tuned(blocks(32), Clock(), default=lambda: 3)(a, b, SIZE)
    with pytest.raises(TypeError, match="'TILE'"):
        tuned(blocks(32), Clock(), default=lambda: Config(TILE=3))(a, b, SIZE)


# Shipped configurations ----------------------------------------------------------------------------------------------


def test_a_saved_artifact_is_found(shipped: Path) -> None:
    clock = Clock(b64=1.0)
    first = tuned(blocks(32, 64), clock, artifact_name="axpy_v1")
    run(first)
    path = first.save_artifact()
    assert path == shipped / "axpy_v1.json"
    later = tuned(blocks(16), clock, artifact_name="axpy_v1", default=Config(BLOCK=128))
    assert run(later) == Config(BLOCK=64), "before the default, and though it is no longer in the list"
    assert run(later, SIZE - 1) == Config(BLOCK=128), "no entry for this size"
    assert clock.measured == [32, 64]


def test_entries_apply_as_far_as_they_say(shipped: Path) -> None:
    entries = [
        {"problem": {}, "config": {"BLOCK": 16}},
        {"problem": {"n": "50", "arch": "gfx942"}, "config": {"BLOCK": 64}},
        {"problem": {"n": "50"}, "config": {"BLOCK": 32}},
        {"problem": {"n": "60", "arch": "sm_90a"}, "config": {"BLOCK": 128}},
    ]
    (shipped / "axpy.json").write_text(json.dumps({"version": 1, "configs": entries}))
    function = tuned(blocks(8), Clock(), artifact_name="axpy")
    assert [run(function, n).kwargs["BLOCK"] for n in (50, 60, 70)] == [64, 16, 16]
    assert run(tuned(blocks(8), Clock())) == Config(BLOCK=8), "no artifact_name, no artifact"


def test_a_changed_artifact_is_read_again(shipped: Path) -> None:
    path = shipped / "axpy.json"
    for block in (16, 128):
        path.write_text(json.dumps({"version": 1, "configs": [{"problem": {}, "config": {"BLOCK": block}}]}))
        assert run(tuned(blocks(8), Clock(), artifact_name="axpy")) == Config(BLOCK=block)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"version": 1, "configs": 3}',
        '{"version": 1, "configs": [3, {"problem": [], "config": {}}]}',
        '{"version": 1, "configs": [{"problem": {}, "config": {"TILE": 3}}]}',
        '{"version": 1, "configs": [{"problem": {}, "config": {"num_warps": -1}}]}',
        '{"version": 1, "configs": [{"problem": {}, "config": {"pre_hook": "os.remove"}}]}',
    ],
)
def test_a_bad_artifact_is_ignored(shipped: Path, text: str) -> None:
    (shipped / "axpy.json").write_text(text)
    assert run(tuned(blocks(32), Clock(), artifact_name="axpy")) == Config(BLOCK=32)


def test_artifact_names_lead_nowhere_else() -> None:
    for name in ("../axpy", "/etc/axpy", "", "a/b"):
        with pytest.raises(ValueError, match="cannot name a file"):
            tuned(blocks(32), Clock(), artifact_name=name)
    function = tuned(blocks(32), Clock())
    with pytest.raises(ValueError, match="FLYDSL_AUTOTUNE_CONFIG_DIR"):
        function.save_artifact()


def test_saving_adds_to_an_artifact(tmp_path: Path) -> None:
    clock = Clock()
    for n in (50, 60, 50):
        function = tuned(blocks(32), clock, artifact_name="axpy")
        run(function, n)
        path = function.save_artifact(tmp_path / "new")
    problems = [entry["problem"]["n"] for entry in json.loads(path.read_text())["configs"]]
    assert sorted(problems) == ["50", "60"]
