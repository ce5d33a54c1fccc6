"""The thread pool's object code as an artifact: compiled once per machine and version, then found on disk."""

from __future__ import annotations

from importlib import import_module

from flydsl.compiler.artifact import Artifact
from flydsl.compiler.cache_key import CacheKey, settings_text
from flydsl.compiler.disk_cache import fetch_own
from flydsl.compiler.toolchain import toolchain_text

_NAME = "host_pool"


def pool_object() -> bytes:
    """The pool's object code for this machine."""
    key = CacheKey(_NAME, toolchain_text(), settings_text(_NAME))
    return fetch_own(key, _compile).host_object


def _compile() -> Artifact:
    code = import_module("flydsl.codegen.host_pool").pool_object()
    return Artifact(name=_NAME, target="", device=_NAME, argument_format="", host_object=code)
