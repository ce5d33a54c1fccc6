"""Making operations and loading xDSL in less time gives the same as xDSL's own ways."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from xdsl.dialects.builtin import UNKNOWN_LOC, IntegerAttr, StringAttr, f32, i32, i64
from xdsl.ir import Attribute, Block, Operation

from flydsl.dialects import xdsl_loading
from flydsl.dialects.fly.ops import OP_CLASSES
from flydsl.dialects.upstream import created, integer, integers, op_class, put_before
from flydsl.dialects.xdsl_loading import load

KINDS = [
    op_class("arith.addi"), op_class("arith.constant"), op_class("llvm.call_intrinsic"), op_class("llvm.load"),
    op_class("vector.from_elements"), op_class("gpu.barrier"), OP_CLASSES["make_layout"], OP_CLASSES["copy"],
]  # fmt: skip


def facts(op: Operation) -> dict[str, Any]:
    """Everything in an operation; its uses and results as numbers and types."""
    held = dict(vars(op))
    held["_operand_uses"] = [(use.operation is op, use.index) for use in held["_operand_uses"]]
    held["results"] = [(result.type, result.index, result.op is op) for result in held["results"]]
    return held


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_an_operation_is_what_xdsl_creates(kind: type[Operation]) -> None:
    block = Block(arg_types=[i32, f32])
    given: dict[str, Any] = {"properties": {"some": StringAttr("a")}, "attributes": {"other": StringAttr("b")}}
    theirs = kind.create(operands=block.args, result_types=[i32, i64], **given)
    ours = created(kind, block.args, [i32, i64], **given)
    assert facts(ours) == facts(theirs)
    assert [type(value) for value in vars(ours).values()] == [type(value) for value in vars(theirs).values()]
    assert [use.operation for use in block.args[0].uses] == [ours, theirs]
    assert ours.location is UNKNOWN_LOC and ours.properties is not given["properties"]


def test_operations_are_inserted_in_front_of_others() -> None:
    block = Block([last := created(KINDS[0])])
    for op in (first := created(KINDS[1]), second := created(KINDS[2])):
        put_before(op, last)
    assert list(block.ops) == [first, second, last] == list(reversed(list(block.ops)))[::-1]
    assert block.first_op is first and block.last_op is last and first.parent is block and second.prev_op is first
    with pytest.raises(ValueError, match="already attached"):
        put_before(first, last)


def test_one_operand_is_replaced() -> None:
    """Of several users of one value, the operation whose operands they are; and as often as it has operands."""
    block = Block(arg_types=[i32, i32])
    old, new = block.args
    first, second = (created(KINDS[0], (old, old), [i32]) for _ in range(2))
    first.operands[1] = new
    assert first.operands == (old, new) and second.operands == (old, old)
    assert [(use.operation, use.index) for use in new.uses] == [(first, 1)]
    first.operands[-2] = new
    assert first.operands == (new, new) and len(list(old.uses)) == len(list(new.uses)) == 2
    old.replace_all_uses_with(new)
    assert second.operands == first.operands == (new, new) and not old.uses
    with pytest.raises(IndexError):
        first.operands[2] = old


def test_named_operands_have_types() -> None:
    values = Block(arg_types=[i32, i64]).args
    call = op_class("llvm.call_intrinsic").create(
        operands=values, properties={"operandSegmentSizes": integers(32, 2, 0), "op_bundle_sizes": integers(32)}
    )
    assert call.args.types == (i32, i64) and call.op_bundle_operands.types == ()  # type: ignore[attr-defined]
    assert op_class("func.return").create(operands=values).arguments.types == (i32, i64)  # type: ignore[attr-defined]


def test_values_are_compared_by_identity_without_calling_python() -> None:
    value, other = Block(arg_types=[i32, i32]).args
    assert {value: 1} == {value: 1} and value != other and created(KINDS[0]) != created(KINDS[0])
    for kind in (type(value), KINDS[2], KINDS[4]):
        assert kind.__hash__ is object.__hash__ and kind.__eq__ is object.__eq__
    assert type(Operation) is type(Attribute) is xdsl_loading.PlainChecks


def test_attributes_are_made_once() -> None:
    assert integer(3, 32) is integer(3, 32) == IntegerAttr(3, i32)
    assert integers(64, 1, 2) is integers(64, 1, 2)
    assert integers(64, 1, 2).get_values() == (1, 2)


QUICK = """
import dataclasses, io, sys
standard = dataclasses.dataclass
from flydsl.dialects.xdsl_loading import load
load("xdsl.dialects.builtin", "xdsl.dialects.arith", "flydsl.dialects.registry")
assert dataclasses.dataclass is standard
import xdsl
from flydsl.dialects.xdsl_loading import _Format
from xdsl.irdl.declarative_assembly_format import FormatProgram
assert FormatProgram.from_str is not _Format
from xdsl.context import Context
from xdsl.ir import Attribute
from xdsl.dialects.builtin import ModuleOp, StringAttr, IntegerType
from xdsl.parser import Parser
from flydsl.dialects.registry import load_all
assert "__record_fields__" in vars(Attribute), "xDSL was loaded otherwise"
assert IntegerType(8) == IntegerType(8) != IntegerType(9) and hash(StringAttr("a")) == hash(StringAttr("a"))
assert dataclasses.is_dataclass(StringAttr("a")) and dataclasses.fields(StringAttr("a"))[0].name == "data"
context = Context()
load_all(context)
text = sys.stdin.read()
module = Parser(context, text).parse_module()
module.verify()
print(module)
"""

PROGRAM = """\
func.func @f(%a: i32, %b: f32, %c: i1) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = scf.if %c -> (i32) {
    scf.yield %0 : i32
  } else {
    scf.yield %a : i32
  }
  %2 = vector.broadcast %b : f32 to vector<4xf32>
  %3 = math.exp %2 : vector<4xf32>
  func.return %1 : i32
}
"""


def test_what_is_loaded_is_not_loaded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every compilation asks; looking at Python's frozen objects each time would take longer than small kernels."""
    first = load("xdsl.dialects.builtin", "xdsl.dialects.arith")
    monkeypatch.setattr(xdsl_loading, "making_what_stays", None)
    assert load("xdsl.dialects.builtin", "xdsl.dialects.arith") == first
    with pytest.raises(TypeError):
        load("xdsl.dialects.pdl_interp")


def test_xdsl_loaded_quickly_reads_verifies_and_prints() -> None:
    run = subprocess.run([sys.executable, "-c", QUICK], input=PROGRAM, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    again = subprocess.run([sys.executable, "-c", QUICK], input=run.stdout, capture_output=True, text=True)
    assert again.stdout == run.stdout
    assert "arith.addi %a, %a : i32" in run.stdout and "math.exp" in run.stdout
