"""From text to parts of operations: types, attributes, constants, and the user's line. Each is made once and kept."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

from xdsl.context import Context
from xdsl.dialects.arith import (
    CMPF_COMPARISON_OPERATIONS,
    CMPI_COMPARISON_OPERATIONS,
    ConstantOp,
    FastMathFlagsAttr,
    IntegerOverflowAttr,
)
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    FloatAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.dialects.gpu import DimensionAttr, DimensionEnum
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser

from flydsl.base.own_code import is_own_file
from flydsl.dialects.arith_syntax import ROUNDING_MODES
from flydsl.dialects.fly.types import element_type
from flydsl.dialects.gpu_targets import ShuffleMode, ShuffleModeAttr
from flydsl.dialects.registry import load_all
from flydsl.dialects.upstream import created, integers

_NO_FASTMATH = FastMathFlagsAttr("none")
_NO_OVERFLOW = IntegerOverflowAttr("none")
_WRAPPING = ("arith.addi", "arith.subi", "arith.muli", "arith.shli")
_INTEGER_MATH = ("math.absi", "math.ctlz", "math.ctpop", "math.cttz", "math.ipowi")

_types: dict[str, Attribute] = {}
_code_places: dict[int, CodePlaces] = {}


def ir_type(text: str) -> Attribute:
    """Return the type an MLIR type text names; parsed once."""
    found = _types.get(text)
    if found is None:
        found = _types[text] = _parse_type(text)
    return found


@lru_cache(maxsize=4096)
def type_text(type_: Attribute) -> str:
    """Return a type as MLIR text; printed once."""
    return str(type_)


def _parse_type(text: str) -> Attribute:
    if text[0] in "if" or text.startswith("bf"):
        return element_type(text)
    if text.startswith("vector<") and "!" not in text:
        extents, elem = [], text[7:-1]
        while elem[0].isdigit():
            extent, elem = elem.split("x", 1)
            extents.append(int(extent))
        return VectorType(element_type(elem), extents)
    if text == "!llvm.ptr":
        return LLVMPointerType()
    context = Context()
    load_all(context)
    return Parser(context, text).parse_type()


def user_frame() -> FrameType | None:
    """Return the innermost frame outside this package: the user's line."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_own_file(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


class CodePlaces:
    """The lines and columns of a function's instructions: read once, as the interpreter finds them by counting."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        """Kept alive, so that its identity stays its own."""
        self._file = StringAttr(code.co_filename)
        self._places = list(code.co_positions())
        self._made: dict[int, FileLineColLoc] = {}

    def at(self, offset: int) -> FileLineColLoc:
        """Return the place of the instruction at an offset in bytes."""
        found = self._made.get(offset)
        if found is None:
            line, _, column, _ = self._places[offset // 2] if offset >= 0 else (self.code.co_firstlineno, 0, -1, 0)
            found = self._made[offset] = FileLineColLoc(self._file, IntAttr(line or 0), IntAttr((column or 0) + 1))
        return found


def current_location() -> FileLineColLoc | None:
    frame = user_frame()
    if frame is None:
        return None
    # By identity: code objects of equal functions in different files compare equal.
    code = frame.f_code
    places = _code_places.get(id(code))
    if places is None:
        places = _code_places[id(code)] = CodePlaces(code)
    return places.at(frame.f_lasti)


_CMPI = {name: IntegerAttr(i, i64) for i, name in enumerate(CMPI_COMPARISON_OPERATIONS)}
_CMPF = {name: IntegerAttr(i, i64) for i, name in enumerate(CMPF_COMPARISON_OPERATIONS)}


def attribute(name: str, key: str, value: Any) -> Attribute:
    """Return the IR attribute for one keyword of an upstream operation."""
    if key == "predicate" and isinstance(value, str):
        return (_CMPI if name == "arith.cmpi" else _CMPF)[value]
    if key == "fastmath":
        return _fastmath(value)
    if key == "roundingmode":
        return IntegerAttr(ROUNDING_MODES.index(value), i32)
    if key in ("static_position", "mask", "position"):
        return integers(64, *value)
    if isinstance(value, bool):
        return IntegerAttr(int(value), i1)
    if isinstance(value, int):
        return IntegerAttr(value, i64 if key in _WIDE_ATTRIBUTES else i32)
    if isinstance(value, Attribute):
        return value
    if key in _ENUM_ATTRIBUTES:
        return _ENUM_ATTRIBUTES[key](value)
    return _parsed_attribute(name, key, value)


_WIDE_ATTRIBUTES = ("alignment", "ordering", "bin_op", "success_ordering", "failure_ordering")
_ENUM_ATTRIBUTES: dict[str, Callable[[str], Attribute]] = {
    "dimension": lambda value: DimensionAttr(DimensionEnum(value)),
    "mode": lambda value: ShuffleModeAttr(ShuffleMode(value)),
}


def _fastmath(value: str) -> FastMathFlagsAttr:
    """``none``, ``fast`` or a comma-separated list of flags."""
    if value in ("none", "fast"):
        return FastMathFlagsAttr(value)
    return FastMathFlagsAttr([FastMathFlag(flag.strip()) for flag in value.split(",")])


_parsed: dict[tuple[str, str], Attribute] = {}


def _parsed_attribute(name: str, key: str, value: str) -> Attribute:
    """Attributes with a dialect syntax of their own, given as text: ``#vector.kind<add>``."""
    text = {"kind": f"#vector.kind<{value}>"}.get(key, value)
    found = _parsed.get((key, text))
    if found is None:
        if text.startswith("#"):
            context = Context()
            load_all(context)
            found = Parser(context, text).parse_attribute()
        else:
            found = StringAttr(text)
        _parsed[key, text] = found
    return found


def default_properties(name: str) -> dict[str, Attribute]:
    if name in _WRAPPING:
        return {"overflowFlags": _NO_OVERFLOW}
    if name in _INTEGER_MATH:
        return {}
    dialect, _, short = name.partition(".")
    takes_flags = dialect == "math" or (dialect == "arith" and short.endswith("f") and short not in ("extf", "truncf"))
    return {"fastmath": _NO_FASTMATH} if takes_flags or name == "vector.reduction" else {}


DEFAULTS: dict[str, dict[str, Attribute]] = {}


def make_constant(type_: Attribute, value: int | float) -> Operation:
    """Return an ``arith.constant`` of a scalar type, or a splat of a vector type."""
    if isinstance(type_, VectorType):
        attr: Attribute = DenseIntOrFPElementsAttr.from_list(type_, [value])
    elif isinstance(type_, IntegerType | IndexType):
        attr = IntegerAttr(int(value), type_)
    else:
        attr = FloatAttr(value, type_)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return created(ConstantOp, (), [type_], {"value": attr})
