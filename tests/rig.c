/* See rig.h. */
#include "rig.h"

#include <dlfcn.h>
#include <stdlib.h>

static void *host_alloc(void *ctx, uint64_t n)
{
	(void)ctx;
	return calloc(1, n ? n : 1);
}

static void host_release(void *ctx, void *p)
{
	(void)ctx;
	free(p);
}

static void host_log(void *ctx, uint32_t level, const char *text)
{
	(void)ctx;
	(void)level;
	(void)text;
}

static const void *host_service(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return NULL;
}

const pctl_host rig_host = {.head = PCTL_HEAD(pctl_host),
			    .alloc = host_alloc,
			    .release = host_release,
			    .log = host_log,
			    .get_service = host_service};

static void hear(void *ctx, const pctl_diag *d)
{
	rig *r = ctx;

	r->last_code = d->code;
	snprintf(r->last_text, sizeof(r->last_text), "%s", d->message);
	if (r->loud)
		fprintf(stderr, "PC%04u: %s\n", d->code, d->message);
}

static uint32_t ask_cancelled(void *ctx)
{
	rig *r = ctx;

	return r->cancel_after && --r->cancel_after == 0 ? (r->cancel_after = 1) : 0;
}

void rig_must(const rig *r, pctl_status status, const char *what)
{
	if (status != PCTL_OK)
		fail_msg("%s: status %d on \"%s\", PC%04u: %s", what, (int)status, r->info.name,
			 r->last_code, r->last_text);
}

#define MUST(call_of_api) rig_must(r, call_of_api, #call_of_api)

void rig_load(rig *r, const char *path, const pctl_host *host)
{
	memset(r, 0, sizeof(*r));
	r->call = (pctl_call){
		.head = PCTL_HEAD(pctl_call), .ctx = r, .diag = hear, .cancelled = ask_cancelled};
	r->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!r->library)
		fail_msg("%s", dlerror());
	r->plugin = dlsym(r->library, PCTL_PLUGIN_SYMBOL);
	assert_non_null(r->plugin);
	MUST(r->plugin->open(host, &r->call, &r->inst));
	r->api = r->plugin->interface(r->inst, PCTL_BACKEND_INTERFACE);
	assert_non_null(r->api);
}

int rig_device(rig *r, uint32_t index)
{
	pctl_device_info infos[8];

	MUST(r->api->devices(r->inst, &r->call, 8, infos, &r->n_devices));
	if (index >= r->n_devices || index >= 8)
		return 0;
	r->info = infos[index];
	r->index = index;
	MUST(r->api->device_open(r->inst, &r->call, index, &r->dev));
	MUST(r->api->device_caps(r->dev, &r->call, &r->caps));
	return 1;
}

void rig_open(rig *r, const char *path)
{
	rig_load(r, path, &rig_host);
	if (!rig_device(r, 0))
		fail_msg("%s finds no device on this machine", path);
}

void rig_close(rig *r)
{
	if (r->dev)
		r->api->device_close(r->dev);
	r->plugin->close(r->inst);
}

pctl_kernel *rig_build(rig *r, const uint8_t *wire, uint64_t n, uint32_t flags)
{
	pctl_kernel *k = NULL;

	MUST(r->api->kernel_build(r->dev, &r->call, wire, n, flags, NULL, 0, &k));
	return k;
}

void rig_submit(rig *r, pctl_list *l, uint32_t times, pctl_completion *done)
{
	uint64_t ticket = 0;

	MUST(r->api->submit(r->dev, &r->call, l, times, &ticket));
	MUST(r->api->wait(r->dev, &r->call, ticket, UINT64_MAX, done));
	assert_int_equal(done->done, 1);
}

void rig_dispatch(rig *r, pctl_kernel *k, const pctl_binding *bindings, uint32_t n,
		  const uint32_t groups[3])
{
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	pctl_list *l = NULL;

	MUST(r->api->list_begin(r->dev, &r->call, &l));
	MUST(r->api->list_dispatch(l, &r->call, k, bindings, n, groups));
	MUST(r->api->list_end(l, &r->call));
	rig_submit(r, l, 1, &done);
	r->api->list_destroy(r->dev, l);
}

/* A buffer with the array in it, between its guards. */
static void upload(rig *r, const rig_bytes *a, const uint8_t *guard, pctl_binding *b)
{
	const uint32_t usage = a->is_uniform ? PCTL_BUFFER_UNIFORM : PCTL_BUFFER_STORAGE;
	const uint64_t side = r->guard;

	b->n_bytes = a->n_bytes;
	b->offset = side;
	MUST(r->api->buffer_create(r->dev, &r->call, a->n_bytes + 2 * side,
				   PCTL_BUFFER_TRANSFER | usage, &b->buffer));
	MUST(r->api->buffer_write(r->dev, &r->call, b->buffer, side, a->data, a->n_bytes));
	if (!side)
		return;
	MUST(r->api->buffer_write(r->dev, &r->call, b->buffer, 0, guard, side));
	MUST(r->api->buffer_write(r->dev, &r->call, b->buffer, side + a->n_bytes, guard, side));
}

static void download(rig *r, const rig_bytes *a, const uint8_t *guard, const pctl_binding *b)
{
	const uint64_t starts[2] = {0, r->guard + a->n_bytes};
	uint8_t back[256];

	MUST(r->api->buffer_read(r->dev, &r->call, b->buffer, r->guard, a->data, a->n_bytes));
	for (int i = 0; i < 2 && r->guard; i++) {
		MUST(r->api->buffer_read(r->dev, &r->call, b->buffer, starts[i], back, r->guard));
		assert_memory_equal(guard, back, r->guard);
	}
	r->api->buffer_destroy(r->dev, b->buffer);
}

void rig_run(rig *r, const uint8_t *wire, uint64_t n_wire, uint32_t flags, const rig_bytes *arrays,
	     uint32_t n, uint32_t x, uint32_t y, uint32_t z)
{
	const uint32_t groups[3] = {x, y, z};
	pctl_binding bindings[RIG_BUFFERS] = {0};
	pctl_kernel *k = rig_build(r, wire, n_wire, flags);
	uint32_t n_bound = 0;
	uint8_t guard[256];

	assert_true(n <= RIG_BUFFERS && r->guard <= sizeof(guard));
	memset(guard, 0xa5, sizeof(guard));
	for (uint32_t i = 0; i < n; i++) {
		if (arrays[i].is_uniform == RIG_UNBOUND)
			continue;
		bindings[n_bound].binding = i;
		upload(r, &arrays[i], guard, &bindings[n_bound++]);
	}
	rig_dispatch(r, k, bindings, n_bound, groups);
	for (uint32_t i = n_bound = 0; i < n; i++)
		if (arrays[i].is_uniform != RIG_UNBOUND)
			download(r, &arrays[i], guard, &bindings[n_bound++]);
	r->api->kernel_destroy(r->dev, k);
}

rig_program rig_finish(pctl_builder *b)
{
	rig heard = {.loud = 1};
	const pctl_call call = {.head = PCTL_HEAD(pctl_call), .ctx = &heard, .diag = hear};
	rig_program out = {NULL, 0};
	pctl_program *p = NULL;

	rig_must(&heard, pctl_builder_finish(b, &call, &p), "the test's program");
	pctl_builder_destroy(b);
	rig_must(&heard, pctl_program_encode(p, &call, &out.wire, &out.n), "its wire form");
	pctl_program_destroy(p);
	return out;
}

uint64_t rig_random(uint64_t seed, uint64_t counter)
{
	uint64_t z = seed * 0x9e3779b97f4a7c15u + counter * 0xd1b54a32d192ed03u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}
