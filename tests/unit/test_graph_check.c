/* The checks of a pipeline: for every code a text that must be refused with it, and a twin that differs in
 * one place and must pass. */
#include "../planted/planted.h"
#include "test_graph_fake.h"

#define HEAD "pipeline : { name = \"p\"; class = \"integer\"; "
#define DATA "inputs : { d : { type = \"u32[n]\"; }; }; "
#define WIDE "inputs : { d : { type = \"u32[n]\"; }; w : { type = \"u64[k,2]\"; }; }; "
#define JOB "jobs = ( { id = \"j\"; op = \"fake.plan@1\"; in : { x = \"$d\"; }; } ); "
#define PAIR(after)                                                                               \
	"jobs = ( { id = \"j\"; op = \"fake.plan@1\"; in : { x = \"$d\"; }; }, { id = \"k\"; op " \
	"= "                                                                                      \
	"\"fake.plan@1\"; in : { x = \"$d\"; }; after = ( " after " ); } ); "
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
	 "op = \"fake.plan@1\"; in : { x = \"$d\"; }; } ); "
	 "outputs : { y = \"j.y\"; z = \"k.y\"; }; };"},
	{PC4019_SHADER_FILE,
	 HEAD DATA
	 "jobs = ( { id = \"j\"; shader = \"gone.wgsl\"; dispatch = [ 1 ]; in : { x = \"$d\"; "
	 "}; out : { y = \"u32[n]\"; }; } ); " OUT,
	 HEAD DATA JOB OUT},
	{PC4020_TYPE_SYNTAX, HEAD "inputs : { d : { type = \"u32[n\"; }; }; " JOB OUT,
	 HEAD "inputs : { d : { type = \"u32[n]\"; }; }; " JOB OUT},
	{PC4018_NAME_TWICE, HEAD "params : { d = 1; }; " DATA JOB OUT,
	 HEAD "params : { e = 1; }; " DATA JOB OUT},
	{PC4018_NAME_TWICE,
	 HEAD DATA PAIR("\"j\", \"j\"") "outputs : { y = \"j.y\"; z = \"k.y\"; }; };",
	 HEAD DATA PAIR("\"j\"") "outputs : { y = \"j.y\"; z = \"k.y\"; }; };"},
	{PC4021_EXTENT, HEAD "inputs : { d : { type = \"u32[0]\"; }; }; " JOB OUT,
	 HEAD "inputs : { d : { type = \"u32[1]\"; }; }; " JOB OUT},
	{PC4021_EXTENT, HEAD "inputs : { d : { type = \"u32[n,0x0]\"; }; }; " JOB OUT,
	 HEAD DATA JOB OUT},
	{PC4022_NO_OUTPUT, HEAD DATA JOB "outputs : { }; };", HEAD DATA JOB OUT},
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
	 HEAD WIDE "jobs = ( { id = \"j\"; op = \"fake.plan@1\"; in : { x = \"$w\"; }; } ); " OUT,
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
	assert_int_equal(n_passed, 5); /* references, parameters, shaders, machines, sizes */
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

/* A pipeline whose first job runs the shader; its status and diagnostics. */
static pctl_status check_with(const char *text, const char *shader, pctl_diag_list *l)
{
	pctl_kernels *k = pctl_kernels_create(&fake_source);
	pctl_graph_options o = {.ops = &fake_source, .kernels = k};
	pctl_pipeline *p = NULL;
	pctl_graph *g = NULL;
	pctl_status status =
		pctl_pipeline_read_text("p.cfg", text, strlen(text), pctl_diag_list_call(l), &p);

	if (status == PCTL_OK) {
		p->jobs[0].shader_text = shader;
		status = pctl_graph_resolve(p, &o, pctl_diag_list_call(l), NULL, NULL, &g);
	}
	pctl_graph_destroy(g);
	pctl_pipeline_destroy(p);
	pctl_kernels_destroy(k);
	return status;
}

/* The same of one shader job with an override and a class. */
static pctl_status check_shader(const char *class, const char *shader, const char *override,
				const char *type, pctl_diag_list *l)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "pipeline : { name = \"p\"; class = \"%s\"; inputs : { d : { type = \"%s\"; }; }; "
		 "jobs = ( { id = \"j\"; shader = \"s.wgsl\"; dispatch = [ 1 ]; override : { k = "
		 "%s; "
		 "}; in : { x = \"$d\"; }; out : { y = \"%s\"; }; } ); " OUT,
		 class, type, override, type);
	return check_with(text, shader, l);
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

/* Rows that a shape names are elements of the shader's variables in memory; every bad row has a good twin. */
static void shader_rows(void **state)
{
	static const struct {
		const char *before, *element, *type, *hint; /* hint NULL: it fits */
	} rows[] = {
		{"", "vec2<u32>", "u32[n,3]", "u32[..,2]"},
		{"", "vec2<u32>", "u32[n,2]", NULL},
		{"", "vec2<u32>", "u32[n]", NULL},
		{"", "vec2<u32>", "u32[n,4]", "u32[..,2]"},
		{"", "vec2<u32>", "u32[n,2,2]", NULL},
		{"", "vec2<u32>", "u32[7]", "u32[..,2]"},
		{"", "vec2<u32>", "u32[8]", NULL},
		{"", "vec2<u32>", "u32", "u32[..,2]"},
		{"", "u32", "u32", NULL},
		{"", "u32", "u32[n,3]", NULL},
		{"", "vec2<u32>", "u64[n,3]", NULL},
		{"", "vec4<u32>", "u128[n,3]", NULL},
		{"", "vec4<u32>", "u32[n,2]", "u32[..,4]"},
		{"", "vec4<u32>", "u32[n,4]", NULL},
		{"", "vec3<f32>", "f32[n,3]", "f32[..,4]"},
		{"", "vec3<f32>", "f32[n,4]", NULL},
		{"", "vec3<f32>", "f32[n]", NULL},
		{"", "vec3<f32>", "bytes[12]", NULL},
		{"", "mat4x4<f32>", "f32[n,5]", "f32[..,4,4]"},
		{"", "mat4x4<f32>", "f32[n,8]", "f32[..,4,4]"},
		{"", "mat4x4<f32>", "f32[n,16]", NULL},
		{"", "mat4x4<f32>", "f32[n,4,4]", NULL},
		{"", "mat2x3<f32>", "f32[n,2,3]", "f32[..,2,4]"},
		{"", "mat2x3<f32>", "f32[n,2,4]", NULL},
		{"", "array<vec2<u32>, 5>", "u32[n,2,5]", "u32[..,5,2]"},
		{"", "array<vec2<u32>, 5>", "u32[n,5,2]", NULL},
		{"", "array<vec2<u32>, 5>", "u32[n,10]", NULL},
		{"struct S { a: u32, b: vec2<u32> }\n", "S", "u32[n,3]", "u32[..,4]"},
		{"struct S { a: u32, b: vec2<u32> }\n", "S", "u32[n,4]", NULL},
		{"struct S { a: u32, b: u32 }\n", "S", "u32[n,3]", "u32[..,2]"},
		{"struct S { a: u32, b: u32 }\n", "S", "u32[n]", NULL},
		{"enable f16;\n", "vec3<f16>", "f16[n,3]", "f16[..,4]"},
		{"enable f16;\n", "vec3<f16>", "f16[n,4]", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_diag_list *l = pctl_diag_list_create();
		char shader[512];
		const pctl_diag *d;
		pctl_status status;

		snprintf(shader, sizeof(shader), "%s" MADE_OF("array<%s>", "array<%s>"),
			 rows[i].before, rows[i].element, rows[i].element);
		status = check_shader("strict", shader, "0", rows[i].type, l);
		d = pctl_diag_list_count(l) == 0 ? NULL : pctl_diag_list_at(l, 0);
		if (rows[i].hint == NULL
			    ? status != PCTL_OK
			    : d == NULL || d->code != PC4106_DIMENSION || d->pos.line != 1 ||
				      pctl_diag_list_errors(l) != 2 || d->hint == NULL ||
				      strstr(d->hint, rows[i].hint) == NULL)
			fail_msg("row %zu, %s of %s: %s, %s", i, rows[i].type, rows[i].element,
				 d == NULL ? "taken" : d->message,
				 d == NULL || d->hint == NULL ? "-" : d->hint);
		pctl_diag_list_destroy(l);
	}
}

/* Sizes, coverage and uses of a pipeline of one shader job, in parts: what stands before the job, the job's dispatch and output,
 * the pipeline's outputs. */
#define WRITE "y[id.x] = x[id.x];"
#define WRITES(text)                                                                          \
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"                           \
	"@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n"                     \
	"fn put(i: u32) { y[i] = 1u; }\n"                                                     \
	"@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) " \
	"{ " text " }\n"

static void shader_sizes(void **state)
{
	static const struct {
		const char *shader, *before, *dispatch, *out, *outputs;
		uint32_t code; /* 0: nothing is said */
		const char *said;
	} rows[] = {
		{WRITES(WRITE), "", "\"n/64\"", "u32[n]", "y = \"j.y\"", 0, NULL},
		{WRITES(WRITE), "", "\"m/64\"", "u32[n]", "y = \"j.y\"", PC4131_DISPATCH,
		 "available: n"},
		{WRITES(WRITE), "params : { nn = 8; s = \"text\"; }; ", "\"nm/64\"", "u32[n]",
		 "y = \"j.y\"", PC4131_DISPATCH, "available: n, nn"},
		{WRITES(WRITE), "params : { s = \"text\"; }; ", "\"$s\"", "u32[n]", "y = \"j.y\"",
		 PC4131_DISPATCH, "available: n"},
		{WRITES(WRITE), "params : { s = 64; }; ", "\"$s\"", "u32[s]", "y = \"j.y\"", 0,
		 NULL},
		{WRITES(WRITE), "", "\"$s\"", "u32[n]", "y = \"j.y\"", PC4011_PARAM_UNKNOWN, NULL},
		{WRITES(WRITE), "", "\"n/0\"", "u32[n]", "y = \"j.y\"", PC4131_DISPATCH, "dim/64"},
		{WRITES(WRITE), "", "\"4294967296\"", "u32[n]", "y = \"j.y\"", PC4131_DISPATCH,
		 NULL},
		{WRITES(WRITE), "", "\"n/64\"", "u32[m]", "y = \"j.y\"", PC4016_DIMENSION_OPEN,
		 "available: n"},
		{WRITES(WRITE), "", "\"n/64\"", "u32[...]", "y = \"j.y\"", PC4016_DIMENSION_OPEN,
		 NULL},
		{WRITES(WRITE), "", "\"n/64\"", "u32[n,0]", "y = \"j.y\"", PC4021_EXTENT, NULL},
		/* coverage */
		{WRITES(WRITE), "", "\"n/128\"", "u32[n]", "y = \"j.y\"", PC4143_COVERAGE,
		 "with n = 1048576"},
		{WRITES(WRITE "y[id.x + 64u * 65536u] = 1u;"), "", "\"n/128\"", "u32[n]",
		 "y = \"j.y\"", 0, NULL},
		{WRITES("for (var i = 0u; i < 2u; i++) { y[2u * id.x + i] = x[0]; }"), "",
		 "\"n/128\"", "u32[n]", "y = \"j.y\"", 0, NULL},
		{WRITES("_ = x[0]; put(id.x); put(id.x + 1u);"), "", "\"n/128\"", "u32[n]",
		 "y = \"j.y\"", 0, NULL},
		{WRITES(WRITE), "", "4", "u32[257]", "y = \"j.y\"", PC4143_COVERAGE,
		 "write at most 1024 bytes of output \"y\", which has 1028"},
		{WRITES(WRITE), "", "4", "u32[256]", "y = \"j.y\"", 0, NULL},
		{WRITES(WRITE), "", "4", "u32[n]", "y = \"j.y\"", 0, NULL},
		{WRITES(WRITE), "params : { s = 64; }; ", "\"s/64\"", "u32[s,2]", "y = \"j.y\"",
		 PC4143_COVERAGE, NULL},
		/* uses */
		{WRITES("if (x[0] == 3u) { y[0] = 1u; }"), "", "1", "u32[1]", "y = \"j.y\"", 0,
		 NULL},
		{WRITES("_ = x[0]; _ = y[0];"), "", "1", "u32[1]", "y = \"j.y\"",
		 PC4142_OUTPUT_UNMADE, "never writes"},
		{WRITES(WRITE), "", "\"n/64\"", "u32[n]", "y = \"j.y\"; z = \"$d\"",
		 PC4142_OUTPUT_UNMADE, "itself"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const int is_error = rows[i].code != 0 && rows[i].code < PC4140_INPUT_UNREAD;
		pctl_diag_list *l = pctl_diag_list_create();
		const pctl_diag *d;
		pctl_status status;
		char text[700];

		snprintf(text, sizeof(text),
			 HEAD
			 "%s" DATA "jobs = ( { id = \"j\"; shader = \"s.wgsl\"; dispatch = ( %s "
			 "); in : { x = \"$d\"; }; out : { y = \"%s\"; }; } ); outputs : { %s; "
			 "}; };",
			 rows[i].before, rows[i].dispatch, rows[i].out, rows[i].outputs);
		status = check_with(text, rows[i].shader, l);
		d = pctl_diag_list_count(l) == 0 ? NULL : pctl_diag_list_at(l, 0);
		if (rows[i].code == 0
			    ? status != PCTL_OK || d != NULL
			    : d == NULL || d->code != rows[i].code ||
				      (status != PCTL_OK) != is_error ||
				      pctl_diag_list_count(l) != 1 || d->pos.line != 1 ||
				      (rows[i].said != NULL &&
				       strstr(d->message, rows[i].said) == NULL &&
				       (d->hint == NULL || strstr(d->hint, rows[i].said) == NULL)))
			fail_msg("row %zu: status %d, %u: %s, %s", i, (int)status,
				 pctl_diag_list_count(l), d == NULL ? "silent" : d->message,
				 d == NULL || d->hint == NULL ? "-" : d->hint);
		pctl_diag_list_destroy(l);
	}
}

/* What nobody reads is said and kept from nothing. */
static void unread(void **state)
{
	static const struct {
		const char *text;
		uint32_t code;
	} rows[] = {
		{HEAD WIDE JOB OUT, PC4140_INPUT_UNREAD},
		{HEAD DATA JOB OUT, 0},
		{HEAD DATA PAIR("\"j\"") OUT, PC4141_JOB_UNREAD},
		{HEAD DATA PAIR("\"j\"") "outputs : { y = \"j.y\"; z = \"k.y\"; }; };", 0},
		{HEAD DATA JOB "outputs : { y = \"$d\"; }; };", PC4142_OUTPUT_UNMADE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_diag_list *l = pctl_diag_list_create();
		uint32_t n_passed;

		assert_int_equal(check(rows[i].text, l, &n_passed), PCTL_OK);
		assert_int_equal(pctl_diag_list_count(l) != 0, rows[i].code != 0);
		if (rows[i].code != 0) {
			const pctl_diag *d = pctl_diag_list_at(l, 0);

			assert_true(fake_saw(l, rows[i].code));
			assert_int_equal(d->severity, PCTL_SEVERITY_WARNING);
			assert_true(d->pos.line == 1 && d->hint != NULL);
		}
		assert_int_equal(pctl_diag_list_errors(l), 0);
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
		PCTL_TEST(shader_types), PCTL_TEST(shader_rows), PCTL_TEST(shader_sizes),
		PCTL_TEST(unread), PCTL_TEST(float_shaders))
