"""The grammar of the commands that show, compare, import and export figures."""

from __future__ import annotations

import argparse
from pathlib import Path

from hedge.commands.grammar.parsers import alpha_argument, command, out_folder, runs_argument, sets_arguments


def report(made: argparse.ArgumentParser) -> None:
    """``report``."""
    from core.conformal.mondrian import BY

    command(made, "reports:report", "report pocket-8m-qa", "report pocket-8m-qa --alpha 0.2 --by group --json")
    sets_arguments(made)
    made.add_argument("--by", default="all", choices=BY, help="one threshold for all, for each subject, or each letter")
    made.add_argument(
        "--n-calibration",
        type=int,
        metavar="N",
        help="calibrate on this many questions (at least 5), chosen by seed; on all if not given",
    )
    made.add_argument(
        "--split-seed",
        type=int,
        metavar="S",
        help="draw another split into calibration and test; the run's own if not given",
    )
    made.add_argument(
        "--drop-extra", action="store_true", help="leave out E and F, and rescale the other probabilities to sum to 1"
    )


def compare(made: argparse.ArgumentParser) -> None:
    """``compare``."""
    sets_arguments(command(made, "reports:compare", "compare pocket-3m-qa pocket-8m-qa --score aps"))


def prompting(made: argparse.ArgumentParser) -> None:
    """``prompting``."""
    from core.conformal.scores import SCORE_NAMES

    command(made, "prompting:compare_ways", "prompting", "prompting --alpha 0.2 --out ways.xlsx")
    made.add_argument(
        "run",
        nargs="*",
        metavar="RUN",
        help="run ids, or their beginnings; all finished runs with something to compare if none is given",
    )
    alpha_argument(made)
    made.add_argument("--score", default="lac", choices=SCORE_NAMES, help="the conformal score")
    made.add_argument(
        "--out", type=Path, metavar="FILE.xlsx", help="also write the table as a workbook, if this is given"
    )


def import_(made: argparse.ArgumentParser) -> None:
    """``import``."""
    from core.exchange.dropped.kinds import MEANT, all_listed
    from core.exchange.table_values import VALUES

    command(made, "exchange:import_results", "import results/", "import logits.csv --label answer --options A B C D")
    made.add_argument(
        "path",
        nargs="+",
        type=Path,
        help=f"files, folders and archives, each recognised by its content: {all_listed()}",
    )
    made.add_argument("--labels", type=Path, help="a folder with the answers, if they are not among the paths")
    made.add_argument("--model", default="", help="the model, if the files do not say it")
    made.add_argument("--task", default="", help="the task, if the files do not say it")
    made.add_argument(
        "--join", action="store_true", help="make one run of a model's subjects of one benchmark, such as MMLU's 57"
    )
    made.add_argument(
        "--memory", type=float, metavar="GB", help="the memory that reading may take; HEDGE_READ_MEMORY_GB if not given"
    )
    made.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help="the processor time that a file may take, beside 1 second for each MB; 8 if not given",
    )
    made.add_argument(
        "--as",
        dest="meant",
        choices=tuple(MEANT),
        help="what tables have whose options are numbers; decided from all rows if not given",
    )
    of_table = made.add_argument_group("for tables whose column names do not say this")
    of_table.add_argument(
        "--options", nargs="+", metavar="COLUMN", help="the options' columns, in their order; found if not given"
    )
    of_table.add_argument("--label", metavar="COLUMN", help="the column with the right option; found if not given")
    of_table.add_argument(
        "--labels-from", type=int, choices=(0, 1), help="the number of the first option; seen in all rows if not given"
    )
    of_table.add_argument("--values", choices=VALUES, help="what the options' values are; recognised if not given")
    of_table.add_argument(
        "--mapping", type=Path, help="all of this as a JSON file, as the Data page saves it, if there is one"
    )


def export(made: argparse.ArgumentParser) -> None:
    """``export``."""
    from hedge.commands.exchange import EXPORTS

    command(made, "exchange:export", "export pocket-8m-qa --format csv --out tables")
    sets_arguments(made)
    made.add_argument("--format", required=True, choices=tuple(EXPORTS), help="what is written")
    out_folder(made)


def figure(made: argparse.ArgumentParser) -> None:
    """``figure``."""
    from core.reports.figure_names import FILE_KINDS, JURY_FIGURES, RUN_FIGURES

    names = (*RUN_FIGURES, *JURY_FIGURES)
    command(made, "exchange:figure", "figure forest pocket-3m-qa pocket-8m-qa --format pdf --out figures")
    made.add_argument("figure", metavar="FIGURE", choices=names, help=", ".join(names))
    sets_arguments(made)
    made.add_argument(
        "--format", nargs="+", default=list(FILE_KINDS), choices=(*FILE_KINDS, "html"), help="the kinds of file"
    )
    made.add_argument(
        "--width", default="single", metavar="WIDTH", help="single (3.25 in), double (6.75 in), slide (16:9), or inches"
    )
    made.add_argument("--font", default="sans", metavar="FONT", help="sans, serif, or the name of the paper's font")
    made.add_argument("--theme", default="light", choices=("light", "dark"), help="the colours")
    out_folder(made)


def calibration(made: argparse.ArgumentParser) -> None:
    """``calibration``."""
    from core.calibration.bins import ECE_BINS, EDGES
    from core.calibration.recalibration import METHODS
    from core.reports.calibration.calibrated import WITHIN

    command(made, "tokens:calibration", "calibration pocket-8m-qa", "calibration pocket-8m-qa --recalibrate --json")
    runs_argument(made)
    made.add_argument("--bins", type=int, default=ECE_BINS, help="the number of bins of the ECE")
    made.add_argument("--edges", default="width", choices=EDGES, help="bins of equal width, or of equal mass")
    made.add_argument(
        "--within", default="all", choices=WITHIN, help="all together, each subject, or each chosen option"
    )
    made.add_argument(
        "--recalibrate",
        nargs="*",
        choices=tuple(METHODS),
        help="before and after these recalibrations; all of them if none is named",
    )
    alpha_argument(made, "alpha for the sets before and after")
