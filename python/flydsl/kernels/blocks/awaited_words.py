"""Words of memory that one block writes and others await: each says itself whether it is there.

A place holds `MISSING`, which no word is, until its word is written, eight bytes at a time: who looks finds all of it
or nothing. No fence lies between a word and who waits for it, and no load behind the wait.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import flydsl.expr as fx

MISSING = -1
"""What is not there yet: four NaNs of 16 bits, or two of 32."""
SOME_NAN = 0x7FFF7FFF7FFF7FFF
"""As many NaNs that are there."""


def word_at(pointer: Any) -> Any:
    return fx.recast_iter(fx.Int64, pointer.aligned(8))


def forget(place: Any) -> None:
    """There is no word at a place yet."""
    fx.atomic_store(place, MISSING, scope="device")


def tell(place: Any, numbers: Any) -> None:
    """Write a word of numbers, so that others see all of them or none."""
    word = numbers.bitcast(fx.Int64)[0]
    fx.atomic_store(place, (word == MISSING).select(fx.Int64(SOME_NAN), word), scope="device")


def look(places: list[Any], found: Any) -> Any:
    """Load the words of places; return whether one is missing."""
    words = [fx.atomic_load(place, scope="device") for place in places]
    found.store(fx.Vector.from_elements(words, fx.Int64))
    return reduce(lambda some, one: some | one, [word == MISSING for word in words])
