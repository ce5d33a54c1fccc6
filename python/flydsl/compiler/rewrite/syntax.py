"""Syntax trees: a function's source, the shapes of generated code, and which names a tree binds, reads and declares.

The whole file is parsed and the definition looked up by its line, so columns are right whatever the indentation.
Notebook cells and the REPL work too, since `linecache` knows their text. Nodes that are made take the position of the
source they stand for.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from types import FunctionType
from typing import Any, TypeAlias, TypeVar

from flydsl.base.records import dataclass

# Names --------------------------------------------------------------------------------------------------------------

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
        _collect(ast.parse(text, file), None, found)
    _files[file] = (text, found)
    return found


def _collect(node: ast.AST, class_name: str | None, found: Definitions) -> None:
    for child in children(node):
        if isinstance(child, ast.FunctionDef):
            found.setdefault(first_line(child), []).append((child, class_name))
        if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            _collect(child, child.name if isinstance(child, ast.ClassDef) else class_name, found)


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
    copied = _copy(node)
    assert isinstance(copied, ast.FunctionDef)
    return copied


def _copy(value: Any) -> Any:
    if isinstance(value, list):
        return [_copy(item) for item in value]
    if not isinstance(value, ast.AST) or not value.__dict__:  # `Load`, `Add` and the like are all alike
        return value
    made = type(value).__new__(type(value))
    made.__dict__.update({name: _copy(part) for name, part in value.__dict__.items()})
    return made


class _Mangle(ast.NodeTransformer):
    """Spells private names as the class body does, since the rewritten function is compiled outside of it."""

    def __init__(self, class_name: str) -> None:
        self.prefix = "_" + class_name.lstrip("_")

    def spelled(self, name: str) -> str:
        return self.prefix + name if name.startswith("__") and not name.endswith("__") else name

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.spelled(node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        node.attr = self.spelled(node.attr)
        self.generic_visit(node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node  # a class of its own, compiled as one

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self.spelled(node.arg)
        return node


def mangle_private_names(source: FunctionSource) -> None:
    """Replace private names of a method by what the class body makes of them."""
    if source.class_name is not None and source.class_name.strip("_"):
        _Mangle(source.class_name).visit(source.node)


# Generated code -------------------------------------------------------------------------------------------------------

PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")
HIDDEN = "__fly__"
"""The name by which generated code reaches its ControlFlow object."""

N = TypeVar("N", bound=ast.AST)


def at(place: ast.AST, node: N) -> N:
    """Return the node, placed where ``place`` is; new nodes inside it are placed there when the whole tree is done."""
    return ast.copy_location(node, place)


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def call(method: str, *arguments: ast.expr | int | bool | str, place: ast.AST) -> ast.Call:
    """``__fly__.method(arguments)``."""
    values = [ast.Constant(a) if isinstance(a, (int, str)) else a for a in arguments]
    return at(place, ast.Call(ast.Attribute(load(HIDDEN), method, ast.Load()), values, []))


def statement(method: str, *arguments: ast.expr | int, place: ast.AST) -> ast.Expr:
    return at(place, ast.Expr(call(method, *arguments, place=place)))


def thunk(expression: ast.expr) -> ast.Lambda:
    """``lambda: expression``."""
    return at(expression, ast.Lambda(no_parameters(), expression))


def no_parameters() -> ast.arguments:
    return ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


def function(name: str, parameters: Sequence[str], body: list[ast.stmt], place: ast.AST) -> ast.FunctionDef:
    arguments = no_parameters()
    arguments.args = [ast.arg(parameter) for parameter in parameters]
    node = ast.FunctionDef(name=name, args=arguments, body=body or [ast.Pass()], decorator_list=[])
    if "type_params" in ast.FunctionDef._fields:
        node.type_params = []  # type: ignore[attr-defined]
    return at(place, node)


def unreachable_binding(names: Sequence[str], place: ast.AST) -> ast.If:
    """``if False: a = b = None``: makes names variables of a function that assigns them only in nested ones."""
    targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
    return at(place, ast.If(ast.Constant(False), [ast.Assign(targets, ast.Constant(None))], []))


def yield_of(node: ast.stmt) -> ast.Yield | None:
    """Return the `yield` of ``results = yield […]`` or of a bare ``yield […]``."""
    value = node.value if isinstance(node, (ast.Assign, ast.Expr, ast.AnnAssign)) else None
    return value if isinstance(value, ast.Yield) else None


# Names --------------------------------------------------------------------------------------------------------------

Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda"
Comprehension: TypeAlias = "ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp"

T = TypeVar("T")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
MUTATORS = frozenset(
    ("append", "clear", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault", "sort", "update")
)
"""Methods that change a list or dict in place."""


@cache
def node_fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """Return the fields of a node that may have others in them, but for operators and the marks of loads and stores."""
    return tuple(name for name in kind._fields if name not in ("ctx", "op", "ops", "id", "attr"))


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes in these fields, in order: `ast.iter_child_nodes` in a fraction of the time."""
    found: list[ast.AST] = []
    for name in node_fields(type(node)):
        part = getattr(node, name, None)
        if isinstance(part, ast.AST):
            found.append(part)
        elif isinstance(part, list):
            found += [item for item in part if isinstance(item, ast.AST)]
    return found


def everything(node: ast.AST) -> list[ast.AST]:
    """Return a node and all inside it: `ast.walk` in another order."""
    found = [node]
    for inner in found:
        found += children(inner)
    return found


def place_all(node: ast.AST, place: Mapping[str, int]) -> None:
    """Place each node that has no place where the one around it is: `ast.fix_missing_locations`, but quicker."""
    known = node.__dict__
    if "lineno" in known:
        place = {name: known[name] for name in PLACE if name in known}
    elif "lineno" in node._attributes:
        known.update(place)
    for inner in children(node):
        place_all(inner, place)


class _Bindings(ast.NodeVisitor):
    """Collects the names bound in a scope, each with the last line that binds it."""

    def __init__(self) -> None:
        self.lines: dict[str, int] = {}
        self._comprehensions = 0

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            self.lines.update(_remembered(node, "fly_bound", lambda: _bound_in(node)))
        else:
            super().visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        for inner in children(node):
            self.visit(inner)

    def bind(self, name: str | None, node: ast.AST) -> None:
        if name is not None:
            self.lines[name] = getattr(node, "lineno", 0)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load) and not self._comprehensions:
            self.bind(node.id, node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.bind(node.target.id, node)
        self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.bind(node.name, node)
        for expression in outer_expressions(node):
            self.visit(expression)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.bind(node.name, node)
        for expression in [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]:
            self.visit(expression)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for expression in outer_expressions(node):
            self.visit(expression)

    def _visit_comprehension(self, node: ast.AST) -> None:
        self._comprehensions += 1
        self.generic_visit(node)
        self._comprehensions -= 1

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self.bind(alias.asname or alias.name.split(".")[0], node)

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.bind(node.name, node)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self.bind(node.name, node)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self.bind(node.name, node)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self.bind(node.rest, node)
        self.generic_visit(node)


def _bound_in(node: ast.stmt) -> dict[str, int]:
    found = _Bindings()
    ast.NodeVisitor.visit(found, node)
    return found.lines


def bound_names(nodes: Iterable[ast.AST]) -> dict[str, int]:
    """Names that these nodes bind in their own scope, each with the line of its last binding."""
    found = _Bindings()
    for node in nodes:
        found.visit(node)
    return found.lines


def _remembered(node: ast.stmt, fact: str, compute: Callable[[], T]) -> T:
    """Return a fact about a statement, found once: the statements around it ask for it again and again."""
    known = node.__dict__.get(fact)
    if known is None:
        known = compute()
        setattr(node, fact, known)
    return known


def outer_expressions(node: Function) -> list[ast.expr]:
    """Return the parts of a function definition that are evaluated where it stands: decorators and defaults."""
    arguments = node.args
    defaults = [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]
    return defaults if isinstance(node, ast.Lambda) else [*node.decorator_list, *defaults]


def parameters(node: Function) -> list[str]:
    arguments = node.args
    plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [a.arg for a in [*plain, arguments.vararg, arguments.kwarg] if a is not None]


def body_of(node: Function) -> list[ast.AST]:
    return [node.body] if isinstance(node, ast.Lambda) else list(node.body)


def scope_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield every node of a scope; nested functions and classes are given, but not entered."""
    waiting = [*nodes][::-1]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, FUNCTIONS):
            inner: Iterable[ast.AST] = outer_expressions(node)
        elif isinstance(node, ast.ClassDef):
            inner = [*node.decorator_list, *node.bases]
        else:
            inner = children(node)
        waiting += [*inner][::-1]


def own_nodes(function: ast.FunctionDef) -> list[ast.AST]:
    """Return every node of a function's own scope, as it was before any rewriting."""
    return _remembered(function, "fly_nodes", lambda: list(scope_nodes(function.body)))


def declared(node: ast.FunctionDef) -> tuple[set[str], set[str]]:
    """Names that a function declares `global`, and those it declares `nonlocal`."""
    found: tuple[set[str], set[str]] = (set(), set())
    for inner in own_nodes(node):
        if isinstance(inner, ast.Global):
            found[0].update(inner.names)
        elif isinstance(inner, ast.Nonlocal):
            found[1].update(inner.names)
    return found


def read_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that these nodes read, here or in functions defined inside them."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.stmt):
            found |= _remembered(node, "fly_read", lambda node=node: _read_in(node))
        elif isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Store):
                found.add(node.id)
        elif isinstance(node, ast.Lambda):
            found |= read_names(outer_expressions(node)) | free_names(node)
        elif isinstance(node, COMPREHENSIONS):
            found |= read_names(children(node)) - _targets(node)
        else:
            found |= read_names(children(node))
    return found


def _read_in(node: ast.stmt) -> set[str]:
    if isinstance(node, FUNCTIONS):
        return read_names(outer_expressions(node)) | free_names(node)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return {node.target.id} | read_names([node.value])
    return read_names(children(node))


def _targets(node: Comprehension) -> set[str]:
    return set(bound_names(generator.target for generator in node.generators))


def free_names(node: Function) -> set[str]:
    """Names that a function takes from the scopes around it."""
    body = body_of(node)
    own = set(parameters(node)) | set(bound_names(body))
    if isinstance(node, ast.FunctionDef):
        own -= set.union(*declared(node))
    return read_names(body) - own


def captured_names(node: ast.FunctionDef) -> set[str]:
    """Names that functions, classes and generators inside a function read later than where they stand."""
    found: set[str] = set()
    for inner in own_nodes(node):
        if isinstance(inner, FUNCTIONS):
            found |= free_names(inner)
        elif isinstance(inner, (ast.ClassDef, ast.GeneratorExp)):
            found |= read_names([*inner.body] if isinstance(inner, ast.ClassDef) else [inner])
    return found


def changed_names(nodes: Iterable[ast.AST]) -> dict[str, int]:
    """Objects that are changed in place, as ``x`` or ``self.x``, with the last line: `x[i] = …`, `x.append(…)`."""
    found: dict[str, int] = {}
    for node in nodes:
        if isinstance(node, ast.stmt):
            found.update(_remembered(node, "fly_changed", lambda node=node: _changed_in(node)))
        elif isinstance(node, ast.expr):
            for inner in scope_nodes([node]):
                _note_change(inner, found)
        else:
            found.update(changed_names(children(node)))
    return found


def _changed_in(node: ast.stmt) -> dict[str, int]:
    if isinstance(node, FUNCTIONS):
        return changed_names(outer_expressions(node))
    return {} if isinstance(node, ast.ClassDef) else changed_names(children(node))


def _note_change(node: ast.AST, found: dict[str, int]) -> None:
    target: ast.expr | None = None
    if isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
        target = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
        target = node.func.value
    path: list[str] = []
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        path = [] if isinstance(target, ast.Subscript) else [target.attr, *path]
        target = target.value
    if isinstance(target, ast.Name):
        found[".".join([target.id, *path])] = target.lineno
