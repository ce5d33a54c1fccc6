"""Debug scopes of functions: an attribute of upstream that xDSL lacks, kept as the text upstream writes.

Nothing here looks inside one; `codegen/debug_info.py` builds LLVM's metadata from locations.
"""

from __future__ import annotations

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


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
