/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The size of the terminal that a descriptor leads to. */
#pragma once

struct terminal {
	unsigned columns;		/* 0: the descriptor leads to no terminal */
	unsigned rows;
};

/* A terminal that does not know its size counts as one of 80 columns and 24 rows. */
struct terminal terminal_of(int fd);
