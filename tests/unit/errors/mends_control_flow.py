"""What the advice on mistakes in control flow comes to: the bodies of kernels, by the title of the mistake."""

from __future__ import annotations

MENDS: dict[str, tuple[str, ...]] = {
    "`break` out of a loop with explicit state": (
        """
        state = 1
        for i in range(n):
            if i > 2:
                break
            state = state + i
        out[0] = state
        """,
    ),
    "`raise` under a run-time condition": (
        """
        if n > 3:
            fx.printf("too many: {}", n)
        """,
        """
        if n > 3:
            out[7] = 1
        """,
        """
        if x.dtype is not fx.Float32:
            raise ValueError("of floats only")
        """,
    ),
    "`with` inside a run-time branch": (
        """
        with np.errstate(all="ignore"):
            if n > 2:
                out[0] = n
        """,
        """
        if n > 2:
            with fx.fastmath("fast"):
                out[0] = n
        """,
    ),
    "`:=` in the condition of a loop that ends early": (
        "i = fx.Int32(0)\ny = x[i]\nwhile y < 9.0:\n    i += 1\n    if i > n:\n        break\n    y = x[i]\n"
        "out[0] = y.to(fx.Int32)",
    ),
    "`yield` inside a branch": (
        """
        for i, state in range(0, n, 1, init=[fx.Int32(1)]):
            after = state[0]
            if i > 2:
                after = state[0] + fx.Int32(i)
            results = yield [after]
        out[0] = results
        """,
    ),
    "`init=` without a `yield`": (
        """
        for i, state in range(0, n, 1, init=[fx.Int32(1), fx.Int32(2)]):
            a, b = state[1], state[0]
            results = yield [a, b]
        out[0] = results[0]
        """,
    ),
    "two names for a plain `range`": (
        """
        for i in range(n):
            j = i * 2
            out[i] = j
        """,
        """
        for i, state in range(n, init=[fx.Int32(0)]):
            results = yield [state[0] + 1]
        out[0] = results
        """,
    ),
    "a branch that changes a type": (
        """
        total = fx.Float32(fx.Int32(0))
        if n > 2:
            total = x[0]
        out[0] = total.to(fx.Int32)
        """,
    ),
    "branches that give a name different types": (
        """
        if n > 2:
            value = fx.Float32(n)
        else:
            value = x[0]
        out[0] = value.to(fx.Int32)
        """,
    ),
    "a loop that changes a type": (
        """
        total = fx.Float32(0)
        for i in range(n):
            total = total + x[i]
        out[0] = total.to(fx.Int32)
        """,
        """
        total = 0
        for i in range(n):
            total = (total + x[i]).to(fx.Int32)
        out[0] = total
        """,
    ),
    "a name bound in one branch only": (
        """
        value = fx.Int32(0)
        if n > 2:
            value = n * 2
        out[0] = value
        """,
        """
        if n > 2:
            value = n * 2
        else:
            value = n
        out[0] = value
        """,
    ),
    "a float first bound inside a run-time branch": (
        """
        value = fx.Float32(0.0)
        if n > 2:
            value = x[0] * 2
        out[0] = value.to(fx.Int32)
        """,
    ),
    "a name first bound inside a run-time loop": (
        """
        last = fx.Int32(0)
        for i in range(n):
            last = i * 2
        out[0] = last
        """,
    ),
    "None before a run-time branch": (
        """
        value = fx.Int32(0)
        if n > 2:
            value = n
        out[0] = value
        """,
    ),
    "None before a branch that gives a float": (
        """
        value = fx.Float32(0.0)
        if n > 2:
            value = x[0]
        out[0] = value.to(fx.Int32)
        """,
    ),
    "mutation of a captured variable": (
        """
        total = fx.Int32(0)

        def add(total, value):
            return total + value

        for i in range(n):
            total = add(total, i)
        out[0] = total
        """,
    ),
    "a list that grows in a run-time loop": (
        """
        values = [fx.Float32(0)]
        for i in range(n):
            values[0] = x[i]
        out[0] = len(values)
        """,
        """
        values = []
        for i in fx.range_constexpr(5):
            values.append(x[i])
        out[0] = len(values)
        """,
    ),
    "`const_expr` of a run-time value": (
        """
        if n > 2:
            out[0] = 1
        """,
    ),
    "`range_constexpr` of a run-time value": (
        """
        for i in range(n):
            out[i] = i
        """,
    ),
    "a counter of Python's bumped in a run-time branch": (
        """
        def bump(count):
            return count + 1

        count = fx.Int32(0)
        if fx.thread_idx.x < 2:
            count = bump(count)
        out[fx.thread_idx.x] = count
        """,
    ),
    "an element taken from an iterator in a run-time loop": (
        """
        numbers = iter([3, 1, 4])
        first = next(numbers)
        for i in range(n):
            out[i] = first
        """,
    ),
    "a NumPy array that counts in a run-time branch": (
        """
        total = fx.Int32(0)
        if n > 2:
            total = total + 5
        out[0] = total
        """,
        """
        if n > 2:
            out[0] = out[0] + 5
        """,
    ),
    "a set that notes what a run-time branch has done": (
        """
        seen = fx.Int32(0)
        if n > 2:
            seen = 1
        out[0] = seen
        """,
    ),
    "random numbers drawn in a run-time loop": (
        """
        generator = np.random.default_rng(0)
        drawn = int(generator.integers(9))
        for i in range(n):
            out[i] = drawn
        """,
    ),
}
