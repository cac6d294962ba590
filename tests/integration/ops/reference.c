/* Runs the reference of one op of an op library on files, without a host or a device:
 *	ops_reference LIBRARY OP N [KEY=VALUE...] -- DTYPE:FILE... -- OUT
 * Every input is a vector of N elements of DTYPE (its number in program.h), OUT gets the output. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipectl/backend.h"
#include "pipectl/oplib.h"

#define INPUTS_MAX 4u
#define ATTRS_MAX 4u

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

static uint64_t width_of(uint32_t dtype)
{
	switch (dtype) {
	case PCTL_SCALAR_F16:
	case PCTL_SCALAR_BF16:
		return 2;
	case PCTL_SCALAR_U64:
	case PCTL_SCALAR_I64:
		return 8;
	case PCTL_DTYPE_U128:
		return 16;
	default:
		return 4;
	}
}

/* 0 when the file cannot be read whole. */
static int read_file(const char *name, pctl_span *out)
{
	FILE *f = fopen(name, "rb");
	size_t n;

	out->data = malloc(out->n_bytes ? out->n_bytes : 1);
	if (!f || !out->data)
		return 0;
	n = fread(out->data, 1, out->n_bytes, f);
	fclose(f);
	return n == out->n_bytes;
}

/* The op's attributes, with what the arguments say. */
static void attributes(const pctl_op_desc *desc, char **args, pctl_attr *out)
{
	for (uint32_t i = 0; i < desc->n_attr; i++) {
		const pctl_attr_desc *d = &desc->attr[i];
		const size_t n = strlen(d->name);

		out[i] = (pctl_attr){d->name, d->default_text ? d->default_text : "", 0};
		for (char **a = args; *a && strcmp(*a, "--") != 0; a++)
			if (strncmp(*a, d->name, n) == 0 && (*a)[n] == '=')
				out[i].text = *a + n + 1;
		out[i].u64 = strtoull(out[i].text, NULL, 10);
	}
}

static int find(const pctl_oplib *lib, pctl_instance *inst, const char *name, uint32_t *out)
{
	for (*out = 0; *out < lib->op_count(inst); (*out)++)
		if (strcmp(lib->op_at(inst, *out)->name, name) == 0)
			return 1;
	return 0;
}

static int run(const pctl_oplib *lib, pctl_instance *inst, char **argv)
{
	const uint64_t n = strtoull(argv[2], NULL, 10);
	pctl_tensor_type types[INPUTS_MAX];
	pctl_attr attrs[ATTRS_MAX];
	pctl_span in[INPUTS_MAX], out = {0};
	pctl_op_query q = {.head = PCTL_HEAD(pctl_op_query), .in = types, .attr = attrs};
	pctl_op_result result;
	FILE *f;

	if (!find(lib, inst, argv[1], &q.op) || lib->op_at(inst, q.op)->n_attr > ATTRS_MAX)
		return 1;
	attributes(lib->op_at(inst, q.op), argv + 3, attrs);
	q.n_attr = lib->op_at(inst, q.op)->n_attr;
	for (argv += 3; strcmp(*argv, "--") != 0;)
		argv++;
	for (argv++; strcmp(*argv, "--") != 0 && q.n_in < INPUTS_MAX; argv++, q.n_in++) {
		char *name;
		const uint32_t dtype = (uint32_t)strtoul(*argv, &name, 10);

		types[q.n_in] = (pctl_tensor_type){.dtype = dtype, .rank = 1, .dim = {n}};
		in[q.n_in].n_bytes = n * width_of(dtype);
		if (*name != ':' || !read_file(name + 1, &in[q.n_in]))
			return 1;
	}
	if (lib->infer(inst, &call, &q, &result) != PCTL_OK)
		return 1;
	out.n_bytes =
		width_of(result.out[0].dtype) * (result.out[0].rank ? result.out[0].dim[0] : 1);
	out.data = calloc(1, out.n_bytes + 1);
	if (!out.data || lib->reference(inst, &call, &q, in, &out) != PCTL_OK)
		return 1;
	f = fopen(argv[1], "wb");
	if (!f || fwrite(out.data, 1, out.n_bytes, f) != out.n_bytes || fclose(f) != 0)
		return 1;
	for (uint32_t i = 0; i < q.n_in; i++)
		free(in[i].data);
	free(out.data);
	return 0;
}

int main(int argc, char **argv)
{
	const pctl_plugin *plugin;
	pctl_instance *inst;
	void *library;
	int fault, marks = 0;

	for (int i = 4; i < argc; i++)
		marks += strcmp(argv[i], "--") == 0;
	if (marks != 2 || strcmp(argv[argc - 2], "--") != 0) {
		fputs("usage: ops_reference LIBRARY OP N [KEY=VALUE...] -- DTYPE:FILE... -- OUT\n",
		      stderr);
		return 2;
	}
	library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	plugin = library ? dlsym(library, PCTL_PLUGIN_SYMBOL) : NULL;
	if (!plugin || plugin->open(&host, &call, &inst) != PCTL_OK) {
		fprintf(stderr, "%s cannot be used\n", argv[1]);
		return 1;
	}
	fault = run(plugin->interface(inst, PCTL_OPLIB_INTERFACE), inst, argv + 1);
	plugin->close(inst);
	dlclose(library);
	return fault;
}
