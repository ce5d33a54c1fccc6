"""Calls of jit functions that are noted, and compiled neither for the virtual GPU nor for a device.

For tests that read the code of a target: ``fn.specialisations[-1].kernels`` makes it when it is first asked for. What
`ptxas` would say about it, a second later, is not asked for.
"""

from __future__ import annotations

from typing import Any

import pytest

from flydsl.base import knobs
from flydsl.compiler import jit_function
from flydsl.compiler.cache.compiled_code import Fetched
from flydsl.runtime import nvidia_tools

NO_CODE: Any = None


def describe_calls(monkeypatch: pytest.MonkeyPatch, arch: str = "sm_90a") -> None:
    """Let calls be noted for a target, until the end of the test."""
    monkeypatch.setenv(knobs.ARCH.name, arch)
    monkeypatch.setenv(knobs.COMPILE_ONLY.name, "1")
    monkeypatch.setattr(jit_function.compiled_code, "artifact_for", lambda *_: Fetched(NO_CODE, False, ()))
    monkeypatch.setattr(jit_function.compiled_code, "prepare", lambda _: None)
    monkeypatch.setattr(nvidia_tools, "usage_by_ptxas", lambda *_: {})
