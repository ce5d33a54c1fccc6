"""What the conversions to the llvm dialect share: the types, and the casts that join converted to unconverted code."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, UnrealizedConversionCastOp, VectorType, i64
from xdsl.dialects.llvm import LLVMArrayType, LLVMStructType, is_compatible_type
from xdsl.ir import Attribute, Operation, Region, SSAValue

from flydsl.base.errors import LoweringError
from flydsl.passes.shared.walk import location_of

_NARROWEST_LLVM_FLOAT = 16


def llvm_type(type_: Attribute) -> Attribute:
    """Return the type LLVM has for it: index is i64, a float below 16 bits an integer, a vector of any rank a flat
    one."""
    if isinstance(type_, IndexType):
        return i64
    if isinstance(type_, AnyFloat) and type_.bitwidth < _NARROWEST_LLVM_FLOAT:
        return IntegerType(type_.bitwidth)
    if isinstance(type_, VectorType):
        return VectorType(llvm_type(type_.element_type), [prod(type_.get_shape())])
    if isinstance(type_, LLVMStructType):
        return LLVMStructType.from_type_list([llvm_type(part) for part in type_.types.data])
    if isinstance(type_, LLVMArrayType):
        return LLVMArrayType(type_.size, llvm_type(type_.type))
    return type_


def require_llvm_types(function: Operation, types: Sequence[Attribute]) -> None:
    """Refuse a function that takes or returns what LLVM has no type for."""
    for type_ in types:
        if not is_compatible_type(llvm_type(type_)):
            raise LoweringError(
                f"LLVM has no type for {type_}, which the function takes or returns",
                hint="run the passes that lower the fly dialect first: fly-layout-lowering, convert-fly-to-rocdl",
                location=location_of(function),
            )


def uncast(value: SSAValue) -> SSAValue:
    """Return the converted value behind a cast to its old type, or the value itself."""
    owner = value.owner
    while isinstance(owner, UnrealizedConversionCastOp) and len(owner.operands) == 1:
        value = owner.operands[0]
        owner = value.owner
    return value


def cast_before(value: SSAValue, type_: Attribute, anchor: Operation) -> SSAValue:
    """Return the value as another type, by a cast in front of an operation where one is needed."""
    if value.type == type_:
        return value
    source = uncast(value)
    if source.type == type_:
        return source
    cast = UnrealizedConversionCastOp.create(operands=[value], result_types=[type_])
    cast.location = anchor.location
    assert anchor.parent is not None
    anchor.parent.insert_op_before(cast, anchor)
    return cast.results[0]


def replace_result(old: SSAValue, new: SSAValue, anchor: Operation) -> None:
    """Use a converted value for an old one, cast back to the old type for those not converted yet."""
    if old.name_hint and not new.name_hint:
        new.name_hint = old.name_hint
    old.replace_all_uses_with(cast_before(new, old.type, anchor))


def convert_block_arguments(region: Region, skip_entry: bool = False) -> None:
    """Give every block argument its LLVM type; those of the first block belong to the function."""
    for block in list(region.blocks)[1 if skip_entry else 0 :]:
        for argument in list(block.args):
            wanted = llvm_type(argument.type)
            first = block.first_op
            if wanted == argument.type or first is None:
                continue
            new = block.insert_arg(wanted, argument.index)
            new.name_hint = argument.name_hint
            argument.replace_all_uses_with(cast_before(new, argument.type, first))
            block.erase_arg(argument)


def remove(op: Operation) -> None:
    """Take a replaced operation out."""
    op.detach()
    op.erase(safe_erase=False)
