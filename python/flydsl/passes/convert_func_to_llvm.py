"""convert-func-to-llvm: functions, calls and returns become the llvm dialect's.

Several results are returned as one struct, as LLVM does it.

    func.func @f(%i: index) -> i32    ->    llvm.func @f(%i: i64) -> i32
"""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, FunctionType, SymbolRefAttr, i32, i64
from xdsl.dialects.llvm import (
    CallingConventionAttr,
    FastMathAttr,
    LLVMFunctionType,
    LLVMStructType,
    LLVMVoidType,
    TailCallKind,
    TailCallKindAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue

from flydsl.dialects.llvm_functions import llvm_function
from flydsl.dialects.upstream import op_class, walked
from flydsl.passes.shared.llvm_conversion import (
    cast_before,
    convert_block_arguments,
    llvm_type,
    remove,
    replace_result,
    require_llvm_types,
)
from flydsl.passes.shared.walk import functions


def convert_func_to_llvm(module: Operation) -> None:
    """Run the pass on a module."""
    for function in list(functions(module, declared=True)):
        for op in [op for op in walked(function) if op.name in ("func.return", "func.call")]:
            (_convert_return if op.name == "func.return" else _convert_call)(op)
        if function.name == "func.func":
            _convert_function(function)


def _result_type(types: list[Attribute]) -> Attribute:
    converted = [llvm_type(type_) for type_ in types]
    if not converted:
        return LLVMVoidType()
    return converted[0] if len(converted) == 1 else LLVMStructType.from_type_list(converted)


def _convert_function(op: Operation) -> None:
    type_ = op.properties["function_type"]
    assert isinstance(type_, FunctionType) and op.parent is not None
    body = op.detach_region(op.regions[0])
    convert_block_arguments(body)
    require_llvm_types(op, (*type_.inputs.data, *type_.outputs.data))
    inputs = [llvm_type(part) for part in type_.inputs.data]
    private = getattr(op.properties.get("sym_visibility"), "data", "") == "private"
    function = llvm_function(
        op.properties["sym_name"].data,  # type: ignore[union-attr]
        LLVMFunctionType(inputs, _result_type(list(type_.outputs.data))),
        body,
        linkage="internal" if private and body.blocks else "external",
        attributes=op.attributes,
    )
    function.location = op.location
    op.parent.insert_op_before(function, op)
    remove(op)


def _insert(op: Operation, anchor: Operation) -> Operation:
    op.location = anchor.location
    assert anchor.parent is not None
    anchor.parent.insert_op_before(op, anchor)
    return op


def _convert_return(op: Operation) -> None:
    values = [cast_before(value, llvm_type(value.type), op) for value in op.operands]
    if len(values) > 1:
        values = [_packed(values, op)]
    _insert(op_class("llvm.return").create(operands=values), op)
    remove(op)


def _packed(values: list[SSAValue], anchor: Operation) -> SSAValue:
    struct = LLVMStructType.from_type_list([value.type for value in values])
    packed = _insert(op_class("llvm.mlir.poison").create(result_types=[struct]), anchor).results[0]
    for index, value in enumerate(values):
        position = {"position": DenseArrayBase.from_list(i64, [index])}
        made = op_class("llvm.insertvalue").create(operands=[packed, value], result_types=[struct], properties=position)
        packed = _insert(made, anchor).results[0]
    return packed


def _convert_call(op: Operation) -> None:
    result = _result_type([value.type for value in op.results])
    callee = op.properties["callee"]
    assert isinstance(callee, SymbolRefAttr)
    call = op_class("llvm.call").create(
        operands=[cast_before(value, llvm_type(value.type), op) for value in op.operands],
        result_types=[] if isinstance(result, LLVMVoidType) else [result],
        properties={
            "callee": callee,
            "fastmathFlags": FastMathAttr("none"),
            "CConv": CallingConventionAttr("ccc"),
            "TailCallKind": TailCallKindAttr(TailCallKind.NONE),
            "op_bundle_sizes": DenseArrayBase.from_list(i32, []),
            "operandSegmentSizes": DenseArrayBase.from_list(i32, [len(op.operands), 0]),
        },
    )
    _insert(call, op)
    if len(op.results) == 1:
        replace_result(op.results[0], call.results[0], op)
    for index, old in enumerate(op.results if len(op.results) > 1 else ()):
        position = {"position": DenseArrayBase.from_list(i64, [index])}
        member = op_class("llvm.extractvalue").create(
            operands=[call.results[0]], result_types=[llvm_type(old.type)], properties=position
        )
        replace_result(old, _insert(member, op).results[0], op)
    remove(op)
