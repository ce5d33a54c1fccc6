"""The head of a function: linkage, calling convention, argument and function attributes."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IntegerAttr, StringAttr, UnitAttr
from xdsl.dialects.llvm import LinkageAttr, LLVMFunctionType, LLVMVoidType
from xdsl.ir import Attribute, Operation

from flydsl.base.records import dataclass
from flydsl.codegen.llvm_types import results_text, type_text
from flydsl.codegen.module_scope import ModuleScope, symbol_text
from flydsl.codegen.reading.literals import quoted
from flydsl.codegen.reading.op_view import fail, flag_prop, ints_prop, prop, text_prop

# Marks put on a kernel by the GPU passes -> calling convention. ``gpu.kernel`` is left to the backend.
_KERNEL_MARKS: dict[str, str] = {"rocdl.kernel": "amdgpu_kernel", "nvvm.kernel": "ptx_kernel"}

# Attributes upstream's ROCDL and NVVM translations turn into LLVM string attributes.
_STRING_ATTRIBUTES: dict[str, str] = {
    "rocdl.flat_work_group_size": "amdgpu-flat-work-group-size",
    "rocdl.max_flat_work_group_size": "amdgpu-flat-work-group-size",
    "rocdl.waves_per_eu": "amdgpu-waves-per-eu",
    "rocdl.unsafe_fp_atomics": "amdgpu-unsafe-fp-atomics",
    "rocdl.uniform_work_group_size": "uniform-work-group-size",
    "nvvm.maxntid": "nvvm.maxntid",
    "nvvm.reqntid": "nvvm.reqntid",
    "nvvm.minctasm": "nvvm.minctasm",
    "nvvm.maxnreg": "nvvm.maxnreg",
    "nvvm.cluster_dim": "nvvm.cluster_dim",
    "nvvm.cluster_max_blocks": "nvvm.maxclusterrank",
}


@dataclass(frozen=True)
class _NumberedAttribute:
    """An attribute of LLVM that MLIR passes through as a number."""

    text: str
    key: str
    value: str


NO_MEMORY = _NumberedAttribute("memory(none)", "memory", "0")

_ARGUMENT_FLAGS: dict[str, str] = {
    "llvm.noalias": "noalias",
    "llvm.readonly": "readonly",
    "llvm.writeonly": "writeonly",
    "llvm.readnone": "readnone",
    "llvm.noundef": "noundef",
    "llvm.nonnull": "nonnull",
    "llvm.inreg": "inreg",
    "llvm.signext": "signext",
    "llvm.zeroext": "zeroext",
    "llvm.nocapture": "captures(none)",
    "nvvm.grid_constant": '"nvvm.grid_constant"',
}
_ARGUMENT_NUMBERS: dict[str, str] = {"llvm.align": "align {}", "llvm.dereferenceable": "dereferenceable({})"}
_ARGUMENT_TYPES: dict[str, str] = {"llvm.byval": "byval({})", "llvm.byref": "byref({})", "llvm.sret": "sret({})"}


@dataclass(frozen=True)
class Signature:
    """Name and types of a function of either dialect."""

    name: str
    inputs: tuple[Attribute, ...]
    outputs: tuple[Attribute, ...]
    variadic: bool = False


def signature_of(op: Operation) -> Signature:
    """Return the signature of func.func or llvm.func (gpu.func has the same properties)."""
    name, type_ = text_prop(op, "sym_name"), prop(op, "function_type")
    if isinstance(type_, FunctionType):
        return Signature(name, type_.inputs.data, type_.outputs.data)
    if isinstance(type_, LLVMFunctionType):
        outputs = () if isinstance(type_.output, LLVMVoidType) else (type_.output,)
        return Signature(name, type_.inputs.data, outputs, type_.is_variadic)
    fail(op, "the function has no type")


def head_text(op: Operation, scope: ModuleScope, arguments: list[str] | None) -> str:
    """Return the line that opens a definition (given the argument names) or the whole of a declaration."""
    signature = signature_of(op)
    words = ["declare" if arguments is None else "define"]
    words += [linkage_word(op)] if arguments is not None and linkage_word(op) != "external" else []
    convention = next((word for mark, word in _KERNEL_MARKS.items() if flag_prop(op, mark)), None)
    words += [convention] if convention else []
    parameters: list[str] = []
    for position, input_type in enumerate(signature.inputs):
        name = f" {arguments[position]}" if arguments is not None else ""
        parameters.append(f"{type_text(input_type)}{_argument_attributes(op, position)}{name}")
    parameters += ["..."] if signature.variadic else []
    words.append(f"{results_text(signature.outputs)} {symbol_text(signature.name)}({', '.join(parameters)})")
    words.append(scope.attribute_group(_function_attributes(op)))
    words += _attachments(op, scope)
    return " ".join(words)


def linkage_word(op: Operation) -> str:
    """Return the linkage of a function or global; a private func.func is internal."""
    linkage = prop(op, "linkage")
    if isinstance(linkage, LinkageAttr):
        return linkage.linkage.data
    if isinstance(linkage, StringAttr):
        return linkage.data
    return "internal" if text_prop(op, "sym_visibility") == "private" else "external"


def _argument_attributes(op: Operation, position: int) -> str:
    attrs = prop(op, "arg_attrs")
    if not isinstance(attrs, ArrayAttr):
        return ""
    entries = cast("ArrayAttr[DictionaryAttr]", attrs).data[position].data
    words = [word for name, word in _ARGUMENT_FLAGS.items() if name in entries]
    for name, pattern in _ARGUMENT_NUMBERS.items():
        if isinstance(number := entries.get(name), IntegerAttr):
            words.append(pattern.format(number.value.data))
    for name, pattern in _ARGUMENT_TYPES.items():
        if (pointee := entries.get(name)) is not None:
            words.append(pattern.format(type_text(pointee)))
    return "".join(f" {word}" for word in words)


def _function_attributes(op: Operation) -> str:
    """Function attributes. Nothing here throws, so every function is ``nounwind``."""
    words = ["nounwind"]
    words += ["noinline"] if flag_prop(op, "no_inline") else []
    words += ["alwaysinline"] if flag_prop(op, "always_inline") else []
    words += ["noinline", "optnone"] if flag_prop(op, "optimize_none") else []
    for name, key in _STRING_ATTRIBUTES.items():
        if (attr := prop(op, name)) is not None:
            words.append(f'"{key}"="{_attribute_value(op, name, attr)}"')
    for name, key in (("target_cpu", "target-cpu"), ("tune_cpu", "tune-cpu")):
        words += [f'"{key}"="{text}"'] if (text := text_prop(op, name)) else []
    return " ".join(dict.fromkeys([*words, *_passthrough(op)]))


def _attribute_value(op: Operation, name: str, attr: Attribute) -> str:
    if isinstance(attr, StringAttr):
        return quoted(attr.data.encode())
    if isinstance(attr, IntegerAttr):
        number = attr.value.data
        if attr.type == IntegerAttr.from_bool(True).type:
            return "true" if number else "false"
        return f"1,{number}" if name == "rocdl.max_flat_work_group_size" else str(number)
    if isinstance(attr, UnitAttr):
        return "true"
    return ",".join(map(str, ints_prop(op, name)))


def _passthrough(op: Operation) -> list[str]:
    """MLIR's list of attributes for LLVM: plain words or key/value pairs."""
    attrs = prop(op, "passthrough")
    words: list[str] = []
    for entry in cast("ArrayAttr[Attribute]", attrs) if isinstance(attrs, ArrayAttr) else ():
        if isinstance(entry, StringAttr):
            words.append(entry.data if entry.data.replace("_", "").isalpha() else f'"{quoted(entry.data.encode())}"')
        elif isinstance(entry, ArrayAttr):
            key, value = (quoted(part.data.encode()) for part in cast("ArrayAttr[StringAttr]", entry))
            known = (key, value) == (NO_MEMORY.key, NO_MEMORY.value)
            words.append(NO_MEMORY.text if known else f'"{key}"="{value}"')
    return words


def _attachments(op: Operation, scope: ModuleScope) -> list[str]:
    """Metadata the AMDGPU backend reads from a kernel."""
    sizes = ints_prop(op, "rocdl.reqd_work_group_size")
    if not sizes:
        return []
    node = scope.metadata("!{" + ", ".join(f"i32 {size}" for size in sizes) + "}")
    return [f"!reqd_work_group_size {node}"]
