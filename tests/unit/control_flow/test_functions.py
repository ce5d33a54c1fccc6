"""Where rewritten functions may be defined, and what they may call."""

from __future__ import annotations

import copy
import importlib
import linecache
import sys
from collections.abc import Callable, Iterator
from functools import partial, reduce
from pathlib import Path
from typing import Any

import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslTypeError
from flydsl.compiler.ast_rewriter import ASTRewriter
from flydsl.compiler.rewrite.rewriter import rewritten
from tests.unit.control_flow.running import launch, refused

SCALE = 3


@flyc.jit
def clamped(x, low, high=10, *, step: int = 1):
    """The nearest value inside."""
    if x < low:
        x = low
    elif x > high:
        x = fx.Int32(high)
    return x * step


@flyc.kernel
def at_module_level(out: fx.Tensor, n: fx.Int32):
    t = fx.thread_idx.x
    x = 0
    for i in range(n):
        x += i * SCALE
    out[t] = x + t


def test_a_kernel_at_module_level() -> None:
    assert launch(at_module_level, n=4) == [18, 19, 20, 21]


def test_nested_functions_are_rewritten_along() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x

        def sign(x):
            if x > 1:
                y = 1
            elif x == 1:
                y = 0
            else:
                y = -1
            return y

        def total(count):
            x = 0
            for i in range(count):
                x += sign(i)
            return x

        out[t] = total(t) * 10 + sign(t)

    assert launch(body) == [-1, -10, -9, 1]


def test_a_jit_function_called_in_a_kernel_is_inlined() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        out[t] = clamped(t * 5, 2) + clamped(t, 1, high=2, step=100)

    assert launch(body) == [2 + 100, 5 + 100, 10 + 200, 10 + 200]


def test_a_plain_helper_may_branch_on_a_run_time_value() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        out[t] = plain_helper(t) * 10 + Adder(5).plus(t)

    assert launch(body) == [25, 26, 27, 18]


def plain_helper(x: Any) -> Any:
    return 1 if x > 2 else 2


class Adder:
    """A helper that is a method."""

    def __init__(self, base: int) -> None:
        self.base = base

    def plus(self, x: Any) -> Any:
        if x < 0:
            return self.base
        return self.base + x


def test_loops_of_a_plain_helper_over_known_numbers_are_pythons() -> None:
    seen: list[Any] = []

    def total(values: list[Any], n: Any) -> Any:
        found = fx.Int32(0)
        for i in range(len(values)):
            seen.append(i)  # a list of the host's, filled while tracing
            found += values[i]
        for _ in range(n):  # a run-time number of turns
            found += 100
        return found

    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        out[t] = total([t, 1, 2], n)

    assert launch(body, n=2) == [203, 204, 205, 206]
    assert seen == [0, 1, 2]


def test_generators_and_library_functions_are_left_alone() -> None:
    def pairs(values: list[int]) -> Iterator[int]:
        for value in values:
            if value > 1:
                yield value

    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        out[t] = sum(pairs([1, 2, 3])) + reduce(lambda a, b: a + b, [t, t])

    assert launch(body) == [5, 7, 9, 11]


def test_python_s_own_functions_take_run_time_values() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x = min(t, 2) + max([t, n, 1]) * 10 + abs(t - 2) * 100
        if any([t == 0, t == 3]) and all([n > 3, n < 9]):
            x += 1000
        out[t] = x + min(3, 7) * 10000 + max("a", "b", key=ord).count("b") * 100000

    assert launch(body) == [131250, 130151, 130052, 131152]

    def of_any_iterable(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        out[t] = max(x * t for x in (1, 2)) * 10 + min(fx.Vector.from_elements([t, n - t])) + max({1: 2}, default=0)

    assert launch(of_any_iterable) == [1, 22, 43, 63]

    def of_numbers_with_a_default(out: fx.Tensor, n: fx.Int32):
        out[0] = max(1, 2, default=3)

    with pytest.raises(TypeError, match="default"):  # as Python has it
        launch(of_numbers_with_a_default)


def test_closures_are_kept() -> None:
    def make(offset: int) -> Callable[..., Any]:
        def body(out: fx.Tensor, n: fx.Int32):
            t = fx.thread_idx.x
            x = offset
            if t > SCALE - 2:
                x = x + offset
            out[t] = x

        return body

    assert launch(make(1)) == [1, 1, 2, 2]
    assert launch(make(5)) == [5, 5, 10, 10]


def test_a_captured_variable_may_change_between_traces() -> None:
    offset = 1

    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        out[t] = offset if t < 2 else 0

    assert launch(body) == [1, 1, 0, 0]
    offset = 7
    assert launch(body) == [7, 7, 0, 0]


class Machine:
    """Methods, private names and inheritance."""

    def __init__(self, scale: int) -> None:
        self.__scale = scale

    @flyc.kernel
    def kernel(self, out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x = self.__scale
        for i in range(n):
            if i > t:
                x = x + self.step(i)
        out[t] = x

    @flyc.jit
    def step(self, i):
        return i * self.__scale if i % 2 == 0 else i


class FasterMachine(Machine):
    @flyc.jit
    def step(self, i):
        x = 0
        if i > 2:
            x = super().step(i)
        return x * 10


def test_methods() -> None:
    def expected(t: int, scale: int) -> int:
        return scale + sum(i * scale if i % 2 == 0 else i for i in range(6) if i > t)

    assert launch(Machine(2).kernel, n=6) == [expected(t, 2) for t in range(4)]
    assert launch(Machine(3).kernel, n=6) == [expected(t, 3) for t in range(4)]


def test_inheritance() -> None:
    def expected(t: int) -> int:
        return 2 + sum((i * 2 if i % 2 == 0 else i) * 10 for i in range(3, 6) if i > t)

    assert launch(FasterMachine(2).kernel, n=6) == [expected(t) for t in range(4)]


def test_partial_and_lambdas() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        low = partial(clamped, low=1, high=2)
        pick = lambda x: x if x > 1 else -x  # noqa: E731
        apply = lambda f, *a: f(*a)  # noqa: E731
        x = 0
        for i in range(n):
            x += low(i) + apply(pick, t)
        out[t] = x

    assert launch(body, n=4) == [6 + 4 * (t if t > 1 else -t) for t in range(4)]


def test_comprehensions() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        values = [t * i if t > 1 else i for i in range(4)]
        table = {k: v + 1 for k, v in enumerate(values) if k != 1}
        out[t] = sum(values) + table[3] * 100 + sum(1 for v in (1, 2) if v > 1 and v < 3)

    assert launch(body) == [
        sum(v) + (v[3] + 1) * 100 + 1 for t in range(4) for v in [[t * i if t > 1 else i for i in range(4)]]
    ]


def test_run_time_conditions_in_defaults() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x

        def chosen(x, low=n if t > 1 else 0, *, inside=0 < t < 3 and n > 2):
            return x + low + 100 * inside

        out[t] = chosen(t)

    assert launch(body, n=5) == [0, 101, 107, 8]


def test_a_comprehension_whose_target_has_the_name_of_what_it_goes_through() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x = [t, 1]
        if t > 1:
            x = [n, 2]
        for i in range(2):
            x = [x + i for x in x]
        out[t] = sum(x * 10 for x in x)

    assert launch(body, n=4) == [30, 40, 80, 80]


def test_recursion_unrolls_while_tracing() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x

        def power(x, k):
            if k == 0:
                return 1
            y = power(x, k - 1)
            return y * x if x > 0 else y

        out[t] = power(t, 3)

    assert launch(body) == [1, 1, 8, 27]


def test_a_kernel_defined_in_a_jit_function() -> None:
    @flyc.jit
    def host(out: fx.Tensor, n: fx.Int32, unroll: fx.Constexpr[int]):
        @flyc.kernel
        def inner(out: fx.Tensor, n: fx.Int32):
            t = fx.thread_idx.x
            x = 0
            for i in fx.range_constexpr(unroll):
                if t > i:
                    x += 1
            out[t] = x + n

        if n > 0:
            inner(out, n).launch(grid=(1, 1, 1), block=(4, 1, 1))

    import numpy as np

    out = np.zeros(4, np.int32)
    host(out, 0, 2)
    assert out.tolist() == [0, 0, 0, 0], "the launch is under a run-time condition"
    host(out, 10, 2)
    assert out.tolist() == [10, 11, 12, 12]


def test_text_that_only_linecache_knows() -> None:
    """A notebook cell or a REPL entry: there is no file, but linecache has its lines."""
    text = (
        "import flydsl.expr as fx\n"
        "def body(out: fx.Tensor, n: fx.Int32):\n"
        "    t = fx.thread_idx.x\n"
        "    x = 0\n"
        "    for i in range(n):\n"
        "        if i > t:\n"
        "            x += i\n"
        "    out[t] = x\n"
    )
    name = "<cell-1>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {}
    exec(compile(text, name, "exec"), space)
    assert launch(space["body"], n=4) == [6, 5, 3, 0]

    text = text.replace("x += i", "x += 1")
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), space)
    assert launch(space["body"], n=4) == [3, 2, 1, 0], "a name used again is read again"


def test_a_function_without_source_says_so() -> None:
    space: dict[str, Any] = {"fx": fx}
    exec("def body(out: fx.Tensor, n: fx.Int32):\n    if n > 2:\n        out[0] = 1\n", space)
    try:
        launch(space["body"])
    except RuntimeError as error:
        assert "source of body() cannot be read" in str(error)
    else:
        raise AssertionError("nothing was raised")


EDITED = """import flydsl.expr as fx

def below(x):
    if x < 2:
        return x
    return {}

def body(out: fx.Tensor, n: fx.Int32):
    out[fx.thread_idx.x] = below(fx.thread_idx.x)
"""


def test_a_file_that_was_edited_after_it_was_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is imported runs, as in Python, or nothing does: not what the file says by now."""
    file = tmp_path / "edited_after_import.py"
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file.write_text(EDITED.format("2"))
    module = importlib.import_module(file.stem)
    file.write_text(EDITED.format("3"))
    with pytest.raises(RuntimeError, match=r"has changed since \w+\(\) was imported") as found:
        launch(module.body)
    assert "importlib.reload" in str(found.value)
    assert launch(importlib.reload(module).body) == [0, 1, 3, 3]
    file.write_text(EDITED.format("30"))
    module = importlib.reload(module)
    file.write_text("# another line above\n" + EDITED.format("30"))
    with pytest.raises(RuntimeError, match="has changed since"):
        launch(module.body)
    file.write_text(EDITED.format("30  # the same, with a word on it"))
    assert launch(module.body) == [0, 1, 30, 30]


def test_what_has_nothing_to_rewrite_stays_itself() -> None:
    def plain(x: int, y: int = 2) -> int:
        return x + y

    pick = lambda x: 1 if x else 2  # noqa: E731
    assert rewritten(plain) is plain
    assert rewritten(pick) is pick
    assert rewritten(len) is len


def test_the_rewritten_function_is_like_the_original() -> None:
    def original(x: int, /, y: int = 2, *rest: int, z: int = 3, **more: int) -> str:
        """Its text."""
        return "yes" if x and y and z else "no"

    original.mark = 5  # type: ignore[attr-defined]
    new = rewritten(original)
    assert new is not original and rewritten(original) is new and rewritten(new) is new
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "__defaults__", "__kwdefaults__", "__dict__"):
        assert getattr(new, name) == getattr(original, name), name
    code, old = new.__code__, original.__code__
    assert (code.co_filename, code.co_firstlineno, code.co_qualname) == (
        old.co_filename,
        old.co_firstlineno,
        old.co_qualname,
    )
    assert new(1) == "yes" and new(0, 1, 2, z=3, k=4) == "no"


def test_functions_of_one_definition_share_their_code() -> None:
    def make(k: int) -> Callable[[int], int]:
        def inner(x: int) -> int:
            return k if x else -k

        return inner

    first, second = rewritten(make(1)), rewritten(make(2))
    assert first.__code__ is second.__code__
    assert (first(1), second(1), second(0)) == (1, 2, -2)


def test_a_nested_generator_stays_a_generator() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        def steps():
            for k in (1, 2, 3):
                yield k * 1

        t = fx.thread_idx.x
        x = 0
        for k in steps():
            x += k * t
        out[t] = x

    assert launch(body) == [0, 6, 12, 18]


def test_match_and_with_and_classes() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        mode, x = "fast", fx.Int32(0)
        match mode:
            case "fast" if t is not None:
                if t > 1:
                    x = t
            case _:
                raise AssertionError

        class Local:
            def pick(self, value):
                return value if value > 2 else 9

        with fx.fastmath("fast"):
            if t > 0:
                with fx.fastmath("nnan"):
                    x = x + Local().pick(t)
        out[t] = x

    assert launch(body) == [0, 9, 11, 6]


class Halving:
    """A method whose private names are those of a nested function and of a variable that a branch assigns."""

    def of(self, x, least):
        def __half(y):
            return y // 2

        __found = least
        if x > least:
            __found = __half(x)
        return __found


def test_methods_of_local_classes_may_jump_and_have_private_names() -> None:
    """Python spells `__x` in a class as `_Class__x`: variables of branches, the rewriter's own too, are found there."""

    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x

        class Local:
            def rest(self, a):
                if a > n:
                    return a - n
                return n

            def first(self, least):
                __i = fx.Int32(0)
                while True:
                    __i += 1
                    if __i > 50:
                        break
                    for __j in range(3):
                        if __i * __j > least:
                            return __i * 10 + __j
                return fx.Int32(-1)

        out[t] = Local().rest(t) * 1000 + Local().first(t) * 10 + Halving().of(t, 1)

    assert launch(body, n=2) == [2111, 2121, 2221, 1221]


def test_annotations_of_variables() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        x: int = 0
        if t > 1:
            x: int = 5
            y: fx.Int32  # noqa: F842
        out[t] = x

    assert launch(body) == [0, 0, 5, 5]


def test_the_facade() -> None:
    def f(x: int) -> int:
        return 1 if x else 2

    assert ASTRewriter.transform(f) is rewritten(f)


def test_a_helper_that_calls_itself() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        out[t] = doubled(t, 3) + tripled(t, 2)

    assert launch(body) == [0, 17, 34, 51]


def doubled(x: Any, times: int) -> Any:
    if times == 0:
        return x
    return doubled(x * 2 if x > 0 else x, times - 1)


@flyc.jit
def tripled(x, times):
    return tripled(x * 3, times - 1) if times > 0 else x


def test_a_dict_asked_for_a_run_time_number() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        out[0] = {3: 1, n: 2}.get(n, 7) + {}.get(n, 7) + {"a": 1}.get("b", 7)
        out[1] = {3: 1, 4: 2}.get(n, 7)  # here

    refused(body, DslTypeError, "a dict compares its keys now", "put them in a tensor")


def test_copied_values_are_the_values() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        state = {"at": [t, fx.Vector.filled(2, n, fx.Int32)], "out": out}
        other = copy.deepcopy(state)
        other["at"][0] = other["at"][0] + 10
        other["out"][t] = state["at"][0] * 1000 + other["at"][0] * 10 + other["at"][1][0]

    assert launch(body) == [t * 1000 + (t + 10) * 10 + 5 for t in range(4)]
