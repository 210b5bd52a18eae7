/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration of `probee agent`: one small INI file.
 *
 *	[record]
 *	frequency = 97
 *
 *	[target main]
 *	url = http://127.0.0.1:4040
 *
 * A line is empty, a comment (its first character is # or ;), a [section], or a key with its value.
 * What stands behind "=" is the value up to the end of the line, without the blanks around it: no
 * quotes, no comment behind it, so that a password may hold any character. Each key stands once in
 * its section, but for those that are lists. Each section stands once; there may be several targets
 * with names of their own. Keys and sections that are not known are mistakes.
 *
 * The keys are rows of one table, agent_keys (agent_keys.c), from which the help, docs/AGENT.md and
 * the messages come.
 *
 *	agent_config_parse(text, len, &c, &mistakes)	pure: opens nothing, prints nothing
 *	agent_config_read(path, &c)			reads the file, prints all mistakes
 *	agent_config_release(&c)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define AGENT_TARGETS 8
#define AGENT_LIST 32			/* values of a key that may be repeated */
#define AGENT_NAME 24			/* bytes of a target's name */
#define AGENT_CONFIG_BYTES (64u << 10)	/* of the file */
#define AGENT_CONFIG_PATH "/etc/probee/agent.conf"

struct agent_texts {
	const char *v[AGENT_LIST];
	size_t nr;
};

/* All texts are borrowed from the struct agent_config, or literals. "" is none. */
struct agent_target {
	char name[AGENT_NAME + 1];
	unsigned line;			/* of its section */
	const char *url, *protocol, *service, *tenant;
	const char *bearer_file, *basic_file, *header_file, *ca_file, *cert_file, *key_file;
	struct agent_texts headers, labels;
	const char *threads;		/* "id", "name" or "none" */
	uint64_t timeout_ns;		/* of one request */
	uint64_t batch_ns;		/* windows of so much time share a request; 0: of one */
	/* A body that may have arrived when the agent was killed is not sent again. */
	bool is_at_most_once;
};

struct agent_config {
	/* [record] */
	double freq_hz, scan_hz;	/* scan_hz 0: no snapshots */
	uint64_t window_ns;
	bool off_cpu;
	const char *options;		/* further words for `probee record` */
	double budget;			/* CPU seconds a second; 0: none */
	/* [spool] */
	const char *folder;
	uint64_t limit_bytes, keep_ns;
	/* [metrics] */
	const char *listen;		/* "": none */
	struct agent_target targets[AGENT_TARGETS];
	size_t nr_targets;
	char *text;			/* owned: what the texts point into */
};

/* A mistake at a line and column of the file, which are counted from 1. */
struct agent_mistake {
	unsigned line, column;
	char text[240];			/* what is wrong, and what is allowed */
};

#define AGENT_MISTAKES 20
struct agent_mistakes {
	struct agent_mistake v[AGENT_MISTAKES];
	size_t nr;			/* may be more than are kept */
};

struct agent_key {
	const char *section, *name;	/* section "target": [target NAME] */
	const char *arg;		/* as in options: HZ, TIME, URL */
	const char *normal;		/* the value without the key; NULL: none */
	const char *allowed;		/* for messages: "0.1 to 1000 (a second)" */
	const char *help;
	/* false: it is not allowed. The value stays as long as the config. */
	bool (*parse)(const char *value, void *dst);
	size_t offset;			/* of dst, in agent_config or agent_target */
	bool is_list;
};

extern const struct agent_key agent_keys[];	/* ends with a NULL name */

/* 0; -EINVAL: there are mistakes; -ENOMEM. The config is to be released in any case. */
int agent_config_parse(const char *text, size_t len, struct agent_config *c,
		       struct agent_mistakes *mistakes);
/* Parses a file likewise; what is wrong was printed, as "FILE:LINE:COLUMN: ...". */
int agent_config_read(const char *path, struct agent_config *c);
void agent_config_release(struct agent_config *c);

/* All keys with what they mean: as a table of docs/AGENT.md; as a file with the usual values. */
void agent_keys_table(FILE *out);
void agent_keys_example(FILE *out);
