"""The bounded part of the fuzzer of `fly-opt`, and the faults it found."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from flydsl.tools.fly_opt import run
from tests.fuzz.fly_opt import Case, case, judge, survivors

COUNT, BATCHES = 250, 8


@pytest.mark.parametrize("batch", range(BATCHES))
def test_mutated_input_ends_cleanly(batch: int, capfd: pytest.CaptureFixture[str]) -> None:
    bad = survivors(0, COUNT, batch * COUNT)
    assert not bad, capfd.readouterr()


def test_a_case_is_the_same_every_time() -> None:
    assert case(5, 17) == case(5, 17)
    assert len({case(5, number).text for number in range(50)}) > 40


def test_the_judge_finds_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(arguments: list[str], text: str) -> tuple[int, str, str]:
        if text == "raise":
            raise KeyError("x")
        return 1, "", "x failed on this input (KeyError: 'x'); this is a bug, please report it"

    monkeypatch.setattr("tests.fuzz.fly_opt.run", broken)
    assert "KeyError" in judge(Case((), "raise"))
    assert "this is a bug" in judge(Case((), "report"))


@pytest.mark.parametrize("text", ["^", "\0", "!", "#", "%", "@", '"', "\ufeff", "{-#", "", " ", "²"])
def test_a_file_that_is_no_ir(text: str) -> None:
    code, stdout, stderr = run([], text)
    assert (code, stdout) == (1, "")
    assert stderr.startswith("<stdin>:1:")
    assert ": error: " in stderr and "{first_char}" not in stderr


def test_a_quote_that_is_never_closed_takes_no_time() -> None:
    start = time.process_time()
    code, _, stderr = run([], 'func.func @f() attributes {a = "' + "a" * 100_000)
    assert code == 1 and "closing string literal" in stderr
    assert time.process_time() - start < 1


def test_an_integer_too_wide_for_mlir() -> None:
    code, _, stderr = run([], "%d = arith.constant 3 : i2147483648\n")
    assert code == 1 and "<stdin>:1:25: error: an integer type has at most 16777215 bits" in stderr


def test_a_constant_of_more_elements_than_can_be_written_out() -> None:
    code, _, stderr = run([], "%d = arith.constant dense<0> : vector<2147483648xi8>\n")
    assert code == 1 and stderr.startswith("<stdin>:1:32: error: a dense constant has at most 262144 elements")


def test_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    code, stdout, stderr = run(["-o", str(tmp_path / "none" / "out.mlir")], "func.func @f() {\n  return\n}\n")
    assert (code, stdout) == (1, "")
    assert stderr.startswith("fly-opt: cannot write the output: ")


@pytest.mark.parametrize("name", ["fly-to-rocdl", "fly-to-nvvm"])
def test_functions_of_the_llvm_dialect_are_left_alone(name: str) -> None:
    code, stdout, stderr = run([f"--convert-{name}"], "llvm.func @f() {\n  llvm.return\n}\n")
    assert (code, stderr) == (0, "") and "llvm.func @f()" in stdout


def test_a_function_of_types_that_llvm_has_not() -> None:
    text = "func.func @f(%l: !fly.layout<4:1>) {\n  return\n}\n"
    code, _, stderr = run(["--convert-func-to-llvm"], text)
    assert code == 1
    assert stderr.startswith("<stdin>:1:1: error: LLVM has no type for !fly.layout<4:1>")
    assert "fly-layout-lowering" in stderr


def test_an_allocation_no_thread_has_registers_for_stays_in_memory() -> None:
    text = """func.func @f(%x: f32) -> f32 {
      %p = fly.make_ptr() {dictAttrs = {allocSize = 2147483648 : i64}} : () -> !fly.ptr<f32, register>
      fly.ptr.store(%x, %p) : (f32, !fly.ptr<f32, register>) -> ()
      %y = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> f32
      return %y : f32
    }
    """
    code, stdout, stderr = run(["--fly-promote-regmem-to-vectorssa"], text)
    assert (code, stderr) == (0, "") and "fly.make_ptr" in stdout


def test_local_memory_of_no_stated_alignment() -> None:
    text = """gpu.module @m [#nvvm.target] { gpu.func @f() kernel {
      %n = arith.constant 4 : i32
      %p = llvm.alloca %n x f32 : (i32) -> !llvm.ptr<5>
      gpu.return
    } }
    """
    code, stdout, stderr = run(["--convert-gpu-to-nvvm"], text)
    assert (code, stderr) == (0, "") and "llvm.alloca" in stdout


def test_a_word_where_a_matrix_instruction_has_a_number() -> None:
    instruction = "gfx1250.wmma_scale<16x16x128, (f8E4M3FN, f8E4M3FN) -> f32, reuseA = @here>"
    code, _, stderr = run([], f"func.func @f(%m: !fly.mma_atom<!fly_rocdl.{instruction}>) {{\n  return\n}}\n")
    assert code == 1 and "reuseA is a number, true or false, not '@here'" in stderr


@pytest.mark.parametrize("offset", [3_000_000_000, 5_000_000_000])
def test_an_offset_beyond_32_bits(offset: int) -> None:
    text = f"""
    func.func @f(%p: !fly.ptr<i8, global>) -> i8 {{
      %far = fly.static : !fly.int_tuple<{offset}>
      %q = fly.add_offset(%p, %far) : (!fly.ptr<i8, global>, !fly.int_tuple<{offset}>) -> !fly.ptr<i8, global>
      %x = fly.ptr.load(%q) : (!fly.ptr<i8, global>) -> i8
      return %x : i8
    }}
    """
    code, stdout, stderr = run(["--convert-fly-to-rocdl"], text)
    assert (code, stderr) == (0, "") and f"arith.constant {offset} : i64" in stdout


def test_a_branch_that_yields_nothing() -> None:
    text = """
    func.func @f(%x: f32) -> f32 {
      %c = arith.cmpf olt, %x, %x : f32
      %s = scf.if %c -> (f32) {
      } else {
        scf.yield %x : f32
      }
      return %s : f32
    }
    """
    _, _, stderr = run(["--canonicalize"], text)
    assert "this is a bug" not in stderr
