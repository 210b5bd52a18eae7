/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bar of choices, and the tabs of the views. */
const VIEWS = [
	{ key: "flame", title: "Flame graph", make: makeFlamePanel },
	{ key: "functions", title: "Functions", make: makeFunctionsPanel },
	{ key: "sandwich", title: "Callers and callees", make: makeSandwichPanel },
	{ key: "threads", title: "Threads", ofSamples: true, make: makeThreadsPanel },
	{ key: "waits", title: "Waits", ofSamples: true, make: makeWaitsPanel },
	{ key: "tree", title: "Call tree", ofSamples: true, make: makeTreePanel },
	{ key: "now", title: "Threads now", ofSamples: true, make: makeNowPanel },
];

const shownViews = () => VIEWS.filter((v) => data.delta ? !v.ofSamples : v.key === "waits" ? data.live || data.waits :
	v.key !== "now" || data.live);

function chooser(label, key, options)
{
	const select = make("select", { id: "choose-" + key, onchange: () => {
		const o = shown[select.selectedIndex];

		change({ [key]: o.value, ...o.also });
	} });
	const element = make("label", { class: "choice" }, label + " ", select);

	let shown;

	element.changed = () => {
		/* While the user looks at a list, it does not change. */
		const list = updating && document.activeElement === select ? shown : options();

		if (list !== shown && (list.length !== shown?.length || list.some((o, i) => o.text !== shown[i].text)))
			select.replaceChildren(...list.map((o) => make("option", {}, o.text)));
		shown = list;
		select.selectedIndex = list.findIndex((o) => o.value === state[key]);
		element.hidden = list.length < 2;
	};
	return element;
}

/* Sums by some small number, from -1 on; the heaviest first. */
function heaviest(sums, label)
{
	return [...sums].map(([id, weight]) => ({ id, weight, text: label(id) }))
		.sort((a, b) => b.weight - a.weight || a.id - b.id);
}

const addTo = (sums, id, weight) => sums.set(id, (sums.get(id) ?? 0) + weight);

/* Sums of all samples of the event by thread, process, CPU and activity. */
const totalsNow = memo(["event"], () => {
	const s = shownEvent().samples, thread = new Map(), process = new Map(), cpu = new Map(), activity = new Map();

	for (let run = 0, i = 0; run < s.runs.length; run++) {
		const end = i + s.lengths[run], t = s.runs[run];
		let sum = 0;

		for (; i < end; i++)
			sum += s.weight[i];
		addTo(thread, t, sum);
		addTo(process, data.threads.process[t], sum);
	}
	for (let i = 0, end; i < s.n; i = end) {
		let sum = 0;

		for (end = i; end < s.n && s.cpu[end] === s.cpu[i] && s.activity[end] === s.activity[i]; end++)
			sum += s.weight[end];
		addTo(cpu, s.cpu[i], sum);
		addTo(activity, s.activity[i], sum);
	}
	return { thread, process, cpu, activity };
});

const MANY_OPTIONS = 500;
const withShare = (list, value) => list.slice(0, MANY_OPTIONS).map((x) => ({ value: value(x.id),
	text: `${x.text}  ${weightText(x.weight, shownEvent())}` }));
const all = (text) => ({ value: null, text });

const processOptions = memo(["event"], () => {
	const byPid = new Map();

	/* A process that execs is several of one number. */
	for (const x of heaviest(totalsNow().process, processLabel)) {
		const pid = data.processes.pid[x.id], before = byPid.get(pid);

		if (before)
			before.weight += x.weight;
		else
			byPid.set(pid, { ...x });
	}
	return [all("all processes"), ...withShare([...byPid.values()], (id) => data.processes.pid[id])];
});

const threadOptions = memo(["event", "process"], () => {
	const { process, tid, life } = data.threads, byTid = new Map();

	/* A thread that changes its name is several of one number. */
	for (const [t, weight] of totalsNow().thread)
		if (state.process === null || data.processes.pid[process[t]] === state.process) {
			const before = byTid.get(tid[t]);

			byTid.set(tid[t], { id: Math.max(life[t], before?.id ?? 0), weight: weight + (before?.weight ?? 0) });
		}
	const list = heaviest([...byTid.values()].map((x) => [x.id, x.weight]), threadLabel);

	return [all("all threads"), ...withShare(list, (id) => tid[id])];
});

const cpuOptions = memo(["event"], () => data.live ? [] : [all("all CPUs"), ...withShare(
	heaviest(totalsNow().cpu, cpuLabel).sort((a, b) => a.id - b.id), (id) => id)]);
const activityOptions = memo(["event"], () => [all("all states"), ...withShare(
	heaviest(totalsNow().activity, (a) => data.activities[a]), (id) => id)]);

const eventOptions = memo([], () =>
	data.events.map((e, i) => ({ value: i, text: `${e.is_wall ? "snapshots (wall time)" : e.is_cpu ? `CPU time (${e.label})` : e.label}: ${weightText(+e.weight, e)}`,
		also: { process: null, thread: null, cpu: null, activity: null, zoom: "all", fn: null,
			group: e.is_wall ? "state" : "program" } })));

const alsoOptions = memo(["event"], () => data.events.length < 2 ? [] : [{ value: null, text: "nothing" },
	...data.events.map((e, i) => ({ value: i, text: e.is_wall ? "snapshots" : e.is_cpu ? "CPU time" : e.label })).filter((o) => o.value !== state.event)]);
const leastOptions = memo([], () => [...new Set([0, 0.1, 0.5, 1, 5, FIRST.least])].sort((a, b) => a - b)
	.map((v) => ({ value: v, text: v ? `${v} %` : "any width" })));
const rowOptions = memo([], () => WORDS.rows.filter((r) => r !== "cpu" || !data.live).map((r) => ({ value: r, text: r === "cpu" ? "CPUs" : r + (r === "process" ? "es" : "s") })));
const sideOptions = memo([], () => data.delta ? WORDS.side.map((s) => ({ value: s, text: SIDES[s] })) : []);
const groupOptions = memo([], () => Object.keys(GROUPINGS).filter((k) => k !== "cpu" || !data.live).map((k) => ({ value: k, text: GROUPINGS[k].label, also: { zoom: "all" } })));

function toggle(text, key, hint, also = {})
{
	const b = button(text, hint, () => change({ [key]: !state[key], ...also }));

	b.changed = () => b.setAttribute("aria-pressed", String(state[key]));
	return b;
}

function makeTabs()
{
	const tabs = shownViews().map((v) => {
		const tab = make("button", { type: "button", role: "tab", id: "tab-" + v.key, "aria-controls": "view",
			onclick: () => change({ view: v.key }) }, v.title);

		tab.key = v.key;
		return tab;
	});
	const list = make("div", { role: "tablist", id: "tabs", "aria-label": "Views" }, ...tabs);

	list.addEventListener("keydown", (e) => {
		const at = tabs.findIndex((t) => t.key === state.view), step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];

		if (!step)
			return;
		const next = tabs[(at + step + tabs.length) % tabs.length];

		e.stopPropagation();
		change({ view: next.key });
		next.focus();
	});
	list.changed = () => tabs.forEach((t) => {
		t.setAttribute("aria-selected", String(t.key === state.view));
		t.tabIndex = t.key === state.view ? 0 : -1;
	});
	return list;
}

function makeSearch()
{
	const input = make("input", { id: "search", type: "search", spellcheck: "false", autocomplete: "off",
		placeholder: "Search (regex)", "aria-label": "Search functions, regular expression",
		title: "Regular expression; case counts when it has a capital letter (/ or Ctrl-F)" });
	const matched = make("output", { id: "matched", role: "status" });
	const box = make("span", { class: "choice" }, input, matched);

	input.addEventListener("input", () => change({ q: input.value }, false));
	box.changed = () => {
		if (input.value !== state.q)
			input.value = state.q;
		input.toggleAttribute("aria-invalid", patternOf(state.q) === undefined);
		matched.textContent = matchText();
	};
	return box;
}

function makeWindowChoice()
{
	const text = make("output", { id: "window" });
	const whole = button("All of the time", "Show all of the recording", () => change({ from: null, to: null }), { id: "whole" });
	const heat = toggle("Heat map", "heat", "Show when things happen within each second");
	const also = chooser("Below it", "also", alsoOptions);
	const live = data.live ? makeLiveBar() : null, legend = makeActivityLegend();
	const box = make("div", { id: "time-bar" }, live ?? "", make("span", { class: "name" }, "Time "), text, whole, heat, also, legend);

	box.head = live?.head ?? [];
	box.changed = () => {
		text.textContent = `${windowText()} \u00b7 ${weightText(selectionNow().weight, shownEvent())} in ${plural(selectionNow().count, "sample")}`;
		whole.disabled = state.from === null && state.to === null;
		heat.changed();
		heat.hidden = data.live !== undefined;
		also.changed();
		legend.changed();
		live?.changed();
	};
	return box;
}

const usedActivities = () => memo([], () => {
	const used = new Uint8Array(256);

	for (const e of data.events)
		for (let i = 0; i < e.samples.n; i++)
			used[e.samples.activity[i]] = 1;
	return data.activities.map((_, a) => a).filter((a) => used[a]);
});

/* Calls fill() when of() gives another list than before. */
function whenOther(of, fill)
{
	let before = null;

	return () => {
		const now = String(of());

		if (now !== before) {
			fill();
			paintLegends();
		}
		before = now;
	};
}

function makeActivityLegend()
{
	const list = make("ul", { class: "legend", "aria-label": "Colours of states" });
	const used = usedActivities();
	const fill = () => list.replaceChildren(...used().map((a) => make("li", { title: data.activities[a] },
		make("i", { "data-activity": a }), data.activities[a].replace(/ \(.*| or .*/, ""))));

	list.changed = whenOther(used, fill);
	return list;
}

/* Which kinds an event has: of its functions, and "no code", which the root always is. */
function kindsOf(event)
{
	const { kind } = event.functions, { func, flags } = event.nodes, used = new Set([5]);

	for (let i = 1; i < event.nodes.n; i++)
		used.add(kindIndex(kind[func[i]], flags[i]));
	return [...used];
}

function makeKindLegend()
{
	const list = make("ul", { class: "legend", id: "kinds", "aria-label": "Colours of boxes" });
	const used = memo([], () => [...new Set(data.delta ? Object.values(KIND_OF_VERDICT) : data.events.flatMap((e) => kindsOf(e)))]
		.sort((a, b) => a - b).concat(data.events.some((e) => e.nodes.flags.some((f) => f & NODE_GUESSED)) ? ["guess"] : []));
	const fill = () => list.replaceChildren(...used().map((i) => i === "guess" ? make("li", { class: "guess" }, "slanted: guessed") :
		make("li", {}, make("i", { "data-kind": i }), KINDS[i].text)));

	list.changed = whenOther(used, fill);
	return list;
}

/* The style sheet cannot name these colours, which depend on the theme chosen here. */
function paintLegends()
{
	for (const e of document.querySelectorAll("[data-activity]"))
		e.style.background = activityColour(+e.dataset.activity);
	for (const e of document.querySelectorAll("[data-kind]"))
		e.style.background = colourAt(+e.dataset.kind * SHADES + 3);
}

function makeBar()
{
	const quiet = toggle(plural(data.quiet, "quiet thread"), "quiet", "Also threads that slept all the time");
	const children = [
		chooser("Show", "event", eventOptions),
		makeSearch(),
		chooser("Process", "process", processOptions),
		chooser("Thread", "thread", threadOptions),
		chooser("CPU", "cpu", cpuOptions),
		chooser("State", "activity", activityOptions),
		quiet,
	];
	const bar = make("div", { id: "bar", role: "toolbar", "aria-label": "Filters" }, ...children);

	bar.changed = () => {
		for (const c of children)
			c.changed();
		document.querySelector("h1").textContent = shownEvent().title;
		quiet.textContent = plural(data.quiet, "quiet thread");
		quiet.hidden = !data.quiet || !shownEvent().is_wall;
	};
	return bar;
}

/* What concerns the flame graph alone. */
function makeTreeBar()
{
	const reset = button("Reset zoom", "Show everything (Esc)", () => change({ zoom: "all" }), { id: "reset" });
	const group = chooser("Group by", "group", groupOptions), rows = chooser("Rows", "rows", rowOptions);
	const icicle = toggle("Icicle", "icicle", "Root on top (i)"), least = chooser("At least", "least", leastOptions);
	const inverted = toggle("Inverted", "inverted", "Functions first, callers behind them (v)", { zoom: "all" });
	const recursion = toggle("No recursion", "folded", "Functions that call each other in turn once, however often they do (r)", { zoom: "all" });
	const side = chooser("Width", "side", sideOptions), kinds = makeKindLegend();
	const places = data.delta ? [[side, "flame sandwich"], [icicle, "flame"], [inverted, "flame"], [least, "flame sandwich"], [reset, "flame"]] :
		[[group, "flame tree"], [rows, "threads"], [icicle, "flame"], [inverted, "flame tree"], [recursion, "flame tree sandwich"],
			[least, "flame tree sandwich"], [reset, "flame"]];
	const bar = make("div", { id: "tree-bar", role: "toolbar", "aria-label": "Looks" }, ...places.map(([c]) => c), kinds);

	bar.changed = () => {
		for (const [c] of places)
			c.changed?.();
		reset.disabled = state.zoom === "all";
		for (const [c, views] of places)
			c.hidden = !views.split(" ").includes(state.view);
		kinds.changed();
		kinds.hidden = !["flame", "sandwich", "tree"].includes(state.view);
	};
	return bar;
}

/* In the corner of the page. */
function makeCorner()
{
	const theme = makeThemeChoice();
	const corner = make("div", { id: "corner" }, theme,
		button("Keys", "All keys (?)", toggleHelp, { id: "help-button", "aria-expanded": "false" }));

	corner.changed = () => theme.changed();
	return corner;
}

function makeThemeChoice()
{
	return chooser("Theme", "theme", memo([], () => WORDS.theme.map((t) => ({ value: t, text: t }))));
}
