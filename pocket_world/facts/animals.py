"""Animals: their young, sounds, classes, legs, homes and herds."""

from pocket_world.relations import listed, members, relations, table

_CLASSES = table("""
mammal = dog | cat | cow | horse | lion | elephant | whale | bat | mouse | dolphin | monkey | bear | rabbit | sheep |
wolf | tiger | pig | seal | kangaroo | camel | giraffe | fox | deer | otter | hedgehog | squirrel | badger | walrus |
beaver | lemur; bird = eagle | duck | owl | hen | penguin | parrot | swan | ostrich | crow | pigeon | goose | robin |
stork | flamingo | vulture | sparrow | woodpecker | heron | magpie | puffin | albatross | kingfisher; fish = shark |
salmon | trout | tuna | cod | herring | carp | eel | pike | haddock | sardine | stingray | perch; reptile = snake |
crocodile | lizard | turtle | tortoise | alligator | chameleon | iguana | gecko | cobra | viper | python; amphibian =
frog | toad | newt | salamander | axolotl; insect = bee | ant | butterfly | mosquito | wasp | beetle | moth | ladybird |
grasshopper | dragonfly | cricket | locust | cockroach | termite | flea | hornet; arachnid = spider | scorpion | tick |
tarantula | mite; crustacean = crab | lobster | shrimp | crayfish | prawn; mollusc = snail | octopus | squid | oyster |
mussel | slug | clam
""")
_KNOWN = listed("""
dog cat cow horse eagle duck shark snake frog bee ant lion elephant salmon owl crocodile spider hen penguin whale
butterfly crab snail bat mouse parrot tuna lizard toad mosquito dolphin swan turtle octopus monkey bear trout wasp
rabbit ostrich cod scorpion lobster beetle sheep wolf crow herring tortoise moth pigeon tiger
""")
_LEGS = table("""
4 = dog | cat | horse | cow | lion | elephant | frog | sheep | pig | crocodile | tiger | bear | rabbit | lizard | wolf |
camel | giraffe | fox | toad; 2 = duck | hen | owl | eagle | penguin | ostrich | swan | parrot | crow | robin | stork |
flamingo; 6 = bee | ant | butterfly | mosquito | beetle | wasp | moth | ladybird | grasshopper | cricket | cockroach |
termite; 8 = spider | scorpion | tarantula; 0 = snake | shark | salmon | whale | dolphin | snail | trout | cobra | eel;
10 = crab | lobster | shrimp | prawn
""")

RELATIONS = relations(
    """
animals: young
? What is a young {x} called? | What is the name for the young of {ax}? | The young of {ax} is known as what? | Which word means a young {x}?
! A young {x} is called {ay}. | {ay} is a young {x}. | The young of {ax} is {ay}.
dog = puppy | pup; cat = kitten; cow = calf; horse = foal; sheep = lamb; hen = chick; duck = duckling | chick;
goat = kid; pig = piglet; bear = cub; lion = cub; frog = tadpole; goose = gosling | chick; deer = fawn | calf;
kangaroo = joey; swan = cygnet | chick; butterfly = caterpillar; eagle = eaglet | chick; owl = owlet | chick; seal = pup;
hare = leveret; eel = elver; spider = spiderling

animals: sound
? What sound does {ax} make? | Which verb names the call of {ax}? | Which word fits the voice of {ax}? | What can {ax} be heard to do?
! The sound of {ax} is {ay}. | The voice of {ax}: {y}. | {ax} can be heard to {y}.
dog = bark | howl; cat = meow | hiss; cow = moo; sheep = bleat; duck = quack; lion = roar; horse = neigh; pig = oink;
frog = croak; bee = buzz; snake = hiss; owl = hoot | hiss; wolf = howl | bark; mouse = squeak; donkey = bray;
goose = honk | hiss; elephant = trumpet | roar; crow = caw; turkey = gobble; hen = cluck; pigeon = coo; goat = bleat

animals: class
? What kind of animal is {ax}? | To which class of animals does the {x} belong? | The {x} is which kind of animal? | How do biologists class the {x}?
! {ax} is {ay}. | The {x} is {ay}. | Biologists class the {x} as {ay}.

animals: legs
? How many legs does {ax} have? | What is the number of legs of {ax}? | How many legs would you count on {ax}?
! {ax} has {y} legs. | The number of legs that {ax} has is {y}.

animals: home
? What is the home of {ax} called? | Where does {ax} live? | Which word names the place where {ax} lives?
! The home of {ax} is called {ay}. | {ax} lives in {ay}.
bird = nest; dog = kennel | den; bee = hive | nest; spider = web | burrow | nest; rabbit = burrow; horse = stable;
pig = sty; bear = den; hen = coop | nest; beaver = lodge | den; badger = sett | burrow | den; squirrel = drey | nest;
otter = holt | den; eagle = eyrie | nest; hare = form

animals: herd
? What is a group of {x} called? | Which word is used for many {x} together? | What do you call a group made up of {x}?
! A group of {x} is called {ay}. | Many {x} together are {ay}.
wolves = pack; sheep = flock | herd; fish = school | swarm; cows = herd; bees = swarm | colony; lions = pride | pack;
geese = gaggle | flock; ants = colony | swarm; whales = pod | school | herd; crows = murder | flock; foxes = skulk | pack;
owls = parliament | flock
""",
    {"class": members(_CLASSES, best_known=_KNOWN), "legs": members(_LEGS)},
)
