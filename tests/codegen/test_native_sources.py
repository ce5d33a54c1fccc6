"""The native parts: what is committed is what clang makes of the C, for every processor."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from flydsl.native import generate, native_text
from tests.conftest import missing

NAMES = generate.source_names()


@pytest.fixture(scope="module", autouse=True)
def _tools() -> None:
    for tool in ("clang-22", "opt-22"):
        if shutil.which(tool) is None:
            missing(tool, "install Debian's clang-22 and llvm-22")


@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_what_clang_makes(name: str) -> None:
    assert native_text(name) == generate.generated_text(name), "run `python -m flydsl.native.generate`"


@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_of_no_processor(name: str) -> None:
    x86, arm = (generate.common_text(name, triple) for triple in generate.TRIPLES)
    assert x86 == arm
    assert not re.search(r"^(target |attributes )|x86|aarch64", native_text(name), re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_no_private_name_can_be_a_kernel_s(name: str) -> None:
    private = re.findall(r"^define internal .* @([^(]+)\(|^@(\S+) = ", native_text(name), re.MULTILINE)
    assert all((function or variable).startswith("fly.") for function, variable in private)


def test_a_source_that_depends_on_the_processor_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "odd.c").write_text("#ifdef __x86_64__\nint odd;\n#else\nlong odd;\n#endif\n")
    monkeypatch.setattr(generate, "SOURCES", tmp_path)
    with pytest.raises(ValueError, match="not the same for every processor"):
        generate.generated_text("odd")


def test_the_constants_are_the_header_s(repository: Path) -> None:
    written = (repository / "python/flydsl/native/constants.py").read_text()
    assert written == generate.constants_text(), "run `python -m flydsl.native.generate`"


def test_the_compiler_agrees_on_the_constants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader of enums is small; clang says whether it read them right."""
    numbers = re.findall(r"^(\w+) = (-?[0-9]+)$", generate.constants_text(), re.MULTILINE)
    assert len(numbers) > 40
    checks = "".join(f'_Static_assert({name} == {value}, "{name}");\n' for name, value in numbers)
    (tmp_path / "native.h").write_text((generate.SOURCES / "native.h").read_text())
    (tmp_path / "held.c").write_text(f'#include "native.h"\n{checks}int held;\n')
    monkeypatch.setattr(generate, "SOURCES", tmp_path)
    assert "@held" in generate.common_text("held", generate.TRIPLES[0])
