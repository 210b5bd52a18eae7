/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads as they are now, as a table: what each does, since when, for what it waits, and where.
 * A click on a heading sorts, the search leaves out what does not match, and a click on a thread
 * shows its stack beside, as it changes.
 */
const THREADS_AT_ONCE = 300;

const processOfRow = (r) => processLabel(data.threads.process[r.thread]);
const stateOfRow = (r) => data.states[r.state] ?? "?";
const waitedOfRow = (r) => r.ran === null ? -1 : Math.max(0, data.now.end_ms - r.ran);
const cpuOfRow = (r) => r.cpu < 0 ? "" : (r.cpu / 10).toFixed(1);

const sinceText = (r) => waitedOfRow(r) < 0 ? "" : spanText(waitedOfRow(r));

/* "futex 0x7f00, held by shop (101)" */
function waitText(r)
{
	const holder = r.owner && [...data.rows.values()].find((x) => data.threads.tid[x.thread] === r.owner);

	return r.wait + (r.owner ? `${r.wait && ", "}held by ${holder ? threadLabel(holder.thread) : r.owner}` : "");
}

const byNumber = (of) => (a, b) => of(b) - of(a);
const byText = (of) => (a, b) => compareText(of(a) === "" ? "\uffff" : of(a), of(b) === "" ? "\uffff" : of(b));
const NOW_COLUMNS = [
	{ key: "process", title: "Process", text: processOfRow, compare: byText(processOfRow) },
	{ key: "thread", title: "Thread", text: (r) => threadLabel(r.thread), compare: byText((r) => threadLabel(r.thread)) },
	{ key: "state", title: "State", text: stateOfRow, compare: byText(stateOfRow) },
	{ key: "cpu", title: "CPU %", text: cpuOfRow, compare: byNumber((r) => r.cpu), isNumber: true },
	{ key: "waited", title: "Waited", text: sinceText, compare: byNumber(waitedOfRow), isNumber: true },
	{ key: "wait", title: "Waits for", text: waitText, compare: byText((r) => r.wait) },
	{ key: "user", title: "Function", text: (r) => r.user, compare: byText((r) => r.user) },
	{ key: "kernel", title: "In the kernel", text: (r) => r.kernel, compare: byText((r) => r.kernel) },
];

function nowRows()
{
	const pattern = patternOf(state.q), { compare } = NOW_COLUMNS.find((c) => c.key === state.order);
	const { process, tid } = data.threads, pid = data.processes.pid;

	return [...data.rows.values()].filter((r) => r.thread < data.threads.n &&
		(state.process === null || pid[process[r.thread]] === state.process) && (state.thread === null || tid[r.thread] === state.thread) &&
		(!pattern || NOW_COLUMNS.some((c) => pattern.test(c.text(r)))))
		.sort((a, b) => compare(a, b) || b.cpu - a.cpu || waitedOfRow(a) - waitedOfRow(b) || a.thread - b.thread);
}

class NowTable {
	constructor()
	{
		this.head = make("tr");
		this.body = make("tbody");
		this.count = make("p", { class: "note" });
		this.more = button("More rows", "Show more threads", () => { this.most += THREADS_AT_ONCE; this.update(); });
		this.beside = make("div", { id: "stack-now", role: "region", "aria-label": "Stack of the thread", tabindex: "0" },
			make("p", {}, "Click a thread to see its stack."));
		this.most = THREADS_AT_ONCE;
		this.made = new Map();		/* by thread: its row in the page */
		this.picked = null;
	}

	rowOf(r)
	{
		let row = this.made.get(r.thread);

		if (!row) {
			const name = make("button", { type: "button", class: "link", title: "Its stack" });

			row = make("tr", { onclick: () => this.pick(r.thread) }, ...NOW_COLUMNS.map((c) => c.key === "thread" ?
				make("th", { scope: "row" }, name) : make("td", { class: c.isNumber ? "count" : c.key })));
			row.texts = NOW_COLUMNS.map((_, i) => NOW_COLUMNS[i].key === "thread" ? name : row.cells[i]);
			this.made.set(r.thread, row);
		}
		NOW_COLUMNS.forEach((c, i) => {
			const text = c.text(r);

			if (row.texts[i].textContent !== text)
				row.texts[i].textContent = row.cells[i].title = text;
		});
		row.classList.toggle("runs", r.cpu > 0);
		this.mark(row, r.thread);
		return row;
	}

	update()
	{
		const list = nowRows(), shown = list.slice(0, this.most), rows = shown.map((r) => this.rowOf(r));

		if (rows.length !== this.body.rows.length || rows.some((row, i) => row !== this.body.rows[i])) {
			const focus = document.activeElement;

			this.body.replaceChildren(...rows);
			if (this.body.contains(focus))
				focus.focus();
		}
		for (const thread of this.made.keys())
			if (!data.rows.has(thread))
				this.made.delete(thread);
		this.head.replaceChildren(...NOW_COLUMNS.map((c) => make("th", { scope: "col", class: c.isNumber ? "count" : null, "aria-sort": state.order === c.key ?
			c.isNumber ? "descending" : "ascending" : null },
		button(c.title + (state.order === c.key ? " \u25be" : ""), "Sort by this", () => change({ order: c.key }, false)))));
		this.count.textContent = `${plural(list.length, "thread")}${state.q ? " that match" : ""}`;
		this.more.hidden = list.length <= shown.length;
		this.showStack();
	}

	mark(row, thread)
	{
		if (thread === this.picked)
			row.setAttribute("aria-selected", "true");
		else
			row.removeAttribute("aria-selected");
	}

	pick(thread)
	{
		this.picked = thread;
		for (const [t, row] of this.made)
			this.mark(row, t);
		this.showStack();
	}

	showStack()
	{
		const r = data.rows.get(this.picked), event = shownEvent();

		if (this.picked === null)
			return;
		if (!r) {
			this.beside.replaceChildren(make("p", {}, "The thread is gone."));
			return;
		}
		const node = r.stack >= 0 ? data.place[data.stacks[r.stack]] ?? ROOT : ROOT;
		const stack = stackOf(event, node).map((f) => make("li", { title: f.origin }, f.name));

		this.beside.replaceChildren(make("h2", {}, `${threadLabel(r.thread)}, ${processOfRow(r)}`),
			make("p", {}, [stateOfRow(r), sinceText(r), waitText(r)].filter(Boolean).join(" \u00b7 ")),
			stack.length ? make("ol", {}, ...stack) : make("p", {}, "Its stack is not known."));
	}
}

function makeNowPanel()
{
	const now = new NowTable();
	const table = make("table", { id: "threads-now" }, make("caption", { class: "hidden" }, "Threads as they are now"), make("thead", {}, now.head), now.body);
	const panel = make("section", { class: "panel threads", id: "panel-now", "aria-label": "Threads now" },
		make("div", { class: "panel scrolls", tabindex: "0", role: "region", "aria-label": "Threads" }, now.count, table, now.more), now.beside);

	panel.update = () => now.update();
	return panel;
}
