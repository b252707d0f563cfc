"""Chemical elements (IUPAC names, symbols and atomic numbers), planets, and the human body's organs."""

from pocket_world.relations import listed, relations

_NAMES = listed("""
hydrogen helium lithium beryllium boron carbon nitrogen oxygen fluorine neon sodium magnesium aluminium silicon
phosphorus sulfur chlorine argon potassium calcium scandium titanium vanadium chromium manganese iron cobalt nickel
copper zinc gallium germanium arsenic selenium bromine krypton rubidium strontium yttrium zirconium niobium
molybdenum technetium ruthenium rhodium palladium silver cadmium indium tin antimony tellurium iodine xenon caesium
barium lanthanum cerium praseodymium neodymium promethium samarium europium gadolinium terbium dysprosium holmium
erbium thulium ytterbium lutetium hafnium tantalum tungsten rhenium osmium iridium platinum gold mercury thallium
lead bismuth polonium astatine radon francium radium actinium thorium protactinium uranium
""")
_SYMBOLS = listed("""
H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo
Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl
Pb Bi Po At Rn Fr Ra Ac Th Pa U
""")

_BEST_KNOWN = listed("""
hydrogen helium oxygen iron gold silver copper carbon nitrogen sodium potassium calcium lead tin zinc mercury neon
aluminium silicon sulfur chlorine magnesium uranium nickel lithium iodine phosphorus platinum argon titanium
chromium manganese cobalt fluorine boron beryllium bromine krypton xenon radium radon tungsten barium arsenic
""")
_ORDER = [*_BEST_KNOWN, *(name for name in _NAMES if name not in _BEST_KNOWN)]

SYMBOLS = {
    name: (_SYMBOLS[_NAMES.index(name)],) for name in _ORDER if _SYMBOLS[_NAMES.index(name)] not in ("B", "C", "F")
}
"""Boron, carbon and fluorine are left out: their symbols look like option letters."""

NUMBERS = {name: (str(_NAMES.index(name) + 1),) for name in _ORDER}

RELATIONS = relations(
    """
elements: symbol
? What is the chemical symbol of {x}? | Which symbol stands for {x}? | In chemistry, how is {x} written? | The element {x} has which symbol?
! The chemical symbol of {x} is {y}. | {y} stands for {x}. | In chemistry, {x} is written {y}.

elements: symbol-inverse < symbol
? Which element has the symbol {x}? | The symbol {x} stands for which element? | In chemistry, what does {x} mean? | Which of the elements is written as {x}?
! The element with the symbol {x} is {y}. | In chemistry, {x} means {y}.

elements: atomic number
? What is the atomic number of {x}? | How many protons does an atom of {x} have? | The element {x} has which atomic number? | Which number does {x} have in the periodic table?
! The atomic number of {x} is {y}. | {x} has the atomic number {y}. | {x} is element number {y}.

elements: family
? What kind of element is {x}? | To which family of elements does {x} belong? | Chemists count {x} as which kind of element?
! {x} is {ay}. | Chemists count {x} as {ay}.
helium = noble gas; neon = noble gas; sodium = alkali metal; chlorine = halogen; argon = noble gas;
potassium = alkali metal; calcium = alkaline earth metal; fluorine = halogen; magnesium = alkaline earth metal;
lithium = alkali metal; iron = transition metal; copper = transition metal; krypton = noble gas; bromine = halogen;
iodine = halogen; nickel = transition metal; xenon = noble gas; barium = alkaline earth metal;
caesium = alkali metal; titanium = transition metal; radium = alkaline earth metal; rubidium = alkali metal;
strontium = alkaline earth metal; beryllium = alkaline earth metal; chromium = transition metal; cobalt = transition metal

science: planet place
? Counting from the Sun, which place does {x} have among the planets? | Where does {x} come among the planets, counted from the Sun? | Seen from the Sun outwards, {x} is which planet?
! {x} is the {y} planet from the Sun. | Counting from the Sun, {x} is the {y} planet.
Mercury = first; Venus = second; Earth = third; Mars = fourth; Jupiter = fifth; Saturn = sixth; Uranus = seventh;
Neptune = eighth

science: planet
? Which planet {x}? | What is the name of the planet that {x}? | Which of the planets is the one that {x}?
! The planet that {x} is {y}. | {y} is the planet that {x}.
is closest to the Sun = Mercury; is the largest in the solar system = Jupiter; is known as the red planet = Mars;
is our home = Earth; is best known for its bright rings = Saturn; is farthest from the Sun = Neptune;
is the hottest at its surface = Venus; is the smallest in the solar system = Mercury;
has Titan as its largest moon = Saturn; has Triton as its largest moon = Neptune; is circled by Phobos and Deimos = Mars;
has Ganymede as its largest moon = Jupiter; rolls around the Sun on its side = Uranus

science: organ
? Which part of the body {x}? | What is the part of the body that {x}? | In the human body, what {x}?
! The part of the body that {x} is the {y}. | In the human body, the {y} {x}.
pumps blood through the body = heart; lets us think = brain; lets us see = eye; lets us hear = ear;
passes oxygen from the air into the blood = lung; lets us smell = nose; breaks down food with acid = stomach; covers the body = skin;
cleans the blood and makes urine = kidney; makes bile = liver; stores urine = bladder; makes insulin = pancreas;
stores bile = gallbladder; carries food from the mouth to the stomach = oesophagus;
separates the lungs from the belly = diaphragm
""",
    {"symbol": SYMBOLS, "atomic number": NUMBERS},
)
