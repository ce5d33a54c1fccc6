"""Constants keep every bit, and types have their LLVM text."""

from __future__ import annotations

import math

import numpy as np
import pytest
from xdsl.dialects import builtin
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
    bf16,
    f16,
    f32,
    f64,
)
from xdsl.dialects.llvm import LLVMArrayType, LLVMPointerType, LLVMStructType, LLVMVoidType
from xdsl.ir import Attribute

from flydsl.base.errors import LoweringError
from flydsl.codegen.llvm_types import type_text
from flydsl.codegen.reading.literals import float_bits, literal, string_literal
from tests.codegen.mlir_run import DTYPES, build, call

i8, i32 = IntegerType(8), IntegerType(32)


@pytest.mark.parametrize(
    ("attr", "text"),
    [
        (IntegerType(1), "i1"),
        (IntegerType(37), "i37"),
        (IndexType(), "i64"),
        (f16, "half"),
        (bf16, "%bf16"),
        (f32, "float"),
        (f64, "double"),
        (builtin.f8E4M3FN, "i8"),
        (builtin.f8E8M0FNU, "i8"),
        (builtin.f6E3M2FN, "i6"),
        (builtin.f4E2M1FN, "i4"),
        (VectorType(f32, [4]), "<4 x float>"),
        (VectorType(f32, [2, 3]), "<6 x float>"),
        (VectorType(bf16, []), "<1 x %bf16>"),
        (VectorType(builtin.f6E2M3FN, [32]), "<32 x i6>"),
        (VectorType(LLVMPointerType(), [2]), "<2 x ptr>"),
        (LLVMPointerType(), "ptr"),
        (LLVMPointerType(builtin.IntAttr(3)), "ptr addrspace(3)"),
        (LLVMArrayType(8, VectorType(f16, [2])), "[8 x <2 x half>]"),
        (LLVMStructType.from_type_list([i32, LLVMPointerType()]), "{ i32, ptr }"),
        (LLVMStructType.from_type_list([]), "{}"),
        (LLVMVoidType(), "void"),
    ],
    ids=str,
)
def test_type_text(attr: Attribute, text: str) -> None:
    assert type_text(attr) == text


def test_a_type_without_llvm_form_is_refused() -> None:
    with pytest.raises(LoweringError, match="'complex<f32>' has no LLVM form"):
        type_text(builtin.ComplexType(f32))
    with pytest.raises(LoweringError, match="scalable"):
        scalable = builtin.ArrayAttr([builtin.BoolAttr.from_bool(True)])
        type_text(VectorType(f32, [4], scalable))


@pytest.mark.parametrize(
    ("value", "attr", "text"),
    [
        (1.0, f32, "0x3FF0000000000000"),
        (0.1, f32, "0x3FB99999A0000000"),
        (-0.0, f32, "0x8000000000000000"),
        (math.inf, f32, "0x7FF0000000000000"),
        (1e-45, f32, "0x36A0000000000000"),
        (0.1, f64, "0x3FB999999999999A"),
        (1.0, f16, "0xH3C00"),
        (-math.inf, f16, "0xHFC00"),
        (1.0, bf16, "bitcast (i16 16256 to %bf16)"),
        (-1.00390625, bf16, "bitcast (i16 -16512 to %bf16)"),
        (448.0, builtin.f8E4M3FN, "126"),
        (-448.0, builtin.f8E4M3FN, "-2"),
        (1.0, builtin.f4E2M1FN, "2"),
    ],
)
def test_float_literals(value: float, attr: Attribute, text: str) -> None:
    assert literal(FloatAttr(value, attr), attr) == text  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_a_float_past_the_largest_becomes_infinity() -> None:
    assert float_bits(1e39, f32) == 0x7F800000
    assert float_bits(-65520.0, f16) == 0xFC00


def test_nan_literals_are_nan() -> None:
    assert literal(FloatAttr(math.nan, f32), f32).startswith("0x7FF8")
    assert literal(FloatAttr(math.nan, f16), f16) == "0xH7E00"
    assert literal(FloatAttr(math.nan, bf16), bf16) == "bitcast (i16 32704 to %bf16)"


@pytest.mark.parametrize(("value", "width", "text"), [(1, 1, "true"), (0, 1, "false"), (-1, 8, "-1"), (200, 64, "200")])
def test_integer_literals(value: int, width: int, text: str) -> None:
    assert literal(IntegerAttr(value, IntegerType(width)), IntegerType(width)) == text


def test_dense_literals() -> None:
    vector = VectorType(i32, [3])
    assert literal(DenseIntOrFPElementsAttr.from_list(vector, [1, -2, 3]), vector) == "<i32 1, i32 -2, i32 3>"
    assert literal(DenseIntOrFPElementsAttr.from_list(vector, [7, 7, 7]), vector) == "splat (i32 7)"
    assert literal(DenseIntOrFPElementsAttr.from_list(vector, [0, 0, 0]), vector) == "zeroinitializer"
    halves = VectorType(f16, [2])
    assert literal(DenseIntOrFPElementsAttr.from_list(halves, [-0.0, -0.0]), halves) == "splat (half 0xH8000)"
    array = LLVMArrayType(2, LLVMArrayType(2, i8))
    tensor = builtin.TensorType(i8, [2, 2])
    nested = literal(DenseIntOrFPElementsAttr.from_list(tensor, [1, 2, 3, 4]), array)
    assert nested == "[[2 x i8] [i8 1, i8 2], [2 x i8] [i8 3, i8 4]]"


def test_aggregate_literals() -> None:
    pair = LLVMStructType.from_type_list([i32, LLVMArrayType(2, f32)])
    inner = builtin.ArrayAttr([FloatAttr(1.0, f32), FloatAttr(0.0, f32)])
    text = literal(builtin.ArrayAttr([IntegerAttr(5, i32), inner]), pair)
    assert text == "{ i32 5, [2 x float] [float 0x3FF0000000000000, float 0x0000000000000000] }"
    with pytest.raises(LoweringError, match="cannot fill 'i32'"):
        literal(inner, i32)


def test_string_literals_are_escaped() -> None:
    assert string_literal(b'a"\\\x00\xff') == 'c"a\\22\\5C\\00\\FF"'


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64", "i8", "i64", "f8E5M2", "f8E4M3FNUZ"])
def test_dense_constants_arrive_with_every_bit(element: str) -> None:
    """Random bit patterns, NaN payloads among them, written as hexadecimal in the source text."""
    dtype = DTYPES[element]
    raw = np.random.default_rng(7).integers(0, 256, 64 * dtype.itemsize).astype(np.uint8)
    digits = "".join(f"{byte:02X}" for byte in raw)
    text = f"""
    func.func @f(%p: !llvm.ptr) {{
      %0 = "arith.constant"() <{{value = dense<"0x{digits}"> : vector<64x{element}>}}> : () -> vector<64x{element}>
      llvm.store %0, %p {{alignment = 1 : i64}} : vector<64x{element}>, !llvm.ptr
      func.return
    }}"""
    out = np.zeros(raw.size, np.uint8)
    call(build(text), "f", out)
    np.testing.assert_array_equal(out, raw)


@pytest.mark.parametrize("element", [name for name in DTYPES if name.startswith(("f8", "f6", "f4", "bf"))])
def test_scalar_constants_round_like_ml_dtypes(element: str) -> None:
    attr: Attribute = getattr(builtin, element)
    values = np.random.default_rng(9).uniform(0.01, 5, 200)
    with np.errstate(all="ignore"):
        want = values.astype(DTYPES[element])
    bits = np.array([float_bits(float(value), attr) for value in values])
    np.testing.assert_array_equal(bits, want.view(f"u{want.dtype.itemsize}"))
