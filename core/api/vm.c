/* Machines; see vm.h. What a machine is and does is core/vm. */
#include <stdlib.h>
#include <string.h>

#include "api/vm_private.h"
#include "runtime/graph/library.h"
#include "runtime/graph/pipeline.h"

/* ---- booting ------------------------------------------------------------------------------ */

static uint32_t bits_of(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static uint32_t or_else(uint32_t n, uint32_t other)
{
	return n == 0 ? other : n;
}

static pctl_status boot(pipectl_vm *vm, const pipectl_vm_options *o)
{
	pipectl *p = vm->p;
	const uint32_t width = or_else(o->width, PCTL_VM_WIDTH);
	const pctl_vm_desc desc = {.name = o->name == NULL ? "vm" : o->name,
				   .instances = or_else(o->instances, 1),
				   .width = width,
				   .n_embd = or_else(o->n_embd, width - PCTL_VM_TELEMETRY),
				   .turns = 1,
				   .target = bits_of(o->target),
				   .kv_bytes = o->kv_bytes,
				   .globals_bytes = o->globals_bytes,
				   .heap_bytes = o->heap_bytes};
	const pctl_host_machine_options options = {
		.desc = &desc,
		.device = o->device,
		.run_flags = p->asked.flags & PIPECTL_DEBUG ? PCTL_RUN_DEBUG : 0,
		.is_verified = (o->flags & PIPECTL_VM_VERIFY) != 0,
		.budget_bytes = o->budget_bytes};
	pctl_status status;

	if ((o->flags & ~PIPECTL_VM_VERIFY) != 0)
		return pipectl_misused(&p->call, "options has a flag that does not exist");
	status = pctl_host_machine_boot(&p->host, &options, &p->call, &vm->host);
	vm->machine = vm->host.machine;
	return status;
}

pctl_status pipectl_vm_boot(pipectl *p, const pipectl_vm_options *options, pipectl_vm **out)
{
	pipectl_vm *vm = NULL;
	pipectl_vm_options o;
	pctl_status status = pipectl_begin(p, NULL, "vm");

	*out = NULL;
	if (status == PCTL_OK)
		status = PIPECTL_TAKE(&p->call, &o, options);
	if (status == PCTL_OK && (vm = calloc(1, sizeof(*vm))) == NULL)
		status = pctl_no_memory(&p->call, "a machine");
	if (status == PCTL_OK) {
		vm->p = p;
		status = boot(vm, &o);
	}
	if (status == PCTL_OK)
		*out = vm;
	else
		pipectl_vm_shutdown(vm);
	return pipectl_end(p, status);
}

void pipectl_vm_shutdown(pipectl_vm *vm)
{
	if (vm == NULL)
		return;
	pctl_host_machine_shutdown(&vm->host);
	free(vm);
}

pctl_status pipectl_vm_look(pipectl_vm *vm, pipectl_vm_layout *out)
{
	const pctl_vm_desc *d = pctl_machine_desc(vm->machine);
	const pctl_vm_part *last = d->n_heap == 0 ? NULL : &d->heap[d->n_heap - 1];
	const pipectl_vm_layout layout = {.head = PCTL_HEAD(pipectl_vm_layout),
					  .device = pctl_machine_device(vm->machine),
					  .statistics = 4u * PCTL_VM_HEAD,
					  .throughput = pctl_vm_throughput_at(d),
					  .kv = pctl_vm_kv_at(d, 0),
					  .kv_stride = pctl_vm_kv_stride(d),
					  .own = pctl_vm_globals_at(d),
					  .globals_bytes = pctl_vm_globals_all(d),
					  .heap_bytes = last == NULL ? 0 : last->at + last->n_bytes,
					  .instances = d->instances,
					  .width = d->width,
					  .n_embd = d->n_embd};
	pctl_status status = pipectl_begin(vm->p, NULL, "vm");

	if (status != PCTL_OK)
		return status;
	return pipectl_end(vm->p, PIPECTL_GIVE(&vm->p->call, out, &layout));
}

/* ---- memory ------------------------------------------------------------------------------- */

pctl_status pipectl_vm_heap(pipectl_vm *vm, const void *data, uint64_t n_bytes, uint64_t *at,
			    char cid[PIPECTL_CID_SIZE])
{
	pctl_status status = pipectl_begin(vm->p, NULL, "vm");
	pctl_cid name;

	cid[0] = '\0';
	*at = 0;
	if (status == PCTL_OK && data == NULL)
		status = pipectl_misused(&vm->p->call, "there are no bytes for the heap");
	if (status == PCTL_OK)
		status = pctl_machine_allot(vm->machine, data, n_bytes, &vm->p->call, at, &name);
	if (status == PCTL_OK)
		(void)pctl_cid_format(&name, cid);
	return pipectl_end(vm->p, status);
}

static pctl_status move(pipectl_vm *vm, const pctl_machine_range *r, const void *from, void *to)
{
	pctl_status status = pipectl_begin(vm->p, NULL, "vm");

	if (status == PCTL_OK && from == NULL && to == NULL && r->n_bytes != 0)
		status = pipectl_misused(&vm->p->call, "there are no bytes to move");
	else if (status == PCTL_OK && from != NULL)
		status = pctl_machine_write(vm->machine, r, from, &vm->p->call);
	else if (status == PCTL_OK && to != NULL)
		status = pctl_machine_read(vm->machine, r, to, &vm->p->call);
	return pipectl_end(vm->p, status);
}

static pctl_machine_range in_register(uint32_t instance, uint32_t number, uint32_t n_words)
{
	return (pctl_machine_range){PCTL_MACHINE_REGISTER, instance, number, 0, 0, 4ull * n_words};
}

pctl_status pipectl_vm_write_register(pipectl_vm *vm, uint32_t instance, uint32_t number,
				      const float *data, uint32_t n_words)
{
	const pctl_machine_range r = in_register(instance, number, n_words);

	return move(vm, &r, data, NULL);
}

pctl_status pipectl_vm_read_register(pipectl_vm *vm, uint32_t instance, uint32_t number,
				     float *data, uint32_t n_words)
{
	const pctl_machine_range r = in_register(instance, number, n_words);

	return move(vm, &r, NULL, data);
}

pctl_status pipectl_vm_write_globals(pipectl_vm *vm, uint64_t at, const void *data,
				     uint64_t n_bytes)
{
	const pctl_machine_range r = {PCTL_MACHINE_GLOBALS, 0, 0, 0, at, n_bytes};

	return move(vm, &r, data, NULL);
}

pctl_status pipectl_vm_read_globals(pipectl_vm *vm, uint64_t at, void *data, uint64_t n_bytes)
{
	const pctl_machine_range r = {PCTL_MACHINE_GLOBALS, 0, 0, 0, at, n_bytes};

	return move(vm, &r, NULL, data);
}

pctl_status pipectl_vm_write_control(pipectl_vm *vm, uint32_t instance, const float words[4])
{
	const pctl_machine_range r = {PCTL_MACHINE_CONTROL, instance, 0, 0, 0, 16};

	return move(vm, &r, words, NULL);
}

pctl_status pipectl_vm_read_control(pipectl_vm *vm, uint32_t instance, float words[4])
{
	const pctl_machine_range r = {PCTL_MACHINE_CONTROL, instance, 0, 0, 0, 16};

	return move(vm, &r, NULL, words);
}

pctl_status pipectl_vm_read_metrics(pipectl_vm *vm, uint32_t instance, float words[6])
{
	const pctl_machine_range r = {PCTL_MACHINE_METRICS, instance, 0, 0, 0, 24};

	return move(vm, &r, NULL, words);
}

pctl_status pipectl_vm_name(pipectl_vm *vm, uint32_t what, uint32_t instance,
			    char cid[PIPECTL_CID_SIZE])
{
	const pctl_vm_desc *d = pctl_machine_desc(vm->machine);
	pctl_machine_range r = {PCTL_MACHINE_REGISTER, instance, PCTL_VM_OUTBOX, 0, 0, 0};
	pctl_status status = pipectl_begin(vm->p, NULL, "vm");
	pctl_cid name;

	cid[0] = '\0';
	if (what == PIPECTL_VM_METRICS)
		r = (pctl_machine_range){PCTL_MACHINE_METRICS, instance, 0, 0, 0, 24};
	else if (what == PIPECTL_VM_GLOBALS)
		r = (pctl_machine_range){PCTL_MACHINE_GLOBALS, 0, 0, 0, 0, pctl_vm_globals_all(d)};
	else if (status == PCTL_OK && what != PIPECTL_VM_MESSAGE)
		status = pipectl_misused(&vm->p->call, "there is no such thing to name");
	if (status == PCTL_OK)
		status = pctl_machine_name(vm->machine, &r, &vm->p->call, &name);
	if (status == PCTL_OK)
		(void)pctl_cid_format(&name, cid);
	return pipectl_end(vm->p, status);
}

/* ---- programs ----------------------------------------------------------------------------- */

/* Tables of a program that is being made, in an arena of its own. */
struct making {
	pipectl_vm *vm;
	pctl_arena *arena;
	const pctl_call *call;
};

static void *table(struct making *k, size_t n, size_t size, pctl_status *status)
{
	void *t = pctl_arena_array(k->arena, n + 1u, size);

	if (t == NULL && *status == PCTL_OK)
		*status = pctl_no_memory(k->call, "a program");
	return t;
}

static pctl_status take_kernel(struct making *k, const pipectl_vm_step *from, pctl_vm_step *to)
{
	pctl_status status = PCTL_OK;
	pctl_override_value *values = table(k, from->n_overrides, sizeof(*values), &status);

	to->text = from->wgsl;
	to->n_text = strlen(from->wgsl);
	to->entry = from->entry;
	to->params = from->params;
	to->n_params = from->n_params;
	to->overrides = values;
	to->n_overrides = values == NULL ? 0 : from->n_overrides;
	for (uint32_t i = 0; i < to->n_overrides; i++)
		values[i] = (pctl_override_value){.name = from->overrides[i].name,
						  .text = from->overrides[i].value};
	for (uint32_t i = 0; i < 3; i++)
		to->groups[i] = or_else(from->groups[i], 1);
	if (from->heap_bytes != 0)
		to->window = (pctl_vm_place){.space = PCTL_VM_IN_HEAP,
					     .at = from->heap_at,
					     .stride = from->heap_stride,
					     .n_bytes = from->heap_bytes};
	return status;
}

static pctl_status take_port(struct making *k, const pipectl_vm_port *from, pctl_vm_place *place,
			     pctl_tensor_type *type)
{
	pctl_type_pattern pattern;
	pctl_status status =
		from->type == NULL ? pipectl_misused(k->call, "a port has no type")
				   : pctl_type_parse(from->type, k->arena, NULL, k->call, &pattern);

	if (status == PCTL_OK && (pattern.n_dtypes != 1 || !pctl_pattern_concrete(&pattern, type)))
		status = pctl_refuse(k->call, PC4020_TYPE_SYNTAX, "\"%s\" leaves its type open",
				     from->type);
	*place = (pctl_vm_place){.space = from->space,
				 .number = from->number,
				 .at = from->at,
				 .stride = from->stride};
	if (status == PCTL_OK && !pctl_type_buffer_bytes(type, &place->n_bytes))
		status = pctl_refuse(k->call, PC4133_SIZE, "a port does not fit in 64 bits");
	if (status == PCTL_OK &&
	    (from->space < PIPECTL_VM_IN_REGISTER || from->space > PIPECTL_VM_IN_GLOBALS))
		status = pipectl_misused(k->call, "a port lies in no space");
	return status;
}

static pctl_status take_attrs(struct making *k, const pipectl_vm_step *from, pctl_vm_step *to)
{
	const pctl_op_desc *op = to->op.desc;
	pctl_status status = PCTL_OK;
	pctl_attr *attr = table(k, op->n_attr, sizeof(*attr), &status);

	to->attr = attr;
	to->n_attr = attr == NULL ? 0 : op->n_attr;
	for (uint32_t i = 0; status == PCTL_OK && i < op->n_attr; i++) {
		const char *text = op->attr[i].default_text;

		for (uint32_t j = 0; j < from->n_attr; j++)
			if (strcmp(from->attr[j].name, op->attr[i].name) == 0)
				text = from->attr[j].value;
		status = text == NULL ? pctl_refuse(k->call, PC4111_ATTR_MISSING,
						    "attribute \"%s\" of op \"%s\" must be given",
						    op->attr[i].name, op->name)
				      : pctl_op_attr_read(&op->attr[i], op->name, text, NULL,
							  k->call, &attr[i]);
	}
	for (uint32_t j = 0; status == PCTL_OK && j < from->n_attr; j++) {
		uint32_t known = 0;

		for (uint32_t i = 0; i < op->n_attr; i++)
			known |= strcmp(op->attr[i].name, from->attr[j].name) == 0;
		if (!known)
			status = pctl_refuse(k->call, PC4110_ATTR_UNKNOWN,
					     "op \"%s\" has no attribute \"%s\"", op->name,
					     from->attr[j].name);
	}
	return status;
}

static pctl_status take_op(struct making *k, const pipectl_vm_step *from, pctl_vm_step *to)
{
	const pctl_op_source *ops = pctl_op_library_source(k->vm->p->host.library);
	pctl_status status = PCTL_OK;
	pctl_vm_place *places;
	pctl_tensor_type *types;
	uint32_t min, max;
	const char *name;

	if (from->n_in > PCTL_PORTS_MAX || from->n_out > PCTL_PORTS_MAX)
		return pctl_refuse(k->call, PC4137_PORTS, "a step has more than %u ports",
				   PCTL_PORTS_MAX);
	places = table(k, (size_t)from->n_in + from->n_out, sizeof(*places), &status);
	types = table(k, (size_t)from->n_in + from->n_out, sizeof(*types), &status);
	if (status != PCTL_OK)
		return status;
	if (!pctl_op_name_parse(from->op, k->arena, &name, &min, &max))
		return pctl_refuse(k->call, PC4004_OP_SYNTAX, "\"%s\" is not the name of an op",
				   from->op);
	for (uint32_t i = 0; status == PCTL_OK && i < from->n_in + from->n_out; i++)
		status = take_port(k, i < from->n_in ? &from->in[i] : &from->out[i - from->n_in],
				   &places[i], &types[i]);
	to->ports = places;
	to->types = types;
	to->n_in = from->n_in;
	to->n_out = from->n_out;
	if (status == PCTL_OK)
		status = pctl_op_find(ops, name, min, max, NULL, k->call, &to->op);
	return status == PCTL_OK ? take_attrs(k, from, to) : status;
}

static pctl_status take_step(struct making *k, const pipectl_vm_step *given, pctl_vm_step *to)
{
	pipectl_vm_step from;
	pctl_status status = PIPECTL_TAKE(k->call, &from, given);

	if (status == PCTL_OK && (from.flags & ~PIPECTL_VM_SOME) != 0)
		status = pipectl_misused(k->call, "a step has a flag that does not exist");
	if (status == PCTL_OK &&
	    ((from.n_overrides != 0 && from.overrides == NULL) ||
	     (from.n_params != 0 && from.params == NULL) || (from.n_in != 0 && from.in == NULL) ||
	     (from.n_out != 0 && from.out == NULL) || (from.n_attr != 0 && from.attr == NULL)))
		status = pipectl_misused(k->call, "a step counts what is not there");
	if (status == PCTL_OK && (from.wgsl == NULL) == (from.op == NULL))
		status = pctl_refuse(k->call, PC4406_VM_STEP, "a step runs %s",
				     from.op == NULL ? "nothing" : "two things");
	if (status != PCTL_OK)
		return status;
	to->name = from.name != NULL ? from.name : from.op != NULL ? from.op : "a kernel";
	to->last = pctl_machine_desc(k->vm->machine)->instances - 1u;
	if (from.flags & PIPECTL_VM_SOME) {
		to->first = from.first;
		to->last = from.last;
	}
	return from.wgsl != NULL ? take_kernel(k, &from, to) : take_op(k, &from, to);
}

static pctl_status make_program(struct making *k, const pipectl_vm_program_options *o,
				pctl_machine_program **out)
{
	const uint32_t known = PIPECTL_VM_ACT | PIPECTL_VM_SKIPPING | PIPECTL_VM_CLOCK;
	pctl_vm_desc d = {.acts = (o->flags & PIPECTL_VM_ACT) != 0,
			  .skipping = (o->flags & PIPECTL_VM_SKIPPING) != 0,
			  .advance = o->advance,
			  .epsilon = bits_of(o->epsilon),
			  .n_steps = o->n_steps};
	pctl_status status = PCTL_OK;

	if (o->flags & ~known)
		return pipectl_misused(k->call, "options has a flag that does not exist");
	if (o->n_steps != 0 && o->steps == NULL)
		return pipectl_misused(k->call, "steps are counted, and there are none");
	d.steps = table(k, o->n_steps, sizeof(*d.steps), &status);
	for (uint32_t i = 0; status == PCTL_OK && i < o->n_steps; i++)
		status = take_step(k, o->steps[i], &d.steps[i]);
	return status == PCTL_OK
		       ? pctl_machine_program_make(k->vm->machine, &d,
						   (o->flags & PIPECTL_VM_CLOCK) != 0, k->call, out)
		       : status;
}

pctl_status pipectl_vm_program_make(pipectl_vm *vm, const pipectl_vm_program_options *options,
				    pipectl_vm_program **out)
{
	struct making k = {vm, NULL, &vm->p->call};
	pipectl_vm_program *program = NULL;
	pipectl_vm_program_options o;
	pctl_status status = pipectl_begin(vm->p, NULL, "vm");

	*out = NULL;
	if (status == PCTL_OK)
		status = PIPECTL_TAKE(k.call, &o, options);
	if (status == PCTL_OK) {
		k.arena = pctl_arena_create();
		program = calloc(1, sizeof(*program));
		if (k.arena == NULL || program == NULL)
			status = pctl_no_memory(k.call, "a program");
	}
	if (status == PCTL_OK) {
		program->vm = vm;
		status = make_program(&k, &o, &program->program);
	}
	pctl_arena_destroy(k.arena);
	if (status == PCTL_OK)
		*out = program;
	else
		free(program);
	return pipectl_end(vm->p, status);
}

void pipectl_vm_program_release(pipectl_vm_program *program)
{
	if (program == NULL)
		return;
	pctl_machine_program_drop(program->program);
	free(program);
}

pctl_status pipectl_vm_execute(pipectl_vm_program *program, uint32_t times)
{
	pipectl *p = program->vm->p;
	pctl_status status = pipectl_begin(p, NULL, "vm");

	if (status == PCTL_OK)
		status = pctl_machine_execute(program->program, times, p->host.policy->time_ms,
					      &p->call);
	return pipectl_end(p, status);
}

pctl_status pipectl_vm_program_stats(pipectl_vm_program *program, pipectl_vm_stats *out)
{
	const pctl_kept_plan_stats *s = pctl_machine_stats(program->program);
	const pipectl_vm_stats stats = {PCTL_HEAD(pipectl_vm_stats),
					s->submits,
					s->rounds,
					s->dispatches,
					s->barriers,
					s->device_ns,
					s->host_ns};
	pipectl *p = program->vm->p;
	pctl_status status = pipectl_begin(p, NULL, "vm");

	return status == PCTL_OK ? pipectl_end(p, PIPECTL_GIVE(&p->call, out, &stats)) : status;
}

pctl_status pipectl_vm_advise(pipectl_vm_program *program, pipectl_vm_advice *out)
{
	pctl_machine_advice *a = &program->advice;
	pipectl_vm_advice advice = {.head = PCTL_HEAD(pipectl_vm_advice)};
	pipectl *p = program->vm->p;
	pctl_status status = pipectl_begin(p, NULL, "vm");

	if (status == PCTL_OK)
		status = pctl_machine_advise(program->vm->machine, program->program, &p->call, a);
	advice.used_bytes = a->used_bytes;
	advice.budget_bytes = a->budget_bytes;
	advice.pressed = a->pressed;
	advice.evict = a->evict;
	advice.prefetch = a->prefetch;
	advice.slow = a->slow;
	advice.ticks = a->ticks;
	advice.n_ticks = a->n_ticks;
	if (status == PCTL_OK)
		status = PIPECTL_GIVE(&p->call, out, &advice);
	return pipectl_end(p, status);
}
