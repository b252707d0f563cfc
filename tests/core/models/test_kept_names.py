"""The names in transformers' models are read once for each installation."""

import json
from pathlib import Path

import pytest

from core.models import kept_names


@pytest.fixture
def models(tmp_path: Path) -> tuple[Path, Path]:
    """A folder of models and the file that has the reading code."""
    folder, source = tmp_path / "models", tmp_path / "utils" / "import_utils.py"
    for path in (folder / "llama" / "modeling_llama.py", source):
        path.parent.mkdir(parents=True)
        path.write_text("")
    return folder, source


def reader(models: tuple[Path, Path], reads: list[str]):
    def read(module_path: str, prefix: str | None = None):
        reads.append(str(module_path))
        return {frozenset({"torch"}): {"llama.modeling_llama": {"LlamaModel", f"Read{len(reads)}"}}}

    return kept_names._reader(read, models[1])


def test_all_models_are_read_once_for_a_process_and_for_a_home(models, home):
    folder, _ = models
    reads: list[str] = []
    ours = reader(models, reads)
    first = ours(folder / "__init__.py")
    assert ours(folder, "models") == {frozenset({"torch"}): {"models.llama.modeling_llama": {"LlamaModel", "Read1"}}}
    first.clear()
    assert reader(models, reads)(folder) == {frozenset({"torch"}): {"llama.modeling_llama": {"LlamaModel", "Read1"}}}
    assert len(reads) == 1
    ours(folder / "llama" / "__init__.py")
    assert len(reads) == 2


@pytest.mark.parametrize("change", ["a file changed", "a file more", "the code changed"])
def test_another_installation_is_read_again(change, models, home):
    folder, source = models
    reads: list[str] = []
    reader(models, reads)(folder)
    changed = {
        "a file changed": folder / "llama" / "modeling_llama.py",
        "a file more": folder / "llama" / "configuration_llama.py",
        "the code changed": source,
    }[change]
    changed.write_text("x = 1")
    assert "Read2" in reader(models, reads)(folder)[frozenset({"torch"})]["llama.modeling_llama"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"key": 1}', '{"key": "K", "names": [[1]]}'])
def test_a_damaged_file_is_written_again(content, models, home):
    folder, _ = models
    reads: list[str] = []
    reader(models, reads)(folder)
    (file,) = (home / "cache" / "transformers").iterdir()
    whole = json.loads(file.read_text())
    file.write_text(content.replace("K", whole["key"]))
    assert reader(models, reads)(folder)
    assert len(reads) == 2
    reader(models, reads)(folder)
    assert len(reads) == 2


def test_a_home_that_can_t_be_written_costs_only_the_time(models, home):
    (home / "cache").mkdir(parents=True)
    (home / "cache" / "transformers").write_text("not a folder")
    reads: list[str] = []
    assert reader(models, reads)(models[0])
    assert reader(models, reads)(models[0])
    assert len(reads) == 2


def test_kept_names_are_those_that_transformers_reads(home):
    """Read in two folders, because all 1,500 files take half a second."""
    import transformers
    from transformers.utils.import_utils import define_import_structure

    folder = Path(transformers.__file__).parent / "models"
    theirs = define_import_structure(folder / "llama") | define_import_structure(folder / "auto")
    source = folder.parent / "utils" / "import_utils.py"
    assert kept_names._reader(lambda *_: theirs, source)(folder) == theirs
    assert kept_names._reader(lambda *_: {}, source)(folder) == theirs
