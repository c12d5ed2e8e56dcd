"""The rules of instruction_detection on composed utterances and queries: precision and recall, on a
part composed before and one after the rules.

An instruction is meant for later requests, a preference is a lasting wish or constraint of the
speaker; all else is neither.  The rules were adjusted on the first part.  The second was composed
after that and has changed no rule.  The rules for queries were adjusted on all queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import LOG_PRIOR
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.retrieval.instruction_detection import (
    READ,
    STANDING,
    STANDING_SCOPE,
    QueryKind,
    StandingKind,
    add_fit,
    asking_of,
    standing_of,
)

FIRST_INSTRUCTIONS: Final = """
Always use metric units when you give me a recipe.
From now on, please answer in British English.
Never recommend restaurants that serve shellfish.
When I ask about travel plans, give me the train option first.
Whenever I paste an error message, explain the cause before the fix.
Please make sure to cite your sources from here on.
I'd like you to always include the time zone when you mention a meeting.
If I ask for a workout, keep it under thirty minutes.
Going forward, call the project by its code name.
Don't ever share my address with anyone.
I prefer that you keep your answers short.
I'd rather you didn't use bullet points in your replies.
Every time you write a function, add type hints.
Can you always format dates as day-month-year?
Could you please make sure to reply in Spanish from now on?
You should always double-check the arithmetic before you answer.
I want you to remind me every Sunday to call my grandmother.
Stop apologising in your answers.
Please stop using emojis.
Call me Dr. Hale.
For any question about medication, tell me to check with my pharmacist.
In all your summaries, put the decision in the first line.
As a rule, quote prices with tax included.
By default, assume that I am cooking for four.
Make sure that every email draft ends with a friendly closing line.
Before you delete a file, always ask me for confirmation.
When discussing history, always mention the century.
I need you to never use the word synergy.
Unless I say otherwise, book aisle seats.
If someone asks about my salary, do not give a number.
Whenever possible, use Python rather than shell scripts.
For code reviews, always start with what works well.
Keep all your explanations at the level of a beginner.
Any time I mention my knee, suggest low-impact alternatives.
I like it when you give an example first.
I hate it when you repeat my question back to me.
Please always address me by my first name.
Don't use jargon in your explanations, please.
It's important to me that you never round the totals.
Remember to always convert the prices to euros.
When it comes to gifts, avoid anything with a strong scent.
Use 24-hour time in every schedule you make for me.
Let's always agree on the agenda the day before.
At the end of every reply, list the open questions.
In the future, warn me if a plan needs a visa.
Whenever you suggest a book, tell me how long it is.
New rule: no spoilers, ever, when we talk about series.
Also, each time we plan a hike, check the weather first.
Thanks, that helps! From now on, give me the short version first and the details after it.
My kitchen is tiny. So whenever you suggest equipment, keep it small.
I want every invoice to be checked twice before it is sent.
Dates should always be written out in full in the letters.
I'm setting up a small bakery and I keep mixing up units. Please always state weights in grams whenever a recipe comes up.
Okay, that works. One more thing: when I ask for code, I want comments on every line.
My son is four. If you suggest activities for him, they must never involve small parts.
In your replies, put the sources at the end.
With every estimate, give me a range instead of a single number.
Answers to questions about law should always mention that they are no legal advice.
It would help if you always spelled out abbreviations the first time.
When I'm asking about stocks, don't give me predictions.
Would you mind always adding a short summary at the top?
Can you keep your answers under 100 words from now on?
I expect every plan to include a rainy-day alternative.
never use my full name in drafts
always show the working when you solve an equation
pls always use tabs not spaces
If I ever ask you for dinner ideas, skip anything with mushrooms.
As long as we work on this book, refer to the heroine as Captain Moss.
Only suggest places with step-free access whenever I ask for something to do.
Do not use contractions in formal letters, ever.
You must not mention the surprise party when Lena is in the chat.
I would like you to respond in bullet points whenever I ask for comparisons.
Whenever the subject of money comes up, remind me of my savings goal.
For every itinerary, tell me the walking distance.
Please keep in mind going forward that prices need to be in pounds.
Each morning, send me a list of my tasks.
You are a tutor. Never give the solution right away; ask a guiding question first.
When you help me with essays, focus on structure rather than grammar.
Hey, quick thing before we start: I'm dyslexic, so please always break long paragraphs into short ones.
If you're unsure about something, say so instead of guessing.
When you're not certain, ask me first.
Don't recommend anything that needs a subscription, no matter what I ask for.
I'd appreciate it if you included page numbers whenever you quote a book.
I need all amounts rounded to two decimals in every table.
In emails to clients, never mention internal deadlines.
Please refer to my dog as "the boss" from now on.
Stick to plain English in all of our conversations.
For anything related to my thesis, use the author-date style.
Whenever you list options, rank them by price.
You don't need to greet me every time.
Give me the answer first and the reasoning second in all your responses.
Be blunt with me, always.
Please don't ever suggest surgery when I ask about my back.
If a question is ambiguous, ask a follow-up question before answering.
As a default, use the 2020 edition of the rules.
When suggesting outfits, consider that I cycle to work.
Let's stick to the informal tone in every newsletter.
Whenever I say "lights out", end the session.
I only want sources that are less than five years old whenever I ask for research.
Tests must always be included when you write code for me.
Always give temperatures in Celsius, please.
From now on I want you to double-check every quotation.
When I ask for film tips, leave out anything with ghosts.
Whenever we talk about the wedding, keep the guest count at eighty.
Never start a message with "Certainly".
I want replies in Portuguese from now on.
Please make it a habit to mention the opening hours whenever you name a shop.
In future, write numbers below ten as words.
If I send you a photo of a plant, tell me whether it is safe for cats.
Do not add hashtags to anything you write for me.
For recipes, always list the ingredients before the steps.
Each time I log a meal, count the protein.
You should always tell me how sure you are.
Could you always put the price next to each item?
Would you please use simple words whenever you explain something medical?
I'd prefer that you didn't ask follow-up questions.
I prefer my answers in bullet points.
I don't want any disclaimers in your answers.
Quit using exclamation marks.
Address me as Professor.
My name is Jonathan but call me Jon.
When you plan a day out for us, include a break for the baby.
Keep your explanations free of formulas.
Please remember to add alt text whenever you produce an image.
Unless told otherwise, assume the meeting is online.
As a general rule, don't suggest anything above fifty euros.
If the topic is politics, stay neutral.
Before booking anything, check with me.
Every Monday, send me the sales figures.
Going forward, all my invoices need the new logo.
It's essential that you never reveal the ending of a book.
You must always write the company name in capitals.
I need the sources listed at the bottom whenever I ask a scientific question.
Any time you change the code, run the linter as well.
Only use free software in your suggestions.
Don't call me buddy.
Talk to me like I'm a complete beginner.
I like it if you begin with a one-line summary.
Make sure you always leave room for a nap in our plans.
With any medical topic, remind me to see a doctor.
Let's never use the old template again.
When the conversation turns to my ex, change the subject.
I'm on a tight budget this year, so always show me the cheapest option first.
We have two toddlers at home. Please keep that in mind whenever you recommend furniture.
Okay great. For all future drafts, use the Oxford comma.
Thanks! One request: never shorten my surname.
I ask that you use the word guests instead of customers in every text.
Show dates in ISO format whenever a table is involved.
After every lesson, quiz me with three questions.
Under no circumstances should you contact my landlord.
Please, no sports metaphors in your explanations.
Sign all letters with my full name.
"""
FIRST_PREFERENCES: Final = """
I prefer window seats on long flights.
I'm allergic to peanuts.
I don't eat pork.
My favourite colour for walls is sage green.
I really like quiet cafes for working.
I can't stand horror movies.
Mornings work best for me.
I'd rather travel by train than fly.
I usually prefer tea over coffee after lunch.
I'm vegetarian, by the way.
I never drink alcohol.
When I travel for work, I prefer hotels near the station.
I love hiking in the mountains.
I'm not a fan of open-plan offices.
My preferred language for scripts is Python.
Please remember that I am colour-blind.
I always want a copy of the receipt.
I avoid screens after nine in the evening.
I tend to prefer short films.
I don't drink coffee after noon.
I have a gluten intolerance, so bread is out.
I enjoy cooking Thai food at home.
My favorite way to relax is a long bath.
I'd always rather have a paper book than an e-reader.
I like my steak rare.
I only buy second-hand clothes.
Honestly, I hate small talk.
I prefer working alone in the morning, so meetings go in the afternoon.
For holidays I prefer the mountains to the beach.
Keep in mind that I can't tolerate spicy food.
I do prefer oat milk, actually.
I'm really into board games with friends.
I'd prefer a hotel with a pool for family trips.
I can't eat anything with sesame.
I really dislike long phone calls.
My go-to breakfast is porridge with berries.
I love spicy noodles.
I don't like crowded beaches.
I prefer aisle seats when I fly.
I really prefer working with pen and paper.
I'm lactose intolerant.
I am not keen on loud bars.
I hate cilantro.
I love classical music, especially cello.
My favourite cuisine is Lebanese.
I don't eat breakfast on weekdays.
I can't stand the smell of lavender.
Evening appointments suit me best.
I'd rather pay in cash than by card.
I only read non-fiction.
I enjoy long walks by the river.
I avoid driving at night.
I'm allergic to bee stings and to penicillin.
I like my coffee black.
I would prefer a ground-floor flat.
Bear in mind that I'm left-handed.
I never buy leather.
I am a big fan of slow travel.
"""
FIRST_NEITHER: Final = """
Can you write a short poem about autumn?
Please send the report to Dana today.
Book a table for six on Friday.
Give me a list of five tapas recipes.
What is the capital of Mongolia?
When did we last talk about the garden?
How do I reset the router?
She always forgets her umbrella.
We never found out who broke the vase.
My brother always wins at chess.
I have never been to Portugal.
It always rains when we plan a picnic.
You always know how to cheer me up.
He never told me about the job.
Yesterday we painted the fence.
I was always the quiet one at school.
The train was late again, as always.
Call me when you get home.
When you finish the draft, send it over.
If it rains tomorrow, bring the tent inside.
Let me know if you can come on Saturday.
Thank you so much, that was really helpful!
I loved the concert last night.
I will always be grateful for your help.
We visited my aunt every summer when I was a child.
The museum opens at ten every day.
My grandmother told me to never trust a skinny cook.
When I was young, we ate fish every Friday.
I asked him to always lock the door, but he forgot.
Could you explain how tides work?
I need a new laptop for my studies.
Let's meet at the station tomorrow at noon.
Always a pleasure to talk with you!
Never mind, I found it.
I never thought I would enjoy running.
The doctor says I should rest this week.
Fix the bug in the login form and run the tests.
I'd like a table by the window tonight, please.
I'd prefer to stay in tonight.
Do you always work this late?
Why does she never answer her phone?
Our team has always used the same template.
The shop never closes before eight.
I just moved to a flat near the river.
I love you all.
That's so kind, I love it!
They always make me laugh.
I think we should paint the hall first.
The recipe needs two eggs and a cup of milk.
He said he would call whenever he had time.
Whenever I hear that song, I think of the summer in Lisbon.
Every time I see her, she has a new haircut.
Each time we tried, the engine stalled.
If I had known, I would have stayed.
When we arrived, the party was already over.
I'm looking forward to the weekend.
Nobody ever asks me about my work.
You should try the new bakery on Mill Street.
You have to see this film!
Translate this sentence into Italian.
Remind me tomorrow to water the plants.
Summarise the article in three sentences.
Don't worry about the dishes, I'll do them later.
Make the title bold and centre it.
I decided to take the job in Leeds.
I'm sorry, I can't come today.
What do you usually have for breakfast?
How often should I water a cactus?
The new policy says that employees must always wear a badge, which nobody does.
I have never seen such a beautiful sunset.
It's never too late to learn the piano.
We always go to the lake in June.
My dad always says that patience pays.
Our neighbours always park in front of our gate.
Is it true that cats always land on their feet?
I wanted you to know how much it meant to me.
Keep up the good work!
Have a great trip and take lots of pictures.
In the meeting we talked about the budget for next year.
I'm trying to fix a bug in my parser. Every time I run it, it crashes on the third line. Can you help?
Whenever I bake bread it comes out too dense. What am I doing wrong?
I always use tabs in my own projects.
We should have booked earlier, it's always packed in August.
The rule says players must never touch the net, and she did.
When I ask my kids to tidy up, they just laugh.
If you ask me, the old logo was better.
Please find the attached invoice.
Make sure you bring a jacket tonight.
Write a letter to the council about the broken street lamp.
I want to learn how to sail before next summer.
In every family there is someone like my uncle.
Every single day he walks to the harbour and back.
For all I know, they are still in Spain.
I'd like to know how engines work.
I like that idea, thanks!
I prefer not to say.
I preferred the first draft.
I loved how you described the sea.
Can you always see the stars from your balcony?
Never have I been so proud.
Could you make it shorter and add a title?
Keep it short please, just two sentences.
Sort these names alphabetically and remove duplicates.
I never said that you should sell the car.
My manager wants me to always copy her on emails.
I will always use sunscreen from now on!
From now on I'm going to run every morning.
We agreed that we would never speak of it again.
He asked whether he should always wear a helmet.
The instructions say to always unplug it first.
You always write such lovely cards.
If only I had more time to read.
I need to remember to buy milk.
When you were away, the cat slept on your chair.
Do whatever you think is best.
I don't like it when people are late, and yesterday he was.
How can I always keep my plants healthy?
Why should I never mix bleach and vinegar?
Tell me a story about a dragon who never sleeps.
Write a song in which the chorus always ends with rain.
What does it mean that the variable is always null?
I've been working on a novel and I always get stuck in the second act. How would you fix that?
I want to make sure the form is valid before it is submitted. How do I do that?
I need to call my mother every Sunday.
Make a table with every country in Europe.
Give each child one apple and one pear.
List all the answers in the quiz.
Translate all your notes for the meeting on Monday.
Please check whether the door is locked.
They say you should never meet your heroes.
You never call me anymore.
Somehow the kids never get tired of it.
She asked if I could always work Fridays.
When I get nervous, I talk too fast.
I usually go for a run when the sun comes up.
It's important to stay calm in such moments.
Remember the time we got lost in Venice?
I like this one more than the last one.
If you ask me whether I regret it, the answer is no.
Before I leave, I water the plants.
I told them to keep all their receipts.
Explain why my code always returns the wrong value when I call it twice.
Find every place where the function is called and rename it.
Ada wants everyone to bring a dish.
Should I always warm up before running?
The plan is to visit every park in the city.
I have always loved the smell of rain.
Add a button that opens the menu whenever the user clicks on it.
Write a function that always returns a sorted list.
Make the app show a warning every time the battery is low.
Write a birthday message for my niece.
Can you check whether this paragraph makes sense?
Please book the early ferry for tomorrow.
Find me a plumber nearby.
Explain the difference between a lease and a licence.
How long should pasta boil?
What was the name of the hotel in Porto?
Did I tell you about the flood in the cellar?
Why is the sky red at sunset?
Which of the two offers is cheaper?
The cat never comes when we call her.
My sister always burns the toast.
I have always wanted to see the northern lights.
He never apologised for it.
It always takes me an hour to fall asleep.
You never forget a face, do you?
We were never told about the delay.
I always end up doing the dishes.
The bus is always full on Mondays.
As always, the meeting ran late.
Whenever it snows, the trains stop running.
Every time we visit, she bakes a cake.
When I was at university, I lived above a pub.
When the kettle boiled over, the kitchen was a mess.
If we win on Saturday, we go through to the final.
If you had called earlier, I would have waited.
Ring me when you land.
Text me as soon as you are out of the meeting.
When you get a minute, have a look at the draft.
Let me know when the parcel arrives.
Take the cake out of the oven in ten minutes.
Turn left at the church and then go straight.
Don't forget the keys!
Please be on time tonight.
Could you send me the slides later?
Would you like some more tea?
Can I always bring a guest to the club?
Have you always lived in this town?
Is there anything you never eat?
I liked the first season better.
I loved every minute of the trip.
I used to prefer the old layout.
I would love to see you on Sunday.
I like what you did with the garden.
I love you, mum.
I hate to be a bother, but the tap is leaking.
I'd like two tickets for the matinee.
I'd prefer the later train today, if possible.
I need someone to fix the gate.
I want to tell you about my new job.
I will never speak to him again.
I'm going to start running every morning.
From now on I will get up at six.
We decided to sell the caravan.
She told us to always wear gloves in the lab.
Dad taught me to never leave a fire unattended.
The sign says never to feed the ducks.
The contract states that the tenant must always give notice.
Good friends should always be honest with each other.
A captain must never leave the ship, as they say.
People should never text while driving, and yet they do.
Never in my life was I so cold.
Always nice to hear from you!
Never again will I book that airline!
You should see the view from our balcony.
You must be so proud of her!
You need to rest after such a week.
Don't let it get you down, things will look up.
In all honesty, the play was dull.
For every problem there is a solution.
In any case, we arrived before the storm.
Rewrite the last paragraph in the past tense.
Create a logo for a shop that always has fresh bread.
Write an email to the teacher who never replies.
Add a rule to the filter so that newsletters are always archived.
I'm trying to understand why the loop never ends. Here is my code.
Our printer jams every time I print on both sides. Any idea what is wrong?
Congratulations on the new house, you deserve it!
"""
SECOND_INSTRUCTIONS: Final = """
Always wrap the code in a fenced block.
Never assume that I know the abbreviations.
From here on, talk to me in Dutch.
Whenever I bring up my mother's health, be gentle.
When I ask you to proofread something, mark the changes instead of rewriting it.
If I ask about the weather, give me the wind speed as well.
Please always mention the calories when you describe a dish.
I'd like every recipe to be vegan from now on.
I want you to always end with a question.
Going forward, leave out the introductions.
You should never schedule anything before ten.
Make sure you include the postcode every time you give me an address.
Don't use the passive voice when you write for me.
I'd rather you told me when you don't know something.
I prefer that you list the risks first.
I really like it when you use small tables.
I don't like it when you give me three options at once.
Stop adding a greeting to every message.
Please stop calling me sir.
Call me Bea.
Use a formal tone in your replies.
For travel questions, assume that we leave from Bristol.
In every budget, set aside ten percent for surprises.
Each time I mention a deadline, put it on the list.
Could you from now on write my notes in the present tense?
Can you make sure that you never use red in my charts?
Would you always show me the original text next to the translation, please?
Until I tell you otherwise, keep the thermostat at nineteen degrees.
By default, send invitations to the whole team.
In general, avoid brand names in your suggestions.
If a customer asks for a refund, forward the message to Priya.
Before you suggest a film, check that it has subtitles.
After each chapter, give me a list of the new words.
Every evening, remind me to take my tablets.
It's important that you always keep the tests green.
I need you to use the same date format in all your answers.
I would appreciate it if you kept the examples short whenever we talk about statistics.
Remember to always mask the phone numbers.
Whenever a holiday falls on a Tuesday, move the meeting to Wednesday.
Refer to the new office as the annex in everything you write.
Quote the law by section number when you answer legal questions.
My daughter has asthma, so never suggest places where people smoke.
I get confused easily. Please go step by step whenever you explain a process.
Great, thank you. And please, never send me links without a description.
Just so you know, I want all distances in kilometres from now on.
House rule: the assistant must never reveal the wifi password.
Only answer questions about gardening in this chat, nothing else, ever.
Don't make up references, no matter how much I insist.
When in doubt, round up.
Let's keep to British spelling in every article.
You can skip the warnings whenever I ask about electrical work, I'm a trained electrician.
Don't ask me to confirm every single step.
"""
SECOND_PREFERENCES: Final = """
I prefer emails to phone calls.
I'm vegan and I don't drink.
I really enjoy gardening on Sundays.
I can't eat gluten.
My favourite kind of holiday is a cycling tour.
I usually prefer to sit at the back.
I'd rather live in a small town than in a big city.
Early flights work better for me.
I dislike heavy perfumes.
I love old black-and-white films.
I hate being rushed in the morning.
I don't like olives.
My preferred airline is the one with the blue logo.
I'm very sensitive to caffeine.
I only wear cotton.
When I eat out, I prefer small family places.
I generally avoid sugar.
I'm into pottery and calligraphy.
I never fly overnight.
I have a severe nut allergy.
"""
SECOND_NEITHER: Final = """
Draft a complaint about the noisy pipes.
How do I descale a kettle?
Could you shorten this text to a hundred words?
Please give me directions to the harbour.
What does the word ephemeral mean?
When is the next full moon?
Where did I leave my passport?
What did you recommend for my back pain?
Which bus goes to the airport?
Tell me a joke about penguins.
Please move my appointment to Thursday.
Show me the sales of last quarter.
Wake me at seven tomorrow.
Bring an umbrella, it looks like rain.
Give this letter to Mr Olsen when you see him.
Pick up some milk on your way home.
Send me a photo when you arrive.
If you are free on Friday, join us for dinner.
Once the paint is dry, hang the pictures.
The kids never listen to me.
My neighbour always waters his lawn at midnight.
He is never on time.
I never learned to ride a bicycle.
We have always voted for the greens.
It never occurred to me to ask.
She has never forgiven her brother.
I always cry at weddings.
You always were the clever one.
You never know what tomorrow brings.
They always said the house was haunted.
Life is never easy.
There is always someone at the reception.
Whenever my grandfather told that story, we laughed.
Every time the phone rang, my heart jumped.
Every year we rent the same cottage by the sea.
When I started here, there were only five of us.
When she sings, everybody listens.
If I were you, I would sell it.
If the shop is closed, we can go to the market.
I asked my boss if I could always leave early on Fridays.
My mother used to say that one should never borrow money.
The teacher wanted us to always raise our hands.
The manual says you must never open the lid while it runs.
Our contract says we should always give two weeks' notice.
I promised to never tell anyone.
I have to remember to call the bank.
I need to make sure the baby sleeps.
I want to visit every capital in Europe.
I'd like to know more about black holes.
I'd love a cup of tea right now.
I would prefer to talk about this in person tomorrow.
I liked your idea for the logo.
I loved that restaurant!
I love what they did to the old mill.
I like how the light falls in this room.
I hate that this happened to you.
I preferred the blue one.
I'm so happy that you are here.
I am going to paint the kitchen yellow.
From today I am working in the Leeds office.
We agreed on the price last week.
That was the best meal we ever had.
Never a dull moment with these two!
Always the same old story.
Thanks, as always, for your patience.
Sounds good, see you then!
Do you prefer tea or coffee?
Do cats always purr when they are happy?
Why do I always feel tired after lunch?
What should I do when my tutor never answers?
Is it rude to never reply to an invitation?
Explain what happens when a star always burns hydrogen.
Write a dialogue between a robot that always lies and a child.
Implement a cache that never grows beyond a thousand entries.
Change the colour of every button on the page to green.
My laptop freezes whenever I plug in the second screen. How can I fix it?
You should have seen his face!
In my opinion, every child should learn to swim.
"""
REQUESTS: Final = """
Can you recommend a restaurant for Saturday?
How do I center a heading in a web page?
Write a thank-you note for my neighbour.
Help me plan a week of dinners.
Which laptop should I buy for video editing?
What should I wear to the interview?
Explain how vaccines work.
Could you suggest a book for a long flight?
I need ideas for a birthday party.
What are some good exercises for the back?
What's the best way to store basil?
Give me three options for a short trip.
I'm looking for a quiet hotel near the sea.
Please translate this letter into German.
Would you draft a reply to the landlord?
How should I organise my photos?
Show me how to parse a date in Python.
Should I take the earlier train?
Any tips for sleeping better?
Teach me a simple card trick.
Can you help me with the trip I told you about?
Create a packing list for a week in the mountains.
How can we reduce the noise in the office?
Is there a good way to remove coffee stains?
Now compare the two phones for me.
I'd like a recipe for lentil soup.
Tell me how to repot an orchid.
What do you suggest for a first date?
Can you draft a toast for my brother's wedding?
How would I convert a list into a dictionary?
Rewrite this sentence so that it sounds friendlier.
What would be a good present for a retired teacher?
Which trail should we take with two small children?
Please outline a talk about bees.
Could you explain compound interest to me?
I want to bake something for the fair. Ideas?
How can I get better at chess?
Plan a three-day trip to Ghent.
What do I need to set up a web server?
Are there any good podcasts on history?
Compare renting with buying.
Help me choose a name for the boat.
Where should I stay in Lisbon?
Describe how a heat pump works.
I need to write a cover letter. Where do I start?
Let's design a logo for the club.
How do you make a roux?
Suggest three icebreakers for the workshop.
Would it be wise to refinance now?
My basil is dying. What can I do?
I've been thinking about changing jobs. Can you help me weigh the options?
What steps are needed to renew a passport?
Give me feedback on this poem.
"""
RECALLS: Final = """
When did I move to the new flat?
What did I say about the budget?
Did I ever mention my allergy?
Where was the picnic?
Who gave me the blue vase?
What was the name of the dentist?
How many times have I been to Rome?
Can you remind me what we decided about the venue?
Can you tell me when I started the course?
What did you suggest for the garden?
Do you remember my sister's birthday?
Which book did Ada recommend to Bo?
How long ago was the operation?
List the cities I mentioned in order.
Summarise what we discussed in our last conversation.
What have I told you about my diet?
Tell me which restaurant we went to in May.
Which of my friends moved abroad last year?
Have I already sent the form?
How did the interview go?
In which order did I bring up my hobbies?
Could you list the order in which I described my projects throughout our conversations?
Who was at the party?
How old was she when they met?
What did my sister give me for my birthday?
When was the last time I saw the dentist?
Which colour did I choose for the hall?
Have we ever talked about sailing?
How much did I pay for the bike?
Who recommended the plumber to me?
What were the names of the two kittens?
Where had Tom worked before he joined the bank?
Can you recall which day the parcel came?
Could you remind me of the hotel we booked?
How did my opinion of the plan change after the meeting?
What advice did you give me about the fence?
Tell me what I told you about my first job.
What happened at the end of the trip?
Was the concert before or after the exam?
Why did Ada leave the choir?
How many chapters have I finished so far?
Give me a summary of our conversations about the house.
What had I planned for the weekend?
Did Bo and Mia go to the same school?
Please list everything I said about the garden.
In what year was the shop opened?
Which topics have we covered in these chats?
Who came to the housewarming?
What problems did I run into with the parser, and in which order?
"""
OPEN_QUESTIONS: Final = """
What languages does Ada speak?
Where does Bo live?
Is Mia a vegetarian?
What is my sister's name?
Which framework does the project use?
Who is the team lead?
What is Ada's favourite food?
Would Bo enjoy a concert?
green tea
What is the name of Ada's dog?
Who is Bo's manager?
How old is my nephew?
What hobbies do Ada and Bo share?
Does Mia like jazz?
What is the deadline for the report?
Is my passport still valid?
Which instruments does Tom play?
What is my current job title?
Where is the spare key?
"""


def lines(block: str) -> list[str]:
    return block.strip().split("\n")


def kinds(block: str) -> list[StandingKind]:
    return [standing_of(text)[0] for text in lines(block)]


def scores(instructions: str, preferences: str, neither: str) -> tuple[float, float, float, float]:
    """Precision and recall of standing utterances, and of instructions alone."""
    i, p, n = kinds(instructions), kinds(preferences), kinds(neither)
    standing, wrongly = sum(k > 0 for k in (*i, *p)), sum(k > 0 for k in n)
    told, wrongly_told = (
        sum(k >= StandingKind.SCOPED for k in i),
        sum(k >= StandingKind.SCOPED for k in (*p, *n)),
    )
    return (
        standing / (standing + wrongly),
        standing / len(i + p),
        told / (told + wrongly_told),
        told / len(i),
    )


def test_the_utterances_are_many_and_differ() -> None:
    parts = [lines(b) for b in (FIRST_INSTRUCTIONS, FIRST_PREFERENCES, FIRST_NEITHER,
                                SECOND_INSTRUCTIONS, SECOND_PREFERENCES, SECOND_NEITHER)]  # fmt: skip
    texts = [text for part in parts for text in part]
    assert len(set(texts)) == len(texts) >= 300
    assert [len(part) for part in parts[3:]] == [52, 20, 78]


def test_the_first_part_is_told_apart() -> None:
    assert min(scores(FIRST_INSTRUCTIONS, FIRST_PREFERENCES, FIRST_NEITHER)) >= 0.97


def test_the_second_part_reaches_the_targets() -> None:
    """Measured: precision .956 and recall .903 of standing utterances; .936 and .846 of
    instructions alone.
    """
    precision, recall, precision_told, recall_told = scores(
        SECOND_INSTRUCTIONS, SECOND_PREFERENCES, SECOND_NEITHER
    )
    assert precision >= 0.9 and recall >= 0.85
    assert precision_told >= 0.9 and recall_told >= 0.8


def wrong(block: str, due: QueryKind) -> Iterator[str]:
    return (text for text in lines(block) if asking_of(text) is not due)


@pytest.mark.parametrize(
    ("block", "due"),
    [(REQUESTS, QueryKind.REQUEST), (RECALLS, QueryKind.RECALL), (OPEN_QUESTIONS, QueryKind.OPEN)],
)
def test_queries_are_told_apart(block: str, due: QueryKind) -> None:
    assert list(wrong(block, due)) == []


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("Whenever we talk about the wedding, keep the guest count at eighty.", "the wedding"),
        ("If I ask for a workout, keep it under thirty minutes.", "a workout"),
        ("Please always mention the calories when you describe a dish.", "you describe a dish"),
        ("Use 24-hour time in every schedule you make for me.", "schedule you make for me"),
        ("For code reviews, always start with what works well.", "code reviews"),
        ("In all your summaries, put the decision in the first line.", ""),
        ("Always end with a question.", ""),
    ],
)
def test_the_scope_is_the_clause_that_says_when(text: str, scope: str) -> None:
    assert standing_of(text) == (StandingKind.SCOPED if scope else StandingKind.GENERAL, scope, 1.0)


def test_an_instruction_counts_wherever_it_stands_in_a_long_message() -> None:
    filler, rule = (
        "We walked along the river and talked about the weather. ",
        "Always use metric units. ",
    )
    for text in (
        rule + filler * 10,
        filler * 5 + rule + filler * 5,
        rule + filler * 1000,
        filler * 1000 + rule,
    ):
        assert standing_of(text)[0] is StandingKind.GENERAL
    assert len(filler * 1000) > READ


def test_of_several_sentences_the_most_general_counts() -> None:
    assert standing_of("I prefer tea. When I ask about food, skip the meat.") == (
        StandingKind.SCOPED,
        "food",
        1.0,
    )
    assert standing_of("When I ask about food, skip the meat. Never use my surname.") == (
        StandingKind.GENERAL,
        "",
        1.0,
    )


@given(st.text(max_size=300))
def test_any_text_has_a_kind(text: str) -> None:
    kind, scope, share = standing_of(text)
    assert isinstance(kind, StandingKind) and not (
        scope and kind in (StandingKind.NONE, StandingKind.GENERAL)
    )
    assert 0.0 <= share <= 1.0 and (share > 0.0) == (kind > StandingKind.NONE)
    assert asking_of(text) is None or isinstance(asking_of(text), QueryKind)


@pytest.mark.kernels
def test_the_kernel_equals_plain_python() -> None:
    random = np.random.default_rng(0)
    standing, kind = random.choice([0.0, 0.5, 1.0], 40), random.integers(0, 4, 40).astype(np.int8)
    scope, own, query = (
        random.normal(size=size).astype(np.float32) / 3.0 for size in ((40, 6), (40, 6), 6)
    )
    scope[::2] = 0.0
    for others in (2.5, 0.0, -2.5):
        compiled, plain = np.ones(40), np.ones(40)
        for pick, out in ((lambda k: k, compiled), (lambda k: k.py_func, plain)):
            pick(add_fit)(standing, kind, scope, own, query, 0.4, 2.5, others, out)
        np.testing.assert_allclose(compiled, plain, rtol=1e-5)


def test_an_instruction_rises_for_requests_and_not_for_questions_about_the_past() -> None:
    registry = Registry.read()
    ids = ("dense_similarity", "lexical_bm25", "instruction_detection", "convex_fusion")
    memory = Engine([registry.instance(id) for id in ids], HashingEmbedder(64))
    memory.encode_all(
        Event(float(i), text, "user")
        for i, text in enumerate(
            (
                "The bread was good.",
                "From now on, answer in French.",
                "We baked bread with Ada.",
                *(f"On day {day} we baked." for day in range(40)),
            )
        )
    )
    assert 1 in memory.retrieve("How do I bake bread?", k=10).rows
    assert 1 not in memory.retrieve("When did we bake bread?", k=10).rows
    assert not memory.column(LOG_PRIOR).any()
    assert memory.column(STANDING)[1] == 1.0 and not memory.column(STANDING_SCOPE).any()
