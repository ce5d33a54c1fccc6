"""The trace context: where `expr` finds the function being built, without knowing who builds it.

`expr` never imports the compiler or an IR library. Everything it wants emitted goes through the
:class:`Emitter` of the current trace, which the compiler installs with :func:`tracing`. IR types
cross this boundary as MLIR text (``"i32"``, ``"vector<4xf32>"``); SSA values cross it as opaque
objects (:data:`Value`).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias, TypeVar

from flydsl.base.errors import DslRuntimeError, SourceLocation

T = TypeVar("T")

Value: TypeAlias = Any
"""An SSA value of the IR under construction. Its ``.type`` belongs to the emitter."""

Attr: TypeAlias = "bool | int | float | str | Sequence[int] | None"


class Emitter(Protocol):
    """Appends operations at the current insertion point, each tagged with the user's line."""

    @property
    def target(self) -> Any:
        """The :class:`flydsl.target.Target` code is generated for."""
        ...

    def constant(self, type: str, value: int | float) -> Value:
        """Return an ``arith.constant`` of a scalar or (splat) vector type; equal constants are shared."""
        ...

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        result: str | Sequence[str] | None = None,
        attrs: Mapping[str, Attr] | None = None,
    ) -> Value:
        """Return one upstream operation (``"arith.addi"``) whose result has type ``result``; a list of types gives a
        tuple.

        Attributes by Python value: ``predicate`` is the predicate's name (``"slt"``, ``"oeq"``),
        ``fastmath`` a comma-separated flag string (``"nnan,ninf"``), ``roundingmode`` its name, the
        rest ints, bools, strings and int sequences as the operation's own definition says.
        """
        ...

    def require_kernel(self, what: str) -> None:
        """Refuse ``what``, which only a GPU can do, in a jit function, which runs on the host."""
        ...

    def intrinsic(self, name: str, operands: Sequence[Value], result: str | None = None) -> Value:
        """Return a call of a target's LLVM intrinsic; type suffixes of an overloaded name may be left out."""
        ...

    def ptx(self, name: str, operands: Sequence[Value], literals: Sequence[int] = (), l2: str | None = None) -> Value:
        """Return an instruction of the table `target.ptx`, as inline assembly; ``literals`` go into its text.

        ``l2`` is the priority in L2 of what it moves.
        """
        ...

    def tied(self, name: str, text: str, values: Sequence[Value]) -> Sequence[Value]:
        """Return an instruction that registers pass through unchanged, so that uses of them stay behind it."""
        ...

    def call(
        self, symbol: str, operands: Sequence[Value], result: str, marks: Mapping[str, str] | None = None
    ) -> Value:
        """A call, in a jit function, of a native function that the launcher provides; ``marks`` are attributes."""
        ...

    def argument_name(self, value: Value) -> str | None:
        """Return the parameter of the jit function that a value comes from, if it is one."""
        ...

    def fly(
        self, name: str, operands: Sequence[Value], attrs: Mapping[str, Any] | None = None, result: Any = None
    ) -> Any:
        """Return one ``fly`` operation; None, one value or a tuple.

        The dialect infers the result type, except for operations that state it: those take its
        payload (or, for an upstream type, its text) as ``result``.
        """
        ...

    def static(self, payload: Any) -> Value:
        """Return a ``fly.static`` (or constant atom) of a payload with no run-time leaf; shared."""
        ...

    def shared_memory(self, symbol: str) -> Value:
        """Return the start of a named block of shared memory of this kernel, as an i8 pointer aligned to 1024.

        The block's size is set with ``builder.set_shared_size(symbol, bytes)`` once it is known.
        """
        ...

    def declare_dynamic_shared(self) -> None:
        """This kernel uses the shared memory whose size the launch gives."""
        ...

    def require_residence(self) -> None:
        """Blocks of this kernel wait for each other: launches are refused whose blocks cannot all run at once."""
        ...

    def known_number(self, value: Value) -> int | float | None:
        """Return the number of a value that is an ``arith.constant`` of a scalar type; None for any other."""
        ...

    def known_difference(self, first: Value, second: Value) -> int | None:
        """``second - first`` where both are one value plus known numbers, as ``k`` and ``k + 8`` are; else None."""
        ...

    def known_divisor(self, value: Value) -> int:
        """Return a power of two that an integer is certainly a multiple of, read off the arithmetic that makes it."""
        ...

    def views_argument(self, value: Value) -> bool:
        """Return whether a tensor is an argument or a part of one, whose layout nobody made up."""
        ...

    def type_name(self, value: Value) -> str:
        """Return the MLIR text of the value's type."""
        ...

    def here(self) -> SourceLocation | None:
        """Return the user's line being traced."""
        ...

    def if_(
        self,
        cond: Value,
        then: Callable[[], None],
        orelse: Callable[[], None],
        merge: Callable[[], tuple[Sequence[Value], Sequence[Value]]],
    ) -> Sequence[Value]:
        """Return an ``scf.if``: both callbacks build their branch, then ``merge`` says what each of them yields."""
        ...

    def for_(
        self,
        start: Value,
        stop: Value,
        step: Value,
        inits: Sequence[Value],
        body: Callable[[Value, Sequence[Value]], Sequence[Value]],
    ) -> Sequence[Value]:
        """Return an ``scf.for`` over equally typed bounds; ``body(iv, carried)`` returns the next carried."""
        ...

    def while_(
        self,
        inits: Sequence[Value],
        condition: Callable[[Sequence[Value]], tuple[Value, Sequence[Value]]],
        body: Callable[[Sequence[Value]], Sequence[Value]],
    ) -> Sequence[Value]:
        """Return an ``scf.while``: ``condition(carried)`` gives the condition and what the body, or the code after the
        loop, gets; ``body`` of that returns the next carried."""
        ...

    def before_branches(self, values: Sequence[Value], build: Callable[[bool], T]) -> T:
        """Return what ``build`` returns, which emits outside of all branches and loops that ``values`` were there
        before.

        It is told whether every thread of the workgroup comes by that place, as far as that is certain.
        """
        ...

    def speculate(self, build: Callable[[], T], keep: Callable[[T], bool]) -> T:
        """Return what ``build`` returns; the operations it emits stay only if ``keep`` of that holds."""
        ...


class _RawFace:
    """How code outside this package sees an SSA value: as it is, or with the operators `flydsl._mlir` gives it."""

    show: Callable[[Value, bool | None], Any] | None = None


raw_face = _RawFace()
"""Filled by `flydsl._mlir` when a program imports it; nobody else pays for it."""


def as_seen_outside(value: Value, signed: bool | None = None) -> Any:
    """Return what a method of ours returns to its caller: the bare SSA value in this package, the raw layer's value
    outside.

    Called by the method itself, so its caller is two frames up.
    """
    if raw_face.show is None or sys._getframe(2).f_globals.get("__name__", "").startswith("flydsl."):
        return value
    return raw_face.show(value, signed)


def bare_values(value: Any) -> list[Value]:
    """Return the SSA values of an object of the DslType protocol, which may hand out those of the raw layer."""
    return [getattr(part, "__dsl_ssa__", part) for part in value.__extract_to_ir_values__()]


class _State(threading.local):
    stack: list[Emitter]

    def __init__(self) -> None:
        self.stack = []


_state = _State()


@contextmanager
def tracing(emitter: Emitter) -> Iterator[Emitter]:
    """Make ``emitter`` the current one for the length of the block."""
    _state.stack.append(emitter)
    try:
        yield emitter
    finally:
        _state.stack.pop()


def is_tracing() -> bool:
    return bool(_state.stack)


def is_raw_value(value: Any) -> bool:
    """Return whether this is an SSA value of the current trace, bare or with the operators of the raw layer."""
    return (
        hasattr(value, "type")
        and is_tracing()
        and not isinstance(value, type)
        and (hasattr(value, "__dsl_ssa__") or not hasattr(value, "__extract_to_ir_values__"))
    )


def current() -> Emitter:
    """Return the emitter of the innermost trace."""
    if not _state.stack:
        raise DslRuntimeError(
            "this operation needs a run-time value, and no kernel or jit function is being traced",
            hint="call it inside a function decorated with @flyc.kernel or @flyc.jit",
        )
    return _state.stack[-1]
