"""The rewriting of one definition: which construct goes to which file, and what every function needs around it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from flydsl.base.errors import SourceLocation
from flydsl.compiler.rewrite import build, checks
from flydsl.compiler.rewrite.boolean import rewrite_bool_op, rewrite_compare, rewrite_if_exp, rewrite_not
from flydsl.compiler.rewrite.context import Context, Scope
from flydsl.compiler.rewrite.for_ import rewrite_for, rewrite_while
from flydsl.compiler.rewrite.if_ import rewrite_if, rewrite_jump, rewrite_raise
from flydsl.compiler.rewrite.jumps import explicit_init, lower_jumps
from flydsl.compiler.rewrite.liveness import yield_of
from flydsl.compiler.rewrite.names import bound_names, outer_expressions, own_nodes, parameters

_RULES: dict[type[ast.AST], Callable[[Context, Any], Any]] = {
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
        rule = _RULES.get(type(node))
        return super().visit(node) if rule is None else rule(self, node)

    def top(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """The function itself."""
        lower_jumps(node)
        self._check_yields(node)
        return self._function(node)

    @staticmethod
    def bare(node: ast.FunctionDef) -> ast.FunctionDef:
        """A definition without decorators, defaults and annotations, which the function object has already."""
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
        """A nested function: rewritten with the one around it, unless it is a Python generator."""
        for expression in outer_expressions(node):
            self.visit(expression)
        yields = any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in own_nodes(node))
        explicit = any(isinstance(i, ast.stmt) and explicit_init(i) is not None for i in own_nodes(node))
        if yields and not explicit:
            return node
        self._check_yields(node)
        return self._function(node)

    def _function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        scope = Scope.of(node)
        self.scopes.append(scope)
        body = self.block(node.body)
        self.scopes.pop()
        head = body[:1] if ast.get_docstring(node, clean=False) is not None else []
        body = body[len(head) :]
        place = node.body[0]
        for kind, names in ((ast.Global, scope.global_names), (ast.Nonlocal, scope.nonlocal_names)):
            if names:
                head.append(build.at(place, kind(sorted(names))))
        shared = scope.shared - set(parameters(node)) - scope.nonlocal_names
        if shared:
            head.append(build.unreachable_binding(sorted(shared), place))
        node.body = [*head, *body]
        return node

    def _check_yields(self, node: ast.FunctionDef) -> None:
        """A kernel function is no generator; an explicit loop may end with a `yield`."""
        loops = [n for n in own_nodes(node) if isinstance(n, ast.For) and explicit_init(n) is not None]
        allowed = [last for loop in loops if (last := yield_of(loop.body[-1])) is not None]
        for found in checks.stray_yields(node, allowed):
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
        """An assignment, behind a check if it is to a global, which no run-time region may change."""
        names = bound_names([node])
        changed = sorted(names.keys() & self.scope.global_names)
        if not changed:
            return node
        location = self.location(node)
        refusal = checks.captured_assignment(changed[0], "global", location)
        return [build.statement("anywhere", self.site("global", location, [refusal]), place=node), node]

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
        return [build.statement("outside", number, place=node), node]

    def visit_TryStar(self, node: ast.TryStar) -> Any:
        return self.visit_Try(node)

    def visit_With(self, node: ast.With) -> ast.With:
        location = SourceLocation(self.file, node.lineno, node.col_offset + 1, function=self.scope.node.name)
        number = self.site("with", location, [checks.with_inside(location)])
        self.generic_visit(node)
        if self.scope.regions:
            for item in node.items:
                item.context_expr = build.call("manager", number, item.context_expr, place=item.context_expr)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        """``assert __fly__.asserted(test), message``."""
        self.generic_visit(node)
        node.test = build.call("asserted", node.test, place=node.test)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        """An attribute assigned in a region: only some objects may have that."""
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) or not self.scope.regions:
            return node
        location = self.location(node)
        number = self.site("attribute", location, [checks.attribute_assignment(ast.unparse(node), location)])
        node.value = build.call("holder", number, node.value, place=node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        """``f(x)`` is ``__fly__.callee(f)(x)``: a helper of the user's is rewritten too, `min` takes run-time values.

        ``super()`` finds its arguments in the function it stands in, which may now be a nested one.
        """
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            if not node.args and self.scope.regions and (own := parameters(self.scope.node)):
                node.args = [build.at(node, build.load(name)) for name in ("__class__", own[0])]
        elif isinstance(node.func, (ast.Name, ast.Attribute)) and not _is_ours(node.func):
            node.func = build.call("callee", node.func, place=node.func)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """The statements of a class body run once, while tracing; its methods are functions like others."""
        node.body = [self.visit(s) if isinstance(s, ast.FunctionDef) else s for s in node.body]
        return node


def _is_ours(function: ast.Name | ast.Attribute) -> bool:
    """Whether generated code calls this, or the source says that it is known while tracing."""
    value = getattr(function, "value", None)
    generated = isinstance(value, ast.Name) and value.id == build.HIDDEN
    return generated or getattr(function, "attr", getattr(function, "id", "")) in ("const_expr", "range_constexpr")
