"""Bank conflicts of attention on virtual AMD GPUs, of rows that are a multiple of all banks and that are not: none."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

import flydsl.compiler as flyc
from tests.conftest import REPOSITORY

sys.path.append(str(REPOSITORY / "benchmarks"))
CASES = importlib.import_module("amd_kernels.attention")
SIZE = importlib.import_module("amd_kernels.case").Size(64, 64, 64)


def decoding(d: int, dv: int) -> Any:
    return CASES.decoding(f"decode {d} and {dv}", (16, 1), d, dv, "bfloat16")


AHEAD = (("gfx942", 64), ("gfx942", 96), ("gfx942", 128), ("gfx1201", 64), ("gfx1201", 128), ("gfx1201", 256))
GRADIENTS = (("gfx950", 128), ("gfx1201", 64))
DECODING = (("gfx950", 576, 512), ("gfx1201", 128, 128), ("gfx1201", 96, 96), ("gfx1201", 576, 512))
SHOWN = [*((CASES.ahead(d), arch) for arch, d in AHEAD), *((CASES.gradients(d), arch) for arch, d in GRADIENTS),
         *((decoding(d, dv), arch) for arch, d, dv in DECODING)]  # fmt: skip


@pytest.mark.parametrize(("case", "arch"), [pytest.param(*one, id=f"{one[0].name} {one[1]}") for one in SHOWN])
def test_no_lanes_meet_in_a_bank(case: Any, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")
    function, arguments = case.filled(arch, SIZE)
    report = flyc.lds_report(function, *arguments)
    assert report.rows and report.extra_cycles == 0, str(report)
