#!/usr/bin/env python3
"""report.py CCLDSE CONFIGS: a report in a real headless Chromium. It renders, sorts, filters, switches its theme, prints,
obeys the keyboard, shows the figures of export, takes no text for HTML, loads nothing and complains about nothing. Skipped
(exit code 77) without Chromium."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium

ccldse, configs = (os.path.abspath(word) for word in sys.argv[1:3])
os.environ["CCLDSE_CONFIGS"] = configs


def run(*words):
    done = subprocess.run([ccldse, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stderr}")
    return done


def check(what, seen, expected=True):
    global checks
    checks += 1
    if seen != expected:
        sys.exit(f"{what}: expected {expected!r}, not {seen!r}")


def texts(page, column):
    """What the rows that are there show in a column, by its number."""
    return page.eval(f"[...document.querySelectorAll('#rows tr[data-point]')].map(r => r.cells[{column}].textContent)")


def number_of(page, key):
    """The number of a column, by its key; the first has the places."""
    return page.eval(f"""[...document.querySelectorAll('#rows th')].findIndex(th =>
        th.querySelector('button[data-key={key}]'))""")


def type_filter(page, text):
    page.eval(f"""(e => {{ e.value = {json.dumps(text)}; e.dispatchEvent(new Event("input")); }})(document.getElementById("filter"))""")
    page.rest_a_moment()
    return page.eval("document.getElementById('status').textContent")


def brightness(page):
    return page.eval("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number).reduce((a, b) => a + b)")


def look_at_ranking(page, rows):
    """A ring of 8 NPUs with the card `small`: every figure of every point, as export has it."""
    check("title", page.eval("document.querySelector('h1').textContent"), "<script>alert(1)</script> & \"more\"")
    check("every point is shown", texts(page, 0), [str(i + 1) for i in range(len(rows))])
    page.eval("document.getElementById('all').click(), document.getElementById('exact').click()")
    ranked = sorted(rows, key=lambda r: r["wall_time"])
    for key in ("wall_time", "peak_memory", "exposed_comm", "gpu_time", "compute_util", "step_comm_dp", "dp", "tp"):
        said = [f"{r[key]:.3f}" if isinstance(r[key], float) else str(r[key]) for r in ranked]
        check(key, texts(page, number_of(page, key)), said)

    page.eval("document.querySelector('#rows button[data-key=peak_memory]').click()")
    check("sorted by memory", texts(page, number_of(page, "peak_memory")),
          [str(m) for m in sorted(r["peak_memory"] for r in rows)])
    check("said to readers of screens", page.eval(
        "document.querySelector('#rows button[data-key=peak_memory]').closest('th').getAttribute('aria-sort')"), "ascending")
    page.eval("document.querySelector('#rows button[data-key=peak_memory]').click()")
    check("and back", texts(page, number_of(page, "peak_memory")),
          [str(m) for m in sorted((r["peak_memory"] for r in rows), reverse=True)])

    few = [r for r in rows if r["tp"] in (2, 4) and r["wall_time"] < 10 ** 12]
    said = type_filter(page, "tp=2,4 step_time<1000s")
    check("filter", said.startswith(f"{len(few)} of {len(rows)} points"))
    check("filtered rows", len(texts(page, 0)), len(few))
    check("half a condition", "no column is named" in type_filter(page, "tpp=2"))
    check("marked as wrong", page.eval("document.getElementById('filter').getAttribute('aria-invalid')"), "true")
    check("nothing is left", type_filter(page, "tp>1000").startswith("0 of "))
    type_filter(page, "")

    page.eval("document.getElementById('rows').focus()")
    page.key("Home", 36)
    page.key("ArrowDown", 40)
    check("keyboard chooses a row", page.eval("[...document.querySelectorAll('#rows tr[aria-selected=true]')].map(r => r.cells[0].textContent)"), ["2"])
    check("and shows it", page.eval("document.querySelectorAll('#details dt').length") > 15)


def look_at_theme(page):
    bright = brightness(page)
    check("light at first", bright > 600)
    page.eval("document.getElementById('theme').click()")
    page.rest_a_moment()
    check("dark on demand", brightness(page) < 150)
    page.eval("document.getElementById('theme').click()")
    check("light again", brightness(page), bright)
    page.scheme("dark")
    check("chosen, it stays", brightness(page), bright)
    page.scheme("light")


def look_at_charts(page):
    """Of a point whose chart library draws: the canvases have more than one colour."""
    check("heat map", page.eval("document.querySelectorAll('#heat-table td button').length") > 1)
    before = page.eval("document.getElementById('status').textContent")
    page.eval("document.querySelector('#heat-table td button').click()")
    page.rest_a_moment()
    check("a cell filters", page.eval("document.getElementById('status').textContent") != before)
    type_filter(page, "")
    if not page.eval("!!window.Chart"):
        print("built without a chart library: its charts were not looked at")
        return
    for canvas in ("scatter", "bars"):
        check(canvas, page.eval(f"""(c => new Set(new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer)).size)
            (document.getElementById("{canvas}"))""") > 5)


def look_at_widths(page):
    for width in (1400, 390):
        page.size(width, 800)
        page.rest_a_moment()
        check(f"nothing sticks out at {width}", page.eval("document.documentElement.scrollWidth <= innerWidth"))
    page.size(1200, 900)


def small(folder, page):
    db, path = os.path.join(folder, "small.db"), os.path.join(folder, "small.html")
    run("sweep", "--model", "small", "--system", "ring8", "--db", db)
    rows = json.loads(run("export", "--db", db, "--format", "json").stdout)
    run("report", "--db", db, "--title", "<script>alert(1)</script> & \"more\"", "-o", path)
    page.open("file://" + path)
    page.rest_a_moment()
    look_at_ranking(page, rows)
    look_at_theme(page)
    look_at_charts(page)
    look_at_widths(page)
    page.paper(os.path.join(folder, "small.pdf"))
    check("paper", os.path.getsize(os.path.join(folder, "small.pdf")) > 10000)


def several(folder, page):
    """Several networks and names that would be HTML: the study is named, and a cell of the heat map is one of them."""
    db, path = os.path.join(folder, "several.db"), os.path.join(folder, "several.html")
    card = os.path.join(folder, "<b id=wrong>bold.yaml")
    with open(os.path.join(configs, "models", "small.yaml"), encoding="utf-8") as small_card, open(card, "w", encoding="utf-8") as out:
        out.write(small_card.read())
    for backend in ("congestion_unaware", "congestion_aware"):
        run("sweep", "--model", card, "--system", "ring8", "--set", "network.backend=" + backend, "--db", db)
    run("report", "--db", db, "-o", path)
    page.open("file://" + path)
    page.rest_a_moment()
    check("a name is no HTML", page.eval("document.getElementById('wrong')"), None)
    check("but a text", page.eval("document.querySelector('h1').textContent.includes('<b id=wrong>bold')"))
    check("two studies", page.eval("document.getElementById('study').options.length"), 3)
    check("the loads of links", page.eval("!!document.querySelector('#picture-links svg')"))
    shown, _, points = type_filter(page, "congestion_aware").split()[:3]
    check("by a word of its name", 2 * int(shown), int(points))


def nothing(folder, page):
    """Nothing fits, and everything has failed: the page says so, and complains about nothing."""
    db, path = os.path.join(folder, "small.db"), os.path.join(folder, "nothing.html")
    run("report", "--db", db, "--hbm", "1kB", "-o", path)
    page.open("file://" + path)
    page.rest_a_moment()
    check("nothing fits: all are shown", page.eval("document.getElementById('fits').checked"), False)
    page.eval("document.getElementById('fits').click()")
    page.rest_a_moment()
    check("nothing is left", page.eval("document.getElementById('status').textContent.startsWith('0 of ')"))
    db = os.path.join(folder, "failed.db")
    subprocess.run([ccldse, "sweep", "--model", "small", "--system", "ring8", "--tp", "2", "--engine", "astrasim", "--stage-cmd",
                    "false", "--astrasim-bin", "/bin/false", "--db", db], cwd=folder, check=False, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    run("report", "--db", db, "-o", path)
    page.open("file://" + path)
    page.rest_a_moment()
    page.paper(path + ".pdf")
    check("no ranking", page.eval("document.getElementById('ranking')"), None)
    check("why", page.eval("document.getElementById('failed').textContent.includes('exited with code 1')"))


checks = 0
if not chromium.find():
    print("no Chromium to open a report with (Debian: chromium)", file=sys.stderr)
    sys.exit(77)
with tempfile.TemporaryDirectory() as top:
    browser = chromium.Page()
    try:
        small(top, browser)
        several(top, browser)
        nothing(top, browser)
        check("problems in the console", browser.problems, [])
        check("what was loaded", [r for r in browser.requests if not r.startswith("file://" + top)], [])
    finally:
        browser.close()
print(f"{checks} checks")
