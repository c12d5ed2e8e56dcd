"""Sentences to plant, written for this project without looking at the rules that read them:
changes, and what only looks like one; long turns.

The first group is halved: its even sentences calibrate the confidences, and the rules were mended
while the first plantings of both halves were looked at.  The second and the third group were
written later, before the rules or a result were read, about other subjects.  The fourth and the
fifth are changes only, more of them and as people speak.  The reading of changes was developed on
the first four; the fifth is held out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sentences:
    """A group of sentences.

    changes  (earlier, later, whether the later one makes the earlier one outdated); slots of a kind
             get different words
    long     turns, each about one matter, however it wanders
    again    ways to say a text again
    words    kind of slot -> words for it
    """

    changes: tuple[tuple[str, str, bool], ...]
    long: tuple[str, ...]
    again: tuple[str, ...]
    words: Mapping[str, tuple[str, ...]]


# --- first group ----------------------------------------------------------------------------------
CHANGES: tuple[tuple[str, str, bool], ...] = (
    (
        "I live in {town} now, two streets from the harbour.",
        "I moved to {town2} last week and I am still looking for the kettle.",
        True,
    ),
    ("My rent is {n} a month.", "My rent went up, it is {n2} a month now.", True),
    ("I work at {company}.", "I left {company} and now I work at {company2}.", True),
    ("My favourite colour is green.", "My favourite colour is no longer green, it is blue.", True),
    ("I am engaged to {friend}.", "I am no longer engaged to {friend}, we called it off.", True),
    ("My phone number ends in {n}.", "My phone number has changed, it ends in {n2} now.", True),
    ("The meeting is on Monday.", "The meeting was moved, it is on Thursday now.", True),
    ("I drive an old van.", "I sold the van, I drive an electric car now.", True),
    (
        "I am allergic to peanuts.",
        "It turns out that I am not allergic to peanuts after all.",
        True,
    ),
    ("I have two cats.", "We took in a stray, so I have three cats now.", True),
    ("My doctor is {friend}.", "I have a new doctor, her name is {friend2}.", True),
    (
        "I run {n} metres before breakfast.",
        "I don't run before breakfast any more, my knee hurts.",
        True,
    ),
    ("I like tea with my breakfast.", "I like coffee after lunch.", False),
    (
        "I work at {company}, in the cellar.",
        "My brother works at {company2}, on the top floor.",
        False,
    ),
    ("My rent is {n} a month, heating included.", "My sister's rent is {n2} a month.", False),
    ("I moved to {town} in the spring.", "Before that I lived in {town2} for years.", False),
    ("I have a dog.", "I have a cat, too.", False),
    ("I am married to {friend}.", "{friend2} asked whether I am married.", False),
    (
        "My favourite film is the one about the lighthouse.",
        "My favourite book is the one about the ferry.",
        False,
    ),
    (
        "My office is in {town}.",
        "My office will be in {town2} next year, if they find a house.",
        False,
    ),
    ("I go swimming on Mondays.", "I go dancing on Tuesdays.", False),
    ("I studied in {town}.", "I nearly studied in {town2} once, long ago.", False),
    ("I am going to {town} in June.", "I am going to {town2} in August.", False),
    ("My mother lives in {town}.", "My aunt lives in {town2} now.", False),
)
LONG: tuple[str, ...] = (
    "The oven died in the middle of the roast. I called the man who repaired it in the spring. He wanted the serial number, and the "
    "serial number is on the back, behind a cupboard that my grandfather screwed to the wall. We ate bread and radishes.",
    "Our train stood in a field for two hours. A woman shared her plums with the whole carriage. Someone played cards on a suitcase. "
    "When we finally arrived, the station was locked and we climbed over a fence.",
    "I finished the jumper. It took from October to now because I had to undo the left sleeve three times. The wool is from the market, "
    "and it smells of sheep when it rains. It fits nobody in the family.",
    "The neighbours are building a wall. First there was a string, then a trench, and on Saturday a lorry with bricks. Nobody asked us, "
    "and the plan at the town hall shows a hedge. I wrote a polite letter.",
    "My swimming lesson was a comedy. The teacher is nineteen and calls everyone champion. I swallowed half the pool. Next week we "
    "learn to dive, and I have already bought goggles that pinch my nose.",
    "The bees moved into the chimney. We heard them before we saw them, a hum behind the fireplace. A beekeeper came with a ladder and "
    "a white box. She says the queen is young and in a good mood.",
    "I gave a speech at the funeral. My notes got wet on the way, so I spoke about the fishing trips instead. His daughter laughed at "
    "the story of the boot. Afterwards an old colleague hugged me without a word.",
    "The exam is over. There were four questions, and I had prepared for the other six. I drew a picture of the valve because the word "
    "would not come. The results hang out on the first of the month.",
    "We painted the hall at night because of the heat. The yellow looked orange under the lamp, and in the morning it was the colour of "
    "mustard. There is paint on the dog. We keep it, since the tin was expensive.",
    "The choir bus broke down on the mountain road. The driver tied something with a shoelace. We sang in the ditch for an hour, and a "
    "farmer brought milk. I have never sung better.",
    "My printer refuses to print black. It says that the cyan is empty, although the letter has no cyan in it. I bought the cartridge, "
    "and now it wants magenta. I copied the letter out by hand.",
    "The hens have stopped laying. I changed their food, I put in a lamp, I even played them music. My neighbour says it is the moult, "
    "and that patience costs nothing. I am buying eggs in secret.",
)
AGAIN: tuple[str, ...] = (
    "{text}",
    "As I said: {text}",
    "I may have told you already: {text}",
    "{text} I think I mentioned it.",
    "Once more: {text}",
)
WORDS: dict[str, tuple[str, ...]] = {
    "town": ("Lisbon", "Turku", "Ghent", "Leeds", "Bremen", "Arles"),
    "company": ("Harrow Mills", "Silverline", "Oakes and Daughters", "Nordbahn"),
    "friend": ("Beatrix", "Omar", "Ludmila", "Jens"),
    "n": ("640", "715", "890", "930", "1,150"),
}

# --- second group ---------------------------------------------------------------------------------
SECOND = Sentences(
    changes=(
        (
            "Our choir rehearses in the {hall}.",
            "The roof leaks, so the choir rehearses in the {hall2} from now on.",
            True,
        ),
        (
            "I am learning {language} in the evenings.",
            "I gave up {language}, the grammar beat me.",
            True,
        ),
        (
            "{name} is our goalkeeper.",
            "{name} has stopped playing in goal, {name2} is our goalkeeper these days.",
            True,
        ),
        (
            "The bakery on the corner opens at six.",
            "The bakery on the corner opens at seven since the old man retired.",
            True,
        ),
        (
            "I take the pills twice a day.",
            "They cut the pills down, I only take one at night.",
            True,
        ),
        ("Our son still sleeps in our room.", "Our son has his own room at last.", True),
        (
            "My car insurance is with {firm}.",
            "I switched my car insurance to {firm2}, they were cheaper.",
            True,
        ),
        (
            "I wear my hair down to the shoulders.",
            "I had my hair cut off, it is as short as a brush now.",
            True,
        ),
        ("Grandpa is in hospital.", "Grandpa came home from hospital yesterday.", True),
        (
            "The piano is for sale, I want {price} for it.",
            "Somebody bought the piano, they fetched it this morning.",
            True,
        ),
        (
            "My flight leaves at {hour}.",
            "The airline wrote, my flight leaves at {hour2} instead.",
            True,
        ),
        ("I have never eaten an oyster.", "Guess what, I ate my first oyster on Sunday.", True),
        (
            "I play the {instrument} in a wind band.",
            "My daughter plays the {instrument2} at school.",
            False,
        ),
        (
            "The swimming pool closes at eight.",
            "The sauna no longer closes at eight, it stays open until ten.",
            False,
        ),
        (
            "I gave blood on Friday.",
            "I gave blood in the winter, too, if I remember rightly.",
            False,
        ),
        ("Our tomatoes are already red.", "Our cucumbers are still tiny.", False),
        ("My bicycle has a basket in front.", "{name}'s bicycle has no basket.", False),
        (
            "We keep the skis in the attic.",
            "We might move to a flat without an attic one day.",
            False,
        ),
        ("I sing alto.", "I used to sing soprano when I was at school.", False),
        (
            "The lift in our house is out of order.",
            "The lift at the station is out of order as well.",
            False,
        ),
        ("I owe {name} {price} for the tickets.", "I owe {name2} {price2} for the petrol.", False),
        ("My grandson turned three.", "My granddaughter turns six next week.", False),
        (
            "I am reading a thick novel about whalers.",
            "In bed I listen to a novel about a spy.",
            False,
        ),
        ("{name} teaches my boy to skate.", "Did {name2} ever teach anybody to skate?", False),
    ),
    long=(
        "The tent leaked on the very first night. We had pitched it in a hollow, because it looked cosy, and by two in the morning the "
        "mattresses floated. My wife laughed until she hiccuped. We slept in the car with our feet on the steering wheel.",
        "I had my wisdom tooth out on Tuesday. The nurse hummed all the time, and the drill sounded like a moped. Since then I have lived on "
        "soup and ice cream. My cheek looks as if I were hiding an apple.",
        "The school play was about pirates. My nephew had one line and shouted it twice. The cardboard ship fell over in the storm, and the "
        "headmaster held up the mast for the rest of the evening. There was lemonade afterwards.",
        "A fox has found our bins. It comes at about four, and it is not even shy. I put a brick on the lid, and it pushed the brick off. "
        "Yesterday there were chicken bones all over the drive, and the postman slipped on one.",
        "I tried to bake the cake from my great-aunt's notebook. She writes a knob of this and a cup of that, and nobody knows which cup. The "
        "first one came out flat, the second burned. The third was so good that I danced in the kitchen.",
        "We buried the time capsule under the oak. The children put in a yo-yo, a bus ticket and a letter to the future. Somebody will dig "
        "it up in fifty years. I only hope that the tin does not rust.",
        "The interview went strangely. There were five people behind a table, and one of them was eating grapes. They asked what animal I "
        "would be. I said a heron, and then nobody spoke for a while.",
        "My uncle restores a steam engine. He has worked on it for eleven years, and every screw has to be made by hand. On Saturday it "
        "whistled for the first time. The whole village came out to look, and he wiped his eyes with an oily rag.",
        "The wedding was in a barn. Swallows flew in and out over the tables, and the best man got hay fever in the middle of his toast. "
        "They danced in rubber boots. At midnight everyone was given a sausage.",
        "I lost my glasses at the beach. I had put them into a shoe so that they would be safe, and a wave took the shoe. A boy found it a "
        "hundred metres further on. One lens is scratched, but I can read the menu again.",
        "The printer's ink got onto the christening dress. I tried milk, then vinegar, then a paste that the chemist mixed for me. In the end "
        "we sewed a small flower over the stain. It looks as if it had always been there.",
        "There was a power cut during the quiz. We lit the candles from the birthday drawer and went on by shouting. Table six won with a "
        "question about moons. When the light came back, half of the sandwiches were gone.",
        "My physiotherapist makes me walk on a rope. It lies on the floor, so I cannot fall far, and still I wobble like a calf. She counts "
        "aloud and never smiles. After three weeks the knee bends almost as far as the other one.",
        "We drove to see the northern lights. The forecast was perfect, and we sat on a frozen jetty with two flasks of cocoa. Clouds came "
        "at eleven. At half past three a green ribbon showed for a minute, and my camera was empty.",
        "I am digitising my father's slides. There are four thousand, and most of them show waterfalls. In a box marked with a cross I found "
        "him on a motorbike with a woman whom nobody knows. Mother says that she has nothing to say about it.",
        "The parrot has learned the sound of the microwave. It beeps, and everyone gets up. The vet says that it is bored and needs puzzles. "
        "I built one out of egg cartons, which it solved and ate within an hour.",
        "Our street held a flea market. I sold the lamp that I have hated for twenty years, and the man hugged it. A girl bought all my "
        "buttons. By the evening I had earned enough for a pizza, and I had bought another lamp.",
        "The marathon nearly finished me. Until the bridge I felt like a bird, and then my legs turned to wood. A man dressed as a carrot "
        "overtook me. I crossed the line after five hours, and they had run out of medals.",
        "I was on jury duty all week. We sat in a room without windows and ate biscuits from a tin. I am not allowed to talk about the case. "
        "The foreman fell asleep twice, and in the end we all agreed within ten minutes.",
        "The hedgehog in our shed woke up too early. It weighed next to nothing, so I gave it cat food and a box with leaves. The lady from "
        "the rescue centre comes on Thursdays to put it on the scales. It has put on sixty grams.",
        "We tried to get the sofa up the stairs. It went round the first bend and stuck on the second, with me above and my father-in-law "
        "below. A neighbour took off the legs. The banister has a dent, and nobody has sat on it without thinking of that day.",
        "The pottery course is good for my nerves. I have made seven bowls, and all of them lean to the left. The teacher calls it a style. "
        "The glaze was supposed to be blue, but the kiln had other ideas.",
        "Our ferry turned back in the middle of the crossing. The captain spoke of a swell, and the cups slid off the counter. A school class "
        "sang to drown out the groans. We spent the night in the terminal on benches that were bolted to the floor.",
        "I joined the dawn walk of the birdwatchers. They whisper even in the car park. We heard a bittern, or perhaps a pump, opinions "
        "differed. I had the wrong shoes, and a gentleman with a thermos lent me his spare socks.",
    ),
    again=(
        "{text}",
        "Did I tell you? {text}",
        "{text} But you know that already.",
        "Like I said the other day: {text}",
        "It bears repeating: {text}",
        "{text} Sorry if I am repeating myself.",
        "Stop me if you have heard this one. {text}",
        "{text} I keep telling everyone.",
    ),
    words={
        "hall": ("town hall", "old chapel", "school gym", "fire station", "library"),
        "language": ("Hungarian", "Welsh", "Japanese", "Finnish", "Arabic"),
        "name": ("Tobias", "Gwen", "Farida", "Milo", "Ines", "Rasmus"),
        "firm": ("Albion Mutual", "Kestrel", "Westway Direct", "Pilgrim"),
        "price": ("45", "80", "125", "260", "310"),
        "hour": ("7.15", "9.40", "13.05", "16.30", "21.55"),
        "instrument": ("clarinet", "bassoon", "tuba", "oboe", "trombone"),
    },
)

# --- third group ----------------------------------------------------------------------------------
THIRD = Sentences(
    changes=(
        (
            "My passport is valid until {year}.",
            "I got a new passport, it is good until {year2}.",
            True,
        ),
        (
            "I sit next to {name} in the open-plan office.",
            "They rearranged the desks, I sit by the window with {name2} now.",
            True,
        ),
        (
            "The washing machine is broken.",
            "The washing machine runs again, it was only a coin in the pump.",
            True,
        ),
        ("We are vegetarians at home.", "We eat meat again at home, mostly on Sundays.", True),
        (
            "I am the treasurer of the allotment club.",
            "I stepped down as treasurer of the allotment club.",
            True,
        ),
        (
            "My cousin is expecting a baby.",
            "My cousin has had her baby, a girl of seven pounds.",
            True,
        ),
        (
            "Our Wi-Fi password is {password}.",
            "I changed the Wi-Fi password, it is {password2} today.",
            True,
        ),
        (
            "I take the number {line} bus to the clinic.",
            "The number {line} doesn't stop at the clinic any longer, so I take the {line2}.",
            True,
        ),
        (
            "The parcel from {shop} has not arrived.",
            "The parcel from {shop} was on the doorstep this evening.",
            True,
        ),
        (
            "My landlord wants to sell the house.",
            "My landlord changed his mind, he isn't selling the house.",
            True,
        ),
        ("I smoke ten cigarettes a day.", "I have not touched a cigarette for a month.", True),
        (
            "Our best bowler is {name}.",
            "{name2} has overtaken {name}, she is our best bowler now.",
            True,
        ),
        ("I take sugar in my porridge.", "I take salt on my eggs.", False),
        (
            "The cinema on {street} shows old westerns.",
            "The cinema on {street2} has been turned into a gym.",
            False,
        ),
        ("{name} is my godmother.", "{name2} is godmother to my sister's twins.", False),
        ("I broke my left wrist skiing.", "I broke my right ankle when I was nine.", False),
        ("My savings are with {bank}.", "My husband moved his savings to {bank2}.", False),
        ("I made twelve jars of strawberry jam.", "I made nine jars of plum jam.", False),
        ("Our kitchen is yellow.", "I would love a blue kitchen, but it stays as it is.", False),
        ("The nursery has a place for {name}.", "The nursery no longer has a sandpit.", False),
        ("I am afraid of spiders.", "My flatmate is not afraid of spiders any more.", False),
        (
            "I want to climb {mountain} this summer.",
            "I climbed {mountain2} five summers ago.",
            False,
        ),
        ("The tap in the bathroom drips.", "The tap in the cellar used to drip.", False),
        (
            "I volunteer at the animal shelter on Wednesdays.",
            "I volunteer at the food bank on Saturdays.",
            False,
        ),
    ),
    long=(
        "The removal men dropped the grandfather clock. It had come through two wars and a flood. The glass is in splinters, the pendulum is "
        "bent, and it strikes seventeen. They offered me a voucher.",
        "My first day as a crossing guard was wet. The sign weighs more than it looks, and the whistle froze to my lip. A girl in a yellow "
        "coat saluted me. Four lorries did not stop, and I wrote down their plates with a dead pen.",
        "We went mushroom picking with an expert. He sniffs each one and throws most of them away. My basket held nine when we started "
        "for home, and he left me three. They tasted of butter and forest.",
        "The roof of the greenhouse blew off. I found one pane in the pond and another in the churchyard. The seedlings stood there as if "
        "nothing had happened. I have covered them with the shower curtain until the glazier has time.",
        "I spoke on the local radio. The studio is the size of a wardrobe, and the presenter drinks tea from a jug. I forgot the name of my "
        "own association. My aunt recorded it and plays it to her visitors.",
        "Our dachshund swallowed a sock. We waited, we fed it sauerkraut, we waited. The X-ray showed a shape like a question mark. On the "
        "third day the matter settled itself on the carpet of the waiting room.",
        "The escape room was my brother's birthday present. There were six of us in a submarine made of plywood. I found the key in a loaf, "
        "and then I locked it in again. We got out with four seconds left, screaming.",
        "My tax return came back. I had written my shoe size into a box for children. The officer was kind about it and sent a leaflet in "
        "large print. I have until the end of the month to explain that I have no forty-one children.",
        "The sourdough has a name, which is Gerald. It doubled overnight and lifted the plate. My housemates complain about the smell, but "
        "they eat the crusts. When I travel, it stays with the lady downstairs.",
        "The canal was drained for repairs. You could see everything: trolleys, a safe, three bicycles and a marble foot. Men in waders "
        "carried the carp away in tubs. The whole town stood on the bridge and pointed.",
        "I knocked over the vase in the museum. It was not in the exhibition, it belonged to the ticket desk, and still an alarm went off. "
        "Two guards walked me to a small room. They gave me a plaster and a cup of coffee.",
        "The gospel concert lasted three hours. The alto next to the pillar could have raised the dead. We clapped on the wrong beat until "
        "an old man showed us how. My palms were red the next morning.",
        "My flat was burgled while I was at the laundry. They took the coins from the jar and left the television. They also fed the fish. "
        "The policewoman dusted everything with black powder, and I am still wiping.",
        "We are rehearsing for the medieval fair. My helmet is a bucket with a slit, and I can only see knees. The blacksmith brought real "
        "swords, so the duel goes very slowly. The audience will have to imagine the horses.",
        "The sledge run was pure ice. My son wanted to steer, and we missed the gate by a metre. We came to rest in a snowdrift with our "
        "boots pointing upwards. He wanted to go again at once, and I wanted a chair.",
        "The auction was over in a minute. I had set myself a limit for the sea chest, and a man with a feather in his hat went past it "
        "without blinking. I bid on the next lot out of anger. It was a stuffed pike.",
        "Our quarantine on the ship lasted nine days. The meals hung in a bag on the door. We played chess with the cabin opposite by "
        "holding up signs. On the last evening everyone waved pillowcases from the balconies.",
        "My eye test went badly. I read the bottom line with great confidence, and every letter was wrong. The optician asked whether I "
        "drove here. I am getting lenses as thick as the base of a bottle.",
        "The compost heap is steaming. I put my arm into it and it was as hot as a bath. The book says to turn it every fortnight, and my "
        "back says otherwise. A slow-worm has moved in at the bottom.",
        "The twins cut each other's hair. They used the scissors with the zigzag edge, behind the curtain, in complete silence. One has a "
        "fringe on the side, the other has a path down the middle. The photograph for the school is on Friday.",
        "I waited for the plumber from eight until five. He rang once to ask for the house number and once to say that he could not find it. "
        "I stood in the road and waved a tea towel. He fixed the leak in two minutes, and then he told me about his divorce.",
        "We watched the eclipse from the car park. Somebody had welding goggles and passed them round. The birds stopped, the lamps came on, "
        "and a dog lay down. Nobody remembered afterwards who had shouted.",
        "The kayak turned over under the weir. I saw bubbles, then a heron, then bubbles again. My instructor fished me out by the collar "
        "like a kitten. The paddle must be in the sea by now.",
        "I read to the old people at the home on Mondays. They want crime stories, the bloodier the better. A lady of ninety-six always "
        "knows the murderer by page ten. When I mumble, they throw peppermints.",
    ),
    again=(
        "{text}",
        "Have I mentioned this? {text}",
        "To repeat what I said: {text}",
        "{text} I know, you have heard it before.",
        "You may remember: {text}",
        "{text} I said so last time.",
        "Again, because it matters to me: {text}",
        "{text} That is what I told you then.",
    ),
    words={
        "year": ("2027", "2029", "2031", "2033", "2034"),
        "name": ("Salome", "Kirsten", "Amina", "Dorothy", "Paola"),
        "password": ("plumtree", "anchovy", "zeppelin", "marmalade"),
        "line": ("4", "17", "38", "52", "109"),
        "shop": ("Bramble and Son", "Woolworks", "Tannhof", "Lantern Books"),
        "street": ("Mill Lane", "Bridge Street", "Abbey Road", "Orchard Row"),
        "bank": ("Fenwick Trust", "Castle Bank", "Meridian", "Sparbank"),
        "mountain": ("Snowdon", "Triglav", "the Zugspitze", "Ben Nevis"),
    },
)

# --- fourth group: the reading of changes was developed on it -------------------------------------
FOURTH = Sentences(
    changes=(
        (
            "The roof of the shed leaks.",
            "My cousin patched the shed roof, not a drop comes through.",
            True,
        ),
        (
            "I train for the triathlon three times a week.",
            "I've stopped training for the triathlon, the knee won't have it.",
            True,
        ),
        (
            "{name} looks after the church garden.",
            "{name2} looks after the church garden now that {name} has moved away.",
            True,
        ),
        (
            "The ferry costs {price} each way.",
            "The ferry has gone up, it is {price2} each way.",
            True,
        ),
        ("My sister isn't speaking to our mother.", "My sister and our mother have made up.", True),
        ("We heat with coal.", "We heat with pellets since the winter.", True),
        (
            "The boiler needs a new valve.",
            "The plumber fitted the new valve, so the boiler is fine.",
            True,
        ),
        ("I still owe the garage {price}.", "I paid the garage, so I owe them nothing.", True),
        ("Our street is closed to traffic.", "The street is open to traffic again.", True),
        (
            "I'm on the night shift.",
            "They've moved me from the night shift to the early one.",
            True,
        ),
        ("I don't eat fish.", "I've started eating fish, the doctor wanted me to.", True),
        (
            "The concert is sold out.",
            "They've released more tickets, the concert isn't sold out any more.",
            True,
        ),
        (
            "The course takes place in the {place}.",
            "The course now takes place in the {place2}.",
            True,
        ),
        (
            "My colleague {name} is on maternity leave.",
            "{name} is back from maternity leave.",
            True,
        ),
        (
            "I play chess with {name} on Sundays.",
            "{name} died, so nobody plays chess with me on Sundays.",
            True,
        ),
        (
            "The tree in front of the house is ill.",
            "The tree in front of the house was felled.",
            True,
        ),
        ("We've got one bathroom.", "We've put in a second bathroom.", True),
        ("The old mill stands empty.", "A family has moved into the old mill.", True),
        ("My laptop takes ages to start.", "I got a new laptop, it starts in no time.", True),
        ("The strike is still on.", "The strike ended at midnight.", True),
        ("I volunteer for the lifeboat.", "I retired from the lifeboat after twenty years.", True),
        ("Our dog limps.", "The vet took a thorn out and our dog doesn't limp any more.", True),
        ("My goal is to swim {n} lengths.", "I raised my goal, I want to swim {n2} lengths.", True),
        ("I've never been on a plane.", "I was on a plane for the first time last week.", True),
        ("The application is with the council.", "The council turned the application down.", True),
        ("My niece goes to nursery.", "My niece started school, nursery is over for her.", True),
        ("The lawn mower is at my neighbour's.", "My neighbour brought the lawn mower back.", True),
        (
            "I read the {paper} every morning.",
            "I cancelled the {paper}, I read the {paper2} instead.",
            True,
        ),
        ("Uncle Leo lives alone.", "Uncle Leo has a lodger at last.", True),
        ("The swimming lessons are full.", "There's space in the swimming lessons again.", True),
        ("Saturday is my day off.", "My day off has been changed to {day}.", True),
        ("The printer is out of toner.", "I put new toner into the printer.", True),
        ("The baby can't walk yet.", "The baby took her first steps, she walks.", True),
        ("My blood pressure is too high.", "My blood pressure is back to normal.", True),
        ("I'm still looking for a tenant.", "I found a tenant, she moves in on the first.", True),
        ("The band has no drummer.", "{name} joined the band as a drummer.", True),
        ("The roof of the barn is thatched.", "The roof of the chapel was tiled last year.", False),
        ("I train the under-tens.", "My son stopped training with the under-tens.", False),
        ("{name} looks after my rabbits.", "{name2} looks after my tortoise now.", False),
        (
            "The bus to the coast costs {price}.",
            "The train to the coast has gone up to {price2}.",
            False,
        ),
        ("My sister is a midwife.", "My sister-in-law is no longer a midwife.", False),
        ("We heat the bath with gas.", "The neighbours heat with solar power now.", False),
        ("The boiler is in the cellar.", "The plumber was here about the sink.", False),
        ("I paid {price} for the boots.", "I paid {price2} for the gloves.", False),
        ("Our street has lime trees.", "The street behind us is closed again.", False),
        (
            "I like the night shift.",
            "My friend was moved from the night shift to the early one.",
            False,
        ),
        ("I don't eat liver.", "The cat has started eating liver.", False),
        ("The concert was lovely.", "The play isn't sold out any more.", False),
        (
            "The yoga course takes place in the {place}.",
            "The cookery course now takes place in the {place2}.",
            False,
        ),
        ("My colleague {name} has a caravan.", "My colleague {name2} sold her caravan.", False),
        (
            "I play cards with {name} on Fridays.",
            "I play darts with {name2} on Tuesdays now.",
            False,
        ),
        (
            "The tree in front of the school is a chestnut.",
            "The tree in front of the bank was felled.",
            False,
        ),
        ("We've got a balcony.", "We've put in a second sink.", False),
        ("The old mill has a blue door.", "A family has moved into the old bakery.", False),
        ("My laptop is silver.", "My wife got a new laptop.", False),
        (
            "The strike at the docks is in its third week.",
            "The strike at the airport ended at midnight.",
            False,
        ),
        ("I watched the lifeboat go out.", "I watched the fire engine, too.", False),
        ("Our dog barks at the postman.", "Our dog doesn't bark at the milkman.", False),
        ("I swam {n} lengths on Monday.", "I swam {n2} lengths on Wednesday.", False),
        ("I was on a boat on Sunday.", "I've never been on a submarine.", False),
        ("The council sits on Tuesdays.", "The council turned down a plan for a cinema.", False),
        ("My niece loves nursery rhymes.", "My nephew started school.", False),
        ("I lent my ladder to {name}.", "{name2} brought the drill back.", False),
        ("I read a thriller in the train.", "I read a comic in the tram.", False),
        ("Uncle Leo plays the accordion.", "Uncle Bert has given up the accordion.", False),
        (
            "The swimming lessons are on {day}.",
            "The riding lessons have been changed to {day2}.",
            False,
        ),
        ("Saturday was rainy.", "{day} was sunny at last.", False),
        ("The printer stands on the shelf.", "The scanner has a new home now.", False),
        ("The baby is asleep.", "The baby next door is finally asleep.", False),
        ("My blood group is rare.", "My eyesight is back to normal.", False),
        ("I'm still looking for my scarf.", "I found a glove, it is not mine.", False),
        ("The band plays on Saturday.", "The choir sings on {day} instead.", False),
    ),
    long=(),
    again=("{text}", "Let me say that again: {text}", "{text} As you will recall."),
    words={
        "name": ("Tilda", "Ruben", "Saskia", "Emeka", "Lotte", "Yusuf"),
        "price": ("18", "29", "55", "72", "108"),
        "place": ("annexe", "chapel", "gym", "canteen"),
        "n": ("30", "44", "60", "82"),
        "paper": ("Courier", "Herald", "Gazette", "Morning Post"),
        "day": ("Monday", "Tuesday", "Thursday"),
    },
)

# --- fifth group: held out; written first, before the fourth and before any rule was changed ------
FIFTH = Sentences(
    changes=(
        ("Mum's still waiting on her hip operation.",
         "Mum had the hip operation on Tuesday, all went fine.", True),
        ("I'm sharing the allotment with {name}.",
         "{name} pulled out, so {name2} has taken over her half of the allotment.", True),
        ("The museum charges {price} for a ticket.",
         "They've put the museum ticket up to {price2}.", True),
        ("Dad does the school run.",
         "Dad can't do the school run any longer, his licence was taken away.", True),
        ("I haven't told the kids about the move yet.",
         "So I told the kids about the move last night.", True),
        ("Our team is bottom of the league.",
         "Would you believe it, our team has climbed to fourth in the league.", True),
        ("The parrot belongs to my neighbour.",
         "My neighbour gave me the parrot for good, so it belongs to me.", True),
        ("I use {firm} for the broadband.",
         "The broadband comes from {firm2} since we cancelled {firm}.", True),
        ("The heating is stuck on full blast.",
         "A man came about the heating and it works normally again.", True),
        ("The bridge over the weir is shut.",
         "They reopened the bridge over the weir this morning.", True),
        ("{name} runs the reading group.", "{name} handed the reading group over to {name2}.",
         True),
        ("I get up at half past five.", "These days I sleep until seven.", True),
        ("The dentist says I need two fillings.",
         "It was a mix-up, the dentist says that I need no fillings.", True),
        ("My brother and I are not on speaking terms.",
         "My brother rang, and we are talking to each other again.", True),
        ("We rent the flat above the bakery.",
         "We bought the flat above the bakery, the papers were signed in March.", True),
        ("I keep my spare key under the flowerpot.",
         "The spare key is with the lady opposite, I took it from under the flowerpot.", True),
        ("Our exam is in room {room}.", "The exam has been moved to room {room2}.", True),
        ("I am on the waiting list for the choir trip.",
         "I got a place on the choir trip after all.", True),
        ("The puppy sleeps in a crate.",
         "The puppy has outgrown the crate and sleeps on the landing now.", True),
        ("I pay {price} for the parking space.",
         "The parking space costs me {price2} since January.", True),
        ("Their wedding is planned for {month}.", "Their wedding has been put off until {month2}.",
         True),
        ("I can't drive.", "I passed my driving test, I'm allowed on the road alone.", True),
        ("My cough won't go away.", "At last the cough is gone.", True),
        ("{name} sits on the parish council.",
         "{name} lost her seat on the parish council in the vote.", True),
        ("The lake is frozen over.", "The ice on the lake has melted.", True),
        ("I am writing my thesis on {topic}.",
         "My thesis is about {topic2} now, {topic} led nowhere.", True),
        ("We still use the old kettle.",
         "We threw the old kettle out and got one with a thermostat.", True),
        ("I'm the only woman on the shift.",
         "Two more women joined the shift, so I am not the only one.", True),
        ("My daughter wants to become a vet.",
         "My daughter has dropped the idea of being a vet, it is pilot this month.", True),
        ("The clock in the hall runs ten minutes slow.",
         "I had the hall clock repaired, it keeps perfect time.", True),
        ("Grandma makes the Sunday lunch.",
         "Grandma is too frail for it, so I make the Sunday lunch.", True),
        ("There's a vacancy in our accounts department.",
         "The vacancy in accounts was filled on Monday.", True),
        ("My train pass runs out in {month}.",
         "I renewed the train pass, so it runs until {month2}.", True),
        ("I've got forty pages of the novel left.", "I finished the novel on the bus.", True),
        ("Jam doughnuts are my weakness.", "I've gone right off jam doughnuts.", True),
        ("The neighbour's hedge blocks our view.",
         "The neighbour cut his hedge down, we can see the hills.", True),
        ("My aunt is waiting for a new knee.", "My uncle's knee was done years ago.", False),
        ("The library charges {price} for a late book.",
         "The town hall charges {price2} for a copy.", False),
        ("I told {name} about the surprise party.",
         "I haven't told {name2} a thing about the presents.", False),
        ("The village shop shuts at noon on Saturdays.",
         "The post office has moved to new opening hours.", False),
        ("{name} runs the chess club.", "{name2} handed the photography club over to her sister.",
         False),
        ("I get up at six for the market.", "My wife gets up at eight these days.", False),
        ("The bridge by the mill is narrow.", "They reopened the bridge at the station.", False),
        ("The dentist praised my teeth.", "The orthodontist is expensive.", False),
        ("My brother has grown a beard.", "My brother-in-law shaved his beard off.", False),
        ("We rent a garage from the council.", "We bought a second fridge for the garage.", False),
        ("My locker key is on the red ring.", "I lost the cellar key at the fair.", False),
        ("The oral exam is in room {room}.", "The written exam has been moved to room {room2}.",
         False),
        ("The kitten sleeps on the piano.", "The kitten ate the goldfish food yesterday.", False),
        ("I pay {price} for the gym.", "{name} pays {price2} for her gym now.", False),
        ("Our anniversary is in {month}.",
         "Their anniversary party has been put off until {month2}.", False),
        ("My cough mixture tastes of aniseed.", "I bought new cough mixture for my son.", False),
        ("{name} sits on the jury of the baking contest.", "{name2} won the baking contest.",
         False),
        ("The pond is full of newts.", "The pond at the school was frozen all winter.", False),
        ("I am writing a letter to {name}.", "I wrote a letter to {name2} last week, too.", False),
        ("We have a copper kettle on the shelf.", "The kettle at work gave up the ghost.", False),
        ("My daughter wants a trampoline.", "My niece no longer wants a trampoline.", False),
        ("The clock on the church strikes every quarter.", "I had my wristwatch repaired.", False),
        ("Grandma makes rhubarb jam.", "Grandpa has stopped making cider.", False),
        ("I like my new boss.", "I liked the one before him just as much.", False),
        ("My bus pass is in the blue wallet.", "I renewed my library card.", False),
        ("I've got ten pages of the report to go.", "I finished the crossword on the bus.", False),
        ("The hedge is full of sparrows.", "The neighbour cut his hedge into the shape of a duck.",
         False),
        ("I sold {n} raffle tickets.", "I sold {n2} cakes.", False),
        ("The car passed its test.", "I had new tyres put on the car.", False),
        ("I had porridge for breakfast.", "I had toast for breakfast today.", False),
        ("My son starts school in September.", "My daughter left school in June.", False),
        ("The film starts at {hour}.", "The second showing starts at {hour2}.", False),
        ("I'm learning to knit.", "I'm learning to crochet as well now.", False),
        ("I live on the third floor.", "The people on the second floor moved out.", False),
        ("Our dog is scared of thunder.", "Our dog is not scared of the hoover.", False),
        ("We were in {country} last year.", "This year we are going to {country2} instead.", False),
    ),
    long=(),
    again=("{text}", "I'm sure I said this: {text}", "{text} There, I've said it again."),
    words={
        "name": ("Hilde", "Pascal", "Rosalind", "Anders", "Noor", "Vikram"),
        "price": ("12", "37", "64", "95", "140"),
        "firm": ("Skylark", "Bluewire", "Connecta", "Halden Net"),
        "room": ("B12", "204", "Z3", "117"),
        "month": ("February", "April", "August", "November"),
        "topic": ("peat bogs", "fairy tales", "bread prices", "lighthouses"),
        "n": ("23", "41", "58", "76"),
        "hour": ("6.45", "8.20", "10.10"),
        "country": ("Estonia", "Malta", "Slovenia", "Iceland"),
    })  # fmt: skip

GROUPS = {
    "first": Sentences(CHANGES, LONG, AGAIN, WORDS),
    "second": SECOND,
    "third": THIRD,
    "fourth": FOURTH,
    "fifth": FIFTH,
}
