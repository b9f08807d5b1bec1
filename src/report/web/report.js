/* The interactive half of a report: a ranking that sorts and filters, and charts of what it shows.
 *
 * Everything comes from one JSON document in the page, whose figures stand column by column (sweep_page.c says how).
 * A point is its number there. Texts reach the page as text, never as HTML. */
"use strict";
(() => {
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const ROW = 28; /* pixels of a row of the table, as the style has it */

/* ---- figures ---------------------------------------------------------------------------------- */

const columns = data.columns.map((c) => {
    const values = new Float64Array(data.n); /* of a column of names, their numbers; NaN: not known */
    for (let i = 0; i < data.n; i++) {
        const v = c.values ? c.values[i] : c.same;
        const known = c.distinct && v !== null ? c.distinct[v] : v;
        values[i] = known === null ? NaN : known;
    }
    return {...c, values};
});
const byKey = new Map(columns.map((c) => [c.key, c]));
const column = (key) => byKey.get(key);

const studyOf = new Uint32Array(data.n);
data.studies.reduce((first, s, k) => {
    studyOf.fill(k, first, first + s.n);
    return first + s.n;
}, 0);
const fits = (i) => {
    const limit = data.studies[studyOf[i]].limit;
    return limit === null || column("peak_memory").values[i] <= limit;
};

/* The unit in which a column's values read best, up to the largest of them. */
const scales = {
    time: [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]],
    bytes: [["B", 1], ["kB", 1e3], ["MB", 1e6], ["GB", 1e9], ["TB", 1e12]],
    kWh: [["kWh", 1], ["MWh", 1e3]],
};
function unitFor(c, v) {
    const of = scales[c.kind] || scales[c.unit];
    return of ? of.reduce((found, u) => (Math.abs(v) >= u[1] ? u : found)) : [c.unit === "1/s" ? "" : c.unit, 1];
}
/* Four digits, as people compare them; all of them if the number is larger. */
function digits(v) {
    if (Math.abs(v) < 0.1) return String(Number(v.toPrecision(4)));
    const whole = Math.abs(v) >= 1 ? Math.floor(Math.log10(Math.abs(v))) + 1 : 1;
    return v.toFixed(Number.isInteger(v) ? 0 : Math.max(0, 4 - whole));
}
function exactly(c, i) {
    const v = c.values[i];
    if (Number.isNaN(v)) return "";
    return c.names ? c.names[v] : c.kind === "real" ? v.toFixed(3) : String(v);
}
function readable(c, i) {
    const v = c.values[i];
    if (Number.isNaN(v)) return "–";
    if (c.names || c.kind === "parameter") return exactly(c, i);
    const [unit, per] = unitFor(c, v);
    return digits(v / per) + (unit ? " " + unit : "");
}

const parameters = columns.filter((c) => c.kind === "parameter");
const varied = parameters.filter((c) => c.varied);
const hasStudies = data.studies.length > 1;
const names = (i, of = varied) => of.map((c) => c.label + " " + exactly(c, i)).join(", ");
const nameOf = (i) => (hasStudies ? data.studies[studyOf[i]].name + ": " : "") + (names(i) || "the only point");

/* ---- filter and order ------------------------------------------------------------------------- */

const units = {ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9, min: 6e10, b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12,
    kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40, "%": 1};
const plain = (text) => text.toLowerCase().replace(/[ .]/g, "_");

function valueIn(c, text) {
    const match = /^([-+]?[0-9.]+(?:e[-+]?\d+)?)\s*([a-zµ%]*)$/i.exec(text);
    if (!match || Number.isNaN(Number(match[1])) || (match[2] && !(match[2].toLowerCase() in units)))
        throw new Error(`“${text}” is no value of ${c.label}`);
    return Number(match[1]) * (match[2] ? units[match[2].toLowerCase()] : 1);
}
function valuesIn(c, text) {
    return text.split(",").map((word) => {
        if (!c.names) return valueIn(c, word);
        const at = c.names.findIndex((name) => name.toLowerCase() === word.toLowerCase());
        if (at < 0) throw new Error(`${c.label} is ${c.names.join(", ")}, never “${word}”`);
        return at;
    });
}
function condition(word) {
    const match = /^([a-z][\w.]*)(<=|>=|!=|=|<|>)(.+)$/i.exec(word);
    if (!match) {
        const text = word.toLowerCase();
        return (i) => nameOf(i).toLowerCase().includes(text) || (!hasStudies && data.studies[0].name.toLowerCase().includes(text));
    }
    const key = plain(match[1]);
    const c = columns.find((c) => c.key === key || plain(c.label) === key);
    if (!c) throw new Error(`no column is named “${match[1]}”`);
    const of = valuesIn(c, match[3]), v = c.values;
    switch (match[2]) {
    case "=": return (i) => of.includes(v[i]);
    case "!=": return (i) => !of.includes(v[i]);
    case "<": return (i) => v[i] < of[0];
    case ">": return (i) => v[i] > of[0];
    case "<=": return (i) => v[i] <= of[0];
    default: return (i) => v[i] >= of[0];
    }
}

const by = column(data.by);
let order = {column: by, down: by?.better === "higher"}; /* without points there are no columns */
let view = []; /* the points that are shown, in their order */
let chosen = -1;

function select() {
    const input = $("filter"), study = $("study").value;
    let conditions = [], wrong = "";

    try {
        conditions = input.value.split(/\s+/).filter(Boolean).map(condition);
    } catch (e) {
        wrong = e.message;
    }
    input.setAttribute("aria-invalid", wrong ? "true" : "false");
    if (study !== "") conditions.push((i) => studyOf[i] === Number(study));
    if ($("fits").checked) conditions.push(fits);
    view = [];
    for (let i = 0; i < data.n; i++)
        if (conditions.every((holds) => holds(i))) view.push(i);
    sort();
    $("status").textContent = wrong ? wrong + "; the condition is left out until it is complete"
        : `${view.length.toLocaleString("en")} of ${data.n.toLocaleString("en")} points` +
          `, by ${order.column.label}${order.down ? ", the largest first" : ""}`;
    $("rows").scrollTop = 0;
    render();
    drawSoon();
}
/* Equal values keep the order of the points; what is not known comes last. */
function sort() {
    const v = order.column.values, sign = order.down ? -1 : 1;
    view.sort((a, b) => Number.isNaN(v[a]) - Number.isNaN(v[b]) || sign * (v[a] - v[b]) || a - b);
}

/* ---- table ------------------------------------------------------------------------------------ */

const shownColumns = () => columns.filter((c) =>
    $("all").checked ? c.kind !== "parameter" || c.varied : c.varied || c.shown);

function element(name, text, attributes = {}) {
    const e = document.createElement(name);
    if (text !== undefined) e.textContent = text;
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    return e;
}

function renderHead() {
    const head = element("tr");
    head.append(element("th", "", {"aria-label": "place"}));
    if (hasStudies) head.append(element("th", "study", {style: "padding:.3rem .7rem"}));
    for (const c of shownColumns()) {
        const exact = $("exact").checked && c.unit ? ` (${c.unit})` : "";
        const arrow = order.column !== c ? "" : order.down ? " ▼" : " ▲";
        const th = element("th", undefined, {class: c.names ? "" : "n",
            "aria-sort": order.column !== c ? "none" : order.down ? "descending" : "ascending"});
        const button = element("button", c.label + exact + arrow, {type: "button", title: c.help, "data-key": c.key});
        button.addEventListener("click", () => {
            order = {column: c, down: order.column === c ? !order.down : c.better === "higher"};
            select();
            document.querySelector(`#rows button[data-key="${c.key}"]`).focus();
        });
        th.append(button);
        head.append(th);
    }
    $("rows").querySelector("thead").replaceChildren(head);
}
function gap(rows, span) {
    const tr = element("tr", undefined, {class: "gap", "aria-hidden": "true"}), td = element("td", undefined, {colspan: span});
    td.style.height = rows * ROW + "px";
    tr.append(td);
    return tr;
}
/* Only the rows that are seen are in the page; for paper, the first of them. */
function renderRows(printed) {
    const box = $("rows"), shown = shownColumns(), span = shown.length + 1 + hasStudies;
    const first = printed ? 0 : Math.max(0, Math.floor(box.scrollTop / ROW) - 10);
    const last = Math.min(view.length, printed || first + Math.ceil(box.clientHeight / ROW) + 20);
    const rows = [];

    if (!printed && first) rows.push(gap(first, span));
    for (let place = first; place < last; place++) {
        const i = view[place];
        const tr = element("tr", undefined, {"data-point": i, "aria-selected": String(i === chosen),
            "aria-rowindex": place + 2});
        tr.append(element("td", String(place + 1), {class: "n"}));
        if (hasStudies) tr.append(element("td", data.studies[studyOf[i]].name));
        for (const c of shown)
            tr.append(element("td", $("exact").checked ? exactly(c, i) : readable(c, i), {class: c.names ? "" : "n"}));
        rows.push(tr);
    }
    if (!printed && last < view.length) rows.push(gap(view.length - last, span));
    box.querySelector("tbody").replaceChildren(...rows);
    box.querySelector("table").setAttribute("aria-rowcount", view.length + 1);
}
function render() {
    renderHead();
    renderRows();
}

/* ---- the chosen point ------------------------------------------------------------------------- */

function choose(i, scroll) {
    const list = element("dl"), place = view.indexOf(i), box = $("rows");
    const add = (name, value, help) => {
        const div = element("div", undefined, {title: help || ""});
        div.append(element("dt", name), element("dd", value));
        list.append(div);
    };
    chosen = i;
    if (i < 0) {
        $("details").replaceChildren(element("p", "Choose a row of the ranking, or a point of a chart.", {class: "note"}));
        return;
    }
    for (const c of parameters) if (c.varied || c.main) add(c.label, exactly(c, i), c.help);
    for (const c of columns)
        if (c.kind !== "parameter" && !Number.isNaN(c.values[i])) add(c.label, readable(c, i), `${exactly(c, i)} ${c.unit}: ${c.help}`);
    $("details").replaceChildren(element("p", data.studies[studyOf[i]].name + (names(i) ? ": " + names(i) : "")), list);
    if (scroll && place >= 0) {
        const top = place * ROW, seen = box.clientHeight - 2 * ROW;
        if (top < box.scrollTop || top > box.scrollTop + seen) box.scrollTop = Math.max(0, top - seen / 2);
    }
    renderRows();
}

$("rows")?.addEventListener("scroll", () => requestAnimationFrame(() => renderRows()));
$("rows")?.addEventListener("click", (e) => {
    const row = e.target.closest("tr[data-point]");
    if (row) choose(Number(row.dataset.point));
});
$("rows")?.addEventListener("keydown", (e) => {
    const step = {ArrowDown: 1, ArrowUp: -1, Home: -data.n, End: data.n}[e.key];
    if (!step || !view.length || e.target !== $("rows")) return;
    e.preventDefault();
    choose(view[Math.min(view.length - 1, Math.max(0, view.indexOf(chosen) + step))], true);
});

/* ---- heat map --------------------------------------------------------------------------------- */

const viridis = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
function heatColour(share) {
    const place = Math.min(Math.max(share, 0), 1) * 4, i = Math.min(3, Math.floor(place));
    const rgb = viridis[i].map((v, k) => Math.round(v + (place - i) * (viridis[i + 1][k] - v)));
    return `rgb(${rgb})`;
}
const studyAxis = {key: "study", label: "study", values: studyOf, names: data.studies.map((s) => s.name)};
const axes = hasStudies ? [studyAxis, ...varied] : varied;

function drawHeat() {
    if (!$("heat")) return;
    const x = axes.find((c) => c.key === $("heat-x").value), y = axes.find((c) => c.key === $("heat-y").value);
    const figure = column($("heat-by").value), table = $("heat-table"), best = new Map();

    if (!x || !y) return;
    for (const i of view) {
        const v = figure.values[i], key = x.values[i] + " " + y.values[i];
        if (Number.isNaN(v)) continue;
        const old = best.get(key);
        if (old === undefined || (figure.better === "higher" ? v > figure.values[old] : v < figure.values[old])) best.set(key, i);
    }
    const found = [...best.values()].map((i) => figure.values[i]);
    const low = Math.min(...found), high = Math.max(...found);
    const share = (v) => {
        const s = high > low ? (low > 0 ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low)) : 0.5;
        return figure.better === "higher" ? s : 1 - s;
    };
    const values = (c) => [...new Set(view.map((i) => c.values[i]))].sort((a, b) => a - b);
    const nameIn = (c, v) => (c.names ? c.names[v] : String(v));
    const head = element("tr"), across = values(x), body = [];
    head.append(element("th", `${y.label} ↓  ${x.label} →`));
    for (const v of across) head.append(element("th", nameIn(x, v), {scope: "col"}));
    for (const w of values(y)) {
        const tr = element("tr");
        tr.append(element("th", nameIn(y, w), {scope: "row"}));
        for (const v of across) {
            const td = element("td"), i = best.get(v + " " + w);
            if (i !== undefined) {
                const s = share(figure.values[i]);
                const button = element("button", readable(figure, i), {type: "button", title: nameOf(i)});
                button.style.background = heatColour(s);
                button.style.color = s < 0.55 ? "#fff" : "#101418";
                button.addEventListener("click", () => filterTo([[x, v], [y, w]], i));
                td.append(button);
            }
            tr.append(td);
        }
        body.push(tr);
    }
    const thead = element("thead"), tbody = element("tbody");
    thead.append(head);
    tbody.append(...body);
    table.replaceChildren(element("caption", `${figure.label}, best of each pair`, {class: "note"}), thead, tbody);
}
function filterTo(pairs, i) {
    const words = [];
    for (const [c, v] of pairs) {
        if (c === studyAxis) $("study").value = String(v);
        else words.push(`${c.key}=${c.names ? c.names[v] : v}`);
    }
    $("filter").value = words.join(" ");
    select();
    choose(i, true);
    $("ranking").scrollIntoView();
}

/* ---- charts ----------------------------------------------------------------------------------- */

const charts = {};
const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
function setChart(id, config) {
    const box = {animation: false, maintainAspectRatio: false, responsive: true};
    if (charts[id]) charts[id].destroy();
    charts[id] = new Chart($(id), {...config, options: {...box, ...config.options}});
}
const axis = (text, more = {}) => ({title: {display: true, text, color: theme("ink")}, ticks: {color: theme("ink")},
    grid: {color: theme("line")}, ...more});
const largest = (c) => view.reduce((most, i) => (c.values[i] > most ? c.values[i] : most), 0);

/* So many dots that they cover each other are drawn once for each small square. */
const MANY = 20000;
const SPREAD = 20; /* of the largest to the smallest value: then an axis is logarithmic */
function thin(points, x, y) {
    const seen = new Set(), mostX = largest(x), mostY = largest(y);
    if (points.length <= MANY) return points;
    return points.filter((i) => {
        const key = Math.round(x.values[i] / mostX * 1500) * 4096 + Math.round(y.values[i] / mostY * 1000);
        return !seen.has(key) && seen.add(key);
    });
}
function front(points, x, y) {
    const sorted = points.filter((i) => y.values[i] > 0).sort((a, b) => x.values[a] - x.values[b] || y.values[a] - y.values[b]);
    let least = Infinity;
    return sorted.filter((i) => y.values[i] < least && (least = y.values[i], true));
}

function drawScatter() {
    const x = column("wall_time"), y = column("peak_memory");
    if (!x || !y) return;
    const known = view.filter((i) => !Number.isNaN(x.values[i]) && !Number.isNaN(y.values[i]));
    const best = front(known, x, y);
    const least = best.length ? y.values[best[best.length - 1]] : 0, greatest = largest(y);
    const isLog = least > 0 && greatest > SPREAD * least;
    const [xUnit, xPer] = unitFor(x, largest(x)), [yUnit, yPer] = unitFor(y, isLog ? Math.sqrt(least * greatest) : greatest);
    const at = (i) => ({x: x.values[i] / xPer, y: y.values[i] / yPer, i});
    const points = thin(known, x, y);
    const c = axes.find((a) => a.key === $("colour").value);
    const values = c ? [...new Set(known.map((i) => c.values[i]))].sort((a, b) => a - b) : [0];
    const most = data.colours.length;
    const groups = new Map();
    const groupOf = (v) => (values.length <= most ? values.indexOf(v) : Math.min(values.indexOf(v), most - 1));
    const place = new Map(values.map((v) => [v, groupOf(v)]));
    for (const i of points) {
        const g = c ? place.get(c.values[i]) : 0;
        if (!groups.has(g)) groups.set(g, []);
        groups.get(g).push(i);
    }
    const narrow = $("scatter").parentNode.clientWidth < 700;
    const end = (text) => (narrow && text.length > 36 ? "…" + text.slice(-35) : text); /* where names of studies differ */
    const label = (g) => (!c ? "points" : values.length > most && g === most - 1 ? "others"
        : c === studyAxis ? end(c.names[values[g]]) : `${c.label} ${c.names ? c.names[values[g]] : values[g]}`);
    const datasets = [...groups.keys()].sort((a, b) => a - b).map((g) => ({label: label(g), data: groups.get(g).map(at),
        backgroundColor: data.colours[g] + (dark() ? "" : "b0"), borderColor: data.colours[g], borderWidth: 0, pointRadius: points.length > 3000 ? 2 : 3.5,
        pointStyle: ["circle", "rect", "triangle", "rectRot"][g % 4], order: 2}));
    datasets.push({label: "best for their memory (Pareto front)", type: "line", data: best.map(at), stepped: "before", pointStyle: "circle",
        borderColor: theme("ink"), borderWidth: 1.5, pointRadius: 3, pointBackgroundColor: theme("ink"), order: 1});
    const limits = [...new Set(data.studies.map((s) => s.limit).filter((l) => l !== null))];
    const from = known.reduce((least, i) => Math.min(least, x.values[i]), Infinity) / xPer, to = largest(x) / xPer;
    for (const l of known.length ? limits : [])
        datasets.push({label: `memory of an NPU, ${digits(l / yPer)} ${yUnit}`, type: "line", data: [{x: from, y: l / yPer}, {x: to, y: l / yPer}],
            borderColor: theme("limit"), borderDash: [6, 4], borderWidth: 1.5, pointStyle: "line", pointRadius: 0, pointHitRadius: 0, order: 0});
    setChart("scatter", {type: "scatter", data: {datasets}, options: {
        parsing: false, normalized: true,
        scales: {x: axis(`step time (${xUnit})`, {type: from > 0 && to > SPREAD * from ? "logarithmic" : "linear"}),
            y: axis(`${narrow ? "memory" : "memory of the NPU that needs most"} (${yUnit})`, {type: isLog ? "logarithmic" : "linear"})},
        plugins: {legend: {labels: {color: theme("ink"), usePointStyle: true, boxHeight: 7, sort: (a, b) => a.datasetIndex - b.datasetIndex}},
            tooltip: {callbacks: {label: (p) => (p.raw.i === undefined ? p.dataset.label
                : [nameOf(p.raw.i), `${readable(x, p.raw.i)}, ${readable(y, p.raw.i)}`])}}},
        onClick: (e, found) => {
            const point = found.map((f) => datasets[f.datasetIndex].data[f.index]).find((p) => p.i !== undefined);
            if (point) choose(point.i, true);
        }}});
    $("scatter-note").textContent = `${known.length.toLocaleString("en")} points of the ranking above` +
        (points.length < known.length ? `, of which ${points.length.toLocaleString("en")} do not cover each other and are drawn` : "") +
        `; ${best.length} are on the Pareto front: no other is faster with as little memory. Choosing a point shows it above.`;
}

function drawBars() {
    const total = column("wall_time"), first = view.filter((i) => !Number.isNaN(total.values[i])).slice(0, 15);
    const [unit, per] = first.length ? unitFor(total, total.values[first[0]]) : ["s", 1e9];
    const parts = data.parts.map((p) => ({...p, column: column(p.key)}))
        .filter((p) => p.column && first.some((i) => p.column.values[i] > 0));
    const differ = (c) => first.some((i) => c.values[i] !== c.values[first[0]]);
    const told = varied.filter(differ), studies = hasStudies && first.some((i) => studyOf[i] !== studyOf[first[0]]);
    const label = (i) => [studies ? data.studies[studyOf[i]].name : "", names(i, told)].filter(Boolean).join(": ");
    const narrow = $("bars").parentNode.clientWidth < 700;
    const short = (text) => (text.length > (narrow ? 22 : 60) ? text.slice(0, narrow ? 21 : 59) + "…" : text);
    setChart("bars", {type: "bar", data: {labels: first.map((i, k) => `${k + 1}.  ${short(label(i))}`),
        datasets: parts.map((p) => ({label: p.label, backgroundColor: p.colour, data: first.map((i) => p.column.values[i] / per)}))},
        options: {indexAxis: "y", scales: {x: axis(`step time (${unit})`, {stacked: true}), y: axis("", {stacked: true, title: {display: false},
            grid: {display: false}, ticks: {color: theme("ink"), autoSkip: false}})},
        plugins: {legend: {labels: {color: theme("ink"), boxWidth: 14}},
            tooltip: {callbacks: {title: (items) => nameOf(first[items[0].dataIndex]),
                label: (p) => `${p.dataset.label}: ${digits(p.raw)} ${unit}`}}},
        onClick: (e, found) => found.length && choose(first[found[0].index], true)}});
}

let waiting = 0;
function draw() {
    waiting = 0;
    if (!data.n) return;
    drawHeat();
    if (!window.Chart) return;
    drawScatter();
    drawBars();
}
/* Once for all that changes together, and not for each letter of a filter. */
function drawSoon() {
    clearTimeout(waiting);
    waiting = setTimeout(draw, data.n > MANY ? 150 : 20);
}

/* ---- theme, paper ----------------------------------------------------------------------------- */

const dark = () => (document.documentElement.dataset.theme
    || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
function setTheme(name) {
    if (name) document.documentElement.dataset.theme = name;
    else delete document.documentElement.dataset.theme;
    $("theme").textContent = dark() ? "Light" : "Dark";
    $("theme").setAttribute("aria-label", dark() ? "light theme" : "dark theme");
}
$("theme").addEventListener("click", () => {
    setTheme(dark() ? "light" : "dark");
    draw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    setTheme(document.documentElement.dataset.theme);
    draw();
});
let before;
addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    setTheme("light");
    if (data.n) renderRows(30);
    draw();
});
addEventListener("afterprint", () => {
    setTheme(before);
    if (data.n) renderRows();
    draw();
});

/* ---- controls --------------------------------------------------------------------------------- */

function fill(id, list, value) {
    $(id).replaceChildren(...list.map(([key, text]) => element("option", text, {value: key})));
    if (value !== undefined) $(id).value = value;
}

setTheme();
$("theme").hidden = false;
if (!window.Chart)
    for (const e of document.querySelectorAll(".drawn")) e.remove();
if (!data.n) {
    for (const id of ["ranking", "chosen", "tradeoff", "heat", "parts"]) $(id)?.remove();
    return;
}
const limited = data.studies.some((s) => s.limit !== null);
$("fits").checked = limited && columns[0].values.some((v, i) => fits(i)); /* else the ranking would be empty */
$("fits-label").hidden = !limited;
$("study-label").hidden = !hasStudies;
fill("study", [["", "all"], ...data.studies.map((s, k) => [String(k), s.name])]);
fill("heat-x", axes.map((c) => [c.key, c.label]), (axes.find((c) => c.key === "tp") || axes[0])?.key);
fill("heat-y", axes.map((c) => [c.key, c.label]), (axes.find((c) => c.key === "pp") || axes.find((c) => c.key !== $("heat-x").value))?.key);
fill("heat-by", columns.filter((c) => c.better && c.shown).map((c) => [c.key, c.label]), data.by);
if (axes.length < 2) $("heat").remove();
if (window.Chart) fill("colour", [["", "none"], ...axes.map((c) => [c.key, c.label])], hasStudies ? "study" : (column("pp")?.varied ? "pp" : axes[0]?.key || ""));

for (const link of document.querySelectorAll("nav a"))
    if (!$(link.hash.slice(1))) link.parentNode.remove();

let typing = 0;
$("filter").addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(select, data.n > MANY ? 200 : 0);
});
for (const id of ["study", "fits"]) $(id).addEventListener("change", select);
for (const id of ["all", "exact"]) $(id).addEventListener("change", render);
for (const id of ["heat-x", "heat-y", "heat-by"]) $(id)?.addEventListener("change", drawHeat);
$("colour")?.addEventListener("change", drawScatter);
select();
choose(view.length ? view[0] : -1);
})();
