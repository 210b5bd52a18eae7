// SPDX-License-Identifier: GPL-2.0-or-later
// csv_chdb.js DIR NAME...: ClickHouse's engine reads NAME.csv.zst: types and sums.
"use strict";
const { query } = require("chdb");
const fs = require("fs");
const [dir, ...names] = process.argv.slice(2);
let ok = true;

for (const name of names) {
	const path = `${dir}/${name}`, total = JSON.parse(fs.readFileSync(`${path}.json`)).value;
	const got = query(`SELECT sum(weight), toTypeName(any(timestamp)) FROM file('${path}.csv.zst', CSVWithNames)
		SETTINGS date_time_input_format='best_effort'`, "TabSeparated").trim().split("\t");

	if (Number(got[0]) !== total || !got[1].includes("DateTime64(9")) {
		console.log(`${path}: ${got}, not ${total}`);
		ok = false;
	}
}
process.exit(ok ? 0 : 1);
