"""What kind of thing something is, and what people do with it."""

from pocket_world.relations import listed, members, relations, table

_KINDS = table("""
fruit = apple | banana | pear | grape | cherry | plum | peach | mango | lemon | strawberry | pineapple | apricot | kiwi
| papaya; vegetable = carrot | cabbage | potato | onion | spinach | broccoli | lettuce | turnip | leek | parsnip |
cauliflower | celery; musical instrument = piano | violin | guitar | trumpet | flute | drum | harp | cello | clarinet |
oboe | trombone | bassoon; tool = hammer | saw | screwdriver | drill | spanner | chisel | pliers | axe | spade | rake |
wrench | mallet; piece of furniture = chair | table | bed | sofa | wardrobe | desk | armchair | bookcase | cupboard |
stool | bench | sideboard; vehicle = car | bus | train | bicycle | lorry | tram | motorcycle | van | tractor | ambulance
| taxi | scooter; piece of clothing = shirt | coat | trousers | sock | dress | jacket | scarf | glove | skirt | sweater
| waistcoat | cardigan; tree = oak | pine | birch | maple | beech | willow | poplar | elm | spruce | cedar | larch |
sycamore; flower = rose | tulip | daisy | daffodil | lily | orchid | sunflower | violet | carnation | dandelion |
snowdrop | geranium; sport = football | tennis | hockey | rugby | swimming | basketball | golf | cricket | volleyball |
badminton | judo | fencing; metal = iron | copper | gold | silver | tin | lead | zinc | aluminium | nickel | platinum |
titanium | cobalt; drink = water | tea | coffee | milk | lemonade | juice | cocoa | wine | beer | cider | champagne |
espresso; gemstone = diamond | ruby | emerald | sapphire | opal | topaz | amethyst | garnet; dance = waltz | tango |
polka | samba | foxtrot | minuet | rumba | mazurka; cheese = cheddar | brie | gouda | parmesan | camembert | mozzarella
| edam | feta | stilton | roquefort; spice = pepper | cinnamon | ginger | saffron | nutmeg | cumin | turmeric | cardamom
""")
_ALSO = dict.fromkeys(_KINDS["fruit"], "tree") | {"pepper": "vegetable", "iron": "tool"}
KINDS = {name: (kind, *listed(_ALSO.get(name, ""))) for name, (kind,) in members(_KINDS).items()}
"""The kinds of each thing; the best known thing of each kind first."""

RELATIONS = relations(
    """
kinds: kind
? What kind of thing goes by the name of {x}? | What is meant by the word {x}? | The word {x} names which kind of thing? | What sort of thing does {x} stand for?
! The word {x} names {ay}. | By {x} we mean {ay}. | {x} stands for {ay}.

kinds: place
? What do we call a place where {x}? | Which is the place where {x}? | Where would you say that {x}?
! A place where {x} is called {ay}. | The place where {x} is the {y}.
pupils are taught = school; sick people are treated = hospital; bread is baked = bakery; books are lent = library;
money is kept = bank; planes take off = airport; trains stop = railway station; films are shown = cinema;
plays are performed = theatre; paintings are shown = museum; meat is sold = butcher's shop; ships load = harbour;
medicines are sold = pharmacy; wild animals are kept for visitors = zoo; letters are posted = post office;
beer is brewed = brewery; ships are built = shipyard; stars are watched = observatory; criminals are locked up = prison;
cars are repaired = garage; guests pay for a bed = hotel; coal is dug = mine | quarry; grapes are grown = vineyard;
fruit trees grow = orchard; bees are kept = apiary; leather is made = tannery; monks live = monastery;
planes are parked = hangar | airport; coins are made = mint; stone is cut from the ground = quarry | mine

kinds: job
? Who is it that {x}? | What do we call a person who {x}? | What is the job of someone who {x}?
! A person who {x} is called {ay}. | Someone who {x} works as {ay}.
teaches children at school = teacher; bakes bread = baker; puts out fires = firefighter; flies planes = pilot;
treats sick people = doctor | dentist; treats sick animals = vet; looks after teeth = dentist; cuts hair = hairdresser;
grows crops = farmer; repairs water pipes = plumber; plans buildings = architect; sells meat = butcher;
catches fish = fisherman; digs coal = miner; writes for a newspaper = journalist; makes clothes = tailor;
works with wood = carpenter | cooper; takes photographs = photographer; judges in court = judge; shoes horses = farrier;
sells flowers = florist; studies stars = astronomer; sells medicine = pharmacist; studies rocks = geologist;
keeps bees = beekeeper; studies old ruins = archaeologist; makes barrels = cooper | carpenter; studies plants = botanist;
studies insects = entomologist; studies the weather = meteorologist; stuffs dead animals = taxidermist;
draws maps = cartographer
""",
    {"kind": KINDS},
)
