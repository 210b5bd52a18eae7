/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads, processes or CPUs over time: a row for each, coloured by what it did. Of snapshots each
 * column is one of them, and each cell one state of one thread; of samples a column is a stretch of
 * time, and the height of the bar its share of that. A click on a cell shows its stacks beside.
 * A thread that changes its name, or a process its program, is one row, by its last name. With
 * a second event each row has two lanes, and both have their cells where their times are.
 */
const TRACK = 18, NAMES = 220;

const TRACKS = {
	thread: (s, i) => data.threads.life[s.thread[i]],
	program: (s, i) => data.processes.program[data.threads.process[s.thread[i]]],
	process: (s, i) => data.processes.life[data.threads.process[s.thread[i]]],
	cpu: (s, i) => s.cpu[i] + 1,
};

/* The tracks of the samples that pass the filters: first who ran or wanted to, then who waited for locks. */
function tracksNow(event, selection, window)
{
	const of = TRACKS[state.rows];
	const s = event.samples, { list, n } = selection, tracks = new Map();

	for (let k = 0; k < n; k++) {
		const i = list[k], id = of(s, i);

		if (s.time[i] < window.from || s.time[i] >= window.to)
			continue;
		if (!tracks.has(id))
			tracks.set(id, { id, event, list: [], weight: 0, awake: 0, locked: 0 });
		const t = tracks.get(id);

		t.list.push(i);
		t.weight += s.weight[i];
		t.awake += s.activity[i] < LOCK ? s.weight[i] : 0;
		t.locked += s.activity[i] === LOCK ? s.weight[i] : 0;
	}
	return [...tracks.values()].sort((a, b) => b.awake - a.awake || b.locked - a.locked || b.weight - a.weight || a.id - b.id);
}

/* Each track of the first event, and below it that of the second one. */
function lanesNow(window)
{
	const lanes = tracksNow(shownEvent(), selectionOfAllThreads(), window);

	if (!alsoEvent())
		return lanes;
	const also = new Map(tracksNow(alsoEvent(), selectionOfAlsoThreads(), window).map((t) => [t.id, { ...t, isSecond: true }]));
	const both = lanes.flatMap((t) => also.has(t.id) ? [t, also.get(t.id)] : [t]);
	const seen = new Set(lanes.map((t) => t.id));

	return [...both, ...[...also.values()].filter((t) => !seen.has(t.id))];
}

function trackName(track)
{
	if (state.rows !== "thread")
		return LEVELS[state.rows].name(track.id);
	const process = nameOfProcess(data.threads.process[track.id]), label = threadLabel(track.id);

	return label.startsWith(process) ? label : `${label}, ${process}`;
}

/* "earlier ready (7), main", of a thread or a process that has changed its name. */
function earlierNames(track)
{
	const lives = { thread: [data.threads, nameOfThread], process: [data.processes, nameOfProcess] }[state.rows];

	if (!lives)
		return "";
	const [list, name] = lives, names = new Set();

	for (let i = 0; i < track.id; i++)
		if (list.life[i] === track.id)
			names.add(name(i));
	names.delete(name(track.id));
	return names.size ? `earlier ${[...names].join(", ")}` : "";
}

class ThreadsView {
	constructor(picked)
	{
		this.picked = picked;
		this.canvas = make("canvas", { "aria-hidden": "true" });
		this.spacer = make("div", { class: "spacer" });
		this.box = make("div", { class: "tracks", tabindex: "0", role: "group", "aria-label": "Tracks",
			"aria-roledescription": "grid of states", "aria-describedby": "tracks-help" }, this.canvas, this.spacer);
		this.at = { row: 0, column: 0 };
		this.tracks = [];
		this.draw = onceAFrame(() => this.drawNow());
		this.box.addEventListener("scroll", this.draw);
		this.box.addEventListener("click", (e) => this.click(e));
		this.box.addEventListener("mousemove", (e) => this.hover(e));
		this.box.addEventListener("keydown", (e) => this.key(e));
		this.box.addEventListener("focus", this.draw);
		this.box.addEventListener("blur", this.draw);
		new ResizeObserver(this.draw).observe(this.box);
	}

	update()
	{
		this.window = windowNow();
		this.isDouble = alsoEvent() !== null;
		this.tracks = lanesNow(this.window);
		this.spacer.style.height = this.tracks.length * TRACK + "px";
		for (const event of [shownEvent(), alsoEvent()].filter(Boolean))
			this.findColumns(event);
		this.at.row = Math.min(this.at.row, Math.max(0, this.tracks.length - 1));
		this.at.column = this.tracks.length ? Math.min(this.at.column, this.tracks[this.at.row].edges.length - 2) : 0;
		this.draw();
	}

	/* Of few snapshots each has a column that begins with its first row; else columns are equal. */
	findColumns(event)
	{
		const room = Math.max(1, this.box.clientWidth - NAMES), tracks = this.tracks.filter((t) => t.event === event);
		const list = data.live || !event.is_wall ? [] : tracks.flatMap((t) => t.list);
		const edges = data.live ? tickEdges(this.window.from, this.window.to, room / 4) : list.length && scanEdges(event, { list, n: list.length }, room / 3, this.window.to) ||
			evenEdges(this.window.from, this.window.to, Math.max(1, Math.floor(room / 4)));

		for (const t of tracks)
			t.edges = edges;
	}

	/* The left edge of a column. Those of two events stand by time; otherwise all are equally wide. */
	left({ edges }, column)
	{
		const { from, to } = this.window;

		return NAMES + this.wide * (this.isDouble ? (edges[column] - from) / (to - from) : column / (edges.length - 1));
	}

	/* The end of what was drawn of a column: what comes long after a snapshot is not what it saw. */
	right(track, column)
	{
		const { event, edges } = track, longest = this.isDouble && event.is_wall && event.unit === "ns" && !data.live ? 4 * event.usual : Infinity;

		if (edges[column + 1] - edges[column] <= longest)
			return this.left(track, column + 1);
		return this.left({ edges: [edges[column] + longest] }, 0);
	}

	/* Where the columns of a track are, in pixels: tracks of one event have the same ones. */
	placesOf(track)
	{
		const before = this.places.get(track.edges);

		if (before)
			return before;
		const columns = track.edges.slice(0, -1), left = columns.map((_, x) => this.left(track, x));
		const places = { left, wide: columns.map((_, x) => this.right(track, x) - left[x]) };

		this.places.set(track.edges, places);
		return places;
	}

	columnUnder(track, x)
	{
		const { edges } = track, share = (x - NAMES) / (this.box.clientWidth - NAMES - 6), { from, to } = this.window;

		if (x < NAMES)
			return -1;
		if (this.isDouble)
			return columnAt(edges, from + share * (to - from));
		return Math.min(edges.length - 2, Math.floor(share * (edges.length - 1)));
	}

	/* By column and activity: weights of one track. */
	cells(track)
	{
		const rows = data.activities.length, s = track.event.samples;
		const sums = new Float64Array((track.edges.length - 1) * rows);

		for (const i of track.list)
			sums[columnAt(track.edges, s.time[i]) * rows + s.activity[i]] += s.weight[i];
		return sums;
	}

	drawNow()
	{
		if (!this.window || !this.box.isConnected || !this.box.clientWidth)
			return;
		const top = this.box.scrollTop, tall = this.box.clientHeight;
		const c = prepare(this.canvas, this.box.clientWidth, tall);
		const first = Math.floor(top / TRACK), end = Math.min(this.tracks.length, Math.ceil((top + tall) / TRACK));

		this.canvas.style.marginBottom = -tall + "px";
		/* Asked for once: the browser looks each time whether something has moved. */
		this.wide = this.box.clientWidth - NAMES - 6;
		this.places = new Map();
		for (let row = first; row < end; row++)
			this.drawTrack(c, this.tracks[row], row * TRACK - top);
		if (document.activeElement === this.box && this.tracks.length)
			this.drawRing(c, top);
	}

	drawTrack(c, track, y)
	{
		const { event, edges } = track, rows = data.activities.length, sums = this.cells(track);
		/* A column of samples is full when the thread ran all the time, or where there are most. */
		const full = (x) => event.unit === "ns" && !event.is_wall ? edges[x + 1] - edges[x] : event.is_wall ? 0 : most;
		const whole = sumsOfColumns(sums, rows), most = whole.reduce((a, b) => Math.max(a, b), 0);
		const { left, wide } = this.placesOf(track);

		this.drawName(c, track, y);
		for (let x = 0; x < whole.length; x++) {
			const size = Math.max(whole[x], full(x)), w = Math.max(1, wide[x] - (wide[x] > 3 ? 1 : 0));
			let bottom = y + TRACK - 2;

			for (let a = 0; whole[x] && a < rows; a++) {
				const h = (TRACK - 3) * sums[x * rows + a] / size;

				if (!h)
					continue;
				c.fillStyle = activityColour(a);
				c.fillRect(left[x], bottom -= h, w, h);
			}
		}
	}

	/* The second lane of a thread has the name of its event instead. */
	drawName(c, track, y)
	{
		const isBelow = track.isSecond && this.tracks[this.tracks.indexOf(track) - 1]?.id === track.id;
		const name = isBelow ? "" : trackName(track), mark = this.isDouble ? eventWord(track.event) : "";
		const room = NAMES - 12 - (mark && textPx(mark, 90) + 8);

		if (!isBelow && this.isDouble && y > 0) {
			c.fillStyle = look().line;
			c.fillRect(0, y - 1, this.box.clientWidth, 1);
		}
		c.fillStyle = look().text;
		c.fillText(textPx(name, room) <= room ? name : cutEnd(name, room), 4, y + TRACK / 2);
		c.fillStyle = look().dim;
		if (mark)
			c.fillText(mark, NAMES - 6 - textPx(mark, 90), y + TRACK / 2);
	}

	drawRing(c, top)
	{
		const track = this.tracks[this.at.row], left = this.left(track, this.at.column);

		c.strokeStyle = look().ring;
		c.lineWidth = 2;
		c.strokeRect(left, this.at.row * TRACK - top, Math.max(4, this.right(track, this.at.column) - left), TRACK - 1);
	}

	cellAt(e)
	{
		const r = this.box.getBoundingClientRect(), row = Math.floor((e.clientY - r.top + this.box.scrollTop) / TRACK);

		return { row, column: this.tracks[row] ? this.columnUnder(this.tracks[row], e.clientX - r.left) : -1 };
	}

	samplesOf({ row, column })
	{
		const t = this.tracks[row];

		return (t?.list ?? []).filter((i) => column < 0 || columnAt(t.edges, t.event.samples.time[i]) === column);
	}

	describe(cell)
	{
		const track = this.tracks[cell.row], s = track.event.samples, list = this.samplesOf(cell), sums = new Map();

		for (const i of list)
			sums.set(s.activity[i], (sums.get(s.activity[i]) ?? 0) + s.weight[i]);
		const when = cell.column < 0 ? "" : clockText(track.edges[cell.column], this.window.to - this.window.from) + ": ";

		return when + ([...sums].map(([a, w]) => `${data.activities[a]} ${weightText(w, track.event)}`).join(", ") || "nothing") +
			(earlierNames(track) && ` \u00b7 ${earlierNames(track)}`);
	}

	hover(e)
	{
		const cell = this.cellAt(e);

		this.box.title = this.tracks[cell.row] && cell.column < 0 ?
			[trackName(this.tracks[cell.row]), earlierNames(this.tracks[cell.row])].filter(Boolean).join(", ") : "";
		if (this.tracks[cell.row])
			showDetails(trackName(this.tracks[cell.row]), this.describe(cell));
	}

	click(e)
	{
		const cell = this.cellAt(e);

		if (!this.tracks[cell.row])
			return;
		this.at = { row: cell.row, column: Math.max(0, cell.column) };
		this.pick(cell);
		this.draw();
	}

	pick(cell)
	{
		this.picked(this.tracks[cell.row], this.describe(cell), this.samplesOf(cell));
	}

	key(e)
	{
		const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Enter: [0, 0] };

		if (e.ctrlKey || e.metaKey || e.altKey || !Object.hasOwn(moves, e.key) || !this.tracks.length)
			return;
		e.preventDefault();
		e.stopPropagation();
		const [rows, columns] = moves[e.key];

		this.goTo(Math.max(0, Math.min(this.tracks.length - 1, this.at.row + rows)), columns);
		this.box.scrollTop = Math.min(this.box.scrollTop, this.at.row * TRACK);
		this.box.scrollTop = Math.max(this.box.scrollTop, (this.at.row + 1) * TRACK - this.box.clientHeight);
		this.pick(this.at);
		announce(`${trackName(this.tracks[this.at.row])}, ${this.describe(this.at)}`);
		this.draw();
	}

	/* A lane of the other event has other columns: then the time stays. */
	goTo(row, step)
	{
		const from = this.tracks[this.at.row].edges, { edges } = this.tracks[row];
		const column = edges === from ? this.at.column : columnAt(edges, from[this.at.column]);

		this.at = { row, column: Math.max(0, Math.min(edges.length - 2, column + step)) };
	}
}

const eventWord = (event) => event.is_wall ? "snapshots" : event.is_cpu ? "CPU" : event.name;

/* What the activities of each column weigh together. */
function sumsOfColumns(sums, rows)
{
	const whole = new Float64Array(sums.length / rows);

	for (let x = 0, i = 0; x < whole.length; x++)
		for (let a = 0; a < rows; a++)
			whole[x] += sums[i++];
	return whole;
}

/* The functions of the stack of a node, innermost first. */
function stackOf(event, node)
{
	const { nodes, functions } = event, list = [];

	for (let a = node; a > ROOT; a = nodes.parent[a])
		list.push({ name: data.strings[functions.name[nodes.func[a]]], func: nodes.func[a],
			origin: originOf(event, nodes.func[a]).join(", ") });
	return list;
}

const STACKS_SHOWN = 5;

function showStacks(panel, track, text, samples)
{
	const { event } = track, s = event.samples, byNode = new Map();

	for (const i of samples)
		byNode.set(s.node[i], (byNode.get(s.node[i]) ?? 0) + s.weight[i]);
	const heaviest = [...byNode].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
	const stacks = heaviest.slice(0, STACKS_SHOWN).map(([node, weight]) => make("li", {},
		make("p", {}, weightText(weight, event)),
		make("ol", {}, ...stackOf(event, node).map((f) => make("li", { title: f.origin }, f.name)))));
	const rest = heaviest.length - stacks.length;

	panel.replaceChildren(make("h2", {}, trackName(track)), make("p", {}, text), make("ul", {}, ...stacks),
		rest > 0 ? make("p", {}, `${plural(rest, "more stack")} here`) : "");
}

function makeThreadsPanel()
{
	const stacks = make("div", { id: "stacks", role: "region", "aria-label": "Stacks of the cell", "aria-live": "polite", tabindex: "0" },
		make("p", {}, "Click a cell to see its stacks."));
	const view = new ThreadsView((track, text, samples) => showStacks(stacks, track, text, samples));
	const panel = make("section", { class: "panel threads", id: "panel-threads", "aria-label": "Threads over time" }, view.box, stacks);

	panel.update = () => view.update();
	panel.view = view;
	return panel;
}
