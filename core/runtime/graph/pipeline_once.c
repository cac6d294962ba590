/* Implementation of pipeline_once.h. */
#include "runtime/graph/pipeline_once.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"
#include "foundation/base/vec.h"

#define NOTES_MAX 8u

struct said {
	uint32_t code, line, column;
	char *file;
	const char *of;
};

struct pctl_pipe_once {
	pctl_call call;
	const pctl_call *to;
	const char *of;
	PCTL_VEC(struct said) said;
};

int pctl_pipe_once_was_said(const pctl_pipe_once *o, uint32_t code, const pctl_pos *pos)
{
	for (uint32_t i = 0; o->of != NULL && pos->file != NULL && i < o->said.n; i++) {
		const struct said *s = &o->said.items[i];

		if (s->code == code && s->line == pos->line && s->column == pos->column &&
		    strcmp(s->file, pos->file) == 0 && strcmp(s->of, o->of) != 0)
			return 1;
	}
	return 0;
}

/* Without memory it may be said twice. */
static void remember(pctl_pipe_once *o, const pctl_diag *d)
{
	struct said s = {d->code, d->pos.line, d->pos.column, strdup(d->pos.file), o->of};

	if (s.file == NULL || !PCTL_VEC_PUSH(&o->said, s))
		free(s.file);
}

static void tell(void *ctx, const pctl_diag *d)
{
	pctl_pipe_once *o = ctx;
	pctl_note notes[NOTES_MAX];
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_diag out = *d;

	if (o->of == NULL || d->pos.file == NULL || d->pos.line == 0) {
		o->to->diag(o->to->ctx, d);
		return;
	}
	if (pctl_pipe_once_was_said(o, d->code, &d->pos))
		return;
	remember(o, d);
	pctl_str_addf(&text, "in \"%s\", the first turn of which this is said", o->of);
	if (text.failed || d->n_notes >= NOTES_MAX) {
		o->to->diag(o->to->ctx, d);
	} else {
		if (d->n_notes != 0)
			memcpy(notes, d->notes, d->n_notes * sizeof(*notes));
		notes[d->n_notes] = (pctl_note){.message = text.data};
		out.notes = notes;
		out.n_notes = d->n_notes + 1;
		o->to->diag(o->to->ctx, &out);
	}
	pctl_str_drop(&text);
}

static uint32_t is_cancelled(void *ctx)
{
	const pctl_pipe_once *o = ctx;

	return pctl_is_cancelled(o->to);
}

pctl_pipe_once *pctl_pipe_once_create(const pctl_call *call)
{
	pctl_pipe_once *o = calloc(1, sizeof(*o));

	if (o == NULL)
		return NULL;
	o->to = call;
	o->call = (pctl_call){.head = PCTL_HEAD(pctl_call),
			      .ctx = o,
			      .diag = call == NULL || call->diag == NULL ? NULL : tell,
			      .cancelled = is_cancelled,
			      .trace_id = call == NULL ? 0 : call->trace_id};
	return o;
}

void pctl_pipe_once_destroy(pctl_pipe_once *o)
{
	if (o == NULL)
		return;
	for (uint32_t i = 0; i < o->said.n; i++)
		free(o->said.items[i].file);
	free(o->said.items);
	free(o);
}

const pctl_call *pctl_pipe_once_call(const pctl_pipe_once *o)
{
	return o == NULL ? NULL : &o->call;
}

void pctl_pipe_once_of(pctl_pipe_once *o, const char *which)
{
	o->of = which;
}
