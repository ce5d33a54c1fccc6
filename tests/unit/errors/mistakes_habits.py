"""Mistakes of those who come from NumPy, torch, CUDA or Triton: what works there on an array, written in a kernel."""

from __future__ import annotations

from flydsl.base.errors import DslAttributeError, DslRuntimeError, DslTypeError, FlyDSLError
from tests.unit.errors.mistake import Mistake, in_kernel

SECTION = "Habits from other systems"


def _wrong(title: str, words: tuple[str, ...], line: str, before: str = "") -> Mistake:
    """A line that is wrong because of the type of a value in it."""
    return _one_line(title, DslTypeError, TypeError, words, line, before)


def _unknown(title: str, words: tuple[str, ...], line: str, before: str = "") -> Mistake:
    """A line with a name that its value does not have."""
    return _one_line(title, DslAttributeError, AttributeError, words, line, before)


def _one_line(
    title: str, error: type[FlyDSLError], built_in: type[Exception], words: tuple[str, ...], line: str, before: str
) -> Mistake:
    return in_kernel(SECTION, title, error, built_in, words, f"{before}{line}  # here")


_MATH = "import math\n\n"
_VECTOR = "v = fx.full(4, x[0])\n"
_TABLE = "square = fx.make_view(fx.get_iter(x), fx.make_layout((8, 8), (8, 1)))\n"

MISTAKES: tuple[Mistake, ...] = (
    _wrong("a slice with a step", ("steps by 1", "fx.logical_divide"), "part = x[0:4:2]"),
    _wrong("`...` as a coordinate", ("`...`", "t[None, 0]"), "part = x[...]"),
    _wrong("a float as a coordinate", ("a Float32 is no coordinate", ".to(fx.Int32)"), "out[0] = x[x[0]]"),
    _wrong("an array as a coordinate", ("ndarray", "a loop"), "out[0] = x[np.arange(4)]"),
    _wrong("a slice of a shape", ("`:1` takes several modes", "fx.take"), "part = x.shape[:1]"),
    _wrong("rows and columns apart", ("has no elements", "t[i, j]"), "out[0] = square[0][1]", _TABLE),
    _wrong("a store by rows and columns apart", ("assigned", "t[i, j] = x"), "square[0][1] = 2.0", _TABLE),
    _wrong("an assignment to an element of a vector", ("a vector never changes", "v.insert"), "v[0] = 1.0", _VECTOR),
    _wrong("arithmetic on a whole tensor", ("`+` has no meaning for a tensor", "t.load()"), "y = x + 1"),
    _wrong("a Python number beside a whole tensor", ("`*` has no meaning", "t[i]"), "y = 2 * x"),
    _wrong("a change of a whole tensor in place", ("`+=`", "store the result"), "x += 1"),
    _wrong("a part of a tensor set to another", ("not a vector to store", "fx.copy"), "x[0:4] = x[4:8]"),
    _wrong("the absolute value of a whole tensor", ("`abs()`", "t[i]"), "y = abs(x)"),
    _wrong("a comparison of a whole tensor", ("`>`", "t[i]"), "y = x > 0"),
    _wrong("equality with a whole tensor", ("not a value to compare", "t[i] == x"), "y = x == 0"),
    _wrong("`@` between tensors", ("`@`", "fx.gemm"), "y = x @ x"),
    _wrong("`@` between vectors", ("`@`", 'reduce("add")'), "y = v @ v", _VECTOR),
    _wrong("arithmetic with `None`", ("`+` has no meaning", "and None"), "y = n + None"),
    _wrong("a whole tensor as a condition", ("neither true nor false", "is not None"), "y = 1 if x else 2"),
    _wrong("a loop over a tensor", ("a loop cannot go through", "range(t.shape[0])"), "y = [e for e in x]"),
    _wrong("a search in a tensor", ("no elements to look through", "t[i]"), "y = n in x"),
    _wrong("`len` of a tensor", ("no len()", "t.shape[0]", "fx.size(t)"), "y = len(x)"),
    _wrong("a loop over a number", ("no elements to go through", "range(n)"), "y = [e for e in n]"),
    _wrong("parentheses in place of brackets", ("no function", "brackets"), "out[0] = x.stride(0)"),
    _wrong("an index of the hardware as a number", ("fx.thread_idx.x",), "y = fx.thread_idx + 1"),
    _wrong("`round` of a run-time number", ("round()", "fx.roundeven"), "out[0] = round(x[0])"),
    _wrong("`pow` with a modulus", ("pow() of three numbers", "a ** b % m"), "out[0] = pow(n, 2, 5)"),
    _wrong("a run-time exponent of `pow` with a modulus", ("pow() of three numbers",), "out[0] = pow(2, n, 5)"),
    _wrong("a run-time number as a key", ("a dict compares its keys now", "select"), "out[0] = {1: 2}[n]"),
    _wrong("NumPy's function of a number", ("np.exp", "fx.exp(...)"), "y = np.exp(x[0])"),
    _wrong("NumPy's function of a vector", ("np.maximum", "fx.max(...)"), "y = np.maximum(v, 0)", _VECTOR),
    _wrong("NumPy's function of a tensor", ("np.sum", "fx"), "y = np.sum(x)"),
    _wrong("an array of NumPy from a tensor", ("np.array",), "y = np.asarray(x)"),
    _wrong("a function of `math` on a tensor", ("fx.exp(t[i])",), "y = math.exp(x)", _MATH),
    _wrong("a function of `fx` on a whole tensor", ("neither a number nor a vector", "t[i]"), "y = fx.exp(x)"),
    _one_line(
        "a function of `math` on a run-time number",
        DslRuntimeError, RuntimeError, ("run-time Float32", "fx.exp(x)"), "y = math.exp(x[0])", _MATH,
    ),
    _one_line(
        "`range` of a run-time number outside a `for`",
        DslRuntimeError, RuntimeError, ("run-time Int32", "`for i in range(n):`"), "y = [x[i] for i in range(n)]", "",
    ),
    _one_line(
        "`assert` of a run-time condition",
        DslRuntimeError, RuntimeError, ("only the running kernel knows", "fx.printf"), 'assert n > 0, "too few"', "",
    ),
    _one_line(
        "a run-time number in a format",
        DslRuntimeError, RuntimeError, ("run-time Float32", "fx.printf"), 'text = f"{x[0]:.3f}"', "",
    ),
    _unknown("modes in another order", ("a tensor has no 'permute'", "fx.select(t, [1, 0])"), "y = x.permute(1, 0)"),
    _unknown("a reshaped tensor", ("'reshape'", "fx.make_view"), "y = x.reshape(8, 8)"),
    _unknown("the number of elements of a tensor", ("'size'", "fx.size(t)"), "y = x.size"),
    _unknown("the number of modes of a tensor", ("'ndim'", "t.rank"), "y = x.ndim"),
    _unknown("the sum of a tensor", ("'sum'", 't.load().reduce("add")', "BlockReduce"), "y = x.sum()"),
    _unknown("the sum of a vector", ("a vector has no 'sum'", 'v.reduce("add")'), "y = v.sum()", _VECTOR),
    _unknown("a converted tensor", ("'astype'", "t[i].to(fx.Float16)"), "y = x.astype(fx.Float16)"),
    _unknown("a method for a function", ("an Int32 has no 'sqrt'", "fx.sqrt(x)"), "y = n.sqrt()"),
    _unknown("a name with a letter missing", ("did you mean 'element_type'?",), "y = x.element_typ"),
    _unknown("a name of Triton", ("fx has no 'program_id'", "fx.block_idx.x"), "y = fx.program_id(0)"),
    _unknown("a name of CUDA", ("fx has no 'syncthreads'", "fx.barrier()"), "fx.syncthreads()"),
    _unknown("an atomic as a function", ("no 'atomic_add'", 'fx.atomic("add", t, x, at=i)'), "fx.atomic_add(x, 0, 1)"),
    _unknown("a tile as CuTe writes it", ("fx has no 'local_tile'", "fx.zipped_divide"), "y = fx.local_tile(x, 4, 0)"),
    _unknown("an index as CuTe writes it", ("fx has no 'arch'", "fx.thread_idx.x"), "y = fx.arch.thread_idx()"),
    _unknown("a number type in small letters", ("fx has no 'float32'", "fx.Float32"), "y = fx.float32(n)"),
)  # fmt: skip
