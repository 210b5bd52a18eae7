/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Weights, shares and times as text: three digits at least, always with a unit. */
const grouped = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");

function scaled(v, units)
{
	let i = 0;

	while (i + 1 < units.length && v >= units[i + 1][0])
		i++;
	const [size, unit] = units[i], n = v / size;
	const digits = i === 0 && size === 1 || n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2;

	return (digits ? n.toFixed(digits) : grouped(n)) + (unit && " " + unit);
}

const TIMES = [[1, "ns"], [1e3, "\u00b5s"], [1e6, "ms"], [1e9, "s"]];
const SIZES = [[1, "bytes"], [1e3, "kB"], [1e6, "MB"], [1e9, "GB"], [1e12, "TB"]];
const LARGE = [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"], [1e12, "T"]];

const timeText = (ns) => scaled(ns, TIMES);

function weightText(v, event)
{
	if (event.unit === "ns")
		return timeText(v);
	if (event.unit === "bytes")
		return scaled(v, SIZES);
	if (event.is_counted || event.unit === "count" || event.unit === "samples" || !event.unit)
		return `${grouped(v)} ${event.is_wall ? "thread states" : event.is_counted ? "samples" : event.name}`;
	return `${scaled(v, LARGE)} ${event.unit}`;
}

/* A part never looks like the whole or like nothing. */
function shareText(part, whole)
{
	const p = whole ? 100 * part / whole : 0;

	if (part && p < 0.1)
		return "<0.1 %";
	if (part < whole && p > 99.9)
		return "99.9 %";
	return p.toFixed(1) + " %";
}

/* A time that people wait: "12.3 s", "3 min 4 s", "5 h 6 min", "7 days". */
function spanText(ms)
{
	const s = Math.floor(ms / 1000);

	if (s < 100)
		return `${(ms / 1000).toFixed(1)} s`;
	if (s < 6000)
		return `${Math.floor(s / 60)} min ${s % 60} s`;
	return s < 259200 ? `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min` : plural(Math.floor(s / 86400), "day");
}

const plural = (n, word) => `${grouped(n)} ${word}${n === 1 ? "" : "s"}`;

/* Offsets in the recording: "12.345 s", with as many digits as the window needs. */
function clockText(ns, span)
{
	const digits = span < 1e8 ? 4 : span < 1e10 ? 3 : span < 1e12 ? 1 : 0;

	return (ns / 1e9).toFixed(digits) + " s";
}
