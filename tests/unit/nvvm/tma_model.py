"""What TMA does, in NumPy: boxes as bytes of shared memory, element by element."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_ROW_BITS = {"none": 0, "32B": 0x10, "64B": 0x30, "128B": 0x70}


def swizzled(address: int, mode: str) -> int:
    """Where the byte at ``address`` of an aligned box lies: 16-byte pieces are exchanged by the row's number."""
    return address ^ ((address >> 3) & _ROW_BITS[mode])


def elements(box: tuple[int, ...], itemsize: int, mode: str) -> list[tuple[tuple[int, ...], int]]:
    """(coordinate in the box, byte in shared memory) of every element; the last mode of the box is the fastest."""
    return [
        (coord, swizzled(index * itemsize, mode))
        for index, coord in enumerate(product(*(range(extent) for extent in box)))
    ]


def inside(coord: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    return all(0 <= at < extent for at, extent in zip(coord, shape, strict=True))


def load(tensor: Array, box: tuple[int, ...], at: tuple[int, ...], mode: str) -> Array:
    """The bytes that a load puts into shared memory."""
    memory = np.zeros(int(np.prod(box)) * tensor.itemsize, np.uint8)
    for offset, byte in elements(box, tensor.itemsize, mode):
        coord = tuple(a + o for a, o in zip(at, offset, strict=True))
        if inside(coord, tensor.shape):
            memory[byte : byte + tensor.itemsize] = np.frombuffer(tensor[coord].tobytes(), np.uint8)
    return memory


def store(
    tensor: Array, memory: Array, box: tuple[int, ...], at: tuple[int, ...], mode: str, combine: Any = None
) -> None:
    """Write, or combine, a box of shared memory into a tensor."""
    for offset, byte in elements(box, tensor.itemsize, mode):
        coord = tuple(a + o for a, o in zip(at, offset, strict=True))
        if inside(coord, tensor.shape):
            value = memory[byte : byte + tensor.itemsize].view(tensor.dtype)[0]
            tensor[coord] = value if combine is None else combine(tensor[coord], value)
