/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which snapshot the view of waits shows: the one that was chosen, or else the last one before the
 * end of the window of time. A bar for each snapshot says how many threads waited in it.
 */
const BARS_TALL = 34, KNOB = 8;

const EDGE_SECTIONS = ["ring", "lock", "other", "many", "unknown"];	/* enum edge_section */

const countWaiting = (k) => k.waiting ??= k.threads.filter((i) => data.waits.threads[i].waits_for !== undefined).length;
const countDeadlocks = (k) => k.rings.filter(([isCertain]) => isCertain).length;

/* A snapshot with its threads, and how long each of them has waited. */
function wholeScan(k)
{
	return {
		threads: k.threads.map((i) => {
			const t = data.waits.threads[i];

			return t.ran_ns === undefined ? t : { ...t, waited_ns: Math.max(0, k.mono_ns - t.ran_ns) };
		}),
		edges: k.edges.map(([section, threads, tid]) => ({ section: EDGE_SECTIONS[section], threads, tid })),
		rings: k.rings.map(([certain, stood, ...tids]) => ({ certain: certain === 1, stood_still: stood === 1, tids })),
		heads: k.heads, edges_left_out: k.more,
	};
}

/* The index of the last snapshot for which is(snapshot) holds; -1: there is none. */
const lastScan = (is) => data.waits.scans.findLastIndex(is);

function scanIndexNow()
{
	if (state.scan !== null)
		return Math.max(0, lastScan((k) => k.nr <= state.scan));
	return lastScan((k) => k.at_ns < windowNow().to);
}

function scanText(k)
{
	const rings = k.rings.length;

	return [`Snapshot ${k.walk} at ${clockText(k.at_ns, spanNow())}`, plural(k.all, "thread"),
		`${grouped(countWaiting(k))} waiting for another one`, rings && plural(rings, countDeadlocks(k) ? "deadlock" : "possible deadlock")]
		.filter(Boolean).join(" \u00b7 ");
}

class ScanChoice {
	constructor()
	{
		const n = data.waits.scans.length;

		this.canvas = make("canvas", { "aria-hidden": "true" });
		this.bars = make("div", { class: "scan-bars" }, this.canvas);
		this.slider = make("input", { type: "range", id: "choose-scan", min: 0, max: n - 1, step: 1, "aria-label": "Snapshot",
			oninput: () => this.choose(+this.slider.value) });
		this.text = make("output", { id: "scan" });
		this.before = button("\u2039", "The snapshot before", () => this.choose(scanIndexNow() - 1), { "aria-label": "Snapshot before" });
		this.after = button("\u203a", "The next snapshot", () => this.choose(scanIndexNow() + 1), { "aria-label": "Next snapshot" });
		this.worst = button("Most waiting", "The snapshot with deadlocks, or in which most threads wait for another one",
			() => this.choose(this.worstIndex()), { id: "worst-scan" });
		this.follow = button("Follow the time", "The last snapshot of the window of time", () => change({ scan: null }), { id: "follow-scan" });
		this.box = make("div", { class: "scan-choice", hidden: n < 2 }, this.bars, this.slider,
			make("div", {}, this.before, this.after, this.worst, this.follow));
		this.draw = onceAFrame(() => this.drawNow());
		this.bars.addEventListener("click", (e) => this.choose(Math.floor((e.clientX - this.bars.getBoundingClientRect().left) / this.wide * n)));
		new ResizeObserver(this.draw).observe(this.bars);
	}

	choose(i)
	{
		const { scans } = data.waits;

		change({ scan: scans[Math.max(0, Math.min(scans.length - 1, i))].nr }, false);
	}

	worstIndex()
	{
		const { scans } = data.waits, rank = (k) => countDeadlocks(k) * 1e9 + countWaiting(k);

		return scans.reduce((best, k, i) => rank(k) > rank(scans[best]) ? i : best, 0);
	}

	update(i)
	{
		const k = data.waits.scans[i];

		this.slider.value = Math.max(0, i);
		this.slider.setAttribute("aria-valuetext", k ? scanText(k) : "none");
		this.before.disabled = i <= 0;
		this.after.disabled = i + 1 >= data.waits.scans.length;
		this.follow.setAttribute("aria-pressed", String(state.scan === null));
		this.shown = i;
		this.draw();
	}

	drawNow()
	{
		if (!this.bars.isConnected)
			return;
		const { scans } = data.waits, wide = this.wide = Math.max(1, this.bars.clientWidth), c = prepare(this.canvas, wide, BARS_TALL);
		const most = Math.max(1, ...scans.map(countWaiting)), w = wide / scans.length;

		/* The knob stands below the middle of a bar. */
		this.slider.style.marginLeft = w / 2 - KNOB + "px";
		this.slider.style.width = wide - w + 2 * KNOB + "px";
		scans.forEach((k, i) => {
			const h = countWaiting(k) && Math.max(3, countWaiting(k) / most * (BARS_TALL - 3));

			c.fillStyle = countDeadlocks(k) ? look().warn : look().bar;
			c.fillRect(i * w, BARS_TALL - 1 - h, Math.max(1, w - (w > 3 ? 1 : 0)), h);
		});
		c.fillStyle = look().line;
		c.fillRect(0, BARS_TALL - 1, wide, 1);
		if (this.shown < 0)
			return;
		c.strokeStyle = look().ring;
		c.lineWidth = 2;
		c.strokeRect(Math.min(this.shown * w, wide - 3) + 1, 1, Math.max(w - 2, 1), BARS_TALL - 2);
	}
}

/* ---- All waits as a table ---- */

const SECTIONS = { ring: "Deadlocks and who waits behind them", lock: "For a lock that another thread holds",
	other: "For another thread or process", many: "For one of many", unknown: "For what no thread is known to hold" };

function objectText(t, isUnknown)
{
	if (t.lock && (isUnknown || t.lock_class === "maybe"))
		return t.lock + (t.ask ? ` (ask ${t.ask})` : "");
	if (t.futex)
		return "futex " + (t.variable ? t.variable + (t.variable_offset !== undefined ? `+0x${t.variable_offset.toString(16)}` : "") : t.futex);
	return t.wait ? t.wait + (t.inode ? ` ${t.inode}` : "") : t.syscall ?? t.kernel_function ?? "";
}

const whoText = (t) => !t ? "" : t.absent ? String(t.tid) : `${t.comm} (${t.tid})` + (t.process && t.process !== t.comm ? ` of ${t.process}` : "");

function edgeRow(edge, threads)
{
	const t = threads.get(edge.tid), holder = threads.get(t.waits_for);
	const held = holder ? whoText(holder) : t.owner_pid ? `process ${t.owner_pid}` : t.holders ? plural(t.holders, "process").replace(/ss$|sss$/, "sses") : "";

	return make("tr", {}, make("td", { class: "count" }, grouped(edge.threads)),
		make("td", { class: "count" }, t.waited_ns === undefined ? "" : timeText(t.waited_ns)),
		make("th", { scope: "row" }, whoText(t)), make("td", {}, t.function ?? ""),
		make("td", {}, objectText(t, edge.section === "unknown")), make("td", {}, held),
		make("td", {}, holder?.function ?? holder?.state ?? ""));
}

function edgesTable(scan, threads)
{
	const heads = ["Threads", "Longest", "Who waits", "In", "For", "Held by", "Which is in"];
	const bodies = Object.keys(SECTIONS).map((s) => [s, scan.edges.filter((e) => e.section === s && threads.has(e.tid))])
		.filter(([, list]) => list.length)
		.map(([s, list]) => make("tbody", {}, make("tr", {}, make("th", { scope: "rowgroup", colspan: heads.length, class: "section" }, SECTIONS[s])),
			...list.map((e) => edgeRow(e, threads))));

	if (!bodies.length)
		return [];
	return [make("h2", {}, "All waits"), make("table", { class: "edges" }, make("caption", { class: "hidden" }, "All waits, equal ones counted"),
		make("thead", {}, make("tr", {}, ...heads.map((h) => make("th", { scope: "col" }, h)))), ...bodies),
	scan.edges_left_out ? make("p", {}, `${plural(scan.edges_left_out, "more line")} of waits whose holder is unknown; probee report --waits shows all.`) : ""];
}
