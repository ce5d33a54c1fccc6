"""What a random kernel must compute: its tree, interpreted with NumPy over all threads at once.

A value is an array with one element a thread, and a mask says which threads are there. Shuffles, votes and barriers
stand only where all threads of a block are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tests.fuzz.tree import FLOATS, INTS, WIDTH, Expr, Program, Stmt

DTYPES: dict[str, Any] = {
    "bool": np.bool_, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32,
    "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f32": np.float32, "f64": np.float64,
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
                return np.repeat(args[0].reshape(-1, self.wave).sum(1), self.wave)
            case _:
                raise AssertionError(expr.op)

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
            self.mask = self.mask & goes_on & ~self.broken[-1]
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
        self.mask = outside

    def do_leave(self, stmt: Stmt) -> None:
        leaving = self.mask & self.value(stmt.exprs[0])
        if stmt.extra == "break":
            self.broken[-1] |= leaving
        self.mask = self.mask & ~leaving

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
