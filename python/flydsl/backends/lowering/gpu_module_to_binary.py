"""gpu-module-to-binary: a gpu module of the llvm dialect becomes code for its targets.

Option ``format``: ``bin`` (a linked code object; PTX for NVIDIA), ``fatbin`` (the same, as upstream's default object),
``isa`` (assembly) or ``llvm`` (LLVM text, also called ``offloading``).

    gpu.module @kernels [#rocdl.target<chip = "gfx942">] { … }
 -> gpu.binary @kernels [#gpu.object<#rocdl.target<chip = "gfx942">, bin = "…">]
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, BytesAttr, StringAttr
from xdsl.ir import Attribute, Operation

from flydsl.backends.cuda import compile as cuda_compile
from flydsl.backends.rocm import compile as rocm_compile
from flydsl.base.errors import LoweringError
from flydsl.dialects.gpu_syntax import TARGETS, BinaryOp
from flydsl.dialects.gpu_targets import NvvmTargetAttr, ObjectAttr, RocdlTargetAttr
from flydsl.passes.ensure_debug_info_scope_on_llvm_func import has_debug_scope
from flydsl.passes.shared.llvm_conversion import remove
from flydsl.passes.shared.walk import functions, gpu_modules
from flydsl.target.target import parse_target

FORMATS = ("bin", "fatbin", "isa", "llvm", "offloading", "assembly", "binary")
_SAME = {"offloading": "llvm", "assembly": "isa", "binary": "bin"}
"""Upstream's longer words."""


def gpu_module_to_binary(module: Operation, format: str = "bin") -> None:
    """Run the pass on a module."""
    if format not in FORMATS:
        raise LoweringError(f"gpu-module-to-binary makes {', '.join(FORMATS)}, not '{format}'")
    format = _SAME.get(format, format)
    for op in gpu_modules(module):
        targets = op.attributes.get(TARGETS)
        if not isinstance(targets, ArrayAttr):
            raise LoweringError("a gpu module without targets has no binary", hint="run rocdl-attach-target before")
        objects = [_object(op, target, format) for target in targets]
        binary = BinaryOp.create(properties={"sym_name": op.properties["sym_name"], "objects": ArrayAttr(objects)})
        binary.location = op.location
        assert op.parent is not None
        op.parent.insert_op_before(binary, op)
        remove(op)


def _object(op: Operation, target: Attribute, format: str) -> ObjectAttr:
    if not isinstance(target, (RocdlTargetAttr, NvvmTargetAttr)):
        raise LoweringError(f"no code is made for the target {target}")
    if isinstance(target, RocdlTargetAttr):
        kind, data = _rocm_code(op, target, format)
    else:
        kind, data = _cuda_code(op, target, format)
    return ObjectAttr(target, StringAttr(kind), BytesAttr(data))


def _line_tables(op: Operation) -> bool:
    return any(has_debug_scope(function) for function in functions(op))


def _rocm_code(op: Operation, attr: RocdlTargetAttr, format: str) -> tuple[str, bytes]:
    target, level = parse_target(attr.text("chip")), attr.number("O", 2)
    text = rocm_compile.converted_text(op, target, _line_tables(op))
    if format == "llvm":
        return "offload", text.encode()
    if format == "isa":
        return "assembly", rocm_compile.isa_of(text, target, level).encode()
    return format, rocm_compile.begin_code_object(text, target, level).result()


def _cuda_code(op: Operation, attr: NvvmTargetAttr, format: str) -> tuple[str, bytes]:
    target, level = parse_target(attr.text("chip")), attr.number("O", 2)
    text = cuda_compile.converted_text(op, target, _line_tables(op))
    if format == "llvm":
        return "offload", text.encode()
    return "assembly", cuda_compile.ptx_of(text, target, level).encode()
