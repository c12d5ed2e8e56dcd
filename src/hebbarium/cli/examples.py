"""Examples that the help of each command ends with."""

from __future__ import annotations

from typing import Final

# command -> lines as they are typed, without the word `hebbarium`
EXAMPLES: Final[dict[str, tuple[str, ...]]] = {
    "list": ("list", "list --home retrieval --rating FAITHFUL"),
    "show": ("show recency", "show --set default --schedule"),
    "run": (
        "run --dataset demo --out out/demo",
        "run --set bm25 --dataset locomo --data locomo.json --out out/b",
    ),
    "ablate": (
        "ablate --set hybrid --dataset demo --out out/hybrid",
        "ablate --dataset conversations --data mine --jobs 2 --out out/mine",
    ),
    "compose": ("compose --set minimal --dataset demo --out out/lean",),
    "calibrate": ("calibrate --dataset demo --limit 5 --out out/gate",),
    "compare": (
        "compare out/first out/second",
        'compare out/a out/a --arm full --arm "without recency"',
    ),
    "pool": ("pool out/locomo out/beam", "pool out/locomo out/beam --metric mrr --json"),
    "explain": (
        "explain out/demo",
        "explain out/demo friends/q11 --html q11.html",
        "explain out/demo --misses",
    ),
    "questions": (
        "questions out/demo --out out/pages",
        "questions out/first out/second --out out/pages",
    ),
    "reproduce": ("reproduce out/demo --out out/again",),
    "topology": ("topology out/hybrid",),
    "export": ("export out/demo --csv rows.csv", "export out/demo --trec out/trec"),
    "score": ("score out/trec/full.run --qrels out/trec/qrels.txt",),
    "assemble": (
        'assemble --query "What does Maren repair?" --budget 200',
        'assemble --query "What does Maren repair?" --page contexts.html',
    ),
    "event": ("event 12", "event 12 --memory life.db"),
    "answer": (
        "answer --llm openai:MODEL --transcript told.txt --out out/a",
        "answer --transcript told.txt --out out/again",
    ),
    "audit": ("audit recency", "audit --jobs 2 --out out/audit"),
    "weights": ("weights --limit 1 --out out/weights.json",),
    "probe": (
        "probe abstention --out out/abstention",
        "probe --set waking --jobs 2 --out out/probes",
    ),
    "world": ("world needs --out out/needs",),
    "human": ("human --set people --out out/people",),
    "cite": ("cite --set default --dataset locomo",),
    "data list": ("data list",),
    "data get": ("data get locomo --to data",),
    "data check": ("data check data/locomo10.json", "data check mine"),
    "data show": ("data show mine", "data show mine --speaker Mira"),
    "data ask": ("data ask mine", "data ask mine --llm openai:MODEL --transcript told.txt"),
    "data convert": ("data convert locomo data/locomo10.json --out out/converted",),
    "import": (
        'import "WhatsApp Chat with Mira.txt" --to life.db',
        "import result.json --to life.db --zone Europe/Berlin",
        "import export.zip --to mine",
        "import notes.csv --to life.db --columns text=body,time=sent",
    ),
    "memory new": ("memory life.db new", "memory life.db new --set hybrid"),
    "memory tell": (
        'memory life.db tell "We moved." --time "1 March 2025"',
        "memory life.db tell - < notes.txt",
    ),
    "memory ask": (
        'memory life.db ask "Who repaired the oven?"',
        'memory life.db ask "What broke?" --since 2025-03-01 --limit 3',
    ),
    "memory context": ('memory life.db context "Who repaired the oven?" --budget 500',),
    "memory use": ('memory life.db use "Who repaired the oven?" 3 7 --outcome 1',),
    "memory show": ("memory life.db show 3",),
    "memory timeline": ("memory life.db timeline oven --limit 20",),
    "memory entities": ("memory life.db entities", "memory life.db entities bergen"),
    "memory stats": ("memory life.db stats --json",),
    "memory check": ("memory life.db check",),
    "memory erase": ("memory life.db erase 3", "memory life.db erase --speaker Tom --yes"),
    "memory archive": ("memory life.db archive 3",),
    "memory restore": ("memory life.db restore 3",),
    "memory consolidate": ("memory life.db consolidate --until 2025-03-12",),
    "memory export": ("memory life.db export --to mine", "memory life.db export --to life.md"),
    "memory tables": ("memory life.db tables --to tables.db",),
    "memory expire": ("memory life.db expire",),
    "memory rebuild": ("memory life.db rebuild --set hybrid",),
    "memory chat": ("memory life.db chat",),
    "serve": ("serve --path life.db", "serve --path life.db --http 8765"),
    "hook": (
        "hook settings --path life.db --for gemini",
        "hook start --path life.db < payload.json",
    ),
    "doctor": ("doctor",),
    "new": ("new fading --into lab", "new fading --into . --home maintenance"),
    "warm": ("warm --set default",),
}


def epilog(command: str) -> str:
    """The end of the help of a command, in lines that are not broken; "" without an example.

    >>> print(epilog("warm").replace("\\b", "").strip())
    Examples:
      hebbarium warm --set default
    """
    lines = EXAMPLES.get(command, ())
    return "\n".join(
        ["\b", "Examples:", *(f"  hebbarium {line}" for line in lines)] if lines else []
    )
