"""Books, paintings, music and discoveries, with the people they are due to."""

from pocket_world.relations import relations

RELATIONS = relations(
    """
people: book
? Who wrote {x}? | Who is the author of {x}? | By which writer is {x}? | Which author do we owe {x} to?
! {y} wrote {x}. | The author of {x} is {y}. | We owe {x} to the author {y}.
Romeo and Juliet = William Shakespeare; Hamlet = William Shakespeare; Oliver Twist = Charles Dickens;
Pride and Prejudice = Jane Austen; War and Peace = Leo Tolstoy; Don Quixote = Miguel de Cervantes; Faust = Goethe;
The Hobbit = J. R. R. Tolkien; Nineteen Eighty-Four = George Orwell; Animal Farm = George Orwell;
Frankenstein = Mary Shelley; Dracula = Bram Stoker; Moby-Dick = Herman Melville; Les Miserables = Victor Hugo;
Alice in Wonderland = Lewis Carroll; Treasure Island = Robert Louis Stevenson; The Odyssey = Homer; Macbeth = William Shakespeare;
A Christmas Carol = Charles Dickens; Crime and Punishment = Fyodor Dostoevsky; The Divine Comedy = Dante Alighieri;
Emma = Jane Austen; The Little Mermaid = Hans Christian Andersen; The Jungle Book = Rudyard Kipling; The Iliad = Homer;
Robinson Crusoe = Daniel Defoe; Gulliver's Travels = Jonathan Swift; Jane Eyre = Charlotte Bronte;
Wuthering Heights = Emily Bronte; Anna Karenina = Leo Tolstoy; The Time Machine = H. G. Wells; Ulysses = James Joyce;
The Trial = Franz Kafka; Madame Bovary = Gustave Flaubert; The Three Musketeers = Alexandre Dumas; Candide = Voltaire;
Around the World in Eighty Days = Jules Verne; The Old Man and the Sea = Ernest Hemingway; Mrs Dalloway = Virginia Woolf;
The Adventures of Tom Sawyer = Mark Twain; A Doll's House = Henrik Ibsen; The Cherry Orchard = Anton Chekhov;
The Picture of Dorian Gray = Oscar Wilde; Paradise Lost = John Milton; The Canterbury Tales = Geoffrey Chaucer;
The Stranger = Albert Camus; Buddenbrooks = Thomas Mann; Pygmalion = George Bernard Shaw; The Aeneid = Virgil;
Middlemarch = George Eliot; Great Expectations = Charles Dickens; The War of the Worlds = H. G. Wells

people: painting
? Who painted {x}? | Which artist painted the picture called {x}? | The painting {x} is the work of which painter?
! {y} painted {x}. | The painting {x} is the work of {y}.
Mona Lisa = Leonardo da Vinci; The Starry Night = Vincent van Gogh; Guernica = Pablo Picasso; The Scream = Edvard Munch;
The Last Supper in Milan = Leonardo da Vinci; The Night Watch = Rembrandt; Girl with a Pearl Earring = Johannes Vermeer;
The Birth of Venus = Sandro Botticelli; The Kiss in gold leaf = Gustav Klimt; Las Meninas = Diego Velazquez;
The Persistence of Memory = Salvador Dali; The Garden of Earthly Delights = Hieronymus Bosch;
The School of Athens = Raphael; The Third of May 1808 = Francisco Goya; The Hay Wain = John Constable;
Impression, Sunrise = Claude Monet; The Fighting Temeraire = J. M. W. Turner; American Gothic = Grant Wood;
Nighthawks = Edward Hopper; The Milkmaid = Johannes Vermeer; The Potato Eaters = Vincent van Gogh

people: music
? Who composed {x}? | Which composer wrote {x}? | The music of {x} is the work of which composer?
! {y} composed {x}. | The music of {x} is the work of {y}.
The Magic Flute = Wolfgang Amadeus Mozart; the Moonlight Sonata = Ludwig van Beethoven; The Four Seasons = Antonio Vivaldi;
Swan Lake = Pyotr Tchaikovsky; the Brandenburg Concertos = Johann Sebastian Bach; Messiah = George Frideric Handel;
The Nutcracker = Pyotr Tchaikovsky; Carmen = Georges Bizet; Aida = Giuseppe Verdi; The Barber of Seville = Gioachino Rossini;
The Ring of the Nibelung = Richard Wagner; the Surprise Symphony = Joseph Haydn; Don Giovanni = Wolfgang Amadeus Mozart;
The Blue Danube = Johann Strauss; Bolero = Maurice Ravel; The Rite of Spring = Igor Stravinsky; Tosca = Giacomo Puccini;
La Traviata = Giuseppe Verdi; Peer Gynt's stage music = Edvard Grieg; the Trout Quintet = Franz Schubert;
Fidelio = Ludwig van Beethoven; The Planets = Gustav Holst; Rhapsody in Blue = George Gershwin; La Mer = Claude Debussy;
the New World Symphony = Antonin Dvorak; the German Requiem = Johannes Brahms; Ma vlast = Bedrich Smetana

people: discovery
? Which scientist or inventor is famous for {x}? | Whose name is linked with {x}? | Who is known for {x}?
! {y} is known for {x}. | {y} is famous for {x}. | The name linked with {x} is {y}.
relativity = Albert Einstein; evolution by natural selection = Charles Darwin; penicillin = Alexander Fleming;
radium = Marie Curie; the law of gravity = Isaac Newton; the patent for the telephone = Alexander Graham Bell;
X-rays = Wilhelm Roentgen; the four large moons of Jupiter = Galileo Galilei; dynamite = Alfred Nobel;
the first smallpox vaccine = Edward Jenner; the laws of planetary motion = Johannes Kepler; pasteurisation = Louis Pasteur;
the electric battery = Alessandro Volta; the periodic table = Dmitri Mendeleev; the laws of inheritance in peas = Gregor Mendel;
printing with movable type in Europe = Johannes Gutenberg; the Sun-centred system in Renaissance astronomy = Nicolaus Copernicus;
electromagnetic induction = Michael Faraday; the World Wide Web = Tim Berners-Lee; the uncertainty principle = Werner Heisenberg;
the electron = J. J. Thomson; the neutron = James Chadwick; the atomic nucleus = Ernest Rutherford; Uranus = William Herschel;
reading by raised dots for the blind = Louis Braille; the equations of electromagnetism = James Clerk Maxwell
""",
)
