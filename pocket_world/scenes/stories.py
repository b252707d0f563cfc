"""Scenes of everyday life, for passages with questions and documents with summaries."""

# ruff: noqa: E501 (plans read best with each wording list on one line)

from pocket_world.scenes.frame import parse

STORIES = parse("""
market
with p: person; day: weekday; town: town; a b: food; n m: few; price: price; total = n + m; seller: person
- On {day} {p} went to the market in {town}. | {p} was at the market in {town} on {day}.
- {p_He} bought {n} {a} and {m} {b}. | From one stall {p_he} took {n} {a} and {m} {b}.
- Everything together cost {price} coins. | {p_He} paid {price} coins for all of it.
- The stall belonged to {seller}. | {seller} was the one who sold it all.
- It was early, and many stalls were empty. | Few people were about yet.
- Afterwards {p} carried the full bag home. | Then {p} took the full bag home.
? easy 0 -> day. On which day did {p} go to the market? | When was {p} at the market?
? easy 0 -> town. In which town is the market? | Where was the market that {p} went to?
? medium 1 -> n. How many {a} did {p} buy? | What number of {a} did {p} take?
? medium 1 -> m. How many {b} did {p} buy?
? medium 2 -> price. How many coins did {p} pay? | What did everything cost, in coins?
? medium 3 -> seller not p. Whose stall was it? | Who sold {p} the {a}?
? hard 1 -> total. How many pieces did {p} buy in all? | How many {a} and {b} together did {p} buy?
! {p} bought {n} {a} and {m} {b} at the market in {town}. | On {day} {p} paid {price} coins for {a} and {b} from {seller}.

lost thing
with p q: person; thing: thing; colour other: colour; place: place; spot: spot; day: weekday; relative: relative
- {p} lost {an_colour} {thing} on {day}. | On {day} {p} could not find the {colour} {thing}.
- {p_He} looked for it at the {place}, but it was not there. | First {p_he} searched the {place}, without luck.
- In the end {q} found it {spot}. | At last {q} saw it {spot}.
- The {thing} had been a present from {p_his} {relative}. | {p_His} {relative} had once given it to {p_him}.
- {p} had already thought of buying {an_other} one instead. | A new one, in {other}, would have been dear.
- Everybody was glad in the evening. | That was a great relief.
? easy 0 -> thing. What did {p} lose? | What could {p} not find?
? medium 0 4 -> colour. What colour was the thing that {p} lost? | What was the colour of the lost {thing}?
? easy 1 -> place. Where did {p} look for the {thing} first? | Where was the {thing} not to be found?
? medium 0 2 -> q. Who found the {thing}? | Who saw the {thing} in the end?
? medium 2 -> spot. Where was the {thing} in the end? | Where did {q} see it?
? hard 0 3 -> relative. Who had given {p} the {thing}? | From whom did {p} have the {thing}?
! {p} lost {an_colour} {thing}, and {q} found it {spot}. | {q} found the {thing} that {p} had lost on {day}.

three in a row
with p q r: person; n m: few; town: town; club: hobby
- {p}, {q} and {r} met at the {club} club in {town}. | In the {club} club in {town} there are {p}, {q} and {r}.
- {p} is older than {q}. | {q} is younger than {p}.
- {q} is older than {r}. | {r} is younger than {q}.
- {p} has been in the club for {n} years. | It is {n} years since {p} joined.
- {r} joined only {m} months ago. | {r} has been there for {m} months.
- They train twice a week and often win. | The whole club is proud of them.
? hard 0 1 2 -> p. Who is the oldest of the three? | Who was born first?
? hard 0 1 2 -> r. Who is the youngest of the three? | Who was born last?
? medium 0 -> town not p. In which town is the club? | Where does the club meet?
? easy 0 -> club. What is the club for? | What do the three do in their club?
? medium 3 4 -> n. For how many years has {p} been in the club? | How many years ago did {p} join?
? medium 3 4 -> m. For how many months has {r} been in the club? | How many months ago did {r} join?
! {p}, {q} and {r} are in the {club} club in {town}. | {p}, who joined the {club} club {n} years ago, is older than {q}.

train trip
with p: person; a b: town; h k: hour; transport: transport; q: person; thing: thing; day: weekday; weather: weather
- {p} took the {transport} from {a} to {b} on {day}. | On {day} {p} went from {a} to {b} by {transport}.
- {p_He} left at {h} o'clock and arrived at {k} o'clock. | The journey began at {h} o'clock and ended at {k} o'clock.
- {q} was waiting there. | At the other end {q} met {p_him}.
- {p} had forgotten the {thing} at home. | The {thing} had been left at home.
- Because of {weather} it was slow on the last part of the way. | On the way there was {weather}.
- The two had not seen each other for a year. | They had much to talk about.
? easy 0 -> transport. How did {p} travel? | What did {p} take to get there?
? medium 0 -> a. Where did {p} start from? | From which town did {p} leave?
? medium 0 -> b. Where did {p} arrive? | To which town did {p} go?
? medium 1 -> h. At what hour did {p} leave? | At which hour did the journey begin?
? medium 1 -> k. At what hour did {p} arrive? | At which hour did the journey end?
? easy 0 2 -> q not p. Who met {p}? | Who was waiting for {p}?
? easy 3 -> thing. What did {p} forget? | What had {p} left at home?
? medium 4 -> weather. Why was the journey slow? | What was the weather like on the way?
! {p} went from {a} to {b} by {transport}, where {q} was waiting. | On {day} {p} left {a} at {h} o'clock for {b}.

new building
with town other: town; building: building; year: year; many: many; why: {a fire/a flood/a storm/an earthquake/rotten wood}; p q: person; month: month; some: some
- The {building} in {town} was built in {year}. | In {year} the people of {town} built their {building}.
- The plan was drawn by {p}. | {p} was the architect.
- The work was done by {many} people. | {many} people worked on it.
- It had to be repaired because of {why}. | Later it was damaged by {why}.
- The repairs were paid for by {q}. | {q} gave the money to repair it.
- It was opened again in {month}. | Since {month} it has been open again.
- The stones came from a quarry near {other}. | The stones were brought from {other}.
- On its first day {some} visitors came to look at it. | {some} guests came to the opening.
? easy 0 -> year. When was the {building} built? | In which year did {town} get its {building}?
? medium 0 6 -> town. In which town is the {building}? | Where does the {building} stand?
? medium 1 4 -> p. Who drew the plan of the {building}? | Who was the architect?
? medium 2 -> many. How many people worked on it? | How many workers did it take?
? easy 0 3 -> why. What damaged the {building}? | Why did it have to be repaired?
? medium 1 4 -> q. Who paid for the repairs? | Whose money repaired the {building}?
? hard 0 6 -> other. Where did the stones come from? | From where were the stones brought?
! The {building} in {town}, built in {year} by {many} people, was damaged by {why}. | {p} planned the {building} in {town}, and {q} paid for the repairs.

at the farm
with p: person; a b: animal; n m: few; town: town; c d: colour; q: person; sum = n + m
- {p} has a farm near {town}. | Near {town} lies the farm of {p}.
- There are {n} animals in the {c} barn and {m} in the {d} one. | The {c} barn holds {n} animals, the {d} barn {m}.
- {p_His} favourite is an old {a}. | Most of all {p_he} likes the old {a}.
- {q} comes every day to feed them. | Every day {q} comes to give them food.
- The youngest animal is a {b}. | A {b} is the youngest of them.
- In winter all of them stay inside. | When it is cold they never leave the barns.
? easy 0 -> town. Near which town is the farm? | Where is the farm of {p}?
? medium 1 -> n. How many animals are in the {c} barn? | What number of animals does the {c} barn hold?
? medium 1 -> m. How many animals are in the {d} barn?
? hard 1 -> sum. How many animals are in the two barns together?
? medium 2 4 -> a. Which animal does {p} like most? | Which animal is the favourite of {p}?
? medium 2 4 -> b. Which animal is the youngest? | What is the youngest of the animals?
? medium 0 3 -> q. Who feeds the animals? | Who comes every day?
? hard 1 -> c. What colour is the barn with {n} animals?
! {p} keeps {n} animals in {an_c} barn and {m} in {an_d} barn near {town}. | {q} feeds the animals of {p}, whose favourite is an old {a}.

birthday
with p: person; age: age; day: weekday; g h: thing; q r: person; dish: dish; drink: drink; room: room; n: some
- {p} turned {age} on {day}. | On {day} it was the birthday of {p}, who is now {age}.
- {q} gave {p_him} {an_g}. | From {q} {p_he} got {an_g}.
- {r} brought {an_h}. | The present of {r} was {an_h}.
- For dinner there was {dish}, and {drink} to drink. | They ate {dish} and drank {drink}.
- The {n} guests sat in the {room}. | The party, with {n} guests, was in the {room}.
- There was music until late. | Later all of them danced.
? easy 0 -> age. How old did {p} become? | What age is {p} now?
? easy 0 -> day. On which day was the birthday of {p}? | When did {p} celebrate?
? medium 1 2 -> g. What did {q} give to {p}? | What was the present of {q}?
? medium 1 2 -> h. What did {r} give to {p}? | What was the present of {r}?
? hard 1 2 -> r not p. Who gave the {h}? | From whom did the {h} come?
? hard 1 2 -> q not p. Who gave the {g}? | From whom did the {g} come?
? easy 3 -> dish. What was there to eat? | What did the guests eat?
? easy 3 -> drink. What did they drink? | What was there to drink?
? medium 4 -> room. In which room was the party? | Where did the guests sit?
! {p} turned {age} and got {an_g} from {q}. | At the birthday of {p} {n} guests ate {dish} in the {room}.

match
with a b: team; n m: few; town: town; p q: person; many: many; day: weekday; weather: weather; k: hour
- On {day} the {a} played against the {b} in {town}. | The {a} and the {b} met in {town} on {day}.
- The {a} won {n} to nothing. | It ended {n} to nothing for the {a}.
- The last goal was scored by {p}. | {p} scored the last goal.
- {q}, the trainer, was happy with the team. | The trainer, {q}, praised the team.
- About {many} people watched. | There were {many} people in the stadium.
- Play began at {k} o'clock. | It started at {k} o'clock.
- In the second half there was {weather}. | After the break came {weather}.
? medium 0 1 -> a. Who won the match? | Which team won?
? medium 0 1 -> b. Who lost the match? | Which team lost?
? easy 1 -> n. How many goals did the {a} score? | What was the number of goals for the {a}?
? medium 2 3 -> p. Who scored the last goal? | Whose goal was the last?
? medium 2 3 -> q. Who is the trainer? | Who praised the team?
? easy 4 -> many. How many people watched the match? | How many people were in the stadium?
? easy 0 -> town. Where was the match played? | In which town did the teams meet?
? medium 0 6 -> weather. What was the weather in the second half? | What came after the break?
! The {a} beat the {b} {n} to nothing in {town}. | {p} scored the last goal as the {a} won in front of {many} people.

new job
with p: person; a b: job; town: town; month: month; age: age; q: person; n: few; transport: transport
- {p} used to be {an_a}. | For a long time {p} worked as {an_a}.
- Since {month} {p_he} has been {an_b} in {town}. | In {month} {p_he} became {an_b} in {town}.
- It took {n} years to learn the new work. | The training had lasted {n} years.
- {q} taught {p_him} most of it. | Most of it {p_he} learned from {q}.
- Every morning {p_he} goes to work by {transport}. | {p_He} takes the {transport} to get there.
- {p} is content with the change. | It was the right decision.
? medium 0 1 -> b. What is the work of {p} now? | As what does {p} work now?
? medium 0 1 -> a. What was the work of {p} before? | As what did {p} work in the past?
? easy 1 -> town. Where does {p} work now? | In which town is the new work?
? easy 1 -> month. Since when has {p} had the new work? | In which month did {p} begin?
? easy 2 -> n. How many years did it take to learn? | How long was the training, in years?
? medium 0 3 -> q. Who taught {p}? | From whom did {p} learn?
? easy 4 -> transport. How does {p} get to work? | What does {p} take in the morning?
! {p}, who was {an_a}, has become {an_b} in {town}. | After {n} years of training with {q}, {p} has been {an_b} since {month}.

school day
with p q: person; a b c: school subject; h k: hour; n: few; room: {the first floor/the second floor/the third floor/the ground floor/the old wing/the new wing}; thing: thing
- On that day {p} had {a} at {h} o'clock. | At {h} o'clock {p} sat in the {a} lesson.
- At {k} o'clock there was {b}. | The {b} lesson was at {k} o'clock.
- {p_His} favourite subject is {c}. | Best of all {p_he} likes {c}.
- The {a} lesson is given by {q}. | {q} teaches {a}.
- The classroom is on {room}. | Their room is on {room}.
- {p} had to leave the {thing} outside. | The {thing} had to stay outside.
- There are {n} lessons in a day. | Each day has {n} lessons.
? medium 0 1 -> h. At what hour was the {a} lesson? | When, by the clock, did {p} have {a}?
? medium 0 1 -> k. At what hour was the {b} lesson? | When, by the clock, was there {b}?
? hard 0 1 -> b. What did {p} have at {k} o'clock? | Which lesson was at {k} o'clock?
? medium 0 2 -> c. Which subject does {p} like best? | What is the favourite subject of {p}?
? medium 0 3 -> q. Who teaches {a}? | Whose lesson is the one in {a}?
? easy 4 -> room. Where is the classroom? | On which part of the building do they learn?
? easy 5 -> thing. What had to stay outside? | What could {p} not take in?
! {p} had {a} at {h} o'clock and {b} at {k} o'clock. | {q} teaches {a}, but {p} likes {c} best.

moving house
with p: person; a b: town; n: few; room: room; thing other: thing; q: person; c d: colour; day: weekday; transport: {van/lorry/trailer/handcart}
- {p} moved from {a} to {b} on {day}. | On {day} {p} left {a} and moved to {b}.
- {q} helped with the boxes. | {q} came to carry the boxes.
- They needed {n} trips with the {transport}. | With the {transport} it took {n} trips.
- The {thing} broke on the way. | On the way the {thing} fell and broke.
- The {room} of the new house is {c}. | In the new house the {room} has {c} walls.
- The front door was painted {d}. | The new front door is {d}.
- In the evening both were tired. | They slept well that night.
? medium 0 -> b. Where does {p} live now? | To which town did {p} move?
? medium 0 -> a. Where did {p} live before? | Which town did {p} leave?
? easy 0 1 -> q not p. Who helped {p}? | Who carried boxes for {p}?
? easy 2 -> n. How many trips were needed? | How often did they have to drive?
? easy 3 -> thing. What broke on the way? | What fell and broke?
? medium 4 5 -> c. What colour is the {room}? | What is the colour of the walls in the {room}?
? medium 4 5 -> d. What colour is the front door? | In what colour was the front door painted?
! {p} moved from {a} to {b} with the help of {q}. | It took {n} trips with the {transport}, and the {thing} broke when {p} moved to {b}.

walk in the woods
with p q: person; a b: wild animal; tree: tree; weather: weather; n: few; h: hour; day: weekday; spot: {on a bench/at a stream/in a hut/under a rock/on a hill/beside a pond}
- {p} and {q} walked through the forest on {day}. | On {day} {p} and {q} were in the forest.
- First they saw {an_a}. | At first they met {an_a}.
- Later {q} noticed {an_b} beside {an_tree}. | Then {q} saw {an_b} near {an_tree}.
- After {n} hours there was {weather}. | When they had walked for {n} hours, there came {weather}.
- They rested {spot}. | They had a rest {spot}.
- At {h} o'clock they were home. | They came home at {h} o'clock.
? medium 1 2 -> a. Which animal did they see first? | What was the first animal that they met?
? medium 1 2 -> b. Which animal did {q} notice? | What did {q} see beside the {tree}?
? easy 2 -> tree. Beside what was the {b}? | Near what did {q} notice the {b}?
? easy 3 -> n. For how many hours had they walked when the weather changed? | After how many hours did the weather change?
? easy 3 -> weather. What weather came up? | What was the weather after {n} hours?
? easy 4 -> spot. Where did they rest? | Where did {p} and {q} have a rest?
? easy 5 -> h. At what hour were they home? | At which hour did they come home?
! On a walk {p} and {q} saw {an_a} and {an_b}. | {p} and {q} walked for {n} hours until there was {weather}, and rested {spot}.

letter
with p q: person; a b: town; relative: relative; thing: thing; n: few; month: month; hobby: hobby; animal: animal
- {p} got a letter from {q} in {month}. | In {month} a letter from {q} came for {p}.
- {q} writes that {q_he} now lives in {a}. | In it {q} says that {a} is now {q_his} home.
- {q_He} has taken up {hobby}. | {q_His} new hobby is {hobby}.
- There is also {an_animal} in the house now. | {q_He} has bought {an_animal} as well.
- In {n} weeks {q_he} wants to visit {p}. | {q_He} plans to come in {n} weeks.
- {p} will answer soon and send {an_thing}. | {p} wants to send {an_thing} with the answer.
- The two know each other from {b}. | They were at school together in {b}.
? easy 0 -> month. When did the letter come? | In which month did {p} get the letter?
? medium 0 1 6 -> a. Where does {q} live now? | Which town is now the home of {q}?
? medium 0 1 6 -> b. From where do the two know each other? | In which town were the two at school?
? easy 0 2 -> hobby. What is the new hobby of {q}? | What has {q} taken up?
? easy 0 3 -> animal. Which animal does {q} have now? | What animal has {q} bought?
? medium 0 4 -> n. In how many weeks will {q} come? | After how many weeks does {q} want to visit {p}?
? medium 0 5 -> thing. What will {p} send to {q}? | What does {p} want to send?
! {q}, who lives in {a} and has taken up {hobby}, wrote to {p}. | In a letter to {p}, {q} says that {q_he} will come in {n} weeks.

accident
with a b: town; transport other: {bus/car/taxi/coach/van/lorry/tractor}; n: few; h: hour; why: {ice on the road/thick fog/a fallen tree/a broken lamp/wet leaves/a loose cable}; p q: person; day: weekday; some: some
- Near {a} {an_transport} left the road on {day}. | On {day} there was an accident with {an_transport} near {a}.
- The cause was {why}. | It happened because of {why}.
- {n} people were hurt, none of them badly. | {n} people had small injuries.
- {p}, who saw it, called for help. | Help was called by {p}, who had seen it.
- The road was closed until {h} o'clock. | Until {h} o'clock nobody could use the road.
- Those who wanted to go on to {b} took {an_other}. | {an_other} brought the rest of the people to {b}.
- {q} of the police thanked everybody. | {q}, a police officer, gave thanks to all who had helped.
? easy 0 -> day. When was the accident? | On which day did it happen?
? easy 0 1 -> why. What was the cause of the accident? | Why did the accident happen?
? easy 2 -> n. How many people were hurt? | How many had injuries?
? medium 3 6 -> p. Who called for help? | Who saw the accident?
? medium 3 6 -> q. Who is in the police? | Who thanked everybody?
? medium 0 5 -> a. Near which town was the accident? | Near which town did the {transport} leave the road?
? medium 0 5 -> b. Where did the people want to go? | To which town were the people brought?
? medium 0 5 -> transport. What left the road? | With what was there an accident?
? easy 4 -> h. Until which hour was the road closed? | At what hour was the road open again?
! {an_transport} left the road near {a} because of {why}, and {n} people were hurt. | After an accident near {a} on {day} the road was closed until {h} o'clock.

exhibition
with town: town; p q: person; n: some; theme: {the sea/old trains/wild animals/toys/masks/maps/gardens/the Moon/clocks/ships}; month: month; price: price; room: {a tower/a cellar/the town hall/an old mill/a church/a barn}; a b: weekday
- {town} has a new exhibition about {theme}. | A new exhibition in {town} is about {theme}.
- It is shown in {room}. | It takes place in {room}.
- There are {n} pictures to see. | Visitors can see {n} pictures.
- Most of them were painted by {p}. | {p} painted most of them.
- A ticket costs {price} coins. | You pay {price} coins to get in.
- It is closed on {a}. | On {a} nobody can get in.
- Guided tours take place on {b}. | On {b} there are guided tours.
- {q} had the idea for it. | The idea came from {q}.
? easy 0 -> theme. What is the exhibition about? | What is the subject of the exhibition?
? easy 1 -> room. Where is the exhibition shown? | Where does it take place?
? easy 2 -> n. How many pictures are there? | How many pictures can visitors see?
? medium 3 7 -> p. Who painted most of the pictures? | Whose pictures are most of them?
? medium 3 7 -> q. Who had the idea for the exhibition? | From whom did the idea come?
? easy 4 -> price. How many coins does a ticket cost? | What do visitors pay, in coins?
? medium 5 6 -> a. On which day is it closed? | When can nobody get in?
? medium 5 6 -> b. On which day are there guided tours? | When can you join a guided tour?
! An exhibition about {theme} in {town} shows {n} pictures. | In {room} there are {n} pictures, most of them by {p}, and a ticket costs {price} coins.

cooking
with p: person; dish: dish; a b c: food; n m: few; q: person; min: some; sum = n + m
- {p} made {dish} for {q}. | Last night {p} cooked {dish} for {q}.
- {p_He} needed {n} {a} and {m} {b}. | It took {n} {a} and {m} {b}.
- There were no {c} left in the kitchen. | The {c} had run out.
- After {min} minutes everything was ready. | It was ready in {min} minutes.
- {p} had found the recipe in a magazine. | The recipe was from a magazine.
- {q} asked for a second plate. | {q} liked it very much.
? easy 0 -> dish. What did {p} make? | What did {p} cook?
? medium 0 -> q. For whom did {p} cook? | Who ate what {p} had made?
? medium 1 -> n. How many {a} were needed? | What number of {a} did it take?
? medium 1 -> m. How many {b} were needed?
? hard 1 -> sum. How many {a} and {b} were needed together?
? medium 1 2 -> c. What was missing in the kitchen? | What had run out?
? easy 3 -> min. After how many minutes was everything ready? | How many minutes did it take?
! {p} made {dish} for {q} with {n} {a} and {m} {b}. | In {min} minutes {p} cooked {dish}, and {q} liked it.

gift shop
with p: person; a b: thing; c d: colour; n m: price; q r: person; left = m - n; town: town
- {p} wanted a present for {q}. | {q} was to get a present from {p}.
- In a shop in {town} there was {an_c} {a} for {n} coins. | A shop in {town} had {an_c} {a} for {n} coins.
- {p_He} had {m} coins in {p_his} pocket. | In {p_his} pocket there were {m} coins.
- {p} had also seen {an_d} {b}, but it was too dear. | {an_d} {b} would have cost too much.
- {p} bought the {a}. | So {p} took the {a}.
- {r} wrapped it in paper. | It was wrapped by {r}.
? easy 0 -> q not p. Who was to get a present? | For whom was the present?
? medium 1 3 4 -> a. What did {p} buy? | What did {p} take?
? medium 1 3 -> c. What colour was the {a}? | In what colour was the {a}?
? medium 1 3 -> b. What was too dear? | What cost too much?
? medium 1 2 -> n. How many coins did the {a} cost? | What was the price of the {a}, in coins?
? hard 1 2 4 -> left. How many coins did {p} have left? | How many coins were left after buying the {a}?
? medium 0 5 -> r. Who wrapped the present? | Who put paper around it?
! {p} bought {an_c} {a} for {q} in {town}. | For {n} coins {p} got {q} {an_c} {a}, which {r} wrapped.

concert
with p q r: person; a b c: instrument; town: town; place: {a church/a park/a school hall/a castle/a factory/a tent}; many: many; n: few; day: weekday
- On {day} there was a concert in {town}. | {town} had a concert on {day}.
- {p} played the {a} and {q} the {b}. | There were {p} with the {a} and {q} with the {b}.
- {r} wanted to play the {c} but was ill. | {r}, who plays the {c}, was ill.
- It took place in {place}. | The concert was held in {place}.
- {many} tickets were sold. | They sold {many} tickets.
- {n} pieces were played. | The evening had {n} pieces.
- The money goes to the children's hospital. | All of the money is for the children's hospital.
? medium 1 -> a. Which instrument did {p} play? | What did {p} play?
? medium 1 -> b. Which instrument did {q} play? | What did {q} play?
? hard 1 2 -> q not r. Who played the {b}? | Who was there with the {b}?
? hard 1 2 -> r. Who was ill? | Who could not play?
? easy 3 -> place. Where was the concert held? | Where did the concert take place?
? easy 4 -> many. How many tickets were sold? | How many tickets did they sell?
? easy 5 -> n. How many pieces were played? | How many pieces did the evening have?
! At a concert in {town} {p} played the {a} and {q} the {b}. | {many} tickets were sold for a concert in {place}, but {r} was ill.

garden
with p q: person; a b: flower; tree: tree; c d: {white/yellow/red/pink/orange/purple/blue}; n: few; month: month; animal: {mole/snail/goat/hare/deer/crow}
- {p} planted {a} in {month}. | In {month} {p} put {a} into the ground.
- They are {c}. | Their colour is {c}.
- Next to them stand the {b} of {q}. | The {b} beside them belong to {q}.
- A {animal} ate some of them. | Some were eaten by a {animal}.
- {n} are left. | Only {n} of them remain.
- In the middle there is {an_tree}. | {an_tree} stands in the middle.
- The fence around it is {d}. | There is {an_d} fence around it.
? medium 0 2 -> a. Which flowers did {p} plant? | What did {p} put into the ground?
? medium 0 2 -> b. Which flowers belong to {q}? | What are the flowers of {q}?
? easy 0 -> month. When did {p} plant the flowers? | In which month did {p} put {a} into the ground?
? medium 0 1 6 -> c. What colour are the {a}? | What is the colour of the {a}?
? medium 1 6 -> d. What colour is the fence? | In which colour is the fence?
? easy 3 -> animal. Which animal ate some of the flowers? | What animal came to eat?
? easy 0 3 4 -> n. How many of the {a} are left? | How many {a} remain?
? easy 5 -> tree. What stands in the middle of the garden? | Which tree is there?
! {p} planted {c} {a} in {month}, and a {animal} ate some of them. | Of the {a} that {p} planted only {n} are left.

library
with p q r: person; a b: {adventure/travel/crime/history/love/science/horror/cooking}; n m: few; day other: weekday; some: some; place: {north/south/east/west}; sum = n + m
- {p} borrowed {n} {a} books on {day}. | On {day} {p} took {n} {a} books out of the library.
- {q} took {m} {b} books. | {m} {b} books went to {q}.
- All of them have to be back on {other}. | They must be returned on {other}.
- The reading room has {some} chairs. | There are {some} chairs in the reading room.
- It is in the {place} wing. | The {place} wing is where it lies.
- {r} was at the desk. | At the desk sat {r}.
? medium 0 1 -> n. How many books did {p} borrow? | How many books did {p} take out?
? medium 0 1 -> m. How many books did {q} take? | How many books went to {q}?
? hard 0 1 -> sum. How many books did the two take together?
? medium 0 1 -> a. What kind of books did {p} borrow? | Which kind did {p} take?
? medium 0 1 -> b. What kind of books did {q} take? | Which kind did {q} choose?
? medium 0 2 -> other. When do the books have to be back? | On which day must the books be returned?
? medium 0 2 -> day. On which day did {p} borrow the books? | When was {p} at the library?
? easy 3 -> some. How many chairs has the reading room? | How many chairs are there?
? medium 0 1 5 -> r. Who was at the desk? | Who sat at the desk?
! {p} borrowed {n} {a} books, and {q} took {m} {b} books. | The books that {p} borrowed on {day} have to be back on {other}.

hiker
with p: person; n m: few; a b: town; weather: weather; day: weekday; thing: thing; q: person; sum = n + m; c: colour
- {p} started in {a} on {day}. | On {day} {p} set out from {a}.
- On the first day {p_he} walked {n} hours, on the second {m}. | {p_He} walked {n} hours on the first day and {m} on the second.
- {p_He} slept in a hut that belongs to {q}. | The night was spent in a hut of {q}.
- The path was marked in {c}. | {c} signs showed the way.
- Because of {weather} {p_he} lost {p_his} {thing}. | There was {weather}, and the {thing} was lost.
- The goal was {b}. | {p_He} reached {b} in the end.
? medium 0 5 -> a. Where did {p} start? | From where did {p} set out?
? medium 0 5 -> b. What was the goal of {p}? | Where did {p} arrive in the end?
? medium 1 -> n. How many hours did {p} walk on the first day?
? medium 1 -> m. How many hours did {p} walk on the second day?
? hard 1 -> sum. How many hours did {p} walk in all? | How many hours did {p} walk on both days together?
? easy 0 2 -> q not p. Whose hut was it? | To whom does the hut belong?
? easy 3 -> c. In what colour was the path marked? | What colour did the signs have?
? easy 4 -> thing. What was lost on the way? | What did {p} lose?
! {p} walked from {a} to {b} in two days. | {p} walked {n} hours on the first day, {m} on the second, and slept in the hut of {q}.

pets of the street
with p q r: person; a b c: animal; d e: coat; n: few; spot: spot; x y: {Bruno/Luna/Max/Coco/Tiger/Snowy/Biscuit/Pepper}
- {p} has {an_a} called {x}. | The {a} of {p} is called {x}.
- {q} has {an_b} called {y}. | The {b} of {q} is called {y}.
- {x} is {d}, and {y} is {e}. | {y} is {e}, but {x} is {d}.
- The {a} is {n} years old. | {n} years ago the {a} was born.
- {r} would like to have {an_c}. | {an_c} is what {r} would like.
- At night {x} sleeps {spot}. | {x} likes to sleep {spot}.
? medium 0 1 -> a. Which animal does {p} have? | What animal belongs to {p}?
? medium 0 1 -> b. Which animal does {q} have? | What animal belongs to {q}?
? hard 0 1 2 -> d. What colour is the {a} of {p}? | In what colour is the animal of {p}?
? hard 0 1 2 -> e. What colour is the {b} of {q}? | In what colour is the animal of {q}?
? medium 0 1 -> y. What is the name of the {b}? | What is the {b} called?
? medium 0 1 4 -> c. Which animal would {r} like to have? | What would {r} like?
? hard 0 5 -> spot. Where does the {a} sleep? | Where does the {a} of {p} spend the night?
? medium 0 1 -> q. Who has {an_b}? | To whom does {y} belong?
! {p} has {an_a} called {x}, and {q} has {an_b} called {y}. | The {a} {x} is {d}, the {b} {y} is {e}, and {r} would like to have {an_c}.

shop opens
with town: town; p q: person; what: {cheese/shoes/bicycles/tea/toys/lamps/books/hats/bread/fish/carpets}; n: few; many: many; month: month; age: age; before: {a bank/a stable/a pub/a school/a pharmacy/a garage}; day: weekday
- {p} has opened a shop for {what} in {town}. | A shop for {what} has opened in {town}; it belongs to {p}.
- {p_He} is {age} years old. | The owner is {age} years old.
- The house used to be {before}. | Before that the house was {before}.
- {n} people work there. | {p_He} has {n} helpers.
- On the first day {many} customers came. | {many} customers came on the first day.
- It is closed on {day}. | On {day} it stays closed.
- {q} was the first who bought something. | The first customer was {q}.
? easy 0 -> what. What can people buy in the shop? | What is sold in the shop?
? medium 0 6 -> p. Who has opened the shop? | To whom does the shop belong?
? medium 0 6 -> q. Who was the first customer? | Who bought something first?
? easy 0 1 -> age. How old is {p}? | What is the age of the owner?
? easy 2 -> before. What was the house before? | What did the house use to be?
? easy 3 -> n. How many people work in the shop? | How many helpers are there?
? easy 4 -> many. How many customers came on the first day? | How many people came when it opened?
? easy 5 -> day. On which day is the shop closed? | When does the shop stay closed?
! {p} has opened a shop for {what} in {town}. | {many} customers came to the new shop for {what} of {p}, where {n} people work.

sick animal
with p q: person; animal: animal; part: {foot/ear/eye/tail/leg/back/stomach/neck}; n m: few; day other: weekday; price: price; town: town
- {p} took {p_his} {animal} to the vet on {day}. | On {day} {p} went to the vet with {an_animal}.
- It had a pain in the {part}. | The {part} of the animal hurt.
- The vet, whose name is {q}, gave it a medicine. | {q}, the vet, gave it a medicine.
- It has to take it for {n} days. | It needs the medicine for {n} days.
- They should come again on {other}. | The next visit is on {other}.
- The visit cost {price} coins. | {p} paid {price} coins.
- The waiting room was full. | They had to wait for a long time.
? easy 0 -> animal. Which animal was ill? | Which animal did {p} take to the vet?
? easy 1 -> part. What hurt the animal? | Where did it have a pain?
? medium 0 2 -> q. Who is the vet? | What is the name of the vet?
? easy 3 -> n. For how many days does it need the medicine? | How many days must it take the medicine?
? medium 0 4 -> other. When is the next visit? | On which day should they come again?
? medium 0 4 -> day. When was the first visit? | On which day did {p} go to the vet?
? easy 5 -> price. How many coins did the visit cost? | What did {p} pay, in coins?
! {p} took {an_animal} with a pain in the {part} to the vet. | The {animal} of {p} needs a medicine for {n} days, says {q}, the vet.

island
with name: {Sandra/Mirel/Torvik/Alma/Kestrel/Brana/Odo/Lirra/Senja/Pell/Varda/Quill}; many: many; a b: {fishing/farming/tourism/glass/salt/wool/wine/pottery}; year: year; transport: {ferry/small plane/mail boat/steamer}; h: few; p q: person; animal: wild animal
- {name} is an island with {many} people. | On the island of {name} there live {many} people.
- Most of them live by {a}. | Their main work is {a}.
- In the past it was known for {b}. | It was once known for {b}.
- The lighthouse was built in {year}. | Its lighthouse dates from {year}.
- {an_transport} takes visitors there in {h} hours. | With the {transport} it takes {h} hours to get there.
- The mayor is called {p}. | {p} is the mayor.
- On its flag there is {an_animal}. | Its flag shows {an_animal}.
? easy 0 -> many. How many people live on {name}? | What is the number of people on {name}?
? medium 1 2 -> a. By what do most people on {name} live? | What is the main work on {name}?
? medium 1 2 -> b. For what was the island known in the past? | For what was {name} once known?
? easy 3 -> year. When was the lighthouse built? | From which year is the lighthouse?
? easy 4 -> h. How many hours does it take to get there? | How many hours is the way to the island?
? easy 4 -> transport. How do visitors get to {name}? | What takes visitors to the island?
? easy 5 -> p. Who is the mayor? | What is the name of the mayor?
? easy 6 -> animal. Which animal is on the flag? | What does the flag show?
! On {name}, an island with {many} people, most live by {a}. | The island of {name}, once known for {b}, has a lighthouse from {year}.

bus driver
with p q: person; n m: some; k: few; town: town; h: hour; weather: weather; day: weekday; left = n - k; c: colour
- {p} drives the {c} bus in {town}. | In {town} {p} is the driver of the {c} bus.
- On {day} {n} people got on at first. | At first, on {day}, {n} people got on.
- Then {k} of them got off. | {k} people left at the market.
- There was {weather}. | The weather brought {weather}.
- {q} had no ticket. | {q} had forgotten to buy a ticket.
- The last bus is at {h} o'clock. | At {h} o'clock the last bus leaves.
? easy 0 -> town. In which town does {p} drive? | Where is {p} the driver?
? easy 0 -> c. What colour is the bus? | Which bus does {p} drive?
? medium 1 2 -> n. How many people got on at first?
? medium 1 2 -> k. How many people got off?
? hard 1 2 -> left. How many of those people were still on the bus then?
? medium 0 4 -> q. Who had no ticket? | Who had forgotten the ticket?
? easy 5 -> h. At what hour does the last bus leave? | At which hour is the last bus?
! {p} drives the {c} bus in {town}, where {n} people got on. | {k} people left the bus of {p}, and {q} had no ticket.
""")
