"""Vectors: a thread's values side by side in one SSA value, with a shape and a number type.

The IR value is always one-dimensional; the shape says how `v[i, j]` and broadcasting address it (see
vector_shape for the order). A vector is a run-time value, whatever it was made from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError
from flydsl.expr.enum import ReductionName, ReductionOp, RoundingMode, RoundingName
from flydsl.expr.numbers import numeric_types as nt
from flydsl.expr.numbers.convert import emit_constant, emit_convert, type_text
from flydsl.expr.numbers.fastmath import Flags, flag_attrs
from flydsl.expr.numbers.numeric_types import NumberFormat
from flydsl.expr.numbers.operators import Operators
from flydsl.expr.numbers.plan import Operation, UnaryOperation, compute_format
from flydsl.expr.numbers.promotion import promote
from flydsl.expr.numeric import (
    Index,
    Numeric,
    as_numeric,
    check_rounding,
    class_of,
    is_raw_value,
    operand,
    resolve_dtype,
)
from flydsl.expr.trace.context import Value, as_seen_outside, current, raw_face
from flydsl.expr.values import vector_shape
from flydsl.expr.values.ir_types import IrType, split_vector_type, vector_type
from flydsl.expr.values.known import shown
from flydsl.expr.values.reduction import reduction_kind
from flydsl.expr.values.vector_shape import Modes

DYNAMIC_POSITION = -(2**63)
"""How MLIR marks, in a list of static positions, the place of a run-time one."""


class Vector(Operators):
    """`Vector(value, shape=None, dtype=None)`: a vector from an SSA value, another vector or a list; flat if untold."""

    __slots__ = ("_dtype", "_shape", "_value")

    _value: Value
    _shape: Modes
    _dtype: type[Numeric]

    def __init__(self, value: Any, shape: Any = None, dtype: Any = None) -> None:
        if isinstance(value, (list, tuple)):
            value = Vector.from_elements(value, dtype)
        value = getattr(value, "__dsl_ssa__", value)
        if isinstance(value, Vector):
            value = value if dtype is None else value.to(dtype)
            self._value, self._dtype = value._value, value._dtype
        else:
            self._value, self._dtype = value, _element_class(value, dtype)
        lanes = split_vector_type(current().type_name(self._value))[0] or 1
        self._shape = (lanes,) if shape is None else vector_shape.canonical(shape)
        if vector_shape.size(self._shape) != lanes:
            raise DslValueError(f"a vector of {lanes} elements cannot have the shape {self._shape}")

    # Facts

    @property
    def dtype(self) -> type[Numeric]:
        """The number type of the elements."""
        return self._dtype

    @property
    def element_type(self) -> type[Numeric]:
        """The number type of the elements."""
        return self._dtype

    @property
    def shape(self) -> Modes:
        """The shape, possibly nested."""
        return self._shape

    @property
    def numel(self) -> int:
        """The number of elements."""
        return vector_shape.size(self._shape)

    @property
    def ir_type(self) -> IrType:
        """The IR type."""
        return vector_type(self.numel, self._dtype.ir_type)

    @property
    def value(self) -> Value:
        """The Python numbers, or the IR value."""
        return self._value

    def ir_value(self) -> Value:
        """Return the IR value, which for code that uses the raw layer is the vector itself."""
        value = self._value
        return value if raw_face.show is None or as_seen_outside(value) is value else self

    @property
    def result(self) -> Vector:
        """The vector: what an operation's object gives as its result, where it is the vector already."""
        return self

    def is_static(self) -> bool:
        """Return whether all elements are known while tracing."""
        return False

    def __len__(self) -> int:
        return self.numel

    def __repr__(self) -> str:
        return f"Vector({self._dtype}, {self._shape})"

    def __hash__(self) -> int:
        return id(self._value)

    def __bool__(self) -> bool:
        raise DslRuntimeError(
            "a vector has no single truth value",
            hint='reduce it first, for example (v > 0).reduce("or"), or choose per element with mask.select(a, b)',
        )

    # Construction

    @staticmethod
    def filled(shape: Any, value: Any, dtype: Any = None) -> Vector:
        """Return every element the same number."""
        number = as_numeric(value)
        fmt = number.dtype.format if dtype is None else resolve_dtype(dtype).format
        modes = vector_shape.canonical(shape)
        return _wrap(_spread(number, fmt, modes), modes, fmt)

    @staticmethod
    def filled_like(like: Vector, value: Any, dtype: Any = None) -> Vector:
        """Return a vector shaped like another with every element `value`."""
        return Vector.filled(like.shape, value, like.dtype if dtype is None else dtype)

    @staticmethod
    def zeros_like(like: Vector, dtype: Any = None) -> Vector:
        """Zeros, shaped like another vector."""
        return Vector.filled_like(like, 0, dtype)

    @staticmethod
    def from_elements(elements: Iterable[Any], dtype: Any = None) -> Vector:
        """Return a vector of these numbers, in their common type unless one is given."""
        values = [as_numeric(element) for element in elements]
        if not values:
            raise DslValueError("a vector needs at least one element")
        fmt = _common_format(values) if dtype is None else resolve_dtype(dtype).format
        if all(v.is_static() for v in values) and len({repr(v._in(fmt)) for v in values}) == 1:
            return Vector.filled(len(values), values[0], class_of(fmt))
        raw = [v._raw(fmt) for v in values]
        return _wrap(current().op("vector.from_elements", raw, type_text(fmt, len(raw))), (len(raw),), fmt)

    @staticmethod
    def make_type(lanes: int, dtype: Any) -> IrType:
        """Return the IR type of a vector of n elements."""
        return vector_type(lanes, resolve_dtype(dtype).ir_type)

    # Conversion

    def _as(self, fmt: NumberFormat) -> Vector:
        if self._dtype.format is fmt:
            return self
        return _wrap(emit_convert(self._value, self._dtype.format, fmt, self.numel), self._shape, fmt)

    def to(self, dtype: Any, *, rounding_mode: RoundingMode | RoundingName | None = None) -> Vector:
        """Convert every element. A rounding mode is for floats made narrower."""
        if hasattr(dtype, "__dsl_raw_class__"):
            return self
        target = resolve_dtype(dtype)
        if rounding_mode is None:
            return self._as(target.format)
        mode = check_rounding(self._dtype, target, rounding_mode)
        value = emit_convert(self._value, self._dtype.format, target.format, self.numel, mode)
        return _wrap(value, self._shape, target.format)

    def bitcast(self, dtype: Any) -> Vector:
        """Return the same bits as elements of another width; the shape becomes flat."""
        fmt = resolve_dtype(dtype).format
        bits = self.numel * self._dtype.width
        if bits % fmt.width or fmt.is_index or self._dtype is Index:
            raise DslValueError(
                f"{bits} bits of {self._dtype} cannot be read as {fmt} elements",
                hint="the total width must be a multiple of the new element's, and Index has no fixed bits",
            )
        lanes = bits // fmt.width
        if fmt.ir_type == self._dtype.ir_type:
            return _wrap(self._value, (lanes,), fmt)
        return _wrap(current().op("vector.bitcast", (self._value,), type_text(fmt, lanes)), (lanes,), fmt)

    def reshape(self, *shape: Any) -> Vector:
        """Return the same elements in the same order under another shape."""
        return Vector(self, shape[0] if len(shape) == 1 else shape)

    def broadcast_to(self, *shape: Any) -> Vector:
        """Stretch modes of extent 1 to a larger shape."""
        modes = vector_shape.canonical(shape[0] if len(shape) == 1 else shape)
        positions = vector_shape.broadcast_positions(self._shape, modes)
        value = self._value if positions is None else self._pick(positions)
        return _wrap(value, modes, self._dtype.format)

    def shuffle(self, other: Any, mask: Sequence[int]) -> Vector:
        """Elements of this vector and then of `other`, picked by position."""
        fmt = self._dtype.format
        second = other if isinstance(other, Vector) else Vector(other)
        limit = self.numel + second.numel
        positions = [vector_shape.check_index(i, limit) for i in mask]
        operands = (self._value, second._as(fmt)._value)
        value = current().op("vector.shuffle", operands, type_text(fmt, len(positions)), {"mask": positions})
        return _wrap(value, (len(positions),), fmt)

    def _pick(self, positions: Sequence[int]) -> Value:
        result = type_text(self._dtype.format, len(positions))
        return current().op("vector.shuffle", (self._value, self._value), result, {"mask": list(positions)})

    # Elements

    def __getitem__(self, index: Any) -> Any:
        """Return one element, or with None in a tuple the elements of the modes left open."""
        if vector_shape.keeps_mode(index):
            return self
        if not isinstance(index, tuple):
            return self._extract(vector_shape.check_index(index, self.numel))
        selection = vector_shape.select(index, self._shape)
        if not selection.open:
            return self._extract(_position(selection.fixed))
        base = _position(selection.fixed)
        if not isinstance(base, int):
            raise DslTypeError("a slice of a vector needs positions known while tracing", hint="use integers and None")
        shape = tuple(mode for mode, _ in selection.open)
        picked = self._pick([base + offset for offset in selection.open_positions()])
        return _wrap(picked, shape, self._dtype.format)

    def __iter__(self) -> Iterator[Numeric]:
        return iter([self._extract(i) for i in range(self.numel)])

    def _extract(self, position: Any) -> Any:
        extra, static = _position_operands(position)
        fmt = self._dtype.format
        raw = current().op("vector.extract", (self._value, *extra), fmt.ir_type, {"static_position": static})
        return self._dtype.__construct_from_ir_values__([raw])

    def insert(self, value: Any, index: Any) -> Vector:
        """Return this vector with one element replaced; the index is as in `v[index]`, without None."""
        coord = index if isinstance(index, tuple) else (vector_shape.check_index(index, self.numel),)
        shape = self._shape if isinstance(index, tuple) else (self.numel,)
        selection = vector_shape.select(coord, shape)
        if selection.open:
            raise DslTypeError("insert replaces one element, so its index has no None")
        extra, static = _position_operands(_position(selection.fixed))
        operands = (as_numeric(value)._raw(self._dtype.format), self._value, *extra)
        raw = current().op("vector.insert", operands, self.ir_type, {"static_position": static})
        return _wrap(raw, self._shape, self._dtype.format)

    # Operators: see operators.Operators for the spelling

    def _apply(self, op: Operation, other: Any, flags: Flags = None) -> Any:
        right = vector_operand(other)
        return NotImplemented if right is None else _combine(op, self, right, flags)

    def _reflect(self, op: Operation, other: Any, flags: Flags = None) -> Any:
        left = vector_operand(other)
        return NotImplemented if left is None else _combine(op, left, self, flags)

    def _unary(self, op: UnaryOperation, flags: Flags = None) -> Any:
        plan = op.plan(self._dtype.format)
        raw = plan.emit(self._as(plan.operand)._value, self.numel, flags)
        return _wrap(raw, self._shape, plan.result)

    def apply_op(self, op: Callable[[Any, Any], Any], other: Any, flip: bool = False) -> Any:
        """Return a two-argument function such as operator.add on this vector and another operand."""
        return op(other, self) if flip else op(self, other)

    def select(self, true_value: Any, false_value: Any) -> Vector:
        """Per element of this Boolean vector, the one or the other, in their common type."""
        if not self._dtype.format.is_boolean:
            raise DslTypeError(f"select needs a Boolean vector, not {self!r}", hint="write (v != 0).select(a, b)")
        arms = (required_operand(true_value), required_operand(false_value))
        fmt, shape = _common_format(arms), self._shape
        for arm in arms:
            shape = vector_shape.broadcast(shape, arm.shape) if isinstance(arm, Vector) else shape
        mask = _spread(self, self._dtype.format, shape)
        return _select(mask, arms, fmt, shape)

    def __dsl_select__(self, condition: Numeric, true_value: Any, false_value: Any) -> Vector:
        """Return one scalar condition choosing between whole vectors."""
        arms = (required_operand(true_value), required_operand(false_value))
        fmt, shape = _common_format(arms), self._shape
        for arm in arms:
            shape = vector_shape.broadcast(shape, arm.shape) if isinstance(arm, Vector) else shape
        if condition.is_static():
            return _wrap(_spread(arms[0] if condition.value else arms[1], fmt, shape), shape, fmt)
        return _select(condition.ir_value(), arms, fmt, shape)

    def reduce(
        self,
        op: ReductionOp | ReductionName | Any,
        init_val: Any = None,
        reduction_profile: Any = None,
        *,
        fastmath: Flags = None,
    ) -> Any:
        """Fold all elements into one number.

        Of floats "min", "maximumf" and "minimumf" give NaN if any element is NaN; "max", as in FlyDSL, "maxnumf" and
        "minnumf" skip it. The whole vector is reduced whatever the profile: it is accepted for kernels that pass one.
        """
        fmt = self._dtype.format
        counted = nt.INT32 if fmt.is_boolean and str(op).lower() in ("add", "mul") else compute_format(fmt)
        kind = reduction_kind(op, counted)
        operands = [self._as(counted)._value]
        if init_val is not None:
            operands.append(as_numeric(init_val)._raw(counted))
        flags = flag_attrs(fastmath) if counted.is_float else None
        raw = current().op("vector.reduction", operands, counted.ir_type, {"kind": kind, **(flags or {})})
        number = class_of(counted).__construct_from_ir_values__([raw])
        return number if counted is nt.INT32 else number._as(fmt)

    # Memory, as `vector.load` and `vector.store` address it

    @staticmethod
    def load(result_type: Any, memref: Any, indices: Sequence[Any], *, alignment: int | None = None) -> Vector:
        """Return the elements of a tensor, or behind a pointer, from ``indices`` on along the last mode."""
        return _place(memref, indices, alignment).load(result_type)

    def store(self, memref: Any, indices: Sequence[Any], *, alignment: int | None = None) -> None:
        """Write the elements from ``indices`` on along the last mode of a tensor, or behind a pointer."""
        _place(memref, indices, alignment).store(self)

    # Hooks of control flow

    def __extract_to_ir_values__(self) -> list[Value]:
        return [self._value]

    @classmethod
    def __construct_from_ir_values__(cls, values: Sequence[Value], exemplar: Any = None) -> Vector:
        if isinstance(exemplar, Vector):
            return _wrap(values[0], exemplar._shape, exemplar._dtype.format)
        return cls(values[0])


def _place(memref: Any, indices: Sequence[Any], alignment: int | None) -> Any:
    """Return the pointer to one element of a tensor, from which a vector's other elements follow in memory."""
    hook = getattr(memref, "__dsl_place__", None)
    if hook is None:
        named = shown(memref) if is_raw_value(memref) else type(memref).__name__
        raise DslTypeError(
            f"a vector is loaded from and stored to a tensor or pointer, got {named}",
            hint="pass the tensor, the pointer, or SmemPtr.get()",
        )
    place = hook(list(indices) if isinstance(indices, (list, tuple)) else [indices])
    return place if alignment is None else place.aligned(alignment)


def _wrap(value: Value, shape: Modes, fmt: NumberFormat) -> Vector:
    """Return a vector around a value already known to fit: no checks."""
    vector = Vector.__new__(Vector)
    vector._value, vector._shape, vector._dtype = value, shape, class_of(fmt)
    return vector


def _element_class(value: Value, dtype: Any) -> type[Numeric]:
    lanes, element = split_vector_type(current().type_name(value))
    if lanes is None:
        raise DslTypeError(f"a value of type {element} is not a vector", hint="spread a number with Vector.filled")
    cls = Numeric.from_ir_type(element) if dtype is None else resolve_dtype(dtype)
    if cls.ir_type != element:
        raise DslTypeError(f"a vector of {element} does not hold {cls}", hint=f"convert it: Vector(v).to(fx.{cls})")
    return cls


def vector_operand(value: Any) -> Vector | Numeric | None:
    """Return a vector or number from anything that can stand beside a vector; None if it cannot."""
    if isinstance(value, Vector):
        return value
    if is_raw_value(value) and current().type_name(value).startswith("vector<"):
        return Vector(value)
    return operand(value)


def required_operand(value: Any) -> Vector | Numeric:
    """Return a vector or number, or the error for anything else."""
    found = vector_operand(value)
    if found is None and (hook := getattr(value, "__dsl_number__", None)) is not None:
        return hook()
    if found is None:
        raise DslTypeError(
            f"{shown(value)} is neither a number nor a vector",
            hint="read a tensor's elements first: t[i] is one, t.load() those of a small tile as a vector",
        )
    return found


def combine(op: Operation, lhs: Any, rhs: Any, flags: Flags = None) -> Any:
    """`lhs op rhs` of anything that can be an operand: numbers, vectors, raw values, Python numbers."""
    return required_operand(lhs).combine(op, required_operand(rhs), flags)


def _common_format(values: Sequence[Vector | Numeric]) -> NumberFormat:
    fmt = values[0].dtype.format
    for value in values[1:]:
        fmt = promote(fmt, value.dtype.format)
    return fmt


def _spread(value: Vector | Numeric, fmt: NumberFormat, shape: Modes) -> Value:
    """Return an operand as a raw vector of a shape, converted before it is widened."""
    if isinstance(value, Vector):
        same = value._as(fmt)
        return same._value if same._shape == shape else same.broadcast_to(shape)._value
    lanes = vector_shape.size(shape)
    if value.is_static():
        return emit_constant(fmt, value._in(fmt), lanes)
    return current().op("vector.broadcast", (value._in(fmt),), type_text(fmt, lanes))


def _combine(op: Operation, lhs: Vector | Numeric, rhs: Vector | Numeric, flags: Flags) -> Any:
    plan = op.plan(lhs.dtype.format, rhs.dtype.format)
    if plan.common is not None:
        lhs, rhs = lhs._as(plan.common), rhs._as(plan.common)
    if plan.recipe is not None:
        built = plan.recipe(lhs._as(plan.lhs), rhs._as(plan.rhs))
        if built is not None:
            return built._as(plan.result)
    if isinstance(lhs, Vector):
        shape = vector_shape.broadcast(lhs._shape, rhs._shape) if isinstance(rhs, Vector) else lhs._shape
    else:
        assert isinstance(rhs, Vector)
        shape = rhs._shape
    lanes = vector_shape.size(shape)
    raw = plan.emit(_spread(lhs, plan.lhs, shape), _spread(rhs, plan.rhs, shape), lanes, flags)
    return _wrap(raw, shape, plan.result)


def emit_elementwise(name: str, values: Sequence[Any], fmt: NumberFormat, attrs: Any) -> Any:
    """One operation over numbers and vectors of any count, brought to one format and shape."""
    shape: Modes | None = None
    for value in values:
        if isinstance(value, Vector):
            shape = value._shape if shape is None else vector_shape.broadcast(shape, value._shape)
    if shape is None:
        raw = current().op(name, [value._raw(fmt) for value in values], fmt.ir_type, attrs)
        return class_of(fmt).__construct_from_ir_values__([raw])
    result = type_text(fmt, vector_shape.size(shape))
    return _wrap(current().op(name, [_spread(value, fmt, shape) for value in values], result, attrs), shape, fmt)


def _select(mask: Value, arms: Sequence[Vector | Numeric], fmt: NumberFormat, shape: Modes) -> Vector:
    operands = (mask, *(_spread(arm, fmt, shape) for arm in arms))
    return _wrap(current().op("arith.select", operands, type_text(fmt, vector_shape.size(shape))), shape, fmt)


def _position(fixed: Sequence[tuple[Any, int]]) -> Any:
    """Return the flat position of a coordinate: a Python int when every part is known."""
    position: Any = sum(index * stride for index, stride in fixed if isinstance(index, int))
    for index, stride in fixed:
        if not isinstance(index, int):
            term = Index(index) if stride == 1 else Index(index) * stride
            starts = isinstance(position, int) and position == 0
            position = term if starts else term + position
    return position


def _position_operands(position: Any) -> tuple[tuple[Value, ...], list[int]]:
    if isinstance(position, int):
        return (), [position]
    return (Index(position).ir_value(),), [DYNAMIC_POSITION]
