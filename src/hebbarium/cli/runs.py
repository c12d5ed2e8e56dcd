"""Commands about finished runs: compare, explain, export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..reporting.text import plural
from .app import app, say
from .shared import JsonOption, installed_registry, print_json

if TYPE_CHECKING:
    from ..benchmarks.execution.folder import RunFolder
    from ..benchmarks.language_models.comparing import AnswersCompared
    from ..benchmarks.runs.compare import Changed, Comparison
    from ..benchmarks.runs.explain import Explained, Part
    from ..benchmarks.scores.agreement import Proportion
    from ..benchmarks.scores.cluster_robust import ClusterT

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run or an ablation.")]
MovedOption = Annotated[
    Path | None,
    typer.Option("--data", help="Where the data are now; by default where the run read them."),
]
PageOption = Annotated[
    Path | None, typer.Option("--html", help="Also write a page.", metavar="FILE")
]
ForceOption = Annotated[
    bool,
    typer.Option(
        "--force", help="Read rows that were changed after the run, too; the output says so."
    ),
]
LISTED = 10  # questions that the terminal shows of each kind
TEXT = 240  # characters of a text in the terminal


@app.command(short_help="Two runs on the same data: what was gained, what lost?")
def compare(
    first: Annotated[
        Path, typer.Argument(metavar="FIRST", help="Folder of the run to compare with.")
    ],
    second: Annotated[
        Path,
        typer.Argument(
            metavar="SECOND", help="Folder of the run whose gains and losses are shown."
        ),
    ],
    arm: Annotated[
        list[str] | None,
        typer.Option(
            "--arm",
            help="Arm of an ablation; given twice: of the first and of the second run.  By default the full set.",
        ),
    ] = None,
    data: MovedOption = None,
    html: PageOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Two runs on the same data, paired by question: metrics, their differences, and the
    questions gained and lost.

    Of two folders of `hebbarium answer`: accuracies, the 2 x 2 table with McNemar's test, and what
    the second recovers of what the first missed.
    """
    if arm and len(arm) > 2:
        raise typer.BadParameter("--arm is given at most twice")
    from ..benchmarks.language_models.comparing import compare_answers, holds_answers

    if holds_answers(first) and holds_answers(second):
        _print_answers(compare_answers(first, second), as_json)
        return
    from ..benchmarks.runs import compare as comparing

    arms = (arm[0], arm[-1]) if arm else (None, None)
    result = comparing.compare(*forced(first, second, force=force), arms=arms, data=data)
    page = comparing.to_html(result, html) if html else None
    if as_json:
        print_json(comparing.to_json(result))
        return
    _print_comparison(result)
    _print_page(page)


def _print_answers(result: AnswersCompared, as_json: bool) -> None:
    from ..console import print_lines, print_table

    if as_json:
        print_json(result.named())
        return

    def share(p: Proportion) -> tuple[str, ...]:
        return f"{p.share:.4f}", f"[{p.low:.4f}, {p.high:.4f}]", f"{round(p.share * p.n)} of {p.n}"

    heads = ("accuracy", "Wilson 95%", "right")
    rows = [("first", *share(result.first)), ("second", *share(result.second))]
    title = f"Answers to {plural(result.n, 'question')} ({result.label})"
    print_table(title, ("answers", *heads), rows, numbers=heads, whole=heads)
    print_lines(
        *(f"differs: {name}: {here!r} and {there!r}" for name, here, there in result.differing), ""
    )
    print_table(
        "2 x 2",
        ("", "second right", "second wrong"),
        [
            ("first right", str(result.both), str(result.first_only)),
            ("first wrong", str(result.second_only), str(result.neither)),
        ],
        numbers=("second right", "second wrong"),
    )
    test = result.mcnemar
    print_lines(f"McNemar: exact p {test.p:.4g}", "")
    if result.recovered is not None:
        recovered = {"all": result.recovered, **result.by_category}
        print_table(
            "Of what the first missed, the second has right",
            ("category", *heads),
            [(name, *share(p)) for name, p in recovered.items()],
            numbers=heads,
            whole=heads,
        )


@app.command(short_help="Why the evidence of one question is, or is not, in the answer.")
def explain(
    run: RunArgument,
    question: Annotated[
        str | None,
        typer.Argument(
            help=("Id of a question, or CONVERSATION/ID; without it the missed ones are listed.")
        ),
    ] = None,
    arm: Annotated[
        str | None, typer.Option("--arm", help="Arm of an ablation; by default the full set.")
    ] = None,
    data: MovedOption = None,
    embedder: Annotated[
        str | None,
        typer.Option("--embedder", help="As for the run, if it is no longer found there."),
    ] = None,
    misses: Annotated[
        bool,
        typer.Option(
            "--misses",
            help="The cause of every missed gold event; of QUESTION alone if it is given.",
        ),
    ] = False,
    html: PageOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Why the evidence of one question is, or is not, in the answer.

    Rebuilds the memory of the question's conversation, and sets each gold event beside its
    strongest rivals: every signal, the rank after every stage, and the rank of gold with each
    mechanism silenced in turn.  With --misses: the cause of every gold event that the run missed.
    """
    from ..benchmarks.runs import explain as explaining
    from ..console import Meter
    from ..engine.ports.embedding_cache import default_cache

    (folder,) = forced(run, force=force)
    if misses:
        from .missed import explain_misses

        explain_misses(folder, question, arm, data, embedder, html, as_json)
        return
    if question is None:
        if html:
            raise typer.BadParameter("--html needs a QUESTION or --misses")
        _print_missed(run, folder, explaining.missed(folder, arm), as_json)
        return
    with Meter("embedding texts", least=100) as embedding:
        model = folder.embedder(embedder, default_cache(), progress=embedding)
        explained = explaining.explain(
            folder, question, folder.data(data), installed_registry(), model, arm=arm
        )
    page = explaining.to_html(explained, html) if html else None
    if as_json:
        print_json(explaining.to_json(explained))
        return
    _print_explanation(explained)
    _print_page(page)


@app.command(short_help="Measure a run of another program, in the form of TREC.")
def score(
    run: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Runs: topic Q0 document rank score tag.")
    ],
    qrels: Annotated[
        Path,
        typer.Option("--qrels", metavar="FILE", help="Judgements: topic 0 document relevance."),
    ],
    as_json: JsonOption = False,
) -> None:
    """Our metrics of runs of other programs, over the judged topics.

    A topic without an answer is a miss; a document of relevance 1 or more is gold.
    """
    from ..benchmarks.runs.trec import read_qrels, read_run, scored
    from ..benchmarks.scores.metrics import METRICS
    from ..console import print_table

    judged = read_qrels(qrels)
    measured = {str(path): scored(read_run(path), judged) for path in run}
    if as_json:
        print_json(measured)
        return
    heads = ("run", "topics", "without answer", "not judged", *METRICS)
    cells = [
        (
            Path(path).name,
            *(str(m[f"topics{part}"]) for part in ("", "_without_answer", "_not_judged")),
            *(f"{m[name]:.4f}" for name in METRICS),
        )
        for path, m in measured.items()
    ]
    print_table("Runs", heads, cells, numbers=heads[1:], whole=heads)


@app.command(short_help="The rows of a run as CSV or Parquet, or for TREC's tools.")
def export(
    run: RunArgument,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", help="CSV file to write; lists become JSON.", metavar="FILE"),
    ] = None,
    parquet: Annotated[
        Path | None,
        typer.Option(
            "--parquet", help="Parquet file to write; needs hebbarium[arrow].", metavar="FILE"
        ),
    ] = None,
    trec: Annotated[
        Path | None,
        typer.Option(
            "--trec", help="Folder for runs and qrels in the form of TREC.", metavar="DIR"
        ),
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """The rows of a run, or of all runs of a design, with the times of each question, as one table
    in CSV or Parquet; or answers and gold in the form of TREC.
    """
    if csv is None and parquet is None and trec is None:
        raise typer.BadParameter("give --csv FILE, --parquet FILE or --trec DIR")
    from ..benchmarks.runs import export as exporting
    from ..console import print_lines
    from ..reporting.text import plural

    folders = forced(*(folder.path for folder in exporting.runs_of(run)), force=force)
    rows = exporting.tables(folders)
    for path, write in ((csv, exporting.to_csv), (parquet, exporting.to_parquet)):
        if path:
            write(rows, path)
    written = [str(path) for path in (csv, parquet) if path]
    if trec:
        from ..benchmarks.runs.trec import write_trec

        for folder in folders:
            to = trec if len(folders) == 1 else trec / folder.path.name
            written += map(str, write_trec(exporting.table(folder), to))
    if as_json:
        print_json(
            {
                "files": written,
                "rows": len(rows),
                **({"changed": [n for f in folders for n in f.changed]} if force else {}),
            }
        )
        return
    print_lines(f"{plural(len(rows), 'row')} written to {' and '.join(written)}")


def forced(*runs: Path, force: bool) -> tuple[RunFolder, ...]:
    """The runs in some folders.  force: also with rows that were changed, which is said."""
    from ..benchmarks.execution.folder import RunFolder

    folders = tuple(RunFolder.read(run, force=force) for run in runs)
    for folder in folders if force else ():
        for name in folder.changed:
            say(f"note: {folder.path / name} was changed after the run, and is read by --force")
    return folders


def _print_page(page: Path | None) -> None:
    from ..console import print_lines

    if page:
        print_lines(f"page: {page}")


# --- compare --------------------------------------------------------------------------------------
def _print_comparison(result: Comparison) -> None:
    from ..benchmarks.execution.folder import shown
    from ..benchmarks.runs.compare import PRIMARY, lines
    from ..benchmarks.scores.metrics import DEPTHS, KINDS, named
    from ..console import print_fields, print_lines, print_table
    from ..reporting.text import plural, signed

    first, second = result.sides
    sides = (("first", first), ("second", second))
    print_fields(
        [
            *((name, f"{side.name}, arm {side.arm} ({side.folder})") for name, side in sides),
            ("data", result.dataset),
        ]
    )
    print_lines(
        "",
        *(
            f"mechanisms only in the {name}: {', '.join(side.alone)}"
            for name, side in sides
            if side.alone
        ),
        *(f"{name}: {shown(a)} -> {shown(b)}" for name, a, b in result.differing),
        *(
            []
            if result.differing or first.alone or second.alone
            else ["the manifests do not differ"]
        ),
        "",
    )
    numbers = ["first", "second", "difference", "95% interval", "p", "won : lost", "McNemar p"]
    for title, pairs in (
        ("Second minus first; positive: the second is better", result.metrics),
        ("What must not come back; negative: the second is better", result.forbidden),
    ):
        rows = [(m.metric, f"{m.first:.4f}", f"{m.second:.4f}", signed(m.difference.mean, 4),
                 _interval(m.difference), _p(m.difference),
                 f"{m.paired.second_only} : {m.paired.first_only}", f"{m.paired.p:.3g}")
                for m in pairs]  # fmt: skip
        if rows:
            print_table(
                title, ["metric", *numbers], rows, numbers=numbers, whole=["metric", *numbers]
            )
    depths = [
        (
            str(depth),
            *(f"{value:.4f}" for kind in KINDS for value in result.depths[named(kind, depth)]),
        )
        for depth in DEPTHS
    ]
    numbers = ["depth", *(f"{kind} {which}" for kind in KINDS for which in ("first", "second"))]
    print_table(
        "At several depths", numbers, depths, numbers=numbers, whole=numbers, spare=numbers[:2:-1]
    )
    categories = [
        (name, str(n), f"{a:.4f}", f"{b:.4f}", signed(b - a, 4))
        for name, (n, a, b) in result.categories.items()
    ]
    numbers = ["questions", "first", "second", "difference"]
    print_table(
        f"{PRIMARY} by category", ["category", *numbers], categories, numbers=numbers, whole=numbers
    )
    alone = [
        f"{plural(n, 'question')} with gold only in the {which}"
        for n, which in zip(result.unpaired, ("first", "second"), strict=True)
        if n
    ]
    conversations = plural(result.n_conversations, "conversation")
    print_lines(
        f"{plural(result.n_questions, 'question')} of {conversations}{''.join(f'; {words}' for words in alone)}; the answers of "
        f"{result.n_changed} differ; by {PRIMARY} {len(result.gained)} are gained and {len(result.lost)} lost",
        *lines(result),
        *(f"note: {note}" for note in result.notes),
    )
    for title, changed, worse in (
        ("gained", result.gained, "first"),
        ("lost", result.lost, "second"),
    ):
        _print_changed(title, changed, worse)


def _print_changed(title: str, changed: Sequence[Changed], worse: str) -> None:
    from ..console import print_lines

    if not changed:
        return
    print_lines("", f"{title}: {len(changed)}")
    for c in changed[:LISTED]:
        answer = f"   answer: {_short(c.answer)}" if c.answer else ""
        print_lines("", f"  {c.conversation} {c.question} [{c.category}] {_short(c.text)}{answer}")
        for g in c.gold:
            print_lines(
                f"    gold {g.id}: rank {g.first or '-'} -> {g.second or '-'}{_quoted(g.text)}"
            )
        for id, text in c.instead[:3]:
            print_lines(f"    instead, in the {worse}: {id}{_quoted(text)}")
    if len(changed) > LISTED:
        print_lines("", f"  and {len(changed) - LISTED} more; --html FILE and --json show all")


def _interval(t: ClusterT) -> str:
    from ..reporting.text import signed

    return "-" if t.low is None or t.high is None else f"[{signed(t.low, 4)}, {signed(t.high, 4)}]"


def _p(t: ClusterT) -> str:
    return "-" if t.p is None else "<0.0001" if t.p < 1e-4 else f"{t.p:.3g}"


def _short(text: str) -> str:
    return shorten(text, TEXT, placeholder=" ...")


def _quoted(text: str | None) -> str:
    return "" if text is None else f"  {_short(text)}"


# --- explain --------------------------------------------------------------------------------------
def _print_missed(
    run: Path, folder: RunFolder, rows: Sequence[dict[str, Any]], as_json: bool
) -> None:
    if as_json:
        fields = ("conversation", "question", "category", "question_text", "answer", "gold",
                  "ranks")  # fmt: skip
        print_json([{name: row.get(name) for name in fields} for row in rows])
        return
    from ..benchmarks.runs.explain import names_of
    from ..console import print_lines, print_rows
    from ..reporting.text import plural

    names = names_of((row["conversation"], row["question"]) for row in folder.rows())
    print_lines(f"{plural(len(rows), 'question')} with gold that is not in the answer")
    if not rows:
        return
    cells = [
        (
            names[row["conversation"], row["question"]],
            row["category"],
            shorten(" ".join(map(_place, row["ranks"])), 24, placeholder=" ..."),
            _short(row.get("question_text", "")),
        )
        for row in rows
    ]
    print_rows(("question", "category", "ranks of gold", "text"), cells)
    print_lines("", f"`hebbarium explain {run} QUESTION` says why; --misses names every cause")


def _print_explanation(explained: Explained) -> None:
    from ..benchmarks.runs.explain import moved
    from ..console import print_fields, print_lines, print_table

    print_fields(
        [
            ("question", f"{explained.question} [{explained.category}] {explained.text}"),
            ("answer", explained.answer or "-"),
            ("asked", explained.time),
            (
                "memory",
                f"{explained.run}, arm {explained.arm}, conversation {explained.conversation}: {explained.stored} stored, {explained.visible} retrievable",
            ),
        ]
    )
    print_lines(*(f"note: {note}" for note in explained.notes), "")
    for name, gold in explained.named:
        print_lines(f"{name}, {gold.at.id}: {gold.words}", f"  {_short(gold.at.text)}")
    print_lines(
        "",
        *(f"#{r.rank}, {r.id}: {_short(r.text)}" for r in explained.rivals),
        *([""] if explained.rivals else []),
    )
    if explained.candidates:
        _print_stages(explained)
        _print_signals(explained)
    stored = [(name, g) for name, g in explained.named if g.silenced]
    if stored:
        heads = [name for name, _ in stored]
        now = ("nothing silenced", *(_place(g.at.rank) for _, g in stored))
        print_table(
            "Rank of gold with one mechanism silenced (mechanisms that do not move it are left out)",
            ("mechanism", *heads),
            [now, *((id, *map(_place, places)) for id, places in moved(explained))],
            numbers=heads,
            whole=("mechanism", *heads),
        )


def _print_stages(explained: Explained) -> None:
    from ..console import print_table

    names = [name for name, _ in explained.candidates]
    rows = [
        (
            stage.stage,
            ", ".join(explained.makers[stage.stage]),
            *(_place(c.stages[i].rank) for _, c in explained.candidates),
        )
        for i, stage in enumerate(explained.candidates[0][1].stages)
    ]
    print_table(
        "Rank after each stage",
        ("stage", "computed by", *names),
        rows,
        numbers=names,
        whole=("stage", *names),
        spare=("computed by", *reversed(names[1:])),
    )


def _print_signals(explained: Explained) -> None:
    from ..benchmarks.runs.explain import number
    from ..console import print_lines, print_table
    from ..reporting.text import signed

    names = [name for name, _ in explained.candidates]
    parts = [{p.signal: p for p in c.parts} for _, c in explained.candidates]

    def cells(of: Callable[[Part], str]) -> list[tuple[str, ...]]:
        return [
            (signal, *(of(by_signal[signal]) for by_signal in parts))
            for signal in explained.signals
        ]

    if explained.linear:
        rows = [
            (line[0], explained.owners[line[0]], number(parts[0][line[0]].trust, 3), *line[1:])
            for line in cells(lambda p: signed(p.contribution))
        ]
        print_table(
            "Contributions: trust / sum of trusts * standardised score",
            ("signal", "mechanism", "trust", *names),
            rows,
            numbers=("trust", *names),
            whole=("signal", "mechanism", "trust", *names),
            spare=("mechanism", *reversed(names[1:])),
        )
    else:
        print_lines("no contributions: the fusion is not linear in the standardised scores", "")
    for title, of in (
        ("Standardised scores, sd", _standardised),
        ("Raw scores (-: the signal is silent)", _raw),
        ("Rank by the signal alone", _signal_rank),
    ):
        print_table(
            title,
            ("signal", *names),
            cells(of),
            numbers=names,
            whole=("signal", *names),
            spare=names[:0:-1],
        )


def _standardised(part: Part) -> str:
    from ..reporting.text import signed

    return signed(part.standardised, 2)


def _raw(part: Part) -> str:
    from ..benchmarks.runs.explain import number

    return number(part.raw)


def _signal_rank(part: Part) -> str:
    return _place(part.rank)


def _place(rank: int) -> str:
    return str(rank or "-")
