"""Random kernels as trees: what a program says, and its text in the language.

An expression knows its number type; both operands of an operation have the same one, so that a reference needs no
promotion rules. Statements nest as Python's do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

CLASSES = {
    "bool": "Boolean", "i8": "Int8", "u8": "Uint8", "i16": "Int16", "u16": "Uint16", "i32": "Int32", "u32": "Uint32",
    "i64": "Int64", "u64": "Uint64", "f16": "Float16", "bf16": "BFloat16", "f32": "Float32", "f64": "Float64",
}  # fmt: skip
TABLE = 8
"""Places of a shared table."""
FLOATS = ("f16", "bf16", "f32", "f64")
INTS = tuple(name for name in CLASSES if name not in (*FLOATS, "bool"))
NARROW = {
    "e4m3fn": "Float8E4M3FN", "e5m2": "Float8E5M2", "e4m3fnuz": "Float8E4M3FNUZ", "e5m2fnuz": "Float8E5M2FNUZ",
}  # fmt: skip
WIDTH = {name: 1 if name == "bool" else int(name.lstrip("iubf")) for name in CLASSES}


@dataclass(frozen=True)
class Expr:
    """One expression: an operation of ``args``, with what else it needs in ``extra``."""

    op: str
    type: str
    args: tuple[Expr, ...] = ()
    extra: Any = None

    def text(self) -> str:
        parts = [arg.text() for arg in self.args]
        match self.op:
            case "var" | "place":
                return str(self.extra)
            case "const":
                return f"fx.{CLASSES[self.type]}({self.extra!r})"
            case "binary" | "compare":
                return f"({parts[0]} {self.extra} {parts[1]})"
            case "not":
                return f"(not {parts[0]})"
            case "negate":
                return f"(fx.{CLASSES[self.type]}(0) - {parts[0]})"
            case "invert":
                return f"(~{parts[0]})"
            case "absolute":
                return f"abs({parts[0]})"
            case "smaller" | "larger":
                return f"{'min' if self.op == 'smaller' else 'max'}({parts[0]}, {parts[1]})"
            case "choose":
                return f"({parts[1]} if {parts[0]} else {parts[2]})"
            case "cast":
                return f"{parts[0]}.to(fx.{CLASSES[self.type]})"
            case "bits":
                return f"{parts[0]}.bitcast(fx.{CLASSES[self.type]})"
            case "element":
                return f"{self.extra}_element(x, {parts[0]}, {parts[1]})"
            case "shuffle":
                mode, width = self.extra
                return f"fx.shuffle_{mode}({parts[0]}, {parts[1]}, {width})"
            case "votes":
                return f"fx.Int32(fx.math.ctpop(fx.ballot({parts[0]})))"
            case "agreed":
                return f"fx.gpu.{self.extra}({parts[0]})"
            case "mixed":
                return f"({parts[0]} {self.extra[0]} {parts[1]})"
            case "beside":
                symbol, number, first = self.extra
                return f"({number!r} {symbol} {parts[0]})" if first else f"({parts[0]} {symbol} {number!r})"
            case "narrow":
                return f"{parts[0]}.to(fx.{NARROW[self.extra]}).to(fx.{CLASSES[self.type]})"
            case "masked":
                mask = f"fx.Vector.from_elements([{', '.join(parts[1:5])}], fx.Boolean)"
                return f"x[{parts[0]}, {self.extra[0]} : {self.extra[0] + 4}].load({mask}, {parts[5]})[{self.extra[1]}]"
            case "lanes":
                return self._lanes(parts)
            case "call":
                return f"{self.extra}({', '.join(parts)})"
            case _:
                raise AssertionError(self.op)

    def _lanes(self, parts: list[str]) -> str:
        """Four numbers as a vector, and one number of what becomes of it."""
        form, wanted = self.extra
        kind = CLASSES[self.args[0].type]
        first, second = (f"fx.Vector.from_elements([{', '.join(p)}], fx.{kind})" for p in (parts[:4], parts[4:8]))
        match form:
            case "reduce":
                return f'{first}.reduce("{wanted}")'
            case "select":
                return f"({first} {wanted} {second}).select({first}, {second})[{parts[8]}]"
            case "shuffle":
                return f"{first}.shuffle({second}, {wanted!r})[{parts[8]}]"
            case "insert":
                return f"{first}.insert({parts[4]}, {parts[8]})[{wanted}]"
            case "convert":
                return f"{first}.to(fx.{CLASSES[self.type]})[{parts[8]}]"
            case "bits":
                return f"{first}.bitcast(fx.{CLASSES[self.type]})[{parts[8]}]"
            case _:
                raise AssertionError(form)


ELEMENTS = """\
def plain_element(x, i, j):
    return x[i, j]


def row_element(x, i, j):
    return x[i, None][j]


def slice_element(x, i, j):
    return x[i, j : j + 1][0]


def transposed_element(x, i, j):
    return x.T[j, i]


def tile_element(x, i, j):
    return fx.zipped_divide(x, (2, 4))[(i % 2, j % 4), (i // 2, j // 4)]


def parts_element(x, i, j):
    return fx.logical_divide(x, (2, 4))[(i % 2, i // 2), (j % 4, j // 4)]


def flat_element(x, i, j):
    return fx.flat_divide(x, (2, 4))[i % 2, j % 4, i // 2, j // 4]


def window_element(x, i, j):
    start = i - i % 2
    return x[start : start + 2, :][i % 2, j]


def vector_element(x, i, j):
    start = j - j % 4
    return x[i, start : start + 4].load()[j % 4]


def even_element(x, i, j):
    return fx.composition(x, fx.make_tile(fx.make_layout(4, 2), fx.make_layout(8, 2)))[i // 2, j // 2]
"""
"""Ways to reach the element of the input at a row and a column through its run-time layout; the last one takes those
at the even places at or before them."""
FORMS = tuple(re.findall(r"^def (\w+)_element", ELEMENTS, re.M))


@dataclass
class Stmt:
    """One statement; ``blocks`` are the statement lists inside it."""

    kind: str
    name: str = ""
    exprs: tuple[Expr, ...] = ()
    blocks: tuple[list[Stmt], ...] = ()
    extra: Any = None

    def lines(self) -> Iterator[str]:
        values = [expr.text() for expr in self.exprs]
        match self.kind:
            case "assign":
                yield f"{self.name} = fx.{CLASSES[self.exprs[0].type]}({values[0]})"
            case "if":
                yield f"if {values[0]}:"
                yield from _indented(self.blocks[0])
                if self.blocks[1]:
                    yield "else:"
                    yield from _indented(self.blocks[1])
            case "for":
                yield f"for {self.name} in range({', '.join(values)}):"
                yield from _indented(self.blocks[0])
            case "unrolled":
                yield f"for {self.name} in fx.range_constexpr({self.extra}):"
                yield from _indented(self.blocks[0])
            case "while":
                yield f"{self.name} = fx.Int32(0)"
                yield f"while {self.name} < {values[0]}:"
                yield f"    {self.name} += 1"
                yield from _indented(self.blocks[0])
            case "leave":
                yield f"if {values[0]}:"
                yield f"    {self.extra}"
            case "return":
                yield f"if {values[0]}:"
                yield f"    return fx.{CLASSES[self.exprs[1].type]}({values[1]})"
            case "combine":
                yield f'fx.atomic("{self.extra}", table_{self.extra}_{self.name}, {values[0]}, at={values[1]})'
            case "tally":
                yield "fx.barrier()"
                yield f"{self.name} = table_{self.extra}_{self.exprs[0].type}[{values[1]}]"
                yield "fx.barrier()"
            case "indexed":
                yield from self._indexed(values)
            case "exchange":
                yield from self._exchange(values)
            case "registers":
                yield from self._registers(values)
            case "fetch":
                yield f"{self.name} = fetched(x, shared_{self.exprs[0].type}, t, b, {values[0]})"
            case _:
                raise AssertionError(self.kind)

    def _exchange(self, values: list[str]) -> Iterator[str]:
        """A value of another thread through shared memory, plainly or through a swizzled view of it."""
        kind = self.exprs[0].type
        place = f"shared_{kind}" if self.extra == "plain" else f"swizzled_{kind}"
        at = (lambda i: i) if self.extra == "plain" else (lambda i: f"{i} // 8, {i} % 8")
        yield f"{place}[{at('t')}] = {values[0]}"
        yield "fx.barrier()"
        yield f"{self.name} = {place}[{at(f'({values[1]})')}]"
        yield "fx.barrier()"

    def _indexed(self, values: list[str]) -> Iterator[str]:
        """Registers that are read and written at places known at run time."""
        yield f"m = fx.make_rmem_tensor(4, fx.{CLASSES[self.exprs[0].type]})"
        for index, value in enumerate(values[:4]):
            yield f"m[{index}] = {value}"
        yield f"m[{values[5]}] = {values[4]}"
        yield f"{self.name} = m[{values[6]}]"

    def _registers(self, values: list[str]) -> Iterator[str]:
        kind = CLASSES[self.exprs[0].type]
        yield f"r = fx.make_rmem_tensor(4, fx.{kind})"
        for index, value in enumerate(values[:4]):
            yield f"r[{index}] = {value}"
        yield f"v = r.load() {self.extra} fx.Vector.filled(4, {values[4]}, fx.{kind})"
        yield f"{self.name} = fx.{kind}(v[{int(self.exprs[5].extra)}])"


def _indented(block: list[Stmt]) -> Iterator[str]:
    found = False
    for stmt in block:
        for line in stmt.lines():
            found = True
            yield f"    {line}"
    if not found:
        yield "    pass"


@dataclass
class Helper:
    """A function that kernels call: parameters, local variables, and statements some of which return."""

    name: str
    parameters: dict[str, str]
    variables: dict[str, Expr]
    body: list[Stmt]
    result: Expr
    decorated: bool

    def source(self) -> str:
        lines = ["@flyc.jit"] if self.decorated else []
        lines.append(f"def {self.name}({', '.join(self.parameters)}):")
        body = [f"{name} = fx.{CLASSES[value.type]}({value.text()})" for name, value in self.variables.items()]
        for stmt in self.body:
            body += stmt.lines()
        body.append(f"return fx.{CLASSES[self.result.type]}({self.result.text()})")
        return "\n".join([*lines, *(f"    {line}" for line in body)]) + "\n"


@dataclass
class Program:
    """A kernel: variables with their first values, and statements."""

    variables: dict[str, Expr] = field(default_factory=dict)
    body: list[Stmt] = field(default_factory=list)
    helpers: list[Helper] = field(default_factory=list)
    threads: int = 64
    fetches: str = "plain"
    """How `fetch` brings a value of the input into shared memory: plainly, or by the target's asynchronous copy."""

    def kinds(self) -> list[str]:
        """Number types of the shared arrays that the statements use."""
        return sorted({stmt.exprs[0].type for stmt in walk(self.body) if stmt.kind in ("exchange", "fetch")})

    def tables(self) -> list[tuple[str, str]]:
        """Shared tables that atomics change, by operation and type."""
        found = {(stmt.extra, stmt.name) for stmt in walk(self.body) if stmt.kind == "combine"}
        return sorted(found | {(stmt.extra, stmt.exprs[0].type) for stmt in walk(self.body) if stmt.kind == "tally"})

    def source(self, number: int) -> str:
        lines = ["@flyc.kernel", f"def kernel_{number}(x: fx.Tensor, out: fx.Tensor, n: fx.Int32):"]
        body = ["t, b = fx.thread_idx.x, fx.block_idx.x"]
        if self.kinds() or self.tables():
            body.append("allocator = fx.SharedAllocator()")
        for kind in self.kinds():
            body.append(f"shared_{kind} = allocator.allocate(fx.Array[fx.{CLASSES[kind]}, {self.threads}]).peek()")
            body.append(f"swizzled_{kind} = shared_{kind}.view(fx.make_composed_layout(fx.make_swizzle(3, 0, 3), "
                        f"fx.make_layout(({self.threads // 8}, 8), (8, 1))))")  # fmt: skip
        for op, kind in self.tables():
            body.append(f"table_{op}_{kind} = allocator.allocate(fx.Array[fx.{CLASSES[kind]}, {TABLE}]).peek()"
                        f".view(fx.make_layout({TABLE}, 1))")  # fmt: skip
            body += [f"if t < {TABLE}:", f"    table_{op}_{kind}[t] = fx.{CLASSES[kind]}(7)"]
        body += ["fx.barrier()"] if self.tables() else []
        body += [f"{name} = fx.{CLASSES[value.type]}({value.text()})" for name, value in self.variables.items()]
        for stmt in self.body:
            body += stmt.lines()
        at = f"b * {self.threads} + t"
        body += [f"out[{number}, {row}, {at}] = {_bits(name, value.type)}"
                 for row, (name, value) in enumerate(self.variables.items())]  # fmt: skip
        return "\n".join([*lines, *(f"    {line}" for line in body)]) + "\n"


def _bits(name: str, kind: str) -> str:
    """A variable as a 64-bit integer, bit by bit."""
    if kind in FLOATS:
        return f"fx.Int64({name}.bitcast(fx.Int{WIDTH[kind]}))"
    return f"{name}.bitcast(fx.Int64)" if kind == "u64" else f"fx.Int64({name})"


def walk(block: list[Stmt]) -> Iterator[Stmt]:
    """All statements, nested ones too."""
    for stmt in block:
        yield stmt
        for inner in stmt.blocks:
            yield from walk(inner)


def without(program: Program, removed: Stmt) -> Program:
    """A copy of the program that lacks one statement."""
    return replace(program, body=_copied(program.body, removed, None))


def unwrapped(program: Program, taken: Stmt, which: int) -> Program:
    """A copy of the program with a block of a statement in its place."""
    return replace(program, body=_copied(program.body, taken, which))


def _copied(block: list[Stmt], changed: Stmt, which: int | None) -> list[Stmt]:
    made: list[Stmt] = []
    for stmt in block:
        if stmt is not changed:
            made.append(replace(stmt, blocks=tuple(_copied(inner, changed, which) for inner in stmt.blocks)))
        elif which is not None:
            made += stmt.blocks[which]
    return made
