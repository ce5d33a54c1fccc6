"""Python's garbage collector kept from looking at objects that are there to stay, which costs a tenth of the time."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Generator[None, None, None]:
    """Make objects without looking for garbage among them until they are all there."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def making_what_stays() -> Generator[None, None, None]:
    """Pause the collector while modules load; afterwards they count as old, and only full collections see them."""
    with collector_paused():
        try:
            yield
        finally:
            if not gc.get_freeze_count():  # somebody may have frozen objects, and this would thaw them
                gc.freeze()
                gc.unfreeze()
