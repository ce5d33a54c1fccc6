"""The audit of the raw layer: every name that kernels use exists, in the form stated, and some test here calls it."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from flydsl._mlir import ir, op_view

HERE = Path(__file__).parent

TYPES = "F16Type F32Type F64Type BF16Type Float8E4M3FNType Float8E4M3FNUZType Float8E5M2Type Float4E2M1FNType IndexType"
IR_NAMES = (
    "ArrayAttr Attribute Context DenseElementsAttr FloatAttr FloatType FunctionType InsertionPoint IntegerAttr "
    "IntegerType Location MemRefType Module StringAttr Type Value VectorType"
)
IR_MEMBERS: dict[str, str] = {
    "IntegerType": "get_signless",
    "VectorType": "get",
    "Type": "parse",
    "Attribute": "parse",
    "IntegerAttr": "get",
    "FloatAttr": "get",
    "ArrayAttr": "get",
    "DenseElementsAttr": "get_splat",
    "Context": "current",
    "Location": "unknown file current",
    "Module": "create parse",
    "FunctionType": "get",
    "Value": "_CAPICreate",
}

SIGNATURES: dict[str, dict[str, str]] = {
    "llvm": {
        "StoreOp": "value addr alignment volatile_ nontemporal ordering syncscope alias_scopes noalias_scopes",
        "LoadOp": "res addr alignment volatile_ nontemporal invariant ordering syncscope alias_scopes noalias_scopes",
        "load": "res addr invariant",
        "AtomicRMWOp": "bin_op ptr val ordering syncscope alignment",
        "extractvalue": "res container position",
        "PtrToIntOp": "res arg", "ptrtoint": "res arg", "IntToPtrOp": "res arg", "inttoptr": "res arg",
        "BitcastOp": "res arg", "bitcast": "res arg",
        "AddOp": "lhs rhs overflowFlags", "MulOp": "lhs rhs overflowFlags", "ShlOp": "lhs rhs overflowFlags",
        "OrOp": "lhs rhs",
        "GEPOp": "res base dynamicIndices rawConstantIndices elem_type noWrapFlags",
        "ZExtOp": "res arg", "FPExtOp": "res arg", "FPTruncOp": "res arg",
        "FenceOp": "ordering syncscope", "intr_expect": "val expected", "mlir_poison": "res", "mlir_undef": "res",
    },
    "arith": {
        "IndexCastOp": "out in_", "ExtSIOp": "out in_", "BitcastOp": "out in_", "TruncIOp": "out in_",
        "MulIOp": "lhs rhs", "AddIOp": "lhs rhs", "AddFOp": "lhs rhs fastmath", "MulFOp": "lhs rhs fastmath",
        "MaxUIOp": "lhs rhs", "SelectOp": "condition true_value false_value", "trunci": "out in_",
        "cmpi": "predicate lhs rhs", "maxnumf": "lhs rhs",
    },
    "vector": {
        "from_elements": "dest elements", "bitcast": "result source", "BitCastOp": "result source",
        "broadcast": "vector source", "shape_cast": "result source", "shuffle": "v1 v2 mask",
        "reduction": "dest kind vector acc",
        "extract_strided_slice": "result vector offsets sizes strides",
        "insert_strided_slice": "value_to_store dest offsets strides",
    },
    "rocdl": {
        "MakeBufferRsrcOp": "res base stride numRecords flags",
        "RawPtrBufferLoadOp": "res rsrc offset soffset aux",
        "RawPtrBufferStoreOp": "vdata rsrc offset soffset aux",
        "cvt_pk_fp8_f32": "res srcA srcB old wordSel", "exp2": "res arg", "rcp": "res arg",
    },
    "gpu": {"ShuffleOp": "value offset width mode", "thread_id": "dimension", "barrier": ""},
}  # fmt: skip
"""Operations with the arguments they take, in order; optional ones may be left out of the list."""

FUNCTIONS: dict[str, str] = {
    "llvm": "inline_asm InlineAsmOp call_intrinsic ConstantOp",
    "arith": "ConstantOp constant",
    "vector": "extract insert load store",
    "memref": "load store view extract_aligned_pointer_as_index",
    "fly": "extract_aligned_pointer_as_index copy_atom_call_ssa mma_atom_call_ssa static make_layout get_shape "
    "get_stride size composition select get_scalar coalesce",
    "func": "FuncOp ReturnOp",
    "scf": "IfOp ForOp WhileOp YieldOp",
    "rocdl": "mfma_f32_32x32x8f16 mfma_f32_32x32x8bf16_1k mfma_f32_32x32x16_f16 mfma_f32_32x32x16_bf16 "
    "mfma_f32_16x16x16f16 mfma_f32_16x16x16bf16_1k mfma_f32_16x16x32_fp8_fp8 mfma_f32_16x16x32_f16 "
    "mfma_f32_16x16x32_bf16 mfma_i32_16x16x32_i8 mfma_scale_f32_16x16x128_f8f6f4 s_waitcnt",
}
"""Builders that are functions of their own."""

MEMBERS: dict[str, dict[str, str]] = {
    "llvm": {
        "AtomicOrdering": "monotonic acquire release acq_rel seq_cst not_atomic unordered",
        "AtomicBinOp": "add fadd xchg sub _and _or _xor max min umax umin",
        "IntegerOverflowFlags": "nsw nuw none",
        "PointerType": "get",
    },
    "arith": {
        "CmpIPredicate": "eq ne slt sle sgt sge ult ule ugt uge",
        "CmpFPredicate": "OEQ OLT OGT OLE OGE ONE ORD UNO UNE",
        "FastMathFlags": "fast contract nnan ninf nsz arcp afn reassoc none",
        "RoundingMode": "to_nearest_even upward downward toward_zero",
    },
    "vector": {"CombiningKind": "ADD MUL MAXNUMF MINIMUMF MAXSI MAXUI MINSI MINUI"},
    "fly_rocdl": {"TargetAddressSpace": "BufferDesc"},
}
"""Enumerations and classes with their members."""

EXTRAS = "i32 i64 f32 i8 i16 i bool index f16 bf16 f64 vector memref"
VALUE_METHODS = (
    "select bitcast index_cast shuffle_xor exp2 maximumf addf rsqrt shrui trunci extui truncf extf minimumf extsi "
    "with_signedness type is_float signed"
)
TYPE_NAMES = (
    "i8 i8x2 i8x4 i8x8 i8x16 i16x2 i16x4 i16x8 i32x2 i32x4 i64x2 i128 f16x2 f16x4 f16x8 bf16x2 bf16x4 bf16x8 f32x2 "
    "f32x4 f64 index vec VectorType"
)


def dialect(name: str) -> Any:
    return import_module(f"flydsl._mlir.dialects.{name}")


def test_ir() -> None:
    assert [name for name in f"{IR_NAMES} {TYPES}".split() if not hasattr(ir, name)] == []
    missing = [
        f"{n}.{m}" for n, members in IR_MEMBERS.items() for m in members.split() if not hasattr(getattr(ir, n), m)
    ]
    assert missing == []
    assert ir.Context.current is None


@pytest.mark.parametrize("name", SIGNATURES)
def test_arguments(name: str) -> None:
    for op, words in SIGNATURES[name].items():
        row = op_view.rows(name)[op]
        taken = [slot.name for slot in row.slots]
        stated = words.split()
        assert [slot for slot in taken if slot in stated] == stated, f"{name}.{op} takes {taken}"
        required = [slot.name for slot in row.slots if not slot.optional and slot.role != "operands"]
        assert set(required) <= set(stated), f"{name}.{op} needs {required}"
        built = getattr(dialect(name), op)
        assert callable(built) and isinstance(built, type) is op.endswith("Op")


def test_functions_and_members() -> None:
    absent = [f"{n}.{f}" for n, words in FUNCTIONS.items() for f in words.split() if not hasattr(dialect(n), f)]
    for name, kinds in MEMBERS.items():
        for kind, words in kinds.items():
            absent += [f"{name}.{kind}.{w}" for w in words.split() if not hasattr(getattr(dialect(name), kind), w)]
    assert absent == []


def test_extras_and_methods() -> None:
    extras = import_module("flydsl._mlir.extras.types")
    values = import_module("flydsl._mlir.values")
    language = import_module("flydsl.expr.typing")
    assert [name for name in EXTRAS.split() if not hasattr(extras, name)] == []
    assert [name for name in VALUE_METHODS.split() if not hasattr(values.ArithValue, name)] == []
    assert [name for name in TYPE_NAMES.split() if not hasattr(language.T, name)] == []
    assert isinstance(extras.memref(4, extras.f32()), ir.MemRefType)


def test_rows_are_read_as_they_are_written() -> None:
    """Every row has a class name of its own, a function, and kinds that exist."""
    kinds = import_module("flydsl._mlir.attribute_kinds").KINDS
    for name in op_view.TABLES:
        rows = {row.class_name: row for row in op_view.rows(name).values()}
        assert len({row.function for row in rows.values()}) == len(rows)
        for row in rows.values():
            unknown = [slot.kind for slot in row.slots if slot.role == "attribute" and slot.kind not in kinds]
            assert name == "rocdl" or not unknown, (row.op, unknown)
            assert row.results or not any(slot.role == "type" for slot in row.slots)


def test_every_operation_of_the_list_is_called_by_a_test() -> None:
    text = "\n".join(path.read_text() for path in HERE.glob("test_raw_*.py") if path.name != "test_raw_names.py")
    listed = {op for ops in SIGNATURES.values() for op in ops} | {
        word for name in ("llvm", "arith", "vector", "memref", "scf", "func") for word in FUNCTIONS[name].split()
    }
    unused = [op for op in sorted(listed) if not re.search(rf"\b{op}\b", text)]
    assert unused == []
