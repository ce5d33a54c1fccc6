"""Running sanitized code: one call at a time, with the checker's tables set up before and its report read after."""

from __future__ import annotations

import ctypes
import json
import struct
import threading
from typing import TYPE_CHECKING, Any

from flydsl.base import native_names as names
from flydsl.base.errors import DslRuntimeError
from flydsl.base.lazy import lazy_module
from flydsl.base.native_names import SANITIZER_FAULT
from flydsl.compiler.artifacts.artifact import Artifact, Executable
from flydsl.compiler.options.hints import CHECKS
from flydsl.compiler.running import rank_report
from flydsl.compiler.running.sanitized_arrays import WatchedMemory, intervals
from flydsl.compiler.running.sanitizer_report import sanitizer_error
from flydsl.native.constants import CHECK_RANKS, REPORT_WORDS
from flydsl.runtime import host_ranks
from flydsl.runtime.object_code import LoadedObject, add_symbol, load_object

if TYPE_CHECKING:
    from flydsl.codegen import exported_object
else:
    exported_object = lazy_module("flydsl.codegen.exported_object")


_running = threading.Lock()
"""The checker's state is global."""
_loading = threading.Lock()
_checker: LoadedObject | None = None


def load_checker() -> LoadedObject:
    """Return the checker in this process; compiled at first use. It calls the thread pool, which is there already."""
    global _checker
    with _loading:
        if _checker is None:
            _checker = load_object(exported_object.native_object("sanitizer"))
            for name in names.SANITIZER_CALLED:
                add_symbol(name, _checker.address(name))
            rank_report.open_checker(_checker.address)
        return _checker


class SanitizedExecutable(Executable):
    """An executable whose native entry is wrapped in the checker's set-up."""

    def __init__(self, artifact: Artifact, loaded: Any, device: Any) -> None:
        super().__init__(artifact, loaded, device)
        settings = json.loads(artifact.sanitizer)
        self._arrays = settings["arrays"]
        self._checks = frozenset(settings["checks"])
        self._flags = sum(1 << bit for bit, check in enumerate(CHECKS) if check in self._checks)
        self._format = struct.Struct("@" + artifact.argument_format)
        self._native = self._entry
        self._entry = self._entry_of_rank if "ranks" in self._checks else self._checked_entry
        pointers = [ctypes.c_void_p] * 3
        self._begin = ctypes.CFUNCTYPE(
            None, ctypes.c_int64, pointers[0], ctypes.c_int64, pointers[1], ctypes.c_int64, pointers[2]
        )(load_checker().address(names.SANITIZER_BEGIN))

    def _entry_of_rank(self, block: Any, report: Any) -> int:
        """Ranks take turns, so that one launch begins while another waits; who did what is told by their scheduler."""
        self._begin(CHECK_RANKS, 0, 0, 0, 0, 0)
        host_ranks.call("code", rank_report.code_number(self.artifact.sites))
        return self._native(block, report)

    def _checked_entry(self, block: Any, report: Any) -> int:
        if host_ranks.is_rank():
            raise DslRuntimeError(
                'virtual ranks run with the sanitizer "ranks" alone',
                hint='write flyc.sanitize("ranks"), and check the kernel of one rank by itself with the others',
            )
        raw = block if isinstance(block, bytes) else ctypes.string_at(block, self._format.size)
        memory = WatchedMemory(intervals(self._arrays, self._format.unpack_from(raw)), "race" in self._checks)
        words = (ctypes.c_int64 * REPORT_WORDS)()
        with _running:
            self._begin(
                self._flags, ctypes.addressof(memory.ranges), len(memory.arrays), ctypes.addressof(memory.regions),
                memory.region_count, ctypes.addressof(words),
            )  # fmt: skip
            status = self._native(block, report)
        if status == SANITIZER_FAULT:
            self._local.fault = (list(words), memory.arrays)
        return status

    def _fail(self, status: int, *rest: Any) -> None:
        if status == SANITIZER_FAULT and "ranks" in self._checks:
            raise rank_report.rank_error()
        if status == SANITIZER_FAULT:
            words, arrays = self._local.fault
            raise sanitizer_error(words, arrays, self.artifact.sites)
        super()._fail(status, *rest)
