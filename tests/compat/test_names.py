"""Every name that programs written for FlyDSL import exists here and takes the arguments they give it.

The raw layer has an audit of its own (`test_raw_names.py`). A row is a dotted name and a call that its signature must
accept; ``None`` is for what is no function.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.unit.api.test_api_names import resolve
from tests.unit.api.usage import usage_of

X = object()
ROWS: dict[str, list[tuple[str, tuple[Any, ...] | None]]] = {
    "flydsl.expr.meta": [
        ("tracing_context", (X,)), ("tracing_option", ("fastmath", None)), ("dsl_loc_tracing", (X,)),
        ("dsl_wrap_result", (X,)), ("capture_user_location", ()),
    ],
    "flydsl.expr.utils": [("print_typst", (X,)), ("lazy_classattr", None)],
    "flydsl.expr.utils.arith": [
        ("ArithValue", None), ("arith_const", (1, X)), ("_to_raw", (X,)), ("constant", (1,)), ("index", (1,)),
        ("index_cast", (X, X)), ("select", (X, X, X)), ("sitofp", (X, X)), ("trunc_f", (X, X)), ("andi", (X, X)),
        ("xori", (X, X)), ("shli", (X, X)), ("unwrap", (X,)), ("constant_vector", (1, X)), ("int_to_fp", (X, True, X)),
        ("int_to_int", (X, X)), ("fp_to_fp", (X, X)), ("fp_to_int", (X, True, X)), ("fastmath", ("fast",)),
        ("current_fastmath", ()), ("resolve_fastmath", (X,)), ("element_type", (X,)), ("is_float_type", (X,)),
        ("is_integer_like_type", (X,)), ("recast_type", (X, X)),
    ],
    "flydsl.expr.arith": [("_to_raw", (X,)), ("int_to_fp", (X, True, X)), ("AddFOp", None), ("MaxUIOp", None)],
    "flydsl.expr.extern": [("ffi", ("f", ["int32"], "void")), ("ExternFunction", ("f", ["int32"], "void", True))],
    "flydsl.compiler.extern_link": [("link_extern", None), ("register_extern_resolver", (X,))],
    "flydsl.expr.rocdl": [
        ("mask_mfma", None), ("mask_vmem_rd", None), ("mask_dsrd", None), ("mask_dswr", None), ("s_wait_dscnt", (0,)),
        ("s_barrier_signal", (-1,)), ("s_barrier_wait", (-1,)), ("universal", None), ("cvt_pk_bf16_f32", (X, X)),
        ("permlane32_swap", (X, X, X, False, False)), ("readfirstlane", (X, X)), ("readlane", (X, X, X)),
        ("ballot", (X, X)), ("ds_bpermute", (X, X, X)), ("update_dpp", (X, X, X, 1, 15, 15, True)),
        ("ds_swizzle", (X, X, 1)), ("perm_b32", (X, X, X)), ("exp2", (X, X)), ("rcp", (X, X)),
        ("cvt_pk_f32_fp8", (X, X, False)), ("SyncScope.Agent", None), ("SyncScope.SingleThreadOneAs", None),
        ("SyncScope.Workgroup", None), ("SyncScope.Wavefront", None), ("SyncScope.OneAs", None),
        ("SyncScope.AgentOneAs", None), ("SyncScope.WorkgroupOneAs", None), ("SyncScope.WavefrontOneAs", None),
        ("CopyOpCDNA3BufferCopyType.get", (128, 0)),
    ],
    "flydsl.expr.rocdl.cdna4": [
        ("LDSReadTrans4_64b", ()), ("LDSReadTrans8_64b", ()), ("LDSReadTrans6_96b", ()), ("LDSReadTrans16_64b", ()),
    ],
    "flydsl.expr.rocdl.universal": [
        ("make_buffer_ptr", (X,)), ("make_buffer_tensor", (X,)), ("get_buffer_rsrc", (X,)), ("s_waitcnt", (0,)),
        ("asyncmark", ()), ("wait_asyncmark", (0,)), ("UniversalCopy", (32,)), ("UniversalFMA", (X,)),
    ],
    "flydsl.runtime.device": [("get_warp_size", ("gfx942",)), ("get_rocm_device_count", ()),
                              ("supports_bf16_global_atomics", ("gfx942",))],
    "flydsl.runtime.device_runtime": [("get_device_runtime", ()), ("ensure_compile_runtime_compatible", ("rocm",))],
    "flydsl.compiler.backends": [("current_target", ()), ("_make_backend", ("rocm", "gfx942"))],
    "flydsl.compiler.llvm_options": [("llvm_options", ({},))],
    "flydsl.compiler.jit_argument": [
        ("JitArgumentRegistry.register", (X,)), ("JitArgumentRegistry.register_jit_arg", (X, X)),
        ("JitArgumentRegistry.get", (X,)), ("JitArgumentRegistry.get_dsl_type", (X,)), ("TorchTensorJitArg", None),
        ("DLTensorJitArg", None), ("PointerJitArg", None), ("MemRefSpec", None), ("resolve_signature", (X,)),
    ],
    "flydsl.compiler.ast_rewriter": [
        ("ReplaceIfWithDispatch.scf_if_dispatch", (X, X, X)), ("ReplaceIfWithDispatch.scf_ifexp_dispatch", (X, X, X)),
        ("InsertEmptyYieldForSCFFor.scf_for_dispatch", (0, 1, 1, X)),
        ("CanonicalizeWhile.scf_while_dispatch", (X, X)), ("ASTRewriter.transform", (X,)),
    ],
    "flydsl.compiler.kernel_function": [("FuncLocationTracker", (X,)), ("CompilationContext.get_current", ())],
    "flydsl.compiler.jit_function": [
        ("MlirCompiler.compile", (X,)), ("_flydsl_key", ()), ("JitFunction._last_compiled", None), ("jit", (X,)),
    ],
    "flydsl.compiler.protocol": [
        ("extract_to_ir_values", (X,)), ("construct_from_ir_values", (X, X, [X])), ("get_ir_types", (X,)),
        ("cache_signature", (X,)), ("c_abi_spec", (X,)), ("dsl_size_of", (X,)), ("dsl_align_of", (X,)),
        ("peek_from_ptr", (X, X)), ("poke_into_ptr", (X, X, X)), ("Storable", None), ("DslType", None),
    ],
    "flydsl.expr.memory.struct": [
        ("Struct.__extract_to_ir_values__", (X,)), ("Struct.__construct_from_ir_values__", ([X],)),
        ("Struct.__get_ir_types__", (X,)), ("Struct.__cache_signature__", (X,)), ("Struct.__c_abi_spec__", (X,)),
        ("Struct.__dsl_size_of__", ()), ("Struct.__dsl_align_of__", ()), ("Struct.__peek_from_ptr__", (X,)),
        ("Struct.__poke_into_ptr__", (X, X)), ("Struct.__coerce__", (X,)), ("Struct.__specialize_for_value__", (X,)),
        ("Struct.__dsl_field_defs__", None), ("Struct.__dsl_display_name__", None), ("Struct.__dsl_base_type__", None),
        ("Struct._schema_frozen", None),
    ],
    "flydsl.compiler.diagnostics": [("DSLCompileError", None), ("DiagRecord", ("error", "text")),
                                    ("SourceFrame", ("f.py", 1)), ("install_excepthook", ())],
    "flydsl.utils": [("log", ())],
    "flydsl.utils.file": [("atomic_write", ("path",))],
    "flydsl.utils.smem_allocator": [("get_op_result_or_value", (X,))],
    "flydsl.expr": [
        ("gather", (X, X, X, X)), ("scatter", (X, X, X, X)), ("assume", (X,)), ("SyncScope.SingleThread", None),
        ("T.VectorType.get", ([4], X)), ("num_warp_threads", ()), ("ThrMma.make_fragment_A", (X, X)),
        ("Storage._target_type", None), ("Storage._prebuilt", None),
        ("ThrCopy.tile_mn", None), ("ThrCopy.thr_idx", None), ("ThrMma.thr_idx", None), ("Tensor.memspace", None),
        ("Tensor.value_type", None), ("Pointer.memspace", None), ("Pointer.value_type", None),
        ("CopyAtom.layout_src_tv", None), ("CopyAtom.layout_dst_tv", None), ("memref_load_vec", (X,)),
    ],
    "flydsl.expr.coop": [
        ("warp_reduce", (X, "add")), ("warp_scan", (X, "add")), ("warp", None), ("block", None),
        ("universal.BlockReduce", None), ("BlockScanAlgorithm.RAKING_MEMOIZE", None),
    ],
    "flydsl.extension.coop": [("BlockReduce", None), ("universal", None)],
    "flydsl.extension.random": [("randn4x", (1, 2)), ("universal", None)],
    "flydsl.expr.random.universal": [
        ("philox_impl", (1, 2, 3, 4, 5, 6, 10)), ("philox", (1, 2, 3, 4, 5)), ("uint_to_uniform_float", (X,)),
        ("pair_uniform_to_normal", (X, X)),
    ],
    "flydsl.autotune": [("Config", ()), ("autotune", ([],)), ("do_bench", (X,)), ("Autotuner", (X, [], [], 5, 25))],
}  # fmt: skip
FLAT = [(module, name, call) for module, rows in ROWS.items() for name, call in rows]


@pytest.mark.parametrize(("module", "name", "call"), FLAT, ids=[f"{m}.{n}" for m, n, _ in FLAT])
def test_name_exists_and_takes_its_arguments(module: str, name: str, call: tuple[Any, ...] | None) -> None:
    importlib.import_module(module)
    found = resolve(f"{module}.{name}")
    if call is not None:
        inspect.signature(found).bind(*call)


@pytest.mark.parametrize(("module", "name"), [row[:2] for row in FLAT], ids=[f"{m}.{n}" for m, n, _ in FLAT])
def test_name_is_used(module: str, name: str, repository: Path) -> None:
    """Someone of the tests, documents, examples and kernels uses it, by its module's name or as a member."""
    usage = usage_of(repository)
    last = name.rpartition(".")[2]
    assert (
        f"{module}.{name}" in usage.names
        or last in usage.members
        or any(used.endswith(f".{last}") for used in usage.names)
    ), f"no test uses {module}.{name}"


def test_plain_imports() -> None:
    import flydsl.extension.coop as coop
    import flydsl.extension.random as random

    assert coop is fx.coop and random is fx.random
    assert fx.random.__all__ == ["rand", "rand4x", "randint", "randint4x", "randn", "randn4x"]
    assert (fx.SyncScope.System, fx.SyncScope.SingleThread, fx.rocdl.SyncScope.Agent) == ("", "singlethread", "agent")
    masks = (fx.rocdl.mask_mfma, fx.rocdl.mask_vmem_rd, fx.rocdl.mask_dsrd, fx.rocdl.mask_dswr)
    assert masks == (0x8, 0x20, 0x100, 0x200)


def test_scopes_are_plain_text() -> None:
    scope = fx.rocdl.SyncScope
    assert [scope.Workgroup, scope.Wavefront, scope.OneAs] == ["workgroup", "wavefront", "one-as"]
    assert [scope.AgentOneAs, scope.WorkgroupOneAs, scope.WavefrontOneAs] == [
        "agent-one-as", "workgroup-one-as", "wavefront-one-as",
    ]  # fmt: skip


def test_what_values_of_a_kernel_tell() -> None:
    """Facts of tensors, pointers, atoms and slices that kernels ask for while they are traced."""
    told: dict[str, Any] = {}

    @flyc.kernel
    def kernel(x: fx.Tensor) -> None:
        atom = fx.make_copy_atom(fx.UniversalCopy(128), fx.Float32)
        part = fx.make_tiled_copy_tv(atom, fx.make_layout(4, 1), fx.make_layout(4, 1)).get_slice(fx.thread_idx.x)
        told["tensor"] = (x.memspace, x.value_type)
        told["pointer"] = (fx.get_iter(x).memspace, fx.get_iter(x).value_type)
        told["layouts"] = (str(atom.layout_src_tv), str(atom.layout_dst_tv))
        told["slice"] = part.thr_idx
        row = fx.make_view(fx.get_iter(x), fx.make_layout(4, 1))
        total = fx.memref_load_vec(row).reduce("add", init_val=1.0)
        if fx.thread_idx.x == 0:
            x[0] = total

    @flyc.jit
    def launch(x: fx.Tensor) -> None:
        kernel(x).launch(block=4, unit_attrs=["fly.marked"])

    x = np.arange(4, dtype=np.float32)
    launch(x)
    assert x[0] == 7 and told["tensor"] == told["pointer"] and told["layouts"][0] == told["layouts"][1]
    assert told["slice"] is not None
