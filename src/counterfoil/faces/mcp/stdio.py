"""The server over standard input and output: one client, until it closes its end.

Reading and writing are done in threads that end with the process, so that neither a
client that says nothing nor one that reads nothing keeps it from ending.
"""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from counterfoil.faces.mcp.descriptors import ProtocolDescriptors
from counterfoil.faces.mcp.frames import FrameSplitter, Refused, read_frame, write_frame
from counterfoil.faces.mcp.server import McpFace
from counterfoil.faces.mcp.services import McpServices

Incoming: TypeAlias = SessionMessage | Exception

_PIECE = 1 << 16
_AHEAD = 64
"""Frames that are read before they are taken; then the client waits."""


def run_stdio(services: McpServices, descriptors: ProtocolDescriptors) -> int:
    """Serve until the client closes its end, or the process is told to end."""
    asyncio.run(_serve(services, descriptors))
    return 0


async def _serve(services: McpServices, descriptors: ProtocolDescriptors) -> None:
    face, reader = McpFace(services), PipeReader(descriptors.incoming)
    for told in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(told, reader.end)
    try:
        async with stdio_streams(reader, PipeWriter(descriptors.outgoing)) as (incoming, outgoing):
            options = face.server.create_initialization_options()
            await face.server.run(incoming, outgoing, options)
    finally:
        await face.close()


@asynccontextmanager
async def stdio_streams(
    reader: "PipeReader", pipe: "PipeWriter"
) -> AsyncGenerator[
    tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]
]:
    """Have messages flow from and to the client, as the SDK wants them."""
    arrived, incoming = anyio.create_memory_object_stream[Incoming](0)
    outgoing, leaving = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_receive, reader, arrived, pipe)
        tasks.start_soon(_send, leaving, pipe)
        try:
            yield incoming, outgoing
        finally:
            for stream in (arrived, incoming, outgoing):
                stream.close()


async def _receive(
    reader: "PipeReader", arrived: MemoryObjectSendStream[Incoming], pipe: "PipeWriter"
) -> None:
    splitter = FrameSplitter()
    async with arrived:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            while piece := await reader.read():
                for frame in splitter.feed(piece):
                    found = read_frame(frame)
                    if not isinstance(found, Refused):
                        await arrived.send(SessionMessage(found))
                    elif found.answer is not None:
                        await pipe.write(write_frame(found.answer))


async def _send(leaving: MemoryObjectReceiveStream[SessionMessage], pipe: "PipeWriter") -> None:
    async with leaving:
        with suppress(OSError):  # nobody reads any more; the end of input follows
            async for message in leaving:
                await pipe.write(write_frame(message.message))


class PipeReader:
    """The pieces that a descriptor gives, read by a thread of its own."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self._places = Semaphore(_AHEAD)
        Thread(target=self._run, name="mcp-input", daemon=True).start()

    async def read(self) -> bytes:
        """Return the next piece; an empty one is the end."""
        piece = await self._pieces.get()
        self._places.release()
        return piece

    def end(self) -> None:
        """Take no more than what was read: as if the client had closed its end."""
        self._pieces.put_nowait(b"")

    def _run(self) -> None:
        piece = b"?"
        with suppress(RuntimeError):  # the loop is closed: nobody wants more
            while piece:
                self._places.acquire()
                try:
                    piece = os.read(self._descriptor, _PIECE)
                except OSError:
                    piece = b""
                self._loop.call_soon_threadsafe(self._pieces.put_nowait, piece)


class PipeWriter:
    """Writes whole frames to a descriptor, one after the other, in a thread of its own."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._frames: SimpleQueue[tuple[bytes, asyncio.Future[None]]] = SimpleQueue()
        Thread(target=self._run, name="mcp-output", daemon=True).start()

    async def write(self, frame: bytes) -> None:
        """Write `frame`; raise `OSError` where nobody reads."""
        written: asyncio.Future[None] = self._loop.create_future()
        self._frames.put((frame, written))
        await written

    def _run(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            while True:
                frame, written = self._frames.get()
                error = self._written(frame)
                self._loop.call_soon_threadsafe(_settle, written, error)

    def _written(self, frame: bytes) -> OSError | None:
        rest = memoryview(frame)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError as error:
            return error
        return None


def _settle(written: "asyncio.Future[None]", error: OSError | None) -> None:
    if written.done():
        return
    if error is None:
        written.set_result(None)
    else:
        written.set_exception(error)
