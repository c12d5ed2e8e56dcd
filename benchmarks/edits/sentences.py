"""Sentences to plant, written for this project without looking at the rules that read them: changes, and what only looks like one; long turns.

A change is (earlier, later, whether the later one makes the earlier one outdated).  Slots of a kind get different words.
"""
from __future__ import annotations

CHANGES: tuple[tuple[str, str, bool], ...] = (
    ("I live in {town} now, two streets from the harbour.", "I moved to {town2} last week and I am still looking for the kettle.", True),
    ("My rent is {n} a month.", "My rent went up, it is {n2} a month now.", True),
    ("I work at {company}.", "I left {company} and now I work at {company2}.", True),
    ("My favourite colour is green.", "My favourite colour is no longer green, it is blue.", True),
    ("I am engaged to {friend}.", "I am no longer engaged to {friend}, we called it off.", True),
    ("My phone number ends in {n}.", "My phone number has changed, it ends in {n2} now.", True),
    ("The meeting is on Monday.", "The meeting was moved, it is on Thursday now.", True),
    ("I drive an old van.", "I sold the van, I drive an electric car now.", True),
    ("I am allergic to peanuts.", "It turns out that I am not allergic to peanuts after all.", True),
    ("I have two cats.", "We took in a stray, so I have three cats now.", True),
    ("My doctor is {friend}.", "I have a new doctor, her name is {friend2}.", True),
    ("I run {n} metres before breakfast.", "I don't run before breakfast any more, my knee hurts.", True),
    ("I like tea with my breakfast.", "I like coffee after lunch.", False),
    ("I work at {company}, in the cellar.", "My brother works at {company2}, on the top floor.", False),
    ("My rent is {n} a month, heating included.", "My sister's rent is {n2} a month.", False),
    ("I moved to {town} in the spring.", "Before that I lived in {town2} for years.", False),
    ("I have a dog.", "I have a cat, too.", False),
    ("I am married to {friend}.", "{friend2} asked whether I am married.", False),
    ("My favourite film is the one about the lighthouse.", "My favourite book is the one about the ferry.", False),
    ("My office is in {town}.", "My office will be in {town2} next year, if they find a house.", False),
    ("I go swimming on Mondays.", "I go dancing on Tuesdays.", False),
    ("I studied in {town}.", "I nearly studied in {town2} once, long ago.", False),
    ("I am going to {town} in June.", "I am going to {town2} in August.", False),
    ("My mother lives in {town}.", "My aunt lives in {town2} now.", False),
)
LONG: tuple[str, ...] = (                   # each about one matter, however it wanders
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
AGAIN: tuple[str, ...] = ("{text}", "As I said: {text}", "I may have told you already: {text}", "{text} I think I mentioned it.", "Once more: {text}")
WORDS: dict[str, tuple[str, ...]] = {
    "town": ("Lisbon", "Turku", "Ghent", "Leeds", "Bremen", "Arles"),
    "company": ("Harrow Mills", "Silverline", "Oakes and Daughters", "Nordbahn"),
    "friend": ("Beatrix", "Omar", "Ludmila", "Jens"),
    "n": ("640", "715", "890", "930", "1,150"),
}
