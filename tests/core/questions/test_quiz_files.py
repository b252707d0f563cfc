"""Questions in Moodle's XML, in GIFT and in plain lines: what is read, what is named as left out, and attacks."""

import time
from pathlib import Path

import pytest

from core.errors import InputError
from core.exchange.dropped import question_files
from core.exchange.dropped.recognition import kind_of
from core.questions import catalogue, local_file
from core.questions.local_file import BankFile

pytestmark = pytest.mark.quick


def moodle(*questions: str, head: str = '<?xml version="1.0" encoding="UTF-8"?>\n') -> str:
    return f"{head}<quiz>{''.join(questions)}</quiz>"


def multichoice(text: str, *answers: tuple[str, str], form: str = "html", more: str = "") -> str:
    listed = "".join(
        f'<answer fraction="{fraction}" format="{form}"><text><![CDATA[{answer}]]></text></answer>'
        for answer, fraction in answers
    )
    return (
        f'<question type="multichoice"><questiontext format="{form}"><text><![CDATA[{text}]]></text>{more}'
        f"</questiontext>{listed}</question>"
    )


def other(kind: str, text: str) -> str:
    return f'<question type="{kind}"><questiontext format="html"><text>{text}</text></questiontext></question>'


def read(folder: Path, content: str | bytes, name: str = "quiz.xml") -> BankFile:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return local_file.read_path(path)


def asked(bank: BankFile) -> list[tuple[str, tuple[str, ...], int]]:
    return [(q.question, q.options, q.label) for q in bank.questions]


def test_moodle_s_questions_are_plain_text_and_the_others_are_named(tmp_path: Path):
    category = '<question type="category"><category><text>$course$/top/Cells // 1</text></category></question>'
    bank = read(
        tmp_path,
        moodle(
            category,
            multichoice(
                "<p>Is H<sub>2</sub>O &lt; 5&nbsp;g?</p><ul><li>i</li></ul>", ("no", "0"), ("x<sup>2</sup>", "100")
            ),
            multichoice("a < b <i>", ("<b>", "100"), ("c", "0"), form="plain_text"),
            '<question type="truefalse"><questiontext><text>Snow is red.</text></questiontext>'
            '<answer fraction="0"><text>true</text></answer>'
            '<answer fraction="100"><text>false</text></answer></question>',
            multichoice("Two?", ("a", "50"), ("b", "50"), ("c", "-100")),
            multichoice('See <img src="@@PLUGINFILE@@/x.png">?', ("a", "100"), ("b", "0")),
            other("cloze", "The {1:SHORTANSWER:=sky} is"),
            other("essay", "Why?"),
            other("essay", "How?"),
            other("ddwtos&lt;x", "Drag"),
        ),
    )
    assert asked(bank) == [
        ("Is H₂O < 5 g?\ni", ("no", "x²"), 1),
        ("a < b <i>", ("<b>", "c"), 0),
        ("Snow is red.", ("True", "False"), 1),
    ]
    assert [q.group for q in bank.questions] == ["Cells / 1"] * 3
    assert [q.id for q in bank.questions] == ["quiz-1", "quiz-2", "quiz-3"]
    assert bank.left_out == {
        "several right answers ('Two?')": 1,
        "a picture ('See ?')": 1,
        "gaps in a text (cloze) ('The {1:SHORTANSWER:=sky} is')": 1,
        "essay ('Why?', 'How?')": 2,
        "kind 'ddwtos<x' ('Drag')": 1,
    }
    assert bank.read_as.startswith("3 questions, 2 options, Moodle XML, 1 left out: several right answers ('Two?')")


BOMB = '<!DOCTYPE quiz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE quiz SYSTEM "http://127.0.0.1/x.dtd">'
FILE = '<!DOCTYPE quiz [<!ENTITY f SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        *((moodle(other("essay", text), head=f'<?xml version="1.0"?>{head}'), "has a DOCTYPE")
          for head, text in ((BOMB, "&b;"), (OUTSIDE, "x"), (FILE, "&f;"))),
        (moodle(other("essay", "&undefined;")), "line 2: expected whole XML, found undefined entity"),
        (moodle("<question"), "line 2: expected whole XML"),
        ('<?xml version="1.0"?><a><quiz></quiz></a>', "expected Moodle's <quiz>, found <a>"),
        (moodle("<x>" * 100 + "</x>" * 100), "more than 50 elements inside each other"),
        (moodle(), "no question that can be asked"),
        (moodle(other("essay", "Why?")), r"no question that can be asked; essay \('Why\?'\)"),
        (moodle(multichoice("Q?", ("a", "100"), ("a", "0"))), "question 1: the right answer 'a' is there twice"),
    ],
)  # fmt: skip
def test_hostile_and_damaged_xml_is_refused_in_one_sentence(tmp_path: Path, content: str, sentence: str):
    with pytest.raises(InputError, match=sentence) as raised:
        read(tmp_path, content)
    assert "\n" not in str(raised.value)


def test_long_and_malformed_html_takes_no_time(tmp_path: Path):
    begun = time.process_time()  # others may keep the processor busy
    for attack in ("<!--" * 12_000, "<a " * 16_000, "<" * 49_000, "&" * 49_000, "<![x" * 12_000):
        read(tmp_path, moodle(multichoice(f"Q {attack}", ("a", "100"), ("b", "0"))))
    bank = read(
        tmp_path, moodle(multichoice("x" * 60_000, ("a", "100"), ("b", "0")), multichoice("Q", ("a", "1"), ("b", "0")))
    )
    assert bank.left_out == {"more than 50,000 characters ('a question without a text')": 1}
    assert time.process_time() - begun < 5


GIFT = r"""
// A comment
$CATEGORY: $course$/Physics

::Title with \: :: [html]What is <b>2 \= 2</b>? {
  ~no#Wrong, because 1 is not 2
  =yes # Right
  ~%-25%perhaps {
}

Snow is white. {TRUE#No.#Yes.}

A cat is {~a plant =an animal ~\{none\} or a~ tilde} of a house.

Which two? {~%50%this ~%50%that ~%-100%none}

Name it {=Paris =paris}
::match:: Match {=a -> b =c -> d}
How much? {#3:2}

Explain. {}

Only a text about [moodle] <script>alert(1)</script>
"""


def test_gift(tmp_path: Path):
    gift = GIFT.replace("perhaps {\n}", "perhaps\n}").replace("or a~ tilde", "or a\\~ tilde")
    bank = read(tmp_path, gift.replace("::match::", "\n::match::").replace("How much", "\nHow much"), "quiz.txt")
    assert asked(bank) == [
        ("What is 2 = 2?", ("no", "yes", "perhaps"), 1),
        ("Snow is white.", ("True", "False"), 0),
        ("A cat is _____ of a house.", ("a plant", "an animal", "{none} or a~ tilde"), 1),
    ]
    assert {q.group for q in bank.questions} == {"Physics"}
    assert [reason.partition(" (")[0] for reason in bank.left_out] == [
        "several right answers",
        "short answer",
        "matching",
        "numerical",
        "essay",
        "description without a question",
    ]
    assert kind_of(tmp_path / "quiz.txt") == "questions"


def test_plain_lines_and_letters_before_options():
    bank = local_file.read_typed("Which {set}?\r\n A) red\r\n*B) green\r\n\r\n\r\nSecond?\n*yes\nno\n", "own")
    assert asked(bank) == [("Which {set}?", ("red", "green"), 1), ("Second?", ("yes", "no"), 0)]


def test_moodle_s_xml_can_be_pasted():
    question = (
        '<quiz><question type="multichoice"><questiontext><text>Q?</text></questiontext>'
        '<answer fraction="0"><text>a</text></answer><answer fraction="100"><text>b</text></answer></question></quiz>'
    )
    bank = local_file.read_typed(question, "own")
    assert asked(bank) == [("Q?", ("a", "b"), 1)]
    assert "Moodle XML" in bank.read_as
    with pytest.raises(InputError, match=r"^its XML has a DOCTYPE"):
        local_file.read_typed(f'<?xml version="1.0"?><!DOCTYPE quiz [<!ENTITY x "y">]>{question}', "own")


def test_right_options_that_are_always_first_are_put_in_turn():
    bank = local_file.read_typed("A? {=1a ~b ~c}\n\nB? {=2a ~b ~c}\n\nC? {=3a ~b ~c}\n\nD. {T}", "own")
    assert [(q.options, q.label) for q in bank.questions][:3] == [
        (("1a", "b", "c"), 0), (("b", "2a", "c"), 1), (("b", "c", "3a"), 2),
    ]  # fmt: skip
    assert "in turn" in bank.read_as
    assert bank.questions[3].options == ("True", "False")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Q?\n*a\nb\n\n// note\nR?\na\nb", "^line 6: 'R\\?' has no right answer; put \\* before the right option$"),
        ("Q?\n*a\n*b", "^line 1: 'Q\\?' has several right answers; put \\* before one option$"),
        ("*a\nb", "^line 1: expected a question before its options"),
        ("Q?\n*a", "^line 1: 'Q\\?' has one option"),
        ("Q?\n*a\na", "^line 1: 'Q\\?' has the option 'a' twice"),
        ("Q {=a ~ ~b}", "^line 1: 'Q' has an empty option"),
        ("\n\nQ {=a ~b", "^line 3: expected one { and one }, found '{'"),
        ("Q {=a ~b}\nR {=a ~b}", "^line 1: expected one { and one }, found '{}{}'"),
        ("Q {~a ~b}", "^line 1: 'Q' has no right answer; put = before the right option$"),
        ("{=a ~b}", "^line 1: expected a question before the {"),
        ("Q {maybe =a ~b}", "^line 1: expected ~ or = before each option, found 'maybe'"),
        ("Q {}", r"^it holds no question that can be asked; essay \('Q'\)$"),
        (" \n// nothing", "^it holds no question that can be asked"),
    ],
)  # fmt: skip
def test_the_line_of_what_can_t_be_read_is_named(text: str, sentence: str):
    with pytest.raises(InputError, match=sentence):
        local_file.read_typed(text, "own")


def test_a_quiz_is_a_task_and_other_texts_are_no_quiz(home: Path, tmp_path: Path):
    path = tmp_path / "week.gift"
    path.write_text("One? {=a ~b}\n\nTwo? {~a =b}\n")
    assert [q.label for q in catalogue.load(str(path)).questions] == [0, 1]
    assert question_files.read_as(path, "week 1") == (str(path), "2 questions, 2 options")
    for text in (
        "question,A,B,label\nWhich $\\mathbb{F}$?,a,b,A\nWhich {x}?,c,d,B\n",
        "* a list\n* of points\n\nand a text\n",
        '{"question": "Q?", "options": ["a", "{=b}"], "label": "A"}\n',
    ):
        path.write_text(text)
        assert not local_file.is_quiz(path)


def test_hostile_gift_takes_no_time():
    begun = time.process_time()
    for attack in (
        "{T#" * 40_000,
        "{=a " * 40_000,
        "::" + "a" * 200_000,
        "\\" * 100_001,
        "{" + " " * 200_000,
        "<a " * 40_000,
    ):
        with pytest.raises(InputError):
            local_file.read_typed(f"Q {attack}", "own")
    assert time.process_time() - begun < 2
