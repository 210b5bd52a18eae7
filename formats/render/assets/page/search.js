/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Search by regular expression: which functions match, and the share of what they are in. */
function patternOf(text)
{
	if (!text)
		return null;
	try {
		/* Case counts when the pattern has a capital letter. */
		return new RegExp(text, /[A-Z]/.test(text.replace(/\\./g, "")) ? "" : "i");
	} catch {
		return undefined;
	}
}

/* By function: 1 if its name matches, long or short; null: nothing is searched. */
const hitsNow = memo(["event", "q"], () => {
	const pattern = patternOf(state.q), functions = shownEvent().functions;

	if (!pattern)
		return null;
	return Uint8Array.from({ length: functions.n }, (_, f) => pattern.test(data.strings[functions.name[f]]) ||
		[functions.shown[f], functions.brief[f]].some((form) => form && pattern.test(data.strings[form])));
});

function isHit(tree, i)
{
	const hits = hitsNow(), f = tree.func[i];

	if (!hits)
		return false;
	return f >= 0 ? hits[f] === 1 : i > 0 && patternOf(state.q).test(tree.name(i));
}

/* The sum of the samples in which some function matches; a match below a match counts once. */
function matchedWeight()
{
	const hits = hitsNow(), { nodes } = shownEvent(), sums = sumsNow();
	let weight = 0;

	if (!hits)
		return 0;
	for (let i = 1; i < nodes.n; i++)
		if (hits[nodes.func[i]]) {
			weight += sums.total[i];
			i = nodes.last[i];
		}
	return weight;
}

function matchText()
{
	if (!state.q)
		return "";
	if (patternOf(state.q) === undefined)
		return "Not a pattern";
	if (data.delta)
		return deltaMatchText();
	const weight = matchedWeight();

	return `Matched: ${shareText(weight, selectionNow().weight)}, ${weightText(weight, shownEvent())}`;
}
