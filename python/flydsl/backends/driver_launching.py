"""Launching on a GPU: the driver's own entry, called directly from the native launcher.

`cuLaunchKernel` and `hipModuleLaunchKernel` take the same arguments. The loader stores the driver's
entry and the handle of each kernel in globals of the launcher before its first call.
"""

from __future__ import annotations

from flydsl.backends.launcher import Launch
from flydsl.base.launch_status import DRIVER_BASE
from flydsl.base.native_names import DRIVER_ENTRY, TENSOR_MAP_ENTRY, handle_symbol
from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.module_emitter import ModuleEmitter
from flydsl.codegen.module_scope import symbol_text


class DriverLaunching:
    """Calls the driver through a pointer; an empty grid launches nothing."""

    tensor_map_entry: str | None = TENSOR_MAP_ENTRY

    def __init__(self, kernels: list[str]) -> None:
        self.kernels = kernels

    def declare(self, module: ModuleEmitter) -> None:
        for name in (DRIVER_ENTRY, *map(handle_symbol, self.kernels)):
            module.scope.add_global(name, "global ptr null, align 8")

    def call(self, body: FunctionEmitter, launch: Launch) -> str:
        go, skip, before = body.fresh_label("launch"), body.fresh_label("launched"), body.current_label
        total = body.assign(f"mul i64 {body.assign(f'mul i64 {launch.dims[0]}, {launch.dims[1]}')}, {launch.dims[2]}")
        body.branch_if(body.assign(f"icmp eq i64 {total}, 0"), skip, go)
        body.start_block(go)
        entry = body.assign(f"load ptr, ptr @{DRIVER_ENTRY}")
        handle = body.assign(f"load ptr, ptr {symbol_text(handle_symbol(launch.kernel))}")
        dims = [body.assign(f"trunc i64 {d} to i32") for d in [*launch.dims, launch.shared_bytes]]
        numbers = ", ".join(f"i32 {d}" for d in dims)
        code = body.assign(
            f"call i32 {entry}(ptr {handle}, {numbers}, ptr {launch.stream}, ptr {launch.arguments}, ptr null)"
        )
        failed = body.assign(f"icmp ne i32 {code}, 0")
        moved = body.assign(f"add i32 {code}, {DRIVER_BASE}")
        status = body.assign(f"select i1 {failed}, i32 {moved}, i32 0")
        body.branch(skip)
        body.start_block(skip)
        return body.assign(f"phi i32 [ 0, %{before} ], [ {status}, %{go} ]")
