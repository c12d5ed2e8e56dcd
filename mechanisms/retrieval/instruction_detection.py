"""Instruction detection: finds standing instructions and preferences when they are said, and
retrieves those that fit a later request.

Cortex (section 8.1) names the gap: instructions are phrased like other statements and share few
words with the requests they are meant for, so neither words nor meaning retrieve them.  Here rules
read each sentence of an event: what it tells the hearer to do (speech act), whether it holds beyond
the moment (always, never, from now on, whenever, "when I ask about X"), and when it applies (the
scope clause, embedded apart).  The product of act, generality, speaker and the share of the text
that it takes is STANDING in [0, 1].  At a request, STANDING times the fit of the request with its
scope, in ln odds, is added to the prior of a memory.  A question about the past (recall) adds
nothing.  Any other question counts only for instructions with a scope, which says for which
questions they are meant.  At a statement, which asks for nothing, a standing memory loses what a
request would add; a statement of trouble ("the build fails") asks for help and counts as a
question.

The rules are for English and name no topic.  Their precision and recall on 300 utterances composed
for this purpose are in tests/mechanisms/test_instruction_detection.py.

Cost: O(length) per event for the rules, at most 8,192 characters, and one embedding for a scope
clause; O(n + s d) per query for s memories with STANDING above 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, forecast, hook
from ...engine.contract.records import ROLES
from ...engine.contract.vocabulary import EMBEDDER, EMBEDDING, LOG_PRIOR, ROW
from ...engine.text.features import fold, sanitise
from ...engine.text.memo import remembered
from ...engine.text.words import NO_SPACE, STOPS

READ: Final = 8_192  # most characters read of an event: its first and its last half of that
SENTENCE: Final = 600  # longer sentences are cut


class StandingKind(IntEnum):
    """The kind of a standing utterance; of several in one text the largest counts."""

    NONE = 0
    PREFERENCE = 1  # a lasting preference or constraint of the speaker
    SCOPED = 2  # an instruction for some requests
    GENERAL = 3  # an instruction for every request


SCOPED: Final = int(StandingKind.SCOPED)
GENERAL: Final = int(StandingKind.GENERAL)


class QueryKind(IntEnum):
    """The kind of a query."""

    RECALL = 0  # asks for what was said or happened
    OPEN = 1  # any other question, and words alone
    REQUEST = 2  # asks to do, write, explain or recommend something
    STATEMENT = 3  # tells, and asks for nothing


# --- columns --------------------------------------------------------------------------------------
STANDING = Column(
    "standing",
    np.float32,
    Scope.MEMORY,
    "1",
    0.0,
    "how much the memory is an instruction or preference for later requests; 0: none",
    low=0,
    high=1,
    upkeep=Upkeep(considered=True),
)
STANDING_KIND = Column(
    "standing_kind",
    np.int8,
    Scope.MEMORY,
    "1",
    0,
    "kind of the standing utterance, a value of StandingKind; 0: none",
    low=0,
    high=3,
)
STANDING_SCOPE = Column(
    "standing_scope",
    np.float32,
    Scope.MEMORY,
    "1",
    0.0,
    "unit vector of the clause that says when it applies; 0: none",
    ("dimensions",),
)
ASKING = Column(
    "asking",
    np.int8,
    Scope.EVENT,
    "1",
    -1,
    "kind of the current query, a value of Asking; -1: no words",
    low=-1,
    high=3,
)

# --- rules: sentences -----------------------------------------------------------------------------
# All patterns read lower case with single spaces.  Every repeat is bounded, so each search is
# linear in the length of the sentence.
_ENDS: Final = re.compile(
    rf"(?<=[.!?;{STOPS}])[\"')*]*\s+|{NO_SPACE}|\s*\n\s*|(?<=[.!?])\s*[-*•]\s+"
)
_QUOTED: Final = re.compile(r"[\"“][^\"“”\n]{1,300}[\"”]")
_PLEASE: Final = re.compile(r"\b(?:pls|plz|plse)\b")
_EDGE: Final = re.compile(r"^[^\w]+|[^\w?!.]+$")

_NOW = (
    r"from (?:now|here|this point|this moment|today|this day|here on) ?(?:on|onwards?|out|forward)?(?! \d)|going forward|moving forward"
    r"|henceforth|in (?:the )?future|for future \w+|as a (?:general )?rule|(?:by|as a) default|at all times|under no circumstances"
    r"|until further notice|unless (?:(?:i|we|you|you're|you are) )?[a-z' ]{0,20}otherwise|unless (?:i|we|told|asked|otherwise|you're told"
    r"|you are told)|until i (?:say|tell|ask)|no matter (?:what|how|which|who)|without exception|for the rest of (?:our|this|these"
    r"|the) (?:\w+ )?(?:chats?|conversations?|sessions?|project|thread)|throughout (?:our|this) (?:\w+ )?\w+|as a standing \w+|standing (?:rule"
    r"|instruction|order|request)|general rule|(?:please )?permanently"
)
_EVERY = (
    r"(?:every|each|any)(?: single)? ?time|whenever|(?:every|each) (?:single )?(?:day|week|month|year|morning|afternoon|evening|night|weekend|hour"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|(?:in|to|for|at|on|with|of) (?:every|each|any|all)(?: of)?\b"
    r"|(?:every|each) (?:[a-z]+ ){1,3}(?:must|should|ends?|has|have|is|gets?|starts?|includes?|contains?|comes?)"
)
_ALWAYS = (
    r"always|never|ever(?=\W*$)|ever again|don't ever|do not ever|not ever|at no time|no longer"
)
_REPLIES = (
    r"(?:answers?|repl(?:y|ies)|responses?|explanations?|messages|outputs?|suggestions|recommendations|summaries|conversations?|chats?|texts you"
    r"|questions? i ask)"
)
_YOURS = (
    rf"(?:your|our|all (?:of )?(?:your|our|future)|any of your|future) (?:[a-z]+ )?{_REPLIES}|(?:any|every)thing you [a-z]+|whatever you (?!think"
    r"|want|like|need|prefer|can|wish)[a-z]+"
)
_LASTING: Final = re.compile(rf"\b(?:{_NOW}|{_YOURS})\b")
_ALWAYS_EVER: Final = re.compile(rf"\b(?:{_ALWAYS})\b")
_GENERAL: Final = re.compile(rf"\b(?:{_NOW}|{_EVERY}|{_ALWAYS}|{_YOURS})\b")
_STRONG: Final = re.compile(
    rf"\b(?:{_NOW}|{_ALWAYS}|(?:every|each|any)(?: single)? ?time|whenever)\b"
)
_ONCE: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|right now|for now|just (?:this )?once|this (?:time|once|one|morning|afternoon|evening|week|weekend"
    r"|month)|(?:by|on|until|before|next|this|last) (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)|next (?:week|weekend|month"
    r"|year)|at the moment|in (?:a|an|one|two|ten|five) (?:minutes?|moment|hours?|bit|sec|second|days?|weeks?)|later|soon|asap|currently)\b"
)

# Clauses that say when an instruction applies.
_SUBJECT = (
    r"(?:i|i'm|i've|you|you're|you've|we|we're|someone|somebody|anyone|anybody|people|users?|the user|a|an|any|my|there|there's|there is|it's"
    r"|it is|the (?:topic|subject|conversation|talk|question|answer|request|message|text|discussion|matter|word|name)(?: \w+)?)"
)
_LEAD = (
    r"(?:(?:for )?as long as|so long as|when(?= (?:[a-z]+ ){1,3}(?:is|are|comes? up|asks?|wants?|needs?|mentions?|joins?)\b)"
    r"|if(?= (?:[a-z]+ ){1,3}(?:comes? up|asks?|mentions?|joins?)\b))|(?:(?:whenever|(?:every|each|any) ?time|every single time)(?: that)?"
    rf"|(?:when|if|before|after|while|once|where)(?= (?:{_SUBJECT}\b|\w{{2,}}ing\b|asked\b))|(?:when|if) it comes to|for (?:any"
    r"|every)thing(?: (?:about|related to|involving|to do with|concerning))?|for (?:all|any|every|each)(?: of)?|in (?:all|any|every"
    r"|each)(?: of)?|with (?:all|any|every|each)(?! other\b)(?: of)?|(?:on|after|before|during) (?:all|any|every|each)(?: of)?|at the (?:end"
    r"|start|beginning|top|bottom) of (?:all|any|every|each))"
)
_START = (
    r"(?:please|kindly|always|never|make sure|be sure|don't|do not|you (?:should|must|need|have)|i (?:want|need|prefer|like|expect|would|'d)|i'd"
    r"|just|then)"
)
_FRONTED: Final = re.compile(
    rf"^(?P<lead>{_LEAD}) (?P<clause>[^,;:]{{2,200}}?)(?:, ?(?:then )?|: ?| then | (?={_START}\b))(?P<main>.+)$"
)
_LISTED: Final = re.compile(
    rf"^(?P<lead>{_LEAD}) (?P<clause>[^;:]{{2,200}}), (?=(?:then |{_START}\b))(?P<main>.{{8,}})$"
)
_TRAILING: Final = re.compile(
    rf"^(?P<main>.{{3,400}}?),? (?P<lead>{_LEAD}) (?P<clause>[^;]{{2,300}}?)[.!]*$"
)
_TOPIC: Final = re.compile(
    r"^(?:for|in|with|on|about|regarding|concerning|as for|when discussing) (?!example|instance|fact|case|addition|general|short|the future"
    r"|future|now|that|this|the record|me|once|reference|the rest)(?P<topic>[^,;:]{2,100}), (?:then )?(?P<main>.+)$"
)
_ASKED: Final = re.compile(
    r"^(?:i(?:'m| am)?|we(?:'re| are)?|someone|anyone|the user)(?: ever| next| later)? (?:ask(?:ing)?|mention(?:ing)?|talk(?:ing)?|bring(?:ing)?"
    r"|inquir(?:e|ing)|discuss(?:ing)?|want|need|request|say|raise)(?: you| up)?(?: about| for| to| of| with| on| something about"
    r"| questions about| a question about| help with| advice on| anything about)?(?: you)?(?: to)? |^(?:it comes to|asked (?:about|for|to)"
    r"|discussing|talking about) |^(?:a question|questions?|something|a topic|anything)(?: that)? (?:is |are |comes up )?(?:about|on|involves?"
    r"|concerns?) "
)
_PAST: Final = re.compile(
    r"^(?:i|you|we|they|he|she|it|someone|people|my \w+|a \w+)(?: \w+ly| just| first| last)? (?:was|were|had|did|went|came|got|said|told|saw|met"
    r"|left|made|felt|took|knew|heard|thought|ran|(?!need|feed|exceed|proceed|embed|succeed|speed)[a-z]{2,14}ed)\b"
)
_MOMENT: Final = re.compile(
    r"\b(?:(?:get|gets|getting) (?:home|here|back|there|off|up|in|out|to|a|the|any)|arrives?|arriving|(?:are|is|am|you're|i'm|it's|'s) (?:done"
    r"|ready|back|free|home|here|finished|available|over|up|around|there)|finish(?:es)?|have (?:a|any|some)? ?(?:time|chance|moment|minute"
    r"|second)|land|leaves?|returns?|comes? (?:back|home|over|by|in)|see (?:him|her|them|it|this|that|your|mum|mom|dad)|wakes? up|reach"
    r"|hear (?:from|back)|can|like|feel like|pass|go (?:out|shopping|past|by|to)|visit)\b"
)
_CHANCE: Final = re.compile(
    r"\b(?:chance|moment|minute|second|time|free|ready|able|can|like|want|wish)\b"
)
REPEATED: Final = ("every", "each", "any", "for", "in", "with", "on", "at")
_LIKING: Final = re.compile(
    r"\b(?:like|love|hate|prefer|appreciate|enjoy|dislike|mind|helps?|helpful|great|nice|good|ideal|lovely|useful|easier|grateful)(?: it| me"
    r"| for me)?(?: much| most| best| better)?$"
)
_MAKES: Final = re.compile(
    r"^(?:please |now |then |also |just )*(?:(?:make|add|write|draw|put|give) (?:me )?(?:the|a|an|it|each|every|all)\b|create|build|implement"
    r"|design|generate|fix|change|find|list|print|rename|visit|count)\b"
)
_OURS: Final = re.compile(r"\b(?:you|your|i|i'm|we|me|my|our)\b")
_POLITE: Final = re.compile(
    r"^(?:(?:at all )?possible|necessary|needed|appropriate|relevant|applicable|in doubt|you (?:can|don't mind|wouldn't mind|like|want|wish"
    r"|have to|must|ask me|think|know)|i may|i might|i can|i could|it's (?:ok|okay|possible|not too)|it is possible)\b"
)
_ANSWERS: Final = re.compile(
    rf"^(?:of )?(?:your|our|my|the|these|future|single|new|of|and|\s|{_REPLIES}|questions?|requests?|topics?|times?|cases?|you (?:answer|reply"
    r"|respond|write|speak|talk)|to me|i ask(?: you)?(?: (?:for |about )?(?:something|anything|questions?|a question))?)+$"
)

# Acts.
_OPENER: Final = re.compile(
    r"^(?:(?:and|but|so|also|oh|ok|okay|hey|hi|hello|well|btw|by the way|one more thing|another thing|to be clear|important|reminder|thanks"
    r"|thank you|great|perfect|sure|alright|right|actually|generally|in general|quick note|note|a note|rule|new rule|ground rule|first|second"
    r"|third|finally|lastly|next|additionally|again|honestly|look|listen|as a reminder|just so you know|fyi|ps|p\.s|step \d+|\d+)(?:[,:;!.)-]+ ?"
    r"| (?=\w))|(?:yes|no|nope|yeah|nah)[,:;!.-]+ ?|(?:just )?(?:note|remember|keep in mind|bear in mind)(?: that|,|:) (?!i\b|i'm\b|my\b|we\b)"
    rf"|(?:please )?(?:{_NOW})[,:]? |(?:every|each) [a-z]+(?: [a-z]+)?, |(?!(?:when|whenever|if|for|in|every|each|any|with|on|before|after)\b"
    r"|[a-z' ]{0,40}\b(?:says?|said|told|tells|asked|goes|reads?|wrote|writes|motto)\b)[a-z' ]{2,40}: |(?:as|like) (?:i|we) (?:said"
    r"|mentioned)[^,]{0,40}, )"
)
_VERBS = (
    r"abbreviate|accept|acknowledge|add|address|adjust|admit|adopt|aim|alert|align|allow|answer|append|apply|approach|archive|arrange|ask|assume"
    r"|attach|avoid|back|base|be|begin|block|bold|book|break|bring|build|buy|calculate|call|cancel|capitali[sz]e|cc|challenge|change|charge|check"
    r"|choose|cite|clarify|clean|close|collect|comment|compare|compute|confirm|consider|consult|contact|convert|copy|correct|count|cover|create"
    r"|cross-check|cut|debug|define|deliver|describe|display|divide|do|document|don't|double check|double-check|draft|draw|drop|edit|email"
    r"|emphasi[sz]e|encourage|end|ensure|exclude|explain|express|fact-check|factor|favou?r|feed|fill|filter|finish|flag|focus|fold|follow|format"
    r"|gather|get|give|go|greet|group|guess|have|help|hide|highlight|hold|hyphenate|ignore|include|indent|inform|insert|introduce|invite"
    r"|italici[sz]e|join|justify|keep|knock|label|lead|learn|leave|let|limit|link|list|lock|log|look|maintain|make|mark|match|measure|mention|mix"
    r"|move|multiply|mute|name|note|notify|number|observe|offer|omit|open|order|organi[sz]e|outline|paint|pair|pass|pause|pay|phrase|pick|ping"
    r"|place|plan|point|post|praise|prefer|prepare|present|print|prioriti[sz]e|produce|proofread|propose|prove|provide|punctuate|put|quiz|quote|rank"
    r"|read|recap|recommend|record|recycle|refer|reference|refrain|refuse|reject|remain|remember|remind|remove|rephrase|replace|reply|report"
    r"|reserve|respect|respond|restrict|return|reveal|review|rewrite|round|run|save|say|scan|schedule|search|select|send|separate|serve|set|share"
    r"|shift|shorten|show|sign|signal|simplify|skip|solve|sort|speak|specify|spell|split|stand|start|state|stay|steer|stick|stop|store|stretch"
    r"|structure|substitute|suggest|summari[sz]e|supply|support|swap|switch|tag|take|talk|teach|tell|test|text|think|throw|tidy|title|total|track"
    r"|transcribe|translate|treat|trim|try|turn|type|underline|update|upload|use|validate|vary|verify|visit|wait|walk|warn|wash|water|wear|weigh"
    r"|work|wrap|write"
)
_POLITELY = r"(?:please |kindly |just |also |then |instead |only |simply |you can |feel free to |at least |first )*"
_IMPERATIVE: Final = re.compile(
    rf"^{_POLITELY}(?:(?:don't|do not|never|always) (?:ever )?(?:just )?)?(?:{_VERBS})\b(?! (?:is|are|was|were|has|i|we|he|she|they"
    r"|to me that)\b)|^(?:absolutely |please )?no (?!one|idea|way|problem|worries|need|doubt|wonder|matter|news|more|thanks|big deal)[a-z]+"
)
_ALWAYS_DO: Final = re.compile(
    r"^(?:please |kindly |just |also |but |and )*(?:always|never|don't ever|do not ever)(?: please| just| again| ever)? (?!(?:a|an|the|my|your"
    r"|our|his|her|so|such|good|great|nice|happy|glad|fun|lovely|there|here|in|on|at|with|for|and|or|again|mind|better|easy|easier|too|been|had"
    r"|seen|knew|thought|heard|felt|gone|did|was|were|is|are|got|happens?|works|the same|one|something|somewhere|someone|enough|more|less|tired"
    r"|busy|ready|sure|easily|really|quite|very|late|early|hungry|in|from|about|to|as|up|down|out|have i|did i|do i|would i|will i|could i"
    r"|(?:give up|forget (?:that|how|where|who)|stop (?:dreaming|believing|learning|trying)|believe|be yourself|say never|trust|underestimate"
    r"|meant|saw|went|met|told|said|did|made|took|came|found))\b)(?!\w+ing\b)"
    r"(?!(?!focus\b)[a-z]+[^s\W]s\b)(?!(?!need|feed|embed|exceed|proceed)[a-z]{2,14}ed\b)[a-z]+"
)
_TOLD: Final = re.compile(
    r"\byou (?:(?:don't|do not) (?:need|have) to|should(?:n't)?|must(?:n't)?|have to|need to|ought to|are to|shall|had better|(?:are"
    r"|were) (?:not |never )?(?:allowed|supposed|expected) to|may (?:never|always|only)|can (?:always|only) (?=assume|use|skip"
    r"|call))\b(?! (?:\w+ )?(?:have|been))|\bi(?:'d| would)?(?: really| also| always| just| strongly| only| do| still)* (?:want|need|expect|ask"
    r"|insist|request|require)(?: that)? (?:you\b|your\b|all\b|every\b|any\b)|\bi(?:'d| would)(?: really| also| always| just)* (?:like|love"
    r"|appreciate|be grateful)(?: it)?(?: for| if| that| when)? (?:you\b|your\b|all\b|every\b)|\bplease\b|(?<!to )\b(?:make sure|be sure"
    r"|ensure)\b|\b(?:don't|do not) forget to\b|\bremember to\b|\b(?:it's|it is) (?:important|essential|crucial|vital)(?: to me)?(?: that you"
    r"| for you| you| to)|^i(?: really| only| also| always)? (?:want|need|expect) (?!to\b|a new\b)[a-z]+ (?:[a-z]+ ){0,4}(?=from now"
    r"|going forward|in future|in the future|at all times)|^(?:all|every|each|any)(?: of)? (?:[a-z]+ ){1,4}(?:needs?|must|should|has to"
    r"|have to|is to|are to)\b|\b(?:no circumstances|at no time|in no case) (?:should|may|must) you\b|^should you (?!ever|wish|need|want|decide"
    r"|have)|\blet's (?:always|never|stick|keep|use|agree|make it|not)\b|\bwe should (?:always|never)\b(?! have)|\b(?:should|must|has to|have to"
    r"|needs? to) (?:always|never) (?:be|use|include|contain|involve|mention|exceed|show|state|say|follow|list|give|link|end|start|come"
    r"|have (?!been|\w+ed\b))|\bit (?:would|'d|will)(?: really| also)? (?:help|be (?:helpful|great|nice|good|best|better|ideal|lovely|useful"
    r"|easier))(?: me| for me)? (?:if|when) you\b|\b(?:are|is) (?:to be|always to be|never to be)\b|\b(?:no|without) [a-z ]{2,30},? (?:please"
    r"|ever)\b|\byou(?:'re| are) (?:never|always) to\b|\byou will (?:always|never)\b|\bthe rule is\b"
)
_REPORTED: Final = re.compile(
    r"\b(?:told|asked|taught|reminded|advised|begged|warned|wants|wanted|tells|asks|reminds|forced|helped|made|promised|learned|learnt|decided"
    r"|tried|managed) (?:me |us |him |her |them |myself |\w+ )?(?:to |that (?:i|we|he|she|they) )|\b(?:states?|says|requires?|stipulates?"
    r"|claims?|means?) (?:that|to)\b|\b(?:people|person|friends?|everyone|everybody|parents?|children|kids|men|women|teachers?|students?"
    r"|leaders?|captains?|players?|employees?|drivers?|tenants?|guests?|one|nobody) (?:should|must|has to|have to|needs? to)\b|\b(?:he|she|they"
    r"|mom|mum|dad|mother|father|grandma|boss|coach|doctor|teacher|people|everyone|everybody|nobody|who)(?: \w+ly| always| never| once| often"
    r"| still| just| also| would| used to){0,2} (?:says?|said|tells?|told|thinks?|thought|asks?|asked)\b|\b(?:he|she|they|it|i|who|which"
    r"|that)(?:'s|'ve|'d|'re)? (?:always|never)(?! (?:want|need|prefer|like|expect|rather|eat|drink|use|buy|wear|fly))\b"
)
_WISH: Final = re.compile(
    r"\bi(?:'d| would)?(?: really| also| always| just| strongly| much| do| absolutely| generally| usually| still| personally)* (?:(?:prefer|like"
    rf"|love|enjoy)(?: it)?(?: that| if| when| for|) (?:you (?!so|too|all|very|guys|as|and|because|both)|your (?={_REPLIES}))|(?:hate|dislike"
    r"|don't like|do not like|can't stand|don't want|do not want|don't need|do not need|am not a fan of|am tired of)(?: it)?(?: when| if| that"
    rf"|) ?(?:you (?!so|too|all|very|guys)|your (?=[a-z ]{{0,12}}{_REPLIES}))|rather you|(?:prefer|like|want|need|expect|don't like|don't want"
    rf"|do not want|hate)(?: \w+){{1,4}} in (?:your|all|any|the|every|my) (?:[a-z]+ )?{_REPLIES}|(?:prefer|like|want|need|expect) (?:my |your "
    rf"|the |all )(?:[a-z]+ )?{_REPLIES})"
)
_STYLE: Final = re.compile(
    r"^(?:please |kindly |just |also )*(?:call me (?!back|when|later|tomorrow|tonight|if|at|on|asap|now|maybe|once|after|before|in|from|to|about"
    r"|for|as soon|sometime|again|a\b|an\b|crazy|today|this)|(?:don't|do not|never) call me (?!back|when|later|if|at|on|now|after|before|in|from"
    r"|again|unless|until)|address me|refer to me|speak to me|talk to me (?:like|as|in)|treat me|(?:please )?(?:stop|quit|no more|cut out) (?!by"
    r"|at|here|there|in\b|for|the car|it\b|that\b|this\b|now|worrying|crying)(?:\w+ing\b)|use (?:a|an|the)?(?: [a-z]+)? ?(?:tone|language"
    r"|spelling|units|voice|style)\b|(?:don't|do not) (?:[a-z]+ ){1,4}(?:in|at the end of|with|to|of|from) (?:your|any"
    rf"|the) (?:[a-z]+ )?{_REPLIES})"
)
_ASK_ALWAYS: Final = re.compile(
    r"^(?:[a-z]+, )?(?:can|could|would|will)(?:n't)? (?:you|we)(?: (?:also|just|please|kindly|mind|try to|instead|then|at least"
    rf"|only))*(?P<always> (?:always|never|not ever))?(?: (?:also|just|please))* (?:{_VERBS}|[a-z]{{3,}}ing)\b"
)
_BELOW: Final = re.compile(
    r"\b(?:who|which|where|why|how|what|whose|because|about|if"
    r"|(?<!sure )(?<!prefer )(?<!want )(?<!like )(?<!expect )(?<!important )(?<!ensure )(?<!consider )(?<!remember )(?<!assume )(?<!mention"
    r" )(?<!note )(?<!mind )(?<!check )(?<!know )(?<!fact )that)\b"
)
_WANTED: Final = re.compile(
    r"^i(?:'d| would)?(?: always| only| really| just| also| usually)* (?:want|need|expect|like|prefer)\b"
)
_HABITS = r"eat|drink|use|buy|wear|fly|cook|order|smoke|shop|take|travel|read|work|watch"
_PREFER: Final = re.compile(
    r"\bi(?:'d| would)?(?: really| still| generally| usually| typically| normally| always| strongly| much| personally| definitely| honestly"
    r"| also| do| tend to| mostly| far| now)* prefer\b(?! not to say)|\bi(?:'d| would)(?: much| always)? rather (?:have|be|use|get|work|eat"
    r"|travel|read|take|avoid|pay|live|drive|walk|fly)\b(?! been)|\bmy (?:[a-z]+ ){0,2}(?:preference|preferred [a-z]+|preferred"
    r"|favou?rites?(?: [a-z]+){0,3}|go-to(?: [a-z]+){0,2})(?: (?:for|when|in) [a-z ]{2,40}?)?(?: is| are|'s)\b|\bi(?: really| absolutely"
    r"| also| still| personally| just| do| generally| usually| mostly| only| always){0,3} (?:like|love|enjoy|adore|hate|dislike|detest|avoid"
    r"|can't stand|cannot stand|can't tolerate|can't (?:eat|drink|have)|cannot (?:eat|drink|have)|don't (?:really |usually |generally )?(?:like"
    r"|enjoy|eat|drink|care for|do well with|use))\b(?! (?:you|it|this|that|these|those|how|him|her|them|what|when|where|the way|the idea"
    r"|the fact|the new|the photo|the picture|your|to (?:be (?:a|the|that)|say|admit|think|see|hear|know|tell|break|bother)|seeing|hearing"
    r"|doing this|being here|my (?:new|mum|mom|dad|husband|wife|kids|family|son|daughter|sister|brother))\b)(?! ?[.!,?]|$)|\bi (?:never|only"
    rf"|strictly) (?:{_HABITS})\b|\bi (?:don't|do not) (?:{_HABITS})\b(?= (?:any|meat|dairy|gluten|\w+ products|\w+ food|\w+s\b|alcohol|coffee"
    r"|[a-z]+ (?:at|on|after|before)))|\bi(?:'m| am)(?: also| a| an| strictly| mostly| very| severely| really| basically| quite"
    r"| mildly)* (?:vegan|vegetarian|allergic|intolerant|lactose|gluten|celiac|coeliac|pescatarian|diabetic|not a (?:big |huge )?fan of|(?:big "
    r"|huge )?fan of|fond of|keen on|partial to|not (?:into|keen|fond)|sensitive to|(?:really |very |so )?into|colou?r-?blind|left-handed|kosher"
    r"|halal)\b|\b(?:works?|suits?|is|are) (?:best|better) for me\b|\bsuits? me (?:best|better|fine|well)\b|\bi (?:need|want|like) (?:my|things"
    r"|everything) [a-z]+|\bi always (?:want|need|prefer|expect|like)\b|\bi have (?:a|an) (?:\w+ ){0,2}(?:allergy|intolerance)\b"
)
_ABOUT_ME: Final = re.compile(
    r"^(?:please |just |also )*(?:remember|keep in mind|bear in mind|don't forget|do not forget|note|be aware|assume|know)(?: that)? (?:i|i'm"
    r"|i've|my|we|our|we're)\b(?! (?:have|need|got) (?:a|an|to)\b)"
)
_JOINED: Final = re.compile(
    r"(?:[,;]? (?:so|but)|[,;] (?:and|or|then)) (?=(?:please|always|never|don't|do not|make sure|call me|keep|stick|from now on|whenever|when i)\b)"
)
_ASKING: Final = re.compile(
    r"[,;] (?:and |so |but |then )?(?=(?:can|could|would|will|do|does|is|are|should|how|what|which|where|who|any)\b[^;]{3,400}\?$)"
)


def sentences(text: str) -> list[str]:
    """Sentences of a text in lower case with single spaces, quotations replaced by `x`, marks at
    both ends removed.  O(length), bounded by READ.

    >>> sentences('- Always reply in French!  She said "never again".')
    ['always reply in french!', 'she said x.']
    """
    if len(text) > READ:
        text = f"{text[: READ // 2]}\n{text[-READ // 2 :]}"
    text = _QUOTED.sub(
        "x", _PLEASE.sub("please", fold(sanitise(text)).replace("’", "'").replace("‘", "'"))
    )
    parts = (_EDGE.sub("", " ".join(part[:SENTENCE].split())) for part in _ENDS.split(text))
    return [part for part in parts if part]


class Said(NamedTuple):
    """The most general standing sentence of a text.

    kind   NONE if there is none
    scope  the clause that says when it applies; empty unless the kind is SCOPED or PREFERENCE
    share  words of all standing sentences over the words of the text
    """

    kind: StandingKind
    scope: str
    share: float


@remembered
def standing_of(text: str) -> Said:
    """Kind and scope of the most general standing sentence of a text, and the share of the text
    that stands.  O(length).

    >>> standing_of("When I ask about recipes, always use metric units.")
    Said(kind=<StandingKind.SCOPED: 2>, scope='recipes', share=1.0)
    >>> [standing_of(text).kind.name for text in ("From now on, answer in French.", "I prefer window seats.", "She always calls on Sundays.")]
    ['GENERAL', 'PREFERENCE', 'NONE']
    >>> standing_of("I prefer window seats. I fly on Monday.").share
    0.5
    """
    best: tuple[StandingKind, str] = (StandingKind.NONE, "")
    words = standing = 0
    for sentence in sentences(text):
        judgement = max(
            (
                judged(part)
                for part in (sentence, *_JOINED.split(sentence), *_ASKING.split(sentence))
            ),
            key=itemgetter(0),
        )
        best = max(best, judgement, key=itemgetter(0))
        length = sentence.count(" ") + 1
        words += length
        standing += length if judgement[0] else 0
    return Said(*best, standing / words if words else 0.0)


def judged(sentence: str) -> tuple[StandingKind, str]:
    """Kind and scope of one sentence as `sentences` gives it.  O(length)."""
    main = opened(sentence)
    asks = _ASK_ALWAYS.match(main)
    if main.endswith("?") and asks is None:
        return StandingKind.NONE, ""
    clauses = without_scope(main)
    if clauses is None:
        return StandingKind.NONE, ""
    rest, scope, conditional = opened(clauses.main), clauses.scope, clauses.conditional
    once = _ONCE.search(sentence) is not None and _STRONG.search(sentence) is None
    if once or _REPORTED.search(rest):
        return StandingKind.NONE, ""
    if asks is None and (
        _WISH.search(rest) or _STYLE.match(rest) or (clauses.asked and _WANTED.match(rest))
    ):
        return _instruction(scope)
    if _ALWAYS_DO.match(rest) or (asks is not None and asks["always"]):
        return _instruction(scope)
    if (_IMPERATIVE.match(rest) or asks is not None) and (
        _lasting(sentence) or (conditional and _BELOW.search(rest) is None)
    ):
        return _instruction(scope)
    if asks is None and _TOLD.search(rest) and (conditional or _GENERAL.search(sentence)):
        return _instruction(scope)
    return (
        (StandingKind.PREFERENCE, scope)
        if asks is None and (_PREFER.search(rest) or _ABOUT_ME.match(rest))
        else (StandingKind.NONE, "")
    )


def _lasting(sentence: str) -> bool:
    """Whether an imperative is said to hold beyond the moment, and not in a clause about
    something else ("a song that never ends").
    """
    if _LASTING.search(sentence):
        return True
    match = (
        _ALWAYS_EVER.search(sentence)
        if _MAKES.match(sentence) and _OURS.search(sentence) is None
        else _GENERAL.search(sentence)
    )
    return match is not None and _BELOW.search(sentence[: match.start()]) is None


def _instruction(scope: str) -> tuple[StandingKind, str]:
    return (StandingKind.SCOPED if scope else StandingKind.GENERAL), scope


def opened(sentence: str) -> str:
    """The sentence without greetings, connectives and expressions of generality before its first
    clause.

    >>> opened("ok, and from now on, please answer in french.")
    'please answer in french.'
    """
    while (match := _OPENER.match(sentence)) and match.end() < len(sentence):
        sentence = sentence[match.end() :]
    return sentence


class Clauses(NamedTuple):
    """A sentence in its clauses.

    main         the main clause
    scope        what the other clause says about when it applies; empty if there is none, or if it
                 names every request
    conditional  whether there is such a clause
    asked        whether that clause is about what is asked or mentioned
    """

    main: str
    scope: str = ""
    conditional: bool = False
    asked: bool = False


def without_scope(sentence: str) -> Clauses | None:
    """The clauses of a sentence; None if it is about a single or a past occasion.  O(length).

    >>> without_scope("when i ask about recipes, give me metric units.")
    Clauses(main='give me metric units.', scope='recipes', conditional=True, asked=True)
    >>> without_scope("call me when you get home.") is None
    True
    """
    for pattern in (_LISTED, _FRONTED, _TRAILING):
        if not (match := pattern.match(sentence)) or _LIKING.search(match["main"]):
            continue
        when, main, said = match["lead"], match["main"], match["clause"].strip(" ,.!?")
        if _POLITE.match(said):
            return Clauses(main)
        answers = _ANSWERS.match(said) is not None
        if pattern is _TRAILING and _MAKES.match(main) and not (answers or _OURS.search(said)):
            continue
        repeated = (
            when.startswith(REPEATED)
            or (when.startswith("whenever") and not _CHANCE.search(said))
            or _STRONG.search(main)
        )
        if _PAST.match(said) or _ONCE.search(said) or (_MOMENT.search(said) and not repeated):
            return None
        return Clauses(
            main, "" if answers else scope_text(said), True, _ASKED.match(said) is not None
        )
    if match := _TOPIC.match(sentence):
        return Clauses(match["main"], "" if _ANSWERS.match(match["topic"]) else match["topic"])
    return Clauses(sentence)


def scope_text(clause: str) -> str:
    """The clause without "I ask about" and the like: what is embedded.

    >>> scope_text("i ask you about travel plans"), scope_text("you write code")
    ('travel plans', 'you write code')
    """
    return _ASKED.sub("", clause) or clause


def level(
    kind: StandingKind, speaker: str, share: float, preference: float, named: float, whole: float
) -> float:
    """STANDING: a v min(1, p / w), with a = 1 for an instruction and `preference` for a preference;
    v = 0 for the assistant, `named` for an instruction that a named person gives another, else 1; p
    the share of the text that stands, and w = `whole`.  O(1).

    >>> [level(StandingKind.GENERAL, who, 1.0, 0.5, 0.25, 0.5) for who in ("user", "", "system", "Ada", "assistant")]
    [1.0, 1.0, 1.0, 0.25, 0.0]
    >>> [level(StandingKind.PREFERENCE, "user", share, 0.5, 0.25, 0.5) for share in (0.75, 0.5, 0.25)]
    [0.5, 0.5, 0.25]
    """
    if kind is StandingKind.NONE or speaker == "assistant":
        return 0.0
    act = (
        preference
        if kind is StandingKind.PREFERENCE
        else named
        if speaker and speaker not in ROLES
        else 1.0
    )
    return act * min(1.0, share / whole)


# --- rules: queries -------------------------------------------------------------------------------
_SAYING = (
    r"(?:\w{3,14}ed|said|told|brought|wrote|gave|chose|made|did|went|set|saw|met|took|bought|got|came|ate|drank|found|left|lost|sold|spent|began"
    r"|drove|flew|heard|kept|knew|read|ran|sent|won|built|paid|wore)"
)
_RECALL: Final = re.compile(
    r"\b(?:did|didn't|had|was|were|wasn't|weren't) (?:i|we|you|he|she|they|it|my|our|your|his|her|the|that|this|there|any|someone|anyone"
    r"|[a-z]+)\b|\b(?:have|has|haven't|hasn't) (?:i|we|you|he|she|they|it|my|our|your|his|her|[a-z]+)(?: \w+){0,3} (?:ever|been|already|\w+ed"
    r"|told|said|given|made|had|done|seen|gone|taken|met|read|written|bought|chosen|begun|set|become)\b|\b(?:i|we|you|he|she|they)(?:'ve| have"
    rf"|'d| had)?(?: \w+ly| just| first| already| last| previously| once)? {_SAYING}\b|\b(?:remind me|tell me again) (?:what|when|where|who|which"
    r"|how|why|of|about)|\b(?:do|can|don't) (?:you|i|we) (?:remember|recall)\b|\bremember (?:when|what|where|who|how)\b|\blast time\b"
    r"|\bpreviously\b|\bago\b|\bso far\b|\bearlier (?:in|today|this|on)\b|\b(?:our|my|these|the|this|past|previous) (?:last |previous |past "
    r"|earlier )?(?:conversations?|chats?|discussions?|sessions?)\b|^(?:who|what|which)(?: \w+){0,4} (?:was|were|had|did|went|came|got|gave"
    r"|told|said|won|made|took|bought|wrote|sent|moved|(?!need)\w{3,14}ed)\b|\bused to\b"
)
_ASKED_FOR: Final = re.compile(
    r"^(?:\w+[,!] |(?:hey|hi|hello|ok|okay|so|and|also|now|great|thanks)[,!]? )*(?:please |kindly )*(?:(?:can|could|would|will"
    r"|may)(?:n't)? (?:you|i get|i have|we)\b|help\b|let's\b)|\bplease\b|\bhow (?:do|can|could|should|would|might|to|about|must)\b(?: (?:i|we"
    r"|you|one))?|\bshould (?:i|we|one)\b|\bwhat (?:should|would|could|can|do) (?:i|we|you (?:recommend|suggest|advise|propose|think))\b"
    r"|\b(?:what's|what is|what are|which is|which are|is there|are there)(?: some| the| a| an| any)? (?:best|good|better|easiest|right|nice"
    r"|great|ideal|proper|quickest|safest|cheapest|recommended|most (?:\w+) way|tips|ideas|ways?|options|alternatives|steps|suggestions)\b"
    r"|\bwould (?:be (?:a|the) (?:good|best|better|nice|great|safe)|it be (?:wise|better|best|ok|okay|smart))\b|\b(?:steps|things) are needed\b"
    r"|\bwhere (?:do|should) i (?:start|begin)\b|\bi(?:'m| am)? (?:need|want|would like|'d like|looking for|trying to|wondering|thinking (?:of"
    r"|about)|planning)\b|\bi'd (?:like|love)\b|\b(?:any|some) (?:good )?(?:ideas|tips|suggestions|recommendations|advice|thoughts)\b"
    r"|\b(?:recommend|suggest|advise|propose)\b|\bhelp me\b|\bwalk me through\b|\bshow me\b|\bgive me\b|\bteach me\b|\bdo you have (?:any|a"
    r"|some)\b|\bmind (?:\w+ing)\b"
)
_REQUESTED: Final = re.compile(
    rf"^(?:please |kindly |now |then |also |ok |okay |so |and |next |great |thanks )*(?:(?:don't|do not) )?(?:{_VERBS}|plan|design|create|build"
    r"|generate|fix|debug|solve|refactor|implement|prepare|edit|improve|rewrite|rephrase|find|search|book|compose|brainstorm|develop|estimate"
    r"|evaluate|analy[sz]e|install|configure|buy|tell|optimi[sz]e|expand|continue|define|illustrate|investigate|map|polish|quiz|rate|research"
    r"|critique|sketch)\b(?! (?:i|is|are|was|were|you|did)\b)"
)


def asking_of(text: str) -> QueryKind | None:
    """Kind of a query; None without words.  O(length).

    >>> [asking_of(q).name for q in ("When did I move?", "Can you write a haiku?", "What languages does she speak?", "Remind me what I said.")]
    ['RECALL', 'REQUEST', 'OPEN', 'RECALL']
    >>> [asking_of(q).name for q in ("The kettle broke this morning.", "The build keeps failing.", "broken kettle")]
    ['STATEMENT', 'OPEN', 'OPEN']
    """
    parts = [opened(part) for part in sentences(text)]
    if not any(c.isalnum() for part in parts for c in part):
        return None
    last = [part for part in parts if part.endswith("?")] or parts
    if any(_ASKED_FOR.search(part) or _REQUESTED.match(part) for part in parts) and not any(
        _told(part) for part in last
    ):
        return QueryKind.REQUEST
    if _states(parts):
        return QueryKind.STATEMENT
    return QueryKind.RECALL if any(_RECALL.search(part) for part in last) else QueryKind.OPEN


def _states(parts: list[str]) -> bool:
    """Whether the sentences tell something and ask for nothing; trouble asks for help."""
    asks = (
        part[-1] not in ".!"
        or _TELLING.match(part)
        or _QUESTIONING.match(part)
        or _TROUBLE.search(part)
        for part in parts
    )
    return any(map(_STATED.match, parts)) and not any(asks)


_STATED: Final = re.compile(r"^\S+ \S+ \S.*[.!]$")  # three words or more
_TROUBLE: Final = re.compile(
    r"\b(?:fail(?:s|ed|ing|ure)?|errors?|exceptions?|problems?|issues?|troubles?|bugs?|stuck|wrong|crash(?:es|ed|ing)?|confus(?:ed|ing)|broken"
    r"|struggl(?:e|es|ing)|unsure|not sure|no idea|can't|cannot|can not|couldn't|doesn't|don't|won't|isn't|aren't|does not|do not)\b"
)
_TELLING: Final = re.compile(
    r"^(?:(?:can|could|would|will) you )?(?:please |also )*(?:tell|remind|list|summari[sz]e|recap|show|give|describe|walk|name|recall|remember"
    r"|explain|provide|outline|help me (?:remember|recall))\b"
)
_QUESTIONING: Final = re.compile(
    r"^(?:who|what|when|where|which|why|whose|how (?:many|much|long|often|old|did|was|were|had|has|have)|did|was|were|had|have|has"
    r"|do you (?:remember|recall))\b"
)


def _told(part: str) -> bool:
    """Whether the sentence asks for the past although it may have the form of a request: "can
    you tell me what I said".
    """
    return bool(_RECALL.search(part) and (_TELLING.match(part) or _QUESTIONING.match(part)))


# --- equations ------------------------------------------------------------------------------------
@kernel
def add_fit(
    standing: Any,
    kind: Any,
    scope: Any,
    embedding: Any,
    query: Any,
    floor: float,
    scoped: float,
    others: float,
    out: Any,
) -> None:
    """out += g s_i max(0, cos(q, c_i)): c_i is the scope of memory i or, without one, its
    embedding; an instruction for every request fits at least `floor`.

    standing   (n,)    1  s
    kind       (n,)       value of StandingKind
    scope      (n, d)  1  unit vectors; 0: no scope
    embedding  (n, d)  1  unit vectors of the memories
    query      (d,)    1  unit vector q
    floor      ()      1  least fit of an instruction without scope
    scoped     ()      ln  g of instructions with a scope: what one that fits fully gets
    others     ()      ln  g of all other standing memories
    out        (n,)    ln  added to where g s is not 0
    Cost: O(n + s d) for s standing memories.

    >>> s, k, out = np.array([1.0, 0.5, 1.0, 0.0]), np.array([2, 1, 3, 0]), np.zeros(4)
    >>> c, e = np.array([[0.6, 0.8], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    >>> add_fit(s, k, c, e, np.array([1.0, 0.0]), 0.4, 3.0, 2.0, out)
    >>> out.round(9).tolist()
    [1.8, 1.0, 0.8, 0.0]
    """
    for i in range(standing.shape[0]):
        g = standing[i] * (scoped if kind[i] == SCOPED else others)
        if g != 0.0:
            cosine, own, length = 0.0, 0.0, 0.0
            for j in range(query.shape[0]):
                cosine += scope[i, j] * query[j]
                own += embedding[i, j] * query[j]
                length += abs(scope[i, j])
            if length > 0.0:
                out[i] += g * min(max(cosine, 0.0), 1.0)
            else:
                out[i] += g * min(max(own, floor if kind[i] == GENERAL else 0.0), 1.0)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class InstructionDetectionParams(Params):
    preference: float  # standing of a preference; that of an instruction is 1
    named: float  # factor on an instruction that a named person gives another
    whole: float  # share of a text from which on its instruction counts fully
    floor: float  # least fit of an instruction without a scope
    strength: float  # ln odds of an instruction that fits fully


class InstructionDetection(Mechanism[InstructionDetectionParams]):
    """Prefers standing instructions and preferences at requests, by the fit of the request with
    their scope.
    """

    owns = (STANDING, STANDING_KIND, STANDING_SCOPE, ASKING)

    @hook(
        Phase.ENCODE, reads=(ROW, EMBEDDER), adds=(), sets=(STANDING, STANDING_KIND, STANDING_SCOPE)
    )
    def detect(self, view: Any, incoming: Incoming) -> None:
        kind, scope, standing = self._judged(incoming)
        if standing > 0.0:
            view.standing[view.row], view.standing_kind[view.row] = standing, int(kind)
            if scope:
                (view.standing_scope[view.row],) = view.embedder.embed([scope])

    @hook(
        Phase.RETRIEVE,
        reads=(STANDING, STANDING_KIND, STANDING_SCOPE, EMBEDDING),
        adds=(LOG_PRIOR,),
        sets=(ASKING,),
    )
    def score(self, view: Any, cue: Cue) -> None:
        asking = asking_of(cue.query.text)
        view.asking = -1 if asking is None else int(asking)
        if asking not in (None, QueryKind.RECALL):
            p, strength = (
                self.params,
                self.params.strength * (-1.0 if asking is QueryKind.STATEMENT else 1.0),
            )
            add_fit(
                view.standing,
                view.standing_kind,
                view.standing_scope,
                view.embedding,
                cue.vector,
                p.floor,
                strength,
                0.0 if asking is QueryKind.OPEN else strength,
                view.log_prior,
            )

    @forecast(reads=())
    def scopes(self, view: Any, coming: Sequence[Incoming]) -> Iterator[str]:
        """The scope clauses of the next events."""
        for incoming in coming:
            _, scope, standing = self._judged(incoming)
            if scope and standing > 0.0:
                yield scope

    def _judged(self, incoming: Incoming) -> tuple[StandingKind, str, float]:
        """Kind, scope and STANDING of an event."""
        speaker = incoming.event.get("role") or incoming.event.speaker
        said = standing_of(incoming.event.text if speaker != "assistant" else "")
        p = self.params
        return (
            said.kind,
            said.scope,
            level(said.kind, speaker, said.share, p.preference, p.named, p.whole),
        )
