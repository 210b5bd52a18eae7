/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts the page together and listens to keys. */
let panels = {};

function applyTheme()
{
	const root = document.documentElement;

	if (state.theme === "auto")
		delete root.dataset.theme;
	else
		root.dataset.theme = state.theme;
	dark = state.theme === "dark" || state.theme === "auto" && darkness.matches;
	root.classList.toggle("dark", dark);
	paintLegends();
}

/* One panel at a time is in the page, made when it is first asked for. */
const viewPart = {
	changed(keys)
	{
		const v = VIEWS.find((x) => x.key === state.view), view = byId("view");
		const panel = panels[v.key] ??= v.make();

		if (view.firstElementChild !== panel)
			view.replaceChildren(panel);
		view.setAttribute("aria-labelledby", "tab-" + v.key);
		panel.update(keys);
		for (const f of panel.flames ?? (panel.flame ? [panel.flame] : []))
			f.draw();
	},
};

const flameOf = () => panels[state.view]?.flame;

function goBack()
{
	if (!byId("help").hidden)
		toggleHelp();
	else if (state.zoom !== "all")
		change({ zoom: "all" });
	else if (state.q)
		change({ q: "" }, false);
	else
		change({ from: null, to: null });
}

function nextGroup()
{
	if (data.delta)
		return;
	const names = Object.keys(GROUPINGS), at = names.indexOf(state.group);

	change({ group: names[(at + 1) % names.length], zoom: "all" });
}

function copyName()
{
	const flame = flameOf();

	if (flame && flame.focused >= 0)
		navigator.clipboard?.writeText(flame.tree.name(flame.focused)).catch(() => {});
}

const KEY_ACTIONS = {
	"/": () => byId("search").select(),
	n: () => flameOf()?.nextHit(1),
	N: () => flameOf()?.nextHit(-1),
	i: () => change({ icicle: !state.icicle }),
	v: () => change({ inverted: !state.inverted, zoom: "all" }),
	g: nextGroup,
	r: () => data.delta || change({ folded: !state.folded, zoom: "all" }),
	h: () => data.live || change({ heat: !state.heat }),
	" ": () => data.live && togglePause(),
	a: () => data.live && toggleAccumulate(),
	c: copyName,
	d: () => change({ theme: isDark() ? "light" : "dark" }, false),
	"?": toggleHelp,
	Escape: goBack,
	...Object.fromEntries(VIEWS.map((v, i) => [String(i + 1), () => byId("tab-" + v.key) && change({ view: v.key })])),
};

function onKey(e)
{
	const isCommand = e.ctrlKey || e.metaKey, input = byId("search");

	if (isCommand && e.key === "f" && document.activeElement !== input) {
		e.preventDefault();
		input.select();
		return;
	}
	if (e.target === input && e.key === "Enter")
		return flameOf()?.nextHit(1);
	if (e.target === input && e.key === "Escape") {
		e.preventDefault();
		return state.q ? change({ q: "" }, false) : input.blur();
	}
	if (e.key === " " && (!data.live || e.target.closest?.("button, summary, a")))
		return;
	if (isCommand || e.altKey || e.target === input || e.target.localName === "select" || !Object.hasOwn(KEY_ACTIONS, e.key))
		return;
	e.preventDefault();
	KEY_ACTIONS[e.key]();
}

function onCopy(e)
{
	const flame = flameOf();

	if (!flame || document.activeElement !== flame.box || flame.focused < 0 || !getSelection().isCollapsed)
		return;
	e.clipboardData.setData("text/plain", flame.tree.name(flame.focused));
	e.preventDefault();
}

/* On paper all rows of the tree are there, in light colours. */
function usePaper(is)
{
	paper = is;
	document.documentElement.classList.toggle("paper", is);
	document.documentElement.classList.toggle("dark", isDark() && !is);
	paintLegends();
	timeline?.drawNow();
	for (const f of panels[state.view]?.flames ?? [flameOf()])
		f?.drawNow();
}

let timeline;

function notes()
{
	const said = [];

	for (const e of data.events)
		if (e.coarser)
			said.push(`${e.label}: samples within ${timeText(e.tick_ns)} of each other are joined, because there are many; sums are exact.`);
	if (data.left_out)
		said.push(`${plural(data.left_out, "more event")} of the recording ${data.left_out === 1 ? "is" : "are"} not in this page; see --event.`);
	return said.map((text) => make("p", { class: "note said" }, text));
}

/* A row of choices goes sideways with the wheel, and fades at its end while there is more. */
function makeRow(attrs, ...kids)
{
	const row = make("div", attrs, ...kids);
	const tell = () => row.classList.toggle("more", row.scrollWidth - row.clientWidth - row.scrollLeft > 1);

	row.classList.add("row");
	row.addEventListener("scroll", tell, { passive: true });
	row.addEventListener("wheel", (e) => {
		const before = row.scrollLeft;

		row.scrollLeft += e.deltaX || e.deltaY;
		if (row.scrollLeft !== before)
			e.preventDefault();
	}, { passive: false });
	new ResizeObserver(tell).observe(row);
	row.changed = tell;
	return row;
}

/* What was said in the head of the page is in its details; the line that opens them has the first of it. */
function foldHead()
{
	const facts = byId("facts"), said = document.querySelectorAll("#head > .answer, #head > .warn");

	facts.firstElementChild.after(...said);
	facts.firstElementChild.append(make("span", { id: "brief" }));
	tellBrief();
}

function tellBrief()
{
	const said = [...document.querySelectorAll("#facts > p")].filter((p) => !p.hidden && p.textContent);
	const first = said.find((p) => p.classList.contains("wrong")) ?? said.find((p) => p.classList.contains("warn")) ?? said[0];
	const brief = byId("brief");

	if (!brief)
		return;
	brief.textContent = first?.textContent ?? "";
	brief.classList.toggle("wrong", Boolean(first?.classList.contains("wrong")));
}

function buildPage()
{
	const main = byId("main"), tabs = makeTabs(), bars = [makeBar(), makeTreeBar(), makeCorner()];
	const timeBar = data.delta ? null : makeWindowChoice(), timed = [];

	const rows = [makeRow({ id: "controls" }, bars[0], timeBar ?? ""), makeRow({ id: "tab-bar" }, tabs, bars[1])];

	if (timeBar) {
		timeline = new Timeline();
		timed.push(timeline.box);
	}
	byId("static")?.remove();
	main.append(make("div", { id: "help-place" }, makeHelp()), rows[0], ...timed, rows[1],
		make("div", { id: "view", role: "tabpanel" }));
	main.append(makeDescriptions(), make("div", { id: "said", class: "hidden", "aria-live": "polite" }));
	document.body.append(make("footer", {}, make("div", { id: "foot" })));
	foldHead();
	byId("facts").append(...notes());
	bars[2].prepend(...timeBar?.head ?? []);
	byId("head").prepend(bars[2]);
	parts.push({ changed: applyTheme }, ...(timeBar ? [timeBar, timeline] : []), tabs, ...bars, ...rows, viewPart);
}

function listen()
{
	document.addEventListener("keydown", onKey);
	document.addEventListener("copy", onCopy);
	addEventListener("popstate", () => {
		readHash();
		show(new Set(Object.keys(FIRST)));
	});
	addEventListener("beforeprint", () => usePaper(true));
	addEventListener("afterprint", () => usePaper(false));
	darkness.addEventListener("change", () => show(new Set(["theme"])));
}

function start(read)
{
	data = read;
	if (!data.events.length || !data.delta && !data.events.some((e) => e.samples.n)) {
		byId("main").append(make("p", { class: "note" }, "There are no samples to show."));
		document.documentElement.dataset.ready = "empty";
		return;
	}
	firstWishes();
	document.documentElement.classList.add("app");
	readHash();
	buildPage();
	listen();
	show(new Set(Object.keys(FIRST)));
	document.documentElement.dataset.ready = "yes";
}

function giveUp(error)
{
	byId("main").prepend(make("p", { class: "warn" }, `This browser cannot show the pictures (${error.message}). Below is the table of functions.`));
}

if (byId("main").dataset.events)
	startLive(byId("main").dataset.events);
else
	readData().then(start).catch(giveUp);
