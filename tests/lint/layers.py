#!/usr/bin/env python3
"""Direction of includes.

modules/ runs in other people's processes and knows nothing of pamprof/.
Inside pamprof/ a folder includes only what lies below it in the table.
"""
import re
import sys
from pathlib import Path

# Of modules/, the formats and what writes records; never an observer.
SHARED = {"record.h", "record_kinds.h", "ring.h", "ring_header.h", "call.h", "emit.h",
          "checksum.h", "patch.h", "trial.h"}
# A folder, and the folders it may include besides itself.
BELOW = {
    "base": set(),
    "trace": {"base"},
    "stat": {"base", "trace"},
    "render": {"base", "trace", "stat"},
    "source": {"base", "trace"},
    "run": {"base", "trace", "source"},
    "install": {"base", "trace", "source"},
    "verb": {"base", "trace", "stat", "render", "source", "run", "install"},
}

complaints = []


def allowed(path, target):
    """Both relative to the top of the tree."""
    if path.parts[0] == "modules":
        return target.parts[0] == "modules"
    if target.parts[0] == "tests":
        return path.parts[0] == "tests"
    if path.parts[0] == "tests":
        return True
    if target.parts[0] == "modules":
        return target.name in SHARED
    if len(path.parts) == 2:  # main.c, command.c
        return True
    if len(target.parts) == 2:  # command.h: option rows
        return target.name == "command.h"
    folder, other = path.parts[1], target.parts[1]
    return other == folder or other in BELOW[folder]


def main():
    top = Path.cwd()
    for folder in ("modules", "pamprof", "tests"):
        for path in sorted(Path(folder).rglob("*.[ch]")):
            for number, line in enumerate(path.read_text().split("\n"), 1):
                found = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
                if not found:
                    continue
                target = (path.parent / found.group(1)).resolve()
                if not target.is_relative_to(top):
                    complaints.append(f"{path}:{number}: outside the tree")
                elif not allowed(path, target.relative_to(top)):
                    complaints.append(f"{path}:{number}: must not include "
                                      f"{target.relative_to(top)}")
    print("\n".join(complaints), file=sys.stderr, end="\n" * bool(complaints))
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
