"""Every .mlir file below this folder, by its RUN lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import missing
from tests.filecheck.run_lines import MissingTool, run_lines, run_pipe

FOLDER = Path(__file__).resolve().parent
FILES = sorted(FOLDER.rglob("*.mlir"))


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_file(file: Path, tmp_path: Path) -> None:
    lines = run_lines(file.read_text(encoding="utf-8"))
    assert lines, "the file has no RUN line, so it tests nothing"
    for line in lines:
        try:
            result = run_pipe(line, file, tmp_path / "t")
        except MissingTool as tool:
            missing(str(tool), "install Debian's mlir-22-tools")
        else:
            assert result.code == 0, f"RUN: {line}\n{result.stderr}"
