"""Every rule that writes LLVM text, and the passes that run it and read the text back: both end in the same code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flydsl.backends.pipeline import PASSES
from flydsl.codegen.llvm_build import optimised_text
from flydsl.codegen.module_emitter import emit_module_text
from flydsl.codegen.rules import rules_arith, rules_cast, rules_math
from flydsl.tools.ir_reader import read_module
from tests.codegen.llvm_normal_form import normalised

FILECHECK = Path(__file__).resolve().parents[1] / "filecheck" / "passes"

_TO_LLVM = (
    *("convert-scf-to-cf", "convert-cf-to-llvm", "convert-vector-to-llvm", "convert-math-to-llvm"),
    *("convert-arith-to-llvm", "convert-func-to-llvm", "reconcile-unrealized-casts"),
)


@pytest.mark.parametrize("name", ["convert-scf-to-cf", "convert-vector-to-llvm", "convert-arith-to-llvm",
                                  "convert-math-to-llvm"])  # fmt: skip
def test_operations(name: str) -> None:
    text = (FILECHECK / f"{name}.mlir").read_text(encoding="utf-8")
    short = emit_module_text(read_module(text, name))
    module = read_module(text, name)
    for step in _TO_LLVM:
        PASSES[step].run(module)
    left = {op.name for op in module.walk() if not op.name.startswith(("llvm.", "builtin.module"))}
    assert not left, f"not converted: {left}"
    # Only the amount of inlining could tell calls of helpers apart, so they are compared optimised too.
    assert normalised(optimised_text(emit_module_text(module))) == normalised(optimised_text(short))


def _function(name: str, operands: list[str], results: list[str], properties: str = "") -> str:
    """A function that applies one operation, in generic form, to its arguments."""
    arguments = [f"%a{i}: {type_}" for i, type_ in enumerate(operands)]
    values = ", ".join(f"%a{i}" for i in range(len(operands)))
    made = ", ".join(f"%r{i}" for i in range(len(results)))
    symbol = re.sub(r"\W+", "_", f"{name}_{'_'.join(operands + results)}")
    return (
        f"func.func @{symbol}({', '.join(arguments)}) -> ({', '.join(results)}) {{\n"
        f'  {made} = "{name}"({values}){properties} : ({", ".join(operands)}) -> ({", ".join(results)})\n'
        f"  func.return {made} : {', '.join(results)}\n}}"
    )


INTS = ("i8", "i64", "index", "vector<4xi32>", "vector<2x2xi16>")
FLOATS = ("f32", "f64", "f16", "vector<4xf32>", "f8E4M3FN", "vector<4xf8E5M2>")
CASTS = {
    "arith.extsi": (("i8", "i32"), ("vector<4xi8>", "vector<4xi64>")),
    "arith.extui": (("i1", "i32"), ("vector<4xi8>", "vector<4xi64>")),
    "arith.trunci": (("i64", "i1"), ("vector<4xi64>", "vector<4xi8>")),
    "arith.extf": (("f16", "f32"), ("f8E4M3FNUZ", "f32"), ("vector<4xf8E5M2>", "vector<4xf32>")),
    "arith.truncf": (("f32", "f16"), ("f32", "f8E4M3FN"), ("vector<4xf32>", "vector<4xf8E4M3FNUZ>")),
    "arith.sitofp": (("i32", "f32"), ("vector<4xi8>", "vector<4xf16>")),
    "arith.uitofp": (("i32", "f32"), ("vector<4xi8>", "vector<4xf16>")),
    "arith.fptosi": (("f32", "i32"), ("vector<4xf16>", "vector<4xi8>")),
    "arith.fptoui": (("f32", "i32"), ("vector<4xf16>", "vector<4xi8>")),
    "arith.index_cast": (("index", "i32"), ("i32", "index")),
    "arith.index_castui": (("index", "i32"), ("i32", "index")),
    "arith.bitcast": (("f32", "i32"), ("vector<4xf16>", "vector<4xi16>"), ("f8E4M3FN", "i8")),
}
PAIRS = ("arith.addui_extended", "arith.mului_extended", "arith.mulsi_extended")


def _flags(type_: str) -> str:
    return re.sub(r"[if]\w+>$", "i1>", type_) if type_.startswith("vector") else "i1"


def every_rule() -> list[str]:
    """One function for each rule of arith and math, at scalars and vectors, narrow floats among them."""
    found: list[str] = []
    for name in (*rules_arith.INT_BINARY, *rules_arith.SHIFTS, *rules_arith.INT_DIVISION, *rules_arith.INT_INTRINSIC):
        found += [_function(name, [t, t], [t]) for t in INTS]
    found += [
        _function(name, [t, t], [t])
        for name in ("arith.floordivsi", "arith.ceildivsi", "arith.ceildivui")
        for t in INTS
    ]
    for name in (*rules_arith.FLOAT_BINARY, "arith.remf", *rules_arith.FLOAT_INTRINSIC):
        found += [_function(name, [t, t], [t]) for t in FLOATS]
    found += [_function("arith.negf", [t], [t]) for t in FLOATS]
    for t in INTS:
        found.append(_function("arith.cmpi", [t, t], [_flags(t)], " <{predicate = 6 : i64}>"))
        found.append(_function("arith.select", [_flags(t), t, t], [t]))
    found += [_function("arith.cmpf", [t, t], [_flags(t)], " <{predicate = 4 : i64}>") for t in FLOATS]
    for name in PAIRS:
        found += [_function(name, [t, t], [t, _flags(t) if "addui" in name else t]) for t in ("i32", "vector<4xi64>")]
    found += [_function(name, [a], [b]) for name, pairs in CASTS.items() for a, b in pairs]
    for name in rules_math.RULES:
        count = {"math.fma": 3, "math.clampf": 3, "math.powf": 2, "math.atan2": 2, "math.copysign": 2}.get(name, 1)
        if name in ("math.absi", "math.ctlz", "math.cttz", "math.ctpop"):
            found += [_function(name, [t], [t]) for t in ("i32", "vector<4xi16>")]
        elif name in ("math.ipowi", "math.fpowi"):
            base = "i32" if name == "math.ipowi" else "f32"
            found += [_function(name, [t, t.replace(base, "i32")], [t]) for t in (base, f"vector<4x{base}>")]
        elif name.startswith("math.is"):
            found += [_function(name, [t], [_flags(t)]) for t in ("f32", "vector<4xf16>")]
        elif name == "math.sincos":
            found.append(_function(name, ["f32"], ["f32", "f32"]))
        else:
            found += [_function(name, [t] * count, [t]) for t in ("f32", "f16", "vector<4xf32>", "vector<4xf16>")]
    return found


def test_every_rule() -> None:
    """The reader knows every instruction that a rule writes, and takes nothing from it."""
    text = "\n".join(every_rule())
    reached = set(re.findall(r'"((?:arith|math)\.\w+)"', text)) | {"arith.constant", "arith.subui_extended"}
    rules = {*rules_arith.RULES, *rules_math.RULES, *(n for n in rules_cast.RULES if n.startswith("arith."))}
    assert rules - reached <= {"arith.scaling_extf", "arith.scaling_truncf", "arith.convertf"}, rules - reached
    short = emit_module_text(read_module(text, "rules", allow_unregistered=True))
    module = read_module(text, "rules", allow_unregistered=True)
    for step in _TO_LLVM:
        PASSES[step].run(module)
    assert {op.name.split(".")[0] for op in module.walk()} == {"builtin", "llvm"}
    assert normalised(optimised_text(emit_module_text(module), level=1)) == normalised(optimised_text(short, level=1))


def test_normalising_tells_code_apart() -> None:
    one = "define void @f(i32 %x) {\nentry:\n  %a = add i32 %x, 1\n  ret void\n}"
    assert normalised(one) == normalised(one.replace("%a", "%other"))
    assert normalised(one) != normalised(one.replace("add", "sub"))
