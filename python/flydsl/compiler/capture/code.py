"""What code reads from around it: the names in a code object, libraries, and variables of the environment.

Names are read off the instructions, for the functions inside a code object as well. Attributes taken right from a
global or closure variable are known exactly (`chains`); of all others only the names are known, whatever they are taken
from. That finds `mod.helper`, `m = mod; m.helper` and `getattr(mod, "helper")` alike, at the price of a name too many.

Code that is named instead of followed: this package, the standard library and installed libraries. Their content is
covered by something else in the key: a digest of this package's sources, Python's version, or the library's, which is
part of the name here. All other code is the user's; so is a package that is installed editable, whose files lie
elsewhere, and an installed library of kernels, whose settings may change.

Which variables of the environment are read is known only when they are: the name may be computed, and the reader may be
a library. So `os.environ` gets another class while a function is traced, which notes what the tracing thread asks for.
"""

from __future__ import annotations

import linecache
import opcode
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib import import_module
from types import CodeType, EllipsisType, FunctionType, ModuleType
from typing import Any

from flydsl.base.attributes import attribute
from flydsl.base.own_code import PACKAGE, is_library_module, is_own_module
from flydsl.base.records import dataclass
from flydsl.expr.flow import truth

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
    for part in _parts(code):
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


def _parts(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts(constant)


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
    if isinstance(value, tuple):
        return f"({', '.join(map(constant_text, value))},)"
    if isinstance(value, frozenset):  # its order differs between processes
        return f"frozenset({', '.join(sorted(map(constant_text, value)))})"
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
    files: dict[str, dict[tuple[str, int], list[str]]] = {}
    for function in functions:
        code = function.__code__
        if code.co_name == "<lambda>":  # never rewritten
            continue
        if code.co_filename not in files:
            text = "".join(linecache.getlines(code.co_filename, function.__globals__))
            files[code.co_filename] = _digests_in(text, code.co_filename)
        known = files[code.co_filename]
        if not known and code.co_filename.startswith("<"):  # code without a file, in this process and any other
            continue
        if code_digest(code) not in known.get((code.co_name, code.co_firstlineno), ()):
            return False
    # A key covers this package's kernels by a digest of the package as it lies on disk.
    kernels = [module for name, module in list(sys.modules.items()) if is_library_module(name)]
    return not any(_is_edited(file) for module in kernels if (file := getattr(module, "__file__", None)) is not None)


@lru_cache(maxsize=64)
def _digests_in(text: str, file: str) -> dict[tuple[str, int], list[str]]:
    """Digests of all functions of a file by name and first line."""
    found: dict[tuple[str, int], list[str]] = {}
    if not text:
        return found
    try:
        module = compile(text, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return found
    for code in _parts(module):
        if code is not module:
            found.setdefault((code.co_name, code.co_firstlineno), []).append(code_digest(code))
    return found


def _is_edited(file: str) -> bool:
    try:
        return os.stat(file).st_mtime > _STARTED
    except OSError:
        return True


# Libraries ------------------------------------------------------------------------------------------------------------

STEADY = frozenset({
    "abc", "array", "ast", "base64", "binascii", "bisect", "builtins", "cmath", "collections", "contextlib",
    "contextvars", "copy", "copyreg", "ctypes", "dataclasses", "enum", "flydsl", "fractions", "functools", "hashlib",
    "heapq", "inspect", "itertools", "json", "keyword", "llvmlite", "logging", "math", "ml_dtypes", "numbers", "numpy",
    "operator", "pprint", "re", "reprlib", "statistics", "string", "struct", "textwrap", "types", "typing",
    "typing_extensions", "unicodedata", "warnings", "weakref", "xdsl", "zlib",
    "os.PathLike", "os.environ", "os.environb", "os.fspath", "os.getenv", "os.getenvb",
    "posixpath.basename", "posixpath.dirname", "posixpath.join", "posixpath.normpath", "posixpath.split",
    "posixpath.splitext", "sys.exc_info", "sys.getsizeof", "sys.intern", "sys.stderr", "sys.stdout",
    "torch.arange", "torch.finfo", "torch.full", "torch.iinfo", "torch.ones", "torch.tensor", "torch.zeros",
})  # fmt: skip
"""Modules, without the underscore of those written in C, and names of others, that look at nothing but their arguments.
Variables of the environment are noted while they are read."""

UNSTEADY = frozenset({
    "builtins.breakpoint", "builtins.eval", "builtins.exec", "builtins.globals", "builtins.hash", "builtins.id",
    "builtins.input", "builtins.locals", "builtins.open", "builtins.vars", "builtins.__import__", "ctypes.util",
    "inspect.currentframe", "inspect.getfile", "inspect.getsource", "inspect.getsourcelines", "inspect.stack",
    "inspect.trace", "numpy.DataSource", "numpy.fromfile", "numpy.fromregex", "numpy.genfromtxt", "numpy.geterr",
    "numpy.get_printoptions", "numpy.load", "numpy.loadtxt", "numpy.memmap", "numpy.random", "numpy.show_config",
    "ctypes.CDLL", "ctypes.cdll", "ctypes.pythonapi", "ctypes.string_at",
})  # fmt: skip
"""Names of such modules that do look elsewhere."""

_VERSIONED = frozenset({"numpy", "torch", "ml_dtypes", "xdsl", "llvmlite", "jax", "triton", "typing_extensions"})
_STANDARD = os.path.dirname(os.__file__) + os.sep
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def _top(module: str) -> str:
    return module.partition(".")[0]


def is_steady(module: str, path: str) -> bool:
    """Return whether a function or class, by its module and its name there, gives the same at every start."""
    top, *inner = module.split(".")
    top = top if top == "builtins" else top.lstrip("_")
    names = {f"{top}.{name}" for name in (path.partition(".")[0], *inner[:1])}
    return (top in STEADY and UNSTEADY.isdisjoint(names)) or not STEADY.isdisjoint(names)


def is_array_type(value: Any) -> bool:
    """Return whether a value is a class of a library of arrays, which are settings and read nothing."""
    return isinstance(value, type) and value.__module__.partition(".")[0] in ("torch", "jax", "triton")


def is_known(module: str) -> bool:
    """Return whether code of the module of this name is known by its name."""
    return _kind(_top(module)) is not None


def is_ours(module: Any) -> bool:
    """Return whether a module, by its dotted name, is of this package, kernels included: nobody assigns there."""
    return isinstance(module, str) and _top(module) == PACKAGE


def known_module(module: ModuleType) -> str | None:
    """Return how a key names a module, or None if the module is the user's."""
    name = module.__name__
    kind = _kind(_top(name))
    return None if kind is None or sys.modules.get(name) is not module else name + kind


def known_name(value: Any) -> str | None:
    """Return how a key names a function or class, or None if it has to be followed.

    A name counts only if it leads back to the same object: what a library makes on the fly has the user's data in it.
    """
    module, path = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(path, str) or "<locals>" in path:
        return None
    kind = _kind(_top(module))
    if kind is None:
        return None
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = attribute(found, part)  # a module may load what is asked for, and fail
    return f"{module}.{path}{kind}" if found is value else None


@cache
def _kind(top: str) -> str | None:
    """Return what to add to names of a top-level package: its version, nothing, or None for the user's own."""
    if top in (PACKAGE, "builtins"):
        return ""
    module = sys.modules.get(top)
    if top in _VERSIONED:
        return f"@{getattr(module, '__version__', '?')}"
    file = getattr(module, "__file__", None)
    if top not in sys.stdlib_module_names:
        return _installed(module, file)
    inside = file is None or (file.startswith(_STANDARD) and "site-packages" not in file)
    return "" if inside else None


def _installed(module: ModuleType | None, file: str | None) -> str | None:
    """Return a library's version, or when its first file was written; None for code that is no library."""
    if module is None or file is None or not any(part in file for part in _INSTALLED) or _has_kernels(module.__name__):
        return None
    version = getattr(module, "__version__", None)
    return f"@{version}" if isinstance(version, str) else f"@{os.stat(file).st_mtime_ns}"


def _has_kernels(package: str) -> bool:
    """Return whether a module of a package uses this one."""
    modules = [module for name, module in list(sys.modules.items()) if _top(name) == package]
    values = (value for module in modules if isinstance(module, ModuleType) for value in list(vars(module).values()))
    return any(isinstance(value, ModuleType) and value.__name__.partition(".")[0] == PACKAGE for value in values)


# The environment ------------------------------------------------------------------------------------------------------

EVERYTHING = ""
"""Stands for all variables, where code goes through them; no variable has this name."""

_NOT_TRACED = ("xdsl", "llvmlite")
"""Packages whose own reads are no part of the traced code. Nor are the compiler's: its settings are in the key."""

_lock = threading.Lock()
_depth = 0
_local = threading.local()


class _Recorded(os._Environ):  # type: ignore[type-arg]
    """`os.environ` while something is traced."""

    def __getitem__(self, key: Any) -> Any:
        try:
            value = super().__getitem__(key)
        except KeyError:
            _note(os.fsdecode(key), None)
            raise
        _note(os.fsdecode(key), os.fsdecode(value))
        return value

    def __iter__(self) -> Iterator[Any]:
        _note(EVERYTHING, None)
        return super().__iter__()

    def __len__(self) -> int:
        _note(EVERYTHING, None)
        return super().__len__()

    def copy(self) -> Any:
        _note(EVERYTHING, None)
        return super().copy()


def _note(name: str, value: str | None) -> None:
    """What was read, unless it was read on behalf of this package. The first read of a variable counts."""
    reads = getattr(_local, "reads", None)
    if reads is None or name in reads:
        return
    frame, module = sys._getframe(2), ""
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        # Some do what the traced code says: the standard library, and `truth`, which asks `"HOME" in os.environ`.
        if _top(module) not in sys.stdlib_module_names and module not in (__name__, truth.__name__):
            break
        frame = frame.f_back
    if frame is None or not (_top(module) in _NOT_TRACED or is_own_module(module)):
        reads[name] = value


def _environments() -> list[Any]:
    """Return the objects through which programs read the environment, unless others were put in their place."""
    found = (os.environ, getattr(os, "environb", None))
    return [each for each in found if type(each) in (os._Environ, _Recorded)]


@contextmanager
def recorded() -> Iterator[dict[str, str | None]]:
    """What this thread reads of the environment inside: values by name, None for a variable that is not set."""
    global _depth
    before, reads = getattr(_local, "reads", None), {}
    _local.reads = reads
    with _lock:
        _depth += 1
        if _depth == 1:
            for each in _environments():
                each.__class__ = _Recorded
    try:
        yield reads
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                for each in _environments():
                    each.__class__ = os._Environ
        _local.reads = before
        if EVERYTHING in reads:
            reads.update(values_of(reads))
        if before is not None:  # tracing within tracing
            before.update({**reads, **before})


def values_of(names: Any) -> dict[str, str | None]:
    """Return what variables are set to now, in the order of their names; all if `EVERYTHING` is among them."""
    if EVERYTHING in names:
        return {EVERYTHING: None, **dict(sorted(os.environ.items()))}
    return {name: os.environ.get(name) for name in sorted(names)}


def still_holds(values: Mapping[str, str | None]) -> bool:
    """Return whether variables are set as they were."""
    return not values or values_of(values) == values


def check_of(values: Mapping[str, str | None]) -> Callable[[], bool]:
    """Return whether variables are set as they were, at a cost that every call can bear."""
    data: Any = getattr(os.environ, "_data", None)
    if data is None or EVERYTHING in values:
        return lambda: still_holds(values)
    names = [os.fsencode(name) for name in values]
    texts = [None if value is None else os.fsencode(value) for value in values.values()]
    return lambda: [*map(data.get, names)] == texts
