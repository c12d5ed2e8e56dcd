"""The demo's words: the speakers, the words for the slots of the stories, and small talk."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Setting:
    """A conversation to compose: its speakers, its first day (year, month, day), and its stories
    by name.
    """

    name: str
    speakers: tuple[str, ...]
    first: tuple[int, int, int]
    stories: tuple[str, ...]


def _setting(name: str, speakers: str, first: tuple[int, int, int], stories: str) -> Setting:
    return Setting(name, tuple(speakers.split()), first, tuple(stories.split()))


SETTINGS = (
    _setting("friends", "Maren Tobias", (2023, 3, 6),
             "home pet cousin anniversary nuts flight run bike book tickets potter quiz loss"),
    _setting("flatmates", "Imani Leo Saskia", (2023, 9, 18),
             "boiler rota deposit pet job trip fish noise key potter van quiz"),
    _setting("colleagues", "Priya Jonas Mei Rafael", (2024, 1, 15),
             "ledger release branches retry staging importer port minutes knee run loss kitchen book"),
    _setting("siblings", "Hannah Elias", (2024, 4, 22),
             "party attic baby potter quiz calls home soup tickets key bike van book"),
    _setting("choir", "Odile Kwame Freya", (2024, 10, 7),
             "solo venue scores fish trip baby knee noise run nuts soup tickets calls"),
    _setting("allotment", "Bashir Ingrid Tom Lucia", (2025, 3, 31),
             "seeds water fox van flight quiz potter layoff bike kitchen calls anniversary job tickets"),
    _setting("neighbours", "Agnes Pavel Rui", (2023, 6, 12),
             "home pet kitchen van key baby soup potter fish calls quiz trip nuts"),
    _setting("readers", "Thandi Oskar Lotte Femi", (2024, 2, 26),
             "book tickets quiz anniversary job nuts trip potter cousin kitchen flight calls noise"),
    _setting("runners", "Mikael Adaeze", (2024, 8, 5),
             "run knee bike soup layoff fish tickets quiz potter calls book van nuts"),
    _setting("cousins", "Joana Piotr Selma", (2025, 1, 13),
             "cousin home job baby trip key fish anniversary flight run potter quiz nuts"),
)  # fmt: skip

# Words of one kind are drawn without replacement inside a conversation, so two stories never share
# one by accident.
SLOTS: dict[str, tuple[str, ...]] = {
    "friend": ("Nadia", "Viktor", "Amara", "Sven", "Yusuf", "Clara", "Dario", "Greta", "Kofi",
               "Lene", "Mateo", "Noor", "Ruben", "Salma", "Wanda"),
    "mother": ("Rosa", "Ines", "Petra", "Maud"),
    "elder": ("Albert", "Ignatius", "Cornelius"),
    "girl": ("Juno", "Marguerite", "Isla", "Ottilie"),
    # All towns are by the sea: people swim and eat eel there.
    "town": ("Bergen", "Porto", "Trieste", "Galway", "Aarhus", "Whitby", "Cadiz", "Rostock",
             "Gdynia", "Oban", "Split", "Bari", "Genoa"),
    "street": ("Linden Street", "Mill Lane", "Harbour Row", "Quarry Road", "Canal Walk",
               "Chapel Hill", "Weaver Square", "Tanner's Yard"),
    "company": ("Norrland Optics", "Halden Insurance", "Bright Fern Foods", "Castor & Vale",
                "Pelican Freight", "Ostwind Energy"),
    "breed": ("A wire-haired dachshund", "Half spaniel, half question mark",
              "A greyhound with one ear", "An elderly beagle"),
    "pet": ("Biscuit", "Admiral", "Pickles", "Comrade"),
    "goods": ("paper clips", "hydraulic oil", "office chairs", "cardboard"),
    "sight": ("lighthouse", "salt works", "old observatory", "tram museum"),
    "book": ("The Salt Ledger", "A House for Wolves", "Nine Quiet Rooms",
             "The Cartographer's Aunt"),
    "band": ("Velvet Turnip", "The Late Trams", "Glass Herons", "Owls of Leith"),
    "code": ("KX4-7719", "PB9-0362", "TR2-5581", "QM7-1940"),
    "instrument": ("glockenspiel", "musical saw", "clarinet", "mandolin", "bassoon", "zither"),
    "colour": ("Poppy red", "Mustard yellow", "Sea green", "Apricot", "Cornflower blue", "Plum"),
    "fruit": ("grapefruit", "melon", "quince"),
    "plant": ("fern", "aloe", "rubber plant", "geranium", "cactus", "ivy"),
    "km": ("7", "9", "11", "12", "14", "16"),
    "asked": ("3,400", "2,900", "2,600"),
    "paid": ("2,150", "1,850", "1,300"),
    "loot": ("a bicycle bell", "one blue clog", "a wooden spoon"),
    "swap": ("a pony", "two beehives", "a church organ", "an outboard motor", "a tuba",
             "half a boat"),
    "steps": ("311", "274", "408"),
    "game": ("gin rummy", "liar's dice", "dominoes"),
    "pub": ("Crooked Billet", "Blue Anchor", "Three Herrings", "Green Dragon"),
    "spice": ("cumin", "smoked paprika", "sumac", "caraway"),
    "month": ("November", "February", "June", "August", "October"),
    "weight": ("2.6", "2.9", "3.1"),
    "weekday": ("Monday", "Tuesday", "Thursday", "Friday", "Sunday"),
    "fn": ("merge_rows()", "fold_entries()", "match_postings()"),
    "file": ("ledger_sync.py", "gateway_config.toml", "posting_queue.py", "client_settings.yaml"),
    "rps": ("1,850", "2,300", "3,120"),
    "version": ("4.2.0", "5.0.1", "3.9.4"),
    "ticket": ("HEB-431", "OPS-88", "LED-207"),
    "port": ("9187", "8443", "7070"),
    "ext": ("214", "337", "561"),
    "loaves": ("six", "nine", "fourteen"),
    "cake": ("lemon and poppy seed", "black cherry", "walnut and coffee"),
    "composer": ("Haydn", "Fauré", "Purcell"),
    "church": ("church of St Anne", "old garrison church", "chapel by the weir"),
    "hall": ("school gym", "town hall", "fire station"),
    "veg": ("leeks", "broad beans", "kohlrabi"),
    "days": ("ten", "fourteen", "twenty-one"),
    "plot": ("4", "7", "12"),
}  # fmt: skip

OPENINGS = (
    "Hello, hello.", "Are you awake?", "Anyone there?", "Hello from a very crowded bus.",
    "All well?", "Knock knock.", "Right, I'm back.",
    "I have tea and five minutes.", "You would not believe this queue.", "Hey, long time!",
    "Testing, testing.", "So. Where were we?",
    "It's me again.", "Hi! Is this a bad moment?", "Good, you're online.", "Happy {day}!",
    "Guess who overslept.", "I survived {day}. Just.",
)  # fmt: skip
REPLIES = (
    "Hi!", "Here.", "Present, more or less.", "Go on.", "Hello you.", "Never a bad moment.",
    "Just putting the kettle on.", "What's new?", "Hey hey.",
    "Barely awake. Talk.", "All ears.", "Two minutes, then I'm yours.", "Hello! Sorry, cooking.",
    "Good timing.", "Still alive here.",
    "Yes, yes, here I am.",
)  # fmt: skip
CLOSINGS = (
    "Have to run. Talk soon!", "Right, back to the laundry.", "My stop. Bye!",
    "Battery at two percent, goodbye", "Take care.", "To be continued.",
    "Off to work, wish me luck.", "Dinner's burning, bye!", "See you at the weekend.",
    "Over and out.", "Okay, shoes on. Later!", "Bye, all.",
    "Must dash.", "Until tomorrow.", "Say hi to everyone from me.", "Hugs!",
    "I'll write later, promise.",
)  # fmt: skip
NOISE = (
    "haha", "ok", "Ha!", "hm", "lol", "Typical.", "Noted.", "wait, doorbell", "true", "Oh no.",
    "ok ok ok", "one sec", "back", "No way.", "Right?",
    "Fair enough.", "same", "Anyway.", "hahaha", "Mhm.", "+1", "yes!", "hm, maybe",
    "sorry, wrong chat",
)  # fmt: skip
SMALL_TALK = (
    ("Is it raining at your end, too?", "Sideways."),
    ("What are you having for dinner?", "Toast, with ambition."),
    ("Has anyone seen my umbrella?", "Which of the five?"),
    ("I dreamt of that bus driver again.", "The one who whistles? Lucky you."),
    (
        "My phone has updated itself and now everything is purple.",
        "Mine went to the clouds and never came back.",
    ),
    ("There's a pigeon in the stairwell.", "Don't make eye contact."),
    ("I bought a hat.", "Photograph or it didn't happen."),
    ("Does milk go off if you only look at it?", "Yours does."),
    ("Why is everything closed on the one day I'm free?", "It's a conspiracy of bakers."),
    ("I can't find the other sock.", "It's with my other glove."),
    ("Did you watch the late film?", "I watched the first four minutes, very thoroughly."),
    ("The lift is stuck again.", "Stairs are good for the soul."),
    ("I've had a song in my head since Monday.", "Please don't say which."),
    ("Someone on this train is eating an egg.", "Change carriages. Change trains."),
    ("Do you think moss is happy?", "I think moss is fine."),
    ("Coffee machine's broken.", "Then so am I."),
    ("I've been on hold for forty minutes.", "Is it at least good music?"),
    ("The clocks change this weekend, don't they?", "I refuse."),
    ("My horoscope says to avoid ladders.", "Mine says to avoid you."),
    ("It smells of cut grass here.", "It smells of bins here."),
)
