"""The host's side in FlyDSL's style: compiling and launching, arguments, backends, devices, files, diagnostics."""

from __future__ import annotations

import ctypes
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
import flydsl.utils
from flydsl.autotune import Config, _normalize_strides, autotune
from flydsl.base.errors import SourceLocation
from flydsl.compiler import backends, diagnostics, extern_link, jit_argument
from flydsl.compiler.llvm_options import llvm_options
from flydsl.expr import extern
from flydsl.runtime import device, device_runtime
from flydsl.utils.file import atomic_write
from flydsl.utils.smem_allocator import get_op_result_or_value
from tests.compat.launching import run


@flyc.kernel
def fill_kernel(out: fx.Tensor, value: fx.Int32) -> None:
    out[fx.thread_idx.x] = value


@flyc.jit
def fill(out: fx.Tensor, value: fx.Int32, block: fx.Constexpr[int] = 4) -> None:
    attributes = {
        "rocdl.waves_per_eu": None, "rocdl.flat_work_group_size": "4,4",
        "passthrough": [["amdgpu-agpr-alloc", "0"], "noinline"],
    }  # fmt: skip
    launcher = fill_kernel(out, value, value_attrs=attributes)
    launcher.launch(block=block, value_attrs={"rocdl.cluster_dims": None})


def test_compile_launches_once_and_is_called_by_position() -> None:
    out = np.zeros(4, np.int32)
    compiled = flyc.compile(fill, out, 3)
    assert out.tolist() == [3] * 4
    compiled(out, 5, "ignored")
    assert out.tolist() == [5] * 4
    assert flyc.compile(fill) is fill
    with pytest.raises(TypeError, match="must be a dict"):
        flyc.compile["fast"]  # type: ignore[index]
    with pytest.raises(TypeError, match="takes a jit function"):
        flyc.compile(lambda: None)


def test_hints_that_a_program_writes_into_the_function() -> None:
    fn = flyc.jit(fill.func)
    fn.compile_hints["llvm_options"] = {"amdgpu-early-inline-all": True}
    fn(np.zeros(4, np.int32), 1)
    flyc.compile[{"waves_per_eu": 2}](fn)
    assert fn.compile_hints["waves_per_eu"] == 2
    with pytest.raises(TypeError, match="Unsupported type float of the LLVM option"), llvm_options({"x": 1.5}):  # type: ignore[dict-item]
        pass
    with llvm_options({"amdgpu-early-inline-all": True}):
        fn(np.zeros(4, np.int32), 2)


@pytest.mark.parametrize("value", [0, None])
def test_null_pointers_are_arguments(value: Any) -> None:
    @flyc.kernel
    def kernel(p: fx.Pointer, out: fx.Tensor, use: fx.Int32) -> None:
        if use > 0:
            out[0] = p[0]

    @flyc.jit
    def launch(p: fx.Pointer, out: fx.Tensor, use: fx.Int32) -> None:
        kernel(p, out, use).launch()

    out, source = np.zeros(1, np.int32), np.array([9], np.int32)
    compiled = flyc.compile(launch, flyc.from_c_void_p(fx.Int32, value), out, 0)
    assert out[0] == 0
    for address in (source.ctypes.data, ctypes.c_void_p(source.ctypes.data)):
        out[0] = 0
        compiled(address, out, 1)
        assert out[0] == 9
    compiled(None, out, 0)


@pytest.mark.parametrize(
    ("size", "kind", "said"),
    [(64, TypeError, "sequence of 3 positive integers"), ((64, 1), ValueError, "exactly 3 elements"),
     ((64.0, 1, 1), TypeError, "must be an int"), ((0, 1, 1), ValueError, "must be positive")],
)  # fmt: skip
def test_known_block_sizes(size: Any, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        flyc.kernel(known_block_size=size)(fill_kernel.func)


def test_a_kernel_that_is_named_before_each_launch() -> None:
    made = flyc.kernel(known_block_size=(fx.Int32(4), 1, 1))(lambda_free_copy())
    made._func.__name__ = "renamed"

    @flyc.jit
    def launch(out: fx.Tensor) -> None:
        made(out).launch(block=4)

    out = np.zeros(4, np.int32)
    compiled = flyc.compile(launch, out)
    assert "@renamed_0" in compiled.source_ir and out.tolist() == [0, 1, 2, 3]
    assert made._name is None and made._known_block_size == (4, 1, 1)


def lambda_free_copy() -> Any:
    def numbered(out: fx.Tensor) -> None:
        out[fx.thread_idx.x] = fx.thread_idx.x

    return numbered


def test_names_of_arguments() -> None:
    assert jit_argument.JitArgumentRegistry is flyc.JitArgumentRegistry
    array = np.zeros(4, np.float32)
    assert isinstance(flyc.from_dlpack(array), jit_argument.DLTensorJitArg)
    assert jit_argument.TorchTensorJitArg is jit_argument.DLTensorJitArg
    assert isinstance(flyc.from_c_void_p(fx.Int32, 16), jit_argument.PointerJitArg)
    fill.warmup(jit_argument.MemRefSpec((4,), fx.Int32), 1)
    assert list(jit_argument.resolve_signature(fill.func).parameters) == ["out", "value", "block"]


def test_backends_and_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx1201")
    assert backends.current_target() == flyc.GPUTarget("rocm", "gfx1201", 32) and fx.num_warp_threads() == 32
    assert backends._make_backend("rocm", "gfx942") is backends._make_backend("rocm", "gfx942")
    assert (device.get_warp_size("gfx942"), device.get_warp_size("gfx1100")) == (64, 32)
    assert device.get_rocm_device_count() >= 0
    assert device.supports_bf16_global_atomics("gfx950") and not device.supports_bf16_global_atomics("gfx90a")
    assert device_runtime.get_device_runtime("host").device_count() == 1
    device_runtime.ensure_compile_runtime_compatible("rocm", device_runtime.get_device_runtime("host"))
    with pytest.raises(RuntimeError, match="requires device runtime kind 'cuda'"):
        device_runtime.ensure_compile_runtime_compatible("cuda", device_runtime.get_device_runtime("rocm"))
    monkeypatch.setenv("FLYDSL_RUNTIME_KIND", "abacus")
    with pytest.raises(ValueError, match="FLYDSL_RUNTIME_KIND is set to 'abacus'"):
        device_runtime.get_device_runtime()


def test_functions_of_device_libraries(tmp_path: Path) -> None:
    sine = extern.ffi("__ocml_sin_f32", ["float32"], "float32")
    assert sine == extern.ExternFunction("__ocml_sin_f32", ("float32",), "float32")
    with pytest.raises(RuntimeError, match="outside a kernel"):
        sine(1.0)
    with pytest.raises(TypeError, match="link_extern"):
        extern.ffi("f", [], "void", bitcode_path="f.bc")
    with pytest.raises(ValueError, match="'float16' is no type here"):
        extern.ffi("f", ["float16"], "void")
    library = tmp_path / "ocml.bc"
    with pytest.raises(ValueError, match="no bitcode file"):
        extern_link.link_extern(sine, bitcode_path=library)
    with pytest.raises(ValueError, match="set up when a module is loaded are not supported"):
        extern_link.link_extern(sine, bitcode_path=library, module_init_fn=print)
    with pytest.raises(RuntimeError, match="nobody said which library has '__ocml_sin_f32'"):
        run(lambda_calling(sine), np.zeros(1, np.float32), block=1)
    library.write_bytes(b"BC")
    other = extern.ffi("other", [], "void")
    extern_link.register_extern_resolver(lambda function: library if function.symbol == "other" else None)
    assert extern_link.link_extern(sine, bitcode_path=library) is sine
    assert extern_link.bitcode_of(sine) == extern_link.bitcode_of(other) == library
    with pytest.raises(RuntimeError, match="LLVM cannot read the bitcode"):
        run(lambda_calling(sine), np.zeros(1, np.float32), block=1)


def lambda_calling(function: Any) -> Any:
    def body(out: fx.Tensor) -> None:
        out[0] = function(out[0])

    return body


LIBRARY = """
target triple = "amdgcn-amd-amdhsa"
define float @twice_and(float %x, i32 %n) #0 {
  %d = call float @inner(float %x)
  %f = sitofp i32 %n to float
  %r = fadd float %d, %f
  ret float %r
}
define float @inner(float %x) #0 {
  %d = fmul float %x, 2.0
  ret float %d
}
define void @put(i64 %address, i64 %value) #0 {
  %p = inttoptr i64 %address to ptr
  store i64 %value, ptr %p
  ret void
}
attributes #0 = { "target-cpu"="gfx942" "target-features"="+16-bit-insts" }
"""


def test_code_of_a_device_library_is_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the virtual GPU and in the code object, whatever target the library was made for; never kept on disk."""
    path = tmp_path / "library.bc"
    path.write_bytes(llvm.parse_assembly(LIBRARY).as_bitcode())
    twice = extern.ffi("twice_and", ["float32", "int32"], "float32", is_pure=True)
    put = extern.ffi("put", ["int64", "int64"], "void")
    for function in (twice, put):
        extern_link.link_extern(function, bitcode_path=path)

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor, words: fx.Tensor) -> None:
        t = fx.thread_idx.x
        if t < 40:
            out[t] = twice(x[t], t)
            put(fx.Int64(fx.ptrtoint(fx.get_iter(words) + t)), t * 3)

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor, words: fx.Tensor) -> None:
        kernel(x, out, words).launch(block=64)

    monkeypatch.setenv("ARCH", "gfx950")
    monkeypatch.setenv("FLYDSL_DUMP_IR", "1")
    monkeypatch.setenv("FLYDSL_DUMP_DIR", str(tmp_path / "dumps"))
    monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "1")
    monkeypatch.setenv("FLYDSL_RUNTIME_CACHE_DIR", str(tmp_path / "cache"))
    x, out, words = np.arange(64, dtype=np.float32), np.zeros(64, np.float32), np.zeros(64, np.int64)
    launch(x, out, words)
    inside = np.arange(64) < 40
    np.testing.assert_array_equal(out, np.where(inside, 3 * x, 0))
    np.testing.assert_array_equal(words, np.where(inside, 3 * np.arange(64), 0))
    assert launch.specialisations[0].not_kept == ("it calls code of a device library",)
    code = (tmp_path / "dumps" / "kernel" / "21_final_isa.s").read_text()
    assert "amdhsa--gfx950" in code and "twice_and" not in code, (
        "the code is part of the kernel, for the kernel's target"
    )
    with pytest.raises(TypeError, match="'put' takes 2 arguments, got 1"):
        run(lambda_calling(put), np.zeros(1, np.int64), block=1)


def test_another_file_of_a_device_library_is_noticed(tmp_path: Path) -> None:
    """Code in memory is of the file that was named when it was made: another one, or its next edition, counts."""
    first, second = tmp_path / "first.bc", tmp_path / "second.bc"

    def write(path: Path, factor: float) -> None:
        text = f"define float @scaled(float %x) {{\n %r = fmul float %x, {factor}\n ret float %r\n}}"
        path.write_bytes(llvm.parse_assembly(text).as_bitcode())

    write(first, 2.0)
    write(second, 3.0)
    scaled = extern_link.link_extern(extern.ffi("scaled", ["float32"], "float32"), bitcode_path=first)

    @flyc.kernel
    def kernel(out: fx.Tensor) -> None:
        out[0] = scaled(out[0])

    @flyc.jit
    def launch(out: fx.Tensor) -> None:
        kernel(out).launch()

    def factor() -> float:
        out = np.ones(1, np.float32)
        launch(out)
        return float(out[0])

    assert factor() == factor() == 2 and len(launch.specialisations) == 1
    extern_link.link_extern(scaled, bitcode_path=first)
    assert factor() == 2 and len(launch.specialisations) == 1, "the same file changes nothing"
    extern_link.link_extern(scaled, bitcode_path=second)
    assert factor() == factor() == 3 and len(launch.specialisations) == 2
    assert "second.bc" in str(launch.specialisations[1])
    extern_link.link_extern(scaled, bitcode_path=first)
    assert factor() == 2
    write(first, 0.5)
    extern_link.link_extern(scaled, bitcode_path=first)
    assert factor() == 0.5


def test_diagnostics_as_data(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    error = diagnostics.DSLCompileError("wrong", hint="right", location=SourceLocation("k.py", 3, 5))
    record = diagnostics.DiagRecord.of(error)
    assert record == diagnostics.DiagRecord("error", "wrong", "right", (diagnostics.SourceFrame("k.py", 3, 5),))
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    diagnostics.install_excepthook()
    sys.excepthook(type(error), error, None)
    assert "k.py:3" in capsys.readouterr().err
    diagnostics._previous.clear()


def test_files_logs_and_results(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    with atomic_write(path, mode="w", encoding="utf-8") as file:
        file.write("whole")
        assert not path.exists()
    assert path.read_text() == "whole"
    with pytest.raises(KeyError), atomic_write(path, mode="w") as file:
        file.write("half")
        raise KeyError
    assert path.read_text() == "whole" and list(tmp_path.iterdir()) == [path]
    assert isinstance(flydsl.utils.log(), logging.Logger) and flydsl.utils.log().name == "flydsl"

    class Op:
        results = ("value",)

    assert get_op_result_or_value(Op()) == "value" and get_op_result_or_value("raw") == "raw"


def test_every_stage_is_printed(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_DEBUG_PRINT_AFTER_ALL", "1")
    monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "0")
    flyc.jit(fill.func)(np.zeros(4, np.int32), 3)
    shown = [
        line.removeprefix("// ----- after ") for line in capsys.readouterr().out.splitlines() if "----- after" in line
    ]
    assert shown[0] == "fly-rewrite-func-signature" and "rocdl-attach-target" in shown
    assert shown[-1] == "gpu-module-to-binary"


PROGRAM = """
import numpy as np, flydsl.compiler as flyc, flydsl.expr as fx
@flyc.kernel
def k(out: fx.Tensor): out[fx.thread_idx.x] = 1
@flyc.jit
def launch(out: fx.Tensor):
    attributes = {"rocdl.flat_work_group_size": "4,8", "passthrough": [["amdgpu-agpr-alloc", "0"], "noinline"]}
    k(out, value_attrs=attributes).launch(block=4)
launch(np.zeros(4, np.int32))
"""


def test_dumps_and_compile_only_need_no_linker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "PATH": "/nowhere", "FLYDSL_DUMP_IR": "1", "FLYDSL_DUMP_DIR": str(tmp_path / "dumps"),
                   "COMPILE_ONLY": "1", "ARCH": "gfx942",
                   "FLYDSL_RUNTIME_CACHE_DIR": str(tmp_path / "cache")}  # fmt: skip
    done = subprocess.run(
        [sys.executable, str(tmp_path / "program.py")], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    names = [path.name for path in (tmp_path / "dumps" / "k").iterdir()]
    assert {"20_llvm_ir.ll", "21_final_isa.s"} <= set(names)
    text = (tmp_path / "dumps" / "k" / "20_llvm_ir.ll").read_text()
    assert '"amdgpu-agpr-alloc"="0"' in text and '"amdgpu-flat-work-group-size"="4,8"' in text and "noinline" in text
    binary = (tmp_path / "dumps" / "k" / "19_gpu_module_to_binary.mlir").read_text()
    assert "gpu.binary @kernels" in binary and 'bin = "' not in binary, "a fat binary is the unnamed kind of object"


@pytest.mark.parametrize("script", ["run_tests.sh", "run_benchmark.sh", "dumpir.sh"])
def test_scripts_are_there_and_parse(script: str, repository: Path) -> None:
    path = repository / "scripts" / script
    assert path.stat().st_mode & 0o111
    subprocess.run(["bash", "-n", str(path)], check=True)


def test_dumpir(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.setenv("PYTHON", sys.executable)
    monkeypatch.setenv("FLYDSL_DUMP_DIR", str(tmp_path / "ir"))
    script = repository / "scripts" / "dumpir.sh"
    subprocess.run([str(script), str(tmp_path / "program.py")], check=True, capture_output=True)
    assert (tmp_path / "ir" / "k" / "00_origin.mlir").exists()


def test_a_plain_function_is_tuned_by_calling_it() -> None:
    seen: list[tuple[int, float]] = []
    hooks: list[str] = []

    @autotune(
        [Config(BLOCK=4, pre_hook=lambda kw: hooks.append(f"config {kw['BLOCK']}")), Config(BLOCK=2), Config(BLOCK=3)],
        key=["n"], restore_value=["x"], reset_to_zero=["y"], pre_hook=lambda kw: hooks.append("before"),
        post_hook=lambda kw: hooks.append("after"),
        do_bench=lambda fn, warmup, rep: (fn(), {4: 3.0, 2: 1.0}[seen[-1][0]])[1],
    )  # fmt: skip
    def add(x: np.ndarray, y: np.ndarray, n: int, *, BLOCK: int) -> str:
        if BLOCK == 3:
            raise ValueError("no such block")
        seen.append((BLOCK, float(y[0])))
        x += 1
        y += x
        return f"ran {BLOCK}"

    x, y = np.zeros(4, np.float32), np.full(4, 9, np.float32)
    assert add(x, y, 4) == "ran 2" and seen == [(4, 0.0), (2, 0.0), (2, 0.0)]
    assert hooks == ["config 4", "before", "after", "before", "after", "before", "before", "after"]
    assert x[0] == 1 and add.best_config(x, y, 4) == Config(BLOCK=2) and len(add.winners) == 1
    assert _normalize_strides(np.zeros((2, 3, 4))) == ("s", "s", 1)

    @autotune([Config(BLOCK=3)], default=lambda x: Config(BLOCK=7))
    def other(x: int, BLOCK: int = 0) -> int:
        return x + BLOCK

    assert other(1) == 8, "a default is not measured"

    @autotune([Config(BLOCK=3)], do_bench=lambda fn, warmup, rep: fn())
    def failing(BLOCK: int) -> None:
        raise ValueError

    with pytest.raises(RuntimeError, match="all configurations of 'failing' failed"):
        failing()
