"""Every kernel of the repository on every AMD target: an unmodified mlir-opt accepts what each stage leaves.

And it can take over: from what stage A leaves, upstream's own passes make the same matrix instructions as ours.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections import Counter

import pytest
from xdsl.dialects.builtin import ModuleOp

from flydsl.backends.pipeline import STAGE_C, stage_b
from flydsl.backends.rocm.compile import device_text, isa_of
from flydsl.target.target import Target
from tests.codegen.repository_kernels import KERNELS, RepositoryKernel, after_stage_a, cases
from tests.conftest import REPOSITORY
from tests.filecheck.upstream.test_upstream import fly_left

TARGETS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250")
MATRIX = re.compile(r"v_mfma_\w+")


def upstream(mlir_opt: str, flags: list[str], text: str) -> str:
    done = subprocess.run([mlir_opt, *flags], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    return done.stdout


def later_texts(module: ModuleOp, target: Target) -> list[str]:
    """The module as it is and after every step of stages B and C."""
    texts = [str(module)]
    for step in (*stage_b(target, 2, False), STAGE_C):
        step.run(module)
        texts.append(str(module))
    return texts


@pytest.mark.parametrize("kernel, arch", cases(*TARGETS, "sm_90a"), ids=lambda value: getattr(value, "name", value))
def test_upstream_verifies_every_stage(kernel: RepositoryKernel, arch: str, mlir_opt: str) -> None:
    module, target = after_stage_a(kernel, arch)
    texts = later_texts(module, target)
    # The passes after the tenth work on the host's part, which is the same for every target of a family.
    if arch not in ("gfx942", "sm_90a"):
        texts = [texts[step] for step in (0, 1, len(texts) - 2, len(texts) - 1)]
    assert not fly_left(texts[0])
    upstream(mlir_opt, ["--verify-each", "--split-input-file", "-o", "/dev/null"], "\n// -----\n".join(texts))


sys.path.append(str(REPOSITORY / "benchmarks"))
LIBRARY = {case.name: case for case in importlib.import_module("amd_kernels").CASES}


@pytest.mark.parametrize(("name", "arch"), [
    ("attention d=64", "gfx950"), ("attention gradients d=64", "gfx1201"), ("decode d=128", "gfx942"),
    ("moe stage 1 fp8 64x128", "gfx950"), ("moe stage 2 fp4 x fp4 32x128", "gfx950"), ("w4a16 64x128x128", "gfx942"),
    ("blockscale fp8 64x128x128", "gfx950"), ("ring f16 128x128x64", "gfx1250"),
])  # fmt: skip
def test_upstream_verifies_the_library(name: str, arch: str, mlir_opt: str) -> None:
    """Kernels as large as they are used: what stage A leaves, and the device code of the last stages."""
    case = LIBRARY[name]
    module, target = after_stage_a(RepositoryKernel(name, lambda _: case.filled(arch)), arch)
    texts = later_texts(module, target)
    assert not fly_left(texts[0])
    shown = [texts[step] for step in (0, 1, len(texts) - 2)]
    upstream(mlir_opt, ["--verify-each", "--split-input-file", "-o", "/dev/null"], "\n// -----\n".join(shown))


TAKE_OVER = {
    "from stage A": (0, "gpu.module(convert-scf-to-cf,convert-gpu-to-rocdl{chipset=gfx942},reconcile-unrealized-casts),"
                        "rocdl-attach-target{chip=gfx942 O=2},"),
    "from our kernels": (1, "rocdl-attach-target{chip=gfx942 O=2},"),
    "from stage B": (9, ""),
}  # fmt: skip


@pytest.mark.parametrize("start", TAKE_OVER)
def test_upstream_makes_the_same_matrix_instructions(start: str, mlir_opt: str) -> None:
    example = next(kernel for kernel in KERNELS if kernel.name == "tiled_mma")
    module, target = after_stage_a(example, "gfx942")
    ours = Counter(MATRIX.findall(isa_of(device_text(module, target), target, 2)))
    stage, passes = TAKE_OVER[start]
    pipeline = f"--pass-pipeline=builtin.module({passes}gpu-module-to-binary{{format=isa}})"
    theirs = Counter(MATRIX.findall(upstream(mlir_opt, [pipeline], later_texts(module, target)[stage])))
    assert ours and theirs == ours
