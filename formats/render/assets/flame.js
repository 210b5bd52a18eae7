/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a flame graph interactive. The picture is complete without this script. Each box carries
 * its exact place as integers (data-x, data-w: units of weight, data-d: depth), so each zoom
 * divides once, from the exact values. Boxes are in pre-order: those below box i are i + 1 ..
 * last[i]. Foreign names are only ever set as text.
 *
 * The script runs before the boxes are parsed, so that the page around them is there at once and
 * they are laid out once. start() runs after them. Only properties of a box that change are
 * written.
 */
(() => {
"use strict";
const chart = document.getElementById("chart");
const svg = chart.ownerSVGElement;
const SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
const ROW = 18, TEXT_ROOM = 6, TEXT_MIN = 16, GAP_MIN = 3, MIDDLE_MIN = 100, ROWS_MIN = 40, TIP = 0.01;
const HINT = "Click a box to zoom, Esc to go back. / or Ctrl-F searches, n and N walk the matches; "
	+ "arrow keys walk the boxes, Enter zooms, Ctrl-C copies the name, i turns the graph, "
	+ "d shows details.";

const calm = matchMedia("(prefers-reduced-motion: reduce)");

/* Arrays with one entry per box, made by readBoxes(). */
let els, n, X, W, D, up, last, rects, texts, titles, names;
let shown, wide, faded, hit, lefts, shares, tops;

let zoomed = 0, focused = -1, query = "", icicle = false;
let widthPx = 0, hits = 0, pattern = null;
/* Rows that are shown; the others lie above the upper edge of the chart, or below the lower one. */
let rows = +svg.dataset.rows, allRows = rows, isTall = false;

const make = (name, attrs = {}, ...kids) => {
	const e = document.createElementNS(HTML, name);

	for (const k in attrs)
		e.setAttribute(k, attrs[k]);
	e.append(...kids);
	return e;
};

const makeSvg = (name, attrs = {}, ...kids) => {
	const e = document.createElementNS(SVG, name);

	for (const k in attrs)
		e.setAttribute(k, attrs[k]);
	e.append(...kids);
	return e;
};

const titleOf = (i) => titles[i] ??= els[i].firstElementChild.textContent;
const nameOf = (i) => names[i] ??= titleOf(i).split("\n", 1)[0];
const boxOf = (node) => node instanceof Element ? node.closest(".f")?.box ?? -1 : -1;
const rowY = (i) => 1 + ROW * (icicle ? D[i] : rows - 1 - D[i]);

function makeArrays()
{
	els = [...chart.getElementsByClassName("f")];
	n = els.length;
	[X, W, lefts, shares] = Array.from({ length: 4 }, () => new Float64Array(n));
	[up, last, D, tops] = Array.from({ length: 4 }, () => new Int32Array(n));
	[shown, wide, faded, hit] = Array.from({ length: 4 }, () => new Uint8Array(n));
	[rects, texts, titles, names] = Array.from({ length: 4 }, () => new Array(n));
}

function readBoxes()
{
	const open = [];

	makeArrays();
	els.forEach((e, i) => {
		X[i] = e.getAttribute("data-x");
		W[i] = e.getAttribute("data-w");
		D[i] = e.getAttribute("data-d");
		allRows = Math.max(allRows, D[i] + 1);
		lefts[i] = 100 * X[i] / W[0];
		shares[i] = W[i] / W[0];
		tops[i] = rowY(i);
		shown[i] = 1;
		e.box = i;
		rects[i] = e.firstElementChild.nextElementSibling;
		texts[i] = rects[i].nextElementSibling;
		wide[i] = e.classList.contains("w");
		while (open.length && D[open.at(-1)] >= D[i])
			last[open.pop()] = i - 1;
		up[i] = open.length ? open.at(-1) : -1;
		open.push(i);
		e.setAttribute("role", "treeitem");
		e.setAttribute("aria-level", D[i] + 1);
	});
	while (open.length)
		last[open.pop()] = n - 1;
}

/* ---- Labels: the longest form of a name that fits. Widths are measured, not estimated. ---- */

const pen = make("canvas").getContext("2d");
const advance = new Map();

function textPx(s)
{
	let px = 0;

	for (const c of s) {
		if (!advance.has(c))
			advance.set(c, pen.measureText(c).width);
		px += advance.get(c);
	}
	return px;
}

/* The ends of names tell more than what is before them; in little room there is only a beginning. */
function cut(s, room)
{
	const chars = [...s], half = room >= MIDDLE_MIN ? (room - textPx("\u2026")) / 2 : 0;
	let left = room - textPx("\u2026") - half, right = half, from = chars.length, to = 0;

	while (from > 0 && (right -= textPx(chars[from - 1])) >= 0)
		from--;
	while (to < from && (left -= textPx(chars[to])) >= 0)
		to++;
	return to ? chars.slice(0, to).join("") + "\u2026" + chars.slice(from).join("") : "";
}

/* f<int>(char) const -> f<int>; "operator()" and "main.(*T).Method" stay. */
function withoutArguments(s)
{
	const t = s.replace(/( const| volatile| noexcept| &&?| \[[^\]]*\])+$/, "");
	let deep = 0, i = t.length;

	if (!t.endsWith(")"))
		return s;
	while (--i > 0) {
		deep += t[i] === ")" ? 1 : t[i] === "(" ? -1 : 0;
		if (!deep)
			break;
	}
	return i > 0 && !t.slice(0, i).endsWith("operator") ? t.slice(0, i) : s;
}

/* std::map<int, T>::find -> std::map::find; "operator<", "<module>" stay. */
function withoutTemplates(s)
{
	let out = "", deep = 0;

	for (let i = 0; i < s.length; i++) {
		if (s[i] === "<" && !/operator<?$/.test(s.slice(Math.max(0, i - 9), i)))
			deep++;
		else if (s[i] === ">" && deep && s[i - 1] !== "-" && s[i - 1] !== "=")
			deep--;
		else if (!deep)
			out += s[i];
	}
	return !deep && out.replace(/^::/, "") || s;
}

/* unsigned long ns::f -> ns::f; only of a name that had arguments. "(anonymous namespace)" stays. */
function withoutReturnType(s)
{
	let deep = 0, end = 0;

	for (let i = 0; i < s.length; i++) {
		deep += "(<{".includes(s[i]) ? 1 : ")>}".includes(s[i]) && s[i - 1] !== "-" ? -1 : 0;
		if (s[i] === " " && !deep)
			end = i + 1;
	}
	return s.includes("operator") ? s : s.slice(end) || s;
}

/* LazyCompile:~run a.js:1 -> run; py::run:/srv/a.py -> run. */
const SCRIPT = /^(?:(?:LazyCompile|Function|JS):[~*^+]*(.+?) |py::(.+?):\/)/;
/* "sort.cold", "sort.constprop.0" are names that compilers make. */
const SEPARATOR = /(?:::|\.(?!cold|part|isra|constprop|llvm|lto_)|\/)(?=[\p{L}_$(<{*~])/uy;

/*
 * The last parts of a path: java.util.HashMap.put -> HashMap.put, metrics.(*T).Get -> Get. Parts
 * such as {{closure}}, <init> and operator() say nothing without the one before.
 */
function lastParts(s, parts)
{
	const script = SCRIPT.exec(s), starts = [0];
	let deep = 0, word = 0, isOperator = false;

	if (script)
		return script[1] ?? script[2];
	for (let i = 0; i < s.length && s[0] !== "/" && !isOperator; i++) {
		SEPARATOR.lastIndex = i;
		const found = i && !deep && SEPARATOR.exec(s);

		if (found)
			starts.push(i += found[0].length);
		isOperator = s.startsWith("operator", i) && !/\w/.test(s[i - 1] ?? "");
		word = !deep && s[i] === " " ? i + 1 : word;
		if ("(<{[".includes(s[i]))
			deep++;
		else if (deep && ")>}]".includes(s[i]) && !(s[i] === ">" && s[i - 1] === "-"))
			deep--;
	}
	/* The type that an operator returns stands before the first part of its path. */
	if (isOperator && word < (starts[1] ?? s.length))
		starts[0] = word;
	while (parts < starts.length && /^(?:[{<]|operator)/.test(s.slice(starts.at(-parts))))
		parts++;
	return s.slice(starts.at(-parts)).replaceAll(";", "");
}

function label(i, room)
{
	const levels = els[i].dataset.l ? ` \u00d7${els[i].dataset.l}` : "";
	const left = levels ? room - textPx(levels) : 0;

	return left >= TEXT_MIN ? shortName(i, left) + levels : shortName(i, room);
}

function shortName(i, room)
{
	const name = els[i].dataset.n ?? nameOf(i);		/* as people read it, where that differs */

	if (textPx(name) <= room)
		return name;
	if (els[i].dataset.k === "s")
		return cut(name, room);

	const plain = withoutArguments(name);
	const bare = withoutTemplates(plain);
	const called = plain !== name ? withoutReturnType(bare) : bare;
	const base = lastParts(called, 1);

	return [plain, bare, called, lastParts(called, 2), base].find((t) => textPx(t) <= room)
		?? cut(base, room);
}

/* ---- Drawing ---- */

function drawText(i)
{
	const room = shares[i] * widthPx - TEXT_ROOM;
	const s = room >= TEXT_MIN ? label(i, room) : "";

	if (!texts[i]) {
		if (!s)
			return;
		texts[i] = els[i].appendChild(makeSvg("text", { dx: 3 }));
	}
	if (texts[i].textContent !== s)
		texts[i].textContent = s;
	texts[i].setAttribute("y", tops[i] + 13);
	texts[i].setAttribute("x", lefts[i] + "%");
}

function mark(i, name, marks, is)
{
	if (marks[i] !== +is)
		els[i].classList.toggle(name, marks[i] = +is);
}

function drawBox(i, isAbove)
{
	const share = isAbove ? 1 : W[i] / W[zoomed];
	const left = isAbove ? 0 : 100 * (X[i] - X[zoomed]) / W[zoomed];
	const top = rowY(i);

	if (lefts[i] !== left)
		rects[i].setAttribute("x", (lefts[i] = left) + "%");
	if (shares[i] !== share)
		rects[i].setAttribute("width", 100 * (shares[i] = share) + "%");
	if (tops[i] !== top)
		rects[i].setAttribute("y", tops[i] = top);
	mark(i, "a", faded, isAbove);
	mark(i, "w", wide, share * widthPx >= GAP_MIN);
	drawText(i);
}

/*
 * How many rows are worth their room: rows at the tips of a few deep stacks are not, unless these
 * are zoomed or asked for. A zoom never takes rows away, so that the root stays where it is.
 */
function rowsFor(i)
{
	const weight = new Float64Array(allRows);
	let most = allRows;

	for (let k = i; k <= last[i]; k++)
		weight[D[k]] += W[k];
	while (most > ROWS_MIN && !(weight[most - 1] >= TIP * W[i]))
		most--;
	return Math.min(allRows, most);
}

function setRows()
{
	const few = rowsFor(0);

	rows = isTall ? allRows : Math.max(few, rowsFor(zoomed));
	tips.hidden = rows === allRows;
	chart.setAttribute("height", rows * ROW + 2);
	setViewBox();
	tallButton.hidden = few === allRows;
	tallButton.textContent = isTall ? "Hide narrow tips" : `Show all ${allRows} rows`;
	tallButton.disabled = !isTall && rows === allRows;
}

function draw()
{
	setRows();
	for (let i = 0; i < n; i++) {
		const isAbove = i < zoomed && last[i] >= zoomed;
		const isIn = isAbove || (i >= zoomed && i <= last[zoomed]);

		if (+isIn !== shown[i]) {
			els[i].style.display = isIn ? "" : "none";
			shown[i] = +isIn;
		}
		if (isIn)
			drawBox(i, isAbove);
	}
	if (focused >= 0 && !shown[focused])
		setFocused(zoomed);
	ring(focusRing, focusRing.on ? focused : -1);
	ring(hoverRing, -1);
	sayMatched(pattern);
	resetButton.disabled = !zoomed;
	turnButton.textContent = icicle ? "Show as flame" : "Show as icicle";
}

function ring(rect, i)
{
	rect.style.display = i < 0 ? "none" : "";
	if (i < 0)
		return;
	for (const a of ["x", "y", "width"])
		rect.setAttribute(a, rects[i].getAttribute(a));
}

const percent = (part, whole) => (100 * part / whole).toFixed(2) + "%";

/* The title of a box, which is also its tooltip and what a screen reader says, knows the zoom. */
function retitle(i)
{
	const isIn = zoomed && !svg.dataset.diff && i >= zoomed && i <= last[zoomed];
	const title = titleOf(i) + (isIn ? `\n${percent(W[i], W[zoomed])} of the zoom` : "");

	if (els[i].firstElementChild.textContent !== title)
		els[i].firstElementChild.textContent = title;
	return title;
}

function say(i)
{
	if (i < 0)
		return foot.replaceChildren(HINT);
	const [name, ...rest] = retitle(i).split("\n");

	foot.replaceChildren(make("b", {}, name), rest.join(" \u00b7 "));
}

const sayDefault = () => say(focused >= 0 ? focused : zoomed || -1);

/*
 * ---- The page: heading and buttons on top, details at the bottom, both always in sight. ----
 *
 * The page fills the window, and the boxes scroll inside it instead of the document. So a program
 * that takes a picture of the document without scrolling gets the title and the root as well.
 */

const button = (id, text, hint) => make("button", { id, type: "button", title: hint }, text);
const resetButton = button("reset", "Reset zoom", "Show everything (Esc)");
const turnButton = button("invert", "Show as icicle", "Turn the graph upside down (i)");
const tallButton = button("tall", "Show all rows", "Rows at the tips of a few deep stacks (t)");
const factsButton = button("facts-button", "Details", "Where this comes from, how good it is (d)");
const clearButton = button("clear", "Clear", "Forget the search (Esc)");
const input = make("input", { id: "search", type: "search", spellcheck: "false",
	placeholder: "Search functions (regex)", autocomplete: "off",
	"aria-label": "Search functions, regular expression",
	title: "Regular expression; case counts when it has a capital letter (/ or Ctrl-F)" });
const matched = make("output", { id: "matched", role: "status" });
const head = make("div", { id: "head" });
const tips = make("span");
const facts = make("div", { id: "details", hidden: "" });
const foot = make("div", { id: "foot" });
const page = make("div", { id: "page" });
const hoverRing = makeSvg("rect", { class: "ring", height: ROW - 1 });
const focusRing = makeSvg("rect", { class: "ring", id: "focus", height: ROW - 1 });

function legend()
{
	const list = make("ul", { "aria-label": "Colours" });

	for (const swatch of document.querySelectorAll("#legend rect")) {
		const square = { width: 12, height: 12 };
		const icon = makeSvg("svg", { ...square, "aria-hidden": "true" },
			makeSvg("rect", { ...square, class: swatch.getAttribute("class") }));

		list.append(make("li", {}, icon, swatch.nextElementSibling.textContent));
	}
	for (const e of document.querySelectorAll("#legend .guess"))
		list.append(make("li", { class: "guess" }, e.textContent));
	return list;
}

/* In the picture these lines were broken for one width; in the page they flow. */
function moveLines(id, to)
{
	const from = document.getElementById(id);

	for (const e of from.querySelectorAll("text:not(.t)")) {
		if (e.classList.contains("tips")) {
			tips.append(` \u00b7 ${e.textContent}`);
			to.lastChild.append(tips);
		} else if (e.classList.contains("more")) {
			to.lastChild.append(" " + e.textContent);
		} else {
			to.append(make("p", { class: e.getAttribute("class") }, e.textContent));
		}
	}
	from.remove();
}

function buildPage()
{
	head.append(make("div", { id: "top" }, make("h1", {}, document.title), legend()));
	moveLines("head-text", head);
	moveLines("facts", facts);
	factsButton.setAttribute("aria-controls", facts.id);
	head.append(facts, make("div", { id: "bar", role: "toolbar", "aria-label": "Flame graph" },
		resetButton, turnButton, tallButton, factsButton, input, clearButton, matched));
	showFacts(false);
	document.getElementById("legend").remove();
	svg.removeAttribute("role");
	svg.removeAttribute("viewBox");
	svg.setAttribute("width", "100%");
	svg.style.height = "100vh";
	chart.setAttribute("role", "tree");
	chart.setAttribute("aria-label", "Call tree");
	page.append(head, chart, foot);
	svg.append(makeSvg("foreignObject", { width: "100%", height: "100%" }, page));
	page.scrollTop = page.scrollHeight;
}

function resize()
{
	pen.font = getComputedStyle(chart).font;
	widthPx = chart.getBoundingClientRect().width;
	chart.setAttribute("preserveAspectRatio", "none");
	draw();
}

/* The scale is 1 here; on paper it shrinks so that one page has room (flame.css). */
function setViewBox()
{
	chart.setAttribute("viewBox", `0 0 ${widthPx} ${rows * ROW + 2}`);
}

/* The heading stays in sight unless it would hide the boxes. */
function pin()
{
	head.classList.toggle("pinned", head.offsetHeight < page.clientHeight / 2);
	head.classList.toggle("over", page.scrollTop > 0);
}

function reveal(i, isJump)
{
	const box = rects[i].getBoundingClientRect();
	const above = box.top - ROW - Math.max(0, head.getBoundingClientRect().bottom);
	const below = box.bottom + ROW - foot.getBoundingClientRect().top;
	const behavior = isJump || calm.matches ? "instant" : "smooth";

	if (above < 0)
		page.scrollBy({ top: above, behavior });
	else if (below > 0)
		page.scrollBy({ top: below, behavior });
}

/* ---- Actions. The state is kept in the URL, so it survives a reload and can be passed on. ---- */

function keep(isStep)
{
	const p = new URLSearchParams();

	if (zoomed) {
		p.set("x", els[zoomed].dataset.x);
		p.set("d", D[zoomed]);
	}
	if (query)
		p.set("q", query);
	if (icicle)
		p.set("v", "icicle");
	const url = location.href.split("#")[0] + (p.size ? "#" + p : "");

	try {
		history[isStep ? "pushState" : "replaceState"](null, "", url);
	} catch {
		/* not allowed where this page is embedded: then the state is not kept */
	}
}

function restore()
{
	const p = new URLSearchParams(location.hash.slice(1));
	const x = +p.get("x"), d = p.has("d") ? +p.get("d") : -1;

	icicle = p.get("v") === "icicle";
	zoomed = Math.max(0, D.findIndex((v, i) => v === d && X[i] === x));
	input.value = p.get("q") ?? "";
	search(input.value);
	sayDefault();
}

function zoom(i)
{
	if (i === zoomed)
		return;
	zoomed = i;
	draw();
	keep(true);
	sayDefault();
	reveal(i);
}

function turn()
{
	icicle = !icicle;
	draw();
	keep(false);
	reveal(focused >= 0 ? focused : zoomed, true);
}

function turnTall()
{
	isTall = !isTall;
	draw();
	reveal(focused >= 0 ? focused : zoomed, true);
}

/* The boxes stay where they are, unless they would be under the heading. */
function showFacts(is)
{
	const before = head.offsetHeight;

	facts.hidden = !is;
	factsButton.setAttribute("aria-expanded", is);
	if (!icicle)
		page.scrollTop += head.offsetHeight - before;
}

/* The share of a box's weight in which some function matches; a match below a match counts once. */
function coverage(root)
{
	let sum = 0;

	for (let i = root; i <= last[root]; i++) {
		if (!hit[i])
			continue;
		sum += W[i];
		i = last[i];
	}
	return (100 * sum / W[root]).toFixed(1) + "%";
}

function sayMatched(re)
{
	const zoom = zoomed ? `, ${coverage(zoomed)} of the zoom` : "";

	matched.textContent = re ? `Matched: ${coverage(0)}${zoom}` : query ? "Not a pattern" : "";
	matched.title = re ? `${hits} of ${n} boxes; a match below a match counts once` : "";
}

/* "^std::sort<.*>$" finds "void std::sort<int*>(int*, int*)", too. */
function isFound(re, name)
{
	const plain = withoutArguments(name);

	return re.test(name) || plain !== name && re.test(withoutReturnType(plain));
}

function search(text)
{
	let re = null;

	query = text;
	hits = 0;
	input.removeAttribute("aria-invalid");
	try {
		re = text && new RegExp(text, /[A-Z]/.test(text.replace(/\\./g, "")) ? "" : "i");
	} catch {
		input.setAttribute("aria-invalid", "true");
	}
	for (let i = 0; i < n; i++) {
		const is = re ? +isFound(re, nameOf(i)) : 0;

		hits += is;
		mark(i, "m", hit, is);
	}
	clearButton.disabled = !text;
	pattern = re;
	sayMatched(re);
}

function searchAndKeep(text)
{
	input.value = text;
	search(text);
	keep(false);
}

function setFocused(i)
{
	els[focused < 0 ? 0 : focused].removeAttribute("tabindex");
	els[i].setAttribute("tabindex", "0");
	focused = i;
}

function focusOn(i)
{
	if (i < 0)
		return;
	setFocused(i);
	if (D[i] >= rows)
		turnTall();
	els[i].focus({ preventScroll: true });
	ring(hoverRing, -1);
	reveal(i);
}

const widestChild = (i) => {
	let best = -1;

	for (let c = i + 1; c <= last[i]; c = last[c] + 1)
		if (shown[c] && (best < 0 || W[c] > W[best]))
			best = c;
	return best;
};

const beside = (i, step) => {
	let k = i + step;

	while (k >= 0 && k < n && !(D[k] === D[i] && shown[k]))
		k += step;
	return k < n ? k : -1;
};

function nextHit(step)
{
	let i = focused < 0 ? (step > 0 ? -1 : n) : focused;

	for (let tries = 0; tries < n; tries++) {
		i = (i + step + n) % n;
		if (hit[i] && shown[i])
			return focusOn(i);
	}
}

const here = () => focused >= 0 ? focused : zoomed;
const back = () => zoomed ? zoom(0) : query && searchAndKeep("");
const keys = {
	ArrowUp: () => focusOn(icicle ? up[here()] : widestChild(here())),
	ArrowDown: () => focusOn(icicle ? widestChild(here()) : up[here()]),
	ArrowLeft: () => focusOn(beside(here(), -1)),
	ArrowRight: () => focusOn(beside(here(), 1)),
	PageUp: () => page.scrollBy(0, -0.8 * page.clientHeight),
	PageDown: () => page.scrollBy(0, 0.8 * page.clientHeight),
	Home: () => focusOn(zoomed),
	Enter: () => zoom(here()),
	" ": () => zoom(here()),
	Escape: back,
	"/": () => input.select(),
	n: () => nextHit(1),
	N: () => nextHit(-1),
	i: turn,
	t: () => tallButton.hidden || turnTall(),
	d: () => showFacts(facts.hidden),
};

function onKey(e)
{
	const isCommand = e.ctrlKey || e.metaKey;

	if (isCommand && e.key === "f" && document.activeElement !== input) {
		e.preventDefault();
		input.select();
		return;
	}
	if (isCommand || e.altKey || !Object.hasOwn(keys, e.key))
		return;
	if (e.target === input) {
		if (e.key === "Enter")
			nextHit(1);
		else if (e.key === "Escape")
			input.value ? searchAndKeep("") : focusOn(zoomed);
		return;
	}
	if (e.target.localName === "button" && (e.key === "Enter" || e.key === " "))
		return;
	e.preventDefault();
	keys[e.key]();
}

function listen()
{
	chart.addEventListener("click", (e) => {
		const i = boxOf(e.target);

		if (i < 0)
			return;
		setFocused(i);
		els[i].focus({ preventScroll: true });
		zoom(i);
	});
	chart.addEventListener("mouseover", (e) => {
		const i = boxOf(e.target);

		ring(hoverRing, i);
		i < 0 ? sayDefault() : say(i);
	});
	chart.addEventListener("mouseleave", () => {
		ring(hoverRing, -1);
		sayDefault();
	});
	chart.addEventListener("focusin", (e) => {
		const i = boxOf(e.target);

		if (i < 0)
			return;
		focused = i;
		focusRing.on = e.target.matches(":focus-visible");
		ring(focusRing, focusRing.on ? i : -1);
		say(i);
	});
	chart.addEventListener("focusout", () => {
		focusRing.on = false;
		ring(focusRing, -1);
	});
	document.addEventListener("keydown", onKey);
	document.addEventListener("copy", (e) => {
		if (focused < 0 || document.activeElement === input || !getSelection().isCollapsed)
			return;
		e.clipboardData.setData("text/plain", nameOf(focused));
		e.preventDefault();
	});
	resetButton.addEventListener("click", () => zoom(0));
	turnButton.addEventListener("click", turn);
	tallButton.addEventListener("click", turnTall);
	factsButton.addEventListener("click", () => showFacts(facts.hidden));
	clearButton.addEventListener("click", () => searchAndKeep(""));
	input.addEventListener("input", () => searchAndKeep(input.value));
	addEventListener("popstate", () => {
		restore();
		draw();
	});
	new ResizeObserver(() => chart.getBoundingClientRect().width !== widthPx && resize()).observe(page);
	page.addEventListener("scroll", pin);
}

function start()
{
	readBoxes();
	els[0].setAttribute("tabindex", "0");
	chart.append(hoverRing, focusRing);
	listen();
	restore();
	resize();
	reveal(zoomed, true);
}

buildPage();
new ResizeObserver(pin).observe(page);
document.addEventListener("DOMContentLoaded", start);
})();
