"""Raw values: SSA values of the kernel being traced, with the operators their IR type has.

A raw number knows its type and, if it came from a number of the language, its sign; nothing is promoted. Everything of
`fx` takes raw values where it takes numbers, vectors or pointers, and `fx.Int32(raw)` makes a number of one again.
Importing this module makes ``x.ir_value()`` give such values to code outside of the package.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from xdsl.ir import Block, SSAValue

from flydsl._mlir.types import element_of, type_text, with_element
from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError
from flydsl.dialects.fly.types import FlyType
from flydsl.dialects.parts import default_properties
from flydsl.expr import numeric
from flydsl.expr.numbers.fastmath import Flags, flag_attrs
from flydsl.expr.numbers.numeric_types import NumberFormat
from flydsl.expr.numeric import Numeric, as_numeric
from flydsl.expr.trace.context import current, raw_face
from flydsl.expr.values.foreign import NoForeignFunctions
from flydsl.expr.values.handle import Handle, from_value
from flydsl.expr.values.ir_types import IrType, type_facts
from flydsl.expr.vector import Vector
from flydsl.target.dtype import FLOAT_WIDTHS


class _ValueMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        """Vectors, tensors, layouts and atoms are one SSA value each, and so are raw values; numbers hold one."""
        if cls is Value:
            return isinstance(instance, (SSAValue, Vector, Handle)) or super().__instancecheck__(instance)
        return super().__instancecheck__(instance)


class Value(NoForeignFunctions, metaclass=_ValueMeta):
    """An SSA value of any type: a pointer or struct of LLVM, a token, a number."""

    __slots__ = ("__dsl_ssa__",)
    __dsl_raw_class__ = True
    owner_view: ClassVar[Callable[[Any], Any]]

    def __init__(self, value: Any) -> None:
        self.__dsl_ssa__ = ssa_of(value)

    @property
    def type(self) -> IrType:
        """The IR type."""
        return IrType(str(self.__dsl_ssa__.type))

    @property
    def owner(self) -> Any:
        """The operation it is a result of, or the block it is an argument of."""
        found = self.__dsl_ssa__.owner
        return found if isinstance(found, Block) else Value.owner_view(found)

    @property
    def result(self) -> Value:
        """The value itself, for code that takes an operation's object and its result alike."""
        return self

    @property
    def is_static(self) -> bool:
        """False: only the running kernel knows it."""
        return False

    def ir_value(self) -> Any:
        """Return the value."""
        return self.__dsl_ssa__ if _asked_inside() else self

    @property
    def _CAPIPtr(self) -> Any:
        return self.__dsl_ssa__

    @staticmethod
    def _CAPICreate(pointer: Any) -> Any:
        return show(pointer)

    def maybe_downcast(self) -> Any:
        """Return the value as the class of its type."""
        return show(self.__dsl_ssa__)

    def __eq__(self, other: object) -> Any:
        return isinstance(other, Value) and other.__dsl_ssa__ is self.__dsl_ssa__

    def __hash__(self) -> int:
        return id(self.__dsl_ssa__)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        owner = getattr(self.__dsl_ssa__, "owner", None)
        made = "block_arg" if isinstance(owner, Block) else f"op={getattr(owner, 'name', '?')}"
        return f"{type(self).__name__}(type={self.type}, {made})"

    # What the language asks of a value

    def __dsl_is_number__(self) -> bool:
        return is_number(self.type)

    def __dsl_number__(self) -> Numeric:
        return self.__dsl_raw_number__(None)

    def __dsl_raw_number__(self, wanted: NumberFormat | None) -> Numeric:
        """Return the number to convert to a format; where the value has no sign, the format's is meant."""
        raise DslTypeError(f"a value of type {self.type} is no number")

    def __extract_to_ir_values__(self) -> list[Any]:
        return [self.__dsl_ssa__]

    @classmethod
    def __construct_from_ir_values__(cls, values: Sequence[Any], exemplar: Any = None) -> Any:
        return show(values[0], getattr(exemplar, "signed", None))


def is_number(text: str) -> bool:
    """Return whether a type is that of one number."""
    return text == "index" or "width" in type_facts(text)


def show(value: Any, signed: bool | None = None) -> Any:
    """Return an SSA value as the class of its type: a raw number, a vector, the handle of a fly type, or a plain
    value."""
    if isinstance(value.type, FlyType):
        return from_value(value)
    text = str(value.type)
    if is_number(text):
        return ArithValue(value, signed)
    if text.startswith("vector<") and len(type_facts(text)["shape"]) == 1 and is_number(element_of(text)):
        return Vector(value)
    return Value(value)


def ssa_of(value: Any, type_: str | None = None) -> Any:
    """Return the SSA value of anything that can be an operand; a Python number is a constant of the type given."""
    found = getattr(value, "__dsl_ssa__", None)
    if found is not None:
        return found
    if isinstance(value, SSAValue):
        return value
    if isinstance(value, (bool, int, float)):
        return as_numeric(value).ir_value() if type_ is None else constant(value, type_)
    if hasattr(value, "ir_value"):
        return value.ir_value()
    if hasattr(value, "type") and not isinstance(value, type):
        return value
    raise DslTypeError(
        f"an operand of a raw operation must be a value, got {value!r}",
        hint="pass numbers through as_ir_value(x) or x.ir_value()",
    )


def as_raw(value: Any) -> Any:
    """Return the raw value of a number, Python number, operation or raw value; vectors and handles are values
    already."""
    if isinstance(value, (Vector, Handle)):
        return value
    return show(ssa_of(value), getattr(value, "signed", None))


def constant(value: bool | int | float, type_: str) -> Any:
    """Return a constant of a type, the same in every lane of a vector type."""
    element = element_of(type_)
    if element not in FLOAT_WIDTHS and isinstance(value, float):
        raise DslTypeError(f"{value!r} is no constant of type {element}", hint="write an int, or convert the value")
    if not is_number(element):
        raise DslTypeError(f"there is no constant of type {type_}")
    number: int | float = float(value) if element in FLOAT_WIDTHS else int(value)
    return current().constant(type_, number if isinstance(number, float) else _wrapped(number, element))


def _wrapped(number: int, element: str) -> int:
    """Return an integer in the signed range of its type, as IR text spells it."""
    width = 64 if element == "index" else type_facts(element)["width"]
    half = 1 << (width - 1)
    return (number + half) % (2 * half) - half


def _asked_inside() -> bool:
    """Return whether the caller of the method that asks this is a module of the package."""
    return sys._getframe(2).f_globals.get("__name__", "").startswith("flydsl.")


# Numbers ---------------------------------------------------------------------------------------

_UNSIGNED = {f"i{width}": getattr(numeric, f"Uint{width}") for width in (8, 16, 32, 64, 128)}


class ArithValue(Value):
    """A raw number: operators of its IR type, by the sign it came with, if any.

    A value of a vector type becomes a `Vector` instead.
    """

    __slots__ = ("signed",)

    def __new__(cls, value: Any, signed: bool | None = None) -> Any:
        raw = ssa_of(value)
        text = str(raw.type)
        if text.startswith("vector<"):
            return value if isinstance(value, Vector) else Vector(raw)
        if not is_number(text):
            raise DslTypeError(f"a value of type {text} is no number")
        return super().__new__(cls)

    def __init__(self, value: Any, signed: bool | None = None) -> None:
        super().__init__(value)
        if signed is None and isinstance(value, (Numeric, ArithValue)):
            signed = value.signed
        self.signed = None if self.type == "i1" else signed
        """True or False from a number; None for a raw result, and for i1."""

    @property
    def is_float(self) -> bool:
        """Whether it is a float."""
        return self.type in FLOAT_WIDTHS

    def with_signedness(self, signed: bool | None) -> ArithValue:
        """Return the same value with another sign."""
        return ArithValue(self.__dsl_ssa__, signed)

    def __bool__(self) -> bool:
        raise DslRuntimeError(
            f"the truth of a raw {self.type} is not known while the kernel is traced",
            hint="use it in the `if` of a @flyc.kernel function, or write condition.select(a, b)",
        )

    def __dsl_bool__(self) -> Any:
        return self.__dsl_number__().__dsl_bool__()

    def __dsl_raw_number__(self, wanted: NumberFormat | None) -> Numeric:
        text, signed = self.type, self.signed
        if wanted is not None and wanted.is_float and signed is None and text not in ("i1", *FLOAT_WIDTHS):
            raise DslValueError(
                f"a raw {text} value does not say whether it is signed, so it cannot become {wanted}",
                hint=f"wrap it first: fx.{wanted}(fx.Int32(x)), or fx.{wanted}(fx.Uint32(x))",
            )
        if signed is None and wanted is not None:
            signed = wanted.signed
        kind = _UNSIGNED[text] if signed is False and text in _UNSIGNED else Numeric.from_ir_type(text)
        return kind.__construct_from_ir_values__([self.__dsl_ssa__])

    def to(self, dtype: Any) -> Any:
        """Return the value as a number of the language, or, for `ir.Value`, itself."""
        return self if getattr(dtype, "__dsl_raw_class__", False) else numeric.resolve_dtype(dtype)(self)

    # Operators

    def _family(self) -> str:
        """Return which column of the operator table holds."""
        if self.is_float:
            return "float"
        return "index" if self.type == "index" else "unsigned" if self.signed is False else "signed"

    def _operand(self, other: Any) -> Any:
        """Return the other operand in this value's type; None for what has operators of its own."""
        if isinstance(other, Numeric) and other.is_static():
            other = other.value
        if isinstance(other, (bool, int, float)):
            return constant(other, self.type)
        if isinstance(other, (Vector, Handle)):
            return None
        if not isinstance(other, (Numeric, ArithValue, SSAValue)) and not hasattr(other, "type"):
            return None
        raw = ssa_of(other)
        if str(raw.type) != self.type:
            raise DslTypeError(
                f"a raw {self.type} and a value of type {raw.type} have no common type: nothing is promoted here",
                hint="convert one: x.trunci(T), x.extsi(T), x.extui(T), x.index_cast(T), or make numbers of both",
            )
        return raw

    def _emit(self, name: str, operands: Sequence[Any], type_: str | None = None, attrs: Any = None) -> Any:
        given = attrs if attrs is not None else flag_attrs(None) if "fastmath" in default_properties(name) else None
        made = current().op(name, operands, self.type if type_ is None else str(type_), given)
        return ArithValue(made, self.signed) if is_number(str(made.type)) else Value(made)

    def _binary(self, symbol: str, other: Any, swapped: bool = False) -> Any:
        right = self._operand(other)
        if right is None:
            return NotImplemented
        a, b = (right, self.__dsl_ssa__) if swapped else (self.__dsl_ssa__, right)
        if symbol == "/" and not self.is_float and self.type != "index":
            return self._quotient(a, b)
        name = _OPERATORS[symbol].get(self._family())
        if symbol == ">>" and self.signed is None:
            name = "arith.shrui"
        if name is None:
            raise DslTypeError(f"{symbol} has no meaning for a raw {self.type}", hint="convert it to an integer first")
        made = self._emit(name, (a, b))
        return made._emit("math.floor", (made.__dsl_ssa__,)) if symbol == "//" and self.is_float else made

    def _quotient(self, a: Any, b: Any) -> Any:
        """Integers divide as floats: of 32 bits, or of 64 if they are wider."""
        kind, cast = "f64" if type_facts(self.type)["width"] > 32 else "f32", "sitofp" if self.signed else "uitofp"
        floats = [current().op(f"arith.{cast}", (x,), kind) for x in (a, b)]
        return ArithValue(current().op("arith.divf", floats, kind, flag_attrs(None)))

    def _compare(self, symbol: str, other: Any) -> Any:
        right = self._operand(other)
        if right is None:
            return NotImplemented
        word = _COMPARISONS[symbol]
        if self.is_float:
            name, predicate = "arith.cmpf", "une" if word == "ne" else f"o{word}"
        else:
            sign = "" if word in ("eq", "ne") else "u" if self.signed is False else "s"
            name, predicate = "arith.cmpi", f"{sign}{word}"
        return ArithValue(current().op(name, (self.__dsl_ssa__, right), "i1", {"predicate": predicate}))

    def __pow__(self, other: Any) -> Any:
        if not self.is_float:
            return self._binary("**", other)
        if isinstance(other, int) or (hasattr(other, "type") and str(other.type) in ("i16", "i32", "i64")):
            power = constant(other, "i32") if isinstance(other, int) else ssa_of(other)
            return self._emit("math.fpowi", (self.__dsl_ssa__, power))
        return self._binary("**", other)

    def __rpow__(self, other: Any) -> Any:
        return self._binary("**", other, swapped=True)

    def __eq__(self, other: object) -> Any:
        return self._compare("==", other)

    def __ne__(self, other: object) -> Any:
        return self._compare("!=", other)

    __hash__ = Value.__hash__

    def _refuse_flag(self, what: str) -> None:
        if self.type == "i1":
            raise DslTypeError(f"{what} of a raw i1 has no meaning", hint="extend it first: x.extui(T.i32)")

    def __neg__(self) -> Any:
        self._refuse_flag("the negative")
        if self.is_float:
            return self._emit("arith.negf", (self.__dsl_ssa__,))
        return self._emit("arith.subi", (constant(0, self.type), self.__dsl_ssa__))

    def __abs__(self) -> Any:
        self._refuse_flag("the absolute value")
        if self.is_float:
            return self._emit("math.absf", (self.__dsl_ssa__,))
        return self._emit("math.absi", (self.__dsl_ssa__,)) if self.signed else self

    def __invert__(self) -> Any:
        return self._binary("^", -1)

    def __pos__(self) -> Any:
        return self

    # Methods

    def select(self, true_value: Any, false_value: Any) -> Any:
        """Return one or the other by this i1; a Python number becomes a constant of the other's type."""
        if self.type != "i1":
            raise DslTypeError(
                f"select needs a condition of type i1, not {self.type}", hint="write (x != 0).select(a, b)"
            )
        arms = [true_value, false_value]
        kinds = [str(ssa_of(arm).type) for arm in arms if not isinstance(arm, (bool, int, float))]
        if not kinds:
            return ArithValue(self.__dsl_number__().select(*arms))
        values = [ssa_of(arm, kinds[0]) for arm in arms]
        if str(values[0].type) != str(values[1].type):
            raise DslTypeError(
                f"select chooses between two values of one type, not {values[0].type} and {values[1].type}"
            )
        signed = next((arm.signed for arm in arms if isinstance(arm, (Numeric, ArithValue))), None)
        return show(current().op("arith.select", (self.__dsl_ssa__, *values), kinds[0]), signed)

    def bitcast(self, type: Any) -> Any:
        """Return the same bits as another type of equal width."""
        text = type_text(type)
        if text == self.type:
            return self
        if text.startswith("vector<"):
            one = current().op("vector.from_elements", (self.__dsl_ssa__,), f"vector<1x{self.type}>")
            return show(current().op("vector.bitcast", (one,), text))
        return self._emit("arith.bitcast", (self.__dsl_ssa__,), text)

    def index_cast(self, type: Any) -> Any:
        """Return an integer as an index, or an index as an integer; itself if it has that type."""
        text = type_text(type)
        return self if text == self.type else self._emit("arith.index_cast", (self.__dsl_ssa__,), text)

    def shuffle_xor(self, offset: Any, width: Any) -> Any:
        """Return the value of the lane whose number differs by ``offset``."""
        operands = [self.__dsl_ssa__, ssa_of(offset, "i32"), ssa_of(width, "i32")]
        moved, _ = current().op("gpu.shuffle", operands, [str(self.type), "i1"], {"mode": "xor"})
        return ArithValue(moved, self.signed)


def _everywhere(
    name: str, floating: str | None, unsigned: str | None = None, index: str | None = None
) -> dict[str, str]:
    row = {"float": floating, "signed": name, "unsigned": unsigned or name, "index": index or unsigned or name}
    return {family: op for family, op in row.items() if op is not None}


_OPERATORS: dict[str, dict[str, str]] = {
    "+": _everywhere("arith.addi", "arith.addf"),
    "-": _everywhere("arith.subi", "arith.subf"),
    "*": _everywhere("arith.muli", "arith.mulf"),
    "/": {"float": "arith.divf", "index": "arith.divui"},
    "//": _everywhere("arith.floordivsi", "arith.divf", "arith.divui"),
    "%": _everywhere("arith.remsi", "arith.remf", "arith.remui"),
    "<<": _everywhere("arith.shli", None),
    ">>": _everywhere("arith.shrsi", None, "arith.shrui"),
    "&": _everywhere("arith.andi", None),
    "|": _everywhere("arith.ori", None),
    "^": _everywhere("arith.xori", None),
    "**": _everywhere("math.ipowi", "math.powf"),
}
"""Operator to the operation of each family of types; a raw integer without a sign is of the signed family."""

_COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
_SPELLING = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "<<": "lshift", ">>": "rshift",
    "&": "and", "|": "or", "^": "xor",
}  # fmt: skip

for _symbol, _word in _SPELLING.items():
    setattr(ArithValue, f"__{_word}__", lambda self, other, _s=_symbol: self._binary(_s, other))
    setattr(ArithValue, f"__r{_word}__", lambda self, other, _s=_symbol: self._binary(_s, other, swapped=True))
for _symbol in ("<", "<=", ">", ">="):
    setattr(ArithValue, f"__{_COMPARISONS[_symbol]}__", lambda self, other, _s=_symbol: self._compare(_s, other))

_CASTS = ("trunci", "extui", "extsi", "truncf", "extf", "sitofp", "uitofp", "fptosi", "fptoui", "index_castui")
_FLOAT_PAIRS = ("addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf")
_INTEGER_PAIRS = (
    "addi",
    "subi",
    "muli",
    "andi",
    "ori",
    "xori",
    "shli",
    "shrui",
    "shrsi",
    "maxsi",
    "maxui",
    "minsi",
    "minui",
)
_FUNCTIONS = ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "tanh", "absf", "floor", "ceil")


def _cast_method(name: str) -> Callable[..., Any]:
    def run(self: ArithValue, type: Any) -> Any:
        text = type_text(type)
        wanted = text if text.startswith("vector<") else with_element(self.type, text)
        return self if wanted == self.type else self._emit(f"arith.{name}", (self.__dsl_ssa__,), wanted)

    return run


def _pair_method(name: str, is_float: bool) -> Callable[..., Any]:
    def run(self: ArithValue, other: Any, *, fastmath: Flags = None) -> Any:
        right = self._operand(other)
        if right is None:
            raise DslTypeError(f"{name} takes another {self.type}, got {other!r}")
        attrs = flag_attrs(fastmath) if is_float else {}
        return self._emit(f"arith.{name}", (self.__dsl_ssa__, right), None, attrs or {})

    return run


def _function_method(name: str) -> Callable[..., Any]:
    def run(self: ArithValue, *, fastmath: Flags = None) -> Any:
        return self._emit(f"math.{name}", (self.__dsl_ssa__,), None, flag_attrs(fastmath) or {})

    return run


def _install(names: Sequence[str], make: Callable[[str], Callable[..., Any]], dialect: str) -> None:
    for name in names:
        method = make(name)
        method.__name__, method.__qualname__ = name, f"ArithValue.{name}"
        method.__doc__ = f"`{dialect}.{name}` of this value."
        setattr(ArithValue, name, method)


_install(_CASTS, _cast_method, "arith")
_install(_FLOAT_PAIRS, lambda name: _pair_method(name, True), "arith")
_install(_INTEGER_PAIRS, lambda name: _pair_method(name, False), "arith")
_install(_FUNCTIONS, _function_method, "math")

raw_face.show = lambda value, signed: show(value, signed) if isinstance(value, SSAValue) else value
