"""Waits and scheduling hints: what they encode, what they refuse, and that the virtual GPU goes on."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslTypeError, DslValueError, TargetError
from flydsl.target.wait_counts import WAIT_FIELDS, decode_wait, encode_wait
from tests.unit.rocdl.device_code import launcher, llvm_text, words
from tests.unit.rocdl.running import per_thread

r = fx.rocdl


def bits(value: int, high: int, low: int) -> int:
    return value >> low & ((1 << (high - low + 1)) - 1)


@pytest.mark.parametrize("vmcnt", [0, 1, 15, 16, 47, 63])
@pytest.mark.parametrize("lgkmcnt", [0, 7, 15])
@pytest.mark.parametrize("expcnt", [0, 7])
def test_gfx9_fields(vmcnt: int, lgkmcnt: int, expcnt: int) -> None:
    """vmcnt in bits 3:0 and 15:14, expcnt in 6:4, lgkmcnt in 11:8."""
    word = encode_wait({"vmcnt": vmcnt, "lgkmcnt": lgkmcnt, "expcnt": expcnt}, "gfx9")
    assert bits(word, 3, 0) | bits(word, 15, 14) << 4 == vmcnt
    assert (bits(word, 6, 4), bits(word, 11, 8)) == (expcnt, lgkmcnt)
    assert word & 0x3080 == 0
    assert decode_wait(word, "gfx9") == {"vmcnt": vmcnt, "lgkmcnt": lgkmcnt, "expcnt": expcnt}


@pytest.mark.parametrize("vmcnt", [0, 31, 63])
@pytest.mark.parametrize("lgkmcnt", [0, 33, 63])
@pytest.mark.parametrize("expcnt", [0, 5])
def test_gfx11_fields(vmcnt: int, lgkmcnt: int, expcnt: int) -> None:
    """expcnt in bits 2:0, lgkmcnt in 9:4, vmcnt in 15:10."""
    word = encode_wait({"vmcnt": vmcnt, "lgkmcnt": lgkmcnt, "expcnt": expcnt}, "gfx11")
    assert (bits(word, 2, 0), bits(word, 9, 4), bits(word, 15, 10)) == (expcnt, lgkmcnt, vmcnt)
    assert decode_wait(word, "gfx11") == {"vmcnt": vmcnt, "lgkmcnt": lgkmcnt, "expcnt": expcnt}


@pytest.mark.parametrize("generation", WAIT_FIELDS)
def test_a_count_that_is_left_out_waits_for_nothing(generation: str) -> None:
    assert decode_wait(encode_wait({}, generation), generation) == {f.name: f.most for f in WAIT_FIELDS[generation]}


def text_of(arch: str, run: Any) -> str:
    def body(x: Any, y: Any, t: Any) -> None:
        run()
        y[t] = x[t]

    return llvm_text(launcher(body), words(), arch)


@pytest.mark.parametrize(
    ("arch", "run", "wanted"),
    [
        ("gfx942", lambda: r.s_waitcnt(0x3F70), "@llvm.amdgcn.s.waitcnt(i32 16240)"),
        ("gfx942", lambda: r.s_waitcnt(vmcnt=20), f"@llvm.amdgcn.s.waitcnt(i32 {0x4F74})"),
        ("gfx1100", lambda: r.s_waitcnt(lgkmcnt=1), f"@llvm.amdgcn.s.waitcnt(i32 {0xFC17})"),
        ("gfx1201", lambda: r.s_waitcnt(lgkmcnt=40), "@llvm.amdgcn.s.wait.kmcnt(i16 31)"),
        ("gfx1201", lambda: r.s_waitcnt(vmcnt=40), "@llvm.amdgcn.s.wait.storecnt(i16 40)"),
        ("gfx1201", lambda: r.s_waitcnt(0xFC17), "@llvm.amdgcn.s.wait.dscnt(i16 1)"),
        ("gfx942", lambda: r.sched_mfma(4), "@llvm.amdgcn.sched.group.barrier(i32 8, i32 4, i32 0)"),
        ("gfx942", lambda: r.sched_vmem(3), "@llvm.amdgcn.sched.group.barrier(i32 32, i32 3, i32 0)"),
        ("gfx942", lambda: r.sched_dsrd(2), "@llvm.amdgcn.sched.group.barrier(i32 256, i32 2, i32 0)"),
        ("gfx942", lambda: r.sched_dswr(1), "@llvm.amdgcn.sched.group.barrier(i32 512, i32 1, i32 0)"),
        ("gfx942", lambda: r.sched_barrier(0x7FF), "@llvm.amdgcn.sched.barrier(i32 2047)"),
        ("gfx1250", lambda: r.s_barrier(), "@llvm.amdgcn.s.barrier.wait(i16 -1)"),
        ("gfx950", lambda: r.wait_asyncmark(0), f"@llvm.amdgcn.s.waitcnt(i32 {0xCF7F})"),
    ],
)
def test_emitted(arch: str, run: Any, wanted: str) -> None:
    assert wanted in text_of(arch, run)


def test_a_gfx12_wait_leaves_out_full_counters() -> None:
    text = text_of("gfx1201", lambda: r.s_waitcnt(0xFC17))
    assert "s.wait.loadcnt" not in text
    assert "s.wait.expcnt" not in text


@pytest.mark.parametrize(
    ("arch", "run", "error", "message"),
    [
        ("gfx942", lambda: r.s_waitcnt(), DslTypeError, "a raw field or counts by name"),
        ("gfx942", lambda: r.s_waitcnt(0, vmcnt=1), DslTypeError, "a raw field or counts by name"),
        ("gfx942", lambda: r.s_waitcnt(vmcnt=64), DslValueError, "vmcnt must be .* between 0 and 63"),
        ("gfx942", lambda: r.s_waitcnt(lgkmcnt=16), DslValueError, "lgkmcnt must be .* between 0 and 15"),
        ("gfx1201", lambda: r.s_waitcnt(expcnt=8), DslValueError, "expcnt must be .* between 0 and 7"),
        ("gfx942", lambda: r.s_waitcnt(vmcnt=fx.thread_idx.x), DslValueError, "must be a Python int"),
        ("gfx942", lambda: r.s_waitcnt(0x10000), DslValueError, "between 0 and 65535"),
        ("gfx942", lambda: r.s_setprio(4), DslValueError, "between 0 and 3"),
        ("gfx942", lambda: r.sched_barrier(-1), DslValueError, "between 0 and 2047"),
        ("gfx942", lambda: r.sched_mfma(fx.thread_idx.x), DslTypeError, "known while tracing"),
        ("gfx942", lambda: r.s_wait_tensorcnt(0), TargetError, "gfx942 does not have s_wait_tensorcnt"),
        ("gfx942", lambda: r.wait_asyncmark(), TargetError, "gfx942 does not have wait_asyncmark"),
        ("gfx1201", lambda: r.cdna3.s_waitcnt(vmcnt=0), DslValueError, "do not fit gfx1201"),
        ("sm_90a", lambda: r.s_waitcnt(vmcnt=0), TargetError, "AMD GPUs, and the target is sm_90a"),
    ],
)
def test_refused(arch: str, run: Any, error: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)

    def make(x: Any, t: Any) -> list[Any]:
        run()
        return [x]

    with pytest.raises(error, match=message):
        per_thread(make, np.zeros(32, np.int32), 1)


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"])
def test_the_virtual_gpu_goes_on(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)

    def make(x: Any, t: Any) -> list[Any]:
        r.s_waitcnt(vmcnt=0, lgkmcnt=0)
        r.sched_barrier(0)
        r.sched_group_barrier(2, 1, 1)
        r.iglp_opt(1)
        r.s_setprio(1)
        r.s_sleep(1)
        r.s_nop(0)
        if fx.const_expr(arch == "gfx950"):
            r.asyncmark()
            r.wait_asyncmark(0)
        if fx.const_expr(arch == "gfx1250"):
            r.s_wait_asynccnt(0)
            r.s_wait_tensorcnt(0)
            r.disable_xdl_arb_stall()
        r.s_barrier()
        return [x + 1]

    x = np.arange(96, dtype=np.int32)
    assert per_thread(make, x, 1)[:, 0].tolist() == (x + 1).tolist()


# Marks of asynchronous copies ------------------------------------------------------------------


def waits_of(body: Any) -> list[int]:
    """vmcnt of each wait in the code of a gfx950 kernel that copies into LDS."""

    def kernel(x: Any, y: Any, t: Any) -> None:
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 1024]).peek()
        source = fx.logical_divide(r.make_buffer_tensor(x), fx.make_layout(1, 1))
        target = fx.logical_divide(tile.view(fx.make_layout(1024, 1)), fx.make_layout(1, 1))
        atom = fx.make_copy_atom(r.cdna4.BufferLoadAsyncLDS32b(), fx.Int32)

        def copy(place: Any) -> None:
            fx.copy(atom, fx.slice(source, (None, t + place)), fx.slice(target, (None, t + place)))

        body(copy, x, t)
        y[t] = tile[t]

    fields = re.findall(r"s\.waitcnt\(i32 (\d+)\)", llvm_text(launcher(kernel), words(), "gfx950"))
    return [decode_wait(int(field), "gfx9")["vmcnt"] for field in fields]


def test_a_wait_leaves_the_copies_behind_its_mark() -> None:
    def body(copy: Any, x: Any, t: Any) -> None:
        copy(0)
        copy(64)
        r.asyncmark()
        copy(128)
        r.asyncmark()
        copy(192)
        r.wait_asyncmark(1)
        r.wait_asyncmark(0)
        r.wait_asyncmark(2)

    assert waits_of(body) == [2, 1, 63]  # no third mark was set: nothing to wait for


def test_a_pipelined_loop_counts_over_its_back_edge() -> None:
    @flyc.jit
    def body(copy: Any, x: Any, t: Any) -> None:
        copy(0)
        r.asyncmark()
        for i in range(x[0]):
            copy(64 * i)
            copy(64 * i + 512)
            r.asyncmark()
            r.wait_asyncmark(1)
            fx.barrier()
        r.wait_asyncmark(0)

    assert waits_of(body) == [2, 0]


def test_a_mark_in_a_branch_makes_the_wait_stricter() -> None:
    @flyc.jit
    def body(copy: Any, x: Any, t: Any) -> None:
        copy(0)
        r.asyncmark()
        if x[0] > 3:
            copy(64)
            r.asyncmark()
        copy(128)
        r.wait_asyncmark(1)

    assert waits_of(body) == [1]
