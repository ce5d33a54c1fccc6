"""Instructions as `llvm-objdump` writes them, taken apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE = re.compile(r"^\t(\S+)\s*(.*?)\s*// ([0-9A-F]+): ([0-9A-F ]+)")
_BEYOND = re.compile(r"v(?:\d+|\[\d+:\d+\]) /\*(v[^*]*)\*/")
"""A register beyond 256, whose upper bits `s_set_vgpr_msb` says, with its own name behind it."""
_FORM = re.compile(r"_(e32|e64|dpp|dpp8|sdwa|e64_dpp|e64_dpp8)$")


@dataclass(frozen=True)
class Instruction:
    address: int
    name: str
    """Without what says how it is encoded."""
    form: str
    """``e64``, ``dpp``, ``sdwa``; empty where no form is shown."""
    operands: tuple[str, ...]
    modifiers: dict[str, str]
    """``offset:16`` as it is, ``sc0`` with an empty text."""
    text: str
    end: int
    """The address behind it."""

    def number(self, modifier: str, default: int = 0) -> int:
        return int(self.modifiers[modifier], 0) if modifier in self.modifiers else default

    def numbers(self, modifier: str, default: list[int]) -> list[int]:
        """A list such as ``op_sel:[0,1]``, as long as the default at least."""
        if modifier not in self.modifiers:
            return default
        found = [int(part) for part in self.modifiers[modifier].strip("[]").split(",")]
        return found + default[len(found) :]


def _split(text: str) -> tuple[list[str], dict[str, str]]:
    operands: list[str] = []
    depth, start, bar = 0, 0, False
    for at, letter in enumerate(text + ","):
        depth += (letter in "[(") - (letter in "])")
        bar ^= letter == "|"
        if letter == "," and depth == 0 and not bar:
            operands.append(text[start:at].strip())
            start = at + 1
    last, *rest = operands[-1].split() or [""]
    operands[-1] = last
    modifiers = {name: value for name, _, value in (part.partition(":") for part in rest)}
    return [one for one in operands if one], modifiers


def _instruction(address: int, name: str, rest: str, end: int, text: str) -> Instruction:
    form = _FORM.search(name)
    operands, modifiers = _split(rest)
    bare = name[: form.start()] if form else name
    return Instruction(address, bare, form[1] if form else "", tuple(operands), modifiers, text, end)


def instructions(listing: str) -> list[tuple[Instruction, ...]]:
    """All instructions in order; two where a GPU issues two at once."""
    found = []
    for line in listing.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        name, rest, address = match[1], _BEYOND.sub(r"\1", match[2]), int(match[3], 16)
        end = address + 4 * len(match[4].split())
        text = f"{name} {rest}".strip()
        if name == "s_delay_alu":
            found.append((Instruction(address, name, "", (), {}, text, end),))
        elif " :: " in rest:
            first, second = rest.split(" :: ")
            other, _, behind = second.partition(" ")
            found.append((
                _instruction(address, name, first, end, text), _instruction(address, other, behind, end, text),
            ))  # fmt: skip
        else:
            found.append((_instruction(address, name, rest, end, text),))
    return found
