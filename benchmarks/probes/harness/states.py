"""Series of states: what is told one after the other of one thing, and questions for the newest and
for a former state.

Composed for it.  TUNED were looked at while the rules of `present_state` were written; HELD were
asked once, at the end.  Between a series stand `OTHERS`, of which some share words with it.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Series(NamedTuple):
    """States of one thing.

    told    (speaker, text) of each state, oldest first
    newest  a question that the last one answers
    former  a question that one of the others answers; "" for none
    """

    told: tuple[tuple[str, str], ...]
    newest: str
    former: str = ""


def _of(speaker: str, *texts: str) -> tuple[tuple[str, str], ...]:
    return tuple((speaker, text) for text in texts)


TUNED: Final = (
    Series(_of("Ada", "The rent of the studio is 640 a month.",
               "The rent of the studio is 700 a month.", "The rent of the studio is 725 a month."),
           "How much is the rent of the studio?", "How much was the rent of the studio before?"),
    Series(_of("Ada", "I work at the harbour office.", "I got a new job at the observatory.",
               "I work at a boatyard now."),
           "Where do I work?", "Where did I work before?"),
    Series(_of("Bo", "The wifi password is plumtree11.", "The wifi password is quince42.",
               "The wifi password is medlar7."),
           "What's the wifi password?", "What was the previous wifi password?"),
    Series(_of("Ada", "The back door is locked.", "The back door is open.",
               "The back door is locked."), "Is the back door locked right now?"),
    Series(_of("Bo", "The heating in the office is off.", "The heating in the office is on."),
           "Is the heating in the office off?",),
    Series(_of("Ada", "Priya leads the map team.", "Tomas leads the map team.",
               "Yuki leads the map team."), "Who leads the map team these days?",
           "Who led the map team originally?"),
    Series(_of("Bo", "Our cat is called Pickle.", "We call our cat Mustard now."),
           "What is our cat called now?", "What was our cat called before?"),
    Series(_of("Ada", "Ticket 812 is open.", "Ticket 812 is in progress.", "Ticket 812 is closed."),
           "What is the status of ticket 812?",
           "What was the earlier status of ticket 812?"),
    Series(_of("Bo", "My resting pulse is 71.", "My resting pulse is 66.",
               "My resting pulse is 63."), "What is my most recent resting pulse?",
           "What was my resting pulse at first?"),
    Series(_of("Ada", "I am vegetarian.", "I am not vegetarian any more."), "Am I vegetarian?"),
    Series(_of("Bo", "The picnic is planned for Saturday.", "The picnic is planned for Sunday.",
               "The picnic is cancelled."), "When is the picnic?"),
    Series(_of("Ada", "We have three hens.", "We have five hens.", "We have four hens."),
           "How many hens do we have?",
           "How many hens did we have in the beginning?"),
    Series(_of("Bo", "I live in Ghent.", "I moved to Bruges.", "I moved back to Ghent."),
           "Where does Bo live now?", "Where did Bo live before?"),
    Series(_of("Ada", "Server atlas runs version 3.1.", "Server atlas runs version 3.2.",
               "Server atlas runs version 4.0."),
           "Which version does server atlas run?",
           "Which version did server atlas run previously?"),
    Series(_of("Bo", "I can drive you to the airport.", "I can't drive you to the airport.",
               "I can drive you to the airport after all."),
           "Can I drive you to the airport?"),
    Series(_of("Ada", "The parcel from Lund is in transit.",
               "The parcel from Lund has arrived at the depot.",
               "The parcel from Lund was delivered."),
           "Where is the parcel from Lund?"),
    Series(_of("Bo", "Nina is my dentist.", "Omar is my dentist."),
           "Who is my dentist at the moment?", "Who was my dentist formerly?"),
    Series(_of("Ada", "The deploy at noon failed.", "The deploy at noon succeeded.",
               "The deploy at noon failed."), "Did the latest deploy succeed?"),
    Series(_of("Bo", "I take 20 mg of the drops.", "I take 30 mg of the drops.",
               "I take 10 mg of the drops."), "How many mg of the drops do I take?",
           "How many mg of the drops did I take first?"),
)  # fmt: skip
HELD: Final = (
    Series(_of("Bo", "A ticket for the ferry costs 14 crowns.",
               "A ticket for the ferry costs 17 crowns."), "What does a ticket for the ferry cost?",
           "What did a ticket for the ferry cost earlier?"),
    Series(_of("Ada", "The alarm code of the shed is 2210.", "The alarm code of the shed is 9034.",
               "The alarm code of the shed is 5567."),
           "What is the alarm code of the shed?", "What was the former alarm code of the shed?"),
    Series(_of("Bo", "I am a nurse.", "I am a paramedic.", "I am a teacher."),
           "What is my job now?"),
    Series(_of("Ada", "Our standup is at 9:15.", "Our standup is at 10:00.",
               "Our standup is at 9:45."), "At what time is our standup?",
           "At what time was our standup before?"),
    Series(_of("Bo", "The bridge is closed to cars.", "The bridge is open to cars.",
               "The bridge is closed to cars."), "Is the bridge open to cars?"),
    Series(_of("Ada", "Lena rents the room upstairs.", "Marek rents the room upstairs."),
           "Who rents the room upstairs now?",
           "Who rented the room upstairs previously?"),
    Series(_of("Bo", "My phone number is 555 0142.", "My phone number is 555 0199."),
           "What is my phone number?",
           "What was my old phone number before?"),
    Series(_of("Ada", "Dark mode: enabled", "Dark mode: disabled", "Dark mode: enabled"),
           "Is dark mode enabled?"),
    Series(_of("Bo", "Invoice 77 is unpaid.", "Invoice 77 is paid."), "Is invoice 77 paid?"),
    Series(_of("Ada", "I am learning Welsh on Mondays.", "I gave up Welsh."),
           "Am I still learning Welsh?"),
    Series(_of("Bo", "The tide gauge shows 2.1 m.", "The tide gauge shows 2.6 m.",
               "The tide gauge shows 1.9 m."),
           "What did the tide gauge show the last time?", "What did the tide gauge show first?"),
    Series(_of("Ada", "The choir meets in the chapel.", "The choir meets in the town hall.",
               "The choir meets in the school."),
           "Where does the choir meet?", "Where did the choir meet originally?"),
    Series(_of("Bo", "Ravi has the spare key.", "Signe has the spare key.",
               "Ravi has the spare key."), "Who has the spare key?"),
    Series(_of("Ada", "My daughter wants to be a pilot.", "My daughter wants to be a vet."),
           "What does my daughter want to be?",
           "What did my daughter want to be before?"),
    Series(_of("Bo", "We meet Cleo on Thursday.", "We meet Cleo on Friday instead."),
           "When do we meet Cleo?"),
    Series(_of("Ada", "The sourdough needs 4 hours to rise.",
               "The sourdough needs 6 hours to rise."),
               "How long does the sourdough need to rise?"),
    Series(_of("Bo", "I never eat mussels.", "I eat mussels now."), "Do I eat mussels?"),
    Series(_of("Ada", "The chair of the club is Mr Falk.", "The chair of the club is Ms Duarte."),
           "Who is the chair of the club currently?",
           "Who was the chair of the club in the beginning?"),
)  # fmt: skip
OTHERS: Final = (
    "The office printer is out of paper.", "We painted the studio door blue.",
    "I read about hens in a magazine.",
    "A parcel of seeds came for the club.", "The airport café sells good soup.",
    "Nobody fed the cat at noon.",
    "The map on the wall is old.", "A ferry passed the lighthouse.",
    "The dentist next door has a parrot.",
    "We watched a film about pilots.", "My shoes are wet.", "The shed smells of paint.",
    "The school has a new roof.",
    "I lost a key under the snow.", "There is a bridge in the painting.",
    "The teacher told a joke.", "Two nurses sang on the bus.",
    "The chapel bell is cracked.", "Somebody left a phone in the tram.",
    "Mussels grow on the pier.", "I bought bread and olives.",
    "The version with strings sounds better.", "The server at the inn was friendly.",
    "We counted crowns in the museum.",
    "A ticket lay on the floor.", "The harbour froze in January.", "I boiled the potatoes.",
    "The drops of rain were huge.",
    "The picnic basket is in the attic.", "Our neighbour keeps bees.")  # fmt: skip
