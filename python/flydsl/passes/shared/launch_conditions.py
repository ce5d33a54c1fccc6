"""What layout algebra over run-time leaves requires, checked where the kernel is launched.

Lowering leaves a `fly.require` wherever an answer is right for some numbers only. What decides it is computed from the
kernel's arguments, so the host can decide: the arithmetic is copied in front of each launch of the kernel, with a call
that the launcher turns into a branch. Nothing of it stays in the kernel. A requirement that only the running kernel
could decide is refused, or dropped where it is marked so.

    gpu.func @k(%n: i32) {                          %r = arith.remsi %m, %c4
      %r = arith.remsi %n, %c4                      %ok = arith.cmpi eq, %r, %c0
      %ok = arith.cmpi eq, %r, %c0             ->   llvm.call @fly_require_1(%ok, %m) {fly.message = "…"}
      fly.require("…", %ok, %n)                     gpu.launch_func @k … args(%m)
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import MutableMapping
from typing import Any

from xdsl.dialects.arith import CMPI_COMPARISON_OPERATIONS
from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr, StringAttr, SymbolRefAttr, i1, i64
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from flydsl.base.errors import LoweringError
from flydsl.dialects.fly.ops import FlyOp
from flydsl.dialects.fly.payload import ARGUMENT_NAMES, CHECKED_MESSAGE
from flydsl.dialects.upstream import op_class, walked
from flydsl.passes.shared.intrinsic_call import native_call, native_declaration
from flydsl.passes.shared.walk import functions, is_pure, location_of, sanitizes

REQUIRES = "fly_require_"
"""How the functions begin that the launcher turns into branches; the number of operands to report follows."""

WHERE_KNOWN = "fly.where_known"
"""Marks a requirement that is dropped where only the running kernel could decide it."""

MOST_NUMBERS = 6
"""Numbers that a launch can report."""

_DIMS = ("x", "y", "z")
_Known = MutableMapping[SSAValue, SSAValue]


def subject(op: Operation, name: str = "") -> str:
    """Return the operation in the user's words: its name, or the one given, and that of the parameter it works on."""
    assert isinstance(op, FlyOp)
    name = name or op.spec.name
    value: Any = op.operands[0]
    while isinstance(value.owner, Operation) and value.owner.operands:
        value = value.owner.operands[0]
    function = value.owner.parent_op() if isinstance(value, BlockArgument) else None
    names = function.attributes.get(ARGUMENT_NAMES) if function is not None else None
    if isinstance(names, ArrayAttr) and isinstance(value, BlockArgument):
        named = names.data[value.index]
        if isinstance(named, StringAttr) and named.data:
            return f"{name} of '{named.data}'"
    return name


class _Launch:
    """One launch of a kernel: the host's values for what the kernel computes, and where checks go."""

    def __init__(self, launch: Operation, kernel: Operation) -> None:
        sizes = list(launch.properties["operandSegmentSizes"].get_values())  # type: ignore[union-attr]
        first = sum(sizes[:11])
        self.launch = launch
        self.dims = launch.operands[:6]
        self.known: _Known = dict(zip(kernel.regions[0].blocks[0].args, launch.operands[first:], strict=False))
        self._some: list[SSAValue] | None = None
        self._regions: dict[tuple[SSAValue, bool], tuple[Operation, _Known]] = {}

    def check(self, op: Operation) -> None:
        """Write the check of a requirement in front of the launch."""
        before, known = self.launch, self.known
        for condition in self._has_blocks():
            before, known = self._inside(condition, True, before, known)
        for guard, wanted in _guards(op):
            condition = self._copied(guard, before, known)
            if condition is not None:
                before, known = self._inside(condition, wanted, before, known)
        operands = [self._copied(operand, before, known) for operand in op.operands]
        if any(operand is None for operand in operands):
            if WHERE_KNOWN in op.attributes:
                return
            raise _undecided(op)
        _insert(_call(op, [operand for operand in operands if operand is not None]), before)

    def _inside(self, condition: SSAValue, wanted: bool, before: Operation, known: _Known) -> tuple[Operation, _Known]:
        """Return the end of the region that runs where a condition is so; one for all checks with this condition."""
        found = self._regions.get((condition, wanted))
        if found is None:
            blocks = [Block(), Block()]
            for block in blocks:
                block.add_op(op_class("scf.yield").create())
            branch = op_class("scf.if").create(operands=[condition], regions=[Region(block) for block in blocks])
            _insert(branch, before)
            end = blocks[0 if wanted else 1].last_op
            assert end is not None
            found = self._regions[condition, wanted] = (end, ChainMap({}, known))
        return found

    def _has_blocks(self) -> list[SSAValue]:
        """A launch of no blocks runs nothing, so nothing can be wrong with it."""
        if self._some is None:
            extents = [e for e in self.dims[:3] if getattr(e.owner, "name", "") != "arith.constant"]
            self._some = [self._is_some(extent) for extent in extents]
        return self._some

    def _is_some(self, extent: SSAValue) -> SSAValue:
        zero = op_class("arith.constant").create(
            result_types=[extent.type],
            properties={"value": IntegerAttr(0, extent.type)},  # type: ignore[arg-type]
        )
        some = op_class("arith.cmpi").create(
            operands=[extent, zero.results[0]],
            result_types=[i1],
            properties={"predicate": IntegerAttr(CMPI_COMPARISON_OPERATIONS.index("ne"), i64)},
        )
        _insert(zero, self.launch)
        _insert(some, self.launch)
        return some.results[0]

    def _copied(self, value: SSAValue, before: Operation, known: _Known) -> SSAValue | None:
        """Return what the kernel computes, computed by the host; None for what only the running kernel knows."""
        found = known.get(value)
        if found is not None:
            return found
        op = value.owner
        if not isinstance(op, Operation):
            return None
        if op.name in ("gpu.block_dim", "gpu.grid_dim"):
            return self._extent(op, value)
        if not is_pure(op) or op.name.startswith("gpu."):
            return None
        operands = [self._copied(operand, before, known) for operand in op.operands]
        if any(operand is None for operand in operands):
            return None
        copy = type(op).create(
            operands=[operand for operand in operands if operand is not None],
            result_types=op.result_types, properties=op.properties, attributes=op.attributes,
        )  # fmt: skip
        copy.location = op.location
        _insert(copy, before)
        known.update(zip(op.results, copy.results, strict=True))
        return known[value]

    def _extent(self, op: Operation, value: SSAValue) -> SSAValue | None:
        dimension = op.properties.get("dimension")
        axis = _DIMS.index(str(dimension.data)) if dimension is not None else 0  # type: ignore[attr-defined]
        extent = self.dims[axis + (3 if op.name == "gpu.block_dim" else 0)]
        return extent if extent.type == value.type and isinstance(value.type, IndexType) else None


def _guards(op: Operation) -> list[tuple[SSAValue, bool]]:
    """Return the conditions of the branches an operation stands in, outermost first, and which way each must go."""
    found: list[tuple[SSAValue, bool]] = []
    inner, above = op, op.parent_op()
    while above is not None:
        if above.name == "scf.if":
            block = inner.parent
            found.append((above.operands[0], block is not None and block.parent is above.regions[0]))
        inner, above = above, above.parent_op()
    return list(reversed(found))


def _insert(op: Operation, before: Operation) -> None:
    assert before.parent is not None
    before.parent.insert_op_before(op, before)


def _texts(op: Operation) -> tuple[str, str, str]:
    """Return the message, what to do about it, and what more helps where the launch refuses."""
    text = op.attributes["message"]
    assert isinstance(text, StringAttr)
    message, hint, more, *_ = [*text.data.split("\n"), "", ""]
    return message, hint, more


def _undecided(op: Operation) -> LoweringError:
    message, hint, _ = _texts(op)
    for index in range(len(op.operands)):
        message = message.replace(f"#{index}", "?")
    return LoweringError(
        f"{message}, for all that is known before the kernel runs",
        hint=f"{hint}; or make the layout of numbers that the caller knows: arguments, and extents of tensors",
        location=location_of(op),
    )


def _call(op: Operation, operands: list[SSAValue]) -> Operation:
    message, *hints = _texts(op)
    hint = "; ".join(filter(None, hints))
    numbers = operands[: 1 + MOST_NUMBERS]
    call = native_call(f"{REQUIRES}{len(numbers) - 1}", numbers, None, {CHECKED_MESSAGE: f"{message}\n{hint}"})
    call.location = op.location
    return call


def check_at_launch(module: Operation) -> None:
    """Move every requirement of a module to the host."""
    every = list(functions(module))
    required = {function: [op for op in walked(function) if _is_requirement(op)] for function in every}
    if any(required.values()):
        hosts = [function for function in every if function.name != "gpu.func"]
        launches = [op for function in hosts for op in walked(function) if op.name == "gpu.launch_func"]
        for function, found in required.items():
            _move(function, found, launches)
        _declare(module, hosts)
    if not sanitizes(module):
        for function in every:  # only messages of this pass, and of the sanitizers, name parameters
            function.attributes.pop(ARGUMENT_NAMES, None)


def _is_requirement(op: Operation) -> bool:
    return isinstance(op, FlyOp) and op.spec.name == "require"


def _move(function: Operation, found: list[Operation], launches: list[Operation]) -> None:
    sites = [_Launch(launch, function) for launch in launches if found and _launches(launch, function)]
    for op in found:
        if function.name != "gpu.func":
            _insert(_call(op, list(op.operands)), op)
        for site in sites:
            site.check(op)
        op.detach()
        op.erase(safe_erase=False)


def _launches(launch: Operation, kernel: Operation) -> bool:
    called, name = launch.properties["kernel"], kernel.attributes.get("sym_name", kernel.properties.get("sym_name"))
    assert isinstance(called, SymbolRefAttr) and isinstance(name, StringAttr)
    return called.nested_references.data[-1].data == name.data


def _declare(module: Operation, hosts: list[Operation]) -> None:
    known = set()
    for op in (op for function in hosts for op in walked(function)):
        callee = op.properties.get("callee") if op.name == "llvm.call" else None
        if isinstance(callee, SymbolRefAttr) and callee.root_reference.data.startswith(REQUIRES):
            known.add((callee.root_reference.data, tuple(operand.type for operand in op.operands)))
    for symbol, types in sorted(known):
        module.regions[0].blocks[0].add_op(native_declaration(symbol, types, None))
