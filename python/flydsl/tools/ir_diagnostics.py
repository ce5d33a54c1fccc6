"""What `fly-opt` reports about a file, and how that compares with what the file expects.

A comment ``// expected-error@+1 {{text}}`` says that an error whose message holds ``text`` belongs
to the line below; ``@below``, ``@above``, ``@-2`` and no offset work alike. ``expected-error-re`` is
not needed: the text is searched for, not matched whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from flydsl.base.records import dataclass

_EXPECTED = re.compile(
    r"expected-(?P<severity>error|warning|note|remark)\s*(?:@(?P<offset>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*?)\}\}"
)
_DIRECTIONS = {"above": -1, "below": 1}
UNKNOWN_LINE = 0


@dataclass(frozen=True)
class IrDiagnostic:
    """A message about one place in a file; line 0 means the file as a whole."""

    file: str
    line: int
    column: int
    message: str
    severity: str = "error"

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{where}: {self.severity}: {self.message}"


class IrError(Exception):
    """Input that is not valid, with everything found wrong with it."""

    def __init__(self, found: Sequence[IrDiagnostic]) -> None:
        super().__init__("\n".join(map(str, found)))
        self.found = list(found)


@dataclass(frozen=True)
class Expectation:
    """One ``expected-...`` comment."""

    line: int
    severity: str
    text: str

    def accepts(self, found: IrDiagnostic) -> bool:
        same_line = self.line in (UNKNOWN_LINE, found.line)
        return same_line and found.severity == self.severity and self.text in found.message


def expectations(text: str) -> list[Expectation]:
    """Return every expectation written in a file's comments."""
    wanted: list[Expectation] = []
    for number, line in enumerate(text.splitlines(), start=1):
        comment = line.partition("//")[2]
        for match in _EXPECTED.finditer(comment):
            offset = match["offset"] or "+0"
            target = number + _DIRECTIONS[offset] if offset in _DIRECTIONS else number
            if offset[0] in "+-":
                target = number + int(offset)
            if offset == "unknown":
                target = UNKNOWN_LINE
            wanted.append(Expectation(target, match["severity"], match["text"]))
    return wanted


def unmet(wanted: Sequence[Expectation], found: Sequence[IrDiagnostic], file: str) -> list[IrDiagnostic]:
    """Return what is wrong with the outcome: expectations nothing met, and diagnostics nobody expected."""
    left = list(found)
    wrong: list[IrDiagnostic] = []
    for expectation in wanted:
        match = next((d for d in left if expectation.accepts(d)), None)
        if match is None:
            message = f'expected {expectation.severity} "{expectation.text}" was not produced'
            wrong.append(IrDiagnostic(file, expectation.line, 1, message))
        else:
            left.remove(match)
    return wrong + [IrDiagnostic(d.file, d.line, d.column, f"unexpected {d.severity}: {d.message}") for d in left]
