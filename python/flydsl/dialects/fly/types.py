"""The fly types: each wraps one payload, prints it as MLIR text and parses it back.

`type_of` and `payload_of` are the bridge between payloads and IR types, one pair for all kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, Generic, TypeVar

from xdsl.dialects import builtin
from xdsl.dialects.builtin import IndexType, IntegerType, VectorType
from xdsl.ir import Attribute, Data, TypeAttribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from flydsl.base.errors import FlyDSLError, VerifyError
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly import payload_text as text
from flydsl.dialects.xdsl_loading import PlainChecks
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import Unknown
from flydsl.layout.swizzle import ComposedLayout, CoordSwizzle, Swizzle
from flydsl.layout.tensor import Tensor
from flydsl.layout.tile import Tile
from flydsl.target.dtype import FLOAT_WIDTHS, register_type

P = TypeVar("P")


class FlyType(Data[P], TypeAttribute, Generic[P], metaclass=PlainChecks):
    """A type that is nothing but its payload."""

    def __post_init__(self) -> None:
        """A payload was checked when it was made, so there is nothing left to look at."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        at = parser.pos
        body = take_angle_body(parser)
        try:
            return cls.parse_payload(body)
        except FlyDSLError as error:
            parser.raise_error(f"bad {cls.name} '{body}': {error.message}", at)

    parse_payload: ClassVar[Callable[[str], Any]]
    """Reads the payload from its text."""

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.text()}>")

    def text(self) -> str:
        return str(self.data)


def take_angle_body(parser: AttrParser) -> str:
    """Return the raw text between ``<`` and its matching ``>``; layout text is not made of MLIR tokens."""
    start = parser._current_token.span.start
    content = parser.lexer.input.content
    if content[start] != "<":
        parser.raise_error("expected '<'")
    depth, at = 0, start
    while at < len(content):
        char = content[at]
        if char == "<":
            depth += 1
        elif char == ">" and content[at - 1] != "-":
            depth -= 1
            if depth == 0:
                parser._resume_from(at + 1)
                return content[start + 1 : at]
        at += 1
    parser.raise_error("'<' is never closed")


class IntTupleType(FlyType[Any]):
    name = "fly.int_tuple"
    parse_payload = staticmethod(text.parse_int_tuple)

    def text(self) -> str:
        return text.int_tuple_text(self.data)


class LayoutType(FlyType[Layout]):
    name = "fly.layout"
    parse_payload = staticmethod(text.parse_layout)


class ComposedLayoutType(FlyType[ComposedLayout]):
    name = "fly.composed_layout"
    parse_payload = staticmethod(text.parse_composed)


class SwizzleType(FlyType[Swizzle]):
    name = "fly.swizzle"
    parse_payload = staticmethod(text.parse_swizzle)


class CoordSwizzleType(FlyType[CoordSwizzle]):
    name = "fly.coord_swizzle"
    parse_payload = staticmethod(text.parse_coord_swizzle)


class TileType(FlyType[Tile]):
    name = "fly.tile"
    parse_payload = staticmethod(text.parse_tile)


class PtrType(FlyType[pl.Pointer]):
    name = "fly.ptr"
    parse_payload = staticmethod(text.parse_pointer)


class MemRefType(FlyType[Tensor]):
    name = "fly.memref"
    parse_payload = staticmethod(text.parse_memref)

    def text(self) -> str:
        pointer = self.data.iter
        return f"{pointer.elem}, {pointer.space}, {self.data.layout}{pointer.suffix()}"


class CoordTensorType(FlyType[Tensor]):
    name = "fly.coord_tensor"
    parse_payload = staticmethod(text.parse_coord_tensor)

    def text(self) -> str:
        return f"{text.int_tuple_text(self.data.iter)}, {self.data.layout}"


class CopyAtomType(FlyType[pl.CopyAtom]):
    name = "fly.copy_atom"
    parse_payload = staticmethod(text.parse_copy_atom)


class MmaAtomType(FlyType[pl.MmaAtom]):
    name = "fly.mma_atom"
    parse_payload = staticmethod(text.parse_mma_atom)


class TiledCopyType(FlyType[pl.TiledCopy]):
    name = "fly.tiled_copy"
    parse_payload = staticmethod(text.parse_tiled_copy)


class TiledMmaType(FlyType[pl.TiledMma]):
    name = "fly.tiled_mma"
    parse_payload = staticmethod(text.parse_tiled_mma)


class InstructionType(FlyType[Any]):
    """A copy or matrix instruction on its own: ``!fly.universal_copy<128>``."""

    @classmethod
    def parse_payload(cls, body: str) -> Any:
        return text.parse_instruction(f"!{cls.name}<{body}>")

    def text(self) -> str:
        return str(self.data).split("<", 1)[1][:-1]


def instruction_type(name: str) -> type[InstructionType]:
    """Return the type class of an instruction named ``fly.universal_copy`` and the like."""
    return type(name.replace(".", "_"), (InstructionType,), {"name": name})


INSTRUCTION_TYPES: dict[str, type[InstructionType]] = {
    name: instruction_type(name) for name in text.INSTRUCTION_PARSERS
}

FLY_TYPES: tuple[type[FlyType[Any]], ...] = (
    IntTupleType, LayoutType, ComposedLayoutType, SwizzleType, CoordSwizzleType, TileType, PtrType, MemRefType,
    CoordTensorType, CopyAtomType, MmaAtomType, TiledCopyType, TiledMmaType,
)  # fmt: skip

_TYPE_OF_PAYLOAD: dict[type, type[FlyType[Any]]] = {
    Layout: LayoutType,
    ComposedLayout: ComposedLayoutType,
    Swizzle: SwizzleType,
    CoordSwizzle: CoordSwizzleType,
    Tile: TileType,
    pl.Pointer: PtrType,
    pl.CopyAtom: CopyAtomType,
    pl.MmaAtom: MmaAtomType,
    pl.TiledCopy: TiledCopyType,
    pl.TiledMma: TiledMmaType,
}


def type_of(payload: Any) -> Any:
    """Return the IR type that says ``payload``."""
    if isinstance(payload, pl.ScalarValue):
        return element_type(payload.elem)
    if isinstance(payload, pl.VectorValue):
        return vector_type(payload.count, payload.elem)
    if isinstance(payload, Tensor):
        return MemRefType(payload) if isinstance(payload.iter, pl.Pointer) else CoordTensorType(payload)
    kind = _TYPE_OF_PAYLOAD.get(type(payload))
    if kind is not None:
        return kind(payload)
    name = str(payload).split("<", 1)[0].removeprefix("!")
    if name in INSTRUCTION_TYPES:
        return INSTRUCTION_TYPES[name](payload)
    return IntTupleType(payload)


_FLOATS: dict[str, Attribute] = {name: getattr(builtin, name) for name in FLOAT_WIDTHS if hasattr(builtin, name)}


@cache
def element_type(name: str) -> Attribute:
    """Return the builtin type an element of that name has in a register."""
    name = register_type(name)
    if name in _FLOATS:
        return _FLOATS[name]
    if name == "index":
        return IndexType()
    if name[0] == "i" and name[1:].isdigit():
        return IntegerType(int(name[1:]))
    raise VerifyError(f"unknown element type '{name}'")


@cache
def vector_type(count: int, elem: str) -> Attribute:
    return VectorType(element_type(elem), [count])


def payload_of(type_: Attribute) -> Any:
    """Return the payload an IR type says; a builtin integer is a run-time leaf of its width."""
    if isinstance(type_, FlyType):
        return type_.data
    if isinstance(type_, IntegerType):
        return Unknown(64 if type_.width.data > 32 else 32)
    if isinstance(type_, IndexType):
        return Unknown(64)
    return type_
