/* Writes down the plan that an op library makes for one op and one kind of device, without a host or a device: for tests that look at the
 * text of a kernel which the library joins itself.
 *	ops_plan LIBRARY OP KIND PROVEN [KEY=VALUE...] -- DTYPE[:DIM,DIM...]... -- DIR
 * KIND and PROVEN are the numbers of pctl_plan_caps, DTYPE that in program.h. Commands go to standard output, one a line; the text of
 * kernel N to DIR/N.wgsl. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipectl/backend.h"
#include "pipectl/oplib.h"

static const char *dir;
static uint32_t n_buffers, n_kernels;

static void *host_alloc(void *ctx, uint64_t n_bytes)
{
	(void)ctx;
	return malloc(n_bytes);
}

static void host_release(void *ctx, void *p)
{
	(void)ctx;
	free(p);
}

static void say(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	fprintf(stderr, "PC%" PRIu32 ": %s\n", d->code, d->message);
}

static const pctl_host host = {
	.head = PCTL_HEAD(pctl_host), .alloc = host_alloc, .release = host_release};
static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = say};

/* ---- commands ------------------------------------------------------------------------------- */

static pctl_status put_temp(void *ctx, uint64_t n_bytes, uint32_t *buffer)
{
	(void)ctx;
	*buffer = n_buffers++;
	printf("temp %" PRIu32 " %" PRIu64 "\n", *buffer, n_bytes);
	return PCTL_OK;
}

static void put_bytes(const char *what, uint32_t buffer, const unsigned char *bytes,
		      uint64_t n_bytes)
{
	printf("%s %" PRIu32 " ", what, buffer);
	for (uint64_t i = 0; i < n_bytes; i++)
		printf("%02x", bytes[i]);
	printf("\n");
}

static pctl_status put_params(void *ctx, const void *bytes, uint64_t n_bytes, uint32_t *buffer)
{
	(void)ctx;
	*buffer = n_buffers++;
	put_bytes("params", *buffer, bytes, n_bytes);
	return PCTL_OK;
}

static pctl_status put_constant(void *ctx, const char *cid, const void *bytes, uint64_t n_bytes,
				uint32_t *buffer)
{
	(void)cid;
	(void)ctx;
	*buffer = n_buffers++;
	put_bytes("constant", *buffer, bytes, n_bytes);
	return PCTL_OK;
}

static pctl_status put_kernel(void *ctx, const pctl_plan_kernel *k)
{
	char path[512];
	FILE *f;

	(void)ctx;
	snprintf(path, sizeof(path), "%s/%" PRIu32 ".wgsl", dir, n_kernels);
	f = fopen(path, "w");
	if (f == NULL || fputs(k->wgsl, f) < 0 || fclose(f) != 0)
		return PCTL_E_IO;
	printf("kernel %" PRIu32 " %s %" PRIu32 ",%" PRIu32 ",%" PRIu32, n_kernels++, k->name,
	       k->groups[0], k->groups[1], k->groups[2]);
	for (uint32_t i = 0; i < k->n_overrides; i++)
		printf(" %s=%" PRIu64, k->overrides[i].name, k->overrides[i].value);
	for (uint32_t i = 0; i < k->n_bindings; i++)
		printf(" %" PRIu32 ":%" PRIu32 ":%" PRIu64 ":%" PRIu64, k->bindings[i].binding,
		       k->bindings[i].buffer, k->bindings[i].offset, k->bindings[i].n_bytes);
	printf("\n");
	return PCTL_OK;
}

static pctl_status put_fill(void *ctx, uint32_t buffer, uint64_t offset, uint64_t n_bytes,
			    uint32_t word)
{
	(void)ctx;
	printf("fill %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu32 "\n", buffer, offset, n_bytes,
	       word);
	return PCTL_OK;
}

static pctl_status put_copy(void *ctx, uint32_t from, uint64_t from_offset, uint32_t to,
			    uint64_t to_offset, uint64_t n_bytes)
{
	(void)ctx;
	printf("copy %" PRIu32 " %" PRIu64 " %" PRIu32 " %" PRIu64 " %" PRIu64 "\n", from,
	       from_offset, to, to_offset, n_bytes);
	return PCTL_OK;
}

static pctl_status put_op(void *ctx, const char *name, uint32_t version, const uint32_t *buffers,
			  const pctl_tensor_type *types, uint32_t n, const pctl_attr *attr,
			  uint32_t n_attr)
{
	(void)ctx;
	(void)types;
	printf("op %s@%" PRIu32, name, version);
	for (uint32_t i = 0; i < n; i++)
		printf(" %" PRIu32, buffers[i]);
	for (uint32_t i = 0; i < n_attr; i++)
		printf(" %s=%s", attr[i].name, attr[i].text);
	printf("\n");
	return PCTL_OK;
}

static pctl_status put_assert(void *ctx, const pctl_plan_assert *a)
{
	(void)ctx;
	printf("assert %" PRIu32 " %" PRIu64 " %s\n", a->buffer, a->offset, a->message);
	return PCTL_OK;
}

static pctl_status put_repeat(void *ctx, const pctl_plan_repeat *r)
{
	(void)ctx;
	printf("repeat %" PRIu32 "\n", r->times);
	return PCTL_OK;
}

static pctl_status put_repeat_end(void *ctx)
{
	(void)ctx;
	printf("repeat_end\n");
	return PCTL_OK;
}

/* ---- the question ---------------------------------------------------------------------------- */

static int find(const pctl_oplib *lib, pctl_instance *inst, const char *name, uint32_t *out)
{
	for (*out = 0; *out < lib->op_count(inst); (*out)++)
		if (strcmp(lib->op_at(inst, *out)->name, name) == 0)
			return 1;
	return 0;
}

/* The op's attributes, with what the arguments say. */
static void attributes(const pctl_op_desc *desc, char **args, pctl_attr *out)
{
	for (uint32_t i = 0; i < desc->n_attr; i++) {
		const pctl_attr_desc *d = &desc->attr[i];
		const size_t n = strlen(d->name);

		out[i] = (pctl_attr){d->name, d->default_text ? d->default_text : "", 0};
		for (char **a = args; strcmp(*a, "--") != 0; a++)
			if (strncmp(*a, d->name, n) == 0 && (*a)[n] == '=')
				out[i].text = *a + n + 1;
		out[i].u64 = strcmp(out[i].text, "true") == 0 ? 1 : strtoull(out[i].text, NULL, 10);
	}
}

static pctl_tensor_type type_of(char *text)
{
	pctl_tensor_type t = {.dtype = (uint32_t)strtoul(text, &text, 10)};

	while (*text != '\0' && t.rank < PCTL_RANK_MAX)
		t.dim[t.rank++] = strtoull(text + 1, &text, 10);
	return t;
}

static int run(const pctl_oplib *lib, pctl_instance *inst, char **argv)
{
	const pctl_plan_caps caps = {.head = PCTL_HEAD(pctl_plan_caps),
				     .max_binding_bytes = 1u << 30,
				     .max_groups = {65535, 65535, 65535},
				     .max_invocations = 1024,
				     .max_workgroup_bytes = 49152,
				     .device_kind = (uint32_t)strtoul(argv[3], NULL, 10),
				     .proven = strtoull(argv[4], NULL, 10),
				     .binding_alignment = 256,
				     .max_bindings = 16};
	const pctl_plan_sink sink = {.head = PCTL_HEAD(pctl_plan_sink),
				     .temp = put_temp,
				     .params = put_params,
				     .kernel = put_kernel,
				     .fill = put_fill,
				     .copy = put_copy,
				     .op = put_op,
				     .assert_equal = put_assert,
				     .repeat = put_repeat,
				     .repeat_end = put_repeat_end,
				     .constant = put_constant};
	pctl_tensor_type types[PCTL_PORTS_MAX];
	pctl_attr attrs[PCTL_ATTRS_MAX];
	pctl_op_query q = {.head = PCTL_HEAD(pctl_op_query), .in = types, .attr = attrs};
	const pctl_op_desc *desc;

	if (!find(lib, inst, argv[2], &q.op))
		return 1;
	desc = lib->op_at(inst, q.op);
	attributes(desc, argv + 5, attrs);
	q.n_attr = desc->n_attr;
	for (argv += 5; strcmp(*argv, "--") != 0;)
		argv++;
	for (argv++; strcmp(*argv, "--") != 0 && q.n_in < PCTL_PORTS_MAX; argv++)
		types[q.n_in++] = type_of(*argv);
	dir = argv[1];
	n_buffers = q.n_in + desc->n_out;
	return lib->plan(inst, &call, &q, &caps, PCTL_PLAN_RUN, &sink) != PCTL_OK;
}

int main(int argc, char **argv)
{
	const pctl_oplib *lib = NULL;
	const pctl_plugin *plugin;
	pctl_instance *inst;
	void *library;
	int marks = 0;

	for (int i = 5; i < argc; i++)
		marks += strcmp(argv[i], "--") == 0;
	if (marks != 2 || strcmp(argv[argc - 2], "--") != 0) {
		fputs("usage: ops_plan LIBRARY OP KIND PROVEN [KEY=VALUE...] -- "
		      "DTYPE[:DIM,DIM...]... -- DIR\n",
		      stderr);
		return 2;
	}
	library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	plugin = library ? dlsym(library, PCTL_PLUGIN_SYMBOL) : NULL;
	if (plugin != NULL && plugin->open(&host, &call, &inst) == PCTL_OK)
		lib = plugin->interface(inst, PCTL_OPLIB_INTERFACE);
	if (lib == NULL) {
		fprintf(stderr, "%s cannot be used\n", argv[1]);
		return 1;
	}
	return run(lib, inst, argv);
}
