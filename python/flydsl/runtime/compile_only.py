"""A device that is not here: code can be made for it, but not run."""

from __future__ import annotations

from flydsl.base.records import dataclass
from flydsl.target.target import Target


@dataclass(frozen=True)
class CompileOnlyDevice:
    """What COMPILE_ONLY compiles for: the real device of a target."""

    target: Target
    kind: str
