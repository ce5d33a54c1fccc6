"""Whatever an operation is given, its verifier answers with words, never with a traceback."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, UnitAttr, i32
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.test_value import create_ssa_value

from flydsl.dialects.fly.op_checks import KINDS, mismatch
from flydsl.dialects.fly.op_table import OP_TABLE
from flydsl.dialects.fly.ops import OP_CLASSES
from flydsl.dialects.registry import load_all
from tests.layout.strategies import thousands

TYPES = """
!fly.int_tuple<4>
!fly.int_tuple<(4)>
!fly.int_tuple<(2,(3,?))>
!fly.int_tuple<(*,1)>
!fly.int_tuple<(1E0,?E1)>
!fly.int_tuple<()>
!fly.int_tuple<0>
!fly.int_tuple<?{i64 div=8}>
!fly.layout<4:1>
!fly.layout<(4,8):(8,1)>
!fly.layout<(?,8):(1,?{i64})>
!fly.layout<(4,8):(1E0,1E1)>
!fly.layout<0:0>
!fly.layout<(4,(2,2)):(0,(1,-4))>
!fly.composed_layout<S<3,3,3> o 0 o (4,8):(8,1)>
!fly.composed_layout<S<1,0,1> o ? o [S<2,0,3> o 0 o 8:1]>
!fly.swizzle<S<2,0,3>>
!fly.coord_swizzle<CS<2,0,[0],0,[1]>>
!fly.tile<[2|*]>
!fly.tile<4>
!fly.tile<[4:2|(2,2):(1,2)|[2|2]]>
!fly.ptr<f32, global>
!fly.ptr<i1, register>
!fly.ptr<f16, shared, align<16>, S<3,3,3>>
!fly.memref<f32, register, (1,2,2):(0,1,2)>
!fly.memref<f32, global, ?:1>
!fly.memref<i1, register, 4:1>
!fly.memref<f16, shared, S<2,0,3> o 0 o (8,8):(8,1)>
!fly.coord_tensor<(0,0), (4,8):(1E0,1E1)>
!fly.coord_tensor<?, 4:2>
!fly.copy_atom<!fly.universal_copy<64>, 32>
!fly.copy_atom<!fly.universal_atomic<add, f32>, 32>
!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
!fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<64>, 32>, <(4,(2,2)):(2,(1,8))>, <[4|4]>>
!fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f16, f16) -> f32>>, <(4,4,1):(1,4,0)>>
i32
i64
i1
index
f32
vector<4xf32>
vector<4xi1>
!llvm.ptr<1>
"""


def parse(text: str) -> Attribute:
    context = Context()
    load_all(context)
    return Parser(context, text).parse_type()


POOL: list[Attribute] = [parse(line) for line in TYPES.strip().splitlines()]
ATTRIBUTES: list[Attribute] = [
    IntegerAttr(-1, i32),
    IntegerAttr(1, i32),
    IntegerAttr(7, i32),
    StringAttr("a"),
    StringAttr("z"),
    DenseArrayBase.from_list(i32, [0]),
    DenseArrayBase.from_list(i32, [1, -5]),
    DenseArrayBase.from_list(i32, []),
    UnitAttr(),
    parse("f16"),
]


def admitted(kind: str) -> list[Attribute]:
    return [type_ for type_ in POOL if mismatch(kind, type_) is None]


def answer(
    name: str, operands: Sequence[Attribute], results: Sequence[Attribute], attributes: dict[str, Attribute]
) -> str | None:
    """The verifier's message, or None when it has no objection."""
    op = OP_CLASSES[name].create(
        operands=[create_ssa_value(type_) for type_ in operands], result_types=results, attributes=attributes
    )
    try:
        op.verify()
    except VerifyException as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", OP_TABLE)
@thousands(30)
@given(st.data())
def test_any_operands(name: str, data: st.DataObject) -> None:
    spec = OP_TABLE[name]
    most = min(spec.operands[1], 6)
    count = data.draw(st.integers(max(spec.operands[0] - 1, 0), most + 1))
    right = data.draw(st.booleans())
    operands = [
        data.draw(st.sampled_from((admitted(spec.kind_of_operand(i)) if right and spec.takes else POOL) or POOL))
        for i in range(count)
    ]
    keys = data.draw(st.lists(st.sampled_from(sorted(spec.attrs)), unique=True)) if spec.attrs else []
    attributes = {key: data.draw(st.sampled_from(ATTRIBUTES)) for key in keys}
    results = data.draw(st.lists(st.sampled_from(POOL), max_size=2))
    message = answer(name, operands, results, attributes)
    assert message is None or spec.full_name in message


@pytest.mark.parametrize("name", [name for name, spec in OP_TABLE.items() if spec.takes and spec.takes[0] != "any"])
def test_a_wrong_kind_is_named(name: str) -> None:
    spec = OP_TABLE[name]
    operands = [admitted(spec.kind_of_operand(i))[0] for i in range(max(spec.operands[0], 1))]
    wrong = next(type_ for type_ in POOL if mismatch(spec.takes[0], type_) is not None)
    words = KINDS[spec.takes[0]][0]
    assert answer(name, [wrong, *operands[1:]], [], {}) == f"{spec.full_name} takes {words} as operand 0, got {wrong}"


def test_every_kind_is_used_and_has_a_type() -> None:
    used = {kind for spec in OP_TABLE.values() for kind in spec.takes}
    assert used == set(KINDS)
    assert all(admitted(kind) for kind in KINDS)
