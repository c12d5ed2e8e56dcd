"""More of the demo's stories, each for one circle of speakers: colleagues, flatmates, siblings,
a choir, an allotment (form: see `demo_stories`).
"""

from __future__ import annotations

CIRCLES = """
@ledger
X bug: Found it. The double bookings come from `{fn}` in `{file}`: it compares timestamps as strings.
Y: As strings! Who wrote that?
X: git blame says you did.
Y: <I was young.|I retract the question.>
--
Y fix: The patch for `{fn}` is up for review, with a test that would have caught it three years ago.
X: <Approved before I finished reading the title.|One comment: you misspelt "timestamp".>
? single-hop: Which function is behind the double bookings? = bug
? who-said-it: Who put the repair of `{fn}` up for review? = fix
? adversarial: Which customer first reported the double bookings? = -

@release
X a: Schema is frozen as of this morning. No more migrations until we ship.
Y: <Not even a tiny index?|Finally.>
X: <Not even a tiny index.|Two years, and we finally have a date.>
--
X b: Load test is green: {rps} requests a second, and the fans only screamed a little.
Y: <Frame that graph.|Better than my laptop, which screams at two.>
--
X c: We're live. Version {version}, no rollback, cake in the kitchen. [[a cake with a version number in icing]]
Y: <Save me a corner piece!|I can't believe it held.>
? event-ordering: Which steps led up to the launch, and in what order? = a b c
? temporal: When did version {version} go live? = c

@branches
X rule: House rule: from now on always start a branch name with the ticket number, as in `{ticket}-short-title`. The release notes are built from it.
Y: <Retroactively, too?|And if there's no ticket?>
X: <Only new ones.|Then there's no branch.>
--
X oops: Somebody pushed a branch called `stuff2`. I'm not angry, just very quiet.
Y: <It was a long Friday.|I'll rename it. Don't look at me.>
? instruction: A new branch is about to be pushed as `login-fix`. How should it be called instead? = rule

@retry
X a: I've set `RETRY_LIMIT` to 3 in `{file}`. Anything more only hides an outage.
Y: Fine by me.
--
X b: Had to raise `RETRY_LIMIT` to <8|12>, the payment provider drops the first calls after midnight.
Y: And what do they say?
X: They say it's "by design". I asked whose.
? knowledge-update: What is the value of `RETRY_LIMIT` now? = b
? paraphrase: Why did more attempts have to be allowed? = b

@staging
X never: For the record: staging has not gone down once this year. I checked.
Y: <Don't say it aloud.|Touch wood, quickly.>
--
X was: Same smell as when staging collapsed twice in March: the certificate, then the disk.
Y: Didn't you tell us it never went down?
X: <I may have been talking about a different year.|Selective memory is a feature.>
? contradiction: Was staging ever unavailable this year? = never was

@importer
X author: If the importer breaks, ask {friend}. Wrote every line of it, and still apologises for some.
Y: <I've met the parser. Apology accepted.|Good to know.>
--
Y team: {friend} has moved over to the platform team, as of Monday.
X: <Everyone good ends up there.|Lucky them.>
--
X room: The platform team now sits on the second floor, in the room with the dead {plant}.
Y: <I watered that thing!|Smells like a crypt in there.>
? multi-hop: In which room would one look for the author of the importer? = author team room
? multi-hop: Which team did the person who wrote the importer join? = author team

@port
Y: I can't reach the metrics. Which port does the exporter listen on?
X port: {port}, but only from behind the proxy.
Y: <That explains my whole morning.|Ah. I was outside, in every sense.>
? neighbour: On which port do we find the exporter? = port
? adversarial: On which port does the scheduler listen? = -

@minutes
X rule: Since nobody reads the long ones: from now on keep the minutes to five lines, decisions first, names in bold.
Y: Five lines. What about the jokes?
X: <Jokes go in line six, which doesn't exist.|Footnotes are not a loophole.>
? instruction: How are the minutes of our meetings to be written? = rule

@boiler
X cold: No hot water since last night. The boiler says `E119` and makes a noise like a goose.
Y: <I thought that was you.|E119 sounds expensive.>
--
Y: Did anyone get hold of the heating engineer?
X number: Yes, ask for {friend}, extension {ext}. Apparently we were bleeding the wrong valve for two winters.
Y: <I told everyone it was the wrong valve.|Two winters!>
? single-hop: Which error code did the boiler show? = cold
? neighbour: What is the heating engineer's extension? = number
? temporal: When did we run out of hot water? = cold

@rota
X rule: New rule for the bins: from now on whoever finishes the milk takes them down, always, no matter what the rota says.
Y: <That is dark. I like it.|So now there will be a spoonful left in every carton.>
--
X: There are four cartons in the fridge with one drop of milk each.
Y: <I don't know what you mean.|An unforeseen side effect.>
? instruction: Somebody has just poured the last of the milk. What must they do? = rule
? who-said-it: Who made the rule about milk and bins? = rule

@deposit
Y idea: What if we put the deposit money into a bread oven? We'd have it back in a year, in bread.
X: <You frighten me. Keep talking.|We'd have it back in crumbs.>
--
X count: I added it up: {loaves} loaves a week, and we break even in {month}.
Y: <So we are doing it.|I'd like it noted that I was joking. Half joking.>
? who-said-it: Whose idea was it to spend the deposit on an oven? = idea
? single-hop: How many loaves a week would pay for the oven? = count

@party
X a: Step one for Dad's seventieth: I've booked the {pub}, the whole upstairs.
Y: <Hero.|Does it have a ramp for Auntie Jo?>
--
X b: Invitations are out. Forty-one of them, by hand, and my wrist has resigned.
Y: <I'd have helped!|Did you send one to the bowling people?>
--
X c: Cake is ordered: {cake}, three tiers, a tiny tractor on top.
Y: <He will weep.|A tractor! Perfect.>
--
X d: He wept. Before the cake, during the cake, and when you did the speech. [[an old man laughing beside a cake]]
Y: I wept too, and I knew what was in it.
? event-ordering: How did the preparations for Dad's birthday go, step by step? = a b c
? single-hop: What kind of cake was ordered for Dad? = c
? paraphrase: How did the guest of honour take it all? = d

@attic quiet
X offer: Mum and Dad have taken an offer on the house. They signed on {weekday}.
Y: I'm not ready for that.
X: Nobody is. <The new people have three kids, at least.|They'll keep the cherry tree, they promised.>
--
X: You know the loose board in the attic? There was a tin under it.
Y: What was in the tin?
X tin: Letters. All from {friend}, nineteen sixty-eight, every one unopened.
Y: <Mum never said a word.|Unopened! Do we dare?>
? neighbour: What did the tin in the attic contain? = tin
? temporal: When did the parents sign the sale? = offer

@solo
X ask: The conductor wants me to sing the solo in the {composer}. Me. With this throat.
Y: <Say yes. Say it now, before you think.|You've had that voice all along.>
X: I said yes and then hid in the coat room.
--
X fear: Dreamt that I opened my mouth and only moths came out. I'm a wreck, and it's still two weeks.
Y: <Moths have a lovely tone.|Breathe. You know every bar.>
--
X did: I did it. My knees were knocking so hard that the altos could count by them, but I did it.
Y: There wasn't a dry eye in the tenors.
? single-hop: In which composer's piece does {X} sing the solo? = ask
? paraphrase: How did stage fright show itself in {X}'s sleep? = fear

@venue
X a: Concert venue is settled: the {church}. <Cold, but what an echo.|Bring two jumpers.>
Y: <I love that roof.|And the loo is in another building.>
--
X b: Change of plan, the roof leaks. We're singing in the {hall} instead.
Y: <No echo, then. Only us.|Heating, though!>
--
Y: And the dress rehearsal?
X time: Saturday at three, in the new place, shoes included.
? knowledge-update: Where is the concert going to take place? = b
? neighbour: When is the dress rehearsal? = time

@scores
X rule: From now on everyone brings a pencil, a real one, always. No ink in the scores, they're on loan from {town}.
Y: <The great pen scandal of last year.|I still say it was a spilt tea.>
? instruction: What should one write with in the sheet music? = rule
? single-hop: Where are the scores on loan from? = rule

@seeds
X sown: Sowed the {veg} today, two rows, under fleece. The packet says {days} days.
Y: <Packets lie.|Mine never even came up.>
--
X up: They're up! Eleven of them. I have named them all.
Y: <Not the slugs' names, I hope.|You'll never be able to eat them now.>
? single-hop: How long should the {veg} take, according to the packet? = sown
? temporal: When did {X}'s seedlings appear? = up

@water
X rule: Please, everyone: from now on water only after seven in the evening, never at noon. The tank was empty twice.
Y: <That was me. Sorry.|Even the tomatoes?>
X: <Even the tomatoes.|Especially whoever waters the path.>
--
X schedule: I've put a list on the shed door. Plot {plot} waters on {weekday}, and so on round.
Y: <With a pencil on a string? You're a professional.|Plot {plot} is me, isn't it.>
? instruction: It's midday and the beds are dry. What should one do about it? = rule
? multi-hop: On which day and from what hour may plot {plot} be watered? = rule schedule

@fox
X seen: There's a vixen with three cubs under the shed. She looked at me as if I owed rent. [[a fox looking out from under a garden shed]]
Y: <Do NOT feed them.|Three! I'm coming over.>
--
Y: Are the cubs still there?
X gone: Gone since {weekday}. They left a glove, half a football and {loot}.
Y: <Fair exchange.|I'll miss the stares.>
? paraphrase: Which wild family had moved in beneath the tool store? = seen
? neighbour: When did the cubs leave? = gone
"""
