"""JitArgumentRegistry: how values of a user's own Python types are passed to jit functions.

An adaptor class is registered for a Python type. It is called with the value, and answers with the JitArgument
protocol: ``__get_ir_types__``, ``__cache_signature__`` and ``__c_abi_spec__`` (or the older ``__get_c_pointers__``).
The DSL type says what the traced function sees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.numeric import Boolean, Float32, Int32, Numeric
from flydsl.expr.trace.abi_slots import AbiSlot, check_slots
from flydsl.expr.trace.host_argument import c_abi_spec, cache_signature, get_ir_types

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
        """The adaptor class and DSL type for a Python type, its bases included; None if there is none."""
        for base in py_type.__mro__:
            entry = _entries.get(base) or _BUILT_IN.get(base)
            if entry is not None:
                return entry
        return None

    @classmethod
    def get_dsl_type(cls, adaptor: type) -> Any:
        """The DSL type of an adaptor class; None if it is not registered."""
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
    """The adapted value, if someone registered its type."""
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
