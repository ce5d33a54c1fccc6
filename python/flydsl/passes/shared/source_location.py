"""From an operation's location back to the user's line, for errors raised while lowering."""

from __future__ import annotations

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Operation

from flydsl.base.errors import FlyDSLError, SourceLocation


def location_of(op: Operation) -> SourceLocation | None:
    """Where the user wrote what became ``op``."""
    location = op.location
    if not isinstance(location, FileLineColLoc):
        return None
    return SourceLocation(location.filename.data, location.line.data, location.column.data)


def located(error: FlyDSLError, op: Operation) -> FlyDSLError:
    """The error, pointing at the operation's line unless it already points somewhere."""
    if error.location is None:
        error.location = location_of(op)
    return error
