from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.hooks import Mechanism, Params, hook
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import CUES
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.text.features import terms_of
from hebbarium.mechanisms.retrieval import query_expansion
from hebbarium.mechanisms.retrieval.query_expansion import (
    GROUPS,
    LONGEST,
    NEIGHBOURS,
    groups_of,
    wordings_of,
)

SYNONYMS, REWRITES, PARTS = 0.3, 0.95, 0.85

# Question, its statements, its parts, a related word that is due ("": not tested).  Composed for
# this table.
DUE: tuple[tuple[str, tuple[str, ...], tuple[str, ...], str], ...] = (
    ("When did I visit the dentist?", ("I visited the dentist",), (), "dental"),
    ("When did I buy my first car?", ("I bought my first car",), (), "vehicle"),
    ("What year did Ada move to Oslo?", ("Ada moved to Oslo",), (), "relocate"),
    ("Which day was the concert?", ("the concert was",), (), "gig"),
    ("How long have I been learning the piano?", ("I have been learning the piano",), (), "study"),
    ("How many weeks did the renovation take?", ("the renovation took",), (), "remodel"),
    ("How often do I go to the gym?", ("I go to the gym",), (), "workout"),
    ("Where does Ada work now?", ("Ada works now",), (), "job"),
    ("Where did we eat on Friday?", ("we ate on Friday",), (), "dine"),
    ("Where is the spare key?", ("the spare key is",), (), ""),
    ("Who gave Ada the violin?", ("gave Ada the violin",), (), "fiddle"),
    ("Who did I meet at the airport?", ("I met at the airport",), (), ""),
    ("Whom did Bo invite to dinner?", ("Bo invited to dinner",), (), "meal"),
    ("Whose car did I borrow?", ("I borrowed car",), (), "lend"),
    ("What is the name of her dog?", ("the name of her dog is",), (), "puppy"),
    ("What was my old address?", ("my old address was",), (), ""),
    ("What did Tom cook?", ("Tom cooked",), (), "prepare"),
    ("What does my brother sell?", ("my brother sells",), (), "sibling"),
    ("What do I need from the supermarket?", ("I need from the supermarket",), (), "grocery"),
    ("What have I told you about my boss?", ("I have told you about my boss", "my boss"), (),
     "manager"),
    ("What has Ada bought?", ("Ada has bought",), (), ""),
    ("What should I cook for my mother?", ("I should cook for my mother",), (), "mom"),
    ("What will the landlord repair?", ("the landlord will repair",), (), "fix"),
    ("What were we arguing about?", ("we were arguing about",), (), "quarrel"),
    ("Which book did Tom recommend?", ("Tom recommended book",), (), "novel"),
    ("Which restaurant did we try in May?", ("we tried restaurant in May",), (), "diner"),
    ("How many cities did we visit in Spain?", ("we visited cities in Spain",), (), "town"),
    ("How much money did I lend to Bo?", ("I lent money to Bo",), (), "cash"),
    ("How do I deploy the app?", ("I deploy the app",), (), "application"),
    ("How did the interview go?", ("the interview went",), (), "applicant"),
    ("Why didn't I go to the party?", ("I didn't go to the party",), (), ""),
    ("Why was Ada angry?", ("Ada was angry",), (), "mad"),
    ("Why did my flight get cancelled?", ("my flight got cancelled",), (), "plane"),
    ("Did I ever mention a trip to Rome?", ("I mentioned a trip to Rome", "a trip to Rome"), (),
     "journey"),
    ("Did I ever tell you about the old boat?", ("I told you about the old boat", "the old boat"),
     (), "ship"),
    ("Have I ever been to Paris?", ("I have been to Paris",), (), ""),
    ("Have we ever eaten oysters?", ("we have eaten oysters",), (), ""),
    ("Did Ada ever study law?", ("Ada studied law",), (), "legal"),
    ("Did you ever explain the recipe?", ("you explained the recipe",), (), "ingredients"),
    ("What did I say about the leaking roof?", ("I said about the leaking roof",
                                                "the leaking roof"), (), "ceiling"),
    ("Did we talk about the budget?", ("we talked about the budget", "the budget"), (), "speak"),
    ("What did you recommend for my headache?", ("you recommended for my headache",), (),
     "suggest"),
    ("Is Tom a vegetarian?", ("Tom is a vegetarian",), (), "vegan"),
    ("Is my sister coming on Sunday?", ("my sister is coming on Sunday",), (), "sibling"),
    ("Was I late?", ("I was late",), (), ""),
    ("Are Ada and Bo married?", ("Ada and Bo are married",), ("Ada are married", "Bo are married"),
     ""),
    ("Am I allergic to nuts?", ("I am allergic to nuts",), (), "allergy"),
    ("Can I eat peanuts?", ("I can eat peanuts",), (), "dine"),
    ("Will the concert start early?", ("the concert will start early",), (), "begin"),
    ("Does Ada like coffee?", ("Ada likes coffee",), (), "espresso"),
    ("Do I have a bicycle?", ("I have a bicycle",), (), "bike"),
    ("Do my parents live abroad?", ("my parents live abroad",), (), "overseas"),
    ("Do you remember when I bought the red bike?", ("I bought the red bike",), (), "bicycle"),
    ("Do you remember where we parked?", ("we parked",), (), ""),
    ("Can you tell me about my trip to Norway?", ("my trip to Norway",), (), "journey"),
    ("Could you remind me when the exam is?", ("the exam is",), (), "test"),
    ("Please tell me which doctor I saw", ("doctor I saw",), (), "physician"),
    ("Tell me about the wedding", ("the wedding",), (), "marriage"),
    ("I want to know if Ada called", ("Ada called",), (), "phone"),
    ("I forgot where I hid the key", ("I hid the key",), (), ""),
    ("So what did the lawyer say?", ("the lawyer said",), (), "attorney"),
    ("At which hotel did we stay?", ("we stayed hotel",), (), "inn"),
    ("With whom did I play tennis?", ("I played tennis",), (), "racket"),
    ("In what year did Ada finish school?", ("Ada finished school",), (), "academy"),
    ("Did Ada and Tom study law?", ("Ada and Tom studied law",), ("Ada studied law",
    "Tom studied law"), "legal"),
    ("Did both my sister and my brother study law?", ("my sister and my brother studied law",),
     ("my sister studied law", "my brother studied law"), "legal"),
    ("Do both Ada and Bo drive?", ("Ada and Bo drive",), ("Ada drive", "Bo drive"), ""),
    ("Have Ada and my brother met?", ("Ada and my brother have met",), ("Ada have met",
    "my brother have met"), "sibling"),
    ("Where did I buy bread and milk?", ("I bought bread and milk",), ("I bought bread",
    "I bought milk"), "loaf"),
    ("When did I sell the car and the bike?", ("I sold the car and the bike",), ("I sold the car",
    "I sold the bike"), "vehicle"),
    ("Did I buy the car and the bike in Oslo?", ("I bought the car and the bike in Oslo",),
     ("I bought the car in Oslo", "I bought the bike in Oslo"), "purchase"),
    ("Did I visit Rome or Paris in June?", ("I visited Rome or Paris in June",),
     ("I visited Rome in June", "I visited Paris in June"), ""),
    ("What did I cook for Ada and Bo?", ("I cooked for Ada and Bo",), ("I cooked for Ada",
    "I cooked for Bo"), "prepare"),
    ("Did I invite my aunt, my uncle and my cousin?", ("I invited my aunt my uncle and my cousin",),
     ("I invited my aunt", "I invited my uncle", "I invited my cousin"), "niece"),
    ("Did I wash and iron the shirt?", ("I washed and iron the shirt",), ("I washed the shirt",
    "I ironed the shirt"), ""),
    ("Did Ada sell the flat and buy a boat?", ("Ada sold the flat and buy a boat",),
     ("Ada sold the flat", "Ada bought a boat"), "ship"),
    ("When did I meet New York friends and Ada Smith?", ("I met New York friends and Ada Smith",),
     ("I met New York friends", "I met New York Ada Smith"), "buddy"),
    ("When did I buy the car and where did I park it?", (), ("I bought the car", "I parked it"),
     "vehicle"),
    ("Who called Ada and when did she answer?", (), ("called Ada", "she answered"), "phone"),
    ("Did I pay the bill or did Bo pay it?", (), ("I paid the bill", "Bo paid it"), "invoice"),
    ("Why did I quit and what did my boss say?", (), ("I quit", "my boss said"), "manager"),
    ("I moved last year. When did I sign the lease?", (), ("I moved last year",
    "I signed the lease"), "rent"),
    ("Ada is my doctor. What did she prescribe?", (), ("Ada is my doctor", "she prescribed"),
     "physician"),
    ("Did Dr. Moe call?", ("Dr Moe called",), (), "phone"),
    ("Which is older, the church or the mill?", (), ("the church", "the mill"), "chapel"),
    ("Which did I buy first, the car or the bike?", (), ("I bought the car", "I bought the bike"),
     "vehicle"),
    ("Which city did I visit first, Rome, Paris or Berlin?", (), ("I visited city Rome",
    "I visited city Paris", "I visited city Berlin"), "town"),
    ("Who called first, Ada or Tom?", (), ("Ada called", "Tom called"), "phone"),
    ("What came first, the exam or the wedding?", (), ("the exam came", "the wedding came"),
     "test"),
    ("Who is taller, Ada or Bo?", (), ("Ada", "Bo"), ""),
    ("What is the difference between the old contract and the new contract?",
     ("the difference between the old contract and the new contract is",),
     ("the old contract", "the new contract"), "agreement"),
    ("What are the differences between Ada and Bo?", ("the differences between Ada and Bo are",),
     ("Ada", "Bo"), ""),
    ("Did I choose between the blue coat and the red coat in May?",
     ("I chose between the blue coat and the red coat in May",),
     ("the blue coat", "the red coat"), "jacket"),
    ("How does my new job compare to my old job?", ("my new job compare to my old job",),
     ("my new job", "my old job"), "work"),
    ("What do Ada and Tom have in common?", ("Ada and Tom have in common",), ("Ada", "Tom"), ""),
    ("Did I like Rome more than Paris?", ("I liked Rome more than Paris",), ("I liked Rome",
    "Paris"), ""),
    ("Is Oslo bigger than Bergen?", ("Oslo is bigger than Bergen",), ("Oslo", "Bergen"), ""),
    ("Is the train cheaper than the bus?", ("the train cheaper than the bus",), ("the train",
    "the bus"), "rail"),
    ("Compare my old job with my new job", ("my old job with my new job",), (), "employment"),
    ("Mac versus Linux", (), ("Mac", "Linux"), ""),
    ("What did I do before I moved to Oslo?", ("I did before I moved to Oslo",), ("I moved to Oslo",
    ), "relocate"),
    ("Where did I live before the move?", ("I lived before the move",), ("I lived", "the move"),
     "relocate"),
    ("Where did Ada work after the exam?", ("Ada worked after the exam",), ("Ada worked",
    "the exam"), "test"),
    ("After the move, where did I work?", (), ("I worked", "the move"), "job"),
    ("What happened right after the wedding?", ("happened right after the wedding",),
     ("the wedding",), "marriage"),
    ("What did we eat just before the concert?", ("we ate just before the concert",), ("we ate",
    "the concert"), "gig"),
    ("Did I call Bo before or after the exam?", ("I called Bo before or after the exam",),
     ("I called Bo", "the exam"), "phone"),
    ("Where did I go the day before yesterday?", ("I went the day before yesterday",), (), ""),
    ("Did I look after the cat?", ("I looked after the cat",), (), "kitten"),
    ("What did I eat after 2020?", ("I ate after 2020",), (), "dine"),
    ("In what order did I visit Rome, Paris and Berlin?", ("I visited Rome Paris and Berlin",),
     ("I visited Rome", "I visited Paris", "I visited Berlin"), ""),
    ("In which order did I sell the car, move house and quit my job?",
     ("I sold the car move house and quit my job",),
     ("I sold the car", "I moved house", "I quit my job"), "employment"),
    ("Did I first sell the flat, then move to Oslo and finally find a job?",
     ("I first sold the flat then move to Oslo and finally find a job",),
     ("I sold the flat", "I moved to Oslo", "I found a job"), "apartment"),
    ("Did I cook and then call Ada?", ("I cooked and then call Ada",), ("I cooked", "I called Ada"),
     "phone"),
    ("What was the order of the exam, the wedding and the trip?",
     ("the exam the wedding and the trip",),
     ("the exam", "the wedding", "the trip"), "test"),
    ("I visited the dentist", (), (), "dental"),
    ("the red bike", (), (), "bicycle"),
    ("When?", (), (), ""),
    ("What happened yesterday?", (), (), ""),
    ("?!...", (), (), ""),
)  # fmt: skip


def test_the_table_has_120_different_questions() -> None:
    assert len({question for question, *_ in DUE}) == len(DUE) == 120


@pytest.mark.parametrize(
    ("question", "rewrites", "parts", "related"), DUE, ids=[question for question, *_ in DUE]
)
def test_a_question_has_the_wordings_that_are_due(
    question: str, rewrites: tuple[str, ...], parts: tuple[str, ...], related: str
) -> None:
    made = wordings_of(question, SYNONYMS, REWRITES, PARTS, 6)
    assert tuple(w.text for w in made if w.weight == REWRITES) == rewrites
    assert tuple(w.text for w in made if w.weight == PARTS) == parts
    words = " ".join(w.text for w in made if w.weight == SYNONYMS).split()
    assert not related or related in words
    assert not set(map(tuple, map(terms_of, words))) & {(term,) for term in terms_of(question)}


def test_each_kind_of_part_has_its_name() -> None:
    named = {
        w.why for question, *_ in DUE for w in wordings_of(question, SYNONYMS, REWRITES, PARTS, 16)
    }
    assert named == {
        "related words",
        "statement",
        "what was told",
        "sentence",
        *query_expansion.PART_RULES,
    }


def test_the_vocabulary_is_well_formed() -> None:
    assert 400 <= len(GROUPS) <= 500
    assert len({frozenset(group) for group in GROUPS}) == len(GROUPS)
    for group in GROUPS:
        stems = [terms_of(word) for word in group]
        assert len(group) >= 3, group
        assert all(word.isascii() and word.isalpha() and word.islower() for word in group), group
        assert all(terms_of(word, stop_words=True) for word in group), group
        assert len({stem for [stem] in stems}) == len(group), group


def test_the_vocabulary_is_symmetric() -> None:
    for stem, near in NEIGHBOURS.items():
        for word in near:
            assert stem in {terms_of(other)[0] for other in NEIGHBOURS[terms_of(word)[0]]}


def test_the_vocabulary_is_shipped_beside_the_module() -> None:
    file = Path(query_expansion.__file__).with_name("concepts.txt")
    assert groups_of(file.read_text(encoding="utf-8")) == GROUPS
    assert groups_of("# a comment\n\n  car  auto\n") == (("car", "auto"),)


WORDS = tuple(
    word for question, *_ in DUE for word in question.replace(",", " ,").replace("?", " ?").split()
)


@given(
    st.one_of(st.text(max_size=200), st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)),
    st.integers(0, 16),
)
def test_any_text_gives_few_different_wordings(text: str, most: int) -> None:
    made = wordings_of(text, SYNONYMS, REWRITES, PARTS, most)
    asked = terms_of(text, stem=False)
    worded = [tuple(terms_of(w.text, stem=False)) for w in made]
    assert len(made) <= most
    assert len(set(worded)) == len(worded) and () not in worded and tuple(asked) not in worded
    assert made == wordings_of(text, SYNONYMS, REWRITES, PARTS, most)


@pytest.mark.parametrize(
    "unit",
    ["when did I ", "and ", "before ", "a", "so and but ", "car ", "?", "\ud800", "between a and "],
)
def test_a_query_of_a_megabyte_is_cut(unit: str) -> None:
    made = wordings_of(unit * (1_000_000 // len(unit)), SYNONYMS, REWRITES, PARTS, 16)
    assert len(made) <= 16
    assert all(len(w.text) <= LONGEST + 200 for w in made)


class Recorder(Mechanism[Params]):
    @hook(Phase.RETRIEVE, reads=(CUES,), adds=(), sets=())
    def record(self, view: object, cue: object) -> None:
        SEEN.append([(weight, each.query.text) for weight, each in view.cues])  # type: ignore[attr-defined]


SEEN: list[list[tuple[float, str]]] = []


def asked(question: str, **parameters: float) -> list[tuple[float, str]]:
    made = Engine(
        [
            Registry.read().instance("query_expansion", parameters),
            Recorder("recorder", Params(1.0)),
        ],
        HashingEmbedder(16),
    )
    made.encode(Event(0.0, "Ada sold her boat"))
    SEEN.clear()
    made.retrieve(question)
    return SEEN[0]


def test_a_memory_is_asked_in_the_wordings_of_the_mechanism() -> None:
    question = "Did Ada sell the car and the van?"
    assert asked(question)[1:] == [
        (w.weight, w.text) for w in wordings_of(question, SYNONYMS, REWRITES, PARTS, 6)
    ]
    assert len(asked(question, most=2)) == 3


@pytest.mark.parametrize(
    "parameters", [{"most": 0}, {"synonyms": 0.0, "rewrites": 0.0, "parts": 0.0}]
)
def test_off_is_the_query_alone(parameters: dict[str, float]) -> None:
    assert asked("Did Ada sell the car and the van?", **parameters) == [
        (1.0, "Did Ada sell the car and the van?")
    ]
