"""Every benchmark starts, checks its output and prints its table: in seconds, on the virtual GPU, our side only.

Those that need a GPU are loaded with stand-ins for torch and Triton: their shapes are drawn, their clock is recorded,
and their tables printed.
"""

from __future__ import annotations

import importlib
import math
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from tests.conftest import REPOSITORY
from tests.support import warm_process

FOLDER = REPOSITORY / "benchmarks"
WORKERS = {"energy", "flydsl_compile", "flydsl_gemm", "flydsl_launch", "flydsl_virtual", "isa_table",
           "kernels_under_test", "page", "timing"}  # fmt: skip
"""Files that a benchmark starts or imports, and the one that makes tables of what they leave."""
ON_A_GPU = {"backward", "gpu", "gpu_gemm", "ops", "tune_rows"}
SHOWN = {
    "allreduce": ["| bytes ", "| two_shot ", " write |"],
    "attention": ["| forward ", "| gradients "],
    "compile_scaling": ["| program ", "| mma ", "| lines "],
    "compile_time": ["| import ", "| further compile, new kernel "],
    "isa_quality": ["v_mfma_f32_16x16x16_f16", "| flydsl "],
    "launch": ["8 tensors, 4 scalars"],
    "moe": ["| gfx942 plain, 24 tokens", "| gfx950 fp8, 24 tokens", " error "],
    "row_ops": ["seed ", "quantize_blocks 128x128 ", " of what is allowed"],
    "rows": ["seed ", " error "],
    "profile_compile": ["| trace ", "pass 1 fly-rewrite-func-signature", "LLVM object emission", "| sum "],
    "virtual_gpu": ["| softmax ", "| GEMM "],
    "written_twice": ["| error ", "| flash attention "],
    "warm_start": ["| first kernel, from disk ", "| first launch's return "],
}


OPTIONS = {"launch": ["--arrays", "numpy"], "compile_scaling": ["--only", "lines", "mma"]}
"""`test_compile_scaling.py` compiles all programs of the latter, and checks what they compute."""
WARM = {"allreduce", "attention", "moe", "row_ops", "rows", "written_twice"}
"""Those that measure neither their own start nor that of processes: they need none of their own."""


def test_every_benchmark_is_known() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == {*WORKERS, *ON_A_GPU, *SHOWN}


def around(cache: Path) -> dict[str, str]:
    """The environment of a quick run. The bytecode beside the sources serves it: compiling all of it takes seconds."""
    settings = {"PYTHONPATH": f"{REPOSITORY / 'python'}", "FLYDSL_RUNTIME_CACHE_DIR": str(cache)}
    return {**os.environ, **settings, "PYTHONPYCACHEPREFIX": ""}


WITH_TORCH = {"row_ops"}
"""Benchmarks whose quick run needs it."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.torch if name in WITH_TORCH else ()) for name in sorted(SHOWN)]
)
def test_it_runs_quickly(name: str, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime for path in FOLDER.glob("results/*")}
    command = [str(FOLDER / f"{name}.py"), "--quick", *OPTIONS.get(name, [])]
    if name in WARM:
        done = warm_process.run(command, env=around(tmp_path))
    else:
        done = subprocess.run([sys.executable, *command], env=around(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for text in (*SHOWN[name], "quick run: "):
        assert text in done.stdout, done.stdout
    assert before == {path: path.stat().st_mtime for path in FOLDER.glob("results/*")}, "a quick run wrote results"


def test_the_table_of_every_kernel_starts(tmp_path: Path) -> None:
    """Two kernels of it: one with a main loop, and one over rows."""
    command = [sys.executable, str(FOLDER / "isa_quality.py"), "--kernels", "--quick"]
    done = subprocess.run(command, env=around(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {row[1].strip(): row for line in done.stdout.splitlines() if len(row := line.split("|")) > 15}
    assert "16x0.38" in rows["hgemm f16 128x128x64"][10] and "16x0.12" in rows["hgemm f16 128x128x64"][11]
    softmax = [row for name, row in rows.items() if name.startswith("softmax")]
    assert softmax and all(int(row[8]) == 0 and float(row[9]) > 1 for row in softmax)


@pytest.fixture
def on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Loads a benchmark that needs a GPU, with stand-ins for what it imports."""
    monkeypatch.syspath_prepend(FOLDER)
    for name in (
        "torch",
        "triton",
        "triton.language",
        "triton.tools",
        "triton.tools.tensor_descriptor",
        "torch.nn",
        "torch.nn.attention",
        "torch.nn.functional",
    ):
        monkeypatch.setitem(sys.modules, name, MagicMock())
    for name in (*ON_A_GPU, "energy", "timing", "peers", "peers.triton_hopper_gemm"):
        monkeypatch.delitem(sys.modules, name, raising=False)

    def load(name: str) -> ModuleType:
        return importlib.import_module(name)

    yield load
    for name in (*ON_A_GPU, "energy", "timing", "peers", "peers.triton_hopper_gemm"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", sorted(ON_A_GPU))
def test_its_options_are_read(name: str, on_a_gpu: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit) as ended:
        on_a_gpu(name).main()
    assert ended.value.code == 0
    assert "--quick" in capsys.readouterr().out


class RecordedClock:
    """An event whose time is how many launches there were before it."""

    launches = 0

    def __init__(self, **_: object) -> None:
        self.at = 0

    def record(self) -> None:
        self.at = RecordedClock.launches

    def elapsed_time(self, other: RecordedClock) -> float:
        return float(other.at - self.at)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> type[RecordedClock]:
    monkeypatch.setattr(RecordedClock, "launches", 0)
    return RecordedClock


def launches(count: int) -> Any:
    def run(_: int) -> None:
        RecordedClock.launches += count

    return run


def test_rows_are_timed_launch_by_launch(on_a_gpu: Any, clock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = on_a_gpu("gpu")
    monkeypatch.setattr(gpu.torch.cuda, "Event", clock)
    assert gpu.median_ms({"one": launches(1), "three": launches(3)}, 2) == {"one": 1.0, "three": 3.0}


def test_products_are_timed_several_at_a_time(on_a_gpu: Any, clock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gemm = on_a_gpu("gpu_gemm")
    monkeypatch.setattr(gemm.torch.cuda, "Event", clock)
    assert gemm.times_of({"one": launches(1), "two": launches(2)}, 3) == {"one": 1.0, "two": 2.0}


def test_steady_work_is_timed_behind_as_much(on_a_gpu: Any, clock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One replay in bursts; in steady work as many as last so many milliseconds, once untimed and once timed."""
    gemm = on_a_gpu("gpu_gemm")
    monkeypatch.setattr(gemm.torch.cuda, "Event", clock)
    graphs = {name: SimpleNamespace(replay=partial(launches(count), 0)) for name, count in (("one", 1), ("two", 2))}
    for steady, replays in ((0.0, {"one": 3, "two": 3}), (8.0, {"one": 1 + 3 * 16, "two": 1 + 3 * 8})):
        before = RecordedClock.launches
        assert gemm.replay_times(graphs, 2, 3, steady) == {"one": 500.0, "two": 1000.0}
        assert RecordedClock.launches - before == replays["one"] + 2 * replays["two"]


def test_other_kinds_have_steady_work_beside_bursts(
    on_a_gpu: Any, clock: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    gemm = on_a_gpu("gpu_gemm")
    monkeypatch.setattr(gemm.torch.cuda, "Event", clock)
    monkeypatch.setattr(gemm.energy, "joules", lambda _work, seconds: seconds)
    graphs = {name: SimpleNamespace(replay=partial(launches(count), 0)) for name, count in (("ours", 1), ("torch", 2))}
    bursts = gemm.show_sides("blocks", 1e9, 1e-3, gemm.Turns(3).times(graphs, 2))
    assert bursts == {"title": "blocks", "error": 1e-3, "ours": 500.0, "torch": 1000.0}
    both = gemm.show_sides("blocks", 1e9, 1e-3, gemm.Turns(3, 8.0, 0.5).times(graphs, 2))
    times = {"ours": 500.0, "torch": 1000.0}
    assert both == {**bursts, "steady": times, "joules": {"ours": 0.25, "torch": 0.25}}
    *_, steady = capsys.readouterr().out.splitlines()
    assert steady.split(None, 3)[:3] == ["in", "steady", "work"]
    assert "torch 1000.0 us 1 TFLOP/s (2.000) 250.0 mJ" in steady


def test_energy_is_that_of_one_call(on_a_gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    energy = on_a_gpu("energy")
    calls: list[float] = []

    class Library:
        def nvmlDeviceGetTotalEnergyConsumption(self, _device: Any, value: Any) -> int:
            value._obj.value = 1000 + 250 * (len(calls) // 8 * 8)  # it goes on in steps
            return 0

    monkeypatch.setattr(energy, "_burst", lambda work: work() or 1)
    monkeypatch.setattr(energy, "_counter", lambda: (Library(), None))
    assert energy.joules(lambda: calls.append(0.0), 0.01) == pytest.approx(0.25)
    assert calls
    monkeypatch.setattr(energy, "_counter", lambda: None)
    assert math.isnan(energy.joules(lambda: None, 0.001))


def test_the_tables_of_a_gpu(on_a_gpu: Any, capsys: Any) -> None:
    row = {"kernel": "softmax", "shape": "32768x1024", "ours": 3.0, "triton": 2.0, "torch.compile": 1.5, "copy": 4.0}
    on_a_gpu("gpu").show([{**row, "error": 1e-3}])
    on_a_gpu("gpu_gemm").show([{"kind": "fp8", "n": 8192, "ours": 600.0, "cublas": 500.0, "error": 2e-2}])
    head, softmax, _, product = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["kernel", "shape", "ours"]
    assert softmax.split() == [
        "softmax",
        "32768x1024",
        "3.00",
        "2.00",
        "1.50",
        "4.00",
        "1.500",
        "2.00",
        "0.75",
        "1.0e-03",
    ]
    assert product.split() == ["fp8", "8192", "600", "-", "-", "500", "-", "-", "1.200", "2.0e-02"]


def test_gradients_of_lengths_that_nobody_chose(on_a_gpu: Any) -> None:
    backward = on_a_gpu("backward")
    found = backward.drawn(7, 6)
    assert found == backward.drawn(7, 6) != backward.drawn(8, 6)
    assert found.keys() == backward.LENGTHS.keys()
    for name, lengths in found.items():
        least, most = backward.SPANS[name]
        assert all(least <= n <= most for n in lengths) and sum(n % 2 for n in lengths) >= 3, (name, lengths)


def test_plans_of_rows_to_try(on_a_gpu: Any) -> None:
    tune = on_a_gpu("tune_rows")
    for text in tune.CASES:
        case = tune.parsed(text)
        tried = tune.picked(case, 4, False)
        assert len(tried) >= 2 and all(plan.length == case.length for plan in tried), text
        assert case.expected(tried[0]) == min(map(case.expected, tried)), text


@pytest.mark.parametrize("kind", ["groups", "blocks", "int4"])
def test_shapes_of_a_kind_are_drawn_by_a_seed(kind: str, on_a_gpu: Any) -> None:
    gemm = on_a_gpu("gpu_gemm")
    shapes = gemm.drawn_of_kind(kind, 7)
    assert shapes == gemm.drawn_of_kind(kind, 7) != gemm.drawn_of_kind(kind, 8)
    for *_, n, k in shapes:
        assert n % 64 == k % 64 == 0 and min(n, k) >= 512
    if kind == "groups":
        for groups, rows, *_ in shapes:
            sizes = gemm.sizes_of(groups, rows, False, 7), gemm.sizes_of(groups, rows, True, 7)
            assert {sum(of) for of in sizes} == {rows} and max(sizes[0]) - min(sizes[0]) <= 1
