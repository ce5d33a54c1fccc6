"""The search: the fastest configuration wins, failing and wrong ones are dropped, arguments stay as they were."""

from __future__ import annotations

import io
import json
import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import flydsl
import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.autotune import Autotuner, Config, autotune
from flydsl.base.errors import FlyDSLError
from tests.support.log import Log
from tests.unit.autotune.kernels_to_tune import SIZE, Clock, arrays, axpy, axpy_kernel, blocks, fresh


def tuned(configs: Any, clock: Any = None, **options: Any) -> Autotuner:
    return autotune(configs, key=["n"], do_bench=clock or Clock(), **options)(fresh(axpy))


def test_fastest_wins_and_the_call_runs_once() -> None:
    clock = Clock(b32=3.0, b64=1.0, b128=2.0)
    function = tuned(blocks(32, 64, 128), clock)
    a, b, expected = arrays()
    function(a, b, SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-6)
    assert clock.measured == [32, 64, 128]
    assert function.best_config(a, b, SIZE) == Config(BLOCK=64)
    function(a, b, SIZE)
    np.testing.assert_allclose(b, expected + 2 * a, rtol=1e-5)
    assert clock.measured == [32, 64, 128], "the second call finds the winner"


def test_the_class_takes_what_the_original_has_it_take() -> None:
    clock, seen = Clock(b32=3.0, b64=1.0), []
    function = Autotuner(
        fresh(axpy), blocks(32, 64), ["n"], 1, 3, prune_configs_by=None, reset_to_zero=None, restore_value=["B"],
        pre_hook=None, post_hook=lambda arguments, error: seen.append(error), do_bench_fn=clock, default=None,
        artifact_name=None,
    )  # fmt: skip
    a, b, expected = arrays()
    function(a, b, SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-6)
    assert clock.measured == [32, 64] and function.best_config(a, b, SIZE) == Config(BLOCK=64) and set(seen) == {None}
    with pytest.raises(TypeError, match="takes a jit function, got function"):
        Autotuner(arrays, blocks(32), [])  # type: ignore[arg-type]


def test_with_the_real_clock() -> None:
    function = flydsl.autotune(configs=blocks(32, 64), key=["n"], warmup=1, rep=3)(fresh(axpy))
    a, b, expected = arrays()
    function(a, b, SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-6)
    assert set(function.winners.values()) <= set(blocks(32, 64))


def test_arguments_by_keyword() -> None:
    function = tuned(blocks(32, 64))
    a, b, expected = arrays()
    function(n=SIZE, B=b, A=a)
    np.testing.assert_allclose(b, expected, rtol=1e-6)
    with pytest.raises(TypeError, match="'BLOCK' is set by the configurations"):
        function(a, b, SIZE, BLOCK=32)
    with pytest.raises(TypeError, match="unexpected keyword argument 'm'"):
        function(a, b, m=SIZE)
    with pytest.raises(TypeError, match="missing 'n'"):
        function(a, b)


def test_search_leaves_no_trace() -> None:
    function = tuned(blocks(32, 64, 128), restore_value=["B"])
    a, b, _ = arrays()
    before = b.copy()
    function.best_config(a, b, SIZE)
    np.testing.assert_array_equal(b, before)


def test_strided_and_offset_arrays_keep_their_gaps(rng: np.random.Generator) -> None:
    function = tuned(blocks(32, 64))
    base = rng.standard_normal((SIZE, 3)).astype(np.float32)
    column, a = base[:, 1], rng.standard_normal(SIZE).astype(np.float32)
    before = base.copy()
    function(flyc.from_dlpack(a), flyc.from_dlpack(column), SIZE)
    np.testing.assert_allclose(base[:, 1], before[:, 1] + 2 * a, rtol=1e-5)
    np.testing.assert_array_equal(base[:, ::2], before[:, ::2])


def test_zero_size() -> None:
    function = tuned(blocks(32, 64))
    a = np.zeros(0, np.float32)
    function(a, a.copy(), 0)


def test_read_only_input() -> None:
    function = tuned(blocks(32, 64))
    a, b, expected = arrays()
    a.setflags(write=False)
    function(a, b, SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-6)


# Failures and wrong results ------------------------------------------------------------------------------------------


def test_a_failing_configuration_is_skipped(kept_log: Log) -> None:
    clock = Clock()
    function = tuned(blocks(2048, 64), clock)
    a, b, expected = arrays()
    with kept_log.at_level(logging.WARNING):
        function(a, b, SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-6)
    assert clock.measured == [64]
    assert "Config(BLOCK=2048)" in kept_log.text and "too much" in kept_log.text


def test_all_failing_names_each() -> None:
    function = tuned(blocks(2048, 4096))
    a, b, _ = arrays()
    before = b.copy()
    with pytest.raises(RuntimeError) as caught:
        function(a, b, SIZE)
    assert isinstance(caught.value, FlyDSLError)
    text = str(caught.value)
    assert "Config(BLOCK=2048): " in text and "Config(BLOCK=4096): " in text and "BLOCK=4096 is too much" in text
    np.testing.assert_array_equal(b, before)


def test_a_wrong_configuration_is_dropped_and_named() -> None:
    clock = Clock(b32=3.0, b64=1.0)
    function = tuned([Config(BLOCK=32), Config(BLOCK=64, FACTOR=2.5), Config(BLOCK=128)], clock)
    a, b, expected = arrays()
    with pytest.warns(
        RuntimeWarning, match=r"Config\(BLOCK=64, FACTOR=2.5\).*B differs in \d+ of 137 elements"
    ) as seen:
        function(a, b, SIZE)
    assert seen[0].filename == __file__
    np.testing.assert_allclose(b, expected, rtol=1e-6)
    assert clock.measured == [32, 128], "what computes something else is not even measured"
    assert function.best_config(a, b, SIZE) == Config(BLOCK=32)


def test_the_reference_may_be_named() -> None:
    configs = [Config(BLOCK=32, FACTOR=2.5), Config(BLOCK=64)]
    function = tuned(configs, reference=Config(BLOCK=128))
    a, b, expected = arrays()
    with pytest.warns(RuntimeWarning, match=r"FACTOR=2.5"):
        function(a, b, SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-6)
    broken = tuned(configs, reference=Config(BLOCK=2048))
    with pytest.raises(RuntimeError, match=r"reference configuration Config\(BLOCK=2048\)"):
        broken(a, b, SIZE)


@pytest.mark.parametrize("check", [False, 0.5, (0.0, 100.0), lambda got, expected: set(got) == {"B"}])
def test_the_check_can_be_loosened(check: Any) -> None:
    clock = Clock()
    function = tuned([Config(BLOCK=64), Config(BLOCK=32, FACTOR=2.001)], clock, check=check)
    a, b, _ = arrays()
    function(a, b, SIZE)
    assert clock.measured == [64, 32]


def test_a_check_function_decides() -> None:
    seen: list[dict[str, np.ndarray]] = []

    def refuse(got: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> bool:
        seen.append(expected)
        return False

    function = tuned(blocks(64, 32), check=refuse)
    a, b, expected = arrays()
    with pytest.warns(RuntimeWarning, match=r"Config\(BLOCK=32\).*refused"):
        function(a, b, SIZE)
    np.testing.assert_allclose(seen[0]["B"], expected, rtol=1e-6)


@pytest.mark.parametrize("check", ["tight", (1, 2, 3), -1.0, (0.1, "x")])
def test_bad_checks(check: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        tuned(blocks(32), check=check)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, "fast", []])
def test_a_clock_that_gives_no_time(value: Any) -> None:
    function = tuned(blocks(32), lambda fn: value)
    a, b, _ = arrays()
    with pytest.raises(RuntimeError, match="no time in milliseconds"):
        function(a, b, SIZE)


# Hooks and buffers ---------------------------------------------------------------------------------------------------


def test_hooks_see_every_run() -> None:
    events: list[tuple[str, int]] = []
    function = autotune(
        [Config(BLOCK=32, pre_hook=lambda args: events.append(("config", args["BLOCK"]))), Config(BLOCK=64)],
        key=["n"],
        do_bench=Clock(),
        pre_hook=lambda args: events.append(("pre", args["BLOCK"])),
        post_hook=lambda args, error: events.append(("post" if error is None else "failed", args["BLOCK"])),
    )(fresh(axpy))
    a, b, _ = arrays()
    function(a, b, SIZE)
    run32 = [("pre", 32), ("config", 32), ("post", 32)]
    run64 = [("pre", 64), ("post", 64)]
    assert events == run32 * 2 + run64 * 2 + run32, "a checked and a measured run each, then the winner's"


def test_hooks_of_a_failing_run() -> None:
    seen: list[Any] = []
    function = tuned(blocks(32), post_hook=lambda args, error: seen.append(error))
    a, b, _ = arrays()
    with pytest.raises(RuntimeError, match=r"the grid extents .* are negative"):
        function(a, b, -100)
    assert isinstance(seen[0], RuntimeError)
    function(a, b, SIZE)
    assert seen[1:] == [None] * 3


def test_reset_to_zero_on_every_run() -> None:
    function = tuned(blocks(32, 64), reset_to_zero=["B"])
    a, b, _ = arrays()
    for _ in range(2):
        function(a, b, SIZE)
        np.testing.assert_allclose(b, 2 * a, rtol=1e-6)


def test_restore_value_before_every_measured_run() -> None:
    a, b, _ = arrays()
    before = b.copy()
    seen: list[bool] = []
    function = autotune(
        blocks(32, 64),
        warmup=2,
        rep=2,
        restore_value=["B"],
        pre_hook=lambda args: seen.append(np.array_equal(args["B"], before)),
    )(fresh(axpy))
    function(a, b, SIZE)
    assert seen and all(seen)


def test_torch_tensors(torch: Any) -> None:
    function = tuned(blocks(32, 64), reset_to_zero=["B"], restore_value=["B"])
    a, b = torch.randn(SIZE), torch.full((SIZE,), float("nan"))
    function(a, b, SIZE)
    torch.testing.assert_close(b, 2 * a)


# Where configurations come from --------------------------------------------------------------------------------------


def test_configs_from_a_function() -> None:
    clock = Clock()
    function = tuned(lambda args: blocks(32, 64) if args["n"] > 100 else blocks(128), clock)
    a, b, _ = arrays()
    function(a, b, SIZE)
    function(a[:50], b[:50], 50)
    assert clock.measured == [32, 64, 128]


def test_pruning() -> None:
    clock = Clock()
    a, b, _ = arrays()
    tuned(blocks(32, 64, 128), clock, prune_configs_by=lambda configs, args: configs[1:])(a, b, SIZE)
    assert clock.measured == [64, 128]
    clock.measured.clear()
    steps = {
        "early_config_prune": lambda configs, args: [c for c in configs if c.kwargs["BLOCK"] < args["n"]],
        "perf_model": lambda BLOCK, n, **_: -BLOCK,
        "top_k": 2,
    }
    tuned(blocks(16, 32, 64, 256), clock, prune_configs_by=steps)(a[:100], b[:100], 100)
    assert clock.measured == [64, 32]
    with pytest.raises(ValueError, match="no configuration is left"):
        tuned(blocks(32), prune_configs_by=lambda configs, args: [])(a, b, SIZE)
    with pytest.raises(TypeError, match="a list of Config, got NoneType"):
        tuned(blocks(32), prune_configs_by=lambda configs, args: None)(a, b, SIZE)
    with pytest.raises(TypeError, match="a list of Config, got NoneType"):
        tuned(lambda args: None)(a, b, SIZE)
    with pytest.raises(TypeError, match="early_config_prune, perf_model, top_k"):
        tuned(blocks(32), prune_configs_by={"late": None})


def test_mistakes_are_found_while_decorating() -> None:
    with pytest.raises(TypeError, match="'TILE', but 'axpy' has no such parameter"):
        tuned([Config(TILE=3)])
    with pytest.raises(ValueError, match="key= names 'm'"):
        autotune(blocks(32), key=["m"])(axpy)
    with pytest.raises(ValueError, match="restore_value= names 'C'"):
        tuned(blocks(32), restore_value=["C"])
    with pytest.raises(TypeError, match="list of parameter names"):
        autotune(blocks(32), key="n")(axpy)
    with pytest.raises(ValueError, match="over no configuration"):
        tuned([])
    with pytest.raises(TypeError, match="hold a dict"):
        tuned([{"BLOCK": 32}])


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"executor": 5}, "executor= is a concurrent.futures.Executor, got int"),
        ({"executor": ThreadPoolExecutor}, "got the class ThreadPoolExecutor"),
        ({"rep": 0}, "rep= is a number of runs that are measured, 1 or more, got 0"),
        ({"rep": -1}, "got -1"),
        ({"rep": 2.5}, "rep= is a number of runs that are measured, got 2.5"),
        ({"rep": True}, "got True"),
        ({"warmup": -1}, "warmup= is a number of runs before those that are measured, 0 or more, got -1"),
        ({"warmup": None}, "got None"),
        ({"do_bench": 5}, "do_bench= is a function that takes a function and gives milliseconds, got int"),
        ({"pre_hook": "x"}, "pre_hook= is a function"),
        ({"post_hook": []}, "post_hook= is a function"),
        ({"reference": {"BLOCK": 32}}, "reference= is the Config whose result is right, got dict"),
        ({"default": 5}, "default= of 'axpy' is a Config or a function that gives one, got int"),
        ({"default": Config(TILE=3)}, "'TILE', but 'axpy' has no such parameter"),
        ({"configs": []}, "tuned over no configuration"),
        ({"configs": ()}, "tuned over no configuration"),
        ({"configs": None}, "a list of Config, got NoneType"),
        ({"configs": 5}, "a list of Config, got int"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_options_without_a_meaning_are_refused_while_decorating(option: dict[str, Any], said: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        autotune(**{"configs": blocks(32), **option})(axpy)
    assert isinstance(caught.value, FlyDSLError)
    assert said in caught.value.message and caught.value.hint


# What else a configuration can say -----------------------------------------------------------------------------------


def test_num_warps_and_hints() -> None:
    seen: list[tuple[int, int]] = []

    @autotune([Config(BLOCK=32, num_warps=2, waves_per_eu=1), Config(BLOCK=64, num_warps=4)], do_bench=Clock())
    @flyc.jit
    def function(A: fx.Tensor, B: fx.Tensor, n: fx.Int32, BLOCK: fx.Constexpr[int], num_warps: fx.Constexpr[int]):
        seen.append((BLOCK, num_warps))
        axpy_kernel(A, B, n, BLOCK, 2.0).launch(grid=((n + BLOCK - 1) // BLOCK, 1, 1), block=(BLOCK, 1, 1))

    a, b, expected = arrays()
    function(a, b, SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-6)
    assert sorted(set(seen)) == [(32, 2), (64, 4)]


def test_num_warps_is_left_out_where_the_function_has_none() -> None:
    a, b, expected = arrays()
    tuned([Config(BLOCK=32, num_warps=2)])(a, b, SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-6)


def test_a_tuned_function_inside_a_kernel_is_refused() -> None:
    inner = tuned(blocks(32))

    @flyc.jit
    def outer(A: fx.Tensor, B: fx.Tensor, n: fx.Int32):
        inner(A, B, n)

    a, b, _ = arrays()
    with pytest.raises(RuntimeError, match=r"call axpy\.fn there"):
        outer(a, b, SIZE)


def test_log_topic(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, _ = arrays()
    tuned(blocks(32))(a, b, SIZE)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("FLYDSL_LOG", "autotune")
    tuned(blocks(64))(a, b, SIZE)
    assert capsys.readouterr().err == "[flydsl autotune] axpy: Config(BLOCK=64): 64 ms\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("library", [None, "tqdm"])
def test_progress_on_a_terminal(library: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []

    class Bar:
        def __init__(self, total: int, desc: str, leave: bool) -> None:
            assert (total, desc, leave) == (2, "tuning axpy", False)

        def update(self, count: int) -> None:
            steps.append(count)

        def close(self) -> None:
            steps.append(0)

    monkeypatch.setitem(sys.modules, "tqdm", SimpleNamespace(tqdm=Bar) if library else None)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    a, b, _ = arrays()
    tuned(blocks(32, 64))(a, b, SIZE)
    if library:
        assert steps == [1, 1, 0] and terminal.getvalue() == ""
    else:
        shown = terminal.getvalue().split("\r\x1b[K")
        assert shown == [
            "",
            "tuning axpy: 1/2, Config(BLOCK=32): 32 ms",
            "tuning axpy: 2/2, Config(BLOCK=64): 64 ms",
            "",
        ]


def test_file_holds_the_winner(timings: Path) -> None:
    a, b, _ = arrays()
    tuned(blocks(32, 64), Clock(b64=1.0))(a, b, SIZE)
    (entry,) = json.loads((timings / "axpy.json").read_text())["entries"].values()
    assert entry["best"] == {"BLOCK": 64}
    assert {result["ms"] for result in entry["results"].values()} == {32.0, 1.0}
