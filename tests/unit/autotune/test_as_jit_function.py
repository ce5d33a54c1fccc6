"""Tuned functions where a jit function is wanted: `flyc.compile`, `flyc.export`, `flyc.torch_op`; looking inside."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.autotune import Autotuner, Config, autotune
from flydsl.base import knobs
from tests.unit.autotune.kernels_to_tune import SIZE, Clock, arrays, axpy, axpy_kernel, blocks, fresh


def tuned(*sizes: int, clock: Any = None, **options: Any) -> Autotuner:
    return autotune(blocks(*sizes or (32, 64)), key=["n"], do_bench=clock or Clock(b64=1.0), **options)(fresh(axpy))


def specs(n: int = SIZE) -> list[flyc.TensorSpec]:
    return [flyc.TensorSpec((n,), fx.Float32, device="host") for _ in range(2)]


# flyc.compile --------------------------------------------------------------------------------------------------------


def test_compile_binds_the_winner() -> None:
    function = tuned()
    a, b, expected = arrays()
    other = b.copy()
    compiled = flyc.compile(function, a, other, SIZE)
    np.testing.assert_allclose(other, expected, rtol=1e-5, atol=1e-6)
    compiled(a, b, SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-5, atol=1e-6)
    of_64, of_32 = (flyc.compile(fresh(axpy), a, b, SIZE, block).source_ir for block in (64, 32))
    assert compiled.source_ir == of_64 != of_32
    assert function.best_config(a, b, SIZE) == Config(BLOCK=64)
    assert len(function.specialisations) == 2, "the trials' code is used, nothing is compiled again"


def test_a_bound_call_leaves_out_what_the_configuration_set() -> None:
    compiled = flyc.compile(tuned(), *arrays()[:2], SIZE)
    for arguments in ((2.0, None), (2.0,), ()):  # FACTOR and stream have defaults
        a, b, expected = arrays()
        compiled(a, b, SIZE, *arguments)
        np.testing.assert_allclose(b, expected, rtol=1e-5, atol=1e-6)
    with pytest.raises(TypeError, match=r"takes 5 positional arguments, got 6"):
        compiled(a, b, SIZE, 64, 2.0, None)


def test_a_bound_call_can_be_pickled() -> None:
    compiled = pickle.loads(pickle.dumps(flyc.compile(tuned(), *arrays()[:2], SIZE)))
    a, b, expected = arrays()
    compiled(a, b, SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-5, atol=1e-6)


def test_hints_of_the_configuration_and_of_compile() -> None:
    configs = [Config(BLOCK=32, waves_per_eu=2)]
    function = autotune(configs, key=["n"], do_bench=Clock())(fresh(axpy))
    compiled = flyc.compile[{"maxnreg": 64}](function, *arrays()[:2], SIZE)
    assert dict(compiled.hints) == {"waves_per_eu": 2, "maxnreg": 64}
    assert flyc.compile[{"fast_fp_math": True}](function) is function
    assert function.fn.compile_hints == {"fast_fp_math": True}


def test_a_run_time_parameter_that_is_tuned_is_refused() -> None:
    @autotune([Config(count=3)], do_bench=lambda fn: 1.0)
    @flyc.jit
    def function(A: fx.Tensor, B: fx.Tensor, count: fx.Int32):
        axpy_kernel(A, B, count, 32, 2.0).launch(grid=(1, 1, 1), block=(32, 1, 1))

    a, b, _ = arrays()
    with pytest.raises(TypeError, match=r"'count' of 'function' is chosen.*passed at run time") as caught:
        flyc.compile(function, a, b)
    assert "count: fx.Constexpr[int]" in str(caught.value)


def test_compile_only_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.COMPILE_ONLY.name, "1")
    monkeypatch.setenv(knobs.RUNTIME_KIND.name, "host")
    clock = Clock()
    function = tuned(clock=clock)
    a, b, _ = arrays()
    before = b.copy()
    assert flyc.compile(function, a, b, SIZE) is None
    function.warmup(a, b, SIZE)
    np.testing.assert_array_equal(b, before)
    assert clock.measured == [] and function.winners == {}
    assert len(function.specialisations) == 2, "all configurations are in the cache"


# Descriptions --------------------------------------------------------------------------------------------------------


def test_descriptions_take_a_winner_that_is_known(timings: Path) -> None:
    clock = Clock(b64=1.0)
    function = tuned(clock=clock)
    for use in (function.warmup, function.best_config, lambda *args: flyc.compile(function, *args)):
        with pytest.raises(RuntimeError, match=r"no winner.*without data") as caught:
            use(*specs(), SIZE)
        assert "axpy.best_config(...)" in str(caught.value)
    function(*arrays()[:2], SIZE)
    for again in (function, tuned(clock=clock)):  # from memory, from disk
        assert again.best_config(*specs(), SIZE) == Config(BLOCK=64)
        again.warmup(*specs(), SIZE)
        a, b, expected = arrays()
        flyc.compile(again, *specs(), SIZE)(a, b, SIZE)
        np.testing.assert_allclose(b, expected, rtol=1e-5, atol=1e-6)
    assert clock.measured == [32, 64]


def test_descriptions_take_the_default() -> None:
    function = tuned(default=Config(BLOCK=128))
    assert function.best_config(*specs(), SIZE) == Config(BLOCK=128)
    function.warmup(*specs(), SIZE)
    assert len(function.specialisations) == 1


# flyc.export ---------------------------------------------------------------------------------------------------------


def test_export_writes_the_winner(tmp_path: Path) -> None:
    a, b, _ = arrays()
    before = b.copy()
    made = flyc.export(tuned(), a, b, SIZE, dir=tmp_path)
    np.testing.assert_array_equal(b, before)
    assert json.loads(made.description.read_text())["constants"] == {"BLOCK": "64", "FACTOR": "2.0"}
    assert made.name == "axpy"


# Looking inside ------------------------------------------------------------------------------------------------------


def test_looking_inside() -> None:
    function = tuned()
    assert function.specialisations == () and function.cache_info() is None
    a, b, _ = arrays()
    function.warmup(a, b, SIZE)
    assert function.specialisations == function.fn.specialisations and len(function.specialisations) == 2
    before = function.cache_info()
    function(a, b, SIZE)
    after = function.cache_info()
    assert before is not None and after is not None and after.hits > before.hits and after.misses == before.misses


def test_lds_report_of_a_tuned_function() -> None:
    a, b, expected = arrays()
    report = flyc.lds_report(tuned(), a, b, SIZE)
    assert report.recorded == 0
    np.testing.assert_allclose(b, expected, rtol=1e-5, atol=1e-6)


class Scaler:
    """A class whose method is tuned."""

    @autotune(blocks(32, 64), key=["n"], do_bench=Clock(b64=1.0))
    @flyc.jit
    def apply(self, A: fx.Tensor, B: fx.Tensor, n: fx.Int32, BLOCK: fx.Constexpr[int]):
        axpy_kernel(A, B, n, BLOCK, 2.0).launch(grid=((n + BLOCK - 1) // BLOCK, 1, 1), block=(BLOCK, 1, 1))


def test_methods() -> None:
    scaler = Scaler()
    a, b, expected = arrays()
    assert scaler.apply.best_config(a, b, SIZE) == Config(BLOCK=64)
    scaler.apply.warmup(a, b, SIZE)
    compiled = flyc.compile(scaler.apply, a, b.copy(), SIZE)
    compiled(scaler, a, b, SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("use", [flyc.compile, lambda fn: flyc.export(fn, dir="x"), flyc.lds_report, flyc.torch_op])
@pytest.mark.parametrize("wrong", [print, 3, Autotuner])
def test_what_is_no_jit_function_is_still_refused(use: Any, wrong: Any) -> None:
    with pytest.raises(TypeError, match="takes a jit function, got"):
        use(wrong)


# flyc.torch_op -------------------------------------------------------------------------------------------------------


def test_torch_op(torch: Any) -> None:
    clock = Clock(b64=1.0)
    function = tuned(clock=clock, restore_value=["B"])
    op = flyc.torch_op(function, name="flydsl_tests::tuned_axpy", mutates=("B",))
    assert str(op._opoverload._schema) == (
        "flydsl_tests::tuned_axpy(Tensor A, Tensor(a0!) B, SymInt n, float FACTOR=2.) -> ()"
    )
    for _ in range(2):
        a, b = torch.randn(SIZE), torch.randn(SIZE)
        expected = b + 2 * a
        op(a, b, SIZE)
        torch.testing.assert_close(b, expected)
    assert clock.measured == [32, 64]
    torch.library.opcheck(op, (torch.randn(SIZE), torch.randn(SIZE), SIZE))


def test_torch_op_of_a_method(torch: Any) -> None:
    op = flyc.torch_op(Scaler().apply, name="flydsl_tests::tuned_method", mutates=("B",))
    assert "(Tensor A, Tensor(a0!) B, SymInt n)" in str(op._opoverload._schema)
    a, b = torch.randn(SIZE), torch.randn(SIZE)
    expected = b + 2 * a
    op(a, b, SIZE)
    torch.testing.assert_close(b, expected)


def test_torch_op_under_torch_compile(torch: Any) -> None:
    @autotune(blocks(32, 64), key=["n"], do_bench=Clock())
    @flyc.jit
    def double(A: fx.Tensor, B: fx.Tensor, n: fx.Int32, BLOCK: fx.Constexpr[int], stream: fx.Stream = None):
        axpy_kernel(A, B, n, BLOCK, 2.0).launch(
            grid=((n + BLOCK - 1) // BLOCK, 1, 1), block=(BLOCK, 1, 1), stream=stream
        )

    op = flyc.torch_op(double, name="flydsl_tests::tuned_double", returns={"B": lambda A: A.new_zeros(A.shape)})
    compiled = torch.compile(lambda x: op(x + 1, SIZE) * 3, fullgraph=True, backend="aot_eager")
    x = torch.randn(SIZE)
    torch.testing.assert_close(compiled(x), (x + 1) * 6)


def test_torch_op_checks_what_the_winner_writes(torch: Any) -> None:
    op = flyc.torch_op(tuned(), name="flydsl_tests::wrong_axpy", mutates=("A",))
    a, b = torch.randn(SIZE), torch.randn(SIZE)
    before = b.clone()
    with pytest.raises(ValueError, match="writes 'B', which it does not say"):
        op(a, b, SIZE)
    assert torch.equal(b, before)


def test_torch_op_needs_to_know_what_configurations_set(torch: Any) -> None:
    function = autotune(lambda args: blocks(32), do_bench=Clock())(fresh(axpy))
    with pytest.raises(TypeError, match="come from a function") as caught:
        flyc.torch_op(function, name="flydsl_tests::unknown_axpy", mutates=("B",))
    assert "as a list" in str(caught.value)
