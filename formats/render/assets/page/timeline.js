/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The strip of time above all views. As "activity": how much there was at each time, by what the
 * threads did. As "heat map": each column is a stretch of time, each row a part of it, from below;
 * so what happens once a second is a line across, and a slow drift is slanted. A drag chooses a
 * window, and all other views show that alone. A second event has a strip of its own below, on the
 * same axis.
 */
const STRIP_TALL = 84, STRIP_LOW = 52, LOW_WINDOW = 800, ALSO_TALL = 58, HEAT_TALL = 164, AXIS = 18, LEFT = 12;
const HEAT_ROWS = 40;

/* In a low window the graph below needs the room. */
const stripTall = () => innerHeight < LOW_WINDOW ? STRIP_LOW : STRIP_TALL;
const STRETCHES = [1e6, 1e7, 1e8, 1e9, 1e10, 6e10, 6e11, 3.6e12, 8.64e13];

const evenEdges = (from, to, n) => Array.from({ length: n + 1 }, (_, k) => from + (to - from) * k / n);

/*
 * When the snapshots of a selection began, and the end; null: it has none, or more than there is
 * room for.
 */
function scanEdges(event, selection, room, end)
{
	const starts = new Map(), s = event.samples;

	for (let k = 0; event.is_wall && k < selection.n; k++) {
		const i = selection.list[k];

		starts.set(s.scan[i], Math.min(starts.get(s.scan[i]) ?? Infinity, s.time[i]));
	}
	const times = [...new Set(starts.values())].sort((a, b) => a - b);

	return times.length && times.length <= room ? [...times, Math.max(end, times.at(-1) + 1)] : null;
}

const isFiltered = () => ["process", "thread", "cpu", "activity"].some((k) => state[k] !== null);

/* Where ticks are long, the sums that were made of all samples of the event are finer. */
function stripOf(event, rows)
{
	const { n, sums } = event.strip, from = data.strip_from_ns;

	return { edges: evenEdges(from, from + n * data.strip_ns, n), rows, sums };
}

/*
 * The edges between from and to of the ticks of a page that is fed, at most so many: then several
 * ticks are one column. A tick is in the column in which it begins.
 */
function tickEdges(from, to, room)
{
	const starts = data.edges.filter((e, i) => e < to && (data.edges[i + 1] ?? Infinity) > from);
	const step = Math.ceil(Math.max(1, starts.length) / Math.max(1, room));
	const edges = starts.filter((_, i) => i % step === 0);

	return [...edges.length ? edges : [from], Math.max(to, (edges.at(-1) ?? from) + 1)];
}

/* The column between edges in which a time is. */
function columnAt(edges, time)
{
	let low = 0, high = edges.length - 2;

	while (low < high) {
		const mid = (low + high + 1) >> 1;

		if (edges[mid] <= time)
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

/*
 * The width of a heat map's column: a row of it is not shorter than what a sample stands for, and
 * there are at least 30 columns if the recording is long enough for that.
 */
function stretchOf(span, event)
{
	const least = event.unit === "ns" ? Math.min(span / 4, event.usual * HEAT_ROWS) : 0;
	const fit = STRETCHES.filter((s) => s >= least);

	return fit.findLast((s) => span / s >= 30) ?? fit[0] ?? STRETCHES.at(-1);
}

class Timeline {
	constructor()
	{
		this.canvas = make("canvas", { "aria-hidden": "true" });
		this.box = make("div", { id: "timeline", tabindex: "0", role: "group", "aria-label": "Time line",
			"aria-roledescription": "time window", "aria-describedby": "timeline-help" }, this.canvas);
		this.drag = null;
		this.plotWidth = 1;		/* measured when it is drawn */
		this.draw = onceAFrame(() => this.drawNow());
		this.follow = onceAFrame(() => this.drag?.moved && this.choose(this.drag.from, this.drag.to, null));
		this.listen();
	}

	listen()
	{
		this.box.addEventListener("pointerdown", (e) => this.begin(e));
		this.box.addEventListener("pointermove", (e) => this.move(e));
		this.box.addEventListener("pointerup", (e) => this.end(e));
		this.box.addEventListener("pointercancel", () => { this.drag = null; });
		this.box.addEventListener("dblclick", () => change({ from: null, to: null }));
		this.box.addEventListener("keydown", (e) => this.key(e));
		new ResizeObserver(this.draw).observe(this.box);
	}

	changed(keys)
	{
		if (!keys.size || keys.has("live") || ["event", "process", "thread", "cpu", "activity", "quiet", "heat", "theme", "also", "folded"]
			.some((k) => keys.has(k)))
			this.counts = this.alsoCounts = null;
		this.box.classList.toggle("heat", state.heat);
		this.box.classList.toggle("two", alsoEvent() !== null);
		this.draw();
	}

	get span() { return spanNow(); }

	/* ---- What is counted: weights by column and activity, or by cell of the heat map. ---- */

	/* Several pixels wide and several samples long: fewer would show the beat of both rates. */
	columns(event)
	{
		const period = event.unit === "ns" ? event.usual : 0;

		return Math.max(1, Math.min(400, Math.floor(this.plotWidth / 3), Math.floor(this.span / (6 * period || 1))));
	}

	countActivity(event, selection)
	{
		const rows = data.activities.length, s = event.samples;

		if (event.coarser && !event.is_wall && !isFiltered())
			return stripOf(event, rows);
		if (data.live)
			return this.countTicks(event, selection);
		const edges = scanEdges(event, selection, this.plotWidth / 3, this.span) ??
			evenEdges(0, this.span, this.columns(event));
		const sums = new Float64Array((edges.length - 1) * rows);

		for (let k = 0; k < selection.n; k++) {
			const i = selection.list[k];

			sums[columnAt(edges, s.time[i]) * rows + s.activity[i]] += s.weight[i];
		}
		return { edges, rows, sums, width: this.plotWidth };
	}

	/* By time: ticks are of different lengths. */
	countTicks(event, selection)
	{
		const rows = data.activities.length, s = event.samples, edges = tickEdges(0, this.span, this.plotWidth / 3);
		const sums = new Float64Array((edges.length - 1) * rows);

		for (let k = 0; k < selection.n; k++) {
			const i = selection.list[k], x = columnAt(edges, s.time[i]);

			sums[x * rows + s.activity[i]] += s.weight[i] / (edges[x + 1] - edges[x]);
		}
		return { edges, rows, sums, width: this.plotWidth };
	}

	countHeat()
	{
		const columnNs = stretchOf(this.span, shownEvent()), n = Math.ceil(this.span / columnNs), s = shownEvent().samples;
		const sums = new Float64Array(n * HEAT_ROWS), { list, n: nr } = selectionOfAllTime();

		for (let k = 0; k < nr; k++) {
			const at = Math.floor(s.time[list[k]] / columnNs * HEAT_ROWS);

			sums[Math.min(at, sums.length - 1)] += s.weight[list[k]];
		}
		return { n, rows: HEAT_ROWS, sums, columnNs };
	}

	count()
	{
		if (!this.counts || !state.heat && this.counts.width !== this.plotWidth)
			this.counts = state.heat ? this.countHeat() : this.countActivity(shownEvent(), selectionOfAllTime());
		this.counts.width = this.plotWidth;
		return this.counts;
	}

	countAlso()
	{
		if (this.alsoCounts?.width !== this.plotWidth)
			this.alsoCounts = { ...this.countActivity(alsoEvent(), selectionOfAlso()), width: this.plotWidth };
		return this.alsoCounts;
	}

	/* ---- Drawing ---- */

	drawNow()
	{
		if (!this.box.isConnected || !shownEvent())
			return;
		this.plotWidth = Math.max(1, this.box.clientWidth - 2 * LEFT);
		const own = state.heat ? HEAT_TALL : stripTall(), tall = own + (alsoEvent() ? ALSO_TALL : 0);
		const c = prepare(this.canvas, this.box.clientWidth, tall);

		if (state.heat)
			this.drawHeat(c, own - AXIS);
		else
			this.drawActivity(c, shownEvent(), this.count(), 0, own - AXIS);
		if (alsoEvent()) {
			this.drawActivity(c, alsoEvent(), this.countAlso(), own - AXIS + 6, tall - AXIS);
			this.drawEvent(c, shownEvent(), 9);
			this.drawEvent(c, alsoEvent(), own - AXIS + 15);
		}
		this.drawAxis(c, tall);
		this.drawWindow(c, tall - AXIS);
	}

	/* Which event a strip is of. */
	drawEvent(c, event, y)
	{
		const text = eventWord(event), px = textPx(text, 300) + 8;

		c.globalAlpha = 0.85;
		c.fillStyle = look().back;
		c.fillRect(LEFT, y - 8, px, 16);
		c.globalAlpha = 1;
		c.fillStyle = look().text;
		c.fillText(text, LEFT + 4, y);
	}

	/* Between top and bottom, in pixels. */
	drawActivity(c, event, { edges, rows, sums }, top, bottom)
	{
		const n = edges.length - 1;
		/* What comes long after a snapshot is not what it saw: another recording may follow. */
		const longest = event.is_wall && event.unit === "ns" && !data.live ? 4 * event.usual : Infinity;
		let most = 0;

		for (let x = 0; x < n; x++)
			most = Math.max(most, sums.subarray(x * rows, (x + 1) * rows).reduce((a, b) => a + b, 0));
		for (let x = 0; x < n; x++)
			for (let a = 0, y = bottom, w = this.xOf(Math.min(edges[x + 1], edges[x] + longest)) - this.xOf(edges[x]); a < rows; a++) {
				const h = most ? sums[x * rows + a] / most * (bottom - top - 4) : 0;

				c.fillStyle = activityColour(a);
				c.fillRect(this.xOf(edges[x]), y -= h, Math.max(1, w - (w > 2 ? 0.5 : 0)), h);
			}
	}

	drawHeat(c, tall)
	{
		const { n, rows, sums, columnNs } = this.count(), w = this.plotWidth * columnNs / this.span, h = tall / rows;
		const most = sums.reduce((a, b) => Math.max(a, b), 0), [r0, g0, b0, r1, g1, b1] = look().heat;

		for (let i = 0; i < sums.length; i++) {
			const v = most ? Math.sqrt(sums[i] / most) : 0, x = LEFT + Math.floor(i / rows) * w;

			c.fillStyle = `rgb(${r0 + (r1 - r0) * v} ${g0 + (g1 - g0) * v} ${b0 + (b1 - b0) * v})`;
			if (v)
				c.fillRect(x, tall - (i % rows + 1) * h, Math.min(w - (w > 4 ? 0.5 : 0), LEFT + this.plotWidth - x), h - (h > 3 ? 0.5 : 0));
		}
		c.strokeStyle = look().line;
		c.strokeRect(LEFT + 0.5, 0.5, Math.min(n * w, this.plotWidth) - 1, tall - 1);
	}

	drawAxis(c, tall)
	{
		const ticks = Math.max(2, Math.min(12, Math.floor(this.plotWidth / 110)));
		const raw = this.span / ticks, power = 10 ** Math.floor(Math.log10(raw));
		const step = [1, 2, 5, 10].find((m) => m * power >= raw) * power;

		c.fillStyle = look().dim;
		c.font = FONT.replace("12px", "11px");
		for (let t = 0; t <= this.span; t += step) {
			const x = LEFT + t / this.span * this.plotWidth, text = scaled(t, TIMES);

			c.fillRect(Math.round(x), tall - AXIS, 1, 4);
			if (x + textPx(text, 200) < LEFT + this.plotWidth)
				c.fillText(t ? text : "0 s", x + 3, tall - AXIS / 2 + 1);
		}
	}

	drawWindow(c, tall)
	{
		if (state.from === null && state.to === null)
			return;
		const { from, to } = windowNow(), x0 = this.xOf(from), x1 = this.xOf(to);

		c.fillStyle = look().brush;
		c.fillRect(x0, 0, x1 - x0, tall);
		c.fillStyle = look().ring;
		c.fillRect(x0 - 1, 0, 2, tall);
		c.fillRect(x1 - 1, 0, 2, tall);
	}

	/* ---- Choosing ---- */

	xOf(ns) { return LEFT + ns / this.span * this.plotWidth; }

	/* The time under the mouse. In a heat map, the row says how far into the column. */
	timeAt(e)
	{
		const r = this.box.getBoundingClientRect(), x = (e.clientX - r.left - LEFT) / this.plotWidth * this.span;

		if (!state.heat)
			return x;
		const { columnNs } = this.count(), tall = HEAT_TALL - AXIS;
		const row = Math.floor((1 - Math.min(tall, Math.max(0, e.clientY - r.top)) / tall) * HEAT_ROWS);

		return Math.floor(x / columnNs) * columnNs + Math.min(HEAT_ROWS - 1, row) * columnNs / HEAT_ROWS;
	}

	begin(e)
	{
		if (e.button !== 0)
			return;
		this.drag = { from: this.timeAt(e), x: e.clientX, y: e.clientY, moved: false };
		this.box.setPointerCapture(e.pointerId);
	}

	move(e)
	{
		const at = this.timeAt(e);

		if (!this.drag)
			return this.hover(at);
		this.drag.moved ||= Math.hypot(e.clientX - this.drag.x, e.clientY - this.drag.y) > 3;
		this.drag.to = at;
		if (this.drag.moved)
			this.follow();
	}

	end(e)
	{
		const drag = this.drag;

		this.drag = null;
		if (drag?.moved)
			this.choose(drag.from, this.timeAt(e), true);
		else if (drag)
			change({ from: null, to: null });
	}

	/* The least is a cell of the heat map or a pixel. */
	choose(a, b, isStep)
	{
		const least = state.heat ? this.count().columnNs / HEAT_ROWS : this.span / this.plotWidth;
		const from = Math.max(0, Math.min(a, b)), to = Math.min(this.span, Math.max(a, b) + (state.heat ? least : 0));

		change({ from: Math.floor(from), to: Math.ceil(Math.max(to, from + least)) }, isStep);
	}

	hover(at)
	{
		if (at >= 0 && at <= this.span)
			showDetails(clockText(at, this.span), "Drag to choose a window of time; a click shows all of it");
	}

	key(e)
	{
		const { from, to } = windowNow(), step = (to - from) / 4, last = this.span;
		const slide = (by) => [from + by, to + by];
		const windows = {
			ArrowLeft: e.shiftKey ? [from, to - step] : slide(-Math.min(step, from)),
			ArrowRight: e.shiftKey ? [from, Math.min(last, to + step)] : slide(Math.min(step, last - to)),
			ArrowUp: [from + step / 2, to - step / 2],
			ArrowDown: [Math.max(0, from - step), Math.min(last, to + step)],
		};

		if (e.key === "Escape" && state.from !== null) {
			e.stopPropagation();
			return change({ from: null, to: null });
		}
		if (e.ctrlKey || e.metaKey || e.altKey || !Object.hasOwn(windows, e.key))
			return;
		e.preventDefault();
		e.stopPropagation();
		const [a, b] = windows[e.key];

		change(a <= 0 && b >= last ? { from: null, to: null } : { from: Math.floor(a), to: Math.ceil(b) }, false);
		announce(windowText());
	}
}

function windowText()
{
	if (state.from === null && state.to === null)
		return `All of ${clockText(spanNow(), spanNow())}`;
	const { from, to } = windowNow();

	return `${clockText(from, to - from)} to ${clockText(to, to - from)}`;
}
