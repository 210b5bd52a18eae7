/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data of a page that is made once: besides tables, the samples of each event, as page_data.h says. */
/* Ticks are added up by thread, and become times in ns since the beginning. */
function readTimes(r, s, tick)
{
	s.time = new Float64Array(s.n);
	s.thread = new Int32Array(s.n);
	for (let run = 0, i = 0; run < s.runs.length; run++)
		for (let at = 0, end = i + s.lengths[run]; i < end; i++) {
			at += r.uv();
			s.time[i] = at * tick;
			s.thread[i] = s.runs[run];
		}
}

function readScans(r, s)
{
	s.scan = new Int32Array(s.n);
	for (let i = 0, scan = 0; i < s.n; i++)
		s.scan[i] = scan += r.sv();
}

function readSamples(r, event)
{
	const s = { tick_ns: r.uv(), coarser: r.uv(), n: r.uv() }, runs = r.uv();

	s.runs = r.column(runs);
	s.lengths = r.column(runs);
	readTimes(r, s, s.tick_ns);
	s.node = r.column(s.n);
	s.cpu = r.column(s.n, Int32Array, 1);
	s.activity = r.column(s.n, Uint8Array);
	s.count = r.column(s.n, Float64Array);
	readScans(r, s);
	s.weight = r.column(s.n, Float64Array);
	for (let i = 0; i < s.n; i++)
		s.weight[i] = s.weight[i] ? s.weight[i] - 1 : event.usual * s.count[i];
	return s;
}

function readStrip(r, rows)
{
	const sums = [];

	while (r.at < r.bytes.length)
		sums.push(r.uv());
	return { n: sums.length / rows, sums: Float64Array.from(sums) };
}

const NO_SAMPLES = { n: 0, runs: [], lengths: [], tick_ns: 1, coarser: 0 };

class MadeStore extends Store {
	forget()
	{
		super.forget();
		this.samples = [];		/* by event */
		this.strips = [];
		this.delta = null;
	}

	publish(to)
	{
		this.publishFacts(to);
		this.publishTables(to);
		to.events.forEach((e, i) => {
			const samples = this.samples[i] ?? NO_SAMPLES, { tick_ns, coarser } = samples;

			Object.assign(e, { functions: to.functions, nodes: this.trees[i + 1].nodes(), samples, tick_ns, coarser,
				strip: this.strips[i] ?? { n: 0, sums: [] } });
		});
		if (this.delta)
			to.events[0].delta = this.delta;
		return to;
	}
}

Object.assign(SECTION_READERS, {
	samples(store, r)
	{
		const event = r.uv();

		store.samples[event] = readSamples(r, store.facts.events[event]);
	},
	strip(store, r)
	{
		const event = r.uv();

		store.strips[event] = readStrip(r, store.facts.activities.length);
	},
	delta: (store, r) => { store.delta = readDelta(r, store.trees[1].parent.n); },
});

/* The message in the page itself. */
async function readData()
{
	const element = document.getElementById("data"), bytes = bytesOf(element.textContent), made = new MadeStore();

	element.remove();
	await made.apply(bytes);
	return made.publish({});
}
