"""Where the values of a thread stand in a product's result, read from the layouts of the matrix instruction."""

from __future__ import annotations

from typing import Any

import flydsl.expr as fx


class FragmentPlaces:
    """A thread's values of a result of a shape: the first stands at ``origin``, and each ``steps[i]`` from there.

    Origins are known at run time; steps are the same for all threads and known while compiling.
    """

    def __init__(self, tiled: Any, thread: Any, shape: tuple[int, int]) -> None:
        where = fx.make_identity_tensor(shape)
        mine, pattern = (tiled.get_slice(t).partition_C(where) for t in (thread, 0))
        self.origin = tuple(fx.Int32(part) for part in fx.get_leaves(mine[0]))
        self.steps = [tuple(int(part) for part in fx.get_leaves(pattern[i])) for i in range(int(fx.size(pattern)))]

    def along(self, mode: int) -> list[int]:
        """Return the different steps along a mode, in order."""
        return sorted({step[mode] for step in self.steps})

    def numbers(self, mode: int) -> list[int]:
        """Return which of the different steps along a mode each value has."""
        steps = self.along(mode)
        return [steps.index(step[mode]) for step in self.steps]
