"""Files by the names of the original; `flydsl.base.files` has what this package uses itself."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from typing import IO, Any


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str], *, mode: str = "w", encoding: str | None = None) -> Iterator[IO[Any]]:
    """A file to write. It takes the place of ``path`` when the block ends, and only if it ends well."""
    folder, name = os.path.split(os.fspath(path))
    handle, temporary = tempfile.mkstemp(prefix=f".{name}.", suffix=".tmp", dir=folder or ".")
    try:
        with os.fdopen(handle, mode, encoding=encoding) as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


__all__ = ["atomic_write"]
