/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns that were chosen for a format of rows (csv_columns.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CSV_COLUMNS_MAX 128

struct csv_column_list {
	uint8_t v[CSV_COLUMNS_MAX];	/* indices into csv_columns */
	uint8_t nr;			/* 0: those that are usual for the format */
	bool wants_help;		/* "help" stands for csv_columns_help() */
};
