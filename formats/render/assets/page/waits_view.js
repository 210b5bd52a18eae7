/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who waits for whom in a snapshot: a drawing, and lists and a table, which can be read aloud, searched
 * and copied. At the root of a list stands the thread that waits for no other one, below it those
 * that wait for it. Rings, which are deadlocks, come first.
 */
const MANY_WAITERS = 40, DEEP_WAITS = 30;

const waitedText = (t) => t.waited_ns === undefined ? "" : ` for ${timeText(t.waited_ns)}`;

function doesText(t)
{
	if (t.absent)
		return "not in this snapshot";
	const what = [t.syscall, t.kernel_function].filter(Boolean).join(", ");
	const on = t.futex ? `futex ${t.futex}` : t.wait ? t.wait + (t.inode ? ` ${t.inode}` : "") : "";

	return [t.state + waitedText(t), what && "in " + what, on && "waits for " + on].filter(Boolean).join(" \u00b7 ");
}

function waiterItem(t)
{
	const name = t.absent ? `${t.tid}` : `${t.comm} (${t.tid})`;
	const pid = t.pid && t.pid !== t.tid ? ` of process ${t.pid}` : "";

	return make("span", {}, make("b", {}, name), pid, " ", make("span", { class: "does" }, doesText(t)));
}

/* Threads by the thread that they wait for, the longest wait first. */
function waitersByTarget(waits)
{
	const by = new Map();

	for (const t of waits.threads)
		if (t.waits_for !== undefined)
			by.has(t.waits_for) ? by.get(t.waits_for).push(t) : by.set(t.waits_for, [t]);
	for (const list of by.values())
		list.sort((a, b) => (b.waited_ns ?? -1) - (a.waited_ns ?? -1) || a.tid - b.tid);
	return by;
}

function waitTree(t, by, deep, seen)
{
	const below = deep < DEEP_WAITS && !seen.has(t.tid) ? by.get(t.tid) ?? [] : [];

	seen.add(t.tid);
	const shown = below.slice(0, MANY_WAITERS).map((w) => waitTree(w, by, deep + 1, seen));
	const rest = below.length - shown.length;

	if (rest > 0)
		shown.push(make("li", {}, `${plural(rest, "more thread")} wait`));
	return make("li", {}, waiterItem(t), shown.length ? make("ul", {}, ...shown) : "");
}

function ringItem(ring, threads)
{
	const first = ring.certain ? "Deadlock" : "Possible deadlock";

	return make("li", { class: "ring" }, make("b", {}, `${first} of ${plural(ring.tids.length, "thread")}`),
		ring.stood_still ? ": none of them has run meanwhile" : "",
		make("ol", {}, ...ring.tids.slice(0, MANY_WAITERS).map((tid) => make("li", {}, waiterItem(threads.get(tid))))));
}

function waitsContent(waits)
{
	const threads = new Map(waits.threads.map((t) => [t.tid, t])), by = waitersByTarget(waits);
	const rings = waits.rings.map((r) => ringItem(r, threads)), seen = new Set();
	const heads = waits.heads.filter((tid) => threads.has(tid)).map((tid) => waitTree(threads.get(tid), by, 0, seen));
	const out = [...drawWaits(waits), ...edgesTable(waits, threads)];

	if (rings.length)
		out.push(make("h2", {}, "Rings"), make("ul", { class: "waits" }, ...rings));
	if (heads.length)
		out.push(make("h2", {}, "Threads that others wait for"), make("ul", { class: "waits" }, ...heads));
	if (!rings.length && !heads.length)
		out.push(make("p", {}, "No thread is known to wait for another one."));
	return out;
}

function leftOutText()
{
	const { all, scans } = data.waits, rest = all - scans.length;

	return rest > 0 ? `${plural(rest, "snapshot")} of ${grouped(all)} are not in this page: there is room for the last ones, and for those with deadlocks or the longest waits. ` +
		"probee report --waits shows any." : "";
}

/* A page that is fed knows the waits of the newest snapshot alone. */
function showNewestWaits(panel)
{
	const text = make("p", { id: "scan-text", role: "status" }), content = make("div", { class: "waits-content" });
	let shown;

	panel.append(text, content);
	panel.update = () => {
		if (data.waits === shown)
			return;
		shown = data.waits;
		text.textContent = shown ? scanText(shown.scans[0]) : "There is no snapshot yet.";
		content.replaceChildren(...(shown ? waitsContent(wholeScan(shown.scans[0])) : []));
	};
	return panel;
}

function makeWaitsPanel()
{
	const panel = make("section", { class: "panel scrolls", id: "panel-waits", "aria-label": "Who waits for whom", tabindex: "0" });

	if (data.live)
		return showNewestWaits(panel);
	if (!data.waits?.scans.length) {
		panel.append(make("p", {}, "This recording has no snapshots."));
		panel.update = () => {};
		return panel;
	}
	const choice = new ScanChoice(), content = make("div", { class: "waits-content" }), text = make("p", { id: "scan-text", role: "status" });
	let shown = null;

	panel.append(choice.box, text, make("p", { class: "note left-out" }, leftOutText()), content);
	panel.update = () => {
		const i = scanIndexNow();

		choice.update(i);
		if (i === shown)
			return;
		shown = i;
		text.textContent = i < 0 ? "There is no snapshot before the end of the window of time." : scanText(data.waits.scans[i]);
		content.replaceChildren(...(i < 0 ? [] : waitsContent(wholeScan(data.waits.scans[i]))));
	};
	return panel;
}
