"""The emitter as a backend uses it: extra rules, hand-written loops, unknown ops, re-emission."""

from __future__ import annotations

import time

import numpy as np
import pytest
from xdsl.ir import Operation

from flydsl.base.errors import LoweringError
from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.llvm_build import emit_object
from flydsl.codegen.module_emitter import ModuleEmitter, emit_module_text
from flydsl.runtime.object_code import load_object
from tests.codegen.mlir_run import call, parse


def test_unknown_op_is_named_with_its_place() -> None:
    text = """
    func.func @f(%a: i32) {
      %0 = "gpu.no_such_op"(%a) : (i32) -> f32 loc("kernel.py":12:5)
      func.return
    }"""
    with pytest.raises(LoweringError) as caught:
        emit_module_text(parse(text))
    assert "'gpu.no_such_op' (i32) -> (f32): no rule turns this op into LLVM IR" in str(caught.value)
    assert caught.value.location is not None
    assert (caught.value.location.file, caught.value.location.line) == ("kernel.py", 12)


def test_a_backend_adds_and_replaces_rules() -> None:
    def thread_id(emitter: FunctionEmitter, op: Operation) -> None:
        emitter.define(op, "call i64 @llvm.readcyclecounter()")

    def add(emitter: FunctionEmitter, op: Operation) -> None:
        emitter.define(op, f"sub {emitter.typed(op.operands[0])}, {emitter.operand(op.operands[1])}")

    text = """
    func.func @f(%a: index) -> index {
      %0 = "gpu.thread_id"() : () -> index
      %1 = arith.addi %a, %0 : index
      func.return %1 : index
    }"""
    emitted = emit_module_text(parse(text), extra_rules={"gpu.thread_id": thread_id, "arith.addi": add})
    assert "call i64 @llvm.readcyclecounter()" in emitted
    assert "sub i64 %a.1, %v.2" in emitted


def test_a_loop_written_by_hand_around_emitted_ops() -> None:
    """What the host backend does: its own loop over threads, ops of a region inside it, twice."""
    module = parse(
        """
        func.func @body(%p: !llvm.ptr, %i: i64) {
          %c0 = arith.constant 0 : i64
          %c1 = arith.constant 1 : i64
          %q = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
          %s = scf.for %j = %c0 to %i step %c1 iter_args(%a = %c1) -> (i64) : i64 {
            %b = arith.addi %a, %a : i64
            scf.yield %b : i64
          }
          %old = llvm.load %q : !llvm.ptr -> i64
          %new = arith.addi %old, %s : i64
          llvm.store %new, %q : i64, !llvm.ptr
          func.return
        }"""
    )
    block = next(iter(module.body.block.ops)).regions[0].block
    emitter = ModuleEmitter()
    body = emitter.new_function()
    body.bind(block.args[0], "%p")
    for _ in range(2):
        before, head, inside, done = body.current_label, *(body.fresh_label(part) for part in ("t", "in", "out"))
        body.branch(head)
        body.start_block(head)
        thread, slot = body.fresh("tid"), body.reserve_line()
        more = body.assign(f"icmp slt i64 {thread}, %n")
        body.branch_if(more, inside, done)
        body.start_block(inside)
        body.bind(block.args[1], thread)
        body.emit_block_body(block)
        following = body.assign(f"add i64 {thread}, 1")
        body.fill_phi(slot, thread, "i64", [("0", before), (following, body.current_label)])
        body.branch(head)
        body.start_block(done)
    body.line("ret void")
    emitter.add_function("f", "define void @f(ptr %p, i64 %n)", body)
    out = np.zeros(6, np.int64)
    call(load_object(emit_object(emitter.text())), "f", out, 6)
    np.testing.assert_array_equal(out, 2 * 2 ** np.arange(6))


def test_two_functions_of_one_module_share_helpers_and_declarations() -> None:
    function = """
    func.func @{name}(%a: f32) -> f32 {{
      %0 = "arith.truncf"(%a) : (f32) -> f8E5M2
      %1 = "arith.extf"(%0) : (f8E5M2) -> f32
      %2 = "math.erf"(%1) : (f32) -> f32
      func.return %2 : f32
    }}"""
    text = emit_module_text(parse(function.format(name="f") + function.format(name="g")))
    assert text.count("declare float @erff") == 1
    assert text.count("define private i8 @fly.f32_to_f8E5M2") == 1
    assert text.count("define float @") == 2


def test_a_value_used_before_its_op_is_refused() -> None:
    module = parse("func.func @f(%a: i32) -> i32 { %0 = arith.addi %a, %a : i32\n func.return %0 : i32 }")
    block = next(iter(module.body.block.ops)).regions[0].block
    first, last = list(block.ops)
    with pytest.raises(LoweringError, match=r"arith.addi.*used before it was emitted"):
        ModuleEmitter().new_function().emit_op(last)
    with pytest.raises(LoweringError, match="block argument of type 'i32' has no name"):
        ModuleEmitter().new_function().emit_op(first)


def test_top_level_ops_are_functions_and_globals() -> None:
    with pytest.raises(LoweringError, match="cannot stand at the top of a module"):
        emit_module_text(parse('"arith.constant"() <{value = 1 : i32}> : () -> i32'))


def test_nested_modules_and_odd_names() -> None:
    text = """
    builtin.module {
      llvm.func @"odd name"(%a: i32) -> i32 {
        llvm.return %a : i32
      }
    }"""
    assert 'define i32 @"odd name"(i32 %a.1)' in emit_module_text(parse(text))


def test_emission_is_linear_in_the_number_of_ops() -> None:
    """A coarse guard against quadratic work; real timing is in the benchmarks."""

    def seconds(count: int) -> float:
        lines = [f"%{i} = arith.addi %{i - 1 if i else 'a'}, %a : i32" for i in range(count)]
        module = parse(f"func.func @f(%a: i32) -> i32 {{ {' '.join(lines)} func.return %{count - 1} : i32 }}")
        found = []
        for _ in range(3):
            start = time.process_time()
            emit_module_text(module)
            found.append(time.process_time() - start)
        return min(found)

    few, many = map(seconds, (400, 4000))
    assert many < 40 * max(few, 1e-3)
