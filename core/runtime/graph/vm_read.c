/* Reading a file of a machine into the tables of vm.h, kernels with it. Its schema is vm_schema.c. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/str.h"
#include "foundation/conf/schema.h"
#include "foundation/diag/diag.h"
#include "runtime/graph/pipeline.h"
#include "runtime/graph/vm_private.h"

struct reader {
	pctl_vm_desc *d;
	const pctl_vfs *vfs;
	const char *path;
	const pctl_op_source *ops;
	pctl_arena *arena;
	const pctl_call *call;
	pctl_str_buf identity;
	pctl_status status;
};

static void keep(struct reader *r, pctl_status status)
{
	if (r->status == PCTL_OK)
		r->status = status;
}

static void *table(struct reader *r, uint32_t n, size_t size)
{
	void *t = pctl_arena_array(r->arena, n + (size_t)1, size);

	if (t == NULL)
		keep(r, pctl_no_memory(r->call, "a machine"));
	return t;
}

static const char *dup(struct reader *r, const char *s)
{
	const char *copy = pctl_arena_dup(r->arena, s);

	if (s != NULL && copy == NULL)
		keep(r, pctl_no_memory(r->call, "a machine"));
	return copy == NULL && s != NULL ? "" : copy;
}

static pctl_pos place_of(struct reader *r, pctl_pos pos)
{
	pos.file = dup(r, pos.file);
	return pos;
}

static uint32_t count(const pctl_conf_value *v)
{
	return v == NULL ? 0 : v->n_items;
}

static uint32_t f32_bits(const pctl_conf_value *v, const char *key)
{
	const float f = (float)pctl_conf_double_or(v, key, 0.0);
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static pctl_vm_part *read_parts(struct reader *r, const pctl_conf_value *v, int is_heap,
				uint32_t *n)
{
	pctl_vm_part *parts = table(r, count(v), sizeof(*parts));

	*n = parts == NULL ? 0 : count(v);
	for (uint32_t i = 0; i < *n; i++) {
		const pctl_conf_value *g = v->items[i];

		parts[i].name = dup(r, g->key);
		parts[i].pos = place_of(r, g->key_pos);
		if (is_heap) {
			parts[i].file = dup(r, pctl_conf_string_or(g, "file", NULL));
			parts[i].n_bytes = pctl_conf_bytes_or(g, "bytes", 0);
		} else {
			keep(r, pctl_conf_as_bytes(g, 0, UINT64_MAX, r->call, &parts[i].n_bytes));
		}
	}
	return parts;
}

static const pctl_vm_part *find_part(const pctl_vm_part *parts, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(parts[i].name, name) == 0)
			return &parts[i];
	return NULL;
}

/* Offsets of parts in their space are found by the first layout, which comes before steps are read. */
static void read_place(struct reader *r, const pctl_conf_value *v, int heap_only,
		       pctl_vm_place *out)
{
	const pctl_vm_desc *d = r->d;
	const pctl_conf_value *at = pctl_conf_get(v, "at");
	const uint64_t offset = pctl_conf_bytes_or(v, "offset", 0);
	const pctl_vm_part *part = find_part(d->heap, d->n_heap, at->text);
	uint64_t reg, left;

	*out = (pctl_vm_place){.stride = pctl_conf_bytes_or(v, "stride", 0),
			       .pos = place_of(r, at->pos)};
	if (part != NULL) {
		out->space = PCTL_VM_IN_HEAP;
	} else if (!heap_only && (part = find_part(d->globals, d->n_globals, at->text)) != NULL) {
		out->space = PCTL_VM_IN_GLOBALS;
	} else if (!heap_only && at->text[0] == 'r' &&
		   pctl_num_parse_u64(at->text + 1, strlen(at->text + 1), &reg) &&
		   reg < PCTL_VM_REGISTERS) {
		out->space = PCTL_VM_IN_REGISTER;
		out->number = (uint32_t)reg;
		out->at = offset;
		left = 4ull * d->width;
		out->n_bytes = offset > left ? 0 : left - offset;
		return;
	} else if (!heap_only && strcmp(at->text, "kv") == 0) {
		out->space = PCTL_VM_IN_GLOBALS;
		out->at = pctl_vm_kv_at(d, 0) + offset;
		out->stride += pctl_vm_kv_stride(d);
		out->n_bytes = offset > d->kv_bytes ? 0 : d->kv_bytes - offset;
		return;
	} else {
		keep(r, pctl_refuse_at(r->call, PC4405_VM_PLACE, &at->pos, NULL,
				       "machine \"%s\" has no %s \"%s\"", d->name,
				       heap_only ? "part of the heap" : "place", at->text));
		return;
	}
	out->at = part->at + offset;
	out->n_bytes = offset > part->n_bytes ? 0 : part->n_bytes - offset;
	if (heap_only)
		out->n_bytes = pctl_conf_bytes_or(v, "bytes", out->n_bytes);
}

static uint32_t *read_numbers(struct reader *r, const pctl_conf_value *v)
{
	uint32_t *out = table(r, count(v), sizeof(*out));

	for (uint32_t i = 0; out != NULL && i < count(v); i++) {
		uint64_t one = 0;

		keep(r, pctl_conf_as_u64(v->items[i], 0, UINT32_MAX, r->call, &one));
		out[i] = (uint32_t)one;
	}
	return out;
}

/* ---- kernels -------------------------------------------------------------------------------- */

static void add_identity(struct reader *r, const char *text, uint64_t n)
{
	pctl_str_addf(&r->identity, "%" PRIu64 "\n", n);
	pctl_str_add_n(&r->identity, text, n);
}

static void load(struct reader *r, const pctl_conf_value *v, pctl_vm_step *s)
{
	char *path = pctl_vfs_resolve(r->vfs, r->path, v->text), *text = NULL;
	pctl_status status = PCTL_OK;
	uint64_t n = 0;

	if (path == NULL)
		status = pctl_no_memory(r->call, "a path");
	else if (!pctl_vfs_exists(r->vfs, path))
		status = pctl_refuse_at(r->call, PC4019_SHADER_FILE, &v->pos,
					"the path is relative to the machine's file",
					"no shader file %s", path);
	else
		status = pctl_vfs_read(r->vfs, path, PCTL_PIPELINE_SHADER_MAX, r->call, &text, &n);
	if (status == PCTL_OK) {
		s->text = pctl_arena_dup_n(r->arena, text, n);
		s->n_text = n;
		add_identity(r, text, n);
		if (s->text == NULL)
			status = pctl_no_memory(r->call, "a machine");
	}
	keep(r, status);
	free(text);
	free(path);
}

static void read_kernel(struct reader *r, const pctl_conf_value *v, pctl_vm_step *s)
{
	const pctl_conf_value *overrides = pctl_conf_get(v, "override"),
			      *groups = pctl_conf_get(v, "dispatch"),
			      *heap = pctl_conf_get(v, "heap");
	pctl_override_value *values = table(r, count(overrides), sizeof(*values));
	const uint32_t *numbers = read_numbers(r, groups);

	s->entry = dup(r, pctl_conf_string_or(v, "entry", NULL));
	s->n_overrides = values == NULL ? 0 : count(overrides);
	s->overrides = values;
	for (uint32_t i = 0; i < s->n_overrides; i++)
		values[i] = (pctl_override_value){.name = dup(r, overrides->items[i]->key),
						  .text = dup(r, overrides->items[i]->text)};
	for (uint32_t i = 0; i < 3; i++)
		s->groups[i] = numbers != NULL && i < count(groups) ? numbers[i] : 1;
	s->n_params = count(pctl_conf_get(v, "params"));
	s->params = read_numbers(r, pctl_conf_get(v, "params"));
	if (heap != NULL)
		read_place(r, heap, 1, &s->window);
	load(r, pctl_conf_get(v, "kernel"), s);
}

/* ---- ops ------------------------------------------------------------------------------------ */

static void read_ports(struct reader *r, const pctl_conf_value *v, pctl_vm_place *places,
		       pctl_tensor_type *types)
{
	for (uint32_t i = 0; i < count(v); i++) {
		const pctl_conf_value *type = pctl_conf_get(v->items[i], "type");
		pctl_type_pattern pattern;
		uint64_t n;
		pctl_status status =
			pctl_type_parse(type->text, r->arena, &type->pos, r->call, &pattern);

		if (status == PCTL_OK &&
		    (pattern.n_dtypes != 1 || !pctl_pattern_concrete(&pattern, &types[i])))
			status = pctl_refuse_at(r->call, PC4020_TYPE_SYNTAX, &type->pos,
						"write numbers: f32[1,64]",
						"\"%s\" leaves its type open", type->text);
		keep(r, status);
		read_place(r, v->items[i], 0, &places[i]);
		/* Of what is left behind the place an instance has what its type has. */
		if (status == PCTL_OK && pctl_type_buffer_bytes(&types[i], &n) &&
		    n < places[i].n_bytes)
			places[i].n_bytes = n;
	}
}

static void read_attrs(struct reader *r, const pctl_conf_value *v, pctl_vm_step *s)
{
	const pctl_conf_value *given = pctl_conf_get(v, "attr");
	const pctl_op_desc *op = s->op.desc;
	pctl_attr *attr = table(r, op->n_attr, sizeof(*attr));

	s->attr = attr;
	s->n_attr = attr == NULL ? 0 : op->n_attr;
	for (uint32_t i = 0; i < s->n_attr; i++) {
		const pctl_conf_value *own = pctl_conf_get(given, op->attr[i].name);
		const char *text = own == NULL ? op->attr[i].default_text : dup(r, own->text);

		if (text == NULL)
			keep(r,
			     pctl_refuse_at(r->call, PC4111_ATTR_MISSING, &s->pos, op->attr[i].doc,
					    "step %s: attribute \"%s\" of op \"%s\" must be given",
					    s->name, op->attr[i].name, op->name));
		else
			keep(r, pctl_op_attr_read(&op->attr[i], op->name, text,
						  own == NULL ? &s->pos : &own->pos, r->call,
						  &attr[i]));
	}
	for (uint32_t i = 0; i < count(given); i++) {
		uint32_t known = 0;

		for (uint32_t k = 0; k < op->n_attr; k++)
			known |= strcmp(op->attr[k].name, given->items[i]->key) == 0;
		if (!known)
			keep(r,
			     pctl_refuse_at(r->call, PC4110_ATTR_UNKNOWN, &given->items[i]->key_pos,
					    NULL, "op \"%s\" has no attribute \"%s\"", op->name,
					    given->items[i]->key));
	}
}

static void read_op(struct reader *r, const pctl_conf_value *v, pctl_vm_step *s)
{
	const pctl_conf_value *op = pctl_conf_get(v, "op"), *in = pctl_conf_get(v, "in"),
			      *out = pctl_conf_get(v, "out");
	pctl_vm_place *places = table(r, count(in) + count(out), sizeof(*places));
	pctl_tensor_type *types = table(r, count(in) + count(out), sizeof(*types));
	uint32_t min = 0, max = 0;
	const char *name = NULL;

	if (places == NULL || types == NULL)
		return;
	if (!pctl_op_name_parse(op->text, r->arena, &name, &min, &max)) {
		keep(r,
		     pctl_refuse_at(r->call, PC4004_OP_SYNTAX, &op->pos, "write library.op@version",
				    "\"%s\" is not the name of an op", op->text));
		return;
	}
	s->ports = places;
	s->types = types;
	s->n_in = count(in);
	s->n_out = count(out);
	if (s->n_in > PCTL_PORTS_MAX || s->n_out > PCTL_PORTS_MAX) {
		keep(r, pctl_refuse_at(r->call, PC4137_PORTS, &op->pos, NULL,
				       "step %s has more than %u inputs or outputs", s->name,
				       PCTL_PORTS_MAX));
		return;
	}
	read_ports(r, in, places, types);
	read_ports(r, out, places + count(in), types + count(in));
	if (r->ops == NULL)
		return;
	keep(r, pctl_op_find(r->ops, name, min, max, &op->pos, r->call, &s->op));
	if (s->op.desc != NULL)
		read_attrs(r, v, s);
}

static void read_step(struct reader *r, const pctl_conf_value *v, pctl_vm_step *s)
{
	const pctl_conf_value *kernel = pctl_conf_get(v, "kernel"), *op = pctl_conf_get(v, "op"),
			      *only = pctl_conf_get(v, "instances");
	static const char *const of_ops[] = {"in", "out", "attr"};
	static const char *const of_kernels[] = {"entry", "dispatch", "override", "params", "heap"};
	const uint32_t *numbers = read_numbers(r, only);

	s->pos = place_of(r, v->pos);
	s->last = r->d->instances - 1u;
	if (only != NULL && numbers != NULL) {
		s->first = numbers[0];
		s->last = numbers[count(only) - 1u];
	}
	if ((kernel == NULL) == (op == NULL)) {
		keep(r, pctl_refuse_at(r->call, PC4406_VM_STEP, &v->pos,
				       "give either `kernel` or `op`", "a step runs %s",
				       kernel == NULL ? "nothing" : "two things"));
		return;
	}
	s->name = dup(r, kernel != NULL ? kernel->text : op->text);
	for (uint32_t i = 0; i < (kernel != NULL ? 3u : 5u); i++) {
		const char *key = kernel != NULL ? of_ops[i] : of_kernels[i];
		const pctl_conf_value *wrong = pctl_conf_get(v, key);

		if (wrong != NULL)
			keep(r, pctl_refuse_at(r->call, PC4406_VM_STEP, &wrong->key_pos, NULL,
					       "step %s: `%s` is for steps that run %s", s->name,
					       key, kernel != NULL ? "an op" : "a kernel"));
	}
	if (kernel != NULL)
		read_kernel(r, v, s);
	else
		read_op(r, v, s);
}

/* ---- the machine ------------------------------------------------------------------------------ */

static void read_machine(struct reader *r, const pctl_conf_value *v)
{
	const pctl_conf_value *regulator = pctl_conf_get(v, "regulator"),
			      *program = pctl_conf_get(v, "program");
	pctl_vm_desc *d = r->d;

	d->name = dup(r, pctl_conf_get(v, "name")->text);
	d->about = dup(r, pctl_conf_string_or(v, "about", NULL));
	d->pos = place_of(r, pctl_conf_get(v, "name")->pos);
	d->instances = (uint32_t)pctl_conf_u64_or(v, "instances", 1);
	d->width = (uint32_t)pctl_conf_u64_or(v, "width", PCTL_VM_WIDTH);
	d->n_embd = (uint32_t)pctl_conf_u64_or(
		v, "n_embd", d->width < PCTL_VM_TELEMETRY ? 0 : d->width - PCTL_VM_TELEMETRY);
	d->kv_bytes = pctl_conf_bytes_or(v, "kv_bytes", 0);
	if (regulator != NULL)
		keep(r, pctl_conf_as_choice(regulator, pctl_vm_regulators, 2, r->call, &d->acts));
	d->epsilon = f32_bits(v, "epsilon");
	d->target = f32_bits(v, "target");
	d->skipping = (uint32_t)pctl_conf_bool_or(v, "skipping", 0);
	d->advance = (uint32_t)pctl_conf_u64_or(v, "advance", 0);
	d->turns = (uint32_t)pctl_conf_u64_or(v, "turns", 1);
	d->heap_bytes = pctl_conf_bytes_or(v, "heap_bytes", 0);
	d->heap = read_parts(r, pctl_conf_get(v, "heap"), 1, &d->n_heap);
	d->globals = read_parts(r, pctl_conf_get(v, "globals"), 0, &d->n_globals);
	if (r->status == PCTL_OK)
		keep(r, pctl_vm_lay_out(d, r->call));
	if (r->status != PCTL_OK)
		return;
	d->steps = table(r, count(program), sizeof(*d->steps));
	d->n_steps = d->steps == NULL ? 0 : count(program);
	for (uint32_t i = 0; i < d->n_steps; i++)
		read_step(r, program->items[i], &d->steps[i]);
}

static void add_texts(struct reader *r, const pctl_conf *conf)
{
	for (uint32_t i = 0; i < pctl_conf_source_count(conf); i++) {
		size_t n;
		const char *text = pctl_conf_source_text(conf, i, &n);

		add_identity(r, text, n);
	}
}

pctl_status pctl_vm_read(const pctl_vfs *vfs, const char *path, const pctl_op_source *ops,
			 pctl_arena *arena, const pctl_call *call, pctl_vm_desc **out)
{
	struct reader r = {.vfs = vfs,
			   .path = path,
			   .ops = ops,
			   .arena = arena,
			   .call = call,
			   .identity = PCTL_STR_BUF_INIT};
	pctl_conf *conf = NULL;

	*out = NULL;
	r.status = pctl_conf_read_vfs(vfs, path, call, &conf);
	if (r.status == PCTL_OK)
		r.status = pctl_conf_check(pctl_conf_root(conf), pctl_vm_schema(), call);
	if (r.status != PCTL_OK)
		goto out;
	r.d = table(&r, 1, sizeof(*r.d));
	if (r.d == NULL)
		goto out;
	add_texts(&r, conf);
	read_machine(&r, pctl_conf_get(pctl_conf_root(conf), "vm"));
	if (r.status == PCTL_OK && ops != NULL)
		r.status = pctl_vm_check(r.d, call);
	if (r.status == PCTL_OK && r.identity.failed)
		r.status = pctl_no_memory(call, "a machine");
	if (r.status != PCTL_OK)
		goto out;
	r.d->identity = pctl_arena_dup_n(arena, r.identity.data, r.identity.n);
	r.d->n_identity = r.identity.n;
	*out = r.d;
out:
	pctl_str_drop(&r.identity);
	pctl_conf_destroy(conf);
	return r.status;
}
