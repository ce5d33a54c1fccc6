"""A kernel as a function that runs one workgroup on the host.

    i32 kernel(ptr args, i64 bx, i64 by, i64 bz, ptr dims, ptr scratch)

``args`` points to one pointer per argument, ``dims`` to grid and block extents. Threads that do not
communicate become one loop nest, x innermost, which LLVM vectorises.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Operation

from flydsl.base.errors import LoweringError
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import type_text
from flydsl.codegen.module_emitter import ModuleEmitter
from flydsl.codegen.module_scope import symbol_text
from flydsl.passes.source_location import located

AXES = ("x", "y", "z")


class KernelEmitter:
    """Writes one kernel."""

    def __init__(self, module: ModuleEmitter, op: Operation) -> None:
        self.module = module
        self.op = op
        self.block = op.regions[0].blocks[0]
        self.body = module.new_function()
        self.body.rules = {**module.rules, **self._index_rules()}
        self.extents: dict[str, str] = {}
        self.thread: dict[str, str] = {}

    # Indices -----------------------------------------------------------------------------------

    def _index_rules(self) -> Mapping[str, Rule]:
        def reader(table: str) -> Rule:
            def rule(emitter: FunctionEmitter, op: Operation) -> None:
                axis = op.properties["dimension"].data.value  # type: ignore[union-attr]
                emitter.bind(op.results[0], self._index(table, axis))

            return rule

        return {
            "gpu.thread_id": reader("thread"),
            "gpu.block_id": reader("block"),
            "gpu.block_dim": reader("block_dim"),
            "gpu.grid_dim": reader("grid_dim"),
        }

    def _index(self, table: str, axis: str) -> str:
        if table == "thread":
            return self.thread[axis]
        if table == "block":
            return f"%b{axis}"
        return self.extents[f"{table}.{axis}"]

    # Emission ----------------------------------------------------------------------------------

    def emit(self) -> str:
        """Write the function; its symbol."""
        name = self.op.attributes["sym_name"].data  # type: ignore[union-attr]
        self._load_arguments()
        self._load_extents()
        self._thread_loops()
        self.body.line("ret i32 0")
        head = f"define i32 {symbol_text(name)}(ptr %args, i64 %bx, i64 %by, i64 %bz, ptr %dims, ptr %scratch) nounwind"
        self.module.add_function(name, head, self.body)
        return name

    def _load_arguments(self) -> None:
        for index, argument in enumerate(self.block.args):
            slot = self.body.assign(f"getelementptr ptr, ptr %args, i64 {index}")
            place = self.body.assign(f"load ptr, ptr {slot}")
            self.body.bind(argument, self.body.assign(f"load {type_text(argument.type)}, ptr {place}"))

    def _load_extents(self) -> None:
        known = self.op.attributes.get("gpu.known_block_size")
        sizes = list(known.get_values()) if isinstance(known, DenseArrayBase) else None
        for index, axis in enumerate(AXES):
            for offset, table in ((0, "grid_dim"), (3, "block_dim")):
                if table == "block_dim" and sizes is not None:
                    self.extents[f"{table}.{axis}"] = str(sizes[index])
                else:
                    slot = self.body.assign(f"getelementptr i64, ptr %dims, i64 {index + offset}")
                    self.extents[f"{table}.{axis}"] = self.body.assign(f"load i64, ptr {slot}")

    def _thread_loops(self) -> None:
        """z around y around x; axes of extent 1 need no loop."""
        self._loop_over(("z", "y", "x"))

    def _loop_over(self, axes: tuple[str, ...]) -> None:
        if not axes:
            self._thread_body()
            return
        axis, rest = axes[0], axes[1:]
        extent = self.extents[f"block_dim.{axis}"]
        if extent == "1":
            self.thread[axis] = "0"
            self._loop_over(rest)
            return
        body = self.body
        before, head, after = body.current_label, body.fresh_label(f"t{axis}"), body.fresh_label(f"t{axis}.end")
        body.branch(head)
        body.start_block(head)
        slot, name = body.reserve_line(), body.fresh(f"t{axis}")
        self.thread[axis] = name
        self._loop_over(rest)
        following = body.assign(f"add nuw nsw i64 {name}, 1")
        again = body.assign(f"icmp ult i64 {following}, {extent}")
        body.fill_phi(slot, name, "i64", [("0", before), (following, body.current_label)])
        body.branch_if(again, head, after)
        body.start_block(after)

    def _thread_body(self) -> None:
        last = self.block.last_op
        if len(self.op.regions[0].blocks) != 1 or last is None:
            raise located(LoweringError("host lowering starts from structured control flow"), self.op)
        self.body.emit_block_body(self.block)
