"""Evidence for fact_timeline: sentences written for it with their facts by hand, and stories in a memory with the marks of each memory by hand."""
from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np

from ...engine.columns import Phase
from ...engine.records import Event
from ...engine.storage.graph import EdgeType
from ...engine.vocabulary import KIND, LOG_PRIOR, REACH, VETO, VISIBLE, WRITING
from ..checks import adaptation, at_most, equation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of, neighbour

# Sentence told by Mia, and its facts: subject/predicate/value[/standing], * for a clause that says that something changed.  The last ninety were
# written after the rules, in two parts; at first 36 of 40 and 44 of 50 were right.
SENTENCES: tuple[tuple[str, str], ...] = (
    ("I live in Oslo.", "mia/lives_in/oslo"), ("We live near the harbour.", "mia/lives_in/harbour"),
    ("I lived in Rome for three years.", "mia/lives_in/rome/past"), ("I used to live in Rome.", "mia/lives_in/rome/ended*"),
    ("I no longer live in Rome.", "mia/lives_in/rome/ended*"), ("I don't live in Rome anymore.", "mia/lives_in/rome/ended*"),
    ("I moved to Oslo last May.", "mia/lives_in/oslo/holds*"),
    ("We moved from Rome to Oslo in 2021.", "mia/lives_in/rome/ended* + mia/lives_in/oslo/holds*"),
    ("In 2020 I moved to Chile.", "mia/lives_in/chile/holds*"), ("I've lived in Oslo since 2015.", "mia/lives_in/oslo"),
    ("My sister lives in Lima.", "mia sister/lives_in/lima"), ("Tom and Ada live in Bergen.", "tom/lives_in/bergen + ada/lives_in/bergen"),
    ("Bo is based in Turin now.", "bo/lives_in/turin/holds*"), ("Ada finally moved back to Lisbon.", "ada/lives_in/lisbon/holds*"),
    ("Cleo has relocated to Ghent.", "cleo/lives_in/ghent/holds*"), ("Dan moved out of Paris.", "dan/lives_in/paris/ended*"),
    ("He lives in Rome.", ""), ("Ada called. She lives in Cork.", "ada/lives_in/cork"), ("My parents came by.", ""), ("I want to move to Rome.", ""),
    ("I might move to Rome.", ""), ("I am planning to move to Rome.", ""), ("If I lived in Rome, I would be happy.", ""), ("I live in Rome?", ""),
    ("Where does Ada live?", ""), ("I work at the bakery.", "mia/works_at/bakery"), ("I work for a small bank.", "mia/works_at/small bank"),
    ("I now work at the museum.", "mia/works_at/museum/holds*"), ("I just started a new job at the hospital.", "mia/works_at/hospital/holds*"),
    ("Tom joined Acme last week.", "tom/works_at/acme/holds*"), ("Ada got a job at the library.", "ada/works_at/library/holds*"),
    ("I was hired by the city.", "mia/works_at/city/holds*"), ("I worked at the port.", "mia/works_at/port/past"),
    ("I quit my job.", "mia/works_at//ended*"), ("Last year I quit my job at the bank.", "mia/works_at/bank/ended*"),
    ("I was fired from the bakery.", "mia/works_at/bakery/ended*"), ("Dan got laid off.", "dan/works_at//ended*"),
    ("Ada no longer works at the bakery.", "ada/works_at/bakery/ended*"), ("My father has retired.", "mia father/works_at//ended*"),
    ("My brother Tom works at the bakery.", "mia/brother/tom + tom/works_at/bakery"), ("She works as a nurse.", ""),
    ("I work as a welder.", "mia/works_as/welder"), ("I worked as a waiter.", "mia/works_as/waiter/past"),
    ("Tom got promoted to head chef.", "tom/works_as/head chef/holds*"), ("Eve became a pilot.", "eve/works_as/pilot/holds*"),
    ("Eve stepped down as mayor.", "eve/works_as/mayor/ended*"), ("I applied for a job at the zoo.", ""),
    ("I study law, but my brother studies medicine.", "mia/studies/law + mia brother/studies/medicine"),
    ("Finn studied history.", "finn/studies/history/past"),
    ("I switched my major from law to music.", "mia/studies/law/ended* + mia/studies/music/holds*"),
    ("Gus dropped out of art school.", "gus/studies/art school/ended*"), ("I am married to Bo.", "mia/spouse/bo"),
    ("I married Bo in June.", "mia/spouse/bo/holds*"), ("We got divorced.", "mia/spouse//ended*"),
    ("Bo and Cleo got married.", "bo/spouse//holds* + cleo/spouse//holds*"), ("Eve divorced Dan.", "eve/spouse/dan/ended*"),
    ("Hal is divorced.", "hal/spouse//ended*"), ("I'm dating Sam.", "mia/partner/sam"), ("Bo broke up with Cleo.", "bo/partner/cleo/ended*"),
    ("Dan is no longer dating Eve.", "dan/partner/eve/ended*"), ("Ida got engaged to Jon.", "ida/partner/jon/holds*"),
    ("I am single.", "mia/marital_status/single"), ("My sister gave birth to a girl.", "mia sister/child/girl/holds*"),
    ("I was born on 3 May 1990.", "mia/born/3 may 1990"), ("My son was born in Oslo.", "mia son/born/oslo"),
    ("My grandmother passed away last year.", "mia grandmother/died//holds*"),
    ("My uncle Karl died in 2019.", "mia/uncle/karl + karl/died/2019/holds*"), ("I am 34 years old.", "mia/age/34"),
    ("I turned 40 yesterday.", "mia/age/40/holds*"), ("My name is Mia.", "mia/name/mia"), ("I am called Mimi.", "mia/name/mimi"),
    ("I am from Chile.", "mia/from/chile"), ("Lou comes from a small village.", "lou/from/small village"),
    ("I love tea and coffee.", "mia/likes/tea + mia/likes/coffee"), ("I don't like tea.", "mia/likes/tea/denied"),
    ("I really like long walks.", "mia/likes/long walks"), ("I hate mushrooms.", "mia/likes/mushrooms/denied"),
    ("I don't hate mushrooms.", "mia/likes/mushrooms"), ("I can't stand noise.", "mia/likes/noise/denied"),
    ("I used to like jazz.", "mia/likes/jazz/ended*"), ("I no longer enjoy jazz.", "mia/likes/jazz/ended*"),
    ("I'm a big fan of puzzles.", "mia/likes/puzzles"), ("I loved that film.", "mia/likes/film/past"),
    ("Nia fell in love with pottery.", "nia/likes/pottery/holds*"), ("I never liked maths.", "mia/likes/maths/denied"),
    ("I would like a coffee.", ""), ("What do I like?", ""), ("I think I like the blue one.", "mia/likes/blue one"),
    ("I'm afraid of spiders.", "mia/fears/spiders"), ("I am worried about the exam.", "mia/fears/exam"),
    ("I got over my fear of flying.", "mia/fears/flying/ended*"), ("I'm not afraid of dogs anymore.", "mia/fears/dogs/ended*"),
    ("Otto was terrified of thunder.", "otto/fears/thunder/past"), ("I am allergic to nuts.", "mia/allergic_to/nuts"),
    ("I'm not allergic to nuts.", "mia/allergic_to/nuts/denied"), ("I'm vegan.", "mia/is/vegan"), ("I turned vegan in March.", "mia/is/vegan/holds*"),
    ("Ada is a nurse. She works at the clinic.", "ada/is/nurse + ada/works_at/clinic"), ("I'm not a teacher.", "mia/is/teacher/denied"),
    ("I was a teacher for ten years.", "mia/is/teacher/past"), ("I used to be a teacher.", "mia/is/teacher/ended*"), ("I have a dog.", "mia/has/dog"),
    ("Pia has two cats.", "pia/has/two cats"), ("I bought a bike last week.", "mia/has/bike/holds*"), ("I sold my car.", "mia/has/car/ended*"),
    ("We adopted a kitten.", "mia/has/kitten/holds*"), ("I had a boat.", "mia/has/boat/past"), ("I don't have a car.", "mia/has/car/denied"),
    ("I have to go.", ""), ("I drive a red van.", "mia/drives/red van"),
    ("I switched from Windows to Linux.", "mia/uses/windows/ended* + mia/uses/linux/holds*"),
    ("We use Postgres now instead of MySQL.", "mia/uses/mysql/ended* + mia/uses/postgres/holds*"), ("The team uses a shared calendar.", ""),
    ("Rob uses a cane.", "rob/uses/cane"), ("I stopped using that app.", "mia/uses/app/ended*"), ("I don't eat meat.", "mia/eats/meat/denied"),
    ("I drink green tea.", "mia/eats/green tea"), ("I speak French and German.", "mia/speaks/french + mia/speaks/german"),
    ("I play the cello.", "mia/plays/cello"), ("My daughter Zoe plays the violin.", "mia/daughter/zoe + zoe/plays/violin"),
    ("I've never been to Paris.", "mia/been_to/paris/denied"), ("I visited Paris in 2019.", "mia/been_to/paris"),
    ("We have been to Iceland.", "mia/been_to/iceland"), ("I have never tried sushi.", "mia/done/tried sushi/denied"),
    ("I tried sushi yesterday.", "mia/done/tried sushi"), ("I have not read that book.", "mia/done/read that book/denied"),
    ("My favourite colour is green.", "mia/favourite colour/green"), ("My favorite food is now ramen.", "mia/favourite food/ramen/holds*"),
    ("Sue's favourite band is Ume.", "sue/favourite band/ume"), ("My birthday is on 3 May.", "mia/birthday/3 may"),
    ("Actually, my birthday is on 4 May.", "mia/birthday/4 may/holds*"), ("The rent is 900 euros.", "the/rent/900 euros"),
    ("Ada's rent is 700 euros.", "ada/rent/700 euros"), ("My salary went up to 3,000 euros.", "mia/salary/3,000 euros/holds*"),
    ("The budget rose from 500 to 700 euros.", "the/budget/500/ended* + the/budget/700 euros/holds*"),
    ("The deadline was moved to Friday.", "the/deadline/friday/holds*"),
    ("The deadline has been pushed back from Monday to Friday.", "the/deadline/monday/ended* + the/deadline/friday/holds*"),
    ("The meeting is not on Monday.", "the/meeting/monday/denied"), ("The meeting was on Monday.", "the/meeting/monday/past"),
    ("Correction: the party is on Saturday.", "the/party/saturday/holds*"), ("Sorry, I meant the flight is at 9 am.", "the/flight/9 am/holds*"),
    ("My phone number is 555 1234.", "mia/phone number/555 1234"), ("My wife is called Ada.", "mia/wife/ada"),
    ("My boss is Carla.", "mia/boss/carla"), ("Our new landlord is Mr. Lee.", "mia/landlord/mr. lee"), ("My cat is called Miso.", "mia/cat/miso"),
    ("Tom is my brother.", "mia/brother/tom"), ("Vic is Wanda's cousin.", "wanda/cousin/vic"),
    ("I go running every morning.", "mia/routine/go running every morning"),
    ("I usually drink tea after lunch.", "mia/routine/drink tea after lunch usually"),
    ("Xia calls her mother on Sundays.", "xia/routine/calls her mother on sundays"), ("Thanks, that was great!", ""),
    ("The weather is lovely today.", ""), ("It was a long day.", ""), ("We've been living in Porto for ages.", "mia/lives_in/porto"),
    ("Honestly, I hate early mornings.", "mia/likes/early mornings/denied"),
    ("My cousin Petra moved to Graz in the spring.", "mia/cousin/petra + petra/lives_in/graz/holds*"),
    ("After ten years I left my job at the brewery.", "mia/works_at/brewery/ended*"),
    ("Rita and Saul got married in September.", "rita/spouse//holds* + saul/spouse//holds*"),
    ("I'm working at a florist these days.", "mia/works_at/florist/holds*"), ("The new price is 45 dollars.", "the/price/45 dollars"),
    ("Our wedding is on 12 June.", "mia/wedding/12 june"), ("My favourite season is autumn.", "mia/favourite season/autumn"),
    ("I never eat fish.", "mia/eats/fish/denied"), ("I used to work as a guide.", "mia/works_as/guide/ended*"),
    ("I'm scared of heights.", "mia/fears/heights"), ("Our dog is called Biscuit.", "mia/dog/biscuit"), ("Tess is my aunt.", "mia/aunt/tess"),
    ("I love hiking, but I hate camping.", "mia/likes/hiking + mia/likes/camping/denied"),
    ("By the way, I turned 52 last week.", "mia/age/52/holds*"), ("My email is mia at post dot org.", "mia/email/mia at post dot org"),
    ("The interview was moved from Tuesday to Thursday.", "the/interview/tuesday/ended* + the/interview/thursday/holds*"),
    ("Ulla no longer eats gluten.", "ulla/eats/gluten/ended*"), ("We bought a canoe.", "mia/has/canoe/holds*"),
    ("My mother was born in 1950.", "mia mother/born/1950"), ("I have never been to Kenya.", "mia/been_to/kenya/denied"),
    ("My uncle passed away in 2004.", "mia uncle/died/2004/holds*"), ("I'd love to live in Spain.", ""), ("She told me that she lives in Riga.", ""),
    ("I started working for the post office in May.", "mia/works_at/post office/holds*"), ("I do not speak Dutch.", "mia/speaks/dutch/denied"),
    ("My dentist is Dr. Wolf.", "mia/dentist/dr. wolf"), ("Xenia is a violinist.", "xenia/is/violinist"),
    ("Every morning I water the plants.", "mia/routine/water the plants every morning"),
    ("I am currently studying chemistry.", "mia/studies/chemistry/holds*"), ("Zora and I broke up.", "zora/partner//ended* + mia/partner//ended*"),
    ("We're getting a dog next month.", ""), ("I own a sailing boat.", "mia/has/sailing boat"), ("I sold the boat yesterday.", "mia/has/boat/ended*"),
    ("Kim switched to oat milk.", "kim/uses/oat milk/holds*"), ("The limit is 20 people.", "the/limit/20 people"), ("I grew up in Malta.", ""),
    ("My phone died this morning.", ""), ("My brother's car is a green Fiat.", "mia brother/car/green fiat"),
    ("I've just moved into a bigger flat.", "mia/lives_in/bigger flat/holds*"), ("Wim got fired last Thursday.", "wim/works_at//ended*"),
    ("My son Jonas started school in August.", "mia/son/jonas"), ("We no longer have a car.", "mia/has/car/ended*"),
    ("Our landlady is Mrs. Frost.", "mia/landlady/mrs. frost"), ("I'm not into football.", "mia/likes/football/denied"),
    ("Since March I work for the museum.", "mia/works_at/museum"), ("He moved to Bonn.", ""),
    ("Nora hates flying, but she loves trains.", "nora/likes/flying/denied + nora/likes/trains"),
    ("My appointment is on Tuesday at 10 am.", "mia/appointment/tuesday at 10 am"), ("The flight was postponed to 6 pm.", "the/flight/6 pm/holds*"),
    ("I have two sisters.", "mia/has/two sisters"), ("Actually, I don't like opera.", "mia/likes/opera/denied*"),
    ("My wife and I moved to Kiel.", "mia/lives_in/kiel/holds* + mia wife/lives_in/kiel/holds*"),
    ("My grandfather was a baker.", "mia grandfather/is/baker/past"), ("The colour of the door is blue.", ""),
    ("Ivy became a vet in 2018.", "ivy/works_as/vet/holds*"), ("I visited my aunt in Graz.", ""), ("We have three kids.", "mia/has/three kids"),
    ("I have been to Malta twice.", "mia/been_to/malta twice"), ("My name is not Maria.", "mia/name/maria/denied"),
    ("I prefer tea to coffee.", "mia/likes/tea to coffee"), ("Every Friday we order pizza.", "mia/routine/order pizza every friday"),
    ("Jo's salary is 2,500 euros.", "jo/salary/2,500 euros"), ("I wrote three letters today.", "mia/done/wrote three letters"),
    ("I'm engaged to Leo.", "mia/partner/leo"), ("Leo and I got married last month.", "leo/spouse//holds* + mia/spouse//holds*"),
    ("The battery died.", ""), ("She said she would call.", ""), ("I gave my old bike away.", ""), ("Could you send me the file?", ""),
    ("That film was great, and the food was even better.", ""), ("Let me think about it.", ""), ("I had a great time with you all.", ""),
    ("You should try the soup.", ""), ("We talked about the weather.", ""), ("Sounds like a plan to me.", ""), ("I am so tired today.", ""),
    ("It is raining again.", ""), ("The kids are at school.", ""), ("I can help you with that.", ""), ("I am going to the market.", ""),
    ("I have to say that I was surprised.", ""), ("I like it.", ""), ("My head hurts.", ""), ("Our team won the match.", ""),
    ("There is a bus at nine.", ""), ("I will bring the cake.", ""), ("He is late again.", ""), ("I love you.", ""),
)
HOLDS, PAST, ENDED, DENIED = range(4)
NOTHING, SUPERSEDES, CONFLICT = range(3)
# Predicate, (value, standing, change) of the earlier fact and of the later one, and what the later one does, by hand.
RELATIONS: tuple[tuple[str, tuple[str, int, bool], tuple[str, int, bool], int], ...] = (
    ("lives_in", ("rome", HOLDS, False), ("oslo", HOLDS, False), SUPERSEDES),
    ("lives_in", ("oslo", HOLDS, False), ("oslo norway", HOLDS, True), NOTHING),
    ("lives_in", ("rome", HOLDS, False), ("oslo", PAST, False), NOTHING), ("lives_in", ("rome", PAST, False), ("oslo", HOLDS, False), NOTHING),
    ("lives_in", ("rome", HOLDS, False), ("rome", ENDED, True), SUPERSEDES), ("lives_in", ("rome", HOLDS, False), ("oslo", ENDED, True), NOTHING),
    ("lives_in", ("rome", ENDED, True), ("rome", HOLDS, False), SUPERSEDES), ("lives_in", ("rome", ENDED, True), ("oslo", HOLDS, True), NOTHING),
    ("spouse", ("bo", HOLDS, False), ("", ENDED, True), SUPERSEDES), ("works_at", ("bank", HOLDS, False), ("bank", DENIED, False), SUPERSEDES),
    ("birthday", ("3 may", HOLDS, False), ("4 may", HOLDS, False), CONFLICT),
    ("birthday", ("3 may", HOLDS, False), ("4 may", HOLDS, True), SUPERSEDES),
    ("birthday", ("3 may", HOLDS, False), ("3 may 1990", HOLDS, False), NOTHING), ("born", ("1990", HOLDS, False), ("1991", HOLDS, False), CONFLICT),
    ("been_to", ("paris", HOLDS, False), ("paris", DENIED, False), CONFLICT), ("been_to", ("paris", HOLDS, False), ("rome", DENIED, False), NOTHING),
    ("been_to", ("paris", HOLDS, False), ("rome", HOLDS, False), NOTHING), ("likes", ("tea", HOLDS, False), ("coffee", HOLDS, False), NOTHING),
    ("likes", ("tea", HOLDS, False), ("tea", DENIED, False), SUPERSEDES), ("likes", ("tea", DENIED, False), ("tea", DENIED, False), NOTHING),
    ("meeting", ("monday", HOLDS, False), ("9 am", HOLDS, False), NOTHING),
    ("meeting", ("monday", HOLDS, False), ("friday", HOLDS, False), SUPERSEDES),
    ("born", ("oslo", HOLDS, False), ("3 may 1990", HOLDS, False), NOTHING), ("age", ("34", HOLDS, False), ("forty", HOLDS, False), SUPERSEDES),
    ("rent", ("900 euros", HOLDS, False), ("950 euros", HOLDS, False), SUPERSEDES), ("sister", ("ada", HOLDS, False), ("eve", HOLDS, False), NOTHING),
    ("wife", ("ada", HOLDS, False), ("eve", HOLDS, False), SUPERSEDES),
    ("favourite colour", ("red", HOLDS, False), ("blue", HOLDS, False), SUPERSEDES),
)
STANDINGS = ("holds", "past", "ended", "denied")


def facts_by_hand(told: str) -> list[tuple[str, ...]]:
    found = []
    for each in told.split(" + ") if told else ():
        subject, predicate, value, *rest = each.split("/")
        found.append((subject, predicate, value, rest[0] if rest else "holds"))
    return sorted(found)


def facts_found(specimen: Any, text: str, speaker: str = "Mia") -> list[tuple[str, ...]]:
    return sorted((f.subject, f.predicate, f.value, STANDINGS[f.standing] + "*" * f.change) for f in specimen.facts_of(text, speaker))


@adaptation("FT-1", source="150 sentences and more, written for it, with their facts by hand")
def the_facts_of_sentences_are_found(specimen: Any) -> Any:
    return [str(facts_found(specimen, text)) for text, _ in SENTENCES], [str(facts_by_hand(told)) for _, told in SENTENCES]


@adaptation("FT-2", source="the rules for states and single values, case by case by hand")
def a_later_fact_supersedes_contradicts_or_neither(specimen: Any) -> Any:
    def fact(predicate: str, value: str, standing: int, change: bool) -> Any:
        return specimen.Fact("mia", predicate, value, specimen.Standing(standing), change)

    found = [int(specimen.relation(fact(predicate, *a), fact(predicate, *b))) for predicate, a, b, _ in RELATIONS]
    rome = specimen.Fact("mia", "lives_in", "rome")
    others = [int(specimen.relation(rome, specimen.Fact(s, p, "oslo"))) for s, p in (("bo", "lives_in"), ("mia", "rent"))]
    return found + others, [expected for *_, expected in RELATIONS] + [NOTHING] * 2


@equation("FT-3", source="ours: the factor to the power of the share, in numpy", rtol=1e-12, figure="share")
def score_falls_with_the_share_of_superseded_facts(specimen: Any) -> Any:
    facts, superseded, out = np.array([0, 1, 1, 2, 4, 4, 1]), np.array([0, 0, 1, 1, 3, 4, 2]), np.full(7, 0.25)
    specimen.add_log_factors(facts, superseded, 0.3, out)
    return np.exp(out - 0.25), 0.3 ** np.minimum(superseded / np.maximum(facts, 1), 1.0)


@equation("FT-4", source="brute force: the best of the allowed cosines, -1 below the least; the first of equal ones")
def the_most_similar_allowed_leader_is_taken(specimen: Any) -> Any:
    rng, found, expected = np.random.default_rng(3), [], []
    for n in (0, 1, 5, 40):
        for least in (-1.0, 0.3, 0.6):
            leaders = rng.normal(size=(n, 3))
            leaders /= np.linalg.norm(leaders, axis=1, keepdims=True)
            vector, allowed = np.array([0.6, 0.8, 0.0]), rng.random(n) < 0.6
            cosines = leaders @ vector
            ranked = sorted((j for j in range(n) if allowed[j] and cosines[j] >= least), key=lambda j: -cosines[j])
            found.append(int(specimen.nearest_leader(vector, leaders, allowed, least)))
            expected.append(ranked[0] if ranked else -1)
    twice = np.array([[0.0, 1.0], [0.6, 0.8], [0.6, 0.8]])
    return [*found, int(specimen.nearest_leader(np.array([0.6, 0.8]), twice, np.ones(3, bool), 1.0 - 1e-9))], [*expected, 1]


@adaptation("FT-5", source="questions written for it")
def questions_about_versions_are_found(specimen: Any) -> Any:
    asked = ("where did i live before i moved", "what was my previous job", "did i contradict myself about the rent",
             "how has the plan changed over time",
             "where did ada use to work before that", "what was the original deadline before the change", "which is right 3 or 4 may")
    other = ("where do i live", "what is the rent", "who is my boss", "when is the meeting", "what did we paint", "")
    return [specimen.asks_for_versions(q) for q in (*asked, *other)], [True] * len(asked) + [False] * len(other)


# --- in a memory --------------------------------------------------------------------------------------------------------------
STORY: tuple[tuple[float, str, str], ...] = (
    (0.0, "I live in Rome.", "Mia"), (1.0, "My birthday is on 3 May.", "Mia"), (2.0, "I love tea and coffee.", "Mia"),
    (3.0, "refused: I live in Paris.", "Mia"), (4.0, "Tom works at the bakery.", "Bo"),
    (30.0, "I moved to Oslo, and I don't like tea.", "Mia"), (31.0, "My birthday is on 5 May.", "Mia"),
    (32.0, "Actually, my birthday is on 4 May.", "Mia"),
    (33.0, "Nothing to tell.", "Mia"), (34.0, "Tom no longer works at the bakery.", "Bo"), (35.0, "I live in Rome.", "Bo"))
TOLD = [1, 1, 2, 1, 2, 1, 1, 0, 1, 1]
SUPERSEDED = [1, 1, 1, 1, 0, 1, 0, 0, 0, 0]
CONFLICTS = [0, 1, 0, 0, 0, 1, 0, 0, 0, 0]
BY = [4, 6, 4, 8, -1, 6, -1, -1, -1, -1]


def lived(specimen: Any, **values: Any) -> Any:
    def veto(view: Any, incoming: Any) -> None:
        view.veto += incoming.event.text.startswith("refused")

    memory = memory_of(specimen, "lexical_bm25", neighbour(Phase.ENCODE, veto, adds=(VETO,)), **{"summaries": False, **values})
    encode(memory, *STORY)
    memory.advance(49.0)
    return memory


def edges(memory: Any, kind: EdgeType) -> set[tuple[int, int]]:
    graph = memory.graph
    return {(int(a), int(b)) for a, b, t, alive in zip(graph.source, graph.target, graph.type, graph.alive, strict=True) if alive and t == kind}


@adaptation("FT-6", source="True Memory 4.1 stage 3: pairs in conflict, and superseded-by links; by hand, over two sleeps")
def a_memory_marks_superseded_and_conflicting_facts(specimen: Any) -> Any:
    memory = lived(specimen)
    columns = [memory.column(c).tolist() for c in (specimen.FACTS, specimen.FACTS_SUPERSEDED, specimen.FACTS_CONFLICTING, specimen.SUPERSEDED_BY)]
    kinds = [(w.kind, w.sources, w.text.split(" · ")[:3]) for w in memory.writings if w.sources in ((4,), (8,))]
    expected = [TOLD, SUPERSEDED, CONFLICTS, BY, [(1, 5), (5, 1)], len(TOLD), ("life event", (4,), ["mia", "lives_in", "oslo"]),
                ("fact", (4,), ["mia", "likes", "tea"]), ("life event", (8,), ["tom", "works_at", "bakery"])]
    found = [*columns, sorted(edges(memory, EdgeType.CONFLICT)), int(memory.column(specimen.FACTS_UNTIL)), *kinds]
    return [str(each) for each in found], [str(each) for each in expected]


@adaptation("FT-7", source="ours: by hand from the marks of FT-6; all versions for a question about the past", rtol=1e-9)
def a_query_prefers_what_holds_or_lets_all_versions_answer(specimen: Any) -> Any:
    found: list[Any] = []
    for values, factor in (({}, 0.5), ({"superseded": 0.2}, 0.2)):
        memory = lived(specimen, **values)
        memory.archive(0)
        for question in ("Where does she live, in Rome?", "Where did Mia live before that, in Rome?"):
            rows = memory.retrieve(question, k=9).rows
            found += [*memory.column(LOG_PRIOR) / np.log(factor), *memory.column(REACH), 0 in rows]
    share = [s / max(f, 1) for s, f in zip(SUPERSEDED, TOLD, strict=True)]
    return found, [*share, *[0] * 10, False, *[0.0] * 10, *[int(bool(s or c)) for s, c in zip(SUPERSEDED, CONFLICTS, strict=True)], True] * 2


MET = (("Kim", 0), ("Kim", 10), ("Lea", 5), ("Kim", 80), ("Kim", 20), ("Lea", 0), ("Kim", 75), ("Lea", 40), ("Kim", 0), ("Kim", 88), ("Lea", 12))


@adaptation("FT-8", source="leader clustering, by plain lists over angles", papers=())
def events_join_the_nearest_leader_that_shares_an_entity(specimen: Any) -> Any:
    found, expected = [], []
    for window, least in ((200, 0.8), (3, 0.8), (200, 0.98), (2, -1.0)):
        texts = [f"on day {i} we met {name} there" for i, (name, _) in enumerate(MET)]
        vectors = {text: (np.cos(np.radians(a)), np.sin(np.radians(a))) for text, (_, a) in zip(texts, MET, strict=True)}
        memory = memory_of(specimen, embedder=Scripted(vectors), window=window, cosine=least, summaries=False)
        encode(memory, *((5.0 * i, text) for i, text in enumerate(texts)))
        memory.advance(100.0)
        found.append(memory.column(specimen.FACT_CLUSTER).tolist())
        leader: list[int] = []
        for i, (name, angle) in enumerate(MET):
            near = [(np.cos(np.radians(angle - MET[j][1])), -j) for j in range(max(0, i - window), i) if leader[j] == j and MET[j][0] == name]
            best = max((c for c in near if c[0] >= least), default=None)
            leader.append(i if best is None else -best[1])
        expected.append(leader)
    return found, expected


CATS = ("The cat Miso ran away. It rained.", "Today the cat Miso came back. So nice.", "Our Miso sleeps.", "And Miso eats.",
        "A cat like Miso sleeps and eats.")


@adaptation("FT-9", source="True Memory 4.1 stage 3: one summary per cluster; made anew and linked when it grew by half; by hand")
def a_cluster_has_one_present_summary(specimen: Any) -> Any:
    memory, found = memory_of(specimen, cosine=-1.0, sentences=2), []
    for night, told in enumerate((CATS[:2], CATS[2:3], CATS[3:4], CATS[4:])):
        encode(memory, *((24.0 * night + i, text) for i, text in enumerate(told)))
        memory.advance(24.0 * (night + 1))
        made = np.flatnonzero(memory.column(KIND) == 3)
        found.append([made.tolist(), memory.column(VISIBLE)[made].tolist(), int(memory.column(specimen.CLUSTER_SUMMARY)[0]),
                      int(memory.column(specimen.CLUSTER_SUMMARISED)[0]), sorted(edges(memory, EdgeType.VERSION))])
    texts = [*(memory.unit(row).text for row in (3, 6)), memory.writings[int(memory.column(WRITING)[6])].sources]
    expected = [[[], [], -1, 0, []], [[3], [True], 3, 3, []], [[3], [True], 3, 3, []], [[3, 6], [False, True], 6, 5, [(6, 3)]],
                ["The cat Miso ran away. Today the cat Miso came back.",
                 "Today the cat Miso came back. A cat like Miso sleeps and eats.", (0, 1, 2, 4, 5)]]
    return [str(each) for each in (*found, texts)], [str(each) for each in expected]


@adaptation("FT-10", source="definition: read back from the writings alone, in one piece or along the way")
def the_timeline_is_derived_from_the_writings(specimen: Any) -> Any:
    memory, found = lived(specimen), []
    fresh = [specimen.Fact(*each) for each in (("mia", "lives_in", "bergen"), ("mia", "likes", "tea"), ("tom", "works_at", "bakery"))]
    for stops in ((len(memory.writings),), range(len(memory.writings) + 1)):
        timeline = specimen.Timeline()
        for stop in stops:
            timeline.follow(_Listed(memory.writings[:stop]), "fact_timeline")
        found.append([timeline.take(fact, 99) for fact in fresh])
    return [str([[(row, int(what)) for row, what in each] for each in one]) for one in found], [str([[(4, 1)], [(4, 1)], [(8, 1)]])] * 2


class _Listed(tuple[Any, ...]):
    """Writings of which none was erased."""

    erased = 0


@adaptation("FT-10b", source="definition: once a fact is erased, the fact that it superseded is open again; by hand")
def an_erased_fact_no_longer_supersedes(specimen: Any) -> Any:
    memory = memory_of(specimen, summaries=False)
    for i, text in enumerate(("I live in Rome.", "I moved to Oslo.")):
        memory.encode(Event(float(i), text, "Mia", id=f"e{i}", dated=False))
    memory.advance(25.0)
    memory.erase("e1", confirm=True)
    memory.encode(Event(30.0, "I live in Bern.", "Mia", id="e2", dated=False))
    memory.advance(49.0)
    return [*memory.column(specimen.SUPERSEDED_BY), *memory.column(specimen.FACTS_SUPERSEDED)], [2, -1, -1, 2, 0, 0]


@limit("FT-11", source="definition: without facts or with an empty memory nothing is marked or voted")
def without_facts_nothing_changes(specimen: Any) -> Any:
    memory = memory_of(specimen, "lexical_bm25")
    memory.retrieve("Where did I live before?")
    encode(memory, (0.0, "What a day!"), (1.0, "ok", "user"), (2.0, ""))
    memory.advance(30.0)
    memory.retrieve("What did contradict the day?")
    found = [memory.column(c) for c in (specimen.FACTS, LOG_PRIOR, REACH)]
    return [*np.concatenate(found), len(memory.writings), *memory.column(specimen.FACT_CLUSTER)], [0] * 10 + [0, 1, 2]


@limit("FT-12", source="definition: a speaker without a shown name is told apart by number")
def speakers_are_told_apart(specimen: Any) -> Any:
    memory = memory_of(specimen, summaries=False)
    encode(memory, (0.0, "I live in Rome.", "user"), (1.0, "I live in Oslo.", "assistant"), (2.0, "I live in Bern."),
           (3.0, "I live in Lima.", "user"),
           (4.0, "I live in Cork.", "Eve"))
    memory.advance(30.0)
    subjects = [w.text.split(" · ")[0] for w in memory.writings]
    return [len(set(subjects)), subjects[0] == subjects[3], subjects[4], *memory.column(specimen.SUPERSEDED_BY)], [4, True, "eve", 3, -1, -1, -1, -1]


@adaptation("FT-13", source="linear time: s for texts of a quarter of a million characters")
def hostile_texts_take_linear_time(specimen: Any) -> Any:
    seconds = []
    for text in ("I live in " * 25_000, "and I " * 40_000, "Mia and " * 30_000, "I'm not x any more " * 13_000, ". " * 100_000, " " * 250_000,
                 "a" * 250_000, "not w w w w w w w w w w w w w " * 8_000, "was i " * 40_000):
        start = process_time()
        specimen.facts_of(text, "Mia")
        specimen.asks_for_versions(text)
        seconds.append(process_time() - start)
    return at_most(seconds, 5.0)


@figure("share", caption="Factor on the score of a memory over the number of its four facts that are superseded", source="ours")
def factor_over_superseded(specimen: Any) -> Picture:
    number = np.arange(5)

    def factor(least: float) -> Any:
        out = np.zeros(5)
        specimen.add_log_factors(np.full(5, 4), number, least, out)
        return np.exp(out)

    return Picture("superseded facts of four", "factor on the score", (
        Curve("factor 0.5", number, factor(0.5)), Curve("factor 0.2", number, factor(0.2)),
        dots("0.5 to the power of the share", number, 0.5 ** (number / 4))))


# --- mutants --------------------------------------------------------------------------------------------------------------------
@mutant("questions state facts", rejected_by="FT-1")
def asking(specimen: Any) -> Any:
    original = specimen.facts_of
    return specimen.replacing("facts_of", lambda text, speaker="": original(text.replace("?", "."), speaker))


@mutant("every contradiction is a change", rejected_by="FT-2")
def always_changes(specimen: Any) -> Any:
    original = specimen.relation
    return specimen.replacing("relation", lambda a, b: specimen.Relation(min(int(original(a, b)), 1)))


@mutant("any superseded fact costs all", rejected_by="FT-3")
def whole(specimen: Any) -> Any:
    def add_log_factors(facts: Any, superseded: Any, factor: float, out: Any) -> None:
        out += np.log(factor) * (superseded > 0)

    return specimen.replacing("add_log_factors", add_log_factors)


@mutant("the last leader, not the nearest", rejected_by="FT-4")
def last_leader(specimen: Any) -> Any:
    def nearest_leader(vector: Any, leaders: Any, allowed: Any, least: float) -> int:
        near = [j for j in range(len(leaders)) if allowed[j] and leaders[j] @ vector >= least]
        return near[-1] if near else -1

    return specimen.replacing("nearest_leader", nearest_leader)


@mutant("every question is about versions", rejected_by="FT-5")
def always(specimen: Any) -> Any:
    return specimen.replacing("asks_for_versions", lambda words: True)


@mutant("facts of different speakers are mixed", rejected_by="FT-6")
def mixed(specimen: Any) -> Any:
    original = specimen.facts_of
    return specimen.replacing("facts_of", lambda text, speaker="": original(text, "Mia"))


@mutant("no question is about versions", rejected_by="FT-7")
def never(specimen: Any) -> Any:
    return specimen.replacing("asks_for_versions", lambda words: False)


@mutant("leaders share no entity", rejected_by="FT-8")
def strangers(specimen: Any) -> Any:
    original = specimen.nearest_leader
    return specimen.replacing("nearest_leader", lambda vector, leaders, allowed, least: original(vector, leaders, np.ones_like(allowed), least))


@mutant("the first sentences", rejected_by="FT-9")
def first_sentences(specimen: Any) -> Any:
    return specimen.replacing("central", lambda texts, most: " ".join(texts[:most]))


@mutant("former versions stay visible", rejected_by="FT-9")
def both_visible(specimen: Any) -> Any:
    class Both(specimen.FactTimeline):                        # type: ignore[misc]
        def dress(self, view: Any, tick: Any) -> None:
            super().dress(view, tick)
            view.hide[...] = 0

    return specimen.replacing("FactTimeline", Both)


@mutant("superseded facts stay in the timeline", rejected_by="FT-10")
def kept(specimen: Any) -> Any:
    class Kept(specimen.Timeline):                            # type: ignore[misc]
        def take(self, fact: Any, row: int) -> Any:
            before = {key: list(known) for key, known in self._open.items()}
            found = specimen.Timeline.take(self, fact, row)
            for key, known in before.items():
                self._open[key] = [*known, *([(fact, row)] if (fact, row) in self._open[key] else [])]
            return found

    return specimen.replacing("Timeline", Kept)


@mutant("erased facts stay in the timeline", rejected_by="FT-10b")
def haunted(specimen: Any) -> Any:
    class Haunted(specimen.Timeline):                         # type: ignore[misc]
        def follow(self, writings: Any, maker: str) -> None:
            self.erased: int = writings.erased
            super().follow(writings, maker)

    return specimen.replacing("Timeline", Haunted)


@mutant("archived versions get votes without facts", rejected_by="FT-11")
def votes(specimen: Any) -> Any:
    class Votes(specimen.FactTimeline):                       # type: ignore[misc]
        def prefer(self, view: Any, cue: Any) -> None:
            view.reach += 1

    return specimen.replacing("FactTimeline", Votes)


@mutant("speakers without a shown name are one", rejected_by="FT-12")
def nobody(specimen: Any) -> Any:
    original = specimen.facts_of
    return specimen.replacing("facts_of", lambda text, speaker="": original(text, "" if speaker.startswith("speaker") else speaker))
