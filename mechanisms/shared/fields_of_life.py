"""Fields of everyday life, such as work, home and health, and the words that speak of each: a small
thesaurus, English and ours.

"Bo quit smoking" ends no work at a bakery, "Ada sold her instrument" may end a cello's place in a
quartet: what connects or separates two sentences without a word in common is their field.  A word
may speak of several fields, most words of none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ...engine.text.features import terms_of

_WORDS: Final = {
    "work": """work works job boss manager shift shifts salary firm company employer employee employed
        unemployed colleague colleagues notice contract hired fired sacked resigned retired career
        apprentice apprenticeship intern internship trainee trade factory taxi
        parental maternity paternity sabbatical freelance overtime treasurer chair chairman chairwoman
        secretary director lead deputy promoted promotion union strike redundant redundancy practice""",
    "home": """home house flat apartment room rent rents lease tenant tenants landlord landlady mortgage
        lodger flatmate roommate housemate boxes keys neighbourhood street kitchen cellar attic garage
        villa cottage dorm dormitory parents mover movers heating furniture lives live living""",
    "smoking": "smoke smokes smoking smoker cigarette cigarettes cigar cigars tobacco nicotine vape vaping packet",
    "drinking": "alcohol wine beer whisky vodka gin spirits drunk sober pub bar pint drink drinks drinking",
    "eating": """vegetarian vegan meat steak lamb beef chicken pork ham bacon sausage fish tofu diet gluten
        sugar sweets chocolate fast fasting calories eat eats eating lunch dinner breakfast soup salad""",
    "music": """cello violin viola piano guitar drum drums trumpet flute clarinet saxophone trombone harp organ
        banjo accordion instrument instruments bow strings orchestra choir band quartet trio ensemble concert
        conductor rehearsal rehearse rehearses voice sing sings singing singer song songs melody gig""",
    "learning": """study studies studying student course courses class classes lesson lessons exam exams degree
        university college school pupil teacher tutor learn learns learning grammar vocabulary graduate
        graduated graduation thesis dissertation semester diploma kindergarten nursery enrolled portuguese
        french german spanish italian welsh latin greek russian chinese japanese arabic polish swedish""",
    "sport": """gym sport sports marathon race races train trains training trainer coach coaches team club
        football soccer tennis hockey rugby cricket basketball volleyball handball swim swims swimming
        climbing yoga judo karate rowing running runner jogging goalkeeper striker keeper defender
        league match matches season gloves boots membership fitness skating skates skiing skis golf darts""",
    "health": """hospital doctor clinic nurse ward ill illness sick fever flu cough cold pill pills tablet tablets
        antibiotic antibiotics medicine medication dose allergy allergic asthma vet operation surgery surgeon
        cast crutch crutches plaster sling limp limps pain ache aches therapy therapist physio treatment wound
        infection recovered healed cured discharged diagnosis pregnant injury injured sprain migraine""",
    "love": """single married engaged engagement wedding husband wife girlfriend boyfriend fiance fiancee partner
        dating dates divorce divorced divorcing ring bride groom couple marriage separated widow widower""",
    "money": """owe owes owed debt debts loan loans euro euros pound pounds dollar dollars cash savings credit
        instalment instalments mortgage repaid refund lend lent borrowed""",
    "travel": """car cars bus tram train trains bicycle bike bikes scooter motorbike van lorry taxi driving licence
        license drive drives driving plane flight flights airport ticket tickets visa seat cycle cycles
        cycling commute commutes commuting ferry boat canoe holiday holidays journey weekend trip""",
    "reading": """newspaper newspapers magazine magazines journal subscription subscribe subscribes subscriber
        novel novels reading library edition""",
    "computing": """server servers computer laptop software app apps browser database cloud tickets programme
        website repository deploy deployed migrate migrated update updated backup""",
    "politics": """mayor council councillor election elections elect elected vote voted votes minister president
        party parliament senator governor campaign candidate""",
    "rest": "bed sleep sleeps slept nap naps pyjamas pillow blanket",
}  # fmt: skip


def _by_stem() -> dict[str, frozenset[str]]:
    """The fields of each stem."""
    fields = dict[str, frozenset[str]]()
    for field, words in _WORDS.items():
        for stem in terms_of(words):
            fields[stem] = fields.get(stem, frozenset()) | {field}
    return fields


_FIELDS_OF: Final = _by_stem()


def fields_of(stems: Iterable[str]) -> frozenset[str]:
    """The fields of life that words speak of, given as their stems.  O(words).

    >>> sorted(fields_of(terms_of("I sold the taxi"))), sorted(fields_of(terms_of("I sold it")))
    (['travel', 'work'], [])
    """
    return frozenset[str]().union(*(_FIELDS_OF.get(stem, frozenset()) for stem in stems))
