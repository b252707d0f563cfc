"""The state in a link to the New run page."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from app.state.fields import SWITCH, Names, amount_or_nothing, amount_text, one_of, some_of, whole, whole_or_nothing
from app.state.shared import SharedView
from core.models.server_address import TIMEOUT_S
from core.questions.prompting.decision import DECISION_FORMATS
from core.questions.prompting.forms import FORMATS, FORMS
from core.questions.prompting.strategies import STRATEGIES
from core.runs.spec import MAX_SHOTS, MODES

ALL, NUMBER = "all", "number"
HERE, SERVER = "here", "server"
PRICE = "a price must be a number from 0"
BUDGET = "a budget must be a number from 0"


@dataclass(frozen=True, slots=True)
class NewRunView(SharedView):
    """The form: models and tasks, how the questions are asked, and how the answers are computed."""

    MOVED: ClassVar[tuple[str, ...]] = ()

    place: Annotated[str, one_of((HERE, SERVER))] = HERE
    """Whether Hedge loads the models or a server has them."""
    models: Names = ""
    """The models that Hedge loads ("": the one that the page begins with)."""
    tasks: Names = ""
    """The tasks ("": the one that the page begins with)."""
    amount: Annotated[str, one_of((*MODES, ALL, NUMBER))] = next(iter(MODES))
    """The largest number of questions by its name (:data:`NUMBER`: the one in ``samples``)."""
    samples: Annotated[int, whole(9, "the number of questions must be a whole number")] = 1000
    form: Annotated[str, one_of(FORMS)] = FORMS[0]
    strategies: Annotated[str, some_of(STRATEGIES)] = STRATEGIES[0]
    shots: Annotated[str, some_of(tuple(map(str, range(MAX_SHOTS + 1))))] = "0"
    format: Annotated[str, one_of((*FORMATS, *DECISION_FORMATS))] = FORMATS[0]
    rotations: Annotated[str, one_of(SWITCH)] = "off"
    precision: Names = ""
    """The precisions ("": the one that suits this machine)."""
    batch: Annotated[str, whole_or_nothing(6, "a batch size must be a whole number")] = ""
    """The questions that are computed at once ("": memory decides)."""
    seed: Annotated[int, whole(10, "a seed must be a whole number")] = 0
    share: Annotated[int, whole(2, "the calibration share must be a whole number of hundredths")] = 50
    """The share of the questions that calibrates, in hundredths."""
    price_read: Annotated[str, amount_or_nothing(PRICE)] = ""
    """What a server asks for a million tokens that it reads ("": nothing)."""
    price_written: Annotated[str, amount_or_nothing(PRICE)] = ""
    budget: Annotated[str, amount_or_nothing(BUDGET)] = ""
    """What a run may cost, in the prices' currency ("": any amount)."""
    budget_tokens: Annotated[str, amount_or_nothing(BUDGET)] = ""
    """How many tokens a run may use if there is no price ("": any number)."""
    timeout: Annotated[str, amount_or_nothing("a timeout must be a number of seconds")] = amount_text(TIMEOUT_S)
    """How long a server may take for an answer, in seconds."""
