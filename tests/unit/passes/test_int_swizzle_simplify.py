"""fly-int-swizzle-simplify keeps every result, whatever arithmetic leads to the swizzle."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from flydsl.passes.canonicalize import canonicalize
from flydsl.passes.int_swizzle_simplify import int_swizzle_simplify
from flydsl.passes.shared.known_bits import known_zeros
from flydsl.tools.ir_reader import read_module, verify

WIDTH = 32
MASK = (1 << WIDTH) - 1

steps = st.lists(
    st.one_of(
        st.tuples(st.just("shli"), st.integers(0, 8)),
        st.tuples(st.just("shrsi"), st.integers(0, 8)),
        st.tuples(st.just("andi"), st.integers(0, 1 << 12)),
        st.tuples(st.just("addi"), st.integers(0, 1 << 14)),
        st.tuples(st.just("muli"), st.integers(0, 96)),
        st.tuples(st.just("xori"), st.integers(-8, 1 << 10)),
        st.tuples(st.just("swizzle"), st.tuples(st.integers(1, 3), st.integers(0, 4), st.integers(3, 4))),
        st.tuples(st.just("unswizzle"), st.tuples(st.integers(1, 3), st.integers(0, 4), st.integers(3, 4))),
    ),
    min_size=1,
    max_size=8,
)


def program(chosen: list[tuple[str, object]]) -> str:
    """A function that applies the steps to its argument and returns every intermediate value."""
    lines, value, kept = [], "%x", []
    for number, (name, argument) in enumerate(chosen):
        at = f"%v{number}"
        if isinstance(argument, tuple):
            bits, base, shift = argument
            left = name == "unswizzle"
            mask = ((1 << bits) - 1) << (base if left else base + shift)
            lines += [f"{at}m = arith.constant {mask} : i32", f"{at}s = arith.constant {shift} : i32"]
            lines += [f"{at}a = arith.andi {value}, {at}m : i32"]
            lines += [f"{at}b = arith.{'shli' if left else 'shrsi'} {at}a, {at}s : i32"]
            lines += [f"{at} = arith.xori {value}, {at}b : i32"]
        else:
            lines += [f"{at}c = arith.constant {argument} : i32", f"{at} = arith.{name} {value}, {at}c : i32"]
        value = at
        kept.append(at)
    types = ", ".join(["i32"] * len(kept))
    body = "\n".join(lines)
    return f"func.func @f(%x: i32) -> ({types}) {{\n{body}\nreturn {', '.join(kept)} : {types}\n}}"


def signed(number: int) -> int:
    number &= MASK
    return number - (1 << WIDTH) if number >> (WIDTH - 1) else number


APPLY = {
    "arith.shli": lambda a, b: a << b,
    "arith.shrsi": lambda a, b: a >> b,
    "arith.andi": lambda a, b: a & b,
    "arith.addi": lambda a, b: a + b,
    "arith.muli": lambda a, b: a * b,
    "arith.xori": lambda a, b: a ^ b,
}


def values_of(function: Operation, argument: int) -> tuple[list[int], dict[SSAValue, int]]:
    """What a function returns, and every value on the way."""
    block = function.regions[0].blocks[0]
    known: dict[SSAValue, int] = {block.args[0]: signed(argument)}
    for op in block.ops:
        if isinstance(op, ConstantOp):
            attr = op.properties["value"]
            assert isinstance(attr, IntegerAttr)
            known[op.results[0]] = attr.value.data
        elif op.name in APPLY:
            known[op.results[0]] = signed(APPLY[op.name](*(known[o] for o in op.operands)))
    last = block.last_op
    assert last is not None
    return [known[o] for o in last.operands], known


@given(steps, st.lists(st.integers(0, MASK), min_size=1, max_size=4))
def test_results_stay(chosen: list[tuple[str, object]], arguments: list[int]) -> None:
    text = program(chosen)
    module = read_module(text, "test.mlir")
    before = [values_of(module.body.block.first_op, argument)[0] for argument in arguments]
    int_swizzle_simplify(module)
    verify(module, "test.mlir")
    canonicalize(module)
    after = [values_of(module.body.block.first_op, argument)[0] for argument in arguments]
    assert after == before, f"{text}\nbecame\n{module}"


@given(steps, st.integers(0, MASK))
def test_known_zeros_are_zero(chosen: list[tuple[str, object]], argument: int) -> None:
    module = read_module(program(chosen), "test.mlir")
    _, known = values_of(module.body.block.first_op, argument)
    for value, number in known.items():
        assert number & known_zeros(value) == 0
