"""A page says in one sentence that a name is too long for a file, wherever a person types one."""

import pytest

from tests.pages.conftest import Open

ODD = ("n" * 400, "𝔸" * 100, "/" + "d" * 300 + "/x", "~nobody-of-this-name/x")


@pytest.mark.parametrize("key", ["launch_models", "launch_tasks"])
def test_a_model_and_a_task_that_a_person_types(open_page: Open, key: str):
    for name in ODD:
        app = open_page("new_run")
        app.session_state[key] = [name if key == "launch_models" else f"{name}.csv"]
        app.run()
        message = " ".join(element.value for element in app.error)
        assert "unexpected" not in message


def test_a_folder_that_a_person_types_for_a_text_by_token(open_page: Open):
    for name in ODD[:2]:
        app = open_page("tokens", model="another model")
        app.text_input(key="token_own").set_value(name).run()
        app.text_area[0].set_value("Two words.").run()
        message = " ".join(element.value for element in app.error)
        assert message
        assert "unexpected" not in message
