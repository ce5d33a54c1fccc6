"""Every function of `fx.rocdl` on AMD's targets: it becomes its instruction or is refused before LLVM sees it.

A run has each function on a target that has it and on one that lacks it, `make thorough` on all.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pytest

import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError
from tests.support import warm_process
from tests.unit.rocdl.device_code import AMD, instructions
from tests.unit.rocdl.every_function import CASES, cases_on

REFUSALS = r"does not have|does not exist|has no|do not fit|loads .* bytes a lane|gives \d+ bits|bits a lane"


@cache
def results(arch: str, root: Path) -> dict[str, dict[str, object]]:
    """What each case gave on a target, from a process of its own."""
    done = warm_process.run(["-m", "tests.unit.rocdl.every_function", arch], cwd=root)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"the process ended at {lines[-1] if lines else 'the start'}:\n{done.stderr[-2000:]}"
    return {line["name"]: line for line in lines if "name" in line}


@pytest.mark.parametrize("arch", AMD)
def test_instruction_or_refusal(arch: str, repository: Path) -> None:
    found, wrong = results(arch, repository), []
    for case in cases_on(arch):
        result, wanted = found[case.name], case.expected.get(arch)
        if wanted is None:
            if "refused" not in result:
                wrong.append(f"{case.name} compiles on {arch}, which lacks it")
            elif not re.search(REFUSALS, str(result["refused"])):
                wrong.append(f"{case.name} on {arch}: {result['refused']}")
        elif "code" not in result:
            wrong.append(f"{case.name} is refused on {arch}: {result['refused']}")
        elif not any(re.search(wanted, line) for line in result["code"]):  # type: ignore[union-attr]
            wrong.append(f"{case.name} on {arch} has no {wanted}: {result['code']}")
    assert not wrong, "\n".join(wrong)


def test_a_refusal_names_the_function_and_who_has_it() -> None:
    case = next(case for case in CASES if case.name == "permlane32_swap")
    with pytest.raises(FlyDSLError, match=r"(?s)gfx942 does not have permlane32_swap.*cdna4"):
        instructions(case.body, "gfx942", threads=128)


def test_no_function_is_left_out() -> None:
    """Each public function of `fx.rocdl` is used by a case; matrix instructions have their own tests."""
    source = Path(__file__).with_name("every_function.py").read_text(encoding="utf-8")
    named = {case.name.split(" ")[0] for case in CASES}
    missing = [
        name
        for name in fx.rocdl.__all__
        if not name.startswith(("mfma", "wmma", "MFMA", "WMMA"))
        and name not in named
        and not re.search(rf"\b{name}\b", source)
    ]
    assert sorted(missing) == [
        "BufferAtomic", "BufferCopy128b", "BufferCopy16b", "BufferCopy64b", "BufferCopy8b", "BufferCopyLDS",
        "BufferCopyLDS64b", "BufferLoadAsyncLDS", "BufferLoadAsyncLDS128b", "BufferLoadAsyncLDS32b",
        "CopyOpCDNA3BufferCopyType", "GlobalLoadAsyncLDS", "GlobalLoadAsyncLDS32b", "GlobalLoadAsyncLDS96b",
        "SyncScope", "TDM", "ds_read_tr16_b64", "get_buffer_rsrc", "make_buffer_ptr", "mask_dsrd", "mask_dswr",
        "mask_mfma", "mask_vmem_rd", "rdna4", "universal",
    ]  # fmt: skip
