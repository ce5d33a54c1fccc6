"""What must hold of a call's arguments before a kernel runs."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.numeric import Boolean, Int64, operand
from flydsl.expr.trace.context import current


def require(condition: Any, message: str, *numbers: Any, hint: str = "") -> None:
    """Refuse a launch unless a condition on the numbers that its caller gives holds: arguments, extents and strides.

    Each ``{}`` of the message is one of ``numbers``, ``hint`` says what to pass instead. The condition is computed once
    a call, by the host; nothing of it stays in the kernel. What is known while tracing is refused then.
    """
    truth = operand(condition)
    if not isinstance(truth, Boolean):
        raise DslTypeError(f"a requirement is a truth value, got {condition!r}", hint="compare: x.stride[1] == 1")
    if truth.is_static():
        if not truth:
            raise DslValueError(message.format(*numbers), hint=hint)
        return
    shown = [Int64(number).ir_value() for number in numbers]
    text = message.format(*(f"#{place}" for place in range(len(shown))))
    current().fly("require", [truth.ir_value(), *shown], {"message": f"{text}\n{hint}"})
