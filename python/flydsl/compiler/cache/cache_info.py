"""What a jit function's caches did so far: `fn.cache_info()`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flydsl.base.lazy import lazy_module

if TYPE_CHECKING:
    import pathlib

    from flydsl.base import files
else:
    pathlib = lazy_module("pathlib")
    files = lazy_module("flydsl.base.files")


class CacheInfo(NamedTuple):
    """Counts since the function was made."""

    hits: int
    """Calls that found their code, in memory or on disk."""
    misses: int
    """Calls that had to compile."""
    currsize: int
    """Specialisations in memory."""
    disk_size: int
    """Specialisations of the function on disk, as it is now."""


class CacheCounts:
    """The counts behind it. Threads that count at the same time may lose a call; no lock is worth that."""

    __slots__ = ("hits", "key", "misses")

    def __init__(self) -> None:
        self.hits = 0
        self.misses = 0
        self.key: Any = None
        """The key on disk of the last specialisation, which names the function's directory."""

    def info(self, size: int) -> CacheInfo | None:
        """Return the counts, or None before the first call."""
        if not self.hits and not self.misses:
            return None
        on_disk = 0
        if self.key is not None:
            store = files.open_store()
            on_disk = store.count(self.key.directory) if store is not None else 0
        return CacheInfo(self.hits, self.misses, size, on_disk)


# JitCacheManager: the disk cache as an object, under the name older code knows ----------------


class JitCacheManager:
    """Where compiled code is kept, what is there, and throwing it away. Compiling looks there by itself."""

    @property
    def cache_dir(self) -> pathlib.Path | None:
        """The directory; None where the disk cache is off."""
        store = self._store()
        return store.root if store is not None else None

    def entries(self) -> list[pathlib.Path]:
        """Return the files of compiled code."""
        store = self._store()
        return [entry.path for entry in store.entries()] if store is not None else []

    def clear(self) -> None:
        """Remove all of them; running code is not disturbed."""
        store = self._store()
        if store is not None:
            store.clear()

    @staticmethod
    def _store() -> Any:
        return files.open_store()
