"""A watch over the processes of other ranks, for GPUs: nothing ends a kernel that waits for a dead one.

A thread sees another rank's process end. From then on it looks whether the work of this rank's GPU still comes to its
end; where it does not within the time limit, this process ends, with an error that names the rank.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from select import poll

_GLANCE = 0.2
"""Seconds between two looks at other processes."""


def ended(handles: Mapping[int, int]) -> list[int]:
    """Ranks whose processes have ended; ``handles`` has a descriptor of each process."""
    waiting = poll()
    for handle in handles.values():
        waiting.register(handle)
    over = {handle for handle, _ in waiting.poll(0)}
    return [rank for rank, handle in handles.items() if handle in over]


def end_process(message: str) -> None:
    """End this process at once, with an error: no thread of it can go on, and its kernels end with it."""
    sys.stdout.flush()
    print(message, file=sys.stderr, flush=True)
    os._exit(1)


class ProcessWatch:
    """Watches until `close`. ``synchronize`` waits for the GPU, ``limit`` seconds at the most; 0 is no limit."""

    def __init__(
        self, number: int, handles: Mapping[int, int], synchronize: Callable[[], object], limit: float,
        end: Callable[[str], object] = end_process,
    ) -> None:  # fmt: skip
        self._number, self._handles, self._synchronize, self._limit = number, handles, synchronize, limit
        self._end, self._closed = end, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="flydsl-ranks")
        if handles and limit:
            self._thread.start()

    def _run(self) -> None:
        while not self._closed.wait(_GLANCE):
            dead = ended(self._handles)
            if dead and not self._comes_to_an_end():
                self._end(
                    f"DslRuntimeError: rank {dead[0]} has died: kernels of rank {self._number} have waited for it for "
                    f"{self._limit:g} s, and only the end of this process ends them\n"
                    f"  help: look for the error of rank {dead[0]}; FLYDSL_RUNTIME_PEER_LIMIT is the time limit"
                )
                return

    def _comes_to_an_end(self) -> bool:
        """Return whether the GPU is through with its work in time, or nobody watches any more."""
        work = threading.Thread(target=self._synchronize, daemon=True)
        work.start()
        work.join(self._limit)
        return not work.is_alive() or self._closed.is_set()

    def close(self) -> None:
        """Watch no longer."""
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join(2 * _GLANCE)
