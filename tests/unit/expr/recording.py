"""An emitter that writes down what it is asked to emit, for tests of the language without a compiler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from flydsl.expr.trace.context import tracing


@dataclass(frozen=True, eq=False)
class RecordedValue:
    """An SSA value: its name in the record and its type."""

    name: str
    type: str

    def __repr__(self) -> str:
        return self.name


class Recorder:
    """Records every operation as one line, `%2 = arith.addi %a %1 : i32`; constants stand as their value."""

    target = None

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constants: list[tuple[str, int | float]] = []
        self._count = 0

    def argument(self, name: str, type: str) -> RecordedValue:
        """A run-time value from outside."""
        return RecordedValue(f"%{name}", type)

    def constant(self, type: str, value: int | float) -> RecordedValue:
        self.constants.append((type, value))
        return RecordedValue(f"{value}", type)

    def op(
        self, name: str, operands: Sequence[Any], result: str | None = None, attrs: Mapping[str, Any] | None = None
    ) -> RecordedValue | None:
        for operand in operands:
            assert isinstance(operand, RecordedValue), f"{name} was given {operand!r}, which is no SSA value"
        words = [name, *(operand.name for operand in operands)]
        if attrs:
            words.append("{" + ", ".join(f"{key}={value}" for key, value in attrs.items()) + "}")
        if result is None:
            self.lines.append(" ".join(words))
            return None
        value = RecordedValue(f"%{self._count}", str(result))
        self._count += 1
        self.lines.append(f"{value.name} = {' '.join(words)} : {result}")
        return value

    def known_number(self, value: RecordedValue) -> int | float | None:
        return None if value.name.startswith("%") else float(value.name) if "." in value.name else int(value.name)

    def type_name(self, value: RecordedValue) -> str:
        return value.type


@contextmanager
def recording() -> Iterator[Recorder]:
    """Trace into a fresh recorder."""
    recorder = Recorder()
    with tracing(recorder):  # type: ignore[arg-type]
        yield recorder
