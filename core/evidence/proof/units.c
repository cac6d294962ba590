/* Lists of units, names of levels, and selections. */
#include "evidence/proof/proof.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const tracks[] = {"", "", "f", "a"};

const char *pctl_level_name(uint32_t level, uint32_t track, char buf[8])
{
	if (level == 0)
		snprintf(buf, 8, "none");
	else
		snprintf(buf, 8, "L%u%s", level % 10,
			 track <= PCTL_TRACK_APPROXIMATE ? tracks[track] : "?");
	return buf;
}

int pctl_level_parse(const char *text, uint32_t *level, uint32_t *track)
{
	char name[8];

	for (*track = PCTL_TRACK_INTEGER; *track <= PCTL_TRACK_APPROXIMATE; (*track)++)
		for (*level = 1; *level <= PCTL_LEVEL_MAX; (*level)++)
			if (strcmp(pctl_level_name(*level, *track, name), text) == 0)
				return *track != PCTL_TRACK_APPROXIMATE || *level == 1;
	return 0;
}

const char *pctl_unit_kind_name(uint32_t kind)
{
	static const char *const names[PCTL_UNIT_KINDS] = {"none",	  "parity",   "law",
							   "determinism", "gate",     "invariant",
							   "composition", "baseline", "regression"};

	return kind < PCTL_UNIT_KINDS ? names[kind] : "none";
}

struct pctl_units_release {
	void (*release)(void *ctx);
	void *ctx;
	struct pctl_units_release *next;
};

pctl_status pctl_units_create(const pctl_call *call, pctl_units **out)
{
	*out = calloc(1, sizeof(**out));
	if (*out != NULL)
		(*out)->arena = pctl_arena_create();
	if (*out == NULL || (*out)->arena == NULL) {
		free(*out);
		*out = NULL;
		return pctl_no_memory(call, "units of proof");
	}
	return PCTL_OK;
}

void pctl_units_destroy(pctl_units *l)
{
	if (l == NULL)
		return;
	for (struct pctl_units_release *r = l->releases; r != NULL; r = r->next)
		r->release(r->ctx);
	pctl_arena_destroy(l->arena);
	free(l->units);
	free(l);
}

pctl_status pctl_units_add(pctl_units *l, const pctl_unit *u, const pctl_call *call)
{
	if (l->n == l->capacity) {
		uint32_t capacity = l->capacity == 0 ? 256 : l->capacity * 2;
		pctl_unit *grown = realloc(l->units, capacity * sizeof(*grown));

		if (grown == NULL)
			return pctl_no_memory(call, "units of proof");
		l->units = grown;
		l->capacity = capacity;
	}
	l->units[l->n] = *u;
	l->units[l->n].first_block = l->n_blocks;
	l->n_blocks += u->n_blocks;
	l->n++;
	return PCTL_OK;
}

pctl_status pctl_units_on_destroy(pctl_units *l, void (*release)(void *ctx), void *ctx,
				  const pctl_call *call)
{
	struct pctl_units_release *r = pctl_arena_alloc(l->arena, sizeof(*r));

	if (r == NULL)
		return pctl_no_memory(call, "units of proof");
	*r = (struct pctl_units_release){release, ctx, l->releases};
	l->releases = r;
	return PCTL_OK;
}

int pctl_selection_has(const pctl_selection *s, const pctl_op_desc *op)
{
	char name[128], glob[128];
	const char *at = s->ops;

	snprintf(name, sizeof(name), "%s@%u", op->name, op->version);
	if (at == NULL)
		return 1;
	while (*at != '\0') {
		size_t n = strcspn(at, ",");

		if (n > 0 && n < sizeof(glob)) {
			memcpy(glob, at, n);
			glob[n] = '\0';
			if (fnmatch(glob, name, 0) == 0 || fnmatch(glob, op->name, 0) == 0)
				return 1;
		}
		at += n + (at[n] == ',');
	}
	return 0;
}
