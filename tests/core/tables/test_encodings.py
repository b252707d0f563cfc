"""Bytes as text: which encodings are recognised, which are a named guess, and what is refused."""

import pytest

from core.errors import InputError
from core.tables.encodings import decoded, looks_windows
from core.tables.tabular import open_sheet, open_sheets

pytestmark = pytest.mark.quick

WESTERN = (
    "L’été à Zürich, « café » : 20 € … “naïve” – ça coûte 3 €. CAFÉ, ÉTÉ",
    "Größe, Straße, Müller, Übung",
    "¿Qué año? España",
    "NÃO é possível, São Paulo, ações",
    "It’s a “test” – 5 °C ± 2 µm",
    "He said “café”.",
)
DAMAGED = {
    "the end of é is cut off": "naïve café".encode()[:-1],
    "the only letter is cut": b"more caf\xc3\nmore",
    "a byte of ’ is lost": b"it\xe2\x80s fine",
    "another byte of ’ is lost": b"it\x80\x99s fine",
    "Cyrillic": "Привет мир, как дела".encode("cp1251"),
    "Chinese": "以下哪个是正确的".encode("gbk"),
    "Japanese": "これはテスト".encode("shift-jis"),
    "Polish": "Zażółć gęślą jaźń".encode("cp1250"),
    "an old Macintosh": "café élève".encode("mac-roman"),
    "a binary file": b"\x80\x04pickle",
}


@pytest.mark.parametrize("text", WESTERN)
def test_western_text_is_a_named_guess(text):
    assert decoded(text.encode("cp1252"), "a.csv") == (text, "Windows-1252")
    assert decoded(text.encode(), "a.csv") == (text, "")


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_and_other_text_is_no_guess(name):
    assert not looks_windows(DAMAGED[name])
    with pytest.raises(
        InputError, match=r"^a\.csv, line 1: expected text in UTF-8, found byte 0x\w\w; save it as UTF-8$"
    ):
        decoded(DAMAGED[name], "a.csv")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_mark_is_no_guess(encoding):
    assert decoded("name,läbel\n".encode(encoding), "a.csv") == ("name,läbel\n", "")


def test_a_table_names_the_encoding_that_was_guessed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("A,B,text\n1,2,one\n3,4,Zürich\n".encode("cp1252"))
    assert (open_sheet(path).encoding, open_sheet(path).texts("text")) == ("Windows-1252", ["one", "Zürich"])
    path.write_bytes("A,B,text\n1,2,é\n".encode("utf-16-be"))
    assert (open_sheet(path).encoding, open_sheet(path).texts("text")) == ("UTF-16", ["é"])
    path.write_text("A,B,text\n1,2,é\n")
    assert open_sheet(path).encoding == ""


def test_rows_of_several_lines_and_with_too_few_cells(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('question,A,B,label\n"Two\nlines?",x,x,A\nWhich?,y,z,B\n')
    (sheet,) = open_sheets(path)
    assert [list(row.values()) for row in sheet.rows()] == [["Two\nlines?", "x", "x", "A"], ["Which?", "y", "z", "B"]]
    assert (sheet.where(0), sheet.where(1)) == (f"{path}, line 2", f"{path}, line 4")
    path.write_text("question,A,B,C\na,x,y,z\nb,x,y\nc,x,y,z,,\n")
    (sheet,) = open_sheets(path)
    assert sheet.short == f"{path}, line 3: expected 4 columns, as in the header, found 3"
    assert sheet.texts("C") == ["z", "", "z"]
    path.write_text("question,A,B\na,x,y\nb, with a comma,x,y\n")
    with pytest.raises(InputError, match=r"expected 3 columns .* Expected 3 columns, got 4"):
        open_sheets(path)


def test_rows_keep_the_lists_and_objects_of_json(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"q": "a", "choices": {"A": "x", "B": "y"}}\n{"q": "b"}\n')
    assert open_sheet(path).rows() == [{"q": "a", "choices": {"A": "x", "B": "y"}}, {"q": "b", "choices": None}]
