"""A server of models on loopback: it answers as Ollama, llama.cpp and others do, by a script.

```python
with ModelServer([text_answer("Hello")]) as server:
    model = OpenAIChatModel("qwen3", base_url=server.base_url)
```

Each chat takes the next answer of the script; other paths are answered out of `routes`.
What was asked is in `server.chats` and `server.requests`; `server.disconnected` is set once
a client has gone away in the middle of an answer.
"""

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self, cast

STREAM = "text/event-stream"
PATIENCE = 20.0
"""Seconds that the server waits for a client to go away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is sent, piece by piece, and how it ends.

    `whole`: as it should; `cut`: in the middle of a chunk; `closed`: with the connection,
    so that nobody can tell; `open`: not at all, until the client goes away.
    """

    pieces: tuple[bytes, ...] = ()
    status: int = 200
    content_type: str = STREAM
    ends: Literal["whole", "cut", "closed", "open"] = "whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any = None


def event(value: object) -> bytes:
    """Return one server-sent event that holds `value` as JSON."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def chunk(delta: object, finish: str | None = None, **more: object) -> dict[str, object]:
    """Return a chunk of a chat completion, with `more` members beside its choice."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [choice], **more}


def stream(*chunks: object, ends: Literal["whole", "cut", "closed", "open"] = "whole") -> Answer:
    """Return an answer of these chunks; a whole one ends as servers end it."""
    pieces = tuple(event(value) for value in chunks)
    return Answer(pieces=(*pieces, DONE) if ends == "whole" else pieces, ends=ends)


def text_answer(text: str, usage: Mapping[str, object] | None = None) -> Answer:
    """Return an answer that says `text`, word by word, as Ollama sends it."""
    words = [word + " " for word in text.split(" ")]
    words[-1] = words[-1][:-1]
    last = {"choices": [], "usage": usage or {"prompt_tokens": 7, "completion_tokens": len(words)}}
    return stream(
        *(chunk({"role": "assistant", "content": word}) for word in words),
        chunk({"role": "assistant", "content": ""}, "stop"),
        last,
    )


def call_answer(*calls: tuple[str, str], text: str = "") -> Answer:
    """Return an answer that asks for calls (tool, arguments), each in one piece."""
    pieces = [
        {
            "index": index,
            "id": f"call_{index}_{tool}",
            "type": "function",
            "function": {"name": tool, "arguments": arguments},
        }
        for index, (tool, arguments) in enumerate(calls)
    ]
    return stream(
        chunk({"role": "assistant", "content": text, "tool_calls": pieces}),
        chunk({"content": ""}, "tool_calls"),
    )


def json_answer(value: object, status: int = 200) -> Answer:
    """Return an answer in one piece of JSON."""
    return Answer(
        pieces=(json.dumps(value).encode(),), status=status, content_type="application/json"
    )


@dataclass
class ModelServer:
    """A server that answers by a script, from entering to leaving it."""

    answers: Sequence[Answer] = ()
    routes: Mapping[str, Answer] = field(default_factory=dict[str, Answer])

    def __post_init__(self) -> None:
        self.requests: list[Asked] = []
        self.disconnected = threading.Event()
        self._left = iter(self.answers)
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def root(self) -> str:
        """The URL of the server itself."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def base_url(self) -> str:
        """The URL at which the protocol of OpenAI begins."""
        return f"{self.root}/v1"

    @property
    def chats(self) -> list[Any]:
        """The bodies of the chats that were asked for, in their order."""
        return [asked.body for asked in self.requests if asked.path.endswith("/chat/completions")]

    def answer(self, asked: Asked) -> Answer:
        """Record a request and return what is answered to it."""
        with self._lock:
            self.requests.append(asked)
            if asked.path in self.routes:
                return self.routes[asked.path]
            if asked.path.endswith("/chat/completions"):
                return next(self._left, json_answer({"error": "the script has ended"}, 500))
        return json_answer({"error": {"message": "File Not Found", "code": 404}}, 404)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, owner: ModelServer) -> None:
        super().__init__(("127.0.0.1", 0), _Requests)
        self.owner = owner


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        self._answer(json.loads(self.rfile.read(length)))

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _answer(self, body: object) -> None:
        owner = cast("_Server", self.server).owner
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = owner.answer(
            Asked(method=self.command, path=self.path, headers=headers, body=body)
        )
        try:
            self._send(answer, owner)
        except (BrokenPipeError, ConnectionResetError):
            owner.disconnected.set()
            self.close_connection = True

    def _send(self, answer: Answer, owner: ModelServer) -> None:
        self.send_response(answer.status)
        self.send_header("content-type", answer.content_type)
        is_chunked = answer.ends != "closed"
        self.send_header(
            *(("transfer-encoding", "chunked") if is_chunked else ("connection", "close"))
        )
        self.end_headers()
        for piece in answer.pieces:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if is_chunked else piece)
            self.wfile.flush()
        self.close_connection = answer.ends != "whole"
        if answer.ends == "whole":
            self.wfile.write(b"0\r\n\r\n")
        elif answer.ends == "open":
            self._wait_until_left(owner)

    def _wait_until_left(self, owner: ModelServer) -> None:
        self.connection.settimeout(PATIENCE)
        try:
            is_gone = self.connection.recv(1) == b""
        except ConnectionResetError:
            is_gone = True
        except TimeoutError:
            is_gone = False
        if is_gone:
            owner.disconnected.set()
