/* Every planted fault that can be found before use is found, under its own code, with words that
 * name it. */
#include "setup.h"

typedef struct fault {
	const char *library; /* under build/fakes, without .so */
	uint32_t code;
	const char *words; /* part of the reason */
} fault;

static void refused(const char *library, const char *more, uint32_t code, const char *words)
{
	const pctl_plugin_info *p;
	char path[256];
	fixture f;

	fixture_begin(&f);
	snprintf(path, sizeof(path), "%s/%s.so", FAKES, library);
	fixture_manifest(&f, "fake", path, more);
	fixture_open(&f, 1000);
	assert_int_equal(pctl_registry_count(f.r), 1);
	p = pctl_registry_find(f.r, "fake");
	assert_non_null(p);
	if (code == 0) {
		if (p->state != PCTL_PLUGIN_USABLE)
			fail_msg("%s: refused as PC%u: %s", library, p->code, p->why);
	} else {
		if (p->state != PCTL_PLUGIN_REFUSED || p->code != code || !strstr(p->why, words))
			fail_msg("%s: state %u, PC%u instead of PC%u, \"%s\" lacks \"%s\"", library,
				 p->state, p->code, code, p->why, words);
	}
	fixture_end(&f);
}

static void fakes__the_good_twin_is_usable(void **state)
{
	(void)state;
	refused("fake", "", 0, NULL);
}

static void fakes__each_fault_has_its_code(void **state)
{
	static const fault faults[] = {
		{"wrong_major", PC3016_PLUGIN_ABI, "ABI 2.0"},
		{"short_struct", PC3017_PLUGIN_SHORT, "24 bytes"},
		{"short_table", PC3017_PLUGIN_SHORT, "64 bytes"},
		{"missing_slot", PC3022_PLUGIN_SLOT, "list_barrier"},
		{"wrong_id", PC3018_PLUGIN_ID, "somebody-else"},
		{"fast_math", PC3019_PLUGIN_FAST_MATH, "-ffast-math"},
		{"crash_constructor", PC3026_PLUGIN_CRASH,
		 "SIGILL; its last words: constructor speaks"},
		{"exit_constructor", PC3028_PLUGIN_EXIT, "status 7"},
		{"hang_open", PC3027_PLUGIN_HANG, "open"},
		{"refuse_open", PC3020_PLUGIN_OPEN, "not today"},
		{"missing_symbol", PC3015_PLUGIN_SYMBOL, "pctl_plugin_v1"},
		{"undefined_function", PC3014_PLUGIN_UNDEFINED_SYMBOL,
		 "pctl_function_that_nobody_wrote"},
		{"missing_dependency", PC3012_PLUGIN_DEPENDENCY, "libpctl_gone.so"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		refused(faults[i].library, "", faults[i].code, faults[i].words);
}

/* Files that are no libraries, written by the test itself. */
static void refused_file(const void *bytes, size_t n, uint32_t code)
{
	const pctl_plugin_info *p;
	char path[256];
	fixture f;
	FILE *out;

	fixture_begin(&f);
	snprintf(path, sizeof(path), "%s/lib.so", f.home);
	out = fopen(path, "w");
	assert_non_null(out);
	fwrite(bytes, 1, n, out);
	fclose(out);
	fixture_manifest(&f, "fake", path, "");
	fixture_open(&f, 1000);
	p = pctl_registry_at(f.r, 0);
	assert_int_equal(p->state, PCTL_PLUGIN_REFUSED);
	assert_int_equal(p->code, code);
	fixture_end(&f);
}

static void fakes__files_that_are_no_libraries(void **state)
{
	unsigned char elf[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};

	(void)state;
	refused_file("", 0, PC3008_PLUGIN_EMPTY);
	refused_file("I am a library, believe me.\n", 28, PC3009_PLUGIN_NOT_ELF);
	elf[16] = 3;
	elf[18] = 22; /* s390 */
	refused_file(elf, sizeof(elf), PC3010_PLUGIN_MACHINE);
	elf[4] = 1; /* 32 bits */
	refused_file(elf, sizeof(elf), PC3010_PLUGIN_MACHINE);
}

/* A whole library of this machine that asks for a version of the C library that there is none of. */
static void fakes__what_the_linker_refuses_is_told_in_its_words(void **state)
{
	static const char wants[] = "GLIBC_2.2.5", none[] = "GLIBC_9.9.9";
	static char bytes[1 << 20];
	FILE *in = fopen(FAKES "/fake.so", "r");
	uint32_t found = 0;
	size_t n, i;

	(void)state;
	assert_non_null(in);
	n = fread(bytes, 1, sizeof(bytes), in);
	fclose(in);
	assert_true(n > 4096 && n < sizeof(bytes));
	for (i = 0; i + sizeof(wants) < n; i++)
		if (!memcmp(bytes + i, wants, sizeof(wants))) {
			memcpy(bytes + i, none, sizeof(none));
			found++;
		}
	assert_true(found > 0);
	refused_file(bytes, n, PC3013_PLUGIN_LOAD);
}

static void fakes__a_promised_interface_is_missing(void **state)
{
	const pctl_plugin_info *p;
	char path[256];
	fixture f;
	FILE *out;

	(void)state;
	fixture_begin(&f);
	snprintf(path, sizeof(path), "%s/fake.plugin.cfg", f.dir);
	out = fopen(path, "w");
	assert_non_null(out);
	fprintf(out,
		"plugin : { id = \"fake\"; kind = \"backend\"; library = \"%s\"; abi : { min = "
		"\"1.0\"; };\n"
		"interfaces = [ \"pctl.backend/1\", \"pctl.more/1\" ]; };\n",
		FAKES "/fake.so");
	assert_int_equal(fclose(out), 0);
	fixture_open(&f, 5000);
	p = pctl_registry_at(f.r, 0);
	assert_int_equal(p->state, PCTL_PLUGIN_REFUSED);
	if (p->code != PC3021_PLUGIN_INTERFACE || !strstr(p->why, "pctl.more/1"))
		fail_msg("PC%u: %s", p->code, p->why);
	fixture_end(&f);
}

static void fakes__a_truncated_library_is_not_even_loaded(void **state)
{
	static char bytes[1 << 16];
	FILE *in = fopen(FAKES "/fake.so", "r");
	size_t n;

	(void)state;
	assert_non_null(in);
	n = fread(bytes, 1, sizeof(bytes), in);
	fclose(in);
	assert_true(n > 4096);
	refused_file(bytes, 3000, PC3034_PLUGIN_TRUNCATED);
	refused_file(bytes, 70, PC3034_PLUGIN_TRUNCATED);
}

static void fakes__what_the_manifest_says_is_held_against_it(void **state)
{
	(void)state;
	refused("fake",
		"sha256 = \"0000000000000000000000000000000000000000000000000000000000000000\";",
		PC3011_PLUGIN_SHA256, "0000");
	refused("fake", "ops = [ \"a.b@1\" ];", PC3001_PLUGIN_MANIFEST, "a backend has no ops");
	refused("no_such_file", "", PC3007_PLUGIN_LIBRARY, "no such file");
	refused("fake", "isolaton = \"worker\";", PC1020_CONF_UNKNOWN_KEY, "isolaton");
}

static void fakes__two_manifests_of_one_id_are_both_refused(void **state)
{
	char from[256], to[256];
	fixture f;
	uint32_t i;

	(void)state;
	fixture_begin(&f);
	fixture_manifest(&f, "fake", FAKES "/fake.so", "");
	snprintf(from, sizeof(from), "%s/fake.plugin.cfg", f.dir);
	snprintf(to, sizeof(to), "%s/other.plugin.cfg", f.dir);
	assert_int_equal(rename(from, to), 0);
	fixture_manifest(&f, "fake", FAKES "/fake.so", "");
	fixture_open(&f, 1000);
	assert_int_equal(pctl_registry_count(f.r), 2);
	for (i = 0; i < 2; i++) {
		const pctl_plugin_info *p = pctl_registry_at(f.r, i);

		assert_int_equal(p->code, PC3002_PLUGIN_DUPLICATE);
		assert_non_null(strstr(p->why, "other.plugin.cfg"));
		assert_non_null(strstr(p->why, "fake.plugin.cfg"));
	}
	fixture_end(&f);
}

static void fakes__a_verdict_is_remembered_until_the_file_changes(void **state)
{
	const pctl_plugin_info *p;
	char cmd[512], sha[80];
	fixture f;

	(void)state;
	fixture_begin(&f);
	snprintf(cmd, sizeof(cmd), "cp %s/fake.so %s/lib.so", FAKES, f.home);
	assert_int_equal(system(cmd), 0);
	snprintf(cmd, sizeof(cmd), "%s/lib.so", f.home);
	fixture_manifest(&f, "fake", cmd, "");
	fixture_open(&f, 5000);
	p = pctl_registry_at(f.r, 0);
	assert_int_equal(p->state, PCTL_PLUGIN_USABLE);
	assert_string_equal(p->version, "1.0");
	strcpy(sha, p->sha256);
	/* With no time for a probe, only memory can say yes. */
	fixture_open(&f, 1);
	p = pctl_registry_at(f.r, 0);
	assert_int_equal(p->state, PCTL_PLUGIN_USABLE);
	assert_string_equal(p->sha256, sha);
	/* Another library in its place is examined. */
	snprintf(cmd, sizeof(cmd), "cp %s/wrong_id.so %s/lib.so", FAKES, f.home);
	assert_int_equal(system(cmd), 0);
	fixture_open(&f, 5000);
	p = pctl_registry_at(f.r, 0);
	assert_int_equal(p->state, PCTL_PLUGIN_REFUSED);
	assert_int_equal(p->code, PC3018_PLUGIN_ID);
	fixture_end(&f);
}

static void fakes__a_missing_directory_is_an_error(void **state)
{
	const char *dirs[] = {"/nonexistent/plugins.d"};
	const pctl_registry_options o = {.dirs = dirs,
					 .n_dirs = 1,
					 .flags = PCTL_REGISTRY_NO_DEFAULT_DIRS,
					 .worker = WORKER};
	pctl_registry *r;
	fixture f;

	(void)state;
	fixture_begin(&f);
	assert_int_equal(pctl_registry_open(&o, f.call, &r), PCTL_E_PLUGIN);
	assert_null(r);
	assert_true(has_code(&f, PC3006_PLUGIN_DIRECTORY));
	fixture_end(&f);
}

PCTL_TESTS_MAIN(PCTL_TEST(fakes__the_good_twin_is_usable),
		PCTL_TEST(fakes__each_fault_has_its_code),
		PCTL_TEST(fakes__files_that_are_no_libraries),
		PCTL_TEST(fakes__what_the_linker_refuses_is_told_in_its_words),
		PCTL_TEST(fakes__a_promised_interface_is_missing),
		PCTL_TEST(fakes__a_truncated_library_is_not_even_loaded),
		PCTL_TEST(fakes__what_the_manifest_says_is_held_against_it),
		PCTL_TEST(fakes__two_manifests_of_one_id_are_both_refused),
		PCTL_TEST(fakes__a_verdict_is_remembered_until_the_file_changes),
		PCTL_TEST(fakes__a_missing_directory_is_an_error))
