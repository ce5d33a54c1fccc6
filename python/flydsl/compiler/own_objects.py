"""Object code of the package itself as artifacts: compiled once per machine and version, then found on disk."""

from __future__ import annotations

from importlib import import_module

from flydsl.compiler.artifact import Artifact
from flydsl.compiler.cache_key import CacheKey, settings_text
from flydsl.compiler.disk_cache import fetch_own
from flydsl.compiler.toolchain import toolchain_text


def pool_object() -> bytes:
    """The thread pool's object code for this machine."""
    return _own("host_pool", "pool_object")


def native_call_object() -> bytes:
    """The object code that makes a call of GPU code, for this machine."""
    return _own("native_call", "call_object")


def native_watches_object() -> bytes:
    """The object code that looks for changes before a call, for this machine."""
    return _own("native_watches", "watches_object")


def _own(name: str, function: str) -> bytes:
    """What a function of `codegen` compiles, from disk where it is there."""

    def compile_() -> Artifact:
        code = getattr(import_module(f"flydsl.codegen.{name}"), function)()
        return Artifact(name=name, target="", device=name, argument_format="", host_object=code)

    return fetch_own(CacheKey(name, toolchain_text(), settings_text(name)), compile_).host_object
