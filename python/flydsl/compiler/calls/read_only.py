"""Arrays that must not be written, passed where compiled code writes: found before anything runs.

The compiler notes in the artifact which arguments the code may write (`passes/written_arguments.py`). What is written
has to be writable at each call: an array marked read-only belongs to somebody who relies on it, and a file mapped for
reading would end the process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from flydsl.base.errors import DslValueError, SourceLocation
from flydsl.base.records import dataclass, replace
from flydsl.compiler.arguments.array_view import ArrayView, is_writable
from flydsl.compiler.arguments.struct_argument import StructArgument
from flydsl.compiler.arguments.tensor_argument import TensorArgument
from flydsl.compiler.artifacts.artifact import Artifact


@dataclass(frozen=True)
class Write:
    """An address among the numbers of an argument, or of a whole call, behind which the code may write."""

    number: int
    known: bool
    """Whether the code has an instruction that writes there; else the compiler could not follow the address."""
    place: SourceLocation | None


def writes_of(artifact: Artifact) -> tuple[Write, ...]:
    """What the code may write, by the numbers of its argument block."""
    return tuple(Write(number, known, _place(artifact.sites[site])) for number, known, site in artifact.writes)


def _place(site: tuple[str, int, str]) -> SourceLocation | None:
    return SourceLocation(site[0], site[1]) if site[0] else None


def part_of(writes: Sequence[Write], first: int, count: int) -> tuple[Write, ...]:
    """Those among the ``count`` numbers from ``first`` on, counted from there."""
    return tuple(replace(w, number=w.number - first) for w in writes if first <= w.number < first + count)


def check_writable(argument: Any, writes: Sequence[Write]) -> None:
    """Refuse an argument with a read-only array that the code may write; ``writes`` are of this argument."""
    for write in writes:
        for field, view in _views_at(argument, write.number):
            if not is_writable(view):
                raise _refusal(field, write)


def _views_at(argument: Any, number: int) -> Iterator[tuple[str, ArrayView]]:
    """The array whose address is that number of an argument, with the field of the struct that it is in."""
    if isinstance(argument, TensorArgument):
        yield "", argument.view
    elif isinstance(argument, StructArgument):
        for name, part in argument.parts.items():
            count = len(part.abi())
            if 0 <= number < count:
                yield from ((f"{name}.{inner}" if inner else name, view) for inner, view in _views_at(part, number))
            number -= count
    else:
        yield from (("", view) for view in argument.views())  # a registered type: which array it is, only it knows


def _refusal(field: str, write: Write) -> DslValueError:
    what = f"the array in field '{field}'" if field else "the array"
    if write.known:
        return DslValueError(
            f"{what} is read-only, and the code writes it",
            hint="pass an array that may be written, such as a copy: a.copy(); "
            "if it is meant to be read, do not store here",
            location=write.place,
        )
    return DslValueError(
        f"{what} is read-only, and the code may write it: here its address goes where the compiler cannot follow it",
        hint="pass an array that may be written, such as a copy: a.copy()",
        location=write.place,
    )
