"""Conversion between any two float types: an instruction where LLVM has one, a helper otherwise."""

from __future__ import annotations

from flydsl.codegen.floats.narrow_floats import narrowing_function, widening_function
from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.llvm_types import BF16, Scalar, int_scalar
from flydsl.codegen.reading.literals import splat_literal

_NEAREST = "to_nearest_even"
_NATIVE_BITS = {"half": 16, BF16: 16, "float": 32, "double": 64}


def convert_float(
    emitter: FunctionEmitter, text: str, source: Scalar, dest: Scalar, rounding: str = _NEAREST, flags: str = ""
) -> str:
    """Return the value ``text`` of float type ``source`` in float type ``dest``; lanes of both agree."""
    if source.name == dest.name:
        return text
    if source.is_narrow:
        text = widen_to_f32(emitter, text, source)
        return _convert_native(emitter, text, "f32", "float", dest, rounding, flags)
    return _convert_native(emitter, text, source.name, source.text, dest, rounding, flags)


def widen_to_f32(emitter: FunctionEmitter, text: str, source: Scalar) -> str:
    """Return a value of a type narrower than f32, in f32; always exact."""
    wide = source.vector_of("float")
    if source.name in emitter.scope.soft_floats:
        return _widen_soft_bf16(emitter, text, source)
    if not source.is_narrow:
        return emitter.assign(f"fpext {source.vector_of(source.text)} {text} to {wide}")
    callee = widening_function(emitter.scope, source.name, source.lanes)
    return emitter.call(wide, callee, [f"{source.vector_of(source.text)} {text}"])


def _widen_soft_bf16(emitter: FunctionEmitter, text: str, source: Scalar) -> str:
    """bf16 held as i16: its bits are the upper half of the f32."""
    words = source.vector_of("i32")
    low = emitter.assign(f"zext {source.vector_of(source.text)} {text} to {words}")
    high = emitter.assign(f"shl {words} {low}, {splat_literal('16', int_scalar(32, source.lanes))}")
    return emitter.assign(f"bitcast {words} {high} to {source.vector_of('float')}")


def narrow_from_f32(emitter: FunctionEmitter, text: str, dest: Scalar, rounding: str = _NEAREST) -> str:
    """Return an f32 value rounded to a narrower type."""
    return _convert_native(emitter, text, "f32", "float", dest, rounding, "")


def _convert_native(
    emitter: FunctionEmitter, text: str, name: str, element: str, dest: Scalar, rounding: str, flags: str
) -> str:
    """From one of LLVM's own float types; ``dest.lanes`` gives the shape."""
    if name == dest.name:
        return text
    source_type, dest_type = dest.vector_of(element), dest.vector_of(dest.text)
    widens = not dest.is_narrow and dest.bits > _NATIVE_BITS[element]
    if widens and name not in emitter.scope.soft_floats:
        return emitter.assign(f"fpext {flags}{source_type} {text} to {dest_type}")
    if _NATIVE_BITS[element] == 16:
        # f16 and bf16 are exact in f32, and a helper reads f32.
        source = Scalar(name, element, 16, dest.lanes, is_float=True, is_narrow=False)
        text = widen_to_f32(emitter, text, source)
        return _convert_native(emitter, text, "f32", "float", dest, rounding, flags)
    soft = dest.is_narrow or rounding != _NEAREST or (name, dest.name) in emitter.scope.soft_truncations
    if not soft:
        return emitter.assign(f"fptrunc {flags}{source_type} {text} to {dest_type}")
    return narrow_by_helper(emitter, text, name, dest, rounding)


def narrow_by_helper(emitter: FunctionEmitter, text: str, source: str, dest: Scalar, rounding: str = _NEAREST) -> str:
    """Return an ``f32`` or ``f64`` value rounded to a shorter type by integer instructions, whatever LLVM could do."""
    callee = narrowing_function(emitter.scope, source, dest.name, dest.lanes, rounding)
    wide = dest.vector_of("float" if source == "f32" else "double")
    return emitter.call(dest.vector_of(dest.text), callee, [f"{wide} {text}"])
