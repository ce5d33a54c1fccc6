"""`fly-opt` as a command: options, pipelines, diagnostics, and that it never ends in a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flydsl.backends.pipeline import PASSES
from flydsl.tools.fly_opt import run
from flydsl.tools.ir_diagnostics import IrDiagnostic, expectations, unmet
from flydsl.tools.pass_selection import ACCEPTED, Step, UnknownPassError, parse_pipeline

FUNCTION = """
func.func @f(%i: i32) -> i32 {
  %t = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?>
  %l = fly.static : !fly.layout<(4,8):(8,1)>
  %x = fly.crd2idx(%t, %l) : (!fly.int_tuple<?>, !fly.layout<(4,8):(8,1)>) -> !fly.int_tuple<?>
  %y = fly.get_scalar(%x) : (!fly.int_tuple<?>) -> i32
  return %y : i32
}
"""


def ok(arguments: list[str], text: str) -> str:
    code, stdout, stderr = run(arguments, text)
    assert (code, stderr) == (0, "")
    return stdout


def failing(arguments: list[str], text: str = "") -> str:
    code, stdout, stderr = run(arguments, text)
    assert code == 1
    assert "Traceback" not in stdout + stderr
    return stderr


def test_help_names_every_pass() -> None:
    text = ok(["--help"], "")
    for name, found in PASSES.items():
        assert f"--{name}" in text
        assert found.summary in text


def test_passes_run_in_the_order_written() -> None:
    assert "fly." not in ok(["--fly-canonicalize", "--fly-layout-lowering"], FUNCTION)
    assert "arith.andi" in ok(["-fly-layout-lowering"], FUNCTION)


@pytest.mark.parametrize(
    "pipeline",
    [
        "builtin.module(fly-canonicalize,fly-layout-lowering)",
        "fly-canonicalize, fly-layout-lowering",
        "builtin.module(fly-canonicalize, func.func(fly-layout-lowering))",
        "builtin.module(gpu-kernel-outlining{data-layout-str=x}, fly-layout-lowering, fly-gpu-stream-inject)",
    ],
)
def test_pipelines(pipeline: str) -> None:
    assert "fly." not in ok([f"--pass-pipeline={pipeline}"], FUNCTION)
    assert "fly." not in ok(["--pass-pipeline", pipeline], FUNCTION)


def test_as_compiled_runs_the_compilers_form() -> None:
    text = "func.func @f(%l: !fly.layout<(4,?):(1,?)>) {\n  return\n}\n"
    assert "!llvm.struct<(i32, i32)>" in ok(["--as-compiled", "--fly-rewrite-func-signature"], text)
    packed = ok(["--fly-rewrite-func-signature"], text)
    assert "!llvm.struct<packed (struct<packed (i32)>, struct<packed (i32)>)>" in packed
    assert "packed" not in ok(["--convert-fly-to-rocdl", "--convert-func-to-llvm"], packed)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("llvm.extractvalue %s[2] : !llvm.struct<packed (i32, i64)>", "has no field 2"),
        ("rocdl.raw.ptr.buffer.load %s, %s : i32", "Expected ','"),
        ("rocdl.mfma.f32.16x16x4f32 %s, %s, %s, 0, 0, 0 : (f32) -> f32", "takes 3 operands, and states 1 types"),
        ("vector.from_elements %s : i32", "gives a vector, not i32"),
    ],
)
def test_upstream_words_are_checked(line: str, message: str) -> None:
    text = f"func.func @f(%s: !llvm.struct<packed (i32, i64)>) {{\n  %0 = {line}\n  return\n}}\n"
    assert message in failing([], text)


def test_a_nested_pass_leaves_the_rest_alone() -> None:
    assert "fly.crd2idx" in ok(["--pass-pipeline=builtin.module(gpu.module(fly-layout-lowering))"], FUNCTION)


def test_pipeline_steps() -> None:
    steps = parse_pipeline("builtin.module(canonicalize,gpu.module(canonicalize,gpu.func(fly-canonicalize)))")
    assert steps == [
        Step("canonicalize", ("builtin.module",)),
        Step("canonicalize", ("builtin.module", "gpu.module")),
        Step("fly-canonicalize", ("builtin.module", "gpu.module", "gpu.func")),
    ]


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("builtin.module(cannonicalize)", "unknown pass 'cannonicalize'"),
        ("builtin.module(canonicalize", "never closes the parenthesis"),
        ("canonicalize)", "never opened"),
        ("scf.for(canonicalize)", "nests in builtin.module, gpu.module"),
        ("canonicalize{x=1}", "takes no options"),
        ("canonicalize;fly-canonicalize", "cannot read the pipeline"),
    ],
)
def test_bad_pipelines(pipeline: str, message: str) -> None:
    with pytest.raises(UnknownPassError, match=message):
        parse_pipeline(pipeline)
    assert message.replace("\\", "") in failing([f"--pass-pipeline={pipeline}"])


def test_an_unknown_pass_is_answered_with_the_list() -> None:
    text = failing(["--fly-canonicalise"])
    assert text.startswith("fly-opt: unknown pass 'fly-canonicalise'; the passes are\n")
    assert all(f"  {name}\n" in text for name in (*PASSES, *ACCEPTED))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pass-pipeline"], "needs a value"),
        (["--verify-each=maybe"], "true or false"),
        (["a.mlir", "b.mlir"], "one input at a time"),
        (["/nowhere/a.mlir"], "cannot read the input"),
    ],
)
def test_bad_command_lines(arguments: list[str], message: str) -> None:
    assert message in failing(arguments)


def test_errors_name_file_line_and_column(tmp_path: Path) -> None:
    file = tmp_path / "bad.mlir"
    wrong = "%0 = fly.size(%l) : (!fly.layout<4:1>) -> !fly.int_tuple<5>"
    file.write_text(f"func.func @f(%l: !fly.layout<4:1>) {{\n  {wrong}\n  return\n}}\n")
    assert failing([str(file)]).startswith(f"{file}:2:3: error: 'fly.size': fly.size gives !fly.int_tuple<4>, but")
    file.write_text("func.func @f() {\n  fly.nothing\n}\n")
    assert failing([str(file)]).startswith(f"{file}:2:3: error: ")
    assert failing([], file.read_text()).startswith("<stdin>:2:3: error: ")


def test_an_error_in_a_pass_points_at_the_operation() -> None:
    text = "func.func @f(%c: i1) {\n  fly.assume(%c) : (i1) -> ()\n  return\n}\n"
    message = failing(["--fly-layout-lowering"], text)
    assert message.startswith("<stdin>:2:3: error: assume has no meaning yet\n  help: ")


def test_locations_in_the_text_win() -> None:
    text = 'func.func @f(%c: i1) {\n  fly.assume(%c) : (i1) -> () loc("kernel.py":7:5)\n  return\n}\n'
    assert failing(["--fly-layout-lowering"], text).startswith("kernel.py:7:5: error: ")


TENSORS = "!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>"
ATOMS = {
    "!fly.mma_atom<!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32>>": "scale_a, scale_b",
    "!fly.copy_atom<!fly.universal_copy<128>, 32>": "none",
    f"!fly.copy_atom<{TENSORS}, 32>": "workgroup_mask, extent_0",
}


@pytest.mark.parametrize("atom", ATOMS)
def test_a_field_that_an_atom_has_not(atom: str) -> None:
    set_value = 'fly.atom.set_value(%m, "extent_7", %s) : (!atom, i32) -> !atom'
    text = f"!atom = {atom}\nfunc.func @f(%m: !atom, %s: i32) {{\n  %n = {set_value}\n  return\n}}\n"
    message = failing(["--convert-fly-to-rocdl"], text)
    assert "has no state 'extent_7'" in message and f"its state is {ATOMS[atom]}" in message


def test_a_bug_in_a_pass_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(module: object) -> None:
        raise KeyError("oops")

    monkeypatch.setitem(PASSES, "cse", type(PASSES["cse"])("cse", "", broken))
    message = failing(["--cse"], FUNCTION)
    assert "cse failed on this input (KeyError: 'oops'); this is a bug" in message
    monkeypatch.setenv("FLYDSL_DEBUG_TRACEBACK", "1")
    assert "Traceback" in run(["--cse"], FUNCTION)[2]


def test_verify_each(monkeypatch: pytest.MonkeyPatch) -> None:
    def break_order(module: object) -> None:
        block = module.body.block.first_op.regions[0].blocks[0]  # type: ignore[attr-defined]
        first = block.first_op
        first.detach()
        block.insert_op_before(first, block.last_op)

    monkeypatch.setitem(PASSES, "cse", type(PASSES["cse"])("cse", "", break_order))
    message = failing(["--cse"], FUNCTION)
    assert "invalid after cse: 'fly.crd2idx': operand 0 is used before it is defined" in message
    ok(["--cse", "--verify-each=false"], FUNCTION)


def test_split_input_keeps_line_numbers_and_goes_on() -> None:
    parts = f"{FUNCTION}\n// -----\nfunc.func @bad() {{\n  fly.nothing\n}}\n// -----\n{FUNCTION}"
    code, stdout, stderr = run(["--split-input-file"], parts)
    assert code == 1
    assert stdout.count("@f") == 2
    assert stderr.startswith(f"<stdin>:{FUNCTION.count(chr(10)) + 4}:3: error: ")
    again = ok(["--split-input-file"], ok(["--split-input-file"], f"{FUNCTION}// -----\n{FUNCTION}"))
    assert again.count("// -----") == 1


def test_output_file(tmp_path: Path) -> None:
    target = tmp_path / "out.mlir"
    assert ok(["-o", str(target)], FUNCTION) == ""
    assert "@f" in target.read_text()


def test_unregistered_operations() -> None:
    text = '"my.op"() {a = 1 : i32} : () -> ()\n'
    assert "Operation my.op is not registered" in failing([], text)
    assert '"my.op"()' in ok(["--allow-unregistered-dialect"], text)


def test_instruction_dialects_are_known() -> None:
    text = '"rocdl.s.barrier"() : () -> ()\n"nvvm.barrier0"() : () -> ()\n'
    assert ok([], ok([], text)) == ok([], text)


def test_debug_info_is_printed_and_read() -> None:
    text = ok(["--print-debuginfo"], FUNCTION)
    assert 'loc("<stdin>":3:3)' in text
    assert 'fly.make_int_tuple(%arg0) : (i32) -> !fly.int_tuple<?> loc("<stdin>":3:3)' in ok(
        ["--print-debuginfo"], text
    )


NAMED = """\
func.func @f(%lower: i32, %flag: i1) -> i32 {
  %four = arith.constant 4 : i32
  %again = arith.constant 4 : i32
  %less = arith.constant -1 : i64
  %place = arith.constant 7 : index
  %yes = arith.constant true
  %half = arith.constant 0.5 : f32
  %sum = arith.addi %lower, %four : i32
  %picked = scf.if %flag -> (i32) {
    scf.yield %again : i32
  } else {
    scf.yield %sum : i32
  }
  return %picked : i32
}
"""


def test_values_are_named_as_upstream_names_them() -> None:
    text = ok([], NAMED)
    for line in (
        "@f(%arg0: i32, %arg1: i1)", "%c4_i32 = arith.constant 4", "%c4_i32_0 = arith.constant 4", "%c-1_i64 = ",
        "%c7 = arith.constant 7 : index", "%true = ", "%cst = ", "%0 = arith.addi %arg0, %c4_i32", "%1 = scf.if %arg1",
    ):  # fmt: skip
        assert line in text, line
    kept = ok(["--keep-names"], NAMED)
    assert "%picked = scf.if %flag" in kept and "%again = arith.constant 4" in kept
    assert ok([], text) == text


def test_print_after_all_goes_to_stderr() -> None:
    code, stdout, stderr = run(["--canonicalize", "--mlir-print-ir-after-all"], FUNCTION)
    assert code == 0
    assert "// ----- IR after canonicalize" in stderr
    assert "// -----" not in stdout


def test_expected_diagnostics() -> None:
    text = "a // expected-error@+1 {{first}}\nb\n// expected-error @below {{one}} // expected-note@-2 {{two}}\nc\n"
    wanted = expectations(text)
    places = [(2, "error", "first"), (4, "error", "one"), (1, "note", "two")]
    assert [(w.line, w.severity, w.text) for w in wanted] == places
    found = [
        IrDiagnostic("f", 2, 1, "the first thing"),
        IrDiagnostic("f", 4, 9, "one"),
        IrDiagnostic("f", 1, 1, "two", "note"),
    ]
    assert unmet(wanted, found, "f") == []
    assert [str(d) for d in unmet(wanted, [*found[1:], IrDiagnostic("f", 3, 2, "other")], "f")] == [
        'f:2:1: error: expected error "first" was not produced',
        "f:3:2: error: unexpected error: other",
    ]


def test_diagnostics_that_are_expected_are_no_failure() -> None:
    ok(["--verify-diagnostics"], "// expected-error@+1 {{not registered}}\nfly.nothing\n")
    other = "// expected-error@+1 {{other words}}\nfly.nothing\n"
    assert "was not produced" in failing(["--verify-diagnostics"], other)


def test_as_a_module(tmp_path: Path) -> None:
    file = tmp_path / "f.mlir"
    file.write_text(FUNCTION)
    command = [sys.executable, "-m", "flydsl.tools.fly_opt", "--fly-layout-lowering"]
    from_file = subprocess.run([*command, str(file)], capture_output=True, text=True)
    from_stdin = subprocess.run(command, input=FUNCTION, capture_output=True, text=True)
    assert from_file.returncode == from_stdin.returncode == 0
    assert from_file.stdout == from_stdin.stdout
    bad = subprocess.run([*command, "--nonsense"], capture_output=True, text=True)
    assert (bad.returncode, bad.stdout) == (1, "")
    assert "Traceback" not in bad.stderr
