"""``fx.pipeline``: rings of stages in shared memory, with one set of verbs whatever engine fills them.

    pipe = fx.pipeline.make_pipeline("cp.async", stages=3)
    write, read = pipe.producer_start(), pipe.consumer_start()
    for i in fx.range_constexpr(pipe.ahead):             # fill all stages but one
        pipe.acquire(write); ...copy into write.stage...; pipe.commit(write); write = pipe.advance(write)
    for i in range(iterations):
        pipe.wait(read)                                  # its bytes are there, for every thread
        ...use read.stage...
        pipe.release(read); read = pipe.advance(read)
        pipe.acquire(write)                              # the stage that everybody left an iteration ago
        ...copy, if there is something left...
        pipe.commit(write); write = pipe.advance(write)  # always, so that iterations are counted

| engine | who fills | what is waited for |
|---|---|---|
| `tma` | one thread, by TMA | an mbarrier a stage, and one for giving it back: `fx.nvvm.Pipeline` |
| `cp.async` | all threads, by `CpAsync` | groups, then a barrier |
| `cp.async.mbarrier` | some threads, by `CpAsync` | such mbarriers; who loads and who uses go their own ways |
| `buffer` | all waves, by `BufferCopyLDS` on gfx9 | ``vmcnt``, then a barrier |
| `asyncmark` | all waves of gfx950, by its asynchronous copies | marks, then a barrier |
| `async` | all waves of gfx1250, by `cluster_load_async_to_lds` | ``asynccnt``, then a barrier |
| `tdm` | one or more waves of gfx1250, by its tensor data mover | ``tensorcnt``, then a barrier |
| `registers` | all threads, by loads and stores | a barrier |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

from flydsl.base.errors import DslValueError, TargetError
from flydsl.base.records import dataclass
from flydsl.expr.gpu import barrier
from flydsl.expr.nvvm.copies import cp_async_commit_group, cp_async_wait_group
from flydsl.expr.nvvm.pipeline import Pipeline as BarrierPipeline
from flydsl.expr.nvvm.pipeline import Stages
from flydsl.expr.rocdl.scheduling import (
    asyncmark,
    s_barrier,
    s_wait_asynccnt,
    s_wait_tensorcnt,
    s_waitcnt,
    wait_asyncmark,
)
from flydsl.expr.trace.context import current


@dataclass(frozen=True)
class Engine:
    """How the bytes of a stage are waited for; ``counts_copies`` where the hardware counts them one by one.

    ``meet`` is the barrier behind that wait. One that orders memory would wait for every copy, so gfx9's is bare,
    behind a wait for the wave's own accesses to LDS.
    """

    generations: tuple[str, ...]
    commit: Callable[[], None] | None
    wait: Callable[[int], None] | None
    counts_copies: bool = False
    meet: Callable[[], None] = barrier


def _wait_for_loads(pending: int) -> None:
    s_waitcnt(vmcnt=pending)


def _bare_barrier() -> None:
    s_waitcnt(lgkmcnt=0)
    s_barrier()


ENGINES: dict[str, Engine] = {
    "cp.async": Engine(("ampere", "hopper"), cp_async_commit_group, cp_async_wait_group),
    "buffer": Engine(("cdna2", "cdna3", "cdna4"), None, _wait_for_loads, True, _bare_barrier),
    "asyncmark": Engine(("cdna4",), asyncmark, wait_asyncmark, meet=_bare_barrier),
    "async": Engine(("cdna5",), None, s_wait_asynccnt, counts_copies=True),
    "tdm": Engine(("cdna5",), None, s_wait_tensorcnt, counts_copies=True),
    "registers": Engine((), None, None),
}
"""Engines that all threads of a block drive together; TMA's is `fx.nvvm.Pipeline`."""


EngineName = Literal[
    "tma", "cp.async.mbarrier", "cp.async", "buffer", "asyncmark", "async", "tdm", "registers"
]  # fmt: skip


class Ring(Stages):
    """A ring of ``stages`` that all threads of a block fill and use together, ``ahead`` of them on their way.

    ``copies`` is how many copy instructions a thread issues a stage, for engines whose hardware counts those.
    """

    def __init__(self, engine: EngineName, *, stages: int, ahead: int | None = None, copies: int = 1) -> None:
        self.stages = stages
        self.ahead = max(stages - 1, 1) if ahead is None else ahead
        self.engine = ENGINES[engine]
        self.copies = copies
        if stages < 1 or not 1 <= self.ahead <= stages or copies < 1:
            raise DslValueError(
                f"a pipeline has at least one stage, one copy a stage and 1 to {stages} stages on their way, got "
                f"stages={stages}, ahead={self.ahead}, copies={copies}"
            )
        target = current().target
        if self.engine.generations and target.generation not in self.engine.generations:
            having = [name for name, other in ENGINES.items() if not other.generations
                      or target.generation in other.generations]  # fmt: skip
            raise TargetError(f"{target} has no engine '{engine}'", hint=f"it has {', '.join(having)}")

    def init(self) -> None:
        """Nothing has to be initialised; it is there so that kernels read the same with every engine."""

    def acquire(self, state: Any) -> None:
        """The stage may be filled: whoever used it has passed a barrier since (`wait` has one, or `release`)."""

    def commit(self, state: Any) -> None:
        """All copies into the stage are under way. Call it every iteration, also where nothing was left to copy."""
        if self.engine.commit is not None:
            self.engine.commit()

    def wait(self, state: Any, *, last: bool = False) -> None:
        """Wait until the stage is full for every thread.

        ``last`` waits for all copies: in the last iterations of an engine that counts copies, when none were added.
        """
        if self.engine.wait is not None:
            behind = 0 if last else self.ahead - 1
            self.engine.wait(behind * (self.copies if self.engine.counts_copies else 1))
        self.engine.meet()

    def fill_ahead(self, fill: Callable[[Any, Any], None]) -> None:
        """Before the first iteration of a loop: ``fill(iteration, stage)`` for all that are on their way then."""
        if self.ahead == self.stages:
            raise DslValueError(
                f"all {self.stages} stages are on their way, so none is free to be filled while another is used",
                hint=f"use stages={self.stages + 1}, or acquire, commit, wait and release by hand",
            )
        for number in range(self.ahead):
            fill(number, number)
            self.commit(None)

    def turn(self, number: Any, fill: Callable[[Any, Any], None]) -> Any:
        """Return the stage of an iteration, once it is full; the one used last is filled for a later iteration
        meanwhile.

            pipe.fill_ahead(fill)
            for i in range(iterations):
                stage = pipe.turn(i, fill)  # then use it

        ``fill(iteration, stage)`` starts the copies of an iteration. It is called for those beyond the last one too, so
        that an engine that counts copies counts right: under a predicate, or for an iteration that nobody uses.
        """
        self.wait(None)
        coming = number + self.ahead
        fill(coming, coming % self.stages)
        self.commit(None)
        return number % self.stages

    def release(self, state: Any) -> None:
        """The stage was used. Where all stages are on their way, the next to be filled is this one: all wait here."""
        if self.ahead == self.stages:
            self.engine.meet()


def make_pipeline(engine: EngineName, *, stages: int, allocator: Any = None, ahead: int | None = None, copies: int = 1,
                  consumers: int = 1, producers: int = 1, cluster: int = 1) -> Any:  # fmt: skip
    """Return a pipeline of ``stages`` filled by an ``engine`` of the table above.

    ``tma`` and ``cp.async.mbarrier`` take the ``allocator`` of shared memory for their barriers, and ``consumers``,
    ``producers`` and ``cluster`` as `fx.nvvm.Pipeline` does; the others take ``ahead`` and ``copies`` as `Ring` does.
    """
    if engine in ("tma", "cp.async.mbarrier"):
        if allocator is None:
            raise DslValueError(f"a pipeline of {engine} has barriers in shared memory", hint="give the allocator")
        return BarrierPipeline(
            allocator, stages=stages, consumers=consumers, producers=producers, cluster=cluster,
            by_cp_async=engine != "tma",
        )  # fmt: skip
    if engine not in ENGINES:
        raise DslValueError(f"there is no engine '{engine}'", hint=f"use {', '.join(get_args(EngineName))}")
    return Ring(engine, stages=stages, ahead=ahead, copies=copies)


__all__ = ["ENGINES", "Engine", "Ring", "make_pipeline"]
