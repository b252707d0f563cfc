"""English word forms: plurals, past tenses, opposites, comparatives, and words of the same sense."""

from pocket_world.relations import relations

RELATIONS = relations(
    """
grammar: plural
? What is the plural of {x}? | One {x}, but two of what? | Which word means more than one {x}? | How is the plural of the noun {x} written?
! The plural of {x} is {y}. | One {x}, two {y}. | {y} is the plural of {x}.
child = children; mouse = mice; man = men; woman = women; foot = feet; tooth = teeth; goose = geese; person = people;
leaf = leaves; knife = knives; wife = wives; wolf = wolves; life = lives; city = cities; baby = babies; box = boxes; bus
= buses; potato = potatoes; tomato = tomatoes; hero = heroes; half = halves; shelf = shelves; thief = thieves; lady =
ladies; story = stories; party = parties; church = churches; watch = watches; dish = dishes; fox = foxes; ox = oxen;
loaf = loaves; calf = calves; country = countries; penny = pennies; berry = berries; echo = echoes; crisis = crises;
thesis = theses; louse = lice; oasis = oases; axis = axes

grammar: past tense
? What is the past tense of {x}? | Which word is the past form of the verb {x}? | Today they {x}, but yesterday they did what? | In the past, the verb {x} becomes which word?
! The past tense of {x} is {y}. | Today they {x}, yesterday they {y}. | {y} is the past of {x}.
go = went; see = saw; eat = ate; take = took; come = came; give = gave; make = made; run = ran; write = wrote; have = had;
say = said; know = knew; think = thought; find = found; buy = bought; bring = brought; begin = began; break = broke;
drink = drank; drive = drove; fall = fell; feel = felt; fly = flew; forget = forgot; get = got; grow = grew; hear = heard;
hold = held; keep = kept; leave = left; lose = lost; meet = met; pay = paid; ride = rode; rise = rose; sell = sold;
send = sent; sing = sang; sit = sat; sleep = slept; speak = spoke; stand = stood; swim = swam; teach = taught; tell = told;
throw = threw; wear = wore; win = won; build = built; catch = caught; choose = chose; draw = drew; feed = fed;
fight = fought; freeze = froze; hide = hid; lead = led; lend = lent; shake = shook; shoot = shot; steal = stole;
strike = struck; swear = swore; tear = tore; blow = blew; bite = bit; bend = bent; spend = spent; bind = bound;
creep = crept; seek = sought; weave = wove; tread = trod; cling = clung; fling = flung; flee = fled; grind = ground

grammar: opposite
? What is the opposite of {x}? | Which word means the opposite of {x}? | Which word is the antonym of {x}? | The contrary of {x} is which word?
! The opposite of {x} is {y}. | {y} means the contrary of {x}. | {x} and {y} are opposites.
hot = cold; big = small | short; up = down; good = bad; day = night; old = young | modern; fast = slow; black = white; rich = poor;
high = low | short; open = closed; full = empty; long = short; light = dark | heavy; left = right; early = late; easy = difficult | complex;
hard = soft; strong = weak; wet = dry; happy = sad; clean = dirty; true = false; first = last; inside = outside;
love = hate; war = peace; buy = sell; win = lose; begin = end; push = pull; always = never; thick = thin; wide = narrow;
deep = shallow; near = far; tall = short | small | low; loud = quiet | soft; safe = dangerous; sweet = bitter; cheap = expensive;
rough = smooth | soft; sharp = blunt | smooth; north = south; east = west; summer = winter; alive = dead; heavy = light;
guilty = innocent; friend = enemy; victory = defeat; ancient = modern | young; generous = mean; lazy = industrious;
temporary = permanent; artificial = natural; maximum = minimum; optimist = pessimist; expand = contract; arrive = depart;
brave = cowardly; tight = loose; public = private; simple = complex | difficult; success = failure | defeat; question = answer

grammar: comparative
? What is the comparative of {x}? | Which form of {x} is used to compare two things? | In a comparison, the word {x} turns into which form?
! The comparative of {x} is {y}. | To compare two things, {x} becomes {y}.
good = better; bad = worse; big = bigger; small = smaller | less; happy = happier; fast = faster; hot = hotter; easy = easier;
far = further; little = less | smaller; many = more; old = older; young = younger; cold = colder; thin = thinner; dry = drier;
heavy = heavier; wide = wider; funny = funnier; sad = sadder; late = later; busy = busier; lucky = luckier; large = larger;
pretty = prettier; noisy = noisier; strong = stronger; nice = nicer; angry = angrier; wet = wetter

grammar: synonym
? Which word means nearly the same as {x}? | What is a synonym of {x}? | Which word could stand in place of {x}?
! {x} means nearly the same as {y}. | A synonym of {x} is {y}. | {y} could stand in place of {x}.
big = large | huge; begin = start; quick = fast; happy = glad; sick = ill; rich = wealthy; shut = close; angry = furious;
clever = intelligent; hard = difficult; gift = present; jump = leap; speak = talk | reply; answer = reply; buy = purchase;
brave = courageous; silent = quiet; strange = odd; under = beneath; mistake = error; rest = pause | quiet; road = street;
forest = wood; stone = rock; help = aid | save; build = construct; empty = vacant; ancient = very old; hate = detest;
hide = conceal; enormous = huge | large; tired = weary; rescue = save | aid; seldom = rarely

grammar: plural-inverse < plural
? What is the singular of {x}? | Two {x}, but one what? | Which word means just one out of several {x}?
! The singular of {x} is {y}. | Two {x}, one {y}.
""",
)
