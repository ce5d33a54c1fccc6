"""Rewriting kernel functions so that run-time control flow is traced.

`rewritten(f)` is a function with the globals, closure, defaults and source positions of ``f`` whose branches and
loops call `ControlFlow` of `flydsl.expr.flow.control_flow`. Functions nested in ``f`` are rewritten with it, and
helpers when it calls them: those without a decorator keep their loops over known numbers as Python loops.
"""

from __future__ import annotations
import __future__ as future_features

import ast
import builtins
import difflib
import inspect
import sys
from collections.abc import Callable
from operator import is_
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from flydsl.base import knobs
from flydsl.base.own_code import is_own_module
from flydsl.compiler.rewrite import build
from flydsl.compiler.rewrite.source import FunctionSource, find_source, mangle_private_names
from flydsl.compiler.rewrite.statements import Rewriter
from flydsl.expr.flow.control_flow import ControlFlow

_OUTER, _DEFINED = "__fly_outer", "__fly_defined"
_FUTURES = sum(getattr(future_features, name).compiler_flag for name in future_features.all_feature_names)
_Known = WeakKeyDictionary[FunctionType, tuple[tuple[Any, ...], FunctionType | None]]
_functions: dict[bool, _Known] = {False: WeakKeyDictionary(), True: WeakKeyDictionary()}
"""What each function was rewritten to, None for itself, and the parts it was made from; apart as plain helpers."""
_codes: dict[tuple[str, CodeType, bool], _Compiled | None] = {}

_NO_HELPERS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_LIBRARIES = sys.stdlib_module_names | {"numpy", "ml_dtypes", "torch", "xdsl", "llvmlite", "pytest", "hypothesis"}
"""Packages whose functions know nothing of run-time values."""


class _Compiled(NamedTuple):
    """The rewritten code of a definition, shared by all functions made from it."""

    code: CodeType
    flow: ControlFlow


def rewritten(func: Callable[..., Any], plain: bool = False) -> Callable[..., Any]:
    """The function to trace: ``func`` itself where there is nothing to rewrite, or no source.

    A ``plain`` helper has no decorator: its loops over numbers known while tracing stay Python's.
    """
    if not isinstance(func, FunctionType) or build.HIDDEN in func.__code__.co_freevars:
        return func
    # A reloader may give a function new code or defaults in place.
    parts = (func.__code__, func.__defaults__, func.__kwdefaults__)
    known = _functions[plain].get(func)
    if known is None or not all(map(is_, known[0], parts)):
        key = (func.__code__.co_filename, func.__code__, plain)
        if key not in _codes:
            _codes[key] = _compile(func, plain)
        compiled = _codes[key]
        known = _functions[plain][func] = (parts, None if compiled is None else _instance(func, compiled))
    return known[1] or func


def _helper(func: FunctionType) -> Callable[..., Any]:
    """A function that rewritten code calls: rewritten too, unless it is a library's or Python makes more of it."""
    module = func.__globals__.get("__name__") or ""
    library = module.partition(".")[0] in _LIBRARIES or is_own_module(module)
    return func if library or func.__code__.co_flags & _NO_HELPERS else rewritten(func, plain=True)


def _instance(func: FunctionType, compiled: _Compiled) -> FunctionType:
    """A function of the rewritten code in the place of ``func``."""
    cells = dict(zip(func.__code__.co_freevars, func.__closure__ or ()))
    cells[build.HIDDEN] = CellType(compiled.flow)
    closure = tuple(cells[name] for name in compiled.code.co_freevars)
    made = FunctionType(compiled.code, func.__globals__, func.__name__, func.__defaults__, closure)
    made.__kwdefaults__ = func.__kwdefaults__
    made.__annotations__ = func.__annotations__
    made.__qualname__, made.__module__, made.__doc__ = func.__qualname__, func.__module__, func.__doc__
    made.__dict__.update(func.__dict__)
    return made


def _compile(func: FunctionType, plain: bool) -> _Compiled | None:
    source = find_source(func)
    if source is None:
        return None
    mangle_private_names(source)
    rewriter = Rewriter(source.file, func.__qualname__, _range_is_builtin(func))
    node = rewriter.bare(source.node)
    before = ast.unparse(node) if knobs.DEBUG_AST_DIFF.get() else ""
    node = rewriter.top(node)
    if before:
        _print_difference(source, before, ast.unparse(ast.fix_missing_locations(node)))
    code = _code_of(node, func)
    if build.HIDDEN not in code.co_freevars:
        return None
    return _Compiled(_named(code, func), ControlFlow(rewriter.sites, _helper, plain))


def _range_is_builtin(func: FunctionType) -> bool:
    """Whether ``range`` means Python's own in this function."""
    if "range" in func.__code__.co_freevars + func.__code__.co_varnames + func.__code__.co_cellvars:
        return False
    return func.__globals__.get("range", builtins.range) is builtins.range


def _code_of(node: ast.FunctionDef, func: FunctionType) -> CodeType:
    """Compile a definition inside a function that has its captured variables as parameters.

    There it has a name of its own, so that a function which calls itself finds itself where it did before.
    """
    node.name = _DEFINED
    outer = build.function(_OUTER, [build.HIDDEN, *func.__code__.co_freevars], [node], node)
    module = ast.fix_missing_locations(ast.Module([outer], []))
    flags = func.__code__.co_flags & _FUTURES
    code = compile(module, func.__code__.co_filename, "exec", flags=flags, dont_inherit=True)
    for name in (_OUTER, node.name):
        code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)
    return code


def _named(code: CodeType, func: FunctionType) -> CodeType:
    """The code, with generated functions named after the function they are part of: errors show the names."""

    prefix = code.co_qualname

    def renamed(part: CodeType, name: str, qualname: str) -> CodeType:
        own = not part.co_name.startswith("__fly_")
        name = part.co_name if own else name
        qualname = func.__qualname__ + part.co_qualname.removeprefix(prefix) if own else qualname
        inner = tuple(renamed(c, name, qualname) if isinstance(c, CodeType) else c for c in part.co_consts)
        return part.replace(co_name=name, co_qualname=qualname, co_consts=inner)

    name = func.__code__.co_name
    inner = tuple(renamed(c, name, func.__qualname__) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_name=name, co_qualname=func.__qualname__, co_consts=inner)


def _print_difference(source: FunctionSource, before: str, after: str) -> None:
    names = (f"{source.node.name} ({source.file}:{source.node.lineno})", "rewritten")
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="")
    print("\n".join(lines), file=sys.stderr)
