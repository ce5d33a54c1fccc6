"""Calls of this package's functions with arguments they do not take: Python's words, with what to write instead.

Python says "missing 1 required positional argument" and leaves it at that. Here the same error names the parameters,
and for some functions the habit behind the mistake: strides that other layouts imply, a launch without names.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import textwrap
from collections.abc import Mapping
from types import FrameType, FunctionType, MethodType, ModuleType, TracebackType
from typing import Any

from flydsl.base.errors import DslTypeError

_OWN_PACKAGE = __name__.partition(".")[0]
_SAID = re.compile(r"((?:\w+\.)*)(\w+)\(\) (missing \d|takes|got an unexpected|got multiple|got some)")
_WIDTH = "the width is the number of lanes that exchange values, 32 or 64: fx.{0}(x, 1, 64)"

_ADVICE: Mapping[str, str] = {
    "copy": "an atom says how it copies: atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32), "
    "then fx.copy(atom, source, target)",
    "gemm": "fx.gemm(mma, d, a, b, c) computes d = a * b + c on fragments",
    "KernelLauncher.launch": "every argument of a launch has its name: .launch(grid=(1, 1, 1), block=(256, 1, 1))",
    **{name: _WIDTH.format(name) for name in ("shuffle", "shuffle_xor", "shuffle_up", "shuffle_down", "shuffle_idx")},
}
"""By the name Python's message has."""


def wrong_call(error: TypeError) -> DslTypeError | None:
    """Return the error of a call of ours that Python refused; None for a call of anybody else's."""
    said = str(error)
    match = _SAID.match(said)
    if match is None:
        return None
    called = _called(error.__traceback__, match[2])
    if called is None:
        return None
    taken = inspect.signature(called).parameters.values()
    parameters = ", ".join(_shown(parameter) for parameter in taken if parameter.name != "self")
    advice = _ADVICE.get(match[1] + match[2])
    hint = f"its parameters are {parameters}" + (f"; {advice}" if advice else "")
    return DslTypeError(f"call of '{match[2]}': {said.partition('() ')[2]}", hint=hint)


def _shown(parameter: inspect.Parameter) -> str:
    """Return a parameter without its annotation, which tells little here."""
    kinds = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
    default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
    return f"{kinds.get(parameter.kind, '')}{parameter.name}{default}"


def _called(traceback: TracebackType | None, name: str) -> Any:
    """Return what the failed call of a traceback called, if it is a function of this package."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    call = _call_at(traceback) if traceback is not None else None
    if call is None or traceback is None:
        return None
    found = _value_of(call.func, traceback.tb_frame)
    if found is None and isinstance(call.func, ast.Attribute) and call.func.attr == name == "launch":
        return _launch_of(call.func.value, traceback.tb_frame)
    ours = isinstance(found, (FunctionType, MethodType)) and found.__module__.partition(".")[0] == _OWN_PACKAGE
    return found if ours else None


def _launch_of(value: ast.expr, frame: FrameType) -> Any:
    """Return the ``launch`` of an expression ``kernel(...)``, the call of a kernel; None for any other."""
    called = _value_of(value.func, frame) if isinstance(value, ast.Call) else None
    return getattr(getattr(called, "launcher", None), "launch", None)


def _call_at(traceback: TracebackType) -> ast.Call | None:
    """Return the call that a frame was making, read from its source."""
    code = traceback.tb_frame.f_code
    positions = list(code.co_positions())
    line, end_line, start, end = positions[traceback.tb_lasti // 2]
    if line is None or end_line is None or start is None or end is None:
        return None
    lines = [linecache.getline(code.co_filename, number).encode() for number in range(line, end_line + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    try:
        found = ast.parse(textwrap.dedent(b"".join(lines).decode()), mode="eval").body
    except (SyntaxError, UnicodeDecodeError):
        return None
    return found if isinstance(found, ast.Call) else None


def _value_of(node: ast.expr, frame: FrameType) -> Any:
    """Return what a name, or a name in a module or class, stands for; None where finding out would run something."""
    if isinstance(node, ast.Name):
        for scope in (frame.f_locals, frame.f_globals):
            if node.id in scope:
                return scope[node.id]
        return None
    if not isinstance(node, ast.Attribute):
        return None
    owner = _value_of(node.value, frame)
    if isinstance(owner, (ModuleType, type)):
        return getattr(owner, node.attr, None)
    method = getattr(type(owner), node.attr, None) if owner is not None else None
    return MethodType(method, owner) if isinstance(method, FunctionType) else None
