"""Raw kernels as code of real GPUs: instructions in the assembly, code objects, dumps that upstream's tools read."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl._mlir.dialects import arith, fly, llvm, math, rocdl, scf, vector
from flydsl.base.errors import LoweringError
from flydsl.expr.typing import T
from tests.unit.rocdl.device_code import instructions, launcher, words

POINTER = "!llvm.ptr<1>"


def everything(x: Any, y: Any, t: Any) -> None:
    """One of each kind: assembly, pointers, atomics, vectors of two dimensions, a loop, lanes."""
    kind = ir.Type.parse(POINTER)
    number = x[t].ir_value().bitcast(T.f32)
    word = llvm.inline_asm(T.i32, [number, number], "v_cvt_pk_bf16_f32 $0, $1, $2", "=v,v,v")
    base = fly.extract_aligned_pointer_as_index(kind, y)
    place = llvm.GEPOp(kind, base, [t.ir_value()], [-2147483648], T.i32, None).result
    word = llvm.OrOp(word, arith.constant(T.i32, 1)).result
    less = llvm.FCmpOp("olt", number, arith.constant(T.f32, 1.0)).result
    word = llvm.SelectOp(less, word, llvm.AddOp(word, word, llvm.IntegerOverflowFlags.nsw)).result
    four = vector.from_elements(ir.VectorType.get([4], T.i32), [word] * 4)
    square = vector.shape_cast(ir.VectorType.get([2, 2], T.i32), four)
    row = vector.extract(square, static_position=[1], dynamic_position=[])
    loop = scf.ForOp(0, arith.constant(T.index, 4), 1, [row[0].ir_value()])
    with ir.InsertionPoint(loop.body):
        scf.yield_([loop.inner_iter_args[0] + 1])
    first = rocdl.readfirstlane(T.i32, loop.results[0])
    both = rocdl.permlane32_swap(ir.Type.parse("!llvm.struct<(i32, i32)>"), first, word, False, False)
    order = llvm.AtomicOrdering.monotonic
    llvm.AtomicRMWOp(llvm.AtomicBinOp.add, place, llvm.extractvalue(T.i32, both, [0]), order, syncscope="agent")
    llvm.StoreOp(math.fma(number, number, number, fastmath=arith.FastMathFlags.fast), place, alignment=4)
    llvm.inline_asm(None, [place, row], "global_store_dwordx2 $0, $1, off sc0 sc1", "v,v", has_side_effects=True)


def test_the_instructions_are_there() -> None:
    found = "\n".join(instructions(everything, "gfx950"))
    for wanted in ("v_cvt_pk_bf16_f32", "v_permlane32_swap_b32", "global_atomic_add", "off sc0 sc1", "v_fma"):
        assert wanted in found, wanted


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_a_wait_and_a_barrier_pass_through(arch: str) -> None:
    def body(x: Any, y: Any, t: Any) -> None:
        llvm.inline_asm(None, [], "s_nop 3\n\ts_nop 5", "", has_side_effects=True)
        y[t] = fx.Int32(arith.addi(x[t].ir_value(), x[t].ir_value()))

    found = instructions(body, arch)
    assert found.index("s_nop 5") == found.index("s_nop 3") + 1


def compile_only(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    for name, value in {
        "ARCH": "gfx950", "COMPILE_ONLY": "1", "FLYDSL_DUMP_IR": "1", "FLYDSL_DUMP_DIR": str(folder),
        "FLYDSL_RUNTIME_ENABLE_CACHE": "0",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)


def test_dumps_are_read_by_upstream(mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_only(monkeypatch, tmp_path)
    launcher(everything)(*words())
    dumps = sorted(tmp_path.rglob("*.mlir"))
    assert len(dumps) >= 20
    for dump in dumps[8:]:
        done = subprocess.run([mlir_opt, str(dump), "-o", "/dev/null"], capture_output=True, text=True)
        assert done.returncode == 0, f"{dump.name}: {done.stderr}"


def test_assembly_without_an_assembler_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_only(monkeypatch, tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("flydsl.codegen.device_build._ROCM_LLVM", tmp_path)
    with pytest.raises(LoweringError, match="inline assembly, which the LLVM in llvmlite cannot turn into code of AMD"):
        launcher(everything)(*words())
