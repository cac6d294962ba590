/* A program that has set a locale whose decimal point is a comma: numbers of pipelines, attributes and documents are read and written as
 * in any other. */
#include "rig.h"

#include <locale.h>

#include "foundation/base/arena.h"
#include "foundation/base/json.h"
#include "foundation/base/num.h"

#define LOCALE "de_DE.UTF-8"

static const char pipeline[] = "pipeline : { name = \"locale\"; class = \"strict\";\n"
			       "jobs = ( { id = \"half\"; op = \"tensor.full@1\"; attr : { shape = "
			       "\"2\"; value = \"0.5\"; out = \"f32\"; }; } );\n"
			       "outputs : { y = \"half.y\"; }; };\n";

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

static void api__attributes_have_points(void **state)
{
	static const char *const cpu[] = {"cpu"};
	const pipectl_run_options how = {.head = PCTL_HEAD(pipectl_run_options),
					 .backends = cpu,
					 .n_backends = 1,
					 .flags = PIPECTL_RUN_NO_MEMO};
	pipectl_output o = {.head = PCTL_HEAD(pipectl_output)};
	pipectl_pipeline *pl;
	pipectl_result *result;
	char path[96];
	FILE *f;
	rig r;

	(void)state;
	rig_open(&r, NULL);
	snprintf(path, sizeof(path), "%s/locale.pipe.cfg", r.home);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(pipeline, 1, sizeof(pipeline) - 1, f), sizeof(pipeline) - 1);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(pipectl_pipeline_load(r.p, path, NULL, 0, &pl), PCTL_OK);
	assert_int_equal(pipectl_pipeline_run(pl, &how, &result), PCTL_OK);
	assert_int_equal(pipectl_result_output(result, 0, &o), PCTL_OK);
	assert_int_equal(o.n_bytes, 8);
	pipectl_result_release(result);
	pipectl_pipeline_release(pl);
	rig_close(&r, 1);
}

PCTL_TESTS_MAIN_WITH(commas, no_commas, PCTL_TEST(api__texts_have_points),
		     PCTL_TEST(api__attributes_have_points))
