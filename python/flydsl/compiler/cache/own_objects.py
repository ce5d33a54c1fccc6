"""Object code of the package itself as artifacts: compiled once per machine and version, then found on disk.

What calls go through is loaded once and stays: threads that ask at the same time get the same code.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from flydsl.base.lazy import lazy_module
from flydsl.compiler.artifacts.artifact import Artifact
from flydsl.compiler.backends.toolchain import toolchain_text
from flydsl.compiler.cache.cache_key import CacheKey, settings_text
from flydsl.compiler.cache.disk_cache import fetch_own

if TYPE_CHECKING:
    from flydsl.codegen import exported_object
    from flydsl.runtime import object_code
else:
    exported_object = lazy_module("flydsl.codegen.exported_object")
    object_code = lazy_module("flydsl.runtime.object_code")


_loading = threading.RLock()
_in_process: dict[str, Any] = {}


def pool_object() -> bytes:
    """The thread pool's object code for this machine."""
    return _own("host_pool")


def native_call_code() -> Any:
    """The code that makes a call of GPU code, in this process."""
    return _loaded("native_call")


def _loaded(name: str) -> Any:
    with _loading:
        if name not in _in_process:
            _in_process[name] = object_code.load_object(_own(name))
        return _in_process[name]


def _own(name: str) -> bytes:
    """The object code of a native part, from disk where it is there."""

    def compile_() -> Artifact:
        code = exported_object.native_object(name)
        return Artifact(name=name, target="", device=name, argument_format="", host_object=code)

    return fetch_own(CacheKey(name, toolchain_text(), settings_text(name)), compile_).host_object
