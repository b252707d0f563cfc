"""Openings of children's stories with four endings each; the first is the right one."""

import json
import random
from pathlib import Path

STORIES = [
    ("Lily had a red ball. She wanted to play with her", ("ball", "sky", "angry", "seven")),
    ("Tom was very hungry. He went to the kitchen to eat some", ("food", "clouds", "loud", "slept")),
    ("Once upon a time, there was a little", ("girl", "of", "quickly", "therefore")),
    ("The sun was hot. Sue jumped into the water to", ("swim", "paper", "blue", "were")),
    ("Ben was sad because he lost his toy. His mom gave him a big", ("hug", "under", "went", "because")),
    ("The dog barked and wagged its", ("tail", "moon", "happily", "said")),
    ("It was time for bed. Mia closed her", ("eyes", "cars", "jump", "green")),
    ("They played all day in the park. They were very", ("happy", "tree", "running to", "the")),
    ("The bird could fly high in the", ("sky", "shoe", "asked", "nice")),
    ("Max said sorry to his friend and they became friends", ("again", "apple", "big", "under")),
    ("Anna found a kitten. The kitten was small and", ("soft", "table", "ran", "because")),
    ("It started to rain. Tim opened his", ("umbrella", "wet", "sing", "very")),
    ("The boy was thirsty, so he drank some", ("water", "stones", "tall", "to")),
    ("Sara fell down and hurt her", ("knee", "cloud", "happy", "from")),
    ("The rabbit was scared and ran", ("away", "milk", "pretty", "four")),
    ("Grandma baked a cake. It tasted very", ("good", "door", "walk", "him")),
    ("Dad read a book to the children before they went to", ("sleep", "spoon", "yellow", "and")),
    ("The little fish lived in the", ("sea", "shirt", "sang", "slow")),
    ("Jack threw the ball and the dog ran to get", ("it", "red", "under", "sleepy")),
    ("The flower was pretty. It smelled very", ("nice", "chair", "jumped", "they")),
    ("Mom said, please clean your", ("room", "fast", "cried", "above")),
    ("The bear was big and", ("strong", "boat", "eat", "with")),
    ("One day, a girl named Lucy went to the", ("park", "soon", "happy", "are")),
    ("The boy shared his toys with his", ("friend", "loud", "jumping", "was")),
    ("The cat saw a mouse and tried to catch", ("it", "warm", "spoon", "they")),
    ("It was cold outside, so she put on her", ("coat", "river", "sings", "never")),
    ("The children built a tall tower with", ("blocks", "angry", "slept", "is")),
    ("He was so happy that he started to", ("smile", "table", "blue", "of")),
    ("The baby was crying. The mother gave the baby some", ("milk", "roads", "tall", "ran")),
    ("The bee flew to the flower to get some", ("honey", "shoes", "angrily", "there")),
    ("The car was going very", ("fast", "apple", "eat", "her")),
    ("After lunch they went outside to", ("play", "moon", "soft", "an")),
    ("The frog jumped into the", ("pond", "sad", "reads", "when")),
    ("She looked up and saw a bright star in the", ("sky", "soup", "jump", "kind")),
    ("The boy got a new bike for his", ("birthday", "rainy", "swims", "but")),
    ("She was tired and wanted to go", ("home", "spoon", "green", "him")),
    ("The lion roared and all the animals were", ("scared", "door", "painted on", "the")),
    ("He opened the box and found a", ("toy", "slowly", "are", "very")),
    ("The old man was kind and helped the", ("boy", "loudly", "sleep", "of")),
    ("They said thank you and went back", ("home", "cup", "pretty", "is")),
]
SEED = 5


def write_stories(path: Path) -> str:
    """The stories as a file of a person's own questions, their endings shuffled; its path."""
    order = random.Random(SEED)
    rows = []
    for i, (opening, endings) in enumerate(STORIES):
        options = list(endings)
        order.shuffle(options)
        rows.append({"id": f"story-{i}", "question": opening, "options": options, "label": options.index(endings[0])})
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(path)
