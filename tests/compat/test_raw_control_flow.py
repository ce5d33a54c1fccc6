"""Hand-built `scf` operations, gpu operations and modules of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl._mlir.dialects import arith, func, gpu, scf
from flydsl.expr.typing import T
from tests.unit.rocdl.running import launch

THREADS = 64


def test_an_if_that_yields() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        value = x[t].ir_value()
        low = arith.cmpi("slt", value, arith.constant(T.i32, 10))
        chosen = scf.IfOp(low, [T.i32, T.f32], hasElse=True)
        with ir.InsertionPoint(chosen.then_block):
            scf.YieldOp([arith.addi(value, value), arith.constant(T.f32, 0.5)])
        with ir.InsertionPoint(chosen.else_block):
            scf.YieldOp([arith.constant(T.i32, -1), arith.sitofp(T.f32, value)])
        whole, part = chosen.results
        out[t, 0] = fx.Float32(fx.Int32(whole))
        out[t, 1] = fx.Float32(part)

    x, out = np.arange(THREADS, dtype=np.int32), np.zeros((THREADS, 2), np.float32)
    launch(body, x, out)
    expected = np.stack([np.where(x < 10, 2 * x, -1), np.where(x < 10, 0.5, x)], 1)
    np.testing.assert_array_equal(out, expected)


def test_a_for_that_carries() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        total, largest = arith.constant(T.f32, 0.0), arith.constant(T.f32, -1e30)
        loop = scf.ForOp(
            arith.constant(T.index, 0), arith.constant(T.index, 8), arith.constant(T.index, 1), [total, largest]
        )
        with ir.InsertionPoint(loop.body):
            place = arith.index_cast(T.i32, loop.induction_variable)
            found = x[t, fx.Int32(place)].ir_value()
            before = loop.inner_iter_args
            scf.yield_([arith.addf(before[0], found), arith.maximumf(before[1], found)])
        for index, result in enumerate(loop.results):
            out[t, index] = fx.Float32(result)

    x, out = np.random.default_rng(1).random((THREADS, 8), np.float32), np.zeros((THREADS, 2), np.float32)
    launch(body, x, out)
    np.testing.assert_allclose(out, np.stack([x.sum(1), x.max(1)], 1), rtol=1e-6)


def test_a_while_that_counts() -> None:
    """The steps of 3n + 1 until 1, for each thread its own."""

    def body(t: Any, x: Any, out: Any) -> None:
        one, zero = arith.constant(T.i32, 1), arith.constant(T.i32, 0)
        loop = scf.WhileOp([T.i32, T.i32], [x[t].ir_value(), zero])
        with ir.InsertionPoint(loop.before):
            number, steps = loop.before_arguments
            scf.condition(arith.cmpi("ne", number, one), [number, steps])
        with ir.InsertionPoint(loop.after):
            number, steps = loop.after_arguments
            odd = arith.cmpi("eq", arith.andi(number, one), one)
            scf.yield_([odd.select(number * 3 + 1, number.shrui(1)), steps + 1])
        out[t] = fx.Int32(loop.results[1])

    x, out = np.arange(1, THREADS + 1, dtype=np.int32), np.zeros(THREADS, np.int32)
    launch(body, x, out)
    for start, found in zip(x, out):
        number, steps = int(start), 0
        while number != 1:
            number, steps = (3 * number + 1 if number % 2 else number // 2), steps + 1
        assert found == steps


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_ids_barriers_and_shuffles(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)

    def body(t: Any, x: Any, out: Any) -> None:
        thread = arith.index_cast(T.i32, gpu.thread_id(gpu.Dimension.x))
        block = arith.index_cast(T.i32, gpu.BlockIdOp(gpu.Dimension.x).result)
        extent = arith.index_cast(T.i32, gpu.block_dim("x"))
        place = arith.addi(arith.muli(block, extent), thread)
        shared = fx.SharedAllocator().allocate(fx.Array[fx.Float32, THREADS, 16]).ptr
        value = x[fx.Int32(place)].ir_value()
        width = arith.constant(T.i32, 32)
        moved = gpu.ShuffleOp(value, arith.constant(T.i32, 1), width, gpu.ShuffleMode.XOR)
        assert moved.shuffleResult.type == T.f32 and moved.valid.type == ir.IntegerType.get_signless(1)
        shared[fx.Int32(thread)] = fx.Float32(moved.shuffleResult)
        gpu.barrier()
        other = shared[THREADS - 1 - fx.Int32(thread)]
        out[fx.Int32(place)] = other + fx.Float32(value.shuffle_xor(2, 32))

    x, out = np.random.default_rng(1).random(2 * THREADS, np.float32), np.zeros(2 * THREADS, np.float32)
    launch(body, x, out, grid=2)
    held = x.reshape(2, THREADS)
    lane = np.arange(THREADS)
    expected = held[:, lane ^ 1][:, ::-1] + held[:, lane ^ 2]
    np.testing.assert_allclose(out.reshape(2, THREADS), expected, rtol=1e-6)


def test_a_reduction_over_a_wave_by_hand() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        total = x[t].ir_value()
        for shift in fx.range_constexpr(6):
            total = arith.addf(total, total.shuffle_xor(1 << shift, 64))
        out[t] = fx.Float32(total)

    x, out = np.random.default_rng(1).random(THREADS, np.float32), np.zeros(THREADS, np.float32)
    launch(body, x, out)
    np.testing.assert_allclose(out, x.astype(np.float64).sum(), rtol=1e-5)


def test_coop_reductions_and_scans_of_raw_values() -> None:
    def body(t: Any, x: Any, out: Any) -> None:
        value = arith.mulf(x[t].ir_value(), x[t].ir_value())
        out[t, 0] = fx.Float32(fx.coop.warp_reduce(value, fx.ReductionOp.ADD))
        out[t, 1] = fx.Float32(fx.coop.warp_inclusive_scan(fx.Float32(value), fx.ReductionOp.ADD))

    x, out = np.random.default_rng(1).random(THREADS, np.float32), np.zeros((THREADS, 2), np.float32)
    launch(body, x, out)
    squares = x.astype(np.float64) ** 2
    np.testing.assert_allclose(out[:, 0], squares.sum(), rtol=1e-5)
    np.testing.assert_allclose(out[:, 1], squares.cumsum(), rtol=1e-5)


def test_a_module_of_ones_own() -> None:
    assert ir.Context.current is None
    with ir.Context() as context, ir.Location.unknown(context):
        context.allow_unregistered_dialects = True
        context.load_all_available_dialects()
        assert ir.Context.current is context and ir.Location.current is not None
        module = ir.Module.create()
        kind = ir.FunctionType.get([T.f32, T.f32], [T.f32])
        with ir.InsertionPoint(module.body):
            function = func.FuncOp("scaled_sum", kind)
            entry = function.add_entry_block()
            with ir.InsertionPoint(entry):
                first, second = entry.arguments
                total = arith.AddFOp(first, second).result
                func.ReturnOp([total * 2.0])
    assert ir.Context.current is None
    assert module.operation.verify()
    assert [op.name for op in module.body.operations] == ["func.func"]
    text = module.operation.get_asm(enable_debug_info=True)
    assert "func.func @scaled_sum" in text and text.count("arith.") == 3
    again = ir.Module.parse(str(module))
    assert str(again) == str(module)
