"""The Python in the documents runs as it stands, and prints what they say."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.docs.blocks import blocks, program, runnable
from tests.support import warm_process

REPOSITORY = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    path
    for path in (REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md")))
    if runnable(path.read_text(encoding="utf-8"))
]


def run(document: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a document's blocks in a process of their own, in an empty folder."""
    script = folder / (document.stem.replace("-", "_") + ".py")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(REPOSITORY / "python"), str(REPOSITORY)])}
    return warm_process.run(["-m", "tests.docs.blocks", str(document), str(script)], folder, environment)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(REPOSITORY).as_posix())
def test_blocks_run(document: Path, tmp_path: Path) -> None:
    done = run(document, tmp_path)
    assert done.returncode == 0, f"{document}:\n{done.stdout}{done.stderr}"


SAMPLE = """\
# A document

```python
import inspect
def f():
    return 41
```

```python no-run
raise SystemExit("never")
```

```bash
exit 1
```

- in a list

  ```python
  assert "return 41" in inspect.getsource(f)
  ```

```python
>>> x = f() + 1
>>> x
42
```

```python
assert x == 42
```
"""


def test_blocks_of_a_file_share_a_namespace_and_have_source(tmp_path: Path) -> None:
    document = tmp_path / "sample.md"
    document.write_text(SAMPLE)
    done = run(document, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_lines_keep_their_numbers() -> None:
    assert program(SAMPLE).splitlines()[4] == SAMPLE.splitlines()[4] == "def f():"
    assert [block.line for block in blocks(SAMPLE)] == [4, 10, 14, 20, 24, 30]


@pytest.mark.parametrize(
    ("change", "shown"), [(("\n42\n", "\n43\n"), "43"), (("return 41", "return 41 / 0"), "line 6")]
)
def test_a_wrong_document_fails_with_its_line(tmp_path: Path, change: tuple[str, str], shown: str) -> None:
    document = tmp_path / "sample.md"
    document.write_text(SAMPLE.replace(*change))
    done = run(document, tmp_path)
    assert done.returncode != 0
    assert shown in done.stdout + done.stderr


def test_an_open_block_is_an_error() -> None:
    with pytest.raises(ValueError, match="line 1: the block is not closed"):
        blocks("```python\nx = 1\n")
