"""Launching on a GPU: the driver's own entry, called directly from the native launcher.

`cuLaunchKernel` and `hipModuleLaunchKernel` take the same arguments. A launch with attributes takes them in a block
instead, which `cuLaunchKernelEx` is given. The loader stores the driver's entries and the handle of each kernel in
globals of the launcher before its first call.
"""

from __future__ import annotations

from flydsl.backends.launcher import Launch
from flydsl.base.native_names import DRIVER_ATTRIBUTES_ENTRY, DRIVER_BASE, DRIVER_ENTRY, TENSOR_MAP_ENTRY, handle_symbol
from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.module_emitter import ModuleEmitter
from flydsl.codegen.module_scope import ModuleScope, symbol_text

_CONFIG = "{ i32, i32, i32, i32, i32, i32, i32, ptr, ptr, i32 }"
"""CUlaunchConfig: grid, block, bytes of shared memory, stream, attributes and how many there are."""
_ATTRIBUTE = "{ i32, i32, [8 x i64] }"
"""CUlaunchAttribute: which one, filling, and a value of up to 64 bytes."""
_STREAM_SERIALIZATION, _COOPERATIVE = 6, 2
"""CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: 1 lets a launch begin before the one in front has ended; and
CU_LAUNCH_ATTRIBUTE_COOPERATIVE: 1 has it begin when all of its blocks can."""


class DriverLaunching:
    """Calls the driver through a pointer; an empty grid launches nothing."""

    tensor_map_entry: str | None = TENSOR_MAP_ENTRY

    def __init__(self, kernels: list[str]) -> None:
        self.kernels = kernels
        self._scope: ModuleScope | None = None

    def declare(self, module: ModuleEmitter) -> None:
        self._scope = module.scope
        for name in (DRIVER_ENTRY, *map(handle_symbol, self.kernels)):
            self._declare_pointer(name)

    def _declare_pointer(self, name: str) -> None:
        assert self._scope is not None
        self._scope.add_global(name, "global ptr null, align 8")

    def call(self, body: FunctionEmitter, launch: Launch) -> str:
        go, skip, before = body.fresh_label("launch"), body.fresh_label("launched"), body.current_label
        total = body.assign(f"mul i64 {body.assign(f'mul i64 {launch.dims[0]}, {launch.dims[1]}')}, {launch.dims[2]}")
        body.branch_if(body.assign(f"icmp eq i64 {total}, 0"), skip, go)
        body.start_block(go)
        handle = body.assign(f"load ptr, ptr {symbol_text(handle_symbol(launch.kernel))}")
        dims = [body.assign(f"trunc i64 {d} to i32") for d in [*launch.dims, launch.shared_bytes]]
        asked = ((_STREAM_SERIALIZATION, launch.dependent), (_COOPERATIVE, launch.cooperative))
        attributes = [number for number, wanted in asked if wanted]
        if attributes:
            code = self._with_attributes(body, launch, handle, dims, attributes)
        else:
            code = self._plainly(body, launch, handle, dims)
        failed = body.assign(f"icmp ne i32 {code}, 0")
        moved = body.assign(f"add i32 {code}, {DRIVER_BASE}")
        status = body.assign(f"select i1 {failed}, i32 {moved}, i32 0")
        body.branch(skip)
        body.start_block(skip)
        return body.assign(f"phi i32 [ 0, %{before} ], [ {status}, %{go} ]")

    def _plainly(self, body: FunctionEmitter, launch: Launch, handle: str, dims: list[str]) -> str:
        entry = body.assign(f"load ptr, ptr @{DRIVER_ENTRY}")
        numbers = ", ".join(f"i32 {d}" for d in dims)
        return body.assign(
            f"call i32 {entry}(ptr {handle}, {numbers}, ptr {launch.stream}, ptr {launch.arguments}, ptr null)"
        )

    def _with_attributes(
        self, body: FunctionEmitter, launch: Launch, handle: str, dims: list[str], attributes: list[int]
    ) -> str:
        """Launch with attributes, all of which have the value 1."""
        self._declare_pointer(DRIVER_ATTRIBUTES_ENTRY)
        entry = body.assign(f"load ptr, ptr @{DRIVER_ATTRIBUTES_ENTRY}")
        block, config = body.fresh("attributes"), body.fresh("config")
        blocks = f"[{len(attributes)} x {_ATTRIBUTE}]"
        body.entry_line(f"{block} = alloca {blocks}, align 8")
        body.entry_line(f"{config} = alloca {_CONFIG}, align 8")
        body.line(f"store {blocks} zeroinitializer, ptr {block}")
        for place, number in enumerate(attributes):
            attribute = body.assign(f"getelementptr {_ATTRIBUTE}, ptr {block}, i32 {place}")
            for index, value in ((0, number), (2, 1)):
                _store(body, _ATTRIBUTE, attribute, index, f"i32 {value}")
        fields = [*(f"i32 {d}" for d in dims), f"ptr {launch.stream}", f"ptr {block}", f"i32 {len(attributes)}"]
        for index, field in enumerate(fields):
            _store(body, _CONFIG, config, index, field)
        return body.assign(f"call i32 {entry}(ptr {config}, ptr {handle}, ptr {launch.arguments}, ptr null)")


def _store(body: FunctionEmitter, block: str, place: str, index: int, value: str) -> None:
    field = body.assign(f"getelementptr {block}, ptr {place}, i32 0, i32 {index}")
    body.line(f"store {value}, ptr {field}")
