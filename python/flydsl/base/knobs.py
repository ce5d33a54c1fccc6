"""Every environment variable this package reads, in one typed table; nothing else reads ``os.environ``.

A knob is read when it is asked for, never at import::

    if knobs.DUMP_IR.get():
        write_dump(knobs.DUMP_DIR.get())

An unset variable and an empty one both mean the default. A value that cannot be understood raises
:class:`~flydsl.base.errors.DslValueError` with the variable's name and what it accepts. To add a variable, add it to
the table below and write ``docs/environment.md`` again with ``python -m flydsl.base.knobs > docs/environment.md``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from flydsl.base.errors import DslRuntimeError, DslValueError, ask_about_colour
from flydsl.base.lazy import lazy_module
from flydsl.base.records import dataclass

if TYPE_CHECKING:
    import pathlib
else:
    pathlib = lazy_module("pathlib")

T = TypeVar("T")


@dataclass(frozen=True)
class Kind(Generic[T]):
    """How text becomes a value and back. ``parse`` raises ValueError for text it does not accept."""

    name: str
    accepts: str
    parse: Callable[[str], T]
    render: Callable[[T], str] = str


@dataclass(frozen=True, eq=False)
class Knob(Generic[T]):
    """One environment variable. ``default`` is text, as a user would write it.

    ``affects_code`` says that the value itself belongs in the cache key. Variables that only choose the target act
    through the target, which is in the key anyway.
    """

    name: str
    kind: Kind[T]
    default: str
    group: str
    help: str
    affects_code: bool = False
    aliases: tuple[str, ...] = ()

    def get(self) -> T:
        """Return the value now: the variable's, else an alias's, else the default."""
        for name in (self.name, *self.aliases):
            text = os.environ.get(name, "").strip()
            if not text:
                continue
            try:
                return self.kind.parse(text)
            except ValueError:
                message = f"the environment variable {name} is set to {text!r}, which it does not accept"
                raise DslValueError(message, hint=f"set {name} to {self.kind.accepts}") from None
        return self.kind.parse(self.default)

    def is_set(self) -> bool:
        """Return whether the environment gives a value, be it the default's."""
        return any(os.environ.get(name, "").strip() for name in (self.name, *self.aliases))


_environment: Any = getattr(os.environ, "_data", None)
"""The dictionary behind os.environ: a look-up in it skips the decoding, which a cached call would pay each time."""


def watcher(knobs: tuple[Knob[Any], ...]) -> Callable[[], list[Any]]:
    """Return a function that gives the raw texts of some variables at little cost; equal texts, equal values."""
    names = [name for knob in knobs for name in (knob.name, *knob.aliases)]
    texts: Any = os.environ if _environment is None else _environment
    keys: list[Any] = names if _environment is None else [os.fsencode(name) for name in names]
    return lambda: list(map(texts.get, keys))


class Watch:
    """Some variables as they are now; asking later whether they still are is cheap enough for every call."""

    def __init__(self, knobs: tuple[Knob[Any], ...]) -> None:
        names = [name for knob in knobs for name in (knob.name, *knob.aliases)]
        texts: Any = os.environ if _environment is None else _environment
        keys: list[Any] = names if _environment is None else [os.fsencode(name) for name in names]
        self.texts = tuple(watcher(knobs)())
        """The raw texts: equal texts mean equal values."""
        present = {key: text for key, text in zip(keys, self.texts, strict=True) if text is not None}.items()
        absent = tuple(key for key, text in zip(keys, self.texts, strict=True) if text is None)
        still_absent = partial(texts.keys().isdisjoint, absent)  # one step, with no Python in it
        everything = texts.items()
        self.unchanged: Callable[[], bool] = (
            (lambda: still_absent() and present <= everything) if present else still_absent
        )
        """Whether every variable is set as it was, or unset as it was."""


# ---------------------------------------------------------------------------------------------------------------------
# Kinds

_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "false", "no", "off")


def _parse_bool(text: str) -> bool:
    word = text.lower()
    if word not in _TRUE + _FALSE:
        raise ValueError(text)
    return word in _TRUE


def _parse_path(text: str) -> pathlib.Path:
    try:
        return pathlib.Path(text).expanduser()
    except RuntimeError:  # a user without a home directory, as in some containers
        raise DslRuntimeError(f"{text} cannot be found: this user has no home directory", hint="set HOME") from None


BOOL = Kind("bool", f"one of {', '.join(_TRUE)} or {', '.join(_FALSE)}", _parse_bool, lambda value: str(int(value)))
PATH = Kind("path", "a path", _parse_path)
PATHS = Kind(
    "paths", f"directories separated by {os.pathsep!r}",
    lambda text: tuple(_parse_path(part) for part in text.split(os.pathsep) if part),
    lambda paths: os.pathsep.join(str(path) for path in paths),
)  # fmt: skip
OPTIONAL_PATH: Kind[pathlib.Path | None] = Kind(
    "path", "a path", lambda text: _parse_path(text) if text else None, lambda path: str(path or "")
)
PRESENCE = Kind("presence", "anything: only whether it is set counts", bool, lambda value: "1" if value else "")
OPTIONAL_STR: Kind[str | None] = Kind(
    "str",
    "any text; `auto` is as if unset",
    lambda text: None if text in ("", "auto") else text,
    lambda text: text or "",
)


def integer(low: int, high: int | None = None) -> Kind[int]:
    """Whole numbers from ``low`` to ``high``, both included."""

    def parse(text: str) -> int:
        value = int(text)
        if value < low or (high is not None and value > high):
            raise ValueError(text)
        return value

    return Kind("int", f"a whole number, {low} or more" if high is None else f"a whole number, {low} to {high}", parse)


_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def _parse_size(text: str) -> int:
    digits = text.rstrip("KMGTkmgt")
    unit = text[len(digits) :].upper()
    value = int(digits)
    if unit not in _UNITS or value < 0:
        raise ValueError(text)
    return value << _UNITS[unit]


SIZE = Kind("size", "bytes, or a number with K, M, G or T; 0 is no limit", _parse_size)


def _parse_seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1e9:
        raise ValueError(text)
    return value


SECONDS = Kind("seconds", "seconds, also parts of one; 0 is no limit", _parse_seconds)


def choice(*known: str) -> Kind[str]:
    """Return one of the words, in any case; the value is spelled as here."""
    spelling = {word.lower(): word for word in known}

    def parse(text: str) -> str:
        if text.lower() not in spelling:
            raise ValueError(text)
        return spelling[text.lower()]

    return Kind("choice", "one of " + ", ".join(known), parse)


def words(*known: str) -> Kind[frozenset[str]]:
    """Return a comma-separated set of known words."""

    def parse(text: str) -> frozenset[str]:
        found = frozenset(part.strip().lower() for part in text.split(",") if part.strip())
        if not found <= frozenset(known):
            raise ValueError(text)
        return found

    return Kind(
        "words", "a comma-separated list out of: " + ", ".join(known), parse, lambda found: ",".join(sorted(found))
    )


# ---------------------------------------------------------------------------------------------------------------------
# The table

_COMPILE, _RUN, _DEBUG, _LOG, _TUNE, _MACHINE = "compile", "run", "debug", "log", "autotune", "machine"

GROUPS: Mapping[str, str] = {
    _COMPILE: "What is compiled",
    _RUN: "Running and caching",
    _DEBUG: "Looking inside",
    _LOG: "Logging",
    _TUNE: "Autotuning",
    _MACHINE: "The machine",
}

ARCH = Knob("ARCH", OPTIONAL_STR, "auto", _COMPILE, "Target to compile for, such as `gfx942` or `sm_90a`.")
COMPILE_ONLY = Knob(
    "COMPILE_ONLY", BOOL, "false", _COMPILE, "Compile and fill the cache; a call launches nothing and returns None."
)
COMPILE_OPT_LEVEL = Knob(
    "FLYDSL_COMPILE_OPT_LEVEL",
    integer(0, 3),
    "2",
    _COMPILE,
    "LLVM's optimisation level; kernels of over 8,000 lines of LLVM IR on the virtual GPU are optimised at 3 alone.",
    affects_code=True,
)
COMPILE_BACKEND = Knob(
    "FLYDSL_COMPILE_BACKEND",
    OPTIONAL_STR,
    "auto",
    _COMPILE,
    "Backend that compiles: `rocm`, `cuda` or a registered one (docs/backends.md); `auto` is the target's own. It must "
    "fit `ARCH`; without that, the virtual GPU is of the target that it detects.",
    affects_code=True,
)
COMPILE_LLVM_DIR = Knob(
    "FLYDSL_COMPILE_LLVM_DIR",
    OPTIONAL_PATH,
    "",
    _COMPILE,
    "An LLVM installation whose `llc` and `ld.lld` make the device binary, instead of the LLVM in llvmlite.",
    affects_code=True,
)
COMPILE_CUBIN = Knob(
    "FLYDSL_COMPILE_CUBIN",
    choice("auto", "ptxas", "driver", "off"),
    "auto",
    _COMPILE,
    "What makes machine code of PTX for a CUDA device here, to be kept with it: `ptxas` of an installation, the "
    "`driver`'s linker, `auto` the first of them that can; with `off` the driver does it at every load.",
    affects_code=True,
)
SANITIZE = Knob(
    "FLYDSL_SANITIZE",
    words("bounds", "race", "uninit", "barrier", "async", "modes", "ranks"),
    "",
    _COMPILE,
    "Checks made while kernels run on the virtual GPU, see docs/sanitizers.md; `flyc.sanitize(...)` does so too.",
    affects_code=True,
)
ASYNC_SEED = Knob(
    "FLYDSL_ASYNC_SEED",
    integer(0, 2**63 - 1),
    "0",
    _RUN,
    "When copies and products that go on beside a kernel land on the virtual GPU: with `0` as late as the waits allow, "
    "else anywhere between, as this number chooses. Read by every launch; code is the same.",
)
EXTRA_SOURCE_DIRS = Knob(
    "FLYDSL_EXTRA_SOURCE_DIRS",
    PATHS,
    "",
    _COMPILE,
    "More source directories; the contents of their Python files become part of every cache key.",
)

RUNTIME_KIND = Knob(
    "FLYDSL_RUNTIME_KIND",
    choice("auto", "rocm", "cuda", "host"),
    "auto",
    _RUN,
    "Device that runs kernels. `auto`: where the arrays lie, and without any a GPU that fits the target, else `host`, "
    "the virtual GPU. A call whose arrays lie elsewhere than asked for is refused.",
)
RUNTIME_CACHE_DIR = Knob("FLYDSL_RUNTIME_CACHE_DIR", PATH, "~/.flydsl/cache", _RUN, "Directory of compiled artifacts.")
RUNTIME_ENABLE_CACHE = Knob(
    "FLYDSL_RUNTIME_ENABLE_CACHE", BOOL, "true", _RUN, "Use the disk cache. The cache in memory is always on."
)
RUNTIME_CACHE_SIZE = Knob(
    "FLYDSL_RUNTIME_CACHE_SIZE", SIZE, "4G", _RUN, "Size of the disk cache; the least recently used goes first."
)
RUNTIME_RUN_ONLY = Knob(
    "FLYDSL_RUNTIME_RUN_ONLY", BOOL, "false", _RUN, "Never compile: a kernel missing from the cache is a RuntimeError."
)

RUNTIME_TIME_LIMIT = Knob(
    "FLYDSL_RUNTIME_TIME_LIMIT",
    SECONDS,
    "0",
    _RUN,
    "Seconds after which a launch on the virtual GPU is stopped, with a `TimeoutError` that names the line; read when "
    "compiled code is loaded. `flyc.time_limit(...)` does so too, at any time.",
)

RUNTIME_PEER_LIMIT = Knob(
    "FLYDSL_RUNTIME_PEER_LIMIT",
    SECONDS,
    "60",
    _RUN,
    "Seconds that a launch on the virtual GPU waits for a signal of another process before it ends with a "
    "`TimeoutError`; 0 for no limit. A process that has died is noticed at once. On a GPU, seconds that kernels wait "
    "for a rank that has died before their process ends with an error.",
)

JIT = Knob(
    "FLYDSL_JIT",
    choice("auto", "strict"),
    "auto",
    _RUN,
    "`strict` refuses a call that finds nothing compiled: only `fn.warmup(...)` and `flyc.compile(...)` compile.",
)

DUMP_IR = Knob("FLYDSL_DUMP_IR", BOOL, "false", _DEBUG, "Write the IR after every pass, one numbered file each.")
DUMP_DIR = Knob("FLYDSL_DUMP_DIR", PATH, "~/.flydsl/debug", _DEBUG, "Where dumps go, a folder per kernel.")
DEBUG_DUMP_ASM = Knob("FLYDSL_DEBUG_DUMP_ASM", BOOL, "false", _DEBUG, "Write the final assembly among the dumps.")
DEBUG_AST_DIFF = Knob(
    "FLYDSL_DEBUG_AST_DIFF", BOOL, "false", _DEBUG, "Print what the rewriting of control flow changed in a function."
)
DEBUG_PRINT_ORIGIN_IR = Knob("FLYDSL_DEBUG_PRINT_ORIGIN_IR", BOOL, "false", _DEBUG, "Print the IR as traced.")
DEBUG_PRINT_AFTER_ALL = Knob("FLYDSL_DEBUG_PRINT_AFTER_ALL", BOOL, "false", _DEBUG, "Print the IR after every pass.")
DEBUG_ENABLE_VERIFIER = Knob("FLYDSL_DEBUG_ENABLE_VERIFIER", BOOL, "false", _DEBUG, "Verify the IR between passes.")
DEBUG_ENABLE_DEBUG_INFO = Knob(
    "FLYDSL_DEBUG_ENABLE_DEBUG_INFO", BOOL, "false", _DEBUG, "Put source lines into the binary.", affects_code=True
)
DEBUG_MAX_LOC_DEPTH = Knob(
    "FLYDSL_DEBUG_MAX_LOC_DEPTH",
    integer(1),
    "5",
    _DEBUG,
    "Call-stack frames kept in an operation's location. For older programs: a location here is one line, the innermost "
    "of the user's, so it changes nothing.",
    affects_code=True,
)
DEBUG_TRACEBACK = Knob(
    "FLYDSL_DEBUG_TRACEBACK",
    BOOL,
    "false",
    _DEBUG,
    "Show this package's own frames in the traceback of an error.",
    aliases=("FLYDSL_DEBUG_SHOW_STACKTRACE",),
)
NO_COLOR = Knob("NO_COLOR", PRESENCE, "", _DEBUG, "Error messages without colour, on a terminal too.")
ask_about_colour(NO_COLOR.get)

DEBUG_LOG_LEVEL = Knob(
    "FLYDSL_DEBUG_LOG_LEVEL",
    choice("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"),
    "WARNING",
    _LOG,
    "Least severe message that is logged.",
)
DEBUG_LOG_TO_CONSOLE = Knob("FLYDSL_DEBUG_LOG_TO_CONSOLE", BOOL, "false", _LOG, "Log to stderr, with time and place.")
DEBUG_LOG_TO_FILE = Knob("FLYDSL_DEBUG_LOG_TO_FILE", OPTIONAL_PATH, "", _LOG, "Log to this file, appending.")
LOG = Knob(
    "FLYDSL_LOG",
    words("recompiles", "autotune"),
    "",
    _LOG,
    "Topics reported on stderr. `recompiles`: which argument, and which property of it, caused each compile. "
    "`autotune`: what became of each configuration.",
)

AUTOTUNE = Knob("FLYDSL_AUTOTUNE", BOOL, "false", _TUNE, "Search even where the kernel has a default configuration.")
AUTOTUNE_CACHE_DIR = Knob(
    "FLYDSL_AUTOTUNE_CACHE_DIR", PATH, "~/.flydsl/autotune", _TUNE, "Where winning configurations are kept."
)
AUTOTUNE_CONFIG_DIR = Knob(
    "FLYDSL_AUTOTUNE_CONFIG_DIR", OPTIONAL_PATH, "", _TUNE, "Shipped configurations, looked up before any search."
)

GPU_ARCH = Knob("FLYDSL_GPU_ARCH", OPTIONAL_STR, "auto", _MACHINE, "Arch of this machine's GPU, instead of asking it.")
HSA_OVERRIDE_GFX_VERSION = Knob(
    "HSA_OVERRIDE_GFX_VERSION",
    OPTIONAL_STR,
    "",
    _MACHINE,
    "ROCm's own override of the GPU's arch (`9.4.2` is gfx942); read after `FLYDSL_GPU_ARCH`.",
)
ROCM_AGENT_TIMEOUT = Knob(
    "FLYDSL_ROCM_AGENT_TIMEOUT", integer(1), "300", _MACHINE, "Seconds to wait for `rocm_agent_enumerator`."
)
HIP_LIBRARY = Knob(
    "FLYDSL_HIP_LIBRARY", OPTIONAL_STR, "", _MACHINE, "The HIP runtime to load, instead of the `libamdhip64.so` found."
)
ROCM_PATH = Knob("ROCM_PATH", PATH, "/opt/rocm", _MACHINE, "The ROCm installation.")
CUDA_LIBRARY = Knob(
    "FLYDSL_CUDA_LIBRARY", OPTIONAL_STR, "", _MACHINE, "The CUDA driver to load, instead of the `libcuda.so.1` found."
)
CUDA_HOME = Knob(
    "CUDA_HOME",
    PATH,
    "/usr/local/cuda",
    _MACHINE,
    "The CUDA installation, for `ptxas` and `cuobjdump`.",
    aliases=("CUDA_PATH",),
)

_ALL: list[Knob[Any]] = [value for value in dict(globals()).values() if isinstance(value, Knob)]
TABLE: Mapping[str, Knob[Any]] = {knob.name: knob for knob in _ALL}
"""Every knob by the name of its variable, in the order above."""


# ---------------------------------------------------------------------------------------------------------------------
# Uses of the whole table


def code_settings() -> tuple[tuple[str, str], ...]:
    """Names and values of all knobs that change generated code: the environment's part of a cache key."""
    return tuple((knob.name, knob.kind.render(knob.get())) for knob in TABLE.values() if knob.affects_code)


def unknown_variables() -> dict[str, str | None]:
    """Find ``FLYDSL_*`` variables that are set but mean nothing, each with the known name it resembles, if any."""
    known = {name for knob in TABLE.values() for name in (knob.name, *knob.aliases)}
    ours = (name for name in os.environ if name.startswith("FLYDSL_") and not name.startswith("FLYDSL_TEST_"))
    strangers = sorted(name for name in ours if name not in known)
    difflib = import_module("difflib") if strangers else None  # slow to import, and seldom needed
    return {name: next(iter(difflib.get_close_matches(name, known, 1, 0.8)), None) for name in strangers if difflib}


@contextmanager
def scope(settings: Mapping[Knob[Any], Any]) -> Generator[None, None, None]:
    """Give knobs other values for a while; None stands for unset.

    The change is made to the process's environment, so that every thread and every child process sees it.
    """
    before = {name: os.environ.get(name) for knob in settings for name in (knob.name, *knob.aliases)}
    try:
        for knob, value in settings.items():
            for name in (knob.name, *knob.aliases):
                os.environ.pop(name, None)
            if value is not None:
                os.environ[knob.name] = knob.kind.render(value)
                knob.get()  # a value that the knob cannot hold fails here, not at some later use
        yield
    finally:
        for name, text in before.items():
            if text is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = text


_DOC_HEAD = """\
# Environment variables

<!-- Written by `python -m flydsl.base.knobs`; a test keeps it current. -->

Each variable is read when it is needed, so it may be set from Python too (`os.environ`) before the call it concerns.
An empty variable is as good as an unset one. Booleans accept {booleans}, in any case.
A value that a variable does not accept raises a `FlyDSLError` that names the variable.

*In the key* marks variables whose value is part of the cache key: changing one compiles again.
"""


def environment_document() -> str:
    """Return the text of docs/environment.md."""
    booleans = f"`{'/'.join(_TRUE)}` and `{'/'.join(_FALSE)}`"
    lines = [_DOC_HEAD.format(booleans=booleans)]
    for group, title in GROUPS.items():
        lines += [f"## {title}", "", "| variable | default | accepts | in the key | effect |", "|---|---|---|---|---|"]
        for knob in TABLE.values():
            if knob.group != group:
                continue
            names = " or ".join(f"`{name}`" for name in (knob.name, *knob.aliases))
            accepts = "boolean" if knob.kind is BOOL else knob.kind.accepts
            default = f"`{knob.default}`" if knob.default else "–"
            lines.append(f"| {names} | {default} | {accepts} | {'yes' if knob.affects_code else ''} | {knob.help} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    print(environment_document(), end="")
