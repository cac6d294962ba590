/* What a program may have set that uses libpipectl: a locale whose decimal point is a comma, floats that are rounded up and whose
 * subnormals are zero. Numbers of pipelines, attributes and documents, what a probe expects and what references give are as in any other. */
#include "models.h"

#include <fenv.h>
#include <locale.h>

#include "foundation/base/arena.h"
#include "foundation/base/json.h"
#include "foundation/base/num.h"

#define LOCALE "de_DE.UTF-8"

static const char halves[] = "pipeline : { name = \"halves\"; class = \"strict\"; jobs = (\n"
			     "{ id = \"half\"; op = \"tensor.full@1\"; attr : { shape = \"2\"; "
			     "value = \"0.5\"; out = \"f32\"; }; } );\n"
			     "outputs : { y = \"half.y\"; }; };\n";
static const char sum[] =
	"pipeline : { name = \"sum\"; class = \"strict\"; jobs = (\n"
	"{ id = \"tiny\"; op = \"tensor.full@1\"; attr : { shape = \"2\"; value = \"0x00000001\"; "
	"out = \"f32\"; }; },\n"
	"{ id = \"one\"; op = \"tensor.full@1\"; attr : { shape = \"1\"; value = \"1\"; out = "
	"\"f32\"; }; },\n"
	"{ id = \"small\"; op = \"tensor.full@1\"; attr : { shape = \"1\"; value = \"0x00000001\"; "
	"out = \"f32\"; }; },\n"
	"{ id = \"ends\"; op = \"tensor.concat@1\"; in : { xs = [\"small.y\", \"one.y\"]; }; },\n"
	"{ id = \"sum\"; op = \"ieee.add@1\"; in : { a = \"tiny.y\"; b = \"ends.y\"; }; } );\n"
	"outputs : { y = \"sum.y\"; }; };\n";

/* The locale is made in a folder of its own: machines have few. */
static int commas(void **state)
{
	static char folder[] = "/tmp/pipectl-locale-XXXXXX";
	char command[160], half[8];

	*state = mkdtemp(folder);
	assert_non_null(*state);
	snprintf(command, sizeof(command), "localedef -i de_DE -f UTF-8 %s/" LOCALE, folder);
	assert_int_equal(system(command), 0);
	assert_int_equal(setenv("LOCPATH", folder, 1), 0);
	assert_non_null(setlocale(LC_ALL, LOCALE));
	snprintf(half, sizeof(half), "%g", 0.5);
	assert_string_equal(half, "0,5");
	return 0;
}

static int no_commas(void **state)
{
	char command[160];

	setlocale(LC_ALL, "C");
	snprintf(command, sizeof(command), "rm -rf %s", (const char *)*state);
	return system(command);
}

static void api__texts_have_points(void **state)
{
	char text[16], *end, *json;
	pctl_arena *arena = pctl_arena_create();
	pctl_json j;

	(void)state;
	assert_int_equal(pctl_num_print(text, sizeof(text), "%.1f", 0.5), 3);
	assert_string_equal(text, "0.5");
	assert_true(pctl_num_parse_double("0.5", &end) == 0.5 && *end == '\0');
	assert_string_equal(pctl_arena_printf(arena, "%a %g", 1.5, 0.25), "0x1.8p+0 0.25");
	pctl_json_init(&j, 0);
	pctl_json_double(&j, 0.1);
	json = pctl_json_finish(&j);
	assert_non_null(json);
	assert_string_equal(json, "0.1\n");
	free(json);
	pctl_arena_destroy(arena);
	/* The caller's own is what it was. */
	snprintf(text, sizeof(text), "%g", 0.5);
	assert_string_equal(text, "0,5");
}

/* The bytes of the pipeline's one output, at most 16. */
static void run_of(rig *r, const char *text, const char *device, uint32_t verify_ppm,
		   unsigned char out[16])
{
	const pipectl_run_options how = {.head = PCTL_HEAD(pipectl_run_options),
					 .backends = &device,
					 .n_backends = 1,
					 .verify_ppm = verify_ppm,
					 .flags = PIPECTL_RUN_NO_MEMO};
	pipectl_pipeline *pl;
	pipectl_result *result;
	const void *data;
	uint64_t n_bytes;
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/one.pipe.cfg", r->home);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	assert_int_equal(fclose(f), 0);
	assert_int_equal(pipectl_pipeline_load(r->p, path, NULL, 0, &pl), PCTL_OK);
	assert_int_equal(pipectl_pipeline_run(pl, &how, &result), PCTL_OK);
	assert_int_equal(pipectl_result_data(result, 0, &data, &n_bytes), PCTL_OK);
	assert_true(n_bytes <= 16);
	memcpy(out, data, n_bytes);
	pipectl_result_release(result);
	pipectl_pipeline_release(pl);
}

static void api__attributes_have_points(void **state)
{
	static const uint32_t half[] = {0x3f000000, 0x3f000000};
	unsigned char y[16];
	rig r;

	(void)state;
	rig_open(&r, NULL);
	run_of(&r, halves, "cpu", 0, y);
	assert_memory_equal(y, half, sizeof(half));
	rig_close(&r, 1);
}

/* A statement of a generation is the same text everywhere, and is read. */
static void api__statements_have_points(void **state)
{
	const pipectl_generate_options o = {.head = PCTL_HEAD(pipectl_generate_options),
					    .prompt = prompt,
					    .n_prompt = 6,
					    .n_tokens = 2,
					    .flags = PIPECTL_GENERATE_RECEIPT,
					    .temperature = 0.5f,
					    .top_p = 0.75f};
	pipectl_generation *g = NULL;
	const char *text = NULL;
	void *opened = NULL;
	uint64_t n = 0;
	world *w;

	(void)state;
	assert_int_equal(world_open(&opened), 0);
	w = opened;
	if (pipectl_generate(w->engine, &o, &g) != PCTL_OK)
		fail_msg("%s", w->r.words);
	assert_int_equal(pipectl_generation_receipt(g, &text, &n), PCTL_OK);
	assert_non_null(strstr(text, "temperature = \"0.5\";"));
	assert_non_null(strstr(text, "top_p = \"0.75\";"));
	if (pipectl_generation_replay(w->engine, "it", text, n, NULL, NULL) != PCTL_OK)
		fail_msg("%s", w->r.words);
	pipectl_generation_release(g);
	assert_int_equal(world_close(&opened), 0);
}

/* Subnormals are zero, as operands and as results. */
static void flush(void)
{
#if defined(__SSE2__)
	volatile float tiny = 0x1p-149f, one = 1;

	__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
	assert_true(tiny * one == 0);
#endif
}

/* The reference behind a mock does every operation: a probe that expects zeros would say otherwise. */
static void api__probes_expect_subnormals(void **state)
{
	/* 2^-149 + 2^-149, and 2^-149 + 1. */
	static const uint32_t sums[] = {2, 0x3f800000};
	unsigned char y[16];
	char command[160];
	fenv_t before;
	rig r;

	(void)state;
	assert_int_equal(fegetenv(&before), 0);
	rig_open(&r, NULL);
	flush();
	run_of(&r, sum, "mock:wrap=cpu", 0, y);
	assert_memory_equal(y, sums, sizeof(sums));
	flush();
	snprintf(command, sizeof(command),
		 "! grep -E '\"(wrong|normal)\"' %s/profiles/*.profile.cfg", r.home);
	assert_int_equal(system(command), 0);
	rig_close(&r, 1);
	assert_int_equal(fesetenv(&before), 0);
}

static void api__references_round_to_nearest(void **state)
{
	pipectl_certify_options o = {.head = PCTL_HEAD(pipectl_certify_options),
				     .device = "cpu",
				     .level = "L1f",
				     .ops = "tensor.dropout@1",
				     .cases = 50};
	fenv_t before;
	char *json;
	rig r;

	(void)state;
	assert_int_equal(fegetenv(&before), 0);
	rig_open(&r, NULL);
	flush();
	assert_int_equal(fesetround(FE_UPWARD), 0);
	/* Too few cases for a level, of which none failed (PC5521). */
	REFUSED(&r, PC5520_REFUSED, pipectl_certify(r.p, &o, &json));
	pipectl_free(json);
	/* The program's own is what it was. */
	assert_int_equal(fegetround(), FE_UPWARD);
	rig_close(&r, 1);
	assert_int_equal(fesetenv(&before), 0);
}

PCTL_TESTS_MAIN_WITH(commas, no_commas, PCTL_TEST(api__texts_have_points),
		     PCTL_TEST(api__attributes_have_points), PCTL_TEST(api__statements_have_points),
		     PCTL_TEST(api__probes_expect_subnormals),
		     PCTL_TEST(api__references_round_to_nearest))
