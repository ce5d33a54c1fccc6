"""JitCacheManager: the disk cache as an object, under the name older code knows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from flydsl.base.lazy import lazy_module

if TYPE_CHECKING:
    from flydsl.compiler.cache import cache_store
else:
    cache_store = lazy_module("flydsl.compiler.cache.cache_store")


class JitCacheManager:
    """Where compiled code is kept, what is there, and throwing it away. Compiling looks there by itself."""

    @property
    def cache_dir(self) -> Path | None:
        """The directory; None where the disk cache is off."""
        store = self._store()
        return store.root if store is not None else None

    def entries(self) -> list[Path]:
        """The files of compiled code."""
        store = self._store()
        return [entry.path for entry in store.entries()] if store is not None else []

    def clear(self) -> None:
        """Remove all of them; running code is not disturbed."""
        store = self._store()
        if store is not None:
            store.clear()

    @staticmethod
    def _store() -> Any:
        return cache_store.open_store()
