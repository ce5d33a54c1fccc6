"""Conversion between any two float types: an instruction where LLVM has one, a helper otherwise."""

from __future__ import annotations

from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.llvm_types import Scalar
from flydsl.codegen.narrow_floats import narrowing_function, widening_function

_NEAREST = "to_nearest_even"
_NATIVE_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}


def convert_float(
    emitter: FunctionEmitter, text: str, source: Scalar, dest: Scalar, rounding: str = _NEAREST, flags: str = ""
) -> str:
    """The value ``text`` of float type ``source`` in float type ``dest``; lanes of both agree."""
    if source.name == dest.name:
        return text
    if source.is_narrow:
        text = widen_to_f32(emitter, text, source)
        return _convert_native(emitter, text, "f32", "float", dest, rounding, flags)
    return _convert_native(emitter, text, source.name, source.text, dest, rounding, flags)


def widen_to_f32(emitter: FunctionEmitter, text: str, source: Scalar) -> str:
    """A value of a type narrower than f32, in f32; always exact."""
    wide = source.vector_of("float")
    if not source.is_narrow:
        return emitter.assign(f"fpext {source.vector_of(source.text)} {text} to {wide}")
    callee = widening_function(emitter.scope, source.name, source.lanes)
    return emitter.call(wide, callee, [f"{source.vector_of(source.text)} {text}"])


def narrow_from_f32(emitter: FunctionEmitter, text: str, dest: Scalar, rounding: str = _NEAREST) -> str:
    """An f32 value rounded to a narrower type."""
    return _convert_native(emitter, text, "f32", "float", dest, rounding, "")


def _convert_native(
    emitter: FunctionEmitter, text: str, name: str, element: str, dest: Scalar, rounding: str, flags: str
) -> str:
    """From one of LLVM's own float types; ``dest.lanes`` gives the shape."""
    if name == dest.name:
        return text
    source_type, dest_type = dest.vector_of(element), dest.vector_of(dest.text)
    if not dest.is_narrow and dest.bits > _NATIVE_BITS[element]:
        return emitter.assign(f"fpext {flags}{source_type} {text} to {dest_type}")
    if _NATIVE_BITS[element] == 16:
        # f16 and bf16 are exact in f32, and a helper reads f32.
        text = emitter.assign(f"fpext {source_type} {text} to {dest.vector_of('float')}")
        return _convert_native(emitter, text, "f32", "float", dest, rounding, flags)
    soft = dest.is_narrow or rounding != _NEAREST or (name, dest.name) in emitter.scope.soft_truncations
    if not soft:
        return emitter.assign(f"fptrunc {flags}{source_type} {text} to {dest_type}")
    callee = narrowing_function(emitter.scope, name, dest.name, dest.lanes, rounding)
    return emitter.call(dest_type, callee, [f"{source_type} {text}"])
