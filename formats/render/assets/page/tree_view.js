/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tree as a table whose rows open and close. Only the rows that are in sight are in the
 * page, and the focused one, so that 100,000 nodes stay smooth; a screen reader learns from each row
 * its level and its place among its siblings. Siblings stand by weight, the heaviest first.
 */
const GRID_ROW = 22, GRID_HEAD = 24, ROWS_OPENED = 32, SHARE_OPENED = 0.02, OPEN_KEPT = 2000, INDENT = 13, INDENTS = 30;
const GRID_COLUMNS = ["Function", "Total", "Self", "Samples"];

/* Wilson's interval for a share p of n independent samples, in percent: 95 of 100 such contain the true one. */
function interval95(p, n)
{
	const z = 1.96, d = 1 + z * z / n;
	const middle = (p + z * z / (2 * n)) / d, half = z / d * Math.sqrt(p * (1 - p) / n + z * z / (4 * n * n));

	return [100 * Math.max(0, middle - half), 100 * Math.min(1, middle + half)];
}

/* "31.2-33.0 %"; "": samples depend on each other, as those of snapshots do, or stand for unequal numbers. */
function intervalText(tree, i)
{
	const n = tree.totalCount[0];

	if (!tree.event.is_cpu || !i || !tree.total[0])
		return "";
	const [low, high] = interval95(Math.min(1, tree.total[i] / tree.total[0]), n);

	return `${low.toFixed(1)}\u2013${high.toFixed(1)} %`;
}

class TreeGrid {
	constructor()
	{
		const heads = GRID_COLUMNS.map((text) => make("span", { role: "columnheader" }, text));

		this.rows = make("div", { role: "rowgroup", class: "grid-rows" });
		this.box = make("div", { class: "grid", id: "call-tree", role: "treegrid", tabindex: "0", "aria-label": "Call tree",
			"aria-describedby": "grid-help" },
		make("div", { role: "rowgroup", class: "grid-head" }, make("div", { role: "row", "aria-rowindex": "1" }, ...heads)), this.rows);
		this.tree = null;
		this.focused = -1;
		this.open = new Set();
		this.isTouched = false;		/* the user has opened or closed rows */
		this.live = new Map();		/* by node: its row in the page */
		this.draw = onceAFrame(() => this.drawNow());
		this.box.addEventListener("scroll", this.draw);
		this.box.addEventListener("click", (e) => this.click(e));
		this.box.addEventListener("dblclick", (e) => this.rowOf(e) >= 0 && this.toggle(this.rowOf(e)));
		this.box.addEventListener("keydown", (e) => this.key(e));
		this.box.addEventListener("focus", () => this.focusBox(Math.max(this.focused, 0)));
		this.box.addEventListener("contextmenu", (e) => this.menu(e));
		new ResizeObserver(this.draw).observe(this.box);
	}

	/* ---- Which rows there are ---- */

	set(tree)
	{
		if (this.tree !== tree) {
			const open = this.isTouched ? this.openIds() : [], focus = this.focused > 0 ? this.tree.id(this.focused) : null;

			this.tree = tree;
			this.colours = colourIndexes(tree);
			this.open = new Set([0, ...open.map((id) => this.exactly(id)).filter((i) => i > 0)]);
			this.focused = focus ? Math.max(0, this.exactly(focus)) : this.focused < 0 ? -1 : 0;
		}
		this.least = leastWeight(tree);
		if (!this.isTouched)
			this.openHeavy();
		if (state.zoom !== "all" && this.lastZoom !== state.zoom)
			this.showNode(tree.find(state.zoom));
		this.lastZoom = state.zoom;
		this.list();
	}

	openIds()
	{
		return [...this.open].slice(0, OPEN_KEPT).map((i) => this.tree.id(i));
	}

	/* The node that has just this id; -1: none has. */
	exactly(id)
	{
		const i = this.tree.find(id);

		return this.tree.id(i) === id ? i : -1;
	}

	children(i)
	{
		const t = this.tree, list = [];

		for (let c = i + 1; c <= t.last[i]; c = t.last[c] + 1)
			if (t.total[c] >= this.least)
				list.push(c);
		return list.sort((a, b) => t.total[b] - t.total[a] || a - b);
	}

	hasChildren(i)
	{
		const t = this.tree;

		for (let c = i + 1; c <= t.last[i]; c = t.last[c] + 1)
			if (t.total[c] >= this.least)
				return true;
		return false;
	}

	/* Opens the heaviest rows until the page is about full. */
	openHeavy()
	{
		const t = this.tree;
		let ready = [0], shown = 1;

		this.open = new Set();
		while (ready.length && shown < ROWS_OPENED) {
			const at = ready.reduce((a, b) => t.total[b] > t.total[a] ? b : a), kids = this.children(at);

			this.open.add(at);
			ready = ready.filter((i) => i !== at);
			for (const c of kids.filter((i) => t.total[i] >= t.total[0] * SHARE_OPENED)) {
				shown++;
				if (t.last[c] > c)
					ready.push(c);
			}
		}
	}

	/* The rows in their order; and of each, its place among its siblings. */
	list()
	{
		const t = this.tree, pending = [0];

		this.shown = [];
		this.place = new Int32Array(t.n);
		this.siblings = new Int32Array(t.n);
		this.index = new Int32Array(t.n).fill(-1);
		this.place[0] = this.siblings[0] = 1;
		while (pending.length) {
			const i = pending.pop(), kids = this.open.has(i) ? this.children(i) : [];

			this.index[i] = this.shown.push(i) - 1;
			for (let k = kids.length - 1; k >= 0; k--) {
				this.place[kids[k]] = k + 1;
				this.siblings[kids[k]] = kids.length;
				pending.push(kids[k]);
			}
		}
		this.rows.style.height = this.shown.length * GRID_ROW + "px";
		this.box.setAttribute("aria-rowcount", this.shown.length + 1);
		this.forget();
		this.draw();
	}

	forget()
	{
		this.rows.replaceChildren();
		this.live.clear();
	}

	/* ---- Drawing ---- */

	get inSight()
	{
		const top = this.box.scrollTop, tall = this.box.clientHeight - GRID_HEAD;

		return paper ? [0, Math.min(this.shown.length, OPEN_KEPT)] :
			[Math.max(0, Math.floor(top / GRID_ROW) - 2), Math.min(this.shown.length, Math.ceil((top + tall) / GRID_ROW) + 2)];
	}

	drawNow()
	{
		if (!this.tree || !this.box.isConnected)
			return;
		const [first, end] = this.inSight, wanted = new Set(this.shown.slice(first, end));

		if (this.focused >= 0 && this.index[this.focused] >= 0)
			wanted.add(this.focused);
		for (const [i, row] of this.live)
			if (!wanted.has(i)) {
				row.remove();
				this.live.delete(i);
			}
		for (const i of wanted)
			if (!this.live.has(i))
				this.live.set(i, this.addRow(i));
		this.markFocus();
	}

	addRow(i)
	{
		const t = this.tree, isParent = this.hasChildren(i), isOpen = this.open.has(i);
		const swatch = make("i", {}), twisty = make("span", { class: "twisty", "aria-hidden": "true" }, isParent ? isOpen ? "\u25be" : "\u25b8" : "");
		const name = make("span", { role: "gridcell", class: "grid-name", title: t.name(i) }, twisty, swatch, make("span", { class: "label" }, t.form(i, "shown")));
		const row = make("div", { role: "row", id: `row-${i}`, class: "grid-row", "aria-level": t.depth[i] + 1,
			"aria-posinset": this.place[i], "aria-setsize": this.siblings[i], "aria-rowindex": this.index[i] + 2,
			"aria-expanded": isParent ? String(isOpen) : null }, name, this.weightCell(t.total[i], intervalText(t, i)),
		this.weightCell(t.self[i], ""), make("span", { role: "gridcell", class: "grid-count" }, grouped(t.totalCount[i])));

		row.node = i;
		row.style.top = this.index[i] * GRID_ROW + "px";
		name.style.paddingLeft = Math.min(t.depth[i], INDENTS) * INDENT + 12 + "px";
		swatch.style.background = colourAt(this.colours[i]);
		row.classList.toggle("hit", isHit(t, i));
		row.classList.toggle("guessed", (t.flags[i] & NODE_GUESSED) !== 0);
		this.rows.append(row);
		return row;
	}

	weightCell(weight, interval)
	{
		const whole = this.tree.total[0], bar = make("span", { class: "bar" });

		bar.style.width = (whole ? 100 * weight / whole : 0).toFixed(2) + "%";
		return make("span", { role: "gridcell", class: "weight", title: interval && `${interval}: the true share, with 95 % confidence` },
			bar, make("span", { class: "number" }, weightText(weight, this.tree.event)),
			make("span", { class: "share" }, shareText(weight, whole)), interval && make("span", { class: "interval" }, interval));
	}

	markFocus()
	{
		const row = this.live.get(this.focused);

		for (const e of this.rows.querySelectorAll("[aria-selected]"))
			e !== row && e.removeAttribute("aria-selected");
		row?.setAttribute("aria-selected", "true");
		if (row)
			this.box.setAttribute("aria-activedescendant", row.id);
		else
			this.box.removeAttribute("aria-activedescendant");
	}

	/* ---- Acting ---- */

	/* Opens all above a node, and goes to it. */
	showNode(i)
	{
		for (let a = this.tree.parent[i]; a >= 0; a = this.tree.parent[a]) {
			this.isTouched ||= !this.open.has(a);
			this.open.add(a);
		}
		this.focused = i;
	}

	toggle(i, isOpen = !this.open.has(i))
	{
		if (!this.hasChildren(i))
			return;
		this.isTouched = true;
		this.open[isOpen ? "add" : "delete"](i);
		this.list();
		this.focusBox(i);
	}

	/* Opens all below a node. */
	openAll(i)
	{
		this.isTouched = true;
		for (let c = i; c <= this.tree.last[i]; c++)
			if (this.tree.last[c] > c)
				this.open.add(c);
		this.list();
		this.focusBox(i);
	}

	describe(i)
	{
		return FlameView.prototype.describe.call({ tree: this.tree, zoomed: 0 }, i) +
			(intervalText(this.tree, i) && ` \u00b7 ${intervalText(this.tree, i)} with 95 % confidence`);
	}

	focusBox(i)
	{
		const y = this.index[i] * GRID_ROW, box = this.box, room = box.clientHeight - GRID_HEAD;

		if (i < 0 || y < 0)
			return;
		this.focused = i;
		if (y < box.scrollTop)
			box.scrollTop = y;
		else if (y + GRID_ROW > box.scrollTop + room)
			box.scrollTop = y + GRID_ROW - room;
		this.drawNow();
		showDetails(this.tree.name(i), this.describe(i));
	}

	/* The next node that matches, in the order of the rows if all were open. */
	nextHit(step)
	{
		const t = this.tree, from = Math.max(this.focused, 0);

		for (let k = 1; k <= t.n; k++) {
			const i = (from + step * k + 2 * t.n * k) % t.n;

			if (isHit(t, i) && t.total[i] >= this.least) {
				this.showNode(i);
				this.list();
				return this.focusBox(i);
			}
		}
	}

	rowOf(e)
	{
		return e.target.closest?.(".grid-row")?.node ?? -1;
	}

	click(e)
	{
		const i = this.rowOf(e);

		if (i < 0)
			return;
		if (e.target.className === "twisty")
			return this.toggle(i);
		this.focusBox(i);
	}

	menu(e)
	{
		const i = this.rowOf(e);

		if (i < 0 || this.tree.func[i] < 0)
			return;
		e.preventDefault();
		openSandwich(this.tree.func[i]);
	}

	key(e)
	{
		const t = this.tree, here = Math.max(this.focused, 0), at = Math.max(0, this.index[here]);
		const to = (k) => this.focusBox(this.shown[Math.max(0, Math.min(this.shown.length - 1, k))]);
		const page = Math.max(1, Math.floor((this.box.clientHeight - GRID_HEAD) / GRID_ROW) - 1), isOpen = this.open.has(here) && this.hasChildren(here);
		const keys = {
			ArrowDown: () => to(at + 1),
			ArrowUp: () => to(at - 1),
			ArrowRight: () => isOpen ? to(at + 1) : this.toggle(here, true),
			ArrowLeft: () => isOpen ? this.toggle(here, false) : this.focusBox(t.parent[here]),
			Home: () => to(0),
			End: () => to(Infinity),
			PageDown: () => to(at + page),
			PageUp: () => to(at - page),
			" ": () => this.toggle(here),
			Enter: () => change({ view: "flame", zoom: t.id(here) }),
			"*": () => this.openAll(here),
			s: () => t.func[here] >= 0 && openSandwich(t.func[here]),
		};

		if (e.ctrlKey || e.metaKey || e.altKey || !Object.hasOwn(keys, e.key))
			return;
		e.preventDefault();
		e.stopPropagation();
		keys[e.key]();
	}
}

function makeTreePanel()
{
	const grid = new TreeGrid(), note = make("p", { class: "note", id: "grid-note" });
	const panel = make("section", { class: "panel", id: "panel-tree", "aria-label": "Call tree" }, grid.box, note);

	panel.flame = grid;
	panel.grid = grid;
	panel.update = () => {
		const tree = treeNow();

		grid.set(tree);
		note.replaceChildren(leastNote().replace("boxes", "rows") + " ", !shownEvent().is_cpu ? "" :
			make("span", { class: "range" }, "A range is that of the true share, with 95 % confidence"));
	};
	return panel;
}
