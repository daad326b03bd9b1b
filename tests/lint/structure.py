#!/usr/bin/env python3
"""Sizes and contracts of the C sources.

Functions: at most 60 lines, median at most 16, at most 5 parameters. Files:
at most 500 lines, headers 120. Each .c opens with a paragraph, each header
with a comment, and each public prototype stands below its contract.

The formatter puts a function's name and both its braces in column 0, so a
scan by lines is enough; no parser is needed.
"""
import re
import statistics
import sys
from pathlib import Path

FUNCTION_LINES, FUNCTION_MEDIAN, PARAMETERS = 60, 16, 5
FILE_LINES, HEADER_LINES = 500, 120
# Their parameters are given by the libraries that call or declare them.
GIVEN = {"la_symbind64", "audit_log_acct_message"}
FOLDERS = ("modules", "pamprof", "tests")

complaints = []


def complain(path, line, text):
    complaints.append(f"{path}:{line}: {text}")


def blank(match):
    """Comments and strings become spaces; line numbers stay."""
    return re.sub(r"[^\n]", " ", match.group(0))


def code_of(text):
    return re.sub(
        r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
        blank, text, flags=re.S)


def count_parameters(text):
    """text begins at the parenthesis of a parameter list."""
    depth, count, body = 0, 1, ""
    for c in text:
        depth += (c == "(") - (c == ")")
        if depth == 0:
            break
        if depth == 1 and c == ",":
            count += 1
        body += c
    return 0 if body.strip("( \t\n") in ("void", "") else count


def functions(lines):
    """Yields (name, first line, last line, parameters) of definitions."""
    for end, line in enumerate(lines):
        if line.rstrip() != "}":
            continue
        begin = end
        while begin > 0 and lines[begin].rstrip() != "{":
            begin -= 1
        name = begin - 1
        while name >= 0 and not re.match(r"\w[\w \*]*\(", lines[name]):
            if not lines[name].strip() or lines[name][0] in "{}#":
                name = -1
            name -= 1
        if name < 0:
            continue
        head = "\n".join(lines[name:begin])
        yield (re.search(r"(\w+)\s*\(", head).group(1), name + 1, end + 1,
               count_parameters(head[head.index("("):]))


def check_functions(path, lines, lengths):
    for name, first, last, parameters in functions(lines):
        length = last - first + 1
        lengths.append(length)
        if length > FUNCTION_LINES:
            complain(path, first, f"{name}: {length} lines")
        if parameters > PARAMETERS and name not in GIVEN:
            complain(path, first, f"{name}: {parameters} parameters")


def has_contract(lines, index):
    """A comment ends above, in the same group of lines."""
    while index > 0 and lines[index - 1].strip():
        index -= 1
        if lines[index].rstrip().endswith("*/"):
            return True
    return False


def check_contracts(path, text, code):
    lines, code_lines = text.split("\n"), code.split("\n")
    depth = 0
    for index, line in enumerate(code_lines):
        found = re.match(r"(?!typedef|static|_Static|enum|return|#)"
                         r"[\w \*]+?\b(\w+)\(", line)
        if depth == 0 and found and not has_contract(lines, index):
            complain(path, index + 1, f"{found.group(1)}: no contract above")
        depth += line.count("{") - line.count("}")


def check(path, lengths):
    text = path.read_text()
    code = code_of(text)
    lines = text.count("\n")
    limit = HEADER_LINES if path.suffix == ".h" else FILE_LINES
    if lines > limit:
        complain(path, lines, f"{lines} lines; at most {limit}")
    opening = re.match(r"/\*\n \* \S.*?\*/\n", text, re.S)
    if not opening:
        complain(path, 1, "does not open with a paragraph that says why")
    check_functions(path, code.split("\n"), lengths)
    if path.suffix == ".h":
        check_contracts(path, text, code)


def main():
    lengths = []
    for folder in FOLDERS:
        for path in sorted(Path(folder).rglob("*.[ch]")):
            check(path, lengths)
    median = statistics.median(lengths)
    if median > FUNCTION_MEDIAN:
        complaints.append(f"median function is {median} lines long; "
                          f"at most {FUNCTION_MEDIAN}")
    print("\n".join(complaints), file=sys.stderr, end="\n" * bool(complaints))
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
