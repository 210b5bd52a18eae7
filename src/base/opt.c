/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/opt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/habit.h"
#include "src/base/nearest.h"

struct parser {
	const struct opt_list *lists;
	size_t nr_lists;
	int argc, next;		/* argv[next] is read next */
	int nr_words;		/* moved to argv[1..] so far */
	char **argv;
	void *args;
};

static const struct opt *opt_at(const struct parser *p, size_t i)
{
	for (size_t l = 0; l < p->nr_lists; l++) {
		if (i < p->lists[l].nr)
			return &p->lists[l].v[i];
		i -= p->lists[l].nr;
	}
	return NULL;
}

static bool is_optional(const struct opt *o)
{
	return o->arg && o->arg[0] == '[';
}

/* Whether the word after an option with an optional value is that value, by its ending. */
static bool ends_in_suffix(const struct opt *o, const char *word)
{
	size_t len = strlen(word);

	for (const char *s = o->suffixes ? o->suffixes : ""; *s;) {
		size_t n = strcspn(s, " ");

		if (n && len > n && word[0] != '-' && !memcmp(word + len - n, s, n))
			return true;
		s += n + strspn(s + n, " ");
	}
	return false;
}

/* What the table of o fills. */
static char *args_of(const struct parser *p, const struct opt *o)
{
	for (size_t l = 0; l < p->nr_lists; l++)
		for (size_t i = 0; i < p->lists[l].nr && p->lists[l].args; i++)
			if (o == &p->lists[l].v[i])
				return p->lists[l].args;
	return p->args;
}

static int set(struct parser *p, const struct opt *o, const char *value)
{
	return o->parse(o, value, args_of(p, o) + o->offset);
}

/*
 * Gives o its value. glued is what followed the option within its own word ("99" of -F99, "x.svg"
 * of --svg=x.svg), or NULL.
 */
static int take(struct parser *p, const struct opt *o, const char *shown, const char *glued)
{
	const char *word = p->next < p->argc ? p->argv[p->next] : NULL;

	if (!o->arg && glued)
		return fail_why(-EINVAL, "%s takes no value, but '%s' was given", shown, glued);
	if (!o->arg || glued)
		return set(p, o, glued);
	if (is_optional(o) && (!word || !ends_in_suffix(o, word)))
		return set(p, o, NULL);
	if (!word)
		return fail_why(-EINVAL, "%s needs a value. Try: %s %s", shown, shown, o->arg);
	p->next++;
	return set(p, o, word);
}

/* ---- habits ---- */

static const struct opt *find_long(const struct parser *p, const char *name, size_t len,
				   size_t *nr);

static void keep_word(struct parser *p, char *word)
{
	p->argv[++p->nr_words] = word;
}

/* Does what a habit means. value is what the user gave, or NULL. */
static int follow(struct parser *p, const struct habit *h, char *value)
{
	const char *name = h->meant + 2, *equals = strchr(h->meant, '=');
	const struct opt *o;
	size_t nr;

	if (!strcmp(h->meant, "<"))
		keep_word(p, value);
	if (h->meant[0] != '-')
		return 0;
	o = find_long(p, name, equals ? (size_t)(equals - name) : strlen(name), &nr);
	if (!o)
		return fail_why(-EINVAL, "%s is not an option of probee %s", h->meant, p->argv[0]);
	return set(p, o, equals ? equals + 1 : o->arg && !is_optional(o) ? value : NULL);
}

/*
 * Takes an option of another profiler. glued is a value in the same word, or NULL. false: it is
 * none; *err is the result otherwise.
 */
static bool take_habit(struct parser *p, const char *shown, char *glued, int *err)
{
	char *next = p->next < p->argc ? p->argv[p->next] : NULL;
	const struct habit *h = habit_of_option(p->argv[0], shown, glued ? glued : next);

	if (!h || (!h->value && glued && h->meant))
		return false;
	if (h->value && !glued)
		p->next++;
	if (!h->meant)
		*err = fail_why(-EINVAL, "%s: %s", shown, h->say);
	else if (h->say)
		note("%s: %s", shown, h->say);
	if (h->meant)
		*err = follow(p, h, glued ? glued : next);
	return true;
}

static int unknown(const struct parser *p, const char *shown, const char *name)
{
	struct nearest n = nearest_to(name);
	const struct opt *o;

	for (size_t i = 0; (o = opt_at(p, i)); i++)
		nearest_offer(&n, o->name);
	nearest_offer(&n, "help");
	if (n.best && name[0])
		return fail_why(-EINVAL, "unknown option %s. Try: --%s", shown, n.best);
	if (!strcmp(p->argv[0], "probee"))	/* there is no command */
		return fail_why(-EINVAL, "unknown option %s; a command stands first. Try: probee "
				"--help", shown);
	return fail_why(-EINVAL, "unknown option %s. Try: probee %s --help", shown, p->argv[0]);
}

static int ambiguous(const struct parser *p, const char *name, size_t len)
{
	char names[256] = "";
	const struct opt *o;
	size_t n = 0;

	for (size_t i = 0; (o = opt_at(p, i)); i++) {
		if (strncmp(o->name, name, len) || n + strlen(o->name) + 8 > sizeof(names))
			continue;
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s--%s", n ? ", " : "",
				      o->name);
	}
	return fail_why(-EINVAL, "option --%.*s is ambiguous. Try: one of %s", (int)len, name,
			names);
}

/*
 * The row of a long option, written in full or as a prefix that fits no other one. NULL: *nr
 * options fit, 0 or several.
 */
static const struct opt *find_long(const struct parser *p, const char *name, size_t len, size_t *nr)
{
	const struct opt *found = NULL, *o;

	*nr = 0;
	for (size_t i = 0; (o = opt_at(p, i)); i++) {
		if (strncmp(o->name, name, len))
			continue;
		if (!o->name[len]) {
			*nr = 1;
			return o;
		}
		found = o;
		++*nr;
	}
	return *nr == 1 ? found : NULL;
}

int opt_help_of(const char *word)
{
	const char *which = word + strlen("--help=");

	if (!strcmp(word, "-h"))
		return OPT_HELP_BRIEF;
	if (!strcmp(word, "--help"))
		return OPT_HELP;
	if (strncmp(word, "--help=", strlen("--help=")) != 0)
		return 0;
	if (*which && !which[strspn(which, "0123456789")] && strlen(which) < 3)
		return OPT_HELP_TOPIC - atoi(which);
	return OPT_HELP_ALL;
}

static int parse_long(struct parser *p, char *word)
{
	char *name = word + 2, *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name), nr;
	const struct opt *o;
	int err = 0;
	char written[64], shown[80];

	snprintf(written, sizeof(written), "%.*s", (int)len, name);
	snprintf(shown, sizeof(shown), "--%s", written);
	if (take_habit(p, shown, equals ? equals + 1 : NULL, &err))
		return err;
	o = find_long(p, name, len, &nr);
	if (o) {
		snprintf(shown, sizeof(shown), "--%s", o->name);
		return take(p, o, shown, equals ? equals + 1 : NULL);
	}
	if (!strcmp(written, "help"))
		return opt_help_of(word);
	return nr && len ? ambiguous(p, name, len) : unknown(p, shown, written);
}

static const struct opt *find_short(const struct parser *p, char key)
{
	const struct opt *o;

	for (size_t i = 0; (o = opt_at(p, i)); i++)
		if (o->key == key)
			return o;
	return NULL;
}

/*
 * One letter of a bundle: the last one can take the next word, and others what is behind them, as
 * -ealloc does. *end is set when that was taken.
 */
static bool short_habit(struct parser *p, const char *shown, char *rest, bool *end, int *err)
{
	const struct habit *h = *rest ? habit_of_option(p->argv[0], shown, rest) : NULL;

	*end = h && h->value;
	return (!*rest || h) && take_habit(p, shown, *end ? rest : NULL, err);
}

/*
 * -pid 1234 and -http=:8080: one dash before a whole word, as Go's programs have it. A bundle of
 * letters that is also the name of an option is never meant.
 */
static bool long_behind_one_dash(struct parser *p, char *word, int *err)
{
	char *name = word + 1, *equals = strchr(name, '='), shown[64];
	size_t len = equals ? (size_t)(equals - name) : strlen(name), nr;
	const struct opt *o;

	snprintf(shown, sizeof(shown), "-%.*s", (int)len, name);
	if (len > 1 && take_habit(p, shown, equals ? equals + 1 : NULL, err))
		return true;
	o = len > 2 ? find_long(p, name, len, &nr) : NULL;
	if (!o || o->name[len])
		return false;
	*err = take(p, o, shown, equals ? equals + 1 : NULL);
	return true;
}

static int parse_short(struct parser *p, char *word)
{
	int err = 0;
	bool end = false;

	if (long_behind_one_dash(p, word, &err))
		return err;
	for (char *c = word + 1; *c && !err && !end; c++) {
		const char shown[] = { '-', *c, 0 };
		const struct opt *o = find_short(p, *c);

		if (short_habit(p, shown, c + 1, &end, &err))
			continue;
		if (!o && *c == 'h')
			return OPT_HELP_BRIEF;
		if (!o)
			return unknown(p, shown, "");
		if (!o->arg || (is_optional(o) && c[1] != '=')) {
			/* Only the last of a bundle can take the next word. */
			err = c[1] ? set(p, o, NULL) : take(p, o, shown, NULL);
			continue;
		}
		return take(p, o, shown, c[1] ? c + 1 + (c[1] == '=') : NULL);
	}
	return err;
}

/* Where a command to run may follow, it begins with the first word that is no number. */
static bool begins_command(const char *word)
{
	return word[strspn(word, "0123456789")];
}

int opt_parse(const struct opt_list *lists, size_t nr_lists, int argc, char **argv, void *args,
	      int *after)
{
	struct parser p = {
		.lists = lists, .nr_lists = nr_lists,
		.argc = argc, .argv = argv, .next = 1, .args = args,
	};
	int err = 0;

	while (p.next < argc && !err) {
		char *word = argv[p.next++];

		if (!strcmp(word, "--"))
			break;
		if (word[0] != '-' && after && begins_command(word)) {
			p.next--;
			break;
		}
		if (word[0] != '-' || !word[1])
			keep_word(&p, word);
		else
			err = word[1] == '-' ? parse_long(&p, word) : parse_short(&p, word);
	}
	if (after)
		*after = p.next;
	while (!after && !err && p.next < argc)
		keep_word(&p, argv[p.next++]);
	return err ? err : p.nr_words;
}
