"""The mistakes a kernel author makes, and what they are told: one table for the tests and for docs/errors.md.

    python -m tests.unit.errors.catalogue > docs/errors.md

Each mistake is a small file. A file that defines ``kernel`` is launched with the arguments of :data:`CALL`; a file that
defines ``launch`` is called with them; any other file only runs. The line to be named carries ``# here``, which is taken
out before it runs.
"""

from __future__ import annotations

import runpy
import tempfile
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import (
    DSLCompileError,
    DslFrozenInstanceError,
    DslIndexError,
    DslNameError,
    DslRuntimeError,
    DslSyntaxError,
    DslTypeError,
    DslValueError,
    FlyDSLError,
    LayoutError,
    UnsupportedError,
)

MARK = "  # here"
FILE = "kernel.py"

CALL = """\
@flyc.jit
def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
    kernel(out, x, n).launch(grid=(1, 1, 1), block=(4, 1, 1))


launch(np.zeros(8, np.int32), np.ones(64, np.float32), 5)
"""


@dataclass(frozen=True)
class Mistake:
    """One wrong program: what it is about, its text, the error's class and words that the message must have."""

    section: str
    title: str
    error: type[FlyDSLError]
    built_in: type[Exception]
    words: tuple[str, ...]
    code: str

    @property
    def slug(self) -> str:
        return self.title.replace("`", "").replace(" ", "-").lower()

    @property
    def source(self) -> str:
        """The program as it runs, without the mark."""
        return self.code.replace(MARK, "")

    @property
    def line(self) -> int:
        """The line that the message has to name."""
        return next(number for number, text in enumerate(self.code.splitlines(), 1) if text.endswith(MARK))


def run(mistake: Mistake, folder: Path) -> FlyDSLError:
    """The error that a mistake gives, its program being ``kernel.py`` in ``folder``."""
    file = folder / FILE
    program = mistake.source
    defined = {line.split("(")[0].removeprefix("def ") for line in program.splitlines() if line.startswith("def ")}
    if "launch" in defined:
        program += "\n\n" + CALL.splitlines()[-1] + "\n"
    elif "kernel" in defined:
        program += "\n\n" + CALL
    file.write_text(program, encoding="utf-8")
    try:
        runpy.run_path(str(file), init_globals={"np": np, "fx": fx, "flyc": flyc})
    except FlyDSLError as error:
        return error
    raise AssertionError(f"{mistake.title!r} is accepted")


def message(mistake: Mistake) -> str:
    """What the user reads, with a file name that is the same everywhere."""
    with tempfile.TemporaryDirectory() as folder:
        return run(mistake, Path(folder)).text().replace(f"{folder}/{FILE}", FILE)


FLOW = "Control flow"
VALUES = "Values"
LAYOUTS = "Layouts and tensors"
COPIES = "Copies and matrix instructions"
MEMORY = "Structs and shared memory"
ARGUMENTS = "Arguments and launches"


def _mistake(
    section: str, title: str, error: type[FlyDSLError], built_in: type[Exception], words: tuple[str, ...], code: str
) -> Mistake:
    return Mistake(section, title, error, built_in, words, dedent(code).strip() + "\n")


def _kernel(
    section: str, title: str, error: type[FlyDSLError], built_in: type[Exception], words: tuple[str, ...], body: str
) -> Mistake:
    """A mistake inside a kernel, of which only the body is written."""
    head = "@flyc.kernel\ndef kernel(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):\n"
    lines = dedent(body).strip().splitlines()
    code = head + "\n".join(f"    {line}" if line else "" for line in lines) + "\n"
    return Mistake(section, title, error, built_in, words, code)


MISTAKES: tuple[Mistake, ...] = (
    # ------------------------------------------------------------------------------------------------- control flow
    _kernel(FLOW, "an early `return` under a run-time condition", DSLCompileError, SyntaxError, ("early `return`", "opposite condition"), """
        t = fx.thread_idx.x
        if t >= n:
            return  # here
        out[t] = t
    """),
    _kernel(FLOW, "`return` inside a run-time loop", DSLCompileError, SyntaxError, ("`return` in the run-time `for` loop",), """
        for i in range(n):
            out[i] = i
            return  # here
    """),
    _kernel(FLOW, "`break` under a run-time condition", DslSyntaxError, SyntaxError, ("`break`", "done = fx.Boolean(False)"), """
        for i in range(n):
            if i > 2:
                break  # here
            out[i] = i
    """),
    _kernel(FLOW, "`continue` under a run-time condition", DslSyntaxError, SyntaxError, ("`continue`", "if not (...)"), """
        for i in range(n):
            if i % 2 == 0:
                continue  # here
            out[i] = i
    """),
    _kernel(FLOW, "`try` inside a run-time branch", DslSyntaxError, SyntaxError, ("`try`", "`if`"), """
        if n > 2:
            try:  # here
                out[0] = 1
            except ValueError:
                out[0] = 2
    """),
    _kernel(FLOW, "`with` inside a run-time branch", DslSyntaxError, SyntaxError, ("`with`", "put the `with` around"), """
        if n > 2:
            with fx.fastmath("fast"):  # here
                out[0] = n
    """),
    _kernel(FLOW, "`else` of a run-time `for`", DSLCompileError, SyntaxError, ("`else`", "after the loop"), """
        for i in range(n):
            out[i] = i
        else:
            out[0] = 7  # here
    """),
    _kernel(FLOW, "`else` of a run-time `while`", UnsupportedError, NotImplementedError, ("`else`", "after the loop"), """
        i = 0
        while i < n:
            i += 1
        else:
            out[0] = i  # here
    """),
    _kernel(FLOW, "`yield` inside a branch", DSLCompileError, SyntaxError, ("`yield` inside a branch", "last statement"), """
        for i, state in range(0, n, 1, init=[fx.Int32(1)]):
            if i > 2:
                yield [state[0] + i]  # here
    """),
    _kernel(FLOW, "`init=` without a `yield`", DSLCompileError, SyntaxError, ("has to end with a `yield`",), """
        for i, state in range(0, n, 1, init=[fx.Int32(1)]):
            out[i] = state[0]  # here
    """),
    _kernel(FLOW, "two names for a plain `range`", DslTypeError, TypeError, ("one name", "init=[...]"), """
        for i, j in range(n):  # here
            out[i] = j
    """),
    _kernel(FLOW, "a branch that changes a type", DslTypeError, TypeError, ("'total' is Float32", "Int32", "convert"), """
        total = fx.Int32(0)
        if n > 2:
            total = x[0]  # here
        out[0] = total
    """),
    _kernel(FLOW, "branches that give a name different types", DslTypeError, TypeError, ("'value' is Int32", "line 4", "line 6"), """
        if n > 2:
            value = n
        else:
            value = x[0]  # here
        out[0] = value
    """),
    _kernel(FLOW, "a loop that changes a type", DslTypeError, TypeError, ("'total' is Int32 before", "total = fx.Float32(...)"), """
        total = 0
        for i in range(n):
            total = total + x[i]  # here
        out[0] = total
    """),
    _kernel(FLOW, "a name bound in one branch only", DslNameError, NameError, ("'value'", "line 4"), """
        if n > 2:
            value = n * 2
        out[0] = value  # here
    """),
    _kernel(FLOW, "a name first bound inside a run-time loop", DslNameError, NameError, ("'last'", "line 4"), """
        for i in range(n):
            last = i * 2
        out[0] = last  # here
    """),
    _kernel(FLOW, "None before a run-time branch", DslTypeError, TypeError, ("None", "instead of None"), """
        value = None
        if n > 2:
            value = n  # here
        out[0] = value
    """),
    _kernel(FLOW, "mutation of a captured variable", DslTypeError, TypeError, ("captured variable", "total = add(total, ...)"), """
        total = fx.Int32(0)

        def add(value):
            nonlocal total
            total = total + value  # here

        for i in range(n):
            add(i)
        out[0] = total
    """),
    _kernel(FLOW, "a list that grows in a run-time loop", DslTypeError, TypeError, ("'values'", "range_constexpr"), """
        values = []
        for i in range(n):
            values.append(x[i])  # here
        out[0] = len(values)
    """),
    _kernel(FLOW, "`const_expr` of a run-time value", DslRuntimeError, RuntimeError, ("const_expr()", "drop const_expr"), """
        if fx.const_expr(n > 2):  # here
            out[0] = 1
    """),
    _kernel(FLOW, "`range_constexpr` of a run-time value", DslRuntimeError, RuntimeError, ("range_constexpr()", "fx.Constexpr"), """
        for i in fx.range_constexpr(n):  # here
            out[i] = i
    """),
    _kernel(FLOW, "a range that counts down", DslValueError, ValueError, ("step", "positive"), """
        for i in range(n, 0, -1):  # here
            out[i] = i
    """),
    # ------------------------------------------------------------------------------------------------------- values
    _kernel(VALUES, "`bool()` of a run-time value", DslRuntimeError, RuntimeError, ("run-time", "if"), """
        if bool(n > 2):  # here
            out[0] = 1
    """),
    _kernel(VALUES, "`int()` of a run-time value", DslRuntimeError, RuntimeError, ("run-time Int32", "fx.Constexpr"), """
        out[0] = int(n) + 1  # here
    """),
    _kernel(VALUES, "a run-time index into a Python list", DslRuntimeError, RuntimeError, ("run-time Int32",), """
        weights = [3, 1, 4]
        out[0] = weights[n]  # here
    """),
    _kernel(VALUES, "bitwise operators on floats", DslTypeError, TypeError, ("Float32", "bitcast"), """
        out[0] = x[0] & 1  # here
    """),
    _kernel(VALUES, "two narrow floats in one operation", DslValueError, ValueError, ("Float8E4M3FN", "Float8E5M2"), """
        a, b = x[0].to(fx.Float8E4M3FN), x[1].to(fx.Float8E5M2)
        out[0] = a + b  # here
    """),
    _kernel(VALUES, "a bitcast to another width", DslTypeError, TypeError, ("32", "64"), """
        out[0] = x[0].bitcast(fx.Int64)  # here
    """),
    _kernel(VALUES, "a vector as a condition", DslRuntimeError, RuntimeError, ("truth value", "reduce"), """
        if fx.Vector.filled(4, 1, fx.Int32) > 0:  # here
            out[0] = 1
    """),
    _kernel(VALUES, "an element outside a vector", DslIndexError, IndexError, ("4",), """
        v = fx.Vector.filled(4, 1, fx.Int32)
        out[0] = v[4]  # here
    """),
    _kernel(VALUES, "an unknown reduction", DslValueError, ValueError, ("median", "add"), """
        out[0] = fx.Vector.filled(4, 1, fx.Int32).reduce("median")  # here
    """),
    # ------------------------------------------------------------------------------------------- layouts and tensors
    _kernel(LAYOUTS, "shape and stride of different structure", LayoutError, ValueError, ("(4,8)", "congruent"), """
        layout = fx.make_layout((4, 8), 1)  # here
    """),
    _kernel(LAYOUTS, "an index with too many modes", LayoutError, ValueError, ("profile mismatch", "?:1"), """
        out[0, 0] = 1  # here
    """),
    _kernel(LAYOUTS, "a composition that does not divide", LayoutError, ValueError, ("(6,4):(1,10)", "4:4"), """
        fx.composition(fx.make_layout((6, 4), (1, 10)), fx.make_layout(4, 4))  # here
    """),
    _kernel(LAYOUTS, "the complement of an overlapping layout", LayoutError, ValueError, ("(4,4):(1,2)", "overlap"), """
        fx.complement(fx.make_layout((4, 4), (1, 2)), 64)  # here
    """),
    _kernel(LAYOUTS, "`None` in a zipped divide", LayoutError, ValueError, ("divisor", "logical_divide"), """
        fx.zipped_divide(fx.make_layout((8, 8), (8, 1)), (4, None))  # here
    """),
    _kernel(LAYOUTS, "the stride of a swizzled layout", DslTypeError, TypeError, ("S<2,3,3>",), """
        swizzle = fx.static(fx.SwizzleType.get(2, 3, 3))
        swizzled = fx.make_composed_layout(swizzle, fx.make_layout((8, 8), (8, 1)))
        print(swizzled.stride)  # here
    """),
    _kernel(LAYOUTS, "a fragment of something without a static shape", DslTypeError, TypeError, ("static",), """
        fragment = fx.make_fragment_like(x)  # here
    """),
    _kernel(LAYOUTS, "a register tensor without a number type", DslTypeError, TypeError, ("float", "fx.Float32"), """
        fragment = fx.make_rmem_tensor(4, float)  # here
    """),
    # --------------------------------------------------------------------------------------- copies and instructions
    _kernel(COPIES, "a copy between unequal ranks", DSLCompileError, RuntimeError, ("8:1", "(4,2):(1,4)", "rank"), """
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        flat = fx.make_rmem_tensor(8, fx.Float32)
        square = fx.make_rmem_tensor((4, 2), fx.Float32)
        fx.copy(atom, flat, square)  # here
    """),
    _kernel(COPIES, "a wide copy of scattered elements", DSLCompileError, RuntimeError, ("4 neighbouring", "4:2", "narrower"), """
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        every_second = fx.make_view(fx.get_iter(x), fx.make_layout(4, 2))
        fx.copy_atom_call(atom, every_second, fx.make_rmem_tensor(4, fx.Float32))  # here
    """),
    _kernel(COPIES, "an atom of another element type", DslTypeError, TypeError, ("Float16", "Float32"), """
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float16)
        tile = fx.logical_divide(x, fx.make_layout(2, 1))[None, 0]
        fx.copy(atom, tile, fx.make_fragment_like(tile))  # here
    """),
    _kernel(COPIES, "values that an atom does not divide", DslValueError, ValueError, ("3 values", "narrower"), """
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        fx.make_tiled_copy_tv(atom, fx.make_layout((4, 1), (1, 0)), fx.make_layout((1, 3), (0, 1)))  # here
    """),
    _kernel(COPIES, "both traversal arguments", DslValueError, ValueError, ("traversal_order", "traversal_layout"), """
        mma = fx.make_mma_atom(fx.UniversalFMA(fx.Float32))
        acc, a, b = (fx.make_rmem_tensor((1, 2, 2), fx.Float32) for _ in range(3))
        order, layout = fx.GemmTraversalOrder.KNM, fx.make_layout(8, 1)
        fx.gemm(mma, acc, a, b, acc, traversal_order=order, traversal_layout=layout)  # here
    """),
    _kernel(COPIES, "a gemm of unequal ranks", DSLCompileError, RuntimeError, ("rank",), """
        mma = fx.make_mma_atom(fx.UniversalFMA(fx.Float32))
        acc, a = (fx.make_rmem_tensor((1, 2, 2), fx.Float32) for _ in range(2))
        b = fx.make_rmem_tensor((1, 2), fx.Float32)
        fx.gemm(mma, acc, a, b, acc)  # here
    """),
    # ------------------------------------------------------------------------------------- structs and shared memory
    _kernel(MEMORY, "more shared memory than the target has", DSLCompileError, RuntimeError, ("65536", "bytes"), """
        shared = fx.SharedAllocator()
        tile = shared.allocate(fx.Array[fx.Float32, 64 * 128])  # here
        more = shared.allocate(fx.Array[fx.Float32, 96 * 128])
    """),
    _kernel(MEMORY, "a second shared allocator", DslRuntimeError, RuntimeError, ("one", "allocate"), """
        first = fx.SharedAllocator()
        second = fx.SharedAllocator()  # here
    """),
    _mistake(MEMORY, "a field that memory cannot hold", DslTypeError, TypeError, ("Float4E2M1FN",), """
        @fx.struct
        class Pair:  # here
            a: fx.Int32
            b: fx.Float4E2M1FN
    """),
    _mistake(MEMORY, "assigning a field of a struct", DslFrozenInstanceError, AttributeError, ("replace",), """
        @fx.struct
        class Point:
            x: fx.Int32
            y: fx.Int32


        point = Point(1, 2)
        point.x = 3  # here
    """),
    _kernel(MEMORY, "poking a whole array", UnsupportedError, NotImplementedError, ("element",), """
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 4])
        tile.poke([1, 2, 3, 4])  # here
    """),
    _kernel(MEMORY, "an unknown shuffle", DslValueError, ValueError, ("rotate", "xor"), """
        out[0] = fx.gpu.shuffle(n, 1, 32, mode="rotate")  # here
    """),
    # --------------------------------------------------------------------------------------- arguments and launches
    _mistake(ARGUMENTS, "a kernel called outside a jit function", DslRuntimeError, RuntimeError, ("outside a jit function", "@flyc.jit"), """
        @flyc.kernel
        def fill(out: fx.Tensor):
            out[fx.thread_idx.x] = 1


        fill(np.zeros(4, np.float32))  # here
    """),
    _mistake(ARGUMENTS, "an argument of an unknown type", DslTypeError, TypeError, ("'out'", "str"), """
        @flyc.jit
        def fill(out: fx.Tensor):  # here
            pass


        fill("text")
    """),
    _mistake(ARGUMENTS, "a tensor without a unit stride", DslRuntimeError, RuntimeError, ("stride 1", "from_dlpack"), """
        @flyc.jit
        def fill(out: fx.Tensor):  # here
            pass


        fill(np.zeros((8, 8), np.float32)[::2, ::2])
    """),
    _mistake(ARGUMENTS, "a divisibility that is no power of two", DslValueError, ValueError, ("3", "power of two"), """
        x = np.zeros((8, 8), np.float32)
        flyc.from_dlpack(x).mark_layout_dynamic(divisibility=3)  # here
    """),
    _mistake(ARGUMENTS, "a Constexpr that is no constant", DslTypeError, TypeError, ("'tile'", "ndarray"), """
        @flyc.jit
        def fill(tile: fx.Constexpr[int]):  # here
            pass


        fill(np.zeros(3))
    """),
    _mistake(ARGUMENTS, "a block larger than the target allows", DslValueError, ValueError, ("2048 threads", "1024"), """
        @flyc.kernel
        def fill(out: fx.Tensor):
            out[fx.thread_idx.x] = 1


        @flyc.jit
        def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
            fill(out).launch(grid=(1, 1, 1), block=(2048, 1, 1))  # here
    """),
    _mistake(ARGUMENTS, "a block that is not the known one", DslValueError, ValueError, ("128", "256"), """
        @flyc.kernel(known_block_size=(256, 1, 1))
        def fill(out: fx.Tensor):
            out[fx.thread_idx.x] = 1


        @flyc.jit
        def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
            fill(out).launch(grid=(1, 1, 1), block=(128, 1, 1))  # here
    """),
    _mistake(ARGUMENTS, "a block size asked for and not known", DslRuntimeError, RuntimeError, ("known_block_size",), """
        @flyc.kernel
        def fill(out: fx.Tensor):
            threads, _, _ = fx.known_block_size()  # here


        @flyc.jit
        def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
            fill(out).launch(grid=(1, 1, 1), block=(n, 1, 1))
    """),
    _mistake(ARGUMENTS, "too little dynamic shared memory", DslValueError, ValueError, ("smem", "1024"), """
        @flyc.kernel
        def fill(out: fx.Tensor):
            shared = fx.SharedAllocator(static=False)
            shared.allocate(fx.Array[fx.Float32, 256])


        @flyc.jit
        def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
            fill(out).launch(grid=(1, 1, 1), block=(64, 1, 1), smem=512)  # here
    """),
    _mistake(ARGUMENTS, "a kernel that returns a value", DslTypeError, TypeError, ("tensor argument",), """
        @flyc.kernel
        def first(x: fx.Tensor):
            return x[0]  # here


        @flyc.jit
        def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
            first(x).launch(grid=(1, 1, 1), block=(1, 1, 1))
    """),
    _mistake(ARGUMENTS, "a block that is empty at run time", DslRuntimeError, RuntimeError, ("(0, 1, 1)",), """
        @flyc.kernel
        def fill(out: fx.Tensor):
            out[fx.thread_idx.x] = 1


        @flyc.jit
        def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
            fill(out).launch(grid=(1, 1, 1), block=(n - 5, 1, 1))  # here
    """),
    _mistake(ARGUMENTS, "a barrier that part of a block does not reach", DslRuntimeError, RuntimeError, ("barrier",), """
        @flyc.kernel
        def meet(out: fx.Tensor):
            if fx.thread_idx.x < 3:
                fx.barrier()  # here


        @flyc.jit
        def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
            meet(out).launch(grid=(1, 1, 1), block=(64, 1, 1))
    """),
)


HEAD = """\
# Errors

<!-- Written by `python -m tests.unit.errors.catalogue`; a test keeps it current. -->

A mistake raises a `FlyDSLError` whose message has the file and line, what is wrong, the source line with a caret, and what
to write instead. Each class also derives from a built-in exception (in parentheses below), so `except ValueError` works as
one expects. Frames of this package are left out of the traceback; `FLYDSL_DEBUG_TRACEBACK=1` shows them. On a terminal the
message is coloured; `NO_COLOR=1` turns that off.

Every program below is run by the tests as the file `kernel.py`, with `np`, `flyc` and `fx` imported, for gfx942. One that
defines a function called *kernel* is launched by

```python no-run
{call}```
"""


def document() -> str:
    """The text of docs/errors.md."""
    parts = [HEAD.format(call=CALL)]
    for section in dict.fromkeys(mistake.section for mistake in MISTAKES):
        parts.append(f"## {section}\n")
        for mistake in MISTAKES:
            if mistake.section != section:
                continue
            title = mistake.title[0].upper() + mistake.title[1:]
            kinds = f"`{mistake.error.__name__}` ({mistake.built_in.__name__})"
            parts.append(f"### {title}\n\n{kinds}\n\n```python no-run\n{mistake.source}```\n")
            parts.append(f"```text\n{message(mistake)}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(document(), end="")
