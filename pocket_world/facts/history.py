"""Years of events, in the calendar that was in force where they happened."""

from pocket_world.relations import relations

RELATIONS = relations(
    """
history: year
? In which year did {x} take place? | What is the year of {x}? | In what year do historians place {x}? | When did {x} take place?
! {x} took place in {y}. | The year of {x} is {y}. | In {y}: {x}. | Historians place {x} in {y}.
the first Moon landing = 1969; the sinking of the Titanic = 1912; the fall of the Berlin Wall = 1989;
the Battle of Hastings = 1066; the start of the First World War = 1914; the end of the First World War = 1918;
the start of the Second World War = 1939; the end of the Second World War = 1945; the French Revolution's outbreak = 1789;
the American Declaration of Independence = 1776; Columbus's first voyage to the Americas = 1492;
the Battle of Waterloo = 1815; the Great Fire of London = 1666; the launch of Sputnik = 1957;
the killing of President Kennedy = 1963; the signing of Magna Carta = 1215; the birth of Mozart = 1756;
the October Revolution in Russia = 1917; the attack on Pearl Harbor = 1941; the fall of Constantinople = 1453;
the first flight of the Wright brothers = 1903; the Wall Street Crash = 1929; the birth of Albert Einstein = 1879;
the discovery of penicillin = 1928; the D-Day landings = 1944;
the opening of the Suez Canal = 1869; the opening of the Panama Canal = 1914; the independence of India = 1947;
the first modern Olympic Games = 1896; the first ascent of Mount Everest = 1953; the Battle of Trafalgar = 1805;
the birth of William Shakespeare = 1564; the death of William Shakespeare = 1616; the Gunpowder Plot = 1605;
the defeat of the Spanish Armada = 1588; the Chernobyl disaster = 1986; the reunification of Germany = 1990;
the end of the Soviet Union = 1991; the birth of Ludwig van Beethoven = 1770; the Boston Tea Party = 1773;
the first flight of a human into space = 1961; the Cuban missile crisis = 1962; the death of Napoleon = 1821;
Napoleon's coronation as emperor = 1804; the founding of the United Nations = 1945; the birth of Mahatma Gandhi = 1869;
the publication of On the Origin of Species = 1859; the completion of the Eiffel Tower = 1889;
the Iranian Revolution = 1979; the Falklands War = 1982; the end of the Vietnam War = 1975;
the handover of Hong Kong to China = 1997; the opening of the Channel Tunnel = 1994; the launch of Wikipedia = 2001;
the founding of Google = 1998; the founding of Facebook = 2004; the release of the first iPhone = 2007;
the founding of the People's Republic of China = 1949; the birth of Queen Victoria = 1819; the Lisbon earthquake = 1755;
the death of Queen Victoria = 1901; the Battle of Agincourt = 1415; the death of Joan of Arc = 1431;
the start of the American Civil War = 1861; the end of the American Civil War = 1865; the Battle of Bosworth = 1485;
the voyage of the Mayflower = 1620; the founding of Jamestown = 1607; the Louisiana Purchase = 1803;
the sale of Alaska to the United States = 1867; the San Francisco earthquake and fire = 1906;
the discovery of Tutankhamun's tomb = 1922; the start of the Spanish Civil War = 1936; the Suez Crisis = 1956;
Luther's Ninety-five Theses = 1517; the Peace of Westphalia = 1648; the execution of Charles I of England = 1649;
the first arrival at the South Pole = 1911; the eruption of Krakatoa = 1883; the coronation of Charlemagne = 800;
the eruption of Vesuvius that buried Pompeii = 79; the crusaders' capture of Jerusalem = 1099;
the publication of Newton's Principia = 1687; the founding of the German Empire = 1871; the death of Mozart = 1791;
Vasco da Gama's first arrival in India = 1498; the death of Albert Einstein = 1955; the arrest of Rosa Parks = 1955;
Nelson Mandela's release from prison = 1990; the election of Nelson Mandela as president = 1994;
the first flight of the Space Shuttle = 1981; the discovery of the structure of DNA = 1953; the birth of Goethe = 1749;
the publication of the Communist Manifesto = 1848; the union of England and Scotland = 1707
""",
)
