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

function weightCell(weight, whole)
{
	const bar = make("span", { class: "bar" }), share = whole ? weight / whole : 0;

	bar.style.width = (100 * share).toFixed(2) + "%";
	return make("td", { class: "weight" }, bar, make("span", { class: "number" }, weightText(weight, shownEvent())),
		make("span", { class: "share" }, shareText(weight, whole)));
}

function functionRow(i)
{
	const f = functionsNow(), whole = selectionNow().weight;
	const name = make("button", { type: "button", class: "link", title: "Callers and callees",
		onclick: () => openSandwich(i) }, functionName(i));

	return make("tr", {}, weightCell(f.self[i], whole),
		weightCell(f.total[i], whole), make("th", { scope: "row" }, name), make("td", { class: "file" }, functionFile(i)));
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
	const more = button("More rows", "Show more functions", () => fill(ROWS_AT_ONCE));
	const table = make("table", { id: "functions", class: data.delta ? "compared" : null }, make("caption", { class: "hidden" }, "Functions by weight"),
		make("thead", {}, head), body);
	const panel = make("section", { class: "panel scrolls", id: "panel-functions", "aria-label": "Functions", tabindex: "0" },
		count, table, more);
	let list = [];

	function fill(rows)
	{
		const at = body.rows.length;

		body.append(...list.slice(at, at + rows).map(data.delta ? changeRow : functionRow));
		paintLegends();
		more.hidden = body.rows.length >= list.length;
	}

	panel.update = () => {
		list = sortedFunctions();
		head.replaceChildren(...(data.delta ? DELTA_COLUMNS : COLUMNS).map(heading));
		const kept = updating ? body.rows.length : 0, focus = body.contains(document.activeElement) ? document.activeElement.textContent : null;

		body.replaceChildren();
		fill(Math.max(kept, data.wishes.top || ROWS_AT_ONCE));
		if (focus !== null)
			[...body.querySelectorAll(".link")].find((e) => e.textContent === focus)?.focus();
		count.textContent = data.delta ? countText(list) : `${plural(list.length, "function")}${state.q ? " that match" : ""}. ` +
			"Total counts a function that calls itself once.";
	};
	return panel;
}
