#!/usr/bin/env python3
"""What is due in a run of ./test where it does not look at everything: what changed lately, and a part of the rest in its turn.

usage: due.py "MODULE MODULE..." "MODULE..."...   prints the modules of one of the turns, which the commit's hash chooses, and those of all
                                            that one of the last three commits changed, or that are not committed; all of them outside
                                            of a git checkout and with FLYBALL_WHOLE=1
"""
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def git(*arguments):
    result = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    return result.stdout if result.returncode == 0 else None


def changed_lately():
    """Paths from the root, of the last commits and of what is not committed; None where git cannot tell."""
    depth = git("rev-list", "--count", "HEAD")
    if depth is None or git("rev-parse", "--is-shallow-repository") != "false\n":
        return None
    base = f"HEAD~{min(3, int(depth) - 1)}"
    changed = git("diff", "--name-only", base)
    untracked = git("ls-files", "--others", "--exclude-standard")
    return None if changed is None or untracked is None else set((changed + untracked).split("\n"))


def due_modules(turns, changed, commit):
    """`turns`: lists of modules; `changed`: paths, or None for all."""
    if changed is None:
        return [module for turn in turns for module in turn]
    chosen = int(commit[:7], 16) % len(turns)
    parts = [Path(name).parts for name in changed]
    touched = {part[1] for part in parts if len(part) > 2 and part[0] in ("src", "tests")}
    return [module for i, turn in enumerate(turns) for module in turn if i == chosen or module in touched]


def main():
    whole = os.environ.get("FLYBALL_WHOLE") == "1"
    print(" ".join(due_modules([turn.split() for turn in sys.argv[1:]], None if whole else changed_lately(), git("rev-parse", "HEAD"))), end="")


if __name__ == "__main__":
    main()
