"""Sums of results in f32, for products that add up in fewer bits: they take the results of a run of blocks of keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import flydsl.expr as fx


class RunSums:
    """The sums of a thread, in shared memory, zero at first.

    Four of them lie together, so that neighbouring threads read neighbouring pieces of 16 bytes.
    """

    def __init__(self, ptr: Any, thread: Any, threads: int, count: int) -> None:
        self.count = count
        places = fx.make_layout((4, count // 4, threads), (1, 4 * threads, 4))
        self.places = fx.make_view(ptr, places)[None, None, thread]
        self.places.fill(0.0)

    def fours(self, values: Any) -> Iterator[tuple[Any, Any]]:
        """Places of four sums, and the values there."""
        flat = values.reshape((self.count,))
        for i in range(self.count // 4):
            yield self.places[None, i], flat.shuffle(flat, range(4 * i, 4 * i + 4))

    def add(self, results: Any) -> None:
        for place, four in self.fours(results.load()):
            place.store(place.load() + four)

    def shrink(self, factors: Any) -> None:
        for place, four in self.fours(factors):
            place.store(place.load() * four)

    def give(self, results: Any) -> None:
        """Add the sums to a fragment of results; they are zero then."""
        held, found = results.load(), []
        for place, four in self.fours(held):
            found += list(place.load() + four)
            place.fill(0.0)
        results.store(fx.Vector.from_elements(found, fx.Float32).reshape(held.shape))
