"""The private names of other libraries that Hedge uses still exist."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from sysconfig import get_path

import pytest

from app.serving.sessions import DROPPED_MESSAGES, DROPPED_OPERATIONS
from core.storage.database.tables import workflows
from tests.syntax import imports, parsed

ROOT = Path(__file__).resolve().parent.parent
PROTOCOL = (
    "Streamlit has no setting that turns these messages off, so app/serving/sessions.py reads them and drops them"
)


@dataclass(frozen=True)
class Use:
    """Names that stand in a file of a library, and why nothing public does."""

    file: str
    names: tuple[str, ...]
    reason: str


USES = (
    Use("os.py", ("_exit",), "documented in spite of its underscore: it ends a process without waiting for threads"),
    Use(
        "re/__init__.py",
        ("_parser",),
        "it tells which repeats of a tokenizer's pattern lie in others; its public name, sre_parse, is deprecated",
    ),
    Use(
        "streamlit/runtime/runtime.py",
        ("close_session", "is_active_session", "uploaded_file_mgr"),
        "Streamlit has no limit for the uploads of a person, and frees them minutes after their page was closed",
    ),
    Use(
        "streamlit/runtime/memory_uploaded_file_manager.py",
        ("file_storage", "remove_session_files"),
        "as above",
    ),
    Use("argparse.py", ("_fill_text",), "help texts keep their lines, and argparse has no other hook for that"),
    Use(
        "transformers/configuration_utils.py",
        ("_attn_implementation", "_commit_hash"),
        "the attention and the revision that a loaded model really uses are given nowhere else",
    ),
    Use(
        "transformers/masking_utils.py",
        ("_dynamo", "_trace_wrapped_higher_order_op", "TransformGetItemToIndex"),
        "transformers imports torch's compiler by this name, which takes a second, and Hedge compiles nothing",
    ),
    Use(
        "peft/tuners/tuners_utils.py",
        ("_torch_supports_distributed",),
        "without a GPU no weight is spread over devices, and the import that would tell so takes half a second",
    ),
    Use(
        "transformers/integrations/peft.py",
        ("_hf_peft_config_loaded",),
        "a folder that holds a model and an adapter is loaded without a word otherwise",
    ),
    Use(
        "transformers/generation/configuration_utils.py",
        ("_from_model_config",),
        "nothing else tells end tokens that a folder states from those that follow from its configuration",
    ),
    Use(
        "accelerate/hooks.py",
        ("_old_forward",),
        "accelerate wraps the output matrix of a model on several devices and calls the original by this name",
    ),
    Use(
        "dbos/_schemas/system_database.py",
        (workflows.name, *workflows.columns.keys()),
        "the run queue orders and hands over runs in DBOS's table, which is documented; so dbos stays within 3.4",
    ),
    Use(
        "streamlit/proto/BackMsg_pb2.pyi", ("BackMsg", "backend_operation_request", *sorted(DROPPED_MESSAGES)), PROTOCOL
    ),
    Use("streamlit/proto/BackMsg_pb2.pyi", tuple(sorted(DROPPED_OPERATIONS)), PROTOCOL),
    Use(
        "streamlit/proto/ForwardMsg_pb2.pyi",
        ("ForwardMsg", "new_session"),
        "the id of a page's session, by which uploads name it, is sent to the browser and told to no script",
    ),
    Use("streamlit/proto/NewSession_pb2.pyi", ("initialize", "session_id"), "as above"),
    Use(
        "streamlit/web/server/starlette/starlette_server_config.py",
        ("_streamlit_user",),
        "the cookie of people who log in, which app/serving/session_cookie.py reads for requests without a session",
    ),
)
FOLDERS = ("core", "app", "charts", "pages", "hedge")
STREAMLIT = re.compile(r"streamlit(\.(testing(\..*)?|typing|starlette|delta_generator(\.DeltaGenerator)?))?")
"""The modules of Streamlit that are for everybody. ``DeltaGenerator`` is the type of ``st.container()``."""


def is_private(name: str) -> bool:
    return re.match(r"_[a-zA-Z]", name) is not None


def is_listed(name: str) -> bool:
    listed = {name for use in USES for name in use.names}
    inside = [part for part in f"/{name}".replace(".", "/").split("/") if is_private(part)]
    return all(part in listed or any(f"/{part}/" in use.file for use in USES) for part in inside)


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """The full name of everything that a file imports from others, with its line."""
    for node in imports(path):
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name}" for name in names] if node.module and not node.level else []
        yield from ((node.lineno, name) for name in names if name.split(".")[0] not in FOLDERS)


def used(path: Path, own: set[str]) -> Iterator[tuple[int, str]]:
    """Each private name of a library in a file, with its line. ``own`` are the names that Hedge itself defines."""
    modules = set()
    for line, name in imported(path):
        modules.add(name.rpartition(".")[2])
        if any(map(is_private, name.split("."))):
            yield line, name
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            holder = node.value
            is_module = isinstance(holder, ast.Name) and holder.id in modules
            is_super = isinstance(holder, ast.Call) and ast.unparse(holder) == "super()"
            if is_module or is_super or node.attr not in own:
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr", "setattr"):
            name = node.args[1].value if isinstance(node.args[1], ast.Constant) else ""
            if is_private(name):
                yield node.lineno, name


def defined(paths: list[Path]) -> set[str]:
    """The names that functions, classes, fields and assignments of these files define."""
    nodes = [node for path in paths for node in ast.walk(parsed(path))]
    places = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {
        *(node.name for node in nodes if isinstance(node, places)),
        *(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)),
        *(node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)),
    }


def files(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def test_every_private_name_of_a_library_is_listed_with_its_reason():
    paths = files(*FOLDERS)
    own = defined(paths)
    unlisted = [
        f"{path.relative_to(ROOT)}:{line} uses {name}, which is private to its library: use what is public, or list it "
        "with the reason in tests/test_private_names.py"
        for path in paths
        for line, name in used(path, own)
        if not is_listed(name)
    ]
    assert not unlisted, "\n".join(unlisted)


def test_only_public_modules_of_streamlit_are_imported():
    inner = [
        f"{path.relative_to(ROOT)}:{line} imports {name}, which Streamlit keeps for itself"
        for path in files(*FOLDERS, "tests", "docs")
        if "streamlit" in path.read_text(encoding="utf-8")  # to parse all files takes seconds
        for line, name in imported(path)
        if name.split(".")[0] == "streamlit"
        and not STREAMLIT.fullmatch(name)
        and not STREAMLIT.fullmatch(name.rpartition(".")[0])
    ]
    assert not inner, "\n".join(inner)


@pytest.mark.parametrize("use", USES, ids=lambda use: f"{use.file}: {use.names[0]}")
def test_what_is_listed_still_exists(use: Use):
    places = [Path(get_path(kind)) / use.file for kind in ("stdlib", "purelib", "platlib")]
    text = next((place.read_text(encoding="utf-8") for place in places if place.exists()), "")
    gone = [name for name in use.names if not re.search(rf"(?<![a-zA-Z0-9_]){name}(?![a-zA-Z0-9_])", text)]
    assert not gone, f"{use.file} no longer has {', '.join(gone)}, which Hedge needs: {use.reason}"
