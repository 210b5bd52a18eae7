/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads, processes or CPUs over time: a row for each, coloured by what it did. Of snapshots each
 * column is one of them, and each cell one state of one thread; of samples a column is a stretch of
 * time, and the height of the bar its share of that. A click on a cell shows its stacks below.
 */
const TRACK = 18, NAMES = 220;

const TRACKS = {
	thread: (s, i) => s.thread[i],
	program: (s, i) => data.processes.name[data.threads.process[s.thread[i]]],
	process: (s, i) => data.threads.process[s.thread[i]],
	cpu: (s, i) => s.cpu[i] + 1,
};

/* The tracks of the samples that pass the filters: first who ran or wanted to, then who waited for locks. */
function tracksNow(event, window)
{
	const of = TRACKS[state.rows];
	const s = event.samples, { list, n } = selectionOfAllThreads(), tracks = new Map();

	for (let k = 0; k < n; k++) {
		const i = list[k], id = of(s, i);

		if (s.time[i] < window.from || s.time[i] >= window.to)
			continue;
		if (!tracks.has(id))
			tracks.set(id, { id, list: [], weight: 0, awake: 0, locked: 0 });
		const t = tracks.get(id);

		t.list.push(i);
		t.weight += s.weight[i];
		t.awake += s.activity[i] < LOCK ? s.weight[i] : 0;
		t.locked += s.activity[i] === LOCK ? s.weight[i] : 0;
	}
	return [...tracks.values()].sort((a, b) => b.awake - a.awake || b.locked - a.locked || b.weight - a.weight || a.id - b.id);
}

/* The name of a track, by its first sample. */
function trackName(event, track)
{
	const s = event.samples, i = track.list[0];

	if (state.rows !== "thread")
		return LEVELS[state.rows].name(track.id);
	const process = nameOfProcess(data.threads.process[s.thread[i]]), label = threadLabel(s.thread[i]);

	return label.startsWith(process) ? label : `${label}, ${process}`;
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
		this.event = shownEvent();
		this.window = windowNow();
		this.tracks = tracksNow(this.event, this.window);
		this.spacer.style.height = this.tracks.length * TRACK + "px";
		this.findColumns();
		this.at.row = Math.min(this.at.row, Math.max(0, this.tracks.length - 1));
		this.at.column = Math.min(this.at.column, this.edges.length - 2);
		this.draw();
	}

	/* Of few snapshots each has a column that begins with its first row; else columns are equal. */
	findColumns()
	{
		const room = Math.max(1, this.box.clientWidth - NAMES), list = this.tracks.flatMap((t) => t.list);

		this.edges = scanEdges(this.event, { list, n: list.length }, room / 3, this.window.to) ??
			evenEdges(this.window.from, this.window.to, Math.max(1, Math.floor(room / 4)));
	}

	get columnWidth() { return (this.box.clientWidth - NAMES - 6) / (this.edges.length - 1); }

	/* By column and activity: weights of one track. */
	cells(track)
	{
		const rows = data.activities.length, s = this.event.samples;
		const sums = new Float64Array((this.edges.length - 1) * rows);

		for (const i of track.list)
			sums[columnAt(this.edges, s.time[i]) * rows + s.activity[i]] += s.weight[i];
		return sums;
	}

	drawNow()
	{
		if (!this.event || !this.box.isConnected || !this.box.clientWidth)
			return;
		const top = this.box.scrollTop, tall = this.box.clientHeight;
		const c = prepare(this.canvas, this.box.clientWidth, tall);
		const first = Math.floor(top / TRACK), end = Math.min(this.tracks.length, Math.ceil((top + tall) / TRACK));

		this.canvas.style.marginBottom = -tall + "px";
		for (let row = first; row < end; row++)
			this.drawTrack(c, this.tracks[row], row * TRACK - top);
		if (document.activeElement === this.box && this.tracks.length)
			this.drawRing(c, top);
	}

	drawTrack(c, track, y)
	{
		const rows = data.activities.length, sums = this.cells(track), w = this.columnWidth;
		/* A column of samples is full when the thread ran all the time. */
		const full = this.event.unit === "ns" && !this.event.is_wall ? this.edges[1] - this.edges[0] : 0;

		c.fillStyle = look().text;
		c.fillText(cutEnd(trackName(this.event, track), NAMES - 12), 4, y + TRACK / 2);
		for (let x = 0; x < this.edges.length - 1; x++) {
			const cell = sums.subarray(x * rows, (x + 1) * rows), sum = cell.reduce((a, b) => a + b, 0);
			let bottom = y + TRACK - 2;

			for (let a = 0; sum && a < rows; a++) {
				const h = (TRACK - 3) * cell[a] / Math.max(sum, full);

				c.fillStyle = activityColour(a);
				c.fillRect(NAMES + x * w, bottom -= h, Math.max(1, w - (w > 3 ? 1 : 0)), h);
			}
		}
	}

	drawRing(c, top)
	{
		c.strokeStyle = look().ring;
		c.lineWidth = 2;
		c.strokeRect(NAMES + this.at.column * this.columnWidth, this.at.row * TRACK - top, Math.max(4, this.columnWidth), TRACK - 1);
	}

	cellAt(e)
	{
		const r = this.box.getBoundingClientRect(), x = e.clientX - r.left;

		return { row: Math.floor((e.clientY - r.top + this.box.scrollTop) / TRACK),
			column: x < NAMES ? -1 : Math.min(this.edges.length - 2, Math.floor((x - NAMES) / this.columnWidth)) };
	}

	samplesOf({ row, column })
	{
		const s = this.event.samples;

		return (this.tracks[row]?.list ?? []).filter((i) => column < 0 || columnAt(this.edges, s.time[i]) === column);
	}

	describe(cell)
	{
		const s = this.event.samples, list = this.samplesOf(cell), sums = new Map();

		for (const i of list)
			sums.set(s.activity[i], (sums.get(s.activity[i]) ?? 0) + s.weight[i]);
		const when = cell.column < 0 ? "" : clockText(this.edges[cell.column], this.window.to - this.window.from) + ": ";

		return when + ([...sums].map(([a, w]) => `${data.activities[a]} ${weightText(w, this.event)}`).join(", ") || "nothing");
	}

	hover(e)
	{
		const cell = this.cellAt(e);

		if (this.tracks[cell.row])
			showDetails(trackName(this.event, this.tracks[cell.row]), this.describe(cell));
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
		this.picked(trackName(this.event, this.tracks[cell.row]), this.describe(cell), this.samplesOf(cell));
	}

	key(e)
	{
		const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Enter: [0, 0] };

		if (e.ctrlKey || e.metaKey || e.altKey || !Object.hasOwn(moves, e.key) || !this.tracks.length)
			return;
		e.preventDefault();
		e.stopPropagation();
		const [rows, columns] = moves[e.key];

		this.at.row = Math.max(0, Math.min(this.tracks.length - 1, this.at.row + rows));
		this.at.column = Math.max(0, Math.min(this.edges.length - 2, this.at.column + columns));
		this.box.scrollTop = Math.min(this.box.scrollTop, this.at.row * TRACK);
		this.box.scrollTop = Math.max(this.box.scrollTop, (this.at.row + 1) * TRACK - this.box.clientHeight);
		this.pick(this.at);
		announce(`${trackName(this.event, this.tracks[this.at.row])}, ${this.describe(this.at)}`);
		this.draw();
	}
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

function showStacks(panel, name, text, samples)
{
	const event = shownEvent(), s = event.samples, byNode = new Map();

	for (const i of samples)
		byNode.set(s.node[i], (byNode.get(s.node[i]) ?? 0) + s.weight[i]);
	const heaviest = [...byNode].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
	const stacks = heaviest.slice(0, STACKS_SHOWN).map(([node, weight]) => make("li", {},
		make("p", {}, weightText(weight, event)),
		make("ol", {}, ...stackOf(event, node).map((f) => make("li", { title: f.origin }, f.name)))));
	const rest = heaviest.length - stacks.length;

	panel.replaceChildren(make("h2", {}, name), make("p", {}, text), make("ul", {}, ...stacks),
		rest > 0 ? make("p", {}, `${plural(rest, "more stack")} here`) : "");
}

function makeThreadsPanel()
{
	const stacks = make("div", { id: "stacks", role: "region", "aria-label": "Stacks of the cell", "aria-live": "polite", tabindex: "0" },
		make("p", {}, "Click a cell to see its stacks."));
	const view = new ThreadsView((name, text, samples) => showStacks(stacks, name, text, samples));
	const panel = make("section", { class: "panel threads", id: "panel-threads", "aria-label": "Threads over time" }, view.box, stacks);

	panel.update = () => view.update();
	panel.view = view;
	return panel;
}
