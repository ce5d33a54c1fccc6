"""From a call's Python values to the arguments they are passed as, each checked against its parameter's annotation.

`Signature` knows the parameters: names, defaults, and which are compile-time. `JitArgumentRegistry` says how values of
a user's own types are passed: an adaptor class is called with the value and answers with the JitArgument protocol,
``__get_ir_types__``, ``__cache_signature__`` and ``__c_abi_spec__`` (or the older ``__get_c_pointers__``); the DSL type
says what the traced function sees.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from itertools import takewhile
from typing import Any, NamedTuple, TypeVar, get_args

from flydsl.base.errors import DslTypeError, DslValueError, FlyDSLError
from flydsl.compiler.arguments.kinds import (
    JitArgument,
    NoneArgument,
    PointerArgument,
    ScalarArgument,
    StreamArgument,
    StructArgument,
    TensorArgument,
    dynamic_tensor,
    scalar_argument,
    without_none,
)
from flydsl.compiler.arguments.tensor_adaptor import TensorAdaptor
from flydsl.compiler.messages.diagnostics import definition_of
from flydsl.expr.memory.struct import is_struct_type
from flydsl.expr.numeric import Boolean, Float32, Int32, Numeric
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.trace.abi_slots import AbiSlot, check_slots
from flydsl.expr.trace.constexpr import is_constexpr
from flydsl.expr.trace.context import is_tracing
from flydsl.expr.trace.host_argument import Stream, c_abi_spec, cache_signature, get_ir_types
from flydsl.expr.trace.protocol import extract_to_ir_values
from flydsl.expr.values.handle import describe
from flydsl.expr.values.numpy_scalar import python_value
from flydsl.runtime import array_view

# Parameters -----------------------------------------------------------------------------------------------------------


class Signature:
    """Binds call arguments to parameters, defaults applied, in declaration order."""

    def __init__(self, func: Callable[..., Any]) -> None:
        self.func = func
        self._inspected = inspect.signature(func)
        for parameter in self._inspected.parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
                raise DslTypeError(
                    f"'{func.__name__}' takes {stars}{parameter.name}, which has no fixed signature",
                    hint="name every parameter",
                    location=definition_of(func),
                )
        self.names = list(self._inspected.parameters)
        stated = [without_none(annotation) for annotation in _annotations(func, self.names)]
        self.annotations = [annotation for annotation, _ in stated]
        self.optional = [optional for _, optional in stated]
        """Which of the annotations said ``| None``."""
        self.instance = 0 if self.names[:1] == ["self"] and self.annotations[0] is None else None
        """The place of ``self``, which is known while tracing like a Constexpr."""
        self.instance_key: Callable[[Any], Any] = type
        """What gives the key of ``self`` in memory; a jit function puts in what knows which attributes it reads."""
        self.constexpr = [is_constexpr(a) or i == self.instance for i, a in enumerate(self.annotations)]
        parameters = self._inspected.parameters.values()
        self._places = {p.name: place for place, p in enumerate(parameters) if p.kind is not p.POSITIONAL_ONLY}
        self._defaults = tuple(p.default for p in parameters)
        self._positional = sum(p.kind is not p.KEYWORD_ONLY for p in parameters)

    @property
    def takes_all_by_position(self) -> bool:
        """Whether no parameter is keyword-only."""
        return self._positional == len(self.names)

    def defaults(self, without: Collection[str] = ()) -> tuple[Any, ...]:
        """Default values of the last parameters, in order, back to one without a default; some may be left out."""
        rows = [row for row in zip(self.names, self._defaults, strict=True) if row[0] not in without]
        last = takewhile(lambda row: row[1] is not inspect.Parameter.empty, reversed(rows))
        return tuple(value for _, value in last)[::-1]

    def tails(self) -> dict[int, tuple[Any, ...]]:
        """Return what completes a call by position that leaves out so many arguments."""
        defaults = self.defaults() if self.takes_all_by_position else ()
        return {count: defaults[len(defaults) - count :] for count in range(1, len(defaults) + 1)}

    def split(self, values: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Values in declaration order as the positional and the keyword arguments of a call."""
        by_name = zip(self.names[self._positional :], values[self._positional :], strict=True)
        return list(values[: self._positional]), dict(by_name)

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """Match the arguments of a call with the parameters. Returns the values in the order of the declaration."""
        if not kwargs and len(args) == len(self.names) == self._positional:
            return list(args)
        return self._bind_plainly(args, kwargs) or self._bind_fully(args, kwargs)

    def _bind_plainly(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any] | None:
        """Return what Python's own way does at ten times the cost; None where something needs an explanation."""
        values = [*args, *self._defaults[len(args) :]]
        if len(args) > self._positional:
            return None
        for name, value in kwargs.items():
            place = self._places.get(name, -1)
            if place < len(args):
                return None
            values[place] = value
        return None if any(value is inspect.Parameter.empty for value in values) else values

    def _shown(self) -> list[str]:
        """Return the parameters as they are declared: those behind a star are passed by name."""
        star = [] if self.takes_all_by_position else ["*"]
        return [*self.names[: self._positional], *star, *self.names[self._positional :]]

    def _bind_fully(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        try:
            bound = self._inspected.bind(*args, **kwargs)
        except TypeError as error:
            raise DslTypeError(
                f"call of '{self.func.__name__}': {error}",
                hint=f"its parameters are {', '.join(self._shown())}",
                location=None if is_tracing() else definition_of(self.func),  # of a kernel, the line of the call
            ) from None
        bound.apply_defaults()
        return [bound.arguments[name] for name in self.names]


def keyword_only(func: Callable[..., Any]) -> list[str]:
    """Names of the parameters that are passed by name alone, which are the last."""
    return [p.name for p in inspect.signature(func).parameters.values() if p.kind is p.KEYWORD_ONLY]


def _annotations(func: Callable[..., Any], names: list[str]) -> list[Any]:
    """Annotations as objects; text ones are evaluated where the function was written."""
    raw = dict(getattr(func, "__annotations__", {}))
    resolved = []
    for name in names:
        annotation = raw.get(name)
        while isinstance(annotation, str):  # a quoted one is text twice below `from __future__ import annotations`
            annotation = _evaluate(func, name, annotation)
        resolved.append(annotation)
    return resolved


def _evaluate(func: Callable[..., Any], name: str, text: str) -> Any:
    scope = dict(getattr(func, "__globals__", {}))
    closure = inspect.getclosurevars(func).nonlocals if func.__closure__ else {}
    try:
        return eval(text, scope, dict(closure))
    except Exception as error:
        frame_locals = _caller_locals(text)
        if frame_locals is not None:
            return eval(text, scope, frame_locals)
        warnings.warn(
            f"annotation {text!r} of parameter '{name}' cannot be resolved ({error}); it is ignored", stacklevel=4
        )
        return None


def _caller_locals(text: str) -> dict[str, Any] | None:
    """Return the scope of an enclosing function, for kernels defined inside functions."""
    head = text.split(".")[0].split("[")[0]
    frame = sys._getframe(1)
    while frame is not None:
        if head in frame.f_locals and frame.f_code.co_filename != __file__:  # our own names are nobody's annotation
            return frame.f_locals
        frame = frame.f_back
    return None


# Registered types -----------------------------------------------------------------------------------------------------

C = TypeVar("C", bound=type)


class Entry(NamedTuple):
    """An adaptor class and the DSL type of the values it makes."""

    adaptor: Any
    dsl_type: Any


_BUILT_IN: dict[type, Entry] = {
    bool: Entry(Boolean, Boolean),
    int: Entry(Int32, Int32),
    float: Entry(Float32, Float32),
}
_entries: dict[type, Entry] = {}
_dsl_types: dict[type, Any] = {}


class JitArgumentRegistry:
    """The table from Python types to argument adaptors."""

    @classmethod
    def register(cls, py_type: type, *, dsl_type: Any = None) -> Callable[[C], C]:
        """Class decorator: the adaptor for values of ``py_type`` and of its subclasses."""
        if py_type in _BUILT_IN or py_type in _entries:
            raise DslValueError(
                f"{py_type.__name__} already has an argument adaptor",
                hint="register a subclass of it, or pass another type",
            )

        def add(adaptor: C) -> C:
            found = dsl_type if dsl_type is not None else getattr(adaptor, "dsl_type", None)
            if found is None:
                raise DslValueError(
                    f"the adaptor {adaptor.__name__} does not say what the traced function sees",
                    hint="pass dsl_type=fx.Int32 to register, or give the class a dsl_type attribute",
                )
            _entries[py_type] = Entry(adaptor, found)
            _dsl_types[adaptor] = found
            return adaptor

        return add

    @classmethod
    def register_jit_arg(cls, adaptor: C, dsl_type: Any) -> C:
        """Register a class whose instances are jit arguments themselves."""
        if adaptor in _entries or adaptor in _BUILT_IN:
            raise DslValueError(f"{adaptor.__name__} already is a jit argument")
        _entries[adaptor] = Entry(None, dsl_type)
        _dsl_types[adaptor] = dsl_type
        return adaptor

    @classmethod
    def get(cls, py_type: type) -> tuple[Any, Any] | None:
        """Return the adaptor class and DSL type for a Python type, its bases included; None if there is none."""
        for base in py_type.__mro__:
            entry = _entries.get(base) or _BUILT_IN.get(base)
            if entry is not None:
                return entry
        return None

    @classmethod
    def get_dsl_type(cls, adaptor: type) -> Any:
        """Return the DSL type of an adaptor class; None if it is not registered."""
        return _dsl_types.get(adaptor)


class RegisteredArgument:
    """A value of a registered type, seen through the protocol of its adaptor, which is checked."""

    __slots__ = ("adaptor", "dsl_type")

    def __init__(self, adaptor: Any, dsl_type: Any) -> None:
        self.adaptor = adaptor
        self.dsl_type = dsl_type

    @property
    def _name(self) -> str:
        return type(self.adaptor).__name__

    def signature(self) -> tuple[Any, ...]:
        made = cache_signature(self.adaptor)
        try:
            hash(made)
        except TypeError:
            raise DslTypeError(
                f"the __cache_signature__ of {self._name} cannot be hashed: {made!r}",
                hint="return a string, a number or a tuple of those",
            ) from None
        return ("registered", type(self.adaptor), made)

    def ir_types(self) -> list[Any]:
        return get_ir_types(self.adaptor)

    def construct(self, values: list[Any]) -> Any:
        self._check_dsl_type()
        return self.dsl_type.__construct_from_ir_values__(values)

    def _check_dsl_type(self) -> None:
        """A number class takes values of its own IR type alone; others say for themselves what they take."""
        if not (isinstance(self.dsl_type, type) and issubclass(self.dsl_type, Numeric)):
            return
        types = [str(kind) for kind in self.ir_types()]
        if types != [str(self.dsl_type.ir_type)]:
            raise DslTypeError(
                f"{self._name} has the IR types {types}, but is registered with dsl_type={self.dsl_type}, "
                f"which is one {self.dsl_type.ir_type}",
                hint="make __get_ir_types__ and dsl_type agree",
            )

    def abi(self) -> str:
        return "".join(form for form, _ in self._slots())

    def pack(self) -> Sequence[int | float]:
        return [number for _, number in self._slots()]

    def _slots(self) -> list[AbiSlot]:
        return check_slots(self._name, self.ir_types(), c_abi_spec(self.adaptor))

    def views(self) -> list[Any]:
        return []


def registered_argument(value: Any) -> RegisteredArgument | None:
    """Return the adapted value, if someone registered its type."""
    if not _entries:
        return None
    entry = next((_entries[base] for base in type(value).__mro__ if base in _entries), None)
    if entry is None:
        return None
    adaptor = value if entry.adaptor is None else entry.adaptor(value)
    if not hasattr(adaptor, "__get_ir_types__"):
        raise DslTypeError(
            f"{type(adaptor).__name__} is registered as a jit argument but has no __get_ir_types__",
            hint="give it __get_ir_types__, __cache_signature__ and __c_abi_spec__",
        )
    return RegisteredArgument(adaptor, entry.dsl_type)


# Adapting -------------------------------------------------------------------------------------------------------------


class Adapted:
    """An argument that becomes SSA values, as opposed to a compile-time value passed as it is."""

    __slots__ = ("argument",)

    def __init__(self, argument: JitArgument) -> None:
        self.argument = argument

    @property
    def is_stream(self) -> bool:
        return isinstance(self.argument, StreamArgument)

    def without_data(self) -> Adapted:
        """Return what is known of an array, which itself is let go."""
        if not isinstance(self.argument, TensorArgument):
            return self
        described = copy(self.argument)
        described.view = described.view._replace(owner=None, has_data=False)
        return Adapted(described)


def _struct_argument(value: Any) -> StructArgument:
    fields = type(value)._fields
    parts = {f.name: _field_argument(f, getattr(value, f.name)) for f in fields if not f.is_constexpr}
    return StructArgument(type(value), parts, {f.name: getattr(value, f.name) for f in fields if f.is_constexpr})


def _field_argument(field: Any, value: Any) -> JitArgument:
    try:
        return adapt(value, field.type)
    except FlyDSLError as error:
        error.message = f"field '{field.name}': {error.message}"
        raise


_BY_TYPE: dict[type, Callable[[Any], Any]] = {
    TensorAdaptor: TensorAdaptor.argument,
    PointerArgument: lambda v: v,
    type(None): lambda v: NoneArgument(),
    Stream: StreamArgument,
}


def adapt(value: Any, annotation: Any = None, *, optional: bool = False) -> JitArgument:
    """Return the adaptor of one argument, checked against the annotation of the parameter it is passed for.

    ``optional`` says that the parameter may be None although its annotation names another kind.
    """
    if annotation is Stream:
        return StreamArgument(value)
    if optional and value is None:
        return NoneArgument()
    argument = _adapted(value, annotation)
    check_annotation(argument, value, annotation)
    return argument


def _adapted(value: Any, annotation: Any) -> JitArgument:
    number = scalar_argument(value, annotation)
    if number is not None:
        return number
    make = _BY_TYPE.get(type(value))
    if make is not None:
        return make(value)
    if is_struct_type(type(value)):
        return _struct_argument(value)
    registered = registered_argument(value)
    if registered is not None:
        return registered
    view = array_view.of(value)
    if view is not None:
        return dynamic_tensor(view)
    if type(value).__name__ in ("Stream", "ExternalStream"):  # torch's and others', known by their name
        return StreamArgument(value)
    raise DslTypeError(
        f"an argument of type {type(value).__name__} cannot be passed to a jit function",
        hint="pass a NumPy or torch array, a number, a stream, or annotate the parameter as fx.Constexpr",
    )


def convert_to_jit_arguments(signature: Any, values: Sequence[Any]) -> tuple[list[str], list[Any]]:
    """Names and adapted arguments of the run-time parameters; compile-time ones are left out.

    ``signature`` is an `inspect.Signature`, and ``values`` are in its order.
    """
    names: list[str] = []
    adapted: list[Any] = []
    for parameter, value in zip(signature.parameters.values(), values, strict=True):
        annotation = None if parameter.annotation is parameter.empty else parameter.annotation
        annotation, optional = without_none(annotation)
        if not is_constexpr(annotation):
            names.append(parameter.name)
            adapted.append(adapt(value, annotation, optional=optional))
    return names, adapted


# Whether an argument is what its parameter's annotation says: `fx.Tensor`, a number class, a struct, `fx.Pointer`
#
# Without this a stream in the place of a tensor would be traced as one, and the error would come from the middle
# of a kernel. Values of registered types are left alone: what they become is their adaptor's business. So are
# parameters without annotation, or with one that is none of these.


_TENSOR = "pass a NumPy or torch array, or anything with __dlpack__"


def check_annotation(argument: Any, value: Any, annotation: Any) -> None:
    """Refuse an adapted argument of another kind than its parameter is annotated."""
    if not isinstance(annotation, type) or isinstance(argument, RegisteredArgument):
        return
    if annotation is Tensor:
        expected, shown, hint = isinstance(argument, TensorArgument), "fx.Tensor", _TENSOR
    elif issubclass(annotation, Numeric):
        shown = f"fx.{annotation.__name__}"
        expected, hint = isinstance(argument, ScalarArgument), "pass a number; one element of an array is a[0].item()"
    elif annotation is Pointer:
        expected, shown = isinstance(argument, PointerArgument), "fx.Pointer"
        hint = "pass flyc.from_c_void_p(fx.Float32, address), or annotate it fx.Tensor to pass an array"
    elif is_struct_type(annotation):
        shown = annotation.__name__
        expected, hint = _is_struct(argument, annotation), f"pass {shown}(...)"
    else:
        return
    if value is None:
        hint += f"; what may be left out is annotated {shown} | None"
    if not expected:
        raise DslTypeError(f"it is annotated {shown}, got {type(value).__name__}", hint=hint)


_FITTING: dict[Any, tuple[type, ...]] = {
    int: (int,), float: (int, float), bool: (bool, int), str: (str,), tuple: (tuple, list), list: (tuple, list),
}  # fmt: skip
_PLAIN = (bool, int, float, str, tuple, list, dict)
"""Values whose kind leaves no doubt; others may stand for what is annotated."""


def check_constexpr(value: Any, annotation: Any) -> None:
    """Refuse what a compile-time parameter cannot be: a run-time value, or a 2.5 for ``fx.Constexpr[int]``."""
    if extract_to_ir_values(value):
        shown = f"a run-time {type(value)}" if isinstance(value, Numeric) else describe(value)
        raise DslTypeError(
            f"it is annotated fx.Constexpr, and {shown} is known only when the kernel runs",
            hint="annotate the jit function's own parameter fx.Constexpr too, or take it as a run-time one, fx.Int32",
        )
    arguments = get_args(annotation)
    wanted: Any = arguments[0] if len(arguments) == 1 else None
    plain = python_value(value)
    if isinstance(plain, _PLAIN) and wanted in _FITTING and not isinstance(plain, _FITTING[wanted]):
        raise DslTypeError(
            f"it is annotated fx.Constexpr[{wanted.__name__}], got the {type(plain).__name__} {plain!r}",
            hint=f"pass {wanted.__name__}(...) of it, or annotate it fx.Constexpr[{type(plain).__name__}]",
        )


def _is_struct(argument: Any, annotation: Any) -> bool:
    """Return whether it is a struct of the annotated type; with its Constexpr fields fixed, it is a subtype of that."""
    return isinstance(argument, StructArgument) and issubclass(argument.kind, annotation)
