"""Rewriting kernel functions so that run-time control flow is traced.

`rewritten(f)` is a function with the globals, closure, defaults and source positions of ``f`` whose branches and
loops call `ControlFlow` of `flydsl.expr.flow.control_flow`. Functions nested in ``f`` are rewritten with it, and
helpers when it calls them: those without a decorator keep their loops over known numbers as Python loops.

The whole file is parsed and the definition looked up by its line, so columns are right whatever the indentation.
Notebook cells and the REPL work too, since `linecache` knows their text.
"""

from __future__ import annotations
import __future__ as future_features

import ast
import builtins
import difflib
import inspect
import linecache
import sys
from collections.abc import Callable
from contextlib import suppress
from operator import is_
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from flydsl.base import code_reads, knobs
from flydsl.base.errors import DslRuntimeError, SourceLocation
from flydsl.base.own_code import is_own_module
from flydsl.base.records import dataclass
from flydsl.compiler.rewrite import checks, syntax
from flydsl.compiler.rewrite.boolean import rewrite_bool_op, rewrite_compare, rewrite_if_exp, rewrite_not
from flydsl.compiler.rewrite.for_ import rewrite_for, rewrite_while
from flydsl.compiler.rewrite.if_ import rewrite_if, rewrite_jump, rewrite_raise
from flydsl.compiler.rewrite.jumps import JUMPS, explicit_init, is_generator, lower_jumps
from flydsl.compiler.rewrite.liveness import BRANCHES, Liveness
from flydsl.compiler.rewrite.syntax import Context, Scope, bound_names, own_nodes, parameters
from flydsl.expr.flow.control_flow import ControlFlow, nested_too_deep

# Definitions ----------------------------------------------------------------------------------------------------------

_RULES: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.If: rewrite_if,
    ast.For: rewrite_for,
    ast.While: rewrite_while,
    ast.Return: rewrite_jump,
    ast.Break: rewrite_jump,
    ast.Continue: rewrite_jump,
    ast.Raise: rewrite_raise,
    ast.BoolOp: rewrite_bool_op,
    ast.UnaryOp: rewrite_not,
    ast.Compare: rewrite_compare,
    ast.IfExp: rewrite_if_exp,
}


class Rewriter(Context):
    """Visits a definition and returns its rewritten form."""

    def visit(self, node: ast.AST) -> Any:
        kind = type(node)
        rule = _RULES.get(kind)
        if rule is None:
            rule = _RULES[kind] = getattr(Rewriter, f"visit_{kind.__name__}", Rewriter.generic_visit)
        return rule(self, node)

    def top(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Rewrite the definition of the function itself."""
        if any(isinstance(part, JUMPS) for part in syntax.everything(node)):
            lower_jumps(node)
        self._check_yields(node)
        return self._function(node)

    @staticmethod
    def bare(node: ast.FunctionDef) -> ast.FunctionDef:
        """Return a definition without decorators, defaults and annotations, which the function object has already."""
        node.decorator_list, node.returns = [], None
        if hasattr(node, "type_params"):  # Python 3.12
            setattr(node, "type_params", [])  # noqa: B010
        arguments = node.args
        arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
            argument.annotation = None
        for argument in (arguments.vararg, arguments.kwarg):
            if argument is not None:
                argument.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Return a nested function: rewritten with the one around it, unless it is a Python generator."""
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        self.generic_visit(node.args)
        if is_generator(node):
            return node
        self._check_yields(node)
        return self._function(node)

    def _function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        scope = Scope.of(node)
        if any(isinstance(inner, BRANCHES) for inner in own_nodes(node)):
            live = Liveness(node)
            scope.after, scope.head = live.after, live.head
        self.scopes.append(scope)
        body = self.block(node.body)
        self.scopes.pop()
        head = body[:1] if ast.get_docstring(node, clean=False) is not None else []
        body = body[len(head) :]
        place = node.body[0]
        for kind, names in ((ast.Global, scope.global_names), (ast.Nonlocal, scope.nonlocal_names)):
            if names:
                head.append(syntax.at(place, kind(sorted(names))))
        shared = scope.shared - set(parameters(node)) - scope.nonlocal_names
        if shared:
            head.append(syntax.unreachable_binding(sorted(shared), place))
        node.body = [*head, *body]
        return node

    def _check_yields(self, node: ast.FunctionDef) -> None:
        """A kernel function is no generator; an explicit loop may end with a `yield`."""
        loops = [n for n in own_nodes(node) if isinstance(n, ast.For) and explicit_init(n) is not None]
        allowed = [last for loop in loops if (last := syntax.yield_of(loop.body[-1])) is not None]
        yields = (n for n in own_nodes(node) if isinstance(n, (ast.Yield, ast.YieldFrom)) and n not in allowed)
        for found in yields:
            place = SourceLocation(self.file, found.lineno, found.col_offset + 1, function=node.name)
            raise checks.stray_yield(found, node, place).exception()

    # Statements with rules of their own ----------------------------------------------------------

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> ast.stmt:
        """Declarations move to the head of the function, and into the functions made of its branches."""
        return ast.copy_location(ast.Pass(), node)

    visit_Nonlocal = visit_Global

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """Annotations of variables mean nothing at run time, and a shared variable may not have one."""
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return self._guarded(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_Assign(self, node: ast.Assign | ast.AugAssign | ast.Delete) -> ast.stmt:
        self.generic_visit(node)
        return self._guarded(node)

    visit_AugAssign = visit_Delete = visit_Assign

    def _guarded(self, node: ast.stmt) -> Any:
        """Return an assignment, behind a check if it is to a global, which no run-time region may change."""
        names = bound_names([node])
        changed = sorted(names.keys() & self.scope.global_names)
        if not changed:
            return node
        location = self.location(node)
        refusal = checks.captured_assignment(changed[0], "global", location)
        return [syntax.statement("anywhere", self.site("global", location, [refusal]), place=node), node]

    def visit_Try(self, node: ast.Try | ast.TryStar) -> Any:
        location = SourceLocation(self.file, node.lineno, node.col_offset + 1, function=self.scope.node.name)
        number = self.site("try", location, [checks.try_inside(location)])
        outer, self.scope.try_line = self.scope.try_line, node.lineno
        node.body = self.block(node.body)
        self.scope.try_line = outer
        for handler in node.handlers:
            handler.body = self.block(handler.body)
        node.orelse, node.finalbody = self.block(node.orelse), self.block(node.finalbody)
        if not self.scope.regions:
            return node
        return [syntax.statement("outside", number, place=node), node]

    visit_TryStar = visit_Try

    def visit_With(self, node: ast.With) -> ast.With:
        location = SourceLocation(self.file, node.lineno, node.col_offset + 1, function=self.scope.node.name)
        number = self.site("with", location, [checks.with_inside(location)])
        self.generic_visit(node)
        if self.scope.regions:
            for item in node.items:
                item.context_expr = syntax.call("manager", number, item.context_expr, place=item.context_expr)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        """``assert __fly__.asserted(test), message``."""
        self.generic_visit(node)
        node.test = syntax.call("asserted", node.test, place=node.test)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        """Return an attribute assigned in a region: only some objects may have that."""
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) or not self.scope.regions:
            return node
        location = self.location(node)
        number = self.site("attribute", location, [checks.attribute_assignment(ast.unparse(node), location)])
        node.value = syntax.call("holder", number, node.value, place=node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        """``f(x)`` is ``__fly__.callee(f)(x)``: a helper of the user's is rewritten too, `min` takes run-time values.

        ``super()`` finds its arguments in the function it stands in, which may now be a nested one.
        """
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            if not node.args and self.scope.regions and (own := parameters(self.scope.node)):
                node.args = [syntax.at(node, syntax.load(name)) for name in ("__class__", own[0])]
        elif isinstance(node.func, (ast.Name, ast.Attribute)) and not _is_ours(node.func):
            node.func = syntax.call("callee", node.func, place=node.func)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """Return the statements of a class body run once, while tracing; its methods are functions like others."""
        for place, part in enumerate(node.body):
            if isinstance(part, ast.FunctionDef):  # names that regions share are spelled as Python will spell them
                node.body[place] = self.visit(_Mangle(node.name).generic_visit(part))
        return node


def _is_ours(function: ast.Name | ast.Attribute) -> bool:
    """Return whether generated code calls this, or the source says that it is known while tracing."""
    value = getattr(function, "value", None)
    generated = isinstance(value, ast.Name) and value.id == syntax.HIDDEN
    return generated or getattr(function, "attr", getattr(function, "id", "")) in ("const_expr", "range_constexpr")


# Sources --------------------------------------------------------------------------------------------------------------

Definitions = dict[int, list[tuple[ast.FunctionDef, "str | None"]]]
"""The functions of a file by their first line, each with the class it stands in."""

_files: dict[str, tuple[str, Definitions]] = {}
"""Parsed files, with the text they were parsed from: a REPL or a notebook may use a file name again."""


@dataclass(frozen=True)
class FunctionSource:
    """The definition of a function; the node is a copy of its own."""

    file: str
    node: ast.FunctionDef
    class_name: str | None
    """The class whose body the definition stands in, which decides about names like ``self.__x``."""


def find_source(function: FunctionType) -> FunctionSource | None:
    """Return where a function is defined; None for lambdas and for functions whose source is not to be had."""
    code = function.__code__
    if code.co_name == "<lambda>":
        return None
    for node, class_name in _definitions(code.co_filename, function.__globals__).get(code.co_firstlineno, ()):
        if _matches(node, function):
            return FunctionSource(code.co_filename, _copied(node), class_name)
    return None


def _definitions(file: str, module_globals: dict[str, object]) -> Definitions:
    linecache.checkcache(file)  # a module may be edited and loaded again in one process
    text = "".join(linecache.getlines(file, module_globals))
    known = _files.get(file)
    if known is not None and known[0] == text:
        return known[1]
    found: Definitions = {}
    with suppress(SyntaxError):  # not Python: a template, or a notebook cell with magic commands
        _collect(ast.parse(text, file), found)
    _files[file] = (text, found)
    return found


def _collect(tree: ast.AST, found: Definitions) -> None:
    waiting: list[tuple[ast.AST, str | None]] = [(tree, None)]
    for node, class_name in waiting:
        for child in syntax.children(node):
            if isinstance(child, ast.FunctionDef):
                found.setdefault(first_line(child), []).append((child, class_name))
            if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                waiting.append((child, child.name if isinstance(child, ast.ClassDef) else class_name))


def first_line(node: ast.FunctionDef) -> int:
    """Return the line Python counts as a function's first: that of its first decorator."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _matches(node: ast.FunctionDef, function: FunctionType) -> bool:
    """Return whether this can be the function's definition; it is not if the file has changed since it was imported."""
    code = function.__code__
    given = [a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
    count = code.co_argcount + code.co_kwonlyargcount
    mangled = [_unmangled(name) for name in code.co_varnames[:count]]
    return node.name == code.co_name and [_unmangled(name) for name in given] == mangled


def _unmangled(name: str) -> str:
    return name[name.index("__") :] if name.startswith("_") and "__" in name[1:] and not name.startswith("__") else name


def _copied(node: ast.FunctionDef) -> ast.FunctionDef:
    """Return a deep copy that can be changed; much faster than ``copy.deepcopy``."""
    copies: list[ast.AST] = []

    def copy(value: Any) -> Any:
        if not isinstance(value, ast.AST) or not value.__dict__:  # `Load`, `Add` and the like are all alike
            return value
        copies.append(made := type(value).__new__(type(value)))
        made.__dict__.update(value.__dict__)
        return made

    found = copy(node)
    for made in copies:
        for name, part in made.__dict__.items():
            if isinstance(part, list):
                made.__dict__[name] = [copy(item) for item in part]
            elif isinstance(part, ast.AST):
                made.__dict__[name] = copy(part)
    return found


class _Mangle(ast.NodeTransformer):
    """Spells private names as the class body does, since the rewritten function is compiled outside of it."""

    def __init__(self, class_name: str) -> None:
        self.prefix = "_" * bool(class_name.strip("_")) + class_name.lstrip("_")

    def spelled(self, name: str) -> str:
        return self.prefix + name if name.startswith("__") and not name.endswith("__") else name

    def visit(self, node: ast.AST) -> ast.AST:
        for field in ("id", "attr", "arg", "name"):
            if isinstance(name := getattr(node, field, None), str) and not isinstance(node, (ast.alias, ast.keyword)):
                setattr(node, field, self.spelled(name))
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [self.spelled(name) for name in node.names]
        return node if isinstance(node, ast.ClassDef) else self.generic_visit(node)  # a class is compiled as one


# Functions ------------------------------------------------------------------------------------------------------------

_OUTER, _DEFINED = "__fly_outer", "__fly_defined"
_FUTURES = sum(getattr(future_features, name).compiler_flag for name in future_features.all_feature_names)
_Known = WeakKeyDictionary[FunctionType, tuple[tuple[Any, ...], FunctionType | None]]
_functions: dict[bool, _Known] = {False: WeakKeyDictionary(), True: WeakKeyDictionary()}
"""What each function was rewritten to, None for itself, and the parts it was made from; apart as plain helpers."""
_codes: dict[tuple[str, CodeType, bool], _Compiled | None] = {}
_made: set[CodeType] = set()
"""Code of rewritten functions and of those nested in them, which no file has."""

_NO_HELPERS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_LIBRARIES = sys.stdlib_module_names | {"numpy", "ml_dtypes", "torch", "xdsl", "llvmlite", "pytest", "hypothesis"}
"""Packages whose functions know nothing of run-time values."""


class _Compiled(NamedTuple):
    """The rewritten code of a definition, shared by all functions made from it."""

    code: CodeType
    flow: ControlFlow


def rewritten(func: Callable[..., Any], plain: bool = False) -> Callable[..., Any]:
    """Return the function to trace: ``func`` itself where there is nothing to rewrite, or no source.

    A ``plain`` helper has no decorator: its loops over numbers known while tracing stay Python's.
    """
    if not isinstance(func, FunctionType) or syntax.HIDDEN in func.__code__.co_freevars:
        return func
    # A reloader may give a function new code or defaults in place.
    parts = (func.__code__, func.__defaults__, func.__kwdefaults__)
    known = _functions[plain].get(func)
    if known is None or not all(map(is_, known[0], parts)):
        key = (func.__code__.co_filename, func.__code__, plain)
        if key not in _codes:
            try:
                _codes[key] = _compile(func, plain)
            except RecursionError:
                place = SourceLocation(key[0], func.__code__.co_firstlineno, function=func.__qualname__)
                raise nested_too_deep(f"by the statements of {func.__name__}", place) from None
        compiled = _codes[key]
        known = _functions[plain][func] = (parts, None if compiled is None else _instance(func, compiled))
    return known[1] or func


def _helper(func: FunctionType) -> Callable[..., Any]:
    """Return a function that rewritten code calls: rewritten too, unless it is a library's or Python makes more of
    it."""
    module = func.__globals__.get("__name__") or ""
    library = module.partition(".")[0] in _LIBRARIES or is_own_module(module)
    return func if library or func.__code__.co_flags & _NO_HELPERS else rewritten(func, plain=True)


def _instance(func: FunctionType, compiled: _Compiled) -> FunctionType:
    """Return a function of the rewritten code in the place of ``func``."""
    cells = dict(zip(func.__code__.co_freevars, func.__closure__ or ()))
    cells[syntax.HIDDEN] = CellType(compiled.flow)
    closure = tuple(cells[name] for name in compiled.code.co_freevars)
    made = FunctionType(compiled.code, func.__globals__, func.__name__, func.__defaults__, closure)
    made.__kwdefaults__ = func.__kwdefaults__
    made.__annotations__ = func.__annotations__
    made.__qualname__, made.__module__, made.__doc__ = func.__qualname__, func.__module__, func.__doc__
    made.__dict__.update(func.__dict__)
    return made


def _compile(func: FunctionType, plain: bool) -> _Compiled | None:
    source = find_source(func)
    if func.__code__ not in _made and code_reads.is_outdated(func):
        file = func.__code__.co_filename
        raise DslRuntimeError(
            f"{file} has changed since {func.__qualname__}() was imported, so its source cannot be read",
            hint="start Python again, or load the module again: importlib.reload(module)",
            location=SourceLocation(file, func.__code__.co_firstlineno, function=func.__name__),
        )
    if source is None:
        return None
    if source.class_name is not None:
        _Mangle(source.class_name).generic_visit(source.node)
    rewriter = Rewriter(source.file, func.__qualname__, _range_is_builtin(func))
    node = rewriter.bare(source.node)
    before = ast.unparse(node) if knobs.DEBUG_AST_DIFF.get() else ""
    node = rewriter.top(node)
    if before:
        _print_difference(source, before, ast.unparse(ast.fix_missing_locations(node)))
    code = _code_of(node, func)
    if syntax.HIDDEN not in code.co_freevars:
        return None
    code = _named(code, func)
    _made.update(code_reads.code_parts(code))
    return _Compiled(code, ControlFlow(rewriter.sites, _helper, plain))


def _range_is_builtin(func: FunctionType) -> bool:
    """Return whether ``range`` means Python's own in this function."""
    if "range" in func.__code__.co_freevars + func.__code__.co_varnames + func.__code__.co_cellvars:
        return False
    return func.__globals__.get("range", builtins.range) is builtins.range


def _code_of(node: ast.FunctionDef, func: FunctionType) -> CodeType:
    """Compile a definition inside a function that has its captured variables as parameters.

    There it has a name of its own, so that a function which calls itself finds itself where it did before.
    """
    node.name = _DEFINED
    outer = syntax.function(_OUTER, [syntax.HIDDEN, *func.__code__.co_freevars], [node], node)
    module = ast.Module([outer], [])
    syntax.place_all(module, {})
    flags = func.__code__.co_flags & _FUTURES
    code = compile(module, func.__code__.co_filename, "exec", flags=flags, dont_inherit=True)
    for name in (_OUTER, node.name):
        code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)
    return code


def _named(code: CodeType, func: FunctionType) -> CodeType:
    """Return the code, with generated functions named after the function they are part of: errors show the names."""
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
