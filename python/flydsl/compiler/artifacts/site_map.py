"""Places in an artifact, kept so that they follow their function: to another line, file or checkout.

On disk a place is the number of the function it lies in and the distance from the function's first line. A function
that moves within its file, or whose file moves, keeps its compiled code, and errors still name the right line.
Functions of this package have no number, for a key does not follow them: their files are named from where it lies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import CodeType, FunctionType

from flydsl.base.own_code import own_file
from flydsl.base.records import replace
from flydsl.compiler.artifacts.artifact import Artifact

_ROOT = own_file("")

_MARK, _OURS = "\0function ", "\0package "
"""No file name holds a zero byte."""


def portable(artifact: Artifact, functions: Sequence[FunctionType]) -> Artifact:
    """The artifact with its places given by function."""
    spans = [(f.__code__.co_filename, f.__code__.co_firstlineno, max(_lines(f.__code__))) for f in functions]
    return replace(artifact, sites=tuple(_to_function(site, spans) for site in artifact.sites))


def _to_function(site: tuple[str, int, str], spans: Sequence[tuple[str, int, int]]) -> tuple[str, int, str]:
    file, line, message = site
    around = [(first, n) for n, (name, first, last) in enumerate(spans) if name == file and first <= line <= last]
    if not around:
        return (_OURS + file[len(_ROOT) :], line, message) if file.startswith(_ROOT) else site
    first, number = max(around)  # the innermost
    return f"{_MARK}{number}", line - first, message


def local(artifact: Artifact, functions: Sequence[FunctionType]) -> Artifact | None:
    """The artifact with its places as they are in this process; None if it speaks of functions that are not there."""
    sites = []
    for file, line, message in artifact.sites:
        if file.startswith(_MARK):
            number = file[len(_MARK) :]
            if not number.isdecimal() or int(number) >= len(functions):
                return None
            code = functions[int(number)].__code__
            file, line = code.co_filename, code.co_firstlineno + line
        elif file.startswith(_OURS):
            file = own_file(file[len(_OURS) :])
        sites.append((file, line, message))
    return replace(artifact, sites=tuple(sites))


def _lines(code: CodeType) -> Iterator[int]:
    yield code.co_firstlineno
    yield from (line for _, _, line in code.co_lines() if line is not None)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _lines(constant)
