/* Small programs built with the builder, shared by the tests of the program and gas modules and by
 * the seed corpus of fuzz_analysis. */
#ifndef PIPECTL_TESTS_PROGRAM_SAMPLES_H
#define PIPECTL_TESTS_PROGRAM_SAMPLES_H

#include "pipectl/program.h"

/* What most samples start from: u32, bool, vec3<u32>, array<u32>. */
typedef struct sample {
	pctl_builder *b;
	uint32_t u32, i32, boolean, vec3, array;
	uint32_t data, uniforms; /* variables: read_write storage array at 0:0, unless left out */
} sample;

static inline void sample_begin(sample *s)
{
	s->b = pctl_builder_create();
	s->u32 = pctl_build_scalar(s->b, PCTL_SCALAR_U32);
	s->i32 = pctl_build_scalar(s->b, PCTL_SCALAR_I32);
	s->boolean = pctl_build_scalar(s->b, PCTL_SCALAR_BOOL);
	s->vec3 = pctl_build_vector(s->b, PCTL_SCALAR_U32, 3);
	s->array = pctl_build_array(s->b, s->u32, 0, 0);
	s->data = s->uniforms = 0;
}

static inline uint32_t sample_storage(sample *s, const char *name, uint32_t type, uint32_t binding,
				      int writable)
{
	const pctl_var v = {.type = type,
			    .space = PCTL_SPACE_STORAGE,
			    .access = writable ? PCTL_ACCESS_READ_WRITE : PCTL_ACCESS_READ,
			    .binding = binding};

	return pctl_build_var(s->b, &v, name);
}

static inline uint32_t sample_var(sample *s, const char *name, uint32_t type, uint8_t space,
				  uint32_t binding)
{
	const pctl_var v = {.type = type, .space = space, .binding = binding};

	return pctl_build_var(s->b, &v, name);
}

static inline void sample_entry(sample *s, uint32_t function, uint32_t x, uint32_t y, uint32_t z)
{
	const pctl_entry e = {.function = function, .workgroup_size = {x, y, z}};

	pctl_build_entry(s->b, &e, "main");
}

/* Component d of a builtin vector, or local_index. */
static inline uint32_t sample_builtin(sample *s, uint32_t builtin, uint32_t d)
{
	uint32_t v;

	if (builtin == PCTL_BUILTIN_LOCAL_INDEX)
		return pctl_build_inst(s->b, PCTL_OP_BUILTIN, s->u32, &builtin, 1);
	v = pctl_build_inst(s->b, PCTL_OP_BUILTIN, s->vec3, &builtin, 1);
	{
		const uint32_t args[2] = {v, d};

		return pctl_build_inst(s->b, PCTL_OP_EXTRACT, s->u32, args, 2);
	}
}

static inline uint32_t sample_const(sample *s, uint32_t value)
{
	return pctl_build_const(s->b, s->u32, value);
}

static inline uint32_t sample_op(sample *s, uint16_t op, uint32_t a, uint32_t b)
{
	return pctl_build_op(s->b, op, s->u32, a, b);
}

static inline uint32_t sample_compare(sample *s, uint16_t op, uint32_t a, uint32_t b)
{
	return pctl_build_op(s->b, op, s->boolean, a, b);
}

static inline uint32_t sample_load(sample *s, uint32_t type, uint32_t root, const uint32_t *chain,
				   uint32_t n)
{
	uint32_t args[8] = {root}, i;

	for (i = 0; i < n; i++)
		args[1 + i] = chain[i];
	return pctl_build_inst(s->b, PCTL_OP_LOAD, type, args, 1 + n);
}

static inline void sample_store(sample *s, uint32_t value, uint32_t root, const uint32_t *chain,
				uint32_t n)
{
	uint32_t args[8] = {value, root}, i;

	for (i = 0; i < n; i++)
		args[2 + i] = chain[i];
	pctl_build_inst(s->b, PCTL_OP_STORE, 0, args, 2 + n);
}

static inline uint32_t sample_load_at(sample *s, uint32_t var, uint32_t index)
{
	return sample_load(s, s->u32, var, &index, 1);
}

static inline void sample_store_at(sample *s, uint32_t value, uint32_t var, uint32_t index)
{
	sample_store(s, value, var, &index, 1);
}

static inline void sample_mark(sample *s, uint16_t op, uint32_t arg, int has_arg)
{
	pctl_build_inst(s->b, op, 0, &arg, has_arg ? 1 : 0);
}

/* for (var i = 0u; i < bound; i += 1u): leaves the body open; the loaded counter is returned. */
static inline uint32_t sample_for_begin(sample *s, uint32_t local, uint32_t bound)
{
	uint32_t i;

	sample_store(s, sample_const(s, 0), local | PCTL_PLACE_LOCAL, NULL, 0);
	sample_mark(s, PCTL_OP_LOOP, 0, 0);
	i = sample_load(s, s->u32, local | PCTL_PLACE_LOCAL, NULL, 0);
	sample_mark(s, PCTL_OP_LOOP_TEST, sample_compare(s, PCTL_OP_LT, i, bound), 1);
	return sample_load(s, s->u32, local | PCTL_PLACE_LOCAL, NULL, 0);
}

static inline void sample_for_end(sample *s, uint32_t local)
{
	uint32_t i, next;

	sample_mark(s, PCTL_OP_CONTINUING, 0, 0);
	i = sample_load(s, s->u32, local | PCTL_PLACE_LOCAL, NULL, 0);
	next = sample_op(s, PCTL_OP_ADD, i, sample_const(s, 1));
	sample_store(s, next, local | PCTL_PLACE_LOCAL, NULL, 0);
	sample_mark(s, PCTL_OP_END_LOOP, 0, 0);
}

/* data[gid.x] = data[gid.x] * 2 + 1, guarded by gid.x < arrayLength(&data), 64 invocations. */
static inline pctl_builder *sample_guarded(void)
{
	uint32_t gid, length, x;
	sample s;

	sample_begin(&s);
	s.data = sample_storage(&s, "data", s.array, 0, 1);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	gid = sample_builtin(&s, PCTL_BUILTIN_GLOBAL_ID, 0);
	length = pctl_build_inst(s.b, PCTL_OP_ARRAY_LENGTH, s.u32, &s.data, 1);
	sample_mark(&s, PCTL_OP_IF, sample_compare(&s, PCTL_OP_LT, gid, length), 1);
	x = sample_load_at(&s, s.data, gid);
	x = sample_op(&s, PCTL_OP_ADD, sample_op(&s, PCTL_OP_MUL, x, sample_const(&s, 2)),
		      sample_const(&s, 1));
	sample_store_at(&s, x, s.data, gid);
	sample_mark(&s, PCTL_OP_END_IF, 0, 0);
	sample_entry(&s, pctl_build_function_end(s.b), 64, 1, 1);
	return s.b;
}

/* One of everything that has a place in the tables: overrides, structs, matrices, 64-bit, atomics,
 * workgroup memory counted by `spec`, a switch, a loop, a call, a barrier, a declared maximum, an
 * unused type. */
static inline pctl_builder *sample_everything(void)
{
	uint32_t u64, vec4, mat, atomic, pair, n, counted, size, i, local, callee, wg, counter,
		helper_arg, zero, one;
	pctl_member_spec members[3] = {{"count", 0, 0, 0, PCTL_OFFSET_AUTO},
				       {"wide", 0, 0, 16, PCTL_OFFSET_AUTO},
				       {"m", 0, 0, 0, PCTL_OFFSET_AUTO}};
	const uint32_t dispatch[3] = {1024, 1, 1};
	const uint32_t case_one[3] = {0, 1, 5}, case_default[1] = {1};
	pctl_entry entry = {.workgroup_size = {0, 1, 1}};
	pctl_max max = {.n_path = 1, .path = {0}, .value = 64};
	uint32_t args[4];
	sample s;

	sample_begin(&s);
	u64 = pctl_build_scalar(s.b, PCTL_SCALAR_U64);
	vec4 = pctl_build_vector(s.b, PCTL_SCALAR_U32, 4);
	mat = pctl_build_matrix(s.b, PCTL_SCALAR_I32, 2, 3);
	atomic = pctl_build_atomic(s.b, PCTL_SCALAR_U32);
	pctl_build_vector(s.b, PCTL_SCALAR_F16, 2); /* unused: dropped */
	members[0].type = s.u32;
	members[1].type = u64;
	members[2].type = mat;
	pair = pctl_build_struct(s.b, members, 3);
	n = pctl_build_override(s.b, "n", 7, s.u32);
	pctl_build_spec_begin(s.b);
	args[0] = n;
	size = pctl_build_inst(s.b, PCTL_OP_OVERRIDE, s.u32, args, 1);
	one = pctl_build_const(s.b, s.u32, 32);
	pctl_build_override_default(s.b, n, one);
	pctl_build_function_end(s.b);
	counted = pctl_build_array(s.b, s.u32, 0, size + 1);
	wg = sample_var(&s, "shared_words", counted, PCTL_SPACE_WORKGROUP, 0);
	s.data = sample_storage(&s, "data", pctl_build_array(s.b, vec4, 0, 0), 3, 1);
	s.uniforms = sample_var(&s, "uniforms", pair, PCTL_SPACE_UNIFORM, 1);
	counter = sample_storage(&s, "counter", atomic, 2, 1);
	max.var = s.uniforms;
	pctl_build_max(s.b, &max);
	pctl_build_meta(s.b, dispatch, 1000000);

	pctl_build_function_begin(s.b, "twice", &s.u32, 1, s.u32);
	helper_arg = sample_op(&s, PCTL_OP_ADD, 0, 0);
	sample_mark(&s, PCTL_OP_RETURN, helper_arg, 1);
	callee = pctl_build_function_end(s.b);

	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	local = pctl_build_local(s.b, "i", s.u32);
	args[0] = sample_builtin(&s, PCTL_BUILTIN_LOCAL_INDEX, 0);
	sample_store_at(&s, args[0], wg, args[0]);
	args[1] = PCTL_BARRIER_WORKGROUP;
	sample_mark(&s, PCTL_OP_BARRIER, args[1], 1);
	zero = 0;
	i = sample_for_begin(&s, local, sample_load(&s, s.u32, s.uniforms, &zero, 1));
	args[0] = callee;
	args[1] = i;
	i = pctl_build_inst(s.b, PCTL_OP_CALL, s.u32, args, 2);
	sample_mark(&s, PCTL_OP_SWITCH, i, 1);
	pctl_build_inst(s.b, PCTL_OP_CASE, 0, case_one, 3);
	sample_mark(&s, PCTL_OP_CONTINUE, 0, 0);
	pctl_build_inst(s.b, PCTL_OP_CASE, 0, case_default, 1);
	args[0] = i;
	args[1] = counter;
	pctl_build_inst(s.b, PCTL_OP_ATOMIC_ADD, s.u32, args, 2);
	sample_mark(&s, PCTL_OP_END_SWITCH, 0, 0);
	args[0] = i;
	args[0] = pctl_build_inst(s.b, PCTL_OP_SPLAT, vec4, args, 1);
	sample_store_at(&s, args[0], s.data, sample_builtin(&s, PCTL_BUILTIN_GLOBAL_ID, 0));
	sample_for_end(&s, local);
	entry.function = pctl_build_function_end(s.b);
	entry.workgroup_size_spec[0] = size + 1;
	pctl_build_entry(s.b, &entry, "main");
	return s.b;
}

/* data[gid] = fma(data[gid], table[gid & 3], f32(h * bf16 of it)) over f32, f16 and bf16, in a loop
 * of a float condition with an integer bound; 32 invocations. */
static inline pctl_builder *sample_floats(void)
{
	uint32_t f32, f16, bf16, gid, x, y, h, local, length, args[5];
	sample s;

	sample_begin(&s);
	f32 = pctl_build_scalar(s.b, PCTL_SCALAR_F32);
	f16 = pctl_build_scalar(s.b, PCTL_SCALAR_F16);
	bf16 = pctl_build_scalar(s.b, PCTL_SCALAR_BF16);
	s.data = sample_storage(&s, "data", pctl_build_array(s.b, f32, 0, 0), 0, 1);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	local = pctl_build_local(s.b, "i", s.u32);
	gid = sample_builtin(&s, PCTL_BUILTIN_GLOBAL_ID, 0);
	length = pctl_build_inst(s.b, PCTL_OP_ARRAY_LENGTH, s.u32, &s.data, 1);
	sample_mark(&s, PCTL_OP_IF, sample_compare(&s, PCTL_OP_LT, gid, length), 1);
	sample_for_begin(&s, local, sample_const(&s, 3));
	x = sample_load(&s, f32, s.data, &gid, 1);
	sample_mark(&s, PCTL_OP_IF,
		    pctl_build_op(s.b, PCTL_OP_FLT, s.boolean, x,
				  pctl_build_const(s.b, f32, 0x42c80000)),
		    1);
	args[0] = sample_op(&s, PCTL_OP_AND, gid, sample_const(&s, 3));
	args[1] = 0x3f800000;
	args[2] = 0x3fc00000;
	args[3] = 0xbf000000;
	args[4] = 0x40490fdb;
	y = pctl_build_inst(s.b, PCTL_OP_LOOKUP, f32, args, 5);
	h = pctl_build_op(s.b, PCTL_OP_FCONVERT, f16, x, 0);
	h = pctl_build_op(s.b, PCTL_OP_FSQRT, f16, pctl_build_op(s.b, PCTL_OP_FABS, f16, h, 0), 0);
	h = pctl_build_op(s.b, PCTL_OP_FCONVERT, bf16, h, 0);
	h = pctl_build_op(s.b, PCTL_OP_FDIV, bf16, h, pctl_build_const(s.b, bf16, 0x4040));
	args[0] = x;
	args[1] = y;
	args[2] = pctl_build_op(s.b, PCTL_OP_FCONVERT, f32, h, 0);
	x = pctl_build_inst(s.b, PCTL_OP_FFMA, f32, args, 3);
	x = pctl_build_op(s.b, PCTL_OP_FMAX, f32, x, pctl_build_op(s.b, PCTL_OP_FNEG, f32, y, 0));
	sample_store(&s, pctl_build_op(s.b, PCTL_OP_FEXP, f32, x, 0), s.data, &gid, 1);
	sample_mark(&s, PCTL_OP_END_IF, 0, 0);
	sample_for_end(&s, local);
	sample_mark(&s, PCTL_OP_END_IF, 0, 0);
	sample_entry(&s, pctl_build_function_end(s.b), 32, 1, 1);
	return s.b;
}

#endif
