/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who waits for whom, drawn: each box is a thread, and its arrow leads to the one that it waits for.
 * Threads that wait for no other one stand at the left, those that wait for them to the right of
 * them. Deadlocked threads have a thick edge, and stand below each other. The list beneath says the
 * same in words, so the drawing is hidden from screen readers.
 */
const SVG = "http://www.w3.org/2000/svg";
const BOX_WIDE = 190, BOX_TALL = 34, STEP_X = 250, STEP_Y = 42, WAITERS_DRAWN = 6, BOXES_DRAWN = 120;

function makeSvg(name, attrs = {}, ...kids)
{
	const e = document.createElementNS(SVG, name);

	for (const k in attrs)
		e.setAttribute(k, attrs[k]);
	e.append(...kids);
	return e;
}

class WaitsGraph {
	constructor(waits)
	{
		this.waits = waits;
		this.threads = new Map(waits.threads.map((t) => [t.tid, t]));
		this.waiters = waitersByTarget(waits);
		this.inRing = new Set(waits.rings.flatMap((r) => r.tids));
		this.places = new Map();
		this.extra = [];
		this.y = 0;
		this.columns = 0;
	}

	/* Rings first, each from top to bottom; then the heads with their waiters. */
	layOut()
	{
		for (const ring of this.waits.rings)
			for (const tid of ring.tids)
				this.place(tid, 0, true);
		for (const tid of this.waits.heads)
			if (this.threads.has(tid))
				this.place(tid, 0, false);
	}

	/* A thread stands beside the first of its waiters. */
	place(tid, column, isRing)
	{
		if (this.places.has(tid) || this.places.size >= BOXES_DRAWN)
			return;
		this.places.set(tid, { x: column * STEP_X, y: this.y, isRing });
		this.columns = Math.max(this.columns, column + 1);
		const waiters = (this.waiters.get(tid) ?? []).filter((t) => !this.inRing.has(t.tid));
		const before = this.y;

		for (const t of waiters.slice(0, WAITERS_DRAWN))
			this.place(t.tid, column + 1, false);
		if (waiters.length > WAITERS_DRAWN) {
			this.extra.push({ x: (column + 1) * STEP_X, y: this.y, text: `${plural(waiters.length - WAITERS_DRAWN, "more thread")}` });
			this.y += STEP_Y;
		}
		this.y = Math.max(this.y, before + STEP_Y);
	}

	box(tid, { x, y, isRing })
	{
		const t = this.threads.get(tid) ?? { tid, absent: true };
		const name = t.absent ? String(tid) : `${t.comm} (${tid})`;
		const what = t.absent ? "not in this snapshot" : [t.wait ?? t.syscall ?? t.state, t.waited_ns !== undefined && timeText(t.waited_ns)]
			.filter(Boolean).join(", ");
		const text = (dy, words, kind) => makeSvg("text", { x: x + 8, y: y + dy, class: kind }, cutEnd(words, BOX_WIDE - 14) || "");

		return makeSvg("g", { class: isRing ? "box ring-box" : "box" }, makeSvg("title", {}, `${name}: ${doesText(t)}`),
			makeSvg("rect", { x, y, width: BOX_WIDE, height: BOX_TALL, rx: 5 }), text(14, name, "who"), text(28, what, "what"));
	}

	/* From the waiter's left edge to the right edge of whom it waits for; in a ring, around the left side. */
	arrow(tid, at)
	{
		const to = this.places.get(this.threads.get(tid)?.waits_for);

		if (!to)
			return null;
		const x1 = at.x, y1 = at.y + BOX_TALL / 2, y2 = to.y + BOX_TALL / 2;

		if (to.x >= at.x) {
			const bend = 14 + Math.min(40, Math.abs(y2 - y1) / 6);

			return makeSvg("path", { d: `M${x1},${y1 + 6}C${x1 - bend},${y1 + 6} ${x1 - bend},${y2 - 6} ${x1 - 5},${y2 - 6}`, "marker-end": "url(#arrow)" });
		}
		const x2 = to.x + BOX_WIDE + 6, mid = (x1 + x2) / 2;

		return makeSvg("path", { d: `M${x1},${y1}C${mid},${y1} ${mid},${y2} ${x2},${y2}`, "marker-end": "url(#arrow)" });
	}

	draw()
	{
		this.layOut();
		const wide = this.columns * STEP_X, tall = this.y + 4;
		const head = makeSvg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" },
			makeSvg("path", { d: "M0,0L8,4L0,8z", class: "head" }));
		const svg = makeSvg("svg", { width: wide + 60, height: tall, viewBox: `-58 -2 ${wide + 60} ${tall}`, class: "waits-graph", "aria-hidden": "true" },
			makeSvg("defs", {}, head));

		for (const [tid, at] of this.places) {
			const arrow = this.arrow(tid, at);

			svg.append(this.box(tid, at), ...(arrow ? [arrow] : []));
		}
		for (const { x, y, text } of this.extra)
			svg.append(makeSvg("text", { x: x + 8, y: y + 20, class: "what" }, text));
		return svg;
	}
}

function drawWaits(waits)
{
	if (!waits.rings.length && !waits.heads.length)
		return [];
	const graph = new WaitsGraph(waits), drawing = graph.draw();
	const isCut = graph.places.size >= BOXES_DRAWN;

	return isCut ? [drawing, make("p", {}, `The first ${BOXES_DRAWN} threads are drawn; below are all.`)] : [drawing];
}
