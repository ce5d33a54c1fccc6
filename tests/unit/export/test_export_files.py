"""The files of an export: what they say, and that C and C++ compilers take them."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.elf_object import read_object
from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError, TargetError, UnsupportedError
from flydsl.compiler.outlets.c_launcher import c_string
from flydsl.kernels.norm.softmax import build_softmax_module
from tests.unit.export.exported_kernels import WARNINGS, Options, add, affine, clang, export_add, export_affine

V = np.zeros(8, np.float32)


def compiles(folder: Path, names: list[str], plus_plus: bool = False) -> None:
    """The sources compile as C11, and one program may include all their headers."""
    includes = "".join(f'#include "{name}.h"\n' for name in names)
    user = folder / ("user.cpp" if plus_plus else "user.c")
    user.write_text(
        f"{includes}int main() {{ return 0; }}\n".replace("main()", "main()" if plus_plus else "main(void)")
    )
    standard = "-std=c++17" if plus_plus else "-std=c11"
    sources = [user] if plus_plus else [user, *(folder / f"{name}.c" for name in names)]
    for source in sources:
        command = [clang(plus_plus), standard, *WARNINGS, "-c", str(source), "-o", str(folder / "out.o")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "gfx942", "gfx950", "gfx1201"])
def test_exports_for_gpus_compile_as_c_and_cpp(tmp_path: Path, arch: str) -> None:
    export_add(tmp_path, arch=arch)
    export_affine(tmp_path, arch=arch)
    fn = build_softmax_module(4, 256, "bf16")
    x = np.zeros((4, 256), ml_dtypes.bfloat16)
    made = flyc.export(fn, x, x.copy(), 4, dir=tmp_path, arch=arch)
    compiles(tmp_path, ["add", "affine", "softmax"])
    compiles(tmp_path, ["add", "affine", "softmax"], plus_plus=True)
    assert made.device_binary is not None
    data = made.device_binary.read_bytes()
    kernel = json.loads(made.description.read_text())["kernels"][0]
    assert kernel.encode() in data
    assert data.startswith(b"\x7fELF") if arch.startswith("gfx") else b".entry" in data
    assert [path.name for path in made.objects] == ["softmax.o"]


def test_texts_built_into_the_code_end_no_comment(tmp_path: Path) -> None:
    """A text of the function, of a struct and of a struct inside it, each of which the header mentions."""
    nasty = "a */ int b; /* c"

    @fx.struct
    class Inner:
        number: fx.Int32
        text: fx.Constexpr[str]

    @fx.struct
    class Outer:
        inner: Inner
        text: fx.Constexpr[str]

    @flyc.jit
    def quoting(x: fx.Tensor, outer: Outer, text: fx.Constexpr[str]):
        pass

    flyc.export(quoting, V, Outer(Inner(1, nasty), nasty), nasty, dir=tmp_path)
    compiles(tmp_path, ["quoting"])
    compiles(tmp_path, ["quoting"], plus_plus=True)
    assert (tmp_path / "quoting.h").read_text().count("int b;") >= 3


ODD_TEXT = 'say "no" \\\\ to \x0177, \x7f0, \r\t\n, ??) and \\\\?\u00e9\udcff8'
"""Digits after control characters, which a longer escape would swallow; a trigraph; a byte that is no UTF-8."""


def test_any_text_reaches_c_whole(tmp_path: Path) -> None:
    program = tmp_path / "says.c"
    text = f"#include <stdio.h>\nint main(void) {{ return fputs({c_string(ODD_TEXT)}, stdout) < 0; }}\n"
    program.write_text(text, encoding="utf-8")
    command = [clang(), "-std=c11", *WARNINGS, str(program), "-o", str(tmp_path / "says")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = subprocess.run([str(tmp_path / "says")], capture_output=True)
    assert said.stdout == ODD_TEXT.encode("utf-8", "surrogateescape")


@pytest.mark.parametrize("arch", ["host", "gfx942"])
def test_a_kernel_from_a_file_with_an_odd_name(tmp_path: Path, arch: str) -> None:
    """The place of a launch is in the code that is exported."""
    file = tmp_path / 'kernel "\x017??).py'
    file.write_text(
        "import flydsl.compiler as flyc\nimport flydsl.expr as fx\n\n\n"
        "@flyc.kernel\ndef fill_kernel(x: fx.Tensor):\n    x[fx.thread_idx.x] = 1.0\n\n\n"
        "@flyc.jit\ndef fill(x: fx.Tensor, n: fx.Int32):\n    fill_kernel(x).launch(grid=(n, 1, 1), block=(n, 1, 1))\n",
        encoding="utf-8",
    )
    fill = runpy.run_path(str(file))["fill"]
    options = {} if arch == "host" else {"arch": arch}
    made = flyc.export(fill, V, 8, dir=tmp_path, **options)
    assert r"\0017\?\?" in made.source.read_text()
    compiles(tmp_path, ["fill"])


def test_the_description(tmp_path: Path) -> None:
    x = flyc.from_dlpack(np.zeros((4, 8), np.float32), assumed_align=16).mark_shape_dynamic(0, divisibility=4)

    @flyc.jit
    def nothing(x: fx.Tensor, flag: fx.Boolean, wide: fx.Int64, kind: fx.Constexpr[str], stream: fx.Stream):
        pass

    made = flyc.export(nothing, x, True, 1, "a */ b", None, dir=tmp_path / "new" / "folder")
    said = json.loads(made.description.read_text())
    assert (said["name"], said["device"], said["target"]) == ("nothing", "host", "gfx942")
    assert set(said["versions"]) == {"flydsl", "llvm"}
    assert said["constants"] == {"kind": "'a */ b'"}
    tensor, flag, wide, stream = said["arguments"]
    assert tensor["shape"] == [{"runtime": "int32", "divisibility": 4}, {"static": 8}]
    assert tensor["strides"] == [{"static": 8}, {"static": 1}]
    assert (tensor["element"], tensor["alignment"], tensor["c_type"]) == ("f32", 16, "fly_tensor_2d_f32")
    assert [slot["offset"] for a in (tensor, flag, wide, stream) for slot in a["packed"]] == [0, 8, 12, 16, 24]
    assert [a["c_type"] for a in (flag, wide, stream)] == ["bool", "int64_t", "void *"]
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == sorted(
        [*said["files"], "nothing.json"]
    )
    compiles(tmp_path / "new" / "folder", ["nothing"])


def test_the_description_says_what_is_written(tmp_path: Path) -> None:
    export_affine(tmp_path)
    said = json.loads((tmp_path / "affine.json").read_text())
    written = {a["name"]: [slot["written"] for slot in a["packed"]] for a in said["arguments"]}
    assert written["y"][0] and not any(written["y"][1:])
    assert not any(flag for name, flags in written.items() if name != "y" for flag in flags)


ELEMENTS = ["float16", "bfloat16", "float8_e4m3fn", "float64", "bool", "int8", "uint8", "int16", "uint32", "int64"]


def test_every_element_type_has_a_c_type(tmp_path: Path) -> None:
    names = []
    for elem in ELEMENTS:
        dtype: Any = getattr(ml_dtypes, elem, None) or elem

        @flyc.jit
        def nothing(x: fx.Tensor):
            pass

        names.append(flyc.export(nothing, np.zeros((2, 3, 4), dtype), dir=tmp_path, name=f"of_{elem}").name)
    compiles(tmp_path, names)
    compiles(tmp_path, names, plus_plus=True)


def test_names_that_c_cannot_use(tmp_path: Path) -> None:
    @flyc.jit
    def _double(int: fx.Tensor, status: fx.Int32, block: fx.Int32, linux: fx.Int32, _x: fx.Int32, stream: fx.Int32):
        pass

    made = flyc.export(_double, V, 1, 2, 3, 4, 5, dir=tmp_path)
    assert made.name == "double_"
    parameters = "int32_t status_, int32_t block_, int32_t linux_, int32_t x, int32_t stream, void *stream_"
    assert f"double__launch(fly_tensor_1d_f32 int_, {parameters});" in made.header.read_text()
    compiles(tmp_path, ["double_"])


def test_only_chosen_symbols_are_visible(tmp_path: Path) -> None:
    export_affine(tmp_path)
    symbols = read_object((tmp_path / "affine.o").read_bytes()).symbols
    assert [symbol.name for symbol in symbols if symbol.binding and symbol.section] == ["affine_fly_entry"]


def test_a_registered_type_becomes_its_numbers(tmp_path: Path) -> None:
    class Pair:
        def __init__(self, a: int, b: float) -> None:
            self.a, self.b = a, b

        def __get_ir_types__(self) -> list[str]:
            return ["i32", "f32"]

        def __cache_signature__(self) -> tuple[()]:
            return ()

        def __c_abi_spec__(self) -> list[tuple[str, float]]:
            return [("i", self.a), ("f", self.b)]

        @classmethod
        def __construct_from_ir_values__(cls, values: list[Any]) -> Any:
            return values

    flyc.JitArgumentRegistry.register_jit_arg(Pair, Pair)

    @flyc.jit
    def nothing(pair: Any):
        pass

    made = flyc.export(nothing, Pair(1, 2.0), dir=tmp_path)
    assert "int32_t number0;\n    float number1;\n} nothing_pair;" in made.header.read_text()
    compiles(tmp_path, ["nothing"])


def test_a_description_of_an_array_is_enough(tmp_path: Path) -> None:
    """Also of one too large to have: its extents are passed in 64 bits."""
    spec = flyc.TensorSpec((1 << 33,), fx.Float32)
    made = flyc.export(add, spec, spec, spec, 8, dir=tmp_path)
    assert json.loads(made.description.read_text())["arguments"][0]["shape"][0]["runtime"] == "int64"
    assert "32-bit extents" not in made.source.read_text()
    compiles(tmp_path, ["add"])


def test_a_raw_pointer_is_typed(tmp_path: Path) -> None:
    @flyc.jit
    def nothing(p: fx.Pointer):
        pass

    made = flyc.export(nothing, flyc.from_c_void_p(fx.Float32, 1 << 20, assumed_align=16), dir=tmp_path)
    assert "nothing_launch(float *p, void *stream);" in made.header.read_text()
    assert "not aligned to 16 bytes" in made.source.read_text()
    compiles(tmp_path, ["nothing"])


def test_sanitizers_are_refused(tmp_path: Path) -> None:
    with flyc.sanitize(), pytest.raises(DslRuntimeError, match="an export has no sanitizers"):
        flyc.export(add, V, V, V, 8, dir=tmp_path)


def test_a_method_and_keywords(tmp_path: Path) -> None:
    class Model:
        width = 3

        @flyc.jit
        def run(self, x: fx.Tensor, n: fx.Int32):
            pass

    made = flyc.export(Model().run, V, n=4, dir=tmp_path)
    assert "run_launch(fly_tensor_1d_f32 x, int32_t n, void *stream);" in made.header.read_text()
    assert "0x" not in made.description.read_text(), "an address of this process got into the files"


def test_an_export_is_the_same_every_time(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        export_affine(tmp_path / folder, cpu="generic")
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name
    assert str(Path(__file__).parent) not in (tmp_path / "one" / "affine.c").read_text()


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"name": "a-b"}, DslValueError, "'a-b' is no C identifier"),
        ({"cpu": "z80"}, DslValueError, "cpu='z80' is no processor"),
        ({"arch": "sm_1"}, TargetError, "unknown target 'sm_1'"),
        ({"device": "tpu"}, DslValueError, "no device 'tpu'"),
        ({"device": "cuda"}, DslValueError, "gfx942 is no target of device 'cuda'"),
        ({"device": "rocm", "arch": "sm_80"}, DslValueError, "sm_80 is no target of device 'rocm'"),
    ],
)
def test_wrong_options_are_named(tmp_path: Path, options: dict[str, Any], error: type, text: str) -> None:
    with pytest.raises(error, match=text):
        flyc.export(add, V, V, V, 8, dir=tmp_path / "none", **options)
    assert not (tmp_path / "none").exists(), "a refused export left files"


def test_wrong_arguments_are_named(tmp_path: Path) -> None:
    with pytest.raises(DslTypeError, match="takes a jit function, got function"):
        flyc.export(test_the_description, dir=tmp_path)
    with pytest.raises(DslTypeError, match="call of 'add'"):
        flyc.export(add, V, dir=tmp_path)
    with pytest.raises(DslRuntimeError, match="no dimension of stride 1"):
        flyc.export(add, V[::2], V, V, 8, dir=tmp_path)
    with pytest.raises(DslTypeError, match="n"):
        flyc.export(add, V, V, V, object(), dir=tmp_path)
    with pytest.raises(DslTypeError):
        flyc.export(affine, V, V, Options(scale=1.0, n=8), [{}], dir=tmp_path)


def test_a_number_c_cannot_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Odd:
        def __get_ir_types__(self) -> list[str]:
            return ["i64"]

        def __cache_signature__(self) -> tuple[()]:
            return ()

        def __c_abi_spec__(self) -> list[tuple[str, int]]:
            return [("n", 1)]

        @classmethod
        def __construct_from_ir_values__(cls, values: list[Any]) -> Any:
            return values

    flyc.JitArgumentRegistry.register_jit_arg(Odd, Odd)

    @flyc.jit
    def nothing(odd: Any):
        pass

    with pytest.raises(UnsupportedError, match="'odd' cannot be exported"):
        flyc.export(nothing, Odd(), dir=tmp_path)

    started: list[subprocess.Popen[str]] = []
    popen = subprocess.Popen

    def recorded(*args: Any, **options: Any) -> subprocess.Popen[str]:
        started.append(popen(*args, **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", recorded)
    with pytest.raises(UnsupportedError, match="'odd' cannot be exported"):
        flyc.export(nothing, Odd(), dir=tmp_path, arch="gfx942")
    assert [process.returncode for process in started] == [0], "nobody waited for the linker"


def test_an_exported_function_still_runs_here(tmp_path: Path) -> None:
    export_add(tmp_path)
    a = np.arange(8, dtype=np.float32)
    c = np.full(8, np.nan, np.float32)
    add(a, a, c, 8)
    np.testing.assert_array_equal(c, 2 * a)


def test_the_name_is_the_function_also_after_its_module_is_imported() -> None:
    code = "import flydsl.compiler as flyc, flydsl.compiler.outlets.export_writer; print(callable(flyc.export))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "True\n"


def test_exported_files_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        export_add(tmp_path, arch="gfx942")
    finally:
        os.umask(before)
    assert {oct(path.stat().st_mode & 0o777) for path in tmp_path.iterdir()} == {"0o644"}
