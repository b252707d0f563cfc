"""What the slots of a scene may hold, by kind. People have a pronoun; numbers are drawn from ranges."""

from pocket_world.facts.dates import MONTHS, WEEKDAYS
from pocket_world.relations import Rows, listed, table

WOMEN = listed("""
Anna Clara Emma Grace Ida Kate Mary Olive Rosa Vera Zoe Alice Bella Carol Diana Ella Fiona Hanna Irene Julia Laura
Lucy Maria Nina Paula Rita Sara Tina Wendy Amy Beth Dora Eva Flora Helen Jane Lena Martha Nora Ruth Sofia Tessa
""")
MEN = listed("""
Ben David Felix Henry Jack Leo Noah Paul Sam Tom Will Adam Carl Daniel Erik Frank George Hugo Ivan James Karl Luke Mark
Oscar Peter Ralph Simon Theo Victor Walter Alan Bruno Colin Dennis Edgar Fred Gilbert Harold Ian Jonas Kevin Martin
""")


POOLS: Rows = {
    "person": WOMEN + MEN,
    "woman": WOMEN,
    "man": MEN,
    "weekday": WEEKDAYS,
    "month": MONTHS,
    **table("""
season = spring | summer | autumn | winter;
colour = red | blue | green | yellow | white | black | brown | grey | purple | orange | pink;
town = Ashford | Brackley | Millbrook | Harrow | Northwick | Elmsford | Stonebridge | Redhill | Greenfield | Oakham |
Kingsley | Westbury | Fairview | Lakeside | Riverton | Hillcrest | Marlow | Thornton | Weston | Ferndale | Brookfield |
Eastleigh | Langley | Melbury | Norwood | Overton | Preston | Seaford | Tilbury | Whitby;
place = museum | library | market | park | beach | theatre | cinema | zoo | station | harbour | castle | church |
hospital | school | bakery | swimming pool | stadium | airport | bank | pharmacy | gallery | lake | town hall | post
office;
room = kitchen | cellar | attic | bathroom | bedroom | hall | garage | office | living room | pantry;
spot = on the table | under the bed | on the shelf | in the drawer | behind the door | in the basket | on the windowsill
| under the stairs | in the cupboard | on the piano | beside the stove | in the suitcase;
thing = umbrella | hat | lamp | kettle | camera | mirror | clock | blanket | bottle | suitcase | basket | candle |
pencil | notebook | ladder | hammer | violin | guitar | scarf | jacket | wallet | ring | key | watch | radio | telescope
| map | teapot | cushion | bucket | toy train | chessboard;
food = apples | pears | plums | lemons | onions | carrots | potatoes | eggs | rolls | oranges | peaches | tomatoes |
cherries | mushrooms | biscuits | radishes | walnuts | cucumbers | beans | grapes;
dish = tomato soup | fried fish | rice with beans | apple pie | mushroom risotto | lamb stew | potato salad | vegetable
curry | onion tart | roast chicken | noodle soup | pancakes | spinach pie | baked trout;
drink = tea | coffee | lemonade | milk | apple juice | cocoa | mineral water | orange juice;
animal = dog | cat | pony | goat | rabbit | parrot | hamster | donkey | sheep | goose | tortoise | duck | pig | hen |
horse | canary;
wild animal = fox | deer | hedgehog | badger | owl | otter | squirrel | swan | stork | beaver | wolf | eagle | seal |
bat;
job = nurse | baker | teacher | pilot | farmer | carpenter | dentist | plumber | lawyer | gardener | tailor | cook |
painter | engineer | librarian | postman | vet | journalist | electrician | architect | hairdresser | fisherman | waiter
| photographer;
hobby = painting | sailing | chess | swimming | cycling | dancing | fishing | knitting | climbing | skating |
photography | gardening | singing | tennis | hiking | pottery | baking | football | rowing | judo;
school subject = history | chemistry | geography | biology | physics | music | mathematics | art | Latin | drama;
transport = bus | train | tram | ferry | bicycle | taxi | car | motorboat | coach | scooter;
weather = rain | snow | fog | hail | sleet | a thunderstorm | a strong wind;
coat = brown | black | white | grey | golden | spotted;
instrument = piano | violin | guitar | trumpet | flute | drums | harp | cello | clarinet | organ | trombone | accordion;
flower = roses | tulips | daisies | daffodils | lilies | sunflowers | violets | carnations | orchids | poppies;
tree = oak | pine | birch | maple | beech | willow | poplar | apple tree | cherry tree | chestnut | walnut tree;
building = bridge | school | town hall | swimming pool | library | hospital | railway station | sports hall | theatre |
museum | playground | market hall | lighthouse | fire station;
team = Falcons | Tigers | Rovers | Wolves | Sharks | Eagles | Lions | Wanderers | Dragons | Hornets | Pirates |
Panthers;
relative = brother | sister | uncle | aunt | cousin | grandmother | grandfather | nephew | niece;
language = Spanish | French | Italian | German | Japanese | Arabic | Russian | Greek | Portuguese | Swedish | Polish |
Turkish;
country = Spain | France | Italy | Norway | Japan | Egypt | Mexico | Greece | Brazil | Kenya | India | Canada | Portugal
| Iceland | Peru | Morocco;
wood = oak | pine | birch | cherry | walnut | beech
"""),
}
"""Kind → the values a slot of that kind is drawn from."""

RANGES: dict[str, tuple[int, int, int]] = {
    "few": (2, 9, 1),
    "hour": (1, 12, 1),
    "age": (6, 80, 1),
    "some": (11, 60, 1),
    "price": (2, 40, 1),
    "many": (110, 980, 10),
    "percent": (10, 90, 5),
    "year": (1840, 2015, 1),
}
"""Kind of number → lowest, highest, step."""


def values_of(kind: str) -> tuple[str, ...]:
    """Every value of a kind, numbers as text; a kind in braces lists its own, as in ``{oil/wax}``."""
    if kind.startswith("{"):
        return tuple(part.strip() for part in kind.strip("{}").split("/"))
    if kind in RANGES:
        low, high, step = RANGES[kind]
        return tuple(str(number) for number in range(low, high + 1, step))
    return POOLS[kind]
