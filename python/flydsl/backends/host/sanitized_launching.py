"""Launching sanitized kernels: block after block through the checker."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Operation, SSAValue

from flydsl.backends.host.memory_roots import RootFinder
from flydsl.backends.host.workgroup import KernelInfo
from flydsl.backends.launcher import Launch, argument_leaves
from flydsl.base import native_names as names
from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.llvm_types import address_space
from flydsl.native.constants import ROOT_MOST


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
        """Which array argument of the jit function a pointer comes from; -1 when it cannot be seen."""
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
