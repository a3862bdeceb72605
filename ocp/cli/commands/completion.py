"""Completion of the command line in a shell: commands, names of problems, flags.

What is completed stands in the script, which is made anew after an update: a shell that asked the
program itself would wait for it at every key. Flags are read from the help of each command, and of
each problem, so that none is left out.
"""

import argparse
import io
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout

import ocp.cli.main as entry
from ocp.cli.commands.list_problems import tasks
from ocp.cli.exit_status import DONE
from ocp.cli.flags import read_line
from ocp.cli.main import VERSIONED, WORDS

FLAG = re.compile(r"--[a-z][\w.-]*")
ENTRY = re.compile(r"^  +(--?\w.*?)(?:  |$)", re.MULTILINE)  # of a help, but for its words
Flags = Mapping[str, Sequence[str]]


def command(arguments: Sequence[str]) -> int:
    """Print the script by which a shell completes commands, problems and flags."""
    parser = argparse.ArgumentParser(
        prog="ocp completion",
        description=command.__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=tuple(SHELLS), help="which one")
    shell = read_line(parser, arguments).shell
    names = list(tasks())
    known = {word: _flags([word]) for word in WORDS if word != "run"}
    known |= {f"run {name}": _flags(["run", name]) for name in names}
    print(SHELLS[shell](names, known), end="")
    return DONE


def _flags(words: Sequence[str]) -> list[str]:
    """Return the flags that the help of a command lists."""
    page = io.StringIO()
    with redirect_stdout(page):
        entry.command([*words, "--help"])
    entries = ENTRY.findall(page.getvalue())
    return list(dict.fromkeys(flag for entry in entries for flag in FLAG.findall(entry)))


def shared_flags(known: Flags) -> list[str]:
    """Return the flags that `ocp run` has for every problem, a file of one's own included."""
    every = [flags for words, flags in known.items() if words.startswith("run ")]
    return [flag for flag in every[0] if all(flag in flags for flags in every)]


def of_bash(names: Sequence[str], known: Flags) -> str:
    """Return the script of bash."""
    cases = "\n".join(
        f'    "{words}") flags="{" ".join(flags)}" ;;' for words, flags in known.items()
    )
    return f"""\
# completion of ocp in bash
_ocp() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" first="${{COMP_WORDS[1]}}" flags=""
  if (( COMP_CWORD == 1 )); then
    COMPREPLY=($(compgen -W "{" ".join([*WORDS, *VERSIONED, "--help"])}" -- "$word"))
    return
  fi
  case "$first" in
    run) first="run ${{COMP_WORDS[2]}}"; flags="{" ".join(shared_flags(known))}" ;;
  esac
  case "$first" in
{cases}
  esac
  case "$first:$COMP_CWORD:$word" in
    *:-*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
    compare:*|study:2:*|run\\ *:2:*) COMPREPLY=($(compgen -W "{" ".join(names)}" -- "$word")) ;;
  esac
}}
complete -o default -F _ocp ocp
"""


def of_zsh(names: Sequence[str], known: Flags) -> str:
    """Return the script of zsh."""
    cases = "\n".join(
        f'    "{words}") flags=({" ".join(flags)}) ;;' for words, flags in known.items()
    )
    return f"""\
#compdef ocp
# completion of ocp in zsh
_ocp() {{
  local first="${{words[2]}}"
  local -a flags
  if (( CURRENT == 2 )); then
    compadd -- {" ".join([*WORDS, *VERSIONED, "--help"])}
    return
  fi
  if [[ "$first" == run ]]; then
    first="run ${{words[3]}}"
    flags=({" ".join(shared_flags(known))})
  fi
  case "$first" in
{cases}
  esac
  case "$first:$CURRENT:${{words[CURRENT]}}" in
    *:-*) compadd -- $flags; return ;;
    compare:*|study:3:*|run\\ *:3:*) compadd -- {" ".join(names)} ;;
  esac
  _files
}}
if [[ "${{funcstack[1]}}" == _ocp ]]; then _ocp "$@"; else compdef _ocp ocp; fi
"""


def of_fish(names: Sequence[str], known: Flags) -> str:
    """Return the script of fish."""
    lines = ["# completion of ocp in fish"]
    first = "complete -c ocp -n __fish_use_subcommand"
    lines += [f"{first} -f -a {word} -d '{words}'" for word, (_, words) in WORDS.items()]
    lines += [f"{first} -l {flag.removeprefix('--')}" for flag in (*VERSIONED, "--help")]
    seen = "__fish_seen_subcommand_from"
    every = " ".join(names)
    for where in (f"{seen} run study; and not {seen} {every}", f"{seen} compare"):
        lines.append(f"complete -c ocp -n '{where}' -a '{every}'")
    common = shared_flags(known)
    for flag in common:
        lines.append(f"complete -c ocp -n '{seen} run' -l {flag.removeprefix('--')}")
    for words, flags in known.items():
        where = "; and ".join(f"{seen} {word}" for word in words.split())
        own = [flag for flag in flags if not (words.startswith("run ") and flag in common)]
        lines += [f"complete -c ocp -n '{where}' -l {flag.removeprefix('--')}" for flag in own]
    return "\n".join(lines) + "\n"


SHELLS: dict[str, Callable[[Sequence[str], Flags], str]] = {
    "bash": of_bash,
    "zsh": of_zsh,
    "fish": of_fish,
}
EPILOG = """\
bash:  ocp completion bash > ~/.local/share/bash-completion/completions/ocp
zsh:   ocp completion zsh > DIR/_ocp, with DIR in $fpath before compinit
fish:  ocp completion fish > ~/.config/fish/completions/ocp.fish
"""
