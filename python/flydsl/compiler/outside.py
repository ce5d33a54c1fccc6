"""Which code of libraries gives the same at every start: the rest keeps what is traced with it off the disk.

Code of the standard library and of installed ones is named in keys, not followed. That is right for `math.sqrt` and
wrong for `time.time`, `Path.read_text` and all else that looks at files, clocks, random numbers or settings of the
process. What is not known here to be free of that counts as if it did: such code is compiled again at each start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PURE_MODULES = frozenset({
    "abc", "annotationlib", "array", "ast", "base64", "binascii", "bisect", "builtins", "cmath", "collections",
    "contextlib", "contextvars", "copy", "copyreg", "dataclasses", "difflib", "enum", "flydsl", "fractions",
    "functools", "hashlib", "heapq", "inspect", "itertools", "json", "keyword", "llvmlite", "logging", "math",
    "ml_dtypes", "numbers", "numpy", "operator", "pprint", "re", "reprlib", "sre_compile", "statistics", "string",
    "struct", "textwrap", "traceback", "types", "typing", "typing_extensions", "unicodedata", "warnings", "weakref",
    "xdsl", "zlib",
})  # fmt: skip
"""Top-level modules, without the underscore of those written in C."""

_IMPURE_NAMES: Mapping[str, frozenset[str]] = {
    "builtins": frozenset({"breakpoint", "eval", "exec", "globals", "hash", "id", "input", "locals", "open", "vars"}),
    "inspect": frozenset({"currentframe", "stack", "trace", "getsource", "getsourcelines", "getfile"}),
    "numpy": frozenset({
        "DataSource", "fromfile", "fromregex", "genfromtxt", "geterr", "load", "loadtxt", "memmap", "random",
        "get_printoptions", "show_config",
    }),
    "traceback": frozenset({"extract_stack", "format_stack"}),
}  # fmt: skip
"""Names of such modules that do look outside."""

_PURE_NAMES: Mapping[str, frozenset[str]] = {
    "os": frozenset({"fspath", "fsencode", "fsdecode", "environ", "environb", "getenv", "getenvb", "PathLike"}),
    "posixpath": frozenset({"basename", "commonprefix", "dirname", "isabs", "join", "normpath", "split", "splitext"}),
    "ntpath": frozenset({"basename", "commonprefix", "dirname", "isabs", "join", "normpath", "split", "splitext"}),
    "sys": frozenset({"intern", "getsizeof", "exc_info", "is_finalizing", "stdout", "stderr", "modules"}),
    "types": frozenset(),
    "torch": frozenset({"finfo", "iinfo", "is_tensor", "promote_types", "tensor", "zeros", "ones", "full", "arange"}),
    "genericpath": frozenset({"commonprefix"}),
}
"""Names of other modules that do not; variables of the environment are noted while they are read."""

IMPORTERS = frozenset({("importlib", "import_module"), ("builtins", "__import__")})
"""Functions that give modules by name."""


def looks_outside(module: str, path: str) -> bool:
    """Whether a function or class, by its module and its name there, may give something else at the next start."""
    top = module.partition(".")[0]
    if top != "builtins":
        top = top.lstrip("_")
    name = path.partition(".")[0]
    if top == "io":  # `open` calls this its home
        return True
    inner = module.split(".")[1:2]
    if top in _PURE_MODULES:
        return not _IMPURE_NAMES.get(top, frozenset()).isdisjoint((name, *inner))
    return name not in _PURE_NAMES.get(top, frozenset())


def is_library_type(value: Any) -> bool:
    """Whether a value is a class or a type's name of a library of arrays, which are settings and read nothing."""
    return isinstance(value, type) and value.__module__.partition(".")[0] in ("torch", "jax", "triton")
