"""A kernel of the gpu dialect as a function of the llvm dialect, whatever GPU family it is for."""

from __future__ import annotations

import re
from collections.abc import Mapping

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    i8,
    i32,
    i64,
)
from xdsl.dialects.llvm import LLVMArrayType, LLVMFunctionType, LLVMPointerType, LLVMVoidType
from xdsl.ir import Attribute, Operation, Region

from flydsl.backends.cuda.compile import cuda_code
from flydsl.backends.device_code import DeviceCode, block_size, kernel_rules
from flydsl.backends.launcher import is_parameter_block
from flydsl.backends.lowering.rule_conversion import RuleConversion
from flydsl.backends.rocm.compile import rocm_code
from flydsl.codegen.function_emitter import Rule
from flydsl.codegen.module_emitter import DEFAULT_RULES
from flydsl.dialects.fly.payload import CLUSTER
from flydsl.dialects.gpu_syntax import KERNEL_MARK
from flydsl.dialects.llvm_functions import llvm_function
from flydsl.dialects.upstream import op_class, walked
from flydsl.passes.convert_cf_to_llvm import convert_branches
from flydsl.passes.fly_rocdl_cluster_attr import LLVM_CLUSTER
from flydsl.passes.reconcile_unrealized_casts import reconcile
from flydsl.passes.shared.llvm_conversion import (
    cast_before,
    convert_block_arguments,
    llvm_type,
    remove,
    replace_result,
    require_llvm_types,
)
from flydsl.passes.shared.walk import functions, gpu_modules
from flydsl.target.narrow_conversions import narrow_conversions
from flydsl.target.target import DEFAULT_ARCH, parse_target
from flydsl.target.tensor_map import MAP_ALIGN, MAP_BYTES

_CONVERTED = ("arith.", "math.", "vector.", "gpu.", "ub.")
_TARGET_DIALECTS = ("llvm.", "rocdl.", "nvvm.")
_WRITTEN_LATER = ("llvm.atomicrmw",)
"""Operations of the llvm dialect that stay: the family has its own text for them only."""
_ATTRIBUTE = re.compile(r'"([^"]+)"="([^"]*)"|(\S+)')


def convert_kernels(module: Operation, code: DeviceCode) -> None:
    """Convert everything in the gpu modules of a module to the llvm dialect and the family's own."""
    for gpu_module in gpu_modules(module):
        conversion = RuleConversion(code.triple, code.dialect_ops)
        conversion.scope.narrow_conversions = narrow_conversions(code.generation)
        for function in list(functions(gpu_module)):
            conversion.convert(function, _rules(function, code))
            convert_branches(function)
            _retype(function)
            if function.name == "gpu.func":
                function = _convert_function(function, code)
            reconcile(function)
        conversion.add_extras(gpu_module)
        for op in walked(gpu_module):
            if op.name == "llvm.mlir.global":
                op.properties["global_type"] = llvm_type(op.properties["global_type"])


def _rules(function: Operation, code: DeviceCode) -> Mapping[str, Rule]:
    """Return the rules of every dialect that goes, and those by which the family replaces an llvm operation."""
    general = {name: rule for name, rule in DEFAULT_RULES.items() if name.startswith(_CONVERTED)}
    own = {name: rule for name, rule in code.rules.items() if name not in _WRITTEN_LATER}
    return {**general, **own, **kernel_rules(function)}


def _retype(function: Operation) -> None:
    """Give the operations that were the target's from the start LLVM types."""
    for op in [op for op in walked(function) if op.name.startswith(_TARGET_DIALECTS)]:
        op.operands = [cast_before(value, llvm_type(value.type), op) for value in op.operands]
        if "elem_type" in op.properties:
            op.properties["elem_type"] = llvm_type(op.properties["elem_type"])
        wanted = [llvm_type(result.type) for result in op.results]
        if wanted == [result.type for result in op.results]:
            continue
        new = type(op).create(
            operands=op.operands, result_types=wanted, properties=op.properties, attributes=op.attributes
        )
        new.location = op.location
        assert op.parent is not None
        op.parent.insert_op_before(new, op)
        for old, converted in zip(op.results, new.results, strict=True):
            replace_result(old, converted, op)
        remove(op)


def _convert_function(op: Operation, code: DeviceCode) -> Operation:
    type_ = op.properties["function_type"]
    assert isinstance(type_, FunctionType) and op.parent is not None
    require_llvm_types(op, type_.inputs.data)
    body = op.detach_region(op.regions[0])
    blocks = _parameter_blocks(body)
    convert_block_arguments(body)
    function = llvm_function(
        op.attributes["sym_name"].data,  # type: ignore[union-attr]
        LLVMFunctionType([argument.type for argument in body.blocks[0].args], LLVMVoidType()),
        body,
        passthrough=_passthrough(op, code),
        attributes=_marks(op, code),
    )
    if any(entry.data for entry in blocks):
        function.properties["arg_attrs"] = ArrayAttr(blocks)
    function.location = op.location
    op.parent.insert_op_before(function, op)
    remove(op)
    return function


def _parameter_blocks(body: Region) -> list[DictionaryAttr]:
    """Tensor maps are passed by value, as pointers to where the launch put them; the attributes of all arguments."""
    entry = body.blocks[0]
    found: list[DictionaryAttr] = []
    for argument in list(entry.args):
        if not is_parameter_block(argument.type):
            found.append(DictionaryAttr({}))
            continue
        first = entry.first_op
        assert first is not None
        pointer = entry.insert_arg(LLVMPointerType(), argument.index)
        cast = op_class("llvm.addrspacecast").create(operands=[pointer], result_types=[argument.type])
        entry.insert_op_before(cast, first)
        argument.replace_all_uses_with(cast.results[0])
        entry.erase_arg(argument)
        found.append(
            DictionaryAttr(
                {
                    "llvm.byval": LLVMArrayType(MAP_BYTES, i8),
                    "llvm.align": IntegerAttr(MAP_ALIGN, i64),
                    "nvvm.grid_constant": UnitAttr(),
                }
            )
        )
    return found


def _passthrough(op: Operation, code: DeviceCode) -> list[Attribute]:
    """Return the function attributes of a kernel as MLIR carries what it does not know itself."""
    found: list[Attribute] = []
    for key, value, word in _ATTRIBUTE.findall(code.attributes(op)):
        if key in (code.block_size_mark, LLVM_CLUSTER):
            continue
        found.append(StringAttr(word) if word else ArrayAttr([StringAttr(key), StringAttr(value)]))
    return found


def _marks(op: Operation, code: DeviceCode) -> dict[str, Attribute]:
    """Return what makes the function a kernel, for upstream and for whoever writes its LLVM text."""
    marks: dict[str, Attribute] = {KERNEL_MARK: UnitAttr(), code.kernel_mark: UnitAttr()}
    if CLUSTER in op.attributes and code.cluster_pass:
        marks[CLUSTER] = op.attributes[CLUSTER]
    sizes = block_size(op)
    if sizes is not None:
        marks["gpu.known_block_size"] = DenseArrayBase.from_list(i32, sizes)
        if code.block_size_mark:
            marks[code.block_size_mark] = DenseArrayBase.from_list(i32, sizes)
    return marks


# convert-gpu-to-nvvm: kernels become functions of the llvm and nvvm dialects for NVIDIA GPUs ----
#
# Input: kernels of upstream dialects without `scf`. Everything in a gpu module is converted, as upstream's pass
# of that name does. Run convert-scf-to-cf before.
#
#     gpu.func @k(%p: !llvm.ptr<1>) kernel { %t = gpu.thread_id x … }  -> llvm.func @k(%p: !llvm.ptr<1>)
# attributes {gpu.kernel, nvvm.kernel} { %t = nvvm.read.ptx.sreg.tid.x : i32 … }


def convert_gpu_to_nvvm(module: Operation, chip: str = "sm_90a") -> None:
    """Run the pass on a module."""
    convert_kernels(module, cuda_code(parse_target(chip)))


# convert-gpu-to-rocdl: kernels become functions of the llvm and rocdl dialects for AMD GPUs ----
#
# Input: kernels of upstream dialects without `scf`. Everything in a gpu module is converted, as upstream's pass
# of that name does, so nothing of arith, vector, math, cf or gpu is left in it. Run convert-scf-to-cf before.
#
#     gpu.func @k(%p: !llvm.ptr<1>) kernel { %t = gpu.thread_id x … }  -> llvm.func @k(%p: !llvm.ptr<1>)
# attributes {gpu.kernel, rocdl.kernel} { %t = rocdl.workitem.id.x : i32 … }


def convert_gpu_to_rocdl(module: Operation, chip: str = DEFAULT_ARCH) -> None:
    """Run the pass on a module."""
    convert_kernels(module, rocm_code(parse_target(chip)))
