/* Wrong bytes, written into the inner device's buffers from outside once it is idle. */
#include "runtime/mock.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 65536u

pctl_status mock_flip(pctl_device *dev, const pctl_call *call, const mock_range *range,
		      uint64_t element, uint32_t bit)
{
	const uint64_t at = range->offset + 4 * element;
	uint32_t word;
	pctl_status s;

	if (element >= range->n_bytes / 4)
		return PCTL_OK;
	s = dev->t->buffer_read(dev->inner, call, range->buffer->inner, at, &word, 4);
	word ^= 1u << bit;
	if (s == PCTL_OK)
		s = dev->t->buffer_write(dev->inner, call, range->buffer->inner, at, &word, 4);
	return s;
}

static pctl_status zero(pctl_list *l, const pctl_call *call)
{
	static const uint8_t zeros[CHUNK];
	const pctl_device *dev = l->dev;
	pctl_status s = PCTL_OK;

	for (uint32_t i = 0; i < l->n_outputs; i++) {
		const mock_range *r = &l->outputs[i];

		for (uint64_t at = 0; at < r->n_bytes && s == PCTL_OK; at += CHUNK) {
			const uint64_t n = r->n_bytes - at < CHUNK ? r->n_bytes - at : CHUNK;

			s = dev->t->buffer_write(dev->inner, call, r->buffer->inner, r->offset + at,
						 zeros, n);
		}
	}
	return s;
}

/* Every word that lane number n of all words so far is. */
static pctl_status lanes(pctl_list *l, const pctl_call *call, uint64_t n)
{
	pctl_device *dev = l->dev;
	pctl_status s = PCTL_OK;

	for (uint32_t i = 0; i < l->n_outputs && s == PCTL_OK; i++) {
		const uint64_t words = l->outputs[i].n_bytes / 4;

		for (uint64_t k = dev->words / n * n + n; k <= dev->words + words && s == PCTL_OK;
		     k += n)
			s = mock_flip(dev, call, &l->outputs[i], k - dev->words - 1, 0);
		dev->words += words;
	}
	return s;
}

static pctl_status race(pctl_list *l, const pctl_call *call)
{
	const mock_range last = mock_last_output(l);

	if (++l->dev->racing % 2 != 0 || !last.buffer)
		return PCTL_OK;
	return mock_flip(l->dev, call, &last, 0, 0);
}

/* The low bit of the first word of every binding that its dispatch may only read. */
static pctl_status write_inputs(pctl_list *l, const pctl_call *call)
{
	pctl_status s = PCTL_OK;

	for (uint32_t i = 0; i < l->n_cmds; i++) {
		const mock_cmd *c = &l->cmds[i];

		for (uint32_t k = 0; c->kernel && k < c->n_bindings && s == PCTL_OK; k++) {
			const pctl_binding *b = &c->bindings[k];
			const mock_range r = {b->buffer, b->offset, b->n_bytes};

			if (!mock_is_written(c, b))
				s = mock_flip(l->dev, call, &r, 0, 0);
		}
	}
	return s;
}

/* The low bit of the word behind (or before) the span of every written binding, where the buffer has one there. */
static pctl_status write_beside(pctl_list *l, const pctl_call *call, int past)
{
	pctl_status s = PCTL_OK;

	for (uint32_t i = 0; i < l->n_cmds; i++) {
		const mock_cmd *c = &l->cmds[i];

		for (uint32_t k = 0; c->kernel && k < c->n_bindings && s == PCTL_OK; k++) {
			const pctl_binding *b = &c->bindings[k];
			const uint64_t end = b->offset + b->n_bytes;
			const mock_range r = {b->buffer, past ? end : b->offset - 4, 4};

			if (mock_is_written(c, b) &&
			    (past ? end + 4 <= b->buffer->n_bytes : b->offset >= 4))
				s = mock_flip(l->dev, call, &r, 0, 0);
		}
	}
	return s;
}

/* The low bit of the first word of what is written last, where it lies as in an ordinary job, or as between zones. */
static pctl_status lie_by_shape(pctl_list *l, const pctl_call *call, int when_plain)
{
	const mock_range last = mock_last_output(l);

	if (!last.buffer || (last.offset == 0) != when_plain)
		return PCTL_OK;
	return mock_flip(l->dev, call, &last, 0, 0);
}

int mock_has(const pctl_device *dev, uint32_t kind)
{
	const mock_script *script = &dev->inst->script;

	for (uint32_t i = 0; i < script->n; i++)
		if (script->faults[i].kind == kind)
			return 1;
	return 0;
}

static int is_corrupting(const mock_fault *f)
{
	return f->kind == MOCK_ZERO || f->kind == MOCK_LANE || f->kind == MOCK_RACY ||
	       f->kind == MOCK_WRITE_INPUT || f->kind == MOCK_WRITE_PAST ||
	       f->kind == MOCK_WRITE_BEFORE || f->kind == MOCK_HONEST_ZONES ||
	       f->kind == MOCK_HONEST_PLAIN;
}

int mock_corrupts(const pctl_list *l, uint64_t trace)
{
	const mock_script *script = &l->dev->inst->script;

	for (uint32_t i = 0; i < script->n; i++)
		if (is_corrupting(&script->faults[i]) &&
		    mock_is_due(l, &script->faults[i], trace, 1))
			return 1;
	return 0;
}

pctl_status mock_corrupt(pctl_list *l, const pctl_call *call)
{
	const mock_script *script = &l->dev->inst->script;
	pctl_status s = PCTL_OK;

	for (uint32_t i = 0; i < script->n && s == PCTL_OK; i++) {
		const mock_fault *f = &script->faults[i];

		if (!is_corrupting(f) || !mock_is_due(l, f, call ? call->trace_id : 0, 1))
			continue;
		s = f->kind == MOCK_ZERO	  ? zero(l, call)
		    : f->kind == MOCK_LANE	  ? lanes(l, call, f->value)
		    : f->kind == MOCK_WRITE_INPUT ? write_inputs(l, call)
		    : f->kind == MOCK_WRITE_PAST || f->kind == MOCK_WRITE_BEFORE
			    ? write_beside(l, call, f->kind == MOCK_WRITE_PAST)
		    : f->kind == MOCK_HONEST_ZONES || f->kind == MOCK_HONEST_PLAIN
			    ? lie_by_shape(l, call, f->kind == MOCK_HONEST_ZONES)
			    : race(l, call);
	}
	return s;
}

/* ---- stale -------------------------------------------------------------------------------- */

pctl_status mock_keep(pctl_list *l, const pctl_call *call)
{
	const pctl_device *dev = l->dev;
	pctl_status s = PCTL_OK;

	l->kept = calloc(l->n_outputs + 1u, sizeof(*l->kept));
	for (uint32_t i = 0; l->kept && i < l->n_outputs && s == PCTL_OK; i++) {
		const mock_range *r = &l->outputs[i];

		l->kept[i] = malloc(r->n_bytes);
		if (!l->kept[i])
			return pctl_no_memory(call, "stale outputs");
		s = dev->t->buffer_read(dev->inner, call, r->buffer->inner, r->offset, l->kept[i],
					r->n_bytes);
	}
	return l->kept ? s : pctl_no_memory(call, "stale outputs");
}

pctl_status mock_bring_back(pctl_list *l, const pctl_call *call)
{
	const pctl_device *dev = l->dev;
	pctl_status s = PCTL_OK;

	for (uint32_t i = 0; i < l->n_outputs && s == PCTL_OK; i++)
		s = dev->t->buffer_write(dev->inner, call, l->outputs[i].buffer->inner,
					 l->outputs[i].offset, l->kept[i], l->outputs[i].n_bytes);
	return s;
}
