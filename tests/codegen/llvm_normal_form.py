"""LLVM text in a form in which equal code is equal text."""

from __future__ import annotations

import re


def normalised(text: str) -> str:
    """LLVM text with local names replaced by numbers in order of appearance, comments dropped."""
    lines: list[str] = []
    names: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        return names.setdefault(match[0], f"%{len(names)}")

    for line in re.sub(r";.*", "", text).splitlines():
        if line.startswith("define"):
            names.clear()
        line = re.sub(r"^([\w.$-]+):", r"%\1:", line)
        lines.append(re.sub(r"%[\w.$-]+", number, line).rstrip())
    return "\n".join(line for line in lines if line)
