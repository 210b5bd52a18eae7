/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two recordings compared. Everything has two weights then: sums and trees hold the one after as
 * the weight and the one before as the count, and boxes are as wide as the choice "Width" says.
 * A place in the call tree was tested; what merges several places was not, and says so.
 */
const FEW = 0, SAME = 1, MORE = 2, LESS = 3;		/* enum delta_verdict */
const VERDICTS = ["too few samples to tell", "no difference beyond chance", "more than before", "less than before"];
const SIDES = { both: "both", after: "after", before: "before" };

/* nodes: how many the tree has. */
function readDelta(r, nodes)
{
	const d = { before: r.column(nodes, Float64Array), after: r.column(nodes, Float64Array),
		error: r.column(nodes, Float64Array), verdict: r.column(nodes, Uint8Array),
		shade: r.column(nodes, Uint8Array), beforeSelf: r.column(nodes, Float64Array),
		afterSelf: r.column(nodes, Float64Array) };
	const n = r.uv(), f = { n, node: r.column(n) };

	for (const field of ["before", "after", "error"])
		f[field] = r.column(n, Float64Array);
	f.verdict = r.column(n, Uint8Array);
	f.shade = r.column(n, Uint8Array);
	d.functions = f;
	return d;
}

/* The view of a function's own difference, by function of the page. */
function changesOf(event)
{
	const d = event.delta, byFunction = new Map();

	if (!d.byFunction) {
		for (let k = 0; k < d.functions.n; k++)
			byFunction.set(event.functions.same[event.nodes.func[d.functions.node[k]]], k);
		d.byFunction = byFunction;
	}
	return d.byFunction;
}

const deltaSums = (event) => ({ total: event.delta.after, totalCount: event.delta.before,
	self: event.delta.afterSelf, selfCount: event.delta.beforeSelf });

const deltaSelection = (event) => ({ list: new Int32Array(0), n: 0, runs: [],
	weight: event.delta.after[ROOT], count: event.delta.before[ROOT] });

/* The merged tree as it is: node i of it is node i of the event. */
function deltaTree(event)
{
	const tree = new Tree(event), { nodes, delta } = event;

	tree.reserve(nodes.n);
	tree.addGroup(-1, "all", 0, delta.after[ROOT], delta.before[ROOT]);
	for (let i = 1; i < nodes.n; i++)
		tree.add(nodes.parent[i], nodes.func[i], nodes.flags[i], i, delta.after[i], delta.before[i],
			delta.afterSelf[i], delta.beforeSelf[i]);
	return tree.end();
}

/* Keeps both weights, and makes the widths of what was chosen; before the nodes are placed. */
function chooseWidths(tree)
{
	tree.after = tree.total.slice(0, tree.n);
	tree.before = tree.totalCount.slice(0, tree.n);
	tree.afterSelf = tree.self.slice(0, tree.n);
	tree.beforeSelf = tree.selfCount.slice(0, tree.n);
	for (let i = 0; i < tree.n; i++)
		tree.total[i] = (state.side !== "before" ? tree.after[i] : 0) +
			(state.side !== "after" ? tree.before[i] : 0);
}

/*
 * The test of what a box holds, { verdict, error, shade }; null: nothing that was tested. It is that
 * of one place in the call tree, or that of a function's own weight. Both sums must be the same.
 */
function testOf(tree, i)
{
	const { event, before, after } = tree, d = event.delta, c = d.functions;
	const node = tree.nodeOf ? tree.nodeOf[i] ?? -1 : i, k = changesOf(event).get(tree.func[i]) ?? -1;
	const isOf = (x, at) => at >= 0 && x.before[at] === before[i] && x.after[at] === after[i];
	const of = isOf(d, node) ? [d, node] : isOf(c, k) ? [c, k] : null;

	return of && { verdict: of[0].verdict[of[1]], error: of[0].error[of[1]], shade: of[0].shade[of[1]] };
}

/* ---- Words ---- */

/* As delta_weight_text(): in the unit of the scale, so that a column can be read. */
function deltaText(weight, event, withUnit = true)
{
	const { unit, times, of, digits } = data.delta;

	if (!of)
		return weightText(weight, event);
	return (weight * times / of).toFixed(digits) + (withUnit && unit ? " " + unit : "");
}

function signedText(before, after, event, withUnit)
{
	const sign = after > before ? "+" : after < before ? "\u2212" : "";

	return sign + deltaText(Math.abs(after - before), event, withUnit);
}

/* As delta_relative_text(). */
function relativeText(before, after)
{
	if (!before)
		return after ? "new" : "";
	if (!after)
		return "gone";
	if (after >= 11 * before)
		return `\u00d7 ${Math.floor(after / before)}`;
	const part = 100 * Math.abs(after - before) / before;

	return (part < 0.05 ? "" : after > before ? "+" : "\u2212") + part.toFixed(1) + " %";
}

/* "before 12.00, after 15.10 % of one CPU: +3.10 ± 0.90 (+25.8 %), more than before" */
function describeDelta(tree, i)
{
	const e = tree.event, test = testOf(tree, i), f = tree.func[i];
	const before = tree.before[i], after = tree.after[i];
	const tested = test && test.verdict !== FEW ? ` \u00b1 ${deltaText(test.error, e, false)}` : "";
	const said = [`before ${deltaText(before, e, false)}, after ${deltaText(after, e)}`,
		`${signedText(before, after, e, false)}${tested} (${relativeText(before, after) || "no change"})`,
		test ? VERDICTS[test.verdict] : "several places together: not tested"];

	if (tree.beforeSelf[i] || tree.afterSelf[i])
		said.push(`self before ${deltaText(tree.beforeSelf[i], e, false)}, after ${deltaText(tree.afterSelf[i], e, false)}`);
	if (f >= 0)
		said.push(...originOf(e, f));
	said.push(...marksOf(tree, i));
	return said.join(" \u00b7 ");
}

function deltaMatchText()
{
	const hits = hitsNow(), event = shownEvent(), { nodes, delta } = event;
	let before = 0, after = 0;

	for (let i = 1; i < nodes.n; i++)
		if (hits[nodes.func[i]]) {
			before += delta.before[i];
			after += delta.after[i];
			i = nodes.last[i];
		}
	return `Matched: before ${deltaText(before, event, false)}, after ${deltaText(after, event)}`;
}

/* ---- Colours ---- */

/* By verdict, behind the kinds of frames. */
const KIND_OF_VERDICT = { [FEW]: 9, [SAME]: 8, [MORE]: 6, [LESS]: 7 };

function deltaColours(tree)
{
	const shades = shadesOf(tree.event), colours = new Uint8Array(tree.n);

	for (let i = 0; i < tree.n; i++) {
		const test = testOf(tree, i), verdict = test?.verdict ?? FEW, f = tree.func[i];

		colours[i] = KIND_OF_VERDICT[verdict] * SHADES + (verdict >= MORE ? 2 * test.shade - 1 : f < 0 ? 0 : shades[f]);
	}
	return colours;
}

/* ---- The view "Functions": those whose own weight was compared ---- */

const verdictRank = (v) => v >= MORE ? 0 : v === SAME ? 1 : 2;
const sizeOf = (c, k) => Math.abs(c.after[k] - c.before[k]);
const changedName = (k) => data.strings[shownEvent().functions.name[functionOfChange(k)]];
const functionOfChange = (k) => {
	const event = shownEvent();

	return event.functions.same[event.nodes.func[event.delta.functions.node[k]]];
};
const totalOf = (k) => functionsNow().total[functionOfChange(k)];
const DELTA_COLUMNS = [
	{ key: "change", title: "Difference (self)", compare: (c, a, b) => verdictRank(c.verdict[a]) - verdictRank(c.verdict[b]) ||
		sizeOf(c, b) - sizeOf(c, a) },
	{ key: "before", title: "Self before", compare: (c, a, b) => c.before[b] - c.before[a] },
	{ key: "self", title: "Self after", compare: (c, a, b) => c.after[b] - c.after[a] },
	{ key: "total", title: "Total after", compare: (c, a, b) => totalOf(b) - totalOf(a) },
	{ key: "name", title: "Function", compare: (c, a, b) => compareText(changedName(a), changedName(b)) },
	{ key: "file", title: "File", compare: (c, a, b) => compareText(functionFile(functionOfChange(a)), functionFile(functionOfChange(b))) },
];

function changeCell(k)
{
	const c = shownEvent().delta.functions, verdict = c.verdict[k], before = c.before[k], after = c.after[k];
	const swatch = make("i", { class: "swatch", "data-kind": KIND_OF_VERDICT[verdict] });
	const error = verdict === FEW ? "" : ` \u00b1 ${deltaText(c.error[k], shownEvent(), false)}`;

	return make("td", { class: "weight", title: VERDICTS[verdict] }, swatch,
		make("span", { class: "number" }, signedText(before, after, shownEvent(), false) + error),
		make("span", { class: "share" }, relativeText(before, after)));
}

function changeRow(k)
{
	const c = shownEvent().delta.functions, fn = functionOfChange(k), number = (w) =>
		make("td", { class: "number" }, deltaText(w, shownEvent(), false));
	const name = make("button", { type: "button", class: "link", title: "Callers and callees",
		onclick: () => openSandwich(fn) }, changedName(k));

	return make("tr", { class: c.verdict[k] >= MORE ? null : "chance" }, changeCell(k), number(c.before[k]),
		number(c.after[k]), number(totalOf(k)), make("th", { scope: "row" }, name), make("td", { class: "file" }, functionFile(fn)));
}

function sortedChanges()
{
	const event = shownEvent(), c = event.delta.functions, hits = hitsNow(), list = [];
	const column = DELTA_COLUMNS.find((x) => x.key === state.sort) ?? DELTA_COLUMNS[0];

	for (let k = 0; k < c.n; k++)
		if (!hits || hits[event.nodes.func[c.node[k]]])
			list.push(k);
	return list.sort((a, b) => column.compare(c, a, b) || a - b);
}

function countText(list)
{
	const { verdict } = shownEvent().delta.functions, differ = list.filter((k) => verdict[k] >= MORE).length;
	const few = list.filter((k) => verdict[k] === FEW).length, same = list.length - differ - few;

	return `${plural(list.length, "function")}${state.q ? " that match" : ""}: ${grouped(differ)} differ, ${
		grouped(same)} within chance, ${grouped(few)} with too few samples. ${
		data.delta.of ? `Numbers in ${data.delta.unit}; ` : ""}\u00b1 is the half of the interval that holds the true difference 95 times of 100.`;
}

/* What the panel of callers and callees says of its function. */
function deltaSumsText(fn)
{
	const event = shownEvent(), f = functionsNow(), k = changesOf(event).get(fn), c = event.delta.functions;
	const said = [`total before ${deltaText(f.totalCount[fn], event, false)}, after ${deltaText(f.total[fn], event)}`];

	if (k !== undefined)
		said.push(`self before ${deltaText(c.before[k], event, false)}, after ${deltaText(c.after[k], event, false)}: ${
			signedText(c.before[k], c.after[k], event, false)}${c.verdict[k] === FEW ? "" : ` \u00b1 ${deltaText(c.error[k], event, false)}`}`,
		VERDICTS[c.verdict[k]]);
	return [...said, ...originOf(event, fn)].join(" \u00b7 ");
}

/* The function that differs most. */
function mostChanged()
{
	const list = sortedChanges();

	return list.length ? functionOfChange(list[0]) : -1;
}
