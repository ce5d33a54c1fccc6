"""Kernels say by layouts which element a lane has: those of AMD's matrix cores divide no lane's number themselves, and
what others and the examples still divide may only become less."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conftest import REPOSITORY

KERNELS = REPOSITORY / "python" / "flydsl" / "kernels"
FAMILIES = (
    "gemm/*gfx1250*.py", "gemm/wmma/*.py", "gemm/lds_*.py", "gemm/*preshuffle*.py", "gemm/rdna_*.py",
    "gemm/fp8_gemm.py", "gemm/hgemm_splitk.py", "moe/**/*.py", "attention/*wave*.py",
)  # fmt: skip
DIVIDED = re.compile(r"(?<!machine\.)\b(?:lane|thread|wave|tid) (?://|%|\^|>>) [^,):\]]+")
LEFT = {
    ("gemm/wmma/gfx1250_tiles.py", "wave // plan.n_warp"): "by a layout, two matrices take 50 more vector registers",
    ("gemm/wmma/gfx1250_tiles.py", "wave % plan.n_warp"): "the same",
    ("gemm/mxfp4_preshuffle.py", "wave % 2 * 8"): "a scalar's last bit says which half of a word is the wave's",
    ("gemm/mxfp4_preshuffle.py", "wave // 2"): "the same scalar's other bits",
    ("moe/mxfp_moe/mx_pipeline.py", "wave // 2"): "as in mxfp4_preshuffle.py",
    ("moe/mxfp_moe/mx_pipeline.py", "wave % 2 * 8"): "as in mxfp4_preshuffle.py",
    ("moe/moe_gemm_2stage/nibble_weights.py", "lane % BLOCK"): "by a layout, places of scales are 12 more vector "
    "instructions an iteration on gfx950",
}  # fmt: skip
"""File and what it divides -> why a layout is not clearer, or costs more."""

PLANS = "row_plan.py", "row_resources.py"
NUMBERS = re.compile(r"(?:\b(?:lane|thread|wave|warp|tid)|\blane_id\(\)|\bthread_idx\.x)\)* (?://|%|\^|>>|&) ")
WHICH_WAVE = re.compile(r"(?:warp_uniform|readfirstlane)\((?:fx\.Int32\()?[\w.]+ // \w+\)")
"""The number of a wave or a warpgroup, as a scalar: it has a role, and no element."""
BUDGET = {
    # Threads are groups of lanes that share a row, a token or a question: which group, and which place in it.
    "blocks/exchange.py": 4, "blocks/row_pieces.py": 1, "blocks/rows.py": 3, "moe/few_tokens/chosen.py": 4,
    "moe/row_order.py": 4, "moe/sorting.py": 2, "moe/topk_gating.py": 4,
    "norm/column_sums.py": 2, "quant/device_quant.py": 3, "gemm/wmma/gfx1250_tiles.py": 4,
    # Warps beside each other have different rows or parts of K; a warpgroup's first thread speaks for it.
    "attention/hopper_backward.py": 1, "attention/hopper_forward.py": 2, "attention/latent_decode.py": 2,
    "attention/warp_decode.py": 2, "attention/waves.py": 1, "gemm/hopper/epilogue.py": 2, "gemm/hopper/tiles.py": 1,
    "gemm/hopper/warpgroup.py": 4, "gemm/hopper/weights.py": 1, "gemm/hopper_gemm.py": 5, "gemm/lds_gemm.py": 1,
    "moe/few_tokens/layer.py": 8, "attention/hopper_decode.py": 1, "attention/tiles.py": 1,
    # A lane is a thread's number in its wave.
    "gemm/preshuffle/scales.py": 3, "moe/moe_gemm_2stage/nibble_weights.py": 3,
    # A scalar's bits, as above.
    "gemm/mxfp4_preshuffle.py": 2, "moe/mxfp_moe/mx_pipeline.py": 2,
    # Rows of ldmatrix that are not there name the last one: by a tiled copy, 24 more registers.
    "gemm/few_rows/kernel.py": 5,
    # Pieces of rows that lanes copy and read, in orders of their own.
    "moe/few_tokens/strips.py": 9,
}  # fmt: skip
"""File -> how often it divides a lane's, a thread's or a warp's number, at most. Lower it where it became less."""


def counted(text: str) -> int:
    lines = (WHICH_WAVE.sub("wave", line.split("#")[0]) for line in text.splitlines())
    return sum(len(NUMBERS.findall(line)) for line in lines)


def divided(text: str) -> set[str]:
    return {found[0].strip() for line in text.splitlines() for found in DIVIDED.finditer(line.split("#")[0])}


def files() -> list[Path]:
    return sorted({path for family in FAMILIES for path in KERNELS.glob(family)})


def test_layouts_say_what_lanes_have() -> None:
    found = {(path.relative_to(KERNELS).as_posix(), what) for path in files() for what in divided(path.read_text())}
    assert found == set(LEFT), "make_layout, partition_S or partition_C of an identity tensor say it"


def test_arithmetic_becomes_less() -> None:
    paths = [*KERNELS.rglob("*.py"), *(REPOSITORY / "examples").rglob("*.py")]
    # In by_hand lanes are the subject, and a plan divides a machine's waves, on the host.
    paths = [path for path in paths if path.parent.name != "by_hand" and path.name not in PLANS]
    names = [path.relative_to(KERNELS if path.is_relative_to(KERNELS) else REPOSITORY).as_posix() for path in paths]
    found = {name: counted(path.read_text()) for name, path in zip(names, paths, strict=True)}
    more = {name: count for name, count in found.items() if count > BUDGET.get(name, 0)}
    assert not more, "make_layout, partition_S or partition_C of an identity tensor say it"
    assert all(found.get(name) for name in BUDGET), "take files that divide nothing out of the table"


def test_what_is_counted() -> None:
    assert counted("row, column = fx.lane_id() // 4, fx.thread_idx.x % 8") == 2
    assert counted("at = (i * THREADS + thread) // pieces + (lane ^ 1)  # thread // 32") == 2
    assert counted("warp = fx.nvvm.warp_uniform(fx.thread_idx.x // 32); lanes // 4") == 0


def test_what_counts() -> None:
    assert divided("row = self.lane // 16 * 8 + self.first") == {"lane // 16 * 8 + self.first"}
    assert divided("return thread ^ turned") == {"thread ^ turned"}
    assert divided("waves = threads // machine.wave // 4; lanes % 4") == set()
