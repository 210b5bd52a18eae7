/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions as a table: self and total, with bars; sorted by a click on a heading. Only the
 * first rows are there, more on demand. The search hides what does not match.
 */
const ROWS_AT_ONCE = 200;
const COLUMNS = [
	{ key: "self", title: "Self", compare: (f, a, b) => f.self[b] - f.self[a] || f.total[b] - f.total[a] },
	{ key: "total", title: "Total", compare: (f, a, b) => f.total[b] - f.total[a] || f.self[b] - f.self[a] },
	{ key: "name", title: "Function", compare: (f, a, b) => compareText(functionName(a), functionName(b)) },
	{ key: "file", title: "File", compare: (f, a, b) => compareText(functionFile(a), functionFile(b)) },
];

const compareText = (a, b) => a < b ? -1 : a > b ? 1 : 0;
const functionName = (f) => data.strings[shownEvent().functions.name[f]];
/* As people read it; its title has the whole name. */
const functionShown = (f) => data.strings[shownEvent().functions.shown[f]] || functionName(f);
const functionFile = (f) => data.strings[shownEvent().functions.binary[f] || shownEvent().functions.file[f]];

function sortedFunctions()
{
	if (data.delta)
		return sortedChanges();
	const f = functionsNow(), hits = hitsNow(), functions = shownEvent().functions;
	const list = [];

	for (let i = 0; i < f.total.length; i++)
		if (f.totalCount[i] && functions.kind[i] !== SYNTHETIC && (!hits || hits[i]))
			list.push(i);
	return list.sort((a, b) => COLUMNS.find((c) => c.key === state.sort).compare(f, a, b) || a - b);
}

/* Text in an element, which is only told of what differs from before. */
class Told {
	constructor(name, attrs)
	{
		this.text = "";
		this.node = new Text("");
		this.element = make(name, attrs, this.node);
	}

	set(text)
	{
		if (text !== this.text)
			this.node.data = this.text = text;
	}
}

class WeightCell {
	constructor()
	{
		this.bar = make("span", { class: "bar" });
		this.width = "";
		this.number = new Told("span", { class: "number" });
		this.share = new Told("span", { class: "share" });
		this.element = make("td", { class: "weight" }, this.bar, this.number.element, this.share.element);
	}

	set(weight, whole)
	{
		const width = (whole ? 100 * weight / whole : 0).toFixed(2) + "%";

		if (width !== this.width)
			this.bar.style.width = this.width = width;
		this.number.set(weightText(weight, shownEvent()));
		this.share.set(shareText(weight, whole));
	}
}

/*
 * A row stays where it is and shows one function after the other: new rows would cost much more.
 * A click is meant for what was there when the button went down.
 */
class FunctionRow {
	constructor()
	{
		this.self = new WeightCell();
		this.total = new WeightCell();
		this.name = new Told("button", { type: "button", class: "link",
			onpointerdown: () => { this.pressed = this.fn; }, onclick: (e) => openSandwich(e.detail ? this.pressed ?? this.fn : this.fn) });
		this.file = new Told("td", { class: "file" });
		this.element = make("tr", {}, this.self.element, this.total.element, make("th", { scope: "row" }, this.name.element), this.file.element);
	}

	set(fn)
	{
		const f = functionsNow(), whole = selectionNow().weight;

		this.fn = fn;
		this.self.set(f.self[fn], whole);
		this.total.set(f.total[fn], whole);
		this.name.set(functionShown(fn));
		this.name.element.title = functionName(fn);
		this.file.set(functionFile(fn));
	}
}

/* Rows where two recordings are compared do not change. */
class ChangeRow {
	set(k)
	{
		const row = changeRow(k);

		this.element?.replaceWith(row);
		this.element = row;
	}
}

function heading(column)
{
	const sorted = state.sort === column.key;

	return make("th", { scope: "col", "aria-sort": sorted ? (column.key === "name" || column.key === "file" ?
		"ascending" : "descending") : null },
	button(column.title + (sorted ? " \u25be" : ""), "Sort by this", () => change({ sort: column.key }, false)));
}

function makeFunctionsPanel()
{
	const head = make("tr"), body = make("tbody"), count = make("p", { class: "note" });
	const more = button("More rows", "Show more functions", () => fill(rows.length, rows.length + ROWS_AT_ONCE));
	const table = make("table", { id: "functions", class: data.delta ? "compared" : null }, make("caption", { class: "hidden" }, "Functions by weight"),
		make("thead", {}, head), body);
	const panel = make("section", { class: "panel scrolls", id: "panel-functions", "aria-label": "Functions", tabindex: "0" },
		count, table, more);
	const rows = [];
	let list = [], sorted = null;

	/* The rows from .. to show what the list has there, and there are no more. */
	function fill(from, to)
	{
		const before = rows.length, end = Math.min(to, list.length);

		while (rows.length > end)
			rows.pop().element.remove();
		while (rows.length < end)
			rows.push(data.delta ? new ChangeRow() : new FunctionRow());
		for (let i = from; i < end; i++)
			rows[i].set(list[i]);
		body.append(...rows.slice(before).map((row) => row.element));
		if (data.delta)
			paintLegends();
		more.hidden = end >= list.length;
	}

	/* The keyboard stays at the function, wherever that has moved to. */
	function refocus(name)
	{
		const link = [...body.querySelectorAll(".link")].find((e) => e.textContent === name);

		if (!link)
			document.activeElement.blur();
		else if (link !== document.activeElement)
			link.focus();
	}

	panel.update = () => {
		list = sortedFunctions();
		if (sorted !== state.sort)
			head.replaceChildren(...(data.delta ? DELTA_COLUMNS : COLUMNS).map(heading));
		sorted = state.sort;
		const kept = updating ? rows.length : 0, focus = body.contains(document.activeElement) ? document.activeElement.textContent : null;

		fill(0, Math.max(kept, data.wishes.top || ROWS_AT_ONCE));
		if (focus !== null)
			refocus(focus);
		count.textContent = data.delta ? countText(list) : `${plural(list.length, "function")}${state.q ? " that match" : ""}. ` +
			"Total counts a function that calls itself once.";
	};
	return panel;
}
