/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All that the user has chosen. It is kept in the URL behind "#", so a link shows the same picture
 * to somebody else, and Back undoes a step. Values that are as at first are left out.
 */
const FIRST = { event: 0, view: "flame", group: "none", icicle: false, inverted: false, process: null, thread: null,
	cpu: null, activity: null, from: null, to: null, q: "", zoom: "all", fn: null, sort: "self", rows: "thread", quiet: false,
	heat: false, side: "both", theme: "auto", folded: false, least: 0, also: null, scan: null, last: null, order: "cpu" };
const NUMBERS = new Set(["event", "process", "thread", "cpu", "activity", "from", "to", "fn", "least", "also", "scan", "last"]);
const SWITCHES = new Set(["icicle", "inverted", "quiet", "heat", "folded"]);
const WORDS = { side: ["both", "after", "before"], view: ["flame", "functions", "sandwich", "threads", "waits", "tree", "now"], theme: ["auto", "light", "dark"],
	rows: ["thread", "process", "program", "cpu"], sort: ["self", "total", "name", "file", "change", "before"],
	order: ["process", "thread", "state", "cpu", "waited", "wait", "user", "kernel"] };

let data;				/* of readData() */
const state = { ...FIRST };
const parts = [];			/* { changed(keys) }: what shows the state */
let updating = false;			/* the parts are told of new data, not of a choice (live.js) */

/* Whatever stands in a link, the state is one that the page can show. */
function accept(key, text)
{
	const n = Number(text);

	if (SWITCHES.has(key))
		return text === "1";
	if (NUMBERS.has(key))
		return Number.isFinite(n) && text !== "" ? n : FIRST[key];
	if (key in WORDS)
		return WORDS[key].includes(text) ? text : FIRST[key];
	return text;
}

/* What --by, --inverted, --callers, --callees and the like ask for is there at first. */
function firstWishes()
{
	const { by, inverted, part } = data.wishes;

	FIRST.folded = data.wishes.folded;
	FIRST.least = data.wishes.min_percent;
	FIRST.quiet = data.all_threads;
	FIRST.inverted = inverted;
	if (part)
		wishFunction(part);
	if (data.delta) {
		FIRST.sort = "change";
		return;
	}
	FIRST.group = data.events[FIRST.event].is_wall ? "state" : "program";
	if (by.length) {
		const levels = by.filter((l) => l in LEVELS);

		GROUPINGS.asked = { label: levels.join(", ") || "nothing", levels };
		FIRST.group = "asked";
	}
}

/* Of the first event that has such a function, by its name or by a regular expression. */
function wishFunction(wanted)
{
	const pattern = patternOf(wanted);

	for (const fits of [(s) => s === wanted, (s) => pattern?.test(s)])
		for (const [i, { functions, nodes }] of data.events.entries()) {
			const f = nodes.func.find((g) => fits(data.strings[functions.name[g]]));

			if (f !== undefined)
				return Object.assign(FIRST, { event: i, fn: functions.same[f], view: "sandwich" });
		}
}

function readHash()
{
	const p = new URLSearchParams(location.hash.slice(1));

	for (const key in FIRST)
		state[key] = p.has(key) ? accept(key, p.get(key)) : FIRST[key];
	if (!data.events[state.event])
		state.event = 0;
	if (!shownViews().some((v) => v.key === state.view))
		state.view = FIRST.view;
	if (!Object.hasOwn(GROUPINGS, state.group))
		state.group = "none";
	if (data.live)
		state.heat = false;
	Object.assign(state, followedWindow(state.last));
	if (state.fn !== null && !(state.fn >= 0 && state.fn < (data.events[state.event]?.functions.n ?? 0)))
		state.fn = null;
}

function writeHash(isStep)
{
	const p = new URLSearchParams();

	for (const key in FIRST)
		if (state[key] !== FIRST[key] && !(state.last !== null && (key === "from" || key === "to")))
			p.set(key, state[key] === true ? "1" : state[key] === false ? "0" : state[key]);
	const url = location.href.split("#")[0] + (p.size ? "#" + p : "");

	if (url === location.href)
		return;
	try {
		history[isStep ? "pushState" : "replaceState"](null, "", url);
	} catch {
		/* not allowed where this page is embedded: then the state is not kept */
	}
}

/* Redraws all that depends on what has changed. */
function show(keys)
{
	for (const part of parts)
		part.changed(keys);
}

/* isStep: Back undoes it; null: it is not kept yet, because more will follow at once. */
function change(values, isStep = true)
{
	/* A window that is chosen stands still. */
	if (("from" in values || "to" in values) && !("last" in values))
		values = { ...values, last: null };
	values = { ...values, ...followedWindow(values.last) };
	const keys = new Set(Object.keys(values).filter((k) => state[k] !== values[k]));

	if (!keys.size)
		return isStep && writeHash(true);
	Object.assign(state, values);
	if (isStep !== null)
		writeHash(isStep);
	show(keys);
}

const shownEvent = () => eventAt(state.event);
/* The one that stands below it; null: none. */
const alsoEvent = () => state.also !== null && state.also !== state.event && eventAt(state.also) || null;

/* What is computed from the state is computed once, until one of its keys changes, or the data do. */
function memo(keys, compute)
{
	let value, seen = null;

	return () => {
		const now = JSON.stringify([data.version, ...keys.map((k) => state[k])]);

		if (now !== seen) {
			value = compute();
			seen = now;
		}
		return value;
	};
}

const FILTERS = ["event", "process", "thread", "cpu", "activity", "quiet", "folded"];
const selectionNow = memo([...FILTERS, "from", "to"], () => data.delta ? deltaSelection(shownEvent()) : select(shownEvent()));
const selectionOfAllTime = memo(FILTERS, () => select(shownEvent(), false));
const selectionOfAllThreads = memo(FILTERS, () => select(shownEvent(), false, true));
const selectionOfAlso = memo([...FILTERS, "also"], () => select(alsoEvent(), false));
const selectionOfAlsoThreads = memo([...FILTERS, "also"], () => select(alsoEvent(), false, true));
const sumsNow = memo([...FILTERS, "from", "to"], () => data.delta ? deltaSums(shownEvent()) :
	sumNodes(shownEvent(), selectionNow()));
const functionsNow = memo([...FILTERS, "from", "to"], () => sumFunctions(shownEvent(), sumsNow()));
const treeNow = memo([...FILTERS, "from", "to", "group", "inverted", "side"], () => state.inverted ?
	invertedTree(shownEvent(), selectionNow(), sumsNow()) : data.delta ? deltaTree(shownEvent()) :
	callTree(shownEvent(), selectionNow(), GROUPINGS[state.group]));

/* The window of time, which is all of it if none was chosen. */
function windowNow()
{
	return { from: state.from ?? 0, to: state.to ?? spanNow() };
}

/* From the beginning to the last sample of any event. */
const spanNow = (() => {
	let span;

	return () => data.span ?? (span ??= Math.max(1, ...data.events.map((e) => {
		let most = 0;

		for (let i = 0; i < e.samples.n; i++)
			most = Math.max(most, e.samples.time[i]);
		return most + e.tick_ns;
	})));
})();
