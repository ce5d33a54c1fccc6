"""What a random kernel must compute: its tree, interpreted with NumPy over all threads at once.

A value is an array with one element a thread, and a mask says which threads are there. Shuffles, votes and barriers
stand only where all threads of a block are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tests.fuzz.tree import FLOATS, INTS, TABLE, WIDTH, Expr, Helper, Program, Stmt

DTYPES: dict[str, Any] = {
    "bool": np.bool_, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32,
    "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f32": np.float32, "f64": np.float64,
}  # fmt: skip

NARROW_TYPES: dict[str, Any] = {
    "e4m3fn": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
}  # fmt: skip

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "//": np.floor_divide, "%": np.mod,
    "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor, "<<": np.left_shift, ">>": np.right_shift,
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
}  # fmt: skip


class Left(Exception):
    """Raised by a program that never ends; the drawing sees to it that none is drawn."""


class Reference:
    """One run of a program."""

    def __init__(self, program: Program, x: np.ndarray, n: int, blocks: int, wave: int) -> None:
        self.program, self.x, self.n, self.wave = program, x, n, wave
        self.threads = program.threads
        count = self.threads * blocks
        self.values: dict[str, np.ndarray] = {
            "t": np.tile(np.arange(self.threads, dtype=np.int32), blocks),
            "b": np.repeat(np.arange(blocks, dtype=np.int32), self.threads),
            "n": np.full(count, n, np.int32),
        }
        self.mask = np.ones(count, bool)
        self.broken: list[np.ndarray] = []
        self.returned: list[np.ndarray] = [np.zeros(count, bool)]
        """Of each function that runs, the kernel first, the threads that have left it."""
        self.results: list[str] = []
        self.helpers = {helper.name: helper for helper in program.helpers}
        self.tables = {key: np.full((blocks, TABLE), 7).astype(DTYPES[key[1]]) for key in program.tables()}
        self.skipped: list[np.ndarray] = []

    def run(self) -> np.ndarray:
        """The bits of every variable for every thread, as 64-bit integers."""
        with np.errstate(all="ignore"):
            for name, value in self.program.variables.items():
                self.values[name] = self.value(value)
            self.block(self.program.body)
        return np.stack([bits_of(self.values[name]) for name in self.program.variables])

    # Expressions

    def value(self, expr: Expr) -> np.ndarray:
        kind = DTYPES[expr.type]
        if expr.op in ("var", "place"):
            return self.values[expr.extra]
        if expr.op == "const":
            return np.full(len(self.mask), expr.extra).astype(kind)
        if expr.op == "call":
            return self.called(self.helpers[expr.extra], [self.value(arg) for arg in expr.args])
        args = [self.value(arg) for arg in expr.args]
        return self.operation(expr, args).astype(kind, copy=False)

    def operation(self, expr: Expr, args: list[np.ndarray]) -> np.ndarray:
        match expr.op:
            case "binary" | "compare":
                return _BINARY[expr.extra](*args)
            case "not" | "invert":
                return ~args[0]
            case "negate":
                return np.zeros_like(args[0]) - args[0]
            case "absolute":
                return np.abs(args[0])
            case "smaller":
                return np.where(args[1] < args[0], args[1], args[0])
            case "larger":
                return np.where(args[1] > args[0], args[1], args[0])
            case "choose":
                return np.where(args[0], args[1], args[2])
            case "cast":
                return converted(args[0], expr.args[0].type, expr.type)
            case "bits":
                return args[0].view(DTYPES[expr.type])
            case "element":
                row, column = (np.where(self.mask, arg, 0) for arg in args)
                return self.x[row - row % 2, column - column % 2] if expr.extra == "even" else self.x[row, column]
            case "shuffle":
                return self.shuffled(args, *expr.extra)
            case "votes":
                return self.over_waves(args[0] & self.mask, np.add)
            case "agreed":
                return (
                    self.over_waves(args[0] & self.mask, np.logical_or)
                    if expr.extra == "any"
                    else self.over_waves(args[0] | ~self.mask, np.logical_and)
                )
            case "mixed":
                symbol, common = expr.extra
                return _BINARY[symbol](*(arg.astype(DTYPES[common]) for arg in args))
            case "beside":
                symbol, number, first = expr.extra
                pair = (np.full_like(args[0], number), args[0])
                return _BINARY[symbol](*(pair if first else pair[::-1]))
            case "narrow":
                return args[0].astype(NARROW_TYPES[expr.extra]).astype(args[0].dtype)
            case "masked":
                first, which = expr.extra
                return np.where(args[1 + which], self.x[np.where(self.mask, args[0], 0), first + which], args[5])
            case "lanes":
                return lanes(expr, args)
            case _:
                raise AssertionError(expr.op)

    def over_waves(self, value: np.ndarray, combine: np.ufunc) -> np.ndarray:
        """What the threads of each wave give together; the last wave of a block may have fewer."""
        found = np.zeros(len(value), np.int32 if combine is np.add else bool)
        for block in range(0, len(value), self.threads):
            for first in range(block, block + self.threads, self.wave):
                last = min(first + self.wave, block + self.threads)
                found[first:last] = combine.reduce(value[first:last].astype(found.dtype))
        return found

    def called(self, helper: Helper, given: list[np.ndarray]) -> np.ndarray:
        mask, broken = self.mask, self.broken
        self.broken = []
        self.returned.append(np.zeros_like(mask))
        self.results.append(result := f"{helper.name} gives")
        self.values.pop(result, None)
        self.values.update(zip(helper.parameters, given, strict=True))
        for name, value in helper.variables.items():
            self.values[name] = self.value(value)
        self.values[result] = np.zeros(len(mask), DTYPES[helper.result.type])
        self.block(helper.body)
        self.assign(result, self.value(helper.result))
        self.results.pop()
        self.returned.pop()
        self.mask, self.broken = mask, broken
        return self.values[result]

    def shuffled(self, args: list[np.ndarray], mode: str, width: int) -> np.ndarray:
        lane = np.arange(len(args[0])) % width
        begin = np.arange(len(args[0])) - lane
        other = {"xor": lane ^ args[1], "up": lane - args[1], "down": lane + args[1], "idx": args[1]}[mode]
        inside = (other >= 0) & (other < width)
        return args[0][np.where(inside, begin + other, begin + lane)]

    # Statements

    def block(self, statements: list[Stmt]) -> None:
        for stmt in statements:
            if self.mask.any():
                getattr(self, f"do_{stmt.kind}")(stmt)

    def assign(self, name: str, value: np.ndarray) -> None:
        before = self.values.get(name)
        self.values[name] = value if before is None else np.where(self.mask, value, before)

    def do_assign(self, stmt: Stmt) -> None:
        self.assign(stmt.name, self.value(stmt.exprs[0]))

    def do_if(self, stmt: Stmt) -> None:
        mask, condition = self.mask, self.value(stmt.exprs[0])
        ends = []
        for block, side in zip(stmt.blocks, (condition, ~condition), strict=True):
            self.mask = mask & side
            self.block(block)
            ends.append(self.mask)
        self.mask = ends[0] | ends[1]

    def do_for(self, stmt: Stmt) -> None:
        start, stop, step = (self.value(expr).astype(np.int64) for expr in stmt.exprs)
        self.loop(stmt, lambda turn: (start + turn * step, start + turn * step < stop))

    def do_unrolled(self, stmt: Stmt) -> None:
        size = len(self.mask)
        self.loop(stmt, lambda turn: (np.full(size, turn), np.full(size, turn < stmt.extra)))

    def do_while(self, stmt: Stmt) -> None:
        self.assign(stmt.name, np.zeros(len(self.mask), np.int32))
        self.loop(stmt, lambda _: (self.values[stmt.name] + 1, self.values[stmt.name] < self.value(stmt.exprs[0])))

    def loop(self, stmt: Stmt, at: Callable[[int], tuple[np.ndarray, np.ndarray]]) -> None:
        outside, left = self.mask, np.zeros_like(self.mask)
        self.broken.append(left)
        for turn in range(1000):
            counter, goes_on = at(turn)
            self.mask = self.mask & goes_on & ~self.broken[-1] & ~self.returned[-1]
            if not self.mask.any():
                break
            self.assign(stmt.name, counter.astype(np.int32))
            going = self.mask
            self.skipped.append(np.zeros_like(going))
            self.block(stmt.blocks[0])
            self.skipped.pop()
            self.mask = going
        else:
            raise Left(stmt)
        self.broken.pop()
        self.mask = outside & ~self.returned[-1]

    def do_leave(self, stmt: Stmt) -> None:
        leaving = self.mask & self.value(stmt.exprs[0])
        if stmt.extra == "break":
            self.broken[-1] |= leaving
        self.mask = self.mask & ~leaving

    def do_return(self, stmt: Stmt) -> None:
        condition, value = (self.value(expr) for expr in stmt.exprs)
        mask = self.mask
        self.mask = mask & condition
        self.assign(self.results[-1], value)
        self.returned[-1] |= self.mask
        self.mask = mask & ~condition

    def do_combine(self, stmt: Stmt) -> None:
        value, place = (self.value(expr)[self.mask] for expr in stmt.exprs)
        _COMBINED[stmt.extra].at(self.tables[stmt.extra, stmt.name], (self.values["b"][self.mask], place), value)

    def do_tally(self, stmt: Stmt) -> None:
        place = self.value(stmt.exprs[1])
        self.assign(stmt.name, self.tables[stmt.extra, stmt.exprs[0].type][self.values["b"], place])

    def do_indexed(self, stmt: Stmt) -> None:
        *held, new, at, wanted = (self.value(expr) for expr in stmt.exprs)
        cells = np.stack(held)
        every = np.arange(len(self.mask))
        cells[at, every] = new
        self.assign(stmt.name, cells[wanted, every])

    def do_exchange(self, stmt: Stmt) -> None:
        value, place = (self.value(expr) for expr in stmt.exprs)
        self.assign(stmt.name, value.reshape(-1, self.threads)[self.values["b"], place])

    def do_registers(self, stmt: Stmt) -> None:
        registers = [self.value(expr) for expr in stmt.exprs[:4]]
        other, index = self.value(stmt.exprs[4]), int(stmt.exprs[5].extra)
        self.assign(stmt.name, _BINARY[stmt.extra](registers[index], other).astype(registers[0].dtype))

    def do_fetch(self, stmt: Stmt) -> None:
        """The element of the input that another thread fetched: the one at its place in the flat input."""
        place = self.value(stmt.exprs[0])
        self.assign(stmt.name, self.x.reshape(-1)[(self.values["b"] * self.threads + place) % self.x.size])


_COMBINED: dict[str, Any] = {
    "add": np.add, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}  # fmt: skip
_REDUCED: dict[str, Any] = {**_COMBINED, "mul": np.multiply}


def lanes(expr: Expr, args: list[np.ndarray]) -> np.ndarray:
    """One number of what becomes of a vector of four."""
    form, wanted = expr.extra
    first, every = np.stack(args[:4]), np.arange(len(args[0]))
    if form == "reduce":
        return _REDUCED[wanted].reduce(first, axis=0, dtype=first.dtype)
    place = args[8]
    second = np.stack(args[4:8])
    if form == "select":
        return np.where(_BINARY[wanted](first, second), first, second)[place, every]
    if form == "shuffle":
        return np.concatenate([first, second])[list(wanted)][place, every]
    if form == "insert":
        changed = first.copy()
        changed[place, every] = args[4]
        return changed[wanted]
    if form == "convert":
        return converted(first, expr.args[0].type, expr.type)[place, every]
    cut = np.ascontiguousarray(first.T).view(DTYPES[expr.type])
    return cut[every, place]


def converted(value: np.ndarray, old: str, new: str) -> np.ndarray:
    """A number in another type: integers wrap, floats saturate to integers, NaN becomes 0."""
    if old in FLOATS and new in INTS:
        info, wide = np.iinfo(DTYPES[new]), value.astype(np.float64)
        inside = np.clip(np.nan_to_num(wide, nan=0.0, posinf=np.inf, neginf=-np.inf), float(info.min), float(info.max))
        top = wide >= float(info.max)
        whole = np.where(top, 0, np.trunc(inside))
        return np.where(top, np.array(info.max, DTYPES[new]), whole.astype(DTYPES[new]))
    return value.astype(DTYPES[new])


def bits_of(value: np.ndarray) -> np.ndarray:
    """The bits of each element, NaNs alike."""
    kind = next(name for name, dtype in DTYPES.items() if value.dtype == dtype)
    if kind in FLOATS:
        whole = np.where(np.isnan(value), np.array(np.nan, value.dtype), value)
        return whole.view(DTYPES[f"i{WIDTH[kind]}"]).astype(np.int64)
    return value.view(np.int64) if kind == "u64" else value.astype(np.int64)
