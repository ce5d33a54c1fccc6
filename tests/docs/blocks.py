"""Turn the Python blocks of a Markdown file into a program, and run it.

    python -m tests.docs.blocks FILE.md SCRIPT.py

The program is written to SCRIPT.py, so that kernels in it have source to trace, and every line keeps its number: a
traceback points at the line of the document. Blocks tagged ``python no-run`` are left out; a block that starts with
``>>>`` is a doctest. All blocks of one file share one namespace, in order.
"""

from __future__ import annotations

import doctest
import re
import runpy
import sys
from pathlib import Path
from typing import Any, NamedTuple

_FENCE = re.compile(r"^(?P<indent>[ ]*)```(?P<info>[^`\n]*)$")
_CHECK = "__check_doctest__"


class Block(NamedTuple):
    line: int  # of the first line inside the fence, from 1
    tags: tuple[str, ...]
    lines: tuple[str, ...]


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a document."""
    found: list[Block] = []
    opened: tuple[int, str, str] | None = None
    body: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        fence = _FENCE.match(line)
        if opened is None:
            if fence:
                opened, body = (number, fence["indent"], fence["info"]), []
        elif fence and not fence["info"].strip():
            found.append(Block(opened[0] + 1, tuple(opened[2].split()), tuple(body)))
            opened = None
        else:
            body.append(line.removeprefix(opened[1]))
    if opened is not None:
        raise ValueError(f"line {opened[0]}: the block is not closed")
    return found


def runnable(text: str) -> list[Block]:
    return [block for block in blocks(text) if block.tags[:1] == ("python",) and "no-run" not in block.tags]


def program(text: str) -> str:
    """The document as a Python program with the same line numbers."""
    lines = [""] * (len(text.splitlines()) + 1)
    for block in runnable(text):
        if next((line for line in block.lines if line.strip()), "").startswith(">>>"):
            source = "\n".join(block.lines)
            lines[block.line - 1] = f"{_CHECK}({source!r}, {block.line}, globals())"
        else:
            lines[block.line - 1 : block.line - 1 + len(block.lines)] = block.lines
    return "\n".join(lines)


def check_doctest(source: str, line: int, namespace: dict[str, Any]) -> None:
    """Run one ``>>>`` block in the program's namespace; a difference ends the program."""
    name = Path(namespace["__file__"]).stem
    test = doctest.DocTestParser().get_doctest(source + "\n", namespace, name, f"{name}.md", line - 1)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.REPORT_ONLY_FIRST_FAILURE)
    test.globs = namespace  # get_doctest copies it, and later blocks want the names this one defines
    if runner.run(test, clear_globs=False).failed:
        sys.exit(1)


def main(document: str, script: str) -> None:
    Path(script).write_text(program(Path(document).read_text(encoding="utf-8")), encoding="utf-8")
    runpy.run_path(script, init_globals={_CHECK: check_doctest}, run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
