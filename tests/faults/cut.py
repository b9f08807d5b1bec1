#!/usr/bin/env python3
"""cut.py [-n CUTS] CCLDSE [WORD...] -- what becomes of files that end too early: every import, and every kind of trace, is cut
at every byte, or at CUTS of them that are spread over it.

What must hold of each: it is refused, with one line that says why and where, and then nothing has been written; or what is whole
of it is taken, and the rest is reported on standard error; or there is nothing to report, as the output is that of the whole
file. Prints a row of docs/faults.md for each kind; only those with a WORD in their names, if given. Python's standard library
alone."""

import argparse
import gzip
import os
import shutil
import subprocess
import sys
import tempfile

from trials import Wrong, run_trials

DATA = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "data")
CONFIGS = os.path.join(DATA, "..", "..", "configs")
POINTS = ["sweep", "--model", "small", "--system", "ring8", "--tp", "1,2", "--recompute", "no"]
BOARD = b'''{"metric_info": {"avg_step_time": {"unit": "s"}}, "rows": [{"trace": "a", "metadata": {"workload_name": "a",
"model_family": "llama-3.1-8b", "phase": "training", "batch_size": 16, "seq_len": 4096, "precision": "bf16", "hardware_model":
"nvidia_a100", "total_count": 8, "count_per_node": 4, "framework": "torchtitan", "dp_replicate": 1, "dp_shard": 2, "tp": 4,
"pp": 1, "cp": 1}, "metrics": {"avg_step_time": 3.25}}]}
'''


class Cutter:
    def __init__(self, program, top):
        self.program, self.top = os.path.realpath(program), top
        self.environment = dict(os.environ, CCLDSE_CONFIGS=os.path.join(DATA, "cards"), LC_ALL="C")
        self.environment.pop("TERM", None)
        self.run([*POINTS, "--db", "r.db"])
        self.run(["sweep", "--model", "small", "--system", "boxes8", "--dp", "8", "--db", "s.db"])

    def run(self, words, ships=False):
        environment = dict(self.environment, CCLDSE_CONFIGS=CONFIGS) if ships else self.environment
        return subprocess.run([self.program, *words], cwd=self.top, env=environment, capture_output=True)

    def path(self, name):
        return os.path.join(self.top, name)

    def write(self, name, text):
        with open(self.path(name), "wb") as file:
            file.write(text)

    def read(self, *path):
        with open(os.path.join(*path), "rb") as file:
            return file.read()


# ---- kinds: the name of the file, its bytes, the command, and whether it writes to r.db ------------------------------------


def trace(name, *path):
    def kind(c):
        return name, c.read(DATA, *path), ["metrics", "--trace", name, "--all", "--json"], False

    return kind


def keyed(c):
    text = c.run(["export", "--db", "s.db", "--format", "keyed"]).stdout
    return "k.json", text, ["import", "k.json", "--model", "small", "--system", "boxes8", "--db", "r.db"], True


def board(c):
    return "board.json", BOARD, ["import", "--format", "ccl-bench", "board.json", "--db", "r.db"], True


def merged(c):
    return "m.db", c.read(c.path("s.db")), ["merge", "m.db", "--db", "r.db"], True


def measured(c):
    return "t.json", BOARD, ["compare", "--measured", "t.json", "--system", "dgx_a100", "--resamples", "0", "--json"], False


def zipped(c):
    text = gzip.compress(c.read(DATA, "traces", "two_ranks", "rank0_trace.json"), mtime=0)
    return "z.json.gz", text, ["metrics", "--trace", "z.json.gz", "--all", "--json"], False


def chakra(c):
    text = c.read(DATA, "fuzz", "et", "tensors")
    for name in ("system.json", "network.yml", "remote_memory.json"):
        shutil.copy(os.path.join(DATA, "astrasim", name), c.top)
    c.write("w.1.et", text)
    return "w.0.et", text, ["astrasim", "--workload-configuration", "w", "--comm-group-configuration", "empty",
                            "--system-configuration", "system.json", "--network-configuration", "network.yml",
                            "--remote-memory-configuration", "remote_memory.json"], False


KINDS = {
    "results, as keyed JSON (`import`)": keyed,
    "CCL-Bench's board (`import`)": board,
    "a database (`merge`)": merged,
    "a table of measured runs": measured,
    "Kineto": trace("rank0_trace.json", "traces", "two_ranks", "rank0_trace.json"),
    "Kineto, gzip": zipped,
    "Nsight Systems, CSV": trace("report.csv", "traces", "nsys_report", "report.csv"),
    "Nsight Systems, SQLite": trace("run.sqlite", "traces", "nsys_two_devices", "run.sqlite"),
    "xplane": trace("host.xplane.pb", "fuzz", "xplane", "device_and_host"),
    "memory snapshot, pickle": trace("rank0_memory_snapshot.pickle", "traces", "snapshots", "rank0_memory_snapshot.pickle"),
    "memory snapshot, JSON": trace("rank0_memory_snapshot.json", "traces", "snapshot_json", "rank0_memory_snapshot.json"),
    "PyTorch's execution trace": trace("pytorch_et_0.json", "traces", "execution", "pytorch_et_0.json"),
}
SHIP = (board, measured)


def ends_of_records(file, text):
    """Where a file may end without a sign that there was more: behind a line of CSV, behind a message of a protobuf."""
    if file.endswith(".csv"):
        return {end for at, byte in enumerate(text) if byte == 10 for end in (at, at + 1)}  # with the newline or without
    ends, at = set(), 0
    while file.endswith(".pb") and at < len(text):
        at += 1  # the tag, of one byte
        length = shift = 0
        while True:
            length |= (text[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if text[at - 1] < 128:
                break
        at += length
        ends.add(at)
    return ends


def rows(c):
    done = c.run(["export", "--db", "r.db"])
    if done.returncode:
        raise Wrong(f"the database cannot be read any more: {done.stderr.decode()}")
    return done.stdout


def check(c, what, done, whole, is_end):
    errors = [line for line in done.stderr.decode(errors="replace").splitlines() if line.startswith("ccldse: error")]
    if done.returncode < 0 or done.returncode not in (0, 1, 3):
        raise Wrong(f"{what}: it ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
    # A report of its heading alone has no value of any metric, each with the reason on standard output.
    silent = done.returncode == 1 and whole.returncode != 1 and not done.stderr and not is_end
    if done.returncode == 3 and len(errors) != 1 or silent:
        raise Wrong(f"{what}: exit code {done.returncode}, and not one line says why: {done.stderr.decode(errors='replace')}")
    if done.returncode and done.returncode != whole.returncode:
        return "refused"
    if done.stdout == whole.stdout and done.stderr == whole.stderr:
        return "as the whole"
    said = set(done.stderr.splitlines()) - set(whole.stderr.splitlines())
    if not said and is_end:
        return "whole lines or messages"
    if not said:
        raise Wrong(f"{what}: other output, and nothing said")
    return "what is whole, and the rest reported"


def run_kind(c, name, n_cuts):
    kind = KINDS[name]
    file, text, command, writes = kind(c)
    ends = ends_of_records(file, text)
    keep = c.read(c.path("r.db"))
    before = rows(c)
    c.write(file, text)
    whole = c.run(command, kind in SHIP)
    if whole.returncode not in (0, 1):
        raise Wrong(f"{name}: as it is it ends with {whole.returncode}: {whole.stderr.decode()}")
    after = rows(c)

    def cut_at(cut):
        for end in ("", "-wal", "-shm"):
            if os.path.exists(c.path("r.db" + end)):
                os.remove(c.path("r.db" + end))
            if os.path.exists(c.path(file + end)):
                os.remove(c.path(file + end))
        c.write("r.db", keep)
        c.write(file, text[:cut])
        what = f"{name}, cut at byte {cut} of {len(text)}"
        done = c.run(command, kind in SHIP)
        end = check(c, what, done, whole, cut in ends)
        if writes and rows(c) != (before if done.returncode else after):
            raise Wrong(f"{what}: {end}, and the database is neither as it was nor as it should be")
        return end

    cuts = range(len(text)) if not n_cuts or len(text) <= n_cuts else sorted({len(text) * i // n_cuts for i in range(n_cuts)})
    wrong = run_trials([name, f"{len(cuts)} of {len(text)}"], cuts, cut_at)
    os.remove(c.path(file))
    c.write("r.db", keep)
    return wrong


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-n", type=int, default=0)
    parser.add_argument("program")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    top = tempfile.mkdtemp(prefix="ccldse-cut.")
    c = Cutter(options.program, top)
    print("| what was cut | cuts of bytes | how it was taken | wrong |\n| --- | --- | --- | --- |")
    wrong = sum(run_kind(c, name, options.n) for name in KINDS if not options.words or any(word in name for word in options.words))
    shutil.rmtree(top)
    sys.exit(1 if wrong else 0)


main()
