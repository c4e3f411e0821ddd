"""The codes of findings: stable, each with what it means, an example, and how to mend it.

The reference pages of the documentation and the SARIF rules are made from this table.
A code never changes its meaning; a new one is a minor change (knowledge.md section 4).
"""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Code:
    """One code: how bad it is, what it says in a sentence, and the page about it."""

    severity: Severity
    sentence: str
    meaning: str
    example: str
    fix: str


CODES: dict[str, Code] = {
    "malformed-citation": Code(
        "error",
        "a citation is no handle",
        "An item of `cites` or `contradicts` is no text, is blank, or reads like a handle and is"
        " none: an origin without an id, a broken `knowledge-ref:v1:` form, an id that no page can"
        " have. The other citations of the page are checked all the same.",
        '---\nid: fit\ncites:\n  - 42\n  - "here::"\n---\n',
        "Write the id of a page, alone or behind an origin: `x`, `here::x`, `inherited:run-7::x`,"
        ' `shared::x`. Quote an id that looks like a number: `"42"`.',
    ),
    "missing-citation": Code(
        "error",
        "a citation names a page that does not exist",
        "No page that the run can see has this id; with an origin, none of that origin. Ids are"
        " compared exactly, letter case included; titles and aliases are not handles.",
        "---\nid: fit\ncites: slope-of-the-curve\n---\n",
        "Correct the id, write the page, or remove the citation. Nothing near is ever taken.",
    ),
    "ambiguous-citation": Code(
        "error",
        "a citation names several pages",
        "More than one visible page has this id: in two runs of the chain, in a run and the shared"
        " store, or twice in one store. None of them is preferred.",
        "---\nid: report\ncites: slope\n---\n",
        "Write one of the qualified handles that the finding lists. Where two pages of one origin"
        " have the id, no handle tells them apart: give one of them another id.",
    ),
    "self-citation": Code(
        "error",
        "a page cites itself",
        "The page itself is among the pages that the citation can mean. The finding says so too"
        " when other pages have the id, and lists their handles.",
        "---\nid: slope\ncites: slope\n---\n",
        "Remove the citation, or qualify it so that it means the other page.",
    ),
    "needs-run-context": Code(
        "info",
        "a reference can be checked only within a run",
        "The store was checked alone; `shared::` and `inherited:` references mean pages of other"
        " stores. They were neither passed nor called broken.",
        "---\nid: fit\ncites: shared::units\n---\n",
        "Check the store as a run: `counterfoil kb lint --runs DIR --shared DIR --run RUN`.",
    ),
    "broken-link": Code(
        "warning",
        "a link names no page",
        "The target of a wikilink is no handle of a page, and no page is called by it: not by id,"
        " title, alias or file name, and not by path.",
        "See [[the curve of last year]].\n",
        "Correct the target, write the page, or add the name to the page's `aliases`.",
    ),
    "ambiguous-link": Code(
        "error",
        "a link names several pages",
        "Several visible pages have this id, or are called by this name. The later one is not"
        " preferred, nor the nearer.",
        "See [[readme]].\n",
        "Link to the id, to the path (`[[topics/readme]]`), or to a qualified handle.",
    ),
    "missing-source": Code(
        "error",
        "a source or an anchor of it is not registered",
        "`sources`, or a footnote that the page does not define, names an id that the store's"
        " registry does not have, or an anchor that the source does not have.",
        "---\nid: fit\nsources: [paper-7]\n---\n\nAs measured.[^paper-7#l120]\n",
        "Import the source (`counterfoil kb add-source`), correct the id, or define the footnote in"
        " the page: `[^1]: …`.",
    ),
    "broken-contradiction": Code(
        "error",
        "a contradiction does not name one other page",
        "`contradicts` names no page, several pages, or the page itself.",
        "---\nid: fit\ncontradicts: old-fit\n---\n",
        "Write the handle of exactly one other page.",
    ),
    "cites-invalidated": Code(
        "warning",
        "what a page rests on was taken back",
        "The page cites a page that is invalidated, or one that leads there through citations; the"
        " finding shows the way. It stands at the citation where the shortest way begins. Links and"
        " citations that do not resolve lead nowhere.",
        "---\nid: report\ncites: slope\n---\n",
        "Look at why the page was taken back; cite what replaced it, or say in this page what is"
        " left of it.",
    ),
    "duplicate-page-id": Code(
        "error",
        "several pages of a store have one id",
        "Every reference to the id is ambiguous, and no handle can tell the pages apart. Ids made"
        " from paths can meet as well: `a/b.md` and `a-b.md`.",
        "---\nid: slope\n---\n",
        "Give each page an id of its own.",
    ),
    "id-case-collision": Code(
        "error",
        "two ids of a store differ only in letter case",
        "`Alpha` and `alpha` are two pages here, but one file name where letter case is folded, and"
        " easily taken for one another.",
        "---\nid: Alpha\n---\n",
        "Give one of the pages another id.",
    ),
    "duplicate-title": Code(
        "warning",
        "several pages of a store have one title",
        "A link by this title is ambiguous. Titles are compared as names of links are: letter case"
        " and kinds of white space make no difference.",
        "---\nid: b\ntitle: The End\n---\n",
        "Give each page a title of its own.",
    ),
    "duplicate-source-hash": Code(
        "warning",
        "several sources have the same content",
        "The registry has one content under several ids, so that pages which rest on one source"
        " seem to rest on several.",
        "---\nid: fit\nsources: [paper-7, paper-7-copy]\n---\n",
        "Keep one of the ids and change the pages that name the others.",
    ),
    "orphan": Code(
        "info",
        "no other page refers to this one",
        "No link, citation or contradiction of another visible page resolves to it. Sources in"
        " common are no reference, nor are the scaffolds `index.md` and `log.md`.",
        "---\nid: a\n---\n",
        "Refer to the page from where a reader would look for it; or let it be: it is no error.",
    ),
    "no-outlinks": Code(
        "info",
        "the page refers to no other page",
        "It writes no link, citation or contradiction, resolved or not, but perhaps to itself.",
        "---\nid: a\n---\n\nWords.\n",
        "Cite what the page rests on; or let it be: it is no error.",
    ),
    "bad-frontmatter": Code(
        "error",
        "the frontmatter cannot be read",
        "The block is not closed, is no YAML 1.2, has a key twice, an unknown tag, a tab as"
        " indentation, too many aliases, or is no mapping. The page is still there, by its path;"
        " none of its fields is used.",
        "---\nid: a\nid: b\n---\n",
        "Correct the YAML at the line given.",
    ),
    "not-utf8": Code(
        "error",
        "bytes of the page are not UTF-8",
        "The page was read with each such byte replaced, so that the rest could be checked.",
        "caf\\xe9\n",
        "Save the file as UTF-8.",
    ),
    "malformed-field": Code(
        "error",
        "a field is not of its type",
        "`id`, `title` or `kind` is no text, `tags` or `aliases` hold something else than texts,"
        " or are one text with a comma, which is neither split nor taken.",
        "---\nid: a\ntags: slopes, curves\n---\n",
        'Write a list: `tags: [slopes, curves]`; quote numbers that are texts: `"2024"`.',
    ),
    "malformed-source": Code(
        "error",
        "an item of `sources` is no source id",
        "The item is no text, or blank. The others are checked all the same.",
        "---\nid: a\nsources: [7]\n---\n",
        'Write the id as a text: `"7"`.',
    ),
    "invalid-invalidation": Code(
        "error",
        "`invalidation` is not of its form",
        "It needs `verdict: contradicted`, `observedAt` (an RFC 3339 time with its zone) and a"
        " `reason`; `evidencePath` and `grader` are not blank. As it stands, the page counts as not"
        " invalidated.",
        "---\nid: a\ninvalidation: {verdict: contradicted, observedAt: 2026-02-03}\n---\n",
        "Complete the field.",
    ),
    "ungradeable-evidence": Code(
        "error",
        "the claim's evidence cannot be graded",
        "`rung` is no whole number from 1 to 5; or it is 4 or 5 and there is no `check`, the check"
        " prints a constant or holds its own answer, or `expect` is blank or longer than a line.",
        "---\nid: a\nrung: 4\ncheck: echo slope 0.913\nexpect: slope 0.913\n---\n",
        "Give a command that computes the value, and the line that it must print.",
    ),
    "missing-evidence-path": Code(
        "warning",
        "evidence of rung 4 or 5 names no file",
        "Whoever looks at the claim later cannot see what was seen.",
        "---\nid: a\nrung: 4\ncheck: python fit.py\nexpect: slope 0.913\n---\n",
        "Keep the output and name it: `evidencePath: runs/fit.log`.",
    ),
    "nonportable-evidence": Code(
        "warning",
        "evidence names an absolute path",
        "`check` or `evidencePath` holds a path of one machine; nobody else can follow it.",
        "---\nid: a\nrung: 2\ncheck: python /home/ann/fit.py\n---\n",
        "Write paths relative to the store.",
    ),
    "coerced-id": Code(
        "warning",
        "an id is written as a number, a boolean or a date",
        "Readers of YAML disagree about such a value: `007` is seven, `2024-12-19` a date. Its"
        " written text was taken.",
        "---\nid: 2024-12-19\n---\n",
        'Quote it: `id: "2024-12-19"`.',
    ),
    "comment-in-field": Code(
        "warning",
        "a field is empty because `#` begins a comment",
        "In YAML, a `#` after white space begins a comment, so that the field has no value.",
        "---\nid: a\ncites: #176\n---\n",
        'Quote the value: `cites: "#176"`; or move the comment to a line of its own.',
    ),
    "bad-silence": Code(
        "warning",
        "a comment that silences findings gives no reason, or no code that there is",
        "A finding is silenced only by its code, and with a reason that a reader can weigh.",
        "<!-- counterfoil: allow broken-link -->\n",
        "Write `<!-- counterfoil: allow broken-link: the page is written next week -->`.",
    ),
    "skipped-link": Code(
        "warning",
        "a symbolic link, or another special file, was not followed",
        "What it points to is not part of the store, so that no reference finds it.",
        "knowledge/leak.md -> ../outside/secret.md\n",
        "Copy the file into the store, or remove the link.",
    ),
    "unreadable-page": Code(
        "error",
        "a file could not be read",
        "The system refused to open or read it. The other pages were checked; what refers to this"
        " one cannot be told.",
        "knowledge/locked.md\n",
        "Make the file readable, then check again.",
    ),
    "no-literal-id": Code(
        "error",
        "the page does not write its id",
        "Only `validate --strict` says so: the id was made from the path, so that moving the file"
        " breaks every reference to the page.",
        "---\ntitle: Slopes\n---\n",
        "Write the id in the frontmatter: `id: slopes`.",
    ),
    "no-literal-title": Code(
        "error",
        "the page does not write its title",
        "Only `validate --strict` says so: the title was taken from a heading or from the file's"
        " name.",
        "---\nid: slopes\n---\n\n# Slopes\n",
        "Write the title in the frontmatter: `title: Slopes`.",
    ),
    "bad-registry": Code(
        "error",
        "the registry of sources cannot be read",
        "`.counterfoil/sources.json` is not of its form, so that references to sources could not be"
        " checked. They were not passed either.",
        '{"schema": 1, "sources": [\n',
        "Restore the file; its copies of the sources stand in `raw/sources/`.",
    ),
    "missing-ancestor-store": Code(
        "error",
        "the store of an ancestor is missing",
        "The lineage of the run names an ancestor that has no store, so that what it would show is"
        " not known. The other stores were checked.",
        '{"run": "r2", "parent": "r1"}\n',
        "Bring the ancestor's store back, or correct the record.",
    ),
    "lineage-conflict": Code(
        "error",
        "a record of lineage names another run, or cannot be read",
        'The run\'s parent is not known; that is never taken for "no parent". Ancestors up to there'
        " were checked.",
        '{"run": "r3", "parent": null}\n',
        "Restore the record from where it was written; see the run's history.",
    ),
    "lineage-cycle": Code(
        "error",
        "a run is its own ancestor",
        "The record at which the finding stands closes the circle.",
        '{"run": "r1", "parent": "r1"}\n',
        "Correct the record of one of the runs.",
    ),
}
"""Every code, in the order of knowledge.md section 4."""
