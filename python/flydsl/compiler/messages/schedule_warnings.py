"""Stale scheduling hints, told as Python warnings that point at the kernel's line."""

from __future__ import annotations

import warnings

from xdsl.dialects.builtin import ModuleOp

from flydsl.base.errors import ScheduleWarning
from flydsl.passes.schedule_check import schedule_mismatches


def warn_about_schedules(module: ModuleOp) -> None:
    """One warning a line and compilation for hints that do not match the instructions around them."""
    for found in schedule_mismatches(module):
        place = found.location
        if place is None:
            warnings.warn(str(found), ScheduleWarning, stacklevel=2)
        else:
            warnings.warn_explicit(str(found), ScheduleWarning, place.file, place.line)
