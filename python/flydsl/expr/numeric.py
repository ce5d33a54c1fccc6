"""Numbers in a kernel: `fx.Int32`, `fx.Float16`, ... and the values they hold.

A value is *static*, a Python number known while tracing, or a *run-time* SSA value. An operation on static
values only is computed at once and emits nothing; otherwise it emits `arith` or `math` operations. Signs
live here alone: IR integers have none, so `Int32` and `Uint32` differ only in the operations they pick.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar, cast

from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError
from flydsl.expr.enum import RoundingMode, RoundingName
from flydsl.expr.numbers import fold
from flydsl.expr.numbers import numeric_types as nt
from flydsl.expr.numbers.convert import Literal, convert_static, emit_constant, emit_convert, from_python
from flydsl.expr.numbers.fastmath import Flags
from flydsl.expr.numbers.numeric_types import NumberFormat
from flydsl.expr.numbers.operators import AND, OR, Operators
from flydsl.expr.numbers.plan import Operation, UnaryOperation
from flydsl.expr.numbers.promotion import literal_format, promote
from flydsl.expr.trace.context import Value, as_seen_outside, current, is_raw_value, is_tracing, raw_face
from flydsl.expr.values.ir_types import IrType
from flydsl.expr.values.numpy_scalar import names_dtype

_STATIC_TYPES = frozenset((int, float, bool, Literal))
_CLASSES: dict[NumberFormat, type[Numeric]] = {}
_N = TypeVar("_N", bound="Numeric")


class NumericMeta(type):
    """Class-level facts of a number type: `Int32.width`, `Float16.ir_type`, `Int8.zero`."""

    format: NumberFormat

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], format: NumberFormat | None = None
    ) -> NumericMeta:
        namespace.setdefault("__slots__", ())
        if format is not None:
            namespace.setdefault("__doc__", format.summary)
        cls = super().__new__(mcs, name, bases, namespace)
        if format is not None:
            cls.format = format
            for fact in ("width", "signed", "ir_type", "is_integer", "is_float"):
                setattr(cls, fact, getattr(format, fact))
            _CLASSES[format] = cast("type[Numeric]", cls)
        return cls

    def __init__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], format: NumberFormat | None = None
    ) -> None:
        super().__init__(name, bases, namespace)

    @property
    def log_width(cls) -> int:
        """The largest k with 2**k <= width."""
        return cls.format.width.bit_length() - 1

    @property
    def numpy_dtype(cls) -> Any:
        """The NumPy (or ml_dtypes) dtype; None for 128-bit integers, which have none."""
        import numpy

        name = cls.format.numpy_name
        if name is None:
            return None
        if hasattr(numpy, name):
            return numpy.dtype(name)
        import ml_dtypes

        return numpy.dtype(getattr(ml_dtypes, name))

    @property
    def zero(cls) -> Any:
        """The static zero of the type."""
        return cls(0)

    def __str__(cls) -> str:
        return cls.__name__

    def __eq__(cls, other: object) -> bool:
        """A number type equals itself, and the dtype of NumPy, ml_dtypes or torch that holds the same numbers."""
        return cls is other or (type(other) is not NumericMeta and names_dtype(getattr(cls, "format", None), other))

    __hash__ = type.__hash__


class Numeric(Operators, metaclass=NumericMeta):
    """A number of a fixed format. `Int32(x)` converts `x`; see the module text for what it may hold."""

    __slots__ = ("_value",)

    width: ClassVar[int]
    signed: ClassVar[bool]
    ir_type: ClassVar[IrType]
    is_integer: ClassVar[bool]
    is_float: ClassVar[bool]

    _value: Any

    def __init__(self, value: Any) -> None:
        fmt = getattr(type(self), "format", None)
        if fmt is None:
            raise DslTypeError(
                f"{type(self).__name__} is a family of types, not a type",
                hint="name one (fx.Int32, fx.Float32, ...), or use fx.as_numeric(x)",
            )
        if type(value) in _STATIC_TYPES:
            self._value = from_python(fmt, value)
        elif isinstance(value, Numeric):
            self._value = value._in(fmt)
        else:
            self._value = _numeric_argument(fmt, value)._in(fmt)

    @property
    def value(self) -> Any:
        """The Python number of a static value, or the SSA value."""
        value = self._value
        if type(value) in _STATIC_TYPES:
            return +value  # which makes a plain float of a literal
        return value if raw_face.show is None else as_seen_outside(value, type(self).signed)

    @property
    def dtype(self) -> type[Numeric]:
        """The number's class."""
        return type(self)

    def is_static(self) -> bool:
        """Return whether the value is known while tracing."""
        return type(self._value) in _STATIC_TYPES

    def ir_value(self) -> Value:
        """Return the SSA value; a static value becomes a constant."""
        value = self._value
        if type(value) in _STATIC_TYPES:
            value = emit_constant(type(self).format, value)
        return value if raw_face.show is None else as_seen_outside(value, type(self).signed)

    # Conversion

    def _in(self, fmt: NumberFormat) -> Any:
        """Return the value converted to a format: a Python number if static, else an SSA value."""
        own = type(self).format
        value = self._value
        if own is fmt:
            return value
        if type(value) in _STATIC_TYPES:
            return convert_static(own, fmt, value)
        return emit_convert(value, own, fmt)

    def _raw(self, fmt: NumberFormat) -> Value:
        """Return the SSA value converted to a format."""
        value = self._in(fmt)
        return emit_constant(fmt, value) if type(value) in _STATIC_TYPES else value

    def _as(self, fmt: NumberFormat) -> Numeric:
        """Return this number converted to a format, still static if it was."""
        return self if type(self).format is fmt else _make(fmt, self._in(fmt))

    def to(self, dtype: Any, *, rounding_mode: RoundingMode | RoundingName | None = None) -> Any:
        """Convert to another number type. A rounding mode is for run-time floats made narrower."""
        if hasattr(dtype, "__dsl_raw_class__"):
            return as_seen_outside(self.ir_value(), type(self).signed)
        target = resolve_dtype(dtype)
        if rounding_mode is None:
            return self._as(target.format)
        mode = check_rounding(type(self), target, rounding_mode)
        if self.is_static():
            raise DslValueError(
                "a value known while tracing is always rounded to nearest even",
                hint="drop rounding_mode, or apply it to a run-time value",
            )
        return _make(target.format, emit_convert(self._value, type(self).format, target.format, None, mode))

    def bitcast(self, dtype: Any) -> Any:
        """Return the same bits as another type of equal width."""
        source, wanted = type(self).format, resolve_dtype(dtype).format
        if source.width != wanted.width or source.is_index != wanted.is_index:
            raise DslValueError(
                f"cannot reinterpret {source} ({source.width} bits) as {wanted} ({wanted.width} bits)",
                hint="the widths must be equal, and Index has no fixed bits: convert with .to()",
            )
        if self.is_static():
            found = fold.bitcast(source, wanted, self._value)
            if not is_tracing() or found == found or fold.bitcast(wanted, source, found) == self._value:
                return _make(wanted, found)  # no NaN with bits that a Python number does not keep
        same = source.ir_type == wanted.ir_type
        return _make(wanted, self._value if same else current().op("arith.bitcast", (self.ir_value(),), wanted.ir_type))

    # Operators: see operators.Operators for the spelling

    def _apply(self, op: Operation, other: Any, flags: Flags = None) -> Any:
        if not isinstance(other, Numeric):
            other = operand(other)
            if other is None:
                return NotImplemented
        plan = op.plan(type(self).format, type(other).format)
        lhs, rhs = self, other
        if plan.common is not None:
            lhs, rhs = lhs._as(plan.common), rhs._as(plan.common)
        if type(lhs._value) in _STATIC_TYPES and type(rhs._value) in _STATIC_TYPES and not plan.folds_by_recipe:
            return _make(plan.result, plan.fold_values(lhs._in(plan.lhs), rhs._in(plan.rhs)))
        if plan.recipe is not None:
            built = plan.recipe(lhs._as(plan.lhs), rhs._as(plan.rhs))
            if built is not None:
                return built._as(plan.result)
        return _make(plan.result, plan.emit(lhs._raw(plan.lhs), rhs._raw(plan.rhs), None, flags))

    def _reflect(self, op: Operation, other: Any, flags: Flags = None) -> Any:
        left = operand(other)
        return NotImplemented if left is None else left._apply(op, self, flags)

    def _unary(self, op: UnaryOperation, flags: Flags = None) -> Any:
        plan = op.plan(type(self).format)
        if type(self._value) in _STATIC_TYPES:
            return _make(plan.result, plan.fold_value(self._in(plan.operand)))
        return _make(plan.result, plan.emit(self._raw(plan.operand), None, flags))

    def select(self, true_value: Any, false_value: Any) -> Any:
        """`true_value` where this Boolean holds, else `false_value`, in their common type."""
        if not type(self).format.is_boolean:
            raise DslTypeError(f"select needs a Boolean, not {type(self)}", hint="write (x != 0).select(a, b)")
        chosen, other = operand(true_value), operand(false_value)
        if chosen is None or other is None:
            return _select_structured(self, true_value, false_value)
        common = promote(chosen.dtype.format, other.dtype.format)
        if self.is_static():
            return (chosen if self._value else other)._as(common)
        arms = (self._value, chosen._raw(common), other._raw(common))
        return _make(common, current().op("arith.select", arms, common.ir_type))

    # Python's own conversions: only for static values

    def __bool__(self) -> bool:
        if type(self._value) in _STATIC_TYPES:
            return bool(self._value)
        raise _not_static(
            "the truth of",
            self,
            "use it in the `if`/`while` of a @flyc.kernel or @flyc.jit function (which is rewritten), or "
            "fx.arith.select(); for max() and min() write fx.max() and fx.min(), for any() and all() `|` and `&`; "
            "fx.const_expr() is only for values known while tracing",
        )

    def __int__(self) -> int:
        return int(self._python("an int of", "write x.to(fx.Int32)"))

    def __float__(self) -> float:
        instead = "write x.to(fx.Float32), and functions of fx in place of those of math: fx.exp(x), fx.floor(x)"
        return float(self._python("a float of", instead))

    def __index__(self) -> int:
        if not type(self).format.is_integer:
            raise DslTypeError(f"a {type(self)} cannot be an index", hint="convert with .to(fx.Int32)")
        instead = (
            "in a @flyc.kernel or @flyc.jit function the statement `for i in range(n):` counts at run time; a tensor, "
            "not a list, has run-time indices"
        )
        return int(self._python("an index from", instead))

    def _python(self, wanted: str, instead: str) -> Any:
        if type(self._value) in _STATIC_TYPES:
            return self._value
        hint = f"{instead}; or pass it as fx.Constexpr if the kernel may be compiled per value"
        raise _not_static(wanted, self, hint)

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        instead = 'write fx.printf("{:.3f}", x), which prints when the kernel runs'
        return format(self._python("the text of", instead), spec)

    def _for_numpy(self) -> Any:
        if type(self._value) in _STATIC_TYPES:
            return self._value
        import numpy

        cell = numpy.empty((), object)
        cell[()] = self
        return cell

    def __hash__(self) -> int:
        # A static value equals, so hashes as, its Python number; a run-time value is only itself.
        return hash(self._value) if type(self._value) in _STATIC_TYPES else id(self._value)

    def __repr__(self) -> str:
        if not self.is_static():
            return f"{type(self).__name__}(?)"
        return f"{type(self).__name__}({bool(self._value) if type(self).format.is_boolean else self._value})"

    # Hooks of the AST rewriter and of control flow

    def __dsl_bool__(self) -> Boolean:
        """Return this value as a condition."""
        return cast(Boolean, self._as(nt.BOOLEAN))

    def __dsl_and__(self, other: Any) -> Boolean:
        return _connect(AND, self, other)

    def __dsl_or__(self, other: Any) -> Boolean:
        return _connect(OR, self, other)

    def __dsl_not__(self) -> Boolean:
        return ~self.__dsl_bool__()

    def __extract_to_ir_values__(self) -> list[Value]:
        return [self.ir_value()]

    @classmethod
    def __construct_from_ir_values__(cls: type[_N], values: Sequence[Value], exemplar: Any = None) -> _N:
        fmt = getattr(cls if exemplar is None else type(exemplar), "format", None)
        if fmt is None or len(values) != 1:
            raise DslTypeError(f"{cls.__name__} cannot be rebuilt from {len(values)} value(s)")
        return cast(_N, _make(fmt, values[0]))

    @classmethod
    def from_python_value(cls, value: bool | int | float) -> Any:
        """Return a static value: of this type, or of the literal's own type when called on a family."""
        return cls(value) if hasattr(cls, "format") else as_numeric(value)

    @staticmethod
    def from_ir_value(value: Value) -> Numeric:
        """Return a raw SSA value as a number of the type its IR type names."""
        return as_numeric(value)

    @staticmethod
    def from_ir_type(text: str) -> type[Numeric]:
        """Return the number class of an IR type; IR integers have no sign, so they come back signed."""
        fmt = nt.BY_IR_TYPE.get(text)
        if fmt is None:
            raise DslTypeError(f"{text} is not the type of a number")
        return _CLASSES[fmt]


class Integer(Numeric):
    """The integers, Boolean and Index included."""


class Float(Numeric):
    """The floats."""


class Boolean(Integer, format=nt.BOOLEAN):
    """True or False; its static value is 0 or 1."""


class Index(Integer, format=nt.INDEX):
    """A position: unsigned, 64 bits wide, `index` in IR."""


# fmt: off
class Int4(Integer, format=nt.INT4): ...
class Int8(Integer, format=nt.INT8): ...
class Int16(Integer, format=nt.INT16): ...
class Int32(Integer, format=nt.INT32): ...
class Int64(Integer, format=nt.INT64): ...
class Int128(Integer, format=nt.INT128): ...
class Uint8(Integer, format=nt.UINT8): ...
class Uint16(Integer, format=nt.UINT16): ...
class Uint32(Integer, format=nt.UINT32): ...
class Uint64(Integer, format=nt.UINT64): ...
class Uint128(Integer, format=nt.UINT128): ...
class Float16(Float, format=nt.FLOAT16): ...
class BFloat16(Float, format=nt.BFLOAT16): ...
class Float32(Float, format=nt.FLOAT32): ...
class Float64(Float, format=nt.FLOAT64): ...
class Float8E5M2(Float, format=nt.FLOAT8E5M2): ...
class Float8E4M3(Float, format=nt.FLOAT8E4M3): ...
class Float8E4M3FN(Float, format=nt.FLOAT8E4M3FN): ...
class Float8E4M3FNUZ(Float, format=nt.FLOAT8E4M3FNUZ): ...
class Float8E5M2FNUZ(Float, format=nt.FLOAT8E5M2FNUZ): ...
class Float8E4M3B11FNUZ(Float, format=nt.FLOAT8E4M3B11FNUZ): ...
class Float8E8M0FNU(Float, format=nt.FLOAT8E8M0FNU): ...
class Float6E2M3FN(Float, format=nt.FLOAT6E2M3FN): ...
class Float6E3M2FN(Float, format=nt.FLOAT6E3M2FN): ...
class Float4E2M1FN(Float, format=nt.FLOAT4E2M1FN): ...
# fmt: on

_NUMBERS = "numbers are Python ints, floats, bools and fx numbers; an element of a tensor is t[i], of a vector v[i]"
_PYTHON_CLASSES: dict[Any, type[Numeric]] = {bool: Boolean, int: Int32, float: Float32}


def _make(fmt: NumberFormat, value: Any) -> Any:
    """Return a number around a value already in its format: no conversion, no checks."""
    cls = _CLASSES[fmt]
    number = cls.__new__(cls)
    number._value = value
    return number


def class_of(fmt: NumberFormat) -> type[Numeric]:
    return _CLASSES[fmt]


def resolve_dtype(dtype: Any) -> type[Numeric]:
    """Return the number class meant by a class, a Python type or an IR type's text."""
    if isinstance(dtype, NumericMeta) and hasattr(dtype, "format"):
        return cast("type[Numeric]", dtype)
    if isinstance(dtype, str):
        return Numeric.from_ir_type(dtype)
    found = _PYTHON_CLASSES.get(dtype) if isinstance(dtype, type) else None
    if found is None:
        raise DslTypeError(f"{dtype!r} is not a number type", hint="use one of fx.Int32, fx.Float16, fx.Boolean, ...")
    return found


def check_rounding(source: type[Numeric], target: type[Numeric], mode: RoundingMode | str) -> RoundingMode:
    """Return the rounding mode, if it has a meaning for this conversion."""
    if not (source.is_float and target.is_float and target.width < source.width):
        raise DslValueError(
            f"rounding_mode has no meaning from {source} to {target}",
            hint="it applies where a float becomes a narrower float",
        )
    if mode not in RoundingMode.__members__:
        raise DslValueError(f"unknown rounding mode {mode!r}", hint=f"the modes are: {' '.join(RoundingMode)}")
    return RoundingMode(mode)


def operand(value: Any) -> Numeric | None:
    """Return a number from anything that can stand as a scalar operand; None if it cannot."""
    if isinstance(value, Numeric):
        return value
    kind = type(value)
    if kind is int and -0x8000_0000 <= value <= 0x7FFF_FFFF:  # by far the most frequent literal
        return _make(nt.INT32, value)
    if kind in _STATIC_TYPES:
        fmt = literal_format(value)
        return _make(fmt, Literal(value) if fmt is nt.FLOAT32 else from_python(fmt, value))
    if isinstance(value, numbers.Real):
        return operand(int(value) if isinstance(value, numbers.Integral) else float(value))
    if is_raw_value(value):
        fmt = nt.BY_IR_TYPE.get(current().type_name(value))
        raw = hasattr(value, "__dsl_ssa__")
        return None if fmt is None else value.__dsl_raw_number__(None) if raw else _make(fmt, value)
    is_number = getattr(value, "__dsl_is_number__", None)  # an extent; of a whole shape it says no
    return value.__dsl_number__() if is_number is not None and is_number() else None


def as_numeric(value: Any) -> Numeric:
    """Return a Python number, SSA value or number as a number; literals get their usual type."""
    number = operand(value)
    if number is None and (hook := getattr(value, "__dsl_number__", None)) is not None:
        return hook()
    if number is None:
        raise DslTypeError(f"{value!r} is not a number", hint=_NUMBERS)
    return number


def _numeric_argument(fmt: NumberFormat, value: Any) -> Numeric:
    """Return the number given to a constructor, when it is neither a Python number nor one of ours."""
    if hasattr(value, "__dsl_raw_number__"):
        return value.__dsl_raw_number__(fmt)
    if hasattr(value, "__dsl_number__"):
        return value.__dsl_number__()
    number = operand(value)
    if number is None and hasattr(value, "__index__") and not getattr(value, "ndim", 0):
        return as_numeric(value.__index__())
    number = as_numeric(value) if number is None else number
    if fmt.is_float and number.dtype.is_integer and not number.is_static():
        raise DslValueError(
            f"a raw {number.ir_type} value does not say whether it is signed, so it cannot become {fmt}",
            hint=f"wrap it first: fx.{fmt}(fx.{number.dtype}(x))",
        )
    return number


def _not_static(wanted: str, number: Numeric, hint: str) -> DslRuntimeError:
    message = f"{wanted} a run-time {type(number)} is not known while the kernel is traced"
    return DslRuntimeError(message, hint=hint)


def _connect(op: Operation, lhs: Numeric, rhs: Any) -> Boolean:
    """`and` / `or` of two conditions; a static side decides or drops out."""
    left, right = lhs.__dsl_bool__(), as_numeric(rhs).__dsl_bool__()
    for known, unknown in ((left, right), (right, left)):
        if known.is_static():
            decides = bool(known._value) is (op is OR)
            return known if decides else unknown
    return left._apply(op, right)


def _select_structured(condition: Numeric, true_value: Any, false_value: Any) -> Any:
    """Select between values that are not scalars: a vector knows how to do it for itself."""
    for value in (true_value, false_value):
        if (hook := getattr(value, "__dsl_select__", None)) is not None:
            return hook(condition, true_value, false_value)
    raise DslTypeError(f"cannot select between {true_value!r} and {false_value!r}")


# fmt: off
__all__ = [
    "Numeric", "NumericMeta", "Integer", "Float", "as_numeric", "Boolean", "Int4", "Int8", "Int16", "Int32",
    "Int64", "Int128", "Uint8", "Uint16", "Uint32", "Uint64", "Uint128", "Index", "Float16", "BFloat16", "Float32",
    "Float64", "Float8E5M2", "Float8E4M3", "Float8E4M3FN", "Float8E4M3FNUZ", "Float8E5M2FNUZ", "Float8E4M3B11FNUZ",
    "Float8E8M0FNU", "Float6E2M3FN", "Float6E3M2FN", "Float4E2M1FN",
]
# fmt: on
