"""Why a function was compiled: the log, the record, compiling ahead, and refusing to compile late."""

from __future__ import annotations

import dataclasses
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from tests.unit.jit.kernels import copying, scaling

F32 = np.ones(16, np.float32)
F16 = np.ones(16, np.float16)
WIDE = np.ones((4, 8), np.float32)


def why_of(fn: Any, *calls: tuple[Any, ...]) -> list[str]:
    for args in calls:
        fn(*args)
    return [s.why for s in fn.specialisations]


REASONS: list[tuple[str, Any, tuple[Any, ...], tuple[Any, ...], str]] = [
    ("dtype", scaling, (F32, F32, 1.0), (F16, F32, 1.0), "argument 'x': dtype is f16, was f32"),
    ("constexpr", scaling, (F32, F32, 1.0, 0, 1), (F32, F32, 1.0, 0, 2), "'bias': constexpr value is 2, was 1"),
    (
        "static shape",
        scaling,
        (flyc.from_dlpack(F32), F32, 1.0),
        (flyc.from_dlpack(F32[:8]), F32, 1.0),
        "argument 'x': shape is (8), was (16)",
    ),
    (
        "raw or static",
        scaling,
        (F32, F32, 1.0),
        (flyc.from_dlpack(F32), F32, 1.0),
        "'x': layout is static (from_dlpack), but for its marks, was dynamic (a raw array)",
    ),
    ("stride pattern", copying, (WIDE, WIDE, 1, 1), (WIDE.T, WIDE, 1, 1), "'x': strides is (1, ?), was (?, 1)"),
    (
        "alignment",
        scaling,
        (flyc.from_dlpack(F32), F32, 1.0),
        (flyc.from_dlpack(F32, assumed_align=8), F32, 1.0),
        "'x': alignment is 8 bytes, was 4 bytes",
    ),
    (
        "divisibility",
        copying,
        (flyc.from_dlpack(WIDE).mark_layout_dynamic(), WIDE, 1, 1),
        (flyc.from_dlpack(WIDE).mark_layout_dynamic(divisibility=4), WIDE, 1, 1),
        "'x': divisibility is stride 0 a multiple of 4, was not known",
    ),
]


@pytest.mark.parametrize(("make", "first", "second", "reason"), [c[1:] for c in REASONS], ids=[c[0] for c in REASONS])
def test_the_reason_is_named(make: Any, first: Any, second: Any, reason: str) -> None:
    fn = make()
    why = why_of(fn, first, second, first, second)
    assert len(why) == 2 and why[0] == "the first call"
    assert reason in why[1], why[1]


def test_rank_hint_target_and_environment() -> None:
    @flyc.jit
    def nothing(x: fx.Tensor, n: Any): ...

    nothing(F32, 1)
    nothing(WIDE, 1)
    nothing(F32, 1 << 40)
    with knobs.scope({knobs.ARCH: "gfx1201"}):
        nothing(F32, 1)
    with knobs.scope({knobs.COMPILE_OPT_LEVEL: 1}):
        nothing(F32, 1)
    nothing.compile_hints["maxnreg"] = 64
    nothing(F32, 1)
    why = [s.why for s in nothing.specialisations]
    assert "argument 'x': rank is 2, was 1" in why[1]
    assert why[2] == "argument 'n': type is Int64, was Int32"
    assert why[3] == "target is gfx1201, was gfx942"
    assert why[4] == "environment variable FLYDSL_COMPILE_OPT_LEVEL is 1, was 2"
    assert why[5] == "hint maxnreg is 64, was not set"
    assert nothing.specialisations[3].target == "gfx1201" and nothing.specialisations[0].device == "host"


def test_the_nearest_earlier_specialisation_is_compared() -> None:
    fn = scaling()
    why = why_of(fn, (F32, F32, 1.0), (F16, F16, 1.0), (F16, F16, 1.0, 0, 3))
    assert why[2] == "argument 'bias': constexpr value is 3, was 0"


def test_a_changed_global_is_the_reason() -> None:
    number = 3

    @flyc.kernel
    def kernel(out: fx.Tensor):
        out[0] = number

    @flyc.jit
    def fill(out: fx.Tensor):
        kernel(out).launch()

    out = np.zeros(1, np.int32)
    fill(out)
    number = 4
    fill(out)
    assert out[0] == 4
    assert "captured" in fill.specialisations[1].why


def test_records_are_frozen_and_complete() -> None:
    fn = scaling()
    assert fn.specialisations == ()
    fn(F32, F32, 1.0)
    (made,) = fn.specialisations
    assert made.arguments[0] == "x: f32 tensor (?):(1), layout-dynamic, 4-byte aligned"
    assert made.arguments[2:] == ("factor: Float32", "shift: Int32", "bias: Constexpr 0", "stream: stream")
    assert made.seconds > 0 and made.hints == ()
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.why = ""


def test_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    fn = scaling()
    with knobs.scope({knobs.LOG: frozenset({"recompiles"})}):
        fn(F32, F32, 1.0)
        fn(F32, F32, 2.0)
        fn(F16, F32, 1.0)
    lines = capsys.readouterr().err.splitlines()
    assert all(line.startswith("[flydsl recompiles]") for line in lines)
    assert sum("specialisation" in line for line in lines) == 2
    assert any("why: the first call" in line for line in lines)
    assert any("why: argument 'x': dtype is f16, was f32" in line for line in lines)
    assert any("layout-dynamic" in line for line in lines)
    fn(F32.astype(np.float64), F32, 1.0)
    assert not capsys.readouterr().err


# Compiling ahead -----------------------------------------------------------------------------------------------------


def test_warmup_launches_nothing_and_is_found() -> None:
    fn = scaling()
    out = np.full(16, np.nan, np.float32)
    assert fn.warmup(F32, out, 2.0) is None
    assert np.isnan(out).all()
    with knobs.scope({knobs.JIT: "strict"}):
        fn(F32, out, 2.0)
        fn(F32, out, factor=2.0)
    np.testing.assert_array_equal(out, F32 * 2)
    assert len(fn.specialisations) == 1


@pytest.mark.parametrize("dtype", [fx.Float16, "float16", np.float16, np.dtype("float16")], ids=str)
def test_warmup_with_descriptions(dtype: Any) -> None:
    fn = scaling()
    fn.warmup(flyc.TensorSpec((99,), dtype), flyc.TensorSpec((1,), fx.Float32, device="host"), 1.0)
    fn.warmup(flyc.from_dlpack(flyc.TensorSpec((16,), dtype)), flyc.TensorSpec((1,), fx.Float32), 1.0)
    out = np.zeros(16, np.float32)
    with knobs.scope({knobs.JIT: "strict"}):
        fn(F16, out, 1.0)
        fn(flyc.from_dlpack(F16), out, 1.0)
    np.testing.assert_array_equal(out, F16.astype(np.float32))


def test_warmup_with_meta_tensors(torch: ModuleType) -> None:
    fn = scaling()
    fn.warmup(torch.empty(16, device="meta"), torch.empty(16, device="meta"), 1.0)
    x, out = torch.randn(16), torch.zeros(16)
    with knobs.scope({knobs.JIT: "strict"}):
        fn(x, out, 1.0)
    assert torch.equal(out, x)
    with pytest.raises(ValueError, match="no data to launch with"):
        fn(torch.empty(16, device="meta"), out, 1.0)


def test_descriptions_are_not_launched() -> None:
    fn = scaling()
    for _ in range(2):
        with pytest.raises(ValueError, match="argument 'x': a description of an array has no data"):
            fn(flyc.TensorSpec((16,), fx.Float32), F32, 1.0)


def test_bad_descriptions() -> None:
    with pytest.raises(ValueError, match="negative extent"):
        flyc.TensorSpec((-1,), fx.Float32)
    with pytest.raises(ValueError, match="differ in rank"):
        flyc.TensorSpec((1, 2), fx.Float32, strides=(1,))
    with pytest.raises(TypeError, match="tuple of ints"):
        flyc.TensorSpec((1.5,), fx.Float32)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="cannot be passed"):
        flyc.TensorSpec((1,), "complex64")
    with pytest.raises(ValueError, match="unknown device"):
        flyc.TensorSpec((1,), fx.Float32, device="moon")


def test_strict_refuses_late_compiles() -> None:
    fn = scaling()
    with knobs.scope({knobs.JIT: "strict"}):
        with pytest.raises(RuntimeError, match="FLYDSL_JIT=strict") as caught:
            fn(F32, F32, 1.0)
        assert "scale.warmup(...)" in str(caught.value)
        compiled = flyc.compile(fn, F32, F32, 1.0)
        compiled(F32, np.zeros(16, np.float32), 1.0)
        fn(F32, np.zeros(16, np.float32), 1.0)
        with pytest.raises(RuntimeError, match="strict"):
            fn(F16, F32, 1.0)
    fn(F16, np.zeros(16, np.float32), 1.0)
    assert len(fn.specialisations) == 2


def test_compile_only_compiles_once() -> None:
    fn = scaling()
    with knobs.scope({knobs.COMPILE_ONLY: True}):
        for _ in range(3):
            assert fn(F32, F32, 1.0) is None
    assert len(fn.specialisations) == 1
