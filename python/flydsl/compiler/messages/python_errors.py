"""Errors that Python itself raises about a kernel's values, said in words that help, with what to write instead.

A value of a kernel has no `@` and no `len()`, and cannot be called or rounded by Python; Python says so in words that
tell nothing to whoever came from NumPy or torch. The tables pair its words with advice for each kind of value. An error
about other values stays what it is, and so does one that this package raises by a mistake of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from flydsl.base.errors import DslIndexError, DslTypeError, FlyDSLError
from flydsl.base.records import dataclass
from flydsl.compiler.messages.wrong_calls import wrong_call
from flydsl.expr.gpu import Tuple3D
from flydsl.expr.numeric import Numeric
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.trace.habits import wrong_name
from flydsl.expr.values.handle import Handle
from flydsl.expr.values.vector_value import Vector

_OPERATOR, _MATMUL, _ITERATE, _INDEX, _ASSIGN, _LEN, _FLOAT, _ROUND, _TRUNC, _CALL, _FORMAT, _SET, _POWER = range(13)


@dataclass(frozen=True)
class Kind:
    """A kind of value: how a message names it, and the advice for each thing it cannot do."""

    name: str
    advice: Mapping[int, str]


_READ = "read its elements first: t[i] is one, t.load() those of a small tile as a vector"

TENSOR = Kind(
    "a tensor",
    {
        _OPERATOR: f"a tensor is a place in memory; {_READ}, compute with them and store the result",
        _MATMUL: "fx.gemm(mma, d, a, b, c) multiplies tiles; docs/matrix.md shows how",
        _ITERATE: "write `for i in range(t.shape[0])` and t[i]; the vector t.load() of a small tile has elements",
        _LEN: "t.shape[0] is the extent of its first mode, fx.size(t) the number of its elements",
        _FLOAT: f"{_READ}, and call a function of fx: fx.exp(t[i])",
        _CALL: "write t[i], with brackets",
    },
)
VECTOR = Kind(
    "a vector",
    {
        _OPERATOR: "vectors go with vectors and with numbers",
        _MATMUL: '(a * b).reduce("add") is the dot product; fx.gemm(mma, d, a, b, c) multiplies tiles',
        _ASSIGN: "a vector never changes; v = v.insert(x, i) has one element replaced",
        _FLOAT: "call a function of fx, which takes vectors: fx.exp(v)",
        _CALL: "write v[i], with brackets",
    },
)
NUMBER = Kind(
    "a number of the kernel",
    {
        _OPERATOR: "numbers go with numbers (Python's or fx's) and with vectors",
        _MATMUL: "write * for numbers; fx.gemm(mma, d, a, b, c) multiplies tiles",
        _ITERATE: "it is one number; `for i in range(n)` counts up to it",
        _INDEX: "it is one number; an element of a tensor with two modes is t[i, j]",
        _ASSIGN: "it is one number; an element of a tensor with two modes is stored by t[i, j] = x",
        _LEN: "it is one number, without elements",
        _ROUND: "write fx.roundeven(x), which rounds halves as Python does, or fx.round(x), which rounds them away "
        "from zero; x.to(fx.Int32) makes an integer",
        _TRUNC: "write fx.trunc(x), or x.to(fx.Int32) for an integer",
        _CALL: "leave out the parentheses",
    },
)
INDEX = Kind(
    "an index of the hardware",
    {
        _OPERATOR: "take one of its three numbers: fx.thread_idx.x",
    },
)
OTHER = Kind(
    "a value of the kernel",
    {
        _OPERATOR: "take the numbers in it first, such as x.shape[0] or fx.size(x)",
        _CALL: "write x[i], with brackets",
    },
)

_ADVICE = {
    _FORMAT: 'write fx.printf("{}", x), which prints when the kernel runs, or fx.dump(t) for a whole tensor',
    _SET: "give it a variable of its own",
    _POWER: "write a ** b % m; a power that its type does not hold is a product in a loop, with % m behind each factor",
}
"""The same for every kind."""

_PYTHON_NAMES = {"NoneType": "None"}
_BETWEEN = "`{0}` has no meaning for {1} and {2}"
_CASES: tuple[tuple[str, int, str], ...] = (
    (r"unsupported operand type\(s\) for (@=?): '(\w+)' and '(\w+)'", _MATMUL, _BETWEEN),
    (r"()unsupported operand type\(s\) for \*\* or pow\(\): '(\w+)', '(\w+)', '(\w+)'", _POWER,
     "Python's pow() of three numbers takes none of the kernel's"),
    (r"unsupported operand type\(s\) for (\S+)(?: or pow\(\))?: '(\w+)' and '(\w+)'", _OPERATOR, _BETWEEN),
    (r"'(\S+)' not supported between instances of '(\w+)' and '(\w+)'", _OPERATOR, _BETWEEN),
    (r"bad operand type for (?:unary )?([^:]+): '(\w+)'", _OPERATOR, "`{0}` has no meaning for {1}"),
    (r"can only concatenate (\w+) \(not \"(\w+)\"\)", _OPERATOR, "{1} cannot be joined to a Python {0}"),
    (r"()'(\w+)' object is not iterable", _ITERATE, "{1} has no elements to go through"),
    (r"()argument of type '(\w+)' is not iterable", _ITERATE, "{1} has no elements to look through"),
    (r"()'(\w+)' object is not an iterator", _ITERATE, "{1} has no elements to go through"),
    (r"()cannot unpack non-iterable (\w+) object", _ITERATE, "{1} has no elements to go through"),
    (r"()'(\w+)' object is not subscriptable", _INDEX, "{1} has no elements that [ ] could take out"),
    (r"()'(\w+)' object does not support item assignment", _ASSIGN, "no element of {1} can be assigned"),
    (r"()object of type '(\w+)' has no len\(\)", _LEN, "{1} has no len()"),
    (r"()must be real number, not (\w+)", _FLOAT, "Python's functions compute now, and {1} is no number of Python's"),
    (r"()type (\w+) doesn't define __round__ method", _ROUND, "Python's round() cannot take {1}"),
    (r"()type (\w+) doesn't define __trunc__ method", _TRUNC, "Python's math.trunc() cannot take {1}"),
    (r"()'(\w+)' object is not callable", _CALL, "{1} is no function"),
    (r"()unsupported format string passed to (\w+)\.__format__", _FORMAT, "{1} has no digits to format yet"),
    (r"()'(\w+)' object (?:has no|attribute) .*", _SET, "no attribute of {1} can be set"),
)  # fmt: skip
"""Python's words, with a detail and the classes of one or two values in them; which advice; our words."""


def explained(error: Exception) -> FlyDSLError | None:
    """Return the same error in our words, if it is about a value of ours."""
    if isinstance(error, AttributeError):
        return wrong_name(error.obj, error.name) if error.name is not None else _matched(str(error))
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], Numeric):
        return DslTypeError(
            "a dict compares its keys now, and this number is known when the kernel runs",
            hint="choose between the values: (n == 1).select(a, b), or put them in a tensor and index that",
        )
    if isinstance(error, IndexError):
        return _numpy_index(str(error))
    return (wrong_call(error) or _matched(str(error))) if isinstance(error, TypeError) else None


def _numpy_index(said: str) -> FlyDSLError | None:
    """NumPy asks an index for its int, and hides the answer that there is none yet."""
    if not said.startswith("only integers, slices"):
        return None
    return DslIndexError(
        "an array of NumPy's is read now, while the kernel is traced, and this index is no int that is known now",
        hint="pass the array to the kernel as an fx.Tensor: a tensor, not an array, has run-time indices",
    )


def _matched(said: str) -> FlyDSLError | None:
    for pattern, about, words in _CASES:
        if match := re.match(pattern, said):
            return _in_our_words(about, words, *match.groups())
    return None


def _in_our_words(about: int, words: str, detail: str, *classes: str) -> FlyDSLError | None:
    ours = dict(_our_classes())
    found = [ours[name] for name in classes if name in ours]
    if not found:
        return None
    kind = min(found, key=(TENSOR, VECTOR, INDEX, OTHER, NUMBER).index)
    names = [ours[name].name if name in ours else _PYTHON_NAMES.get(name, f"a Python {name}") for name in classes]
    advice = kind.advice.get(about) or _ADVICE.get(about) or kind.advice[_OPERATOR]
    return DslTypeError(words.format(detail, *names), hint=advice)


def _our_classes() -> Iterator[tuple[str, Kind]]:
    """Names of classes, as Python's messages have them, with their kinds; the nearest kind of a class comes last."""
    for base, kind in ((Handle, OTHER), (Tensor, TENSOR), (Vector, VECTOR), (Numeric, NUMBER), (Tuple3D, INDEX)):
        pending: list[type] = [base]
        while pending:
            cls = pending.pop()
            yield cls.__name__, kind
            pending += type.__subclasses__(cls)
