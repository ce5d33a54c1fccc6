"""What code reads from around it, by the names in a code object; and its content, as a digest.

Names are read off the instructions, for the functions inside a code object as well. Attributes taken right from a
global or closure variable are known exactly (`chains`); of all others only the names are known, whatever they are taken
from. That finds `mod.helper`, `m = mod; m.helper` and `getattr(mod, "helper")` alike, at the price of a name too many.
"""

from __future__ import annotations

import linecache
import opcode
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from types import CodeType, EllipsisType, FunctionType
from typing import Any, cast

from flydsl.base.own_code import is_library_module
from flydsl.base.records import dataclass

_GLOBAL, _NAME, _IMPORT, _STORE, _DELETE = (
    opcode.opmap[name] for name in ("LOAD_GLOBAL", "LOAD_NAME", "IMPORT_NAME", "STORE_GLOBAL", "DELETE_GLOBAL")
)
_CLOSURE = tuple(
    opcode.opmap[name] for name in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF") if name in opcode.opmap
)
_REAL = {name: number for name, number in opcode.opmap.items() if number < 256}
"""Instructions that occur in code; later Pythons list some beside them that only its compiler uses."""
_ATTRIBUTE, _METHOD = _REAL["LOAD_ATTR"], _REAL.get("LOAD_METHOD")
_ATTRIBUTE_SHIFT = 0 if _METHOD is not None else 1
"""Where methods have no instruction of their own, the lowest bit of the argument says that one is meant."""
_TAKING = (_ATTRIBUTE,) if _METHOD is None else (_ATTRIBUTE, _METHOD)
_PATTERN = opcode.opmap["MATCH_CLASS"]
"""A pattern such as `Point(x, y)` takes attributes that the class names."""
_FILLER = opcode.opmap["CACHE"]
_CONSTANT, _EXTENDED, _SMALL_INT = map(opcode.opmap.get, ("LOAD_CONST", "EXTENDED_ARG", "LOAD_SMALL_INT"))
_READING = (_GLOBAL, _NAME, _IMPORT, _STORE, _DELETE, *_CLOSURE, *_TAKING)
_WANTED = re.compile(b"[" + re.escape(bytes(_READING)) + b"]", re.DOTALL)

_BY_NAME = frozenset({
    "getattr", "setattr", "hasattr", "delattr", "dir", "attrgetter", "vars", "__dict__", "asdict", "astuple", "fields",
})  # fmt: skip
"""Functions that read attributes whose names may be computed."""

FORM = frozenset({"dtype", "element_size", "itemsize", "nbytes", "ndim", "numel", "shape", "size", "stride", "strides"})
"""Attributes of an array that tell nothing of its elements."""


@dataclass(frozen=True)
class CodeReads:
    """The names a function and those inside it may read."""

    globals: tuple[str, ...]
    attributes: frozenset[str]
    imports: tuple[tuple[str, int], ...]
    """(name, level) of import statements inside the function."""
    writes_globals: bool
    computes_names: bool
    """Whether it may read attributes under computed names."""
    chains: Mapping[str, frozenset[tuple[str, ...]]]
    """Attributes taken right from a global or closure variable, by its name: `os.path.join` is ``("path", "join")``.
    An empty chain says that the variable itself goes somewhere."""
    taken: frozenset[str]
    """Attributes that it takes from anything, and texts that could be names of some."""
    content: frozenset[str]
    """Those of them from which more than the shape or type of an array may be taken."""
    strings: tuple[str, ...]
    """Texts among its constants, which may be keys and names of what it reads."""


@lru_cache(maxsize=4096)
def code_reads(code: CodeType) -> CodeReads:
    """Return what a code object may read."""
    found: dict[str, None] = {}
    attributes: set[str] = set()
    taken: set[str] = set()
    content: set[str] = set()
    imports: list[tuple[str, int]] = []
    chains: dict[str, set[tuple[str, ...]]] = {}
    strings: dict[str, None] = {}
    writes = patterns = False
    for part in code_parts(code):
        names, raw = part.co_names, part.co_code
        words = [constant for constant in part.co_consts if isinstance(constant, str)]
        strings.update(dict.fromkeys(words))
        attributes.update(names, filter(str.isidentifier, words))
        taken.update(words)
        content.update(words)
        # A search over the operations, every other byte: a loop in Python takes ten times as long.
        operations, arguments = raw[::2], raw[1::2]
        patterns = patterns or _PATTERN in operations
        for match in _WANTED.finditer(operations):
            at = match.start()
            operation, argument = operations[at], _argument(operations, arguments, at)
            if operation in _TAKING:
                name = names[argument >> (_ATTRIBUTE_SHIFT if operation == _ATTRIBUTE else 0)]
                taken.add(name)
                if FORM.isdisjoint(_chain(names, operations, arguments, at)[:1]):
                    content.add(name)
            elif operation in (_GLOBAL, _NAME):  # the latter in the body of a class
                name = names[argument >> 1 if operation == _GLOBAL else argument]
                found[name] = None
                chains.setdefault(name, set()).add(_chain(names, operations, arguments, at))
            elif operation in _CLOSURE:
                name = _variable(part, argument)
                chains.setdefault(name, set()).add(_chain(names, operations, arguments, at))
            elif operation == _IMPORT:
                imports.append((names[argument], _import_level(part, operations, arguments, at)))
            else:
                writes = True
    return CodeReads(
        globals=tuple(found),
        attributes=frozenset(attributes),
        imports=tuple(imports),
        writes_globals=writes,
        computes_names=patterns or not _BY_NAME.isdisjoint(attributes),
        chains={name: frozenset(found) for name, found in chains.items()},
        taken=frozenset(taken),
        content=frozenset(content),
        strings=tuple(strings),
    )


def _variable(code: CodeType, argument: int) -> str:
    """Return the name of a variable that a nested function shares with the one around it."""
    # Cells of parameters stand where the parameters do, the others behind them.
    cells = tuple(name for name in code.co_cellvars if name not in code.co_varnames)
    return (*code.co_varnames, *cells, *code.co_freevars)[argument]


def _chain(names: tuple[str, ...], operations: bytes, arguments: bytes, at: int) -> tuple[str, ...]:
    """Return the attributes that the instructions after one take, each from the one before."""
    found: list[str] = []
    while True:
        at += 1
        while at < len(operations) and operations[at] in (_FILLER, _EXTENDED):
            at += 1
        if at >= len(operations) or operations[at] not in (_ATTRIBUTE, _METHOD):
            return tuple(found)
        shift = _ATTRIBUTE_SHIFT if operations[at] == _ATTRIBUTE else 0
        found.append(names[_argument(operations, arguments, at) >> shift])


def _argument(operations: bytes, arguments: bytes, at: int) -> int:
    """Return the argument of an instruction, with what the prefixes before it add."""
    number, shift = arguments[at], 8
    while at and operations[at - 1] == _EXTENDED:
        at -= 1
        number |= arguments[at] << shift
        shift += 8
    return number


def _import_level(code: CodeType, operations: bytes, arguments: bytes, at: int) -> int:
    """Count the dots of an import, -1 where they are not to be seen: the instruction before last loads the number."""
    seen = 0
    while at and seen < 2:
        at -= 1
        while at and operations[at] == _EXTENDED:
            at -= 1
        seen += 1
    if operations[at] == _SMALL_INT:
        return arguments[at]
    level = code.co_consts[_argument(operations, arguments, at)] if operations[at] == _CONSTANT else -1
    return level if isinstance(level, int) else -1


def code_parts(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from code_parts(constant)


# Content -------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def code_digest(code: CodeType) -> str:
    """Return a digest of everything that decides what a code object does, and of its lines relative to its first."""
    content = b"".join(part + b"\0" for part in _content(code, code.co_firstlineno))
    return import_module("hashlib").sha256(content).hexdigest()[:32]  # slow to import


def _content(code: CodeType, first: int) -> Iterator[bytes]:
    yield code.co_code
    yield code.co_exceptiontable
    yield code.co_linetable
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_name, code.co_qualname)
    yield repr((counts, names, code.co_firstlineno - first)).encode()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield b"code"
            yield from _content(constant, first)
        else:
            yield constant_text(constant).encode("utf-8", "surrogatepass")


def constant_text(value: Any) -> str:
    """Return a constant of a code object as text that tells True, 1 and 1.0 apart, and 0.0 from -0.0."""
    if isinstance(value, (tuple, frozenset)):
        texts = map(constant_text, cast("Iterable[Any]", value))
        # The order of a set differs between processes.
        return f"({', '.join(texts)},)" if isinstance(value, tuple) else f"frozenset({', '.join(sorted(texts))})"
    if type(value) is int:
        return f"int {value:#x}"  # decimal digits have a limit
    if value is None or isinstance(value, (bool, str, bytes, float, complex, EllipsisType)):
        return f"{type(value).__name__} {value!r}"
    return f"constant {type(value).__name__}"


# Sources -------------------------------------------------------------------------------------------------------------

_STARTED = time.time()
"""About when this package was imported: before its kernels were."""


def sources_agree(functions: Iterable[FunctionType]) -> bool:
    """Return whether every function is what its file says, and no kernel of this package was edited since the start.

    Keys are made of code objects, but tracing rewrites the source in the file, which may have been edited since it was
    imported. Code made from the one must not be kept under the key of the other.
    """
    if not all(map(_agrees, functions)):
        return False
    # A key covers this package's kernels by a digest of the package as it lies on disk.
    kernels = [module for name, module in list(sys.modules.items()) if is_library_module(name)]
    return not any(_is_edited(file) for module in kernels if (file := getattr(module, "__file__", None)) is not None)


def is_outdated(function: FunctionType) -> bool:
    """Return whether a function's file has been edited since the start, and no longer says what the function does."""
    file = function.__code__.co_filename
    return os.path.isfile(file) and _is_edited(file) and not _agrees(function)


def _agrees(function: FunctionType) -> bool:
    code = function.__code__
    if code.co_name == "<lambda>":  # never rewritten
        return True
    text = "".join(linecache.getlines(code.co_filename, function.__globals__))
    known = _digests_in(text, code.co_filename, code.co_flags & annotations.compiler_flag)
    if not known and code.co_filename.startswith("<"):  # code without a file, in this process and any other
        return True
    return code_digest(code) in known.get((code.co_name, code.co_firstlineno), ())


@lru_cache(maxsize=64)
def _digests_in(text: str, file: str, inherited: int) -> dict[tuple[str, int], list[str]]:
    """Digests of all functions of a file by name and first line; code that `exec` runs inherits `annotations`."""
    found: dict[tuple[str, int], list[str]] = {}
    if not text:
        return found
    try:
        module = compile(text, file, "exec", inherited, dont_inherit=True)
    except (SyntaxError, ValueError):
        return found
    for code in code_parts(module):
        if code is not module:
            found.setdefault((code.co_name, code.co_firstlineno), []).append(code_digest(code))
    return found


def _is_edited(file: str) -> bool:
    try:
        return os.stat(file).st_mtime > _STARTED
    except OSError:
        return True
