"""Units (SI and customary), shapes and colours."""

from pocket_world.relations import relations

RELATIONS = relations(
    """
units: conversion
? What do you get if you count the {x}? | What is the number of {x}? | The number of {x} is what? | How large is the number of {x}?
! There are {y} {x}. | The number of {x} is {y}. | {y} is the number of {x}.
minutes in an hour = 60; seconds in a minute = 60; hours in a day = 24; days in a week = 7;
months in a year = 12; centimetres in a metre = 100; metres in a kilometre = 1000; grams in a kilogram = 1000;
years in a century = 100; years in a decade = 10; millimetres in a centimetre = 10; inches in a foot = 12;
feet in a yard = 3; eggs in a dozen = 12; weeks in a year = 52; degrees in a right angle = 90;
degrees in a full circle = 360; kilograms in a tonne = 1000; years in a millennium = 1000;
millilitres in a litre = 1000; ounces in a pound = 16; pounds in a stone = 14; items in a score = 20;
sheets in a ream = 500; bits in a byte = 8; seconds in an hour = 3600; pints in a gallon = 8;
hours in a week = 168; minutes in a day = 1440; inches in a yard = 36; seasons in a year = 4;
hours in two days = 48; days in two weeks = 14; days in a leap year = 366; furlongs in a mile = 8;
degrees in a straight angle = 180; quarters in a whole = 4; players in a football team on the field = 11;
squares on a chessboard = 64; strings on a violin = 4; cards in a full pack without jokers = 52;
letters in the English alphabet = 26; keys on a standard piano = 88; teeth in a full adult mouth = 32;
players in a basketball team on the court = 5; rings on the Olympic flag = 5; lines in a sonnet = 14;
lines in a limerick = 5; syllables in a haiku = 17; pawns on a chessboard at the start = 16

units: measured in
? What is the SI unit of {x}? | In which unit do scientists give {x}? | Which SI unit is used for {x}?
! The SI unit of {x} is the {y}. | Scientists give {x} in the unit {y}.
length = metre; time = second; temperature = kelvin; mass = kilogram; force = newton; energy = joule; power = watt;
electric current = ampere; voltage = volt; pressure = pascal; frequency = hertz; electrical resistance = ohm;
luminous intensity = candela; amount of substance = mole; radioactivity = becquerel; electric charge = coulomb;
capacitance = farad; magnetic flux density = tesla; inductance = henry; magnetic flux = weber

units: instrument
? Which instrument measures {x}? | With what do you measure {x}? | To find the {x}, which instrument do you need?
! The instrument for {x} is the {y}. | You measure {x} with the {y}.
temperature = thermometer; time = clock; air pressure = barometer; weight = scales; earthquakes = seismograph;
wind speed = anemometer; direction = compass; angles = protractor; speed of a car = speedometer;
height above the sea = altimeter; electric current = ammeter; voltage = voltmeter; humidity = hygrometer;
distance driven = odometer

units: abbreviation
? What is the short form of the unit {x}? | How do you abbreviate {x}? | Which letters stand for the unit {x}?
! The short form of the unit {x} is {y}. | {y} stands for the unit {x}.
kilogram = kg; centimetre = cm; kilometre = km; millimetre = mm; gram = g; metre = m; litre = l; second = s; hour = h;
minute = min; millilitre = ml; watt = W; volt = V; newton = N; joule = J; hertz = Hz; milligram = mg; kilowatt = kW;
pascal = Pa; kelvin = K; megahertz = MHz; decibel = dB; mole = mol; ampere-hour = Ah; nanometre = nm

shapes and colours: sides
? How many sides does {ax} have? | What is the number of sides of {ax}? | How many corners are there in {ax}?
! {ax} has {y} sides. | There are {y} corners in {ax}.
triangle = 3; square = 4; pentagon = 5; hexagon = 6; octagon = 8; rectangle = 4; heptagon = 7; rhombus = 4; decagon = 10;
trapezium = 4; parallelogram = 4; nonagon = 9; kite = 4; dodecagon = 12; quadrilateral = 4; hendecagon = 11

shapes and colours: faces
? How many faces does {ax} have? | What is the number of faces of {ax}? | By how many flat faces is {ax} bounded?
! {ax} has {y} faces. | {ax} is bounded by {y} flat faces.
cube = 6; tetrahedron = 4; octahedron = 8; square pyramid = 5; triangular prism = 5; dodecahedron = 12; icosahedron = 20;
hexagonal prism = 8; cuboid = 6; pentagonal prism = 7

shapes and colours: mix
? Which colour do you get from {x}? | What colour is a mixture of {x}? | If you blend {x}, which colour appears?
! From {x} you get {y}. | A mixture of {x} is {y}.
red and yellow paint = orange; blue and yellow paint = green; red and blue paint = purple; black and white paint = grey;
red and white paint = pink; red and green light = yellow; green and blue light = cyan; red and blue light = magenta

shapes and colours: colour
? What is the usual colour of {x}? | Which colour would you paint {x}? | What colour do you think of for {x}?
! The usual colour of {x} is {y}. | You would paint {x} {y}.
grass = green; snow = white; a ripe lemon = yellow; coal = black; blood = red; a clear daytime sky = blue; milk = white;
a carrot = orange; a ripe banana = yellow; chocolate = brown | white | black; a fire engine in London = red; an emerald = green;
a ruby = red | pink; a sapphire = blue; cucumber skin = green; spinach = green; egg yolk = yellow | orange; soot = black; salt = white;
a ripe strawberry = red; a raven = black; a polar bear's fur = white; a flamingo = pink | red | orange; rust = brown | red | orange;
ivory = white | yellow; a ripe aubergine = purple | black; jet = black; turmeric = yellow | orange; an elephant = grey | brown; a canary = yellow;
broccoli = green; a pumpkin = orange | green | yellow; ash = grey | white | black; a ripe tomato = red; parsley = green; tar = black; jade = green;
a swan in England = white; malachite = green; amethyst = purple | pink; cinnabar = red | orange; coffee beans after roasting = brown | black
""",
)
