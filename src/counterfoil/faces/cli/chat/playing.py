"""A conversation whose prompts are known before: told like any other, with its prompts."""

import asyncio
from collections.abc import Sequence

from counterfoil.engine.agent import Agent
from counterfoil.engine.performing import NobodyApproves
from counterfoil.engine.thread_parts import Opening
from counterfoil.faces.cli.chat.lines import has_missing
from counterfoil.faces.cli.chat.talk import Manner, begin
from counterfoil.faces.cli.chat.voice import Voice

OK, FOUND, CANNOT_TELL = 0, 1, 3


def play(agent: Agent, prompts: Sequence[str], color: str) -> int:
    """Say `prompts` in a new thread; return the exit code, as of a conversation in a pipe."""
    return asyncio.run(_play(agent, prompts, Voice(color)))


async def _play(agent: Agent, prompts: Sequence[str], voice: Voice) -> int:
    manner = Manner(source="person", approver=NobodyApproves())
    talk = await begin(agent, voice, manner, Opening(face="cli"))
    code = OK
    try:
        for prompt in prompts:
            voice.tell()
            voice.tell((f"> {prompt}", "bold"))
            result = await talk.say(prompt)
            if result.outcome != "ok":
                return CANNOT_TELL
            code = max(code, FOUND if has_missing(result) else OK)
    finally:
        await talk.close()
    return code
