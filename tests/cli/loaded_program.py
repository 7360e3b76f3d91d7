"""The program, loaded once: each line on standard input has it run in forked children, as ``running.Loaded`` asks.

Children end as any program does, with the last flush of their streams; their exit codes are what is printed.
"""

from __future__ import annotations

import json
import os
import signal
import sys

# what commands load when they are called
import cayleygsp.engine.recurrence_loops
import cayleygsp.engine.threads
import cayleygsp.filters
import cayleygsp.report.graph
import cayleygsp.report.zoom  # noqa: F401
from cayleygsp.cli import main

STREAMS = ("stdin", "stdout", "stderr")


def lost_output(how):
    """Return a standard output that takes nothing: a full device, or a pipe that nobody reads."""
    if how == "full":
        return os.open("/dev/full", os.O_WRONLY)
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def run_child(arguments, files, request):
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.closerange(3, 64)
    for name in request["closed"]:  # as Python finds streams that are closed when it starts
        os.close(STREAMS.index(name))
        setattr(sys, name, None)
        setattr(sys, f"__{name}__", None)
    if request["encoding"] is not None:
        sys.stdout.reconfigure(encoding=request["encoding"], errors="strict")
    os.chdir(request["folder"])
    exec(request["before"], {})
    sys.argv = ["cayleygsp", *arguments]
    sys.exit(main())


def run_all(request):
    """Run calls that are joined by pipes; return their exit codes."""
    given, children = os.open(request["stdin"], os.O_RDONLY), []
    errors = os.open(request["stderr"], os.O_WRONLY)
    for i, arguments in enumerate(request["calls"]):
        if i + 1 < len(request["calls"]):
            following, taken = os.pipe()
        elif request["lost"] is not None:
            following, taken = None, lost_output(request["lost"])
        else:
            following, taken = None, os.open(request["stdout"], os.O_WRONLY)
        child = os.fork()
        if child == 0:
            run_child(arguments, (given, taken, errors), request)
        children.append(child)
        os.close(given)
        os.close(taken)
        given = following
    os.close(errors)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell takes from background jobs
    main(["info", "@ring:8", "--quiet"])  # which makes the commands
    requests = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    while line := requests.readline():
        os.write(1, f"{json.dumps(run_all(json.loads(line)))}\n".encode())
