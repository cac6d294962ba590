/* Layout identity: a kernel stores into every scalar of a type and reads every scalar of another copy, in storage and in
 * uniform memory; the host looks where WGSL's rules say they lie. Padding must stay as it was. */
#include <stdlib.h>
#include <string.h>

#include "evidence/suite/layout_type.h"
#include "evidence/suite/trial.h"

/* The bits given to leaf i: of a float never those of a NaN, for not every device moves them. */
static uint64_t bits_of(uint64_t seed, uint32_t i, uint32_t scalar)
{
	const uint64_t r = suite_mix(seed, i);

	switch (scalar) {
	case LAYOUT_U64:
	case LAYOUT_I64:
		return r;
	case LAYOUT_F32:
		return r & 0xbfffffffu;
	default:
		return r & UINT32_MAX;
	}
}

/* From the words at `at` and at + 1 of `values`. */
static void add_store(pctl_str_buf *s, const layout_leaf *l, uint32_t at)
{
	static const char *const how[LAYOUT_SCALARS] = {
		"values[%u]", "bitcast<i32>(values[%u])",
		"u64(values[%u]) | (u64(values[%u]) << 32u)",
		"i64(u64(values[%u]) | (u64(values[%u]) << 32u))", "bitcast<f32>(values[%u])"};
	const char *format = how[l->scalar];

	pctl_str_addf(s, "\twritten%s = ", l->path);
	for (; *format != '\0'; format++) {
		if (format[0] == '%') {
			pctl_str_addf(s, "%u", at++);
			format++;
		} else {
			pctl_str_add_n(s, format, 1);
		}
	}
	pctl_str_add(s, ";\n");
}

static void add_load(pctl_str_buf *s, const char *from, const char *to, const layout_leaf *l,
		     uint32_t at)
{
	static const char *const low[LAYOUT_SCALARS] = {"v", "bitcast<u32>(v)", "u32(v)",
							"u32(u64(v))", "bitcast<u32>(v)"};

	pctl_str_addf(s, "\t{\n\t\tlet v = %s%s;\n\t\t%s[%u] = %s;\n", from, l->path, to, at,
		      low[l->scalar]);
	if (layout_scalar_bytes(l->scalar) == 8)
		pctl_str_addf(s, "\t\t%s[%u] = u32(u64(v) >> 32u);\n", to, at + 1);
	pctl_str_add(s, "\t}\n");
}

static char *text_of(const layout_struct *type, int uniform)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_addf(&s,
		      "%s"
		      "@group(0) @binding(0) var<storage, read_write> written: %s;\n"
		      "@group(0) @binding(1) var<storage, read> given: %s;\n"
		      "@group(0) @binding(2) var<%s> also: %s;\n"
		      "@group(0) @binding(3) var<storage, read> values: array<u32>;\n"
		      "@group(0) @binding(4) var<storage, read_write> seen: array<u32>;\n"
		      "@group(0) @binding(5) var<storage, read_write> uniformly: array<u32>;\n"
		      "@compute @workgroup_size(1)\nfn main() {\n",
		      type->texts.data, type->name, type->name,
		      uniform ? "uniform" : "storage, read", type->name);
	for (uint32_t i = 0; i < type->n_leaves; i++) {
		add_store(&s, &type->leaves[i], 2 * i);
		add_load(&s, "given", "seen", &type->leaves[i], 2 * i);
		add_load(&s, "also", "uniformly", &type->leaves[i], 2 * i);
	}
	pctl_str_add(&s, "}\n");
	return pctl_str_finish(&s);
}

/* What the kernel finds and what it must leave. */
struct memory {
	uint8_t *written, *given;
	uint32_t words[2 * LAYOUT_LEAVES];
};

static int fill(const layout_struct *type, uint64_t seed, struct memory *m)
{
	m->written = malloc(type->size + 4u);
	m->given = malloc(type->size + 4u);
	if (m->written == NULL || m->given == NULL)
		return 0;
	memset(m->written, 0xee, type->size + 4u);
	memset(m->given, 0x77, type->size + 4u);
	for (uint32_t i = 0; i < type->n_leaves; i++) {
		const layout_leaf *l = &type->leaves[i];
		const uint64_t bits = bits_of(seed, i, l->scalar);

		/* little-endian, least byte first */
		for (uint32_t k = 0; k < layout_scalar_bytes(l->scalar); k++)
			m->given[l->offset + k] = m->written[l->offset + k] =
				(uint8_t)(bits >> (8 * k));
		m->words[2 * i] = (uint32_t)bits;
		m->words[2 * i + 1] =
			layout_scalar_bytes(l->scalar) == 8 ? (uint32_t)(bits >> 32) : 0;
	}
	return 1;
}

static void check_written(suite_trial *t, const layout_struct *type, const uint8_t *got,
			  const uint8_t *want)
{
	suite_digest(t, got, type->size);
	for (uint32_t i = 0; i < type->size; i++) {
		if (got[i] == want[i] || !suite_fail(t, "a byte of what was stored"))
			continue;
		suite_found(t, "byte %u: %02x", i, got[i]);
		suite_due(t, "%02x", want[i]);
	}
}

static pctl_status run(suite_trial *t, const layout_struct *type, const pctl_program *p,
		       const struct memory *m, int uniform)
{
	suite_work w = {.times = 1};
	const uint64_t answers = 8ull * type->n_leaves;
	uint8_t *blank = malloc(type->size + 4u);
	uint32_t b[6];
	pctl_status status;

	if (blank != NULL)
		memset(blank, 0xee, type->size + 4u);
	b[0] = suite_buffer_add(&w, SUITE_OUT, blank, type->size);
	b[1] = suite_buffer_add(&w, SUITE_IN, m->given, type->size);
	b[2] = suite_buffer_add(&w, uniform ? SUITE_UNIFORM : SUITE_IN, m->given, type->size);
	b[3] = suite_buffer_add(&w, SUITE_IN, m->words, answers);
	b[4] = suite_buffer_add(&w, SUITE_OUT, NULL, answers);
	b[5] = suite_buffer_add(&w, SUITE_OUT, NULL, answers);
	w.failed |= blank == NULL;
	suite_step_add(&w, NULL, 1, b, 6);
	w.steps[0].program = p;
	status = suite_run(t, t->context->device, &w);
	if (status == PCTL_OK) {
		check_written(t, type, w.buffers[b[0]].data, m->written);
		suite_words(t, "scalars read from storage", suite_data(&w, b[4]), m->words,
			    2ull * type->n_leaves);
		suite_words(t, uniform ? "scalars read from uniform memory" : "and read again",
			    suite_data(&w, b[5]), m->words, 2ull * type->n_leaves);
	}
	free(blank);
	suite_work_drop(&w);
	return status;
}

static pctl_status layout_trial(suite_trial *t, int uniform)
{
	pctl_arena *a = pctl_arena_create();
	pctl_kernels *kernels = pctl_kernels_create(t->context->ops);
	const uint64_t seed = suite_mix(t->context->seed + 77, t->p[0] * 2ull + (uint32_t)uniform);
	layout_struct *type = a == NULL ? NULL : pctl_arena_alloc(a, sizeof(*type));
	struct memory m = {0};
	pctl_kernel_source source = {.name = "layout.wgsl"};
	const pctl_kernel_module *unit;
	char *text = NULL;
	pctl_status status = PCTL_OK;

	if (kernels == NULL || type == NULL || !layout_make(a, seed, uniform, type) ||
	    !fill(type, seed, &m) || (text = text_of(type, uniform)) == NULL)
		status = pctl_no_memory(t->call, "a trial");
	source.text = text;
	source.n_text = text == NULL ? 0 : strlen(text);
	if (status == PCTL_OK)
		status = pctl_kernels_get(kernels, &source, t->call, &unit);
	if (status == PCTL_OK)
		status = run(t, type, unit->program, &m, uniform);
	free(text);
	free(m.written);
	free(m.given);
	if (type != NULL)
		pctl_str_drop(&type->texts);
	pctl_kernels_destroy(kernels);
	pctl_arena_destroy(a);
	return status;
}

static pctl_status storage_trial(suite_trial *t)
{
	return layout_trial(t, 0);
}

static pctl_status uniform_trial(suite_trial *t)
{
	return layout_trial(t, 1);
}

static const uint32_t sets[][SUITE_PARAMS] = {{1}, {2}, {3}, {4}};

#define ROWS .sets = sets, .n_sets = sizeof(sets) / sizeof(sets[0]), .per_block = 4

const suite_unit suite_layout[] = {
	{.name = "layout-storage",
	 .law = "every scalar of a type lies where WGSL's rules put it, and padding is not touched",
	 .domain = "generated struct types in storage memory",
	 .param = {"type"},
	 ROWS,
	 .trial = storage_trial},
	{.name = "layout-uniform",
	 .law = "every scalar of a type lies where WGSL's rules put it, and padding is not touched",
	 .domain = "generated struct types in storage and uniform memory",
	 .param = {"type"},
	 ROWS,
	 .trial = uniform_trial}};
const uint32_t suite_n_layout = sizeof(suite_layout) / sizeof(suite_layout[0]);
