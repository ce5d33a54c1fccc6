"""Every instruction of the PTX table can be reached from `fx.nvvm`, and is in the PTX as the table writes it."""

from __future__ import annotations

import re

import pytest

from flydsl.target.ptx import AMPERE, HOPPER, PTX_OPS
from tests.unit.nvvm import every_instruction

_MNEMONIC = re.compile(r"[a-z_]+(?:\.[\w:]+)+")
"""An instruction with its modifiers; registers and labels have no dots between letters."""


def mnemonics(text: str) -> set[str]:
    return {found for found in _MNEMONIC.findall(text) if not found.startswith("reg.")}


@pytest.fixture(scope="module")
def written() -> set[str]:
    found: set[str] = set()
    for _, arch, text in every_instruction.texts():
        assert f".target {arch}" in text
        found |= mnemonics(text)
    return found


@pytest.mark.parametrize("name", PTX_OPS)
def test_the_instruction_is_written(name: str, written: set[str]) -> None:
    op = PTX_OPS[name]
    missing = mnemonics(op.text.replace("{0}", "40")) - written
    assert not missing
    assert op.generations in (AMPERE, HOPPER)
    assert "~{memory}" in op.clobbers
