"""How a name below `kernels` finds its module in `flydsl.kernels`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

RENAMED = {
    "preshuffle_gemm": "gemm.preshuffle_entries",
    "blockscale_preshuffle_gemm": "gemm.blockscale_preshuffle_gemm",
    "hgemm_splitk": "gemm.hgemm_splitk",
    "splitk_hgemm": "gemm.hgemm_splitk",
    "small_m_hgemm": "gemm.hgemm_splitk",
    "gemm.gemm_a16w16_gfx950": "gemm.hgemm_splitk",
    **{
        f"{room}{name}": target
        for room in ("", "gemm.")
        for name, target in (
            ("fp8_gemm_4wave", "gemm.fp8_gemm"),
            ("fp8_gemm_8wave", "gemm.fp8_gemm"),
            ("fp4_gemm_4wave", "gemm.mxfp4_preshuffle"),
            ("preshuffle_gemm_v2", "gemm.preshuffle_entries"),
        )
    },
    "rdna_f16_gemm": "gemm.rdna_f16_gemm",
    "rdna3_f16_gemm": "gemm.rdna_f16_gemm",
    "gemm.rdna3_f16_gemm": "gemm.rdna_f16_gemm",
    "rdna_fp8_preshuffle_gemm": "gemm.rdna_fp8_preshuffle_gemm",
    "wmma_gemm_gfx1250": "gemm.wmma_gemm_gfx1250",
    "gemm_fp8fp4_gfx1250": "gemm.gemm_fp8fp4_gfx1250",
    "gemm.gemm_a8w8_gfx1250": "gemm.gemm_fp8fp4_gfx1250",
    "gemm.gemm_a8w4_mxscale_gfx1250": "gemm.gemm_fp8fp4_gfx1250",
    "gemm_common_gfx1250": "gemm.wmma.gfx1250_tiles",
    "softmax_kernel": "norm.softmax",
    "softmax_bwd_kernel": "norm.softmax_backward",
    "norm.softmax_kernel": "norm.softmax",
    "norm.softmax_bwd_kernel": "norm.softmax_backward",
    # Functions of tensors beside the builders.
    "layernorm_kernel": "flydsl.ops.layernorm_entries",
    "rmsnorm_kernel": "flydsl.ops.rmsnorm_entries",
    "norm.layernorm_kernel": "flydsl.ops.layernorm_entries",
    "norm.rmsnorm_kernel": "flydsl.ops.rmsnorm_entries",
    "norm.rmsnorm_bwd_kernel": "flydsl.ops.rmsnorm_entries",
    "vec_add": "vector_add",
    "quant_kernel": "quant.device_quant",
    "fused_rope_cache_kernel": "attention.rope_cache",
    "attention.fused_rope_cache_kernel": "attention.rope_cache",
    "qk_norm_rope_quant": "attention.qk_norm_rope",
    "attention.qk_norm_rope_quant": "attention.qk_norm_rope",
    "reduce": "blocks.reduce",
    **{
        f"{room}{name}": f"by_hand.{target}"
        for room in ("", "common.")
        for name, target in (
            ("kernels_common", "launch_facts"),
            ("mfma_epilogues", "mfma_epilogues"),
            ("mfma_preshuffle_pipeline", "preshuffle_addresses"),
            ("pipeline_utils", "tail_plan"),
            ("tensor_shim", "tensor_views"),
            ("dpp_utils", "lane_moves"),
            ("layout_utils", "layout_numbers"),
        )
    },
    "common.utils": "by_hand.quick_numbers",
    "common.mem_ops": "flydsl.expr.mem_ops",
    "common.gfx1250_cluster": "flydsl.expr.rocdl.cluster",
    "common": "by_hand",
    "moe_common": "moe.mixed_2stage",
    "moe.moe_common": "moe.mixed_2stage",
    "custom_all_reduce": "comm.custom_all_reduce",
    "custom_all_reduce_kernel": "comm.custom_all_reduce_kernel",
    "moe_gemm_2stage": "moe.moe_gemm_2stage",
    "moe_blockscale_2stage": "moe.blockscale_2stage",
    "mixed_moe_gemm_2stage": "moe.mixed_2stage",
    "moe.moe_gemm_2stage.gemm1": "moe.moe_gemm_2stage.stages",
    "moe.moe_gemm_2stage.gemm2": "moe.moe_gemm_2stage.stages",
    "moe_gemm_2stage_wmma_gfx1250": "moe.wmma_2stage",
    "moe_gemm_2stage_mxscale_gfx1250": "moe.wmma_2stage",
    "moe_a8w4_mxscale_gfx1250": "moe.wmma_2stage.grouped",
    "moe.moe_a8w4_mxscale_gfx1250": "moe.wmma_2stage.grouped",
    "moe.moe_sorting_kernel": "moe.sorting",
    "moe_sorting_kernel": "moe.sorting",
    "silu_and_mul_fq": "moe.mxfp_moe.mx_rows",
    "moe.silu_and_mul_fq": "moe.mxfp_moe.mx_rows",
    "moe.topk_gating_softmax_kernel": "moe.topk_gating",
    "topk_gating_softmax_kernel": "moe.topk_gating",
    **{
        f"{room}{name}": "attention.flash_attn"
        for room in ("", "attention.")
        for name in ("flash_attn_generic", "flash_attn_gfx950", "flash_attn_interface", "swa_gfx950")
    },
    **{
        f"{room}{name}": "attention.pa_decode"
        for room in ("", "attention.")
        for name in ("pa_decode_fp8", "pa_decode_tile")
    },
}
"""Name below `kernels` -> name below `flydsl.kernels`, where the two differ, or below `flydsl`, written in full."""

ROOMS = {name.rpartition(".")[0] for name in RENAMED} - {""}
"""Folders below `kernels` in which modules have other names than in the library's."""


def target_of(name: str) -> str:
    """Return the module of the library for a name below `kernels`."""
    own = RENAMED.get(name, name)
    return own if own.startswith("flydsl.") else f"flydsl.kernels.{own}"


class _Alias(Loader):
    """Puts a module of the library under a second name."""

    def __init__(self, target: str) -> None:
        self._target = target

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = import_module(self._target)


class _Room(Loader):
    """Makes a folder that finds its modules here, and all else where the library's folder has it."""

    def __init__(self, target: str) -> None:
        self._target = target

    def exec_module(self, module: ModuleType) -> None:
        own = import_module(self._target)
        module.__doc__, module.__dict__["__getattr__"] = own.__doc__, partial(getattr, own)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.partition(".")
        if package != __package__ or fullname == __name__:
            return None
        found = target_of(name)
        try:
            known = find_spec(found)
        except ModuleNotFoundError:  # its parent is missing too
            known = None
        loader = (_Room if name in ROOMS else _Alias)(found)
        return None if known is None else ModuleSpec(fullname, loader, is_package=True)


def install() -> None:
    """Have `import` ask here for the names below `kernels`."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
