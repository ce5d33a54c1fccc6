"""The vector dialect on flat vectors.

A vector of any rank is one LLVM vector in row-major order (``llvm_types``), so a position of several
indices is one offset, and a sub-vector is a run of lanes.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, VectorType, f32
from xdsl.ir import Attribute, Operation, SSAValue

from flydsl.codegen.floats.elementwise_float import emit_fma, must_widen
from flydsl.codegen.floats.float_casts import narrow_from_f32, widen_to_f32
from flydsl.codegen.floats.four_bit_lanes import in_pairs, one_of_four_bits, pack_four_bits
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import Scalar, flat_lanes, type_text
from flydsl.codegen.reading.literals import float_literal
from flydsl.codegen.reading.op_flags import fastmath_text, has_fastmath
from flydsl.codegen.reading.op_view import fail, ints_prop, keyword_prop
from flydsl.codegen.rules.rules_cast import emit_bitcast
from flydsl.codegen.rules.rules_llvm import emit_poison, shuffle_text

# Combining kind -> (reduction intrinsic, how the accumulator joins: an opcode or an intrinsic).
_INT_KINDS: dict[str, tuple[str, str]] = {
    "add": ("add", "add"),
    "mul": ("mul", "mul"),
    "and": ("and", "and"),
    "or": ("or", "or"),
    "xor": ("xor", "xor"),
    "minsi": ("smin", "@llvm.smin"),
    "maxsi": ("smax", "@llvm.smax"),
    "minui": ("umin", "@llvm.umin"),
    "maxui": ("umax", "@llvm.umax"),
}
_FLOAT_KINDS: dict[str, tuple[str, str]] = {
    "minimumf": ("fminimum", "@llvm.minimum"),
    "maximumf": ("fmaximum", "@llvm.maximum"),
    "minnumf": ("fmin", "@llvm.minnum"),
    "maxnumf": ("fmax", "@llvm.maxnum"),
}
# Sums and products take their start value as an argument; the neutral one loses no minus zero.
_FLOAT_ORDERED: dict[str, tuple[str, float]] = {"add": ("fadd", -0.0), "mul": ("fmul", 1.0)}


def emit_extract(emitter: FunctionEmitter, op: Operation) -> None:
    source, offset, lanes = _addressed(emitter, op, op.operands[0], op.operands[1:])
    result = op.results[0].type
    if not isinstance(result, VectorType):
        _define_element(emitter, op, source, offset)
    elif isinstance(offset, int):
        mask = tuple(range(offset, offset + lanes))
        emitter.define(op, shuffle_text(emitter.typed(source), f"{type_text(source.type)} poison", mask))
    else:
        _emit_dynamic_slice(emitter, op, source, offset, lanes)


def _define_element(
    emitter: FunctionEmitter, op: Operation, source: SSAValue, offset: int | str, result: int = 0
) -> None:
    scalar = emitter.scalar(source)
    if in_pairs(scalar) and isinstance(offset, int):
        emitter.bind(op.results[result], one_of_four_bits(emitter, emitter.operand(source), scalar.lanes, offset))
    else:
        emitter.define(op, f"extractelement {emitter.typed(source)}, i64 {offset}", result)


def _emit_dynamic_slice(emitter: FunctionEmitter, op: Operation, source: SSAValue, offset: str, lanes: int) -> None:
    result = type_text(op.results[0].type)
    packed = "poison"
    for lane in range(lanes):
        position = emitter.assign(f"add i64 {offset}, {lane}")
        element = emitter.assign(f"extractelement {emitter.typed(source)}, i64 {position}")
        typed = f"{emitter.scalar(source).text} {element}"
        packed = emitter.assign(f"insertelement {result} {packed}, {typed}, i64 {lane}")
    emitter.bind(op.results[0], packed)


def emit_insert(emitter: FunctionEmitter, op: Operation) -> None:
    value, dest = op.operands[0], op.operands[1]
    _, offset, lanes = _addressed(emitter, op, dest, op.operands[2:])
    dest_type = type_text(dest.type)
    if not isinstance(value.type, VectorType):
        emitter.define(op, f"insertelement {emitter.typed(dest)}, {emitter.typed(value)}, i64 {offset}")
    elif isinstance(offset, int):
        total = flat_lanes_of(dest)
        mask = tuple(total + lane - offset if offset <= lane < offset + lanes else lane for lane in range(total))
        emitter.define(op, shuffle_text(emitter.typed(dest), _padded(emitter, value, lanes, total), mask))
    else:
        packed = emitter.operand(dest)
        for lane in range(lanes):
            element = emitter.assign(f"extractelement {emitter.typed(value)}, i64 {lane}")
            position = emitter.assign(f"add i64 {offset}, {lane}")
            typed = f"{emitter.scalar(dest).text} {element}"
            packed = emitter.assign(f"insertelement {dest_type} {packed}, {typed}, i64 {position}")
        emitter.bind(op.results[0], packed)


def _addressed(
    emitter: FunctionEmitter, op: Operation, vector: SSAValue, dynamic: Sequence[SSAValue]
) -> tuple[SSAValue, int | str, int]:
    """Return the vector, the flat lane a position starts at (text when it is dynamic) and the lanes from there."""
    type_ = vector.type
    if not isinstance(type_, VectorType):
        fail(op, "the operand is no vector")
    shape, positions = type_.get_shape(), list(ints_prop(op, "static_position"))
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    lanes = flat_lanes(type_)
    for axis in range(len(positions)):
        lanes //= shape[axis]
    fixed, rest = 0, iter(dynamic)
    terms: list[str] = []
    for position, stride in zip(positions, strides):
        if position != DYNAMIC_INDEX:
            fixed += position * stride
            continue
        text = emitter.operand(next(rest))
        terms.append(text if stride == 1 else emitter.assign(f"mul nsw i64 {text}, {stride}"))
    if not terms:
        return vector, fixed, lanes
    total = terms[0]
    for term in [*terms[1:], *([str(fixed)] if fixed else [])]:
        total = emitter.assign(f"add nsw i64 {total}, {term}")
    return vector, total, lanes


def emit_extractelement(emitter: FunctionEmitter, op: Operation) -> None:
    index = emitter.typed(op.operands[1]) if len(op.operands) > 1 else "i64 0"
    emitter.define(op, f"extractelement {emitter.typed(op.operands[0])}, {index}")


def emit_insertelement(emitter: FunctionEmitter, op: Operation) -> None:
    value, dest = op.operands[0], op.operands[1]
    index = emitter.typed(op.operands[2]) if len(op.operands) > 2 else "i64 0"
    emitter.define(op, f"insertelement {emitter.typed(dest)}, {emitter.typed(value)}, {index}")


def emit_broadcast(emitter: FunctionEmitter, op: Operation) -> None:
    """A scalar to every lane, or a vector repeated along new or unit axes."""
    source, result = op.operands[0], op.results[0]
    lanes = flat_lanes_of(result)
    if isinstance(source.type, VectorType):
        mask = _broadcast_mask(source.type.get_shape(), _shape(result.type))
        emitter.define(op, shuffle_text(emitter.typed(source), f"{type_text(source.type)} poison", mask))
        return
    text = emitter.operand(source)
    if not text.startswith("%"):
        emitter.bind(result, f"splat ({type_text(source.type)} {text})" if text not in _UNSPLAT else text)
        return
    type_ = type_text(result.type)
    first = emitter.assign(f"insertelement {type_} poison, {emitter.typed(source)}, i64 0")
    emitter.define(op, f"shufflevector {type_} {first}, {type_} poison, <{lanes} x i32> zeroinitializer")


_UNSPLAT = frozenset({"poison", "undef", "zeroinitializer"})


def _broadcast_mask(source: tuple[int, ...], dest: tuple[int, ...]) -> tuple[int, ...]:
    """For each destination lane the source lane, matching axes from the right."""
    padded = (1,) * (len(dest) - len(source)) + tuple(source)
    lanes = [0]
    for have, want in zip(padded, dest):
        lanes = [base * have + (step if have != 1 else 0) for base in lanes for step in range(want)]
    return tuple(lanes)


def emit_shuffle(emitter: FunctionEmitter, op: Operation) -> None:
    """Picks rows along the first axis of two vectors; LLVM wants both of one length."""
    first, second = op.operands
    rows = [_shape(value.type)[0] if _shape(value.type) else 1 for value in (first, second)]
    row = flat_lanes_of(first) // rows[0]
    counts = [flat_lanes_of(first), flat_lanes_of(second)]
    longest = max(counts)
    texts = [_padded(emitter, value, count, longest) for value, count in zip((first, second), counts)]
    mask: list[int] = []
    for pick in ints_prop(op, "mask"):
        base = -1 if pick < 0 else pick * row if pick < rows[0] else longest + (pick - rows[0]) * row
        mask.extend(-1 if pick < 0 else base + lane for lane in range(row))
    emitter.define(op, shuffle_text(texts[0], texts[1], tuple(mask)))


def _padded(emitter: FunctionEmitter, value: SSAValue, count: int, longest: int) -> str:
    """Return a typed vector, lengthened with open lanes to ``longest``."""
    if count == longest:
        return emitter.typed(value)
    mask = tuple(lane if lane < count else -1 for lane in range(longest))
    text = emitter.assign(shuffle_text(emitter.typed(value), f"{type_text(value.type)} poison", mask))
    return f"<{longest} x {emitter.scalar(value).text}> {text}"


def emit_from_elements(emitter: FunctionEmitter, op: Operation) -> None:
    type_ = type_text(op.results[0].type)
    texts = [emitter.typed(value) for value in op.operands]
    if not any(emitter.operand(value).startswith("%") for value in op.operands):
        emitter.bind(op.results[0], f"<{', '.join(texts)}>")
        return
    scalar = emitter.scalar(op.results[0])
    if in_pairs(scalar):
        texts = [f"i8 {emitter.assign(f'zext {text} to i8')}" for text in texts]
        packed = _inserted(emitter, scalar.vector_of("i8"), texts)
        emitter.bind(op.results[0], pack_four_bits(emitter, packed, 8, scalar.lanes))
    else:
        emitter.bind(op.results[0], _inserted(emitter, type_, texts))


def _inserted(emitter: FunctionEmitter, type_: str, texts: list[str]) -> str:
    packed = "poison"
    for lane, text in enumerate(texts):
        packed = emitter.assign(f"insertelement {type_} {packed}, {text}, i64 {lane}")
    return packed


def emit_to_elements(emitter: FunctionEmitter, op: Operation) -> None:
    for lane in range(len(op.results)):
        _define_element(emitter, op, op.operands[0], lane, lane)


def emit_shape_cast(emitter: FunctionEmitter, op: Operation) -> None:
    """Row-major order is the flat order, so a reshape is no change."""
    emitter.bind(op.results[0], emitter.operand(op.operands[0]))


def emit_transpose(emitter: FunctionEmitter, op: Operation) -> None:
    source = op.operands[0]
    shape, order = _shape(source.type), ints_prop(op, "permutation")
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    mask = [0]
    for axis in order:
        mask = [base + step * strides[axis] for base in mask for step in range(shape[axis])]
    emitter.define(op, shuffle_text(emitter.typed(source), f"{type_text(source.type)} poison", tuple(mask)))


def emit_strided_slice(emitter: FunctionEmitter, op: Operation) -> None:
    """vector.extract_strided_slice: a box of lanes with unit steps."""
    source = op.operands[0]
    shape, offsets, sizes = _shape(source.type), ints_prop(op, "offsets"), ints_prop(op, "sizes")
    starts = [*offsets, *([0] * (len(shape) - len(offsets)))]
    extents = [*sizes, *shape[len(sizes) :]]
    mask = [0]
    for length, start, extent in zip(shape, starts, extents):
        mask = [base * length + start + step for base in mask for step in range(extent)]
    emitter.define(op, shuffle_text(emitter.typed(source), f"{type_text(source.type)} poison", tuple(mask)))


def emit_insert_strided_slice(emitter: FunctionEmitter, op: Operation) -> None:
    """Writes a vector into a box of a larger one, unit steps, axes matched from the right."""
    source, dest = op.operands
    shape, box = _shape(dest.type), _shape(source.type)
    extents = [*([1] * (len(shape) - len(box))), *box]
    lanes = [0]
    for length, start, extent in zip(shape, ints_prop(op, "offsets"), extents):
        lanes = [base * length + start + step for base in lanes for step in range(extent)]
    where = {lane: position for position, lane in enumerate(lanes)}
    total = flat_lanes_of(dest)
    mask = tuple(total + where[lane] if lane in where else lane for lane in range(total))
    padded = _padded(emitter, source, flat_lanes_of(source), total)
    emitter.define(op, shuffle_text(emitter.typed(dest), padded, mask))


def emit_reduction(emitter: FunctionEmitter, op: Operation) -> None:
    """All lanes to one. Float sums and products go in lane order unless ``reassoc`` frees them."""
    kind = keyword_prop(op, "kind", default="add")
    scalar = emitter.scalar(op.operands[0])
    if scalar.is_float:
        _emit_float_reduction(emitter, op, kind, scalar)
    elif kind in _INT_KINDS:
        name, join = _INT_KINDS[kind]
        emitter.bind(op.results[0], _reduce_and_join(emitter, op, name, join, scalar.text, "", _texts(emitter, op)))
    else:
        fail(op, f"'{kind}' does not combine integers")


def _emit_float_reduction(emitter: FunctionEmitter, op: Operation, kind: str, scalar: Scalar) -> None:
    flags, texts, element = fastmath_text(op), _texts(emitter, op), scalar.text
    widened = must_widen(emitter, scalar)
    if widened:
        texts = [widen_to_f32(emitter, text, shape) for text, shape in zip(texts, (scalar, scalar.element))]
        element = "float"
    if kind in _FLOAT_ORDERED:
        name, neutral = _FLOAT_ORDERED[kind]
        start = texts[1] if len(texts) > 1 else float_literal(neutral, f32 if widened else op.results[0].type)
        if widened and not has_fastmath(op, "reassoc"):
            result = _reduce_stepwise(emitter, name, start, texts[0], scalar, flags)
        else:
            arguments = [f"{element} {start}", f"{scalar.vector_of(element)} {texts[0]}"]
            result = emitter.call(element, f"@llvm.vector.reduce.{name}", arguments, flags)
    elif kind in _FLOAT_KINDS:
        name, join = _FLOAT_KINDS[kind]
        result = _reduce_and_join(emitter, op, name, join, element, flags, texts)
    else:
        fail(op, f"'{kind}' does not combine floats")
    emitter.bind(op.results[0], narrow_from_f32(emitter, result, scalar.element) if widened else result)


def _reduce_stepwise(emitter: FunctionEmitter, opcode: str, start: str, vector: str, scalar: Scalar, flags: str) -> str:
    """Return an ordered sum or product in f32 that rounds to the element type after each lane, as each step of
    the reduction is an operation in that type."""
    total, type_ = start, scalar.vector_of("float")
    for lane in range(scalar.lanes):
        element = emitter.assign(f"extractelement {type_} {vector}, i64 {lane}")
        exact = emitter.assign(f"{opcode} {flags}float {total}, {element}")
        total = widen_to_f32(emitter, narrow_from_f32(emitter, exact, scalar.element), scalar.element)
    return total


def _reduce_and_join(
    emitter: FunctionEmitter, op: Operation, name: str, join: str, element: str, flags: str, texts: list[str]
) -> str:
    lanes = emitter.scalar(op.operands[0]).lanes
    reduced = emitter.call(element, f"@llvm.vector.reduce.{name}", [f"<{lanes} x {element}> {texts[0]}"], flags)
    if len(texts) == 1:
        return reduced
    if join.startswith("@"):
        return emitter.call(element, join, [f"{element} {reduced}", f"{element} {texts[1]}"], flags)
    return emitter.assign(f"{join} {element} {reduced}, {texts[1]}")


def _texts(emitter: FunctionEmitter, op: Operation) -> list[str]:
    return [emitter.operand(value) for value in op.operands]


def emit_create_mask(emitter: FunctionEmitter, op: Operation) -> None:
    """Lane i is set below the given bound; one axis only."""
    shape = _shape(op.results[0].type)
    if len(shape) != 1:
        fail(op, "masks of more than one axis are not supported")
    lanes = shape[0]
    wide = f"<{lanes} x i64>"
    bound = emitter.assign(f"insertelement {wide} poison, {emitter.typed(op.operands[0])}, i64 0")
    bound = emitter.assign(f"shufflevector {wide} {bound}, {wide} poison, <{lanes} x i32> zeroinitializer")
    steps = ", ".join(f"i64 {lane}" for lane in range(lanes))
    emitter.define(op, f"icmp sgt {wide} {bound}, <{steps}>")


def emit_step(emitter: FunctionEmitter, op: Operation) -> None:
    scalar = emitter.scalar(op.results[0])
    emitter.bind(op.results[0], f"<{', '.join(f'{scalar.text} {lane}' for lane in range(scalar.lanes))}>")


def flat_lanes_of(value: SSAValue) -> int:
    return flat_lanes(value.type) if isinstance(value.type, VectorType) else 1


def _shape(type_: Attribute) -> tuple[int, ...]:
    return type_.get_shape() if isinstance(type_, VectorType) else ()


RULES: dict[str, Rule] = {
    "vector.extract": emit_extract,
    "vector.insert": emit_insert,
    "vector.extractelement": emit_extractelement,
    "vector.insertelement": emit_insertelement,
    "vector.broadcast": emit_broadcast,
    "vector.splat": emit_broadcast,
    "vector.shuffle": emit_shuffle,
    "vector.from_elements": emit_from_elements,
    "vector.to_elements": emit_to_elements,
    "vector.bitcast": emit_bitcast,
    "vector.shape_cast": emit_shape_cast,
    "vector.transpose": emit_transpose,
    "vector.extract_strided_slice": emit_strided_slice,
    "vector.insert_strided_slice": emit_insert_strided_slice,
    "vector.fma": emit_fma,
    "vector.reduction": emit_reduction,
    "vector.create_mask": emit_create_mask,
    "vector.step": emit_step,
    "ub.poison": emit_poison,
}
