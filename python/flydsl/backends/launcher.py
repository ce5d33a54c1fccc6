"""The jit function as native code: unpack the argument block, compute grids, launch.

Every device has this in common; how one launch is made is the device's `Launching`.

    i32 fly_entry(ptr block, ptr report)

``block`` holds the call's arguments one after the other, aligned as C would; ``report`` takes the
extents of a launch that failed and which launch it was. The status is 0, or one of the codes below,
or one that a kernel returned. Where arguments are checked, ``fly_check`` is the same code without launches.
"""

from __future__ import annotations

import struct
from typing import Protocol

from xdsl.dialects.builtin import StringAttr, SymbolRefAttr
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, Operation, SSAValue

from flydsl.backends import tensor_maps
from flydsl.base.errors import LoweringError
from flydsl.base.native_names import (
    BAD_BLOCK,
    BAD_CLUSTER,
    BAD_GRID,
    BAD_LAYOUT,
    BAD_RESIDENT,
    BAD_SHARED,
    CHECK,
    ENTRY,
)
from flydsl.base.records import dataclass
from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.llvm_types import address_space, type_text
from flydsl.codegen.module_emitter import ModuleEmitter
from flydsl.dialects.fly.payload import CHECKED_MESSAGE, COOPERATIVE, DEPENDENT_LAUNCH, RESIDENT, SHARED_RANGE
from flydsl.dialects.upstream import walked
from flydsl.passes.shared.launch_conditions import REQUIRES
from flydsl.passes.shared.walk import functions, location_of
from flydsl.target.target import Target


def argument_leaves(type_: Attribute) -> list[Attribute]:
    """Return the scalars an argument is packed as."""
    return list(type_.types.data) if isinstance(type_, LLVMStructType) else [type_]


Site = tuple[str, int, str]
"""(file, line, message): a place that a failing launch or kernel can name."""


@dataclass(frozen=True)
class HostModule:
    """LLVM text of host code, and the places that a failing launch or kernel can name."""

    text: str
    sites: tuple[Site, ...]
    prints: bool = False


def site_of(op: Operation, message: str = "") -> Site:
    """Return the place of an operation. One operation may be several, with a message each."""
    place = location_of(op)
    return (place.file if place else "", place.line if place else 0, message)


@dataclass(frozen=True)
class Launch:
    """One launch as texts of the launcher: extents, bytes of dynamic shared memory, argument table, stream."""

    kernel: str
    dims: list[str]
    shared_bytes: str
    arguments: str
    stream: str
    operands: tuple[SSAValue, ...] = ()
    """The values behind ``arguments``."""
    dependent: bool = False
    """Whether it may begin before the launch in front of it on the stream has ended."""
    cooperative: bool = False
    """Whether it begins when all of its blocks can."""


class Launching(Protocol):
    """How a device launches a kernel from native code. ``tensor_map_entry`` names the global that holds the driver's
    encoder of tensor maps; None where the maps are our own."""

    tensor_map_entry: str | None

    def declare(self, module: ModuleEmitter) -> None:
        """Declare what `call` uses."""
        ...

    def call(self, body: FunctionEmitter, launch: Launch) -> str:
        """Write the launch; the name of its i32 status, 0 when it went well."""
        ...


def is_parameter_block(type_: Attribute) -> bool:
    """Return whether a kernel parameter is passed by value through the address of a block, as tensor maps are."""
    return isinstance(type_, LLVMPointerType) and address_space(type_) == PARAMETER_SPACE


PARAMETER_SPACE = 101
"""The address space of NVIDIA's kernel parameters."""


def argument_table(body: FunctionEmitter, values: list[SSAValue]) -> str:
    """Return a table of pointers to the arguments, as CUDA, HIP and our host kernels take them."""
    table = body.fresh("args")
    body.entry_line(f"{table} = alloca [{max(len(values), 1)} x ptr], align 8")
    for index, value in enumerate(values):
        if is_parameter_block(value.type):
            place = body.assign(f"getelementptr ptr, ptr {table}, i64 {index}")
            block = body.assign(f"addrspacecast {body.typed(value)} to ptr")
            body.line(f"store ptr {block}, ptr {place}")
            continue
        slot = body.fresh("arg")
        body.entry_line(f"{slot} = alloca {type_text(value.type)}, align 16")
        body.line(f"store {body.typed(value)}, ptr {slot}")
        place = body.assign(f"getelementptr ptr, ptr {table}, i64 {index}")
        body.line(f"store ptr {slot}, ptr {place}")
    return table


_PARAMETERS = "ptr %block, ptr %report"
_BOTH = "fly.check_and_launch"
_REPORTED = 7
"""Numbers of a report: six that say why, and which place of the program."""


def _report_text(symbol: str) -> str:
    """Return a function that writes a report: what is rare is not written out wherever it may come to that."""
    numbers = ", ".join(f"i64 %n{index}" for index in range(_REPORTED))
    text = "".join(
        f"  %p{index} = getelementptr i64, ptr %report, i64 {index}\n  store i64 %n{index}, ptr %p{index}\n"
        for index in range(_REPORTED)
    )
    return f"define internal void {symbol}(ptr %report, {numbers}) cold noinline nounwind {{\n{text}  ret void\n}}"


class LauncherEmitter:
    """Writes the host function of a module, and beside it one that only checks arguments, where any are checked."""

    def __init__(
        self, module: ModuleEmitter, op: Operation, offsets: list[int], target: Target, launching: Launching,
        sites: list[Site],
    ) -> None:  # fmt: skip
        self.module = module
        self.op = op
        self.offsets = offsets
        self.target = target
        self.launching = launching
        self.sites = sites
        self.launches = "%launches" if any(inner.name == "llvm.call" for inner in walked(op)) else "true"
        self.body = module.new_function()
        self.body.rules = {**module.rules, "gpu.launch_func": self._launch, "func.return": self._return,
                           "llvm.call": self._call}  # fmt: skip

    def emit(self) -> None:
        module = self.module
        self.launching.declare(module)
        block = self.op.regions[0].blocks[0]
        self._unpack(block.args)
        last = self.body.emit_block_body(block)
        self.body.emit_op(last)
        if self.launches == "true":
            module.add_function(ENTRY, f"define i32 @{ENTRY}({_PARAMETERS}) nounwind", self.body)
            return
        head = f"define internal i32 @{_BOTH}({_PARAMETERS}, i1 {self.launches}) nounwind"
        module.add_function(_BOTH, head, self.body)
        for symbol, launches in ((ENTRY, "true"), (CHECK, "false")):
            call = f"  %status = tail call i32 @{_BOTH}({_PARAMETERS}, i1 {launches})\n  ret i32 %status"
            module.scope.add_function(symbol, f"define i32 @{symbol}({_PARAMETERS}) nounwind {{\n{call}\n}}")

    def _unpack(self, arguments: object) -> None:
        offsets = iter(self.offsets)
        body = self.body
        for argument in arguments:  # type: ignore[attr-defined]
            leaves = [self._leaf(leaf, next(offsets)) for leaf in argument_leaves(argument.type)]
            if not isinstance(argument.type, LLVMStructType):
                body.bind(argument, leaves[0])
                continue
            struct, value = type_text(argument.type), "poison"
            for index, (leaf, type_) in enumerate(zip(leaves, argument.type.types.data, strict=True)):
                value = body.assign(f"insertvalue {struct} {value}, {type_text(type_)} {leaf}, {index}")
            body.bind(argument, value)

    def _leaf(self, type_: Attribute, offset: int) -> str:
        body = self.body
        place = body.assign(f"getelementptr i8, ptr %block, i64 {offset}")
        text = type_text(type_)
        if text == "i1":
            return body.assign(f"trunc i8 {body.assign(f'load i8, ptr {place}')} to i1")
        return body.assign(f"load {text}, ptr {place}")

    def _return(self, body: FunctionEmitter, op: Operation) -> None:
        body.line("ret i32 0")

    def _call(self, body: FunctionEmitter, op: Operation) -> None:
        """A native function that this module defines itself: one that checks, or one that makes a tensor map."""
        callee = op.properties["callee"]
        assert isinstance(callee, SymbolRefAttr)
        if callee.root_reference.data.startswith(REQUIRES):
            self._require(body, op)
            return
        self.sites.append(site_of(op, tensor_maps.tensor_text(op)))
        made = tensor_maps.emit(self.module, body, op, self.launching.tensor_map_entry, self.launches)
        self._leave_if(body, body.assign(f"icmp ne i32 {made.status}, 0"), made.status, [*made.numbers, *["0"] * 4])
        body.bind(op.results[0], body.assign(f"addrspacecast ptr {made.block} to {type_text(op.results[0].type)}"))

    def _require(self, body: FunctionEmitter, op: Operation) -> None:
        """Leave unless the first operand is true; the others are the numbers of the report."""
        message = op.attributes[CHECKED_MESSAGE]
        assert isinstance(message, StringAttr)
        self.sites.append(site_of(op, message.data))
        truth, *numbers = (body.operand(operand) for operand in op.operands)
        self._leave_if(body, body.assign(f"xor i1 {truth}, true"), str(BAD_LAYOUT), [*numbers, *["0"] * 6])

    # Launching ---------------------------------------------------------------------------------

    def _launch(self, body: FunctionEmitter, op: Operation) -> None:
        sizes = list(op.properties["operandSegmentSizes"].get_values())  # type: ignore[union-attr]
        dims = [body.operand(o) for o in op.operands[:6]]
        first = sum(sizes[:11])
        arguments = op.operands[first : first + sizes[11]]
        self.sites.append(site_of(op))
        self._check(body, dims)
        if sizes[7]:
            self._check_clusters(body, dims, [body.operand(o) for o in op.operands[6:9]])
        if RESIDENT in op.attributes and self.target.processors:
            blocks = body.assign(f"mul i64 {body.assign(f'mul i64 {dims[0]}, {dims[1]}')}, {dims[2]}")
            many = body.assign(f"icmp ugt i64 {blocks}, {self.target.processors}")
            self._leave_if(body, many, str(BAD_RESIDENT), [blocks, str(self.target.processors), *["0"] * 4])
        smem = "0"
        if sizes[10]:
            smem = body.assign(f"sext {body.typed(op.operands[6 + sum(sizes[7:10])])} to i64")
            self._check_shared(body, op, smem)
        kernel = op.properties["kernel"]
        assert isinstance(kernel, SymbolRefAttr)
        launching, done = body.fresh_label("launch"), body.fresh_label("done")
        body.branch_if(self.launches, launching, done)
        body.start_block(launching)
        stream = body.operand(op.operands[first + sizes[11]]) if sizes[12] else "null"
        launch = Launch(
            kernel=kernel.nested_references.data[-1].data,
            dims=dims,
            shared_bytes=smem,
            arguments=argument_table(body, list(arguments)),
            stream=stream,
            operands=tuple(arguments),
            dependent=DEPENDENT_LAUNCH in op.attributes,
            cooperative=COOPERATIVE in op.attributes,
        )
        status = self.launching.call(body, launch)
        self._leave_if(body, body.assign(f"icmp ne i32 {status}, 0"), status, dims)
        body.branch(done)
        body.start_block(done)

    def _check(self, body: FunctionEmitter, dims: list[str]) -> None:
        """Refuse extents known only now that no device could launch."""
        # Negative numbers are large ones to an unsigned comparison.
        bad_grid = [
            body.assign(f"icmp ugt i64 {d}, {most}")
            for d, most in zip(dims[:3], self.target.max_grid, strict=True)
            if not d.isdigit()
        ]
        self._refuse(body, bad_grid, BAD_GRID, dims)
        if all(d.isdigit() for d in dims[3:]):
            return
        bad_block = [body.assign(f"icmp slt i64 {d}, 1") for d in dims[3:]]
        threads = body.assign(f"mul i64 {dims[3]}, {dims[4]}")
        threads = body.assign(f"mul i64 {threads}, {dims[5]}")
        bad_block.append(body.assign(f"icmp sgt i64 {threads}, {self.target.max_block_threads}"))
        bad_block.append(body.assign(f"icmp sgt i64 {dims[5]}, {self.target.max_block[2]}"))
        self._refuse(body, bad_block, BAD_BLOCK, dims)

    def _check_clusters(self, body: FunctionEmitter, dims: list[str], cluster: list[str]) -> None:
        """Refuse a grid known only now that is no whole number of clusters."""
        rests = [
            body.assign(f"urem i64 {extent}, {step}")
            for extent, step in zip(dims[:3], cluster, strict=True)
            if step != "1" and not extent.isdigit()
        ]
        self._refuse(body, [body.assign(f"icmp ne i64 {rest}, 0") for rest in rests], BAD_CLUSTER, dims)

    def _check_shared(self, body: FunctionEmitter, op: Operation, smem: str) -> None:
        """Refuse bytes of shared memory known only now that the kernel or the device cannot do with."""
        bounds = op.attributes.get(SHARED_RANGE)
        if not isinstance(bounds, StringAttr):
            return
        least, most = bounds.data.split(",")
        bad = [body.assign(f"icmp slt i64 {smem}, {least}"), body.assign(f"icmp sgt i64 {smem}, {most}")]
        self._refuse(body, bad, BAD_SHARED, [smem, least, most, "0", "0", "0"])

    def _refuse(self, body: FunctionEmitter, conditions: list[str], code: int, dims: list[str]) -> None:
        if not conditions:
            return
        bad = conditions[0]
        for condition in conditions[1:]:
            bad = body.assign(f"or i1 {bad}, {condition}")
        self._leave_if(body, bad, str(code), dims)

    def _leave_if(self, body: FunctionEmitter, condition: str, status: str, dims: list[str]) -> None:
        stop, on = body.fresh_label("stop"), body.fresh_label("on")
        body.branch_if(condition, stop, on)
        body.start_block(stop)
        numbers = [*dims[: _REPORTED - 1], str(len(self.sites) - 1)]
        report = self.module.scope.helper("fly.report", _report_text)
        body.line(f"call void {report}(ptr %report, {', '.join(f'i64 {number}' for number in numbers)})")
        body.line(f"ret i32 {status}")
        body.start_block(on)


def field_offsets(formats: str) -> list[int]:
    """Byte offset of each field of a `struct` format in C's native layout."""
    offsets = []
    for index in range(len(formats)):
        before = struct.calcsize("@" + formats[: index + 1]) - struct.calcsize("@" + formats[index])
        offsets.append(before)
    return offsets


_ACCESSES = {"llvm.load": 0, "llvm.store": 1, "llvm.atomicrmw": 0, "llvm.cmpxchg": 0}
"""Access to the operand that is its pointer."""
_GLOBAL_SPACE = 1


def _refuse_device_memory(function: Operation) -> None:
    """A jit function runs on the processor, where an address of a GPU's memory leads nowhere."""
    for op in walked(function):
        if op.name in _ACCESSES and address_space(op.operands[_ACCESSES[op.name]].type) == _GLOBAL_SPACE:
            raise LoweringError(
                "a jit function runs on the host and cannot read or write a tensor on the GPU",
                hint="do it in a kernel, or pass the number as an argument",
                location=location_of(op),
            )


def launcher_module(
    module: Operation, target: Target, argument_format: str, launching: Launching, triple: str
) -> HostModule:
    """Return the host functions of a module alone, for devices whose kernels are compiled apart."""
    emitter = ModuleEmitter(triple=triple)
    sites: list[Site] = []
    for function in functions(module):
        if function.name != "gpu.func":
            _refuse_device_memory(function)
            LauncherEmitter(emitter, function, field_offsets(argument_format), target, launching, sites).emit()
    return HostModule(emitter.text(), tuple(sites))
