/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the server of a page has besides: the trace, and every report of it, of what is shown. A server that
 * has no list of reports (tests, other programs) offers none, and then there is no choice here.
 */
const REPORTS = "reports", OPENED = new Set(["html", "svg", "text", "json"]);

/* The options of `probee report` for the filters of the page. Times are since the first sample, to a second. */
function reportWords()
{
	const words = new URLSearchParams(), event = shownEvent();

	words.set("event", event.name);
	if (state.from)
		words.set("from", (state.from / 1e9).toFixed(3) + "s");
	if (state.to !== null)
		words.set("to", (state.to / 1e9).toFixed(3) + "s");
	if (state.process !== null)
		words.set("pid", state.process);
	if (state.thread !== null)
		words.set("tid", state.thread);
	return words;
}

function download(name)
{
	const address = name === "trace" ? "trace.pbz" : `report/${name}?${reportWords()}`;
	const link = make("a", { href: address, target: OPENED.has(name) ? "_blank" : null, rel: "noopener" });

	document.body.append(link);
	link.click();
	link.remove();
}

function makeDownloads()
{
	const list = make("select", { id: "download", title: "The trace, or a report of what is shown" });
	const box = make("label", { class: "choice", hidden: true }, "Download ", list);
	const offer = (reports) => {
		list.append(make("option", { value: "" }, "choose"), make("option", { value: "trace" }, "trace: all of it"),
			...reports.map((r) => make("option", { value: r.name, title: r.help }, r.name)));
		box.hidden = false;
	};

	list.addEventListener("change", () => {
		if (list.value)
			download(list.value);
		list.value = "";
	});
	fetch(REPORTS + location.search).then((r) => r.ok ? r.json() : []).then((reports) => reports.length && offer(reports)).catch(() => {});
	return box;
}
