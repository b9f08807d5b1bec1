#!/usr/bin/env python3
"""memory.py [-n TRIALS] [-s SEED] [-j JOBS] [-o LIBRARY] CCLDSE LIBRARY [WORD...] -- what becomes of commands when an
allocation fails. JOBS trials at a time.

Runs each command with LIBRARY (no_memory.c) preloaded, by which the 1st, the 2nd, ... allocation fails, whoever asks: the
program or a library that it is linked with. All of them, if there are no more than TRIALS, else the first, the last, and some
between; then half as many trials by which all later ones fail, too. Each time the program must end by itself. Either it prints
and writes, to the byte, what it does undisturbed, or it says why not in one line and its exit code is not 0: and then a file is
as it was before or as it would have been, and a database has rows of the undisturbed one alone. With -o each command also runs
once with any_order.c. Prints a row of docs/faults.md for each command; only those with a WORD in their names, if given. Python's
standard library alone."""

import argparse
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading

from trials import Wrong, run_trials

HERE = os.path.dirname(os.path.realpath(__file__))
DATA = os.path.join(HERE, "..", "data")
LIB = os.path.join(HERE, "..", "cli", "lib.sh")
CONFIGS = os.path.join(HERE, "..", "..", "configs")
POINTS = "--model small --system ring8 --tp 1,2 --recompute no"
TRAIN = "--model llama-3.1-8b --system hgx_h100 --nodes 2 --batch 64"
ASTRA = ("astrasim --workload-configuration w/w --comm-group-configuration w/w.json --system-configuration system.json "
         "--network-configuration network.yml --remote-memory-configuration remote_memory.json")
STAGE = ("stage --output_dir w --output_name w --comm_group_file w.json --dp 2 "
         "--din 32 --dout 32 --dmodel 64 --dff 128 --head 8 --seq 32 --batch 16 --num_stacks 2")
BOARD = '''{"metric_info": {"avg_step_time": {"unit": "s"}}, "rows": [{"trace": "a", "metadata": {"workload_name": "a",
"model_family": "llama-3.1-8b", "phase": "training", "batch_size": 16, "seq_len": 4096, "precision": "bf16",
"hardware_model": "nvidia_a100", "total_count": 8, "count_per_node": 4, "framework": "torchtitan", "dp_replicate": 1,
"dp_shard": 2, "tp": 4, "pp": 1, "cp": 1}, "metrics": {"avg_step_time": 3.25}}]}'''
SEARCHED = '''models: [family.yaml]
systems: [ring8]
axes:
  network.bandwidth[0]: {from: 1, to: 1000, step: 1, unit: GB/s}
  network.latency[0]: {from: 1, to: 1000, step: 1, unit: ns}'''

# What it is about: what makes its files, and the command. "ships": with the cards that ship, else those of the tests.
COMMANDS = {
    "help": ("", "help strategy"),
    "model and system cards": ("", "simulate --model small --system ring8 --dp 4 --tp 2 --json"),
    "profile train": ("ships", f"simulate {TRAIN} --tp 2 --zero 1 --memory --collectives"),
    "experts, imbalance file": ("ships; { echo layer,expert,share; for e in 0 1 2 3 4 5 6 7; do echo 0,$e,$((e + 1)); done; } >f.csv",
                                "simulate --model mixtral-8x7b --system hgx_h100 --nodes 2 --batch 64 --ep 8 --imbalance f.csv"),
    "pipeline layout": ("ships", f"simulate {TRAIN} --pp 4 --pipeline-layout 8,9,9,6"),
    "Hugging Face config": ('echo \'{"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_embd": 64, "n_head": 8, '
                            '"n_inner": null, "n_layer": 2, "n_positions": 32, "vocab_size": 128}\' >config.json',
                            "simulate --model config.json --system ring8 --dp 4 --tp 2 --set batch=16 --set sequence=32"),
    "traces and timeline written": ("", "simulate --model small --system ring8 --dp 8 --emit e --trace t.csv --timeline t.json.gz"),
    "STAGE's traces written": ("", STAGE),
    "Chakra traces, gzip": (f'cp "$DATA"/astrasim/* .; "$CCLDSE" {STAGE}; for f in w/w.*.et; do gzip "$f"; mv "$f.gz" "$f"; done', ASTRA),
    "requests to a worker": (f'"$CCLDSE" sweep {POINTS} --db r.db; "$CCLDSE" export --db r.db --format json --config |'
                             ' sed -n \'s/.*"config":\\({.*}\\)}.*/\\1/p\' >requests; [ -s requests ]', "worker <requests"),
    "Chakra traces, ASTRA-sim's files": (f'cp "$DATA"/astrasim/* .; "$CCLDSE" {STAGE}', ASTRA),
    "operators checked": ("", 'lint "$DATA/cards/models/small.yaml" "$DATA/cards/systems/ring8.yaml"'),
    "network drawn": ("", "topology show --system boxes8 --svg --output n.svg"),
    "schedule": ("", "schedule --schedule 1f1b --pp 4 --micro-batches 8 --svg --output s.svg"),
    "kernel": ("ships", "kernel --system hgx_h100 --class matmul --m 512 --n 512 --k 512"),
    "launch texts": ("ships", f"launch {TRAIN} --tp 2 --program megatron --output l.sh"),
    "models listed": ("ships", "models"),
    "Kineto": ("", 'metrics --trace "$DATA/traces/two_ranks" --all --json'),
    "Kineto, first page": ("", 'metrics --trace "$DATA/traces/fsdp_two_ranks" --html'),
    "Kineto, gzip": ('mkdir t; for r in 0 1; do gzip -c "$DATA/traces/two_ranks/rank${r}_trace.json" >t/rank${r}_trace.json.gz; done',
                     "metrics --trace t --all"),
    "Nsight Systems, SQLite": ("", 'metrics --trace "$DATA/traces/nsys_two_devices/run.sqlite" --all --json'),
    "Nsight Systems, CSV": ("", 'metrics --trace "$DATA/traces/nsys_report" --all --json'),
    "xplane": ('cp "$DATA/fuzz/xplane/device_and_host" host.xplane.pb', "metrics --trace . --all --json"),
    "TPU, JSON": ("", 'metrics --trace "$DATA/traces/tpu_leaves" --all --json'),
    "memory snapshot, pickle": ("", 'metrics --trace "$DATA/traces/snapshots" --all --json'),
    "memory snapshot, JSON": ("", 'metrics --trace "$DATA/traces/snapshot_json" --all --json'),
    "execution trace": ("", 'metrics --trace "$DATA/traces/execution" --all --json'),
    "gate logs": ("", 'metrics --trace "$DATA/traces/experts" --all --json'),
    "metrics into a folder": ('mkdir -p d; cp -r "$DATA/traces/two_ranks" d/traces', "metrics --workload-dir d"),
    "whatif": ("", 'whatif --trace "$DATA/traces/launches_two_ranks" --scale network=2 --scale gemm=0.5 --json'),
    "whatif, Chakra written": ("", 'whatif --trace "$DATA/traces/launches_two_ranks" --emit o'),
    "whatif, execution trace linked": ("", 'whatif --trace "$DATA/traces/host_and_kineto" --compat full --emit o'),
    "measured table": ("ships", "compare --measured vtrain_a100 --system vtrain_a100 --resamples 40 --json"),
    "board": (f"ships; echo '{BOARD}' >board.json", "compare --measured board.json --system dgx_a100 --resamples 0 --json"),
    "traces compared": ('. "$LIB"; workload_card tp 2 1 4 1 8; timeline tp --system boxes8 --dp 2 --tp 4',
                        "compare --trace tp --system boxes8 --json"),
    "fit": ("ships", "calibrate --measured vtrain_a100 --system vtrain_a100 --fit compute.peak_perf --starts 1 --no-leave-one-out --output c.yaml"),
    "sweep": ("", f"sweep {POINTS} --jobs 2 --db r.db --json"),
    "sweep of profile train": ("ships", "sweep --model gpt3-126m --system hgx_h100 --batch 16 --npus 8 --tp 1 --pp 2 --vp 1 --micro-batch 1 --zero 1 "
                               "--recompute-granularity full --jobs 1 --db r.db --json"),
    "sweep of a stored one": (f'"$CCLDSE" sweep {POINTS} --db r.db', f"sweep {POINTS} --sp 1,2 --jobs 2 --db r.db"),
    "space": ("printf 'models: [small]\\nsystems: [ring8]\\naxes:\\n  tp: [1, 2]\\n  layers: [2, 3]\\nconstraints: [dp * tp * sp * pp == npus]\\n' >s.yaml",
              "sweep --space s.yaml --jobs 2 --db r.db --json"),
    "points": ("printf 'small ring8 8_1_1_1_0\\nsmall boxes8 2_4_1_1_0 layers=2\\n' >p.txt", "sweep --points p.txt --jobs 2 --db r.db --json"),
    "search": (f"{{ cat \"$CCLDSE_CONFIGS/models/small.yaml\"; echo 'operators: gpt'; }} >family.yaml; echo '{SEARCHED}' >s.yaml",
               "sweep --space s.yaml --search --jobs 2 --db r.db --json"),
    "prune": ("", "sweep --model small --system ring8 --prune --top 1 --jobs 2 --db r.db"),
    "plan": ("ships", f"plan {TRAIN} --tp 2 --pp 1 --micro-batch 1 --zero 1 --schedule 1f1b --jobs 2 --no-db --json"),
    "STAGE and ASTRA-sim themselves": ("", 'sweep --model small --system ring8 --dp 8 --recompute no --db r.db --engine astrasim '
                                       '--stage-cmd "$CCLDSE stage" --astrasim-bin "$CCLDSE astrasim" --discard-workloads'),
    "best": (f'"$CCLDSE" sweep {POINTS} --db r.db', "best --db r.db --json"),
    "best of a search": (f'"$CCLDSE" sweep {POINTS} --search --top 2 --db r.db', "best --db r.db"),
    "best, robust": (f'"$CCLDSE" sweep {POINTS} --db r.db', "best --db r.db --top 2 --robust 60%"),
    "export": (f'"$CCLDSE" sweep {POINTS} --db r.db', "export --db r.db"),
    "show": (f'"$CCLDSE" sweep {POINTS} --db r.db', "show 8_1_1_1_0 --db r.db"),
    "report": (f'"$CCLDSE" sweep {POINTS} --db r.db', "report --db r.db --output page.html"),
    "plot": (f'"$CCLDSE" sweep {POINTS} --db r.db', "plot tradeoff --db r.db --output p.svg"),
    "merge": (f'"$CCLDSE" sweep {POINTS} --db r.db; "$CCLDSE" sweep --model small --system boxes8 --dp 8 --db s.db', "merge s.db --db r.db"),
    "older database": ('cp "$DATA/store/version5.db" r.db', f"sweep {POINTS} --jobs 2 --db r.db"),
    "import": (f'"$CCLDSE" sweep {POINTS} --db r.db; "$CCLDSE" export --db r.db --format keyed >k.json',
               "import k.json --model small --system boxes8 --db r.db"),
    "board imported": (f"ships; echo '{BOARD}' >board.json", "import --format ccl-bench board.json --db r.db"),
    "diff": (f'"$CCLDSE" sweep {POINTS} --db r.db; cp r.db s.db', "diff r.db s.db"),
}
WITH_WORKERS = ("sweep", "space", "search", "plan")
A_WORKER = "requests to a worker"


def files_of(folder):
    found = {}
    for top, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(top, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


class Command:
    """One command, its files, and what it does undisturbed."""

    def __init__(self, options, top, name, who):
        self.options, self.name, self.who = options, name, who
        prepare, self.command = COMMANDS[name]
        ships = prepare.startswith("ships")
        self.environment = dict(os.environ, CCLDSE=options.program, DATA=os.path.realpath(DATA), LIB=LIB, LC_ALL="C",
                                CCLDSE_CONFIGS=CONFIGS if ships else os.path.join(DATA, "cards"))
        self.environment.pop("TERM", None)
        self.top = top
        self.before = os.path.join(top, "before")
        os.makedirs(self.before)
        done = subprocess.run(["sh", "-euc", prepare.removeprefix("ships").removeprefix(";") or ":"], cwd=self.before,
                              env=self.environment, capture_output=True)
        if done.returncode:
            raise Wrong(f"{name}: its files cannot be made: {done.stderr.decode()}")
        self.had = files_of(self.before)
        done = self.run(0)
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        if self.code not in (0, 1) or not os.path.exists(self.say):
            raise Wrong(f"{name}: undisturbed it ends with {self.code}: {self.err.decode()}")
        self.count = struct.unpack("L", pathlib.Path(self.say).read_bytes())[0]
        self.has = files_of(self.folder)
        self.rows = {path: self.export(path)[1] for path in self.databases()}

    @property
    def folder(self):
        """Of this thread; its own name is always the same, as commands say it."""
        return os.path.join(self.top, str(threading.get_ident()), "folder")

    @property
    def say(self):
        return self.folder + ".say"

    def databases(self):
        return sorted(name for name in os.listdir(self.folder) if name.endswith(".db"))

    def export(self, path):
        done = subprocess.run([self.options.program, "export", "--db", path], cwd=self.folder, env=self.environment, capture_output=True)
        return done.returncode, done.stdout

    def run(self, at, all_later=False, library=None):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.before, self.folder)
        if os.path.exists(self.say):
            os.remove(self.say)
        inject = dict(CCLDSE_FAIL_IN=self.who, CCLDSE_FAIL_AT=str(at), CCLDSE_FAIL_ALL=str(int(all_later)), CCLDSE_FAIL_SAY=self.say,
                      LD_PRELOAD=library or self.options.library, ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0:exitcode=99",
                      UBSAN_OPTIONS="exitcode=99")
        return subprocess.run(["sh", "-c", 'exec "$CCLDSE" ' + self.command], cwd=self.folder, env={**self.environment, **inject},
                              capture_output=True, timeout=120)

    def check_order(self):
        """What a sort leaves equal may come in any order, as when qsort has no memory for a copy: the same bytes."""
        done = self.run(0, library=os.path.realpath(self.options.o))
        if done.returncode != self.code:
            raise Wrong(f"{self.name}, elements in another order: it ended with {done.returncode}: {done.stderr.decode()}")
        self.check_files(f"{self.name}, elements in another order", True, done)

    def trial(self, which):
        at, all_later = which
        done = self.run(at, all_later)
        what = f"{self.name} ({self.who}), allocation {at}{' and all later' if all_later else ''}"
        if not os.path.exists(self.say):
            return "fewer"
        lines = [line for line in done.stderr.decode().splitlines() if line not in self.err.decode().splitlines()]
        errors = [line for line in lines if line.startswith("ccldse: error")]
        if done.returncode < 0 or done.returncode not in (self.code, 1, 2, 3, 4, 70):
            raise Wrong(f"{what}: it ended with {done.returncode}: {done.stderr.decode()}")
        carried_on = done.returncode == self.code and not errors
        if not carried_on and self.who == "main" and len(errors) != 1 and not (self.code == 1 and lines):
            raise Wrong(f"{what}: exit code {done.returncode}, and not one line says why: {done.stderr.decode()}")
        if (self.who == "main" or self.name == A_WORKER) and not carried_on and done.returncode not in (70, 4 if "--jobs" in self.command else 70):
            raise Wrong(f"{what}: not told as want of memory: {done.stderr.decode()}")
        if carried_on and any(line.startswith("ccldse: warning") for line in lines):
            raise Wrong(f"{what}: it carried on with less: {done.stderr.decode()}")
        self.check_files(what, carried_on, done)
        if carried_on:
            return "done"
        return {70: "out of memory", 1: "some points failed"}.get(done.returncode, f"refused: {errors[0][:100] if errors else lines[-1:]}")

    def check_files(self, what, carried_on, done):
        if carried_on and timeless(done.stdout) != timeless(self.out):
            raise Wrong(f"{what}: another output: {done.stdout[-300:]} {done.stderr.decode()}")
        now = files_of(self.folder)
        for name in self.databases():
            code, rows = self.export(name)
            if "--search" in self.command:
                continue  # what becomes of one point decides which others are simulated
            if carried_on and rows != self.rows.get(name):
                raise Wrong(f"{what}: other rows in {name}")
            if code not in (0, 1, 3) or (code == 3 and name in self.had):
                raise Wrong(f"{what}: {name} cannot be read any more ({code})")
            whole = set(self.rows.get(name, b"").splitlines()) | set(self.had.get(name + ".rows", b"").splitlines())
            if code == 0 and not {line for line in rows.splitlines()[1:] if b",failed," not in line} <= whole:
                raise Wrong(f"{what}: rows in {name} that are not those of the undisturbed run")
        for name, text in now.items():
            if ".db" in name or text in (self.has.get(name), self.had.get(name)):
                continue
            if name not in self.has and name not in self.had:
                raise Wrong(f"{what}: {name} is left behind")
            if name.endswith(".gz") and carried_on:
                continue
            raise Wrong(f"{what}: {name} is neither as it was nor as it should be, exit code {done.returncode}; see {self.folder}")
        if carried_on and {n for n in now if ".db-" not in n} != {n for n in self.has if ".db-" not in n}:
            raise Wrong(f"{what}: files differ: {sorted(set(now) ^ set(self.has))}")


def timeless(text):
    """Without the times that a sweep says it took."""
    text = re.sub(rb'"(seconds|cpu_seconds|elapsed_s|cpu_s)": ?[0-9.e-]+', b"", text)
    text = re.sub(rb'"seconds":[0-9.]+', b"", text)
    return re.sub(rb"in [0-9.]+ [a-z]*s \([0-9.]+ [a-z]*s of CPU\)|: [0-9.]+ [mu]?s$", b"", text, flags=re.M)


def is_loaded(options, top):
    """A program that is linked statically takes no library."""
    say = os.path.join(top, "say")
    subprocess.run([options.program, "--version"], capture_output=True, check=True,
                   env=dict(os.environ, LD_PRELOAD=options.library, CCLDSE_FAIL_IN="main", CCLDSE_FAIL_AT="0", CCLDSE_FAIL_SAY=say,
                            ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0"))
    return os.path.exists(say)


def spread(generator, count, trials):
    if count <= trials:
        return list(range(1, count + 1))
    third = trials // 3
    between = generator.sample(range(third + 1, count - third + 1), trials - 2 * third)
    return [*range(1, third + 1), *sorted(between), *range(count - third + 1, count + 1)]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-n", type=int, default=300)
    parser.add_argument("-s", type=int, default=1)
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("-o", metavar="LIBRARY")
    parser.add_argument("program")
    parser.add_argument("library")
    parser.add_argument("words", nargs="*")
    options = parser.parse_intermixed_args()
    options.program, options.library = os.path.realpath(options.program), os.path.realpath(options.library)
    top = tempfile.mkdtemp(prefix="ccldse-memory.")
    if not is_loaded(options, top):
        shutil.rmtree(top)
        print("the program does not load a library that is preloaded", file=sys.stderr)
        sys.exit(77)
    wrong = 0
    print("| allocations of | trials | of | how it ended | wrong |\n| --- | --- | --- | --- | --- |")
    for name, who in [(n, w) for n in COMMANDS for w in ("main", "worker")
                      if (n != A_WORKER if w == "main" else n in (*WITH_WORKERS, A_WORKER))]:
        if options.words and not any(word in name for word in options.words):
            continue
        generator = random.Random(f"{options.s} {name}")
        try:
            command = Command(options, os.path.join(top, f"{name} {who}".replace(" ", "_").replace("/", "_")), name, who)
            if options.o and who == "main":
                command.check_order()
            trials = [(at, False) for at in spread(generator, command.count, options.n)]
            trials += [(at, True) for at in spread(generator, command.count, options.n // 2)]
        except Wrong as error:
            print(error, file=sys.stderr, flush=True)
            wrong += 1
            continue
        wrong += run_trials([name + (" (a worker)" if who == "worker" else ""), len(trials), command.count], trials, command.trial,
                            options.j)
    if not wrong:
        shutil.rmtree(top)
    sys.exit(1 if wrong else 0)


main()
