#!/usr/bin/env python3
"""Each module exports exactly what its map says.

What a module exports more than that could be found by the program it is
loaded into, and what it exports less is silently not called.
"""
import os
import re
import subprocess
import sys
from pathlib import Path


def exported(module):
    listing = subprocess.run(
        ["nm", "--dynamic", "--defined-only", "--extern-only",
         "--format=posix", module],
        check=True, capture_output=True, text=True).stdout
    return {line.split()[0].split("@")[0] for line in listing.splitlines()}


def mapped(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    names = re.search(r"global:(.*?)local:", text, re.S).group(1)
    return set(re.findall(r"\w+", names))


def main():
    wrong = 0
    folder = Path(os.environ.get("BUILD", "build"), "modules")
    for module in sorted(folder.glob("*.so")):
        path = Path("modules", module.stem + ".map")
        if not path.exists():
            print(f"{path} is missing", file=sys.stderr)
            wrong += 1
            continue
        for name in sorted(exported(module) ^ mapped(path)):
            print(f"{path}: {name} is not both exported and in the map",
                  file=sys.stderr)
            wrong += 1
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
