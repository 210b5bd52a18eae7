/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The panel of keys. */
const KEYS = [
	["/ or Ctrl-F", "search; a regular expression, case counts when it has a capital letter"],
	["n, N", "next, previous match"],
	["1 \u2026 7", "flame graph, functions, callers and callees, threads, waits, call tree; threads now, while it is recorded"],
	["arrows", "walk the boxes, the cells of the threads, or move the window of time"],
	["Right, Left, *", "in the call tree: open, close, open all below; Space turns, Enter shows it in the flame graph"],
	["Enter or Space", "zoom into the box; of a cell: show its stacks"],
	["Esc", "leave the zoom, then the search, then the window of time"],
	["Home", "go to the root of what is shown"],
	["s", "callers and callees of the function (or a right click on its box)"],
	["i", "icicle or flame: root on top or at the bottom"],
	["v", "inverted: functions first, their callers behind them"],
	["r", "recursion: functions that call each other in turn once"],
	["g", "group by the next thing: program, process, thread, CPU, state, nothing"],
	["h", "heat map or activity"],
	["Shift-Left, Shift-Right", "on the time line: a shorter or longer window; Up and Down: narrower and wider"],
	["Space, a", "while it is recorded: pause or go on; all that has come, or what the latest update brought"],
	["c or Ctrl-C", "copy the name of the box"],
	["d", "dark or light"],
	["?", "this help"],
];

function makeHelp()
{
	const rows = KEYS.map(([key, what]) => make("tr", {}, make("th", { scope: "row" }, key), make("td", {}, what)));

	return make("section", { id: "help", hidden: true, "aria-label": "Keys", tabindex: "-1" },
		make("h2", {}, "Keys"), make("table", {}, make("tbody", {}, ...rows)),
		make("p", {}, "A drag on the time line chooses a window; all views then show that window alone. ",
			"The address of the page holds all choices: a link shows the same picture."),
		button("Close", "Close the help (Esc)", toggleHelp));
}

function toggleHelp()
{
	const help = byId("help");

	help.hidden = !help.hidden;
	byId("help-button").setAttribute("aria-expanded", String(!help.hidden));
	(help.hidden ? byId("help-button") : help).focus();
}

/* For screen readers: what the keys of each picture do. */
function makeDescriptions()
{
	return make("div", { class: "hidden" },
		make("p", { id: "flame-help" }, "Arrow keys walk the boxes, Enter zooms, s shows callers and callees."),
		make("p", { id: "grid-help" }, "Up and Down walk the rows, Right opens and Left closes them, Enter shows one in the flame graph, s its callers and callees."),
		make("p", { id: "timeline-help" }, "Left and Right move the window of time, Up and Down make it narrower or wider, Escape shows all."),
		make("p", { id: "tracks-help" }, "Arrow keys walk the cells, rows are threads and columns are times; the stacks stand beside."));
}
