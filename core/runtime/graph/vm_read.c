/* Reading a file of a machine: its schema, then the tables of vm.h, kernels with it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/str.h"
#include "foundation/conf/schema.h"
#include "foundation/diag/diag.h"
#include "runtime/graph/pipeline.h"
#include "runtime/graph/vm.h"

static const char *const regulators[] = {"observe", "act", NULL};
static const pctl_conf_field scalar = {.key = "value", .kind = PCTL_FIELD_SCALAR};
static const pctl_conf_field number = {.key = "number", .kind = PCTL_FIELD_U64, .max = UINT32_MAX};

static const pctl_conf_field heap_fields[] = {
	{.key = "bytes", .kind = PCTL_FIELD_BYTES, .flags = PCTL_FIELD_REQUIRED, .doc = "how many"},
	{.key = "file",
	 .kind = PCTL_FIELD_STRING,
	 .doc = "what `vm run` feeds it with unless --in names another"},
};
static const pctl_conf_schema heap_schema = PCTL_CONF_SCHEMA("a part of the heap", heap_fields);
static const pctl_conf_field heap_element = {
	.key = "part", .kind = PCTL_FIELD_GROUP, .group = &heap_schema};
static const pctl_conf_field bytes_element = {.key = "bytes", .kind = PCTL_FIELD_BYTES};

static const pctl_conf_field window_fields[] = {
	{.key = "at",
	 .kind = PCTL_FIELD_STRING,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "a part of the heap"},
	{.key = "offset", .kind = PCTL_FIELD_BYTES, .doc = "from its beginning; default 0"},
	{.key = "stride", .kind = PCTL_FIELD_BYTES, .doc = "more in each instance; default 0"},
	{.key = "bytes", .kind = PCTL_FIELD_BYTES, .doc = "how many; default: all that is left"},
};
static const pctl_conf_schema window_schema = PCTL_CONF_SCHEMA("a window", window_fields);

static const pctl_conf_field port_fields[] = {
	{.key = "at",
	 .kind = PCTL_FIELD_STRING,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "a register, kv, or a part of the heap or the globals"},
	{.key = "type", .kind = PCTL_FIELD_STRING, .flags = PCTL_FIELD_REQUIRED, .doc = "its type"},
	{.key = "offset", .kind = PCTL_FIELD_BYTES, .doc = "bytes from its beginning; default 0"},
	{.key = "stride", .kind = PCTL_FIELD_BYTES, .doc = "more in each instance; default 0"},
};
static const pctl_conf_schema port_schema = PCTL_CONF_SCHEMA("a port", port_fields);
static const pctl_conf_field port_element = {
	.key = "port", .kind = PCTL_FIELD_GROUP, .group = &port_schema};

static const pctl_conf_field step_fields[] = {
	{.key = "kernel", .kind = PCTL_FIELD_STRING, .doc = "a WGSL file"},
	{.key = "entry", .kind = PCTL_FIELD_NAME, .doc = "its entry point"},
	{.key = "dispatch",
	 .kind = PCTL_FIELD_LIST,
	 .min = 1,
	 .max = 3,
	 .element = &number,
	 .doc = "workgroups; default [ 1 ]"},
	{.key = "override",
	 .kind = PCTL_FIELD_MAP,
	 .element = &scalar,
	 .doc = "overrides of the kernel"},
	{.key = "params",
	 .kind = PCTL_FIELD_LIST,
	 .min = 1,
	 .max = 56,
	 .element = &number,
	 .doc = "words behind the arguments in its uniform block"},
	{.key = "heap",
	 .kind = PCTL_FIELD_GROUP,
	 .group = &window_schema,
	 .doc = "the window it is bound to"},
	{.key = "op", .kind = PCTL_FIELD_STRING, .doc = "an op of an op library, tensor.matmul@1"},
	{.key = "in", .kind = PCTL_FIELD_LIST, .element = &port_element, .doc = "its inputs"},
	{.key = "out", .kind = PCTL_FIELD_LIST, .element = &port_element, .doc = "its outputs"},
	{.key = "attr", .kind = PCTL_FIELD_MAP, .element = &scalar, .doc = "attributes of the op"},
	{.key = "instances",
	 .kind = PCTL_FIELD_LIST,
	 .min = 1,
	 .max = 2,
	 .element = &number,
	 .doc = "the one it is for, or the first and the last; default: all"},
};
static const pctl_conf_schema step_schema = PCTL_CONF_SCHEMA("a step", step_fields);
static const pctl_conf_field step_element = {
	.key = "step", .kind = PCTL_FIELD_GROUP, .group = &step_schema};

static const pctl_conf_field vm_fields[] = {
	{.key = "name", .kind = PCTL_FIELD_NAME, .flags = PCTL_FIELD_REQUIRED, .doc = "its name"},
	{.key = "about", .kind = PCTL_FIELD_STRING, .doc = "what it does, one line"},
	{.key = "instances",
	 .kind = PCTL_FIELD_U64,
	 .max = UINT32_MAX,
	 .default_text = "1",
	 .doc = "how many there are"},
	{.key = "width",
	 .kind = PCTL_FIELD_U64,
	 .max = UINT32_MAX,
	 .default_text = "4096",
	 .doc = "words of a register, a multiple of 64"},
	{.key = "n_embd",
	 .kind = PCTL_FIELD_U64,
	 .max = UINT32_MAX,
	 .doc = "words of data in a message; default width - 4"},
	{.key = "kv_bytes",
	 .kind = PCTL_FIELD_BYTES,
	 .default_text = "0",
	 .doc = "of each instance's partition of the globals"},
	{.key = "regulator",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = regulators,
	 .default_text = "observe",
	 .doc = "act: it writes scale factors"},
	{.key = "epsilon",
	 .kind = PCTL_FIELD_FLOAT,
	 .default_text = "0.0",
	 .doc = "a norm below it has vanished; rounded to f32"},
	{.key = "target",
	 .kind = PCTL_FIELD_FLOAT,
	 .default_text = "0.0",
	 .doc = "the norm that is wanted; 0: the running mean"},
	{.key = "skipping",
	 .kind = PCTL_FIELD_BOOL,
	 .default_text = "false",
	 .doc = "active = 0 skips an instance"},
	{.key = "advance",
	 .kind = PCTL_FIELD_U64,
	 .max = UINT32_MAX,
	 .default_text = "0",
	 .doc = "what the position counter goes on by in every turn"},
	{.key = "turns",
	 .kind = PCTL_FIELD_U64,
	 .max = UINT32_MAX,
	 .default_text = "1",
	 .doc = "how often a job runs the program"},
	{.key = "heap_bytes", .kind = PCTL_FIELD_BYTES, .doc = "where the heap ends; default 2^48"},
	{.key = "heap",
	 .kind = PCTL_FIELD_MAP,
	 .element = &heap_element,
	 .doc = "parts, allotted in this order"},
	{.key = "globals",
	 .kind = PCTL_FIELD_MAP,
	 .element = &bytes_element,
	 .doc = "name = bytes, behind the partitions"},
	{.key = "program",
	 .kind = PCTL_FIELD_LIST,
	 .min = 1,
	 .element = &step_element,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "what an instance runs, in order"},
};
static const pctl_conf_schema vm_schema = PCTL_CONF_SCHEMA("a machine", vm_fields);
static const pctl_conf_field file_fields[] = {
	{.key = "vm",
	 .kind = PCTL_FIELD_GROUP,
	 .group = &vm_schema,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "the machine"},
};
static const pctl_conf_schema file_schema = PCTL_CONF_SCHEMA("a machine's file", file_fields);

const pctl_conf_schema *pctl_vm_schema(void)
{
	return &file_schema;
}

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
		values[i] = (pctl_override_value){dup(r, overrides->items[i]->key), 0,
						  dup(r, overrides->items[i]->text)};
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
		keep(r, pctl_conf_as_choice(regulator, regulators, 2, r->call, &d->acts));
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
		r.status = pctl_conf_check(pctl_conf_root(conf), &file_schema, call);
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
