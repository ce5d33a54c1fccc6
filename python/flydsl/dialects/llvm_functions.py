"""Building `llvm.func` operations with everything upstream requires of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, i64
from xdsl.dialects.llvm import CallingConventionAttr, LinkageAttr, LLVMFunctionType
from xdsl.ir import Attribute, Operation, Region

from flydsl.dialects.upstream import op_class


def llvm_function(
    name: str,
    type_: LLVMFunctionType,
    body: Region,
    linkage: str = "external",
    passthrough: Sequence[Attribute] = (),
    attributes: Mapping[str, Attribute] | None = None,
) -> Operation:
    """A function of the llvm dialect; ``passthrough`` are function attributes that LLVM knows and MLIR does not."""
    properties: dict[str, Attribute] = {
        "sym_name": StringAttr(name),
        "function_type": type_,
        "CConv": CallingConventionAttr("ccc"),
        "linkage": LinkageAttr(linkage),
        "visibility_": IntegerAttr(0, i64),
    }
    if passthrough:
        properties["passthrough"] = ArrayAttr(passthrough)
    return op_class("llvm.func").create(properties=properties, attributes=dict(attributes or {}), regions=[body])
