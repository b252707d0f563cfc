"""The options of the commands that show, compare, import and export figures."""

from pathlib import Path

from hedge.commands.grammar.parsers import Option
from hedge.commands.grammar.shared import RUNS, alpha, delta, out_folder, sets

OF_TABLE = "for tables whose column names do not say this"
N_CALIBRATION = "calibrate on this many questions (at least 5), chosen by seed; on all if not given"
SPLIT_SEED = "draw another split into calibration and test; the run's own if not given"


def report() -> list[Option]:
    """``report``."""
    from core.conformal.mondrian import BY

    extra = "leave out E and F, and rescale the other probabilities to sum to 1"
    return [
        *sets(),
        Option("--by", "one threshold for all, for each subject, or each letter", "all", BY),
        Option("--n-calibration", N_CALIBRATION, type=int, metavar="N"),
        Option("--split-seed", SPLIT_SEED, type=int, metavar="S"),
        Option("--drop-extra", extra, False),
    ]


def answer_or_pass() -> list[Option]:
    """``pass``."""
    from core.conformal.scores import SCORE_NAMES
    from core.conformal.selective import BY
    from core.conformal.sets import EMPTY_POLICIES

    by = "answer from a probability of the top option, or up to a size of its prediction set"
    return [
        RUNS,
        alpha("how often an answer may be wrong, in (0, 1)"),
        delta(),
        Option("--by", by, "confidence", BY),
        Option("--set-alpha", "with --by set-size: how often a set may miss the truth", 0.1),
        Option("--score", "with --by set-size: the conformal score", "lac", SCORE_NAMES),
        Option("--empty", "with --by set-size: pass empty sets, or give them the top option", "allow", EMPTY_POLICIES),
    ]


def plan() -> list[Option]:
    """``plan``."""
    from core.conformal.scores import SCORE_NAMES
    from core.reports.compare.power import POWER, SIGNIFICANT

    accuracy = "guessed accuracies, of one model or of two; half of the questions if neither they nor runs are given"
    agreement = "on which share both models are right or both wrong; as if independent if neither it nor runs are given"
    size = "the difference in mean set size that a comparison should find, in options; needs --runs if it is given"
    runs = "one or two finished runs that say how answers vary; guesses are used if none is given"
    return [
        alpha(),
        Option("--width", "the widest band of coverage, such as 0.05, if one is wanted", type=float),
        Option("--difference", "the difference in accuracy to find, such as 0.03, if one is wanted", type=float),
        Option("--size-difference", size, type=float, metavar="OPTIONS"),
        Option("--questions", "also say what this many questions show, if given", type=int, metavar="N"),
        Option("--runs", runs, nargs="+", metavar="RUN"),
        Option("--accuracy", accuracy, nargs="+", type=float, default=(), metavar="P"),
        Option("--agreement", agreement, type=float, metavar="A"),
        Option("--power", "how often a true difference of this size should be found", POWER),
        Option("--significance", "the level of the test; divide it by the number of pairs", SIGNIFICANT),
        Option("--calibration-share", "the share in (0, 1) that calibrates", 0.5),
        Option("--score", "the conformal score of mean set size", "lac", SCORE_NAMES),
    ]


def prompting() -> list[Option]:
    """``prompting``."""
    from core.conformal.scores import SCORES

    runs = "run ids, or their beginnings; all finished runs with something to compare if none is given"
    out = "also write the table as a workbook, if this is given"
    return [
        Option("run", runs, nargs="*", metavar="RUN"),
        alpha(),
        Option("--score", "the conformal score", "lac", tuple(SCORES)),
        Option("--out", out, type=Path, metavar="FILE.xlsx"),
    ]


def import_results() -> list[Option]:
    """``import``."""
    from core.exchange.dropped.kinds import MEANT, all_listed
    from core.exchange.table_values import VALUES

    paths = f"files, folders and archives, each recognised by its content: {all_listed()}"
    join = "make one run of a model's subjects of one benchmark, such as MMLU's 57"
    memory = "the memory that reading may take; HEDGE_READ_MEMORY_GB if not given"
    seconds = "the processor time that a file may take, beside 1 second for each MB; 8 if not given"
    meant = "what tables have whose options are numbers; decided from all rows if not given"
    options = "the options' columns, in their order; found if not given"
    label = "the column with the right option; found if not given"
    first = "the number of the first option; seen in all rows if not given"
    values = "what the options' values are; recognised if not given"
    mapping = "all of this as a JSON file, as the Data page saves it, if there is one"
    return [
        Option("path", paths, nargs="+", type=Path),
        Option("--labels", "a folder with the answers, if they are not among the paths", type=Path),
        Option("--model", "the model, if the files do not say it", ""),
        Option("--task", "the task, if the files do not say it", ""),
        Option("--join", join, False),
        Option("--memory", memory, type=float, metavar="GB"),
        Option("--seconds", seconds, type=float, metavar="S"),
        Option("--as", meant, choices=MEANT, dest="meant"),
        Option("--options", options, nargs="+", metavar="COLUMN", group=OF_TABLE),
        Option("--label", label, metavar="COLUMN", group=OF_TABLE),
        Option("--labels-from", first, choices=(0, 1), type=int, group=OF_TABLE),
        Option("--values", values, choices=VALUES, group=OF_TABLE),
        Option("--mapping", mapping, type=Path, group=OF_TABLE),
    ]


def export() -> list[Option]:
    """``export``."""
    from hedge.commands.exchange import EXPORTS

    return [*sets(), Option("--format", "what is written", choices=EXPORTS, required=True), out_folder()]


def figure() -> list[Option]:
    """``figure``."""
    from core.reports.figure_names import FILE_KINDS, JURY_FIGURES, RUN_FIGURES

    names = (*RUN_FIGURES, *JURY_FIGURES)
    width = "single (3.25 in), double (6.75 in), slide (16:9), or inches"
    return [
        Option("figure", ", ".join(names), choices=names, metavar="FIGURE"),
        *sets(),
        Option("--format", "the kinds of file", list(FILE_KINDS), (*FILE_KINDS, "html")),
        Option("--width", width, "single", metavar="WIDTH"),
        Option("--font", "sans, serif, or the name of the paper's font", "sans", metavar="FONT"),
        Option("--theme", "the colours", "light", ("light", "dark")),
        out_folder(),
    ]


def calibration() -> list[Option]:
    """``calibration``."""
    from core.calibration.bins import ECE_BINS, EDGES
    from core.calibration.recalibration import METHODS
    from core.reports.calibration.calibrated import WITHIN

    recalibrate = "before and after these recalibrations; all of them if none is named"
    return [
        RUNS,
        Option("--bins", "the number of bins of the ECE", ECE_BINS),
        Option("--edges", "bins of equal width, or of equal mass", "width", EDGES),
        Option("--within", "all together, each subject, or each chosen option", "all", WITHIN),
        Option("--recalibrate", recalibrate, choices=METHODS, nargs="*"),
        alpha("alpha for the sets before and after"),
    ]
