"""Dialogues of two turns or more; the person speaks first and last, and the reply has to agree with what was said."""

# ruff: noqa: E501 (plans read best with each wording list on one line)

from pocket_world.scenes.frame import parse

TALKS = parse("""
plans
with p: person; place: place; h: hour; day: weekday; transport: transport
- I want to see {p} this week. | {p} and I want to meet. Where?
- Go to the {place}. | How about the {place}?
- Good, then we meet there on {day} at {h} o'clock, and I come by {transport}. When do I see {p} again? | Fine. We said {day}, {h} o'clock, and I take the {transport}. Could you repeat it for me?
! You meet {p} on {day} at {h} o'clock at the {place}. | On {day} you go to the {place} by {transport} and meet {p} there.

lost and found
with thing: thing; colour: colour; place: place; day: weekday; spot: spot
- I left my {thing} at the {place}. | My {thing} must still be at the {place}.
- What does it look like? | Describe it, please.
- It is {colour}, and I lost it on {day}. What are you going to write down? | It is {colour}. That was on {day}. Did you note everything?
! I write down that {an_colour} {thing} was lost at the {place} on {day}. | Yes, {an_colour} {thing}, left at the {place} on {day}.

order food
with dish: dish; drink: drink; n: few; h: hour
- A table for {n}, please. | We are {n} people.
- What may I bring? | And to eat?
- We take the {dish} and {drink}. What did I order? | The {dish} for everybody and {drink}, please. Have you got that?
! You ordered {dish} and {drink} for {n} people. | Yes, {n} times {dish}, and {drink} to drink.

train ticket
with a b: town; h: hour; price: price; day: weekday
- I need a ticket from {a} to {b}. | One ticket from {a} to {b}, please.
- For which day? | When would you like to travel?
- On {day} at {h} o'clock. I have heard that it costs {price} coins. Which ticket do I get? | I go on {day} at {h} o'clock and pay {price} coins. Is that right?
! Here is your ticket from {a} to {b} for {day} at {h} o'clock. | Yes, on {day} you go from {a} to {b} for {price} coins.

new pet
with animal: animal; name: {Bruno/Luna/Max/Coco/Tiger/Snowy/Biscuit/Pepper/Rusty/Daisy}; n: few; colour: coat; dish: {hay/fish/seeds/carrots/meat/milk/grass/corn}
- I have {an_animal} now. | We got {an_animal} last week.
- What is it called? | Does it have a name?
- Its name is {name}, it is {n} months old and {colour}. What do you know about my {animal}? | It is called {name} and likes {dish}. Can you still say what I told you?
! Your {animal} is called {name}. | You have {an_animal} with the name {name}.

school help
with a b: school subject; day: weekday; p: person; n: few
- I am good at {a}, but {b} is hard for me. | {b} is too hard for me, while {a} is easy.
- Who could help you? | Can somebody explain it?
- Yes, {p} does it on {day}, for {n} hours. What should I learn with {p}? | {p} has time on {day}. What do we do on that day?
! On {day} {p} helps you with {b}. | You should learn {b} with {p} on {day}.

two friends
with p q: person; a b: job; c d: town
- {p} is {an_a} and lives in {c}. | My friend {p} lives in {c} and works as {an_a}.
- And what about {q}? | What does {q} do?
- {q} is {an_b} in {d}. Where does {q} live? | {q} lives in {d} and is {an_b}. What did I tell you about {q}?
! {q} lives in {d}. | {q} is {an_b} and lives in {d}.

weather
with weather: weather; day other: weekday; hobby: hobby; place: place
- I wanted to go out on {day}. | My plan was a trip on {day}.
- On {day} there will be {weather}. | They say that there will be {weather} on that day.
- Then I shall go on {other}, to the {place}. When do I go out now? | So I had better take {other} for the {place}. What is my plan now?
! You go to the {place} on {other}. | You go out on {other}, because on {day} there will be {weather}.

shopping
with a b c: food; n m: few; price: price
- I have to buy {n} {a} and {m} {b}. | My list says {n} {a} and {m} {b}.
- Do you need anything else? | Is that everything?
- No, and the {c} can wait. How many {a} do I buy? | Everything but {c}, for those are too dear. What do I have to buy?
! You buy {n} {a} and {m} {b}. | {n} {a} are on your list.

music lesson
with p: person; a b: instrument; day: weekday; h: hour; n: few
- My daughter would like to play the {a}. | My son wants to learn the {a}.
- {p} teaches the {a} on {day}. | On {day} {p} gives lessons for the {a}.
- At {h} o'clock? We have had the {b} for {n} years already. Who gives the lesson? | Good, we come at {h} o'clock and leave the {b} at home. When is the lesson?
! {p} gives the {a} lesson on {day} at {h} o'clock. | The lesson for the {a} is on {day}, and {p} gives it.

present
with p: woman; thing other: thing; colour: colour; price: price; relative: {sister/aunt/cousin/niece/grandmother/friend}
- My {relative} {p} has a birthday. I think of {an_thing}. | I need a present for {p}, my {relative}, perhaps {an_thing}.
- What about {an_other}? | Would {an_other} be better?
- No, I take the {thing}, in {colour}, for {price} coins. What does {p} get? | No, {p} has one already. The {colour} {thing} costs {price} coins. What shall I buy?
! {p} gets {an_colour} {thing}. | You buy the {colour} {thing} for {price} coins.

doctor
with part: {knee/head/back/ear/arm/foot/hand/tooth/neck/shoulder}; n: few; day: weekday; drink: drink; h: hour
- My {part} has hurt for {n} days. | I have had a pain in my {part} for {n} days.
- Please drink {drink} and rest. Can you come on {day}? | You should rest and drink {drink}. Come again on {day}.
- I can be there at {h} o'clock. When do I have to come? | At {h} o'clock, then. What was it that you told me?
! Come on {day} at {h} o'clock because of your {part}. | Drink {drink}, rest your {part} and come on {day}.

languages
with a b c: language; p: person; n: few; country: country
- I have learned {a} for {n} years. | For {n} years I have been learning {a}.
- And others? | Is that all?
- I speak {b}, and {p} teaches me {c}, for we want to go to {country}. Who teaches me {c}? | {p} speaks {c} with me, but at home we speak {b}. Which language have I learned for {n} years?
! {p} teaches you {c}, and {a} you have learned for {n} years. | You have learned {a} for {n} years, and {c} you speak with {p}.

house
with a b: room; c d: colour; p: person; day: weekday
- The {a} is {c}, and I want to paint the {b}. | I have a {c} {a} and would like to paint the {b}.
- In which colour? | What colour should it have?
- In {d}, and {p} helps me on {day}. What do we paint? | {p} has brought {d} paint, so we start on {day}. What will the {b} look like?
! You paint the {b} {d}. | The {b} will be {d}, and {p} helps you.

film
with p: person; theme: {a pirate/a robot/a detective/a dancer/a king/a ghost/a bear/a pilot}; place: {cinema/school/theatre/library/museum}; h: hour; price: price; day: weekday
- There is a film about {theme}. | I want to see the film about {theme}.
- Where is it shown? | Where?
- At the {place}, on {day} at {h} o'clock, and {p} comes too. What is my plan? | {p} has tickets for the {place} at {h} o'clock on {day}. What are my plans?
! You see a film about {theme} at the {place} on {day}. | Go to the {place} on {day} at {h} o'clock, {p} comes with you.

garden advice
with a b: flower; c: colour; month: month; tree: tree; n: few
- I want to plant {a} under the {tree}. | Under my {tree} there is room for {a}.
- {month} is a good time for that. | You can do that in {month}.
- I have {n} of them, all {c}, and no {b}. What do I plant in {month}? | My {n} {a} are {c}, like the {b} of last year. When do I plant them?
! In {month} you plant {n} {c} {a} under the {tree}. | You plant your {a} in {month}.

repair
with thing: {clock/radio/washing machine/heater/lift/lamp/oven/pump/printer}; part: {switch/cable/screw/handle/spring/cover}; p: person; day: weekday; price: price
- My {thing} does not work any more. | There is something wrong with my {thing}.
- It may be the {part}. {p} can repair it. | {p} should look at the {part}.
- {p} comes on {day} and wants {price} coins. What is being repaired? | Good, {p} has time on {day}, for {price} coins. What is broken?
! The {part} of your {thing} is broken, and {p} comes on {day}. | {p} repairs your {thing} on {day} for {price} coins.

family
with p: woman; q: man; a: {sister/aunt/cousin/niece/grandmother/neighbour}; b: {brother/uncle/nephew/grandfather/friend/teacher}; n m: age
- {p} is my {a} and {q} is my {b}. | I have {an_a}, {p}, and {an_b}, {q}.
- How old are they? | And what is their age?
- {p} is {n} and {q} is {m}. How old is {q}? | {q} is {m}, {p} is {n}. What do you know about {q} now?
! {q} is {m} years old. | Your {b} {q} is {m}.

sports club
with p q: person; a b: hobby; n: few; day: weekday; place: place
- I have stopped with {a} and begun with {b}. | Instead of {a} I do {b} now.
- How often do you train? | Is there a club for it?
- {n} times a month, with {p}, near the {place}. What is my sport now? | Yes, {p} runs it, and on {day} we meet near the {place}. What is my sport now?
! You do {b} now, together with {p}. | Your sport is {b}, and you train near the {place}.

holiday
with a b: country; n: few; month: month; transport: transport; p: person
- Last year I was in {a}. | I came back from {a} a year ago.
- Where will you go this year? | And what is your next country?
- To {b} with {p}, for {n} weeks in {month}. Where do I go this year? | In {month} {p} and I go to {b} for {n} weeks. What are my plans?
! You go to {b} with {p} in {month}. | This year you spend {n} weeks in {b}.

borrowed
with p q: person; thing other: thing; n: few; day: weekday; spot: spot
- {p} has borrowed my {thing}. | I have lent my {thing} to {p}.
- When do you get it back? | For how long?
- On {day}. And {q} has my {other} for {n} weeks. Who has my {thing}? | Until {day}, while the {other} stays with {q} for {n} weeks. Who has my {thing}?
! {p} has your {thing}. | Your {thing} is with {p} until {day}.

bakery
with n m: few; a b: {rolls/buns/croissants/muffins/pretzels/doughnuts/scones/waffles}; price: price; day: weekday; p: person
- I would like {n} {a} for {day}. | Please keep {n} {a} for me on {day}.
- Gladly. In which name? | Yes. What is your name?
- {p}. Last week I had {m} {b}. What do you keep for me? | My name is {p}, and I paid {price} coins. What do you write down?
! I keep {n} {a} for {p}. | {n} {a} for {p}, on {day}.
""")
