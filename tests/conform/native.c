/* See native.h: programs over words. */
#include "native.h"

#include <stdlib.h>

uint32_t native_inst(pctl_builder *b, uint16_t op, uint32_t type, uint32_t n, ...)
{
	uint32_t args[64], i;
	va_list list;

	va_start(list, n);
	for (i = 0; i < n && i < 64; i++)
		args[i] = va_arg(list, uint32_t);
	va_end(list);
	return pctl_build_inst(b, op, type, args, n);
}

uint32_t native_u32(words *w, uint32_t value)
{
	return pctl_build_const(w->b, w->u32, value);
}

void words_begin(words *w)
{
	pctl_var v = {.space = PCTL_SPACE_STORAGE, .access = PCTL_ACCESS_READ};

	*w = (words){.b = pctl_builder_create()};
	assert_non_null(w->b);
	pctl_build_spec_begin(w->b);
	pctl_build_function_end(w->b);
	w->u32 = pctl_build_scalar(w->b, PCTL_SCALAR_U32);
	w->i32 = pctl_build_scalar(w->b, PCTL_SCALAR_I32);
	w->boolean = pctl_build_scalar(w->b, PCTL_SCALAR_BOOL);
	v.type = pctl_build_array(w->b, w->u32, 0, 0);
	w->in = pctl_build_var(w->b, &v, "in");
	v.access = PCTL_ACCESS_READ_WRITE;
	v.binding = 1;
	w->out = pctl_build_var(w->b, &v, "out");
}

void words_main(words *w, uint32_t n_in, uint32_t n_out)
{
	uint32_t id;

	w->n_in = n_in;
	w->n_out = n_out;
	pctl_build_function_begin(w->b, "main", NULL, 0, 0);
	id = native_inst(w->b, PCTL_OP_BUILTIN, pctl_build_vector(w->b, PCTL_SCALAR_U32, 3), 1,
			 PCTL_BUILTIN_GLOBAL_ID);
	w->row = native_inst(w->b, PCTL_OP_EXTRACT, w->u32, 2, id, 0);
}

static uint32_t at(words *w, uint32_t n, uint32_t i)
{
	const uint32_t first = native_inst(w->b, PCTL_OP_MUL, w->u32, 2, w->row, native_u32(w, n));

	return native_inst(w->b, PCTL_OP_ADD, w->u32, 2, first, native_u32(w, i));
}

uint32_t words_take(words *w)
{
	assert_true(w->taken < w->n_in);
	return native_inst(w->b, PCTL_OP_LOAD, w->u32, 2, w->in, at(w, w->n_in, w->taken++));
}

void words_leave(words *w, uint32_t value)
{
	assert_true(w->left < w->n_out);
	native_inst(w->b, PCTL_OP_STORE, 0, 3, value, w->out, at(w, w->n_out, w->left++));
}

rig_program words_end(words *w)
{
	pctl_entry e = {.workgroup_size = {WORDS_GROUP, 1, 1}};

	assert_int_equal(w->taken, w->n_in);
	assert_int_equal(w->left, w->n_out);
	e.function = pctl_build_function_end(w->b);
	pctl_build_entry(w->b, &e, "main");
	return rig_finish(w->b);
}

void words_run(rig *r, rig_program p, const uint32_t *in, uint32_t n_in, uint32_t *out,
	       uint32_t n_out, uint32_t rows)
{
	const uint64_t n_bytes = (uint64_t)rows * n_in * 4;
	uint32_t *copy = calloc(n_bytes ? n_bytes : 4, 1);
	rig_bytes arrays[2] = {{copy, n_bytes, 0}, {out, (uint64_t)rows * n_out * 4, 0}};

	assert_non_null(copy);
	assert_int_equal(rows % WORDS_GROUP, 0);
	if (n_bytes)
		memcpy(copy, in, n_bytes);
	memset(out, 0xa5, (size_t)rows * n_out * 4);
	rig_run(r, p.wire, p.n, 0, arrays, 2, rows / WORDS_GROUP, 1, 1);
	free(copy);
	free(p.wire);
}

pctl_support native_asked(rig *r, rig_program p)
{
	pctl_kernel *k = NULL;
	pctl_support s;
	pctl_status status;

	rig_must(r, r->api->supports(r->dev, &r->call, p.wire, p.n, &s), "supports");
	if (!s.supported) {
		assert_true(s.reason[0]);
		status = r->api->kernel_build(r->dev, &r->call, p.wire, p.n, 0, NULL, 0, &k);
		assert_int_not_equal(status, PCTL_OK);
		assert_int_equal(r->last_code, s.code);
	}
	return s;
}

int native_is(const rig *r, const char *name)
{
	return strstr(r->info.name, name) || strstr(r->info.driver, name);
}

/* NVIDIA's driver calls itself so through Vulkan, and CUDA through OpenCL, where it is exact. */
int native_keeps_subnormals(const rig *r)
{
	return !native_is(r, "SwiftShader") && (!native_is(r, "NVIDIA") || native_is(r, "CUDA"));
}

int native_fuses(const rig *r)
{
	return native_is(r, "pthread") || native_is(r, "Portable") || native_is(r, "NVIDIA");
}
