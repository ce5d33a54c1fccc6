"""The tensor data mover of gfx1250: tiles of up to five dimensions, to shared memory and from it, by a descriptor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.emulator.arena import Fault
from tests.emulator.disassembly import Instruction
from tests.emulator.operands import register
from tests.emulator.wave import Wave

Run = Callable[[Wave], Any]


def _bits(words: list[int], first: int, count: int) -> int:
    """A field by its first bit, counted from the beginning of the first group."""
    whole = sum(word << 32 * at for at, word in enumerate(words))
    return whole >> first & (1 << count) - 1


class Tile:
    """What a descriptor says."""

    def __init__(self, words: list[int]) -> None:
        group = [*words, *[0] * (20 - len(words))]

        def field(word: int, bit: int, count: int) -> int:
            return _bits(group[word:], bit, count)

        self.valid = field(0, 0, 2) == 1 and field(3, 30, 2) == 2
        self.lds, self.memory = group[1], field(2, 0, 57)
        self.size = 1 << field(4, 16, 2)
        if field(4, 18, 2) or field(4, 0, 16):
            raise NotImplementedError("barriers, iteration or multicast of the tensor data mover")
        self.gap = 4 * (field(4, 25, 7) + 1) if field(4, 20, 1) else 0
        self.every = 4 * (2 << field(4, 22, 3))
        more = len(words) > 12
        extents = [field(5, 16, 32), field(6, 16, 32)]
        tile = [field(7, 16, 16), field(8, 0, 16), field(8, 16, 16)]
        strides = [1, field(9, 0, 48), field(10, 16, 48)]
        if more:
            extents += [field(12, 0, 32), field(13, 0, 32), field(17, 16, 32)]
            tile += [field(15, 16, 16), field(18, 16, 16)]
            strides += [field(14, 0, 48), field(16, 0, 48)]
        self.rows: list[int] | None = None
        if field(0, 31, 1):  # rows by their numbers, which stand where further dimensions would
            bits = 32 if field(0, 30, 1) else 16
            self.rows = [_bits(group[12:], at * bits, bits) for at in range(tile[1])]
            tile[2:], more = [0] * (len(tile) - 2), False
        rank = max([at + 1 for at, extent in enumerate(tile) if extent], default=0)
        self.shape = [max(extent, 1) for extent in tile[:rank]]
        self.extents, self.strides = [*extents, *[1] * 5][:rank], strides[:rank]

    def places(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(distances in memory, whether they are inside, distances in shared memory) of all elements, in bytes."""
        index = np.indices(self.shape[::-1]).reshape(len(self.shape), -1)[::-1]
        if self.rows is not None:
            index[1] = np.array(self.rows)[index[1]]
        inside = np.all(index < np.array(self.extents)[:, None], axis=0)
        memory = (index * np.array(self.strides)[:, None]).sum(axis=0) * self.size
        at = np.arange(index.shape[1]) * self.size
        return memory, inside, at + at // self.every * self.gap


def tensor_move(one: Instruction) -> Run | None:
    """What a load into shared memory, or a store from it, does when it is waited for; None of other instructions."""
    if one.name not in ("tensor_load_to_lds", "tensor_store_from_lds"):
        return None
    places = [register(text) for text in one.operands]
    loads = one.name == "tensor_load_to_lds"

    def run(w: Wave) -> None:
        words = [w.s[place.number + word] for place in places if place is not None for word in range(place.words)]
        tile = Tile(words)
        if not tile.valid:
            return
        memory, inside, local = tile.places()
        lds, arena = w.group.lds, w.group.arena
        local = local + tile.lds
        if local.size and local.max() + tile.size > len(lds):
            raise Fault(f"a tile reaches byte {int(local.max()) + tile.size} of {len(lds)} of shared memory")
        addresses, step = (memory + tile.memory)[inside], np.arange(tile.size)

        def move() -> None:
            if loads:
                data = np.zeros((len(local), tile.size), np.uint8)
                data[inside] = arena.load(addresses, tile.size)
                lds[local[:, None] + step] = data
            else:
                arena.store(addresses, lds[local[inside][:, None] + step])

        w.later("tensor", move)

    return run
