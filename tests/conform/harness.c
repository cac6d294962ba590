/* See harness.h. */
#include "harness.h"

#include <dlfcn.h>
#include <stdlib.h>

static void sink(void *ctx, const pctl_diag *d)
{
	rig *r = ctx;

	r->last_code = d->code;
	snprintf(r->last_text, sizeof(r->last_text), "%s", d->message);
}

static uint32_t cancelled(void *ctx)
{
	rig *r = ctx;

	return r->cancel_after && --r->cancel_after == 0 ? (r->cancel_after = 1) : 0;
}

static void ok(rig *r, pctl_status status)
{
	if (status != PCTL_OK)
		fail_msg("status %d, PC%04u: %s", status, r->last_code, r->last_text);
}

void rig_open(rig *r, const char *path)
{
	static const pctl_host host = {.head = PCTL_HEAD(pctl_host)};
	const pctl_plugin *plugin;

	memset(r, 0, sizeof(*r));
	r->call = (pctl_call){
		.head = PCTL_HEAD(pctl_call), .ctx = r, .diag = sink, .cancelled = cancelled};
	r->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!r->library)
		fail_msg("%s", dlerror());
	plugin = dlsym(r->library, PCTL_PLUGIN_SYMBOL);
	assert_non_null(plugin);
	ok(r, plugin->open(&host, &r->call, &r->inst));
	r->be = plugin->interface(r->inst, PCTL_BACKEND_INTERFACE);
	assert_non_null(r->be);
	ok(r, r->be->device_open(r->inst, &r->call, 0, &r->dev));
}

void rig_close(rig *r)
{
	const pctl_plugin *plugin = dlsym(r->library, PCTL_PLUGIN_SYMBOL);

	r->be->device_close(r->dev);
	plugin->close(r->inst);
	/* The library stays loaded, as hosts keep it. */
}

void prog_begin(prog *p)
{
	memset(p, 0, sizeof(*p));
	p->b = pctl_builder_create();
	p->boolean = pctl_build_scalar(p->b, PCTL_SCALAR_BOOL);
	p->i32 = pctl_build_scalar(p->b, PCTL_SCALAR_I32);
	p->u32 = pctl_build_scalar(p->b, PCTL_SCALAR_U32);
	p->i64 = pctl_build_scalar(p->b, PCTL_SCALAR_I64);
	p->u64 = pctl_build_scalar(p->b, PCTL_SCALAR_U64);
	p->vec3 = pctl_build_vector(p->b, PCTL_SCALAR_U32, 3);
}

uint32_t prog_storage(prog *p, const char *name, uint32_t type, int writable)
{
	const pctl_var v = {.type = type,
			    .space = PCTL_SPACE_STORAGE,
			    .access = writable ? PCTL_ACCESS_READ_WRITE : PCTL_ACCESS_READ,
			    .binding = p->n_bindings++};

	return pctl_build_var(p->b, &v, name);
}

uint32_t prog_uniform(prog *p, const char *name, uint32_t type)
{
	const pctl_var v = {.type = type, .space = PCTL_SPACE_UNIFORM, .binding = p->n_bindings++};

	return pctl_build_var(p->b, &v, name);
}

uint32_t prog_var(prog *p, const char *name, uint32_t type, uint8_t space)
{
	const pctl_var v = {.type = type, .space = space};

	return pctl_build_var(p->b, &v, name);
}

uint32_t prog_u32(prog *p, uint32_t value)
{
	return pctl_build_const(p->b, p->u32, value);
}

uint32_t prog_i32(prog *p, int32_t value)
{
	return pctl_build_const(p->b, p->i32, (uint32_t)value);
}

uint32_t prog_op(prog *p, uint16_t op, uint32_t type, uint32_t n, ...)
{
	uint32_t args[64];
	va_list ap;

	assert_true(n <= 64);
	va_start(ap, n);
	for (uint32_t i = 0; i < n; i++)
		args[i] = va_arg(ap, uint32_t);
	va_end(ap);
	return pctl_build_inst(p->b, op, type, args, n);
}

uint32_t prog_local(uint32_t index)
{
	return PCTL_PLACE_LOCAL | index;
}

uint32_t prog_add(prog *p, uint32_t a, uint32_t b)
{
	return prog_op(p, PCTL_OP_ADD, p->u32, 2, a, b);
}

uint32_t prog_mul(prog *p, uint32_t a, uint32_t b)
{
	return prog_op(p, PCTL_OP_MUL, p->u32, 2, a, b);
}

uint32_t prog_builtin(prog *p, uint32_t which, uint32_t component)
{
	if (which == PCTL_BUILTIN_LOCAL_INDEX)
		return prog_op(p, PCTL_OP_BUILTIN, p->u32, 1, which);
	return prog_op(p, PCTL_OP_EXTRACT, p->u32, 2,
		       prog_op(p, PCTL_OP_BUILTIN, p->vec3, 1, which), component);
}

uint32_t prog_load(prog *p, uint32_t type, uint32_t root, uint32_t n, ...)
{
	uint32_t args[16] = {root};
	va_list ap;

	va_start(ap, n);
	for (uint32_t i = 0; i < n; i++)
		args[1 + i] = va_arg(ap, uint32_t);
	va_end(ap);
	return pctl_build_inst(p->b, PCTL_OP_LOAD, type, args, n + 1);
}

void prog_store(prog *p, uint32_t value, uint32_t root, uint32_t n, ...)
{
	uint32_t args[16] = {value, root};
	va_list ap;

	va_start(ap, n);
	for (uint32_t i = 0; i < n; i++)
		args[2 + i] = va_arg(ap, uint32_t);
	va_end(ap);
	pctl_build_inst(p->b, PCTL_OP_STORE, 0, args, n + 2);
}

void prog_main(prog *p)
{
	pctl_build_function_begin(p->b, "main", NULL, 0, 0);
}

static void print_diag(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	fprintf(stderr, "PC%04u: %s\n", d->code, d->message);
}

void prog_entry(prog *p, uint32_t function, uint32_t x, uint32_t y, uint32_t z, uint8_t **wire,
		uint64_t *n_wire)
{
	const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = print_diag};
	const pctl_entry e = {.function = function, .workgroup_size = {x, y, z}};
	pctl_program *program = NULL;

	pctl_build_entry(p->b, &e, "main");
	assert_int_equal(pctl_builder_finish(p->b, &call, &program), PCTL_OK);
	assert_int_equal(pctl_program_encode(program, &call, wire, n_wire), PCTL_OK);
	pctl_program_destroy(program);
	pctl_builder_destroy(p->b);
	p->b = NULL;
}

void prog_end(prog *p, uint32_t x, uint32_t y, uint32_t z, uint8_t **wire, uint64_t *n_wire)
{
	prog_entry(p, pctl_build_function_end(p->b), x, y, z, wire, n_wire);
}

void rig_run(rig *r, const uint8_t *wire, uint64_t n_wire, uint32_t flags, bytes *arrays,
	     uint32_t n, uint32_t gx, uint32_t gy, uint32_t gz)
{
	const uint32_t groups[3] = {gx, gy, gz};
	/* What lies around a binding must neither be read nor written. */
	uint8_t guard[64], back[64];
	pctl_binding bindings[16] = {0};
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	pctl_kernel *k;
	pctl_list *l;
	uint64_t ticket;

	assert_true(n <= 16);
	ok(r, r->be->kernel_build(r->dev, &r->call, wire, n_wire, flags, NULL, 0, &k));
	memset(guard, 0xa5, sizeof(guard));
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t usage =
			arrays[i].is_uniform ? PCTL_BUFFER_UNIFORM : PCTL_BUFFER_STORAGE;
		pctl_buffer **b = &bindings[i].buffer;

		bindings[i].binding = i;
		bindings[i].n_bytes = arrays[i].n_bytes;
		bindings[i].offset = sizeof(guard);
		ok(r, r->be->buffer_create(r->dev, &r->call, arrays[i].n_bytes + 2 * sizeof(guard),
					   PCTL_BUFFER_TRANSFER | usage, b));
		ok(r, r->be->buffer_write(r->dev, &r->call, *b, 0, guard, sizeof(guard)));
		ok(r, r->be->buffer_write(r->dev, &r->call, *b, sizeof(guard), arrays[i].data,
					  arrays[i].n_bytes));
		ok(r, r->be->buffer_write(r->dev, &r->call, *b, sizeof(guard) + arrays[i].n_bytes,
					  guard, sizeof(guard)));
	}
	ok(r, r->be->list_begin(r->dev, &r->call, &l));
	ok(r, r->be->list_dispatch(l, &r->call, k, bindings, n, groups));
	ok(r, r->be->list_end(l, &r->call));
	ok(r, r->be->submit(r->dev, &r->call, l, 1, &ticket));
	ok(r, r->be->wait(r->dev, &r->call, ticket, 100000000000u, &done));
	assert_int_equal(done.done, 1);
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t end = sizeof(guard) + arrays[i].n_bytes;

		ok(r, r->be->buffer_read(r->dev, &r->call, bindings[i].buffer, sizeof(guard),
					 arrays[i].data, arrays[i].n_bytes));
		for (int side = 0; side < 2; side++) {
			ok(r, r->be->buffer_read(r->dev, &r->call, bindings[i].buffer,
						 side ? end : 0, back, sizeof(back)));
			assert_memory_equal(guard, back, sizeof(guard));
		}
		r->be->buffer_destroy(r->dev, bindings[i].buffer);
	}
	r->be->list_destroy(r->dev, l);
	r->be->kernel_destroy(r->dev, k);
}

void rig_run_prog(rig *r, prog *p, uint32_t local_x, uint32_t flags, bytes *arrays, uint32_t n,
		  uint32_t gx)
{
	uint8_t *wire;
	uint64_t n_wire;

	prog_end(p, local_x, 1, 1, &wire, &n_wire);
	rig_run(r, wire, n_wire, flags, arrays, n, gx, 1, 1);
	free(wire);
}

uint64_t rnd(uint64_t seed, uint64_t counter)
{
	uint64_t z = seed * 0x9e3779b97f4a7c15u + counter * 0xd1b54a32d192ed03u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}
