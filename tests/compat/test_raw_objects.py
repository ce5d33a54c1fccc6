"""The objects of the raw layer: what counts as a value, what types and attributes say, how the two worlds meet."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir, passmanager
from flydsl._mlir.dialects import arith, llvm
from flydsl._mlir.extras import types as ty
from flydsl.base.errors import DslRuntimeError
from flydsl.expr.typing import T, as_dsl_value, as_ir_value
from tests.unit.rocdl.running import launch

THREADS = 64


def traced(body: Any) -> None:
    """Run ``body(thread, tensor)`` while a kernel is traced."""
    launch(body, np.zeros(THREADS, np.float32))


def test_what_is_a_value() -> None:
    def body(t: Any, x: Any) -> None:
        values = [
            x, fx.get_iter(x), x.layout, x.shape, fx.make_layout(4, 1), fx.make_tile(4), fx.make_swizzle(1, 2, 3),
            fx.make_copy_atom(fx.UniversalCopy(32), fx.Float32), fx.full(4, 0.0, fx.Float32), x[t].ir_value(),
            arith.constant(T.i32, 3), fx.get_iter(x).llvm_ptr,
        ]  # fmt: skip
        assert all(isinstance(value, ir.Value) for value in values)
        for value in (t, x[t], 3, 2.5, True, None, "i32", T.i32, fx.Boolean(True)):
            assert not isinstance(value, ir.Value)
        for value in values:
            assert isinstance(value.type, ir.Type), value

    traced(body)


def test_results_are_wrapped_by_their_type() -> None:
    def body(t: Any, x: Any) -> None:
        number = arith.addf(x[t].ir_value(), x[t].ir_value())
        assert type(number) is arith.ArithValue and number.is_float and number.signed is None
        assert str(number) == "ArithValue(type=f32, op=arith.addf)"
        assert number.owner.name == "arith.addf" and len(number.owner.operands) == 2
        vector = arith.constant(T.f32x4, 1.0)
        assert isinstance(vector, fx.Vector) and vector.shape == (4,) and vector.dtype is fx.Float32
        assert vector.ir_value() is vector and vector.to(ir.Value) is vector
        pointer = llvm.mlir_undef(ir.Type.parse("!llvm.ptr<3>"))
        assert type(pointer) is ir.Value and pointer.type == "!llvm.ptr<3>" and pointer.type.address_space == 3
        flag = arith.cmpf("olt", number, number)
        assert flag.type == ir.IntegerType.get_signless(1) and flag.with_signedness(True).signed is None
        raw = fx.Int32(7).to(ir.Value)
        assert type(raw) is arith.ArithValue and raw.type == T.i32 and len({raw, raw}) == 1
        with pytest.raises(TypeError, match="of a raw i1 has no meaning"):
            _ = -flag
        with pytest.raises(TypeError, match="nothing is promoted here"):
            _ = raw + number
        with pytest.raises(RuntimeError, match="not known while the kernel is traced"):
            bool(flag)

    traced(body)


def test_types() -> None:
    assert T.i32.width == 32 and isinstance(T.i32, ir.IntegerType) and not isinstance(T.i32, ir.FloatType)
    assert isinstance(T.bf16, ir.FloatType) and isinstance(T.bf16, ir.BF16Type) and T.bf16.width == 16
    assert isinstance(T.index, ir.IndexType) and not hasattr(T.index, "width")
    assert not hasattr(T.f32, "element_type") and not hasattr(T.f32, "shape")
    vector = ir.VectorType.get([4], T.f16)
    assert isinstance(vector, ir.VectorType) and vector.shape == [4] and vector.element_type == T.f16
    assert ir.VectorType(vector) is vector and hash(vector) == hash(T.f16x4)
    for kind, wrong in ((ir.VectorType, T.f32), (ir.MemRefType, vector), (ir.IntegerType, T.index)):
        with pytest.raises(ValueError, match="is no"):
            kind(wrong)
    assert ir.Type | None and isinstance(fx.PointerType.get(T.f32), ir.Type)
    assert ir.Float8E4M3FNType.get() == T.f8E4M3FN and ir.Float4E2M1FNType.get().width == 4
    assert ir.Float8E4M3FNUZType.get().width == ir.Float8E5M2Type.get().width == 8
    assert ty.vector(4, ty.f32()) == T.f32x4 and ty.i(16) == ty.i16() == T.i16 and ty.bool() == T.i1
    memory = ty.memref(8, 4, ty.f32(), memory_space=3)
    assert isinstance(memory, ir.MemRefType) and memory.shape == [8, 4] and memory.element_type == T.f32
    assert fx.T.VectorType.get([2], T.i32) == T.i32x2


@pytest.mark.parametrize(
    "text", ["!llvm.ptr", "!llvm.ptr<8>", "!llvm.void", "!llvm.struct<(i32, i32)>",
             "!llvm.struct<(i64, i64, i32, i32)>",
             "vector<4xi32>", "vector<2x4xf32>", "f8E4M3FN"],
)  # fmt: skip
def test_types_from_text(text: str) -> None:
    found = ir.Type.parse(text)
    assert isinstance(found, ir.Type) and str(found) == text and found == ir.Type.parse(f" {text}")


def test_text_that_is_no_type() -> None:
    with pytest.raises(ValueError, match=r"'!llvm\.strukt' is no type"):
        ir.Type.parse("!llvm.strukt")


def test_types_of_the_language_narrow() -> None:
    def body(t: Any, x: Any) -> None:
        pointer = fx.get_iter(x)
        assert fx.PointerType(pointer.type) is pointer.type and fx.MemRefType(x.type) is x.type
        assert fx.IntTupleType(fx.make_int_tuple((2, 3)).type) == (2, 3)
        with pytest.raises(ValueError, match="is no PointerType"):
            fx.PointerType(x.type)

    traced(body)


def test_attributes() -> None:
    number = ir.IntegerAttr.get(T.i32, -5)
    assert number.value == -5 and number.type == T.i32 and number == ir.IntegerAttr.get(T.i32, -5)
    with pytest.raises(ValueError, match="4294967295 does not fit i32 as a signed number"):
        ir.IntegerAttr.get(T.i32, 0xFFFFFFFF)
    assert ir.FloatAttr.get(T.f32, 0.5).value == 0.5
    assert ir.StringAttr(ir.StringAttr.get("agent")).value == "agent"
    with pytest.raises(ValueError, match="is no text"):
        ir.StringAttr(number)
    scope = '#llvm.alias_scope<id = "a", domain = #llvm.alias_scope_domain<id = "d">>'
    for text in ("#llvm.overflow<none>", "#llvm.fastmath<fast>", scope, f"[{scope}]"):
        assert str(ir.Attribute.parse(text)).startswith(text[:8])
    assert str(ir.ArrayAttr.get([ir.Attribute.parse(scope)])) == f"[{scope}]"


def test_attributes_of_an_operation_may_be_set() -> None:
    def body(t: Any, x: Any) -> None:
        load = llvm.LoadOp(T.f32, fx.get_iter(x).llvm_ptr)
        scope = ir.Attribute.parse('#llvm.alias_scope<id = "a", domain = #llvm.alias_scope_domain<id = "d">>')
        load.attributes["alias_scopes"] = ir.ArrayAttr.get([scope])
        load.operation.attributes["note"] = ir.StringAttr.get("mine")
        assert "alias_scopes" in load.attributes and load.attributes["note"].value == "mine"
        x[t] = fx.Float32(load.result)

    traced(body)


def test_values_of_the_language_and_back() -> None:
    def body(t: Any, x: Any) -> None:
        assert as_ir_value(None) is None and as_ir_value(x) is x
        for number, kind in ((3, T.i32), (1 << 40, T.i64), (0.5, T.f32), (True, T.i1), (fx.Float16(1), T.f16)):
            assert as_ir_value(number).type == kind
        both = as_ir_value((t, [2.0]))
        assert type(both) is tuple and both[0].type == T.i32 and both[1][0].type == T.f32
        assert as_ir_value(7, keep_static=True) == 7 and as_ir_value(fx.Int32(7), keep_static=True).value == 7
        raw = fx.arith._to_raw(t)
        assert isinstance(raw, fx.arith.ArithValue) and fx.arith._to_raw(raw).type == T.i32
        assert type(as_dsl_value(raw)) is fx.Int32 and type(as_dsl_value(raw, fx.Uint32)) is fx.Uint32
        assert type(as_dsl_value(raw, fx.Uint32(1))) is fx.Uint32
        with pytest.raises(TypeError, match="has no class in the language"):
            as_dsl_value(llvm.mlir_undef(ir.Type.parse("!llvm.ptr<3>")))
        with pytest.raises(ValueError, match="does not say whether it is signed"):
            fx.Float32(arith.addi(raw, raw))

    traced(body)


def test_classes_of_the_dialect_in_fx_arith() -> None:
    assert fx.arith.AddFOp is arith.AddFOp and fx.arith.MulIOp.OPERATION_NAME == "arith.muli"
    with pytest.raises(AttributeError, match="row 'ClassName function operands -> result' of ARITH"):
        fx.arith.FrobOp  # noqa: B018


def test_mistakes_are_named() -> None:
    with pytest.raises(DslRuntimeError, match=r"arith\.addi builds an operation, and no kernel or jit function"):
        arith.addi(1, 2)
    with pytest.raises(AttributeError, match="the raw layer has no 'frob' in the llvm dialect"):
        llvm.frob  # noqa: B018

    def body(t: Any, x: Any) -> None:
        value = x[t].ir_value()
        with pytest.raises(TypeError, match=r"arith\.addf takes operands of one type: lhs is f32, rhs is i32"):
            arith.addf(value, t.ir_value())
        with pytest.raises(TypeError, match=r"arith\.addf needs 'rhs'"):
            arith.addf(value)
        with pytest.raises(TypeError, match=r"arith\.addf has no argument 'fast'"):
            arith.addf(value, value, fast=True)
        with pytest.raises(TypeError, match="an operand of a raw operation must be a value"):
            arith.addf(value, "x")
        with pytest.raises(ValueError, match="unknown predicate"):
            arith.cmpi("less", t.ir_value(), t.ir_value())
        with pytest.raises(ValueError, match="has 2 results"):
            _ = arith.MulSIExtendedOp(t.ir_value(), t.ir_value()).result
        assert arith.addf(value, value, loc=ir.Location.unknown(), ip=None).type == T.f32

    traced(body)


def test_passes_by_name() -> None:
    module = ir.Module.parse("func.func @f() -> i32 {\n  %a = arith.constant 1 : i32\n  return %a : i32\n}")
    passmanager.PassManager.parse("builtin.module(canonicalize)").run(module.operation)
    assert module.operation.verify()
    with pytest.raises(ValueError, match="unknown pass 'frobnicate'"):
        passmanager.PassManager.parse("builtin.module(frobnicate)")


PLAIN = """
import sys
import numpy as np
import flydsl.compiler as flyc
import flydsl.expr as fx

@flyc.kernel
def kernel(x: fx.Tensor, y: fx.Tensor):
    t = fx.thread_idx.x
    y[t] = x[t] * 2 + fx.full(2, 1.0, fx.Float32)[0]

@flyc.jit
def run(x: fx.Tensor, y: fx.Tensor):
    kernel(x, y).launch(grid=1, block=64)

x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
run(x, y)
assert (y == 3).all()
print([name for name in sys.modules if name.startswith("flydsl._mlir")])
"""


def test_who_does_not_import_it_does_not_load_it(tmp_path: Any) -> None:
    program = tmp_path / "plain.py"
    program.write_text(PLAIN)
    ran = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == "[]"


def test_a_raw_pointer_lives_across_a_branch() -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        place = fx.get_iter(x).llvm_ptr
        if t % 2 == 1:
            place = fx.get_iter(y).llvm_ptr
        kind = ir.Type.parse("!llvm.ptr<1>")
        own = llvm.GEPOp(kind, place, [t.ir_value()], [-2147483648], T.f32, None).result
        out[t] = fx.Float32(llvm.load(T.f32, own))

    @flyc.jit
    def run(x: fx.Tensor, y: fx.Tensor, out: fx.Tensor) -> None:
        kernel(x, y, out).launch(grid=1, block=THREADS)

    x, y, out = np.arange(64, dtype=np.float32), -np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    run(x, y, out)
    np.testing.assert_array_equal(out, np.where(np.arange(64) % 2, y, x))
