"""Kernels of AMD's matrix cores say by layouts which element a lane has, and divide no lane's number themselves."""

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


def divided(text: str) -> set[str]:
    return {found[0].strip() for line in text.splitlines() for found in DIVIDED.finditer(line.split("#")[0])}


def files() -> list[Path]:
    return sorted({path for family in FAMILIES for path in KERNELS.glob(family)})


def test_layouts_say_what_lanes_have() -> None:
    found = {(path.relative_to(KERNELS).as_posix(), what) for path in files() for what in divided(path.read_text())}
    assert found == set(LEFT), "make_layout, partition_S or partition_C of an identity tensor say it"


def test_what_counts() -> None:
    assert divided("row = self.lane // 16 * 8 + self.first") == {"lane // 16 * 8 + self.first"}
    assert divided("return thread ^ turned") == {"thread ^ turned"}
    assert divided("waves = threads // machine.wave // 4; lanes % 4") == set()
