#include "src/capture/unwind_loader.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "unwind/walk_limits.h"

#define SLICE_MIN_SHIFT 3		/* smallest slice: 8 mappings */
#define SLICE_CLASSES 11		/* largest: 8,192 */
#define REUSE_NS NSEC_PER_SEC

struct slice {
	uint32_t first, nr;
	uint8_t class;
	uint32_t refs;			/* processes that run on it */
};

struct retired {
	uint32_t first;
	uint64_t since_ns;
};

struct retired_list {
	struct retired *v;
	size_t nr, cap, head;
};

struct unwind_loader {
	struct unwind_loader_fds fds;
	struct unwind_page *pages;
	struct unwind_rule *rules;
	struct unwind_mapping *mappings;
	struct unwind_binary *binaries;
	struct unwind_row *slab;	/* the one being filled */
	struct unwind_row *read[WALK_MAX_SLABS];	/* slabs mapped for the host's own walks */
	uint32_t slab_number;		/* of it, plus 1; 0: none yet */
	uint32_t next_row, next_page, nr_rules, next_mapping;
	struct hash_index rule_index;
	struct retired_list retired[SLICE_CLASSES];
	struct unwind_loader_stats stats;
};

static void *map_table(int fd, size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void unmap_table(void *p, size_t bytes)
{
	if (p)
		munmap(p, bytes);
}

int unwind_loader_new(const struct unwind_loader_fds *fds, struct unwind_loader **lp)
{
	struct unwind_loader *l = calloc(1, sizeof(*l));
	struct unwind_rule none = { 0 };

	if (!l)
		return -ENOMEM;
	l->fds = *fds;
	l->pages = map_table(fds->pages, WALK_MAX_PAGES * sizeof(*l->pages));
	l->rules = map_table(fds->rules, WALK_MAX_RULES * sizeof(*l->rules));
	l->mappings = map_table(fds->mappings, WALK_MAX_MAPPINGS * sizeof(*l->mappings));
	l->binaries = map_table(fds->binaries, WALK_MAX_BINARIES * sizeof(*l->binaries));
	if (!l->pages || !l->rules || !l->mappings || !l->binaries) {
		int err = fail(-errno, "map the unwind tables");

		unwind_loader_free(l);
		return err;
	}
	l->rules[0] = none;
	l->nr_rules = 1;
	*lp = l;
	return 0;
}

void unwind_loader_free(struct unwind_loader *l)
{
	if (!l)
		return;
	unmap_table(l->pages, WALK_MAX_PAGES * sizeof(*l->pages));
	unmap_table(l->rules, WALK_MAX_RULES * sizeof(*l->rules));
	unmap_table(l->mappings, WALK_MAX_MAPPINGS * sizeof(*l->mappings));
	unmap_table(l->binaries, WALK_MAX_BINARIES * sizeof(*l->binaries));
	unmap_table(l->slab, WALK_SLAB_ROWS * sizeof(*l->slab));
	for (uint32_t i = 0; i < WALK_MAX_SLABS; i++)
		unmap_table(l->read[i], WALK_SLAB_ROWS * sizeof(*l->slab));
	ix_release(&l->rule_index);
	for (int i = 0; i < SLICE_CLASSES; i++)
		free(l->retired[i].v);
	free(l);
}

static int refuse(struct unwind_loader *l, const char *what)
{
	if (!l->stats.refused++)
		note("the table of %s is full: some stacks will end early (counted as table-full)", what);
	return -ENOSPC;
}

/* ---- rules ---- */

struct rule_key {
	const struct unwind_loader *l;
	const struct unwind_rule *rule;
};

static bool same_rule(const void *ctx, uint32_t id)
{
	const struct rule_key *k = ctx;

	return !memcmp(&k->l->rules[id], k->rule, sizeof(*k->rule));
}

/* Number of the rule in the dictionary; 0 (no unwind information) when that is full. */
static uint16_t intern_rule(struct unwind_loader *l, const struct unwind_rule *rule)
{
	struct rule_key k = { l, rule };
	uint64_t hash = hash_bytes(5, rule, sizeof(*rule));
	uint32_t id = ix_find(&l->rule_index, hash, same_rule, &k);

	if (rule->cfa == CFA_NONE)
		return 0;
	if (id != IX_NONE)
		return (uint16_t)id;
	if (l->nr_rules >= WALK_MAX_RULES || ix_add(&l->rule_index, hash, l->nr_rules)) {
		refuse(l, "unwind rules");
		return 0;
	}
	l->rules[l->nr_rules] = *rule;
	return (uint16_t)l->nr_rules++;
}

/* ---- rows ---- */

static int next_slab(struct unwind_loader *l)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	uint32_t key = l->slab_number;
	int fd, err = 0;

	if (key >= WALK_MAX_SLABS)
		return refuse(l, "unwind rows");
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "slab", 4, WALK_SLAB_ROWS * 4, 1, &opts);
	if (fd < 0)
		return fail(-errno, "create a slab for unwind rows");
	/* A full slab stays in the kernel; unmapped here, it is not counted as our memory. */
	unmap_table(l->slab, WALK_SLAB_ROWS * sizeof(*l->slab));
	l->slab = map_table(fd, WALK_SLAB_ROWS * sizeof(*l->slab));
	if (!l->slab || bpf_map_update_elem(l->fds.slabs, &key, &fd, 0))
		err = fail(-errno, "map a slab for unwind rows");
	close(fd);
	if (err)
		return err;
	l->slab_number++;
	l->stats.slabs++;
	l->next_row = key << WALK_SLAB_SHIFT;
	return 0;
}

static int place_page(struct unwind_loader *l, const struct unwind_table *t, const uint16_t *numbers, uint32_t index)
{
	const struct unwind_page *from = &t->pages[index];
	struct unwind_page *to = &l->pages[l->next_page + index];
	uint32_t end = l->slab_number << WALK_SLAB_SHIFT;
	struct unwind_row *rows;

	if (!l->slab || l->next_row + from->nr > end) {
		int err = next_slab(l);

		if (err)
			return err;
	}
	rows = &l->slab[l->next_row & (WALK_SLAB_ROWS - 1)];
	for (uint32_t i = 0; i < from->nr; i++) {
		rows[i].pc_lo = t->rows[from->first + i].pc_lo;
		rows[i].rule = numbers[t->rows[from->first + i].rule];
	}
	to->first = l->next_row;
	to->nr = from->nr;
	to->carry = numbers[from->carry];
	l->next_row += from->nr;
	return 0;
}

static void publish_binary(struct unwind_loader *l, uint32_t binary, struct unwind_binary entry)
{
	uint64_t word;

	memcpy(&word, &entry, sizeof(word));
	__atomic_store_n((uint64_t *)(void *)&l->binaries[binary], word, __ATOMIC_RELEASE);
}

int unwind_loader_table(struct unwind_loader *l, uint32_t binary, const struct unwind_table *t)
{
	uint16_t *numbers;
	struct unwind_binary entry = { l->next_page, t->nr_pages };
	int err = 0;

	if (binary >= WALK_MAX_BINARIES || l->next_page + t->nr_pages > WALK_MAX_PAGES)
		return refuse(l, "binaries");
	numbers = malloc((t->nr_rules + 1) * sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_rules; i++)
		numbers[i] = intern_rule(l, &t->rules[i]);
	for (uint32_t i = 0; i < t->nr_pages && !err; i++)
		err = place_page(l, t, numbers, i);
	free(numbers);
	if (err)
		return err;
	l->next_page += t->nr_pages;
	l->stats.rows += t->nr_rows;
	l->stats.pages += t->nr_pages;
	l->stats.rules = l->nr_rules;
	l->stats.binaries++;
	publish_binary(l, binary, entry);
	return 0;
}

void unwind_loader_no_table(struct unwind_loader *l, uint32_t binary)
{
	if (binary < WALK_MAX_BINARIES)
		publish_binary(l, binary, (struct unwind_binary){ WALK_TABLE_NEVER, 0 });
}

/* ---- the host's view ---- */

void unwind_loader_view(const struct unwind_loader *l, struct unwind_loader_view *out)
{
	*out = (struct unwind_loader_view){ l->pages, l->rules, l->binaries };
}

const struct unwind_row *unwind_loader_rows(struct unwind_loader *l, uint32_t first)
{
	uint32_t key = first >> WALK_SLAB_SHIFT, id;
	int fd;

	if (key >= l->slab_number)
		return NULL;
	if (l->read[key])
		return l->read[key];
	if (bpf_map_lookup_elem(l->fds.slabs, &key, &id))
		return NULL;
	fd = bpf_map_get_fd_by_id(id);
	if (fd < 0)
		return NULL;
	l->read[key] = map_table(fd, WALK_SLAB_ROWS * sizeof(*l->slab));
	close(fd);
	return l->read[key];
}

/* ---- slices ---- */

static void retire(struct unwind_loader *l, const struct slice *s)
{
	struct retired_list *list = &l->retired[s->class];
	struct retired *r = array_push(&list->v, &list->nr, &list->cap);

	if (r)
		*r = (struct retired){ s->first, now_ns() };
}

static bool reuse(struct retired_list *list, uint32_t *first)
{
	if (list->head >= list->nr || list->v[list->head].since_ns + REUSE_NS > now_ns())
		return false;
	*first = list->v[list->head++].first;
	/* There is always one not ripe yet: waiting for an empty list, it would grow for ever. */
	if (list->head * 2 >= list->nr) {
		list->nr -= list->head;
		memmove(list->v, list->v + list->head, list->nr * sizeof(*list->v));
		list->head = 0;
	}
	return true;
}

static struct slice *slice_new(struct unwind_loader *l, size_t nr)
{
	struct slice *s = calloc(1, sizeof(*s));
	uint32_t room;

	if (!s)
		return NULL;
	while (s->class < SLICE_CLASSES - 1 && ((size_t)1 << (s->class + SLICE_MIN_SHIFT)) < nr)
		s->class++;
	room = 1u << (s->class + SLICE_MIN_SHIFT);
	s->nr = (uint32_t)(nr < room ? nr : room);
	s->refs = 1;
	if (reuse(&l->retired[s->class], &s->first))
		return s;
	if (l->next_mapping + room > WALK_MAX_MAPPINGS) {
		refuse(l, "mappings");
		free(s);
		return NULL;
	}
	s->first = l->next_mapping;
	l->next_mapping += room;
	l->stats.mappings = l->next_mapping;
	return s;
}

static void slice_put(struct unwind_loader *l, struct slice *s)
{
	if (!s || --s->refs)
		return;
	retire(l, s);
	free(s);
}

void unwind_loader_mapping(struct unwind_mapping *to, const struct mapping *m, const struct binary *b)
{
	to->begin = m->start;
	to->end = m->end;
	to->bias = b ? b->vaddr_lo - m->to_vaddr : 0;
	to->binary = m->binary;
	to->flags = 0;
}

static uint64_t slice_word(const struct slice *s)
{
	return (uint64_t)s->nr << 32 | s->first;
}

static int publish(struct unwind_loader *l, const struct process *p, const struct slice *s)
{
	struct unwind_process value = { slice_word(s), p->exec_ns };

	if (!bpf_map_update_elem(l->fds.processes, &p->tgid, &value, BPF_ANY))
		return 0;
	return errno == E2BIG || errno == ENOMEM ? refuse(l, "processes") : -errno;
}

int unwind_loader_process(struct unwind_loader *l, const struct binaries *bs, struct process *p)
{
	struct slice *s = slice_new(l, p->nr_live);
	int err;

	p->dirty = false;
	if (!s)
		return -ENOSPC;
	if (p->nr_live > s->nr)
		refuse(l, "mappings of one process");
	for (uint32_t i = 0; i < s->nr; i++)
		unwind_loader_mapping(&l->mappings[s->first + i], &p->maps[i], binaries_get(bs, p->maps[i].binary));
	__atomic_thread_fence(__ATOMIC_RELEASE);
	err = publish(l, p, s);
	process_published(p, now_ns());
	slice_put(l, p->slice);
	p->slice = s;
	l->stats.processes++;
	return err;
}

void unwind_loader_inherit(struct unwind_loader *l, struct process *child, const struct process *parent)
{
	struct slice *s = parent->slice;

	(void)l;
	if (s) {
		s->refs++;
		child->slice = s;
	}
}

void unwind_loader_forget(struct unwind_loader *l, struct process *p)
{
	struct slice *s = p->slice;
	struct unwind_process value;

	/* The kernel side did that at the exit; when it did not, the entry must not outlive the slice. */
	if (s && !bpf_map_lookup_elem(l->fds.processes, &p->tgid, &value) && value.slice == slice_word(s))
		bpf_map_delete_elem(l->fds.processes, &p->tgid);
	slice_put(l, s);
	p->slice = NULL;
}

int unwind_loader_check(struct unwind_loader *l, struct process *p)
{
	struct unwind_process value;

	if (!p->slice || !bpf_map_lookup_elem(l->fds.processes, &p->tgid, &value))
		return 0;
	publish(l, p, p->slice);
	return 1;
}

void unwind_loader_stats(const struct unwind_loader *l, struct unwind_loader_stats *out)
{
	*out = l->stats;
}
