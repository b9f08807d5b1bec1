#!/usr/bin/env python3
"""run.py [-n TRIALS] [-s SEED] CCLDSE [WORD...] -- what becomes of a sweep when something goes wrong, many times.

Each trial begins a sweep, does something to it at a random instant or place, and then runs the same command until it ends
well. Two things must hold each time: whatever can be read of the database meanwhile is what an undisturbed sweep has, or is
refused; and at the end the export and the ranking are an undisturbed sweep's, to the byte. Prints a row of docs/faults.md for
each kind of trial; only those with a WORD in their names, if given. A trial that needs to mount is left out where that is not
allowed. Python's standard library alone."""

import argparse
import ctypes
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from trials import Wrong, run_trials

SWEEP = ["--model", "./slow.yaml,small", "--system", "ring8", "--no-symmetry", "--no-memo", "--jobs", "2"]
CARDS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "data", "cards")
ENDS = {-9: "killed", -2: "ended by the signal", -15: "ended by the signal", 0: "done", 1: "some points failed", 3: "refused",
        4: "no worker", 70: "out of memory", 127: "cannot be loaded", 130: "interrupted"}


class Trials:
    """The program, an undisturbed sweep, and a folder for each trial."""

    def __init__(self, program, seed):
        self.program = os.path.realpath(program)
        self.random = random.Random(seed)
        self.clock = os.environ.get("CCLDSE_CLOCK")
        self.top = tempfile.mkdtemp(prefix="ccldse-faults.")
        self.environment = dict(os.environ, CCLDSE_CONFIGS=CARDS, LC_ALL="C")
        self.environment.pop("TERM", None)
        text = open(os.path.join(CARDS, "models", "deep.yaml")).read()
        self.card = re.sub(r"(?m)^layers:.*", "layers: 12", text)
        folder = self.folder("undisturbed")
        start = time.monotonic()
        self.finish(folder, "the undisturbed sweep", check=False)
        self.seconds = time.monotonic() - start
        self.whole = self.read(folder, "export")[1]
        self.lines = set(self.whole.splitlines())
        self.best = self.read(folder, "best")[1]

    def folder(self, name):
        path = os.path.join(self.top, name)
        shutil.rmtree(path, ignore_errors=True)
        os.mkdir(path)
        with open(os.path.join(path, "slow.yaml"), "w") as card:
            card.write(self.card)
        return path

    def start(self, folder, before=(), db="r.db", **options):
        return subprocess.Popen([*before, self.program, "sweep", *SWEEP, "--db", db], cwd=folder, env=self.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def read(self, folder, command):
        done = subprocess.run([self.program, command, "--db", "r.db"], cwd=folder, env=self.environment, capture_output=True)
        return done.returncode, done.stdout

    def check_meanwhile(self, folder, what):
        """What is there is right, or refused."""
        if not os.path.exists(os.path.join(folder, "r.db")):
            return
        code, text = self.read(folder, "export")
        rows = {line for line in text.splitlines() if b",failed," not in line}
        if code == 0 and not rows <= self.lines:
            raise Wrong(f"{what}: the database has rows that the undisturbed sweep has not")
        if code not in (0, 1, 3):
            raise Wrong(f"{what}: export ended with {code}")

    def finish(self, folder, what, check=True):
        """Runs the same command again, and compares."""
        done = subprocess.run([self.program, "sweep", *SWEEP, "--db", "r.db"], cwd=folder, env=self.environment, capture_output=True)
        if done.returncode == 1:  # a point whose worker was killed twice; it is tried again
            done = subprocess.run([self.program, "sweep", *SWEEP, "--db", "r.db"], cwd=folder, env=self.environment, capture_output=True)
        if done.returncode:
            raise Wrong(f"{what}: running it again ended with {done.returncode}: {done.stderr.decode()}")
        if check and (self.read(folder, "export")[1] != self.whole or self.read(folder, "best")[1] != self.best):
            raise Wrong(f"{what}: the results differ from the undisturbed sweep's; see {folder}")

    def instant(self):
        return self.random.uniform(0, 1.05 * self.seconds)


def end_of(process, allowed, what, says=True):
    out, err = process.communicate(timeout=120)
    if process.returncode not in allowed:
        raise Wrong(f"{what}: it ended with {process.returncode}: {err.decode()}")
    errors = [line for line in err.decode().splitlines() if line.startswith("ccldse: error")]
    if says and process.returncode in (2, 3, 4) and len(errors) != 1:
        raise Wrong(f"{what}: exit code {process.returncode}, and not one line says why: {err.decode()}")
    return ENDS.get(process.returncode, str(process.returncode))


def workers_of(pid):
    try:
        return [int(word) for word in open(f"/proc/{pid}/task/{pid}/children").read().split()]
    except OSError:
        return []


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def flip(path, generator, n=1):
    size = os.path.getsize(path)
    with open(path, "r+b") as file:
        for _ in range(n):
            at = generator.randrange(size)
            file.seek(at)
            byte = file.read(1)[0] ^ 1 << generator.randrange(8)
            file.seek(at)
            file.write(bytes([byte]))


# ---- kinds of trials: each gets the trials and an empty folder, disturbs a sweep, and says how that ended -------------------


def coordinator_killed(t, folder, what):
    """`kill -9` of the coordinator at a random instant"""
    process = t.start(folder)
    time.sleep(t.instant())
    process.kill()
    return end_of(process, (-9, 0), what)


def coordinator_killed_thrice(t, folder, what):
    """the same, three times in a row"""
    for _ in range(3):
        end = coordinator_killed(t, folder, what)
    return end


def worker_killed(t, folder, what):
    """`kill -9` of random workers, five times"""
    process = t.start(folder)
    for _ in range(5):
        time.sleep(t.instant() / 5)
        for pid in workers_of(process.pid)[: t.random.randint(1, 2)]:
            send(pid, signal.SIGKILL)
    return end_of(process, (0, 1), what)


def all_killed(t, folder, what):
    """`kill -9` of coordinator and workers at once"""
    process = t.start(folder)
    time.sleep(t.instant())
    for pid in [*workers_of(process.pid), process.pid]:
        send(pid, signal.SIGKILL)
    return end_of(process, (-9, 0), what)


def interrupted(t, folder, what):
    """Ctrl-C or SIGTERM at a random instant"""
    process = t.start(folder)
    time.sleep(t.instant())
    send(process.pid, t.random.choice((signal.SIGINT, signal.SIGTERM)))
    return end_of(process, (-2, -15, 0, 130), what)


def stopped(t, folder, what):
    """workers or the coordinator stopped for a while, and continued"""
    process = t.start(folder)
    time.sleep(t.instant())
    pids = t.random.choice((workers_of(process.pid), [process.pid]))
    for pid in pids:
        send(pid, signal.SIGSTOP)
    time.sleep(t.random.uniform(0, 1))
    for pid in pids:
        send(pid, signal.SIGCONT)
    return end_of(process, (0,), what)


def two_coordinators(t, folder, what):
    """two sweeps into one database"""
    first = t.start(folder)
    time.sleep(t.instant() / 2)
    second = t.start(folder)
    ends = sorted((end_of(first, (0, 3), what), end_of(second, (0, 3), what)))
    if "done" not in ends:
        raise Wrong(f"{what}: both ended without results")
    return " and ".join(ends)


def moved_away(t, folder, what):
    """the database moved away, or replaced by a copy of itself"""
    process = t.start(folder)
    time.sleep(t.instant())
    path = os.path.join(folder, "r.db")
    if os.path.exists(path):
        os.rename(path, path + ".old")
        if t.random.random() < 0.5:
            shutil.copy(path + ".old", path)
    end = end_of(process, (0, 3), what)
    if end == "refused" and os.path.exists(path) and t.read(folder, "export")[0] == 3:
        os.remove(path)  # a copy of a file that was being written: refused, and to be moved away
    return end


def log_deleted(t, folder, what):
    """`kill -9`, then the write-ahead log deleted, or cut at a random place"""
    coordinator_killed(t, folder, what)
    path = os.path.join(folder, "r.db-wal")
    if not os.path.exists(path):
        return "no log was left"
    if t.random.random() < 0.5:
        os.remove(path)
        return "deleted"
    os.truncate(path, t.random.randint(0, os.path.getsize(path)))
    return "cut"


def log_flipped(t, folder, what):
    """`kill -9`, then a bit of the write-ahead log flipped"""
    coordinator_killed(t, folder, what)
    path = os.path.join(folder, "r.db-wal")
    if not os.path.exists(path) or not os.path.getsize(path):
        return "no log was left"
    flip(path, t.random)
    return "flipped"


def database_flipped(t, folder, what):
    """a bit of a finished database flipped"""
    path = os.path.join(folder, "r.db")
    t.finish(folder, what, check=False)
    flip(path, t.random)
    code, text = t.read(folder, "export")
    if code == 0 and text != t.whole:
        raise Wrong(f"{what}: other results, and nothing said")
    best_code, best = t.read(folder, "best")  # reads the figures instead of the rows
    if best_code in (0, 1) and best != t.best:
        raise Wrong(f"{what}: another ranking, and nothing said")
    again = t.start(folder)
    end = end_of(again, (0, 3), what)
    if end == "refused":
        os.remove(path)  # as the message says: moved away
        for name in ("r.db-wal", "r.db-shm", "r.db-journal"):
            if os.path.exists(os.path.join(folder, name)):
                os.remove(os.path.join(folder, name))
    return "unseen, as no value had it" if code == 0 else "refused, then mended" if end == "done" else "refused; made anew"


def file_size_limit(t, folder, what):
    """no file may be larger than a random size (`ulimit -f`)"""
    limit = t.random.randint(0, 2000)
    process = t.start(folder, before=("sh", "-c", f'ulimit -f {limit}; exec "$@"', "sh"))
    return end_of(process, (0, 1, 3, 4), what)


def memory_limit(t, folder, what):
    """no process may have more memory than a random size (`ulimit -v`)"""
    limit = t.random.randint(10000, 24000)
    process = t.start(folder, before=("sh", "-c", f'ulimit -v {limit}; exec "$@"', "sh"))
    return end_of(process, (0, 1, 3, 4, 70, 126, 127, -6), what)


def in_mount(t, folder, what, options, before=""):
    """A sweep whose database is on a small file system of its own, and copied from there."""
    script = ('sweep() { "$program" sweep $points --db small/r.db; }; program=$2 points=$3; mkdir small && '
              'mount -t tmpfs -o "$1" none small || exit 99; ' + before + "sweep; code=$?; "
              "cp small/r.db small/r.db-wal . 2>/dev/null; umount small; exit $code")
    process = subprocess.Popen(["unshare", "-m", "sh", "-c", script, "sh", options, t.program, " ".join(SWEEP)], cwd=folder,
                               env=t.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    end = end_of(process, (0, 3), what)
    if os.path.exists(os.path.join(folder, "r.db")) and t.read(folder, "export")[0] == 3:
        log = os.path.join(folder, "r.db-wal")
        refused = subprocess.run([t.program, "sweep", *SWEEP, "--db", "r.db"], cwd=folder, env=t.environment, capture_output=True)
        if refused.returncode == 3:
            os.remove(os.path.join(folder, "r.db"))
            if os.path.exists(log):
                os.remove(log)
            end += ", to be moved away"
    return end


def disk_full(t, folder, what):
    """a file system of a random size, full at some write"""
    return in_mount(t, folder, what, f"size={t.random.randint(1, 300) * 4}k")


def no_inodes(t, folder, what):
    """a file system with room for a few files"""
    return in_mount(t, folder, what, f"nr_inodes={t.random.randint(1, 6)}")


def read_only(t, folder, what):
    """`kill -9`, then a file system that has become read-only"""
    killed = f'"$program" sweep $points --db small/r.db >killed.txt 2>&1 & sleep {t.instant():.3f}; kill -9 $! 2>/dev/null; wait; '
    return in_mount(t, folder, what, "size=10m", killed + "until mount -o remount,ro small; do sleep 0.1; done 2>/dev/null; ")


def closed_pipe(t, folder, what):
    """standard output or error closed, or read by nobody"""
    how = t.random.choice((">&-", "2>&-", ">&- 2>&-", "| true", "2>&1 | head -c 1"))
    process = t.start(folder, before=("sh", "-c", f'"$@" {how}', "sh"))
    return end_of(process, (0, 1, 3, -13), what, says=False)


def clock_jumps(t, folder, what):
    """the wall clock goes hours forward and back"""
    process = t.start(folder, before=("env", f"LD_PRELOAD={t.clock}"))
    out, err = process.communicate(timeout=120)
    if process.returncode or re.search(rb"(^|[ (])-[0-9]", out + err):
        raise Wrong(f"{what}: it ended with {process.returncode}, or printed a negative number: {(out + err).decode()}")
    return "done"


KINDS = [coordinator_killed, coordinator_killed_thrice, worker_killed, all_killed, interrupted, stopped, two_coordinators,
         moved_away, log_deleted, log_flipped, database_flipped, file_size_limit, memory_limit, disk_full, no_inodes, read_only,
         closed_pipe, clock_jumps]
MOUNTS = (disk_full, no_inodes, read_only)


def may_mount(folder):
    command = ["unshare", "-m", "sh", "-c", "mount -t tmpfs none ."]
    return shutil.which("unshare") and subprocess.run(command, cwd=folder, capture_output=True).returncode == 0


def trial(t, kind, i, seed):
    folder = t.folder(kind.__name__)
    what = f"{kind.__name__}, trial {i} of seed {seed}"
    end = kind(t, folder, what)
    t.check_meanwhile(folder, what)
    t.finish(folder, what)
    return end


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-n", type=int, default=20)
    parser.add_argument("-s", type=int, default=1)
    parser.add_argument("program")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: who is left behind is ours to wait for
    t = Trials(options.program, options.s)
    wrong = 0
    mounting = may_mount(t.top)
    print("| what was done | trials | how the sweep ended | wrong |\n| --- | --- | --- | --- |")
    for kind in KINDS:
        if options.words and not any(word in kind.__name__ for word in options.words):
            continue
        if kind in MOUNTS and not mounting:
            print(f"| {kind.__doc__} | 0 | left out: this machine does not let us mount | |")
            continue
        if kind is clock_jumps and not t.clock:
            continue  # clock_jumps.c as a library
        wrong += run_trials([kind.__doc__, options.n], range(options.n), lambda i: trial(t, kind, i, options.s))
    if not wrong:
        shutil.rmtree(t.top)
    sys.exit(1 if wrong else 0)


main()
