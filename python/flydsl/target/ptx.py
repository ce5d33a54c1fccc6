"""PTX instructions that LLVM has no intrinsic for, as inline assembly: text, constraints, who has them.

Source: "PTX ISA 8.8", sections 9.7.9.12 (st.async), 9.7.9.14 (multimem), 9.7.9.25 to 9.7.9.27 (bulk and tensor copies,
reductions), 9.7.13 (barriers, clusters, mbarriers), 9.7.19 (setmaxnreg). Addresses in shared memory are 32-bit
integers, as PTX takes them.
"""

from __future__ import annotations

from flydsl.base.records import dataclass, field
from flydsl.target.tensor_map import REDUCTIONS

AMPERE, HOPPER = ("ampere", "hopper"), ("hopper",)


@dataclass(frozen=True)
class PtxOp:
    """``text`` with LLVM's placeholders; ``constraints`` lists the result, if any, and then the operands.

    ``result`` is the MLIR type of the result. ``immediates`` counts leading operands that the text takes as
    literals: they are substituted for ``{0}``, ``{1}``. ``tail`` is what a cache hint stands before in its name.
    """

    name: str
    text: str
    constraints: str = ""
    result: str | None = None
    immediates: int = 0
    tail: str = ""
    generations: tuple[str, ...] = field(default=HOPPER)

    def asm(self, literals: tuple[int, ...] = ()) -> str:
        """Return the text with its literals filled in."""
        text = self.text
        for index, value in enumerate(literals):
            text = text.replace(f"{{{index}}}", str(value))
        return text

    @property
    def clobbers(self) -> str:
        return ",".join(filter(None, (self.constraints, "~{memory}")))


_WAIT = "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; @!done bra again; }"
_TRY_WAIT = "{ .reg .pred done; mbarrier.try_wait.parity.shared::cta.b64 done, [$1], $2; selp.b32 $0, 1, 0, done; }"
_REMOTE_ARRIVE = (
    "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, $0, $1; mbarrier.arrive.shared::cluster.b64 _, [remote]; }"
)

_SYNCHRONISATION = (
    PtxOp("mbarrier.init", "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r"),
    PtxOp("mbarrier.inval", "mbarrier.inval.shared::cta.b64 [$0];", "r"),
    PtxOp("mbarrier.arrive", "mbarrier.arrive.shared::cta.b64 _, [$0];", "r"),
    PtxOp("mbarrier.arrive.cluster", _REMOTE_ARRIVE, "r,r"),
    PtxOp("mbarrier.arrive.expect_tx", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r"),
    PtxOp("mbarrier.arrive.cp_async", "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];", "r"),
    PtxOp("mbarrier.expect_tx", "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;", "r,r"),
    PtxOp("mbarrier.wait", _WAIT, "r,r"),
    PtxOp("mbarrier.try_wait", _TRY_WAIT, "=r,r,r", "i32"),
    PtxOp("fence.mbarrier_init", "fence.mbarrier_init.release.cluster;"),
    PtxOp("fence.proxy.async", "fence.proxy.async.shared::cta;"),
    PtxOp("barrier.sync", "barrier.sync.aligned $0, $1;", "r,r", generations=AMPERE),
    PtxOp("barrier.arrive", "barrier.arrive.aligned $0, $1;", "r,r", generations=AMPERE),
    PtxOp("cluster.arrive", "barrier.cluster.arrive.release.aligned;"),
    PtxOp("cluster.arrive.relaxed", "barrier.cluster.arrive.relaxed.aligned;"),
    PtxOp("cluster.wait", "barrier.cluster.wait.acquire.aligned;"),
    PtxOp("elect.sync", "{ .reg .pred one; elect.sync _|one, -1; selp.b32 $0, 1, 0, one; }", "=r", "i32"),
    PtxOp("setmaxnreg.inc", "setmaxnreg.inc.sync.aligned.u32 {0};", immediates=1),
    PtxOp("setmaxnreg.dec", "setmaxnreg.dec.sync.aligned.u32 {0};", immediates=1),
    PtxOp("griddepcontrol.wait", "griddepcontrol.wait;"),
    PtxOp("griddepcontrol.launch_dependents", "griddepcontrol.launch_dependents;"),
    PtxOp("cluster.ctarank", "mov.u32 $0, %cluster_ctarank;", "=r", "i32"),
    PtxOp("cluster.nctarank", "mov.u32 $0, %cluster_nctarank;", "=r", "i32"),
    PtxOp("mapa", "mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r", "i32"),
)

CLUSTER_WORDS = {16: (1,), 32: (1, 2, 4), 64: (1, 2)}
"""Bits of a word -> how many of them an access to another block's shared memory moves."""
ASYNC_WORD = 32
"""Bits of the narrowest word that is written to another block with an mbarrier told."""
CLUSTER_WIDTHS = tuple(sorted({bits * count for bits, counts in CLUSTER_WORDS.items() for count in counts}))
_LETTERS = {16: "h", 32: "r", 64: "l"}
"""Bits of a register -> its constraint."""


def cluster_form(width: int, lanes: int) -> tuple[int, int] | None:
    """Return (bits of a word, words) that elements of that width are moved as; None if no access has as many bits."""
    word = max(width, min(width * lanes, 32))
    whole = word in CLUSTER_WORDS and width * lanes % word == 0 and width * lanes // word in CLUSTER_WORDS[word]
    return (word, width * lanes // word) if whole else None


def _cluster_accesses() -> tuple[PtxOp, ...]:
    """Loads and stores of the shared memory of any block of the cluster."""
    ops: list[PtxOp] = []
    for bits, count in ((bits, count) for bits, counts in CLUSTER_WORDS.items() for count in counts):
        form = ("" if count == 1 else f"v{count}.") + f"b{bits}"
        names = [", ".join(f"${first + i}" for i in range(count)) for first in (0, 1)]
        loaded, stored = names if count == 1 else [f"{{{name}}}" for name in names]
        result = f"i{bits}" if count == 1 else f"!llvm.struct<({', '.join([f'i{bits}'] * count)})>"
        letter = _LETTERS[bits]
        given = ",".join([f"={letter}"] * count + ["r"])
        ops.append(PtxOp(f"ld.cluster.{form}", f"ld.shared::cluster.{form} {loaded}, [${count}];", given, result))
        taken = ",".join(["r"] + [letter] * count)
        ops.append(PtxOp(f"st.cluster.{form}", f"st.shared::cluster.{form} [$0], {stored};", taken))
        if bits >= ASYNC_WORD:
            told = f"st.async.shared::cluster.mbarrier::complete_tx::bytes.{form} [$0], {stored}, [${count + 1}];"
            ops.append(PtxOp(f"st.async.cluster.{form}", told, f"{taken},r"))
    return tuple(ops)


MULTIMEM_BYTES = 16
"""What one access to the memory of all ranks moves."""


def _multimem_accesses() -> tuple[PtxOp, ...]:
    """Sums over, and stores to, the memory of all ranks that lies behind a multicast address: 16 bytes each."""
    ops: list[PtxOp] = []
    for kind, accumulate, letter, word in (
        ("f32", "", "f", "f32"), ("f16x2", "acc::f32.", "r", "i32"), ("bf16x2", "acc::f32.", "r", "i32"),
    ):  # fmt: skip
        load = f"multimem.ld_reduce.relaxed.sys.global.add.{accumulate}v4.{kind}"
        result = f"!llvm.struct<({', '.join([word] * 4)})>"
        loads = ",".join([f"={letter}"] * 4 + ["l"])
        ops.append(PtxOp(f"multimem.ld_reduce.{kind}", f"{load} {{$0, $1, $2, $3}}, [$4];", loads, result))
        store = f"multimem.st.relaxed.sys.global.v4.{kind} [$0], {{$1, $2, $3, $4}};"
        ops.append(PtxOp(f"multimem.st.{kind}", store, ",".join(["l"] + [letter] * 4)))
    return tuple(ops)


def _coordinates(rank: int, first: int) -> str:
    return "{" + ", ".join(f"${first + i}" for i in range(rank)) + "}"


def _tensor_copies(rank: int) -> tuple[PtxOp, ...]:
    """Copies of a box of a tensor of that rank: operands are addresses, the tensor map, and the box's coordinates."""
    numbers = ",r" * rank
    load = f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.mbarrier::complete_tx::bytes"
    store = f"cp.async.bulk.tensor.{rank}d.global.shared::cta.bulk_group"
    reduce = f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta"
    return (
        PtxOp(f"tma.load.{rank}d", f"{load} [$0], [$1, {_coordinates(rank, 3)}], [$2];", f"r,l,r{numbers}"),
        PtxOp(
            f"tma.load.multicast.{rank}d",
            f"{load}.multicast::cluster [$0], [$1, {_coordinates(rank, 4)}], [$2], $3;",
            f"r,l,r,h{numbers}",
        ),
        PtxOp(f"tma.store.{rank}d", f"{store} [$1, {_coordinates(rank, 2)}], [$0];", f"r,l{numbers}"),
        *(
            PtxOp(
                f"tma.reduce.{op}.{rank}d",
                f"{reduce}.{op}.bulk_group [$1, {_coordinates(rank, 2)}], [$0];",
                f"r,l{numbers}",
            )
            for op in ("add", "min", "max")
        ),
    )


_REDUCED = {
    "ui32": "u32", "i32": "s32", "ui64": "u64", "i64": "s64", "f16": "f16", "bf16": "bf16", "f32": "f32", "f64": "f64",
}  # fmt: skip


def _bulk_reductions() -> tuple[PtxOp, ...]:
    """Bytes of shared memory combined into global memory, by operation and element; 16-bit sums keep subnormals."""
    ops: list[PtxOp] = []
    for op, elem in ((op, elem) for op, elems in REDUCTIONS.items() for elem in elems):
        tail = f".{op}{'.noftz' if op == 'add' and elem in ('f16', 'bf16') else ''}.{_REDUCED[elem]}"
        text = f"cp.reduce.async.bulk.global.shared::cta.bulk_group{tail} [$1], [$0], $2;"
        ops.append(PtxOp(f"bulk.reduce.{op}.{elem}", text, "r,l,r", tail=tail))
    return tuple(ops)


_BULK_LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];"
_BULK = (
    PtxOp("bulk.commit_group", "cp.async.bulk.commit_group;"),
    PtxOp("bulk.wait_group", "cp.async.bulk.wait_group {0};", immediates=1),
    PtxOp("bulk.wait_group.read", "cp.async.bulk.wait_group.read {0};", immediates=1),
    PtxOp("prefetch.tensormap", "prefetch.tensormap [$0];", "l"),
    PtxOp("bulk.load", _BULK_LOAD, "r,l,r,r"),
    PtxOp("bulk.prefetch", "cp.async.bulk.prefetch.L2.global [$0], $1;", "l,r"),
    PtxOp("discard", "discard.global.L2 [$0], 128;", "l", generations=AMPERE),
    PtxOp("bulk.store", "cp.async.bulk.global.shared::cta.bulk_group [$1], [$0], $2;", "r,l,r"),
    PtxOp("tanh.approx.f32", "tanh.approx.f32 $0, $1;", "=f,f", "f32", generations=AMPERE),
)

PTX_OPS: dict[str, PtxOp] = {
    op.name: op
    for op in (
        *_SYNCHRONISATION,
        *_cluster_accesses(),
        *_multimem_accesses(),
        *_BULK,
        *_bulk_reductions(),
        *(op for rank in range(1, 6) for op in _tensor_copies(rank)),
    )
}
