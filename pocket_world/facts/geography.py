"""Rivers, mountains, cities, landmarks, seas and islands."""

from pocket_world.relations import relations

RELATIONS = relations(
    """
geography: river
? On which continent is the river {x}? | The river {x} flows through which continent? | In which part of the world would you find the river {x}?
! The river {x} flows in {y}. | The {x} is a river in {y}. | In {y} there is a river called {x}.
Nile = Africa; Amazon = South America; Mississippi = North America; Thames = Europe; Rhine = Europe; Ganges = Asia;
Danube = Europe; Congo = Africa; Yangtze = Asia; Mekong = Asia; Seine = Europe; Niger = Africa; Volga = Europe;
Zambezi = Africa; Missouri = North America; Orinoco = South America; Indus = Asia; Rhone = Europe; Elbe = Europe;
Po = Europe; Limpopo = Africa; Yukon = North America; Euphrates = Asia; Tigris = Asia;
Murray = Australia; Parana = South America; Loire = Europe; Oder = Europe; Senegal = Africa; Darling = Australia;
Mackenzie = North America; Irrawaddy = Asia; Orange = Africa; Ebro = Europe; Rio Grande = North America

geography: city
? In which country is the city of {x}? | The city of {x} lies in which country? | If you walk through {x}, which country are you in? | Which country does the city of {x} belong to?
! {x} is a city in {y}. | The city of {x} lies in {y}. | The city of {x} belongs to {y}.
New York = the United States; Sydney = Australia; Barcelona = Spain; Milan = Italy; Munich = Germany; Toronto = Canada;
Shanghai = China; Mumbai = India; Rio de Janeiro = Brazil; Istanbul = Turkey; Los Angeles = the United States;
Venice = Italy; Manchester = the United Kingdom | the United States; Lyon = France; Melbourne = Australia | the United States; Kyoto = Japan; Zurich = Switzerland;
Geneva = Switzerland; Naples = Italy | the United States; Hamburg = Germany; Seville = Spain; Porto = Portugal; Chicago = the United States;
Osaka = Japan; Marseille = France; Montreal = Canada; Kolkata = India; Karachi = Pakistan; Lagos = Nigeria;
Casablanca = Morocco; Alexandria = Egypt | the United States; Krakow = Poland; Rotterdam = the Netherlands; Antwerp = Belgium;
Gothenburg = Sweden; Bergen = Norway; Salzburg = Austria; Vancouver = Canada | the United States; Auckland = New Zealand; Busan = South Korea;
Cusco = Peru; Cali = Colombia; Monterrey = Mexico; Aarhus = Denmark; Brno = Czechia; Lviv = Ukraine;
Mombasa = Kenya; Kumasi = Ghana; Basra = Iraq; Isfahan = Iran; Brisbane = Australia; Graz = Austria; Split = Croatia;
Gdansk = Poland; Bilbao = Spain; Cork = Ireland; Lahore = Pakistan; Izmir = Turkey; Tampere = Finland; Chiang Mai = Thailand

geography: landmark
? In which city is the {x}? | Where would you go to see the {x}? | The {x} stands in which city?
! The {x} is in {y}. | Go to {y} to see the {x}. | The {x} stands in {y}.
Eiffel Tower = Paris; Colosseum = Rome; Big Ben = London; Statue of Liberty = New York; Kremlin = Moscow;
Acropolis = Athens; Brandenburg Gate = Berlin; Sagrada Familia = Barcelona; Forbidden City = Beijing;
Tower Bridge = London; Louvre = Paris; Opera House with the white sails = Sydney; Blue Mosque = Istanbul;
Golden Gate Bridge = San Francisco; Prado = Madrid; Rialto Bridge = Venice; Charles Bridge = Prague;
Burj Khalifa = Dubai; Atomium = Brussels; Rijksmuseum = Amsterdam; Hermitage museum = Saint Petersburg;
Little Mermaid statue = Copenhagen; Uffizi gallery = Florence; Schoenbrunn Palace = Vienna; Petronas Towers = Kuala Lumpur

geography: mountain
? In which country is the mountain {x}? | The mountain called {x} stands in which country? | Where would you climb {x}?
! {x} is a mountain in {y}. | The mountain called {x} stands in {y}. | You can climb {x} in {y}.
Kilimanjaro = Tanzania; Mount Fuji = Japan; Vesuvius = Italy; Etna = Italy; Ben Nevis = Scotland; Snowdon = Wales;
Aconcagua = Argentina; Denali = the United States; Mount Olympus = Greece; Mount Ararat = Turkey; Table Mountain
= South Africa; Mount Logan = Canada; Popocatepetl = Mexico; Teide = Spain; Elbrus = Russia; Galdhopiggen = Norway;
Chimborazo = Ecuador; Mount Cook = New Zealand; Hekla = Iceland; Mount Kosciuszko = Australia; Huascaran = Peru;
Triglav = Slovenia; Toubkal = Morocco; Damavand = Iran; Rysy = Poland

geography: sea
? Which sea or ocean lies {x}? | What is the name of the water that lies {x}? | Which body of water is found {x}?
! The {y} lies {x}. | The sea or ocean that lies {x} is the {y}.
between Europe and North America = Atlantic Ocean | Arctic Ocean; between Europe and Africa = Mediterranean Sea;
between Africa and Australia = Indian Ocean | Southern Ocean; around the North Pole = Arctic Ocean;
between Asia and North America = Pacific Ocean | Arctic Ocean; between Sweden and Estonia = Baltic Sea | Atlantic Ocean;
between Egypt and Saudi Arabia = Red Sea | Indian Ocean; between Ukraine and Turkey = Black Sea;
between Norway and Scotland = North Sea | Atlantic Ocean; between Italy and Croatia = Adriatic Sea | Mediterranean Sea;
between Great Britain and Ireland = Irish Sea | Atlantic Ocean; between Greece and Turkey = Aegean Sea | Mediterranean Sea;
between Iran and Saudi Arabia = Persian Gulf | Indian Ocean; between Cuba and Colombia = Caribbean Sea | Atlantic Ocean;
around Antarctica = Southern Ocean | Pacific Ocean | Atlantic Ocean | Indian Ocean
""",
)
