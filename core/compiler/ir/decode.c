/* Reading the wire form from bytes nobody vouches for. Numbers are bounded by what is left before
 * anything is allocated; the verifier judges the tables; encoding again and comparing makes the
 * form canonical. */
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/wire.h"

typedef struct reader {
	const uint8_t *data;
	uint64_t n, at;
	const pctl_call *call;
	pctl_status status;
	pctl_program *p;
	pctl_strings strings;
	/* Growing tables whose total is not known in front; moved to the arena at the end. */
	pctl_member *members;
	pctl_local *locals;
	pctl_inst *insts;
	uint32_t *words;
	uint32_t cap_members, cap_locals, cap_insts, cap_words;
} reader;

#define NO_MEMORY "no memory for a program"

static void refuse(reader *r, uint32_t code, const char *what)
{
	if (r->status == PCTL_OK)
		r->status = pctl_refuse(r->call, code, "offset %llu: %s", (unsigned long long)r->at,
					what);
}

static uint64_t number(reader *r, uint64_t max)
{
	uint64_t value = 0;
	uint32_t shift;

	for (shift = 0; shift < 64 && r->status == PCTL_OK; shift += 7) {
		uint8_t byte;

		if (r->at == r->n) {
			refuse(r, PC2002_WIRE_TRUNCATED, "the bytes end in the middle");
			return 0;
		}
		byte = r->data[r->at++];
		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (value > max)
			refuse(r, PC2005_WIRE_FORM, "a number is out of range");
		return r->status == PCTL_OK ? value : 0;
	}
	refuse(r, PC2005_WIRE_FORM, "a number is longer than 64 bits");
	return 0;
}

static uint32_t word(reader *r)
{
	return (uint32_t)number(r, UINT32_MAX);
}

static uint8_t byte(reader *r)
{
	return (uint8_t)number(r, UINT8_MAX);
}

/* A count of records of at least `bytes` bytes each. */
static uint32_t count(reader *r, uint64_t bytes)
{
	uint64_t n = number(r, UINT32_MAX);

	if (r->status == PCTL_OK && n > (r->n - r->at) / bytes)
		refuse(r, PC2002_WIRE_TRUNCATED, "a count is larger than the bytes left");
	return r->status == PCTL_OK ? (uint32_t)n : 0;
}

static uint32_t text(reader *r)
{
	uint32_t n = count(r, 1), out = 0;
	const char *s = (const char *)r->data + r->at;

	if (r->status != PCTL_OK)
		return 0;
	if (n && memchr(s, 0, n))
		refuse(r, PC2005_WIRE_FORM, "a name holds a NUL");
	else if (!pctl_strings_put(&r->strings, s, n, &out))
		refuse(r, PC2_NOMEM, NO_MEMORY);
	r->at += n;
	return out;
}

static uint32_t section(reader *r, uint8_t id, uint64_t bytes)
{
	if (r->status != PCTL_OK)
		return 0;
	if (r->at == r->n)
		refuse(r, PC2002_WIRE_TRUNCATED, "the bytes end before a section");
	else if (r->data[r->at++] != id)
		refuse(r, PC2005_WIRE_FORM, "another section was expected");
	return count(r, bytes);
}

static void *table(reader *r, uint32_t n, size_t size)
{
	void *t = r->status == PCTL_OK ? pctl_arena_array(r->p->arena, n, size) : NULL;

	if (!t)
		refuse(r, PC2_NOMEM, NO_MEMORY);
	return t;
}

/* Room for n more elements behind *used of *cap in a malloc'd table. */
static int grow(reader *r, void **items, uint32_t used, uint32_t *cap, uint32_t n, size_t size)
{
	uint64_t want = (uint64_t)used + n;
	void *more;

	if (want <= *cap)
		return 1;
	want *= 2;
	more = want <= UINT32_MAX ? realloc(*items, want * size) : NULL;
	if (!more) {
		refuse(r, PC2_NOMEM, NO_MEMORY);
		return 0;
	}
	*items = more;
	*cap = (uint32_t)want;
	return 1;
}

static void members(reader *r, pctl_type *t)
{
	pctl_program *p = r->p;
	uint32_t i;

	t->first_member = p->n_members;
	if (t->count > (r->n - r->at) / 4) {
		refuse(r, PC2002_WIRE_TRUNCATED, "a count is larger than the bytes left");
		return;
	}
	if (!grow(r, (void **)&r->members, p->n_members, &r->cap_members, t->count,
		  sizeof(pctl_member)))
		return;
	for (i = 0; i < t->count && r->status == PCTL_OK; i++) {
		pctl_member *m = &r->members[p->n_members++];

		m->name = text(r);
		m->type = word(r);
		m->offset = word(r);
		m->flags = word(r);
	}
}

static void types(reader *r)
{
	uint32_t n = section(r, PCTL_WIRE_TYPES, 10), i;
	pctl_program *p = r->p;

	p->types = table(r, n + 1, sizeof(pctl_type));
	for (i = 1; i <= n && r->status == PCTL_OK; i++) {
		pctl_type *t = &p->types[i];

		t->kind = byte(r);
		t->scalar = byte(r);
		t->width = byte(r);
		t->columns = byte(r);
		t->elem = word(r);
		t->count = word(r);
		t->count_spec = word(r);
		t->stride = word(r);
		t->size = word(r);
		t->align = word(r);
		if (t->kind == PCTL_TYPE_STRUCT && r->status == PCTL_OK)
			members(r, t);
	}
	p->n_types = n + 1;
}

static void vars(reader *r)
{
	uint32_t n = section(r, PCTL_WIRE_VARS, 7), i;

	r->p->vars = table(r, n, sizeof(pctl_var));
	for (i = 0; i < n && r->status == PCTL_OK; i++) {
		pctl_var *v = &r->p->vars[i];

		v->name = text(r);
		v->type = word(r);
		v->space = byte(r);
		v->access = byte(r);
		v->reserved = (uint16_t)number(r, 0);
		v->group = word(r);
		v->binding = word(r);
	}
	r->p->n_vars = n;
}

static void overrides(reader *r)
{
	uint32_t n = section(r, PCTL_WIRE_OVERRIDES, 5), i;

	r->p->overrides = table(r, n, sizeof(pctl_override));
	for (i = 0; i < n && r->status == PCTL_OK; i++) {
		pctl_override *o = &r->p->overrides[i];

		o->name = text(r);
		o->id = word(r);
		o->type = word(r);
		o->has_default = word(r);
		o->default_value = word(r);
	}
	r->p->n_overrides = n;
}

static void inst(reader *r)
{
	pctl_program *p = r->p;
	pctl_inst *in = &r->insts[p->n_insts];
	uint32_t i;

	in->op = (uint16_t)number(r, UINT16_MAX);
	in->flags = (uint16_t)number(r, UINT16_MAX);
	in->type = word(r);
	in->n_args = count(r, 1);
	in->first_arg = p->n_words;
	if (!grow(r, (void **)&r->words, p->n_words, &r->cap_words, in->n_args, sizeof(uint32_t)))
		return;
	for (i = 0; i < in->n_args && r->status == PCTL_OK; i++)
		r->words[p->n_words++] = word(r);
	if (r->status == PCTL_OK && pctl_wire_has_scope(in->op))
		number(r, 0);
	p->n_insts++;
}

static void function(reader *r, pctl_function *f)
{
	pctl_program *p = r->p;
	uint32_t i;

	f->name = text(r);
	f->return_type = word(r);
	f->n_params = word(r);
	f->first_local = p->n_locals;
	f->n_locals = count(r, 2);
	if (!grow(r, (void **)&r->locals, p->n_locals, &r->cap_locals, f->n_locals,
		  sizeof(pctl_local)))
		return;
	for (i = 0; i < f->n_locals && r->status == PCTL_OK; i++) {
		pctl_local *l = &r->locals[p->n_locals++];

		l->name = text(r);
		l->type = word(r);
	}
	f->first_inst = p->n_insts;
	f->n_insts = count(r, 4);
	if (f->n_insts > PCTL_INSTS_MAX - p->n_insts)
		refuse(r, PC2004_WIRE_LIMIT, "more than 1048576 instructions");
	if (r->status != PCTL_OK ||
	    !grow(r, (void **)&r->insts, p->n_insts, &r->cap_insts, f->n_insts, sizeof(pctl_inst)))
		return;
	for (i = 0; i < f->n_insts && r->status == PCTL_OK; i++)
		inst(r);
}

static void functions(reader *r)
{
	uint32_t n = section(r, PCTL_WIRE_FUNCTIONS, 5), i;

	r->p->functions = table(r, n, sizeof(pctl_function));
	for (i = 0; i < n && r->status == PCTL_OK; i++)
		function(r, &r->p->functions[i]);
	r->p->n_functions = n;
}

static void entries(reader *r)
{
	uint32_t n = section(r, PCTL_WIRE_ENTRIES, 8), i, d;

	r->p->entries = table(r, n, sizeof(pctl_entry));
	for (i = 0; i < n && r->status == PCTL_OK; i++) {
		pctl_entry *e = &r->p->entries[i];

		e->name = text(r);
		e->function = word(r);
		for (d = 0; d < 3; d++)
			e->workgroup_size[d] = word(r);
		for (d = 0; d < 3; d++)
			e->workgroup_size_spec[d] = word(r);
	}
	r->p->n_entries = n;
}

static void maxima(reader *r)
{
	uint32_t n = section(r, PCTL_WIRE_MAXIMA, 7), i, d;

	r->p->maxima = table(r, n, sizeof(pctl_max));
	for (i = 0; i < n && r->status == PCTL_OK; i++) {
		pctl_max *m = &r->p->maxima[i];

		m->var = word(r);
		m->n_path = word(r);
		for (d = 0; d < 4; d++)
			m->path[d] = word(r);
		m->value = number(r, UINT64_MAX);
	}
	r->p->n_maxima = n;
}

static void meta(reader *r)
{
	uint32_t d;

	if (section(r, PCTL_WIRE_META, 1) != 4)
		refuse(r, PC2005_WIRE_FORM, "the last section does not have four numbers");
	for (d = 0; d < 3; d++)
		r->p->max_dispatch[d] = word(r);
	r->p->scale = number(r, UINT64_MAX);
	if (r->status == PCTL_OK && r->at != r->n)
		refuse(r, PC2005_WIRE_FORM, "bytes behind the end");
}

static void header(reader *r)
{
	uint32_t major;

	if (r->n > PCTL_WIRE_BYTES_MAX)
		refuse(r, PC2004_WIRE_LIMIT, "more than 16 MiB");
	else if (r->n < PCTL_WIRE_HEADER_BYTES || memcmp(r->data, PCTL_WIRE_MAGIC, 8) != 0)
		refuse(r, PC2000_WIRE_MAGIC, "the bytes are not an encoded program");
	if (r->status != PCTL_OK)
		return;
	r->at = 8;
	major = r->data[8] | (uint32_t)r->data[9] << 8;
	if (major != PCTL_PROGRAM_MAJOR)
		refuse(r, PC2001_WIRE_VERSION, "the program has another major version than 1");
	r->at = PCTL_WIRE_HEADER_BYTES;
}

static void *to_arena(reader *r, const void *items, uint32_t n, size_t size)
{
	void *t = table(r, n, size);

	if (t && n)
		memcpy(t, items, n * size);
	return t;
}

static void finish(reader *r)
{
	pctl_program *p = r->p;
	uint32_t empty;

	if (!pctl_strings_put(&r->strings, "", 0, &empty))
		refuse(r, PC2_NOMEM, NO_MEMORY);
	p->members = to_arena(r, r->members, p->n_members, sizeof(pctl_member));
	p->locals = to_arena(r, r->locals, p->n_locals, sizeof(pctl_local));
	p->insts = to_arena(r, r->insts, p->n_insts, sizeof(pctl_inst));
	p->words = to_arena(r, r->words, p->n_words, sizeof(uint32_t));
	p->strings = to_arena(r, r->strings.data, r->strings.n, 1);
	p->n_strings = r->strings.n;
}

static void check_canonical(reader *r)
{
	uint8_t *again = NULL;
	uint64_t n = 0, i = 0;

	r->status = pctl_program_encode(r->p, r->call, &again, &n);
	if (r->status != PCTL_OK)
		return;
	while (i < n && i < r->n && again[i] == r->data[i])
		i++;
	r->at = i;
	if (i != n || n != r->n)
		refuse(r, PC2003_WIRE_CANONICAL,
		       "this is not the one canonical encoding of the program");
	free(again);
}

pctl_status pctl_program_decode(const uint8_t *wire, uint64_t n, const pctl_call *call,
				pctl_program **out)
{
	reader r = {.data = wire, .n = n, .call = call};
	pctl_arena *arena = NULL;

	*out = NULL;
	header(&r);
	if (r.status != PCTL_OK)
		goto out;
	arena = pctl_arena_create();
	r.p = arena ? pctl_arena_alloc(arena, sizeof(*r.p)) : NULL;
	if (!r.p) {
		refuse(&r, PC2_NOMEM, NO_MEMORY);
		goto out;
	}
	r.p->arena = arena;
	types(&r);
	vars(&r);
	overrides(&r);
	functions(&r);
	entries(&r);
	maxima(&r);
	meta(&r);
	if (r.status != PCTL_OK)
		goto out;
	finish(&r);
	if (r.status == PCTL_OK)
		r.status = pctl_program_verify(r.p, call);
	if (r.status == PCTL_OK)
		check_canonical(&r);
out:
	free(r.members);
	free(r.locals);
	free(r.insts);
	free(r.words);
	pctl_strings_drop(&r.strings);
	if (r.status == PCTL_OK)
		*out = r.p;
	else
		pctl_arena_destroy(arena);
	return r.status;
}
