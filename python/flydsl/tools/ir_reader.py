"""Reading IR text with every operation knowing its line, and verifying it operation by operation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from typing import Any

from xdsl.dialects.builtin import (
    AnyFloat,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    ModuleOp,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl.dominance import DominanceInfo
from xdsl.parser import AttrParser, Parser
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken

from flydsl.base.errors import FlyDSLError
from flydsl.dialects.fly.ops import FlyOp
from flydsl.dialects.registry import IrContext
from flydsl.dialects.upstream_syntax import reading_context
from flydsl.tools.ir_diagnostics import IrDiagnostic, IrError

_INTEGER_TYPE = re.compile(r"[su]?i(\d+)")
_WIDEST_INTEGER = (1 << 24) - 1  # MLIR's IntegerType::kMaxWidth

_MOST_ELEMENTS = 1 << 18


class _BitsElement(AttrParser._TensorLiteralElement):
    """An element of a dense constant in hexadecimal: the bits of a float, which xDSL takes for a number."""

    def to_type(self, parser: AttrParser, type: Any) -> Any:
        if not isinstance(type, AnyFloat) or not isinstance(self.value, int):
            return super().to_type(parser, type)
        return type.unpack(self.value.to_bytes(type.compile_time_size, "little"), 1)[0]


class _Lexer(MLIRLexer):
    """xDSL's words, each read in time linear in its length, and no integer wider than MLIR has."""

    # xDSL's pattern of a string splits one that is not closed in every possible way.
    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    def _lex_bare_identifier(self, start_pos: int) -> MLIRToken:
        token = super()._lex_bare_identifier(start_pos)
        width = _INTEGER_TYPE.fullmatch(token.text)
        if width is not None and (len(width[1]) > 8 or int(width[1]) > _WIDEST_INTEGER):
            raise ParseError(token.span, f"an integer type has at most {_WIDEST_INTEGER} bits")
        return token

    def _lex_prefixed_ident(self, start_pos: int) -> MLIRToken:
        try:
            return super()._lex_prefixed_ident(start_pos)
        except ParseError as error:
            sign = self.input.content[start_pos]
            raise ParseError(error.span, f"expected a name or a number after '{sign}'") from error


class LocatingParser(Parser):
    """Gives every operation that states no location of its own the place it was read from."""

    def __init__(self, context: IrContext, text: str, file: str) -> None:
        super().__init__(context, "", file)
        self._parser_state = ParserState(_Lexer(Input(text, file)))

    def parse_operation(self) -> Operation:
        start = self._start = self._current_token.span.start
        op = super().parse_operation()
        if isinstance(op, FlyOp) and op.properties:  # generic text may give attributes as properties
            op.attributes |= op.properties
            op.properties.clear()
        if isinstance(op.location, UnknownLoc):
            line, column = _place(self.lexer.input.content, start)
            op.location = FileLineColLoc(StringAttr(self.lexer.input.name), IntAttr(line), IntAttr(column))
        return op

    def _parse_location(self) -> Any:
        """Return a location; xDSL reads no ``fused<metadata>[…]``."""
        if self.parse_optional_keyword("fused") is None:
            return super()._parse_location()
        metadata: Attribute = NoneAttr()
        if self.parse_optional_punctuation("<") is not None:
            metadata = self.parse_attribute()
            self.parse_punctuation(">")
        places = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
        return FusedLoc(tuple(places), metadata)

    def _parse_dense_literal_type(self) -> Any:
        """Return the type of a dense constant, whose elements xDSL writes out one by one, equal ones too."""
        at = self.pos
        type_ = super()._parse_dense_literal_type()
        if prod(type_.get_shape()) > _MOST_ELEMENTS:
            self.raise_error(f"a dense constant has at most {_MOST_ELEMENTS} elements here", at, self.pos)
        return type_

    def _parse_tensor_literal_element(self) -> AttrParser._TensorLiteralElement:
        element = super()._parse_tensor_literal_element()
        if not element.span.text.lower().startswith("0x"):
            return element
        return _BitsElement(element.is_negative, element.value, element.span)

    def _get_op_by_name(self, name: str) -> type[Operation]:
        if self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack) is None:
            self.raise_error(f"Operation {name} is not registered", self._start)
        return super()._get_op_by_name(name)


def _place(text: str, at: int) -> tuple[int, int]:
    """Line and column, both from 1, of a position in a text."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def read_module(text: str, file: str, allow_unregistered: bool = False) -> ModuleOp:
    """Parse a module, or the operations of an implicit one."""
    context = reading_context(allow_unregistered)
    parser: LocatingParser | None = None
    try:
        parser = LocatingParser(context, text, file)
        return parser.parse_module()
    except ParseError as error:
        line, column = _place(text, _start(text, error))
        raise IrError([IrDiagnostic(file, line, column, _plain(error.msg))]) from error
    except FlyDSLError as error:
        raise IrError([_at_parser(parser, file, error.message)]) from error
    except Exception as error:  # attribute constructors of xDSL raise many kinds
        raise IrError([_at_parser(parser, file, _plain(str(error)) or type(error).__name__)]) from error


def _start(text: str, error: ParseError) -> int:
    """Return where a parse error belongs; an undefined value is reported at the end of its region, so find its use."""
    undefined = re.match(r"values used but not defined: \[(%[\w$.-]+)", error.msg)
    region = text[: error.span.start]
    uses = list(re.finditer(re.escape(undefined[1]) + r"(?![\w$.-])(?!\s*=)", region)) if undefined else []
    return uses[-1].start() if uses else error.span.start


def _at_parser(parser: Parser | None, file: str, message: str) -> IrDiagnostic:
    """Return an error that names no place belongs where the parser has got to."""
    line, column = (1, 1) if parser is None else _place(parser.lexer.input.content, parser.pos)
    return IrDiagnostic(file, line, column, message)


def _plain(message: str) -> str:
    return message.strip().split("\n\n", 1)[0]


# Verification ----------------------------------------------------------------------------------


def verify(module: Operation, file: str, after: str = "") -> None:
    """Check every operation and that values are defined before they are used."""
    found = [d for op in module.walk() if (d := _verify_one(op, file, after)) is not None]
    if not found:
        found = [_report(op, file, after, text) for region in module.regions for op, text in _misplaced(region, {})]
    if found:
        raise IrError(found)


def _verify_one(op: Operation, file: str, after: str) -> IrDiagnostic | None:
    try:
        op.verify(verify_nested_ops=False)
        for region in op.regions:
            for block in region.blocks:
                if not block.ops:
                    block.verify()
    except Exception as error:  # xDSL raises several kinds, bare Exception among them
        return _report(op, file, after, _plain(str(error)) or type(error).__name__)
    return None


def _report(op: Operation, file: str, after: str, message: str) -> IrDiagnostic:
    text = f"'{op.name}': {message.removeprefix('Operation does not verify: ')}"
    return IrDiagnostic(*place_of(op, file), f"invalid after {after}: {text}" if after else text)


def place_of(op: Operation, file: str) -> tuple[str, int, int]:
    """File, line and column of an operation, or of the nearest one around it that has them."""
    current: Operation | None = op
    while current is not None:
        location = current.location
        if isinstance(location, FileLineColLoc):
            return location.filename.data, location.line.data, location.column.data
        current = current.parent_op()
    return file, 0, 0


def _misplaced(region: Region, around: dict[SSAValue, None]) -> Iterator[tuple[Operation, str]]:
    """Operations that use a value which is not defined on every path to them."""
    blocks = list(region.blocks)
    dominance = DominanceInfo(region) if len(blocks) > 1 else None
    defined = {block: dict.fromkeys([*block.args, *(r for op in block.ops for r in op.results)]) for block in blocks}
    for block in blocks:
        visible = dict(around)
        for other in blocks:
            if dominance is not None and dominance.strictly_dominates(other, block):
                visible |= defined[other]
        yield from _misplaced_in(block, visible)


def _misplaced_in(block: Block, visible: dict[SSAValue, None]) -> Iterator[tuple[Operation, str]]:
    visible |= dict.fromkeys(block.args)
    for op in block.ops:
        for index, operand in enumerate(op.operands):
            if operand not in visible:
                yield op, f"operand {index} is used before it is defined"
        for inner in op.regions:
            yield from _misplaced(inner, visible)
        visible |= dict.fromkeys(op.results)
