"""What the tests of faults share: a claim that does not hold, and trials that are counted by how they ended, in a row of
docs/faults.md. Python's standard library alone."""

import concurrent.futures
import subprocess
import sys


class Wrong(Exception):
    """Something that must hold did not."""


def run_trials(row, trials, run, jobs=1):
    """Runs run(trial) for each, `jobs` at a time, which says how it ended; what is Wrong goes to standard error. Prints the row:
    the cells of `row`, the ends, the most frequent first, and how many trials were wrong. Returns that number."""
    ends, wrong = {}, 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(run, trial) for trial in trials]:
            try:
                end = done.result()
                ends[end] = ends.get(end, 0) + 1
            except (Wrong, subprocess.TimeoutExpired) as error:
                print(error, file=sys.stderr, flush=True)
                wrong += 1
    said = ", ".join(f"{end} {n}" for end, n in sorted(ends.items(), key=lambda item: -item[1]))
    print(f"| {' | '.join(str(cell) for cell in row)} | {said} | {wrong} |", flush=True)
    return wrong
