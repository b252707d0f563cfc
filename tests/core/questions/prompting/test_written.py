"""The stated rules, and answers in which they must not find an option."""

import pytest

from core.questions.prompting.written import NOT_FOUND, answer_line, find_answer, is_unfinished

pytestmark = pytest.mark.quick

OPTIONS = ("Paris", "Rome", "New York", "a city")
NINE = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota")

READ = {
    0: ("C'est Paris", "A: Paris is", "a)", "a) Paris", "Answer: [A]", "Paris."),
    1: (
        *("Option B is correct.", "I think B is correct.", "I think option B is the right answer", "Only B is correct"),
        *("B is the only correct answer", "(B) is correct", "Ans: B", "Ans. B", "ANSWER: B", "Answer - B"),
        *("The answer is B) Rome", "The answer is B: Rome", "Je choisis B", "Ich wähle B.", "Elijo la B", "Scelgo B"),
        *("B ist richtig", "B est la bonne réponse, je choisis B", "La B es correcta, elijo B", "(A) is wrong, so B."),
        *("(B)", "I think B", "B", "b", "(b)", "b.", "b. Rome", "B) Rome", "B)Rome", "B.Rome", "B Rome", "B - Rome"),
        *("B – Rome", "B: Rome", "B: because", "B;", "B, since", "B is correct", "B is the correct answer."),
        *("B because it is", "[B]", "[[B]]", '"B"', "'B'", "“B”", "‘B’", "*B*", "_B_", "__B__", "`B`", "**B.** Rome"),
        *("**B. Rome**", "<answer>B</answer>", "\\boxed{B}", "$\\boxed{\\text{B}}$"),
        *("Ｂ", "（B）", "- B", "# B", "> B"),
        *("B!", "B?", "B,", "The answer is B", "the answer is: B", "Answer: B", "Answer B", "answer: (B) Rome"),
        *("**Answer:** B", "**Answer: B**", "Final answer: B.", "The correct answer is option B."),
        *("The correct option is B", "The answer is (B).", 'The answer is "B".', "My choice would be B"),
        *("Correct answer: B", "I would choose B.", "I choose option B", "I'd go with B", "I believe it's B."),
        *("I think it is (B)", "I think the answer is B because", "It's B.", "So B.", "Therefore, the answer is B."),
        *("Sure! The answer is B.", "It must be B.", "The answer is B, not A.", "B, not A", "Not A, but B."),
        *("I'm not sure, but I think B.", "La réponse est B.", "La réponse est la lettre B", "Réponse : B", "C'est B."),
        *("C'est la B", "La bonne réponse est B", "A mon avis, Rome", "Die Antwort ist B."),
        *("Die richtige Antwort lautet B", "Antwort: B", "Lösung: B", "Das ist B.", "La respuesta es B."),
        *("La respuesta correcta es la B", "Respuesta: B", "Es la B.", "La risposta è B"),
        *("La risposta corretta è la B.", "A resposta é B", "A resposta correta é a letra B", "Het antwoord is B"),
        *("答案是B", "答案：B", "选B", "正解はB"),
        *("I like option B.", "B<think>hm", "</think>\n\nB", "[THINK]x[/THINK]B"),
        *("assistant: B", "assistant\n\nB", "<|assistant|>B", "\r\nB\r\nC", "\u2028B", "\xa0B", "\u200bB", "\ufeffB"),
        *("```\nB\n```", "```text\nB\n```", "Answer:\nB", "\n\n\n B"),
    ),
    2: ("**C**", "Option C", "C.", "C\n", "It is new york!", "<think>B</think>C"),
    3: ("The answer is D.", "D, because", "The answer is a city", "a city", "A city"),
}
"""Answers by the place of the option that they name."""
NOT_READ = (
    *("Option B is wrong", "I think B is wrong", "(A) is incorrect", "B: incorrect", "B) false"),
    *("B, which is not true", "B can't be right", "B ist falsch", "A and B are correct", "Both A and B are correct"),
    *("The answer is both A and B", "A. is wrong", "C’est la ville", "D'accord", "A good question", "A: Rome"),
    *("A: I don't know", "B or C", "A’s", "C++", "B-cells", "D-Day", "A cat", "B is wrong", "B is not correct"),
    *("B isn't right", "The answer is not B", "It's not B.", "I don't think B", "I don't think it's B."),
    *("It can't be B.", "not A but B", "Neither A nor B", "A or B", "A and B", "A/B", "A & B", "A, B", "A, B and C"),
    *("(A) and (B)", "Both A and B", "The answer is A or B.", "The answer is A, B", "The answer is either A or B."),
    *("Answer: A/C", "Answer: A and C", "The answer is A. No, the answer is B", "B. The answer is C", "A B C D", "AB"),
    *("ABCD", "A+B", "B oder C", "B ou C", "B y C", "B. Paris", "B) Paris", "À mon avis c'est sûr", "Il y a deux"),
    *("D'abord", "Nicht B", "A veces", "C.I.A.", "D.C.", "U.S.", "B.Sc. degree", "A-team", "A+", "C#", "B2", "B12"),
    *("A.M.", "C°", "R&B", "Vitamin C", "Plan B", "Hepatitis B", "Vitamin C is it", "The city is C", "E", "Z", "I"),
    *("As a friend, B", "The answer is A good one", "Paris or Rome", "Parisian", "not Paris", "It isn't Paris"),
    *("Certainly not in Rome", "<think>\nThe answer is B", "", "\n", "Ab", "A is for apple"),
)
OF_NINE = dict.fromkeys(("I", "I.", "(I)"), 8) | dict.fromkeys(
    (
        *("I'm not sure", "I’m sure", "I think so", "I, for one, like it", "E=mc2", "E poi", "O bien"),
        *("È vero", "E' vero", "F-16", "H2O", "I don't know", "I am C"),
    ),
    NOT_FOUND,
)
OF_OTHERS = (
    ("B", ("B", "A", "O", "AB"), NOT_FOUND),
    ("A", ("A", "B", "O", "AB"), 0),
    ("AB", ("B", "A", "O", "AB"), 3),
    ("C++", ("C", "C++", "Java", "B"), 1),
    ("C", ("C++", "Java", "C", "B"), 2),
    ("D-Day", ("D-Day", "x", "y", "z"), 0),
    ("B-cells", ("T-cells", "B-cells", "x", "y"), 1),
    ("New York", ("York", "New York", "x", "y"), 1),
    ("C. elegans", ("a worm", "C. elegans", "x", "y"), NOT_FOUND),
    ("A. Lincoln", ("Lincoln", "x", "y", "z"), 0),
    ("B", ("yes", "no"), 1),
    ("C", ("yes", "no"), NOT_FOUND),
    ("No.", ("yes", "no"), 1),
)

REPEATED = (" ", "answer ", "answer is ", "answer:", "(", "[ ", "* ", "B", "a ", "A ", "B, ", "A, or ", "not ", "n't ")
REPEATED += ("so, ", "it is the ", "<think>", "</think>", "\n", "- ", "<b>")


@pytest.mark.parametrize(("text", "place"), [(text, place) for place, texts in READ.items() for text in texts])
def test_an_answer_is_found(text, place):
    assert find_answer(text, OPTIONS) == place


@pytest.mark.parametrize("text", NOT_READ)
def test_what_names_no_option_or_several_is_not_found(text):
    assert find_answer(text, OPTIONS) == NOT_FOUND


@pytest.mark.parametrize(("text", "place"), OF_NINE.items())
def test_with_nine_options_i_is_a_letter_only_by_itself(text, place):
    assert find_answer(text, NINE) == place


@pytest.mark.parametrize(("text", "options", "place"), OF_OTHERS)
def test_options_that_look_like_letters_are_not_mistaken_for_them(text, options, place):
    assert find_answer(text, options) == place


def test_what_comes_after_the_first_line_does_not_count():
    assert answer_line("\n Rome\nParis") == "Rome"
    assert find_answer("hm\nB", OPTIONS) == NOT_FOUND


@pytest.mark.parametrize(
    "blank", ["\n", "\r\n", "\r", "\u2028", "\u2029", "\v", "\f", "\x85", " ", "\u00a0", "\u3000", "\u200b", "\ufeff"]
)
def test_the_first_line_with_text_counts_whatever_is_before_it(blank):
    assert answer_line(f"{blank}{blank}\n{blank} South America{blank}\nParis") == "South America"


@pytest.mark.parametrize("name", ["think", "thinking", "THINK", "reasoning", "seed:think"])
def test_an_answer_that_ends_while_the_model_thinks_is_none(name):
    cut = f"\n<{name}>\nThe answer is B.\nB"
    assert (answer_line(cut), find_answer(cut, OPTIONS), is_unfinished(cut)) == ("", NOT_FOUND, True)
    whole = f"{cut}</{name}>\n\nA. Paris"
    assert (answer_line(whole), find_answer(whole, OPTIONS), is_unfinished(whole)) == ("A. Paris", 0, False)
    assert not is_unfinished("")


@pytest.mark.parametrize("repeated", REPEATED)
def test_a_written_answer_of_any_length_takes_linear_time(repeated):
    """Time that grows with the square of 300,000 repeats would be longer than any test may take."""
    for text in ("answer is" + repeated * 300_000, "answer" + repeated * 300_000 + "!", repeated * 300_000):
        assert find_answer(text, OPTIONS) in (NOT_FOUND, 0, 1)
