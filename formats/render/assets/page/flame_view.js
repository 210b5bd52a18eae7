/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tree as boxes, on a canvas of the size of what is in sight: a tree may be thousands of rows
 * high. Boxes narrower than half a pixel are left white. Left and right, up and down walk the boxes;
 * what is focused is said to screen readers and stands in the line at the bottom.
 */
const NARROW = 0.5;			/* pixels; narrower boxes are not drawn */
const ROW = 19, TEXT_ROOM = 6, TEXT_MIN = 18;

class FlameView {
	/* options: grow up from the bottom?; name; zoomed(id) is told of clicks. */
	constructor(options)
	{
		this.options = options;
		this.canvas = make("canvas", { "aria-hidden": "true" });
		this.spacer = make("div", { class: "spacer" });
		this.box = make("div", { class: "flame", tabindex: "0", role: "group", "aria-label": options.name,
			"aria-roledescription": "call tree", "aria-describedby": "flame-help" }, this.canvas, this.spacer);
		this.tree = null;
		this.zoomed = 0;
		this.focused = -1;
		this.hovered = -1;
		this.draw = onceAFrame(() => this.drawNow());
		this.listen();
	}

	get isUp() { return this.options.isUp(); }

	listen()
	{
		const box = this.box;

		box.addEventListener("scroll", this.draw);
		box.addEventListener("mousemove", (e) => this.hover(this.at(e)));
		box.addEventListener("mouseleave", () => this.hover(-1));
		box.addEventListener("click", (e) => this.click(e));
		box.addEventListener("contextmenu", (e) => this.menu(e));
		box.addEventListener("keydown", (e) => this.key(e));
		box.addEventListener("focus", () => this.focusBox(Math.max(this.focused, 0), true));
		box.addEventListener("blur", this.draw);
		new ResizeObserver(this.draw).observe(box);
	}

	/* zoomId: of a node of the tree; another one means all. */
	set(tree, zoomId)
	{
		const isNew = this.tree !== tree, kept = isNew && updating && this.tree ? this.keep() : null;

		if (isNew) {
			[this.focused, this.hovered] = kept ? kept.ids.map((id) => exactly(tree, id)) : [-1, -1];
			this.tree = tree;
			this.colours = tree.event.delta ? deltaColours(tree) : colourIndexes(tree);
		}
		this.zoomed = tree.find(zoomId);
		this.spacer.style.height = tree.rows * ROW + 4 + "px";
		this.measure();
		if (kept)
			this.box.scrollTop = this.isUp ? this.box.scrollHeight - kept.above : kept.top;
		else if (isNew)
			this.toRoot();
		this.draw();
	}

	/* What stays as it is when the tree is another one because more has come. */
	keep()
	{
		const { scrollTop: top, scrollHeight } = this.box;

		return { top, above: scrollHeight - top, ids: [this.focused, this.hovered].map((i) => i < 0 ? null : this.tree.id(i)) };
	}

	toRoot()
	{
		this.box.scrollTop = this.isUp ? this.box.scrollHeight : 0;
	}

	/* The width, and the height of all rows. */
	measure()
	{
		this.width = this.box.clientWidth;
		this.height = this.tree.rows * ROW + 4;
	}

	rowTop(depth)
	{
		return this.isUp ? this.height - (depth + 1) * ROW - 2 : depth * ROW + 2;
	}

	/* The left edge and the width of a node, in pixels. */
	place(i)
	{
		const t = this.tree, z = this.zoomed, scale = this.width / (t.total[z] || 1);

		if (i <= z && t.last[i] >= z)
			return { x: 0, w: this.width };
		return { x: (t.x[i] - t.x[z]) * scale, w: t.total[i] * scale };
	}

	isAbove(i) { return i < this.zoomed && this.tree.last[i] >= this.zoomed; }

	/* Calls draw(i, x, w) for each box that is in sight and wide enough to be seen. */
	eachBox(draw)
	{
		const t = this.tree, z = this.zoomed, scale = this.width / (t.total[z] || 1), left = t.x[z];
		const least = leastWeight(t);

		for (let a = t.parent[z]; a >= 0; a = t.parent[a])
			draw(a, 0, this.width);
		for (let i = z; i <= t.last[z]; i++) {
			const w = t.total[i] * scale;

			if (w < NARROW || i > z && t.total[i] < least)
				i = t.last[i];
			else
				draw(i, (t.x[i] - left) * scale, w);
		}
	}

	drawNow()
	{
		if (!this.tree || !this.box.isConnected)
			return;
		this.measure();
		if (!this.width)
			return;
		const top = paper ? 0 : this.box.scrollTop, tall = paper ? this.height : this.box.clientHeight;
		const c = prepare(this.canvas, this.width, tall);

		this.boxes = [];
		this.isSearched = hitsNow() !== null;
		this.canvas.style.marginBottom = -tall + "px";
		this.eachBox((i, x, w) => {
			const y = this.rowTop(this.tree.depth[i]) - top;

			if (y > -ROW && y < tall)
				this.drawBox(c, i, x, y, w);
		});
		this.ring(c, this.hovered, top, false);
		if (document.activeElement === this.box)
			this.ring(c, this.focused, top, true);
	}

	drawBox(c, i, x, y, w)
	{
		const hit = this.isSearched && isHit(this.tree, i), colours = look();

		c.globalAlpha = this.isAbove(i) ? 0.45 : 1;
		c.fillStyle = hit ? colours.hit : colourAt(this.colours[i]);
		c.fillRect(x, y, Math.max(w - (w > 2.5 ? 0.8 : 0), NARROW), ROW - 1);
		c.globalAlpha = 1;
		this.boxes.push(i);
		if (w < TEXT_MIN + TEXT_ROOM)
			return;
		const text = fitName(this.tree, i, w - TEXT_ROOM);

		if (!text)
			return;
		c.fillStyle = hit && !this.isAbove(i) ? colours.hitText : colours.text;
		c.font = (this.tree.flags[i] & NODE_GUESSED ? "italic " : "") + FONT;
		c.fillText(text, x + 3, y + ROW / 2);
	}

	ring(c, i, top, isFocus)
	{
		if (i < 0)
			return;
		const { x, w } = this.place(i), y = this.rowTop(this.tree.depth[i]) - top;

		c.strokeStyle = isFocus ? look().ring : look().text;
		c.lineWidth = isFocus ? 2.5 : 1;
		c.strokeRect(x + 0.5, y + 0.5, Math.max(w - 1.5, 1), ROW - 2);
	}

	/* The box under the mouse; -1: none. Of boxes that share a pixel, the widest. */
	at(e)
	{
		const r = this.box.getBoundingClientRect(), px = e.clientX - r.left;
		const y = e.clientY - r.top + this.box.scrollTop;
		let best = -1, widest = 0;

		for (const i of this.boxes ?? []) {
			const top = this.rowTop(this.tree.depth[i]), { x, w } = this.place(i);

			if (y < top || y >= top + ROW || px < x || px >= x + Math.max(w, 1) || w <= widest)
				continue;
			best = i;
			widest = w;
		}
		return best;
	}

	hover(i)
	{
		if (i === this.hovered)
			return;
		this.hovered = i;
		this.box.style.cursor = i < 0 ? "" : "pointer";
		this.draw();
		this.details(i >= 0 ? i : this.focused >= 0 ? this.focused : this.zoomed);
	}

	click(e)
	{
		const i = this.at(e);

		if (i < 0)
			return;
		this.focused = i;
		this.options.zoomed(this.tree.id(i), i);
	}

	menu(e)
	{
		const i = this.at(e);

		if (i < 0 || this.tree.func[i] < 0)
			return;
		e.preventDefault();
		openSandwich(this.tree.func[i]);
	}

	/* "31.2 ms, 12.0 % (34.0 % of the zoom), self ..., file" */
	describe(i)
	{
		const t = this.tree, e = t.event, f = t.func[i], said = [];

		if (e.delta)
			return describeDelta(t, i);
		said.push(`${weightText(t.total[i], e)}, ${shareText(t.total[i], t.total[0])}`);
		if (this.zoomed)
			said.push(`${shareText(t.total[i], t.total[this.zoomed])} of the zoom`);
		said.push(plural(t.totalCount[i], "sample"));
		if (t.self[i])
			said.push(`self ${weightText(t.self[i], e)}, ${shareText(t.self[i], t.total[0])}`);
		if (f >= 0)
			said.push(...originOf(e, f));
		said.push(...marksOf(t, i));
		return said.join(" \u00b7 ");
	}

	details(i)
	{
		if (i >= 0)
			showDetails(this.tree.name(i), this.describe(i));
	}

	focusBox(i, isQuiet)
	{
		if (i < 0 || !this.tree)
			return;
		this.focused = i;
		this.reveal(i);
		this.draw();
		this.details(i);
		announce(`${this.tree.name(i)}, level ${this.tree.depth[i] + 1}, ${this.describe(i)}`);
	}

	reveal(i)
	{
		const y = this.rowTop(this.tree.depth[i]), box = this.box;

		if (y < box.scrollTop)
			box.scrollTop = y - ROW;
		else if (y + ROW > box.scrollTop + box.clientHeight)
			box.scrollTop = y + 2 * ROW - box.clientHeight;
	}

	beside(i, step)
	{
		const t = this.tree;

		for (let k = i + step; k >= 0 && k < t.n; k += step)
			if (t.depth[k] === t.depth[i] && t.total[k] >= leastWeight(t) && k >= this.zoomed && k <= t.last[this.zoomed] &&
			    this.place(k).w >= 1)
				return k;
		return -1;
	}

	nextHit(step)
	{
		const t = this.tree, from = Math.max(this.focused, 0);

		for (let k = 1; k <= t.n; k++) {
			const i = (from + step * k + 2 * t.n * k) % t.n;

			if (isHit(t, i) && (i >= this.zoomed && i <= t.last[this.zoomed]))
				return this.focusBox(i);
		}
	}

	key(e)
	{
		const t = this.tree, here = Math.max(this.focused, 0);
		const widest = t.widestChild(here);
		const out = () => widest >= 0 && t.total[widest] >= leastWeight(t) && this.focusBox(widest), back = () => this.focusBox(t.parent[here]);
		const keys = {
			ArrowUp: this.isUp ? out : back,
			ArrowDown: this.isUp ? back : out,
			ArrowLeft: () => this.focusBox(this.beside(here, -1)),
			ArrowRight: () => this.focusBox(this.beside(here, 1)),
			Home: () => this.focusBox(this.zoomed),
			Enter: () => this.options.zoomed(t.id(here), here),
			" ": () => this.options.zoomed(t.id(here), here),
			s: () => t.func[here] >= 0 && openSandwich(t.func[here]),
		};

		if (e.ctrlKey || e.metaKey || e.altKey || !Object.hasOwn(keys, e.key))
			return;
		e.preventDefault();
		e.stopPropagation();
		keys[e.key]();
	}
}

/* The node that has just this id; -1: none has. */
function exactly(tree, id)
{
	const i = id === null ? -1 : tree.find(id);

	return i >= 0 && tree.id(i) === id ? i : -1;
}

/* Where a function is: file of its code, source file and line. */
function originOf(event, f)
{
	const { binary, file, line } = event.functions, said = [];

	if (binary[f] && binary[f] !== file[f])
		said.push(data.strings[binary[f]]);
	if (file[f])
		said.push(data.strings[file[f]] + (line[f] ? ":" + line[f] : ""));
	return said;
}

const TIERS = [[8, "interpreted"], [16, "baseline"], [32, "optimized"], [64, "compiled"], [128, "builtin"]];

function marksOf(tree, i)
{
	const flags = tree.flags[i], said = TIERS.filter(([bit]) => flags & bit).map(([, word]) => word);
	const kind = KINDS[kindOf(tree, i)];

	if (kind.key === "kernel" || kind.key === "jit" || kind.key === "bpf")
		said.unshift(kind.text);
	if (flags & NODE_INLINED)
		said.push("inlined");
	if (flags & NODE_GUESSED)
		said.push("guessed caller");
	return said;
}

/* ---- The view "Flame graph" ---- */

function makeFlamePanel()
{
	const flame = new FlameView({ name: "Call tree", isUp: () => !state.icicle,
		zoomed: (id) => change({ zoom: id }) });
	const note = make("p", { class: "note", id: "flame-note" });
	const panel = make("section", { class: "panel", id: "panel-flame", "aria-label": "Flame graph" }, flame.box, note);

	panel.flame = flame;
	panel.update = (keys) => {
		const tree = treeNow();

		flame.set(tree, state.zoom);
		if (keys.has("icicle"))
			flame.toRoot();
		note.textContent = [leastNote(), tree.hidden ? `${plural(tree.hidden, "branch")
			.replace("branchs", "branches")} narrower than a pixel left out` : ""].filter(Boolean).join(" \u00b7 ");
		if (flame.hovered < 0)
			flame.details(flame.focused >= 0 ? flame.focused : flame.zoomed);
	};
	return panel;
}
