"""The static site's folder: what is replaced, what is refused, and what a failure leaves."""

import re
from pathlib import Path

import pytest

from core.errors import InputError
from core.settings import ROOT
from docs import site
from hedge.cli import main

pytestmark = pytest.mark.quick


def write(folder: Path, **files: str) -> None:
    with site._replaced(folder) as new:
        for name, content in files.items():
            (new / name).mkdir()
            (new / name / "index.html").write_text(content)


def read(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).parts[0]: path.read_text() for path in folder.rglob("*.html")}


def test_a_site_takes_the_place_of_the_one_before_and_of_nothing_else(tmp_path: Path):
    folder = tmp_path / "new" / "site"
    write(folder, manual="1", labs="1")
    (folder / "CNAME").write_text("hedge.example.org")
    write(folder, manual="2", course="2")
    assert read(folder) == {"manual": "2", "course": "2"}
    assert {path.name for path in folder.iterdir()} == {site.MARK, "CNAME", "manual", "course"}


def test_a_failure_leaves_the_site_as_it_was(tmp_path: Path):
    write(tmp_path, manual="1")
    with pytest.raises(OSError, match="disk"), site._replaced(tmp_path) as new:  # noqa: PT012
        (new / "manual").mkdir()
        raise OSError("disk")
    assert read(tmp_path) == {"manual": "1"}
    assert {path.name for path in tmp_path.iterdir()} == {site.MARK, "manual"}


def test_a_mark_names_files_of_its_own_folder_alone(tmp_path: Path):
    folder, other = tmp_path / "site", tmp_path / "other"
    other.mkdir()
    folder.mkdir()
    (folder / site.MARK).write_text(f"../other\n{other}\n..\n.\n\n{site.MARK}")
    write(folder, manual="1")
    assert other.is_dir()
    assert read(folder) == {"manual": "1"}


def test_a_folder_with_other_files_is_refused_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "thesis.tex").write_text("my only copy")
    assert main(["site", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"hedge: {tmp_path} is not empty and was not written by `hedge site`; name a new folder, or empty this one\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    assert main(["site", str(tmp_path / "thesis.tex")]) == 2
    assert capsys.readouterr().err == f"hedge: {tmp_path / 'thesis.tex'} is a file; name a new folder\n"


@pytest.mark.parametrize("address", ["javascript:alert(1)", "example.org/ann", 'https://a"b', "https://a b"])
def test_a_repository_is_an_address(address: str, tmp_path: Path):
    with pytest.raises(InputError, match="the repository must be an address such as https://"):
        site.write_site(tmp_path / "site", repository=address)
    assert not (tmp_path / "site").exists()


def test_the_front_page_installs_as_the_readme_does():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert site._install() == re.findall(r"```sh\n(.+)\n```", readme)[0]
