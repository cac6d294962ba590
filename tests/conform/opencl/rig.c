/* The rig of rig.h. */
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

static void on_diag(void *ctx, const pctl_diag *d)
{
	rig *r = ctx;

	r->last_code = d->code;
	snprintf(r->last_message, sizeof(r->last_message), "%s", d->message);
	if (r->loud)
		fprintf(stderr, "PC%04u: %s\n", d->code, d->message);
}

static rig the_rig; /* cmocka hands state around as a pointer that must outlive the setup */

int rig_open(void **state)
{
	const char *path = getenv("PCTL_TEST_PLUGIN");
	pctl_device_info infos[8];
	rig *r = &the_rig;
	uint32_t n = 0;

	*r = (rig){.loud = 1};
	r->host = (pctl_host){.head = PCTL_HEAD(pctl_host),
			      .alloc = host_alloc,
			      .release = host_release,
			      .log = host_log,
			      .get_service = host_service};
	r->call = (pctl_call){.head = PCTL_HEAD(pctl_call), .ctx = r, .diag = on_diag};
	r->library = dlopen(path ? path : PCTL_TEST_PLUGIN_DEFAULT, RTLD_NOW | RTLD_LOCAL);
	if (!r->library) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	r->plugin = dlsym(r->library, PCTL_PLUGIN_SYMBOL);
	if (!r->plugin || r->plugin->open(&r->host, &r->call, &r->inst) != PCTL_OK)
		return -1;
	r->api = r->plugin->interface(r->inst, PCTL_BACKEND_INTERFACE);
	if (!r->api || r->api->devices(r->inst, &r->call, 8, infos, &n) != PCTL_OK || !n) {
		fprintf(stderr, "no device\n");
		return -1;
	}
	fprintf(stderr, "device: %s (%s)\n", infos[0].name, infos[0].driver);
	if (r->api->device_open(r->inst, &r->call, 0, &r->dev) != PCTL_OK)
		return -1;
	if (r->api->device_caps(r->dev, &r->call, &r->caps) != PCTL_OK)
		return -1;
	*state = r;
	return 0;
}

int rig_close(void **state)
{
	rig *r = *state;

	r->api->device_close(r->dev);
	r->plugin->close(r->inst);
	return 0; /* the library stays loaded, as in the host */
}

void sketch_begin(sketch *s, uint32_t local_x)
{
	s->b = pctl_builder_create();
	s->t_bool = pctl_build_scalar(s->b, PCTL_SCALAR_BOOL);
	s->t_i32 = pctl_build_scalar(s->b, PCTL_SCALAR_I32);
	s->t_u32 = pctl_build_scalar(s->b, PCTL_SCALAR_U32);
	s->t_i64 = pctl_build_scalar(s->b, PCTL_SCALAR_I64);
	s->t_u64 = pctl_build_scalar(s->b, PCTL_SCALAR_U64);
	s->t_uvec3 = pctl_build_vector(s->b, PCTL_SCALAR_U32, 3);
	s->local_size[0] = local_x;
	s->local_size[1] = s->local_size[2] = 1;
	pctl_build_spec_begin(s->b);
	pctl_build_function_end(s->b);
}

uint32_t sketch_storage(sketch *s, uint32_t binding, uint32_t type, uint8_t access)
{
	const pctl_var v = {
		.type = type, .space = PCTL_SPACE_STORAGE, .access = access, .binding = binding};
	char name[16];

	snprintf(name, sizeof(name), "b%u", binding);
	return pctl_build_var(s->b, &v, name);
}

uint32_t sketch_var(sketch *s, uint8_t space, uint32_t type)
{
	const pctl_var v = {.type = type, .space = space, .access = PCTL_ACCESS_READ_WRITE};

	return pctl_build_var(s->b, &v, "v");
}

void sketch_main(sketch *s)
{
	pctl_build_function_begin(s->b, "main", NULL, 0, 0);
}

uint8_t *sketch_end(rig *r, sketch *s, uint64_t *n)
{
	pctl_entry entry = {.function = pctl_build_function_end(s->b)};
	pctl_program *p = NULL;
	uint8_t *wire = NULL;

	memcpy(entry.workgroup_size, s->local_size, sizeof(s->local_size));
	pctl_build_entry(s->b, &entry, "main");
	assert_int_equal(pctl_builder_finish(s->b, &r->call, &p), PCTL_OK);
	pctl_builder_destroy(s->b);
	assert_int_equal(pctl_program_encode(p, &r->call, &wire, n), PCTL_OK);
	pctl_program_destroy(p);
	return wire;
}

uint32_t k_u32(sketch *s, uint32_t v)
{
	return pctl_build_const(s->b, s->t_u32, v);
}

uint32_t k_i32(sketch *s, int32_t v)
{
	return pctl_build_const(s->b, s->t_i32, (uint32_t)v);
}

uint32_t global_x(sketch *s)
{
	const uint32_t id = OP(s, BUILTIN, s->t_uvec3, PCTL_BUILTIN_GLOBAL_ID);

	return OP(s, EXTRACT, s->t_u32, id, 0);
}

pctl_kernel *rig_build(rig *r, const uint8_t *wire, uint64_t n)
{
	pctl_kernel *k = NULL;

	assert_int_equal(r->api->kernel_build(r->dev, &r->call, wire, n, 0, NULL, 0, &k), PCTL_OK);
	return k;
}

void rig_submit(rig *r, pctl_list *l, uint32_t times, pctl_completion *done)
{
	uint64_t ticket = 0;

	assert_int_equal(r->api->submit(r->dev, &r->call, l, times, &ticket), PCTL_OK);
	assert_int_equal(r->api->wait(r->dev, &r->call, ticket, UINT64_MAX, done), PCTL_OK);
	assert_int_equal(done->done, 1);
}

void rig_run(rig *r, uint8_t *wire, uint64_t n, bound *bounds, uint32_t n_bounds, uint32_t groups)
{
	const uint32_t counts[3] = {groups, 1, 1};
	pctl_kernel *k = rig_build(r, wire, n);
	pctl_buffer *buffers[16] = {0};
	pctl_binding bindings[16] = {0};
	pctl_completion done;
	pctl_list *l;

	assert_true(n_bounds <= 16);
	for (uint32_t i = 0; i < n_bounds; i++) {
		assert_int_equal(r->api->buffer_create(r->dev, &r->call, bounds[i].n_bytes,
						       PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER,
						       &buffers[i]),
				 PCTL_OK);
		assert_int_equal(r->api->buffer_write(r->dev, &r->call, buffers[i], 0,
						      bounds[i].data, bounds[i].n_bytes),
				 PCTL_OK);
		bindings[i] =
			(pctl_binding){0, bounds[i].binding, buffers[i], 0, bounds[i].n_bytes};
	}
	assert_int_equal(r->api->list_begin(r->dev, &r->call, &l), PCTL_OK);
	assert_int_equal(r->api->list_dispatch(l, &r->call, k, bindings, n_bounds, counts),
			 PCTL_OK);
	assert_int_equal(r->api->list_end(l, &r->call), PCTL_OK);
	rig_submit(r, l, 1, &done);
	for (uint32_t i = 0; i < n_bounds; i++)
		assert_int_equal(r->api->buffer_read(r->dev, &r->call, buffers[i], 0,
						     bounds[i].data, bounds[i].n_bytes),
				 PCTL_OK);
	r->api->list_destroy(r->dev, l);
	for (uint32_t i = 0; i < n_bounds; i++)
		r->api->buffer_destroy(r->dev, buffers[i]);
	r->api->kernel_destroy(r->dev, k);
	free(wire);
}

uint64_t noise(uint64_t seed, uint64_t n)
{
	uint64_t x = seed + n * 0x9e3779b97f4a7c15ull;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}
