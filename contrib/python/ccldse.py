"""Results of ccldse in Python: runs the program or reads what it wrote. One file, no dependency, Python 3.9 or later.

    import ccldse

    rows = ccldse.export("results.db")                      # every stored point, a dict each
    rows = ccldse.best("results.db", top=5, by="mfu")       # the ranking
    step = ccldse.simulate("llama-3.1-8b", "hgx_h100", npus=64, tp=4, set={"batch": 256})
    table = ccldse.frame(rows)                              # pandas.DataFrame, where pandas is there
    doc = ccldse.run("topology", "show", system="hgx_h100")  # any command that prints JSON
    rows = ccldse.read("points.csv")                        # a file that export wrote, or JSON of any command

Times are nanoseconds where a key does not say otherwise, sizes bytes (or elements: the key `sizes`). docs/schema describes every
document. The program is $CCLDSE, or `ccldse` on the PATH, or `program=`.
"""
import csv
import json
import os
import subprocess
import sys

__all__ = ["Error", "run", "simulate", "sweep", "best", "export", "read", "rows", "frame"]

# Commands that print JSON by another option than --json.
_JSON = {"export": ["--format", "json"]}
# Exit codes that say what was found, with a document: lint's and verify's 1, metrics' 2.
_ANSWERS = {0, 1, 2}
# Columns of CSV that are no numbers even where they look like one: Python takes the point 16_1_1_1_0 for 161110.
_TEXTS = {"model", "system", "point", "run", "configuration", "settings"}


class Error(Exception):
    """The program failed: .command as it was run, .code its exit code, .text what it said."""

    def __init__(self, command, code, text):
        super().__init__(text.strip() or f"{command[0]} ended with {code}")
        self.command, self.code, self.text = command, code, text


def _words(options):
    """dp=4 as --dp 4; json=True as --json; a list as several; set={...} as --set KEY=VALUE; None and False not at all."""
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if isinstance(value, dict):
            value = [f"{k}={_text(v)}" for k, v in value.items()]
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if item is True:
                yield option
            elif item is not None and item is not False:
                yield option
                yield _text(item)


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_text(v) for v in value) + "]"
    return str(value)


def _program(program):
    return program or os.environ.get("CCLDSE") or "ccldse"


def run(command, *arguments, program=None, **options):
    """The document that a command prints, as Python's dicts and lists. Options take their names with '_' for '-'.

    Warnings go to standard error. Raises Error where the program prints no document.
    """
    line = [_program(program), command, *map(str, arguments), *_JSON.get(command, ["--json"]), *_words(options)]
    try:
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", check=False)
    except FileNotFoundError:
        raise Error(line, 127, f"there is no program '{line[0]}'; set CCLDSE, or give program=") from None
    try:
        if done.returncode not in _ANSWERS:
            raise ValueError
        document = json.loads(done.stdout)
    except ValueError:
        raise Error(line, done.returncode, done.stderr) from None
    sys.stderr.write(done.stderr)
    return document


def simulate(model, system, program=None, **options):
    """One point: a dict of its figures; its ranks are under "sys" or "pipeline"."""
    return run("simulate", model=model, system=system, program=program, **options)


def sweep(model, system, db=None, program=None, **options):
    """Enumerates and stores; a dict with how many points there are and the best of them."""
    return run("sweep", model=model, system=system, db=db, program=program, **options)


def best(db=None, program=None, **options):
    """The ranking of each study, a dict a point."""
    return rows(run("best", db=db, program=program, **options))


def export(db=None, program=None, **options):
    """Every stored point, a dict each."""
    return run("export", db=db, program=program, **options)


def read(path, program=None):
    """The rows of a file: JSON or CSV that the program wrote, or a results database (which the program reads)."""
    path = os.fspath(path)
    if path.endswith(".db"):
        return export(path, program=program)
    with open(path, encoding="utf-8", newline="") as file:
        if path.endswith(".csv"):
            return [{k: v if k in _TEXTS else _value(v) for k, v in row.items()} for row in csv.DictReader(file)]
        return rows(json.load(file))


def _value(text):
    """A cell of CSV: None where it is empty, a bool, a number or a text."""
    if text in ("", None):
        return None
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def rows(document):
    """A document as a list of dicts: the points of best and plan, the runs of compare and calibrate, the rows of validate, the
    findings of lint, the metrics of traces; a list as it is, and anything else as a list of one."""
    if isinstance(document, list):
        if any(isinstance(item, dict) and "metrics" in item and "trace" in item for item in document):
            return [row for item in document for row in rows(item)]
        return document
    if "studies" in document:
        return [row for study in document["studies"] for row in study.get("ranking", [study])]
    if "tables" in document:
        return [{"table": table["title"], **row} for table in document["tables"] for row in table.get("rows", [])]
    if "trace" in document and "metrics" in document:
        return [{"trace": document["trace"], "metric": name, **(value if isinstance(value, dict) else {"value": value})}
                for name, value in document["metrics"].items()]
    for key in ("ranking", "runs", "findings"):
        if isinstance(document.get(key), list):
            return document[key]
    return [document]


def frame(table):
    """A pandas.DataFrame of rows, or of a document. ImportError without pandas: the rows are plain dicts."""
    try:
        import pandas
    except ImportError:
        raise ImportError("pandas is not installed; the rows are a list of dicts without it") from None
    return pandas.DataFrame(rows(table))
