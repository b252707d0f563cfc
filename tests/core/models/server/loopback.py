"""A server around a bundled model that speaks the OpenAI protocol on this machine, with faults that can be switched on.

It shares no code with the engine that asks it: the model's own call, one text at a time, and Python's HTTP server.
"""

import json
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from core.settings import ASSETS
from tests.core.models.server.decision_scores import as_choices, as_score, scores_of

KNOWN = 300
"""Texts whose log-probabilities are kept."""
REST = 1e-4
TEMPLATE = "<user>{text}<assistant>"


@dataclass
class Behaviour:
    """What the server does. ``graded`` makes its reply to a score, of the answer.
    ``fault`` says, by the number of a request for tokens (from 0), what goes wrong with it:
    ``429``, ``429 SECONDS``, ``503``, ``500``, ``cut``, ``stall``, ``malformed``, ``list``, ``no choice``,
    ``redirect``, ``short`` (lists that lack their end); or nothing. ``breaks_on`` says, by path and body, which
    requests always end in HTTP status 500, and ``strict`` the status and the reply to what it does not accept, with
    these ``headers``. ``beside`` is what it answers beside the protocol, by path, and ``before`` begins each written
    text. ``base`` is the path of its API, and ``listing`` makes the reply about models, unless they are ``unlisted``.
    ``decisions`` are the paths at which it answers decisions, ``decided`` makes what it replies of a question's
    number in its request and its answer (None: null), and ``deciding`` what it sends of the whole reply, which may be
    bytes. ``sampler`` makes what is listed for the next token of its log-probabilities (vocabulary), the tokens before
    and the request, and ``spelled`` what a list shows of its pairs. ``echo_lists`` says whether an echo lists tokens at
    each place. ``opens`` is the token with which all but :data:`REST` of its chat answers begin, unless its template
    has a ``switch`` of this name for reasoning that is off. ``ends`` is the spelling of the end token that the
    tokenizer appends to each plain text, if it does."""

    most: int = 20
    graded: Callable[[dict[str, Any]], dict[str, Any] | None] = field(default=lambda answer: answer)
    all_tokens: bool = False
    echo: bool = True
    by_id: bool = False
    completions: bool = True
    chat: bool = True
    logprobs: bool = True
    equal: bool = False
    shifted: bool = False
    wrong_counts: bool = False
    key: str = ""
    kind: str = "loopback"
    quantisation: str = ""
    beside: dict[str, Any] = field(default_factory=lambda: {"/version": {"version": "1.2.3"}})
    delay_s: float = 0.0
    stall_s: float = 5.0
    fault: Callable[[int], str] = field(default=lambda number: "")
    opens: str = ""
    switch: str = ""
    breaks_on: Callable[[str, dict[str, Any]], bool] = field(default=lambda path, body: False)
    sampler: Callable[[torch.Tensor, tuple[int, ...], dict[str, Any]], torch.Tensor] = field(
        default=lambda log_p, tokens, body: log_p
    )
    spelled: Callable[[list[tuple[str, float]]], list[tuple[str, float]]] = field(default=lambda pairs: pairs)
    echo_lists: bool = True
    strict: Callable[[str, dict[str, Any]], tuple[int, Any] | None] = field(default=lambda path, body: None)
    before: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    base: str = "/v1"
    unlisted: bool = False
    decisions: tuple[str, ...] = ()
    decided: Callable[[int, dict[str, Any]], dict[str, Any] | None] = field(default=lambda number, answer: answer)
    deciding: Callable[[dict[str, Any]], Any] = field(default=lambda reply: reply)
    ends: str | None = None
    listing: Callable[[list[dict[str, Any]]], Any] = field(default=lambda models: {"object": "list", "data": models})


class _Waiting(ThreadingHTTPServer):
    """With fewer connections that wait, the system drops some, and the client tries again after a second."""

    daemon_threads = True
    request_queue_size = 256


class Loopback:
    """The server: ``url``, its ``behaviour``, and what it was asked: ``texts`` counts the texts and questions that it
    answered well, and ``bodies`` are the requests for decisions as they came."""

    def __init__(self, model: str = "pocket-3m", *, port: int = 0) -> None:
        folder = ASSETS / "models" / model
        self.name = model
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        self.pieces = [self.tokenizer.decode([i]) for i in range(len(self.tokenizer))]
        self.behaviour = Behaviour()
        self.texts: Counter[str] = Counter()
        self.bodies: list[bytes] = []
        self.number = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.lock = threading.Lock()
        self.compute = threading.Lock()
        self.released = threading.Event()
        self.known: dict[tuple[int, ...], torch.Tensor] = {}
        self.http = _Waiting(("127.0.0.1", port), self._handler())
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def reset(self, **behaviour: Any) -> None:
        """Behave so from now on, and forget what was asked; nobody is answered any more who asked before."""
        self.released.set()
        while self.in_flight:
            time.sleep(0.01)
        self.released.clear()
        self.behaviour = Behaviour(**behaviour)
        self.texts.clear()
        self.bodies.clear()
        self.number = self.most_in_flight = 0

    @contextmanager
    def other_weights(self, model: str = "pocket-3m-instruct") -> Iterator[None]:
        """Hold the weights of another model under the same name, as a server that was restarted."""
        own, other = self.model, AutoModelForCausalLM.from_pretrained(ASSETS / "models" / model, dtype=torch.float32)
        self._hold(other.eval())
        try:
            yield
        finally:
            self._hold(own)

    def _hold(self, model: Any) -> None:
        with self.compute:
            self.model = model
            self.known.clear()

    def log_p(self, tokens: tuple[int, ...]) -> torch.Tensor:
        """Log-probabilities (tokens, vocabulary) of the next token after each token."""
        with self.compute:
            if tokens not in self.known:
                if len(self.known) >= KNOWN:
                    self.known.clear()
                with torch.inference_mode():
                    logits = self.model(input_ids=torch.tensor([tokens])).logits[0].float()
                self.known[tokens] = torch.log_softmax(logits, -1)
            return self.known[tokens]

    # ---------------------------------------------------------------- answers

    def models(self) -> Any:
        context = self.model.config.max_position_embeddings
        does = self.behaviour
        entry = {"id": self.name, "owned_by": does.kind, "max_model_len": context, "root": does.quantisation}
        return does.listing([entry])

    def completion(self, body: dict[str, Any]) -> dict[str, Any]:
        does, requested, echo = self.behaviour, body.get("logprobs"), bool(body.get("echo"))
        end = [] if does.ends is None else [self.tokenizer.eos_token_id]
        tokens = (*self.tokenizer(body["prompt"])["input_ids"], *end)
        written, text = self.write(tokens, body)
        choice: dict[str, Any] = {"index": 0, "text": text, "finish_reason": "length", "logprobs": None}
        if requested is not None and does.logprobs:
            befores = [(*tokens, *written[:i]) for i in range(1 if echo else len(written))]
            rows = [does.sampler(self.log_p(before)[-1], before, body) for before in befores]
            shown = [self.pieces[token] for token in written[: len(rows)]]
            values: list[float | None] = [float(row[token]) for row, token in zip(rows, written, strict=False)]
            tops: list[dict[str, float] | None] = [
                dict(self.spelled(self.top(row, requested), requested)) for row in rows
            ]
            if named := body.get("logprob_token_ids"):
                ids = [place for place, _ in self.top(rows[0], 1)] + named
                tops[0] = {self.pieces[i]: float(rows[0][i]) for i in ids}
            if echo:
                log_p = self.log_p(tokens)
                last, off = len(log_p) - 1, int(does.shifted)  # off by one as llama-cpp-python 0.3.36 is
                places = [log_p[min(i + off, last)] for i in range(len(log_p))]
                values = [
                    None,
                    *(float(row[token]) for row, token in zip(places, (*tokens[1:], *written), strict=False)),
                ]
                before = [{self.pieces[i]: value for i, value in self.top(row, requested)} for row in places[:-1]]
                tops = [None, *before, *tops] if does.echo_lists else []
                shown = [self.pieces[token] for token in tokens] + shown
                if end:
                    shown[len(tokens) - 1] = str(does.ends)
            if does.equal:
                values = [None if value is None else -1.0 for value in values]
            choice["logprobs"] = {"tokens": shown, "token_logprobs": values, "top_logprobs": tops}
        if echo:
            choice["text"] = body["prompt"] + text
        return self.reply(choice, tokens, written)

    def tokens(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """What vLLM's endpoint of this name says."""
        if not self.behaviour.by_id:
            return 404, {"error": {"message": "not here"}}
        ids = self.tokenizer(body["prompt"])["input_ids"]
        return 200, {"tokens": ids, "token_strs": self.tokenizer.convert_ids_to_tokens(ids)}

    def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        text = TEMPLATE.format(text="\n".join(message["content"] for message in body["messages"]))
        tokens = tuple(self.tokenizer(text)["input_ids"])
        log_p = self.log_p(tokens)
        written, content = self.write(tokens, body)
        off = body.get("chat_template_kwargs", {}).get(self.behaviour.switch) is False
        opens = "" if off else self.behaviour.opens
        message = {"role": "assistant", "content": opens + content}
        choice: dict[str, Any] = {"index": 0, "message": message, "logprobs": None}
        if body.get("logprobs") and self.behaviour.logprobs:
            listed = self.behaviour.sampler(log_p[-1], tokens, body)
            pairs = self.spelled(self.top(listed, body["top_logprobs"]), body["top_logprobs"])
            top = [{"token": token, "logprob": value} for token, value in pairs]
            if opens:
                first = {"token": opens, "logprob": math.log(1 - REST)}
                top = [first, *({**entry, "logprob": entry["logprob"] + math.log(REST)} for entry in top[:-1])]
            choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
        return self.reply(choice, tokens, written)

    def top(self, log_p: torch.Tensor, count: int) -> list[tuple[int, float]]:
        values, places = log_p.topk(len(log_p) if count < 0 else count)
        values = torch.full_like(values, -3.0) if self.behaviour.equal else values
        return list(zip(places.tolist(), values.tolist(), strict=True))

    def spelled(self, places: list[tuple[int, float]], count: int) -> list[tuple[str, float]]:
        """The pairs of a list as they are shown, at most as many as asked for."""
        pairs = self.behaviour.spelled([(self.pieces[i], value) for i, value in places])
        return pairs if count < 0 else pairs[:count]

    def write(self, tokens: tuple[int, ...], body: dict[str, Any]) -> tuple[list[int], str]:
        written: list[int] = []
        generator = torch.Generator().manual_seed(int(body.get("seed", 0)))
        most = body["max_completion_tokens"] if "max_completion_tokens" in body else body["max_tokens"]
        for _ in range(most):
            last = self.log_p((*tokens, *written))[-1]
            if body.get("temperature", 1):
                written.append(int(torch.multinomial(last.exp(), 1, generator=generator)))
            else:
                written.append(int(last.argmax()))
            if written[-1] == self.tokenizer.eos_token_id and len(written) > 1:
                written.pop()
                break
        text = self.behaviour.before * (most > 1) + self.tokenizer.decode(written)
        for stop in body.get("stop", ()):
            text = text.partition(stop)[0]
        return written, text

    def reply(self, choice: dict[str, Any], tokens: tuple[int, ...], written: list[int]) -> dict[str, Any]:
        counts = {"prompt_tokens": len(tokens), "completion_tokens": len(written)}
        if self.behaviour.wrong_counts:
            counts = {"prompt_tokens": -5, "completion_tokens": 0}
        return {"id": "x", "object": "completion", "choices": [choice], "usage": counts}

    def refusal(self, path: str, body: dict[str, Any]) -> str:
        """Why the protocol refuses a request; empty if it does not."""
        does = self.behaviour
        most = -1 if does.all_tokens else does.most
        if body.get("model") != self.name:
            return "no such model"
        requested = body.get("top_logprobs") if path.startswith("/chat") else body.get("logprobs")
        if isinstance(requested, int) and most >= 0 and not 0 <= requested <= most:
            return f"logprobs must be from 0 to {most}"
        if body.get("echo") and not does.echo:
            return "echo is not supported"
        return ""

    # ---------------------------------------------------------------- decisions

    def decide(self, body: dict[str, Any]) -> dict[str, Any]:
        """The reply to a request of either format, made of the probabilities of the letters after a plain prompt. A
        score is answered as a choice among letters, whose places are the levels."""
        if scores := scores_of(body["questions"]):
            reply = self.decide(body | {"questions": as_choices(body["questions"])})
            for name in filter(reply["answers"].__getitem__, scores):
                reply["answers"][name] = self.behaviour.graded(as_score(reply["answers"][name]))
            return reply
        does, questions = self.behaviour, body["questions"]
        if isinstance(questions, dict) and "criteria" not in next(iter(questions.values())):
            yes = {
                name: does.decided(i, self.verdict(each["instructions"]))
                for i, (name, each) in enumerate(questions.items())
            }
            answers = {
                name: {"type": "noul", "noul": p, "probabilities": {"yes": p}} for name, p in yes.items()
            }  # vLLM
            return {"model": self.name, "answers": answers}
        if isinstance(questions, list) and "choices" not in questions[0]:
            shares = [self.verdict(each["instructions"]) for each in questions]
            return {"model": self.name, "answers": [{"type": "predicate", "probability": p} for p in shares]}
        if isinstance(questions, dict):
            answers = {
                name: does.decided(number, self.choice(body["state"], question["instructions"], question["criteria"]))
                for number, (name, question) in enumerate(questions.items())
            }
            wholes = {name: answer for name, answer in answers.items() if isinstance(answer, dict)}
            diagnostics = {name: {"label_mass": answer.get("mass")} for name, answer in wholes.items()}
            shown = {**answers, **{name: {"type": "choice", **answer} for name, answer in wholes.items()}}
            return {"model": self.name, "answers": shown, "diagnostics": diagnostics, "usage": {"prompt_tokens": 9}}
        listed = []
        for number, question in enumerate(questions):
            criteria = {choice["value"]: choice["description"] for choice in question["choices"]}
            answer = does.decided(number, self.choice(body["input"], question["instructions"], criteria))
            if isinstance(answer, dict):
                pairs = answer.get("probabilities", {}).items()
                given = {"probabilities": [{"value": option, "probability": p} for option, p in pairs]} if pairs else {}
                answer = {"type": "choice", "name": question["name"], **answer, **given}
            listed.append(answer)
        return {"model": self.name, "answers": listed, "usage": {"input_tokens": 9, "output_tokens": len(listed)}}

    def verdict(self, statement: str) -> float:
        """The probability of True after a statement, of True and False."""
        tokens = tuple(self.tokenizer(f"{statement}\nTrue or False?\nAnswer:")["input_ids"])
        words = [self.tokenizer(f" {word}", add_special_tokens=False)["input_ids"][0] for word in ("True", "False")]
        return float(torch.softmax(self.log_p(tokens)[-1][words].double(), -1)[0])

    def choice(self, context: str, question: str, criteria: dict[str, str]) -> dict[str, Any]:
        """The probabilities of the options by their letters, and the ``mass`` of all letters."""
        lines = [f"Context: {context}"] * bool(context) + [f"Question: {question}"]
        lines += [f"{letter}. {text}" for letter, text in criteria.items()]
        tokens = tuple(self.tokenizer("\n".join([*lines, "Answer:"]))["input_ids"])
        letters = [self.tokenizer(f" {letter}", add_special_tokens=False)["input_ids"][0] for letter in criteria]
        log_p = self.log_p(tokens)[-1][letters].double()
        shares, mass = torch.softmax(log_p, -1).tolist(), float(log_p.exp().sum())
        return {"probabilities": dict(zip(criteria, shares, strict=True)), "mass": mass, "asked": question}

    # ---------------------------------------------------------------- HTTP

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        loopback = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            counted = False
            disable_nagle_algorithm = True

            def log_message(self, *args: Any) -> None:
                """Say nothing."""

            def do_GET(self) -> None:
                if not self.admitted():
                    return
                if self.path == f"{loopback.behaviour.base}/models" and not loopback.behaviour.unlisted:
                    self.send(200, loopback.models())
                elif self.path in loopback.behaviour.beside:
                    self.send(200, loopback.behaviour.beside[self.path])
                else:
                    self.send(404, {"error": {"message": "not here"}})

            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["Content-Length"]))
                if not sent:  # the client has left
                    self.close_connection = True
                    return
                body = json.loads(sent)
                if not self.admitted():
                    return
                if self.path in loopback.behaviour.beside:
                    return self.send(200, loopback.behaviour.beside[self.path])
                if self.path == "/tokenize":
                    return self.send(*loopback.tokens(body))
                with loopback.lock:
                    number, loopback.number = loopback.number, loopback.number + 1
                    loopback.in_flight += 1
                    loopback.most_in_flight = max(loopback.most_in_flight, loopback.in_flight)
                self.counted = True
                try:
                    self.answer(number, body, sent)
                finally:
                    self.leave()

            def leave(self) -> None:
                """It is in flight no more: before the answer is sent, or the next request might come sooner."""
                with loopback.lock:
                    loopback.in_flight -= self.counted
                self.counted = False

            def answer(self, number: int, body: dict[str, Any], sent: bytes) -> None:
                does = loopback.behaviour
                if does.delay_s:
                    time.sleep(does.delay_s)
                fault = does.fault(number)
                if fault not in ("", "short") and self.failed(fault):
                    return
                path = self.path.removeprefix(does.base)
                known = {"/completions": does.completions, "/chat/completions": does.chat}
                known |= dict.fromkeys(does.decisions, True)
                if not known.get(path):
                    return self.send(404, {"error": {"message": "not here"}})
                if does.breaks_on(path, body):
                    return self.send(500, {"error": {"message": "it broke"}})
                if refused := does.strict(path, body):
                    return self.send(*refused, does.headers)
                if why := loopback.refusal(path, body):
                    return self.send(400, {"error": {"message": why}})
                if path in does.decisions:
                    reply = loopback.decide(body)
                    if fault == "short":
                        answers = reply["answers"]
                        answers.pop(list(answers)[-1]) if isinstance(answers, dict) else answers.pop()
                    questions = body["questions"].values() if isinstance(body["questions"], dict) else body["questions"]
                    with loopback.lock:
                        loopback.texts.update(each["instructions"] for each in questions if fault != "short")
                        loopback.bodies.append(sent)
                    return self.send(200, does.deciding(reply))
                reply = loopback.chat(body) if path.startswith("/chat") else loopback.completion(body)
                if fault == "short":
                    shorten(reply["choices"][0])
                text = body["prompt"] if "prompt" in body else body["messages"][-1]["content"]
                with loopback.lock:
                    loopback.texts[text] += 1
                self.send(200, reply)

            def failed(self, fault: str) -> bool:
                """Do what goes wrong; False if an answer is still to come."""
                kind, _, detail = fault.partition(" ")
                if kind in ("429", "503", "500"):
                    headers = {"Retry-After": detail} if detail else {}
                    self.send(int(kind), {"error": {"message": f"key {self.headers['Authorization']}"}}, headers)
                elif kind == "cut":
                    self.close_connection = True
                    self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
                elif kind == "stall":
                    loopback.released.wait(loopback.behaviour.stall_s)
                    self.close_connection = True
                elif kind == "malformed":
                    self.send(200, b'{"choices": [')
                elif kind == "list":
                    self.send(200, [1, 2])
                elif kind == "no-choice":
                    self.send(200, {"choices": []})
                elif kind == "redirect":
                    self.send(307, {}, {"Location": "https://elsewhere.example/v1/completions?key=1"})
                else:
                    raise AssertionError(fault)
                return True

            def admitted(self) -> bool:
                key = loopback.behaviour.key
                if key and self.headers["Authorization"] != f"Bearer {key}":
                    self.send(401, {"error": {"message": f"incorrect key {self.headers['Authorization']}"}})
                    return False
                return True

            def send(self, status: int, values: Any, headers: dict[str, str] | None = None) -> None:
                self.leave()
                content = values if isinstance(values, bytes) else json.dumps(values).encode()
                self.send_response(status)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                try:
                    self.end_headers()
                    self.wfile.write(content)
                except ConnectionError:  # the client has left
                    self.close_connection = True

        return Handler


def shorten(choice: dict[str, Any]) -> None:
    """Leave out the end of the lists of a choice: of the next tokens all but two, of an echoed text the last place."""
    listed = choice["logprobs"]
    if listed and "content" in listed:
        listed["content"][0]["top_logprobs"] = listed["content"][0]["top_logprobs"][:2]
    elif listed and len(listed["tokens"]) > 1:
        listed["token_logprobs"].pop()
    elif listed:
        listed["top_logprobs"] = [dict(list(listed["top_logprobs"][0].items())[:2])]


@contextmanager
def loopback_server(model: str = "pocket-3m", *, port: int = 0) -> Iterator[Loopback]:
    """A server that ends with the block, at this port (0: a free one)."""
    server = Loopback(model, port=port)
    server.thread.start()
    try:
        yield server
    finally:
        server.http.shutdown()
        server.http.server_close()
