"""What LLVM is told of copies straight into LDS, and what it makes of them: waits where the kernel has them."""

from __future__ import annotations

import re

import numpy as np

from flydsl.backends.rocm.compile import device_text, isa_of
from flydsl.backends.rocm.lds_copies import order_lds_copies
from flydsl.kernels.gemm.hgemm_splitk import compile_hgemm_kernel
from flydsl.target.target import parse_target
from flydsl.tools.assembly import MainLoop, main_loop
from tests.codegen.repository_kernels import RepositoryKernel, after_stage_a

TEXT = """define void @k() {
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) %p, i32 16)
  call void @llvm.amdgcn.s.waitcnt(i32 3953)
  %x = load <4 x i32>, ptr addrspace(3) %p, align 16
  %y = load i32, ptr addrspace(1) %g, align 4
  ret void
}
!0 = !{i32 1}
"""


def test_reads_and_copies_are_told_apart() -> None:
    lines = order_lds_copies(TEXT).splitlines()
    assert lines[1].endswith(", !alias.scope !4")
    assert lines[2] == lines[4] == '  fence syncscope("singlethread") acq_rel'
    assert lines[5].endswith(", !alias.scope !5, !noalias !4")
    assert lines[6].endswith("%g, align 4"), "global memory is not concerned"
    assert lines[-5:] == ['!1 = !{!"lds"}', '!2 = !{!"copies", !1}', '!3 = !{!"reads", !1}', "!4 = !{!2}", "!5 = !{!3}"]


def test_kernels_without_copies_stay_as_they_are() -> None:
    text = TEXT.replace("raw.ptr.buffer.load.lds", "raw.ptr.buffer.load")
    assert order_lds_copies(text) == text


def loop_of_four_stages(arch: str) -> MainLoop:
    a, b, c = np.zeros((64, 2048), np.float16), np.zeros((64, 2048), np.float16), np.zeros((64, 64), np.float16)
    counters = np.zeros(256, np.int32)
    kernel = compile_hgemm_kernel("f16", 64, 2048, 32, 64, 64, STAGES=4)
    arguments = (c, a, b, c[0], 64, counters, counters)
    module, target = after_stage_a(RepositoryKernel("hgemm", lambda _: (kernel, arguments)), arch)
    return main_loop(isa_of(device_text(module, target), parse_target(arch), 3))


def left_by_waits(loop: MainLoop) -> list[int]:
    return [int(found[1]) for line in loop.lines if (found := re.search(r"vmcnt\((\d+)\)", line))]


def test_copies_of_later_stages_stay_under_way() -> None:
    """Four stages: at the barrier two tiles are on their way, and where they go is in scalar registers."""
    loop = loop_of_four_stages("gfx950")
    assert left_by_waits(loop) == [2 * 3] * 4
    assert loop.counts["s_barrier"] == 4
    assert "v_readfirstlane_b32" not in loop.counts


def test_narrow_copies_become_wide_loads() -> None:
    """Where copies are of four bytes, a tile goes from registers to LDS while the next stays on its way to others."""
    loop = loop_of_four_stages("gfx942")
    tiles = loop.matrix // 8
    assert left_by_waits(loop) == [3] * tiles
    assert loop.counts["buffer_load_dwordx4"] == loop.counts["ds_write_b128"] == 3 * tiles
    assert not loop.vector and loop.counts["s_barrier"] == 2 * tiles
