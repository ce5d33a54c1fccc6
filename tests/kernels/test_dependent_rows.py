"""Kernels of rows may begin before the launches ahead of them have ended: they touch memory behind the wait alone."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.kernels.attention.rope_cache import build_rope_module
from flydsl.kernels.moe.moe_gemm_2stage.moe_reduce import compile_moe_reduction
from flydsl.kernels.moe.row_order import compile_gather
from flydsl.kernels.moe.topk_gating import build_topk_gating_softmax_module
from flydsl.kernels.norm.cross_entropy import build_cross_entropy_bwd_module, build_cross_entropy_module
from flydsl.kernels.norm.glu import build_glu_bwd_module, build_glu_module
from flydsl.kernels.norm.layernorm import build_layernorm_module
from flydsl.kernels.norm.norm_backward import norm_backward_launcher, partial_rows, partial_shape
from flydsl.kernels.norm.rmsnorm import build_fused_add_rmsnorm_module
from flydsl.kernels.norm.softmax import build_softmax_module
from flydsl.kernels.norm.softmax_backward import build_softmax_bwd_module
from flydsl.kernels.quant.device_quant import (
    build_block_quant_module,
    build_row_quant_module,
    build_tensor_quant_module,
)
from tests.support.described_calls import describe_calls

WAIT, SIGNAL = "griddepcontrol.wait", "griddepcontrol.launch_dependents"
TOUCHES = re.compile(r"^(?:@\S+ )?(?:ld|ldu|st|atom|red|cp|prefetch|discard)\.(?!param|shared|const|local)")
"""Instructions that reach memory which other launches reach."""
ROWS = 64


@pytest.fixture(autouse=True)
def for_hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    describe_calls(monkeypatch)


def launch(name: str, n: int) -> Any:
    """Compile the launcher of that name for rows of ``n`` elements, and return it."""
    x, codes = np.zeros((ROWS, n), ml_dtypes.bfloat16), np.zeros((ROWS, n), np.int8)
    line, each, one = np.zeros(n, x.dtype), np.zeros(ROWS, np.float32), np.zeros(1, np.float32)
    labels, counter, powers = np.zeros(ROWS, np.int64), np.zeros(1, np.int32), np.zeros((2, ROWS), np.float32)
    words, few = np.zeros((ROWS, n), np.int32), np.zeros((ROWS, 2), np.int32)
    sums = np.zeros((partial_rows(n, ROWS), n), np.float32)
    run, arguments = {
        "softmax": lambda: (build_softmax_module(ROWS, n, "bf16"), (x, x, ROWS)),
        "softmax_bwd": lambda: (build_softmax_bwd_module(n, "bf16"), (x, x, x, ROWS)),
        "layernorm": lambda: (build_layernorm_module(n, "bf16", True), (x, line, line, x, each, each, ROWS)),
        "add_rmsnorm": lambda: (build_fused_add_rmsnorm_module(n, "bf16", True), (x, x, line, x, x, each, ROWS)),
        "norm_bwd": lambda: (
            norm_backward_launcher(True, n, "bf16", False, False),
            (x, x, line, each, each, x, None, sums, sums, line, line, ROWS),
        ),
        "glu": lambda: (build_glu_module(n, "bf16"), (x, x, x, ROWS)),
        "glu_bwd": lambda: (build_glu_bwd_module(n, "bf16"), (x, x, x, x, x, ROWS)),
        "cross_entropy": lambda: (
            build_cross_entropy_module(n, "bf16"),
            (x, labels, each, powers, ROWS, -100, 0.0, None, one, one, counter, 1),
        ),
        "cross_entropy_bwd": lambda: (
            build_cross_entropy_bwd_module(n, "bf16"), (x, labels, powers, one, x, ROWS, -100, 0.0, one)
        ),
        "row_quant": lambda: (build_row_quant_module(n, "bf16", "i8"), (x, codes, each, ROWS)),
        "tensor_quant": lambda: (build_tensor_quant_module(n, "bf16", "i8"), (x, codes, each, one, ROWS)),
        "block_quant": lambda: (build_block_quant_module(n, "bf16"), (x, codes, np.zeros((ROWS, n // 128)), ROWS)),
        "square_quant": lambda: (build_block_quant_module(n, "bf16", 128), (x, codes, np.zeros((1, n // 128)), ROWS)),
        "rope": lambda: (build_rope_module(1, n, "bf16"), (x, x[:, : n // 2], x[:, : n // 2], x, ROWS, ROWS)),
        "gating": lambda: (
            build_topk_gating_softmax_module(n, 2), (x, np.zeros((ROWS, 2), np.float32), few, few, ROWS)
        ),
        "gather": lambda: (compile_gather(n), (words, labels.astype(np.int32), words, ROWS)),
        "moe_sum": lambda: (compile_moe_reduction(topk=2, model_dim=n, dtype_str="bf16"),
                            (np.zeros((ROWS, 2, n), x.dtype), x, None, ROWS)),
    }[name]()  # fmt: skip
    run(*arguments)
    return run


def test_partial_sums_that_were_added_up_are_discarded() -> None:
    """L2 need not write them to memory: LayerNorm of 22,001 bf16 has 0.835 of a copy's speed so, and 0.817."""
    found = {
        kernel.name.rstrip("_0123456789"): kernel.ptx for kernel in launch("norm_bwd", 1000).specialisations[-1].kernels
    }
    body = found["add_rows_kernel"]
    assert body.count("discard.global.L2") == 2 and "discard" not in found["norm_bwd_kernel"]
    assert body.index("ld.global") < body.index("bar.sync") < body.index("discard.global.L2")
    assert all(partial_shape(n, 5000)[1] % 32 == 0 <= partial_shape(n, 5000)[1] - n < 32 for n in (1, 31, 1000, 28_001))


CASES = (
    ("softmax", 33), ("softmax", 30011), ("softmax", 300_000), ("softmax_bwd", 1000), ("layernorm", 30011),
    ("add_rmsnorm", 1000), ("norm_bwd", 1000), ("norm_bwd", 30011), ("glu", 1000), ("glu_bwd", 33),
    ("cross_entropy", 1000), ("cross_entropy_bwd", 1000), ("row_quant", 1000), ("tensor_quant", 33),
    ("block_quant", 256), ("square_quant", 256), ("rope", 64), ("gating", 16), ("gather", 64), ("moe_sum", 64),
)  # fmt: skip
"""Every kernel; rows that share a wave, that blocks load at once, by pieces and through rings, and by clusters."""
WAITING = {
    "softmax": {"softmax_kernel"}, "softmax_bwd": {"softmax_bwd_kernel"}, "layernorm": {"norm_kernel"},
    "add_rmsnorm": {"norm_kernel"}, "norm_bwd": {"norm_bwd_kernel", "add_rows_kernel"}, "glu": {"glu_kernel"},
    "glu_bwd": {"glu_bwd_kernel", "glu_bwd_line_kernel"}, "cross_entropy": {"cross_entropy_kernel", "mean_loss_kernel"},
    "cross_entropy_bwd": {"cross_entropy_bwd_kernel", "cross_entropy_bwd_flat_kernel"},
    "row_quant": {"row_quant_kernel"},
    "tensor_quant": {"row_top_kernel", "apply_kernel", "line_top_kernel", "apply_line_kernel"},
    "block_quant": {"group_quant_kernel"}, "square_quant": {"square_quant_kernel"}, "rope": {"rope_kernel"},
    "gating": {"topk_gating_kernel"}, "gather": {"gather_kernel"}, "moe_sum": {"moe_reduction_kernel"},
}  # fmt: skip
"""Kernels that are launched as dependents, by launcher."""


@pytest.mark.parametrize(("name", "n"), CASES)
def test_memory_is_touched_behind_the_wait(name: str, n: int) -> None:
    kernels = [
        (kernel.name.rstrip("_0123456789"), kernel.ptx) for kernel in launch(name, n).specialisations[-1].kernels
    ]
    dependent = [(kernel, ptx) for kernel, ptx in kernels if kernel in WAITING[name]]
    assert {kernel for kernel, _ in dependent} == WAITING[name]
    assert not [kernel for kernel, ptx in kernels if (WAIT in ptx) != (kernel in WAITING[name])]
    for _, ptx in dependent:
        body = [line.strip() for line in ptx[ptx.index(".entry") :].splitlines()]
        waited = next(at for at, line in enumerate(body) if line.startswith(WAIT))
        before = [line for line in body[:waited] if TOUCHES.match(line)]
        branches = [line for line in body[:waited] if "bra" in line or line.startswith(SIGNAL)]
        assert not before and not branches, (before, branches)
        assert any(TOUCHES.match(line) for line in body[waited:])
