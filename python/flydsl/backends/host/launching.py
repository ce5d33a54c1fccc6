"""Launching on the host: through the thread pool, with scratch for each workgroup."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Operation, SSAValue

from flydsl.backends.host.fibers import block_stride
from flydsl.backends.host.memory_roots import RootFinder
from flydsl.backends.host.waiting import CERTAINLY
from flydsl.backends.host.workgroup import KernelInfo
from flydsl.backends.launcher import Launch, argument_leaves
from flydsl.base import native_names as names
from flydsl.base.native_names import POOL_LAUNCH, RESIDENT_LAUNCH
from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.llvm_types import address_space
from flydsl.codegen.module_emitter import ModuleEmitter
from flydsl.codegen.module_scope import symbol_text
from flydsl.native.constants import DIMS_WORDS, ROOT_MOST

# Launching sanitized kernels: block after block through the checker ---------------------------


class SanitizedLaunching:
    """Calls the checker's launch, which first learns what each pointer argument may reach."""

    def __init__(self, arrays: list[dict[str, Any]], wave_size: int) -> None:
        self.rows = {array["leaf"]: row for row, array in enumerate(arrays)}
        self.wave_shift = wave_size.bit_length() - 1

    def call(
        self, body: FunctionEmitter, launch: Launch, info: KernelInfo, symbol: str, table: str, scratch: str
    ) -> str:
        for index, value in enumerate(launch.operands[:ROOT_MOST]):
            text, row = "null", -1
            if isinstance(value.type, LLVMPointerType):
                text, row = body.operand(value), self._row(value)
                if address_space(value.type):
                    text = body.assign(f"addrspacecast {body.typed(value)} to ptr")
            body.line(f"call void @{names.SANITIZER_ROOT}(i64 {index}, ptr {text}, i64 {row})")
        return body.assign(
            f"call i32 @{names.SANITIZER_LAUNCH}(ptr {symbol}, ptr {launch.arguments}, ptr {table}, i64 {scratch}, "
            f"i64 {info.shared_bytes}, i64 {self.wave_shift})"
        )

    def _row(self, value: SSAValue) -> int:
        """Return which array argument of the jit function a pointer comes from; -1 when it cannot be seen."""
        entry = _entry_block(value)
        root = RootFinder(entry).root(value)
        if root.space != "argument":
            return -1
        leaf = sum(len(argument_leaves(argument.type)) for argument in entry.args[: root.key])
        return self.rows.get(leaf, -1)


def _entry_block(value: SSAValue) -> Any:
    block = value.owner if not isinstance(value.owner, Operation) else value.owner.parent
    while (around := block.parent_op()) is not None and around.name not in ("func.func", "gpu.func"):  # type: ignore[union-attr]
        block = around.parent
    return block.parent.blocks[0]  # type: ignore[union-attr]


class HostLaunching:
    """Calls `fly_host_launch` with the kernel's function."""

    tensor_map_entry: str | None = None

    def __init__(self, kernels: Mapping[str, KernelInfo], sanitized: SanitizedLaunching | None = None) -> None:
        self.kernels = kernels
        self.sanitized = sanitized

    def declare(self, module: ModuleEmitter) -> None:
        module.scope.declare(POOL_LAUNCH, "i32", ["ptr", "ptr", "ptr", "i64"])
        module.scope.declare(RESIDENT_LAUNCH, "i32", ["ptr", "ptr", "ptr", "i64", "i32"])

    def call(self, body: FunctionEmitter, launch: Launch) -> str:
        info = self.kernels[launch.kernel]
        table = body.fresh("dims")
        body.entry_line(f"{table} = alloca [{DIMS_WORDS} x i64], align 8")
        for index, number in enumerate([*launch.dims, launch.shared_bytes]):
            place = body.assign(f"getelementptr i64, ptr {table}, i64 {index}")
            body.line(f"store i64 {number}, ptr {place}")
        scratch = _scratch(body, info, launch)
        symbol = symbol_text(info.symbol)
        if self.sanitized is not None:
            return self.sanitized.call(body, launch, info, symbol, table, scratch)
        operands = f"ptr {symbol}, ptr {launch.arguments}, ptr {table}, i64 {scratch}"
        if info.waits:
            return body.assign(f"call i32 @{RESIDENT_LAUNCH}({operands}, i32 {int(info.waits == CERTAINLY)})")
        return body.assign(f"call i32 @{POOL_LAUNCH}({operands})")


def _scratch(body: FunctionEmitter, info: KernelInfo, launch: Launch) -> str:
    """Bytes of scratch one workgroup needs: shared memory and the per-thread arrays."""
    smem, dims = launch.shared_bytes, launch.dims
    if not (info.shared_bytes or info.bytes_per_thread or smem != "0"):
        return "0"
    threads = body.assign(f"mul i64 {body.assign(f'mul i64 {dims[3]}, {dims[4]}')}, {dims[5]}")
    arrays = body.assign(f"mul i64 {threads}, {info.bytes_per_thread}")
    fixed = body.assign(f"add i64 {smem}, {info.shared_bytes + 128}")
    total = body.assign(f"add i64 {fixed}, {arrays}")
    return total if info.blocks == 1 else body.assign(f"mul i64 {block_stride(body, total)}, {info.blocks}")
