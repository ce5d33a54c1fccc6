"""Object code of the package itself as artifacts: compiled once per machine and version, then found on disk.

What calls go through is loaded once and stays: threads that ask at the same time get the same code.
"""

from __future__ import annotations

import threading
from importlib import import_module
from typing import Any

from flydsl.compiler.artifact import Artifact
from flydsl.compiler.cache_key import CacheKey, settings_text
from flydsl.compiler.disk_cache import fetch_own
from flydsl.compiler.toolchain import toolchain_text

_loading = threading.RLock()
_in_process: dict[str, Any] = {}


def pool_object() -> bytes:
    """The thread pool's object code for this machine."""
    return _own("host_pool", "pool_object")


def native_call_code() -> Any:
    """The code that makes a call of GPU code, in this process."""
    return _loaded("native_call", "call_object")


def _loaded(name: str, function: str) -> Any:
    with _loading:
        if name not in _in_process:
            load_object = import_module("flydsl.runtime.object_code").load_object
            _in_process[name] = load_object(_own(name, function))
        return _in_process[name]


def _own(name: str, function: str) -> bytes:
    """What a function of `codegen` compiles, from disk where it is there."""

    def compile_() -> Artifact:
        code = getattr(import_module(f"flydsl.codegen.{name}"), function)()
        return Artifact(name=name, target="", device=name, argument_format="", host_object=code)

    return fetch_own(CacheKey(name, toolchain_text(), settings_text(name)), compile_).host_object
