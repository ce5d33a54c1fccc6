"""Memory of the emulated GPU: one array of bytes, of which allocations own parts."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

ALIGNED, BETWEEN = 256, 4096
"""Allocations begin at multiples of the first; the second is how many bytes between them belong to none."""


class Fault(Exception):
    """An access that hardware would have let pass or ended a program for."""


class Arena:
    def __init__(self, size: int) -> None:
        whole = np.zeros(size + ALIGNED, np.uint8)  # pages that nobody touches take no memory
        skip = -whole.ctypes.data % ALIGNED
        self.bytes = whole[skip : skip + size]
        self.owned = np.zeros(size, bool)
        self.base: int = self.bytes.ctypes.data
        self._next = BETWEEN
        self._sizes: dict[int, int] = {}
        self._free: dict[int, list[int]] = defaultdict(list)
        """Places that were given back, by the bytes that they have with what follows."""

    def allocate(self, size: int) -> int:
        """The address of so many bytes, which are filled with nonsense."""
        whole = -(-size // ALIGNED) * ALIGNED + BETWEEN
        if self._free[whole]:
            at = self._free[whole].pop()
        else:
            at, self._next = self._next, self._next + whole
            if self._next > len(self.bytes):
                raise MemoryError(f"{size} bytes do not fit the emulated GPU's memory")
        self.bytes[at : at + size] = 0xA5
        self.owned[at : at + size] = True
        self._sizes[at] = size
        return self.base + at

    def free(self, address: int) -> None:
        at = address - self.base
        size, first = self._sizes.pop(at), at // ALIGNED * ALIGNED
        self.owned[first : first + size] = False
        self._free[-(-size // ALIGNED) * ALIGNED + BETWEEN].append(first)

    def put(self, data: bytes) -> int:
        return self.place(data, 0)

    def place(self, data: bytes, like: int) -> int:
        """The address of a copy of some bytes, as far behind a multiple of the alignment as another address."""
        behind = like % ALIGNED
        address = self.allocate(behind + len(data)) + behind
        at = address - self.base
        self.owned[at - behind : at] = False
        self._sizes[at] = self._sizes.pop(at - behind)
        self.bytes[at : at + len(data)] = np.frombuffer(data, np.uint8)
        return address

    def places(self, addresses: np.ndarray, size: int) -> np.ndarray:
        """Where in `bytes` the bytes of accesses are, a row each."""
        offsets = addresses.astype(np.int64) - self.base
        if offsets.size and (offsets.min() < 0 or offsets.max() + size > len(self.bytes)):
            raise Fault(f"an access of {size} bytes at {int(addresses[np.argmax(offsets)]):#x}, which is no memory")
        places = offsets[:, None] + np.arange(size)
        if not self.owned[places].all():
            wrong = addresses[~self.owned[places].all(axis=1)][0]
            raise Fault(f"an access of {size} bytes at {int(wrong):#x}, outside of all allocations")
        return places

    def load(self, addresses: np.ndarray, size: int) -> np.ndarray:
        """Bytes of accesses, a row each."""
        return self.bytes[self.places(addresses, size)]

    def store(self, addresses: np.ndarray, data: np.ndarray) -> None:
        """Write rows of bytes; of two that meet, the later lane's stay."""
        self.bytes[self.places(addresses, data.shape[1])] = data

    def read(self, address: int, size: int) -> bytes:
        """Bytes that all lanes read alike."""
        return self.load(np.array([address], np.uint64), size).tobytes()
