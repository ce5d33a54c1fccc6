"""Calls of ops that were recorded, made again by native code: the tables of `native/src/native_replay.c`.

A recorded call takes tensors, makes others, launches code with both, and returns some. Shapes and strides are those of
the recorded call, so that of a launch's numbers only pointers and the stream differ: a replay copies the numbers and
puts these in. It is a function of Python like any built-in one, and costs the launch and what torch takes for new
tensors.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable
from functools import cache
from itertools import chain
from typing import Any

from flydsl.base.records import dataclass
from flydsl.compiler.calls.native_call import (
    address_in,
    calls_are_native,
    code_words,
    interpreter,
    native_function,
    table_of,
)
from flydsl.native import constants as native

_FAST_CALL = 0x80
"""METH_FASTCALL: a function of its `self`, an array of arguments and their number."""


def _function(name: str, table: bytes) -> Callable[..., Any]:
    return native_function("native_replay", name, _FAST_CALL, table)


@cache
def call_facts() -> Callable[..., bytes | None]:
    """Return a function of a call's arguments: what replays are found by, or None if the call has no replay.

    It has of tensors their types, devices, shapes, strides, and which are the same; of numbers and words their values.
    Tensors begin at multiples of 16 bytes.
    """
    return _function("fly_facts", interpreter())


# Tables --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Launched:
    """A launch of some code: its numbers, and where among them pointers and the stream are."""

    executable: Any
    block: bytes
    stream: int
    pointers: tuple[tuple[int, int, int], ...]
    """(place, which buffer, bytes behind its start)."""


@dataclass(frozen=True)
class Stocked:
    """A buffer that calls take from a stock, of which ``made`` has the whole: so many parts of so many bytes each."""

    buffer: int
    parts: int
    bytes: int


@dataclass(frozen=True)
class Recorded:
    """A call: buffers are the tensors that it was given, then those that it made."""

    facts: bytes
    """Of the tensors that are given (`call_facts`)."""
    given: int
    made: tuple[Any, ...]
    """Tensors like them, which need no memory."""
    launches: tuple[Launched, ...]
    returned: tuple[int, ...]
    alone: bool
    """Whether the first is returned by itself."""
    saved: tuple[int, ...] | None
    """Buffers that are returned in a second tuple; None: there is no second."""
    stream_of: Callable[[Any], int | None]
    device: Any
    """What that function is given."""
    counters: dict[int, int] | None = None
    """Where the buffer behind all others lies, by streams; on others the call is not made again."""
    is_capturing: int = 0
    """Address of the driver's function that says whether a stream is captured: then neither."""
    stocked: Stocked | None = None
    """What is kept as a part of a stock: neither returned nor among ``saved``."""


class Replay:
    """A recorded call as a function of its tensors, which answers None to others; ``table`` is what it is made of.

    In the place of a tensor may be a part of a stock, which is a pair of the stock's tensor and the bytes in front.
    """

    __slots__ = ("call", "kept", "stocked", "table")

    def __init__(self, recorded: Recorded) -> None:
        self.kept: list[Any] = [recorded]
        self.stocked = recorded.stocked
        self.table = table_of(_words(recorded, self.kept))
        self.call = _function("fly_replay", self.table)


def fits(recorded: Recorded) -> bool:
    """Return whether a replay has room for a call and a counter."""
    return recorded.given <= native.MOST_ARGUMENTS and recorded.given + len(recorded.made) < native.MOST_BUFFERS


def _words(recorded: Recorded, kept: list[Any]) -> list[int]:
    facts = struct.unpack(f"@{len(recorded.facts) // 8}q", recorded.facts)
    saved = recorded.saved
    stocks = {} if recorded.stocked is None else {recorded.stocked.buffer: recorded.stocked}
    made = enumerate(recorded.made, recorded.given)
    rows = [word for place, like in made for word in _made(like, stocks.get(place), kept)]
    rows += [*recorded.returned, *(saved or ())]
    rows += [word for launched in recorded.launches for word in _launch_words(launched, kept)]
    words = {
        native.REPLAY_PYTHON: address_in(interpreter()),
        native.REPLAY_GIVEN: recorded.given,
        native.REPLAY_MADE: len(recorded.made),
        native.REPLAY_LAUNCHES: len(recorded.launches),
        native.REPLAY_RETURNED: len(recorded.returned),
        native.REPLAY_ALONE: recorded.alone,
        native.REPLAY_SAVED: -1 if saved is None else len(saved),
        native.REPLAY_STREAM_OF: id(recorded.stream_of),
        native.REPLAY_STREAM_DEVICE: id(recorded.device),
        native.REPLAY_COUNTERS: 0 if recorded.counters is None else id(recorded.counters),
        native.REPLAY_IS_CAPTURING: recorded.is_capturing,
        native.REPLAY_FACTS: native.REPLAY_ROWS + len(rows),
        native.REPLAY_FACTS_COUNT: len(facts),
    }
    return [*(words[word] for word in range(native.REPLAY_ROWS)), *rows, *facts]


def _made(like: Any, stocked: Stocked | None, kept: list[Any]) -> list[int]:
    kind, index = like.__dlpack_device__()
    maker, given = quick_maker(like.device.type), (tuple(like.shape), like.stride(), like.dtype)
    kept.append(given)
    words = {
        native.MADE_PATTERN: id(like),
        native.MADE_DEVICE: int(kind) | index << 32,
        native.MADE_BY: 0 if maker is None else id(maker),
        native.MADE_FROM: id(given),
        native.MADE_STOCK: 0 if stocked is None else _stock(stocked, kept),
        native.MADE_PARTS: 0 if stocked is None else stocked.parts,
        native.MADE_BYTES: 0 if stocked is None else stocked.bytes,
    }
    return [words[word] for word in range(native.MADE_WORDS)]


def _stock(stocked: Stocked, kept: list[Any]) -> int:
    """Return the address of the words of a stock of which nothing is left."""
    holder: list[Any] = [None]
    words = (ctypes.c_int64 * native.STOCK_WORDS)()
    words[native.STOCK_HOLDER], words[native.STOCK_TAKEN] = id(holder), stocked.parts
    kept += [holder, words]
    return ctypes.addressof(words)


@cache
def quick_maker(kind: str) -> Callable[..., Any] | None:
    """Return torch's function of (shape, strides, type) for compiled code: new tensors on the current device of a kind,
    not by the dispatcher. None where it is not what we know."""
    torch = sys.modules["torch"]
    try:
        maker = getattr(torch._C._dynamo.guards, f"_empty_strided_{kind}")
        made = maker((2, 3), (3, 1), torch.bfloat16)
    except (AttributeError, RuntimeError):
        return None
    facts = (type(made), tuple(made.shape), made.stride(), made.dtype, made.device.type)
    return maker if facts == (torch.Tensor, (2, 3), (3, 1), torch.bfloat16, kind) else None


def _launch_words(launched: Launched, kept: list[Any]) -> list[int]:
    executable = launched.executable
    names = executable.launch_names()
    block = ctypes.create_string_buffer(launched.block, -(-len(launched.block) // 8) * 8)
    kept.append(block)
    get, set_, device = (0, 0, 0) if "select" not in names else executable.device.selection()
    words = {
        native.LAUNCHED_GET_DEVICE: get,
        native.LAUNCHED_SET_DEVICE: set_,
        native.LAUNCHED_DEVICE: device,
        native.LAUNCHED_BLOCK: ctypes.addressof(block),
        native.LAUNCHED_BLOCK_BYTES: len(block),
        native.LAUNCHED_STREAM: launched.stream,
        native.LAUNCHED_POINTERS: len(launched.pointers),
    }
    rest = [words[word] for word in range(native.LAUNCHED_GET_DEVICE, native.LAUNCHED_WORDS)]
    return [*code_words(names, kept), *rest, *chain.from_iterable(launched.pointers)]


class Lanes:
    """The recorded calls of one function, by their facts; so many at most.

    ``again(*tensors, *numbers)`` makes a call like one of them, or answers None. It does so too where torch traces the
    call, as far as native code can tell: not to its compiler.
    """

    def __init__(self, most: int = 1024) -> None:
        self.again: Callable[..., Any] = _nothing
        self._most, self._last = most, (ctypes.c_int64 * native.LAST_WORDS)()
        self._known: dict[bytes, tuple[Any, ...]] = {}

    def open(self, tensors: int = 0, derived: int = 0, passed: int = 0) -> bool:
        """Begin to answer; return whether this is the beginning.

        The first ``tensors`` arguments may want gradients, of which the first ``derived`` may have some. Where
        none of the first ``passed`` wants one, some results have none, which lanes are not for.
        """
        if self.again is not _nothing or not calls_are_native():
            return False
        words = {
            native.SITE_PYTHON: address_in(interpreter()),
            native.SITE_LANES: id(self._known),
            native.SITE_TENSORS: tensors,
            native.SITE_DERIVED: derived,
            native.SITE_PASSED: passed,
            native.SITE_LAST: ctypes.addressof(self._last),
        }
        kept = self._known, self._last
        self.again = _function("fly_again", table_of([words[word] for word in range(native.SITE_WORDS)], kept))
        return True

    def find(self, facts: bytes) -> Any:
        """Return what was last kept under these facts, or None."""
        found = self._known.get(facts)
        return None if found is None else found[2]

    def keep(self, facts: bytes, bare: Replay | None, graded: Any = None, lane: Any = True) -> None:
        """Have further calls with these facts replayed: without a gradient, and by ``graded`` with one, a function of
        the tensors that may have one. What is None is not replayed."""
        self._last[native.LAST_LANE] = 0
        if len(self._known) >= self._most:
            self._known.clear()
        self._known[facts] = (None if bare is None else bare.table, graded, lane, bare)

    def forget(self) -> None:
        self._last[native.LAST_LANE] = 0
        self._known.clear()

    def __len__(self) -> int:
        return len(self._known)


def _nothing(*_: Any) -> None:
    return None


def forward_function(replay: Replay, *places: int) -> Callable[..., Any]:
    """Return what autograd calls with a context and tensors, inside of a call that was looked up: it returns what a
    replay does that saves tensors, and None where the call is not to be repeated.

    The ``places`` are where in the context it puts what is saved, and a stock with where its part begins, in units.
    Whoever has the function keeps the replay.
    """
    return _function("fly_forward", table_of([address_in(replay.table), *places]))
