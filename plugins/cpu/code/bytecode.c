/* Making prepared code: the order of the steps, registers, constants and the layout of types over
 * lanes. What single instructions become is in the other bytecode_*.c files. */
#include "code/bytecode.h"

#include <stdlib.h>
#include <string.h>

#define LANES_WANTED 256u /* lanes of a batch when workgroups may share one */
#define GROUPS_SHARED 64u
#define BATCH_UNITS_MAX (0x20000000u) /* 4 GiB of registers and lane memory for one thread */
#define PARTS_MAX (1u << 24)

void pctl_cpu_bytecode_limit(pctl_cpu_bytecode *f, const char *what)
{
	if (f->status == PCTL_OK)
		f->status =
			pctl_refuse(f->call, PC3211_KERNEL_LIMIT,
				    "the program needs more than the interpreter has: %s", what);
}

int pctl_cpu_grow(pctl_cpu_bytecode *f, void *list, size_t element_bytes)
{
	PCTL_CPU_LIST(void) *l = list;
	uint32_t cap;
	void *at;

	if (f->status != PCTL_OK)
		return 0;
	if (l->n < l->cap)
		return 1;
	if (l->cap >= 1u << 28) {
		pctl_cpu_bytecode_limit(f, "instructions");
		return 0;
	}
	cap = l->cap ? l->cap * 2 : 64;
	at = realloc(l->at, cap * element_bytes);
	if (!at) {
		f->status = pctl_no_memory(f->call, "the prepared program");
		return 0;
	}
	l->at = at;
	l->cap = cap;
	return 1;
}

uint32_t pctl_cpu_bytecode_reg(pctl_cpu_bytecode *f, uint8_t kind, uint8_t wide)
{
	const pctl_cpu_reg r = {.kind = kind, .wide = wide, .def = PCTL_CPU_NONE};

	PCTL_CPU_PUSH(f, regs, r);
	return f->status == PCTL_OK ? f->regs.n - 1 : 0;
}

uint32_t pctl_cpu_bytecode_fixed(pctl_cpu_bytecode *f, uint64_t n_words)
{
	const uint32_t reg = pctl_cpu_bytecode_reg(f, PCTL_CPU_REG_FIXED, 0);

	/* More columns than this could not be placed, nor their size be kept in 32 bits. */
	if (n_words > BATCH_UNITS_MAX / (f->code->lanes / 2 + 1)) {
		pctl_cpu_bytecode_limit(f, "function and private variables");
		return 0;
	}
	f->regs.at[reg].n_words = (uint32_t)n_words;
	return reg;
}

uint32_t pctl_cpu_bytecode_column(pctl_cpu_bytecode *f, uint32_t fixed, uint64_t word, uint8_t wide)
{
	const uint32_t reg = pctl_cpu_bytecode_reg(f, PCTL_CPU_REG_ALIAS, wide);

	if (reg) {
		f->regs.at[reg].base = fixed;
		f->regs.at[reg].word = (uint32_t)word;
	}
	return reg;
}

static uint32_t const_hash(uint64_t bits, uint8_t wide)
{
	return (uint32_t)(((bits ^ ((uint64_t)wide << 40)) * 0x9e3779b97f4a7c15ull) >> 32);
}

static void const_rehash(pctl_cpu_bytecode *f)
{
	const uint32_t cap = f->const_cap ? f->const_cap * 2 : 256;
	uint32_t *table = calloc(cap, sizeof(*table));

	if (!table) {
		f->status = pctl_no_memory(f->call, "constants");
		return;
	}
	for (uint32_t i = 0; i < f->const_cap; i++) {
		const uint32_t reg = f->const_table[i];
		uint32_t at;

		if (!reg)
			continue;
		at = const_hash(f->regs.at[reg].bits, f->regs.at[reg].wide) & (cap - 1);
		while (table[at])
			at = (at + 1) & (cap - 1);
		table[at] = reg;
	}
	free(f->const_table);
	f->const_table = table;
	f->const_cap = cap;
}

uint32_t pctl_cpu_bytecode_const(pctl_cpu_bytecode *f, uint64_t bits, uint8_t wide)
{
	uint32_t at, reg;

	if (f->n_consts * 2 >= f->const_cap)
		const_rehash(f);
	if (f->status != PCTL_OK)
		return 0;
	if (!wide)
		bits &= 0xffffffffu;
	at = const_hash(bits, wide) & (f->const_cap - 1);
	for (; (reg = f->const_table[at]) != 0; at = (at + 1) & (f->const_cap - 1))
		if (f->regs.at[reg].bits == bits && f->regs.at[reg].wide == wide)
			return reg;
	reg = pctl_cpu_bytecode_reg(f, PCTL_CPU_REG_UNIFORM, wide);
	if (!reg)
		return 0;
	f->regs.at[reg].is_const = 1;
	f->regs.at[reg].bits = bits;
	f->const_table[at] = reg;
	f->n_consts++;
	return reg;
}

uint32_t pctl_cpu_bytecode_special(pctl_cpu_bytecode *f, uint32_t which)
{
	const int uniform = (which >= PCTL_CPU_REG_N_GROUPS && which < PCTL_CPU_REG_LOCAL_INDEX) ||
			    (which >= PCTL_CPU_REG_GROUP_ID && which < PCTL_CPU_REG_N_GROUPS &&
			     f->code->groups_per_batch == 1);

	if (!f->special[which])
		f->special[which] = uniform ? pctl_cpu_bytecode_reg(f, PCTL_CPU_REG_UNIFORM, 0)
					    : pctl_cpu_bytecode_fixed(f, 1);
	return f->special[which];
}

static uint64_t saturate(uint64_t a, uint64_t b)
{
	uint64_t r;

	return __builtin_mul_overflow(a, b, &r) || r > UINT32_MAX ? (uint64_t)UINT32_MAX + 1 : r;
}

/* Scalars and 4-byte words of a value of each type; types refer only to types before them. */
static void measure_types(pctl_cpu_bytecode *f)
{
	const pctl_program *p = f->p;

	for (uint32_t t = 0; t < p->n_types; t++) {
		const pctl_type *ty = &p->types[t];
		const uint64_t unit = pctl_cpu_scalar_wide(ty->scalar) ? 2 : 1;
		uint64_t n = 0, words = 0,
			 bytes = pctl_cpu_mem_bytes(pctl_cpu_scalar_mem(ty->scalar));

		switch (ty->kind) {
		case PCTL_TYPE_SCALAR:
		case PCTL_TYPE_ATOMIC:
			n = 1;
			break;
		case PCTL_TYPE_VECTOR:
			n = ty->width;
			break;
		case PCTL_TYPE_MATRIX:
			n = (uint64_t)ty->width * ty->columns;
			break;
		case PCTL_TYPE_TILE: /* a component a register */
			n = (uint64_t)ty->width * ty->columns / PCTL_TILE_LANES;
			break;
		case PCTL_TYPE_ARRAY:
			n = saturate(f->type_leaves[ty->elem], ty->count);
			words = saturate(f->type_words[ty->elem], ty->count);
			bytes = saturate(f->type_bytes[ty->elem], ty->count);
			break;
		case PCTL_TYPE_STRUCT:
			bytes = 0;
			for (uint32_t i = 0; i < ty->count; i++) {
				const uint32_t m = p->members[ty->first_member + i].type;
				bytes = saturate(bytes + f->type_bytes[m], 1);
				n = saturate(n + f->type_leaves[m], 1);
				words = saturate(words + f->type_words[m], 1);
			}
			break;
		default:
			bytes = 0;
			break;
		}
		if (ty->kind != PCTL_TYPE_ARRAY && ty->kind != PCTL_TYPE_STRUCT) {
			words = n * unit;
			bytes *= n;
		}
		f->type_leaves[t] = n;
		f->type_words[t] = words;
		f->type_bytes[t] = bytes;
	}
}

uint32_t pctl_cpu_bytecode_part(const pctl_cpu_bytecode *f, uint32_t type, uint32_t i)
{
	const pctl_type *ty = &f->p->types[type];
	uint64_t n = 0;

	switch (ty->kind) {
	case PCTL_TYPE_STRUCT:
		for (uint32_t k = 0; k < i; k++)
			n += f->type_leaves[f->p->members[ty->first_member + k].type];
		return (uint32_t)n;
	case PCTL_TYPE_ARRAY:
		return (uint32_t)(f->type_leaves[ty->elem] * i);
	case PCTL_TYPE_MATRIX:
		return i * ty->width;
	default:
		return i;
	}
}

uint32_t *pctl_cpu_value_new(pctl_cpu_bytecode *f, uint32_t value, uint32_t type)
{
	const uint64_t n = f->type_leaves[type];
	const uint32_t first = f->parts.n;

	if (n > PARTS_MAX || first + n > PARTS_MAX) {
		pctl_cpu_bytecode_limit(f, "parts of composite values");
		return NULL;
	}
	for (uint64_t i = 0; i < n; i++)
		PCTL_CPU_PUSH(f, parts, 0);
	if (f->status != PCTL_OK)
		return NULL;
	f->value_first[value] = first;
	return f->parts.at + first;
}

uint32_t *pctl_cpu_value(pctl_cpu_bytecode *f, uint32_t value)
{
	return f->parts.at + f->value_first[value];
}

static void describe_slots(pctl_cpu_bytecode *f)
{
	const pctl_program *p = f->p;

	for (uint32_t i = 0; i < f->code->n_slots; i++) {
		const pctl_var *v = &p->vars[i];
		pctl_cpu_slot *s = &f->code->slots[i];
		const pctl_type *ty = &p->types[v->type];
		uint32_t runtime = 0;

		s->group = v->group;
		s->binding = v->binding;
		s->is_storage = v->space == PCTL_SPACE_STORAGE;
		s->writable = s->is_storage && (v->access & PCTL_ACCESS_WRITE) != 0;
		s->fixed_bytes = ty->size;
		if (ty->kind == PCTL_TYPE_RUNTIME_ARRAY) {
			runtime = v->type;
		} else if (ty->kind == PCTL_TYPE_STRUCT && ty->count) {
			const pctl_member *m = &p->members[ty->first_member + ty->count - 1];

			if (p->types[m->type].kind == PCTL_TYPE_RUNTIME_ARRAY) {
				runtime = m->type;
				s->runtime_offset = m->offset;
			}
		}
		if (runtime) {
			s->runtime_stride = p->types[runtime].stride;
			s->fixed_bytes = s->runtime_offset;
		}
	}
}

static void place_variables(pctl_cpu_bytecode *f)
{
	const pctl_program *p = f->p;
	uint64_t words = 0, bytes = 0;

	for (uint32_t i = 0; i < p->n_vars; i++) {
		const pctl_var *v = &p->vars[i];

		if (v->space == PCTL_SPACE_PRIVATE) {
			f->var_place[i] = words;
			words = saturate(words + f->type_words[v->type], 1);
		} else if (v->space == PCTL_SPACE_WORKGROUP) {
			bytes = (bytes + 15) & ~(uint64_t)15;
			f->var_place[i] = bytes;
			bytes += p->types[v->type].size;
		}
	}
	if (words)
		f->private_reg = pctl_cpu_bytecode_fixed(f, words);
	f->code->workgroup_stride = (uint32_t)((bytes + 63) & ~(uint64_t)63);
}

static void shape_batch(pctl_cpu_bytecode *f)
{
	const pctl_entry *e = &f->p->entries[0];
	pctl_cpu_code *c = f->code;
	uint32_t groups = 1;

	c->invocations = 1;
	for (int i = 0; i < 3; i++) {
		c->local_size[i] = e->workgroup_size[i];
		c->invocations *= e->workgroup_size[i];
	}
	if (!(c->flags & PCTL_BUILD_SANITIZE))
		groups = LANES_WANTED / c->invocations;
	if (groups > GROUPS_SHARED && c->workgroup_stride)
		groups = GROUPS_SHARED;
	c->groups_per_batch = groups ? groups : 1;
	c->lanes = (c->groups_per_batch * c->invocations + 15) & ~15u;
}

static int allocate(pctl_cpu_bytecode *f)
{
	const pctl_program *p = f->p;
	pctl_cpu_code *c = f->code;

	for (uint32_t i = 0; i < p->n_vars; i++)
		c->n_slots += p->vars[i].space >= PCTL_SPACE_UNIFORM;
	c->n_functions = p->n_functions;
	f->type_leaves = calloc(p->n_types + 1u, sizeof(*f->type_leaves));
	f->type_words = calloc(p->n_types + 1u, sizeof(*f->type_words));
	f->type_bytes = calloc(p->n_types + 1u, sizeof(*f->type_bytes));
	f->local_reg = calloc(p->n_locals + 1u, sizeof(*f->local_reg));
	f->var_place = calloc(p->n_vars + 1u, sizeof(*f->var_place));
	f->param_first = calloc(p->n_functions + 1u, sizeof(*f->param_first));
	f->return_first = calloc(p->n_functions + 1u, sizeof(*f->return_first));
	c->slots = calloc(c->n_slots + 1u, sizeof(*c->slots));
	c->function_start = calloc(p->n_functions + 1u, sizeof(*c->function_start));
	c->function_mask = calloc(p->n_functions + 1u, sizeof(*c->function_mask));
	return f->type_leaves && f->type_words && f->type_bytes && f->local_reg && f->var_place &&
	       f->param_first && f->return_first && c->slots && c->function_start &&
	       c->function_mask;
}

static void collect_consts(pctl_cpu_bytecode *f)
{
	pctl_cpu_code *c = f->code;

	c->consts = calloc(2ull * f->n_consts + 1, sizeof(*c->consts));
	if (!c->consts) {
		f->status = pctl_no_memory(f->call, "constants");
		return;
	}
	for (uint32_t i = 1; i < f->regs.n; i++) {
		const pctl_cpu_reg *r = &f->regs.at[i];

		if (!r->is_const)
			continue;
		c->consts[c->n_consts++] = (pctl_cpu_const){r->bits, r->off, r->wide, 1, 0};
		if (r->splat)
			c->consts[c->n_consts++] =
				(pctl_cpu_const){r->bits, f->regs.at[r->splat].off, r->wide, 0, 0};
	}
}

static void hand_over(pctl_cpu_bytecode *f)
{
	pctl_cpu_code *c = f->code;

#define MOVE(list) (c->list = f->list.at, c->n_##list = f->list.n, f->list.at = NULL, f->list.n = 0)
	c->n_ins = f->ins.n;
	MOVE(ins);
	MOVE(mems);
	MOVE(steps);
	MOVE(leaves);
	MOVE(switches);
	MOVE(tiles);
	MOVE(cases);
	MOVE(costs);
	MOVE(blocks);
#undef MOVE
	for (uint32_t i = 0; i < PCTL_CPU_N_SPECIAL; i++)
		c->special[i] = f->special[i] ? f->regs.at[f->special[i]].off : 0;
	for (uint32_t i = 0; i < c->n_functions; i++)
		c->function_mask[i] = f->regs.at[c->function_mask[i]].off;
	if (f->private_reg) {
		c->private_reg = f->regs.at[f->private_reg].off;
		c->private_units = f->regs.at[f->private_reg].n_words * (c->lanes / 2);
	}
	c->register_bytes = f->next_unit * 8;
}

static void bytecode_free(pctl_cpu_bytecode *f)
{
	free(f->ins.at);
	free(f->mems.at);
	free(f->steps.at);
	free(f->leaves.at);
	free(f->switches.at);
	free(f->tiles.at);
	free(f->cases.at);
	free(f->costs.at);
	free(f->blocks.at);
	free(f->regs.at);
	free(f->parts.at);
	free(f->edges.at);
	free(f->regions.at);
	free(f->masks.at);
	free(f->type_leaves);
	free(f->type_words);
	free(f->type_bytes);
	free(f->const_table);
	free(f->local_reg);
	free(f->var_place);
	free(f->param_first);
	free(f->return_first);
}

pctl_status pctl_cpu_code_create(const pctl_program *p, const pctl_cpu_kernels *k, uint32_t flags,
				 const pctl_call *call, pctl_cpu_code **out)
{
	/* The first units stand for register 0, which is never read or written. */
	pctl_cpu_bytecode f = {
		.p = p, .k = k, .call = call, .block = PCTL_CPU_NONE, .next_unit = 8};

	*out = NULL;
	f.code = calloc(1, sizeof(*f.code));
	if (!f.code || !allocate(&f)) {
		f.status = pctl_no_memory(call, "the prepared program");
		goto done;
	}
	f.code->flags = flags;
	f.code->words = p->words;
	f.code->watch_shift = 2;
	for (uint32_t i = 0; i < p->n_types; i++)
		if (pctl_cpu_scalar_mem(p->types[i].scalar) == PCTL_CPU_MEM_2)
			f.code->watch_shift = 1;
	f.code->entry_function = p->entries[0].function;
	pctl_cpu_bytecode_reg(&f, PCTL_CPU_REG_UNIFORM, 1);
	measure_types(&f);
	describe_slots(&f);
	place_variables(&f);
	shape_batch(&f);
	for (uint32_t i = 1; i < p->n_functions && f.status == PCTL_OK; i++)
		pctl_cpu_bytecode_function(&f, i);
	if (f.status != PCTL_OK)
		goto done;
	pctl_cpu_bytecode_assign_fixed(&f);
	if (f.next_unit > BATCH_UNITS_MAX)
		pctl_cpu_bytecode_limit(&f, "registers and variables of one batch of lanes");
	if (f.status != PCTL_OK)
		goto done;
	pctl_cpu_bytecode_rewrite(&f);
	collect_consts(&f);
	if (f.status == PCTL_OK)
		hand_over(&f);
done:
	bytecode_free(&f);
	if (f.status != PCTL_OK)
		pctl_cpu_code_destroy(f.code);
	else
		*out = f.code;
	return f.status;
}

void pctl_cpu_code_destroy(pctl_cpu_code *c)
{
	if (!c)
		return;
	free(c->ins);
	free(c->mems);
	free(c->steps);
	free(c->leaves);
	free(c->switches);
	free(c->tiles);
	free(c->cases);
	free(c->consts);
	free(c->costs);
	free(c->blocks);
	free(c->slots);
	free(c->function_start);
	free(c->function_mask);
	free(c);
}
