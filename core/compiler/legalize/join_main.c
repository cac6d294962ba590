/* The entry point of programs that are joined: which workgroup does which part, and what lies between parts; see join.h. */
#include "compiler/legalize/join_parts.h"

static uint32_t lane_of(joiner *j)
{
	const uint32_t local = PCTL_BUILTIN_LOCAL_INDEX;

	return pctl_build_inst(j->b, PCTL_OP_BUILTIN, j->t_u32, &local, 1);
}

static void plain(joiner *j, uint16_t op, const uint32_t *args, uint32_t n)
{
	(void)pctl_build_inst(j->b, op, 0, args, n);
}

static void begin_if(joiner *j, uint32_t a, uint32_t below)
{
	const uint32_t limit = pctl_build_const(j->b, j->t_u32, below);
	const uint32_t is = pctl_build_op(j->b, PCTL_OP_LT, j->t_bool, a, limit);

	plain(j, PCTL_OP_IF, &is, 1);
}

/* A loop of `turns` turns; the turn's number is returned, and end_loop goes on with it. */
static uint32_t begin_loop(joiner *j, uint32_t local, uint32_t turns)
{
	const uint32_t place = PCTL_PLACE_LOCAL | local;
	const uint32_t zero = pctl_build_const(j->b, j->t_u32, 0);
	uint32_t at, limit, is;

	plain(j, PCTL_OP_STORE, (const uint32_t[]){zero, place}, 2);
	plain(j, PCTL_OP_LOOP, NULL, 0);
	at = pctl_build_inst(j->b, PCTL_OP_LOAD, j->t_u32, &place, 1);
	limit = pctl_build_const(j->b, j->t_u32, turns);
	is = pctl_build_op(j->b, PCTL_OP_LT, j->t_bool, at, limit);
	plain(j, PCTL_OP_LOOP_TEST, &is, 1);
	return pctl_build_inst(j->b, PCTL_OP_LOAD, j->t_u32, &place, 1);
}

static void end_loop(joiner *j, uint32_t local)
{
	const uint32_t place = PCTL_PLACE_LOCAL | local;
	uint32_t at, one, next;

	plain(j, PCTL_OP_CONTINUING, NULL, 0);
	at = pctl_build_inst(j->b, PCTL_OP_LOAD, j->t_u32, &place, 1);
	one = pctl_build_const(j->b, j->t_u32, 1);
	next = pctl_build_op(j->b, PCTL_OP_ADD, j->t_u32, at, one);
	plain(j, PCTL_OP_STORE, (const uint32_t[]){next, place}, 2);
	plain(j, PCTL_OP_END_LOOP, NULL, 0);
}

/* Private variables begin as zero in each of a part's workgroups. */
static void clear_private(joiner *j, uint32_t part)
{
	const pctl_program *p = j->parts[part].program;

	for (uint32_t v = 0; v < p->n_vars; v++) {
		uint32_t zero;

		if (p->vars[v].space != PCTL_SPACE_PRIVATE)
			continue;
		zero = pctl_build_inst(j->b, PCTL_OP_ZERO, legal_type(&j->l[part], p->vars[v].type),
				       NULL, 0);
		plain(j, PCTL_OP_STORE, (const uint32_t[]){zero, j->variables[part][v]}, 2);
	}
}

/* What a part before has had of workgroup memory is zero again, as each has it at its start. */
static void clear_shared(joiner *j, uint32_t part, uint32_t local)
{
	const pctl_program *p = j->parts[part].program;

	for (uint32_t v = 0; v < p->n_vars; v++) {
		const uint32_t number = j->variables[part][v];
		const pctl_type *t;
		uint32_t turn, size, first, at, zero, elem;
		int is_shared = 0;

		for (uint32_t k = 0; k < part; k++)
			for (uint32_t e = 0; e < j->parts[k].program->n_vars; e++)
				is_shared |= j->parts[k].program->vars[e].space ==
						     PCTL_SPACE_WORKGROUP &&
					     j->variables[k][e] == number;
		if (p->vars[v].space != PCTL_SPACE_WORKGROUP || !is_shared)
			continue;
		t = pctl_build_type_at(j->b, legal_type(&j->l[part], p->vars[v].type));
		elem = t->elem;
		turn = begin_loop(j, local, (t->count + j->size - 1) / j->size);
		size = pctl_build_const(j->b, j->t_u32, j->size);
		first = pctl_build_op(j->b, PCTL_OP_MUL, j->t_u32, turn, size);
		at = pctl_build_op(j->b, PCTL_OP_ADD, j->t_u32, first, lane_of(j));
		zero = pctl_build_inst(j->b, PCTL_OP_ZERO, elem, NULL, 0);
		/* Behind its end nothing is stored. */
		plain(j, PCTL_OP_STORE, (const uint32_t[]){zero, number, at}, 3);
		end_loop(j, local);
	}
}

/* Part `part` in workgroup `number`, a value, of its own. */
static void call_part(joiner *j, uint32_t part, uint32_t number)
{
	const int is_smaller = join_size(j->parts[part].program) < j->size;

	if (is_smaller)
		begin_if(j, lane_of(j), join_size(j->parts[part].program));
	plain(j, PCTL_OP_CALL, (const uint32_t[]){j->entry[part], number}, 2);
	if (is_smaller)
		plain(j, PCTL_OP_END_IF, NULL, 0);
}

static void side_by_side(joiner *j, uint32_t x)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < j->n; i++) {
		if (i + 1 < j->n)
			begin_if(j, x, first + j->parts[i].groups);
		call_part(j, i,
			  first == 0 ? x
				     : pctl_build_op(j->b, PCTL_OP_SUB, j->t_u32, x,
						     pctl_build_const(j->b, j->t_u32, first)));
		if (i + 1 < j->n)
			plain(j, PCTL_OP_ELSE, NULL, 0);
		first += j->parts[i].groups;
	}
	for (uint32_t i = 0; i + 1 < j->n; i++)
		plain(j, PCTL_OP_END_IF, NULL, 0);
}

static void one_behind_the_other(joiner *j, uint32_t x, uint32_t local)
{
	const uint32_t both = PCTL_BARRIER_WORKGROUP | PCTL_BARRIER_STORAGE;

	for (uint32_t i = 0; i < j->n; i++) {
		uint32_t number = x;

		/* Those ahead have one workgroup, and are proven for that. */
		if (j->how == PCTL_JOIN_AHEAD && i + 1 < j->n)
			number = pctl_build_const(j->b, j->t_u32, 0);
		if (i != 0) {
			plain(j, PCTL_OP_BARRIER, &both, 1);
			clear_shared(j, i, local);
			plain(j, PCTL_OP_BARRIER, &both, 1);
		}
		if (join_is_turned(j, i)) {
			number = begin_loop(j, local, j->parts[i].groups);
			clear_private(j, i);
		}
		call_part(j, i, number);
		if (join_is_turned(j, i))
			end_loop(j, local);
	}
}

void join_main(joiner *j)
{
	const uint32_t which = PCTL_BUILTIN_WORKGROUP_ID;
	pctl_entry e = {.workgroup_size = {j->size, 1, 1}};
	uint32_t local, id, x;

	pctl_build_function_begin(j->b, "joined", NULL, 0, 0);
	local = pctl_build_local(j->b, "turn", j->t_u32);
	id = pctl_build_inst(j->b, PCTL_OP_BUILTIN, j->t_u3, &which, 1);
	x = pctl_build_inst(j->b, PCTL_OP_EXTRACT, j->t_u32, (const uint32_t[]){id, 0}, 2);
	if (j->how == PCTL_JOIN_BESIDE)
		side_by_side(j, x);
	else
		one_behind_the_other(j, x, local);
	e.function = pctl_build_function_end(j->b);
	pctl_build_entry(j->b, &e, "joined");
}
