"""Whether the source that was rewritten is the source a function was made from.

Keys are made of code objects, but tracing rewrites the source in the file (`rewrite/`), which may have been edited
since it was imported. Code made from the one must not be kept under the key of the other.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType

from flydsl.compiler.code_reads import code_digest


def sources_agree(functions: Iterable[FunctionType]) -> bool:
    """Whether every function is what its file says now."""
    files: dict[str, dict[tuple[str, int], list[str]]] = {}
    for function in functions:
        code = function.__code__
        if code.co_name == "<lambda>":  # never rewritten
            continue
        if code.co_filename not in files:
            files[code.co_filename] = _digests(code.co_filename, function)
        known = files[code.co_filename]
        if not known and code.co_filename.startswith("<"):  # code without a file, in this process and any other
            continue
        if code_digest(code) not in known.get((code.co_name, code.co_firstlineno), ()):
            return False
    return True


def _digests(file: str, function: FunctionType) -> dict[tuple[str, int], list[str]]:
    """Digests of all functions of a file by name and first line."""
    text = "".join(linecache.getlines(file, function.__globals__))
    found: dict[tuple[str, int], list[str]] = {}
    if not text:
        return found
    try:
        module = compile(text, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return found
    for code in _inside(module):
        found.setdefault((code.co_name, code.co_firstlineno), []).append(code_digest(code))
    return found


def _inside(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _inside(constant)
