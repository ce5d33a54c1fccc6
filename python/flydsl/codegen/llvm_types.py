"""xDSL types as LLVM type text.

Three choices that the rest of ``codegen`` relies on:

- A vector of any rank is one flat LLVM vector in row-major order, so an elementwise op is one
  instruction at every rank; only the ops of the vector dialect know about positions.
- bf16 is written by the alias ``%bf16``, which each module defines: ``bfloat``, or ``i16`` where LLVM's own
  support ends in library calls (``module_scope``).
- LLVM has no float narrower than 16 bits. As in upstream MLIR each is an integer of exactly its own
  width (``i8``, ``i6``, ``i4``): a vector of them has the bit layout the hardware reads, and a single
  one takes a byte in memory.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FunctionType,
    IndexType,
    IntegerType,
    NoneType,
    VectorType,
)
from xdsl.dialects.llvm import LLVMArrayType, LLVMFunctionType, LLVMPointerType, LLVMStructType, LLVMVoidType
from xdsl.ir import Attribute

from flydsl.base.errors import LoweringError
from flydsl.base.records import dataclass, replace
from flydsl.target.dtype import FLOAT_WIDTHS

INDEX_BITS = 64
BF16 = "%bf16"

_NATIVE_FLOATS: dict[str, str] = {"f16": "half", "bf16": BF16, "f32": "float", "f64": "double"}

# f8E3M4 is in xDSL and ml_dtypes but in no supported GPU, so the target's table leaves it out.
_NARROW_FLOATS: dict[str, int] = {name: bits for name, bits in FLOAT_WIDTHS.items() if bits < 16} | {"f8E3M4": 8}


@dataclass(frozen=True)
class Scalar:
    """What the rules ask about the element type of an operand.

    ``lanes`` is 0 for a plain scalar; ``name`` is the MLIR name (``f8E4M3FN``, ``i32``, ``index``);
    ``text`` the LLVM text of one element.
    """

    name: str
    text: str
    bits: int
    lanes: int
    is_float: bool
    is_narrow: bool

    @property
    def element(self) -> Scalar:
        """The same type without lanes."""
        return replace(self, lanes=0)

    def with_lanes(self, lanes: int) -> Scalar:
        return replace(self, lanes=lanes)

    def vector_of(self, element_text: str) -> str:
        """Return the LLVM type with these lanes over another element type."""
        return f"<{self.lanes} x {element_text}>" if self.lanes else element_text


F32 = Scalar("f32", "float", 32, 0, is_float=True, is_narrow=False)
F64 = Scalar("f64", "double", 64, 0, is_float=True, is_narrow=False)

_texts: dict[int, tuple[Attribute, str]] = {}
"""By `id`, with the type that has it, so that no other gets it: the hash of a struct goes through all of its types."""
_scalars: dict[Attribute, Scalar] = {}


def int_scalar(bits: int, lanes: int = 0) -> Scalar:
    """Return the facts of a plain integer type."""
    return Scalar(f"i{bits}", f"i{bits}", bits, lanes, is_float=False, is_narrow=False)


def type_text(attr: Attribute) -> str:
    """Return the LLVM text of a type."""
    found = _texts.get(id(attr))
    if found is None:
        if len(_texts) > 1 << 12:
            _texts.clear()
        found = _texts[id(attr)] = attr, _build_text(attr)
    return found[1]


def scalar_of(attr: Attribute) -> Scalar:
    """Return the element facts of a scalar or vector type; raises for a type that has none."""
    found = _scalars.get(attr)
    if found is None:
        found = _scalars[attr] = _build_scalar(attr)
    return found


def flat_lanes(vector: VectorType) -> int:
    """Elements of a vector of any rank; rank 0 holds one."""
    if vector.get_num_scalable_dims():
        raise LoweringError(f"scalable vector '{vector}' has no fixed length", hint="use a fixed-length vector")
    return prod(vector.get_shape())


def struct_text(texts: list[str]) -> str:
    return "{ " + ", ".join(texts) + " }" if texts else "{}"


def address_space(attr: Attribute) -> int:
    """Return the address space of a pointer type."""
    if not isinstance(attr, LLVMPointerType):
        raise LoweringError(f"'{attr}' is not a pointer type")
    return getattr(attr.addr_space, "data", 0)


def results_text(types: tuple[Attribute, ...]) -> str:
    """Return the return type of a function with these results: void, the one type, or a struct of them."""
    if not types:
        return "void"
    if len(types) == 1:
        return type_text(types[0])
    return struct_text([type_text(part) for part in types])


def _build_text(attr: Attribute) -> str:
    if isinstance(attr, LLVMPointerType):
        space = address_space(attr)
        return f"ptr addrspace({space})" if space else "ptr"
    if isinstance(attr, LLVMStructType):
        return struct_text([type_text(part) for part in attr.types])
    if isinstance(attr, LLVMArrayType):
        return f"[{attr.size.data} x {type_text(attr.type)}]"
    if isinstance(attr, (LLVMVoidType, NoneType)):
        return "void"
    if isinstance(attr, LLVMFunctionType):
        inputs = [type_text(part) for part in attr.inputs] + ["..."] * attr.is_variadic
        return f"{type_text(attr.output)} ({', '.join(inputs)})"
    if isinstance(attr, FunctionType):
        return f"{results_text(attr.outputs.data)} ({', '.join(type_text(part) for part in attr.inputs)})"
    if isinstance(attr, VectorType):
        return f"<{flat_lanes(attr)} x {type_text(attr.element_type)}>"
    return scalar_of(attr).text


def _build_scalar(attr: Attribute) -> Scalar:
    if isinstance(attr, VectorType):
        if isinstance(attr.element_type, LLVMPointerType):
            text = type_text(attr.element_type)
            return Scalar("ptr", text, 64, flat_lanes(attr), is_float=False, is_narrow=False)
        return scalar_of(attr.element_type).with_lanes(flat_lanes(attr))
    if isinstance(attr, IntegerType):
        return int_scalar(attr.width.data)
    if isinstance(attr, IndexType):
        return Scalar("index", f"i{INDEX_BITS}", INDEX_BITS, 0, is_float=False, is_narrow=False)
    if isinstance(attr, (Float16Type, BFloat16Type, Float32Type, Float64Type)):
        return Scalar(attr.name, _NATIVE_FLOATS[attr.name], FLOAT_WIDTHS[attr.name], 0, is_float=True, is_narrow=False)
    bits = _NARROW_FLOATS.get(attr.name)
    if bits is None:
        raise LoweringError(f"type '{attr}' has no LLVM form")
    return Scalar(attr.name, f"i{bits}", bits, 0, is_float=True, is_narrow=True)
