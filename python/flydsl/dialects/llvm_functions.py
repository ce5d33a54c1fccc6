"""Building `llvm.func` operations with everything upstream requires of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, i64
from xdsl.dialects.llvm import CallingConventionAttr, LinkageAttr, LLVMFunctionType
from xdsl.ir import Attribute, Data, Operation, Region
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from flydsl.dialects.upstream import op_class


def llvm_function(
    name: str,
    type_: LLVMFunctionType,
    body: Region,
    linkage: str = "external",
    passthrough: Sequence[Attribute] = (),
    attributes: Mapping[str, Attribute] | None = None,
) -> Operation:
    """Return a function of the llvm dialect; ``passthrough`` are function attributes that LLVM knows and MLIR does
    not."""
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


# Debug scopes of functions: an attribute of upstream that xDSL lacks, kept as the text upstream writes
#
# Nothing here looks inside one; `codegen/debug_info.py` builds LLVM's metadata from locations.


@irdl_attr_definition
class SubprogramAttr(Data[str]):
    """``#llvm.di_subprogram<id = distinct[0]<>, name = "k", …>``; the data is what stands between the brackets."""

    name = "llvm.di_subprogram"

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        text = parser.lexer.input.content
        parser.parse_punctuation("<")
        start = end = parser.pos
        depth = 1
        while depth:
            end = parser.pos
            token = parser._consume_token()
            depth += (token.text == "<") - (token.text == ">")
            if not token.text:
                parser.raise_error("a debug scope ends with '>'")
        return text[start:end].strip()
