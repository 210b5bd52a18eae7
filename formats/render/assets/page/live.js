/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A page that a server feeds: messages are taken as they come, and the views are told of them, unless
 * the page is paused or nobody sees it. What is shown may follow the end of the recording: the last
 * minute, say. The browser comes back by itself when the connection is lost, and says which version
 * it has; when the server knows that version no more, it sends all.
 */
const LAST_CHOICES = [[null, "all since the start"], [300, "last 5 min"], [60, "last 1 min"], [10, "last 10 s"], [0, "latest update"]];
const RETRY_MS = 3000, STALE_MS = 5000, OLD_MS = 3600e3;

const store = new LiveStore();
const live = { isPaused: false, isBroken: false, isStarted: false, isHeld: false, pending: 0, at: 0, names: null, resetsShown: 0, last: null, stopped: "" };

/* ---- The window that follows the end ---- */

/* What state.from and state.to are; {} where they do not follow. 0: what the latest message brought. */
function followedWindow(last)
{
	if (!data?.live || typeof last !== "number")
		return {};
	const from = last > 0 ? data.span - last * 1e9 : data.newest;

	return { from: from > 0 ? from : 0, to: null };
}

const toggleAccumulate = () => change(state.last === 0 ? { last: null, from: null, to: null } : { last: 0 });

/* ---- What comes ---- */

function connect(address)
{
	const source = new EventSource(address + location.search);
	let queue = Promise.resolve();

	source.onmessage = (e) => {
		live.pending++;
		queue = queue.then(() => receive(e.data)).catch((error) => {
			source.close();
			stop(`this page cannot read what comes (${error.message})`);
		});
	};
	/* The recorder has gone without saying so in its trace. */
	source.addEventListener("over", () => {
		store.hasEnded = true;
		tellStatus();
	});
	source.onopen = () => {
		live.isBroken = false;
		tellStatus();
	};
	source.onerror = () => {
		live.isBroken = !store.hasEnded;
		tellStatus();
		if (store.hasEnded)
			source.close();		/* nothing more will come */
		else if (source.readyState === EventSource.CLOSED)
			setTimeout(() => connect(address), RETRY_MS);
	};
}

async function receive(text)
{
	if (live.isStarted)
		live.names ??= namesOfMarks();
	try {
		await store.apply(bytesOf(text));
	} finally {
		live.pending--;
	}
	live.at = performance.now();
	live.isBroken = false;
	if (store.resets === live.resetsShown)
		live.names = null;
	if (!live.pending)
		refresh();
}

function stop(why)
{
	live.isBroken = true;
	live.stopped = why;
	tellStatus();
}

/* Shows what has come, if the page does not stand still. */
function refresh()
{
	live.isHeld = live.isStarted && (live.isPaused || document.hidden);
	if (live.isHeld)
		return tellStatus();
	const begin = performance.now();

	if (!live.isStarted)
		return startWith();
	update();
	requestAnimationFrame(() => setTimeout(() => performance.measure("update", { start: begin, end: performance.now() })));
}

/* The first message with samples makes the page. */
function startWith()
{
	if (!store.entries)
		return;
	const made = { wishes: { by: [], inverted: false, part: "", folded: false, top: 0, min_percent: 0 }, all_threads: false };

	store.publish(made);
	data = made;
	FIRST.event = Math.max(0, data.events.findIndex((e) => e.is_cpu));
	byId("waiting").remove();
	live.isStarted = true;
	live.resetsShown = store.resets;
	start(made);
	fillFacts();
}

function update()
{
	const names = live.names;

	live.names = null;
	live.resetsShown = store.resets;
	if (performance.getEntriesByName("update").length > 500)
		performance.clearMeasures("update");
	store.publish(data);
	preferCpuTime();
	const keys = takeNamedEvent() ? [...Object.keys(FIRST), "live"] : ["live"];

	Object.assign(state, followedWindow(state.last));
	updating = true;
	try {
		if (names)
			findNames(names);
		fillFacts();
		show(new Set(keys));
	} finally {
		updating = false;
	}
}

/* The event that the address names may come later than others. Until then another one is shown. */
function takeNamedEvent()
{
	const p = new URLSearchParams(location.hash.slice(1)), named = Number(p.get("event"));

	if (!p.has("event") || named === state.event || !data.events[named])
		return false;
	readHash();
	return true;
}

/* Snapshots may come before the first sample of CPU time. */
function preferCpuTime()
{
	const cpu = data.events.findIndex((e) => e.is_cpu);

	if (cpu < 0 || data.events[FIRST.event].is_cpu)
		return;
	const isFirst = state.event === FIRST.event, isGrouped = state.group !== FIRST.group;

	FIRST.event = cpu;
	FIRST.group = "program";
	if (isFirst)
		Object.assign(state, { event: cpu, group: isGrouped ? state.group : FIRST.group });
}

/* ---- Numbers that have another meaning when all comes anew: what was chosen is found by its name ---- */

function namesOfMarks()
{
	const tree = state.zoom === "all" ? null : treeNow(), names = [];

	for (let i = tree ? tree.find(state.zoom) : 0; i > 0; i = tree.parent[i])
		names.unshift(tree.name(i));
	return { zoom: names, fn: state.fn === null ? null : functionName(state.fn) };
}

function findNames({ zoom, fn })
{
	state.zoom = "all";
	if (fn !== null) {
		const f = shownEvent().functions, i = f.name.findIndex((s) => data.strings[s] === fn);

		state.fn = i < 0 ? null : f.same[i];
	}
	if (!zoom.length)
		return writeHash(false);
	const tree = treeNow();
	let at = 0;

	for (const name of zoom) {
		let c = at + 1;

		while (c <= tree.last[at] && tree.name(c) !== name)
			c = tree.last[c] + 1;
		if (c > tree.last[at])
			break;
		at = c;
	}
	state.zoom = tree.id(at);
	writeHash(false);
}

/* ---- The head ---- */

function factList()
{
	const { facts, now } = store, whole = now.stacks ? `${shareText(now.whole, now.stacks)} of ${grouped(now.stacks)} user stacks are whole` : "";

	return [["Lasted", timeText(now.lasted_ns)], ["Shown", shownEvent().amount], ["Lost samples", grouped(now.lost)], ["Stacks", whole],
		["Snapshots", now.scans], ["Begun", now.begun_ms ? new Date(now.begun_ms).toISOString().replace("T", " ").replace(/\..*/, " UTC") : ""],
		["Host", facts.host], ["Kernel", facts.kernel], ["Recorded by", facts.tool], ["Command", facts.argv]].filter(([, text]) => text);
}

function fillFacts()
{
	const list = document.querySelector("#facts dl"), warning = byId("warning");

	list.replaceChildren(...factList().flatMap(([what, text]) => [make("dt", {}, what), make("dd", {}, text)]));
	warning.textContent = `Losses: ${store.facts.warning}`;
	warning.hidden = !store.facts.warning;
	tellBrief();
}

/* ---- The bar ---- */

const lastOptions = memo([], () => LAST_CHOICES.map(([value, text]) => ({ value, text, also: value === null ? { from: null, to: null } : {} })));

function togglePause()
{
	live.isPaused = !live.isPaused;
	byId("pause").textContent = live.isPaused ? "Resume" : "Pause";
	byId("pause").setAttribute("aria-pressed", String(live.isPaused));
	if (!live.isPaused && live.isHeld)
		refresh();
	tellStatus();
	announce(statusText());
}

/* How much older than now the newest of what is shown is. */
function behindText()
{
	const ms = store.now.age_ms + performance.now() - live.at;

	if (ms > OLD_MS)
		return `nothing new for ${spanText(ms)}`;
	return ms < STALE_MS ? "live" : `live, ${Math.round(ms / 1000)} s behind`;
}

function statusText()
{
	if (live.stopped)
		return live.stopped;
	if (live.isPaused)
		return "paused";
	if (store.hasEnded)
		return "the recording has ended";
	if (live.isBroken)
		return "connection lost, trying again";
	return store.now ? behindText() : "waiting for the recorder";
}

function tellStatus()
{
	const status = byId("live-status") ?? byId("waiting");

	if (status && status.textContent !== statusText()) {
		status.textContent = statusText();
		status.classList.toggle("warn", live.isBroken && !live.isPaused);
	}
}

function makeLiveBar()
{
	const pause = button("Pause", "Let the page stand still, or go on (Space)", togglePause, { id: "pause", "aria-pressed": "false" });
	const last = chooser("Showing", "last", lastOptions);
	const accumulate = button("Accumulate", "All that has come, or only what the latest update brought (a)", toggleAccumulate, { id: "accumulate" });
	const follow = button("Follow", "Let the window of time follow the end again", () => change({ last: live.last ?? 60 }), { id: "follow" });
	const downloads = makeDownloads();
	const bar = make("span", { id: "live-bar" }, last, follow, accumulate, downloads);

	/* These are in reach at any width: in the corner of the page. */
	bar.head = [make("output", { id: "live-status" }), pause];

	bar.changed = () => {
		const isFixed = state.from !== null && state.last === null;

		last.changed();
		accumulate.setAttribute("aria-pressed", String(state.last !== 0));
		follow.hidden = !isFixed;
		last.hidden = isFixed;
		live.last = state.last > 0 ? state.last : live.last;
		tellStatus();
	};
	return bar;
}

function startLive(address)
{
	connect(address);
	setInterval(tellStatus, 1000);
	document.addEventListener("visibilitychange", () => !document.hidden && live.isHeld && !live.isPaused && refresh());
}
