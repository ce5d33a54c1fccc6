"""The mistakes a kernel author makes, and what they are told: one table for the tests and for docs/errors.md.

python -m tests.unit.errors.catalogue > docs/errors.md
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.unit.errors import (
    mends_control_flow,
    mends_habits,
    mends_launches,
    mends_values,
    mistakes_calls,
    mistakes_captures,
    mistakes_control_flow,
    mistakes_habits,
    mistakes_launches,
    mistakes_values,
)
from tests.unit.errors.mistake import CALL, FILE, Mistake, kernel_of, run

MISTAKES = (
    *mistakes_control_flow.MISTAKES,
    *mistakes_values.MISTAKES,
    *mistakes_habits.MISTAKES,
    *mistakes_launches.MISTAKES,
    *mistakes_calls.MISTAKES,
    *mistakes_captures.MISTAKES,
)

_BODIES = {**mends_control_flow.MENDS, **mends_values.MENDS, **mends_habits.MENDS}


def mends(mistake: Mistake) -> tuple[str, ...]:
    """The programs that come of following the advice on a mistake, one for each way that it names."""
    if mistake.title in mends_launches.MENDS:
        return tuple(text.strip() + "\n" for text in mends_launches.MENDS[mistake.title])
    return tuple(kernel_of(body) for body in _BODIES[mistake.title])


def message(mistake: Mistake) -> str:
    """What the user reads, with a file name that is the same everywhere."""
    with tempfile.TemporaryDirectory() as folder:
        return run(mistake, Path(folder)).rendered().replace(f"{folder}/{FILE}", FILE)


HEAD = """\
# Errors

<!-- Written by `python -m tests.unit.errors.catalogue`; a test keeps it current. -->

A mistake raises a `FlyDSLError` whose message has the file and line, what is wrong, the source line with a caret,
and what to write instead. Each class also derives from a built-in exception (in parentheses below), so
`except ValueError` works as one expects. Frames of this package are left out of the traceback;
`FLYDSL_DEBUG_TRACEBACK=1` shows them. On a terminal the message is coloured; `NO_COLOR=1` turns that off.

After each message stands a program that follows its advice. Every program, wrong or mended, is run by the tests as
the file `kernel.py`, for gfx942, with `np`, `flyc` and `fx` imported. One that defines a function called *kernel* is
launched by

```python no-run
{call}```
"""


def document() -> str:
    """The text of docs/errors.md."""
    parts = [HEAD.format(call=CALL)]
    for section in dict.fromkeys(mistake.section for mistake in MISTAKES):
        parts.append(f"## {section}\n")
        for mistake in MISTAKES:
            if mistake.section != section:
                continue
            title = mistake.title[0].upper() + mistake.title[1:]
            kinds = f"`{mistake.error.__name__}` ({mistake.built_in.__name__})"
            parts.append(f"### {title}\n\n{kinds}\n\n```python no-run\n{mistake.source}```\n")
            parts.append(f"```text\n{message(mistake)}\n```\n")
            parts.append(f"Mended:\n\n```python no-run\n{mends(mistake)[0]}```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(document(), end="")
