"""Random functions of nested control flow, and a Python reference for them.

A program is text. The same text runs as plain Python, with :class:`Wrapped` for 32-bit integers and NumPy's float32,
and as a kernel. Every loop is bounded: a `for` by its bounds, a `while` by a counter that only grows.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np

INTS, FLOATS = ("a", "b", "c", "l[0]", "l[1]"), ("f", "g")

PLAIN = """\
def plain(x, y):
    for i in range(x & 3):
        if i == y:
            return i
        if i > y + 1:
            continue
        for k in range(3):
            if k == i:
                break
            y = y + k
    else:
        if x > y:
            return y - 1
    while True:
        y = y + 1
        if y > x:
            break
    return min(x, y) if any([x > 3, y > 3]) else max(x, y, 2)
"""
"""A helper without a decorator: rewritten when it is called."""

HELPER = """\
    def h(x, y):
        if x == t:
            return y
        if x > y and x > t:
            r = x - y
        else:
            r = y + t
            while r > 20:
                r = r // 3
        return r
"""


class Wrapped(int):
    """A 32-bit two's complement integer."""

    def __new__(cls, value: int) -> Wrapped:
        return super().__new__(cls, (int(value) + 2**31) % 2**32 - 2**31)


def _wrapping(name: str) -> None:
    plain = getattr(int, name)
    setattr(Wrapped, name, lambda self, other: Wrapped(plain(int(self), int(other))))


for _operator in ("add", "sub", "mul", "floordiv", "mod", "and", "or", "xor", "lshift", "rshift"):
    _wrapping(f"__{_operator}__")
    _wrapping(f"__r{_operator}__")


def float32(value: object) -> np.float32:
    return np.float32(int(value) if isinstance(value, int) else value)


@dataclass
class Program:
    """A function under construction."""

    rng: random.Random
    lines: list[str] = field(default_factory=list)
    counters: int = 0
    loop_names: list[str] = field(default_factory=list)
    loops: list[str] = field(default_factory=list)
    """For each loop around, what counts it on: a `continue` must not stop a `while` from ending."""
    constructs: int = 0
    jumps: int = 0

    def emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    # Expressions

    def run_time_int(self) -> str:
        """A small expression that is a run-time value whatever the variables hold."""
        return self.rng.choice(["t", "n", "(t + 1)", "(n - t)", *self.loop_names])

    def int_expression(self) -> str:
        left = self.rng.choice([*INTS, self.run_time_int()])
        right = self.rng.choice([*INTS, str(self.rng.randint(1, 9))])
        source = self.run_time_int()
        forms = (
            f"{left} + {source}",
            f"{left} * {self.rng.randint(2, 7)} - {source}",
            f"({left} + {source}) // {self.rng.randint(1, 9)}",
            f"(({left} - {source}) & 1023) % {self.rng.randint(1, 9)}",
            f"({left} ^ {right}) + {source}",
            f"({left} & {right}) | {source}",
            f"({left} + {source}) << {self.rng.randint(0, 4)}",
            f"({left} - {source}) >> {self.rng.randint(0, 4)}",
            f"({left} + {source} if {self.condition()} else {right} - {source})",
            f"h({left}, {source})",
            f"plain({left} & 7, {source} & 7)",
        )
        return self.rng.choice(forms)

    def float_expression(self) -> str:
        left, right = self.rng.choice(FLOATS), self.rng.choice(FLOATS)
        literal = self.rng.choice(["0.5", "1.25", "2.0", "-0.75"])
        source = f"F({self.run_time_int()})"
        forms = (
            f"{left} * {literal} + {source}",
            f"{left} + {right} * {literal}",
            f"{left} - {source}",
            f"({left} if {self.condition()} else {right} - {source})",
        )
        return self.rng.choice(forms)

    def condition(self, depth: int = 0) -> str:
        left, right = self.rng.choice(INTS), self.rng.choice([*INTS, str(self.rng.randint(-3, 9))])
        source = self.run_time_int()
        simple = (
            f"{left} < {right} + {source}",
            f"{source} >= {self.rng.randint(0, 5)}",
            f"({left} + {source}) % 2 == 0",
            f"{self.rng.randint(-5, 0)} <= {source} < {self.rng.randint(1, 6)}",
            f"{self.rng.choice(FLOATS)} > {self.rng.choice(FLOATS)}",
            "p",
        )
        if depth > 1 or self.rng.random() < 0.55:
            return self.rng.choice(simple)
        parts = self.condition(depth + 1), self.condition(depth + 1)
        return self.rng.choice([f"({parts[0]} and {parts[1]})", f"({parts[0]} or {parts[1]})", f"(not {parts[0]})"])

    # Statements

    def assignment(self, depth: int) -> None:
        kind = self.rng.random()
        if kind < 0.55:
            name = self.rng.choice(INTS)
            if self.rng.random() < 0.2:
                self.emit(depth, f"{name} {self.rng.choice(['+=', '-=', '^='])} {self.run_time_int()}")
            else:
                self.emit(depth, f"{name} = {self.int_expression()}")
        elif kind < 0.9:
            self.emit(depth, f"{self.rng.choice(FLOATS)} = {self.float_expression()}")
        else:
            self.emit(depth, f"p = {self.condition()}")

    def block(self, depth: int, budget: int) -> None:
        for _ in range(self.rng.randint(1, 3)):
            if budget > 0 and self.rng.random() < 0.55:
                self.rng.choice([self.branch, self.branch, self.for_loop, self.while_loop, self.unrolled])(
                    depth, budget - 1
                )
            else:
                self.assignment(depth)

    def jump(self, depth: int) -> None:
        """A `return`, or a jump of the loop around, under a condition or as the last statement of a branch."""
        if self.rng.random() < 0.7:
            self.emit(depth, f"if {self.condition()}:")
            depth += 1
        self.jumps += 1
        word = self.rng.choice(["return", *["break", "continue"] * 2 * bool(self.loops)])
        if word == "return":
            self.emit(depth, f"return {RESULT}")
            return
        if word == "continue" and self.loops[-1]:
            self.emit(depth, self.loops[-1])
        self.emit(depth, word)

    def branch(self, depth: int, budget: int) -> None:
        self.constructs += 1
        born = f"z{self.constructs}" if self.rng.random() < 0.5 else None
        arms = ["if", *["elif"] * self.rng.choice([0, 0, 1, 2])]
        for word in arms:
            self.emit(depth, f"{word} {self.condition()}:")
            self.arm(depth + 1, budget, born)
        if born is not None or self.rng.random() < 0.5:
            self.emit(depth, "else:")
            self.arm(depth + 1, budget, born)
        if born is not None:
            self.emit(depth, f"{self.rng.choice(INTS)} = {born} + t")

    def arm(self, depth: int, budget: int, born: str | None) -> None:
        self.block(depth, budget)
        if self.rng.random() < 0.2:
            self.emit(depth, f"{self.rng.choice(INTS)} = {self.rng.randint(-4, 4)}")
        if self.rng.random() < 0.15:
            self.jump(depth)
        if born is not None:
            self.emit(depth, f"{born} = {self.rng.choice([self.int_expression(), str(self.rng.randint(0, 9))])}")

    def for_loop(self, depth: int, budget: int) -> None:
        self.constructs += 1
        name = f"i{self.constructs}"
        bounds = self.rng.choice(
            [
                f"({self.run_time_int()}) & 3",
                f"{self.rng.randint(0, 2)}, {self.rng.randint(1, 5)}",
                f"{self.rng.randint(-2, 1)}, (n & 7), {self.rng.randint(1, 3)}",
                "t & 3, 5",
            ]
        )
        self.emit(depth, f"for {name} in range({bounds}):")
        self.loop_names.append(name)
        self.loops.append("")
        self.loop_body(depth + 1, budget)
        self.loops.pop()
        self.loop_names.remove(name)
        if self.rng.random() < 0.3 and self.breaks(depth):
            self.emit(depth, "else:")
            self.assignment(depth + 1)

    def loop_body(self, depth: int, budget: int) -> None:
        self.block(depth, budget)
        if self.rng.random() < 0.4:
            self.jump(depth)
            self.assignment(depth)

    def breaks(self, depth: int) -> bool:
        """Whether the loop that was just written at a depth has a `break`: only such a one may have an `else`."""
        for line in reversed(self.lines):
            indent = len(line) - len(line.lstrip())
            if indent <= 4 * depth:
                return False
            if line.strip() == "break":
                return self._own_break(self.lines.index(line), depth)
        return False

    def _own_break(self, at: int, depth: int) -> bool:
        indent = len(self.lines[at]) - len(self.lines[at].lstrip())
        for line in reversed(self.lines[:at]):
            here = len(line) - len(line.lstrip())
            if here < indent:
                indent = here
                if line.strip().startswith(("for ", "while ")):
                    return here == 4 * depth
        return False

    def while_loop(self, depth: int, budget: int) -> None:
        self.constructs += 1
        name = f"w{self.constructs}"
        self.emit(depth, f"{name} = {self.rng.choice(['0', 'I(0)', 't & 1'])}")
        extra = f" and {self.condition()}" if self.rng.random() < 0.4 else ""
        step = f"{name} += {self.rng.randint(1, 2)}"
        self.emit(depth, f"while {name} < (({self.run_time_int()}) & 3){extra}:")
        self.loops.append(step)
        self.loop_body(depth + 1, budget)
        self.loops.pop()
        self.emit(depth + 1, step)

    def unrolled(self, depth: int, budget: int) -> None:
        self.constructs += 1
        name = f"u{self.constructs}"
        self.emit(depth, f"for {name} in range_constexpr({self.rng.randint(1, 3)}):")
        if self.rng.random() < 0.4:
            word = self.rng.choice(["continue", "break"])
            self.emit(depth + 1, f"if {name} == 1:")
            self.emit(depth + 2, word)
        self.assignment(depth + 1)
        self.emit(depth + 1, f"{self.rng.choice(INTS)} += {name} + t")
        if budget > 1 and self.rng.random() < 0.3:
            self.branch(depth + 1, budget - 2)


RESULT = "a, b, c, f, g, p, l[0], l[1]"


def program(name: str, seed: int) -> tuple[str, int, int]:
    """The text of a function ``name(t, n)``, and how many branches and loops and how many jumps it has."""
    rng = random.Random(seed)
    made = Program(rng)
    made.emit(1, f"a, b, c = {rng.choice(['I(1), I(2), I(3)', 't, n, I(5)', 't + 1, 3, 4'])}")
    made.emit(1, f"f, g = {rng.choice(['F(0.5), F(2.0)', 'F(t), F(n)'])}")
    made.emit(1, f"l = {rng.choice(['[I(4), t]', '[n, n]', '[7, I(8)]'])}")
    made.emit(1, f"p = {rng.choice(['t < n', 'False', 'True'])}")
    while made.constructs == 0:
        made.block(1, rng.choice([1, 2, 2, 3]))
    made.emit(1, f"return {RESULT}")
    return "\n".join(["@flyc.jit", f"def {name}(t, n):", HELPER, *made.lines]) + "\n", made.constructs, made.jumps
