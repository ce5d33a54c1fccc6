"""What LLVM leaves undefined and a kernel may still do: one result, the same on every target and for constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.support import random_data
from tests.unit.nvvm.running import ptx

ARCHES = ["gfx942", "gfx1201", "sm_90a"]
ANOTHER = 77


@flyc.kernel
def guarded_kernel(out: fx.Tensor):
    t = fx.thread_idx.x
    out[t, 0] = fx.arith.select(t != 0, 10 // t, ANOTHER)
    out[t, 1] = fx.arith.select(t != 0, 10 % t, ANOTHER)
    out[t, 2] = fx.arith.select(t != 0, fx.ceildiv(10, t), ANOTHER)
    quotient = 10 // t
    if t == 0:
        out[t, 3] = fx.Int32(ANOTHER)
    else:
        out[t, 3] = quotient
    if (t != 0) and (10 // t > 2):
        out[t, 4] = 1
    else:
        out[t, 4] = 0


@flyc.jit
def guarded(out: fx.Tensor):
    guarded_kernel(out).launch(block=(8, 1, 1))


@flyc.kernel
def shifts_kernel(x: fx.Tensor, amount: fx.Tensor, out: fx.Tensor):
    t = fx.thread_idx.x
    out[t, 0] = x[t] << amount[t]
    out[t, 1] = x[t] >> amount[t]
    out[t, 2] = fx.Int32(fx.Uint32(x[t]) >> fx.Uint32(amount[t]))


@flyc.jit
def shifts(x: fx.Tensor, amount: fx.Tensor, out: fx.Tensor):
    shifts_kernel(x, amount, out).launch(block=(64, 1, 1))


@flyc.kernel
def powers_kernel(out: fx.Tensor, base: fx.Tensor, exponent: fx.Tensor):
    """Powers of Uint16: of numbers, of vectors, with a known exponent, with a known base, and of a byte."""
    t = fx.thread_idx.x
    x, y = base[t], exponent[t]
    out[t, 0] = x**y
    out[t, 1] = (fx.Vector.filled(2, x, fx.Uint16) ** fx.Vector.filled(2, y, fx.Uint16))[1]
    out[t, 2] = x ** fx.Uint16(0xFFFF)
    out[t, 3] = fx.Uint16(3) ** y
    out[t, 4] = fx.math.ipowi(x.to(fx.Int8), y.to(fx.Int32)).to(fx.Uint8)


@flyc.jit
def powers(out: fx.Tensor, base: fx.Tensor, exponent: fx.Tensor):
    powers_kernel(out, base, exponent).launch(block=(64, 1, 1))


@flyc.kernel
def integers_kernel(x: fx.Tensor, out: fx.Tensor):
    t = fx.thread_idx.x
    for place, dtype in enumerate((fx.Int8, fx.Uint8, fx.Int16, fx.Int32)):
        out[t, place] = x[t].to(dtype).to(fx.Int64)


@flyc.jit
def integers(x: fx.Tensor, out: fx.Tensor):
    integers_kernel(x, out).launch(block=(8, 1, 1))


@flyc.kernel
def remainders_kernel(x: fx.Tensor, y: fx.Tensor, out: fx.Tensor):
    t = fx.thread_idx.x
    out[t] = fx.arith.remf(x[t], y[t])


@flyc.jit
def remainders(x: fx.Tensor, y: fx.Tensor, out: fx.Tensor):
    remainders_kernel(x, y, out).launch(block=(64, 1, 1))


@flyc.kernel
def negated_sums_kernel(x: fx.Tensor, out: fx.Tensor):
    t = fx.thread_idx.x
    v = x[t]
    out[t, 0] = -fx.math.fma(v, v, v)
    out[t, 1] = fx.math.fma(v, v, v) * -1.0
    out[t, 2] = fx.Float32(-0.0) - fx.math.fma(v, v, v)
    with fx.fastmath("contract"):
        out[t, 3] = -(v * v + v)


@flyc.jit
def negated_sums(x: fx.Tensor, out: fx.Tensor):
    negated_sums_kernel(x, out).launch(block=(4, 1, 1))


@flyc.kernel
def choices_kernel(x: fx.Tensor, out: fx.Tensor):
    v, zero = x[fx.thread_idx.x], fx.Float32(0.0)
    below, not_below, twice = zero, v, zero
    if v < 0.0:
        below, twice = v, v * 2.0
    if not (v < 0.0):
        not_below = zero
    row = out[fx.thread_idx.x, None]
    row[0], row[1], row[2], row[3] = min(zero, v), max(-zero, v), min(v, zero), max(v, zero)
    row[4], row[5] = v if v < 0.0 else zero, v if v > -0.0 else -zero
    row[6], row[7] = v if v >= 0.0 else zero, zero if v >= 0.0 else v
    row[8], row[9] = below, not_below
    row[10], row[11] = zero if zero <= v else v, v if zero > v else zero
    half = v.to(fx.Float16)
    row[12], row[13] = (half if half < 0.0 else fx.Float16(0.0)).to(fx.Float32), twice


@flyc.jit
def choices(x: fx.Tensor, out: fx.Tensor):
    choices_kernel(x, out).launch(block=(8, 1, 1))


@flyc.kernel
def turns_kernel(out: fx.Tensor, a: fx.Int32, b: fx.Int32, c: fx.Int32):
    turns, last = fx.Int32(0), fx.Int32(ANOTHER)
    for i in range(a, b, c):
        turns = turns + 1
        last = i
    out[0], out[1] = turns, last
    far = fx.Int32(0)
    for i in range(a, b, 1 << 28):
        far = far + (i - i + 1)
    out[2] = far


@flyc.jit
def turns(out: fx.Tensor, a: fx.Int32, b: fx.Int32, c: fx.Int32):
    turns_kernel(out, a, b, c).launch()


def check_guarded(run: Any) -> None:
    out = np.full((8, 5), -1, np.int32)
    run(guarded, out)
    expected = [[ANOTHER, ANOTHER, ANOTHER, ANOTHER, 0]]
    expected += [[10 // t, 10 % t, -(-10 // t), 10 // t, int(10 // t > 2)] for t in range(1, 8)]
    np.testing.assert_array_equal(out, expected)


def check_shifts(run: Any) -> None:
    random = random_data.generator()
    x = random.integers(-(2**31), 2**31, 64, np.int64).astype(np.int32)
    amount = np.concatenate([np.arange(40), [63, 64, 65, 1000, 2**31 - 1], random.integers(0, 70, 19)]).astype(np.int32)
    out = np.full((64, 3), -1, np.int32)
    run(shifts, x, amount, out)
    for row, number, by in zip(out.tolist(), x.tolist(), amount.tolist(), strict=True):
        bits = number & 0xFFFFFFFF
        wide = [bits << by & 0xFFFFFFFF if by < 32 else 0, number >> min(by, 31), bits >> by if by < 32 else 0]
        assert [value & 0xFFFFFFFF for value in row] == [value & 0xFFFFFFFF for value in wide]


def check_integers(run: Any) -> None:
    x = np.array([300.5, -1.0, 1e10, -1e10, 127.9, np.nan, np.inf, -129.0], np.float32)
    out = np.full((8, 4), -1, np.int64)
    run(integers, x, out)
    for place, dtype in enumerate((np.int8, np.uint8, np.int16, np.int32)):
        info = np.iinfo(dtype)
        wanted = np.clip(np.trunc(np.nan_to_num(x.astype(np.float64), nan=0.0)), info.min, info.max)
        np.testing.assert_array_equal(out[:, place], wanted.astype(np.int64))


def check_remainders(run: Any) -> None:
    random = random_data.generator()
    x = random.integers(0, 2**32, 64, np.uint64).astype(np.uint32).view(np.float32)
    y = random.integers(0, 2**32, 64, np.uint64).astype(np.uint32).view(np.float32)
    x[:8], y[:8] = [1e10, 1e6, -1e10, 7.5, 3.0, np.inf, 5.0, -0.0], [3.0, 6.2831855, 3.0, np.inf, 0.0, 2.0, np.nan, 1.0]
    out = np.full(64, 99, np.float32)
    run(remainders, x, y, out)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(out, np.fmod(x, y))


def check_negated_sums(run: Any) -> None:
    """A sum that is zero is plus zero, whatever the signs of its terms, and its negation minus zero."""
    x = np.array([0.0, -0.0, -1.0, 2.0], np.float32)
    out = np.full((4, 4), 99, np.float32)
    run(negated_sums, x, out)
    np.testing.assert_array_equal(out, np.repeat(-(x * x + x)[:, None], 4, axis=1))
    assert np.signbit(out).all()


def check_choices(run: Any) -> None:
    """Zeros keep their signs, and NaN goes where Python has it go: LLVM takes some of these for a minimum."""
    x = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -1e-45], np.float32)
    out = np.full((8, 14), 99, np.float32)
    run(choices, x, out)
    for v, found in zip(x.tolist(), out, strict=True):
        below, above = v if v < 0.0 else 0.0, v if v > 0.0 else -0.0
        expected = np.array([
            min(0.0, v), max(-0.0, v), min(v, 0.0), max(v, 0.0), below, above, v if v >= 0.0 else 0.0,
            0.0 if v >= 0.0 else v, below, below, 0.0 if v >= 0.0 else v, below,
            below if abs(v) > 1e-40 else 0.0, 2.0 * below,
        ], np.float32)  # fmt: skip
        np.testing.assert_array_equal(found, expected, str(v))
        real = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(found[real]), np.signbit(expected[real]), str(v))


def check_powers(run: Any) -> None:
    """An unsigned exponent has no sign, not even in its highest bit; a wider one than the base is not cut off."""
    base = np.repeat(np.array([0, 1, 2, 3, 5, 7, 0x8001, 0xFFFF], np.uint16), 8)
    exponent = np.tile(np.array([0, 1, 2, 200, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint16), 8)
    out = np.full((64, 5), ANOTHER, np.uint16)
    run(powers, out, base, exponent)
    for found, x, y in zip(out.tolist(), base.tolist(), exponent.tolist(), strict=True):
        terms = [(x, y), (x, y), (x, 0xFFFF), (3, y)]
        assert found == [*(pow(b, e, 1 << 16) for b, e in terms), pow(x, y, 1 << 8)], (x, y)


RANGES = [
    (0, 10, 3), (10, 0, -3), (0, 10, 0), (5, 5, 1), (0, -5, 1), (2147483640, 2147483647, 5),
    (-2147483648, 2147483647, 1 << 30), (2147483600, 2147483647, 1), (2147483647, -2147483648, -(1 << 30)),
]  # fmt: skip


def check_turns(run: Any) -> None:
    for a, b, c in RANGES:
        out = np.full(3, -1, np.int32)
        run(turns, out, a, b, c)
        indices = range(a, b, c) if c else range(0)
        assert (out[0], out[1]) == (len(indices), indices[-1] if indices else ANOTHER), (a, b, c)
        assert out[2] == len(range(a, b, 1 << 28)), (a, b, c)


CHECKS = [
    check_guarded, check_shifts, check_integers, check_remainders, check_negated_sums, check_choices, check_turns,
    check_powers,
]  # fmt: skip


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("arch", ARCHES)
def test_on_the_virtual_gpu(check: Any, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    for level in ("0", "3"):
        monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", level)
        check(lambda function, *args: function(*args))


def test_constants_are_computed_alike() -> None:
    assert fx.Int32(-8) >> fx.Int32(32) == -1
    assert fx.Int32(1) << fx.Int32(33) == 0
    assert fx.Int8(200.0) == 127 and fx.Uint8(-1.0) == 0 and fx.Int32(1e10) == 2**31 - 1
    assert fx.Float32(300.5).to(fx.Int8) == 127


def test_nvidia_gets_an_exact_remainder() -> None:
    """No quotient that is cut to an integer: it would have to hold all its digits."""
    a = np.zeros(64, np.float32)
    text = ptx(remainders, (a, a, a))
    assert "cvt.rzi" not in text and "bra" in text
