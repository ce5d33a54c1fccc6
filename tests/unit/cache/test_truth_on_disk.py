"""Cache truth on disk: one thing changes, and the next start compiles again exactly if the thing can matter.

Each test imports the program of `programs.py` as a new process would and looks at whether its code came from disk. A
change that matters has to show in the result as well: the number it concerns, and no other.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flydsl.base import knobs, toolchain
from tests.unit.cache.programs import FILES, changed, imported, numbers

Folder = Callable[[], Path]


def was_compiled(main: Any) -> bool:
    info = main.fn.cache_info()
    assert info.hits + info.misses == 1
    return info.misses == 1


MATTERS = {
    # name: (file, old, new, {index: difference})
    "body of a helper two modules away": ("deep", "x * SCALE", "x * SCALE + 5", {0: 5}),
    "global constant two modules away": ("deep", "SCALE = 3", "SCALE = 4", {0: 1}),
    "helper one module away": ("layer", "deep.deep_helper(x) + 1", "deep.deep_helper(x) + 2", {0: 1}),
    "default value": ("layer", "k=5", "k=6", {1: 1}),
    "keyword default": ("layer", "k=6", "k=8", {2: 2}),
    "decorated helper": ("layer", "return x + 7", "return x + 9", {3: 2}),
    "decorator": ("layer", "func(x) + 100", "func(x) + 200", {3: 100}),
    "closure value of a helper": ("layer", "make_adder(8)", "make_adder(9)", {4: 1}),
    "body of a closure": ("layer", "return x + n\n", "return x - n\n", {4: -16}),
    "value in a dict": ("layer", '{"a": 9', '{"a": 19', {5: 10}),
    "item of a list in a dict": ("layer", "[10, 11]", "[10, 12]", {5: 1}),
    "item of a tuple": ("layer", "PAIR = (12, 13)", "PAIR = (12, 15)", {6: 2}),
    "field of a frozen dataclass": ("layer", "Config(tile=14)", "Config(tile=15)", {7: 1}),
    "default of a dataclass field": ("layer", "extra: int = 0", "extra: int = 3", {7: 3}),
    "method of a dataclass": ("layer", "self.tile + self.extra", "self.tile - 1", {7: -1}),
    "argument of a partial": ("layer", "k=15", "k=16", {8: 1}),
    "class attribute": ("layer", "FACTOR = 2", "FACTOR = 3", {9: 20}),
    "method": ("layer", "x + self.n * self.FACTOR", "x + self.n", {9: -19}),
    "property": ("layer", "self.n * 2", "self.n * 3", {9: 19}),
    "static method": ("layer", "return 18", "return 20", {9: 2}),
    "class method": ("layer", "cls.FACTOR + 20", "cls.FACTOR + 21", {9: 1}),
    "attribute of an instance": ("layer", "Child(19)", "Child(20)", {9: 4}),
    "attribute that a subclass overrides": ("layer", "(Plain):\n    pass", "(Plain):\n    FACTOR = 4", {9: 40}),
    "value of an enum": ("layer", "ADD = 17", "ADD = 18", {10: 2}),
    "method of an enum": ("layer", "self.value + 1", "self.value + 4", {10: 3}),
    "global constant of the kernel's module": ("main", "OFFSET = 23", "OFFSET = 24", {11: 1}),
    "float constant": ("main", "RATIO = 2.0", "RATIO = 3.0", {12: 3}),
    "boolean constant": ("main", "FLAG = True", "FLAG = False", {13: 1}),
    "data type": ("main", "DTYPE = fx.Int32", "DTYPE = fx.Int8", {14: -256}),
    "NumPy scalar": ("main", "np.int32(24)", "np.int32(25)", {15: 1}),
    "NumPy array": ("main", "[25, 26]", "[25, 27]", {15: 1}),
    "layout": ("main", "(1, 8))", "(1, 16))", {16: 8}),
    "jit function that is inlined": ("main", "x + 27", "x + 28", {17: 1}),
    "helper beside the kernel": ("main", "return x + 28", "return x + 29", {17: 1}),
    "closure value of the kernel": ("main", "captured = 29", "captured = 30", {17: 1}),
    "function inside the kernel": ("main", "y + 31", "y + 32", {17: 1}),
    "module imported inside the kernel": ("late", "16", "17", {18: 1}),
    "attribute of a namespace": ("layer", "depth=22", "depth=23", {18: 1}),
    "function with a cache of its own": ("layer", "n + 30", "n + 31", {18: 1}),
    "member of a set": ("layer", '"blue"}', '"blue", "grey"}', {18: 1}),
    "default of a compile-time parameter": ("main", "= 34", "= 35", {19: 1}),
    "nested containers": ("main", "[[1, 2]", "[[1, 3]", {19: 1}),
    "the kernel itself": ("main", "out[11] = x + OFFSET", "out[11] = x - OFFSET", {11: -46}),
    "rebinding": ("main", "kernel = make()", "layer.PAIR = PAIR = (1, 1)\nkernel = make()", {6: -12}),
    "rebinding a helper of another module": ("main", "kernel = make()",
                                            "layer.middle = local_helper\nkernel = make()", {0: 25}),
    "True becomes 1": ("main", "FLAG = True", "FLAG = 1", {}),
    "2.0 becomes 2": ("main", "RATIO = 2.0", "RATIO = 2", {}),
    "launch extents": ("main", ".launch()", ".launch(block=(2, 1, 1))", {}),
    "name of the kernel": ("main", "@flyc.kernel\n", "@flyc.kernel(name='other')\n", {}),
    "known block size": ("main", "@flyc.kernel\n", "@flyc.kernel(known_block_size=(1, 1, 1))\n", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", MATTERS)
def test_a_change_that_matters_compiles_again(name: str, base_result: list[int], fresh_folder: Folder) -> None:
    file, old, new, differences = MATTERS[name]
    with imported(changed(file, old, new), fresh_folder()) as main:
        result = numbers(main)
        assert was_compiled(main)
    assert result == [n + differences.get(i, 0) for i, n in enumerate(base_result)]
    with imported(FILES, fresh_folder()) as main:  # and what was there is still there
        assert numbers(main) == base_result
        assert not was_compiled(main)


IRRELEVANT = {
    "nothing": ("main", "OFFSET", "OFFSET"),
    "unrelated global": ("main", "unrelated_global = 1", "unrelated_global = 2"),
    "unrelated global of a helper's module": ("layer", "UNRELATED = 1", "UNRELATED = 2"),
    "helper that is never called": ("layer", "never_called(x):\n    return x + 1", "never_called(x):\n    return 7"),
    "comment after the code": ("main", "kernel(out, x, n).launch()", "kernel(out, x, n).launch()\n\n\n# the end"),
    "comment before the code": ("deep", "SCALE = 3", "# a remark\n\n\nSCALE = 3"),
    "more imports": ("main", "import layer\n", "import os\nimport json\nimport layer\n"),
    "order of definitions": ("deep", "SCALE = 3", "more = 5\nSCALE = 3"),
}  # fmt: skip


@pytest.mark.parametrize("name", IRRELEVANT)
def test_a_change_that_cannot_matter_compiles_nothing(name: str, base_result: list[int], fresh_folder: Folder) -> None:
    with imported(changed(*IRRELEVANT[name]), fresh_folder()) as main:
        assert numbers(main) == base_result
        assert not was_compiled(main)


# Arguments -----------------------------------------------------------------------------------------------------------


def test_run_time_values_extents_and_pointers_compile_nothing(base_result: list[int], fresh_folder: Folder) -> None:
    with imported(FILES, fresh_folder()) as main:
        out = np.full(77, -1, np.int32)[3:]
        main.fn(out, 1001)
        assert not was_compiled(main)
    assert out[11] == base_result[11] + 1000
    assert (out[20:] == -1).all()


def test_a_compile_time_value_compiles_again(base_result: list[int], fresh_folder: Folder) -> None:
    with imported(FILES, fresh_folder()) as main:
        assert numbers(main, 35)[19] == base_result[19] + 1
        assert was_compiled(main)


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.uint32])
def test_another_data_type_compiles_again(dtype: Any, base_result: list[int], fresh_folder: Folder) -> None:
    with imported(FILES, fresh_folder()) as main:
        assert numbers(main, dtype=dtype) == base_result
        assert was_compiled(main)


def test_true_one_and_one_as_a_float_are_three_values(fresh_folder: Folder, fresh_cache: Path) -> None:
    files = {**FILES, "main": FILES["main"].replace("out[19] = x + n", "out[19] = x + len(repr(n))")}
    for value, length in ((True, 4), (1, 1), (1.0, 3)):
        with imported(files, fresh_folder()) as main:
            assert numbers(main, value)[19] == 1 + length + 2 + 3
            assert was_compiled(main)


# What is around the program ------------------------------------------------------------------------------------------

VARIABLES_THAT_MATTER = {
    knobs.COMPILE_OPT_LEVEL: "1",
    knobs.ARCH: "gfx1100",
    knobs.GPU_ARCH: "sm_90a",
    knobs.DEBUG_MAX_LOC_DEPTH: "3",
    knobs.DEBUG_ENABLE_DEBUG_INFO: "1",
    knobs.SANITIZE: "bounds",
}
VARIABLES_THAT_DO_NOT = {
    knobs.DEBUG_LOG_LEVEL: "INFO",
    knobs.RUNTIME_CACHE_SIZE: "1G",
    knobs.DEBUG_ENABLE_VERIFIER: "0",
    knobs.AUTOTUNE: "1",
    knobs.NO_COLOR: "",
    knobs.DUMP_DIR: "/nonexistent",
}


@pytest.mark.parametrize("knob", VARIABLES_THAT_MATTER, ids=lambda knob: knob.name)
def test_variables_that_matter(knob: Any, base_result: list[int], fresh_folder: Folder,
                               monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setenv(knob.name, VARIABLES_THAT_MATTER[knob])
    with imported(FILES, fresh_folder()) as main:
        assert numbers(main) == base_result
        assert was_compiled(main)


@pytest.mark.parametrize("knob", VARIABLES_THAT_DO_NOT, ids=lambda knob: knob.name)
def test_variables_that_do_not_matter(knob: Any, base_result: list[int], fresh_folder: Folder,
                                      monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setenv(knob.name, VARIABLES_THAT_DO_NOT[knob])
    with imported(FILES, fresh_folder()) as main:
        assert numbers(main) == base_result
        assert not was_compiled(main)


def test_a_hint_compiles_again(base_result: list[int], fresh_folder: Folder) -> None:
    with imported(FILES, fresh_folder()) as main:
        main.fn.compile_hints["fast_fp_math"] = True
        assert numbers(main) == base_result
        assert was_compiled(main)


TOOLS = {
    "xDSL": (toolchain, "library_version", lambda name: "0.75.0" if name == "xdsl" else "0.50.0"),
    "llvmlite": (toolchain, "library_version", lambda name: "0.74.0" if name == "xdsl" else "0.51.0"),
    "this package": (toolchain, "package_digest", lambda: "0" * 32),
    "Python": (sys, "version", "3.11.99 (another)"),
}


@pytest.mark.parametrize("name", TOOLS)
def test_another_version_compiles_again(name: str, base_result: list[int], fresh_folder: Folder,
                                        monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    module, function, replacement = TOOLS[name]
    monkeypatch.setattr(module, function, replacement)
    with imported(FILES, fresh_folder()) as main:
        assert numbers(main) == base_result
        assert was_compiled(main)


def test_another_processor_compiles_again(base_result: list[int], fresh_folder: Folder,
                                          monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr(
        "flydsl.compiler.cache.compiled_code.processor_text", lambda: "a processor with one more feature"
    )
    with imported(FILES, fresh_folder()) as main:
        assert numbers(main) == base_result
        assert was_compiled(main)


def test_extra_source_directories(base_result: list[int], fresh_folder: Folder, tmp_path: Path,
                                  monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    source = tmp_path / "more" / "sub" / "code.py"
    source.parent.mkdir(parents=True)
    monkeypatch.setenv(knobs.EXTRA_SOURCE_DIRS.name, str(tmp_path / "more"))
    for text, compiled in (("a = 1", True), ("a = 1", False), ("a = 2", True)):
        source.write_text(text)
        with imported(FILES, fresh_folder()) as main:
            assert numbers(main) == base_result
            assert was_compiled(main) == compiled


def test_the_package_digest_follows_every_source(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.py").write_text("1")
    first = toolchain.digest_of(tmp_path)
    (tmp_path / "sub" / "pool.ll").write_text("2")
    second = toolchain.digest_of(tmp_path)
    (tmp_path / "sub" / "pool.ll").rename(tmp_path / "sub" / "other.ll")
    (tmp_path / "notes.txt").write_text("no source")
    assert len({first, second, toolchain.digest_of(tmp_path)}) == 3


def test_a_noted_digest_follows_every_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that keeps the length and the time of a file; files are read again only then."""
    monkeypatch.setenv(knobs.RUNTIME_ENABLE_CACHE.name, "1")
    monkeypatch.setenv(knobs.RUNTIME_CACHE_DIR.name, str(tmp_path / "cache"))
    monkeypatch.setattr(toolchain, "_SETTLED_SECONDS", -60.0)
    source = tmp_path / "package" / "a.py"
    source.parent.mkdir()
    seen: list[str] = []
    for text in "12":
        source.write_text(text)
        os.utime(source, ns=(0, 0))
        seen += [toolchain.noted_digest(str(source.parent))]
        with monkeypatch.context() as without:
            without.setattr(toolchain, "digest_of", lambda folder: "read again")
            assert toolchain.noted_digest(str(source.parent)) == seen[-1]
    assert seen[0] != seen[1]


@pytest.mark.parametrize("reason", ["just written", "another could have written it", "no cache"])
def test_a_digest_is_not_taken_from_a_note(reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv(knobs.RUNTIME_ENABLE_CACHE.name, "1")
    monkeypatch.setenv(knobs.RUNTIME_CACHE_DIR.name, str(cache))
    monkeypatch.setattr(toolchain, "_SETTLED_SECONDS", 60.0 if reason == "just written" else -60.0)
    (tmp_path / "a.py").write_text("1")
    toolchain.noted_digest(str(tmp_path))
    assert bool(list(cache.glob("package-*"))) == (reason != "just written")
    if reason == "no cache":
        monkeypatch.setenv(knobs.RUNTIME_ENABLE_CACHE.name, "0")
    if reason == "another could have written it":
        cache.chmod(0o777)
    monkeypatch.setattr(toolchain, "digest_of", lambda folder: "read again")
    assert toolchain.noted_digest(str(tmp_path)) == "read again"


def test_library_versions_are_those_installed() -> None:
    from importlib.metadata import version

    for name in toolchain.LIBRARIES:
        assert toolchain.library_version(name) == version(name)
