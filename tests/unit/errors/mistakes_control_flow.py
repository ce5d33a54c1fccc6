"""Mistakes in control flow."""

from __future__ import annotations

from flydsl.base.errors import (
    DslControlFlowError,
    DslNameError,
    DslRuntimeError,
    DslSyntaxError,
    DslTypeError,
)
from tests.unit.errors.mistake import Mistake, in_kernel

FLOW = "Control flow"

MISTAKES: tuple[Mistake, ...] = (
    in_kernel(
        FLOW,
        "`raise` under a run-time condition",
        DslControlFlowError,
        SyntaxError,
        ("`raise` under the run-time condition", "fx.printf"),
        """
        if n > 3:
            raise ValueError("too many")  # here
    """,
    ),
    in_kernel(
        FLOW,
        "`break` out of a loop with explicit state",
        DslSyntaxError,
        SyntaxError,
        ("`break` in the loop", "without init="),
        """
        for i, state in range(n, init=[1]):
            if i > 2:
                break  # here
            yield [state[0] + i]
    """,
    ),
    in_kernel(
        FLOW,
        "`try` inside a run-time branch",
        DslSyntaxError,
        SyntaxError,
        ("`try`", "`if`"),
        """
        if n > 2:
            try:  # here
                out[0] = 1
            except ValueError:
                out[0] = 2
    """,
    ),
    in_kernel(
        FLOW,
        "`with` inside a run-time branch",
        DslSyntaxError,
        SyntaxError,
        ("`with`", "put the `with` around"),
        """
        if n > 2:
            with np.errstate(all="ignore"):  # here
                out[0] = n
    """,
    ),
    in_kernel(
        FLOW,
        "`:=` in the condition of a loop that ends early",
        DslSyntaxError,
        SyntaxError,
        ("`:=` inside the condition of a run-time `while` that ends early", "before the loop and once more at the end"),
        """
        i = fx.Int32(0)
        while (y := x[i]) < 9.0:  # here
            i += 1
            if i > n:
                break
        out[0] = y.to(fx.Int32)
    """,
    ),
    in_kernel(
        FLOW,
        "`yield` inside a branch",
        DslControlFlowError,
        SyntaxError,
        ("`yield` inside a branch", "last statement"),
        """
        for i, state in range(0, n, 1, init=[fx.Int32(1)]):
            if i > 2:
                yield [state[0] + i]  # here
    """,
    ),
    in_kernel(
        FLOW,
        "`init=` without a `yield`",
        DslControlFlowError,
        SyntaxError,
        ("has to end with a `yield`",),
        """
        for i, state in range(0, n, 1, init=[fx.Int32(1)]):
            out[i] = state[0]  # here
    """,
    ),
    in_kernel(
        FLOW,
        "two names for a plain `range`",
        DslTypeError,
        TypeError,
        ("one name", "init=[...]"),
        """
        for i, j in range(n):  # here
            out[i] = j
    """,
    ),
    in_kernel(
        FLOW,
        "a branch that changes a type",
        DslTypeError,
        TypeError,
        ("'total' is Float32", "Int32", "convert"),
        """
        total = fx.Int32(0)
        if n > 2:
            total = x[0]  # here
        out[0] = total
    """,
    ),
    in_kernel(
        FLOW,
        "branches that give a name different types",
        DslTypeError,
        TypeError,
        ("'value' is Int32", "line 4", "line 6"),
        """
        if n > 2:
            value = n
        else:
            value = x[0]  # here
        out[0] = value
    """,
    ),
    in_kernel(
        FLOW,
        "a loop that changes a type",
        DslTypeError,
        TypeError,
        ("'total' is Int32 before", "total = fx.Float32(...)"),
        """
        total = 0
        for i in range(n):
            total = total + x[i]  # here
        out[0] = total
    """,
    ),
    in_kernel(
        FLOW,
        "a name bound in one branch only",
        DslNameError,
        NameError,
        ("'value'", "line 4"),
        """
        if n > 2:
            value = n * 2
        out[0] = value  # here
    """,
    ),
    in_kernel(
        FLOW,
        "a name first bound inside a run-time loop",
        DslNameError,
        NameError,
        ("'last'", "line 4"),
        """
        for i in range(n):
            last = i * 2
        out[0] = last  # here
    """,
    ),
    in_kernel(
        FLOW,
        "a float first bound inside a run-time branch",
        DslNameError,
        NameError,
        ("'value'", "value = fx.Float32(0.0)"),
        """
        if n > 2:
            value = x[0] * 2
        out[0] = value  # here
    """,
    ),
    in_kernel(
        FLOW,
        "None before a branch that gives a float",
        DslTypeError,
        TypeError,
        ("None", "for example fx.Float32(0.0), instead of None"),
        """
        value = None
        if n > 2:
            value = x[0]  # here
        out[0] = value
    """,
    ),
    in_kernel(
        FLOW,
        "a counter of Python's bumped in a run-time branch",
        DslTypeError,
        TypeError,
        ("'steps.count' is changed inside the run-time `if`", "x = f(x)"),
        """
        class Steps:
            count = 0

            def bump(self):
                self.count += 1

        steps = Steps()
        if fx.thread_idx.x < 2:
            steps.bump()  # here
        out[fx.thread_idx.x] = steps.count
    """,
    ),
    in_kernel(
        FLOW,
        "an element taken from an iterator in a run-time loop",
        DslTypeError,
        TypeError,
        ("'numbers' is changed", "first = next(...)"),
        """
        numbers = iter([3, 1, 4])
        for i in range(n):
            out[i] = next(numbers)  # here
    """,
    ),
    in_kernel(
        FLOW,
        "a NumPy array that counts in a run-time branch",
        DslTypeError,
        TypeError,
        ("'total' is changed", "tensor argument"),
        """
        total = np.zeros(1, np.int32)
        if n > 2:
            total[0] += 5  # here
        out[0] = int(total[0])
    """,
    ),
    in_kernel(
        FLOW,
        "a set that notes what a run-time branch has done",
        DslTypeError,
        TypeError,
        ("'seen' is changed", "seen = 1"),
        """
        seen = set()
        if n > 2:
            seen.add("large")  # here
        out[0] = len(seen)
    """,
    ),
    in_kernel(
        FLOW,
        "random numbers drawn in a run-time loop",
        DslTypeError,
        TypeError,
        ("'generator' is changed", "draw the numbers before the `for`"),
        """
        generator = np.random.default_rng(0)
        for i in range(n):
            out[i] = int(generator.integers(9))  # here
    """,
    ),
    in_kernel(
        FLOW,
        "None before a run-time branch",
        DslTypeError,
        TypeError,
        ("None", "instead of None"),
        """
        value = None
        if n > 2:
            value = n  # here
        out[0] = value
    """,
    ),
    in_kernel(
        FLOW,
        "mutation of a captured variable",
        DslTypeError,
        TypeError,
        ("captured variable", "total = add(total, ...)"),
        """
        total = fx.Int32(0)

        def add(value):
            nonlocal total
            total = total + value  # here

        for i in range(n):
            add(i)
        out[0] = total
    """,
    ),
    in_kernel(
        FLOW,
        "a list that grows in a run-time loop",
        DslTypeError,
        TypeError,
        ("'values'", "range_constexpr"),
        """
        values = []
        for i in range(n):
            values.append(x[i])  # here
        out[0] = len(values)
    """,
    ),
    in_kernel(
        FLOW,
        "`const_expr` of a run-time value",
        DslRuntimeError,
        RuntimeError,
        ("const_expr()", "drop const_expr"),
        """
        if fx.const_expr(n > 2):  # here
            out[0] = 1
    """,
    ),
    in_kernel(
        FLOW,
        "`range_constexpr` of a run-time value",
        DslRuntimeError,
        RuntimeError,
        ("range_constexpr()", "fx.Constexpr"),
        """
        for i in fx.range_constexpr(n):  # here
            out[i] = i
    """,
    ),
)
