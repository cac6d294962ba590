/* The order of a resident run's commands. What waits for what follows from the ranges that they read and write; commands of one
 * level wait for none of it, so that a barrier stands between levels and nowhere else. Each is as late as what waits for it
 * allows: the number of levels is the least there is, and what is made is not alive before it is needed. */
#include <stdlib.h>

#include "runtime/exec/resident_private.h"

/* A use of a span by a command that was looked at already; next: the one before of the same span. */
struct use {
	uint32_t command, next, writes;
	uint32_t reserved;
	uint64_t from, end;
};

struct uses {
	struct use *all;
	uint32_t n, *head; /* of each span */
};

static int is_kept(const pctl_resident_span *s)
{
	return s->kind != PCTL_SPAN_POOL && s->kind != PCTL_SPAN_ANSWER &&
	       s->kind != PCTL_SPAN_NEXT && s->kind != PCTL_SPAN_PLACED;
}

/* One more than the level of all that has to do with this range. */
static uint32_t level_after(const pctl_resident *r, const struct uses *u,
			    const pctl_resident_range *a)
{
	uint32_t level = 0;

	for (uint32_t i = u->head[a->span]; i != UINT32_MAX; i = u->all[i].next) {
		const struct use *b = &u->all[i];
		const uint32_t after = r->commands[b->command].level + 1;

		if ((a->writes || b->writes) && a->offset < b->end &&
		    b->from < a->offset + a->n_bytes && after > level)
			level = after;
	}
	return level;
}

static void note(const pctl_resident *r, struct uses *u, uint32_t command,
		 const pctl_resident_range *a)
{
	const int is_whole = a->writes && a->offset == 0 && a->n_bytes >= r->spans[a->span].n_bytes;

	/* All that was before has to do with the whole of it. */
	u->all[u->n] = (struct use){.command = command,
				    .next = is_whole ? UINT32_MAX : u->head[a->span],
				    .writes = a->writes,
				    .from = a->offset,
				    .end = a->offset + a->n_bytes};
	u->head[a->span] = u->n++;
}

/* How many levels come before each command, or with `backwards` after each; the most there are. */
static uint32_t count_levels(pctl_resident *r, struct uses *u, int backwards)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < r->n_spans; i++)
		u->head[i] = UINT32_MAX;
	for (uint32_t n = 0; n < r->n_commands; n++) {
		const uint32_t i = backwards ? r->n_commands - 1 - n : n;
		pctl_resident_command *c = &r->commands[i];

		c->level = 0;
		for (uint32_t k = 0; k < c->n_ranges; k++) {
			const uint32_t level = is_kept(&r->spans[c->ranges[k].span])
						       ? 0
						       : level_after(r, u, &c->ranges[k]);

			c->level = level > c->level ? level : c->level;
		}
		for (uint32_t k = 0; k < c->n_ranges; k++)
			if (!is_kept(&r->spans[c->ranges[k].span]))
				note(r, u, i, &c->ranges[k]);
		most = c->level > most ? c->level : most;
	}
	r->n_levels = r->n_commands == 0 ? 0 : most + 1;
	return most;
}

/* As late as what waits for it allows. */
static void find_levels(pctl_resident *r, struct uses *u)
{
	const uint32_t most = count_levels(r, u, 1);

	for (uint32_t i = 0; i < r->n_commands; i++)
		r->commands[i].level = most - r->commands[i].level;
}

static int by_level(const void *a, const void *b)
{
	const pctl_resident_command *x = a, *y = b;

	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	return x->place < y->place ? -1 : 1;
}

/* Nothing may write what stays, or what the host wrote for this step. */
static pctl_status check_kept(const pctl_resident *r)
{
	for (uint32_t i = 0; i < r->n_commands; i++)
		for (uint32_t k = 0; k < r->commands[i].n_ranges; k++) {
			const pctl_resident_range *a = &r->commands[i].ranges[k];

			if (a->writes && is_kept(&r->spans[a->span]))
				return pctl_refuse(r->call, PC5250_RESIDENT,
						   "job \"%s\" writes what it may only read",
						   r->run.nodes[r->commands[i].node].node->job->id);
		}
	return PCTL_OK;
}

static pctl_status order(pctl_resident *r, int early)
{
	uint64_t n = 0;
	struct uses u = {.all = NULL};
	pctl_status status = check_kept(r);

	for (uint32_t i = 0; i < r->n_commands; i++)
		n += r->commands[i].n_ranges;
	if (status != PCTL_OK)
		return status;
	if (n >= UINT32_MAX)
		return pctl_refuse(r->call, PC5250_RESIDENT,
				   "the pipeline's kernels have too many bindings");
	u.all = calloc(n + 1, sizeof(*u.all));
	u.head = calloc(r->n_spans + 1u, sizeof(*u.head));
	if (u.all == NULL || u.head == NULL) {
		status = pctl_no_memory(r->call, "a resident run");
	} else {
		if (early)
			count_levels(r, &u, 0);
		else
			find_levels(r, &u);
		if (r->n_commands != 0)
			qsort(r->commands, r->n_commands, sizeof(*r->commands), by_level);
		for (uint32_t i = 0; i < r->n_spans; i++)
			r->spans[i].life.is_touched = 0;
		for (uint32_t i = 0; i < r->n_commands; i++)
			for (uint32_t k = 0; k < r->commands[i].n_ranges; k++)
				pctl_life_touch(&r->spans[r->commands[i].ranges[k].span].life,
						r->commands[i].level);
	}
	free(u.all);
	free(u.head);
	return status;
}

pctl_status pctl_resident_order(pctl_resident *r)
{
	return order(r, 0);
}

pctl_status pctl_resident_order_early(pctl_resident *r)
{
	return order(r, 1);
}
