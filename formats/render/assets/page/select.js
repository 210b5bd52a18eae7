/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which samples are shown, and their sums by node. A selection is { list, n, weight, count, runs }:
 * the indices of the samples that pass all filters of the state, and where those of each thread are
 * in the list.
 */
const THREAD_QUIET = 1;

const nameOfThread = (t) => data.strings[data.threads.name[t]];
const nameOfProcess = (p) => data.strings[data.processes.name[p]] || "[kernel]";
const withId = (name, id) => id < 0 ? name : `${name} (${id})`;
const threadLabel = (t) => withId(nameOfThread(t), data.threads.tid[t]);
const processLabel = (p) => data.processes.pid[p] === 0 ? "idle CPUs" : withId(nameOfProcess(p), data.processes.pid[p]);
const cpuLabel = (cpu) => cpu < 0 ? "off CPU" : `CPU ${cpu}`;

/* By thread: 1 if the filters let it pass. */
function threadMask(event, withQuiet)
{
	const { process, tid, flags } = data.threads, mask = new Uint8Array(data.threads.n);
	const hidesQuiet = event.is_wall && !state.quiet && !withQuiet;

	for (let t = 0; t < mask.length; t++)
		mask[t] = (state.process === null || data.processes.pid[process[t]] === state.process) &&
			(state.thread === null || tid[t] === state.thread) &&
			!(hidesQuiet && flags[t] & THREAD_QUIET);
	return mask;
}

const sumOf = (list, field) => list.reduce((sum, x) => sum + x[field], 0);

/* The first sample of s, from begin to end, that is not before time. */
function firstAt(s, begin, end, time)
{
	while (begin < end) {
		const mid = (begin + end) >> 1;

		if (s.time[mid] < time)
			begin = mid + 1;
		else
			end = mid;
	}
	return begin;
}

/* Only threads that pass are looked at, and of these only the window. */
function select(event, useWindow = true, withQuiet = false)
{
	const s = event.samples, mask = threadMask(event, withQuiet), list = new Int32Array(s.n);
	const from = useWindow && state.from !== null ? state.from : 0;
	const to = useWindow && state.to !== null ? state.to : Infinity;
	const { cpu, activity } = state;
	const runs = [];
	let n = 0;

	for (let run = 0, begin = 0, end; run < s.runs.length; run++, begin = end) {
		end = begin + s.lengths[run];
		if (!mask[s.runs[run]])
			continue;
		const last = firstAt(s, begin, end, to), first = n;
		let weight = 0, count = 0;

		for (let i = firstAt(s, begin, end, from); i < last; i++) {
			if (cpu !== null && s.cpu[i] !== cpu || activity !== null && s.activity[i] !== activity)
				continue;
			list[n++] = i;
			weight += s.weight[i];
			count += s.count[i];
		}
		if (n > first)
			runs.push({ thread: s.runs[run], begin: first, end: n, weight, count });
	}
	return { list, n, runs, weight: sumOf(runs, "weight"), count: sumOf(runs, "count") };
}

/* Sums by node: of its own, and with all that it called. */
function sumNodes(event, selection)
{
	const { node, weight, count } = event.samples, { n, parent } = event.nodes, { list } = selection;
	const self = new Float64Array(n), selfCount = new Float64Array(n);

	for (let k = 0; k < selection.n; k++) {
		const i = list[k], at = node[i];

		self[at] += weight[i];
		selfCount[at] += count[i];
	}
	const total = self.slice(), totalCount = selfCount.slice();

	for (let i = n - 1; i > 0; i--) {
		const up = parent[i];

		total[up] += total[i];
		totalCount[up] += totalCount[i];
	}
	return { self, total, selfCount, totalCount };
}

/*
 * Sums by function, wherever it was called; where it calls itself, its total counts once. Functions
 * of equal name, kind and file of code are one: the first of them (functions.same).
 */
function sumFunctions(event, sums)
{
	const { func, last, n: nr } = event.nodes, { same, n } = event.functions, { self, total, selfCount, totalCount } = sums;
	const f = { self: new Float64Array(n), total: new Float64Array(n),
		selfCount: new Float64Array(n), totalCount: new Float64Array(n) };
	const onPath = new Int32Array(n), open = new Int32Array(nr);	/* open: a node, and those above it */

	for (let i = 1, depth = 0; i < nr; i++) {
		const fn = same[func[i]];

		if (!totalCount[i] && !total[i])
			continue;
		while (depth && last[open[depth - 1]] < i)
			onPath[same[func[open[--depth]]]]--;
		f.self[fn] += self[i];
		f.selfCount[fn] += selfCount[i];
		if (!onPath[fn]++) {
			f.total[fn] += total[i];
			f.totalCount[fn] += totalCount[i];
		}
		open[depth++] = i;
	}
	return f;
}
