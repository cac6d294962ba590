/* The checks of a pipeline: for every code a text that must be refused with it, and a twin that differs in
 * one place and must pass. */
#include "../planted/planted.h"
#include "test_graph_fake.h"

#define HEAD "pipeline : { name = \"p\"; class = \"integer\"; "
#define DATA "inputs : { d : { type = \"u32[n]\"; }; w : { type = \"u64[k,2]\"; }; }; "
#define JOB "jobs = ( { id = \"j\"; op = \"fake.plan@1\"; in : { x = \"$d\"; }; } ); "
#define OUT "outputs : { y = \"j.y\"; }; };"

static pctl_status check(const char *text, pctl_diag_list *l, uint32_t *n_passed)
{
	pctl_kernels *k = pctl_kernels_create(&fake_source);
	pctl_graph_options o = {.ops = &fake_source, .kernels = k};
	pctl_check_result results[PCTL_CHECKS_MAX];
	pctl_pipeline *p = NULL;
	pctl_graph *g = NULL;
	uint32_t n = 0;
	pctl_status status =
		pctl_pipeline_read_text("p.cfg", text, strlen(text), pctl_diag_list_call(l), &p);

	*n_passed = 0;
	if (status == PCTL_OK)
		status = pctl_graph_resolve(p, &o, pctl_diag_list_call(l), results, &n, &g);
	for (uint32_t i = 0; i < n; i++)
		*n_passed += results[i].outcome == PCTL_CHECK_PASSED;
	assert_true((status == PCTL_OK) == (g != NULL));
	assert_true(status != PCTL_OK || *n_passed == n);
	pctl_graph_destroy(g);
	pctl_pipeline_destroy(p);
	pctl_kernels_destroy(k);
	return status;
}

static const struct {
	uint32_t code;
	const char *bad, *good;
} cases[] = {
	{PC4003_REFERENCE_SYNTAX,
	 HEAD DATA "jobs = ( { id = \"j\"; op = \"fake.plan@1\"; in : { x = \"d\"; }; } ); " OUT,
	 HEAD DATA JOB OUT},
	{PC4004_OP_SYNTAX,
	 HEAD DATA "jobs = ( { id = \"j\"; op = \"fake.plan@0\"; in : { x = \"$d\"; }; } ); " OUT,
	 HEAD DATA
	 "jobs = ( { id = \"j\"; op = \"fake.plan@1..2\"; in : { x = \"$d\"; }; } ); " OUT},
	{PC4005_JOB_KIND, HEAD DATA "jobs = ( { id = \"j\"; in : { x = \"$d\"; }; } ); " OUT,
	 HEAD DATA JOB OUT},
	{PC4006_INPUT_SOURCE,
	 HEAD "inputs : { d : { type = \"u32[n]\"; file = \"a\"; cid = \"b\"; }; }; " JOB OUT,
	 HEAD "inputs : { d : { type = \"u32[n]\"; file = \"a\"; }; }; " JOB OUT},
	{PC4010_REFERENCE_UNKNOWN, HEAD DATA JOB "outputs : { y = \"j.z\"; }; };",
	 HEAD DATA JOB "outputs : { y = \"j.y\"; }; };"},
	{PC4010_REFERENCE_UNKNOWN, HEAD DATA JOB "outputs : { y = \"k.y\"; }; };",
	 HEAD DATA JOB OUT},
	{PC4010_REFERENCE_UNKNOWN,
	 HEAD DATA "jobs = ( { id = \"j\"; op = \"fake.plan@1\"; in : { x = \"$e\"; }; } ); " OUT,
	 HEAD DATA JOB OUT},
	{PC4011_PARAM_UNKNOWN,
	 HEAD DATA
	 "jobs = ( { id = \"j\"; op = \"fake.plan@1\"; in : { x = \"$d\"; }; repeat : { count "
	 "= \"$t\"; carry : { x = \"y\"; }; }; } ); " OUT,
	 HEAD
	 "params : { t = 3; }; " DATA
	 "jobs = ( { id = \"j\"; op = \"fake.plan@1\"; in : { x = \"$d\"; }; repeat : { count = "
	 "\"$t\"; carry : { x = \"y\"; }; }; } ); " OUT},
	{PC4017_JOB_TWICE,
	 HEAD DATA
	 "jobs = ( { id = \"j\"; op = \"fake.plan@1\"; in : { x = \"$d\"; }; }, { id = \"j\"; "
	 "op = \"fake.plan@1\"; in : { x = \"$d\"; }; } ); " OUT,
	 HEAD DATA
	 "jobs = ( { id = \"j\"; op = \"fake.plan@1\"; in : { x = \"$d\"; }; }, { id = \"k\"; "
	 "op = \"fake.plan@1\"; in : { x = \"$d\"; }; } ); " OUT},
	{PC4019_SHADER_FILE,
	 HEAD DATA
	 "jobs = ( { id = \"j\"; shader = \"gone.wgsl\"; dispatch = [ 1 ]; in : { x = \"$d\"; "
	 "}; out : { y = \"u32[n]\"; }; } ); " OUT,
	 HEAD DATA JOB OUT},
	{PC4020_TYPE_SYNTAX, HEAD "inputs : { d : { type = \"u32[n\"; }; }; " JOB OUT,
	 HEAD "inputs : { d : { type = \"u32[n]\"; }; }; " JOB OUT},
	{PC4101_CYCLE,
	 HEAD DATA
	 "jobs = ( { id = \"j\"; op = \"fake.plan@1\"; in : { x = \"k.y\"; }; }, { id = \"k\"; "
	 "op = \"fake.plan@1\"; in : { x = \"j.y\"; }; } ); " OUT,
	 HEAD DATA
	 "jobs = ( { id = \"j\"; op = \"fake.plan@1\"; in : { x = \"k.y\"; }; }, { id = \"k\"; "
	 "op = \"fake.plan@1\"; in : { x = \"$d\"; }; } ); " OUT},
	{PC4101_CYCLE,
	 HEAD DATA
	 "jobs = ( { id = \"j\"; op = \"fake.plan@1\"; in : { x = \"$d\"; }; after = ( \"j\" "
	 "); } ); " OUT,
	 HEAD DATA JOB OUT},
	{PC4102_EDGE_TYPE,
	 HEAD DATA "jobs = ( { id = \"j\"; op = \"fake.plan@1\"; in : { x = \"$w\"; }; } ); " OUT,
	 HEAD DATA JOB OUT},
	{PC4103_PORT_UNFED,
	 HEAD DATA
	 "jobs = ( { id = \"j\"; op = \"fake.two@2\"; in : { a = \"$d\"; }; } ); outputs : { y "
	 "= \"j.a\"; }; };",
	 HEAD DATA
	 "jobs = ( { id = \"j\"; op = \"fake.two@2\"; in : { a = \"$d\"; b = \"$d\"; }; } ); "
	 "outputs : { y = \"j.a\"; }; };"},
	{PC4104_PORT_UNKNOWN,
	 HEAD DATA
	 "jobs = ( { id = \"j\"; op = \"fake.plan@1\"; in : { x = \"$d\"; q = \"$d\"; }; } ); " OUT,
	 HEAD DATA JOB OUT},
	{PC4106_DIMENSION,
	 HEAD "inputs : { d : { type = \"u64[n,3]\"; }; }; jobs = ( { id = \"j\"; op = "
	      "\"fake.wide@1\"; in "
	      ": { x = \"$d\"; }; } ); " OUT,
	 HEAD "inputs : { d : { type = \"u64[n,2]\"; }; }; jobs = ( { id = \"j\"; op = "
	      "\"fake.wide@1\"; in "
	      ": { x = \"$d\"; }; } ); " OUT},
	{PC4110_ATTR_UNKNOWN,
	 HEAD DATA
	 "jobs = ( { id = \"j\"; op = \"fake.plan@1\"; in : { x = \"$d\"; }; attr : { q = 1; }; "
	 "} ); " OUT,
	 HEAD DATA JOB OUT},
	{PC4111_ATTR_MISSING,
	 HEAD DATA "jobs = ( { id = \"j\"; op = \"fake.attr@1\"; in : { x = \"$d\"; }; } ); " OUT,
	 HEAD DATA
	 "jobs = ( { id = \"j\"; op = \"fake.attr@1\"; in : { x = \"$d\"; }; attr : { must = "
	 "true; }; } ); " OUT},
	{PC4112_ATTR_VALUE,
	 HEAD DATA
	 "jobs = ( { id = \"j\"; op = \"fake.attr@1\"; in : { x = \"$d\"; }; attr : { must = "
	 "true; times = 11; }; } ); " OUT,
	 HEAD DATA
	 "jobs = ( { id = \"j\"; op = \"fake.attr@1\"; in : { x = \"$d\"; }; attr : { must = "
	 "true; times = 10; }; } ); " OUT},
	{PC4114_CLASS,
	 HEAD DATA "jobs = ( { id = \"j\"; op = \"fake.float@1\"; in : { x = \"$d\"; }; } ); " OUT,
	 "pipeline : { name = \"p\"; class = \"strict\"; " DATA
	 "jobs = ( { id = \"j\"; op = \"fake.float@1\"; in : { x = \"$d\"; }; } ); " OUT},
	{PC4117_REPEAT,
	 HEAD DATA
	 "jobs = ( { id = \"j\"; op = \"fake.two@2\"; in : { a = \"$d\"; b = \"$d\"; }; repeat : "
	 "{ count = 2; carry : { a = \"a\"; b = \"a\"; }; }; } ); outputs : { y = \"j.a\"; }; };",
	 HEAD DATA
	 "jobs = ( { id = \"j\"; op = \"fake.two@2\"; in : { a = \"$d\"; b = \"$d\"; }; repeat : "
	 "{ count = 2; carry : { a = \"b\"; b = \"a\"; }; }; } ); outputs : { y = \"j.a\"; }; };"},
	{PC4117_REPEAT,
	 HEAD DATA
	 "jobs = ( { id = \"j\"; op = \"fake.plan@1\"; in : { x = \"$d\"; }; repeat : { count = "
	 "\"4294967296\"; carry : { x = \"y\"; }; }; } ); " OUT,
	 HEAD DATA
	 "jobs = ( { id = \"j\"; op = \"fake.plan@1\"; in : { x = \"$d\"; }; repeat : { count = "
	 "\"4294967295\"; carry : { x = \"y\"; }; }; } ); " OUT},
	{PC4120_OP_UNKNOWN,
	 HEAD DATA "jobs = ( { id = \"j\"; op = \"fake.plam@1\"; in : { x = \"$d\"; }; } ); " OUT,
	 HEAD DATA JOB OUT},
	{PC4102_EDGE_TYPE,
	 "pipeline : { name = \"p\"; class = \"strict\"; inputs : { d : { type = \"u32[n]\"; }; }; "
	 "jobs = ( { id = "
	 "\"j\"; "
	 "op = \"fake.half@1\"; in : { x = \"$d\"; }; } ); " OUT,
	 "pipeline : { name = \"p\"; class = \"strict\"; inputs : { d : { type = \"bf16[n]\"; }; "
	 "}; jobs = ( { id = "
	 "\"j\"; "
	 "op = \"fake.half@1\"; in : { x = \"$d\"; }; } ); " OUT},
	{PC4121_OP_VERSION,
	 HEAD DATA "jobs = ( { id = \"j\"; op = \"fake.plan@2\"; in : { x = \"$d\"; }; } ); " OUT,
	 HEAD DATA JOB OUT},
};

static void bad_and_good(void **state)
{
	uint32_t n_passed;

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pctl_diag_list *l = pctl_diag_list_create();

		if (check(cases[i].bad, l, &n_passed) != pctl_code_status(cases[i].code) ||
		    !fake_saw(l, cases[i].code))
			fail_msg("PC%04u was not seen", cases[i].code);
		pctl_diag_list_destroy(l);
		l = pctl_diag_list_create();
		if (check(cases[i].good, l, &n_passed) != PCTL_OK || pctl_diag_list_count(l) != 0)
			fail_msg("the twin of PC%04u is refused: %s", cases[i].code,
				 pctl_diag_list_count(l) == 0 ? ""
							      : pctl_diag_list_at(l, 0)->message);
		assert_true(n_passed > 0);
		pctl_diag_list_destroy(l);
	}
}

/* What depends on a failed check is not run, and independent errors all appear. */
static void all_at_once(void **state)
{
	static const char text[] = HEAD DATA
		"jobs = ( { id = \"j\"; op = \"fake.plan@7\"; in : { x = \"$d\"; }; }, { id = "
		"\"j\"; op = \"fake.nope@1\"; } ); " OUT;
	pctl_diag_list *l = pctl_diag_list_create();
	uint32_t n_passed;

	(void)state;
	assert_int_not_equal(check(text, l, &n_passed), PCTL_OK);
	assert_true(fake_saw(l, PC4017_JOB_TWICE) && fake_saw(l, PC4120_OP_UNKNOWN) &&
		    fake_saw(l, PC4121_OP_VERSION));
	assert_int_equal(n_passed, 2); /* parameters, shaders */
	pctl_diag_list_destroy(l);
}

/* Seventeen inputs of a shader: more than any table of ports holds. */
static void too_many_ports(void **state)
{
	pctl_str_buf shader = PCTL_STR_BUF_INIT;
	pctl_kernels *k = pctl_kernels_create(&fake_source);
	pctl_graph_options o = {.ops = &fake_source, .kernels = k};

	(void)state;
	for (uint32_t n = 15; n <= 17; n++) {
		pctl_diag_list *l = pctl_diag_list_create();
		pctl_pipeline *p = pctl_pipeline_create("p");
		pctl_graph *g = NULL;
		pctl_pipe_job *job = p->jobs = pctl_arena_alloc(p->arena, sizeof(*job));
		pctl_pipe_input *input = p->inputs = pctl_arena_alloc(p->arena, sizeof(*input));
		pctl_status status;

		p->n_jobs = p->n_inputs = 1;
		*input = (pctl_pipe_input){.name = "d",
					   .type = {.dtype = {PCTL_SCALAR_U32},
						    .n_dtypes = 1,
						    .rank = 1,
						    .dim = {{"n", 0}}}};
		job->id = "j";
		job->kind = PCTL_JOB_SHADER;
		job->in = pctl_arena_array(p->arena, n, sizeof(*job->in));
		job->n_in = n;
		pctl_str_add(&shader, "var<private> s: u32;\n");
		for (uint32_t i = 0; i < n; i++) {
			const char *name = pctl_arena_printf(p->arena, "v%u", i);

			pctl_str_addf(&shader,
				      "@group(0) @binding(%u) var<storage, read> %s: array<u32>;\n",
				      i, name);
			job->in[i] =
				(pctl_pipe_feed){.port = name, .from = {.text = "$d", .name = "d"}};
		}
		pctl_str_add(&shader, "@compute @workgroup_size(1) fn main() { s = 0u");
		for (uint32_t i = 0; i < n; i++)
			pctl_str_addf(&shader, " + v%u[0]", i);
		pctl_str_add(&shader, "; }\n");
		job->shader_text = shader.data;
		status = pctl_graph_resolve(p, &o, pctl_diag_list_call(l), NULL, NULL, &g);
		if (n <= 16 && status != PCTL_OK)
			fail_msg("%u: %s", n, pctl_diag_list_at(l, 0)->message);
		assert_true(n <= 16 || fake_saw(l, PC4137_PORTS));
		pctl_graph_destroy(g);
		pctl_pipeline_destroy(p);
		pctl_str_drop(&shader);
		pctl_diag_list_destroy(l);
	}
	pctl_kernels_destroy(k);
}

/* A pipeline of one shader job with an override and a class; its status and diagnostics. */
static pctl_status check_shader(const char *class, const char *shader, const char *override,
				const char *type, pctl_diag_list *l)
{
	pctl_kernels *k = pctl_kernels_create(&fake_source);
	pctl_graph_options o = {.ops = &fake_source, .kernels = k};
	pctl_pipeline *p = NULL;
	pctl_graph *g = NULL;
	pctl_status status;
	char text[512];

	snprintf(text, sizeof(text),
		 "pipeline : { name = \"p\"; class = \"%s\"; inputs : { d : { type = \"%s\"; }; }; "
		 "jobs = ( { id = \"j\"; shader = \"s.wgsl\"; dispatch = [ 1 ]; override : { k = "
		 "%s; "
		 "}; in : { x = \"$d\"; }; out : { y = \"%s\"; }; } ); " OUT,
		 class, type, override, type);
	status = pctl_pipeline_read_text("p.cfg", text, strlen(text), pctl_diag_list_call(l), &p);
	if (status == PCTL_OK) {
		p->jobs[0].shader_text = shader;
		status = pctl_graph_resolve(p, &o, pctl_diag_list_call(l), NULL, NULL, &g);
	}
	pctl_graph_destroy(g);
	pctl_pipeline_destroy(p);
	pctl_kernels_destroy(k);
	return status;
}

#define SHADER(type)                                                           \
	"override k: " type ";\n"                                              \
	"@group(0) @binding(0) var<storage, read> x: array<" type ">;\n"       \
	"@group(0) @binding(1) var<storage, read_write> y: array<" type ">;\n" \
	"@compute @workgroup_size(1) fn main() { y[0] = x[0] * k; }\n"

#define MADE_OF(from, to)                                             \
	"override k: u32;\n"                                          \
	"@group(0) @binding(0) var<storage, read> x: " from ";\n"     \
	"@group(0) @binding(1) var<storage, read_write> y: " to ";\n" \
	"@compute @workgroup_size(1) fn main() { if (k == 0u) { y[0] = y[0]; _ = x[0]; } }\n"
#define MIXED(x) "struct S { a: u32, b: " x " }\n"

/* Edges of shader jobs are made of what the shader declares. */
static void shader_types(void **state)
{
	static const struct {
		const char *shader, *type;
		int good;
	} rows[] = {
		{MADE_OF("array<u32>", "array<u32>"), "u32[n]", 1},
		{MADE_OF("array<u32>", "array<u32>"), "bytes[n]", 1},
		{MADE_OF("array<u32>", "array<u32>"), "bool[n]", 1},
		{MADE_OF("array<vec4<f32>>", "array<f32>"), "f32[n,4]", 1},
		{MADE_OF("array<vec2<u32>>", "array<vec2<u32>>"), "u64[n]", 1},
		{MADE_OF("array<vec4<u32>>", "array<vec4<u32>>"), "u128[n]", 1},
		{MIXED("u32") MADE_OF("array<S>", "array<u32>"), "u32[n]", 1},
		{MADE_OF("array<u32>", "array<u32>"), "u8[n]", 0},
		{MADE_OF("array<u32>", "array<u32>"), "f32[n]", 0},
		{MADE_OF("array<u32>", "array<u32>"), "i32[n]", 0},
		{MADE_OF("array<u32>", "array<u32>"), "u64[n]", 0},
		{MADE_OF("array<u32>", "array<f32>"), "u32[n]", 0},
		{MADE_OF("array<f32>", "array<u32>"), "u32[n]", 0},
		{MIXED("f32") MADE_OF("array<S>", "array<S>"), "u32[n]", 0},
		{MIXED("f32") MADE_OF("array<S>", "array<S>"), "bytes[n]", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_diag_list *l = pctl_diag_list_create();
		const pctl_status status =
			check_shader("strict", rows[i].shader, "1", rows[i].type, l);
		const pctl_diag *d = pctl_diag_list_count(l) == 0 ? NULL : pctl_diag_list_at(l, 0);

		if ((status == PCTL_OK) != rows[i].good ||
		    (!rows[i].good && (d->code != PC4102_EDGE_TYPE || d->pos.line != 1 ||
				       d->pos.column < 2 || d->hint == NULL)))
			fail_msg("row %zu, %s: %s", i, rows[i].type,
				 d == NULL ? "taken" : d->message);
		if (strcmp(rows[i].type, "u8[n]") == 0)
			planted("bytes of another type than the shader declares",
				"u8[n] feeding array<u32>", "PC4102 edge-type", d->message);
		pctl_diag_list_destroy(l);
	}
}

/* A kernel that names floats is strict: a pipeline of class integer refuses it. Written override
 * values are read by the override's type. */
static void float_shaders(void **state)
{
	static const struct {
		const char *class, *shader, *override, *type;
		uint32_t code;
	} rows[] = {
		{"strict", SHADER("f32"), "0.5", "f32[n]", 0},
		{"strict", SHADER("f32"), "2", "f32[n]", 0},
		{"strict", SHADER("f32"), "\"-0x1.8p-3\"", "f32[n]", 0},
		{"strict", SHADER("bf16"), "1e3", "bf16[n]", 0},
		{"strict", "enable f16;\n" SHADER("f16"), "0.1", "f16[n,3]", 0},
		{"approximate", SHADER("f32"), "0.5", "f32[n]", 0},
		{"integer", SHADER("u32"), "2", "u32[n]", 0},
		{"integer", SHADER("f32"), "0.5", "f32[n]", PC4114_CLASS},
		{"integer", SHADER("u32"), "0.5", "u32[n]", PC2043_SPECIALISE_RANGE},
		{"strict", "enable f16;\n" SHADER("f16"), "65520.0", "f16[n]",
		 PC2043_SPECIALISE_RANGE},
		{"strict", SHADER("f32"), "\"half\"", "f32[n]", PC4112_ATTR_VALUE},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_diag_list *l = pctl_diag_list_create();
		pctl_status status = check_shader(rows[i].class, rows[i].shader, rows[i].override,
						  rows[i].type, l);

		if (status != (rows[i].code ? pctl_code_status(rows[i].code) : PCTL_OK) ||
		    (rows[i].code && !fake_saw(l, rows[i].code)))
			fail_msg("row %u: status %d, %s", i, (int)status,
				 pctl_diag_list_count(l) == 0 ? "silent"
							      : pctl_diag_list_at(l, 0)->message);
		pctl_diag_list_destroy(l);
	}
}

PCTL_TESTS_MAIN(PCTL_TEST(bad_and_good), PCTL_TEST(all_at_once), PCTL_TEST(too_many_ports),
		PCTL_TEST(shader_types), PCTL_TEST(float_shaders))
