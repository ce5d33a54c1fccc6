"""Raw IR values (`x.ir_value()`, `arith.unwrap(x)`) as operands that an instruction encodes.

A raw value that is a constant is that number. Any other is refused, and the message names its type and nothing of the
IR library. A raw false must not count as true because it is an object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.expr import arith
from flydsl.expr.typing import T
from tests.support import random_data
from tests.unit.rocdl.device_code import instructions, launcher

r = fx.rocdl


def raw(number: int) -> Any:
    """A constant of 32 bits as kernels of the older style hand it on."""
    return arith.unwrap(fx.Int32(number))


def raw_flag(value: bool) -> Any:
    return fx.Boolean(value).ir_value()


def run(body: Callable[[Any, Any, Any], None], threads: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """What ``body(x, y, thread)`` makes of fresh small numbers, and the numbers."""
    x = random_data.generator().integers(1, 1 << 20, 256).astype(np.int32)
    y = np.full(256, -1, np.int32)
    launcher(body, threads)(x, y)
    return x, y


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("constant", [raw_flag, raw], ids=["i1", "i32"])
def test_the_half_of_a_conversion(half: bool, constant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")

    def body(x: Any, y: Any, t: Any) -> None:
        packed = r.cvt_pk_fp8_f32(T.i32, 1.0, 2.0, 0, constant(half))
        y[t] = fx.Int32(packed)
        y[t + 64] = fx.Int32(r.cvt_pk_f32_fp8(packed, constant(half))[1])
        y[t + 128] = fx.Int32(r.cvt_pk_f32_fp8(packed, constant(not half))[1])

    _, y = run(body)
    word = int(y[0]) & 0xFFFFFFFF
    assert (word >> (0 if half else 16)) & 0xFFFF == 0 and (word >> (16 if half else 0)) & 0xFFFF != 0
    assert set(y[64:128]) == {2} and set(y[128:192]) == {0}


@pytest.mark.parametrize("bound", [False, True])
def test_bound_ctrl_of_dpp(bound: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")

    def body(x: Any, y: Any, t: Any) -> None:
        y[t] = fx.Int32(r.update_dpp(T.i32, raw(77), x[t], raw(0x111), raw(15), raw(15), raw_flag(bound)))

    x, y = run(body)
    lane = np.arange(64)
    np.testing.assert_array_equal(y[:64], np.where(lane % 16 == 0, 0 if bound else 77, np.roll(x[:64], 1)))


def test_immediates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")

    def body(x: Any, y: Any, t: Any) -> None:
        rsrc = fx.buffer_ops.create_buffer_resource(x)
        y[t] = fx.Int32(r.raw_ptr_buffer_load(T.i32, rsrc, arith.unwrap(t * 4), raw(0), raw(0)))
        y[t + 64] = fx.Int32(r.ds_swizzle(T.i32, arith.unwrap(x[t]), raw(0x041F)))
        r.s_waitcnt(raw(0))
        r.s_waitcnt(vmcnt=raw(0))
        half = fx.Vector.filled(4, 1.0, fx.Float16)
        zero = fx.Vector.filled(4, 0.0, fx.Float32)
        operands = [half.ir_value(), half.ir_value(), zero.ir_value(), raw(0), raw(0), raw(0)]
        y[t + 128] = fx.Int32(fx.Vector(r.mfma_f32_16x16x16f16(T.f32x4, operands))[0])

    x, y = run(body)
    np.testing.assert_array_equal(y[:64], x[:64])
    np.testing.assert_array_equal(y[64:128], x[:64][np.arange(64) ^ 1])
    assert set(y[128:192]) == {16}


def test_the_flag_and_part_of_a_scaled_conversion() -> None:
    def body(low: Any, part: Any) -> Callable[[Any, Any, Any], None]:
        def run(x: Any, y: Any, t: Any) -> None:
            y[t] = fx.Int32(r.cvt_scalef32_pk_f32_fp8(x[t], 1.0, low())[0])
            y[t + 64] = fx.Int32(r.cvt_scalef32_f32_fp8(x[t], 1.0, part()))

        return run

    raw_code = instructions(body(lambda: raw_flag(False), lambda: raw(2)), "gfx950")
    assert raw_code == instructions(body(lambda: False, lambda: 2), "gfx950")
    assert raw_code != instructions(body(lambda: raw_flag(True), lambda: raw(2)), "gfx950")


UNKNOWN: dict[str, Callable[[Any, Any], Any]] = {
    "the half": lambda x, b: r.cvt_pk_f32_fp8(x, b),
    "bound_ctrl": lambda x, b: r.update_dpp(0, x, 0x111, bound_ctrl=b),
    "the swizzle pattern": lambda x, b: r.ds_swizzle(x, x),
    "the wait field": lambda x, b: r.s_waitcnt(x),
    "vmcnt": lambda x, b: r.s_waitcnt(vmcnt=x),
    "the priority": lambda x, b: r.s_setprio(x),
    "cbsz": lambda x, b: r.mfma_f32_16x16x16f16(T.f32x4, [x, x, x, x]),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_a_run_time_value_is_refused_by_its_type(what: str) -> None:
    def body(x: Any, y: Any, t: Any) -> None:
        UNKNOWN[what](arith.unwrap(x[t]), (x[t] > 0).ir_value())

    with pytest.raises((TypeError, ValueError), match=f"{what}.*, got a run-time i(1|32)") as error:
        instructions(body, "gfx942")
    assert "OpResult" not in str(error.value)
