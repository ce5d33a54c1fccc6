"""LLVM's command-line options for one compilation, kept away from all others.

LLVM has one set of options per process, and an option that was once set never counts as unset again. So a compilation
that asks for options runs in a process of its own, which ends with it; other compilations, of this thread or others,
see nothing of it. That process reads a request as JSON and writes the code.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from difflib import get_close_matches
from functools import cache

import llvmlite.binding as llvm

from flydsl.base.errors import DslValueError, LoweringError
from flydsl.base.records import dataclass

Setting = tuple[str, bool | int | str]

_LISTED = re.compile(r"^\s+--?([A-Za-z0-9][\w-]*)", re.MULTILINE)
_COMPLAINT = re.compile(r"for the -+(\S+) option: (.*)")


@dataclass(frozen=True)
class Request:
    """One piece of LLVM text to compile, and for what."""

    text: str
    triple: str
    cpu: str
    features: str
    level: int
    assembly: bool
    """Assembly text is wanted, not an object."""


class _Scope(threading.local):
    options: tuple[Setting, ...] = ()


_scope = _Scope()


def active() -> tuple[Setting, ...]:
    """Return the options of the compilation under way in this thread."""
    return _scope.options


@contextmanager
def option_scope(options: tuple[Setting, ...]) -> Iterator[None]:
    """Compile with these options inside the block; a name LLVM does not know is refused here."""
    for name, _ in options:
        _check_known(name)
    before, _scope.options = _scope.options, options
    try:
        yield
    finally:
        _scope.options = before


def _check_known(name: str) -> None:
    known = known_options()
    if name not in known:
        near = get_close_matches(name, known, n=3)
        raise DslValueError(
            f"LLVM {'.'.join(map(str, llvm.llvm_version_info))} has no option '{name}'",
            hint=f"did you mean {' or '.join(near)}?" if near else "see the list of `llc --help-list-hidden`",
        )


@cache
def known_options() -> frozenset[str]:
    """Return every option of the LLVM in use, as its own help lists them. The help ends the process that asks for
    it."""
    done = _child(__name__, "")
    return frozenset(_LISTED.findall(done.stdout.decode(errors="replace")))


def compile_apart(request: Request, options: tuple[Setting, ...], compiler: str) -> bytes:
    """Return what the request asks for, compiled under the options by ``serve()`` of the module ``compiler``."""
    done = _child(compiler, json.dumps({"request": asdict(request), "options": options}))
    complaint = done.stderr.decode(errors="replace").strip()
    refused = _COMPLAINT.search(complaint)
    if refused is not None:
        raise DslValueError(f"LLVM refuses the value of the option '{refused[1]}': {refused[2]}")
    if done.returncode:
        raise LoweringError(f"LLVM failed under the options {dict(options)}: {complaint or done.returncode}")
    return done.stdout


_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {} import serve; serve()"


def _child(module: str, text: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", _START.format(module), json.dumps(sys.path)]
    return subprocess.run(command, input=text.encode(), capture_output=True)


def serve() -> None:
    """The process that lists the options."""
    llvm.set_option("flydsl", "--help-list-hidden")


def asked() -> Request:
    """Return what the process that compiles is asked for; the options are set."""
    wanted = json.load(sys.stdin)
    for name, value in wanted["options"]:
        llvm.set_option("flydsl", f"-{name}={str(value).lower() if isinstance(value, bool) else value}")
    return Request(**wanted["request"])
