"""Shared memory as globals of the module around a kernel, under the original's names."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, SymbolRefAttr, i8
from xdsl.dialects.llvm import GlobalOp, LLVMArrayType
from xdsl.ir import Operation, SSAValue

from flydsl.dialects.upstream import integer, integers
from flydsl.passes.shared.insertion import Inserter
from flydsl.passes.shared.memory_conversion import llvm_pointer
from flydsl.passes.shared.shared_place import BLOCK_ALIGN

_DYNAMIC, _STATIC = "__dynamic_shared_", "__shared_alloc_"
_SHARED = 3


def dynamic_block(at: Inserter, function: Operation) -> SSAValue:
    """Return the block of shared memory whose size the launch gives: one for all kernels of a module."""
    module = _around(function)
    known = [name for name in _names(module) if name.startswith(_DYNAMIC)]
    if not known:
        _global(module, f"{_DYNAMIC}0", 0, BLOCK_ALIGN, "external")
    return _first_byte(at, known[0] if known else f"{_DYNAMIC}0")


def static_block(at: Inserter, function: Operation, size: int, align: int) -> SSAValue:
    """Return a block of its own for one allocation."""
    module = _around(function)
    name = f"{_STATIC}{sum(name.startswith(_STATIC) for name in _names(module))}"
    _global(module, name, size, align, "internal")
    return _first_byte(at, name)


def _around(function: Operation) -> Operation:
    module = function.parent_op()
    assert module is not None
    return module


def _names(module: Operation) -> list[str]:
    found = [op.properties.get("sym_name") for op in module.regions[0].blocks[0].ops if isinstance(op, GlobalOp)]
    return [name.data for name in found if isinstance(name, StringAttr)]


def _global(module: Operation, name: str, size: int, align: int, linkage: str) -> None:
    """Behind the globals at the head of the module."""
    block = module.regions[0].blocks[0]
    made = GlobalOp(
        LLVMArrayType(size, i8), name, linkage, addr_space=_SHARED, alignment=align, dso_local=linkage == "external"
    )
    last = next((op for op in block.ops if not isinstance(op, GlobalOp)), None)
    if last is None:
        block.add_op(made)
    else:
        block.insert_op_before(made, last)


def _first_byte(at: Inserter, name: str) -> SSAValue:
    pointer = llvm_pointer("shared")
    address = at.op("llvm.mlir.addressof", [], [pointer], {"global_name": SymbolRefAttr(name)})
    properties = {"rawConstantIndices": integers(32, 0), "elem_type": i8, "noWrapFlags": integer(0, 32)}
    return at.op("llvm.getelementptr", [address], [pointer], properties)
