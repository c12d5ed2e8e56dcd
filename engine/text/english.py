"""English word lists of the text features, in lower case; contractions also as the pieces into
which a tokenizer splits them.
"""

from __future__ import annotations

from typing import Final


def word_set(words: str) -> frozenset[str]:
    """The words of a list that is written as one text.

    >>> sorted(word_set("it is"))
    ['is', 'it']
    """
    return frozenset(words.split())


STOP_WORDS: Final = word_set("""
    a about above after again against all am an and any are as at be because been before being below between both but by can could did do does
    doing down during each either else etc ever few for from further had has have having he her here hers herself him himself his how however i
    if in into is it its itself just me might more most must my myself neither no nor not now of off on once only or other ought our ours
    ourselves out over own per same shall she should so some such than that the their theirs them themselves then there these they this those
    though through to too under until up upon us very via was we were what when where whether which while who whom whose why will with within
    without would yet you your yours yourself yourselves
    ain't aren't can't cannot couldn't didn't doesn't don't hadn't hasn't haven't he'd he'll he's how's i'd i'll i'm i've isn't it'd it'll it's
    let's mightn't mustn't needn't she'd she'll she's shan't should've shouldn't that'd that'll that's there's they'd they'll they're they've
    wasn't we'd we'll we're we've weren't what's when's where's who's why's won't would've wouldn't you'd you'll you're you've
    ain aren couldn d didn doesn don hadn hasn haven isn ll m mightn mustn needn re s shan shouldn t ve wasn weren won wouldn
""")

MONTHS: Final = word_set(
    "january february march april may june july august september october november december"
)
WEEKDAYS: Final = word_set(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays"
)

# Words that no name contains: a run of capitals breaks at them.
NEVER_NAMES: Final = (
    MONTHS
    | WEEKDAYS
    | word_set("""
    i ok okay lol omg wow hey hi hello bye yo yay yea yeah yep yup ha hah haha hahaha asap fyi btw imo imho idk tbh pm am y'all
    ah aha aw aww awww mm mmm hm hmm hmmm ooh oh oof ouch oops phew ugh uh um whoa woah woo woohoo yum dang gosh congrats congratulations kudos
    thanks thank cheers bummer
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri
""")
)

# Titles: their full stop ends no sentence, and they are part of the name.
TITLES: Final = word_set("dr mr mrs ms mx prof st mt sgt capt gen lt rev sr jr")

# Common words that may begin a name: `New York` at the start of a sentence is not `York`.
NAME_OPENERS: Final = TITLES | word_set("""
    new san santa saint north south east west central united lake mount fort port los las la el uncle aunt auntie king queen prince princess
    president captain sir lady lord professor doctor judge senator mayor coach
""")

CONNECTORS: Final = ("of the", "of", "de la", "de", "del", "della", "di", "da", "van der", "van",
                     "von", "&")  # fmt: skip
ACRONYMS: Final = word_set("US UK EU UN UAE USA AI LA NY NYC DC TV PC HR PR")

# English words in -ly, -ing, -ed, ... are hardly ever names; these are.
NAMES_LIKE_WORDS: Final = word_set("""
    emily kelly sally molly billy holly lily polly carly kimberly beverly reilly riley lilly milly willy tilly elly ally wally shelly nelly
    italy sicily beijing nanjing chongqing sterling harding manning fleming browning boeing reading darjeeling fielding golding
    fred ted ned jared alfred wilfred mohammed muhammad ahmed hamed mohamed winifred
    clement olive clive steve dave maeve genevieve eve louis lewis chris agnes carlos james thomas charles nicholas jess tess
    constance florence lance france vance terrence terence clarence lawrence laurence provence
""")

# Words that begin sentences in conversations and technical texts.  An inflected form is common if
# its Porter stem is.
COMMON_WORDS: Final = (
    STOP_WORDS
    | NEVER_NAMES
    | word_set("""
    ability able absolute absolutely accept access accident according account achieve across act action active activity actual actually ad add
    address admire admit adopt adore adult adventure advice afford afraid afternoon age ago agree ahead aim air album alive allow almost alone
    along already alright also although always amaze amazing among amount anger angry animal announce annoy another answer anxious anybody
    anymore anyone anything anytime anyway anywhere apart apologies appeal apparent appear apple apply appreciate approach area argue arm around
    arrange arrive art article artist aside ask assume attach attempt attend attention author autumn available average avoid awake aware away
    awesome awful aww
    baby back bad bag bake balance ball band bank base basic basically basketball bath battle beach bear beat beautiful beauty become bed begin
    behind believe belong beneath benefit beside besides best bet better beyond big bike bird birth birthday bit bite black blame bless block
    blow blue board boat body book boot border bored bother bottle bottom bowl box boy brain brand brave bread break breakfast breath brief
    bright bring broke brother brown brush build building bus business busy buy bye
    cake calendar call calm camera camp campaign candle car card care career careful carry case cat catch cause celebrate certain certainly chair
    challenge chance change chapter character charity chase chat cheap check cheer cheers chicken child childhood children chocolate choice choose
    church city class classic clean clear clearly climb clock close clothes club coach code coffee cold collect college color colour combine come
    comfort comment common community company compare compete complete computer concern concert condition conference confirm confuse congrats
    congratulations connect consider constant contact contain content continue control cook cool copy correct cost council count country couple
    courage course cousin cover cozy crash crazy create creative crew cross crowd cry culture cup curious current currently custom customer cut
    cute cycle
    dad daily damn dance danger dark data date daughter day dead deal dear death decide decision deep default definite definitely degree delay
    delete delicious deliver demand depend describe design desire despite detail determine develop die diet different difficult dig digital dinner
    direct dirty disappoint discover discuss dish divide doctor doubt dog door double draft draw drawing dream dress drink drive driver drop dry
    due dude dude
    eager early earn earth ease easily easy eat edge edit education effect effort egg eight else email embrace emotion empathy employ empty enable
    encourage end energy engage enjoy enough ensure enter entire environment equal error escape especially essay essential even evening event
    eventually every everybody everyday everyone everything everywhere evidence exact exactly example excellent except excite exciting excuse
    exercise exist expect expensive experience explain explore express extra eye
    face fact fail fair faith fall false familiar family fan fancy fantastic far farm fashion fast father favor favorite favour favourite fear
    feature feed feel feeling feelings fellow felt field fight figure file fill film final finally find fine finger finish fire first fish fit
    five fix flag flight floor flow flower fly focus folks follow food fool foot force foreign forest forever forget form former forth fortunate
    fortunately forward found four frame free fresh friend friendship fruit full fun function fund funny furniture furthermore future
    gain game garden gather gay general generally gentle get getting gift girl give glad glance goal god gold gonna good goodbye goodness gosh
    gotcha gotta government grab grade graduate grand grandma grandpa grandmother grandfather grateful great green greet ground group grow growth
    guarantee guess guest guide guitar gun guy guys gym
    habit hair half hall hand handle hang happen happiness happy hard hardly hat hate head heal health hear heard heart heat heavy held hell help
    helpful hence hero hide high hike hint history hit hmm hmmm hobby hold holiday home honest honestly honor honour hope hopefully horse hospital
    host hot hotel hour house hug huge human hundred hunger hungry hurry hurt husband
    ice idea identify ignore image imagine immediately impact import important impossible impress improve include income increase incredible
    indeed indoor influence info inform information inside inspiration inspire instead instrument intend interest interesting internet interview
    introduce invest invite involve island issue item
    jacket job join joke journal journey judge jump
    keep key kick kid kids kill kind kinda kindness kitchen knew knife know knowledge known
    lack lady land language large last late lately later latest laugh law lay lazy lead leader learn least leave left leg legal lemme lend length
    less lesson let lets letter level library lie life lift light like likely limit line link list listen literally little live lively loads local
    location lock lonely long look loose lose loss lost lot lots loud love lovely low luck luckily lucky lunch
    mad made mail main mainly maintain major make mall mama man manage manager many map mark market marry master match mate material matter maybe
    meal mean meant meanwhile measure meat media medicine meditation meet member memory men mental mention mentor merge mess message method middle
    midnight mighty milk mind mindfulness mine minute miracle miss mistake mix mixed mode model modern mom moment moms money month mood moon
    moreover morning mostly mother motivate mountain mouth move movie mr much mum museum music musician mystery
    nah name narrow nature naturally near nearly necessary neck need negative neighbor neighbour nerve nervous net never nevertheless news next
    nice niece night nine nobody noise none nope normal normally north note nothing notice novel nowadays nowhere number nurse
    object obvious obviously occasion offer office often oh oil old one ones online oops open opening opinion opportunity option orange order
    ordinary organize original originally others otherwise ouch outdoor outside overall owner
    pack package page pain paint painting pair paper parent park part particular particularly partner party pass passion past path patience
    patient pause pay peace people perfect perfectly perform perhaps period permission person personal personally pet phone photo photography
    phrase physical piano pic pick picnic picture pics piece pizza place plan plane plant play player please pleasure plenty plus poem poet
    poetry point police polite pool poor pop popular positive possible possibly post pot potential pottery pour power practice pray prefer
    prepare present press pretend pretty prevent previous previously price pride print prior private probably problem process produce product
    profile program progress project promise proof proper protect proud prove provide public publish pull pure purple purpose push put
    quality quarter question quick quickly quiet quit quite quote
    race radio rain raise random rate rather raw reach react read reader ready real reality realize really reason rebuild recall receive recent
    recently recipe recommend record recover red reduce refer reflect refuse regard regardless regular regularly relate relationship relax release
    rely remain remember remind remote remove rent repair repeat replace reply report represent request require research respect respond response
    rest restaurant result return reveal review rewrite rich ride right ring rise risk river road rock role roll room root rough round routine row
    rule run running rush
    sad safe said sail sale salt sample sand save saw say scale scared scene schedule school science score scream screen sea search season seat
    second secret section secure see seek seem seen self sell send sense sentence separate series serious seriously serve service session set
    settle seven several shadow shake shame shape share sharp shift shine ship shirt shoe shoot shop short shot shout show shower shut shy sibling
    sick side sight sign signal significant silence silly similar simple simply since sing singer single sister sit site situation six size skill
    skin skip sky sleep slide slight slow slowly small smart smell smile smooth snack snow social society soft sold solid solve somebody someday
    somehow someone something sometime sometimes somewhere son song soon sorry sort soul sound sounds soup source space spare speak special
    specific speech speed spend spirit spiritual split spoke sport sports spot spread spring square stable staff stage stand star start state
    station status stay steal step stick still stock stomach stone stop storage store storm story straight strange stranger street strength
    stress stretch strict strike string strong structure struggle stuck student studio study stuff stupid style subject success sudden suddenly
    suffer sugar suggest suit summer sun sunrise sunset sunshine super supper support suppose sure surely surprise surprising surprisingly surround
    survive suspect sustain sweet swim swimming switch symbol system
    table tackle take talent talk tall taste tea teach teacher team tear tech tell ten tend tennis term terrible test text thank thankful
    thankfully thanks theater theatre theory therapy therefore thing things think third thirty thought thousand three thrill throughout throw thus
    ticket tie tight till time times tiny tip tired title today toe together told tomorrow tonight tons tool top topic total totally touch tough
    tour toward towards town toy track trade tradition traffic trail train training transgender transition transport travel treat tree trial trick
    trip trouble true truly trust truth try turn twelve twenty twice two type typical typically
    ugh ultimately uncle understand unfortunate unfortunately unique unit unless unlike unlikely update upgrade upset use useful user usual usually
    vacation valid valuable value various vegan vegetable version video view village violin virtual visit visual voice volume volunteer
    wait wake walk wall wanna want war warm warn wash waste watch water way weak wear weather web website wedding week weekend weekly weight weird
    welcome well went west wet whatever whenever wherever whichever whoa whoever whole wide wife wild win wind window wine wing winter wise wish
    woman women wonder wonderful wood word work workshop world worry worse worst worth write writer writing wrong
    yard year years yellow yes yesterday yoga young youth yummy zero zone
    ate became began bought brought built came caught drank drove fell flew forgot gave go goes gone got grew heard hid kept led lit met paid ran rang
    rode sang sat see sent shook slept sought spent spoke stole stood stuck swam taught threw told took tore understood woke won wore wrote
    allergies approximate capture chef chess clay coconut collaborate conversation counselling counseling count domestic epic exam fantasy guidance
    injury intense laughter obstacle pronoun rejection research setback someplace somewhat spill startup sunflower tangible theme trilogy turtle
    unconditional veggies contemporary confident hopefully
    academic acknowledge adapt additional adjust align allocate analysis analyze approximate aspect assess automate background benefit breakdown
    calculate checklist clarify click cohesive compile concept concise conclude conclusion conduct consequent consult context contextualize
    contribute convert criteria crucial dedicate define delegate demonstrate differ distribute edit efficient element emphasize encounter enhance
    establish estimate evaluate examine expand explicit facilitate feedback finance flexible formula fulfil gradual guideline highlight identity
    illustrate incorporate indicate initial inspect integrate interact investigate justify keyword leverage limitation logical maximize minimize
    monitor navigate needed obtain opt outline outcome overview paragraph percent phase pitch portfolio precise preferred primary principle
    prioritize probability proceed promote proper pros purchase recap recognize refine reflect rehearse reinforce reiterate require resource revise
    romance segment select sequence setup simplify skill solution specify step strategy strengthen subsequent substitute summary tailor target
    technical technique template tentative timeline transform usage utilize variation varied verify visualize vital workflow wrap
    api app application array bug branch build byte cache class client code command commit compile compute config configuration connection
    container database debug dependency deploy directory docker document endpoint error exception execute export fetch fix folder framework
    frontend backend generate hash implement index input install instance integer interface iterate job kernel library loop memory merge migrate
    migration module monitor network node null optimize output parameter parse password performance pipeline plugin port process program prompt
    protocol query queue refactor registry repository request resolve retry return runtime schema script server session stack storage summarize
    switch syntax table task thread token tool transaction trigger tutorial upload validate variable
""")
)

# Porter stems of emotional words, positive and negative in one list, because salience follows
# arousal, not valence.
EMOTION_STEMS: Final = word_set("""
    love hate happi joy joyou delight excit thrill ecstat amaz awesom incred wonder fantast beauti gorgeou brilliant adore cherish proud pride grate
    thank bless bliss glad cheer laugh smile fun hope inspir passion heartwarm touch move courag brave relief reliev
    sad unhappi cry cri tear griev grief mourn heartbroken heartbreak depress lone miser devast hurt pain ach agoni suffer regret guilt
    asham shame embarrass humili angri anger furiou rage mad annoi frustrat irrit upset disgust horribl horrif terribl aw awful dread
    afraid scare scari fear terrifi frighten nervou anxiou anxieti worri panic stress overwhelm exhaust desper shock stun surpris
    disappoint jealou envi betrai lost miss urgent disast tragic tragedi nightmar damn
""")

GREETINGS: Final = word_set(
    "hey hi hello yo hiya howdy bye goodbye goodnight thanks thank thx cheers wow aww congrats welcome"
)

# An utterance of these words alone is noise.
NOISE_WORDS: Final = GREETINGS | word_set("""
    ok okay k kk okey yeah yea yep yup yes ya nah no nope sure right alright fine cool nice great good awesome amazing perfect lovely sweet
    lol lmao rofl haha hahaha hehe hah heh hmm hmmm mm mmm mhm uh um uhh umm er ah oh ooh aha ahh ugh whoa yay oops huh
    you u so much a lot very really totally absolutely exactly indeed true agreed definitely of course got it gotcha i see same here too
    morning afternoon evening night everyone all guys there again omg btw please np problem anytime test testing ping brb ttyl gn gm thanks ty tysm
    sounds that's thats it's is
""")
