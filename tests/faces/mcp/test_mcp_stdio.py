"""Standard input and output: whole frames and nothing else, for clients old and new."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeAlias

import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters

from counterfoil.core.errors import UnavailableError
from counterfoil.faces.mcp import _missing, frames, serve_http, serve_stdio
from counterfoil.faces.mcp.descriptors import ProtocolDescriptors
from counterfoil.faces.mcp.frames import FrameSplitter, Refused, read_frame, write_frame
from counterfoil.faces.mcp.stdio import PipeReader, PipeWriter, stdio_streams
from engine.agent_world import CASE_PROMPTS
from faces.mcp.mcp_world import ENVIRONMENT, SERVER, run, serving, structured, text_of

Given: TypeAlias = Any
"""JSON of any shape."""


class Wire:
    """A client that writes and reads lines of JSON, as one that is not the SDK's."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self._ids = 0
        self.lines: list[bytes] = []

    def send(self, value: Given, *, end: bytes = b"\n") -> None:
        assert self.process.stdin is not None
        content = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.process.stdin.write(content + end)
        self.process.stdin.flush()

    def read(self) -> Given:
        """Return the next message; each is exactly one line of JSON."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.lines.append(line)
        assert line.endswith(b"\n"), line
        value = json.loads(line)
        assert value["jsonrpc"] == "2.0"
        return value

    def ask(self, method: str, **params: Given) -> Given:
        """Return the answer to a request."""
        self._ids += 1
        self.send({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params})
        while (answer := self.read()).get("id") != self._ids:
            assert "method" in answer
        return answer

    def initialize(self, version: str, capabilities: Given = None) -> Given:
        """Shake hands by an old version of the protocol."""
        answer = self.ask(
            "initialize",
            protocolVersion=version,
            capabilities=capabilities or {},
            clientInfo={"name": "old", "version": "0"},
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]


@contextmanager
def wired(which: str) -> Generator[Wire]:
    """Have a server run, told to end when done; it is killed where it does not end."""
    with subprocess.Popen(
        [sys.executable, "-W", "always", str(SERVER), which],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **ENVIRONMENT},
    ) as process:
        watch = threading.Timer(60, process.kill)
        watch.start()
        try:
            yield Wire(process)
            assert process.stdin is not None
            process.stdin.close()
            assert process.stdout is not None
            assert process.stdout.read() == b""
            assert process.wait() == 0
        finally:
            watch.cancel()
            process.kill()


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_older_clients_are_served(version: str) -> None:
    """respond: clients of the older protocol versions; the reply is the content."""
    with wired("case") as wire:
        hello = wire.initialize(version)
        assert hello["protocolVersion"] == version
        assert hello["serverInfo"] == {"name": "counterfoil", "version": "1.2.3"}
        tools = wire.ask("tools/list")["result"]["tools"]
        assert tools[0]["name"] == "respond"
        for prompt in CASE_PROMPTS:
            arguments = {"prompt": prompt, "thread_id": "t1"}
            answer = wire.ask("tools/call", name="respond", arguments=arguments)
        (content,) = answer["result"]["content"]
        assert content["text"].startswith("Report:\n1. Step 1 done.")
        if version >= "2025-06-18":
            assert answer["result"]["structuredContent"]["unknownEntries"] == [*range(19, 31)]
            assert "outputSchema" in tools[0]
        uri = "counterfoil://threads/t1/turns/4/receipt"
        receipt = wire.ask("resources/read", uri=uri)["result"]["contents"][0]
        assert json.loads(receipt["text"])["turn"] == 4
        error = wire.ask("resources/read", uri="counterfoil://threads/..%2f..%2fx")["error"]
        assert error["code"] == types.INVALID_PARAMS


def test_nothing_but_protocol_reaches_standard_output() -> None:
    """respond: prints of imports, warnings and prints of children go to standard error (C134)."""
    with wired("says") as wire:
        wire.initialize("2025-06-18")
        wire.ask("tools/call", name="respond", arguments={"prompt": "a"})
        wire.ask("tools/call", name="check", arguments={"text": "\0damaged"})
    for line in wire.lines:
        assert json.loads(line)["jsonrpc"] == "2.0"


def test_only_a_line_feed_ends_a_frame() -> None:
    """respond: U+2028, U+0085, CR; bytes come one by one; answers are one line (C135)."""
    prompt = "a\u2028b\u2029c\u0085d\x0be\x0c 😀"
    request = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/call",
        "params": {"name": "respond", "arguments": {"prompt": prompt, "thread_id": "t1"}},
    }
    frame = json.dumps(request, ensure_ascii=False).replace('"id": 7,', '"id": 7,\r').encode()
    with wired("echo") as wire:
        wire.initialize("2025-06-18")
        for byte in frame:
            wire.send(bytes([byte]), end=b"")
        wire.send(b"\r")
        answer = wire.read()
        assert answer["id"] == 7
        assert answer["result"]["content"][0]["text"] == f"done {prompt}"
        assert wire.lines[-1].count(b"\n") == 1
        uri = "counterfoil://threads/t1/entries/2"
        shown = wire.ask("resources/read", uri=uri)["result"]["contents"][0]["text"]
        assert json.loads(shown)["text"] == prompt


def test_what_is_no_message_is_answered_by_an_error() -> None:
    """respond: a client that sends damage learns it, and the next request is served (C135)."""
    with wired("says") as wire:
        wire.initialize("2025-06-18")
        for sent, id_, code in (
            (b"garbage", None, types.PARSE_ERROR),
            (b"\xff\xfe", None, types.PARSE_ERROR),
            (b"[]", None, types.INVALID_REQUEST),
            (b'{"jsonrpc":"2.0","id":5,"method":3}', 5, types.INVALID_REQUEST),
            (b'{"jsonrpc":"2.0","id":"x","method":"ping","params":{"a":"\\ud800"}}', "x", -32700),
            (b'{"jsonrpc":"2.0","id":true,"method":3}', None, types.INVALID_REQUEST),
        ):
            wire.send(sent)
            answer = wire.read()
            assert (answer["id"], answer["error"]["code"]) == (id_, code), sent
        wire.send(b"")
        wire.send(b'{"jsonrpc":"2.0","id":99}')
        assert wire.ask("ping")["result"] == {}


def test_a_real_client_is_asked_over_real_pipes() -> None:
    """respond: the SDK's own client over stdio, in the newest version."""

    async def main() -> None:
        parameters = StdioServerParameters(
            command=sys.executable, args=[str(SERVER), "case"], env=ENVIRONMENT
        )
        async with Client(parameters) as client:
            assert client.protocol_version == "2026-07-28"
            for prompt in CASE_PROMPTS:
                result = await client.call_tool("respond", {"prompt": prompt, "thread_id": "t1"})
            assert structured(result)["unknownEntries"] == [*range(19, 31)]
            assert text_of(result).startswith("Report:")

    asyncio.run(asyncio.wait_for(main(), 60))


@pytest.mark.parametrize("signal_", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_end_ends(signal_: int) -> None:
    """respond: it ends at once although its client says nothing more."""
    with wired("says") as wire:
        wire.initialize("2025-06-18")
        wire.process.send_signal(signal_)
        assert wire.process.wait(30) == 0


def test_a_client_that_reads_nothing_more_does_not_keep_the_server() -> None:
    """respond: a closed pipe is an end, and no traceback."""
    with wired("says") as wire:
        wire.initialize("2025-06-18")
        assert wire.process.stdout is not None
        wire.process.stdout.close()
        wire.send({"jsonrpc": "2.0", "id": 8, "method": "tools/list"})
        wire.send({"jsonrpc": "2.0", "id": 9, "method": "tools/list"})
        assert wire.process.stdin is not None
        wire.process.stdin.close()
        assert wire.process.wait(30) == 0
        assert wire.process.stderr is not None
        assert b"Traceback" not in wire.process.stderr.read()
        wire.process.stdout = open(os.devnull, "rb")  # noqa: SIM115, PTH123 - closed by Popen
        wire.process.stdin = open(os.devnull, "wb")  # noqa: SIM115, PTH123 - the same


# --- frames --------------------------------------------------------------------


@given(
    st.lists(st.binary(max_size=20).map(lambda part: part.replace(b"\n", b"\r"))),
    st.integers(1, 9),
)
def test_frames_are_the_same_in_pieces_of_any_size(parts: list[bytes], size: int) -> None:
    """respond: a frame is what stands between two line feeds, whatever the pieces (C135)."""
    content = b"".join(part + b"\n" for part in parts)
    splitter = FrameSplitter()
    found: list[bytes | None] = []
    for start in range(0, len(content), size):
        found.extend(splitter.feed(content[start : start + size]))
    assert found == parts


@pytest.mark.parametrize(("size", "is_kept"), [(9, True), (10, True), (11, False)])
def test_a_frame_past_the_bound_is_skipped_whole(size: int, is_kept: bool) -> None:  # noqa: FBT001
    """respond: a bound is refused, and the frame behind it is read."""
    splitter = FrameSplitter(longest=10)
    for piece in (bytes([byte]) for byte in b"x" * size):
        assert [*splitter.feed(piece)] == []
    assert [*splitter.feed(b"\nnext\n")] == [b"x" * size if is_kept else None, b"next"]


def test_a_frame_past_the_bound_is_answered() -> None:
    """respond: the error says which bound."""
    found = read_frame(None)
    assert isinstance(found, Refused)
    assert found.answer is not None
    assert "16,777,216 bytes" in found.answer.error.message
    assert read_frame(b" \r") == Refused(None)


@given(st.binary())
def test_no_bytes_break_the_reading(content: bytes) -> None:
    """respond: whatever comes is a message, or refused (C135)."""
    found = read_frame(content)
    assert isinstance(found, Refused | types.JSONRPCRequest | types.JSONRPCNotification)


def test_deep_nesting_is_refused() -> None:
    """respond: a frame that is nested past all measure is no message (C135)."""
    found = read_frame(b"[" * 200_000)
    assert isinstance(found, Refused)


def test_half_characters_are_written_replaced() -> None:
    """respond: an answer that holds half a character is still one line of UTF-8 (C134)."""
    message = types.JSONRPCResponse(jsonrpc="2.0", id=1, result={"a": "x\udc80\u2028"})
    frame = write_frame(message)
    assert json.loads(frame.decode())["result"] == {"a": "x\ufffd\u2028"}
    assert frame.count(b"\n") == 1
    assert frames.LONGEST == 16 << 20


def test_streams_over_pipes_end_with_their_input() -> None:
    """respond: the end of input is the end of the messages."""
    reading, theirs = os.pipe()
    ours, writing = os.pipe()
    os.write(theirs, b'{"jsonrpc":"2.0","method":"a"}\nnoise\n{"jsonrpc":"2.0","method":"b"}\n')
    os.close(theirs)

    async def main() -> list[str]:
        streams = stdio_streams(PipeReader(reading), PipeWriter(writing))
        async with streams as (incoming, outgoing):
            found = [item async for item in incoming]
            await outgoing.aclose()
        return [getattr(getattr(item, "message", None), "method", "") for item in found]

    assert run(main()) == ["a", "b"]
    os.close(writing)
    answer = json.loads(os.read(ours, 4096))
    assert answer["error"]["code"] == types.PARSE_ERROR
    os.close(ours)
    os.close(reading)


@pytest.mark.parametrize(
    ("redirection", "code", "said"),
    [
        ("<&-", 1, "standard input or output is closed"),
        (">&-", 1, "standard input or output is closed"),
        ("2>&- </dev/null", 0, ""),
        ("</dev/null", 0, ""),
    ],
)
def test_closed_descriptors_are_told(redirection: str, code: int, said: str) -> None:
    """respond: What was closed is no place for anything; nothing is written to it."""
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$0" "$1" says {redirection}', sys.executable, str(SERVER)],
        capture_output=True,
        env={**os.environ, **ENVIRONMENT},
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, b"")
    assert said in done.stderr.decode()


# --- the extra -----------------------------------------------------------------


def test_a_missing_extra_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """respond: it says what to install."""
    for name in ("counterfoil.faces.mcp.stdio", "counterfoil.faces.mcp.http"):
        monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setitem(sys.modules, name, None)
    services = serving().services
    serves: list[Callable[[], int]] = [
        lambda: serve_stdio(services, ProtocolDescriptors(0, 1)),
        lambda: serve_http(services, "127.0.0.1", 0, "token"),
    ]
    for serve in serves:
        with pytest.raises(UnavailableError) as missing:
            serve()
        assert "pip install 'counterfoil[mcp]'" in str(missing.value)
        assert "\n" not in str(missing.value)
    assert "uvicorn" in str(_missing(ModuleNotFoundError(name="uvicorn")))


def test_the_face_itself_imports_no_extra() -> None:
    """respond: who asks whether there is a server pays for none."""
    code = (
        "import sys, counterfoil.faces.mcp;"
        "print(sorted({'mcp','mcp_types','pydantic','click','rich','textual','openai','starlette'}"
        " & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        env={**os.environ, **ENVIRONMENT},
    )
    assert found.stdout == b"[]\n"
