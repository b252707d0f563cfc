"""Every page: a number that the answer states in words is the number that the figure or the table shows.

The function of a page reads both: its sentences, and beside each one the figure's numbers in the order of its words. A
sentence with a number that nobody has looked up fails, so that no number is passed over.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest

import pytest
from playwright.sync_api import Locator, Page

from core.runs import store
from tests.browser.conftest import Visitor, eventually, settled

NUMBER = re.compile(r"(?<![\w.,-])[+−]?\d+(?:,\d{3})*(?:\.\d+)?(?!\w|-\w|\.\d)%?")
"""A number as pages write it. Those in names (``pocket-8m``, ``32-bit``) are none."""
NO_FIGURE = re.compile(r"95% intervals?|toy models? of [\d to]+ million|“[^”]*”")
"""Numbers that stand in no figure: the level of an interval, what a toy model is, and names in quotes."""
ONE_IN = re.compile(r"\b(\d) in (\d{1,2})\b(?!,\d)")


def numbers(words: str) -> list[str]:
    """The numbers of a text in its order. ``9 in 10`` is 90%.

    >>> numbers("At alpha 0.1 pocket-8m leaves +1.48 (95% interval 1.4 to −2) of 1,065; 9 in 10, 88.54%.")
    ['0.1', '+1.48', '1.4', '−2', '1,065', '90%', '88.54%']
    """
    words = NO_FIGURE.sub("", words)
    words = ONE_IN.sub(lambda match: f"{100 * int(match[1]) / int(match[2]):g}%", words)
    return NUMBER.findall(words)


def is_same(stated: str | None, shown: str | None) -> bool:
    """Whether two numbers are one, as far as both are written out: with equal decimals they are equal.

    >>> is_same("87%", "87.4%"), is_same("87%", "86.4%"), is_same("87.4%", "87.5%"), is_same("0.1", "0.100")
    (True, False, False, True)
    >>> is_same("87%", "87"), is_same("87", None)
    (False, False)
    """
    if stated is None or shown is None or stated.endswith("%") != shown.endswith("%"):
        return False
    (first, first_unit), (second, second_unit) = _value(stated), _value(shown)
    slack = 0 if first_unit == second_unit else (first_unit + second_unit) / 2
    return abs(first - second) <= slack + 1e-9


def _value(text: str) -> tuple[float, float]:
    """A number and the unit of its last digit."""
    plain = text.rstrip("%").replace(",", "").replace("−", "-")
    return float(plain), 10.0 ** -len(plain.partition(".")[2])


@dataclass(frozen=True)
class Stated:
    """A sentence, and what the figure shows for each of its numbers."""

    words: str
    shown: list[str]

    def faults(self) -> list[str]:
        pairs = list(zip_longest(numbers(self.words), self.shown))
        assert pairs, f"no number in {self.words!r}"
        return [f"{said} in words, {shown} shown: {self.words}" for said, shown in pairs if not is_same(said, shown)]


Read = Iterator[Stated]


def expect_same(page: Page, read: Callable[[Page], Read]) -> None:
    """All sentences that ``read`` gives agree with their figures, as soon as the page has followed."""
    eventually(page, lambda: [fault for stated in read(page) for fault in stated.faults()], within_ms=20_000)


def text(place: Locator) -> str:
    return re.sub(r"\s+", " ", place.first.inner_text(timeout=5_000)).strip()


def rows(table: Locator) -> list[list[str]]:
    """The cells of a table's body, its heads of rows too."""
    return table.locator("tbody tr").evaluate_all(
        "all => all.map(row => [...row.querySelectorAll('th, td')].map(cell => cell.textContent.trim()))"
    )


def marks(chart: Locator, role: str) -> list[dict[str, str]]:
    """What the marks of a Vega chart say of themselves: with the names of the axes and of their hovers."""
    labels = chart.locator(f"svg.marks [aria-roledescription='{role}']").evaluate_all(
        "all => all.map(one => one.getAttribute('aria-label'))"
    )
    return [dict(re.findall(r"([^:;]+(?:: (?:from|to))?): ([^;]*)(?:; |$)", label)) for label in labels]


def difference(first: str, second: str) -> str:
    """The second minus the first, with the decimals of both."""
    (low, unit), (high, _) = _value(first), _value(second)
    digits = len(f"{unit:.9f}".rstrip("0").partition(".")[2]) if unit < 1 else 0
    return f"{high - low:+.{digits}f}".replace("-", "−")


# ---------------------------------------------------------------- the runs and juries that ship


def run(model: str, task: str = "qa") -> str:
    """The run of a model on a task that pages show at first."""
    begins = f"{model}-{task}-base-0shot-float32-"
    (name,) = [name for name in store.run_ids() if name.startswith(begins) and "cloze" not in name]
    return name


def shipped(*models: str) -> str:
    return ",".join(run(model) for model in models)


# ---------------------------------------------------------------- the pages


def overview(page: Page) -> Read:
    table = page.locator(".first-page table[role=grid]")
    body = table.locator("tbody").first.locator("tr")
    names = body.locator("th .title").all_inner_texts()
    first = body.locator("td:nth-child(2)")
    sizes = first.locator(".size").all_inner_texts()
    right, *empty = zip(
        *(numbers(f"{words}, 0%")[:2] for words in first.locator(".right").all_inner_texts()), strict=True
    )
    (options, _) = numbers(text(table.locator("thead th .below")))
    alpha = page.get_by_role("slider", name="alpha").get_attribute("aria-valuetext") or ""
    words = text(page.locator("[data-testid=stMarkdown] p", has_text="is right on"))
    assert re.findall(r"[\w-]+(?= is right)", words) == names[:2]
    shown = [right[0], sizes[0], options, alpha, right[1], sizes[1], str(len(names) - 2), sizes[-1]]
    yield Stated(words, shown + [empty[0][0]] * (empty[0][0] != "0%"))
    card, at = page.locator(".first-page .card").nth(1), page.locator(".curve p.strong")
    showcase = re.search(r"run=([\w-]+?)-qa-", card.get_attribute("href") or "")
    assert showcase
    yield Stated(text(at), [alpha, sizes[names.index(showcase[1])], options])


def alpha_lab(page: Page) -> Read:
    alpha = page.get_by_role("spinbutton", name="alpha as a number").input_value()
    left = page.locator("article[data-side=left]")
    coverage, size = (text(left.locator(f"[data-figure={name}]")) for name in ("coverage", "meanSize"))
    (target,) = numbers(left.locator(".strip text", has_text="target").text_content() or "")
    options = numbers(text(left.get_by_text("of 6 options")))[0]
    yield Stated(text(page.locator(".lab-answer")), [alpha, size, options, coverage])
    yield Stated(text(page.locator(".promise")), [target])
    right = page.locator("article[data-side=right]")
    others = [text(right.locator(f"[data-figure={name}]")) for name in ("coverage", "meanSize")]
    for plot, shown in (("coverage", [coverage, others[0], target]), ("size", [size, others[1], options])):
        label = page.locator(f"[data-plot={plot}] svg.chart").get_attribute("aria-label") or ""
        yield Stated(label, [alpha, *shown])


def one_question(page: Page) -> Read:
    alpha = float(page.get_by_role("spinbutton", name="alpha as a number").input_value())
    chart = page.locator(".question .chart")
    names = [name.removesuffix("truth").strip() for name in chart.locator(".option .text").all_inner_texts()]
    states = chart.locator(".state .word").all_inner_texts()
    inside = [name for name, state in zip(names, states, strict=True) if state == "in"]
    leaves = [numbers(words)[0] for words in chart.locator(".state .leaves").all_inner_texts()]
    ends = chart.locator(".bar rect").evaluate_all("all => all.map(one => parseFloat(one.getAttribute('width')))")
    for words, end in zip(leaves, ends, strict=True):
        yield Stated(words, [f"{math.ceil(0.998 * 10 * end + 1 - 1e-6) / 1000:.3f}"])
    yield Stated(text(page.locator(".question .verdict")), [str(len(inside)), str(len(names))])
    answer = text(page.locator(".question .answer"))
    assert [name for name in names if name in answer] == (inside if 0 < len(inside) < min(5, len(names)) else [])
    if inside:
        soonest = min(leaves[names.index(name)] for name in inside)
        yield Stated(text(page.locator(".question .next")), [soonest])
    yield Stated(text(page.locator(".question .meaning")), [f"{100 - 100 * alpha:g}%"])
    (chosen,) = (row for row in rows(page.locator(".scores-table table")) if row[0] == text(chart.locator(".by")))
    yield Stated(" ".join(cell.rstrip("inout") for cell in chosen[2 : 2 + len(names)]), leaves)


def compare(page: Page) -> Read:
    (caption, table) = (page.locator(".details table caption"), rows(page.locator(".details table")))
    first, second = text(caption).split(" → ")
    by_name = {row[0]: row[1:] for row in table}
    accuracy, size = by_name["Accuracy"], by_name["Mean set size"]
    words = text(page.locator("[data-testid=stCaptionContainer] p", has_text="of the questions and"))
    assert words.index(first) < words.index(second)
    p_values = [numbers(cells[4])[0] for cells in (accuracy, size)]
    of_pair, _, of_all = words.partition(" Of all ")
    of_pair, _, detectable = of_pair.partition(" These questions show ")  # no figure has these differences
    yield Stated(of_pair, [*accuracy[:2], p_values[0], *size[:2], p_values[1]])
    # The matrix shows one of the two figures, here the size of sets.
    cells = page.locator(".matrix button")
    each_pair = cells.evaluate_all("all => [all.length / 2, all.filter(one => one.className === 'sure').length / 2]")
    pairs, differ = map(str, each_pair)
    yield Stated(of_all, [pairs, numbers(of_all)[1], differ])
    yield Stated(detectable.partition("correction for ")[2], [pairs])
    (score,) = re.findall(r"sets by (.+?) hold", words)
    for place, name in enumerate((first, second)):
        label = page.locator(f".dots .row[aria-label^='{name} ·']").first.get_attribute("aria-label") or ""
        drawn = [re.search(rf"{what}: ([\d.]+%?)", label) for what in ("Accuracy", f"Mean set size by {score}")]
        yield Stated(f"{accuracy[place]} {size[place]}", [match[1] for match in drawn if match])
    for cells in by_name.values():
        yield Stated(cells[2], [difference(*cells[:2])])


def calibration(page: Page) -> Read:
    charts = page.get_by_test_id("stVegaLiteChart")
    sentences = page.locator("[data-testid=stMarkdown] li", has_text="it is right").all_inner_texts()
    tests = page.locator("[data-testid=stCaptionContainer] p", has_text="ECE of").all_inner_texts()
    table = {row[0]: row[1:] for row in rows(page.locator(".static-table table").first)}
    assert len(sentences) == len(tests) == len(table["Questions"])
    for i, words in enumerate(sentences):
        ((ring,), circles) = (marks(charts.nth(i), role) for role in ("point", "circle"))
        (held,) = (each for each in circles if each["Confidence"] == ring["Confidence"])
        shown = [held["Mean confidence"], ring["Accuracy"], held["Questions"], held["95% from"], held["95% to"]]
        yield Stated(words, shown)
        excess, low, high, seen, chance = numbers(table["ECE beyond chance"][i])
        p_value = numbers(table["p of the ECE"][i])[0]
        if "can be chance" in tests[i]:
            yield Stated(tests[i], [seen, chance, p_value])
        else:
            sentence, rest = tests[i].split(". The model")
            yield Stated(sentence, [excess, low, high, p_value])
            rest = rest.split(" Spiegelhalter's")[0]
            yield Stated(rest, [numbers(table["Overconfidence beyond chance"][i])[3], seen])


def jury(page: Page) -> Read:
    table = {row[0]: row for row in rows(page.locator(".rules-table"))}
    best, always = list(table)[:2]
    gains = [numbers(cell) for cell in table[best][-2:]]
    rules = sum(not name.startswith("Always") for name in table)
    splits = re.search(r"mean over (\d+) splits", text(page.locator("[data-figure=answered-n]")))
    assert splits
    shown = [table[best][1], *gains[0], table[always][1], *gains[1], table["Majority"][1], str(rules)]
    yield Stated(text(page.locator(".jury .detail")), shown)
    for name, row in table.items():
        for other, cell in zip((always, "Majority"), row[-2:], strict=True):
            if cell:
                yield Stated(numbers(cell)[0], [difference(table[other][1], table[name][1])])
    chosen = text(page.locator(".rules-table tr.chosen .pick"))
    answered, wrong = text(page.locator("[data-figure=answered]")), text(page.locator("[data-figure=risk]"))
    low, high = numbers(text(page.locator("[data-figure=risk-interval]")))
    right = [f"{100 - float(end.rstrip('%')):.1f}%" for end in (wrong, high, low)]
    verdict = text(page.locator(".jury .rules .verdict"))
    assert verdict.startswith(chosen)
    yield Stated(verdict, [table[chosen][1], splits[1], *right[1:]])
    yield Stated(table[chosen][1], [right[0]])
    yield Stated(text(page.locator(".jury .summary")), [answered, wrong])


def prompting(page: Page) -> Read:
    words = text(page.locator("[data-testid=stMarkdown] p", has_text="Compared with"))
    table = {row[0]: row[1:] for row in rows(page.locator(".static-table table").first)}
    base, accurate, certain = re.findall(r"“([^”]+)”", words)
    accuracy, size = table[accurate], table[certain]
    comparisons = str(2 * len(set(table) - {base}))  # accuracy and set size of each other way
    shown = [*numbers(accuracy[0]), *numbers(accuracy[1]), *numbers(size[2]), *numbers(size[3]), comparisons]
    yield Stated(words, shown)
    points = marks(page.get_by_test_id("stVegaLiteChart").first, "point")
    drawn = {f"{mark['Asked by']}, {mark['asked']}": mark["Mean set size"] for mark in points}
    for way in (way for way in table if way.endswith(", 0 shots")):  # with shots, fewer questions are shared
        yield Stated(numbers(table[way][2])[0], [difference(drawn[base], drawn[way])])
    names, values = (page.get_by_test_id(f"stMetric{part}").all_text_contents() for part in ("Label", "Value"))
    assert names == 2 * ["Accuracy", "Coverage", "Mean set size"]
    yield Stated(numbers(table[accurate][0])[0], [difference(values[0], values[3])])
    yield Stated(f"{values[2]} {values[5]}", [drawn[base], drawn[accurate]])


def perplexity(page: Page) -> Read:
    points = marks(page.get_by_test_id("stVegaLiteChart").first, "point")
    drawn = {mark["prompt"][0]: mark for mark in points if mark["Conversation"] == "all conversations"}
    under = [drawn[prompt]["Perplexity"] for prompt in "AB"]
    words = page.locator("[data-testid=stMarkdown] p", has_text="Perplexity of")
    page.get_by_text("All figures, and the published ones").click()
    differences = page.locator(".static-table table", has_text="all conversations")
    differences.wait_for()
    table = {row[0]: row[1:] for row in rows(differences)}
    mean, p_value, messages = table["all conversations"]
    shown = [*under, *numbers(mean), p_value, messages, str(len(table) - 1)]
    assert messages == drawn["A"]["Messages"]
    yield Stated(text(words), shown)
    a, b = (float(value) for value in numbers(text(words))[:2])
    yield Stated(text(page.get_by_role("heading", name="more likely")), [f"{max(a, b) / min(a, b):.2f}"])


def tokens(page: Page) -> Read:
    words = text(page.locator("[data-testid=stMarkdown] p", has_text="mean surprisal"))
    first, second = re.findall(r"of ([\w-]+)(?= minus| is)", words.replace("that of", "of"))
    pairs = page.locator(".static-table table", has_text="More surprised")
    (cells,) = (row[2:] for row in rows(pairs) if row[:2] == [first, second])
    counted = numbers(words)[4:]
    yield Stated(words, [*numbers(cells[0]), *numbers(cells[1]), *counted])
    said = text(page.locator(".tokens .said p"))
    _, _, surprisal, entropy, _ = numbers(said)
    likely = f"{float(f'{math.exp(float(surprisal)):.2g}'):,.0f}"
    yield Stated(said, ["1", likely, surprisal, entropy, f"{math.exp(float(entropy)):.1f}"])


def stream_lab(page: Page) -> Read:
    alpha, gamma = (page.locator(f".stream #{name}-number").input_value() for name in ("alpha", "gamma"))
    shown = {
        name: text(page.locator(f".ways [data-figure={name}]")) for name in ("fixed-after", "adaptive-after", "alarm")
    }
    late = numbers(shown["alarm"]) or numbers(text(page.locator(".ways .alarm-label")))
    answer = [shown["fixed-after"], f"{100 - 100 * float(alpha):g}%", shown["adaptive-after"], *late]
    yield Stated(
        f"{text(page.locator('.stream .lab-answer'))} {text(page.locator('.stream .answer .promise'))}", answer
    )
    label = page.locator(".stream [data-plot=coverage] svg.chart").get_attribute("aria-label") or ""
    yield Stated(label, [alpha, gamma, *answer])


def learn(**bars: str) -> Callable[[Page], Read]:
    """Reads a step of the course: the facts in its words, and the bars with these labels."""

    def read(page: Page) -> Read:
        drawn = page.locator(".lesson .stage svg text").all_text_contents()
        for fact, label in bars.items():
            words = text(page.locator(f".lesson .words [data-fact={fact}]"))
            yield Stated(words, [drawn[drawn.index(label) + 1]])

    return read


def new_run(page: Page) -> Read:
    names, values = (page.get_by_test_id(f"stMetric{part}").all_text_contents() for part in ("Label", "Value"))
    shown = dict(zip(names, values, strict=True))
    yield Stated(text(page.get_by_text("This takes about")), [shown["Questions"], shown["Time"].removesuffix(" s")])
    few = re.search(r"(\d+) calibration and (\d+) test", text(page.get_by_text("calibration and")))
    assert few
    yield Stated(shown["Questions"], [str(int(few[1]) + int(few[2]))])


MODELS = ("pocket-8m-humble", "pocket-3m", "pocket-8m")
OTHERWISE = "alpha=150&score=aps"
PAGES: Mapping[str, tuple[Callable[[Page], Read], Callable[[], str]]] = {
    "overview": (overview, lambda: f"/?whose=shipped&{OTHERWISE}"),
    "alpha_lab": (alpha_lab, lambda: f"/alpha_lab?run={run('pocket-8m-humble')}&scores=aps,raps"),
    "one_question": (one_question, lambda: f"/one_question?run={run('pocket-8m-humble')}&bars=raps"),
    "compare": (compare, lambda: f"/compare?{OTHERWISE}&measure=set_size&runs={shipped(*MODELS)}"),
    "calibration": (calibration, lambda: f"/calibration?runs={shipped(*MODELS)}"),
    "jury": (jury, lambda: "/jury?jury=answers-of-pocket-8m-to-trivia-832aabcb"),
    "prompting": (prompting, lambda: "/prompting"),
    "perplexity": (perplexity, lambda: "/perplexity"),
    "tokens": (tokens, lambda: "/tokens"),
    "new_run": (new_run, lambda: "/new_run"),
    "stream_lab": (stream_lab, lambda: "/stream_lab"),
    "learn_sets": (learn(accuracy="right", single_share="1 option"), lambda: "/learn"),
    "learn_juries": (
        learn(majority_disputed="Majority", weighted_disputed="Weighted log-odds"),
        lambda: "/learn?lesson=juries&step=5",
    ),
    "learn_asking": (
        learn(ask_letter_right="by letter", ask_text_right="by text", ask_guessing="guessing"),
        lambda: "/learn?lesson=asking",
    ),
}
"""What reads each page, and the link that it is opened by: with runs that ship, and where a page has them with another
alpha and score than those that it begins with."""
ALPHAS = ("0.003", "0.1", "0.35")
"""Where alpha moves while one looks, it is read at each of these."""


@pytest.mark.parametrize("name", PAGES)
def test_a_number_in_words_is_the_number_that_the_figure_shows(visit: Visitor, address: str, name: str):
    read, link = PAGES[name]
    page = settled(visit(address, width=1280, height=1400).open(link()))
    if name.startswith("learn"):
        page.get_by_role("button", name="Just show me").click()
    expect_same(page, read)
    if read in (alpha_lab, one_question, stream_lab):
        for alpha in ALPHAS:
            page.get_by_role("spinbutton", name="alpha as a number").fill(alpha)
            page.keyboard.press("Enter")
            expect_same(page, read)
