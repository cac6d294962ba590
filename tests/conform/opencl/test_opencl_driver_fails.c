/* A driver that refuses: this program's own cl functions come before the loader's, pass every call on, and fail the one that
 * a case plants. Each failure has its code, harms nothing else, and a lost device stays lost. */
#include "planted/planted.h"
#include "sketch.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdlib.h>

#define USAGE (PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER)

static struct {
	const char *call; /* the one that fails, NULL: none */
	cl_int error;
} plant;

static int strikes(const char *call)
{
	return plant.call && !strcmp(plant.call, call);
}

static void real(const char *name, void *function)
{
	static void *loader;

	if (!loader)
		loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
	*(void **)function = loader ? dlsym(loader, name) : NULL;
	assert_non_null(*(void **)function);
}

cl_mem clCreateBuffer(cl_context c, cl_mem_flags flags, size_t n, void *host, cl_int *error)
{
	cl_mem (*go)(cl_context, cl_mem_flags, size_t, void *, cl_int *);

	real("clCreateBuffer", &go);
	if (!strikes("clCreateBuffer"))
		return go(c, flags, n, host, error);
	*error = plant.error;
	return NULL;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dims, const size_t *offset,
			      const size_t *global, const size_t *local, cl_uint n,
			      const cl_event *wait, cl_event *out)
{
	cl_int (*go)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
		     const size_t *, cl_uint, const cl_event *, cl_event *);

	real("clEnqueueNDRangeKernel", &go);
	return strikes("clEnqueueNDRangeKernel")
		       ? plant.error
		       : go(q, k, dims, offset, global, local, n, wait, out);
}

/* Planted, what a command came to is an error: it failed while it ran. */
cl_int clGetEventInfo(cl_event e, cl_event_info what, size_t n, void *value, size_t *n_out)
{
	cl_int (*go)(cl_event, cl_event_info, size_t, void *, size_t *);
	cl_int error;

	real("clGetEventInfo", &go);
	error = go(e, what, n, value, n_out);
	if (strikes("clGetEventInfo") && what == CL_EVENT_COMMAND_EXECUTION_STATUS)
		memcpy(value, &plant.error, sizeof(plant.error));
	return error;
}

/* Planted, the text is none that a compiler takes: the driver's own log follows. */
cl_program clCreateProgramWithSource(cl_context c, cl_uint n, const char **texts,
				     const size_t *lengths, cl_int *error)
{
	static const char *wrong = "kernel void main(global uint *x) { x[0] = undeclared; }";
	cl_program (*go)(cl_context, cl_uint, const char **, const size_t *, cl_int *);

	real("clCreateProgramWithSource", &go);
	return strikes("clCreateProgramWithSource") ? go(c, 1, &wrong, NULL, error)
						    : go(c, n, texts, lengths, error);
}

static void begin(const char *call, cl_int error)
{
	plant.call = call;
	plant.error = error;
}

static void caught(const rig *r, pctl_status s, uint32_t code, const char *fault, const char *words)
{
	char by[16];

	plant.call = NULL;
	assert_int_equal(s, pctl_code_status(code));
	assert_int_equal(r->last_code, code);
	if (!strstr(r->last_text, words))
		fail_msg("\"%s\" lacks \"%s\"", r->last_text, words);
	snprintf(by, sizeof(by), "PC%04u", code);
	planted(fault, "opencl", by, r->last_text);
}

/* cells[i] = cells[i] * 3 + numbers.y, where numbers is a struct of two words. */
static uint8_t *wire_of(uint64_t *n)
{
	uint32_t cells, numbers, at, v;
	pctl_member_spec members[2];
	sketch s;

	sketch_begin(&s, 1);
	members[0] = (pctl_member_spec){"x", s.t_u32, 0, 0, PCTL_OFFSET_AUTO};
	members[1] = (pctl_member_spec){"y", s.t_u32, 0, 0, PCTL_OFFSET_AUTO};
	cells = sketch_storage(&s, 0, pctl_build_array(s.b, s.t_u32, 0, 0), PCTL_ACCESS_READ_WRITE);
	numbers = sketch_storage(&s, 1, pctl_build_struct(s.b, members, 2), PCTL_ACCESS_READ);
	sketch_main(&s);
	at = global_x(&s);
	v = OP(&s, MUL, s.t_u32, OP(&s, LOAD, s.t_u32, cells, at), k_u32(&s, 3));
	v = OP(&s, ADD, s.t_u32, v, OP(&s, LOAD, s.t_u32, numbers, 1));
	OP(&s, STORE, 0, v, cells, at);
	return sketch_end(&s, n);
}

typedef struct parts {
	uint8_t *wire;
	uint64_t n;
	pctl_kernel *k;
	pctl_buffer *cells, *numbers;
	pctl_binding at[2];
	pctl_list *l;
} parts;

static const uint32_t groups[3] = {1, 1, 1};

static parts make(rig *r)
{
	const uint32_t seven = 7, pair[2] = {1, 2};
	parts p = {0};

	p.wire = wire_of(&p.n);
	p.k = rig_build(r, p.wire, p.n, 0);
	rig_must(r, r->api->buffer_create(r->dev, &r->call, 4, USAGE, &p.cells), "cells");
	rig_must(r, r->api->buffer_create(r->dev, &r->call, 8, USAGE, &p.numbers), "numbers");
	rig_must(r, r->api->buffer_write(r->dev, &r->call, p.cells, 0, &seven, 4), "seven");
	rig_must(r, r->api->buffer_write(r->dev, &r->call, p.numbers, 0, pair, 8), "pair");
	p.at[0] = (pctl_binding){0, 0, p.cells, 0, 4};
	p.at[1] = (pctl_binding){0, 1, p.numbers, 0, 8};
	rig_must(r, r->api->list_begin(r->dev, &r->call, &p.l), "list_begin");
	return p;
}

static void unmake(rig *r, parts *p)
{
	r->api->list_destroy(r->dev, p->l);
	r->api->kernel_destroy(r->dev, p->k);
	r->api->buffer_destroy(r->dev, p->cells);
	r->api->buffer_destroy(r->dev, p->numbers);
	free(p->wire);
}

/* The device serves on when a call of it has failed. */
static void still_works(rig *r)
{
	parts p = make(r);
	uint32_t word = 0;

	rig_dispatch(r, p.k, p.at, 2, groups);
	rig_must(r, r->api->buffer_read(r->dev, &r->call, p.cells, 0, &word, 4), "buffer_read");
	assert_int_equal(word, 23);
	unmake(r, &p);
}

static void test_opencl__no_memory(void **state)
{
	pctl_buffer *b = NULL;
	rig *r = *state;
	pctl_status s;

	begin("clCreateBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE);
	s = r->api->buffer_create(r->dev, &r->call, 4096, USAGE, &b);
	assert_null(b);
	caught(r, s, PC3272_OPENCL_MEMORY, "no memory within the limits", "(-4)");
	still_works(r);
}

static void test_opencl__no_compiler(void **state)
{
	pctl_kernel *k = NULL;
	rig *r = *state;
	pctl_status s;
	uint64_t n;
	uint8_t *wire = wire_of(&n);

	begin("clCreateProgramWithSource", CL_SUCCESS);
	s = r->api->kernel_build(r->dev, &r->call, wire, n, 0, NULL, 0, &k);
	assert_null(k);
	/* Rusticl's log is a line of its own; of the others this names what is wrong. */
	caught(r, s, PC3274_OPENCL_BUILD, "the compiler refuses the text", "(-11)");
	free(wire);
	still_works(r);
}

static void test_opencl__a_binding_that_is_too_short(void **state)
{
	rig *r = *state;
	parts p = make(r);
	pctl_status s;

	p.at[1].n_bytes = 4;
	s = r->api->list_dispatch(p.l, &r->call, p.k, p.at, 2, groups);
	caught(r, s, PC3275_OPENCL_SHORT_BINDING, "half a struct is bound",
	       "4 bytes, its type needs 8");
	unmake(r, &p);
	still_works(r);
}

static pctl_status run(rig *r, parts *p)
{
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	uint64_t ticket = 0;
	pctl_status s = r->api->submit(r->dev, &r->call, p->l, 1, &ticket);

	if (!s)
		s = r->api->wait(r->dev, &r->call, ticket, UINT64_MAX, &done);
	assert_int_equal(done.done, s == PCTL_OK);
	return s;
}

static void test_opencl__a_call_that_fails(void **state)
{
	rig *r = *state;
	parts p = make(r);

	rig_must(r, r->api->list_dispatch(p.l, &r->call, p.k, p.at, 2, groups), "list_dispatch");
	rig_must(r, r->api->list_end(p.l, &r->call), "list_end");
	begin("clEnqueueNDRangeKernel", CL_INVALID_OPERATION);
	caught(r, run(r, &p), PC3270_OPENCL_CALL, "a call fails for a reason of its own", "(-59)");
	unmake(r, &p);
	still_works(r);
}

/* It was under way: nothing of it is a result, and nothing more is asked of the driver. */
static void loses(rig *r, const char *call, cl_int error, const char *fault, const char *words)
{
	parts p = make(r);
	uint64_t ticket;
	uint32_t word;

	rig_must(r, r->api->list_dispatch(p.l, &r->call, p.k, p.at, 2, groups), "list_dispatch");
	rig_must(r, r->api->list_end(p.l, &r->call), "list_end");
	begin(call, error);
	caught(r, run(r, &p), PC3271_OPENCL_LOST, fault, words);
	assert_int_equal(r->api->submit(r->dev, &r->call, p.l, 1, &ticket), PCTL_E_DEVICE_LOST);
	assert_int_equal(r->last_code, PC3271_OPENCL_LOST);
	assert_int_equal(r->api->buffer_read(r->dev, &r->call, p.cells, 0, &word, 4),
			 PCTL_E_DEVICE_LOST);
	unmake(r, &p);
	r->api->device_close(r->dev);
	r->dev = NULL;
	assert_int_equal(rig_device(r, 0), 1);
	still_works(r);
}

static void test_opencl__a_lost_device(void **state)
{
	loses(*state, "clEnqueueNDRangeKernel", CL_OUT_OF_RESOURCES, "the driver loses the device",
	      "(-5)");
	loses(*state, "clGetEventInfo", CL_OUT_OF_RESOURCES, "a command fails while it runs",
	      "running a command list");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opencl__no_memory),
		cmocka_unit_test(test_opencl__no_compiler),
		cmocka_unit_test(test_opencl__a_binding_that_is_too_short),
		cmocka_unit_test(test_opencl__a_call_that_fails),
		cmocka_unit_test(test_opencl__a_lost_device),
	};

	return cmocka_run_group_tests(tests, sketch_setup, sketch_teardown) != 0;
}
