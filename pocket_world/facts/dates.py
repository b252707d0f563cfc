"""The calendar: months, weekdays and the holidays that always fall in the same month."""

from __future__ import annotations

from pocket_world.relations import Relation, invert, listed, table

MONTHS = listed("""
January February March April May June July August September October November December
""")
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
ORDINALS = listed("""
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
""")

NEXT_MONTH = {month: (MONTHS[(place + 1) % 12],) for place, month in enumerate(MONTHS)}
NEXT_DAY = {day: (WEEKDAYS[(place + 1) % 7],) for place, day in enumerate(WEEKDAYS)}
MONTH_PLACE = {ORDINALS[place]: (month,) for place, month in enumerate(MONTHS)}
DAYS_IN_MONTH = table("""
January = 31; March = 31; April = 30; May = 31; June = 30; July = 31; August = 31; September = 30; October = 31;
November = 30; December = 31; February in a common year = 28; February in a leap year = 29
""")

HOLIDAYS = table("""
Christmas Day = December; New Year's Day = January; Halloween = October; Valentine's Day = February;
Saint Patrick's Day = March; New Year's Eve = December; April Fools' Day = April; Independence Day in the United States = July;
Labour Day in most of Europe = May; Thanksgiving in the United States = November; Bastille Day in France = July;
Boxing Day = December; Burns Night = January; International Women's Day = March; Bonfire Night in Britain = November;
German Unity Day = October; Earth Day = April; Canada Day = July; Australia Day = January; All Saints' Day = November;
Labor Day in the United States = September; Candlemas = February; Epiphany = January; Saint George's Day = April;
Martin Luther King Day = January; United Nations Day = October; World Health Day = April; Star Wars Day = May;
Groundhog Day = February; Saint Andrew's Day = November; Pi Day = March; Saint Lucy's Day = December
""")

RELATIONS = (
    Relation(
        group="calendar",
        name="next month",
        rows=NEXT_MONTH,
        questions=(
            "Which month comes right after {x}?",
            "When {x} ends, which month begins?",
            "What is the month that follows {x}?",
        ),
        statements=("{y} comes right after {x}.", "When {x} ends, {y} begins."),
    ),
    Relation(
        group="calendar",
        name="month before",
        rows=invert(NEXT_MONTH),
        questions=(
            "Which month comes right before {x}?",
            "When {x} begins, which month has just ended?",
            "What month is the one before {x}?",
        ),
        statements=("{y} comes right before {x}.", "When {x} begins, {y} has just ended."),
    ),
    Relation(
        group="calendar",
        name="next day",
        rows=NEXT_DAY,
        questions=(
            "Which day comes right after {x}?",
            "If today is {x}, what day is tomorrow?",
            "What is the day that follows {x}?",
        ),
        statements=("{y} comes right after {x}.", "If today is {x}, tomorrow is {y}."),
    ),
    Relation(
        group="calendar",
        name="day before",
        rows=invert(NEXT_DAY),
        questions=(
            "Which day comes right before {x}?",
            "If today is {x}, what day was yesterday?",
            "What day is the one before {x}?",
        ),
        statements=("{y} comes right before {x}.", "If today is {x}, yesterday was {y}."),
    ),
    Relation(
        group="calendar",
        name="month place",
        rows=MONTH_PLACE,
        questions=(
            "Which is the {x} month of the year?",
            "What is the name of the {x} month?",
            "Counting from January, which month is the {x}?",
        ),
        statements=("The {x} month of the year is {y}.", "{y} is the {x} month."),
    ),
    Relation(
        group="calendar",
        name="days in month",
        rows=DAYS_IN_MONTH,
        questions=(
            "How many days are there in {x}?",
            "What is the number of days in {x}?",
            "How many days long is {x}?",
        ),
        more_wrong=("27", "32"),
        statements=("There are {y} days in {x}.", "{x} is {y} days long."),
    ),
    Relation(
        group="calendar",
        name="holiday",
        rows=HOLIDAYS,
        questions=(
            "In which month is {x}?",
            "{x} falls in which month?",
            "What is the month of {x}?",
        ),
        statements=("{x} is in {y}.", "{x} falls in {y}.", "The month of {x} is {y}."),
    ),
)
