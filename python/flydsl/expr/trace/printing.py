"""Seeing values: `printf` from any thread, and `dump` of a whole tensor."""

from __future__ import annotations

import re
from math import ceil, log10
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.dialects.fly import rules
from flydsl.expr.gpu import block_idx, thread_idx
from flydsl.expr.numeric import Boolean, Float64, Int32, Int64, Numeric, Uint64, is_raw_value
from flydsl.expr.tensors.layout import Layout
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.trace.context import Value, current
from flydsl.expr.values.handle import Handle, apply
from flydsl.expr.values.int_tuple import IntTuple
from flydsl.expr.values.vector_value import vector_operand
from flydsl.expr.vector import Vector
from flydsl.layout.leaf import DynInt

__all__ = ["dump", "printf"]

_PLACEHOLDER = r"\{(?::([^{}]*))?\}|\{\{|\}\}"
_UNKNOWN = r"\b(?:B?Float|Int|Uint|Boolean|Index)\w*\(\?\)"
"""A run-time number as Python's `str` shows it."""
_SPEC = {True: r"([-+ 0]*)(\d*)(\.\d+)?([feEgG]?)", False: r"([-+ 0]*)(\d*)(\.\d+)?([dxXofeEgG]?)"}
"""What C can format a float with, and what an integer: another letter would take the one for the other."""
_SHORTEST = "%-.{digits}g"
"""The format of a float that is to be read back: enough digits for every value of its type. The flag changes nothing
where no width is given; the host's library takes it as the sign to print no more digits than the value needs."""


def printf(fmt: Any = "", *args: Any) -> None:
    """Print from every thread that gets here; each ``{}`` or ``{:spec}`` takes the next argument.

    What is known while tracing becomes part of the text. A newline is added.
    """
    if isinstance(fmt, str):
        _check_format(fmt, len(args))
    else:
        fmt, args = "{}" + " {}" * len(args), (fmt, *args)
    values: list[Value] = []
    given = iter(args)
    text: list[str] = []
    at = 0
    for match in re.finditer(_PLACEHOLDER, fmt):
        text.append(_escaped(fmt[at : match.start()]))
        at = match.end()
        if match[0] in ("{{", "}}"):
            text.append(match[0][0])
            continue
        try:
            argument = next(given)
        except StopIteration:
            text.append(_escaped(match[0]))
            continue
        text.append(_format(argument, match[1] or "", values))
    text.append(_escaped(fmt[at:]))
    current().fly("print", values, {"format": "".join(text) + "\n"})


def _check_format(fmt: str, given: int) -> None:
    """Refuse a format that would silently leave values out."""
    if (shown := re.search(_UNKNOWN, fmt)) is not None:
        raise DslTypeError(
            f"the format of printf has {shown[0]} in it, the text of a number that only the running kernel knows",
            hint='leave the f-string to printf: fx.printf("x = {}", x) in place of fx.printf(f"x = {x}")',
        )
    places = sum(match[0] not in ("{{", "}}") for match in re.finditer(_PLACEHOLDER, fmt))
    if given > places:
        style = "; `%d` and its like mean nothing here" if "%" in fmt else ""
        raise DslTypeError(
            f"printf is given {given} values and has {places or 'no'} {{}} to print them in",
            hint=f'write one {{}} for each: fx.printf("{{}} {{:.3f}}", i, x){style}',
        )


def _escaped(text: str) -> str:
    return text.replace("%", "%%")


def _format(value: Any, spec: str, values: list[Value]) -> str:
    """Return the C format of one argument; its run-time numbers are appended to ``values``."""
    if is_raw_value(value) and (found := vector_operand(value)) is not None:
        value = found
    if isinstance(value, Numeric):
        return _number(value, spec, values)
    if isinstance(value, Vector):
        return "[" + ", ".join(_format(item, spec, values) for item in value) + "]"
    if isinstance(value, IntTuple):
        return _tuple(value, values)
    if isinstance(value, Layout):
        return f"{_tuple(value.shape, values)}:{_tuple(value.stride, values)}"
    if isinstance(value, Pointer):
        number = apply("ptrtoint", value)
        values.append(Int64(number).ir_value())
        return "0x%lx"
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(_format(item, spec, values) for item in value) + ")"
    if isinstance(value, Handle) or not isinstance(value, (bool, int, float)):
        return _escaped(str(value))
    return _escaped(format(value, spec))


def _tuple(value: IntTuple, values: list[Value]) -> str:
    if not value.is_leaf:
        return "(" + ",".join(_tuple(value[i], values) for i in range(value.rank)) + ")"
    if isinstance(value.payload, DynInt):
        return _number(value.unpack(), "", values)
    return _escaped(str(value))


def _number(value: Numeric, spec: str, values: list[Value]) -> str:
    kind = type(value)
    if value.is_static():
        return _escaped(format(value.value, spec) if spec or not kind.is_float else _shortest(value))
    match = re.fullmatch(_SPEC[kind.is_float], spec)
    if match is None:
        letters = "e, f or g" if kind.is_float else "d, x, o, e, f or g"
        raise DslValueError(
            f"printf cannot format with '{{:{spec}}}' here", hint=f"{kind} takes widths, precisions and {letters}"
        )
    if kind.width > 64:
        raise DslValueError(
            f"printf cannot print {kind}", hint="print both halves: (x >> 64).to(fx.Int64) and x.to(fx.Uint64)"
        )
    flags, width, precision, letter = match.groups()
    if kind.is_float:
        values.append(value.to(Float64).ir_value())
        if not spec:
            return _SHORTEST.format(digits=_digits(kind))
        if not letter and not precision:
            return f"%{flags}{width}.{_digits(kind)}g"
        return f"%{flags}{width}{precision or ''}{letter or 'f'}"
    if letter and letter in "feEgG":
        values.append(value.to(Float64).ir_value())
        return f"%{flags}{width}{precision or ''}{letter}"
    unsigned = not kind.signed and kind is not Boolean
    wide = value.to(Uint64 if unsigned or kind is Boolean else Int64)
    bits = kind.signed and letter in ("x", "X", "o") and kind.width < 64
    values.append((wide & ((1 << kind.width) - 1) if bits else wide).ir_value())
    return f"%{flags}{width}l{letter if letter and letter != 'd' else 'u' if unsigned else 'd'}"


def _digits(kind: type[Numeric]) -> int:
    """Decimal digits that tell all values of a type of float apart."""
    layout = kind.format.layout
    return ceil(1 + (53 if layout is None else layout.mantissa + 1) * log10(2))


def _shortest(value: Numeric) -> str:
    """Return a float known while tracing, with the digits that the running kernel would print."""
    number, most = float(value.value), _digits(type(value))
    text = ""
    for digits in range(1, most + 1):
        text = f"{number:.{digits}g}"
        if type(value)(float(text)).value == number and not ("e" in text and 1 <= abs(number) < 10**most):
            break
    return text


# Whole tensors ---------------------------------------------------------------------------------

_UNROLLED = 256
"""Register tensors up to this size are printed without a loop, which would keep them in memory."""


def dump(tensor: Tensor, *, name: str = "tensor", block: Any = (0, 0, 0), thread: Any = (0, 0, 0)) -> None:
    """Print a tensor as an array, once, from the chosen block and thread.

    Works on fragments, shared tiles and swizzled views alike: elements are read through the layout.
    """
    if not isinstance(tensor, Tensor) or not tensor.is_memory:
        raise DslTypeError(f"dump prints a tensor over memory, got {type(tensor).__name__}")
    count = rules.size(tensor.payload)
    if not isinstance(count, int):
        raise DslTypeError(f"dump needs a static shape, got {tensor.payload.layout}", hint="take one tile of it first")
    emitter = current()
    here = _is_here(block, thread).ir_value()
    emitter.if_(here, lambda: _print_elements(tensor, name, count), lambda: None, lambda: ((), ()))


def _is_here(block: Any, thread: Any) -> Boolean:
    """Return whether this is the chosen thread of the chosen block."""
    here = Boolean(True)
    for chosen, index in ((block, block_idx), (thread, thread_idx)):
        wanted = chosen if isinstance(chosen, (tuple, list)) else (chosen,)
        for number, axis in zip(wanted, "xyz", strict=False):
            here = here & (getattr(index, axis) == number)
    return here


def _print_elements(tensor: Tensor, name: str, count: int) -> None:
    rows = _rows(tensor)
    printf(f"{name}: {str(tensor).replace('{', '{{').replace('}', '}}')}")
    if tensor.payload.iter.space == "register" and count <= _UNROLLED:
        for row in range(rows):
            values = [tensor[row + rows * column] for column in range(count // max(rows, 1))]
            printf("  [" + ", ".join(["{}"] * len(values)) + "]", *values)
        return
    _loop(rows, lambda row: _print_row(tensor, row, rows, count // max(rows, 1)))


def _rows(tensor: Tensor) -> int:
    shape = rules.shape_of(tensor.payload)
    return rules.size(shape[0]) if isinstance(shape, tuple) and len(shape) > 1 else 1


def _print_row(tensor: Tensor, row: Int32, rows: int, columns: int) -> None:
    current().fly("print", [], {"format": "  ["})
    if columns:
        _print_element(tensor, row, "")
        _loop(columns - 1, lambda column: _print_element(tensor, row + (column + 1) * rows, ", "))
    current().fly("print", [], {"format": "]\n"})


def _print_element(tensor: Tensor, index: Int32, before: str) -> None:
    values: list[Value] = []
    text = _number(tensor[index], "", values)
    current().fly("print", values, {"format": before + text})


def _loop(count: int, body: Any) -> None:
    emitter = current()
    start, stop, step = (emitter.constant("i32", n) for n in (0, count, 1))

    def turn(index: Value, carried: Any) -> list[Value]:
        body(Int32(index))
        return []

    emitter.for_(start, stop, step, [], turn)
