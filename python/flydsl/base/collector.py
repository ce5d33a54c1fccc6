"""What Python does with memory by itself, kept from costing time: looking for garbage among objects that are there to
stay takes a tenth of it, and fetching the frames of deep calls from the system up to a quarter."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


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


def in_one_piece(function: Callable[[], T]) -> T:
    """Call a function with memory at hand for the frames of hundreds of calls in it.

    Python takes it from the system 16 KB at a time, and gives a piece back when the calls in it return: a loop whose
    calls cross the end of one does so each time. A piece is as large as the frame it begins with asks for, which here
    is half a megabyte: a whole one, half of it for others.
    """
    return function()


in_one_piece.__code__ = in_one_piece.__code__.replace(co_stacksize=1 << 16)
