"""Every path that the documents name exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
DOCUMENTS = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]

ROOTS = (REPOSITORY, REPOSITORY / "python", REPOSITORY / "python" / "flydsl")
"""Where a path in a document may start, besides the document's own folder."""

SUFFIXES = (".py", ".md", ".toml", ".yml", ".cfg")
MADE_LATER = (".venv", ".triton-venv", "build", "dist", "wheels", "my_kernel.py", "kernel.py")
"""Paths that a checkout does not hold: made by a command, or stand-ins for a reader's own file."""


def code_spans(text: str) -> Iterator[str]:
    """Inline code outside fenced blocks."""
    prose = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    for span in re.findall(r"`([^`\n]+)`", prose):
        yield span.strip()


def looks_like_path(span: str) -> bool:
    """Whether a span names a file or folder of this repository, rather than code or a file of the user's."""
    if not re.fullmatch(r"[\w.*/-]+", span) or span.startswith("/"):
        return False
    if span.startswith(MADE_LATER) or not re.search(r"[A-Za-z]", span):
        return False
    if span.endswith(SUFFIXES):
        return True
    first = span.split("/")[0]
    return "/" in span and (span.endswith("/") or any((root / first).is_dir() for root in ROOTS))


def exists(span: str, document: Path) -> bool:
    if any(any(root.glob(span.rstrip("/"))) for root in (*ROOTS, document.parent)):
        return True
    bare_file = "/" not in span
    return bare_file and any(any((REPOSITORY / tree).rglob(span)) for tree in ("python", "tests", "examples"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(REPOSITORY).as_posix())
def test_named_paths_exist(document: Path) -> None:
    spans = {span for span in code_spans(document.read_text(encoding="utf-8")) if looks_like_path(span)}
    missing = sorted(span for span in spans if not exists(span, document))
    assert not missing, f"{document.name} names what does not exist: {missing}"


@pytest.mark.parametrize(
    ("span", "is_path"),
    [
        ("python/flydsl/base/knobs.py", True),
        ("tests/style/", True),
        ("flydsl/base", True),
        ("examples/*.py", True),
        ("partition_S/D", False),
        ("a / b", False),
        ("gpu.func", False),
        ("~/.flydsl/cache", False),
        ("/opt/rocm", False),
        (".venv", False),
        ("00_origin.mlir", False),
        ("1/true/yes/on", False),
    ],
)
def test_what_counts_as_a_path(span: str, is_path: bool) -> None:
    assert looks_like_path(span) is is_path


def test_links_between_documents_lead_somewhere() -> None:
    broken: list[str] = []
    for document in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
            if "://" not in target and not (document.parent / target).exists():
                broken.append(f"{document.name}: {target}")
    assert not broken


def test_a_decision_has_a_date_a_status_and_alternatives(repository: Path) -> None:
    for page in sorted((repository / "docs" / "decisions").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        missing = [part for part in ("Date: ", "Status: ", "Alternatives") if part not in text]
        assert not missing, f"{page.name} does not say {missing}"
