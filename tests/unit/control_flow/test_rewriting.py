"""The rewriting itself: the text it makes, the positions it keeps, the analysis it rests on."""

from __future__ import annotations

import ast
import linecache
import re
import textwrap

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from flydsl.base.errors import DslSyntaxError, SourceLocation
from flydsl.compiler.rewrite.jumps import lower_jumps
from flydsl.compiler.rewrite.liveness import Liveness, changed_names, read_names
from flydsl.compiler.rewrite.rewriter import Rewriter, rewritten
from flydsl.compiler.rewrite.syntax import bound_names
from flydsl.expr.trace.context import current
from tests.unit.control_flow.running import launch


def _function(text: str) -> ast.FunctionDef:
    node = ast.parse(textwrap.dedent(text)).body[0]
    assert isinstance(node, ast.FunctionDef)
    return node


def _rewritten_text(text: str) -> str:
    rewriter = Rewriter("kernel.py", "f", range_is_builtin=True)
    return ast.unparse(ast.fix_missing_locations(rewriter.top(rewriter.bare(_function(text)))))


# Text ------------------------------------------------------------------------------------------


def test_branches_become_functions() -> None:
    found = _rewritten_text(
        """
        @decorated
        def f(a: int, b: int = 2):
            if a:
                x = 1
            else:
                x = b and a
            return x
        """
    )
    assert found == textwrap.dedent(
        """\
        def f(a, b):
            if False:
                x = None

            def __fly_then_0():
                nonlocal x
                x = 1

            def __fly_else_0():
                nonlocal x
                x = __fly__.all_of(b, lambda: a)
            __fly__.if_(0, a, __fly_then_0, __fly_else_0)
            return x"""
    )


def test_a_conditional_return_is_an_assignment() -> None:
    found = _lowered_text("def f(a):\n    if a:\n        return 1\n    return 2\n")
    assert found == textwrap.dedent(
        """\
        def f(a):
            _fly_result = __fly__.unset()
            if a:
                _fly_result = 1
                _fly_left = True
            else:
                _fly_result = 2
                _fly_left = True
            return __fly__.returned(_fly_result)"""
    )


def test_a_loop_that_may_be_left_has_a_flag() -> None:
    found = _lowered_text("def f(a):\n    while a:\n        if a > 1:\n            break\n        a = 2\n")
    assert found == textwrap.dedent(
        """\
        def f(a):
            _fly_left_loop_1 = False
            while False if _fly_left_loop_1 else __fly__.holds(a):
                if a > 1:
                    _fly_left_loop_1 = True
                else:
                    a = 2"""
    )


def test_unconditional_jumps_stay_as_they_are() -> None:
    text = "def f(a):\n    for i in a:\n        if const_expr(i):\n            break\n    return 2"
    assert _lowered_text(text) == text


def _lowered_text(text: str) -> str:
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.FunctionDef)
    lower_jumps(node)
    return ast.unparse(ast.fix_missing_locations(node))


def test_what_is_marked_constant_stays_as_it_is() -> None:
    text = "def f(a):\n    if const_expr(a):\n        b = 1\n    while fx.const_expr(a):\n        a = 0\n    return b"
    assert _rewritten_text(text) == text


@pytest.mark.parametrize("loop", ["range_constexpr(3)", "enumerate(a)", "fx.range(3)"])
def test_other_iterables_stay_python_loops(loop: str) -> None:
    text = f"def f(a):\n    for i in {loop}:\n        a = i"
    assert re.sub(r"__fly__\.callee\(([\w.]+)\)", r"\1", _rewritten_text(text)) == text


def _with_every_construct(n: int) -> int:
    x = 0
    for i in range(n):
        x = x + i
    while x > n:
        if x == 3:
            x = 1
        x = x - 1
    for i, state in range(n, init=[x]):
        x = yield [state[0] + i]


def test_the_difference_is_printed_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: int) -> int:
        return 1 if x else 2

    with knobs.scope({knobs.DEBUG_AST_DIFF: True}):
        rewritten(f)
        rewritten(_with_every_construct)
    printed = capsys.readouterr().err
    assert "__fly__.for_init(" in printed and "__fly__.while_(" in printed
    assert "-    return 1 if x else 2" in printed
    assert "+    return __fly__.choose(0, x, lambda: 1, lambda: 2)" in printed
    assert __file__ in printed


# Positions -------------------------------------------------------------------------------------


def _location(op) -> tuple[str, int]:
    return op.location.filename.data, op.location.line.data


def test_operations_keep_their_lines() -> None:
    found: dict[str, tuple[str, int]] = {}

    def body(out: fx.Tensor, n: fx.Int32):
        x = 0
        for i in range(n):
            if i > 2:
                x = x * 3
        found["loop"] = _location(current().block.last_op)  # type: ignore[attr-defined]
        inner = current().block.last_op.regions[0].block.ops  # type: ignore[attr-defined]
        for op in inner:
            found[op.name] = _location(op)
        branch = next(op for op in inner if op.name == "scf.if")
        found["multiply"] = _location(branch.regions[0].block.first_op)
        out[0] = x

    launch(body)
    first = body.__code__.co_firstlineno
    expected = {"loop": 2, "arith.cmpi": 3, "scf.if": 3, "multiply": 4}
    assert {k: found[k] for k in expected} == {k: (__file__, first + line) for k, line in expected.items()}


def test_an_error_inside_a_branch_points_at_its_line_and_names_the_function() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        if n > 2:
            out[0] = fx.make_layout(4, 1) / 2  # type: ignore[operator]

    with pytest.raises(TypeError):
        launch(body)

    def located(out: fx.Tensor, n: fx.Int32):
        for _ in range(n):
            if n > 2:
                out[0] = fx.Int32(0.5).bitcast(fx.Int64)

    with pytest.raises(ValueError) as caught:
        launch(located)
    location = caught.value.location
    assert isinstance(location, SourceLocation)
    assert (location.file, location.line, location.function) == (
        __file__,
        located.__code__.co_firstlineno + 3,
        "located",
    )
    assert "^^^^" in str(caught.value)


def test_an_error_inside_a_conditional_expression_names_the_function() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        out[0] = n.bitcast(fx.Int64) if n > 2 else 1

    with pytest.raises(ValueError) as caught:
        launch(body)
    location = caught.value.location
    assert isinstance(location, SourceLocation)
    assert (location.line, location.function) == (body.__code__.co_firstlineno + 1, "body")


def test_python_errors_pass_unchanged() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        if n > 2:
            out[0] = missing_name  # noqa: F821

    with pytest.raises(NameError, match="name 'missing_name' is not defined") as caught:
        launch(body)
    assert caught.traceback[-1].lineno + 1 == body.__code__.co_firstlineno + 2


def test_a_refusal_is_printed_whole() -> None:
    """Python prints a SyntaxError by its own rules; the advice must survive them."""
    import traceback

    def body(out: fx.Tensor, n: fx.Int32):
        for _, state in range(n, init=[1]):
            break
            yield state

    with pytest.raises(DslSyntaxError) as caught:
        launch(body)
    text = "".join(traceback.format_exception_only(caught.value))
    assert f"{__file__}:{body.__code__.co_firstlineno + 2} in body" in text
    assert "    break\n" in text and "  help: " in text


def test_tracing_twice_from_two_host_functions() -> None:
    @flyc.kernel
    def kernel(out: fx.Tensor, n: fx.Int32, k: fx.Constexpr[int]):
        t = fx.thread_idx.x
        if t < k:
            out[t] = n

    @flyc.jit
    def host(out: fx.Tensor, n: fx.Int32, k: fx.Constexpr[int]):
        kernel(out, n, k).launch(grid=(1, 1, 1), block=(4, 1, 1))

    for k in (1, 3):
        out = np.zeros(4, np.int32)
        host(out, 7, k)
        assert out.tolist() == [7] * k + [0] * (4 - k)


# Analysis --------------------------------------------------------------------------------------


def test_names_bound_in_every_way() -> None:
    text = """
    def f():
        a = b, (c, *d) = 1, (2, 3)
        e: int = 1
        g += 1
        for h in x: pass
        with y as i: pass
        import os.path, sys as j
        def k(l): m = 1
        class n: o = 1
        try: pass
        except E as p: pass
        match z:
            case [q, *r] | {"s": q, **t}: pass
            case u: pass
        (v := 1)
        [w for w in (vv := [1])]
        del last
    """
    bound = set(bound_names(_function(text).body))
    assert bound == {*"abcdeghijknpqrtuv", "os", "vv", "last"}


def test_names_read_leave_out_what_inner_scopes_bind() -> None:
    text = """
    def f():
        a = [x for x in b if x]
        c = lambda d, e=g: d + h
        def i(j):
            k = 1
            return j + k + l
        m += 1
    """
    assert read_names(_function(text).body) == {*"bghlm"}


def test_objects_changed_in_place() -> None:
    text = """
    def f():
        a[0] = 1
        b[0][1] += 1
        c.append(1)
        d.e.append(1)
        g.h[0].i[1] = 2
        del j[0]
        k.load()
        m.n = 1
    """
    assert set(changed_names(_function(text).body)) == {"a", "b", "c", "d.e", "g.h", "j", "m"}


def _live(text: str) -> tuple[Liveness, list[ast.stmt]]:
    node = _function(text)
    kinds = (ast.If, ast.For, ast.While)
    return Liveness(node), [inner for inner in ast.walk(node) if isinstance(inner, kinds)]


def test_what_is_live_after_a_branch() -> None:
    liveness, (branch,) = _live("def f(a):\n    if a:\n        x = y = 1\n    z = x\n    y = 2\n    return y + z\n")
    assert liveness.after[branch] == {"x"}


def test_what_a_loop_hands_on() -> None:
    text = "def f(n):\n    for i in n:\n        t = x + i\n        x = t\n        u = t\n    return u\n"
    liveness, (loop,) = _live(text)
    assert liveness.head[loop] == {"x", "u"}
    assert liveness.after[loop] == {"u"}


def test_what_is_live_around_a_loop_inside_a_loop() -> None:
    text = "def f(n):\n    while a:\n        if b:\n            x = 1\n        y = x\n        b = y\n"
    liveness, (loop, branch) = _live(text)
    assert liveness.after[branch] == {"x", "a"}
    assert liveness.head[loop] == {"a", "b", "x"}


def test_captured_names_stay_live() -> None:
    liveness, (branch,) = _live("def f(a):\n    g = lambda: x\n    if a:\n        x = 1\n    return g\n")
    assert "x" in liveness.after[branch]


def test_break_and_return_end_a_path() -> None:
    text = (
        "def f(n):\n    for i in n:\n        if i:\n            x = 1\n            break\n        y = x\n    return 0\n"
    )
    liveness, found = _live(text)
    assert liveness.after[found[1]] == {"x"}
    assert "x" not in liveness.after[found[0]]


def test_the_source_is_found_by_line() -> None:
    def first() -> int:
        return 1 if linecache else 0

    def second() -> int:
        return 2 if linecache else 0

    assert (rewritten(first)(), rewritten(second)()) == (1, 2)
