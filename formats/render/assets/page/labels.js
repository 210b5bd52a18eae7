/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Colours and names of boxes. A colour says what kind of code it is; the shade depends on the name,
 * so that neighbours differ and a function always looks the same. The kinds differ in lightness and
 * in hue, so that people who see few colours can tell them, too.
 */
const KINDS = [
	{ key: "user", light: ["#f28469", "#f4c07d"], dark: ["#82372b", "#925e31"], text: "user" },
	{ key: "inlined", light: ["#f2d25f", "#f5ef80"], dark: ["#5b4c1a", "#69641e"], text: "inlined" },
	{ key: "kernel", light: ["#89bdec", "#9fa4ef"], dark: ["#375981", "#3f4492"], text: "kernel" },
	{ key: "jit", light: ["#abd27f", "#94d99d"], dark: ["#3c5729", "#306639"], text: "JIT" },
	{ key: "bpf", light: ["#77cfc1", "#8dcfd7"], dark: ["#1f5c54", "#236269"], text: "BPF" },
	{ key: "none", light: ["#c8cbd0", "#d4d4da"], dark: ["#464a53", "#50505e"], text: "no code" },
];
const SHADES = 8;

/* By enum activity: running, ready, disk, lock, sleep, idle kernel, stopped, ended, unknown. */
const ACTIVITY_LIGHT = ["#0f8a68", "#e8a33d", "#c4431c", "#b85c98", "#b9c3d3", "#d9dde4", "#5aa9d6", "#8a8f99", "#e6e8ec"];
const ACTIVITY_DARK = ["#2fb491", "#e8a33d", "#f07a52", "#d784bd", "#475062", "#343a46", "#5aa9d6", "#8a8f99", "#2b2f38"];

const darkness = matchMedia("(prefers-color-scheme: dark)");
let dark = false;				/* set by applyTheme(): it is asked for each box */
const isDark = () => dark;

const LIGHT = { back: "#ffffff", text: "#16181d", dim: "#4a5160", line: "#d5d8de", hit: "#a8009a", hitText: "#ffffff",
	ring: "#0b3fd0", heat: [255, 255, 255, 196, 30, 30], bar: "#3767b0", brush: "rgba(11, 63, 208, .14)" };
const DARK = { back: "#14161b", text: "#f3f4f6", dim: "#b4bac6", line: "#3a3f4a", hit: "#ff8df4", hitText: "#16181d",
	ring: "#ffd54a", heat: [28, 31, 38, 255, 140, 90], bar: "#7fa8e8", brush: "rgba(255, 213, 74, .18)" };
let paper = false;				/* while printing, which is light */
const look = () => isDark() && !paper ? DARK : LIGHT;
const activityColour = (a) => (isDark() && !paper ? ACTIVITY_DARK : ACTIVITY_LIGHT)[a] ?? "#888888";

function mix(a, b, share)
{
	const part = (at) => Math.round(parseInt(a.slice(at, at + 2), 16) * (1 - share) +
		parseInt(b.slice(at, at + 2), 16) * share).toString(16).padStart(2, "0");

	return "#" + part(1) + part(3) + part(5);
}

const shades = (field) => KINDS.map((k) => Array.from({ length: SHADES }, (_, i) => mix(...k[field], i / (SHADES - 1))));
const PALETTES = { light: shades("light"), dark: shades("dark") };

function hashOf(s)
{
	let h = 0;

	for (let i = 0; i < s.length; i++)
		h = Math.imul(h ^ s.charCodeAt(i), 0x01000193);
	return (h ^ h >>> 15) >>> 0;
}

/* By enum frame_kind; 0: user code, inlined or not. */
const KIND_OF_FRAME = [0, 2, 3, 4, 5];

/* The index of KINDS, of a frame's kind and the flags of its node. */
function kindIndex(kind, flags)
{
	if (flags & NODE_SYNTHETIC)
		return 5;
	return KIND_OF_FRAME[kind] || (flags & NODE_INLINED ? 1 : 0);
}

function kindOf(tree, i)
{
	const f = tree.func[i];

	return f < 0 ? 5 : kindIndex(tree.event.functions.kind[f], tree.flags[i]);
}

/* By function: a number below SHADES. */
function shadesOf(event)
{
	const { n, name } = event.functions;

	return event.shades ??= Uint8Array.from({ length: n }, (_, f) => hashOf(data.strings[name[f]]) % SHADES);
}

/* A number below KINDS.length * SHADES for each node of a tree. */
function colourIndexes(tree)
{
	const shades = shadesOf(tree.event), colours = new Uint8Array(tree.n);

	for (let i = 0; i < tree.n; i++) {
		const f = tree.func[i];

		colours[i] = kindOf(tree, i) * SHADES + (f < 0 ? hashOf(tree.name(i)) % SHADES : shades[f]);
	}
	return colours;
}

const colourAt = (index) => PALETTES[isDark() && !paper ? "dark" : "light"][index / SHADES | 0][index % SHADES];

/* ---- Labels: the longest form of a name that fits. Widths are measured, not estimated. ---- */

const FONT = "12px system-ui, -apple-system, \"Segoe UI\", Roboto, \"DejaVu Sans\", Arial, sans-serif";
const pen = document.createElement("canvas").getContext("2d");
const advances = new Map();
pen.font = FONT;

function advance(c)
{
	let px = advances.get(c);

	if (px === undefined)
		advances.set(c, px = pen.measureText(c).width);
	return px;
}

/* The width of s, or more than room as soon as that is sure. */
function textPx(s, room)
{
	let px = 0;

	for (const c of s) {
		px += advance(c);
		if (px > room)
			break;
	}
	return px;
}

function cutEnd(s, room)
{
	let out = "";

	room -= advance("\u2026");
	for (const c of s) {
		room -= advance(c);
		if (room < 0)
			return out && out + "\u2026";
		out += c;
	}
	return out;
}

/* The name of the method stays: "ns::Class::method", then "method", then as much as fits. */
function fitName(tree, i, room)
{
	const name = tree.name(i);

	if (textPx(name, room) <= room)
		return name;
	if (tree.func[i] < 0)
		return cutEnd(name, room);

	const brief = tree.brief(i);
	const cut = Math.max(brief.lastIndexOf("::") + 2, brief.lastIndexOf("/") + 1, 0);
	const base = cut > 1 && cut < brief.length ? brief.slice(cut) : brief;

	return [brief, base].find((s) => textPx(s, room) <= room) ?? cutEnd(base, room);
}
