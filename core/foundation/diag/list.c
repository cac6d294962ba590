/* The diagnostic list: copies of records in order of arrival, owned by one arena. */
#include "foundation/diag/list.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/arena.h"
#include "foundation/diag/log.h"

static void take(void *ctx, const pctl_diag *d)
{
	pctl_diag_list_add(ctx, d);
}

static uint32_t ask_cancelled(void *ctx)
{
	pctl_diag_list *l = ctx;

	return l->cancelled == NULL ? 0 : l->cancelled(l->cancel_ctx);
}

pctl_diag_list *pctl_diag_list_create(void)
{
	pctl_diag_list *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->arena = pctl_arena_create();
	l->sources = pctl_map_create();
	if (l->arena == NULL || l->sources == NULL) {
		pctl_diag_list_destroy(l);
		return NULL;
	}
	l->call = (pctl_call){PCTL_HEAD(pctl_call), l, take, ask_cancelled, 0};
	return l;
}

void pctl_diag_list_destroy(pctl_diag_list *l)
{
	if (l == NULL)
		return;
	pctl_map_destroy(l->sources);
	pctl_arena_destroy(l->arena);
	free(l->records.items);
	free(l);
}

const pctl_call *pctl_diag_list_call(pctl_diag_list *l)
{
	return &l->call;
}

void pctl_diag_list_set_cancel(pctl_diag_list *l, uint32_t (*cancelled)(void *ctx), void *ctx)
{
	l->cancelled = cancelled;
	l->cancel_ctx = ctx;
}

void pctl_diag_list_set_log(pctl_diag_list *l, struct pctl_log *log)
{
	l->log = log;
	for (uint32_t i = 0; i < l->records.n; i++)
		pctl_log_diag(log, &l->records.items[i]);
}

static int same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static int seen_before(const pctl_diag_list *l, const pctl_diag *d)
{
	for (uint32_t i = 0; i < l->records.n; i++) {
		const pctl_diag *r = &l->records.items[i];

		if (r->code == d->code && r->pos.line == d->pos.line &&
		    r->pos.column == d->pos.column && same_text(r->pos.file, d->pos.file) &&
		    same_text(r->message, d->message) && same_text(r->subject, d->subject))
			return 1;
	}
	return 0;
}

/* A plugin's record ends where the version ends that the plugin was built for. */
static pctl_diag known_part(const pctl_diag *d)
{
	const size_t least = PCTL_SIZE_WITH(pctl_diag, reserved);
	const size_t stated = d->head.size < least ? least : d->head.size;
	pctl_diag out = {.head = PCTL_HEAD(pctl_diag)};

	memcpy(&out, d, stated < sizeof(out) ? stated : sizeof(out));
	out.head = (pctl_head)PCTL_HEAD(pctl_diag);
	return out;
}

void pctl_diag_list_add(pctl_diag_list *l, const pctl_diag *d)
{
	pctl_diag copy = known_part(d);
	pctl_note *notes;

	if (l->records.n >= PCTL_DIAG_MOST) {
		l->dropped++;
		l->errors += d->severity == PCTL_SEVERITY_ERROR;
		return;
	}
	if (seen_before(l, d))
		return;
	notes = pctl_arena_array(l->arena, d->n_notes, sizeof(*notes));
	copy.pos.file = pctl_arena_dup(l->arena, d->pos.file);
	copy.subject = pctl_arena_dup(l->arena, d->subject);
	copy.message = pctl_arena_dup(l->arena, d->message);
	if (copy.message == NULL)
		copy.message = "(no memory for the message)";
	copy.hint = pctl_arena_dup(l->arena, d->hint);
	copy.plugin = pctl_arena_dup(l->arena, d->plugin);
	if (notes == NULL)
		copy.n_notes = 0;
	for (uint32_t i = 0; i < copy.n_notes; i++) {
		notes[i] = d->notes[i];
		notes[i].pos.file = pctl_arena_dup(l->arena, d->notes[i].pos.file);
		notes[i].message = pctl_arena_dup(l->arena, d->notes[i].message);
	}
	copy.notes = notes;
	pctl_log_diag(l->log, &copy);
	l->errors += d->severity == PCTL_SEVERITY_ERROR;
	if (!PCTL_VEC_PUSH(&l->records, copy))
		l->dropped++;
}

uint32_t pctl_diag_list_count(const pctl_diag_list *l)
{
	return l->records.n;
}

const pctl_diag *pctl_diag_list_at(const pctl_diag_list *l, uint32_t i)
{
	return &l->records.items[i];
}

uint32_t pctl_diag_list_errors(const pctl_diag_list *l)
{
	return l->errors;
}

void pctl_diag_list_source(pctl_diag_list *l, const char *file, const char *text, size_t n)
{
	char *copy = pctl_arena_dup_n(l->arena, text, n);

	if (copy != NULL)
		(void)pctl_map_put(l->sources, file, copy);
}
