"""Types of the raw layer: classes that recognise, make and narrow the type texts of `flydsl.expr`.

A type is one object everywhere, the `IrType` that `fx.T` gives and that a raw value has. The classes here are no more
than questions about it: ``isinstance(t, IntegerType)``, ``IntegerType.get_signless(32)``, and ``VectorType(t)``, which
is ``t`` or a ValueError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError, FlyDSLError
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.parts import ir_type
from flydsl.expr.values.ir_types import IrType, NarrowingMeta, type_facts
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import DynInt
from flydsl.layout.swizzle import ComposedLayout, CoordSwizzle, Swizzle
from flydsl.layout.tensor import Tensor
from flydsl.layout.tile import Tile
from flydsl.target.dtype import FLOAT_WIDTHS

_FLY_TYPES = (
    *(DynInt, Layout, ComposedLayout, Swizzle, CoordSwizzle, Tile, Tensor),
    *(pl.Pointer, pl.CopyAtom, pl.MmaAtom, pl.TiledCopy, pl.TiledMma),
)
"""What `fx.PointerType.get` and its like give: the payload that describes the values of a fly type."""


class Type(metaclass=NarrowingMeta):
    """Any type: of numbers, vectors, memory and LLVM, and those of the fly dialect."""

    @staticmethod
    def admits(type_: Any) -> bool:
        """Return whether this is a type of the class."""
        return isinstance(type_, (IrType, *_FLY_TYPES))

    @classmethod
    def isinstance(cls, type_: Any) -> bool:
        """Return the same question, in the form of MLIR's older bindings."""
        return isinstance(type_, cls)

    @staticmethod
    def parse(text: str, context: Any = None) -> IrType:
        """Return the type that MLIR text names, in its canonical spelling."""
        try:
            return IrType(str(ir_type(text.strip())))
        except FlyDSLError:
            raise
        except Exception as error:  # xDSL's parser has exceptions of several families
            raise DslValueError(f"'{text}' is no type: {str(error).strip().splitlines()[-1]}") from error


def type_text(type_: Any) -> IrType:
    """Return the type meant by a type, a number class or a vector alias."""
    if isinstance(type_, IrType):
        return type_
    found = getattr(type_, "ir_type", None)
    if isinstance(found, str):
        return IrType(found)
    if isinstance(type_, str):
        return Type.parse(type_)
    raise DslTypeError(f"expected a type, got {type_!r}", hint="write T.i32, ir.Type.parse('!llvm.ptr<3>') or fx.Int32")


def _scalar(name: str, is_member: Callable[[IrType], bool], doc: str) -> type[Type]:
    """Return a class of number types."""

    def admits(type_: Any) -> bool:
        return isinstance(type_, IrType) and is_member(type_)

    return NarrowingMeta(name, (Type,), {"admits": staticmethod(admits), "__doc__": doc, "__module__": __name__})


class IntegerType(_scalar("Integers", lambda t: t[0] == "i" and t[1:].isdigit(), "Integers of some width.")):
    """The type of an integer, which has no sign here."""

    @staticmethod
    def get_signless(width: int, context: Any = None) -> IrType:
        """Return the type of that many bits."""
        if isinstance(width, bool) or not isinstance(width, int) or width < 1:
            raise DslValueError(f"an integer type has at least one bit, got {width!r}")
        return IrType(f"i{width}")

    get = get_signless
    """With a width alone; the signs of `get_signed` and `get_unsigned` exist in number classes only."""


class IndexType(_scalar("Indices", lambda t: t == "index", "The index type.")):
    """The type of positions."""

    @staticmethod
    def get(context: Any = None) -> IrType:
        """Return the type."""
        return IrType("index")


class FloatType(_scalar("Floats", lambda t: t in FLOAT_WIDTHS, "All floats.")):
    """Any float type."""


def _float_class(name: str, text: str) -> type[Type]:
    """Return the class of one float type."""

    def admits(type_: Any) -> bool:
        return isinstance(type_, IrType) and type_ == text

    def get(context: Any = None) -> IrType:
        return IrType(text)

    members = {"admits": staticmethod(admits), "get": staticmethod(get), "__doc__": f"The type {text}."}
    return NarrowingMeta(name, (FloatType,), {**members, "__module__": __name__})


FLOAT_CLASSES = {
    **{name: _float_class(name, name.removesuffix("Type").lower()) for name in ("F16Type", "F32Type", "F64Type")},
    "BF16Type": _float_class("BF16Type", "bf16"),
    **{
        f"Float{text[1:]}Type": _float_class(f"Float{text[1:]}Type", text)
        for text, width in FLOAT_WIDTHS.items()
        if width < 16
    },
}
"""`F32Type`, `BF16Type`, `Float8E4M3FNType` and the other classes of one float type each."""


class VectorType(Type):
    """The type of a vector: ``shape``, ``element_type``."""

    @staticmethod
    def admits(type_: Any) -> bool:
        return isinstance(type_, IrType) and type_.startswith("vector<")

    @staticmethod
    def get(shape: Sequence[int], element_type: Any, *, loc: Any = None) -> IrType:
        """Return the vector type of a shape."""
        extents = [shape] if isinstance(shape, int) else list(shape)
        if any(not isinstance(extent, int) or extent < 1 for extent in extents):
            raise DslValueError(f"a vector has extents of at least 1, got {shape}")
        return IrType(f"vector<{''.join(f'{extent}x' for extent in extents)}{type_text(element_type)}>")


class MemRefType(Type):
    """The type of memory with a shape, as the builtin dialect has it; a tensor of the language is no such type."""

    @staticmethod
    def admits(type_: Any) -> bool:
        return isinstance(type_, IrType) and type_.startswith("memref<")

    @staticmethod
    def get(shape: Sequence[int], element_type: Any, layout: Any = None, memory_space: Any = None,
            *, loc: Any = None) -> IrType:  # fmt: skip
        """Return the memref type of a shape; a negative extent is one that is not known."""
        extents = "".join(f"{'?' if extent < 0 else extent}x" for extent in shape)
        return Type.parse(
            f"memref<{extents}{type_text(element_type)}{'' if memory_space is None else f', {memory_space}'}>"
        )


class FunctionType(Type):
    """The type of a function: ``inputs`` and ``results``."""

    @staticmethod
    def admits(type_: Any) -> bool:
        return isinstance(type_, _Signature)

    @staticmethod
    def get(inputs: Sequence[Any], results: Sequence[Any] = (), context: Any = None) -> IrType:
        """Return the type of a function from types to types."""
        return _Signature.of([type_text(t) for t in inputs], [type_text(t) for t in results])


class _Signature(IrType):
    """A function type's text with its parts."""

    __slots__ = ()
    _parts: dict[str, tuple[list[IrType], list[IrType]]] = {}

    @classmethod
    def of(cls, inputs: list[IrType], results: list[IrType]) -> _Signature:
        after = results[0] if len(results) == 1 else f"({', '.join(results)})"
        made = cls(f"({', '.join(inputs)}) -> {after}")
        cls._parts[made] = (inputs, results)
        return made

    @property
    def inputs(self) -> list[IrType]:
        """The types of the arguments."""
        return self._parts[self][0]

    @property
    def results(self) -> list[IrType]:
        """The types of the results."""
        return self._parts[self][1]


class PointerType(Type):
    """LLVM's pointer: ``address_space``."""

    @staticmethod
    def admits(type_: Any) -> bool:
        return isinstance(type_, IrType) and type_.startswith("!llvm.ptr")

    @staticmethod
    def get(context: Any = None, address_space: int = 0) -> IrType:
        """Return the pointer type of an address space."""
        space = context if isinstance(context, int) else address_space
        return IrType(f"!llvm.ptr<{space}>" if space else "!llvm.ptr")


class StructType(Type):
    """LLVM's struct."""

    @staticmethod
    def admits(type_: Any) -> bool:
        return isinstance(type_, IrType) and type_.startswith("!llvm.struct")

    @staticmethod
    def get_literal(fields: Sequence[Any], *, packed: bool = False, context: Any = None) -> IrType:
        """Return the struct of some field types."""
        body = f"({', '.join(type_text(field).removeprefix('!llvm.') for field in fields)})"
        return IrType(f"!llvm.struct<{'packed ' if packed else ''}{body}>")


def element_of(type_: str) -> IrType:
    """Return the element type of a vector type; any other type itself."""
    return type_facts(type_).get("element_type", IrType(type_))


def with_element(type_: str, element: str) -> IrType:
    """Return a type with another element: of the same shape, if it is a vector."""
    facts = type_facts(type_)
    return VectorType.get(facts["shape"], IrType(element)) if "element_type" in facts else IrType(element)
