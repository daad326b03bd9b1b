#!/usr/bin/env python3
"""The manual and the program agree.

Each command has a subsection in pamprof.1 that lists each of its options
with its argument, and no other; mandoc finds no fault with any page.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(os.environ.get("BUILD", "build"), "pamprof")
PAGE = Path("pamprof/pamprof.1")

complaints = []


def output(*words):
    return subprocess.run([PROGRAM, *words], check=True, capture_output=True,
                          text=True).stdout


def commands():
    listing = output("--help")
    return re.findall(r"^  (\w+) ", listing, re.M)


def options(command):
    """{(letter or "", name, argument or "")} as --help has them."""
    found = re.findall(r"^  (?:-(\w), |    )--([\w-]+)(?: (\S+))?(?:  |\n|$)",
                       output(command, "--help"), re.M)
    return {row for row in found if row[1] != "help"}


def documented(command, text):
    """The same from ".It Fl n , Fl \\-runs Ar N" below ".Ss command"."""
    section = re.search(rf"^\.Ss {command}\b.*?\n(.*?)(?=^\.S[sh] |\Z)", text,
                        re.M | re.S)
    if not section:
        complaints.append(f"{PAGE}: no subsection \".Ss {command}\"")
        return None
    found = re.findall(r"^\.It (?:Fl (\w) , )?Fl (?:\\-|-)([\w\\-]+)"
                       r"(?: Ar (\S+))?$", section.group(1), re.M)
    return {(letter, name.replace("\\", ""), argument)
            for letter, name, argument in found}


def compare(command, text):
    real, written = options(command), documented(command, text)
    if written is None:
        return
    for row in sorted(real ^ written):
        where = "the program" if row in written else f"{PAGE}"
        letter, name, argument = row
        complaints.append(f"{command} -{letter} --{name} {argument}: "
                          f"not in {where}")


def check_mandoc(page):
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page],
                          capture_output=True, text=True)
    complaints.extend(lint.stdout.splitlines())


def main():
    text = PAGE.read_text()
    for command in commands():
        compare(command, text)
    for page in [*Path("pamprof").glob("*.[1-9]"),
                 *Path("modules").glob("*.[1-9]")]:
        check_mandoc(page)
    print("\n".join(complaints), file=sys.stderr, end="\n" * bool(complaints))
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
