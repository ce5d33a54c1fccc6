"""What ranks did wrong to each other's memory, in the user's words: lines, ranks, blocks, and the flag between them."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from flydsl.base import native_names as names
from flydsl.base.errors import Fault, SanitizerError, SourceLocation, ThreadPlace
from flydsl.base.records import dataclass
from flydsl.native import constants as native

Sites = Sequence[tuple[str, int, str]]
_codes: list[Sites] = []
"""The places in the code of each launch that ranks have made, by the number that reports have."""
_addresses: dict[str, int] = {}

_RULES = {
    native.RANK_STORE_SCOPE: (
        "this look at a flag is of another rank's store at {other_line}, which only the device of {other} has to see",
        'store flags of other ranks with scope="system", as fx.signal does',
    ),
    native.RANK_LOAD_SCOPE: (
        "this look at a flag that {other} stored at {other_line} has the scope of one device",
        'look at flags of other ranks with scope="system", as fx.wait does',
    ),
    native.RANK_NO_RELEASE: (
        "{deed} what {other} accessed at {other_line}, and the flag stored at {flag_line} has no release: it may be "
        "seen before the data",
        'store the flag with order="release", as fx.signal does',
    ),
    native.RANK_NO_ACQUIRE: (
        "{deed} what {other} accessed at {other_line}, and the look at the flag at {flag_line} does not acquire: the "
        "data may be older than the flag",
        'wait with order="acquire", as fx.wait does',
    ),
    native.RANK_LATE: (
        "{deed} what {other} accessed at {other_line}, after its signal at {flag_line}: a signal shows only what lies "
        "before it",
        "signal behind the last access, with fx.barrier() between if other threads make it; to use memory again, meet "
        "its readers first",
    ),
    native.RANK_NO_BARRIER_BEFORE: (
        "{deed} what {other} accessed at {other_line}; another thread of its block signalled at {flag_line}, with no "
        "fx.barrier() between the two",
        "put fx.barrier() in front of the signal",
    ),
    native.RANK_NO_BARRIER_AFTER: (
        "{deed} what {other} accessed at {other_line}; another thread of this block waited for that at {flag_line}, "
        "with no fx.barrier() behind it",
        "put fx.barrier() behind the wait",
    ),
    native.RANK_UNORDERED: (
        "{deed} what {other} accessed at {other_line}, and no flag orders the two",
        "let one signal and the other wait, with fx.rank_barrier or fx.signal and fx.wait",
    ),
    native.RANK_REUSED: (
        "this write is to what {other} may still be reading at {other_line}",
        "meet the readers before the memory is used again: fx.rank_barrier at the end, or two halves in turn",
    ),
    native.RANK_PLAIN_FLAG: (
        "this access and that of {other} at {other_line} are not ordered, and only one of them is atomic",
        "store and look at flags with fx.signal, fx.wait or fx.atomic alone",
    ),
}
"""Fault -> what is wrong, and what to do."""


@dataclass(frozen=True)
class RankPlace(ThreadPlace):
    """A thread of a rank."""

    rank: int = 0

    def __str__(self) -> str:
        return f"thread {self.thread[0]} of block {self.block[0]} of rank {self.rank}"


def open_checker(address: Callable[[str], int]) -> None:
    """Have the checker follow ranks; ``address`` is that of one of its functions."""
    for name in (names.SANITIZER_RANKS_OPEN, names.SANITIZER_RANKS_REPORT, names.SANITIZER_RANKS_WRITER):
        _addresses[name] = address(name)
    ctypes.CFUNCTYPE(None)(_addresses[names.SANITIZER_RANKS_OPEN])()


def code_number(sites: Sites) -> int:
    """Return the number under which reports know the code with these places."""
    for number, known in enumerate(_codes):
        if known is sites:
            return number
    _codes.append(sites)
    return len(_codes) - 1


def _words() -> list[int]:
    place = ctypes.CFUNCTYPE(ctypes.c_void_p)(_addresses[names.SANITIZER_RANKS_REPORT])()
    return list((ctypes.c_int64 * native.RANK_REPORT_WORDS).from_address(place))


def _place(words: Sequence[int], at: int) -> tuple[RankPlace, dict[str, Any]]:
    site, rank, block, thread, code = words[at : at + native.RANK_EVENT_WORDS]
    file, line, facts = _codes[code][site]
    return RankPlace((block, 0, 0), (thread, 0, 0), SourceLocation(file, line), rank), json.loads(facts)


def rank_error() -> SanitizerError:
    """Return the error for the checker's report."""
    words = _words()
    here, facts = _place(words, native.RANK_REPORT_HERE)
    other, _ = _place(words, native.RANK_REPORT_OTHER)
    flag, _ = _place(words, native.RANK_REPORT_FLAG)
    message, hint = _RULES[words[native.RANK_REPORT_FAULT]]
    deed = "this write changes" if words[native.RANK_REPORT_KIND] & native.ACCESS_WRITE else "this read is of"
    text = message.format(deed=deed, other=other, other_line=other.location, flag_line=flag.location)
    fault = Fault("ranks", here, facts.get("name", ""), (), other)
    return SanitizerError(f"{here}: {text}", fault=fault, hint=hint, location=here.location)


def different_bits(array: np.ndarray, rank: int, at: int, addresses: Sequence[int]) -> SanitizerError:
    """Return the error for an array of a rank that differs from rank 0's from a byte on."""
    coordinate = tuple(int(i) for i in np.unravel_index(at // array.itemsize, array.shape))
    here, other = writer(addresses[rank] + at), writer(addresses[0] + at)
    message = f"rank {rank} has other bits than rank 0 at coordinate {coordinate}"
    if here is not None and other is not None:
        message += f": they were written by {here} here, and by {other} at {other.location}"
    nobody = RankPlace((0, 0, 0), (0, 0, 0), None, rank)
    hint = "add in the same order on every rank: from rank 0 on, not from the own rank on"
    fault = Fault("ranks", here or nobody, "", coordinate, other)
    return SanitizerError(message, fault=fault, hint=hint, location=here.location if here is not None else None)


def writer(address: int) -> RankPlace | None:
    """Return who wrote an element of symmetric memory last, if the checker saw it."""
    if names.SANITIZER_RANKS_WRITER not in _addresses:
        return None
    find = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_uint64)(_addresses[names.SANITIZER_RANKS_WRITER])
    return _place(_words(), native.RANK_REPORT_OTHER)[0] if find(address) else None
