"""How everyday activities go: the steps of each in their order, for situations that have to be carried on.

A line names the activity as it begins ("to bake bread"), then its steps, each said of a person in the present tense;
``{his}``, ``{him}`` and ``{he}`` stand for the person's pronouns.
"""

# ruff: noqa: E501 (plans read best with each wording list on one line)

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Activity:
    """An activity's aim ("bake bread") and its steps in order, verb first."""

    aim: str
    steps: tuple[str, ...]


def _read(text: str) -> tuple[Activity, ...]:
    lines = (line.partition(": ") for line in text.strip().splitlines())
    return tuple(Activity(aim, tuple(step.strip() for step in steps.split(";"))) for aim, _, steps in lines)


ACTIVITIES = _read("""
bake bread: mixes flour, water and yeast in a bowl; kneads the dough with both hands; lets the dough rise under a cloth; forms a loaf and puts it into the oven; takes the hot bread out of the oven; cuts the first slice and spreads butter on it
plant a tree: digs a deep hole in the lawn; puts the roots into the hole; fills the hole with earth; stamps the earth down around the trunk; ties the trunk to a stake; pours two cans of water over the roots
repair a flat tyre: turns the bicycle upside down; takes the inner tube out of the wheel; finds the hole under water by its bubbles; sticks a patch on the hole; pumps air into the tube; rides once around the block
wash the car: parks the car in front of the house; sprays the roof and the doors with water; rubs the dirt off with a sponge; rinses the foam off; dries the windows with a soft cloth; drives the clean car into the garage
make tea: fills the kettle at the tap; waits until the water boils; pours the hot water over the leaves; lets the pot stand for four minutes; fills a cup through a strainer; drinks the tea in small sips
build a snowman: puts on warm gloves and goes out; rolls a big ball of snow; sets a smaller ball on top of the big one; presses two black stones in as eyes; sticks a carrot into the face; puts an old hat on the head
go fishing: walks down to the river with a rod; puts a worm on the hook; throws the line into the water; waits quietly on the bank; feels a strong pull at the rod; reels in a silver fish
post a letter: writes two pages to a friend; folds the paper and puts it into an envelope; writes the address on the front; sticks a stamp in the corner; walks to the red letter box; drops the envelope through the slot
paint the fence: scrapes the old paint off the boards; wipes the dust away with a rag; opens the tin and stirs the paint; paints the boards one after the other; hangs up a sign that says wet paint; washes the brush in warm water
borrow a book: enters the quiet reading room; looks for the title on the shelves; takes the book down from the top shelf; shows a card at the desk; has the date stamped on the first page; carries the book home in a bag
take a bath: turns on the hot tap; pours some oil into the tub; tests the water with one foot; lies down in the warm tub; washes {his} hair with shampoo; pulls the plug and reaches for the towel
put up a tent: looks for a flat place on the grass; rolls the tent out; pushes the poles through the cloth; hammers the pegs into the ground; crawls inside and spreads the sleeping bag; closes the zip against the cold
light a campfire: gathers dry sticks in the wood; lays stones in a circle; piles the sticks up over some paper; strikes a match and holds it to the paper; blows gently until the flames rise; hangs a pot over the flames
catch the bus: checks the timetable on the phone; runs to the stop at the corner; waves to the driver; climbs in and shows a ticket; sits down next to the window; presses the button before the next stop
buy shoes: looks at the pairs in the shop window; asks the assistant for the right size; tries on a brown pair; walks up and down before the mirror; pays for the pair at the till; leaves the shop with a box under {his} arm
cut the grass: rolls the mower out of the shed; fills the tank with petrol; pulls the cord to start the engine; pushes the mower up and down the lawn; empties the box of cut grass; cleans the blades and locks the shed
go to the dentist: takes a seat in the waiting room; follows the nurse when {his} name is called; lies back in the big chair; opens {his} mouth wide; has a tooth drilled and filled; rinses {his} mouth and spits into the basin
fly a kite: unwinds some of the string; runs against the wind over the field; lets the kite go; watches the kite rise above the trees; holds the string tightly in the gusts; winds the string up again
make pancakes: beats eggs and milk with flour; melts butter in the pan; pours a thin layer of batter into the pan; turns the pancake over in the air; slides the golden pancake onto a plate; covers it with jam and rolls it up
wrap a present: puts the gift into a small box; cuts a piece of coloured paper; folds the paper around the box; fixes the edges with sticky tape; ties a ribbon into a bow; writes a name on the little card
play chess: sets up the pieces on the board; moves a white pawn two squares; takes a bishop with a knight; brings the king to safety behind the rook; puts the other king in check; shakes hands after the mate
go skiing: buys a pass at the cash desk; clicks {his} boots into the bindings; rides the lift to the top; puts on the goggles against the glare; glides down the slope in wide curves; stops in a cloud of snow at the bottom
change a light bulb: switches off the power; sets a ladder under the lamp; unscrews the old bulb; screws in the new bulb; climbs down from the ladder; turns the switch and sees the light
feed the chickens: fetches a bucket of corn from the barn; opens the gate of the yard; calls the hens together; scatters the corn on the ground; fills the trough with fresh water; collects the eggs from the straw
wash the dog: fills a tub in the yard; lifts the dog into the tub; rubs soap into the fur; pours clean water over the back of the dog; jumps aside when the dog shakes itself; dries the paws with an old towel
visit the museum: buys a ticket at the entrance; leaves the coat at the cloakroom; picks up a plan of the rooms; stands for a long time in front of a painting; follows the guide to the next hall; buys a postcard at the exit
bake a cake: weighs sugar, butter and flour; stirs everything to a smooth batter; greases a round tin; fills the tin and slides it into the oven; tests with a needle whether it is done; covers it with melted chocolate
do the laundry: sorts the clothes by colour; fills the drum and adds powder; starts the machine at forty degrees; takes the wet shirts out of the drum; hangs the shirts on the line; irons them when they are dry
climb a mountain: laces up {his} boots in the valley; follows the marked path through the wood; crosses a field of loose rocks; pulls {himself} up along a steel rope; reaches the cross on the summit; signs the book in the metal box
milk the cow: sits down on a low stool; cleans the udder with a warm cloth; puts a bucket under the cow; squeezes the first milk out; carries the full bucket to the dairy; pours the milk through a sieve
take an exam: shows a pass at the door; finds the desk with {his} number; turns over the sheet of questions; answers the easy questions first; checks all answers once more; hands in the paper at the front
learn to swim: puts on a pair of trunks and a cap; sits on the edge of the pool; lets {himself} down into the shallow water; holds on to a board and kicks; lets go of the board for the first time; swims a whole length alone
take a photograph: takes the lens cap off; looks for a good view of the harbour; sets the camera on a tripod; turns the ring until the picture is sharp; presses the button; looks at the picture on the screen
pick apples: leans a ladder against the trunk; climbs up between the branches; twists a ripe apple from its twig; lays the apples carefully into a basket; lowers the full basket on a rope; stores the fruit in the cool cellar
sew on a button: looks for a button of the right size; threads the needle; makes a knot at the end of the thread; pushes the needle up through the cloth; winds the thread under the button; cuts off the rest of the thread
go sailing: puts on a life jacket at the pier; loosens the ropes from the posts; raises the white sail; steers the boat out of the harbour; turns the boat into the wind; ties the boat up again at the pier
hold a speech: goes up to the stage; taps on the microphone; greets the guests in the hall; tells a short story to begin with; shows some pictures on the wall; bows while the people clap
clean the windows: fills a bucket with soapy water; takes down the curtains; wets the glass with a cloth; wipes the water off with a rubber blade; polishes the corners with newspaper; hangs the clean curtains up again
make soup: peels onions and carrots; chops the vegetables on a board; fries the pieces in a little oil; adds water and salt; lets the pot simmer for half an hour; serves the soup in deep plates
board a plane: drops the suitcase at the counter; walks through the security check; waits at the gate; finds the seat by its number; fastens the seat belt; looks down at the clouds
rescue a cat: hears a cry from the top of a tree; fetches a long ladder; climbs up to the highest branch; grabs the frightened animal; carries it down under one arm; gives it back to the girl next door
go to the cinema: queues at the ticket desk; buys a large bag of popcorn; looks for row seven in the dark; sinks into the soft seat; watches the film to the end; walks out blinking into the daylight
pitch hay: lifts the dry hay with a fork; throws it onto the wagon; climbs up to tread the load down; ties the load with a rope; drives the wagon to the barn; stacks everything under the roof
paint a portrait: asks the model to sit by the window; draws the outline with charcoal; mixes the colours on a palette; paints the face with a fine brush; adds a dark background; signs the canvas in the corner
donate blood: fills in a form with questions; has {his} blood pressure taken; lies down on a couch; stretches out {his} bare arm; presses cotton on the little wound; eats a sandwich to get strong again
get a haircut: makes an appointment by phone; sits down in front of the mirror; gets a cape around the shoulders; has the wet hair combed and cut; looks at the back with a hand mirror; gives the hairdresser a tip
rent a boat: chooses a blue boat at the landing; pays for one hour in advance; takes the oars and sits down; rows out to the middle of the lake; rests among the water lilies; brings the boat back in time
make a fruit salad: washes the grapes and the pears; peels two oranges; cuts all the fruit into pieces; squeezes a lemon over the pieces; mixes in a spoon of honey; cools the bowl for an hour
move a piano: measures the width of the door; takes off the lid and the pedals; wraps a blanket around the wood; lifts one end onto a trolley; pushes it carefully over the ramp; has it tuned in the new room
train a dog: puts some treats into a pocket; calls the dog by its name; says sit in a firm voice; waits until the dog sits down; gives the dog a treat; repeats the exercise ten times
take part in a race: pins a number on the shirt; warms up near the start; kneels down in the blocks; shoots forward at the bang; passes two runners in the last curve; throws {his} arms up at the finish
clear the table: stacks the dirty plates; carries the stack into the kitchen; scrapes the leftovers into the bin; puts the plates into the dishwasher; wipes the table with a wet cloth; lays out a fresh tablecloth
hang a picture: holds the frame against the wall; marks the place with a pencil; drills a hole at the mark; pushes a plug into the hole; turns a hook into the plug; hangs up the frame and checks that it is straight
check into a hotel: rolls the suitcase to the reception; gives the clerk {his} name; signs the form; gets the key to room twelve; takes the lift to the third floor; drops onto the soft bed
learn a song: listens to the tune twice; reads the words aloud; hums along with the melody; sings the first verse slowly; practises the difficult high notes; sings everything from memory
sell old books: sorts the books by their size; writes a price into each book; sets up a table at the flea market; calls out to the people who pass by; haggles with an old man; counts the coins in the tin
see the doctor: coughs in the waiting room; describes the pain in the chest; takes off the shirt; breathes deeply in and out; gets a prescription; picks up the pills at the pharmacy
build a bookcase: draws a plan with all measures; saws the boards to length; smooths the edges with sandpaper; screws the shelves to the sides; paints the wood white; fills it with novels
save the harvest: sees dark clouds over the hills; calls all the helpers to the field; loads the last sheaves on the cart; covers the load with a sheet; races the rain to the farm; shuts the doors of the barn behind the cart
watch birds: gets up before the sun; hides in a hut beside the marsh; holds the binoculars still; spots a heron among the reeds; looks the bird up in a guide; writes its name into a notebook
""")
