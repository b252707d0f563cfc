"""The calendar: months, weekdays and the holidays that always fall in the same month."""

from pocket_world.relations import invert, listed, relations

MONTHS = listed("January February March April May June July August September October November December")
WEEKDAYS = listed("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
_ORDINALS = listed("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth")

NEXT_MONTH = {month: (MONTHS[(place + 1) % 12],) for place, month in enumerate(MONTHS)}
NEXT_DAY = {day: (WEEKDAYS[(place + 1) % 7],) for place, day in enumerate(WEEKDAYS)}
MONTH_PLACE = {ordinal: (month,) for ordinal, month in zip(_ORDINALS, MONTHS, strict=True)}

RELATIONS = relations(
    """
calendar: next month
? Which month comes right after {x}? | When {x} ends, which month begins? | What is the month that follows {x}?
! {y} comes right after {x}. | When {x} ends, {y} begins.

calendar: month before
? Which month comes right before {x}? | When {x} begins, which month has just ended? | What month is the one before {x}?
! {y} comes right before {x}. | When {x} begins, {y} has just ended.

calendar: next day
? Which day comes right after {x}? | If today is {x}, what day is tomorrow? | What is the day that follows {x}?
! {y} comes right after {x}. | If today is {x}, tomorrow is {y}.

calendar: day before
? Which day comes right before {x}? | If today is {x}, what day was yesterday? | What day is the one before {x}?
! {y} comes right before {x}. | If today is {x}, yesterday was {y}.

calendar: month place
? Which is the {x} month of the year? | What is the name of the {x} month? | Counting from January, which month is the {x}?
! The {x} month of the year is {y}. | {y} is the {x} month.

calendar: days in month
? How many days are there in {x}? | What is the number of days in {x}? | How many days long is {x}?
! There are {y} days in {x}. | {x} is {y} days long.
~ 27 | 32
January = 31; March = 31; April = 30; May = 31; June = 30; July = 31; August = 31; September = 30; October = 31;
November = 30; December = 31; February in a common year = 28; February in a leap year = 29

calendar: holiday
? In which month is {x}? | {x} falls in which month? | What is the month of {x}?
! {x} is in {y}. | {x} falls in {y}. | The month of {x} is {y}.
Christmas Day = December; New Year's Day = January; Halloween = October; Valentine's Day = February;
Saint Patrick's Day = March; New Year's Eve = December; April Fools' Day = April; Independence Day in the United States = July;
Labour Day in most of Europe = May; Thanksgiving in the United States = November; Bastille Day in France = July;
Boxing Day = December; Burns Night = January; International Women's Day = March; Bonfire Night in Britain = November;
German Unity Day = October; Earth Day = April; Canada Day = July; Australia Day = January; All Saints' Day = November;
Labor Day in the United States = September; Candlemas = February; Epiphany = January; Saint George's Day = April;
Martin Luther King Day = January; United Nations Day = October; World Health Day = April; Star Wars Day = May;
Groundhog Day = February; Saint Andrew's Day = November; Pi Day = March; Saint Lucy's Day = December
""",
    {
        "next month": NEXT_MONTH,
        "month before": invert(NEXT_MONTH),
        "next day": NEXT_DAY,
        "day before": invert(NEXT_DAY),
        "month place": MONTH_PLACE,
    },
)
