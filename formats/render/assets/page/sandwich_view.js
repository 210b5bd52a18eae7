/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One function: who called it stands above it, what it called below. */
function openSandwich(func)
{
	change({ view: "sandwich", fn: shownEvent().functions.same[func] });
}

function makeSandwichPanel()
{
	const follow = (flame) => (id, i) => i > 0 && flame().tree.func[i] >= 0 && openSandwich(flame().tree.func[i]);
	const callers = new FlameView({ name: "Callers", isUp: () => true, zoomed: (id, i) => follow(() => callers)(id, i) });
	const callees = new FlameView({ name: "Callees", isUp: () => false, zoomed: (id, i) => follow(() => callees)(id, i) });
	const title = make("h2", { id: "sandwich-title" });
	const sums = make("p", { class: "note" });
	const panel = make("section", { class: "panel sandwich", id: "panel-sandwich", "aria-label": "Callers and callees" },
		title, sums, make("h3", {}, "Callers"), callers.box, make("h3", {}, "Callees"), callees.box);
	const inside = [...panel.children].slice(2);

	panel.update = () => {
		const f = functionsNow(), fn = state.fn ?? (data.delta ? mostChanged() : hottest()), event = shownEvent();

		const isThere = fn >= 0 && (data.delta || f.totalCount[fn] > 0);

		for (const e of inside)
			e.hidden = !isThere;
		title.textContent = fn < 0 ? "No function" : functionShown(fn);
		title.title = fn < 0 ? "" : functionName(fn);
		sums.textContent = fn < 0 ? "Nothing is selected" : !isThere ? "No stack that is shown has this function" : data.delta ? deltaSumsText(fn) : [`total ${weightText(f.total[fn], event)}, ${
			shareText(f.total[fn], selectionNow().weight)}`, `self ${weightText(f.self[fn], event)}, ${
			shareText(f.self[fn], selectionNow().weight)}`, ...originOf(event, fn)].join(" \u00b7 ");
		if (!isThere)
			return;
		callers.set(callersTree(event, fn, sumsNow()), "all");
		callees.set(calleesTree(event, fn, sumsNow()), "all");
	};
	panel.flame = callers;
	panel.flames = [callers, callees];
	return panel;
}

/* The function with the most of its own; -1: there is none. */
function hottest()
{
	const f = functionsNow();
	let best = -1;

	for (let i = 0; i < f.self.length; i++)
		if (f.totalCount[i] && shownEvent().functions.kind[i] !== SYNTHETIC && (best < 0 || f.self[i] > f.self[best]))
			best = i;
	return best;
}
