"""Mistakes in calls: arguments that a kernel, a launch or a function of `fx` does not take."""

from __future__ import annotations

from flydsl.base.errors import DSLCompileError, DslControlFlowError, DslRuntimeError, DslTypeError
from tests.unit.errors.mistake import Mistake, in_kernel, whole_file

CALLS = "Calls"

_FILL = """
        @flyc.kernel
        def fill(out: fx.Tensor, n: fx.Constexpr[int]):
            out[fx.thread_idx.x] = n


        @flyc.jit
        def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
"""


def _launching(title: str, words: tuple[str, ...], line: str) -> Mistake:
    """A wrong call or launch of a kernel of two parameters."""
    return whole_file(CALLS, title, DslTypeError, TypeError, words, f"{_FILL}            {line}  # here\n")


def _calling(title: str, words: tuple[str, ...], line: str) -> Mistake:
    """A call of a function of `fx` that Python itself refuses."""
    return in_kernel(CALLS, title, DslTypeError, TypeError, words, f"{line}  # here")


MISTAKES: tuple[Mistake, ...] = (
    _launching("a kernel called with an argument missing", ("'fill'", "'n'", "parameters are out, n"),
               "fill(out).launch(block=4)"),
    _launching("a kernel called with an argument too many", ("'fill'", "too many", "parameters are out, n"),
               "fill(out, 1, 2).launch(block=4)"),
    _launching("a run-time number for a compile-time parameter of a kernel", ("'n'", "run-time Int32", "fx.Constexpr"),
               "fill(out, n).launch(block=4)"),
    _launching("a float for a compile-time int", ("'n'", "fx.Constexpr[int]", "float 2.5", "int(...)"),
               "fill(out, 2.5).launch(block=4)"),
    _launching("a launch without names", ("'launch'", "3 were given", "grid=(1, 1, 1), block="),
               "fill(out, 1).launch((1, 1, 1), (4, 1, 1))"),
    _launching("a launch with a name that it lacks", ("'launch'", "'threads'", "block="),
               "fill(out, 1).launch(grid=1, threads=4)"),
    _launching("a grid that is divided by `/`", ("grid extents must be integers", "Float32", "`//`"),
               "fill(out, 1).launch(grid=n / 2, block=4)"),
    _launching("a block that is divided by `/`", ("block extents must be integers", "Float32", "`//`"),
               "fill(out, 1).launch(block=x.shape[0] / 2)"),
    whole_file(
        CALLS, "a kernel that takes any arguments", DslTypeError, TypeError, ("*args", "name every parameter"),
        """
        @flyc.kernel
        def fill(out: fx.Tensor, *args):  # here
            out[0] = args[0]
    """,
    ),
    whole_file(
        CALLS, "an `assert` of extents in a jit function", DslRuntimeError, RuntimeError,
        ("compiled jit function", "before the call", "flyc.from_dlpack"),
        """
        @flyc.jit
        def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
            assert out.shape[0] == x.shape[0], "lengths differ"  # here
    """,
    ),
    whole_file(
        CALLS, "a `raise` about extents in a jit function", DslControlFlowError, SyntaxError,
        ("`raise` under the run-time condition", "in Python, before the call", "flyc.from_dlpack"),
        """
        @flyc.jit
        def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
            if out.shape[0] != x.shape[0]:
                raise ValueError("lengths differ")  # here
    """,
    ),
    _calling("a shuffle without a width", ("'shuffle_xor'", "'width'", "lanes"), "y = fx.shuffle_xor(n, 1)"),
    in_kernel(
        CALLS, "a copy of an array of any length", DSLCompileError, RuntimeError, ("static shape", "fx.zipped_divide"),
        "fx.copy(x, out)  # here",
    ),
    _calling("a `printf` in the style of C", ("2 values", "no {}", "`%d`"), 'fx.printf("%d %f", n, x[0])'),
    _calling("a `printf` of an f-string", ("Float32(?)", 'fx.printf("x = {}", x)'), 'fx.printf(f"{x[0]} is first")'),
    in_kernel(
        CALLS, "a B of (K, N) in `fx.gemm`", DSLCompileError, RuntimeError, ("(N, K)", "fx.select(B, [1, 0])"),
        """
        A = fx.make_view(fx.get_iter(x), fx.make_layout((1, 2), (2, 1)))
        B = fx.make_view(fx.get_iter(x), fx.make_layout((2, 1), (1, 1)))
        C = fx.make_view(fx.get_iter(x), fx.make_layout((1, 1), (1, 1)))
        mma = fx.make_tiled_mma(fx.make_mma_atom(fx.UniversalFMA(fx.Float32)), fx.make_layout((1, 1, 1), (0, 0, 0)))
        a, b, c = mma.make_fragment_A(A), mma.make_fragment_B(B), mma.make_fragment_C(C)
        fx.gemm(mma, c, a, b, c)  # here
    """,
    ),
)  # fmt: skip
