"""Lane operations on the virtual GPU against a model of the hardware: waves of 64 and 32, all lanes active and some."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.backends.host import compile
from flydsl.backends.host.compile import host_module
from flydsl.base.errors import DslTypeError, DslValueError, TargetError
from flydsl.target.target import parse_target
from tests.support import random_data
from tests.unit.rocdl import lane_model as model
from tests.unit.rocdl.device_code import instructions
from tests.unit.rocdl.running import POISON, launch, per_thread

WAVE64, WAVE32 = ("gfx90a", "gfx942", "gfx950"), ("gfx1100", "gfx1201", "gfx1250")
BOTH = ("gfx942", "gfx1201")
THREADS = 160  # two and a half waves of 64, five of 32
WHOLE = 128  # which move as vectors
r = fx.rocdl

DIVERGENCE: dict[str, tuple[Callable[[Any], Any] | None, Callable[[int], bool]]] = {
    "all": (None, lambda t: True),
    "odd": (lambda t: t % 2 == 1, lambda t: t % 2 == 1),
    "few": (lambda t: t % 37 > 20, lambda t: t % 37 > 20),
}
"""Name to which threads are active, in the kernel and in the model."""


@pytest.fixture(params=BOTH)
def arch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ARCH", request.param)
    return request.param


@pytest.fixture(params=DIVERGENCE)
def threads(request: pytest.FixtureRequest) -> str:
    return request.param


def words(count: int = THREADS) -> np.ndarray:
    return random_data.generator().integers(-(2**31), 2**31, count).astype(np.int32)


def check(arch: str, threads: str, make: Any, rules: list[Callable[[list[int], list[bool]], list[int]]]) -> None:
    """Outputs of ``make`` against one rule each, for active threads; the others wrote nothing."""
    active_in_kernel, active = DIVERGENCE[threads]
    for count in (THREADS, WHOLE) if threads == "all" else (THREADS,):
        x = words(count)
        found = per_thread(make, x, len(rules), active_in_kernel)
        flags = [active(t) for t in range(count)]
        for index, rule in enumerate(rules):
            wanted = model.by_wave(x.tolist(), flags, parse_target(arch).wave_size, rule)
            expected = np.array([w if on else POISON for w, on in zip(wanted, flags, strict=True)], np.int64)
            np.testing.assert_array_equal(found[:, index], expected.astype(np.int32), err_msg=f"output {index}")


def test_readlane_takes_any_lanes_register(arch: str, threads: str) -> None:
    lanes = (0, 5, 31, 37)
    size = parse_target(arch).wave_size

    def rule(lane: int) -> Any:
        return lambda wave, active: [wave[lane % size]] * size

    # The last wave is half there; a lane that does not exist gives zero.
    check(arch, threads, lambda x, t: [r.readlane(x, lane) for lane in lanes], [rule(lane) for lane in lanes])


def read_in_branches(t: Any, x: Any, y: Any) -> None:
    """In a branch of four lanes, and in one of two within it: reads of lanes outside, by when things were known."""
    held = x[t]
    wide = fx.Vector.from_elements([held, held + 1], fx.Int32).bitcast(fx.Int64)[0]
    if t < 4:
        inner = held * 2
        y[t, 0] = r.readlane(held, 20)
        y[t, 1] = fx.Int32(r.readlane(wide, 20) >> 32)
        y[t, 2] = r.readlane(inner, 20)
        y[t, 3] = r.readlane(held, r.readfirstlane(inner - inner) + 20)
        if t < 2:
            y[t, 4] = r.readlane(held, 21)
            y[t, 5] = r.readlane(inner, 3)
            y[t, 6] = r.readlane(inner, 1)
            y[t, 7] = r.readlane(inner + 1, 3)


def test_readlane_of_a_lane_that_is_off(arch: str) -> None:
    x = words(64)
    y = np.full((64, 8), POISON, np.int32)
    launch(read_in_branches, x, y)
    with np.errstate(over="ignore"):
        before = [x[20], x[20] + np.int32(1), 0, 0]
        within = [x[21], x[3] * np.int32(2), x[1] * np.int32(2), 0]
    np.testing.assert_array_equal(y[:2], [[*before, *within]] * 2)
    np.testing.assert_array_equal(y[2:4], [[*before, *[POISON] * 4]] * 2)
    assert (y[4:] == POISON).all()


@pytest.mark.parametrize("target", ["gfx942", "gfx950", "gfx1201", "gfx1250"])
def test_what_readlane_reads_is_computed_before_the_branch(target: str) -> None:
    @flyc.jit
    def body(x: Any, y: Any, t: Any) -> None:
        held = x[t]
        if t < 4:
            y[t] = r.readlane(held, 20)

    code = instructions(body, target)
    read = next(i for i, line in enumerate(code) if line.startswith("v_readlane"))
    branch = next(i for i, line in enumerate(code) if "cbranch" in line)
    masked = next(i for i, line in enumerate(code) if "saveexec" in line or line.startswith("v_cmpx"))
    load = next(i for i, line in enumerate(code) if line.startswith("global_load"))
    assert load < read < min(branch, masked)


def test_readfirstlane_takes_the_first_active_one(arch: str, threads: str) -> None:
    def rule(wave: list[int], active: list[bool]) -> list[int]:
        return [wave[active.index(True)] if True in active else 0] * len(wave)

    check(arch, threads, lambda x, t: [r.readfirstlane(x)], [rule])


def test_permutes(arch: str, threads: str) -> None:
    def make(x: Any, t: Any) -> list[Any]:
        same = fx.Int32(7)  # for all threads, which makes no lane run
        return [
            *(r.ds_bpermute(t * 28, x), r.ds_bpermute(x, x), r.ds_permute((t + 3) * 4, x)),
            *(r.ds_bpermute(t * 28, same), fx.shuffle_idx(same, t * 7 & 31, 32)),
        ]

    def mine(scale: int, add: int) -> Callable[[int], list[int]]:
        return lambda size: [(lane + add) * scale for lane in range(size)]

    rules = [
        lambda wave, active: model.bpermute(mine(28, 0)(len(wave)), wave, active),
        lambda wave, active: model.bpermute([w & 0xFFFFFFFF for w in wave], wave, active),
        lambda wave, active: model.permute(mine(4, 3)(len(wave)), wave, active),
        lambda wave, active: model.bpermute(mine(28, 0)(len(wave)), [7] * len(wave), active),
        lambda wave, active: [7 * active[lane & 32 | lane * 7 & 31] for lane in range(len(wave))],
    ]
    check(arch, threads, make, rules)


@pytest.mark.parametrize("arch", ["gfx1201", "sm_90a"])
def test_a_shuffle_over_more_lanes_than_a_wave_has_stays_in_it(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    x = words(64)
    found = per_thread(lambda v, t: [fx.shuffle_xor(v, 33, 64), fx.shuffle_down(v, 5, 64)], x, 2)
    waves = x.reshape(2, 32)
    np.testing.assert_array_equal(found, np.stack([x[np.arange(64) ^ 1], np.roll(waves, -5, 1).ravel()], 1))


def test_swizzles_of_every_mode(arch: str, threads: str) -> None:
    draw = random.Random()
    patterns = [0x041F, 0x8000 | 0x1B, 0x8000 | draw.randrange(256)]
    patterns += [draw.randrange(0x8000) for _ in range(4)]  # bit masks
    patterns += [0xC000 | draw.randrange(0x800) for _ in range(4)]  # rotations
    patterns += [0xE000 | mask for mask in (0, 0x10, 0x18, 0x1F)]  # the steps of a Fourier transform
    rules: list[Any] = [lambda wave, active, p=p: model.swizzle(p, wave, active) for p in patterns]
    check(arch, threads, lambda x, t: [r.ds_swizzle(x, p) for p in patterns], rules)


EVERYWHERE = [*range(0x101, 0x110), *range(0x111, 0x120), *range(0x121, 0x130), 0x140, 0x141, *range(0x150, 0x160)]
WAVE64_ONLY = [0x130, 0x134, 0x138, 0x13C, 0x142, 0x143]
WAVE32_ONLY = list(range(0x160, 0x170))


def test_every_dpp_control_with_masks(arch: str, threads: str) -> None:
    draw = random.Random()
    own = WAVE64_ONLY if arch in WAVE64 else WAVE32_ONLY
    controls = [*EVERYWHERE, *own, *(draw.randrange(256) for _ in range(6)), 0x1B]
    plans = [(c, draw.choice((15, draw.randrange(16))), draw.choice((15, draw.randrange(16))), draw.random() < 0.5)
             for c in controls]  # fmt: skip

    def make(x: Any, t: Any) -> list[Any]:
        return [
            r.update_dpp(x ^ 0x55AA, x, c, row_mask=rows, bank_mask=banks, bound_ctrl=bound)
            for c, rows, banks, bound in plans
        ]

    def rule(plan: tuple[int, int, int, bool]) -> Any:
        return lambda wave, active: model.dpp(*plan, [w ^ 0x55AA for w in wave], wave, active)

    check(arch, threads, make, [rule(plan) for plan in plans])


@pytest.mark.parametrize("count", [WHOLE, THREADS])
def test_whole_waves_move_as_vectors(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    texts: list[str] = []
    monkeypatch.setattr(
        compile, "host_module", lambda *given: (made := host_module(*given), texts.append(made.text))[0]
    )
    per_thread(lambda x, t: [r.update_dpp(x, x, 0x142), r.ds_swizzle(x, 0x041F)], words(count), 2)
    assert ("shufflevector <64 x i32>" in texts[0]) == (count == WHOLE)


def test_mov_dpp_gives_zero_where_nothing_is_read(arch: str) -> None:
    check(arch, "all", lambda x, t: [r.mov_dpp(x, 0x113)],
          [lambda wave, active: model.dpp(0x113, 15, 15, True, [0] * len(wave), wave, active)])  # fmt: skip


@pytest.mark.parametrize("arch32", WAVE32)
def test_permlane16(arch32: str, threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch32)
    low, high = (random.getrandbits(31) for _ in range(2))
    check(arch32, threads, lambda x, t: [r.permlane16(x, low, high), r.permlane16(x, low, high, across=True)],
          [lambda wave, active, a=a: model.permlane16(low, high, a, wave, active) for a in (False, True)])  # fmt: skip


def test_swaps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    x = words(128)
    found = per_thread(lambda v, t: [*r.permlane32_swap(v, ~v), *r.permlane16_swap(v, ~v)], x, 4)
    for start in (0, 64):
        wave = x[start : start + 64].tolist()
        wanted = [*model.swap(32, wave, [~w for w in wave]), *model.swap(16, wave, [~w for w in wave])]
        np.testing.assert_array_equal(found[start : start + 64], np.array(wanted, np.int32).T)


def test_votes(arch: str, threads: str) -> None:
    def make(x: Any, t: Any) -> list[Any]:
        mask = r.ballot(x > 0)
        return [fx.Int32(mask), r.mbcnt(mask, 100), fx.Int32(fx.gpu.any(x > 2**30)), fx.Int32(fx.gpu.all(x > -(2**30)))]

    def votes(wave: list[int], active: list[bool]) -> list[bool]:
        return [w > 0 and on for w, on in zip(wave, active, strict=True)]

    def mask(wave: list[int], active: list[bool]) -> list[int]:
        return [sum(1 << lane for lane, bit in enumerate(votes(wave, active)) if bit) & 0xFFFFFFFF] * len(wave)

    def below(wave: list[int], active: list[bool]) -> list[int]:
        return [100 + sum(votes(wave, active)[:lane]) for lane in range(len(wave))]

    def some(wave: list[int], active: list[bool]) -> list[int]:
        return [int(any(w > 2**30 for w, on in zip(wave, active, strict=True) if on))] * len(wave)

    def every(wave: list[int], active: list[bool]) -> list[int]:
        return [int(all(w > -(2**30) for w, on in zip(wave, active, strict=True) if on))] * len(wave)

    check(arch, threads, make, [mask, below, some, every])


@pytest.mark.parametrize("arch", ["gfx950", "gfx1250", "sm_90a"])
def test_any_and_all_on_every_vendor(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    size = parse_target(arch).wave_size
    x = np.zeros(2 * size, np.int32)
    x[size + 3] = 1
    found = per_thread(lambda v, t: [fx.Int32(fx.gpu.any(v == 1)), fx.Int32(fx.gpu.all(v == 0))], x, 2)
    assert found[:size].tolist() == [[0, 1]] * size
    assert found[size:].tolist() == [[1, 0]] * size


def test_byte_permute_with_every_selector(arch: str) -> None:
    draw = random.Random()
    selectors = [int.from_bytes(bytes(draw.randrange(14) for _ in range(4)), "little") for _ in range(12)]
    x = words()
    found = per_thread(lambda v, t: [r.perm_b32(v, ~v, s) for s in selectors], x, len(selectors))
    wanted = [[model.perm(int(w) & 0xFFFFFFFF, ~int(w) & 0xFFFFFFFF, s) for s in selectors] for w in x]
    np.testing.assert_array_equal(found, np.array(wanted, np.uint32).view(np.int32))


def test_wave_id(arch: str) -> None:
    found = per_thread(lambda x, t: [r.wave_id()], words(), 1)[:, 0]
    assert found.tolist() == [t // parse_target(arch).wave_size for t in range(THREADS)]


@pytest.mark.parametrize("kind", [fx.Int8, fx.Float16, fx.Float64, fx.Float32x4])
def test_values_of_any_width_move(kind: Any, arch: str) -> None:
    def make(x: Any, t: Any) -> list[Any]:
        if kind is fx.Float32x4:
            moved = r.readlane(fx.Vector.from_elements([fx.Float32(t + i) for i in range(4)], fx.Float32), 7)
            return [fx.Int32(moved[i]) for i in range(4)]
        return [fx.Int32(r.ds_bpermute((t ^ 3) * 4, fx.Float32(t).to(kind) if kind.is_float else kind(t)))]

    found = per_thread(make, words(64), 4 if kind is fx.Float32x4 else 1)
    if kind is fx.Float32x4:
        first = [t // parse_target(arch).wave_size * parse_target(arch).wave_size for t in range(64)]
        assert found.tolist() == [[f + 7 + i for i in range(4)] for f in first]
    else:
        assert found[:, 0].tolist() == [t ^ 3 for t in range(64)]


def test_the_older_form_names_the_result_type(arch: str) -> None:
    from flydsl.expr.typing import T

    def make(x: Any, t: Any) -> list[Any]:
        pair = r.update_dpp(T.i32, t, t, 0xB1, 15, 15, True)
        return [r.readfirstlane(T.i32, t), r.ds_bpermute(T.i32, (t ^ 1) * 4, t), pair]

    found = per_thread(make, words(32), 3)
    assert found[:, 0].tolist() == [0] * 32
    assert found[:, 1].tolist() == found[:, 2].tolist() == [t ^ 1 for t in range(32)]


# Refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arch", "make", "error", "words_of_it"),
    [
        ("gfx942", lambda x, t: [r.permlane16(x, 1, 2)], TargetError, "gfx942 does not have permlane16"),
        ("gfx1201", lambda x, t: [r.update_dpp(x, x, 0x142)], TargetError, "does not have the DPP control 0x142"),
        ("gfx942", lambda x, t: [r.update_dpp(x, x, 0x165)], TargetError, "does not have the DPP control 0x165"),
        ("gfx942", lambda x, t: [r.update_dpp(x, x, 0x100)], DslValueError, "0x100 is no DPP control"),
        ("gfx942", lambda x, t: [r.update_dpp(x, x, t)], DslTypeError, "must be known while tracing"),
        ("gfx942", lambda x, t: [r.ds_swizzle(x, t)], DslTypeError, "must be known while tracing"),
        ("gfx942", lambda x, t: [r.readlane(x)], DslTypeError, "expected readlane"),
        ("sm_90a", lambda x, t: [r.readlane(x, 0)], TargetError, "instruction of AMD GPUs, and the target is sm_90a"),
    ],
)
def test_refused(
    arch: str, make: Any, error: type[Exception], words_of_it: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", arch)
    with pytest.raises(error, match=words_of_it):
        per_thread(make, words(32), 1)


def test_operands_by_name(arch: str) -> None:
    """The names of the older form, with the result type as ``res`` or without it."""

    def make(x: Any, t: Any) -> list[Any]:
        return [
            r.ds_bpermute(res=fx.T.i32, index=(t ^ 1) * 4, src=x),
            r.ds_bpermute((t ^ 1) * 4, src=x),
            r.readfirstlane(res=fx.T.i32, src=x),
            fx.Int32(r.ballot(res=fx.T.i64, pred=t >= 0)),
            r.readlane(src=x.ir_value(), lane=3),
            x.shuffle_xor(1, 32),
        ]

    x = words(64)
    found = per_thread(make, x, 6)
    first = np.arange(64) // parse_target(arch).wave_size * parse_target(arch).wave_size
    swapped = x[np.arange(64) ^ 1]
    wanted = [swapped, swapped, x[first], np.full(64, -1), x[first + 3], swapped]
    np.testing.assert_array_equal(found, np.stack(wanted, 1))


@pytest.mark.parametrize(
    ("wrong", "words_"),
    [
        (lambda x: r.readfirstlane(value=x), "readfirstlane has no operand 'value'"),
        (lambda x: r.ds_bpermute(x, x, src=x), "ds_bpermute got 'src' twice"),
        (lambda x: r.ds_bpermute(index=x), r"expected ds_bpermute\(index, src\), got 1 arguments"),
        (lambda x: r.ballot(x, x), r"expected ballot\(pred\), got 2 arguments"),
        (lambda x: r.exp2(y=x), "exp2 has no operand 'y'"),
    ],
)
def test_wrong_names_of_operands(wrong: Any, words_: str, arch: str) -> None:
    with pytest.raises(DslTypeError, match=words_):
        per_thread(lambda x, t: [fx.Int32(wrong(x))], words(), 1)
