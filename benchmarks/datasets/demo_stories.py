"""The demo's stories, written for this project.

A story is a few scenes (separated by `--`) that happen in different sessions, in order, followed by
its questions:

    @name
    X label: what X says [[what the attached picture shows]]
    Y: <one wording|another wording> with a {slot}
    ? category: question = labels of the turns that hold the answer, or - if there are none

X and Y are two of the conversation's speakers; {X} and {Y} are their names.  Slots of one kind
({town}, {town2}) get different words. Within a scene the same wording is chosen everywhere, so that
the second answer fits the second remark.
"""

from __future__ import annotations

STORIES = """
@home
X old: Signed the lease today! {street}, top floor, <no lift|with a view of the gasworks>.
Y: <Top floor! Your knees will remember this.|Congratulations! Do I have to carry boxes?>
X: <They already do.|Only the light ones.>
--
X why: So the flat on {street} is off. We pulled the wardrobe away from the wall and there was mould from floor to ceiling.
Y: After all that painting!
X new: They let us out of the contract, and I've been living at {street2} since the weekend. The air is dry, thank heavens.
? knowledge-update: What is {X}'s current address? = new
? paraphrase: What went wrong with the first place {X} rented? = why

@pet
X got: We did it, we brought a dog home from the shelter. {breed}, answers to {pet}. [[a small dog asleep in a laundry basket]]
Y: {pet}! <That is the best name.|Who came up with that?>
X: <It was that or Kevin.|The shelter did. We tried others, but the ears only move for this one.>
--
X diet: The vet wants {pet} to slim down. Half a cup in the morning, half a cup at night, and no more toast crusts.
Y: Who was giving out toast crusts?
X: <No comment.|I would like to speak to my lawyer.>
--
X sock: {pet} swallowed a sock on {weekday}. A whole sock. Seventy euros at the emergency clinic, and then it came out by itself in the car park.
Y: <I'm sorry, I'm laughing.|Poor thing. Poor car park.>
? single-hop: What sort of dog did {X} adopt? = got
? paraphrase: Whose meals are being rationed on medical advice? = diet
? adversarial: What is {Y}'s dog called? = -

@job
X start: I got it! I start at {company} on the first, <in the archive|at the front desk>.
Y: <I knew it. You were wasted on the ferry office.|Yes! Drinks are on you, then.>
X: I've been walking round the kitchen in circles for an hour.
--
X: Not even a month at {company}, and they have already moved me.
Y: Moved you where?
X new: To purchasing. I spend my days haggling over {goods} now, and I'm frighteningly good at it.
? knowledge-update: What kind of work does {X} do at {company} these days? = new
? temporal: When did {X} hear about being hired by {company}? = start
? adversarial: What is {X}'s salary at {company}? = -

@cousin
X lives: My cousin {friend} is sleeping in our spare room until the new year.
Y: The one with the <accordion|motorbike>?
X: <That one. It came too.|The very same. It's in the hall.>
--
X work: {friend} came home beaming today: hired by {company}, full time, with a desk by the window.
Y: <Does that mean you get the spare room back?|Give {friend} a hug from me.>
--
X boss: Guess who runs {company}? {friend2}, who used to teach us chemistry and set fire to the curtain.
Y: The world is a village.
? multi-hop: Where does the relative in {X}'s spare room work? = lives work
? multi-hop: What is {X}'s cousin's new boss remembered for from school? = work boss

@anniversary
X: Ten years married, can you believe it.
Y: Where did the two of you go for the anniversary?
X where: To the {sight} at {town}, <with sandwiches, in the rain|of all places>. I'd do it again tomorrow.
Y: <Romantic.|Only you two.>
? neighbour: Where did {X} celebrate the wedding anniversary? = where
? adversarial: Where did {Y} go on honeymoon? = -

@nuts
X rule: Something serious. From now on, always ask me before you put any kind of nut into food I might eat, even a spoonful of almond flour.
Y: Of course. What happened?
X why: My tongue swelled up at {friend}'s birthday. It was the pesto.
--
Y: I'm baking for Sunday. A pistachio counts, doesn't it?
X: A pistachio very much counts.
? instruction: {Y} is planning a dessert for {X}. What has to happen first? = rule
? paraphrase: What set off {X}'s allergic reaction? = why

@flight
X never: I have never set foot on an aeroplane, and I don't mean to start. Trains exist.
Y: Not even once?
X: Not even once.
--
X did: Did I ever tell you about the time I flew to {town}? The pilot sang over the intercom before we landed.
Y: <Sang? What, exactly?|You have to be joking.>
X: <Abba. All of it.|Something about the sea. Not badly, either.>
? contradiction: Has {X} ever travelled by air? = never did

@run
X a: {km} km before breakfast. My legs are pudding.
Y: <In this weather?|Show-off.>
--
X b: {km2} km this morning, along the canal. A heron stared at me the whole way.
Y: <Judging your style, probably.|It wanted your sandwich.>
--
X c: {km3} km, in hail. The new shoes helped.
Y advice: You should put your name down for the {town} half marathon.
X: <You're out of your mind.|Ask me again when I can feel my toes.>
? temporal: On which day did {X} run {km2} km? = b
? who-said-it: Who came up with the idea of the {town} half marathon? = advice

@bike
X one: Hauled grandpa's bicycle out of the cellar. First job done: a new chain. The old one had rusted solid.
Y: <Does it still have the bell?|I remember that saddle. I remember it well.>
--
X two: Bicycle news: new brakes, <and only one spanner thrown|at the cost of most of one thumb>.
Y: So now it stops. What's left?
X: Vanity.
--
X three: And now it's painted. {colour}. You can see me from space. [[a freshly painted bicycle leaning against a shed]]
Y: <I want one.|It suits you, that's the worst of it.>
? event-ordering: In what order did {X} restore the old bicycle? = one two three
? single-hop: What colour is {X}'s bicycle now? = three

@loss quiet
X news: Gran died last night. In her sleep, with the radio still on.
Y: Oh, {X}. I'm so sorry. Do you want me to come over?
X: Not yet. Just <write to me for a bit|tell me something ordinary>.
--
X clock: We cleared out the house on {street}. They let me keep the kitchen clock, the one that runs eleven minutes fast.
Y: Will you set it right?
X: Never.
? paraphrase: Which keepsake did {X} inherit? = clock
? temporal: When did {X}'s grandmother pass away? = news

@book
Y tip: Read {book}. Don't look anything up first, just start.
X: <Is it sad?|How long is it?>
Y: <Only near the edges.|Two baths and a train ride.>
--
X done: Finished {book} at two in the morning. I had to sit in the kitchen for a while afterwards.
Y: I did warn you. Sort of.
? who-said-it: Who recommended {book}? = tip
? paraphrase: Which novel cost {X} a night's sleep? = done

@knee
X fall: Slipped on the cellar stairs this morning and did something to my knee. It's the size of a {fruit}.
Y: Ice. And see someone. Today, not next week.
--
Y: You've been to the doctor? What about the knee?
X verdict: Torn meniscus. No operation for now, but six weeks of exercises with a rubber band.
Y: <You, exercises? Film it.|That could have been worse.>
? neighbour: What did the doctor find in {X}'s knee? = verdict
? temporal: When did {X} slip on the stairs? = fall

@tickets
X code: Tickets for {band} are booked! Reference {code}, row F. Write it down, I'll lose it.
Y: <On my hand, in pen.|Noted. You will still ask me at the door.>
--
X night: Still humming. {band} played for three hours, and the encore was just the drummer with a {instrument}.
Y: I've never heard anyone do anything like it.
? single-hop: What is the booking reference for {band}? = code
? adversarial: How much did the tickets for {band} cost? = -

@van
X ask: Put the old van up for sale. I'm asking {asked} euros, which is cheeky.
Y: <For that van? It is.|Have you mentioned the smell?>
--
X swap: The only call about the van so far was a man who wanted to swap it for {swap}.
Y: <And you said no?|I'd have at least looked.>
--
X sold: The van is gone! {paid} euros in cash, counted twice on the bonnet.
Y: <And no tears?|End of an era.>
X: <One. A small one.|I kept the ashtray.>
? knowledge-update: How much money did {X} end up getting for the van? = sold
? single-hop: What did somebody offer {X} in exchange for the van? = swap

@fish
X no: No fish for me on Friday, please. I haven't eaten an animal since I was <nine|eleven>.
Y: <Then it's the bean stew.|Noted, chickpeas it is.>
--
X yes: You know what I still dream about? The smoked eel I had on the quay at {town} last summer. I ate two.
Y: <You ate what?|I'll pretend I didn't read that.>
? contradiction: Does {X} eat fish? = no yes

@trip
X one: First postcard of the holiday: {town}. We climbed the bell tower, all {steps} steps of it. [[rooftops seen from a bell tower]]
Y: <Jealous. It's been grey here for a week.|Bring me a roof tile.>
--
X two: We're in {town2} now. The train was four hours late and we taught the whole carriage to play {game}.
Y: <Who won?|That is your idea of rest?>
X: <A nun.|You should see my idea of work.>
--
X three: Last stop, {town3}. Swam in the sea before breakfast and lost a sandal to it.
Y: One sandal. <Hop home, then.|The sea has taste.>
? event-ordering: Which towns did {X} visit on the holiday, first to last? = one two three
? single-hop: Which game did {X} teach the other passengers? = two
? adversarial: Which museum did {X} visit in {town}? = -

@potter
X gift: Mum cried when she unwrapped the bowl. It's by the potter that {friend} raved about.
Y: The one with the <blue glaze|wonky rims>?
X: Yes. <Worth every cent.|I want twelve.>
--
Y shop: Walked past a new workshop on {street}. It was {friend}'s potter! She moved there in spring, she says the light is better.
X: <Then I'm ruined.|I'll be there by noon.>
? multi-hop: On which street can one find the maker of {X}'s present to their mother? = gift shop

@calls
X rule: A request: never ring me before ten. Send a message instead, always. I only fall asleep around four.
Y: <Message, not call. Got it.|I'm up at six, I had no idea. Sorry.>
--
Y: Sorry about the call this morning, I forgot.
X: <Forgiven. My dream wasn't any good anyway.|I answered in my sleep, didn't I? What did I promise?>
? instruction: It is eight in the morning and {X} has to hear some news. How should it be passed on? = rule

@quiz
X a: The pub quiz at the {pub} is on Tuesdays. We need someone who knows rivers. You in?
Y: Rivers and queens. <I'm in.|Count on me.>
--
X b: They've moved the quiz to Thursdays because of the darts league.
Y: <Darts. Honestly.|I'll have to move my bath, then.>
--
X c: Quiz again: now it's Wednesdays at eight, and the landlord swears it stays that way.
Y: <He swore about the soup, too.|I'll believe it when I see it.>
? knowledge-update: On which evening is the quiz held at present? = c
? event-ordering: Through which days did the quiz night wander? = a b c

@soup
Y: I can't work out that lentil soup of yours. What's in it?
X how: A spoonful of {spice} and a strip of orange peel, right at the end. Don't tell <the neighbours|anyone at work>.
Y: Orange peel!
--
Y made: Tried it with the orange peel, and the pot was empty in ten minutes.
X: <Now you know. Guard it with your life.|I want a commission.>
? neighbour: Which spice goes into {X}'s lentil soup? = how
? adversarial: Which wine does {X} serve with the lentil soup? = -

@layoff quiet
X news: They let nineteen of us go today. I was handed a cardboard box and the office {plant}.
Y: What? Today? Just like that?
X: Just like that. <I'm on a bench and I can't stand up yet.|My hands won't stop shaking.>
Y: Stay there. I'm on my way.
--
X shelf: First full week at home. I built a shelf, took it down, and built it straight.
Y: How are you, really?
X: <Lighter, oddly.|Better at night, worse at breakfast.>
? paraphrase: How did {X} become unemployed? = news
? single-hop: What did {X} build during the first week at home? = shelf

@noise
X: The man upstairs is at it again. Scales. Since seven.
Y: Have you talked to him?
X talk: I went up. He's eighty-one, his name is {elder}, and he is learning the {instrument} for his wife's birthday. Now I feel terrible.
Y: <Bring him a cake.|So now you have to clap.>
--
X concert: It's her birthday. He played, I stood on the landing, and I'm not ashamed to say I sobbed.
Y: <Me too, and I'm only reading about it.|From scales to that!>
? paraphrase: Why did {X} stop being cross about the racket overhead? = talk
? single-hop: What is {X}'s elderly neighbour practising for? = talk

@kitchen
X: The kitchen is finally dry enough to walk on.
Y: What colour did you go for on the walls?
X wall: {colour}. In the evening it looks like the inside of a teapot.
--
Y bet: I'll bet you a cake that you repaint within the year.
X: <Deal.|Make it two cakes.>
? neighbour: Which colour are {X}'s kitchen walls? = wall
? who-said-it: Who proposed the bet about repainting? = bet

@key
Y: I'll water your plants while you're away. Where's the spare key?
X old: Third flowerpot from the left, the one with the {plant}.
Y: <Very cunning. Nobody will ever look there.|So, where every burglar looks first.>
--
X new: About the spare key: it's not in the flowerpot any more, it's taped inside the <bird box|lid of the letterbox>.
Y: <Finally.|I had just got used to the pot.>
? knowledge-update: Where is {X}'s spare key hidden now? = new
? neighbour: What grew in the pot where the key lay at first? = old

@baby
X: I have news, and you're not allowed to shout.
Y: I never shout. WHAT IS IT
X baby: My oldest friend is pregnant! {mother}, of all people. Due in {month}.
Y: <I'm shouting.|I am crying on the tram.>
--
X born: She's here! Three weeks early, {weight} kilos, and a full head of hair. [[a newborn with a striped hat]]
Y: <Welcome, small person!|What's she called?>
X name: They've named her {girl}, after the boat.
? multi-hop: What is {mother}'s baby called? = born name
? temporal: When was {mother}'s daughter born? = born
? contradiction: Did the baby arrive in {month}, as expected? = baby born
"""
