"""A module of upstream dialects to one LLVM text.

Walks the functions and globals of a module (nested modules too) and writes each with the rules of every
dialect here plus those a backend adds or replaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from flydsl.base.lazy import lazy_module
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.function_signature import head_text, linkage_word, signature_of
from flydsl.codegen.llvm_types import type_text
from flydsl.codegen.module_scope import ModuleScope, symbol_text
from flydsl.codegen.reading.literals import literal, quoted
from flydsl.codegen.reading.op_view import fail, flag_prop, int_prop, op_name, prop, text_prop
from flydsl.codegen.rules import (
    rules_arith,
    rules_cast,
    rules_cf,
    rules_llvm,
    rules_llvm_memory,
    rules_math,
    rules_scf,
    rules_vector,
)

if TYPE_CHECKING:
    from flydsl.codegen import debug_info
else:
    debug_info = lazy_module("flydsl.codegen.debug_info")


DEFAULT_RULES: Mapping[str, Rule] = {
    **rules_arith.RULES,
    **rules_cast.RULES,
    **rules_math.RULES,
    **rules_vector.RULES,
    **rules_scf.RULES,
    **rules_cf.RULES,
    **rules_llvm.RULES,
    **rules_llvm_memory.RULES,
}

_FUNCTIONS = frozenset({"func.func", "llvm.func", "gpu.func"})
_CONTAINERS = frozenset({"builtin.module", "gpu.module"})
# Ops that say something about the module to MLIR alone.
_IGNORED = frozenset({"gpu.module_end", "llvm.module_flags", "llvm.comdat"})


class ModuleEmitter:
    """Collects functions and globals into one LLVM text.

    ``extra_rules`` come before the default ones, so a backend can both add ops (``gpu.thread_id``) and
    replace how one is written (``arith.truncf`` to fp8 with a hardware conversion).
    """

    def __init__(
        self,
        triple: str = "",
        data_layout: str = "",
        extra_rules: Mapping[str, Rule] | None = None,
        line_tables: bool = False,
    ) -> None:
        self.scope = ModuleScope(triple, data_layout)
        self.rules: dict[str, Rule] = {**DEFAULT_RULES, **(extra_rules or {})}
        self.debug: debug_info.DebugInfo | None = None
        if line_tables:  # on request only, so the module is not loaded otherwise
            self.debug = debug_info.DebugInfo(self.scope)

    def new_function(self, op: Operation | None = None) -> FunctionEmitter:
        """Return an empty function body that writes into this module; with line tables, that of the function ``op``."""
        if self.debug is None or op is None:
            return FunctionEmitter(self.scope, self.rules)
        return self.debug.function(self.rules, text_prop(op, "sym_name"), op)

    def add_function(self, name: str, head: str, body: FunctionEmitter) -> None:
        """A function written by hand: ``head`` is the text from ``define`` to before the brace."""
        debug = f" !dbg {body.subprogram}" if body.subprogram else ""
        self.scope.add_function(name, f"{head}{debug} {{\n{body.body_text()}\n}}")

    def emit_module(self, module: ModuleOp | Operation) -> None:
        """Everything in a module, nested ones included."""
        for op in module.regions[0].block.ops:
            self.emit_top_level(op)

    def emit_top_level(self, op: Operation) -> None:
        name = op_name(op)
        if name in _FUNCTIONS:
            self.emit_function(op)
        elif name == "llvm.mlir.global":
            self.emit_global(op)
        elif name in _CONTAINERS:
            self.emit_module(op)
        elif name not in _IGNORED:
            fail(op, "this op cannot stand at the top of a module")

    def emit_function(self, op: Operation) -> None:
        """A function with a body, or a declaration."""
        name = signature_of(op).name
        region = op.regions[0] if op.regions else None
        if region is None or not region.blocks:
            self.scope.add_declaration(name, head_text(op, self.scope, None))
            return
        body = self.new_function(op)
        names: list[str] = []
        for argument in region.blocks[0].args:
            text = body.fresh(argument.name_hint or "arg")
            body.bind(argument, text)
            names.append(text)
        body.emit_region(region)
        self.add_function(name, head_text(op, self.scope, names), body)

    def emit_global(self, op: Operation) -> None:
        """A global variable or constant; one without a value and not external starts undefined."""
        name, type_, value = text_prop(op, "sym_name"), prop(op, "global_type"), prop(op, "value")
        word = linkage_word(op)
        if type_ is None:
            fail(op, "the global has no type")
        initial = literal(value, type_) if value is not None else self._region_value(op)
        if initial is None and word != "external":
            initial = "poison"
        space = int_prop(op, "addr_space")
        words = [] if word == "external" and initial is not None else [word]
        words += ["thread_local"] if flag_prop(op, "thread_local_") else []
        words += [{1: "local_unnamed_addr", 2: "unnamed_addr"}.get(int_prop(op, "unnamed_addr"), "")]
        words += [f"addrspace({space})"] if space else []
        words += ["constant" if flag_prop(op, "constant") else "global", type_text(type_), initial or ""]
        text = " ".join(part for part in words if part)
        section, align = text_prop(op, "section"), int_prop(op, "alignment")
        text += f', section "{quoted(section.encode())}"' if section else ""
        self.scope.add_global(name, text + (f", align {align}" if align else ""))

    def _region_value(self, op: Operation) -> str | None:
        """Return the initial value computed by a global's region, as far as it is made of constants."""
        if not op.regions or not op.regions[0].blocks:
            return None
        scratch = self.new_function()
        last = scratch.emit_block_body(op.regions[0].block)
        if scratch.lines:
            fail(op, "the initial value is not a constant")
        return scratch.operand(last.operands[0])

    def text(self) -> str:
        """Return the module's LLVM text."""
        return self.scope.text()


def emit_module_text(
    module: ModuleOp, triple: str = "", data_layout: str = "", extra_rules: Mapping[str, Rule] | None = None
) -> str:
    """Return the LLVM text of a module, in one step."""
    emitter = ModuleEmitter(triple, data_layout, extra_rules)
    emitter.emit_module(module)
    return emitter.text()


__all__ = ["DEFAULT_RULES", "ModuleEmitter", "emit_module_text", "symbol_text"]
