"""Countries: capitals, continents, currencies, languages and people.

Names follow common English usage (ISO 3166 short names where that is one); currencies follow ISO 4217.
Countries whose capital or continent is disputed or double are left out.
"""

from pocket_world.relations import members, relations, table

CAPITALS = table("""
France = Paris; Germany = Berlin; Italy = Rome; Spain = Madrid; the United Kingdom = London; Russia = Moscow;
China = Beijing; Japan = Tokyo; India = New Delhi; the United States = Washington; Canada = Ottawa; Egypt = Cairo;
Greece = Athens; Portugal = Lisbon; Ireland = Dublin; Sweden = Stockholm; Norway = Oslo; Denmark = Copenhagen;
Finland = Helsinki; Poland = Warsaw; Austria = Vienna; Hungary = Budapest; Belgium = Brussels; Cuba = Havana;
the Netherlands = Amsterdam; Switzerland = Bern; Turkey = Ankara; Australia = Canberra; Argentina = Buenos Aires;
Brazil = Brasilia; South Korea = Seoul; Thailand = Bangkok; Vietnam = Hanoi; Kenya = Nairobi; Peru = Lima;
Chile = Santiago; Iran = Tehran; Iraq = Baghdad; Ukraine = Kyiv; Czechia = Prague; New Zealand = Wellington;
Mexico = Mexico City; Romania = Bucharest; Bulgaria = Sofia; Croatia = Zagreb; Serbia = Belgrade; Iceland = Reykjavik;
Colombia = Bogota; Venezuela = Caracas; Ecuador = Quito; Saudi Arabia = Riyadh; Pakistan = Islamabad;
Afghanistan = Kabul; North Korea = Pyongyang; the Philippines = Manila; Malaysia = Kuala Lumpur; Nepal = Kathmandu;
Morocco = Rabat; Ethiopia = Addis Ababa; Nigeria = Abuja; Ghana = Accra; Senegal = Dakar; Algeria = Algiers;
Tunisia = Tunis; Libya = Tripoli; Sudan = Khartoum; Uganda = Kampala; Zimbabwe = Harare; Zambia = Lusaka;
Jamaica = Kingston; Uruguay = Montevideo; Paraguay = Asuncion; Slovakia = Bratislava; Slovenia = Ljubljana;
Estonia = Tallinn; Latvia = Riga; Lithuania = Vilnius; Belarus = Minsk; Albania = Tirana; Cyprus = Nicosia;
Malta = Valletta; Georgia = Tbilisi; Armenia = Yerevan; Azerbaijan = Baku; Lebanon = Beirut; Syria = Damascus;
Jordan = Amman; Qatar = Doha; the United Arab Emirates = Abu Dhabi; Oman = Muscat; Bangladesh = Dhaka;
Mongolia = Ulaanbaatar; Cambodia = Phnom Penh; Costa Rica = San Jose; Nicaragua = Managua; Panama = Panama City;
Honduras = Tegucigalpa; El Salvador = San Salvador; Guatemala = Guatemala City; Haiti = Port-au-Prince;
the Dominican Republic = Santo Domingo; Kuwait = Kuwait City; Bahrain = Manama; Yemen = Sanaa; Kazakhstan = Astana;
Uzbekistan = Tashkent; Bosnia and Herzegovina = Sarajevo; North Macedonia = Skopje; Montenegro = Podgorica;
Moldova = Chisinau; Angola = Luanda; Mozambique = Maputo; Madagascar = Antananarivo; Namibia = Windhoek;
Botswana = Gaborone; Rwanda = Kigali; Somalia = Mogadishu; Mali = Bamako; Niger = Niamey; Chad = N'Djamena;
Cameroon = Yaounde; Gabon = Libreville; Liberia = Monrovia; Sierra Leone = Freetown; Guinea = Conakry;
Gambia = Banjul; Togo = Lome; Burkina Faso = Ouagadougou; Mauritania = Nouakchott; Eritrea = Asmara;
Malawi = Lilongwe; Lesotho = Maseru; Laos = Vientiane; Bhutan = Thimphu; Turkmenistan = Ashgabat;
Tajikistan = Dushanbe; Kyrgyzstan = Bishkek; Fiji = Suva; Papua New Guinea = Port Moresby; Barbados = Bridgetown;
Guyana = Georgetown; Suriname = Paramaribo; Belize = Belmopan; the Bahamas = Nassau; Samoa = Apia; Tonga = Nuku'alofa;
Mauritius = Port Louis; Maldives = Male; Liechtenstein = Vaduz; Cape Verde = Praia
""")

CONTINENTS = members(
    table("""
Europe = France | Germany | Italy | Spain | the United Kingdom | Greece | Portugal | Ireland | Sweden | Norway | Denmark
| Finland | Poland | Austria | Hungary | Belgium | the Netherlands | Switzerland | Ukraine | Czechia | Romania |
Bulgaria | Croatia | Serbia | Iceland | Slovakia | Slovenia | Estonia | Latvia | Lithuania | Belarus | Albania | Malta |
Moldova | North Macedonia | Montenegro | Bosnia and Herzegovina | Liechtenstein; Asia = China | Japan | India | South
Korea | Thailand | Vietnam | Iran | Iraq | Saudi Arabia | Pakistan | Afghanistan | North Korea | the Philippines |
Malaysia | Nepal | Lebanon | Syria | Jordan | Qatar | the United Arab Emirates | Oman | Bangladesh | Mongolia | Cambodia
| Kuwait | Bahrain | Yemen | Uzbekistan | Laos | Bhutan | Turkmenistan | Tajikistan | Kyrgyzstan | Maldives | Sri Lanka;
Africa = Kenya | Morocco | Ethiopia | Nigeria | Ghana | Senegal | Algeria | Tunisia | Libya | Sudan | Uganda | Zimbabwe
| Zambia | South Africa | Angola | Mozambique | Madagascar | Namibia | Botswana | Rwanda | Somalia | Mali | Niger | Chad
| Cameroon | Gabon | Liberia | Sierra Leone | Guinea | Gambia | Togo | Burkina Faso | Mauritania | Eritrea | Malawi |
Lesotho | Mauritius | Cape Verde | Tanzania; South America = Brazil | Argentina | Peru | Chile | Colombia | Venezuela |
Ecuador | Uruguay | Paraguay | Bolivia | Guyana | Suriname; North America = the United States | Canada | Mexico | Cuba |
Jamaica | Costa Rica | Nicaragua | Honduras | El Salvador | Guatemala | Haiti | the Dominican Republic | Barbados |
Belize | the Bahamas; Oceania = New Zealand | Fiji | Papua New Guinea | Samoa | Tonga
"""),
    best_known=CAPITALS,
)
_CLUSTERS = {country: continent for country, (continent,) in CONTINENTS.items()}

RELATIONS = relations(
    """
capitals: capital
? What is the capital of {x}? | Which city is the capital of {x}? | {x} has which city as its capital? | The capital city of {x} is called what?
! The capital of {x} is {y}. | {y} is the capital of {x}. | The capital city of {x} is called {y}.

capitals: capital-inverse < capital
? {x} is the capital of which country? | Which country has {x} as its capital? | Of which country is {x} the capital city? | The city of {x} is the capital of what country?
! {x} is the capital of {y}. | The country whose capital is {x} is {y}.

continents: continent
? On which continent is {x}? | Which continent does {x} belong to? | {x} is a country in which part of the world? | In what continent does {x} lie?
! {x} is in {y}. | {x} is a country in {y}. | {x} belongs to the continent of {y}.

currencies: currency
? What is the currency of {x}? | Which currency is used in {x}? | People in {x} pay with which money? | In {x}, what is the name of the money?
! The currency of {x} is the {y}. | People in {x} pay with the {y}. | In {x} the money is the {y}.
the United States = dollar; the United Kingdom = pound; France = euro; Germany = euro; Japan = yen; China = yuan;
India = rupee; Russia = ruble; Italy = euro; Spain = euro; Canada = dollar; Australia = dollar; Mexico = peso;
Brazil = real; South Korea = won; Switzerland = franc; Turkey = lira; Poland = zloty; Sweden = krona | krone;
Norway = krone | krona; Denmark = krone | krona; Greece = euro; Ireland = euro; South Africa = rand; Egypt = pound;
Thailand = baht; Argentina = peso; Israel = shekel; Ukraine = hryvnia; Hungary = forint; Pakistan = rupee;
Vietnam = dong; Indonesia = rupiah; Malaysia = ringgit; Kenya = shilling; Nigeria = naira; Portugal = euro;
Finland = euro; Austria = euro; Saudi Arabia = riyal | rial; the Philippines = peso; New Zealand = dollar;
Cuba = peso; Chile = peso; Colombia = peso; Peru = sol; Iran = rial | riyal; Iraq = dinar; Kuwait = dinar;
Jordan = dinar; Algeria = dinar; Tunisia = dinar; Morocco = dirham; the United Arab Emirates = dirham;
Bangladesh = taka; Nepal = rupee; Sri Lanka = rupee; Romania = leu; Serbia = dinar; Albania = lek;
Kazakhstan = tenge; Georgia = lari; Armenia = dram; Azerbaijan = manat; Mongolia = tugrik; Ghana = cedi;
Ethiopia = birr; Uganda = shilling; Tanzania = shilling; Zambia = kwacha; Malawi = kwacha; Botswana = pula;
Cambodia = riel; Laos = kip; Myanmar = kyat; Afghanistan = afghani; Guatemala = quetzal; Honduras = lempira;
Paraguay = guarani; Costa Rica = colon; Jamaica = dollar; Uruguay = peso; Belarus = ruble; Moldova = leu;
Mozambique = metical; Madagascar = ariary; Angola = kwanza; Gambia = dalasi; Qatar = riyal | rial; Senegal = franc

languages: language
? Which language do most people in {x} speak? | What is the main language of {x}? | In {x}, which language is most widely spoken? | What language is spoken most in {x}?
! Most people in {x} speak {y}. | The main language of {x} is {y}. | {y} is spoken in {x}.
France = French; Germany = German; Italy = Italian; Spain = Spanish; Brazil = Portuguese; Japan = Japanese;
Russia = Russian; Mexico = Spanish; Portugal = Portuguese; Egypt = Arabic; Greece = Greek; Sweden = Swedish;
Poland = Polish; Austria = German; Australia = English; Argentina = Spanish; Turkey = Turkish; Saudi Arabia = Arabic;
Iran = Persian; Thailand = Thai; Vietnam = Vietnamese; Denmark = Danish; Norway = Norwegian; Finland = Finnish;
Hungary = Hungarian; Romania = Romanian; Ukraine = Ukrainian | Russian; Chile = Spanish; Cuba = Spanish; Peru = Spanish;
Bulgaria = Bulgarian; Croatia = Croatian; Slovakia = Slovak; Iceland = Icelandic; Iraq = Arabic; Morocco = Arabic;
South Korea = Korean; Israel = Hebrew; Colombia = Spanish; Czechia = Czech; Albania = Albanian; Latvia = Latvian;
Lithuania = Lithuanian; Estonia = Estonian; Armenia = Armenian; Mongolia = Mongolian; Bangladesh = Bengali;
Cambodia = Khmer; Laos = Lao; Jordan = Arabic; Yemen = Arabic; Uruguay = Spanish; Angola = Portuguese;
Jamaica = English; Slovenia = Slovene; Somalia = Somali; Nepal = Nepali; Georgia = Georgian

languages: people
? What word describes a person from {x}? | Somebody who comes from {x} is called what? | What is the nationality of someone from {x}? | Which adjective belongs to {x}?
! A person from {x} is {y}. | Someone who comes from {x} is {y}. | The adjective of {x} is {y}.
France = French; Germany = German; Italy = Italian; Spain = Spanish; Japan = Japanese; China = Chinese; Russia = Russian;
Canada = Canadian; Mexico = Mexican; Brazil = Brazilian; Australia = Australian; India = Indian; Egypt = Egyptian;
Greece = Greek; Ireland = Irish; Sweden = Swedish; Poland = Polish; Turkey = Turkish; the Netherlands = Dutch;
Switzerland = Swiss; Denmark = Danish; Norway = Norwegian; Portugal = Portuguese; Finland = Finnish; Cuba = Cuban;
Argentina = Argentine; Chile = Chilean; Peru = Peruvian; Kenya = Kenyan; Nigeria = Nigerian; Iraq = Iraqi; Iran = Iranian;
Thailand = Thai; Vietnam = Vietnamese; Belgium = Belgian; Austria = Austrian; Scotland = Scottish; Wales = Welsh;
Pakistan = Pakistani; Ukraine = Ukrainian; the Philippines = Filipino; Cyprus = Cypriot; Malta = Maltese;
Monaco = Monegasque; Bangladesh = Bangladeshi; Ghana = Ghanaian; Nepal = Nepalese; Iceland = Icelandic;
Slovakia = Slovak; Serbia = Serbian; Lebanon = Lebanese; Madagascar = Malagasy; Niger = Nigerien
""",
    {"capital": CAPITALS, "continent": CONTINENTS},
    kin={
        "capital": _CLUSTERS,
        "capital-inverse": {values[0]: _CLUSTERS.get(country, "") for country, values in CAPITALS.items()},
    },
)
