"""Importing entries from a mirror: what comes, what is refused, and that nothing is fetched twice."""

import io
import re
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from core.errors import InputError, RunCancelled, UnreachableError
from core.jury.pipeline import jury_store
from core.runs import store
from core.settings import settings
from core.shelf import addresses, cache, downloads
from core.shelf.bring import bring, here
from core.shelf.entries import entry
from core.shelf.progress import DownloadProgress
from core.shelf.recompute import summary
from tests.core.shelf.mirror import Mirror
from tests.light_environment import needs_models


def sent(mirror: Mirror) -> int:
    return sum(mirror.sent.values())


def imported() -> list[str]:
    """The runs of this home; those that come with Hedge lie elsewhere."""
    folder = settings().runs
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def everything(mirror: Mirror) -> int:
    return sum(map(len, mirror.files.values()))


def test_an_entry_comes_in_and_needs_the_network_once(made_up: Mirror):
    done = bring(entry("made-up"))
    assert len(done.runs) == 2
    assert {store.read_record(run).spec.model for run in done.runs} == {"small-1B", "large-9B"}
    assert sent(made_up) == done.fetched == everything(made_up)
    assert store.read_record(done.runs[0]).provenance["shelf"] == "made-up"
    made_up.fault = "404"
    again = bring(entry("made-up"))
    assert again.runs == again.existed == done.runs
    assert again.fetched == 0
    assert here(entry("made-up").files) == 2


def test_the_chat_format_of_an_entry_tells_its_runs_apart(made_up: Mirror):
    plain = bring(entry("made-up"), only="small")
    written = settings().home / "shelf" / "entries" / "made-up.toml"
    written.write_text('prompt_format = "chat"\n' + written.read_text())
    chat = bring(entry("made-up"), only="small")
    assert chat.runs != plain.runs
    assert [store.read_record(run).spec.prompt_format for run in (*plain.runs, *chat.runs)] == ["plain", "chat"]
    assert bring(entry("made-up"), only="small").existed == chat.runs
    assert entry("llm-uncertainty-bench-chat-v1").prompt_format == "chat"
    written.write_text('prompt_format = "shouted"\n' + written.read_text().partition("\n")[2])
    with pytest.raises(InputError, match="expected one of plain, chat as 'prompt_format', found 'shouted'"):
        entry("made-up")


def test_only_some_files(made_up: Mirror):
    done = bring(entry("made-up"), only="large")
    assert [store.read_record(run).spec.model for run in done.runs] == ["large-9B"]
    assert here(entry("made-up").files) == 1
    with pytest.raises(InputError, match="no file of made-up matches 'none'"):
        bring(entry("made-up"), only="none")


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("tampered", r"expected a file with the SHA-256 .* it was changed, and nothing of it was read"),
        ("truncated", r"expected [0-9,]+ bytes, the server has [0-9,]+; it is not the published file"),
        ("cut", r"the connection broke after 10,000 of [0-9,]+ bytes; import it again to continue from there"),
        ("404", r"it is not there any more .the server answers 404.; nothing was imported"),
        ("ten times", r"expected at most [0-9,]+ bytes, the server has [0-9,]+; it is not downloaded"),
        ("stall", r"the server sent nothing for 0.6 s; what came is kept, import it again to continue from there"),
    ],
)
def test_a_fault_is_one_sentence_and_nothing_is_imported(made_up: Mirror, monkeypatch, fault, says):
    made_up.fault, made_up.cut_after = fault, 10_000
    if fault == "stall":
        monkeypatch.setenv("HEDGE_SHELF_STALL_SECONDS", "0.6")
    with pytest.raises(InputError, match=says) as caught:
        bring(entry("made-up"))
    assert str(caught.value).startswith("output/small-1B/mmbench.pkl: ")
    assert "\n" not in str(caught.value)
    assert imported() == []
    made_up.fault = ""
    monkeypatch.delenv("HEDGE_SHELF_STALL_SECONDS", raising=False)
    assert len(bring(entry("made-up")).runs) == 2


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("https://127.0.0.1:9/x", "127.0.0.1, which is private"),
        ("https://10.0.0.8/x", "10.0.0.8, which is private"),
        ("https://[::1]/x", "::1, which is private"),
        ("https://169.254.169.254/latest", "169.254.169.254, which is private"),
        ("https://localhost/x", "localhost, which is private"),
        ("http://8.8.8.8/x", "only https addresses"),
        ("file:///etc/passwd", "only https addresses"),
        ("https://me:secret@8.8.8.8/x", "redirects to an address with a user's name or a password"),
    ],
)
def test_a_redirect_to_elsewhere_is_not_followed(made_up: Mirror, target, says):
    made_up.fault, made_up.location = "redirect", target
    with pytest.raises(InputError, match=says) as caught:
        bring(entry("made-up"))
    assert "127.0.0.1 redirects to" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert imported() == []


def test_redirects_end(made_up: Mirror):
    made_up.fault, made_up.location = "redirect", "/again"
    with pytest.raises(InputError, match="redirects more than 5 times"):
        bring(entry("made-up"))


def test_without_a_mirror_no_private_address_is_fetched_from(made_up: Mirror, monkeypatch):
    file = entry("made-up").files[0]
    monkeypatch.delenv("HEDGE_SHELF_MIRROR")
    with pytest.raises(InputError, match="only https addresses"):
        downloads.fetch(file, DownloadProgress())
    assert not addresses.peer_is_allowed("https://example.org/x", "192.168.1.4")
    assert addresses.peer_is_allowed("https://example.org/x", "93.184.216.34")
    assert made_up.requests == []


def test_cancelled_in_the_middle_it_goes_on_without_fetching_a_byte_twice(made_up: Mirror, monkeypatch):
    monkeypatch.setattr(downloads, "PIECE", 5_000)
    stopped = DownloadProgress()
    stopped.cancelled = lambda: stopped.done > 60_000
    with pytest.raises(RunCancelled, match="what was downloaded is kept"):
        bring(entry("made-up"), progress=stopped)
    first = sent(made_up)
    assert 0 < first < everything(made_up)
    assert imported() == []
    progress = DownloadProgress()
    assert len(bring(entry("made-up"), progress=progress).runs) == 2
    assert sent(made_up) == everything(made_up) == first + progress.fetched
    assert progress.done == progress.total == everything(made_up)


def test_a_cut_connection_is_made_anew_and_goes_on(made_up: Mirror, monkeypatch):
    """The server cuts each file once; what it has sent is not asked for again."""
    monkeypatch.setattr(downloads, "PIECE", 8_192)
    made_up.fault, made_up.cut_after = "cut", 20_000
    with pytest.raises(InputError, match="the connection broke after 20,000 of"):
        bring(entry("made-up"), only="small")
    made_up.fault = ""
    bring(entry("made-up"), only="small")
    path = "/some/release/abc1234/output/small-1B/mmbench.pkl"
    assert made_up.sent[path] == len(made_up.files[path])


def test_a_server_without_ranges_sends_the_whole_file(made_up: Mirror):
    made_up.ranges = False
    assert len(bring(entry("made-up")).runs) == 2
    assert sent(made_up) == everything(made_up)


def test_another_file_behind_the_same_address_is_not_mixed_with_the_old_one(made_up: Mirror, monkeypatch):
    monkeypatch.setattr(downloads, "PIECE", 8_192)
    made_up.fault, made_up.cut_after = "cut", 20_000
    with pytest.raises(InputError):
        bring(entry("made-up"), only="small")
    made_up.fault = "tampered"  # another content, with another ETag
    with pytest.raises(InputError, match="it was changed"):
        bring(entry("made-up"), only="small")


def test_a_cached_file_that_was_changed_on_the_disk_is_fetched_again(made_up: Mirror):
    done = bring(entry("made-up"), only="small")
    (cached,) = (cache.folder() / "files").iterdir()
    cached.write_bytes(b"something else")
    assert bring(entry("made-up"), only="small").fetched == done.fetched


def test_a_file_without_a_recorded_hash_must_equal_its_first_download(made_up: Mirror):
    written = settings().home / "shelf" / "entries" / "made-up.toml"
    written.write_text(written.read_text().partition("[sources.sizes]")[0])
    entry_read = entry("made-up")
    assert (entry_read.hashed, entry_read.files[0].lasting) == (0, True)
    bring(entry_read)
    for path in (settings().home / "shelf" / "files").iterdir():
        path.unlink()
    made_up.fault = "tampered"
    with pytest.raises(InputError, match="the first download had the SHA-256") as refused:
        bring(entry_read)
    assert cache.is_here(entry_read.files[0].address) is False
    made_up.fault = ""
    assert len(bring(entry_read).existed) == 2, "the first file is taken again"
    assert Path(re.findall(r"delete (\S+) and", str(refused.value))[0]).is_file()


def test_a_server_that_can_not_be_reached(made_up: Mirror, monkeypatch):
    monkeypatch.setenv("HEDGE_SHELF_MIRROR", "http://127.0.0.1:9")
    with pytest.raises(UnreachableError, match=r"127.0.0.1 can't be reached; .*; none of its files is here yet$"):
        bring(entry("made-up"))
    monkeypatch.setenv("HEDGE_SHELF_MIRROR", made_up.url)
    bring(entry("made-up"), only="small")
    monkeypatch.setenv("HEDGE_SHELF_MIRROR", "http://127.0.0.1:9")
    sentence = r"127.0.0.1 can't be reached; .*; 1 of its 2 files is here already and can be imported alone$"
    with pytest.raises(UnreachableError, match=sentence):
        bring(entry("made-up"))
    assert bring(entry("made-up"), only="small").fetched == 0


def test_a_server_that_takes_the_connection_and_says_nothing(made_up: Mirror, monkeypatch):
    monkeypatch.setenv("HEDGE_SHELF_STALL_SECONDS", "0.6")
    made_up.fault = "silent"
    with pytest.raises(UnreachableError, match=r"127.0.0.1 did not answer within 0.6 s; nothing was imported"):
        bring(entry("made-up"))
    assert len(made_up.requests) == 1


def test_an_unreadable_result_brings_in_nothing_of_the_others(made_up: Mirror):
    path = "/some/release/abc1234/output/large-9B/mmbench.pkl"
    made_up.files[path] = b"no pickle" * 100
    source = cache.folder() / "entries" / "made-up.toml"
    text = source.read_text()
    source.write_text(text[: text.index("[sources.sizes]")])
    with pytest.raises(InputError, match=r"output/large-9B/mmbench.pkl: .*; nothing was imported"):
        bring(entry("made-up"))
    assert imported() == []


@pytest.mark.nightly
def test_published_vision_models_come_out_as_published(mirror: Mirror, real_data):
    vision_entry = entry("vlm-uncertainty-bench")
    folder = real_data / "vlm-uncertainty-bench"
    for path in (*folder.glob("output/*/*.pkl"), *folder.glob("tables/*.csv")):
        name = path.relative_to(folder).as_posix()
        commit = vision_entry.files[0].address.split("/")[5]
        mirror.add("EnSec-AI/VLM-Uncertainty-Bench", commit, name, path.read_bytes())
    done = bring(vision_entry, only="output/Yi-VL-6B/*")
    more = bring(vision_entry, only="output/llava-v1.6-vicuna-13b/*")
    for recomputed in (done, more):
        assert [figure for figure in recomputed.figures if not figure.same] == []
        assert summary(recomputed.figures) == "14 of 14 published figures recomputed"


@pytest.mark.nightly
def test_published_language_models_come_out_as_published(mirror: Mirror, real_data):
    language_entry = entry("llm-uncertainty-bench")
    for path in (real_data / "llm-uncertainty-bench" / "logits").glob("*_halu_*.pkl"):
        mirror.add("smartyfh/LLM-Uncertainty-Bench", "5d189dc", f"outputs_base/{path.name}", path.read_bytes())
    done = bring(language_entry, only="outputs_base/Mistral-7B*_halu_*")
    assert len(done.runs) == 6
    assert [figure for figure in done.figures if not figure.same] == []
    assert summary(done.figures) == "6 of 6 published figures recomputed"
    assert done.fetched == sum(mirror.sent.values()) == 6 * 649_982


@pytest.mark.nightly
def test_answers_come_from_the_hub_and_all_figures_of_a_model_are_the_published_ones(mirror, real_data, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", mirror.url)
    folder = real_data / "llm-uncertainty-bench"
    for path in (folder / "logits").glob("Qwen-1_8B_mmlu_*.pkl"):
        mirror.add("smartyfh/LLM-Uncertainty-Bench", "5d189dc", f"outputs_base/{path.name}", path.read_bytes())
    answers = (folder / "labels" / "mmlu_10k.json").read_bytes()
    mirror.add_to_hub("ErikYip/LLM-Uncertainty-Bench", "mmlu_10k.json", answers)
    done = bring(entry("llm-uncertainty-bench"), only="*Qwen-1_8B_mmlu*")
    assert summary(done.figures) == "3 of 3 published figures recomputed"
    assert done.fetched == 3 * 649_982 + len(answers)
    assert done.fetched == sum(mirror.sent.values())
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert bring(entry("llm-uncertainty-bench"), only="*Qwen-1_8B_mmlu*").fetched == 0


HUB = """
title = "Hub"
about = "A file of a data set."
[[sources]]
kind = "hub"
repository = "some/data"
paths = ["scores.csv"]
at_most = 1_000
"""


@needs_models
@pytest.mark.parametrize(
    ("content", "endpoint", "says"),
    [
        (None, "", "it is not on the hub, or HF_TOKEN may not read it; nothing was imported"),
        (b"x" * 10_000, "", "expected at most 1,000 bytes, the hub has 10,000; it is not downloaded"),
        (b"x", "http://127.0.0.1:9", "the hub can't be reached at http://127.0.0.1:9; nothing was imported"),
    ],
)
def test_what_the_hub_does_not_give(mirror: Mirror, monkeypatch, content, endpoint, says):
    monkeypatch.setenv("HF_ENDPOINT", endpoint or mirror.url)
    folder = cache.folder() / "entries"
    folder.mkdir(parents=True)
    (folder / "hub.toml").write_text(HUB)
    if content is not None:
        mirror.add_to_hub("some/data", "scores.csv", content)
    with pytest.raises(InputError, match=says) as caught:
        bring(entry("hub"))
    assert "scores.csv" in str(caught.value)
    assert sum(mirror.sent.values()) == 0


def test_an_archive_of_arrays_and_a_jury_come_in(mirror: Mirror, real_data):
    """ConformalLLM's zip is made again from its members; JuriesDemo's files are the published ones."""
    zip_bytes = io.BytesIO()
    with zipfile.ZipFile(zip_bytes, "w") as archive:
        for path in sorted((real_data / "conformal-llm").glob("*.npy")):
            archive.write(path, f"llm_probs_gpt/{path.name}")
    arrays, demo = entry("conformal-llm"), entry("juries-demo")
    mirror.files[urlsplit(arrays.files[0].address).path] = zip_bytes.getvalue()
    done = bring(arrays)
    assert len(done.runs) == 16
    assert {store.read_record(run).spec.model for run in done.runs} == {"LLaMA-13B"}
    for file in demo.files:
        mirror.files[urlsplit(file.address).path] = (real_data / "juries" / Path(file.path).name).read_bytes()
    brought = bring(demo)
    assert [figure for figure in brought.figures if not figure.same] == []
    assert summary(brought.figures) == "24 of 24 published figures recomputed"
    (jury,) = brought.juries
    judgements = jury_store.read(jury)
    assert judgements.jurors == ("llama13b", "olmo13b", "stable13b")
    assert len(judgements.labels) == 2_000


def test_bluq_comes_out_as_published_to_the_last_bit(mirror: Mirror, real_data):
    """Three of these figures are what rounding leaves at an APS threshold of 1; only the authors' sums give them."""
    bluq_entry = entry("bluq")
    wanted = bluq_entry.chosen(where={"model": ["phi-2", "gemma-2-9b-it"]})
    for file in wanted:
        model = Path(file.path).parts[2]
        name = re.sub(r"_\d{8}_\d{6}", "", Path(file.path).name)
        local_name = name.replace("probs_", f"probs_{model}_").replace("results_", f"results_{model}_")
        mirror.files[urlsplit(file.address).path] = (real_data / "bluq" / local_name).read_bytes()
    done = bring(bluq_entry, where={"model": ["phi-2", "gemma-2-9b-it"]})
    assert len(done.runs) == 10
    assert [figure for figure in done.figures if not figure.same] == []
    assert summary(done.figures) == "50 of 50 published figures recomputed"
    assert max(abs(figure.published - figure.recomputed) for figure in done.figures) < 1e-12
