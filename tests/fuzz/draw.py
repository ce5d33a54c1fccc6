"""Drawing random kernels: every choice comes from one seed."""

from __future__ import annotations

import random

from tests.fuzz.tree import CLASSES, FLOATS, FORMS, INTS, NARROW, TABLE, WIDTH, Expr, Helper, Program, Stmt

ROWS, COLUMNS = 8, 16
"""Extents of the input, which the kernel knows at run time only."""
CONSTANTS = {"int": (0, 1, 2, 3, 5, 7, 100), "float": (0.0, 0.5, 1.0, -1.5, 2.0, 3.25)}
T, B, N = Expr("place", "i32", extra="t"), Expr("place", "i32", extra="b"), Expr("place", "i32", extra="n")


def draw(seed: int, wave: int, asynchronous: bool) -> Program:
    """The program of a seed, for a target whose waves have so many lanes."""
    return _Drawing(random.Random(seed), wave, asynchronous).program()


class _Drawing:
    def __init__(self, rng: random.Random, wave: int, asynchronous: bool) -> None:
        self.rng = rng
        self.wave = wave
        self.made = Program(threads=rng.choice((32, 64, 96, 128, 48)), fetches="async" if asynchronous else "plain")
        self.loops = 0
        self.leavable: list[bool] = []
        """Of each loop around, whether threads may leave it one by one: not where all of a block must stay."""
        self.counters: list[Expr] = []
        self.inside = True
        """Whether names of the kernel can be seen."""
        self.in_helper: str | None = None
        """What the helper that is drawn returns."""

    def helper(self, number: int) -> Helper:
        """A function of a few numbers, drawn like a kernel of its own."""
        kinds = [self.rng.choice((*INTS, *FLOATS)) for _ in range(self.rng.randint(1, 3))]
        kernel, self.made.variables = self.made.variables, {}
        parameters = {f"h{number}p{i}": kind for i, kind in enumerate(kinds)}
        self.made.variables.update({name: Expr("var", kind, extra=name) for name, kind in parameters.items()})
        self.inside = False
        made = {
            f"h{number}v{i}": self.expr(kind, 1) for i, kind in enumerate([*self.rng.sample(tuple(CLASSES), 2), "i32"])
        }
        self.made.variables.update(made)
        self.in_helper = self.rng.choice((*INTS, *FLOATS))
        body = self.block(self.rng.randint(2, 4), depth=1, whole=False)
        result = self.expr(self.in_helper, 2)
        self.in_helper, self.made.variables, self.inside = None, kernel, True
        return Helper(f"helper_{number}", parameters, made, body, result, self.rng.random() < 0.5)

    def program(self) -> Program:
        self.made.helpers = [self.helper(number) for number in range(self.rng.randint(0, 2))]
        kinds = self.rng.sample(tuple(CLASSES), 4) + ["i32", "i32", "bool"]
        for index, kind in enumerate(kinds):
            self.made.variables[f"v{index}"] = self.expr(kind, 1)
        self.made.body = self.block(self.rng.randint(3, 6), depth=0, whole=True)
        return self.made

    # Expressions

    def variable(self, kind: str) -> Expr | None:
        names = [name for name, value in self.made.variables.items() if value.type == kind]
        places = [*((T, B, N) if self.inside else ()), *self.counters] if kind == "i32" else []
        found = [Expr("var", kind, extra=name) for name in names] + places
        return self.rng.choice(found) if found else None

    def constant(self, kind: str) -> Expr:
        if kind == "bool":
            return Expr("const", kind, extra=self.rng.random() < 0.5)
        value = self.rng.choice(CONSTANTS["float" if kind in FLOATS else "int"])
        if kind[0] == "i" and self.rng.random() < 0.3:
            value = -value
        return Expr("const", kind, extra=value)

    def expr(self, kind: str, depth: int) -> Expr:
        if depth <= 0 or self.rng.random() < 0.15:
            return self.variable(kind) or (
                self.cast_from(kind, self.rng.choice((T, N))) if self.inside else self.constant(kind)
            )
        if kind == "bool":
            return self.condition(depth)
        choices = [self.binary, self.binary, self.unary, self.choose, self.extreme, self.cast, self.constant_of]
        choices += [self.element, self.masked] if kind == "i32" and self.inside else []
        choices += [self.mixed] if WIDTH[kind] > 8 and kind in INTS else []
        choices += [self.narrow] if kind == "f32" else []
        choices += [self.beside] if kind in ("i32", "i64", "f32", "f64") else []
        choices += [self.lanes] if depth < 3 else []
        choices += [self.call] if any(helper.result.type == kind for helper in self.made.helpers) else []
        choices += [self.bits] if kind in INTS else []
        return self.rng.choice(choices)(kind, depth - 1)

    def constant_of(self, kind: str, _: int) -> Expr:
        return self.constant(kind)

    def binary(self, kind: str, depth: int) -> Expr:
        left, right = self.expr(kind, depth), self.expr(kind, depth)
        if kind in FLOATS:
            return Expr("binary", kind, (left, right), self.rng.choice(("+", "-", "*", "/")))
        symbol = self.rng.choice(("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"))
        if symbol in ("//", "%"):
            right = self._plus_one(Expr("binary", kind, (right, self.number(kind, 7)), "&"))
            if symbol == "%":  # of negative numbers it differs while tracing and at run time
                left = Expr("binary", kind, (left, self.number(kind, (1 << WIDTH[kind] - 1) - 1)), "&")
        elif symbol in ("<<", ">>"):
            right = Expr("binary", kind, (right, self.number(kind, WIDTH[kind] - 1)), "&")
        return Expr("binary", kind, (left, right), symbol)

    def number(self, kind: str, value: int) -> Expr:
        return Expr("const", kind, extra=value)

    def _plus_one(self, value: Expr) -> Expr:
        return Expr("binary", value.type, (value, self.number(value.type, 1)), "+")

    def unary(self, kind: str, depth: int) -> Expr:
        ops = ["negate"] + (["invert"] if kind in INTS else []) + (["absolute"] if kind[0] != "u" else [])
        return Expr(self.rng.choice(ops), kind, (self.expr(kind, depth),))

    def choose(self, kind: str, depth: int) -> Expr:
        return Expr("choose", kind, (self.condition(depth), self.expr(kind, depth), self.expr(kind, depth)))

    def extreme(self, kind: str, depth: int) -> Expr:
        return Expr(self.rng.choice(("smaller", "larger")), kind, (self.expr(kind, depth), self.expr(kind, depth)))

    def cast(self, kind: str, depth: int) -> Expr:
        return self.cast_from(kind, self.expr(self.rng.choice(_SOURCES[kind]), depth))

    def cast_from(self, kind: str, value: Expr) -> Expr:
        if value.type == kind:
            return value
        if kind == "bool":
            return Expr("compare", kind, (value, self.constant(value.type)), "<")
        if value.type not in _SOURCES[kind]:
            value = Expr("cast", "i16", (value,))
        return Expr("cast", kind, (value,))

    def bits(self, kind: str, depth: int) -> Expr:
        other = ("u" if kind[0] == "i" else "i") + kind[1:]
        return Expr("bits", kind, (self.expr(other, depth),))

    def element(self, _: str, depth: int) -> Expr:
        places = tuple(self.below(self.expr("i32", min(depth, 1)), limit) for limit in (ROWS, COLUMNS))
        return Expr("element", "i32", places, self.rng.choice(FORMS))

    def masked(self, _: str, depth: int) -> Expr:
        """An element of four that are loaded where conditions hold."""
        row = self.below(self.expr("i32", min(depth, 1)), ROWS)
        conditions = tuple(self.condition(min(depth, 1)) for _ in range(4))
        where = (self.rng.randrange(COLUMNS - 4), self.rng.randrange(4))
        return Expr("masked", "i32", (row, *conditions, self.expr("i32", min(depth, 1))), where)

    def mixed(self, kind: str, depth: int) -> Expr:
        """An operation of two integers of different types, whose common one is ``kind``."""
        other = self.rng.choice([name for name in INTS if name != kind and promoted(kind, name) == kind])
        pair = [self.expr(kind, depth), self.expr(other, depth)]
        self.rng.shuffle(pair)
        return Expr("mixed", kind, tuple(pair), (self.rng.choice("+-*&|^"), kind))

    def beside(self, kind: str, depth: int) -> Expr:
        """An operation with a number of Python's, which takes the type of the other."""
        number = self.rng.choice((0.1, -2.7, 1e-3, 3.0) if kind in FLOATS else (1, -3, 77))
        return Expr(
            "beside", kind, (self.expr(kind, depth),), (self.rng.choice("+-*"), number, self.rng.random() < 0.5)
        )

    def narrow(self, kind: str, depth: int) -> Expr:
        return Expr("narrow", kind, (self.expr(kind, depth),), self.rng.choice(tuple(NARROW)))

    def call(self, kind: str, depth: int) -> Expr:
        helper = self.rng.choice([helper for helper in self.made.helpers if helper.result.type == kind])
        given = tuple(self.expr(wanted, min(depth, 1)) for wanted in helper.parameters.values())
        return Expr("call", kind, given, helper.name)

    def lanes(self, kind: str, depth: int) -> Expr:
        """One number of what becomes of a vector."""
        form = self.rng.choice(
            ("select", "shuffle", "insert", "convert", *(("reduce", "bits") if kind in INTS else ()))
        )
        source, place, wanted = kind, 4, None
        if form == "reduce":
            wanted = self.rng.choice(("add", "mul", "max", "min", "and", "or", "xor"))
        elif form == "select":
            wanted = self.rng.choice(("<", "<=", ">", ">=", "==", "!="))
        elif form == "shuffle":
            wanted = [self.rng.randrange(8) for _ in range(4)]
        elif form == "insert":
            wanted = self.rng.randrange(4)
        elif form == "convert":
            source = self.rng.choice(_SOURCES[kind])
        else:
            source = self.rng.choice([name for name in (*INTS, *FLOATS) if WIDTH[name] >= WIDTH[kind] and name != kind])
            place = 4 * WIDTH[source] // WIDTH[kind]
        numbers = tuple(self.expr(source, min(depth, 1)) for _ in range(4 if form == "reduce" else 8))
        if form == "reduce":
            return Expr("lanes", kind, numbers, (form, wanted))
        return Expr("lanes", kind, (*numbers, self.below(self.expr("i32", min(depth, 1)), place)), (form, wanted))

    def below(self, value: Expr, limit: int) -> Expr:
        """A number from 0 to ``limit``, a power of two."""
        return Expr("binary", "i32", (value, self.number("i32", limit - 1)), "&")

    def condition(self, depth: int) -> Expr:
        if depth > 0 and self.rng.random() < 0.3:
            left, right = self.condition(depth - 1), self.condition(depth - 1)
            return Expr("binary", "bool", (left, right), self.rng.choice(("&", "|", "^")))
        if depth > 0 and self.rng.random() < 0.15:
            left, right = self.rng.choice(INTS), self.rng.choice(INTS)
            symbol = self.rng.choice(("<", "<=", ">", ">=", "==", "!="))
            return Expr(
                "mixed",
                "bool",
                (self.expr(left, depth - 1), self.expr(right, depth - 1)),
                (symbol, promoted(left, right)),
            )
        if self.rng.random() < 0.1:
            return Expr("not", "bool", (self.condition(depth - 1),))
        kind = self.rng.choice((*INTS, *FLOATS))
        symbol = self.rng.choice(("<", "<=", ">", ">=", "==", "!="))
        return Expr("compare", "bool", (self.expr(kind, depth - 1), self.expr(kind, depth - 1)), symbol)

    # Statements

    def block(self, count: int, depth: int, whole: bool) -> list[Stmt]:
        """Statements; ``whole`` where all threads of a block are."""
        return [self.statement(depth, whole) for _ in range(count)]

    def statement(self, depth: int, whole: bool) -> Stmt:
        roll = self.rng.random()
        if depth < 3 and roll < 0.40:
            return self.rng.choice((self.branch, self.for_loop, self.while_loop, self.unrolled))(depth, whole)
        if whole and roll < 0.62:
            return self.rng.choice((self.exchange, self.shuffle, self.votes, self.fetch, self.tally))()
        if roll < 0.66 and not self.in_helper:
            return self.combine() if self.rng.random() < 0.5 or self.made.fetches == "async" else self.votes()
        if self.leavable[-1:] == [True] and roll < 0.70:
            return Stmt("leave", exprs=(self.condition(1),), extra=self.rng.choice(("break", "continue")))
        if self.in_helper is not None and depth > 0 and roll < 0.74:
            return Stmt("return", exprs=(self.condition(1), self.expr(self.in_helper, 1)))
        if roll < 0.79:
            return self.rng.choice((self.registers, self.indexed))()
        name = self.target()
        return Stmt("assign", name, (self.expr(self.made.variables[name].type, 3),))

    def target(self, kind: str | None = None) -> str:
        names = [n for n, value in self.made.variables.items() if kind is None or value.type == kind]
        return self.rng.choice(names)

    def branch(self, depth: int, whole: bool) -> Stmt:
        even = whole and self.rng.random() < 0.3
        condition = Expr("compare", "bool", (N, self.constant("i32")), "<") if even else self.condition(2)
        blocks = tuple(self.block(count, depth + 1, even)
                       for count in (self.rng.randint(1, 3), self.rng.randint(0, 2)))  # fmt: skip
        return Stmt("if", exprs=(condition,), blocks=blocks)

    def for_loop(self, depth: int, whole: bool) -> Stmt:
        even = whole and self.rng.random() < 0.4
        bound = self.below(N if even else self.expr("i32", 1), 4)
        exprs = (self.number("i32", self.rng.randint(-1, 1)), bound, self.number("i32", self.rng.randint(1, 2)))
        return self.loop("for", depth, even, exprs)

    def while_loop(self, depth: int, whole: bool) -> Stmt:
        return self.loop("while", depth, False, (self.below(self.expr("i32", 1), 4),))

    def unrolled(self, depth: int, whole: bool) -> Stmt:
        return self.loop("unrolled", depth, whole, (), self.rng.randint(1, 3))

    def loop(self, kind: str, depth: int, whole: bool, exprs: tuple[Expr, ...], extra: int | None = None) -> Stmt:
        self.loops += 1
        name = f"i{self.loops}"
        if kind != "unrolled":
            self.counters.append(Expr("place", "i32", extra=name))
        self.leavable.append(not whole)
        body = self.block(self.rng.randint(1, 3), depth + 1, whole)
        self.leavable.pop()
        if kind != "unrolled":
            self.counters.pop()
        return Stmt(kind, name, exprs, (body,), extra)

    def exchange(self) -> Stmt:
        kind = self.rng.choice([value.type for value in self.made.variables.values() if value.type != "bool"])
        place = self.below(Expr("binary", "i32", (T, self.expr("i32", 1)), self.rng.choice("+^")), self.made.threads)
        return Stmt(
            "exchange", self.target(kind), (self.expr(kind, 2), place), extra=self.rng.choice(("plain", "view"))
        )

    def shuffle(self) -> Stmt:
        kind = self.rng.choice([v.type for v in self.made.variables.values() if v.type in ("i32", "f32", "u32")])
        width = self.rng.choice([width for width in (8, 16, 32, self.wave) if self.made.threads % width == 0])
        offset = self.number("i32", self.rng.randint(0, width - 1))
        value = Expr(
            "shuffle", kind, (self.expr(kind, 2), offset), (self.rng.choice(("xor", "up", "down", "idx")), width)
        )
        return Stmt("assign", self.target(kind), (value,))

    def votes(self) -> Stmt:
        if self.rng.random() < 0.5:
            agreed = Expr("agreed", "bool", (self.condition(2),), self.rng.choice(("any", "all")))
            return Stmt("assign", self.target("bool"), (agreed,))
        return Stmt("assign", self.target("i32"), (Expr("votes", "i32", (self.condition(2),)),))

    def fetch(self) -> Stmt:
        place = self.below(Expr("binary", "i32", (T, self.expr("i32", 1)), "^"), self.made.threads)
        return Stmt("fetch", self.target("i32"), (place,))

    def combine(self) -> Stmt:
        """An atomic operation in a shared table, which any threads may do."""
        kind = self.rng.choice(("i32", "u32", "i64", "u64"))
        value = self.expr(kind, 1)
        return Stmt("combine", kind, (value, self.below(self.expr("i32", 1), TABLE)), extra=self.rng.choice(_COMBINED))

    def tally(self) -> Stmt:
        kind = self.rng.choice([v.type for v in self.made.variables.values() if v.type in ("i32", "u32", "i64", "u64")])
        place = self.below(self.expr("i32", 1), TABLE)
        return Stmt("tally", self.target(kind), (self.constant(kind), place), extra=self.rng.choice(_COMBINED))

    def indexed(self) -> Stmt:
        name = self.target(self.rng.choice([v.type for v in self.made.variables.values() if v.type != "bool"]))
        kind = self.made.variables[name].type
        places = (self.below(self.expr("i32", 1), 4) for _ in range(2))
        return Stmt("indexed", name, (*(self.expr(kind, 1) for _ in range(5)), *places))

    def registers(self) -> Stmt:
        name = self.target(self.rng.choice([v.type for v in self.made.variables.values() if v.type != "bool"]))
        kind = self.made.variables[name].type
        values = tuple(self.expr(kind, 1) for _ in range(5))
        index = self.number("i32", self.rng.randint(0, 3))
        return Stmt("registers", name, (*values, index), extra=self.rng.choice("+-*"))


_COMBINED = ("add", "max", "min", "and", "or", "xor")


def promoted(one: str, other: str) -> str:
    """The common type of two integers, as docs/language.md has it."""
    if one[0] == other[0]:
        return max(one, other, key=WIDTH.__getitem__)
    signed, unsigned = sorted((one, other))
    return unsigned if WIDTH[unsigned] >= WIDTH[signed] else signed


_SOURCES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(INTS, INTS),
    "bool": INTS,
    "f16": ("i8", "u8", "f32"),
    "bf16": ("i8", "u8", "f32"),
    "f32": ("i8", "u8", "i16", "u16", "i32", "u32", "f16", "bf16", "f64"),
    "f64": ("i8", "u8", "i16", "u16", "i32", "u32", "f32"),
}
"""What each type is converted from where NumPy rounds once; the conversions have a test of their own for all pairs."""
for _kind in INTS:
    _SOURCES[_kind] = tuple(kind for kind in (*INTS, "f32", "f64") if kind != _kind)
