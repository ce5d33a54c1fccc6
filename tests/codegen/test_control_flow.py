"""scf and cf: loops and branches, nested, with carried values; blocks in any order."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from flydsl.base.errors import LoweringError
from tests.codegen.mlir_run import build, call, llvm_text


def evaluate(text: str, *arguments: int) -> int:
    loaded = build(text, level=1)
    types = [ctypes.c_int64] * len(arguments)
    return ctypes.CFUNCTYPE(ctypes.c_int64, *types)(loaded.address("f"))(*arguments)


def test_loop_with_carried_values() -> None:
    text = """
    func.func @f(%n: i64) -> i64 {
      %0 = arith.constant 0 : i64
      %1 = arith.constant 1 : i64
      %r:2 = scf.for %i = %0 to %n step %1 iter_args(%a = %0, %b = %1) -> (i64, i64) : i64 {
        %s = arith.addi %a, %b : i64
        scf.yield %b, %s : i64, i64
      }
      func.return %r#0 : i64
    }"""
    assert [evaluate(text, n) for n in (0, 1, 2, 10)] == [0, 1, 1, 55]


def test_loop_bounds_are_signed_and_half_open() -> None:
    text = """
    func.func @f(%lo: i64, %hi: i64, %step: i64) -> i64 {
      %0 = arith.constant 0 : i64
      %1 = arith.constant 1 : i64
      %r = scf.for %i = %lo to %hi step %step iter_args(%a = %0) -> (i64) : i64 {
        %s = arith.addi %a, %1 : i64
        scf.yield %s : i64
      }
      func.return %r : i64
    }"""
    for bounds in ((-5, 5, 3), (5, -5, 1), (0, 0, 1), (0, 7, 7), (0, 8, 7)):
        assert evaluate(text, *bounds) == len(range(*bounds)), bounds


def test_unsigned_loop() -> None:
    text = """
    func.func @f(%n: i64) -> i64 {
      %0 = arith.constant 0 : i64
      %1 = arith.constant 1 : i64
      %start = arith.constant 9223372036854775806 : i64
      %end = arith.addi %start, %n : i64
      %r = "scf.for"(%start, %end, %1, %0) ({
      ^bb0(%i: i64, %a: i64):
        %s = arith.addi %a, %1 : i64
        scf.yield %s : i64
      }) {unsignedCmp} : (i64, i64, i64, i64) -> i64
      func.return %r : i64
    }"""
    assert evaluate(text, 5) == 5


def test_branches_and_loops_nested() -> None:
    """Counts pairs i < j below n whose sum is odd, adding j where even."""
    text = """
    func.func @f(%n: index) -> i64 {
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %z = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %r = scf.for %i = %0 to %n step %1 iter_args(%a = %z) -> (i64) {
        %b = arith.addi %i, %1 : index
        %s = scf.for %j = %b to %n step %1 iter_args(%c = %a) -> (i64) {
          %sum = arith.addi %i, %j : index
          %low = arith.andi %sum, %1 : index
          %odd = arith.cmpi eq, %low, %1 : index
          %v = scf.if %odd -> (i64) {
            %t = arith.addi %c, %one : i64
            scf.yield %t : i64
          } else {
            %q = arith.cmpi sgt, %j, %1 : index
            %w = scf.if %q -> (i64) {
              %jj = arith.index_cast %j : index to i64
              %t = arith.addi %c, %jj : i64
              scf.yield %t : i64
            } else {
              scf.yield %c : i64
            }
            scf.yield %w : i64
          }
          scf.yield %v : i64
        }
        scf.yield %s : i64
      }
      func.return %r : i64
    }"""
    want = sum(1 if (i + j) % 2 else j for i in range(9) for j in range(i + 1, 9))
    assert evaluate(text, 9) == want


def test_if_without_else_for_its_effect() -> None:
    text = """
    func.func @f(%p: !llvm.ptr, %n: i64) {
      %c = arith.constant 3 : i64
      %k = arith.cmpi sgt, %n, %c : i64
      scf.if %k {
        llvm.store %n, %p : i64, !llvm.ptr
      }
      func.return
    }"""
    loaded = build(text)
    for n, want in ((2, 0), (5, 5)):
        out = np.zeros(1, np.int64)
        call(loaded, "f", out, n)
        assert out[0] == want


def test_while_with_different_carried_and_result_values() -> None:
    """Steps of the Collatz sequence; the condition passes on both the number and the count."""
    text = """
    func.func @f(%n: i64) -> i64 {
      %0 = arith.constant 0 : i64
      %1 = arith.constant 1 : i64
      %2 = arith.constant 2 : i64
      %3 = arith.constant 3 : i64
      %r:2 = scf.while (%a = %n, %b = %0) : (i64, i64) -> (i64, i64) {
        %k = arith.cmpi ne, %a, %1 : i64
        scf.condition(%k) %b, %a : i64, i64
      } do {
      ^bb0(%count: i64, %value: i64):
        %low = arith.andi %value, %1 : i64
        %odd = arith.cmpi eq, %low, %1 : i64
        %next = scf.if %odd -> (i64) {
          %t = arith.muli %value, %3 : i64
          %u = arith.addi %t, %1 : i64
          scf.yield %u : i64
        } else {
          %u = arith.shrsi %value, %1 : i64
          scf.yield %u : i64
        }
        %more = arith.addi %count, %1 : i64
        scf.yield %next, %more : i64, i64
      }
      func.return %r#0 : i64
    }"""
    assert evaluate(text, 27) == 111
    assert evaluate(text, 1) == 0


def test_index_switch() -> None:
    text = """
    func.func @f(%n: i64) -> i64 {
      %i = arith.index_cast %n : i64 to index
      %r = "scf.index_switch"(%i) <{cases = array<i64: 2, 5>}> ({
        %d = arith.constant -1 : i64
        scf.yield %d : i64
      }, {
        %d = arith.constant 20 : i64
        scf.yield %d : i64
      }, {
        %d = arith.constant 50 : i64
        scf.yield %d : i64
      }) : (index) -> i64
      func.return %r : i64
    }"""
    assert [evaluate(text, n) for n in (2, 5, 7)] == [20, 50, -1]


def test_execute_region() -> None:
    text = """
    func.func @f(%n: i64) -> i64 {
      %r = scf.execute_region -> (i64) {
        %d = arith.addi %n, %n : i64
        scf.yield %d : i64
      }
      func.return %r : i64
    }"""
    assert evaluate(text, 21) == 42


def test_blocks_listed_out_of_order() -> None:
    """^use is listed before ^def, whose value it reads; MLIR asks only for dominance."""
    text = """
    func.func @f(%n: i64) -> i64 {
      cf.br ^def
    ^use:
      %r = arith.addi %d, %n : i64
      func.return %r : i64
    ^def:
      %d = arith.muli %n, %n : i64
      cf.br ^use
    }"""
    assert evaluate(text, 6) == 42


def test_loop_of_blocks_with_arguments() -> None:
    text = """
    func.func @f(%n: i64) -> i64 {
      %0 = arith.constant 0 : i64
      %1 = arith.constant 1 : i64
      cf.br ^head(%0, %0 : i64, i64)
    ^head(%i: i64, %a: i64):
      %k = arith.cmpi slt, %i, %n : i64
      cf.cond_br %k, ^body, ^done(%a : i64)
    ^body:
      %s = arith.addi %a, %i : i64
      %j = arith.addi %i, %1 : i64
      cf.br ^head(%j, %s : i64, i64)
    ^done(%r: i64):
      func.return %r : i64
    }"""
    assert evaluate(text, 10) == 45


def test_both_edges_to_one_block() -> None:
    text = """
    func.func @f(%n: i64) -> i64 {
      %0 = arith.constant 0 : i64
      %1 = arith.constant 1 : i64
      %k = arith.cmpi slt, %n, %0 : i64
      cf.cond_br %k, ^end(%0 : i64), ^end(%1 : i64)
    ^end(%r: i64):
      func.return %r : i64
    }"""
    assert [evaluate(text, n) for n in (-4, 4)] == [0, 1]


def test_switch_with_a_shared_target() -> None:
    text = """
    func.func @f(%n: i64) -> i64 {
      %a = arith.constant 10 : i64
      %b = arith.constant 20 : i64
      cf.switch %n : i64, [
        default: ^end(%n : i64),
        1: ^end(%a : i64),
        2: ^end(%b : i64)
      ]
    ^end(%r: i64):
      func.return %r : i64
    }"""
    assert [evaluate(text, n) for n in (1, 2, 9)] == [10, 20, 9]


def test_structured_loop_inside_blocks() -> None:
    text = """
    func.func @f(%n: i64) -> i64 {
      %0 = arith.constant 0 : i64
      %1 = arith.constant 1 : i64
      %k = arith.cmpi sgt, %n, %0 : i64
      cf.cond_br %k, ^loop(%n : i64), ^end(%0 : i64)
    ^loop(%m: i64):
      %r = scf.for %i = %0 to %m step %1 iter_args(%a = %0) -> (i64) : i64 {
        %s = arith.addi %a, %m : i64
        scf.yield %s : i64
      }
      cf.br ^end(%r : i64)
    ^end(%e: i64):
      func.return %e : i64
    }"""
    assert [evaluate(text, n) for n in (7, -7)] == [49, 0]


def test_calls_with_several_results() -> None:
    text = """
    func.func private @both(%a: i64, %b: i64) -> (i64, i64) {
      %s = arith.addi %a, %b : i64
      %d = arith.subi %a, %b : i64
      func.return %s, %d : i64, i64
    }
    func.func @f(%a: i64, %b: i64) -> i64 {
      %0:2 = func.call @both(%a, %b) : (i64, i64) -> (i64, i64)
      %r = arith.muli %0#0, %0#1 : i64
      func.return %r : i64
    }"""
    assert evaluate(text, 9, 4) == 65
    assert "define internal { i64, i64 } @both" in llvm_text(text)


def test_region_that_ends_wrong_is_refused() -> None:
    text = """
    func.func @f(%n: i1) {
      "scf.if"(%n) ({
        func.return
      }, {
      }) : (i1) -> ()
      func.return
    }"""
    with pytest.raises(LoweringError, match=r"'func.return'.*expected scf.yield"):
        llvm_text(text)
