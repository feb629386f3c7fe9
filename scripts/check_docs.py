#!/usr/bin/env python3
"""Checks the documentation against what is there: every verb and flag of `attune --help` is described in docs/cli.md and
nothing else is, every relative link in a Markdown file leads somewhere, and code that a page quotes from a file
(```cpp under <!-- file: PATH -->) is that file, word by word."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
QUOTE = re.compile(r"<!-- file: (\S+) -->\n```\w*\n(.*?)```\n", re.DOTALL)
COMMON = {"--help", "--version"}


def help_text(attune, *words):
    return subprocess.run([str(attune), *words, "--help"], capture_output=True, text=True, check=True).stdout


def verbs_of(attune):
    """Verbs are the indented words under the headings of the top help, between the options and the exit codes."""
    text = help_text(attune).split("Exit codes:")[0]
    return [match for match in re.findall(r"^  ([a-z][a-z-]*) {2,}\S", text, re.MULTILINE)]


def flags_of(attune, verb):
    """The flags of a verb and of the commands below it, which its help lists under 'Commands:'."""
    text = help_text(attune, verb)
    commands = re.findall(r"^  ([a-z][a-z-]*) {2,}\S", text.partition("\nCommands:\n")[2], re.MULTILINE)
    texts = [text] + [help_text(attune, verb, command) for command in commands]
    return set(FLAG.findall("\n".join(texts))) - COMMON


def sections_of(page):
    """{verb: text} of the sections `## attune VERB`."""
    parts = re.split(r"^## attune ([a-z-]+)$", page, flags=re.MULTILINE)
    return {verb: re.split(r"^## ", text, flags=re.MULTILINE)[0] for verb, text in zip(parts[1::2], parts[2::2])}


def check_cli(attune):
    """Differences between --help and docs/cli.md."""
    sections = sections_of((ROOT / "docs/cli.md").read_text())
    verbs = verbs_of(attune)
    if not verbs:
        yield "found no verbs in 'attune --help'"
    for verb in sorted(set(verbs) ^ set(sections)):
        yield f"docs/cli.md and 'attune --help' disagree about the verb '{verb}'"
    for verb in sorted(set(verbs) & set(sections)):
        known = flags_of(attune, verb)
        written = set(FLAG.findall(sections[verb])) - COMMON
        for flag in sorted(known - written):
            yield f"docs/cli.md does not describe '{flag}' of 'attune {verb}'"
        for flag in sorted(written - known):
            yield f"docs/cli.md describes '{flag}', which 'attune {verb}' does not have"


def check_links():
    pages = [path for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]]
    for page in pages:
        for target in LINK.findall(page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                yield f"{page.relative_to(ROOT)} links to '{target}', which does not exist"


def check_quotes():
    for page in ROOT.glob("docs/**/*.md"):
        text = page.read_text()
        quotes = QUOTE.findall(text)
        if len(quotes) != text.count("<!-- file:"):
            yield f"{page.relative_to(ROOT)} names a file to quote without a block of code below it"
        for name, code in quotes:
            source = ROOT / name
            if not source.exists():
                yield f"{page.relative_to(ROOT)} quotes '{name}', which does not exist"
            elif source.read_text() != code:
                yield f"{page.relative_to(ROOT)} quotes '{name}', but the file reads otherwise"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attune", type=Path, default=ROOT / "build/release/attune")
    options = parser.parse_args()
    problems = [[*check_cli(options.attune)], [*check_links()], [*check_quotes()]]
    for problem in sum(problems, []):
        print(problem)
    failed = sum(1 for group in problems if group)
    print(f"{len(problems) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
