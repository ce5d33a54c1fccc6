"""The CUDA device on a real GPU: machine code kept with PTX, dependent launches, and the machine code as text.

What calls are made for it is tested against a stand-in for the driver, in tests/unit/runtime.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from flydsl.base.errors import DriverError
from flydsl.compiler.artifacts.artifact import Artifact
from flydsl.kernels.gemm.hopper.plan import GemmConfig, GemmKind
from flydsl.kernels.gemm.hopper_gemm import build_hopper_gemm
from flydsl.kernels.norm.softmax import build_softmax_module
from flydsl.runtime import cubin, cuda, nvidia_tools
from tests.conftest import REPOSITORY
from tests.support.mma_code import artifact_of
from tests.unit.jit.kernels import scaling

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

ELF = b"\x7fELF"


@pytest.fixture(scope="module")
def cuda_torch(torch: ModuleType) -> ModuleType:
    if not torch.cuda.is_available() or flyc.current_device().target.arch != "sm_90a":
        pytest.skip("needs a Hopper GPU and a torch with CUDA")
    return torch


# Machine code ----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["auto", "ptxas", "driver", "off"])
def test_machine_code_of_every_maker_runs(cuda_torch: ModuleType, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "ptxas" and not nvidia_tools.tools("ptxas"):
        pytest.skip("ptxas is not installed: it comes with CUDA, and with Triton")
    monkeypatch.setenv(knobs.COMPILE_CUBIN.name, way)
    x, y = cuda_torch.randn(64, device="cuda"), cuda_torch.full((64,), float("nan"), device="cuda")
    compiled = flyc.compile(scaling(), x, y, 3.0)
    compiled(x, y, 3.0)
    cuda_torch.cuda.synchronize()
    assert cuda_torch.equal(y, x * 3)
    assert compiled.artifact.cubin.startswith(ELF) == (way != "off")
    assert ".target sm_90a" in compiled.artifact.ptx


def test_the_linker_of_the_driver_takes_the_target(cuda_torch: ModuleType) -> None:
    device, x = cuda.cuda_device(), np.zeros(64, np.float32)
    ptx = artifact_of(scaling(), (x, x, 1.0), "sm_90a").device_binary
    with device.selected():
        made = cubin.linked(device.driver, ptx, "sm_90a", cuda.error_name)
        wrong = cubin.linked(device.driver, ptx.replace(b"ret;", b"nonsense;"), "sm_90a", cuda.error_name)
    assert made.cubin.startswith(ELF), made.said
    assert wrong.cubin == b"" and "CUDA_ERROR_INVALID_PTX" in wrong.said and "nonsense" in wrong.said


PROGRAM = """
import torch
from flydsl.runtime import cuda
from tests.unit.jit.kernels import scaling

made, loaded = [], []
assemble, load = cuda.CudaDevice.assemble, cuda.CudaDevice._load
cuda.CudaDevice.assemble = lambda self, *given: (made.append(1), assemble(self, *given))[1]
cuda.CudaDevice._load = lambda self, image: (loaded.append(image[:4]), load(self, image))[1]
scale = scaling()
x, y = torch.randn(64, device="cuda"), torch.full((64,), float("nan"), device="cuda")
scale(x, y, 2.0)
torch.cuda.synchronize()
assert torch.equal(y, x * 2)
print(scale.cache_info().hits, len(made), loaded)
"""


def test_the_second_process_assembles_nothing(cuda_torch: ModuleType, fresh_cache: Path) -> None:
    path = os.pathsep.join([str(REPOSITORY / "python"), str(REPOSITORY), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    said = []
    for _ in range(2):
        command = [sys.executable, "-c", PROGRAM]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout.strip())
    assert said == [f"0 1 [{ELF!r}]", f"1 0 [{ELF!r}]"]


def test_machine_code_of_another_gpu_gives_way_to_ptx(cuda_torch: ModuleType) -> None:
    x = np.zeros(64, np.float32)
    artifact = artifact_of(scaling(), (x, x, 1.0), "sm_80")
    made = nvidia_tools.assembled_by_ptxas(artifact.device_binary, "sm_80")
    if not made.cubin:
        pytest.skip(f"no machine code for sm_80: {made.said}")
    device = cuda.cuda_device()
    with pytest.raises(DriverError, match="loading 'scale_kernel_0' failed: CUDA_ERROR_NO_BINARY_FOR_GPU"):
        device.load_module(made.cubin, name="scale_kernel_0")
    module = device.load_module(made.cubin, artifact.device_binary, name="scale_kernel_0")
    assert device.function(module, "scale_kernel_0")


def test_wrong_ptx_is_explained(cuda_torch: ModuleType) -> None:
    x = np.zeros(64, np.float32)
    ptx = artifact_of(scaling(), (x, x, 1.0), "sm_90a").device_binary.replace(b"ret;", b"nonsense;")
    with pytest.raises(DriverError) as caught:
        cuda.cuda_device().load_module(ptx, name="scale_kernel_0")
    text = str(caught.value)
    assert "loading 'scale_kernel_0' failed: CUDA_ERROR_INVALID_PTX" in text and "nonsense" in text


REGISTERS, LOCAL_BYTES = 4, 3


def attributes(device: Any, image: bytes, kernel: str) -> tuple[int, int]:
    """Registers and bytes of local memory of a kernel as the driver loads it."""
    handle = device.function(device.load_module(image), kernel)
    found = []
    for number in (REGISTERS, LOCAL_BYTES):
        value = ctypes.c_int()
        with device.selected():
            device.driver.call("cuFuncGetAttribute", ctypes.byref(value), number, ctypes.c_void_p(handle))
        found.append(value.value)
    return found[0], found[1]


def gemm_artifact(torch: ModuleType) -> Artifact:
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    run = build_hopper_gemm(GemmKind(fx.BFloat16, fx.BFloat16, fx.BFloat16), GemmConfig(), sms)
    a = torch.zeros(512, 512, device="cuda", dtype=torch.bfloat16)
    return flyc.compile(run, a, a.clone().T, a.clone(), None, None, None, None, 1.0, 0.0).artifact


def softmax_artifact(torch: ModuleType) -> Artifact:
    x = torch.zeros(8, 4096, device="cuda", dtype=torch.bfloat16)
    return flyc.compile(build_softmax_module(8, 4096, "bf16"), x, x.clone(), 8).artifact


@pytest.mark.parametrize("make", [gemm_artifact, softmax_artifact])
def test_what_is_kept_is_as_good_as_what_the_driver_makes(cuda_torch: ModuleType, make: Any) -> None:
    """Registers and spills of the kept machine code against those of PTX that the driver assembles at load."""
    artifact = make(cuda_torch)
    if not artifact.cubin:
        pytest.skip("nothing here makes machine code of it without loss; PTX is loaded")
    device = cuda.cuda_device()
    for kernel in artifact.kernels:
        kept, by_driver = (attributes(device, image, kernel) for image in artifact.images)
        assert kept[1] <= by_driver[1], f"{kernel}: local bytes {kept[1]}, by the driver {by_driver[1]}"
        assert kept[0] <= by_driver[0] + 8, f"{kernel}: registers {kept[0]}, by the driver {by_driver[0]}"
    sass = nvidia_tools.sass_of(artifact.cubin)
    if sass:
        assert ("USETMAXREG" in sass) == ("setmaxnreg" in artifact.ptx)


@pytest.mark.parametrize("knob", [knobs.DUMP_IR, knobs.DEBUG_DUMP_ASM])
def test_the_machine_code_is_dumped(
    cuda_torch: ModuleType, knob: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not nvidia_tools.tools("cuobjdump") and not nvidia_tools.tools("nvdisasm"):
        pytest.skip("neither cuobjdump nor nvdisasm is installed: they come with CUDA, and with Triton")
    monkeypatch.setenv("FLYDSL_DUMP_DIR", str(tmp_path))
    monkeypatch.setenv(knob.name, "1")
    x = cuda_torch.randn(64, device="cuda")
    scaling()(x, x.clone(), 2.0)
    folder = tmp_path / "scale_kernel"
    assert ".target sm_90a" in (folder / "21_final_isa.s").read_text()
    sass = (folder / "21_final_isa.sass").read_text()
    assert "EXIT" in sass and "scale_kernel_0" in sass


# Dependent launches ----------------------------------------------------------------------------

THREADS = 64
STEPS = 400_000
FACTOR, TERM = 1664525, 1013904223


@flyc.kernel
def slow(x: fx.Tensor, y: fx.Tensor, done: fx.Tensor, steps: fx.Int32):
    """Lets the next launch begin, and then takes its time to write y."""
    fx.nvvm.griddepcontrol_launch_dependents()
    i = fx.thread_idx.x
    value = x[i]
    for _ in range(steps):
        value = value * FACTOR + TERM
    y[i] = value
    fx.barrier()
    if i == 0:
        done[0] = 1


@flyc.kernel
def after(y: fx.Tensor, z: fx.Tensor, done: fx.Tensor, seen: fx.Tensor):
    """Notes whether the launch before it had ended when it began, waits for it and reads what it wrote."""
    i = fx.thread_idx.x
    before = done[0]
    fx.nvvm.griddepcontrol_wait()
    z[i] = y[i] + 1
    if i == 0:
        seen[0] = before


def chain() -> Any:
    @flyc.jit
    def run(x: fx.Tensor, y: fx.Tensor, z: fx.Tensor, done: fx.Tensor, seen: fx.Tensor, steps: fx.Int32,
            pdl: fx.Constexpr[bool], stream: fx.Stream = fx.Stream(None)):  # fmt: skip
        slow(x, y, done, steps).launch(grid=(1, 1, 1), block=(THREADS, 1, 1), stream=stream)
        after(y, z, done, seen).launch(grid=(1, 1, 1), block=(THREADS, 1, 1), stream=stream, pdl=pdl)

    return run


def expected(x: np.ndarray) -> np.ndarray:
    """What `after` writes, modulo 2^32."""
    factor, term, power = 1, 0, (FACTOR, TERM)
    steps = STEPS
    while steps:
        if steps & 1:
            factor, term = factor * power[0], term * power[0] + power[1]
        power = (power[0] ** 2, power[1] * (power[0] + 1))
        factor, term, power = factor % 2**32, term % 2**32, (power[0] % 2**32, power[1] % 2**32)
        steps >>= 1
    wide = x.astype(np.int64) % 2**32 * factor + term + 1  # below 2^64, which wraps as it should
    return (wide.astype(np.uint64) % 2**32).astype(np.uint32).view(np.int32)


class Buffers:
    """Fresh numbers in x, poison everywhere else, and nothing done yet."""

    def __init__(self, torch: ModuleType) -> None:
        self.torch = torch
        self.x, self.y, self.z = (torch.empty(THREADS, dtype=torch.int32, device="cuda") for _ in range(3))
        self.done, self.seen = (torch.empty(1, dtype=torch.int32, device="cuda") for _ in range(2))
        self.fill()

    def fill(self) -> None:
        self.x.copy_(self.torch.randint(-(2**31), 2**31 - 1, (THREADS,), dtype=self.torch.int32))
        for poisoned in (self.y, self.z, self.seen):
            poisoned.fill_(-7)
        self.done.zero_()
        self.torch.cuda.synchronize()

    @property
    def all(self) -> tuple[Any, ...]:
        return self.x, self.y, self.z, self.done, self.seen

    def began_early(self) -> bool:
        """Return whether the second launch began before the first ended, once its numbers are found right."""
        self.torch.cuda.synchronize()
        np.testing.assert_array_equal(self.z.cpu().numpy(), expected(self.x.cpu().numpy()))
        assert int(self.done) == 1
        assert int(self.seen) in (0, 1)
        return int(self.seen) == 0


@pytest.mark.parametrize("side", [False, True], ids=["default stream", "side stream"])
@pytest.mark.parametrize("pdl", [False, True], ids=["in order", "dependent"])
def test_a_dependent_launch_begins_early_and_reads_the_right_numbers(
    cuda_torch: ModuleType, pdl: bool, side: bool
) -> None:
    run, buffers = chain(), Buffers(cuda_torch)
    stream = cuda_torch.cuda.Stream() if side else None
    run(*buffers.all, 1, pdl, stream)  # compiled and loaded, so that the two launches below follow each other at once
    early = []
    for _ in range(8):
        buffers.fill()
        run(*buffers.all, STEPS, pdl, stream)
        early.append(buffers.began_early())
    # A host that is busy with other work may launch the second one late, but never every time.
    assert any(early) if pdl else not any(early)


def test_dependent_launches_in_a_graph(cuda_torch: ModuleType) -> None:
    run, buffers = chain(), Buffers(cuda_torch)
    side = cuda_torch.cuda.Stream()
    run(*buffers.all, 1, True, side)
    cuda_torch.cuda.synchronize()
    graph = cuda_torch.cuda.CUDAGraph()
    with cuda_torch.cuda.graph(graph, stream=side):
        run(*buffers.all, STEPS, True, side)
    for _ in range(3):
        buffers.fill()
        graph.replay()
        cuda_torch.cuda.synchronize()
        np.testing.assert_array_equal(buffers.z.cpu().numpy(), expected(buffers.x.cpu().numpy()))


@flyc.kernel
def sums(x: fx.Tensor, out: fx.Tensor):
    fx.nvvm.griddepcontrol_wait()
    mine = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 1]).ptr
    mine.store(x[fx.block_idx.x])
    fx.nvvm.cluster_sync()
    total = fx.Float32(0.0)
    for block in fx.range_constexpr(4):
        total = total + fx.nvvm.cluster_load(mine, block)
    out[fx.block_idx.x] = total
    fx.nvvm.cluster_sync()
    fx.nvvm.griddepcontrol_launch_dependents()


@flyc.jit
def sum_twice(x: fx.Tensor, y: fx.Tensor, z: fx.Tensor):
    sums(x, y).launch(grid=64, block=1, cluster=4, pdl=True)
    sums(y, z).launch(grid=64, block=1, cluster=4, pdl=True)


def test_dependent_launches_of_clusters(cuda_torch: ModuleType) -> None:
    x = cuda_torch.randint(-1000, 1000, (64,), device="cuda").float()
    y, z = (cuda_torch.full((64,), float("nan"), device="cuda") for _ in range(2))
    sum_twice(x, y, z)
    cuda_torch.cuda.synchronize()
    of_four = x.reshape(16, 4).sum(1, keepdim=True).expand(16, 4).reshape(64)
    assert cuda_torch.equal(y, of_four) and cuda_torch.equal(z, of_four * 4)


def test_an_export_has_the_machine_code(cuda_torch: ModuleType, tmp_path: Path) -> None:
    buffers = Buffers(cuda_torch)
    made = flyc.export(chain(), *buffers.all, 1, True, None, dir=tmp_path)
    assert made.cubin is not None and made.cubin.read_bytes().startswith(ELF)
    assert "cuLaunchKernelEx" in made.source.read_text()
