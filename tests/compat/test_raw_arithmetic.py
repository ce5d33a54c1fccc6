"""Kernels that build `arith`, `math` and `vector` operations one by one, against NumPy on the virtual GPU."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl._mlir.dialects import arith, math, vector
from flydsl._mlir.dialects._arith_ops_gen import MulFOp
from flydsl.expr.typing import T, as_ir_value
from tests.unit.rocdl.running import launch

THREADS = 64


def floats(count: int = THREADS, low: float = -4.0, high: float = 4.0) -> np.ndarray:
    return np.random.default_rng(3).uniform(low, high, count).astype(np.float32)


def test_axpy_of_classes_with_fast_math() -> None:
    def body(t: Any, x: Any, y: Any, out: Any) -> None:
        scale = arith.ConstantOp(T.f32, ir.FloatAttr.get(T.f32, 2.5)).result
        product = MulFOp(scale, x[t].ir_value(), fastmath=arith.FastMathFlags.contract).result
        total = arith.AddFOp(product, y[t].ir_value(), fastmath=arith.FastMathFlags.fast)
        out[t] = fx.Float32(total)

    x, y, out = floats(), floats()[::-1].copy(), np.zeros(THREADS, np.float32)
    launch(body, x, y, out)
    np.testing.assert_allclose(out, 2.5 * x + y, rtol=1e-6)


def test_a_clamp_of_selects_and_predicates() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        value = as_ir_value(x[t])
        above = arith.cmpf(arith.CmpFPredicate.OGT, value, arith.constant(T.f32, 1.0))
        below = arith.CmpFOp("olt", value, arith.constant(T.f32, -1.0)).result
        kept = arith.SelectOp(above, arith.constant(T.f32, 1.0), value).result
        out[t] = fx.Float32(arith.select(below, arith.constant(T.f32, -1.0), kept))

    x, out = floats(), np.zeros(THREADS, np.float32)
    launch(body, x, out)
    np.testing.assert_array_equal(out, np.clip(x, -1, 1))


OPERATORS = {
    "add": (lambda v: v + 3, lambda v: v + 3),
    "reflected sub": (lambda v: 3 - v, lambda v: 3 - v),
    "multiply": (lambda v: v * v, lambda v: v * v),
    "floor division": (lambda v: v // 4, lambda v: v // 4),
    "remainder truncates": (lambda v: v % 4, lambda v: np.fmod(v, 4)),
    "shift right is logical": (lambda v: v >> 3, lambda v: (v.view(np.uint32) >> np.uint32(3)).view(np.int32)),
    "shift left": (lambda v: v << 2, lambda v: v << 2),
    "bits": (lambda v: ((v & 12) | 1) ^ 5, lambda v: ((v & 12) | 1) ^ 5),
    "invert": (lambda v: ~v, lambda v: ~v),
    "negative": (lambda v: -v, lambda v: -v),
    "absolute of no sign": (abs, lambda v: v),
    "absolute of a signed one": (lambda v: abs(v.with_signedness(True)), np.abs),
    "power": (lambda v: (v & 3) ** 3, lambda v: (v & 3) ** 3),
    "less": (lambda v: (v < 5).extui(T.i32), lambda v: (v < 5).astype(np.int32)),
    "unsigned less": (
        lambda v: (v.with_signedness(False) < 5).extui(T.i32),
        lambda v: (v.view(np.uint32) < 5).astype(np.int32),
    ),
    "equal": (lambda v: (v == 7).extui(T.i32), lambda v: (v == 7).astype(np.int32)),
    "not equal": (lambda v: (v != 7).extui(T.i32), lambda v: (v != 7).astype(np.int32)),
    "maximum": (lambda v: v.maxsi(fx.Int32(2).ir_value()), lambda v: np.maximum(v, 2)),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_of_a_raw_integer(name: str) -> None:
    raw, expected = OPERATORS[name]

    def body(t: Any, x: Any, out: Any) -> None:
        value = arith.addi(x[t].ir_value(), arith.constant(T.i32, 0))
        assert value.signed is None and value.type.width == 32
        out[t] = fx.Int32(raw(value))

    x, out = np.arange(-32, 32, dtype=np.int32), np.zeros(THREADS, np.int32)
    launch(body, x, out)
    np.testing.assert_array_equal(out, expected(x))


def test_the_sign_of_a_number_goes_with_its_raw_value() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        signed, unsigned = x[t].ir_value(), x[t].to(fx.Uint32).ir_value()
        assert signed.signed is True and unsigned.signed is False
        out[t, 0] = fx.Int32(signed >> 1)
        out[t, 1] = fx.Int32(unsigned >> 1)
        out[t, 2] = (fx.Int64(arith.addi(signed, signed)) >> 32).to(fx.Int32)
        out[t, 3] = (fx.Uint64(arith.addi(signed, signed)) >> 32).to(fx.Int32)

    x, out = np.arange(-32, 32, dtype=np.int32), np.zeros((THREADS, 4), np.int32)
    launch(body, x, out)
    np.testing.assert_array_equal(out[:, 0], x >> 1)
    np.testing.assert_array_equal(out[:, 1], (x.view(np.uint32) >> 1).view(np.int32))
    np.testing.assert_array_equal(out[:, 2], np.where(x < 0, -1, 0))
    np.testing.assert_array_equal(out[:, 3], 0)


def test_quotients_and_casts() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        number = x[t].ir_value()
        out[t, 0] = fx.Float32(number / 4)
        wide = arith.ExtSIOp(T.i64, number).result
        out[t, 1] = fx.Float32(arith.sitofp(T.f32, arith.TruncIOp(T.i32, wide)))
        half = arith.truncf(T.f16, arith.sitofp(T.f32, number))
        out[t, 2] = fx.Float32(half.extf(T.f32).exp2())
        place = number.index_cast(T.index)
        assert place.type == ir.IndexType.get() and not hasattr(place.type, "width")
        out[t, 3] = fx.Float32(arith.IndexCastOp(T.i32, place).result.sitofp(T.f32))

    x, out = np.arange(-8, 56, dtype=np.int32), np.zeros((THREADS, 4), np.float32)
    launch(body, x, out)
    np.testing.assert_allclose(out, np.stack([x / 4, x, np.exp2(x.astype(np.float64)), x], 1), rtol=1e-6)


def test_math_by_class_and_function() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        value = x[t].ir_value()
        out[t, 0] = fx.Float32(math.ExpOp(value).result)
        out[t, 1] = fx.Float32(math.rsqrt(value, fastmath=arith.FastMathFlags.fast))
        out[t, 2] = fx.Float32(math.fma(value, value, arith.constant(T.f32, 1.0)))
        out[t, 3] = fx.Float32(value**3)
        out[t, 4] = fx.Float32(value.maximumf(2.0).addf(1.0, fastmath=arith.FastMathFlags.fast))

    x, out = floats(low=0.5), np.zeros((THREADS, 5), np.float32)
    launch(body, x, out)
    y = x.astype(np.float64)
    expected = np.stack([np.exp(y), 1 / np.sqrt(y), y * y + 1, y**3, np.maximum(y, 2) + 1], 1)
    np.testing.assert_allclose(out, expected, rtol=1e-5)


def test_vectors_taken_apart_and_put_together() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        four = ir.VectorType.get([4], T.f32)
        parts = [x[t, i].ir_value() for i in range(4)]
        whole = vector.from_elements(four, parts)
        assert isinstance(whole, ir.Value) and whole.type == four and whole.type.element_type == T.f32
        last = vector.extract(whole, static_position=[3], dynamic_position=[])
        turned = vector.shuffle(whole, whole, [3, 2, 1, 0])
        doubled = arith.addf(turned, vector.broadcast(four, last))
        words = vector.BitCastOp(ir.VectorType.get([4], T.i32), doubled).result
        back = vector.bitcast(four, words)
        place = arith.index_cast(T.index, (t % 4).ir_value())
        chosen = vector.extract(back, dynamic_position=[place], static_position=[])
        for i in fx.range_constexpr(4):
            out[t, i] = fx.Float32(vector.extract(back, static_position=[i], dynamic_position=[]))
        out[t, 4] = fx.Float32(chosen)
        out[t, 5] = fx.Float32(vector.reduction(T.f32, vector.CombiningKind.ADD, back))
        out[t, 6] = fx.Float32(vector.reduction(T.f32, "maxnumf", back))

    x, out = floats(THREADS * 4).reshape(THREADS, 4), np.zeros((THREADS, 7), np.float32)
    launch(body, x, out)
    made = x[:, ::-1] + x[:, 3:]
    picked = made[np.arange(THREADS), np.arange(THREADS) % 4]
    expected = np.concatenate([made, picked[:, None], made.sum(1)[:, None], made.max(1)[:, None]], 1)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


def test_slices_of_a_vector() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        eight = vector.from_elements(ir.VectorType.get([8], T.i32), [x[t, i].ir_value() for i in range(8)])
        pair = vector.extract_strided_slice(ir.VectorType.get([2], T.i32), eight, [4], [2], [1])
        moved = vector.insert_strided_slice(pair, eight, [0], [1])
        square = vector.shape_cast(ir.VectorType.get([2, 4], T.i32), moved)
        assert square.type.shape == [2, 4]
        row = vector.extract(square, static_position=[1], dynamic_position=[])
        made = vector.insert(arith.constant(T.i32, 7), row, static_position=[0])
        for i in fx.range_constexpr(4):
            out[t, i] = made[i]

    x, out = np.arange(THREADS * 8, dtype=np.int32).reshape(THREADS, 8), np.zeros((THREADS, 4), np.int32)
    launch(body, x, out)
    expected = x[:, 4:].copy()
    expected[:, 0] = 7
    np.testing.assert_array_equal(out, expected)


def test_packed_halves_as_words() -> None:
    """bf16 made by hand: bits of f32, rounded to nearest even, two in a word."""

    def body(t: Any, x: Any, out: Any) -> None:
        halves = []
        for i in fx.range_constexpr(2):
            bits = x[t, i].ir_value().bitcast(T.i32)
            odd = arith.andi(arith.shrui(bits, arith.constant(T.i32, 16)), arith.constant(T.i32, 1))
            halves.append((bits + odd + 0x7FFF).shrui(16))
        out[t] = fx.Int32(arith.ori(halves[0], halves[1] << 16))

    x, out = floats(THREADS * 2).reshape(THREADS, 2), np.zeros(THREADS, np.int32)
    launch(body, x, out)
    expected = x.astype(ml_dtypes.bfloat16).view(np.uint16).astype(np.uint32)
    np.testing.assert_array_equal(out.view(np.uint32), expected[:, 0] | (expected[:, 1] << 16))


def test_raw_values_live_across_control_flow() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        total = arith.constant(T.i32, 0)
        place = x[t].ir_value()
        for step in range(fx.Int32(3)):
            total = arith.addi(total, step.ir_value()) + place
            if total > 100:
                total = total - 100
        if place == 5:
            total = arith.constant(T.i32, -1)
        out[t] = fx.Int32(total)

    x, out = np.arange(THREADS, dtype=np.int32), np.zeros(THREADS, np.int32)
    launch(body, x, out)
    expected = np.zeros(THREADS, np.int32)
    for step in range(3):
        expected += step + x
        expected -= np.where(expected > 100, 100, 0).astype(np.int32)
    expected[5] = -1
    np.testing.assert_array_equal(out, expected)


def test_raw_floats_become_integers_by_the_targets_sign() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        value = arith.addf(x[t].ir_value(), x[t].ir_value())
        out[t, 0] = fx.Int32(value)
        out[t, 1] = fx.Int32(fx.Uint32(value.maximumf(0.0) * 1e9).ir_value())

    x, out = floats(), np.zeros((THREADS, 2), np.int32)
    launch(body, x, out)
    np.testing.assert_array_equal(out[:, 0], np.trunc(2 * x))
    large = np.maximum(2 * x, 0) * np.float32(1e9)
    fits = large < 2.0**32
    np.testing.assert_array_equal(out[fits, 1].view(np.uint32), large[fits].astype(np.uint32))


def test_flags_and_constants_from_attributes() -> None:
    assert str(arith.FastMathFlags.contract | arith.FastMathFlags.nnan) == "nnan,contract"

    def body(t: Any, x: Any, out: Any) -> None:
        four = ir.VectorType.get([4], T.f32)
        halves = arith.ConstantOp(four, ir.DenseElementsAttr.get_splat(four, ir.FloatAttr.get(T.f32, 0.5))).result
        three = arith.ConstantOp(T.i64, ir.IntegerAttr.get(T.i64, 3)).result
        with fx.arith.fastmath("fast"):
            total = arith.addf(x[t].ir_value(), halves[0].ir_value())
        assert str(total.owner.attributes["fastmath"]) == "#arith.fastmath<fast>"
        out[t] = fx.Float32(total) * fx.Int64(three).to(fx.Float32)

    x, out = floats(), np.zeros(THREADS, np.float32)
    launch(body, x, out)
    np.testing.assert_allclose(out, (x + 0.5) * 3, rtol=1e-5, atol=1e-6)
