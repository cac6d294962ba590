/* Making prepared code: values. Composites never exist at run time: a value is the list of
 * registers of its scalars, so that composing, extracting and shuffling only rename. */
#include "code/bytecode.h"

uint32_t pctl_cpu_emit(pctl_cpu_bytecode *f, const pctl_cpu_ins *in)
{
	PCTL_CPU_PUSH(f, ins, *in);
	if (f->status != PCTL_OK)
		return 0;
	f->ins.at[f->ins.n - 1].ir = f->ir;
	return f->ins.n - 1;
}

uint32_t pctl_cpu_emit_vary(pctl_cpu_bytecode *f, uint32_t reg)
{
	pctl_cpu_ins in = {.kind = PCTL_CPU_ELEM, .a = reg};
	const uint8_t wide = f->regs.at[reg].wide;

	if (f->status != PCTL_OK || !pctl_cpu_bytecode_is_uniform(f, reg))
		return reg;
	if (f->regs.at[reg].is_const) {
		if (!f->regs.at[reg].splat) {
			const uint32_t splat = pctl_cpu_bytecode_fixed(f, 1u + wide);
			f->regs.at[splat].wide = wide;
			f->regs.at[reg].splat = splat;
		}
		return f->regs.at[reg].splat;
	}
	in.kernel = f->k->splat[wide];
	in.d = pctl_cpu_bytecode_reg(f, PCTL_CPU_REG_TEMP, wide);
	pctl_cpu_emit(f, &in);
	return in.d;
}

static int all_uniform(const pctl_cpu_bytecode *f, const uint32_t *args, uint32_t n_args)
{
	for (uint32_t i = 0; i < n_args; i++)
		if (!pctl_cpu_bytecode_is_uniform(f, args[i]))
			return 0;
	return 1;
}

static uint32_t emit_with(pctl_cpu_bytecode *f, pctl_cpu_kernel *k, uint8_t wide, int uniform,
			  const uint32_t *args, uint32_t n_args)
{
	pctl_cpu_ins in = {.kind = uniform ? PCTL_CPU_ELEM_U : PCTL_CPU_ELEM, .kernel = k};

	in.a = args[0];
	in.b = n_args > 1 ? args[1] : 0;
	in.c = n_args > 2 ? args[2] : 0;
	in.e = n_args > 3 ? args[3] : 0;
	in.d = pctl_cpu_bytecode_reg(f, uniform ? PCTL_CPU_REG_UNIFORM : PCTL_CPU_REG_TEMP, wide);
	if (!k && f->status == PCTL_OK)
		f->status = pctl_refuse(
			f->call, PC3210_KERNEL_CAPABILITY,
			"the interpreter has no kernel for an operation of the program");
	pctl_cpu_emit(f, &in);
	return in.d;
}

uint32_t pctl_cpu_emit_kernel(pctl_cpu_bytecode *f, pctl_cpu_kernel *k, uint8_t wide,
			      const uint32_t *args, uint32_t n_args)
{
	uint32_t varied[4];

	if (all_uniform(f, args, n_args))
		return emit_with(f, k, wide, 1, args, n_args);
	for (uint32_t i = 0; i < n_args; i++)
		varied[i] = pctl_cpu_emit_vary(f, args[i]);
	return emit_with(f, k, wide, 0, varied, n_args);
}

uint32_t pctl_cpu_emit_elem(pctl_cpu_bytecode *f, uint16_t op, uint8_t scalar, uint8_t wide,
			    const uint32_t *args, uint32_t n_args)
{
	pctl_cpu_kernel *const *forms;

	if (scalar >= PCTL_CPU_N_SCALARS)
		return emit_with(f, NULL, wide, 1, args, n_args);
	forms = f->k->elem[PCTL_CPU_ROW(op)][scalar];
	if (n_args == 2 && forms[PCTL_CPU_VU] && !all_uniform(f, args, n_args)) {
		if (pctl_cpu_bytecode_is_uniform(f, args[1]))
			return emit_with(f, forms[PCTL_CPU_VU], wide, 0, args, n_args);
		if (pctl_cpu_bytecode_is_uniform(f, args[0]))
			return emit_with(f, forms[PCTL_CPU_UV], wide, 0, args, n_args);
	}
	return pctl_cpu_emit_kernel(f, forms[PCTL_CPU_VV], wide, args, n_args);
}

void pctl_cpu_emit_move(pctl_cpu_bytecode *f, uint32_t d, uint32_t a, uint8_t wide)
{
	pctl_cpu_ins in = {.kind = PCTL_CPU_ELEM, .d = d, .a = a};

	in.kernel = pctl_cpu_bytecode_is_uniform(f, a) ? f->k->splat[wide] : f->k->copy[wide];
	pctl_cpu_emit(f, &in);
}

void pctl_cpu_emit_blend(pctl_cpu_bytecode *f, uint32_t d, uint32_t a, uint8_t wide)
{
	pctl_cpu_ins in = {.kind = PCTL_CPU_BLEND, .d = d, .a = a};

	in.flags = (uint16_t)((wide ? PCTL_CPU_WIDE : 0) |
			      (pctl_cpu_bytecode_is_uniform(f, a) ? PCTL_CPU_UNIFORM : 0));
	pctl_cpu_emit(f, &in);
}

static uint32_t zero(pctl_cpu_bytecode *f, uint8_t scalar)
{
	return pctl_cpu_bytecode_const(f, 0, pctl_cpu_scalar_wide(scalar));
}

static void bytecode_zero(pctl_cpu_bytecode *f, uint32_t type, uint32_t *at)
{
	const pctl_type *ty = &f->p->types[type];

	if (ty->kind == PCTL_TYPE_STRUCT) {
		for (uint32_t i = 0; i < ty->count; i++) {
			const uint32_t m = f->p->members[ty->first_member + i].type;
			bytecode_zero(f, m, at);
			at += f->type_leaves[m];
		}
	} else if (ty->kind == PCTL_TYPE_ARRAY) {
		for (uint32_t i = 0; i < ty->count; i++, at += f->type_leaves[ty->elem])
			bytecode_zero(f, ty->elem, at);
	} else {
		for (uint32_t i = 0; i < f->type_leaves[type]; i++)
			at[i] = zero(f, ty->scalar);
	}
}

static void bytecode_builtin(pctl_cpu_bytecode *f, uint32_t which, uint32_t *at)
{
	static const uint32_t first[] = {[PCTL_BUILTIN_GLOBAL_ID] = PCTL_CPU_REG_GLOBAL_ID,
					 [PCTL_BUILTIN_LOCAL_ID] = PCTL_CPU_REG_LOCAL_ID,
					 [PCTL_BUILTIN_LOCAL_INDEX] = PCTL_CPU_REG_LOCAL_INDEX,
					 [PCTL_BUILTIN_WORKGROUP_ID] = PCTL_CPU_REG_GROUP_ID,
					 [PCTL_BUILTIN_NUM_WORKGROUPS] = PCTL_CPU_REG_N_GROUPS};
	const uint32_t n = which == PCTL_BUILTIN_LOCAL_INDEX ? 1 : 3;

	for (uint32_t i = 0; i < n; i++) {
		if (which == PCTL_BUILTIN_LOCAL_ID && f->code->local_size[i] == 1)
			at[i] = pctl_cpu_bytecode_const(f, 0, 0);
		else
			at[i] = pctl_cpu_bytecode_special(f, first[which] + i);
	}
}

static void bytecode_elementwise(pctl_cpu_bytecode *f, const pctl_inst *in, uint32_t *at)
{
	const pctl_program *p = f->p;
	const uint32_t type = in->type;
	const uint32_t a_type = pctl_value_type(p, f->fn, pctl_arg(p, in, 0));
	const uint8_t scalar = pctl_cpu_type_scalar(p, a_type);
	const uint8_t wide = pctl_cpu_scalar_wide(pctl_cpu_type_scalar(p, type));
	uint32_t args[4] = {0};

	for (uint32_t i = 0; i < f->type_leaves[type]; i++) {
		for (uint32_t k = 0; k < in->n_args && k < 4; k++) {
			const uint32_t v = pctl_arg(p, in, k);
			const uint32_t n = (uint32_t)f->type_leaves[pctl_value_type(p, f->fn, v)];
			args[k] = pctl_cpu_value(f, v)[n == 1 ? 0 : i];
		}
		at[i] = pctl_cpu_emit_elem(f, in->op, scalar, wide, args, in->n_args);
	}
}

/* Elementary functions run only for active lanes: each costs about as much as a thousand additions. */
static void bytecode_math(pctl_cpu_bytecode *f, const pctl_inst *in, uint32_t *at)
{
	const uint32_t *a = pctl_cpu_value(f, pctl_arg(f->p, in, 0));
	const uint32_t *b = in->n_args > 1 ? pctl_cpu_value(f, pctl_arg(f->p, in, 1)) : NULL;

	for (uint32_t i = 0; i < f->type_leaves[in->type]; i++) {
		const uint32_t args[2] = {a[i], b ? b[i] : 0};
		const int uniform = all_uniform(f, args, in->n_args);
		pctl_cpu_ins ins = {.kind = PCTL_CPU_MATH,
				    .flags = uniform ? PCTL_CPU_UNIFORM : 0,
				    .a = uniform ? args[0] : pctl_cpu_emit_vary(f, args[0]),
				    .b = uniform || !b ? args[1] : pctl_cpu_emit_vary(f, args[1]),
				    .jump = in->op,
				    .extra = pctl_cpu_type_scalar(f->p, in->type)};

		at[i] = ins.d = pctl_cpu_bytecode_reg(
			f, uniform ? PCTL_CPU_REG_UNIFORM : PCTL_CPU_REG_TEMP, 0);
		pctl_cpu_emit(f, &ins);
	}
}

static void bytecode_lookup(pctl_cpu_bytecode *f, const pctl_inst *in, uint32_t *at)
{
	const uint8_t wide = pctl_cpu_scalar_wide(pctl_cpu_type_scalar(f->p, in->type));
	const uint32_t index = pctl_cpu_value(f, pctl_arg(f->p, in, 0))[0];
	const int uniform = pctl_cpu_bytecode_is_uniform(f, index);
	/* A negative i32 is a u32 above any table's length. */
	pctl_cpu_ins ins = {
		.kind = PCTL_CPU_LOOKUP,
		.flags = (uint16_t)((wide ? PCTL_CPU_WIDE : 0) | (uniform ? PCTL_CPU_UNIFORM : 0)),
		.a = index,
		.jump = in->first_arg + 1,
		.extra = (in->n_args - 1) >> wide};

	at[0] = ins.d =
		pctl_cpu_bytecode_reg(f, uniform ? PCTL_CPU_REG_UNIFORM : PCTL_CPU_REG_TEMP, wide);
	pctl_cpu_emit(f, &ins);
}

static void bytecode_select(pctl_cpu_bytecode *f, const pctl_inst *in, uint32_t *at)
{
	const uint32_t c = pctl_arg(f->p, in, 0);
	const uint64_t n_c = f->type_leaves[pctl_value_type(f->p, f->fn, c)];

	for (uint32_t i = 0; i < f->type_leaves[in->type]; i++) {
		const uint32_t args[3] = {pctl_cpu_value(f, c)[n_c == 1 ? 0 : i],
					  pctl_cpu_value(f, pctl_arg(f->p, in, 1))[i],
					  pctl_cpu_value(f, pctl_arg(f->p, in, 2))[i]};
		const uint8_t wide = f->regs.at[args[1]].wide;

		at[i] = args[1] == args[2]
				? args[1]
				: pctl_cpu_emit_kernel(f, f->k->select[wide], wide, args, 3);
	}
}

static void bytecode_reduce_bool(pctl_cpu_bytecode *f, const pctl_inst *in, uint32_t *at)
{
	const uint32_t v = pctl_arg(f->p, in, 0);
	const uint64_t n = f->type_leaves[pctl_value_type(f->p, f->fn, v)];
	const uint16_t op = in->op == PCTL_OP_ALL ? PCTL_OP_AND : PCTL_OP_OR;

	at[0] = pctl_cpu_value(f, v)[0];
	for (uint32_t i = 1; i < n; i++) {
		const uint32_t args[2] = {at[0], pctl_cpu_value(f, v)[i]};
		at[0] = pctl_cpu_emit_elem(f, op, PCTL_SCALAR_BOOL, 0, args, 2);
	}
}

/* The sum of n products a[i * a_step] * b[i * b_step], left to right. */
static uint32_t products(pctl_cpu_bytecode *f, uint8_t scalar, uint32_t n, const uint32_t *a,
			 uint32_t a_step, const uint32_t *b, uint32_t b_step)
{
	const uint8_t wide = pctl_cpu_scalar_wide(scalar);
	uint32_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t pair[2] = {a[i * a_step], b[i * b_step]};
		const uint32_t product = pctl_cpu_emit_elem(f, PCTL_OP_MUL, scalar, wide, pair, 2);
		const uint32_t add[2] = {sum, product};

		sum = i == 0 ? product : pctl_cpu_emit_elem(f, PCTL_OP_ADD, scalar, wide, add, 2);
	}
	return sum;
}

static void bytecode_matmul(pctl_cpu_bytecode *f, const pctl_inst *in, uint32_t *at)
{
	const uint32_t a = pctl_arg(f->p, in, 0), b = pctl_arg(f->p, in, 1);
	const pctl_type *ta = &f->p->types[pctl_value_type(f->p, f->fn, a)];
	const pctl_type *tb = &f->p->types[pctl_value_type(f->p, f->fn, b)];
	const uint32_t *ra = pctl_cpu_value(f, a), *rb = pctl_cpu_value(f, b);
	/* A vector on the left is a row, on the right a column; matrices are columns of rows. */
	const uint32_t rows = ta->kind == PCTL_TYPE_MATRIX ? ta->width : 1;
	const uint32_t inner = ta->kind == PCTL_TYPE_MATRIX ? ta->columns : ta->width;
	const uint32_t columns = tb->kind == PCTL_TYPE_MATRIX ? tb->columns : 1;

	for (uint32_t c = 0; c < columns; c++)
		for (uint32_t r = 0; r < rows; r++)
			at[c * rows + r] =
				products(f, ta->scalar, inner, ra + r, rows, rb + c * inner, 1);
}

static void bytecode_transpose(pctl_cpu_bytecode *f, const pctl_inst *in, uint32_t *at)
{
	const uint32_t v = pctl_arg(f->p, in, 0);
	const pctl_type *ty = &f->p->types[pctl_value_type(f->p, f->fn, v)];

	for (uint32_t c = 0; c < ty->columns; c++)
		for (uint32_t r = 0; r < ty->width; r++)
			at[r * ty->columns + c] = pctl_cpu_value(f, v)[c * ty->width + r];
}

static void bytecode_extract_dyn(pctl_cpu_bytecode *f, const pctl_inst *in, uint32_t *at)
{
	const uint32_t v = pctl_arg(f->p, in, 0);
	const uint32_t index = pctl_cpu_value(f, pctl_arg(f->p, in, 1))[0];
	const uint32_t type = pctl_value_type(f->p, f->fn, v);
	const uint8_t wide = pctl_cpu_scalar_wide(pctl_cpu_type_scalar(f->p, type));
	uint32_t result = pctl_cpu_bytecode_const(f, 0, wide);

	for (uint32_t i = 0; i < f->type_leaves[type]; i++) {
		const uint32_t test[2] = {index, pctl_cpu_bytecode_const(f, i, 0)};
		const uint32_t hit = pctl_cpu_emit_elem(f, PCTL_OP_EQ, PCTL_SCALAR_U32, 0, test, 2);
		const uint32_t args[3] = {hit, pctl_cpu_value(f, v)[i], result};

		result = pctl_cpu_emit_kernel(f, f->k->select[wide], wide, args, 3);
	}
	at[0] = result;
}

static void bytecode_cast(pctl_cpu_bytecode *f, const pctl_inst *in, uint32_t *at)
{
	const uint32_t v = pctl_arg(f->p, in, 0);
	const uint8_t from = pctl_cpu_type_scalar(f->p, pctl_value_type(f->p, f->fn, v));
	const uint8_t to = pctl_cpu_type_scalar(f->p, in->type);

	for (uint32_t i = 0; i < f->type_leaves[in->type]; i++) {
		const uint32_t a = pctl_cpu_value(f, v)[i];
		const int is_float = in->op == PCTL_OP_FCONVERT;
		pctl_cpu_kernel *k = is_float ? f->k->convert[from][to] : f->k->cast[from][to];

		at[i] = k || is_float ? pctl_cpu_emit_kernel(f, k, pctl_cpu_scalar_wide(to), &a, 1)
				      : a;
	}
}

/* n registers of half the size from n / 2, or the other way; at and a are different places. */
static void halve(pctl_cpu_bytecode *f, const uint32_t *a, uint32_t n, uint8_t wide, uint32_t *at)
{
	pctl_cpu_kernel *const low = wide ? f->k->low : f->k->low16;
	pctl_cpu_kernel *const high = wide ? f->k->high : f->k->high16;

	for (uint32_t i = 0; i < n; i++)
		at[i] = pctl_cpu_emit_kernel(f, i % 2 ? high : low, 0, a + i / 2, 1);
}

static void pair(pctl_cpu_bytecode *f, const uint32_t *a, uint32_t n, uint8_t wide, uint32_t *at)
{
	for (uint32_t i = 0; i < n / 2; i++)
		at[i] = pctl_cpu_emit_kernel(f, wide ? f->k->join : f->k->join16, wide, a + 2u * i,
					     2);
}

static void bytecode_bitcast(pctl_cpu_bytecode *f, const pctl_inst *in, uint32_t *at)
{
	const uint32_t v = pctl_arg(f->p, in, 0);
	const uint32_t from_type = pctl_value_type(f->p, f->fn, v);
	const uint8_t from = pctl_cpu_scalar_mem(pctl_cpu_type_scalar(f->p, from_type));
	const uint8_t to = pctl_cpu_scalar_mem(pctl_cpu_type_scalar(f->p, in->type));
	const uint32_t n_from = (uint32_t)f->type_leaves[from_type];
	const uint32_t n_to = (uint32_t)f->type_leaves[in->type];
	const uint32_t *a = pctl_cpu_value(f, v);
	uint32_t words[4] = {0};

	if (from == to) {
		for (uint32_t i = 0; i < n_to; i++)
			at[i] = a[i];
	} else if (from == PCTL_CPU_MEM_2 && to == PCTL_CPU_MEM_8) {
		pair(f, a, n_from, 0, words);
		pair(f, words, n_from / 2, 1, at);
	} else if (from == PCTL_CPU_MEM_8 && to == PCTL_CPU_MEM_2) {
		halve(f, a, n_to / 2, 1, words);
		halve(f, words, n_to, 0, at);
	} else if (n_from > n_to) {
		pair(f, a, n_from, to == PCTL_CPU_MEM_8, at);
	} else {
		halve(f, a, n_to, from == PCTL_CPU_MEM_8, at);
	}
}

/* Copy the registers of one value. */
static uint32_t put(pctl_cpu_bytecode *f, uint32_t *at, uint32_t value)
{
	const uint32_t n = (uint32_t)f->type_leaves[pctl_value_type(f->p, f->fn, value)];

	for (uint32_t i = 0; i < n; i++)
		at[i] = pctl_cpu_value(f, value)[i];
	return n;
}

static void bytecode_rename(pctl_cpu_bytecode *f, const pctl_inst *in, uint32_t *at)
{
	const pctl_program *p = f->p;
	const uint32_t v = pctl_arg(p, in, 0);
	const uint32_t n = (uint32_t)f->type_leaves[in->type];
	uint32_t type;

	switch (in->op) {
	case PCTL_OP_COMPOSE:
		for (uint32_t i = 0; i < in->n_args; i++)
			at += put(f, at, pctl_arg(p, in, i));
		break;
	case PCTL_OP_SPLAT:
		for (uint32_t i = 0; i < n; i++)
			at[i] = pctl_cpu_value(f, v)[0];
		break;
	case PCTL_OP_EXTRACT:
		type = pctl_value_type(p, f->fn, v);
		for (uint32_t i = 0; i < n; i++)
			at[i] = pctl_cpu_value(
				f, v)[pctl_cpu_bytecode_part(f, type, pctl_arg(p, in, 1)) + i];
		break;
	case PCTL_OP_SHUFFLE:
		for (uint32_t i = 0; i < n; i++)
			at[i] = pctl_cpu_value(f, v)[pctl_arg(p, in, 1 + i)];
		break;
	case PCTL_OP_INSERT:
		put(f, at, v);
		put(f, at + pctl_cpu_bytecode_part(f, in->type, pctl_arg(p, in, 2)),
		    pctl_arg(p, in, 1));
		break;
	default:
		break;
	}
}

void pctl_cpu_bytecode_data(pctl_cpu_bytecode *f, uint32_t value, const pctl_inst *in)
{
	const pctl_program *p = f->p;
	uint32_t *at = pctl_cpu_value_new(f, value, in->type);
	uint8_t wide;

	if (!at)
		return;
	wide = pctl_cpu_scalar_wide(pctl_cpu_type_scalar(p, in->type));
	switch (in->op) {
	case PCTL_OP_CONST:
		at[0] = pctl_cpu_bytecode_const(
			f, pctl_arg(p, in, 0) | ((uint64_t)pctl_arg(p, in, 1) << 32), wide);
		break;
	case PCTL_OP_ZERO:
		bytecode_zero(f, in->type, at);
		break;
	case PCTL_OP_BUILTIN:
		bytecode_builtin(f, pctl_arg(p, in, 0), at);
		break;
	case PCTL_OP_SELECT:
		bytecode_select(f, in, at);
		break;
	case PCTL_OP_ALL:
	case PCTL_OP_ANY:
		bytecode_reduce_bool(f, in, at);
		break;
	case PCTL_OP_DOT: {
		const uint32_t a = pctl_arg(p, in, 0), b = pctl_arg(p, in, 1);
		const pctl_type *ty = &p->types[pctl_value_type(p, f->fn, a)];
		at[0] = products(f, ty->scalar, ty->width, pctl_cpu_value(f, a), 1,
				 pctl_cpu_value(f, b), 1);
		break;
	}
	case PCTL_OP_MATMUL:
		bytecode_matmul(f, in, at);
		break;
	case PCTL_OP_TRANSPOSE:
		bytecode_transpose(f, in, at);
		break;
	case PCTL_OP_EXTRACT_DYN:
		bytecode_extract_dyn(f, in, at);
		break;
	case PCTL_OP_LOOKUP:
		bytecode_lookup(f, in, at);
		break;
	case PCTL_OP_CAST:
	case PCTL_OP_FCONVERT:
		bytecode_cast(f, in, at);
		break;
	case PCTL_OP_BITCAST:
		bytecode_bitcast(f, in, at);
		break;
	case PCTL_OP_COMPOSE:
	case PCTL_OP_SPLAT:
	case PCTL_OP_EXTRACT:
	case PCTL_OP_SHUFFLE:
	case PCTL_OP_INSERT:
		bytecode_rename(f, in, at);
		break;
	default:
		if (in->op >= PCTL_OP_FSIN && in->op <= PCTL_OP_FEXPM1)
			bytecode_math(f, in, at);
		else
			bytecode_elementwise(f, in, at);
		break;
	}
}
