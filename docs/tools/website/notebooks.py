"""Notebooks without Jupyter: run their cells, store the outputs, show them as a page.

    python docs/tools/website/notebooks.py            # runs every notebook of docs/notebooks and
                                                      stores what it prints

The code cells of a notebook run in order, in one namespace and in an empty working folder.  The
output of a cell is what it prints and, if its last statement is an expression, the value of that.
"""

from __future__ import annotations

import ast
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
Notebook = dict[str, Any]


def notebooks() -> list[Path]:
    """In the order of their names."""
    return sorted(FOLDER.glob("*.ipynb"))


def read(path: Path) -> Notebook:
    made: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return made


def text_of(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def output_of(cell: dict[str, Any]) -> str:
    """What is stored as the output of a code cell, as plain text."""
    return "".join(
        "".join(o["text"] if o["output_type"] == "stream" else o["data"]["text/plain"] + ["\n"])
        for o in cell["outputs"]
    )


# --- running --------------------------------------------------------------------------------------
def outputs(notebook: Notebook, name: str) -> Iterator[list[dict[str, Any]]]:
    """The outputs of each code cell, in order, as nbformat 4.5 stores them.  Runs in the present
    working folder; an error of a cell is raised.

    name  of the notebook, for tracebacks
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    codes = [text_of(cell) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for count, source in enumerate(codes, 1):
        body = ast.parse(source, name).body
        last = (
            body.pop()
            if body and isinstance(body[-1], ast.Expr) and not source.rstrip().endswith(";")
            else None
        )
        value = None
        with redirect_stdout(io.StringIO()) as printed:
            exec(compile(ast.Module(body, []), f"{name}, cell {count}", "exec"), namespace)
            if isinstance(last, ast.Expr):
                value = eval(
                    compile(ast.Expression(last.value), f"{name}, cell {count}", "eval"), namespace
                )
        made: list[dict[str, Any]] = []
        if printed.getvalue():
            made.append(
                {
                    "name": "stdout",
                    "output_type": "stream",
                    "text": printed.getvalue().splitlines(keepends=True),
                }
            )
        if value is not None:
            html = getattr(value, "_repr_html_", None)
            data = {
                **({"text/html": html().splitlines(keepends=True)} if html else {}),
                "text/plain": repr(value).splitlines(keepends=True),
            }
            made.append(
                {
                    "data": data,
                    "execution_count": count,
                    "metadata": {},
                    "output_type": "execute_result",
                }
            )
        yield made


def run(path: Path) -> Notebook:
    """The notebook with new outputs; nothing is written outside a temporary folder."""
    notebook = read(path)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for count, (cell, made) in enumerate(
            zip(cells, outputs(notebook, path.name), strict=True), 1
        ):
            cell |= {"outputs": made, "execution_count": count, "metadata": {}}
    return notebook


def store(path: Path) -> None:
    path.write_text(json.dumps(run(path), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


# --- a page ---------------------------------------------------------------------------------------
def page_of(path: Path) -> str:
    """Markdown: text cells as they are, code and output in fences."""
    parts = []
    for cell in read(path)["cells"]:
        if cell["cell_type"] == "markdown":
            parts.append(text_of(cell))
        else:
            parts.append(f"```python\n{text_of(cell)}\n```")
            tables = [
                "".join(o["data"]["text/html"])
                for o in cell["outputs"]
                if "text/html" in o.get("data", {})
            ]
            if tables:
                parts.append(f'<div class="output">{"".join(tables)}</div>')
            elif printed := output_of(cell):
                parts.append(f"```text\n{printed.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    os.environ.setdefault("HEBBARIUM_CACHE", tempfile.mkdtemp())
    for chosen in map(Path, sys.argv[1:] or notebooks()):
        store(chosen)
        print(chosen.name)
