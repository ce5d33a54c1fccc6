"""Machine code of small kernels for any target, and the memory instructions in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tests.unit.nvvm import running
from tests.unit.rocdl import device_code

ALL = (*device_code.AMD, "sm_80", "sm_90a")
_MEMORY = re.compile(
    r"^\s*((?:ds|global|flat|buffer)_(?:read|write|load|store)\w+|(?:ld|st)\.(?:shared|global)[\w.]*)", re.MULTILINE
)


def code(function: Any, args: Sequence[Any], arch: str) -> str:
    """Assembly, or PTX."""
    if arch.startswith("sm_"):
        return running.ptx(function, tuple(args), arch)
    return device_code.assembly(function, args, arch)


def memory_instructions(text: str) -> Counter[str]:
    """How often each instruction that reads or writes memory occurs."""
    return Counter(_MEMORY.findall(text))
