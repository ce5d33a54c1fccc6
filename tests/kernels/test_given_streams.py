"""Temporary tensors of a call on a stream that is not torch's current one are made on that stream."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import flydsl.expr as fx
from flydsl.kernels.attention import attention, backward, fp8_forward, pa_decode, paged, qk_norm_rope
from flydsl.kernels.blocks import inputs
from flydsl.kernels.gemm import hgemm_splitk, hopper_grouped, hopper_matmul
from flydsl.kernels.gemm.hopper import operands
from flydsl.kernels.moe import expert_weights, gradients, layer, row_order, sorting, topk_gating
from flydsl.kernels.moe.mxfp_moe import host

torch: Any = pytest.importorskip("torch", reason="streams are torch's")
CURRENT, OTHER = 16, 32
ON_GPU = SimpleNamespace(is_cuda=True, device=SimpleNamespace(index=1))


class EnteredError(Exception):
    """A stream became the current one."""


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Which streams became current, and on which devices."""
    found: list[Any] = []

    def stream(given: Any) -> Any:
        found.append(given)
        raise EnteredError

    monkeypatch.setattr(torch._C, "_cuda_getCurrentRawStream", lambda index: CURRENT + index - 1, raising=False)
    monkeypatch.setattr(torch.cuda, "ExternalStream", lambda handle, device: (handle, device.index))
    monkeypatch.setattr(torch.cuda, "stream", stream)
    return found


def test_another_stream_becomes_the_current_one(entered: list[Any]) -> None:
    for given in (OTHER, fx.Stream(OTHER), SimpleNamespace(cuda_stream=OTHER)):
        with pytest.raises(EnteredError):
            inputs.on_stream(ON_GPU, given)
    assert entered == [(OTHER, 1)] * 3
    for tensor, given in ((ON_GPU, None), (ON_GPU, CURRENT), (ON_GPU, fx.Stream(None)), (torch.empty(1), OTHER)):
        with inputs.on_stream(tensor, given):
            pass
    assert len(entered) == 3


def test_streams_are_known_by_their_handles(entered: list[Any]) -> None:
    """Of a GPU it is torch's current one where none is given; the host has none."""
    assert [inputs.current_stream(device) for device in (1, 2, -1, None)] == [CURRENT, CURRENT + 1, None, None]
    assert [inputs.stream_of(ON_GPU, given) for given in (None, 0, OTHER)] == [CURRENT, 0, OTHER]
    assert inputs.stream_of(torch.empty(1), None) is None and not entered


FUNCTIONS: tuple[Callable[..., Any], ...] = (
    attention.attention, backward.attention_backward, fp8_forward.attention_fp8, pa_decode._decode,
    paged.paged_attention, paged.mla_decode, qk_norm_rope.flydsl_qk_norm_rope_quant, hgemm_splitk.run,
    expert_weights.prepare_experts, gradients.experts_gradient, layer.run_routed, row_order.sort_rows,
    sorting.moe_sorting_flydsl, topk_gating.gate_all, host.flydsl_mxfp4_gemm1,
)  # fmt: skip


def test_entry_functions_make_tensors_on_their_stream(entered: list[Any]) -> None:
    for function in FUNCTIONS:
        with pytest.raises(EnteredError):
            function(x=ON_GPU, stream=OTHER)
    with pytest.raises(EnteredError):
        row_order.sort_rows(ON_GPU, ON_GPU, 4, None, OTHER)
    assert entered == [(OTHER, 1)] * (len(FUNCTIONS) + 1)


def test_products_make_tensors_on_their_stream(entered: list[Any]) -> None:
    """Lines that were copied together, the counter of tiles, zeros where there are no products, and the result."""
    matrix = SimpleNamespace(**vars(ON_GPU), shape=(8, 6), dtype=torch.float16, data_ptr=lambda: 0)
    ragged = operands.OperandLines(True, is_ragged=True)
    calls: list[Callable[[], Any]] = [
        lambda: operands.packed_lines([(matrix, 1, ragged)], OTHER),
        lambda: hopper_grouped._drawing(lambda *_: None)(matrix, OTHER),
        lambda: hopper_grouped._without_products(False, "none", None)(matrix, matrix, *[None] * 11, OTHER),
        lambda: hopper_matmul._without_products("none", None)(matrix, matrix, *[None] * 11, OTHER),
        lambda: hopper_matmul.hopper_matmul(matrix, matrix, stream=OTHER),
    ]
    for call in calls:
        with pytest.raises(EnteredError):
            call()
    assert entered == [(OTHER, 1)] * len(calls)


def test_products_of_lists_are_refused() -> None:
    for call in (
        lambda: hopper_matmul.hopper_gemm([[1.0]], [[1.0]], [[0.0]]),
        lambda: hopper_matmul.hopper_matmul([[1.0]], [[1.0]]),
        lambda: hopper_matmul.hopper_linear4([[1.0]], None, None, None),
        lambda: hopper_grouped.hopper_grouped_gemm([[1.0]], None, None, None),
    ):
        with pytest.raises(TypeError, match="expected a tensor of torch or an array of NumPy, got list"):
            call()
