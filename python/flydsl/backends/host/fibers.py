"""Kernels whose waves wait for each other one by one: each wave is a fiber that runs the kernel for its own lanes.

Barriers that part of a workgroup uses, mbarriers and clusters let waves go separate ways, so such a kernel cannot run
in step. It is written as a function of one wave; `native/src/host_fibers.c` runs the waves of a cluster in turn.
Shared memory and the per-thread arrays are those of the workgroup, as always.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from flydsl.backends.host.slots import SLOT_ALIGN, aligned_up
from flydsl.backends.host.thread_loops import Workgroup
from flydsl.backends.launcher import site_of
from flydsl.base.native_names import SITE_BASE
from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.module_scope import ModuleScope, symbol_text
from flydsl.dialects.fly.payload import CLUSTER
from flydsl.dialects.upstream import walked
from flydsl.passes.shared.intrinsic_call import PTX_NAME

APART = ("mbarrier.", "barrier.", "cluster.", "mapa", "ld.cluster.", "st.cluster.", "tma.", "bulk.load", "bulk.store",
         "bulk.reduce.")  # fmt: skip
"""How instructions begin with which waves go separate ways, or that use what `host_fibers.c` has."""

BARRIERS = 16
COUNTER_BYTES = 8
GROUPS = 8
COUNTERS = -(-(BARRIERS + 1 + GROUPS) * COUNTER_BYTES // SLOT_ALIGN) * SLOT_ALIGN
"""Bytes behind shared memory: counters of the named barriers, of the cluster, and of warpgroups."""
CLUSTER_COUNTER = BARRIERS
FIRST_GROUP = BARRIERS + 1

DEADLOCK = """\
the kernel waits here forever: every wave waits, and nobody is left to wake another
check the counts and phases of the barriers"""


def ptx_name(op: Operation) -> str | None:
    """Return the PTX instruction that inline assembly is, if it is one of the table's."""
    name = op.attributes.get(PTX_NAME)
    return name.data if name is not None and isinstance(name, StringAttr) else None


def needs_fibers(kernel: Operation) -> bool:
    """Return whether a kernel's waves must run apart."""
    return CLUSTER in kernel.attributes or any((ptx_name(op) or "").startswith(APART) for op in walked(kernel))


def cluster_extents(kernel: Operation) -> tuple[int, int, int]:
    """Blocks of a cluster along each axis."""
    found = kernel.attributes.get(CLUSTER)
    x, y, z = (int(n) for n in found.data.split(",")) if isinstance(found, StringAttr) else (1, 1, 1)
    return x, y, z


def add_runtime(scope: ModuleScope) -> None:
    """The scheduler and what it serves, once per module."""
    scope.add_native("host_fibers")


def site(wg: Workgroup, op: Operation, message: str = DEADLOCK) -> int:
    """Return the status that leads to this operation's line and to ``message``."""
    wg.sites.append(site_of(op, message))
    return SITE_BASE + len(wg.sites) - 1


def emit_wrapper(wg: Workgroup, name: str, wave_symbol: str) -> None:
    """The function that the pool calls for each block: the first one of a cluster runs the cluster."""
    extents = cluster_extents(wg.op)
    body = wg.module.new_function()
    last = "false"
    for axis, extent in zip("xyz", extents, strict=True):
        if extent > 1:
            rest = body.assign(f"urem i64 %b{axis}, {extent}")
            last = body.assign(f"or i1 {last}, {body.assign(f'icmp ne i64 {rest}, 0')}")
    follow, lead = body.fresh_label("follow"), body.fresh_label("lead")
    body.branch_if(last, follow, lead)
    body.start_block(follow)
    body.line("ret i32 0")
    body.start_block(lead)
    sizes = [
        body.assign(f"load i64, ptr {body.assign(f'getelementptr i64, ptr %dims, i64 {index}')}")
        for index in (3, 4, 5, 6)
    ]
    threads = body.assign(f"mul i64 {body.assign(f'mul i64 {sizes[0]}, {sizes[1]}')}, {sizes[2]}")
    wave = wg.target.wave_size
    waves = body.assign(f"udiv i64 {body.assign(f'add i64 {threads}, {wave - 1}')}, {wave}")
    arrays = body.assign(f"mul i64 {threads}, {wg.slots.per_thread}")
    fixed = body.assign(f"add i64 {sizes[3]}, {wg.shared.static_bytes + COUNTERS}")
    stride = block_stride(body, body.assign(f"add i64 {fixed}, {arrays}"))
    _clear_counters(wg, body, stride, sizes[3])
    extent_text = ", ".join(f"i64 {n}" for n in extents)
    work = "null" if wg.asynchrony is None else wg.work.begin(body, threads)
    code = body.assign(
        f"call i32 @fly.run_waves(ptr {symbol_text(wave_symbol)}, ptr %args, i64 %bx, i64 %by, i64 %bz, ptr %dims, "
        f"ptr %scratch, i64 {stride}, i64 {waves}, {extent_text}, ptr {work})"
    )
    if wg.asynchrony is not None:
        code = wg.work.end(body, code, work, stride)
    body.line(f"ret i32 {code}")
    head = f"define i32 {symbol_text(name)}(ptr %args, i64 %bx, i64 %by, i64 %bz, ptr %dims, ptr %scratch) nounwind"
    wg.module.add_function(name, head, body)


def block_stride(body: FunctionEmitter, total: str) -> str:
    """Bytes from one block's scratch to the next one's."""
    more = body.assign(f"add i64 {total}, 1151")
    return body.assign(f"and i64 {more}, -1024")


def _clear_counters(wg: Workgroup, body: FunctionEmitter, stride: str, dynamic: str) -> None:
    x, y, z = cluster_extents(wg.op)
    for rank in range(x * y * z):
        start = body.assign(f"mul i64 {stride}, {rank}")
        behind = aligned_up(body, body.assign(f"add i64 {dynamic}, {wg.shared.static_bytes}"))
        at = body.assign(f"add i64 {start}, {behind}")
        place = body.assign(f"getelementptr i8, ptr %scratch, i64 {at}")
        body.line(f"call void @llvm.memset.p0.i64(ptr {place}, i8 0, i64 {COUNTERS}, i1 false)")
