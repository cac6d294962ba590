/* The sink an op library writes into: every number checked before it is believed. */
#include "runtime/graph/jobplan_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/vec.h"
#include "compiler/wgsl/wgsl.h"

/* Every callback of the sink answers through this. */
pctl_status pctl_frame_kept(struct pctl_frame *f, pctl_status status)
{
	if (f->status == PCTL_OK)
		f->status = status;
	return status;
}

pctl_status pctl_frame_bad_plan(const struct pctl_frame *f, const char *what)
{
	return pctl_refuse(f->call, PC4132_PLAN, "op \"%s\" of \"%s\" gave a bad plan: %s",
			   f->op->desc->name, f->op->plugin, what);
}

/* Every callback of the sink begins with this: after a refusal nothing is taken any more, and no plan grows without end. */
pctl_status pctl_frame_next_command(struct pctl_frame *f)
{
	struct pctl_growing_plan *g = (struct pctl_growing_plan *)f->plan;

	if (f->status == PCTL_OK && g->n_commands++ == MOST_COMMANDS)
		f->status =
			pctl_frame_bad_plan(f, "it has no end, or more commands than a plan may");
	return f->status;
}

pctl_status pctl_frame_map_slot(struct pctl_frame *f, const pctl_plan_slot *slot, uint32_t *local)
{
	*local = 0;
	if (!pctl_vec_reserve((void **)&f->slots, f->n_slots, &f->cap_slots, sizeof(*f->slots)))
		return pctl_plan_no_memory(f->call);
	*local = f->n_slots;
	f->slots[f->n_slots++] = *slot;
	return PCTL_OK;
}

pctl_status pctl_frame_new_buffer(struct pctl_frame *f, uint32_t kind, const void *data,
				  uint64_t n_bytes, uint32_t *local)
{
	pctl_plan_slot slot = {.n_bytes = n_bytes};
	pctl_status status =
		pctl_job_plan_buffer(f->plan, kind, n_bytes, data, f->call, &slot.buffer);

	*local = 0;
	return status != PCTL_OK ? status : pctl_frame_map_slot(f, &slot, local);
}

static pctl_status sink_temp(void *ctx, uint64_t n_bytes, uint32_t *buffer)
{
	struct pctl_frame *f = ctx;
	const uint64_t most = UINT64_MAX / 2; /* with what lies beside them they fit in 64 bits */

	*buffer = UINT32_MAX;
	if (pctl_frame_next_command(f) != PCTL_OK)
		return f->status;
	if (n_bytes > most || f->plan->buffer_bytes > most - n_bytes)
		return pctl_frame_kept(
			f, pctl_frame_bad_plan(f, "temporaries that do not fit in 64 bits"));
	return pctl_frame_kept(f, pctl_frame_new_buffer(f, PCTL_PLAN_TEMP, NULL, n_bytes, buffer));
}

static pctl_status sink_params(void *ctx, const void *bytes, uint64_t n_bytes, uint32_t *buffer)
{
	struct pctl_frame *f = ctx;
	struct pctl_growing_plan *g = (struct pctl_growing_plan *)f->plan;

	*buffer = UINT32_MAX;
	if (pctl_frame_next_command(f) != PCTL_OK)
		return f->status;
	if (bytes == NULL && n_bytes != 0)
		return pctl_frame_kept(f, pctl_frame_bad_plan(f, "parameters without bytes"));
	if (n_bytes > MOST_PARAMS - g->n_params)
		return pctl_frame_kept(
			f, pctl_frame_bad_plan(f, "more bytes of parameters than a plan may have"));
	g->n_params += n_bytes;
	return pctl_frame_kept(f,
			       pctl_frame_new_buffer(f, PCTL_PLAN_PARAMS, bytes, n_bytes, buffer));
}

/* From a range of what the op calls a buffer to one of the plan's. */
static int bind_slot(const pctl_plan_slot *slot, pctl_plan_binding *b)
{
	const uint64_t n_bytes = b->offset == 0 && b->n_bytes == 0 ? slot->n_bytes : b->n_bytes;

	if (b->offset > slot->n_bytes || n_bytes > slot->n_bytes - b->offset)
		return 0;
	b->buffer = slot->buffer;
	b->offset += slot->offset;
	b->n_bytes = n_bytes;
	return 1;
}

/* The range of the last turn lies within its buffer too. */
static int stride_ok(const struct pctl_frame *f, const pctl_plan_binding *b)
{
	const pctl_plan_slot *slot = &f->slots[b->buffer];
	const uint32_t kind = f->plan->buffers[slot->buffer].kind;
	uint64_t end;

	if (b->turn_stride == 0)
		return 1;
	if (f->repeat == NULL || (kind != PCTL_PLAN_PARAMS && kind != PCTL_PLAN_CONSTANT))
		return 0;
	return b->n_bytes != 0 &&
	       pctl_num_add((uint64_t)b->turn_stride * (f->repeat->times - 1u), b->offset, &end) &&
	       pctl_num_add(end, b->n_bytes, &end) && end <= slot->n_bytes;
}

/* The same of what a kernel writes. */
static int writes_input(const struct pctl_frame *f, const pctl_plan_kernel *k,
			const pctl_program *p)
{
	for (uint32_t i = 0; i < k->n_bindings; i++) {
		const pctl_plan_binding *b = &k->bindings[i];
		const uint64_t n_bytes = b->offset == 0 && b->n_bytes == 0
						 ? f->slots[b->buffer].n_bytes
						 : b->n_bytes;

		if (pctl_binding_writes(p, b) &&
		    pctl_frame_is_input(f, b->buffer, b->offset, n_bytes))
			return 1;
	}
	return 0;
}

/* What a kernel binds, in numbers of the plan's buffers. */
static pctl_status find_bindings(struct pctl_frame *f, const pctl_plan_kernel *k,
				 pctl_plan_binding *bindings)
{
	const uint32_t flags = PCTL_HAS(k, pctl_plan_kernel, write_from) ? k->through : 0;

	for (uint32_t i = 0; i < k->n_bindings; i++) {
		bindings[i] = k->bindings[i];
		if (bindings[i].buffer >= f->n_slots)
			return pctl_frame_bad_plan(f,
						   "a kernel binds a buffer that does not exist");
		if (pctl_frame_passes_by(f, bindings[i].buffer, flags) != NULL)
			return pctl_frame_bad_plan(
				f, pctl_frame_passes_by(f, bindings[i].buffer, flags));
		if (pctl_frame_is_placed(f, bindings[i].buffer))
			return pctl_frame_bad_plan(
				f, "an input in whose place an output lies is bound to a kernel");
		pctl_frame_touch(f, bindings[i].buffer);
		if (!stride_ok(f, &bindings[i]))
			return pctl_frame_bad_plan(
				f, "a binding has a stride outside of a repeat, past the end of "
				   "its buffer, or over what is not parameters or a constant");
		if (!bind_slot(&f->slots[bindings[i].buffer], &bindings[i]))
			return pctl_refuse(f->call, PC4130_BINDING,
					   "job \"%s\": kernel %s binds %" PRIu64
					   " bytes from %" PRIu64 " on of a buffer of %" PRIu64,
					   f->plan->name, k->name, k->bindings[i].n_bytes,
					   k->bindings[i].offset,
					   f->slots[k->bindings[i].buffer].n_bytes);
	}
	return PCTL_OK;
}

static pctl_status add_kernel(struct pctl_frame *f, const pctl_plan_kernel *k)
{
	const uint32_t most = k->n_bindings + PCTL_THROUGH_BINDINGS;
	pctl_override_value *overrides = calloc(k->n_overrides + 1u, sizeof(*overrides));
	pctl_plan_binding *bindings = calloc(most + 1u, sizeof(*bindings));
	pctl_known_binding *known = calloc(most + 1u, sizeof(*known));
	struct pctl_through_kernel through = {.text = NULL};
	pctl_kernel_source source = {.name = k->name,
				     .text = k->wgsl,
				     .entry = k->entry,
				     .overrides = overrides,
				     .n_overrides = k->n_overrides,
				     .flags = f->planner->wgsl_flags,
				     .groups = k->groups,
				     .bindings = known,
				     .n_bindings = k->n_bindings};
	const int is_counted = PCTL_HAS(k, pctl_plan_kernel, counts) && k->counts != 0;
	const pctl_kernel_module *unit;
	pctl_status status = PCTL_OK;
	uint32_t counts = 0;

	if (overrides == NULL || bindings == NULL || known == NULL) {
		status = pctl_plan_no_memory(f->call);
		goto out;
	}
	for (uint32_t i = 0; i < k->n_overrides; i++)
		overrides[i] = (pctl_override_value){.name = k->overrides[i].name,
						     .bits = k->overrides[i].value};
	status = find_bindings(f, k, bindings);
	if (status == PCTL_OK)
		status = pctl_frame_through(f, k, &through);
	if (status != PCTL_OK)
		goto out;
	if (through.text != NULL) {
		source.text = through.text;
		memcpy(bindings + k->n_bindings, through.bindings,
		       through.n_bindings * sizeof(*bindings));
		source.n_bindings += through.n_bindings;
	}
	source.n_text = strlen(source.text);
	for (uint32_t i = 0; i < source.n_bindings; i++)
		known[i] = pctl_job_plan_known(f->plan, &bindings[i]);
	status = pctl_kernels_get(f->planner->kernels, &source, f->call, &unit);
	if (status == PCTL_OK && is_counted)
		status = pctl_frame_counts(f, k, unit->program, &counts);
	if (status == PCTL_OK)
		status = pctl_job_plan_kernel(f->plan, unit, bindings, source.n_bindings, k->groups,
					      f->call);
	if (status == PCTL_OK && writes_input(f, k, unit->program))
		status = pctl_frame_bad_plan(
			f, "a kernel writes an input, or an output that lies over one");
	if (status == PCTL_OK && is_counted)
		pctl_job_plan_indirect(f->plan, f->plan->n_steps - 1, counts, 0);
out:
	free(through.text);
	free(overrides);
	free(bindings);
	free(known);
	return status;
}

static pctl_status sink_kernel(void *ctx, const pctl_plan_kernel *k)
{
	int whole = k->name != NULL && k->wgsl != NULL &&
		    (k->overrides != NULL || k->n_overrides == 0) &&
		    (k->bindings != NULL || k->n_bindings == 0);
	struct pctl_frame *f = ctx;

	if (pctl_frame_next_command(f) != PCTL_OK)
		return f->status;
	return pctl_frame_kept(
		ctx, whole ? add_kernel(ctx, k)
			   : pctl_frame_bad_plan(ctx, "a kernel lacks its name, text or tables"));
}

static int range_ok(const struct pctl_frame *f, uint32_t buffer, uint64_t offset, uint64_t n_bytes)
{
	uint64_t end;

	return buffer < f->n_slots && offset % 4 == 0 && n_bytes % 4 == 0 &&
	       pctl_num_add(offset, n_bytes, &end) && end <= f->slots[buffer].n_bytes;
}

/* A fill or copy writes what is the plan's own, see check_written, and no input of the op, which may lie in what is: in a register of a
 * machine, or in a temporary of the op that nests this one. */
static int is_writable(const struct pctl_frame *f, uint32_t buffer, uint64_t offset,
		       uint64_t n_bytes)
{
	uint32_t kind = f->plan->buffers[f->slots[buffer].buffer].kind;

	return (kind == PCTL_PLAN_OUTPUT || kind == PCTL_PLAN_TEMP) &&
	       !pctl_frame_is_input(f, buffer, offset, n_bytes);
}

static pctl_status sink_fill(void *ctx, uint32_t buffer, uint64_t offset, uint64_t n_bytes,
			     uint32_t word)
{
	struct pctl_frame *f = ctx;
	pctl_step step = {
		.kind = PCTL_STEP_FILL, .to_offset = offset, .n_bytes = n_bytes, .word = word};

	if (pctl_frame_next_command(f) != PCTL_OK)
		return f->status;
	if (!range_ok(f, buffer, offset, n_bytes))
		return pctl_frame_kept(
			f, pctl_frame_bad_plan(f, "a fill is not aligned to 4 bytes or outside its "
						  "buffer"));
	if (!is_writable(f, buffer, offset, n_bytes))
		return pctl_frame_kept(
			f, pctl_frame_bad_plan(f, "a fill of an input or of parameters, or of an "
						  "output that lies over an input"));
	if (pctl_frame_passes_by(f, buffer, 0) != NULL)
		return pctl_frame_kept(f,
				       pctl_frame_bad_plan(f, pctl_frame_passes_by(f, buffer, 0)));
	pctl_frame_touch(f, buffer);
	step.to = f->slots[buffer].buffer;
	step.to_offset += f->slots[buffer].offset;
	return pctl_frame_kept(f, pctl_plan_add_step(f->plan, &step, f->call));
}

/* Ports may be ranges of one buffer. */
static int apart(const pctl_step *s)
{
	return s->from_offset >= s->to_offset + s->n_bytes ||
	       s->to_offset >= s->from_offset + s->n_bytes;
}

static pctl_status sink_copy(void *ctx, uint32_t from, uint64_t from_offset, uint32_t to,
			     uint64_t to_offset, uint64_t n_bytes)
{
	struct pctl_frame *f = ctx;
	pctl_step step = {.kind = PCTL_STEP_COPY,
			  .from_offset = from_offset,
			  .to_offset = to_offset,
			  .n_bytes = n_bytes};
	int falls;

	if (pctl_frame_next_command(f) != PCTL_OK)
		return f->status;
	for (uint32_t i = 0; i < 2; i++) {
		const char *why = pctl_frame_passes_by(f, i == 0 ? from : to, 0);

		if (why != NULL)
			return pctl_frame_kept(f, pctl_frame_bad_plan(f, why));
	}
	if (!range_ok(f, from, from_offset, n_bytes) || !range_ok(f, to, to_offset, n_bytes))
		return pctl_frame_kept(
			f, pctl_frame_bad_plan(f, "a copy is not aligned to 4 bytes or outside its "
						  "buffers"));
	if (!is_writable(f, to, to_offset, n_bytes))
		return pctl_frame_kept(
			f, pctl_frame_bad_plan(f, "a copy over an input or parameters, or over an "
						  "output that lies over an input"));
	falls = pctl_frame_copy_falls_away(f, from, from_offset, to, to_offset);
	if (falls > 0)
		return PCTL_OK;
	if (falls < 0)
		return pctl_frame_kept(
			f, pctl_frame_bad_plan(f, "an input in whose place an output lies is "
						  "copied behind what writes the output"));
	if (pctl_frame_is_placed(f, from))
		return pctl_frame_kept(
			f,
			pctl_frame_bad_plan(
				f, "an input in whose place an output lies is copied elsewhere"));
	pctl_frame_touch(f, to);
	step.from = f->slots[from].buffer;
	step.to = f->slots[to].buffer;
	step.from_offset += f->slots[from].offset;
	step.to_offset += f->slots[to].offset;
	if (step.from == step.to && (from == to || !apart(&step)))
		return pctl_frame_kept(f, pctl_frame_bad_plan(f, "a copy within one buffer"));
	return pctl_frame_kept(f, pctl_plan_add_step(f->plan, &step, f->call));
}

static pctl_status sink_assert(void *ctx, const pctl_plan_assert *a)
{
	struct pctl_frame *f = ctx;
	pctl_plan_check check = {0, a->bytes, a->offset, a->expected, NULL, 0, 0};

	if (pctl_frame_next_command(f) != PCTL_OK)
		return f->status;
	if (f->repeat != NULL || f->within)
		return pctl_frame_kept(f, pctl_frame_bad_plan(f, "an assertion within a repeat"));
	if ((a->bytes != 4 && a->bytes != 8) || !range_ok(f, a->buffer, a->offset, a->bytes))
		return pctl_frame_kept(
			f, pctl_frame_bad_plan(f, "an assertion looks outside its buffer"));
	if (a->message == NULL)
		return pctl_frame_kept(f, pctl_frame_bad_plan(f, "an assertion without a message"));
	if (pctl_frame_is_placed(f, a->buffer))
		return pctl_frame_kept(
			f, pctl_frame_bad_plan(f, "an assertion about an input in whose place an "
						  "output lies"));
	if (PCTL_HAS(a, pctl_plan_assert, also_bytes) && a->also_bytes != 0) {
		if ((a->also_bytes != 4 && a->also_bytes != 8) ||
		    !range_ok(f, a->buffer, a->also_offset, a->also_bytes))
			return pctl_frame_kept(
				f, pctl_frame_bad_plan(
					   f, "an assertion tells what is outside its buffer"));
		check.also_offset = a->also_offset;
		check.also_bytes = a->also_bytes;
	}
	check.buffer = f->slots[a->buffer].buffer;
	check.offset += f->slots[a->buffer].offset;
	check.also_offset += f->slots[a->buffer].offset;
	check.message = a->message;
	return pctl_frame_kept(f, pctl_job_plan_check(f->plan, &check, f->call));
}

static pctl_status sink_measure(void *ctx, uint32_t buffer, uint64_t offset, uint32_t bytes,
				uint64_t add)
{
	struct pctl_frame *f = ctx;

	if (pctl_frame_next_command(f) != PCTL_OK)
		return f->status;
	if (f->repeat != NULL)
		return pctl_frame_kept(f, pctl_frame_bad_plan(f, "a measure within a repeat"));
	if ((bytes != 4 && bytes != 8) || !range_ok(f, buffer, offset, bytes) ||
	    f->plan->has_measure)
		return pctl_frame_kept(
			f,
			pctl_frame_bad_plan(f, "a measure looks outside its buffer, or there are "
					       "two"));
	if (!(f->flags & PCTL_PLAN_MEASURE))
		return pctl_frame_kept(
			f, pctl_frame_bad_plan(f, "a measure where none was asked for"));
	f->plan->has_measure = 1;
	f->plan->measure_buffer = f->slots[buffer].buffer;
	f->plan->measure_offset = f->slots[buffer].offset + offset;
	f->plan->measure_bytes = bytes;
	f->plan->measure_add = add;
	return PCTL_OK;
}

/* ---- repeats and constants ----------------------------------------------------------------- */

static int is_pair(const struct pctl_frame *f, const pctl_plan_pair *p)
{
	return p->a < f->n_slots && p->b < f->n_slots && p->a != p->b &&
	       is_writable(f, p->a, 0, f->slots[p->a].n_bytes) &&
	       is_writable(f, p->b, 0, f->slots[p->b].n_bytes) &&
	       f->slots[p->a].n_bytes == f->slots[p->b].n_bytes;
}

static pctl_status sink_repeat(void *ctx, const pctl_plan_repeat *r)
{
	struct pctl_frame *f = ctx;

	if (pctl_frame_next_command(f) != PCTL_OK)
		return f->status;
	if (f->repeat != NULL || r->times == 0 || (r->n_pairs != 0 && r->pairs == NULL) ||
	    r->n_pairs > PCTL_REPEAT_PAIRS)
		return pctl_frame_kept(
			f, pctl_frame_bad_plan(
				   f, "a repeat within another, of no turn, or of too many pairs"));
	for (uint32_t i = 0; i < r->n_pairs; i++) {
		int once = is_pair(f, &r->pairs[i]);

		for (uint32_t k = 0; k < i && once; k++)
			once = r->pairs[k].a != r->pairs[i].a && r->pairs[k].b != r->pairs[i].a &&
			       r->pairs[k].a != r->pairs[i].b && r->pairs[k].b != r->pairs[i].b;
		if (!once)
			return pctl_frame_kept(
				f, pctl_frame_bad_plan(
					   f, "a pair of a repeat that is not two buffers of its "
					      "own of one size, each in one pair"));
	}
	f->repeat = pctl_arena_alloc(f->plan->arena, sizeof(*f->repeat));
	if (f->repeat == NULL)
		return pctl_frame_kept(f, pctl_plan_no_memory(f->call));
	*f->repeat = (pctl_repeat){f->plan->n_steps, r->times, r->n_pairs, 0, {{{0}, {0}}}};
	for (uint32_t i = 0; i < r->n_pairs; i++) {
		f->repeat->pairs[i].a = f->slots[r->pairs[i].a];
		f->repeat->pairs[i].b = f->slots[r->pairs[i].b];
	}
	return PCTL_OK;
}

static pctl_status sink_repeat_end(void *ctx)
{
	struct pctl_frame *f = ctx;
	struct pctl_growing_plan *g = (struct pctl_growing_plan *)f->plan;
	const pctl_repeat *r = f->repeat;
	uint32_t end = f->plan->n_steps;
	pctl_status status = PCTL_OK;
	pctl_step step;

	if (pctl_frame_next_command(f) != PCTL_OK)
		return f->status;
	if (r == NULL)
		return pctl_frame_kept(
			f, pctl_frame_bad_plan(f, "the end of a repeat that did not begin"));
	if ((uint64_t)(end - r->first) * (r->times - 1u) > MOST_COMMANDS - g->n_commands)
		return pctl_frame_kept(
			f, pctl_frame_bad_plan(
				   f, "its repeats make more commands than a plan may have"));
	g->n_commands += (end - r->first) * (r->times - 1u);
	for (uint32_t turn = 1; turn < r->times; turn++)
		for (uint32_t i = r->first; status == PCTL_OK && i < end; i++) {
			status = pctl_repeat_step(r, turn, &f->plan->steps[i], f->plan->arena,
						  f->call, &step);
			if (status == PCTL_OK)
				status = pctl_plan_add_step(f->plan, &step, f->call);
		}
	f->repeat = NULL;
	return pctl_frame_kept(f, status);
}

static pctl_status add_constant(struct pctl_frame *f, const char *cid, const void *bytes,
				uint64_t n_bytes, uint32_t *buffer)
{
	pctl_cid *found = pctl_arena_alloc(f->plan->arena, sizeof(*found));
	char text[PCTL_CID_TEXT_SIZE];
	pctl_status status;

	if (found == NULL)
		return pctl_plan_no_memory(f->call);
	status = pctl_cid_of(bytes == NULL ? "" : bytes, n_bytes, f->call, found);
	if (status != PCTL_OK)
		return status;
	if (strcmp(pctl_cid_format(found, text), cid) != 0)
		return pctl_refuse(f->call, PC4132_PLAN,
				   "op \"%s\" of \"%s\" gave a bad plan: a constant is said to be "
				   "%.80s, and its bytes are %s",
				   f->op->desc->name, f->op->plugin, cid, text);
	/* The same bytes twice are one buffer. */
	for (uint32_t i = 0; i < f->plan->n_buffers; i++) {
		const pctl_plan_buffer *b = &f->plan->buffers[i];
		const pctl_plan_slot slot = {i, 0, 0, n_bytes};

		if (b->kind == PCTL_PLAN_CONSTANT && b->n_bytes == n_bytes &&
		    memcmp(b->cid->digest, found->digest, sizeof(found->digest)) == 0)
			return pctl_frame_map_slot(f, &slot, buffer);
	}
	status = pctl_frame_new_buffer(f, PCTL_PLAN_CONSTANT, bytes, n_bytes, buffer);
	if (status == PCTL_OK)
		f->plan->buffers[f->plan->n_buffers - 1].cid = found;
	return status;
}

static pctl_status sink_constant(void *ctx, const char *cid, const void *bytes, uint64_t n_bytes,
				 uint32_t *buffer)
{
	struct pctl_frame *f = ctx;
	struct pctl_growing_plan *g = (struct pctl_growing_plan *)f->plan;

	*buffer = UINT32_MAX;
	if (pctl_frame_next_command(f) != PCTL_OK)
		return f->status;
	if (cid == NULL || (bytes == NULL && n_bytes != 0))
		return pctl_frame_kept(f,
				       pctl_frame_bad_plan(f, "a constant without bytes or CID"));
	if (n_bytes > MOST_PARAMS - g->n_params || n_bytes % 4 != 0)
		return pctl_frame_kept(
			f, pctl_frame_bad_plan(
				   f, "a constant of no whole words, or more bytes of them than a "
				      "plan may have"));
	g->n_params += n_bytes;
	return pctl_frame_kept(f, add_constant(f, cid, bytes, n_bytes, buffer));
}

pctl_plan_sink pctl_frame_sink(struct pctl_frame *f)
{
	return (pctl_plan_sink){PCTL_HEAD(pctl_plan_sink),
				f,
				sink_temp,
				sink_params,
				sink_kernel,
				sink_fill,
				sink_copy,
				NULL,
				sink_assert,
				sink_measure,
				sink_repeat,
				sink_repeat_end,
				sink_constant};
}
