/* What holds of a machine before anything is compiled: its shape, where its parts lie, which bytes its steps name. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/diag/diag.h"
#include "runtime/graph/vm.h"

#define PARAMS_MAX 56u /* with the arguments 256 bytes, the smallest stride of uniform blocks */

struct checker {
	const pctl_vm_desc *d;
	const pctl_call *call;
	pctl_status first;
};

static void keep(struct checker *c, pctl_status status)
{
	if (c->first == PCTL_OK)
		c->first = status;
}

static uint64_t aligned(uint64_t n)
{
	return pctl_num_align(n, PCTL_PLAN_ALIGN);
}

uint64_t pctl_vm_throughput_at(const pctl_vm_desc *d)
{
	return 4u * PCTL_VM_HEAD + 16ull * d->instances;
}

uint64_t pctl_vm_head_bytes(const pctl_vm_desc *d)
{
	return pctl_vm_throughput_at(d) + 4ull * d->instances;
}

uint64_t pctl_vm_kv_stride(const pctl_vm_desc *d)
{
	return aligned(d->kv_bytes);
}

uint64_t pctl_vm_kv_at(const pctl_vm_desc *d, uint32_t i)
{
	return aligned(pctl_vm_head_bytes(d)) + i * pctl_vm_kv_stride(d);
}

uint64_t pctl_vm_globals_at(const pctl_vm_desc *d)
{
	return pctl_vm_kv_at(d, d->instances);
}

uint64_t pctl_vm_globals_all(const pctl_vm_desc *d)
{
	return pctl_vm_globals_at(d) + d->globals_bytes;
}

uint64_t pctl_vm_registers_bytes(const pctl_vm_desc *d)
{
	return 4ull * PCTL_VM_REGISTERS * d->width;
}

/* ---- shape --------------------------------------------------------------------------------- */

static void between(struct checker *c, const char *what, uint64_t value, uint64_t least,
		    uint64_t most)
{
	if (value < least || value > most)
		keep(c, pctl_refuse_at(c->call, PC4402_VM_SHAPE, &c->d->pos, NULL,
				       "machine \"%s\" has %s %" PRIu64 ", from %" PRIu64
				       " to %" PRIu64 " there can be",
				       c->d->name, what, value, least, most));
}

static void check_shape(struct checker *c)
{
	const pctl_vm_desc *d = c->d;

	between(c, "instances", d->instances, 1, PCTL_VM_INSTANCES_MAX);
	between(c, "width", d->width, 64, PCTL_VM_WIDTH_MAX);
	between(c, "turns", d->turns, 1, PCTL_VM_TURNS_MAX);
	between(c, "kv_bytes", d->kv_bytes, 0, PCTL_VM_HEAP_BYTES / PCTL_VM_INSTANCES_MAX);
	between(c, "globals_bytes", d->globals_bytes, 0, PCTL_VM_HEAP_BYTES);
	if (d->globals_bytes % 4u != 0)
		keep(c, pctl_refuse_at(c->call, PC4402_VM_SHAPE, &d->pos, NULL,
				       "machine \"%s\" has globals_bytes %" PRIu64
				       ", which is no multiple of 4",
				       d->name, d->globals_bytes));
	if (d->width % 64u != 0)
		keep(c, pctl_refuse_at(c->call, PC4402_VM_SHAPE, &d->pos, NULL,
				       "machine \"%s\" has width %" PRIu32
				       ", which is no multiple of 64",
				       d->name, d->width));
	if (d->n_embd == 0 || (uint64_t)d->n_embd + PCTL_VM_TELEMETRY > d->width)
		keep(c, pctl_refuse_at(c->call, PC4401_VM_MESSAGE, &d->pos,
				       "a message is n_embd words and 4 of telemetry",
				       "machine \"%s\" sends %" PRIu32
				       " + 4 words in a register of %" PRIu32,
				       d->name, d->n_embd, d->width));
}

/* ---- parts --------------------------------------------------------------------------------- */

pctl_status pctl_vm_allot(const pctl_vm_desc *d, const pctl_vm_part *last, pctl_vm_part *part,
			  const pctl_call *call)
{
	const uint64_t end = d->heap_bytes == 0 ? PCTL_VM_HEAP_BYTES : d->heap_bytes;

	part->at = last == NULL ? 0 : aligned(last->at + last->n_bytes);
	if (part->n_bytes == 0 || part->n_bytes % 4 != 0)
		return pctl_refuse_at(call, PC4403_VM_HEAP, &part->pos, NULL,
				      "%s of machine \"%s\" has %" PRIu64
				      " bytes: a part has words, at least one",
				      part->name, d->name, part->n_bytes);
	if (part->at > end || part->n_bytes > end - part->at)
		return pctl_refuse_at(call, PC4403_VM_HEAP, &part->pos, NULL,
				      "%s of machine \"%s\": %" PRIu64 " bytes from %" PRIu64
				      " on, the heap ends at %" PRIu64,
				      part->name, d->name, part->n_bytes, part->at, end);
	return PCTL_OK;
}

/* Ports and places are found by name: a part has one of its own. */
static void check_name(struct checker *c, const pctl_vm_part *part)
{
	static const char *const taken[] = {"kv", "globals", "control", "metrics"};
	const pctl_vm_desc *d = c->d;
	const size_t digits = strspn(part->name + (part->name[0] != '\0'), "0123456789_");
	uint32_t bad =
		(part->name[0] == 'r' && part->name[1] != '\0' && part->name[1 + digits] == '\0') ||
		strncmp(part->name, "kv_", 3) == 0;
	uint32_t same = 0;

	for (uint32_t i = 0; i < 4; i++)
		bad |= strcmp(part->name, taken[i]) == 0;
	for (uint32_t i = 0; i < d->n_heap + d->n_globals; i++) {
		const pctl_vm_part *other =
			i < d->n_heap ? &d->heap[i] : &d->globals[i - d->n_heap];

		same += strcmp(other->name, part->name) == 0;
	}
	if (bad || same != 1)
		keep(c, pctl_refuse_at(c->call, PC4405_VM_PLACE, &part->pos, NULL,
				       "machine \"%s\" has a place \"%s\" without this part",
				       d->name, part->name));
}

static void lay_out(struct checker *c, pctl_vm_desc *d)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < d->n_heap; i++)
		check_name(c, &d->heap[i]);
	for (uint32_t i = 0; i < d->n_globals; i++)
		check_name(c, &d->globals[i]);
	for (uint32_t i = 0; i < d->n_heap; i++)
		keep(c, pctl_vm_allot(d, i == 0 ? NULL : &d->heap[i - 1], &d->heap[i], c->call));
	for (uint32_t i = 0; i < d->n_globals; i++) {
		pctl_vm_part *part = &d->globals[i];

		part->at = pctl_vm_globals_at(d) + at;
		if (part->n_bytes == 0 || part->n_bytes % 4 != 0 ||
		    part->n_bytes > PCTL_VM_HEAP_BYTES - at) {
			keep(c, pctl_refuse_at(c->call, PC4405_VM_PLACE, &part->pos, NULL,
					       "%s of the globals has %" PRIu64
					       " bytes: a part has words, at least one",
					       part->name, part->n_bytes));
			return;
		}
		at = aligned(at + part->n_bytes);
	}
	if (d->n_globals != 0)
		d->globals_bytes = at;
}

/* ---- steps --------------------------------------------------------------------------------- */

static int within_heap(const pctl_vm_desc *d, uint64_t at, uint64_t n)
{
	for (uint32_t i = 0; i < d->n_heap; i++)
		if (at >= d->heap[i].at && at - d->heap[i].at <= d->heap[i].n_bytes &&
		    n <= d->heap[i].n_bytes - (at - d->heap[i].at))
			return 1;
	return 0;
}

/* What a place spans in every instance of a step lies where it can. */
static int is_there(const pctl_vm_desc *d, const pctl_vm_step *s, const pctl_vm_place *p)
{
	const uint64_t most = PCTL_VM_HEAP_BYTES;
	uint64_t all;

	if (p->at > most || p->n_bytes > most || p->stride > most / PCTL_VM_INSTANCES_MAX)
		return 0;
	if (p->space == PCTL_VM_IN_REGISTER)
		return p->number < PCTL_VM_REGISTERS && p->stride == 0 &&
		       p->at + p->n_bytes <= 4ull * d->width;
	all = pctl_vm_globals_all(d);
	for (uint32_t i = s->first; i <= s->last; i++) {
		const uint64_t at = p->at + i * p->stride;

		if (p->space == PCTL_VM_IN_HEAP ? !within_heap(d, at, p->n_bytes)
						: at > all || p->n_bytes > all - at)
			return 0;
	}
	return 1;
}

static int is_aligned(const pctl_vm_place *p)
{
	return p->at % PCTL_PLAN_ALIGN == 0 && p->stride % PCTL_PLAN_ALIGN == 0;
}

static void check_window(struct checker *c, const pctl_vm_step *s)
{
	const pctl_vm_place *w = &s->window;

	if (w->space == 0)
		return;
	if (w->n_bytes == 0 || w->n_bytes % 4 != 0 || !is_aligned(w) || !is_there(c->d, s, w))
		keep(c, pctl_refuse_at(c->call, PC4404_VM_WINDOW, &w->pos,
				       "a window begins at a multiple of 256 and lies in one part "
				       "of the heap, in every instance",
				       "step %s: the window of %" PRIu64 " bytes from %" PRIu64
				       " on, and %" PRIu64 " more an instance, is none",
				       s->name, w->n_bytes, w->at, w->stride));
}

static void check_port(struct checker *c, const pctl_vm_step *s, uint32_t i)
{
	const pctl_vm_place *p = &s->ports[i];
	uint64_t n = 0;
	const int fits = pctl_type_buffer_bytes(&s->types[i], &n);

	if (!fits || n > p->n_bytes || !is_aligned(p) || !is_there(c->d, s, p))
		keep(c, pctl_refuse_at(c->call, PC4405_VM_PLACE, &p->pos,
				       "a port begins at a multiple of 256, and its type fits",
				       "step %s: %s %" PRIu32 " of %" PRIu64
				       " bytes does not lie where it is said to",
				       s->name, i < s->n_in ? "input" : "output",
				       i < s->n_in ? i : i - s->n_in, n));
	else if (i >= s->n_in && p->space == PCTL_VM_IN_HEAP)
		keep(c,
		     pctl_refuse_at(c->call, PC4405_VM_PLACE, &p->pos, NULL,
				    "step %s: an output in the heap, which is only read", s->name));
}

static void check_step(struct checker *c, const pctl_vm_step *s)
{
	const int is_op = s->op.desc != NULL;

	if (is_op == (s->text != NULL))
		keep(c, pctl_refuse_at(c->call, PC4406_VM_STEP, &s->pos,
				       "give either `kernel` or `op`", "step %s runs %s", s->name,
				       is_op ? "two things" : "nothing"));
	if (s->first > s->last || s->last >= c->d->instances) {
		keep(c, pctl_refuse_at(c->call, PC4406_VM_STEP, &s->pos, NULL,
				       "step %s is for the instances %" PRIu32 " to %" PRIu32
				       ", the machine has %" PRIu32,
				       s->name, s->first, s->last, c->d->instances));
		return;
	}
	if (s->n_params > PARAMS_MAX)
		keep(c, pctl_refuse_at(c->call, PC4406_VM_STEP, &s->pos, NULL,
				       "step %s has %" PRIu32 " parameters, %u are the most",
				       s->name, s->n_params, PARAMS_MAX));
	if (is_op && (!pctl_op_takes(s->op.desc, s->n_in) || s->n_out != s->op.desc->n_out)) {
		keep(c, pctl_refuse_at(c->call, PC4406_VM_STEP, &s->pos, NULL,
				       "step %s: op %s does not take %" PRIu32
				       " inputs for %" PRIu32 " outputs",
				       s->name, s->op.desc->name, s->n_in, s->n_out));
		return;
	}
	check_window(c, s);
	for (uint32_t i = 0; is_op && i < s->n_in + s->n_out; i++)
		check_port(c, s, i);
}

pctl_status pctl_vm_lay_out(pctl_vm_desc *d, const pctl_call *call)
{
	struct checker c = {d, call, PCTL_OK};

	check_shape(&c);
	if (c.first == PCTL_OK)
		lay_out(&c, d);
	return c.first;
}

pctl_status pctl_vm_check(const pctl_vm_desc *d, const pctl_call *call)
{
	struct checker c = {d, call, PCTL_OK};

	if (d->n_steps == 0)
		keep(&c, pctl_refuse_at(call, PC4406_VM_STEP, &d->pos, NULL,
					"the program of machine \"%s\" has no steps", d->name));
	for (uint32_t i = 0; i < d->n_steps; i++)
		check_step(&c, &d->steps[i]);
	return c.first;
}

pctl_status pctl_vm_boot_words(const pctl_vm_desc *d, const pctl_call *call, uint32_t **control,
			       uint32_t **head)
{
	const uint32_t one = 0x3f800000u;

	*control = calloc((size_t)d->instances * PCTL_VM_CONTROL, sizeof(uint32_t));
	*head = calloc(pctl_vm_head_bytes(d) / 4u, sizeof(uint32_t));
	if (*control == NULL || *head == NULL) {
		free(*control);
		free(*head);
		*control = *head = NULL;
		return pctl_no_memory(call, "a machine");
	}
	for (uint32_t i = 0; i < d->instances; i++) {
		(*control)[PCTL_VM_CONTROL * i] = one;	    /* scale_factor */
		(*control)[PCTL_VM_CONTROL * i + 3u] = one; /* active */
		(*head)[PCTL_VM_HEAD + 4u * i] = d->target;
	}
	return PCTL_OK;
}
