"""Small imitations of data sets whose evidence is known by id, in their official formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = Any

FILES = {
    "madial": ("MADial-Bench-en-dialogue.json", "MADial-Bench-en-memory.json"),
    "precisionmembench": (
        "beliefs.seed.json",
        "retrieval.cases.json",
        "session-retrieval.cases.json",
    ),
}


def write_files(folder: Path, value: Json, name: str) -> Path:
    """Write the files of a data set of several files, and return their folder.

    value  a list with what each file holds; of `madial` lists of lines
    """
    folder.mkdir(parents=True, exist_ok=True)
    for file, content in zip(FILES[name], value if isinstance(value, list) else [], strict=False):
        lines = content if name == "madial" and isinstance(content, list) else [content]
        text = "\n".join(json.dumps(line) for line in lines)
        (folder / file).write_text(text, encoding="utf-8")
    return folder


def madial() -> Json:
    """Dialogues and memories; the second dialogue names a memory that is not there."""

    def memory(name: str, time: str, scene: str, event: str) -> Json:
        return {name: {"time": time, "scene": scene, "emotion": "Happy", "event": event}}

    memories = [
        memory("3", "2023-03-07", "Activity", "Bo won the sack race."),
        memory("1", "2022-12-25", "Preferences", "Bo sang at the party."),
        memory("12", "2023-03-07", "Activity", "Bo lost a shoe in the sack race."),
    ]
    dialogues = [
        {
            "dialogue": [
                "<BOD>\n",
                '<Bo>: "I run on Sunday!"\n',
                '"Good luck, it will be fun."\n',
                '<Bo>: "I am nervous."\n',
                '<Assistant>: "You won the sack race, remember?"\n',
                "<EOD>\n",
            ],
            "test-turn": [4],
            "relevant-id": [3, 12, 3],
            "user-id": 1,
        },
        {
            "dialogue": ["<BOD>\n", '<Bo>: "What shall I sing?"\n', '<Assistant>: "A carol!"\n'],
            "test-turn": [2, 2],
            "relevant-id": [99, 1],
            "user-id": 1,
        },
    ]
    return [dialogues, memories]


def memdaily() -> Json:
    """Three series: two of the plain file, and one as the benchmark writes it, with an unrelated
    message.
    """

    def message(number: int, text: str, time: str) -> Json:
        return {"mid": number, "message": text, "time": time, "place": "Bonn"}

    def asked(steps: list[int], time: str, answer: Json = "Otto") -> Json:
        return {"qid": 0, "question": "Who paints?", "answer": answer, "target_step_id": steps,
                "choices": {"A": "Otto", "B": "Ida"}, "ground_truth": "A", "time": time}  # fmt: skip

    return {
        "simple": {
            "roles": [
                {
                    "tid": 0,
                    "message_list": [
                        message(0, "My uncle is Otto.", "2024年04月01日 周一 08:12"),
                        message(1, "He paints.", "2024年04月02日 周二 07:30"),
                        message(2, "He is 60.", "2024年04月02日 周二 07:05"),
                    ],
                    "QA": asked([1, 0, 1], "2024年04月03日 周三 09:00"),
                }
            ],
            "events": None,
        },
        "aggregative": {
            "roles": [
                {
                    "tid": 0,
                    "message_list": [message(0, "Ida paints.", "2024年04月01日 周一 08:12")],
                    "QA": asked([0, 4], "2024年04月01日 周一 08:00", [1, 2]),
                },
                {
                    "tid": 1,
                    "message_list": [
                        "Trams are yellow.",
                        "Ida paints. (消息地点 Bonn, 消息时间 2024年04月01日 周一 08:12)",
                        "Rain again.",
                    ],
                    "QA": asked([1], "2024年04月09日 周二 10:00"),
                },
            ]
        },
    }


def belief(name: str, text: str, **more: Json) -> Json:
    return {
        "_id": name, "user_id": "test-user", "type": "preference", "canonical_name": name.upper(),
        "aliases": [], "content": text, "why_it_matters": "", "scope": ["domain:code"],
        "epistemic_status": "active", "pinned": False, "resolved_at": None, "superseded_by": None,
        "created_at": "2026-09-01T00:00:00Z", **more,
    }  # fmt: skip


def precisionmembench() -> Json:
    """Seven beliefs, of which one belongs to another user; six cases, of which one has no words and
    one a budget; and a session of three turns.
    """
    beliefs = [
        belief("tea", "Likes tea.", aliases=["brew", "cup"], why_it_matters="For breaks."),
        belief("old-db", "Uses SQLite.", superseded_by="db", created_at="2026-01-01T00:00:00Z"),
        belief("db", "Uses Postgres.", pinned=True),
        belief("ask", "Which broker?", type="open_question", pinned=True),
        belief("hero", "Mara is the hero.", scope=["domain:writing"], pinned=True),
        belief("other", "Likes coffee.", user_id="other-user", pinned=True),
        belief("red", "Redis holds sessions."),
    ]

    def case(name: str, query: str, expect: Json, **more: Json) -> Json:
        return {"caseId": name, "category": "Alias", "description": "", "scope": ["domain:code"],
                "query": query, "expect": expect, **more}  # fmt: skip

    def only(*names: str, **more: Json) -> Json:
        return {"relevantBeliefs": {"shouldOnlyInclude": list(names)}, **more}

    cases = [
        case("brew", "a brew?", only("tea", "gone")),
        case("empty", " ", only("tea")),
        case("small", "Postgres?", only(), budget={"maxBeliefs": 1}),
        case("pinned", "Postgres?", only(pinnedFacts={"mustExclude": ["db"]})),
        case("must", "cup", {"relevantBeliefs": {"mustInclude": ["tea", "db"]}}),
        case("cold", "anything", only(), userId="new-user"),
    ]

    def turn(number: int, said: str, expect: Json, **more: Json) -> Json:
        return {"turnIndex": number, "label": "", "scope": ["domain:code"], "userMessage": said,
                "assistantMessage": "", "expect": expect, **more}  # fmt: skip

    turns = [
        turn(0, "Redis is slow.", only("red"), createBeliefAtTurn=belief("ci", "CI is slow.")),
        turn(
            1, "And CI?", only("ci"),
            updateBeliefAtTurn={"beliefId": "red", "addAliases": ["eviction"]},
        ),
        turn(2, "Eviction?", only("red", noiseCheck={"mustNotSurface": ["ci", "db"]})),
    ]  # fmt: skip
    return [beliefs, cases, [{"caseId": "drift", "description": "", "turns": turns}]]
