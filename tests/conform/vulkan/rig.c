/* See rig.h. */
#include "rig.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "pipectl/program.h"

static void hear(void *ctx, const pctl_diag *d)
{
	rig *r = ctx;

	r->last_code = d->code;
	snprintf(r->last_text, sizeof(r->last_text), "PC%04u %s", d->code, d->message);
}

static uint32_t ask_cancelled(void *ctx)
{
	return ((rig *)ctx)->cancel_now;
}

static const void *service(void *ctx, const char *name)
{
	static const uint32_t on = 1;

	(void)ctx;
	if (strcmp(name, PCTL_SERVICE_DEBUG) == 0 && !getenv("PIPECTL_TEST_NO_DEBUG"))
		return &on;
	if (strcmp(name, PCTL_SERVICE_CACHE_DIR) == 0)
		return getenv("PIPECTL_TEST_CACHE_DIR");
	return NULL;
}

static const pctl_host host = {.head = PCTL_HEAD(pctl_host), .get_service = service};

static void must(rig *r, pctl_status status, const char *what)
{
	if (status != PCTL_OK)
		fail_msg("%s: status %d on %s: %s", what, (int)status, r->info.name, r->last_text);
}

int rig_open(rig *r, uint32_t index)
{
	const char *path = getenv("PIPECTL_TEST_PLUGIN");
	pctl_device_info infos[8];

	memset(r, 0, sizeof(*r));
	r->call = (pctl_call){
		.head = PCTL_HEAD(pctl_call), .ctx = r, .diag = hear, .cancelled = ask_cancelled};
	r->library = dlopen(path ? path : PIPECTL_VULKAN_PLUGIN, RTLD_NOW | RTLD_LOCAL);
	if (!r->library)
		fail_msg("%s", dlerror());
	r->plugin = dlsym(r->library, PCTL_PLUGIN_SYMBOL);
	assert_non_null(r->plugin);
	must(r, r->plugin->open(&host, &r->call, &r->inst), "open");
	r->api = r->plugin->interface(r->inst, PCTL_BACKEND_INTERFACE);
	assert_non_null(r->api);
	must(r, r->api->devices(r->inst, &r->call, 8, infos, &r->n_devices), "devices");
	if (r->n_devices == 0)
		fail_msg("no Vulkan device on this machine");
	if (index >= r->n_devices || index >= 8) {
		r->plugin->close(r->inst);
		return 0;
	}
	r->info = infos[index];
	r->index = index;
	must(r, r->api->device_open(r->inst, &r->call, index, &r->dev), "device_open");
	must(r, r->api->device_caps(r->dev, &r->call, &r->caps), "device_caps");
	return 1;
}

void rig_close(rig *r)
{
	r->api->device_close(r->dev);
	r->plugin->close(r->inst);
}

void rig_each(void (*body)(rig *r))
{
	uint32_t i;
	rig r;

	for (i = 0; rig_open(&r, i); i++) {
		body(&r);
		rig_close(&r);
	}
}

rig_program rig_finish(pctl_builder *b)
{
	rig_program out = {NULL, 0};
	rig r = {0};
	pctl_program *p = NULL;

	r.call = (pctl_call){.head = PCTL_HEAD(pctl_call), .ctx = &r, .diag = hear};
	if (pctl_builder_finish(b, &r.call, &p) != PCTL_OK)
		fail_msg("the test's program is not valid: %s", r.last_text);
	pctl_builder_destroy(b);
	if (pctl_program_encode(p, &r.call, &out.wire, &out.n) != PCTL_OK)
		fail_msg("the test's program has no wire form: %s", r.last_text);
	pctl_program_destroy(p);
	return out;
}

void rig_run(rig *r, const rig_program *p, const rig_bytes *bytes, uint32_t n, uint32_t x,
	     uint32_t y, uint32_t z)
{
	const uint32_t groups[3] = {x, y, z};
	pctl_buffer *buffers[RIG_BUFFERS] = {0};
	pctl_binding bindings[RIG_BUFFERS] = {0};
	pctl_completion done;
	pctl_kernel *k;
	pctl_list *l;
	uint64_t ticket;
	uint32_t i;

	must(r, r->api->kernel_build(r->dev, &r->call, p->wire, p->n, 0, NULL, 0, &k),
	     "kernel_build");
	for (i = 0; i < n; i++) {
		must(r,
		     r->api->buffer_create(
			     r->dev, &r->call, bytes[i].n_bytes,
			     (bytes[i].uniform ? PCTL_BUFFER_UNIFORM : PCTL_BUFFER_STORAGE) |
				     PCTL_BUFFER_TRANSFER,
			     &buffers[i]),
		     "buffer_create");
		must(r,
		     r->api->buffer_write(r->dev, &r->call, buffers[i], 0, bytes[i].data,
					  bytes[i].n_bytes),
		     "buffer_write");
		bindings[i] = (pctl_binding){
			.binding = i, .buffer = buffers[i], .n_bytes = bytes[i].n_bytes};
	}
	must(r, r->api->list_begin(r->dev, &r->call, &l), "list_begin");
	must(r, r->api->list_dispatch(l, &r->call, k, bindings, n, groups), "list_dispatch");
	must(r, r->api->list_end(l, &r->call), "list_end");
	must(r, r->api->submit(r->dev, &r->call, l, 1, &ticket), "submit");
	must(r, r->api->wait(r->dev, &r->call, ticket, UINT64_MAX, &done), "wait");
	assert_int_equal(done.done, 1);
	for (i = 0; i < n; i++)
		must(r,
		     r->api->buffer_read(r->dev, &r->call, buffers[i], 0, bytes[i].data,
					 bytes[i].n_bytes),
		     "buffer_read");
	r->api->list_destroy(r->dev, l);
	for (i = 0; i < n; i++)
		r->api->buffer_destroy(r->dev, buffers[i]);
	r->api->kernel_destroy(r->dev, k);
}

/* ---- building ---- */

pctl_builder *rig_builder(void)
{
	pctl_builder *b = pctl_builder_create();

	assert_non_null(b);
	pctl_build_spec_begin(b);
	pctl_build_function_end(b);
	return b;
}

static uint32_t make_var(pctl_builder *b, uint8_t space, uint8_t access, uint32_t binding,
			 uint32_t type, const char *name)
{
	const pctl_var v = {.type = type, .space = space, .access = access, .binding = binding};

	return pctl_build_var(b, &v, name);
}

uint32_t rig_storage(pctl_builder *b, uint32_t binding, uint32_t type, int writable)
{
	return make_var(b, PCTL_SPACE_STORAGE, writable ? PCTL_ACCESS_READ_WRITE : PCTL_ACCESS_READ,
			binding, type, "s");
}

uint32_t rig_uniform(pctl_builder *b, uint32_t binding, uint32_t type)
{
	return make_var(b, PCTL_SPACE_UNIFORM, PCTL_ACCESS_READ, binding, type, "u");
}

uint32_t rig_group_var(pctl_builder *b, uint32_t type)
{
	return make_var(b, PCTL_SPACE_WORKGROUP, PCTL_ACCESS_READ_WRITE, 0, type, "w");
}

uint32_t rig_private(pctl_builder *b, uint32_t type)
{
	return make_var(b, PCTL_SPACE_PRIVATE, PCTL_ACCESS_READ_WRITE, 0, type, "p");
}

void rig_entry(pctl_builder *b, uint32_t x, uint32_t y, uint32_t z)
{
	pctl_entry e = {.workgroup_size = {x, y, z}};

	e.function = pctl_build_function_end(b);
	pctl_build_entry(b, &e, "main");
}

uint32_t rig_inst(pctl_builder *b, uint16_t op, uint32_t type, uint32_t n, ...)
{
	uint32_t args[16], i;
	va_list list;

	va_start(list, n);
	for (i = 0; i < n && i < 16; i++)
		args[i] = va_arg(list, uint32_t);
	va_end(list);
	return pctl_build_inst(b, op, type, args, n);
}

uint32_t rig_u32(pctl_builder *b, uint32_t value)
{
	return pctl_build_const(b, pctl_build_scalar(b, PCTL_SCALAR_U32), value);
}

uint32_t rig_global_x(pctl_builder *b)
{
	const uint32_t u32 = pctl_build_scalar(b, PCTL_SCALAR_U32);
	const uint32_t id = rig_inst(b, PCTL_OP_BUILTIN, pctl_build_vector(b, PCTL_SCALAR_U32, 3),
				     1, PCTL_BUILTIN_GLOBAL_ID);

	return rig_inst(b, PCTL_OP_EXTRACT, u32, 2, id, 0);
}

/* ---- numbers ---- */

uint64_t rig_random(uint64_t seed, uint64_t n)
{
	uint64_t x = seed * 0x9e3779b97f4a7c15ull + n * 0xd1b54a32d192ed03ull + 1;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

uint64_t rig_value(uint64_t seed, uint32_t n, uint32_t bits)
{
	static const uint64_t edges[] = {0,
					 1,
					 2,
					 3,
					 5,
					 7,
					 31,
					 32,
					 33,
					 63,
					 64,
					 0x7f,
					 0x80,
					 0xff,
					 0x7fffffff,
					 0x80000000,
					 0x80000001,
					 0xfffffffe,
					 0xffffffff,
					 0x100000000,
					 0x7fffffffffffffff,
					 0x8000000000000000,
					 0x8000000000000001,
					 0xfffffffffffffffe,
					 0xffffffffffffffff,
					 0xffffffff00000000,
					 0x80000000ffffffff};
	const uint64_t count = sizeof(edges) / sizeof(edges[0]);
	const uint64_t r = rig_random(seed, n);
	uint64_t v;

	/* half edges, a quarter sparse, a quarter anything */
	if (r & 1)
		v = edges[(r >> 8) % count];
	else if (r & 2)
		v = rig_random(seed ^ 77, n) >> ((r >> 8) % 64);
	else
		v = rig_random(seed ^ 99, n);
	return bits == 64 ? v : v & 0xffffffff;
}
