"""What tells formats apart, and what each can show: data, so that nothing is imported for it.

The evidence matrix (transcripts.md section 2) is from here: "the format cannot show it"
is derived from it and never guessed.
"""

COUNTERFOIL, CLAUDE_CODE, CODEX = "counterfoil", "claude_code", "codex"

CLAUDE_IGNORED = frozenset(
    [
        "progress",
        "file-history-snapshot",
        "file-history-delta",
        "queue-operation",
        "summary",
        "pr-link",
        "last-prompt",
        "mode",
        "permission-mode",
        "atis-latch",
        "attachment",
        "custom-title",
        "agent-name",
        "ai-title",
        "worktree-state",
        "agent-setting",
        "agent-color",
        "tag",
    ]
)
"""Kinds of records of Claude Code that say nothing of what was asked, done or answered."""

CLAUDE_KNOWN = frozenset({"assistant", "user", "system"})
"""Kinds of records of Claude Code that are read."""

CODEX_KINDS = frozenset(
    [
        "session_meta",
        "turn_context",
        "response_item",
        "event_msg",
        "compacted",
        "token_usage_record",
        "world_state",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
    ]
)
"""The kinds of records that a rollout of Codex is known by."""

EVIDENCE: dict[str, dict[str, str]] = {
    COUNTERFOIL: {
        "call-result id": "yes: `call`",
        "outcome flag": "yes: `outcome`",
        "exit code": "yes: `exitStatus`, null where it was not recorded",
        "full output": "yes, up to 1 MiB a stream",
        "approval asked": "yes: `approval_requested`, with the exact text shown",
        "denial": "yes: `policy_decided`, `approval_decided`",
        "sub-agents": "threads of their own with a parent",
        "compaction mark": "yes: `context_condensed`",
        "working directory": "yes",
        "commit": "no",
    },
    CLAUDE_CODE: {
        "call-result id": "yes: `tool_use_id`",
        "outcome flag": "`is_error`: true, false or absent; then an object `toolUseResult` says ok",
        "exit code": "text: `Exit code N` of a failed command; none of one that succeeded",
        "full output": "yes; long ones in `tool-results/*.txt`",
        "approval asked": "no: neither the question nor the answer is on disk",
        "denial": "text of a result marked as an error",
        "sub-agents": "files of their own, inline in older versions",
        "compaction mark": "yes: `compact_boundary`",
        "working directory": "yes",
        "commit": "no: the branch alone",
    },
    CODEX: {
        "call-result id": "yes: `call_id`; `web_search_call` often has none",
        "outcome flag": "the status of a patch; none of other tools",
        "exit code": "`exec_command_end.exit_code` or text of the output; some versions drop it",
        "full output": "cut by the harness at about 10,000 characters",
        "approval asked": "no",
        "denial": "the status `declined` of a patch; text of a command's output",
        "sub-agents": "files of their own, with `parent_thread_id`",
        "compaction mark": "yes: `compacted`",
        "working directory": "yes",
        "commit": "yes: `git.commit_hash` at the start",
    },
}
"""What each format can show."""
