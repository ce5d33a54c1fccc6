"""Experts of MX formats whose inner rows lie in the order of experts, on gfx950: what FlyDSL calls mxfp_moe.

flydsl_mxfp4_gemm1(a_quant=..., ...)    silu(gate) * up, quantised on the device, a row for each entry of the order
flydsl_mxfp4_gemm2(...)                 those rows times the last weights, to the tokens' rows

Weights are `shuffle_weight` of bytes of two fp4, their scales `e8m0_shuffle`. ``m_indices`` are the tokens of the
order, ``cumsum_tensor[0]`` how many entries it has with padding. The stages are those of `mixed_2stage`.
"""

from __future__ import annotations

from typing import Any

from flydsl.kernels.blocks.inputs import empty_beside, on_given_stream, stream_of
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.moe.mixed_2stage import mixed_launcher, mixed_plan
from flydsl.kernels.moe.mxfp_moe.mx_rows import moe_mxfp4_sort
from flydsl.kernels.quant.device_quant import build_mx_quant_module

ROWS = (16, 32, 64, 128)
EPILOGUES = {"atomic": "bf16", "nonatomic": "bf16", "nonatomic_cshuffle": "bf16", "nonatomic_mxfp4": "fp4",
             "nonatomic_fp8": "fp8"}  # fmt: skip
"""Ways to end -> what results are. With "atomic" rows of a token are added up."""
STEP = 256


@kept
def first_stage(NE: int, D_HIDDEN: int, D_INTER: int, BM: int, BN: int, BK: int, a_dtype: str, turns: bool) -> Any:
    plan = mixed_plan(
        (a_dtype, "fp4"), D_INTER, D_HIDDEN, (BM, min(BN, 128), BK), True, experts=NE, topk=1, out=a_dtype,
        result_in_order=True, interleaved=turns,
    )  # fmt: skip
    return mixed_launcher(plan, (D_INTER, D_HIDDEN), ("D_INTER", "D_HIDDEN"), None)


@kept
def second_stage(
    NE: int, D_HIDDEN: int, D_INTER: int, topk: int, BM: int, BN: int, BK: int, a_dtype: str, epilog: str,
    scales: str, pad: int,
) -> Any:  # fmt: skip
    plan = mixed_plan(
        (a_dtype, "fp4"), D_HIDDEN, D_INTER, (BM, min(BN, 128), BK), False, experts=NE, topk=topk,
        out=EPILOGUES[epilog], weighted=True, accumulate=epilog == "atomic", by_slot=True, rows_in_order=True,
        row_scales=scales, depth_pad=pad,
    )  # fmt: skip
    return mixed_launcher(plan, (D_HIDDEN, D_INTER), ("D_HIDDEN", "D_INTER"), None)


def check(BM: int, a_dtype: str, **dims: int) -> None:
    if BM not in ROWS:
        raise NotImplementedError(f"BM is one of {ROWS}, got {BM}")
    if a_dtype not in ("fp4", "fp8"):
        raise NotImplementedError(f"a_dtype is fp4 or fp8, got {a_dtype!r}")
    for name, value in dims.items():
        if value % STEP:
            raise NotImplementedError(f"{name} must be a multiple of {STEP}, got {value}")


@on_given_stream
def flydsl_mxfp4_gemm1(
    *, a_quant: Any, a_scale_sorted_shuffled: Any, w1_u8: Any, w1_scale_u8: Any, sorted_expert_ids: Any,
    cumsum_tensor: Any, m_indices: Any, inter_sorted_quant: Any, inter_sorted_shuffled_scale: Any, hidden_states: Any,
    n_tokens: int, BM: int, use_nt: bool = False, inline_quant: bool = False, NE: int, D_HIDDEN: int, D_INTER: int,
    topk: int, BN: int = 256, BK: int = 256, interleave: bool = False, xcd_swizzle: int = 0, a_dtype: str = "fp4",
    stream: object = None,
) -> None:  # fmt: skip
    """The first stage. With ``inline_quant`` rows are quantised from ``hidden_states`` (bf16), else ``a_quant`` and its
    scales in the order are read. ``use_nt`` and ``xcd_swizzle`` are ways to the same numbers and change nothing."""
    check(BM, a_dtype, D_HIDDEN=D_HIDDEN, D_INTER=D_INTER)
    stream = stream_of(w1_u8, stream)
    if inline_quant:
        size = D_HIDDEN // 2 if a_dtype == "fp4" else D_HIDDEN
        a_quant = empty_beside(hidden_states, (n_tokens, size), "uint8")
        scales = empty_beside(hidden_states, (n_tokens, D_HIDDEN // 32), "uint8")
        build_mx_quant_module(D_HIDDEN, "bf16", f"mx{a_dtype}")(hidden_states, a_quant, scales, n_tokens, stream)
        a_scale_sorted_shuffled = moe_mxfp4_sort(scales, m_indices, cumsum_tensor, n_tokens, stream=stream)
    run = first_stage(NE, D_HIDDEN, D_INTER, BM, BN, BK, a_dtype, interleave)
    blocks = sorted_expert_ids.shape[0]
    run(inter_sorted_quant, a_quant, w1_u8, a_scale_sorted_shuffled, w1_scale_u8, m_indices, sorted_expert_ids, None,
        cumsum_tensor, None, inter_sorted_shuffled_scale, n_tokens, D_INTER, D_HIDDEN, blocks, stream)  # fmt: skip


def flydsl_mxfp4_gemm2(
    *, inter_sorted_quant: Any, inter_sorted_shuffled_scale: Any, w2_u8: Any, w2_scale_u8: Any, sorted_expert_ids: Any,
    cumsum_tensor: Any, sorted_token_ids: Any, sorted_weights: Any, flat_out: Any, M_logical: int, max_sorted: int,
    BM: int, use_nt: bool = False, epilog: str = "atomic", NE: int, D_HIDDEN: int, D_INTER: int, topk: int,
    flat_out_scale: Any = None, D_INTER_REAL: int | None = None, BN: int = 256, BK: int = 256, a_dtype: str = "fp4",
    stream: object = None,
) -> None:  # fmt: skip
    """The second stage, into bf16 ``flat_out``: [M, D_HIDDEN], zero before, with "atomic", else [M topk, D_HIDDEN].

    "nonatomic_mxfp4" and "nonatomic_fp8" give codes instead, and E8M0 scales of 32 in ``flat_out_scale`` [M topk,
    D_HIDDEN / 32]; without that, behind the codes of a row of fp8, which then has D_HIDDEN / 8 bytes more
    (`compile_moe_reduction` with "fp8"). Of rows only ``D_INTER_REAL`` elements count, where it is given.
    """
    check(BM, a_dtype, D_HIDDEN=D_HIDDEN, D_INTER=D_INTER)
    real = D_INTER if D_INTER_REAL is None else D_INTER_REAL
    if epilog not in EPILOGUES or not 0 < real <= D_INTER:
        raise NotImplementedError(
            f"epilog is one of {', '.join(EPILOGUES)}, and D_INTER_REAL 1 to {D_INTER}; got {epilog!r} and {real}"
        )
    scales = "" if EPILOGUES[epilog] == "bf16" else "behind" if flat_out_scale is None else "apart"
    if epilog == "nonatomic_mxfp4" and scales == "behind":
        raise NotImplementedError("nonatomic_mxfp4 takes a flat_out_scale")
    run = second_stage(NE, D_HIDDEN, D_INTER, topk, BM, BN, BK, a_dtype, epilog, scales, D_INTER - real)
    run(flat_out, inter_sorted_quant, w2_u8, inter_sorted_shuffled_scale, w2_scale_u8, sorted_token_ids,
        sorted_expert_ids, sorted_weights, cumsum_tensor, None, flat_out_scale, M_logical, D_HIDDEN, D_INTER,
        sorted_expert_ids.shape[0], stream_of(w2_u8, stream))  # fmt: skip
