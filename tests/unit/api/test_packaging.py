"""What an installation holds: the package with its data files, and the kernels for use."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import import_module
from pathlib import Path

import pytest


def packages_in(root: Path, name: str) -> set[str]:
    return {
        ".".join(path.parent.relative_to(root).parts)
        for path in (root / name).rglob("__init__.py")
        if "__pycache__" not in path.parts
    }


def test_dir_lists_what_there_is() -> None:
    code = "import flydsl; print({'autotune', 'Config', '__version__'} - set(dir(flydsl)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=_with_the_package())
    assert shown.stdout == "set()\n", shown.stderr


def _with_the_package() -> dict[str, str]:
    import flydsl

    return {**os.environ, "PYTHONPATH": str(Path(flydsl.__file__).parent.parent)}


def test_the_folders_are_named(repository: Path) -> None:
    settings = tomllib.loads((repository / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert settings["package-dir"] == {"": "python"}
    assert settings["packages"]["find"] == {"where": ["python"], "include": ["flydsl*"]}
    for folder in (repository / "python/flydsl/kernels").rglob("*.py"):
        assert (folder.parent / "__init__.py").exists(), f"{folder.parent} would be left out"


def test_a_wheel_has_all_of_it(repository: Path, tmp_path: Path) -> None:
    pytest.importorskip("setuptools", minversion="77", reason="setuptools builds the wheel")
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for folder in ("kernels", "python/flydsl"):  # as in a checkout, so that `kernels` could be taken along
        shutil.copytree(repository / folder, source / folder, ignore=ignored)
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(repository / file, source)
    build = "from setuptools import build_meta; build_meta.build_wheel('.')"
    built = subprocess.run([sys.executable, "-c", build], cwd=source, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    (wheel,) = source.glob("*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    assert not (installed / "kernels").exists(), "that name is another package's"
    assert packages_in(installed, "flydsl") == packages_in(repository / "python", "flydsl")
    for pattern in ("py.typed", "native/*.ll", "compiler/outlets/export_runtime/*.c"):
        names = [path.name for path in (repository / "python" / "flydsl").glob(pattern)]
        assert sorted(names) == sorted(path.name for path in (installed / "flydsl").glob(pattern))
    code = "import flydsl.kernels.norm.softmax, flydsl; print(flydsl.kernels.__file__, flydsl.__file__)"
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(installed)},
    )  # fmt: skip
    assert shown.stdout.split() == [str(installed / name / "__init__.py") for name in ("flydsl/kernels", "flydsl")], (
        shown.stderr
    )


def test_a_checkout_has_the_older_import_paths() -> None:
    import flydsl.kernels.gemm.preshuffle_entries
    import flydsl.kernels.norm.softmax
    import kernels.norm.softmax
    import kernels.preshuffle_gemm
    import kernels.softmax_kernel

    assert kernels.norm.softmax is kernels.softmax_kernel is flydsl.kernels.norm.softmax
    assert kernels.preshuffle_gemm is flydsl.kernels.gemm.preshuffle_entries
    assert flydsl.kernels.norm.softmax.__spec__.name == "flydsl.kernels.norm.softmax"
    with pytest.raises(ModuleNotFoundError, match=r"kernels\.nothing"):
        import_module("kernels.nothing")


def test_every_alias_leads_somewhere() -> None:
    from kernels.aliases import RENAMED, ROOMS, target_of

    for name in {*RENAMED, *ROOMS}:
        found, own = import_module(f"kernels.{name}"), import_module(target_of(name))
        assert found is own or (name in ROOMS and found.__doc__ == own.__doc__), name
