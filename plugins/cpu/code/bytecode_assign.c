/* Making prepared code: where registers lie in a batch's memory. Temporaries of a function share
 * columns by a linear scan over their lifetimes; everything else has a place of its own. */
#include "code/bytecode.h"

#include <stdlib.h>
#include <string.h>

/* Call visit for each register that an instruction reads or writes; visit may change it. */
static void each_register(pctl_cpu_bytecode *f, pctl_cpu_ins *in, void *ctx,
			  void (*visit)(pctl_cpu_bytecode *f, uint32_t *reg, void *ctx))
{
	visit(f, &in->d, ctx);
	visit(f, &in->a, ctx);
	visit(f, &in->b, ctx);
	visit(f, &in->c, ctx);
	visit(f, &in->e, ctx);
	if (in->kind == PCTL_CPU_LOAD || in->kind == PCTL_CPU_STORE ||
	    in->kind == PCTL_CPU_ATOMIC) {
		const pctl_cpu_mem *m = &f->mems.at[in->extra];

		for (uint32_t i = 0; i < m->n_steps; i++)
			visit(f, &f->steps.at[m->first_step + i].index, ctx);
		for (uint32_t i = 0; i < m->n_leaves; i++)
			visit(f, &f->leaves.at[m->first_leaf + i].reg, ctx);
	} else if (in->kind == PCTL_CPU_TILE) {
		const pctl_cpu_tile *t = &f->tiles.at[in->extra];

		for (uint32_t i = 0; i < t->n_leaves; i++)
			visit(f, &f->leaves.at[t->first_leaf + i].reg, ctx);
	}
}

typedef struct scan {
	uint32_t at; /* the instruction, relative to the function */
	uint32_t n;
	uint32_t *loop_end; /* by loop number */
	uint32_t *loop_start;
	uint32_t *loop_outer;
	uint32_t loop;		       /* innermost, or NONE */
	uint32_t *defs, *ends;	       /* heads of lists by instruction */
	uint32_t *next_def, *next_end; /* by register, relative to first_reg */
} scan;

static void note_use(pctl_cpu_bytecode *f, uint32_t *reg, void *ctx)
{
	scan *s = ctx;
	pctl_cpu_reg *r = &f->regs.at[*reg];
	uint32_t last = s->at;

	if (*reg < f->first_reg || r->kind != PCTL_CPU_REG_TEMP)
		return;
	if (r->def == PCTL_CPU_NONE) {
		r->def = r->last = s->at;
		return;
	}
	for (uint32_t l = s->loop; l != PCTL_CPU_NONE && s->loop_start[l] > r->def;
	     l = s->loop_outer[l])
		last = s->loop_end[l];
	if (last > r->last)
		r->last = last;
}

static void find_loops(pctl_cpu_bytecode *f, scan *s)
{
	uint32_t n_loops = 0, loop = PCTL_CPU_NONE;

	for (uint32_t i = 0; i < s->n; i++) {
		const pctl_cpu_ins *in = &f->ins.at[f->first_ins + i];

		if (in->kind == PCTL_CPU_LOOP) {
			s->loop_start[n_loops] = i;
			s->loop_outer[n_loops] = loop;
			loop = n_loops++;
		} else if (in->kind == PCTL_CPU_END_LOOP) {
			s->loop_end[loop] = i;
			loop = s->loop_outer[loop];
		}
	}
}

static void find_lifetimes(pctl_cpu_bytecode *f, scan *s)
{
	uint32_t n_loops = 0;

	s->loop = PCTL_CPU_NONE;
	for (s->at = 0; s->at < s->n; s->at++) {
		pctl_cpu_ins *in = &f->ins.at[f->first_ins + s->at];

		if (in->kind == PCTL_CPU_LOOP)
			s->loop = n_loops++;
		each_register(f, in, s, note_use);
		if (in->kind == PCTL_CPU_END_LOOP)
			s->loop = s->loop_outer[s->loop];
	}
	for (uint32_t i = f->regs.n; i-- > f->first_reg;) {
		const pctl_cpu_reg *r = &f->regs.at[i];

		if (r->kind != PCTL_CPU_REG_TEMP || r->def == PCTL_CPU_NONE)
			continue;
		s->next_def[i - f->first_reg] = s->defs[r->def];
		s->defs[r->def] = i;
		s->next_end[i - f->first_reg] = s->ends[r->last];
		s->ends[r->last] = i;
	}
}

static void give_places(pctl_cpu_bytecode *f, scan *s)
{
	PCTL_CPU_LIST(uint32_t) vacant[2] = {{0}, {0}};

	for (uint32_t i = 0; i < s->n && f->status == PCTL_OK; i++) {
		for (uint32_t reg = s->defs[i]; reg; reg = s->next_def[reg - f->first_reg]) {
			pctl_cpu_reg *r = &f->regs.at[reg];

			if (vacant[r->wide].n) {
				r->off = vacant[r->wide].at[--vacant[r->wide].n];
			} else {
				r->off = (uint32_t)f->next_unit;
				f->next_unit += (uint64_t)f->code->lanes >> (r->wide ? 0 : 1);
				if (f->next_unit > UINT32_MAX)
					pctl_cpu_bytecode_limit(f, "values alive at once");
			}
		}
		/* Only now: a result never shares the column of an operand. */
		for (uint32_t reg = s->ends[i]; reg; reg = s->next_end[reg - f->first_reg]) {
			const uint8_t wide = f->regs.at[reg].wide;

			if (pctl_cpu_grow(f, &vacant[wide], sizeof(*vacant[wide].at)))
				vacant[wide].at[vacant[wide].n++] = f->regs.at[reg].off;
		}
	}
	free(vacant[0].at);
	free(vacant[1].at);
}

void pctl_cpu_bytecode_assign_function(pctl_cpu_bytecode *f)
{
	const uint32_t n_regs = f->regs.n - f->first_reg;
	scan s = {.n = f->ins.n - f->first_ins};

	if (f->status != PCTL_OK)
		return;
	s.loop_start = calloc(s.n + 1u, sizeof(uint32_t));
	s.loop_end = calloc(s.n + 1u, sizeof(uint32_t));
	s.loop_outer = calloc(s.n + 1u, sizeof(uint32_t));
	s.defs = calloc(s.n + 1u, sizeof(uint32_t));
	s.ends = calloc(s.n + 1u, sizeof(uint32_t));
	s.next_def = calloc(n_regs + 1u, sizeof(uint32_t));
	s.next_end = calloc(n_regs + 1u, sizeof(uint32_t));
	if (!s.loop_start || !s.loop_end || !s.loop_outer || !s.defs || !s.ends || !s.next_def ||
	    !s.next_end) {
		f->status = pctl_refuse(f->call, PC2_NOMEM, "no memory to place registers");
	} else {
		find_loops(f, &s);
		find_lifetimes(f, &s);
		give_places(f, &s);
	}
	free(s.loop_start);
	free(s.loop_end);
	free(s.loop_outer);
	free(s.defs);
	free(s.ends);
	free(s.next_def);
	free(s.next_end);
}

void pctl_cpu_bytecode_assign_fixed(pctl_cpu_bytecode *f)
{
	const uint64_t column = f->code->lanes / 2;

	for (uint32_t i = 1; i < f->regs.n && f->next_unit <= UINT32_MAX; i++) {
		pctl_cpu_reg *r = &f->regs.at[i];

		if (r->kind == PCTL_CPU_REG_FIXED) {
			r->off = (uint32_t)f->next_unit;
			f->next_unit += r->n_words * column;
		}
	}
	for (uint32_t i = 1; i < f->regs.n && f->next_unit <= UINT32_MAX; i++) {
		pctl_cpu_reg *r = &f->regs.at[i];

		if (r->kind == PCTL_CPU_REG_UNIFORM)
			r->off = (uint32_t)f->next_unit++;
	}
	if (f->next_unit > UINT32_MAX)
		return;
	for (uint32_t i = 0; i < f->regs.n; i++) {
		pctl_cpu_reg *r = &f->regs.at[i];

		if (r->kind == PCTL_CPU_REG_ALIAS)
			r->off = (uint32_t)(f->regs.at[r->base].off + r->word * column);
	}
}

static void rewrite(pctl_cpu_bytecode *f, uint32_t *reg, void *ctx)
{
	(void)ctx;
	*reg = f->regs.at[*reg].off;
}

void pctl_cpu_bytecode_rewrite(pctl_cpu_bytecode *f)
{
	for (uint32_t i = 0; i < f->ins.n; i++)
		each_register(f, &f->ins.at[i], NULL, rewrite);
	for (uint32_t i = 0; i < f->mems.n; i++)
		if (f->mems.at[i].space == PCTL_SPACE_FUNCTION ||
		    f->mems.at[i].space == PCTL_SPACE_PRIVATE)
			f->mems.at[i].base = f->regs.at[f->mems.at[i].base].off;
}
