/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data of a page that is fed: besides tables, what src/live/live_page.h says. Messages are kept as
 * they come; publish() makes of them what the views read, which stays as it is until the next time. So
 * a page can stand still while messages come.
 */
const TICK_NS = 1e9;
const LIVE_ENTRIES = 400000;		/* more are thinned out: old ticks become longer */
const NO_MORE_MERGES = 8;		/* so few ticks are not thinned out */

/* What came in one stretch of time: how many samples of which count, and what they weigh. */
class Tick {
	constructor(begin, length)
	{
		Object.assign(this, { begin, length, ids: new Grown(Int32Array), samples: new Grown(Float64Array), weights: new Grown(Float64Array) });
	}

	add(id, samples, weight)
	{
		this.ids.push(id);
		this.samples.push(samples);
		this.weights.push(weight);
	}

	/* place: by count, all zero before and after. */
	unite(place)
	{
		const united = new Tick(this.begin, this.length), { ids, samples, weights } = this;

		for (let i = 0; i < ids.n; i++) {
			const id = ids.v[i], at = place[id] - 1;

			if (at < 0) {
				united.add(id, samples.v[i], weights.v[i]);
				place[id] = united.ids.n;
				continue;
			}
			united.samples.v[at] += samples.v[i];
			united.weights.v[at] += weights.v[i];
		}
		for (const id of united.ids.all)
			place[id] = 0;
		return united;
	}
}

/* Two neighbours as one. */
function uniteTicks(a, b, place)
{
	const both = new Tick(a.begin, b.begin + b.length - a.begin);

	for (const t of [a, b])
		for (let i = 0; i < t.ids.n; i++)
			both.add(t.ids.v[i], t.samples.v[i], t.weights.v[i]);
	return both.unite(place);
}

class LiveStore extends Store {
	constructor()
	{
		super();
		this.rooms = [];		/* by event */
	}

	forget()
	{
		super.forget();
		this.shades = new Grown(Uint8Array);
		this.tree = this.trees[0] = new LiveTree(this);
		this.stacks = new Grown(Int32Array);
		this.counts = grownTable({ event: Uint8Array, thread: Int32Array, stack: Int32Array, activity: Uint8Array });
		this.ticks = [];
		this.entries = 0;
		this.newest = Infinity;		/* where the newest message begins */
		this.rows = new Map();
	}

	/* Where a message brings no entries, nothing is new. */
	async apply(bytes)
	{
		this.newest = Infinity;
		await super.apply(bytes);
		if (this.entries > LIVE_ENTRIES)
			this.thinOut();
	}

	changeStacks(r)
	{
		while (r.at < r.bytes.length) {
			const stack = r.uv();

			this.stacks.v[stack] = r.uv();
		}
	}

	tickAt(begin, length)
	{
		const { ticks } = this;
		let i = ticks.length;

		while (i && ticks[i - 1].begin > begin)
			i--;
		/* A tick that was made longer here has what still comes to a part of it. */
		if (i && begin < ticks[i - 1].begin + ticks[i - 1].length)
			return ticks[i - 1];
		ticks.splice(i, 0, new Tick(begin, length));
		return ticks[i];
	}

	readEntries(r)
	{
		while (r.at < r.bytes.length) {
			const begin = Math.max(0, r.sv()), tick = this.tickAt(begin, Math.max(1, r.uv())), before = tick.ids.n;

			this.readRuns(r, tick);
			this.entries += tick.ids.n - before;
			this.newest = Math.min(this.newest, tick.begin);
		}
		/* What grows several times within a tick is there several times until here. */
		for (const tick of this.ticks.slice(-2))
			this.unite(tick);
	}

	readRuns(r, tick)
	{
		for (let runs = r.uv(), id = 0; runs > 0; runs--) {
			id += r.uv();
			const n = r.uv(), samples = r.uv(), code = r.uv();

			for (const end = id + n; id < end; id++)
				tick.add(id, samples, code ? code - 1 : samples * (this.facts.events[this.counts.event.v[id]]?.usual ?? 0));
		}
	}

	unite(tick)
	{
		const at = this.ticks.indexOf(tick), united = tick.unite(this.place());

		this.entries += united.ids.n - tick.ids.n;
		this.ticks[at] = united;
	}

	place()
	{
		if (!this.placeOf || this.placeOf.length < this.counts.event.n)
			this.placeOf = new Int32Array(2 * this.counts.event.n + 16);
		return this.placeOf;
	}

	/* The older half of the ticks become half as many. */
	thinOut()
	{
		while (this.entries > LIVE_ENTRIES && this.ticks.length > NO_MORE_MERGES) {
			const old = this.ticks.splice(0, this.ticks.length >> 1 & ~1), thin = [];

			for (let i = 0; i < old.length; i += 2)
				thin.push(uniteTicks(old[i], old[i + 1], this.place()));
			this.ticks.unshift(...thin);
			this.entries = this.ticks.reduce((sum, t) => sum + t.ids.n, 0);
		}
	}

	/* The threads as they are now. */
	readThreads(r)
	{
		const text = () => {
			const n = r.uv();

			return new TextDecoder().decode(r.bytes.subarray(r.at, r.at += n));
		};

		while (r.at < r.bytes.length) {
			const thread = r.uv(), state = r.uv();

			if (!state) {
				this.rows.delete(thread);
				continue;
			}
			this.rows.set(thread, { thread, state: state - 1, cpu: r.uv() - 1, ran: r.uv() ? r.sv() : null, owner: r.uv(),
				stack: r.uv() - 1, wait: text(), user: text(), kernel: text() });
		}
	}

	/* ---- What the views read ---- */

	publish(to)
	{
		this.tree.settle();
		this.publishFacts(to);
		this.publishTables(to);
		this.publishShades(to);
		Object.assign(to, { version: (to.version ?? 0) + 1, live: this, rows: new Map(this.rows), stacks: this.stacks.all, place: this.tree.place });
		for (const e of to.events)
			Object.assign(e, { tick_ns: TICK_NS, coarser: 0, functions: to.functions, nodes: this.tree.nodes(), shades: this.shades.all,
				strip: { n: 0, sums: [] } });
		this.publishSamples(to.events);
		const last = this.ticks.at(-1);

		to.span = last ? (last.begin + last.length) * TICK_NS : 1;
		to.newest = Number.isFinite(this.newest) ? this.newest * TICK_NS : to.newest ?? 0;
		to.edges = [...this.ticks.map((t) => t.begin * TICK_NS), to.span];
		folded.clear();
	}

	publishShades({ strings, functions: { n, name } })
	{
		for (let i = this.shades.n; i < n; i++)
			this.shades.push(hashOf(strings[name[i]]) % SHADES);
	}

	/* By thread, and of each in the order of time. */
	publishSamples(events)
	{
		events.forEach((e, i) => {
			const room = this.rooms[i] ??= new SampleRoom(), s = room.take(this.threadSizes(i));

			this.fillSamples(s, i, e.is_counted);
			e.samples = s;
		});
	}

	/* How many entries of an event each thread has. */
	threadSizes(e)
	{
		const event = this.counts.event.v, thread = this.counts.thread.v, sizes = new Int32Array(this.threads.tid.n + 1);

		for (const { ids } of this.ticks) {
			const { v, n } = ids;

			for (let k = 0; k < n; k++)
				if (event[v[k]] === e)
					sizes[thread[v[k]]]++;
		}
		return sizes;
	}

	fillSamples({ next, time, thread, node, activity, count, weight }, e, isCounted)
	{
		const event = this.counts.event.v, threadOf = this.counts.thread.v, stackOf = this.counts.stack.v;
		const activityOf = this.counts.activity.v, stacks = this.stacks.v, { place } = this.tree;

		for (const tick of this.ticks) {
			const ids = tick.ids.v, samples = tick.samples.v, weights = isCounted ? samples : tick.weights.v;
			const { n } = tick.ids, begin = tick.begin * TICK_NS;

			for (let k = 0; k < n; k++) {
				const id = ids[k];

				if (event[id] !== e)
					continue;
				const t = threadOf[id], i = next[t]++;

				time[i] = begin;
				thread[i] = t;
				node[i] = place[stacks[stackOf[id]]];
				activity[i] = activityOf[id];
				count[i] = samples[k];
				weight[i] = weights[k];
			}
		}
	}
}

/* The samples of an event are published in the same arrays again: new ones would have to be cleared, and collected. */
class SampleRoom {
	constructor()
	{
		this.size = 0;
	}

	reserve(n)
	{
		if (n <= this.size)
			return;
		this.size = Math.max(n, 2 * this.size);
		for (const field in SampleRoom.fields)
			this[field] = new SampleRoom.fields[field](this.size);
		this.cpu.fill(-1);
	}

	/* sizes: how many entries each thread has. */
	take(sizes)
	{
		const runs = [], lengths = [], next = new Int32Array(sizes.length);
		let n = 0;

		for (let t = 0; t < sizes.length; t++) {
			next[t] = n;
			n += sizes[t];
			if (sizes[t]) {
				runs.push(t);
				lengths.push(sizes[t]);
			}
		}
		const s = { n, runs, lengths, next };

		this.reserve(n);
		for (const field in SampleRoom.fields)
			s[field] = this[field].subarray(0, n);
		return s;
	}
}
/* cpu and scan say that they are not known. */
SampleRoom.fields = { time: Float64Array, thread: Int32Array, node: Int32Array, cpu: Int32Array, activity: Uint8Array,
	count: Float64Array, weight: Float64Array, scan: Int32Array };

/*
 * The nodes as they come, and in pre-order, siblings by name as in other pages. A node keeps its
 * number, which is its mark in the trees that are drawn (tree.js).
 */
class LiveTree extends NodeTable {
	constructor(store)
	{
		super();
		this.store = store;
		Object.assign(this, grownTable({ first: Int32Array, next: Int32Array }));
		this.settled = 0;		/* nodes that are among the children of their parents */
		this.place = new Int32Array(1);	/* by node: in pre-order */
		this.inOrder = null;
		this.isChanged = true;
	}

	read(r)
	{
		super.read(r);
		this.isChanged = true;
	}

	change(r)
	{
		while (r.at < r.bytes.length) {
			const i = r.uv();

			this.func.v[i] = r.uv();
			this.flags.v[i] = r.uv();
			this.isChanged = true;
		}
	}

	/* As tree_builder.c sorts them. */
	compare(a, b)
	{
		const { strings, functions: { name, kind, binary } } = this.store, f = this.func.v[a], g = this.func.v[b];

		return name.v[f] !== name.v[g] && compareText(strings[name.v[f]], strings[name.v[g]]) ||
			(kind.v[f] - kind.v[g] || (this.flags.v[a] & 1) - (this.flags.v[b] & 1)) ||
			binary.v[f] !== binary.v[g] && compareText(strings[binary.v[f]], strings[binary.v[g]]) || a - b;
	}

	/* Nodes that have come are put among their siblings. */
	adopt()
	{
		const { parent, first, next } = this, n = parent.n, fresh = new Map();

		for (const list of [first, next]) {
			list.reserve(n);
			list.v.fill(0, list.n, n);
			list.n = n;
		}
		for (let i = Math.max(1, this.settled); i < n; i++) {
			const kids = fresh.get(parent.v[i]);

			if (kids)
				kids.push(i);
			else
				fresh.set(parent.v[i], [i]);
		}
		for (const [up, kids] of fresh) {
			for (let c = first.v[up]; c; c = next.v[c])
				kids.push(c);
			if (kids.length > 1)
				kids.sort((a, b) => this.compare(a, b));
			first.v[up] = kids[0];
			kids.forEach((c, k) => { next.v[c] = kids[k + 1] ?? 0; });
		}
		this.settled = n;
	}

	findPlaces()
	{
		const { parent, first, next } = this, place = new Int32Array(parent.n);

		for (let at = 0, n = 0; parent.n;) {
			place[at] = n++;
			if (first.v[at]) {
				at = first.v[at];
				continue;
			}
			while (at && !next.v[at])
				at = parent.v[at];
			if (!at)
				break;
			at = next.v[at];
		}
		return place;
	}

	settle()
	{
		if (!this.isChanged)
			return;
		this.adopt();
		const n = this.parent.n, place = this.findPlaces();
		const t = { n, func: new Int32Array(n), flags: new Uint8Array(n), depth: new Int32Array(n), parent: new Int32Array(n),
			last: new Int32Array(n), mark: new Int32Array(n) };

		for (let i = 0; i < n; i++) {
			const at = place[i];

			t.func[at] = this.func.v[i];
			t.flags[at] = this.flags.v[i];
			t.parent[at] = i ? place[this.parent.v[i]] : -1;
			t.mark[at] = i;
		}
		this.place = place;
		this.inOrder = endNodes(t);
		this.isChanged = false;
	}
	nodes()
	{
		return this.inOrder;
	}
}

Object.assign(SECTION_READERS, {
	"changed-nodes": (store, r) => store.tree.change(r),
	stacks: (store, r) => readRows(r, { stack: store.stacks }),
	"changed-stacks": (store, r) => store.changeStacks(r),
	counts: (store, r) => readRows(r, store.counts),
	entries: (store, r) => store.readEntries(r),
	rows: (store, r) => store.readThreads(r),
});
