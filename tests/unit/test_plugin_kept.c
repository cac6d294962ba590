/* The registry's small files: rows come back as they were put, damage is noticed; quarantine
 * counts, holds, survives and is released; manifests are held to their schema; driver files become
 * environments. */
#include "main.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "foundation/diag/diag.h"
#include "runtime/plugin/devices.h"
#include "runtime/plugin/registry_private.h"

typedef struct place {
	char home[64];
	pctl_diag_list *diags;
	const pctl_call *call;
} place;

static void place_begin(place *p)
{
	strcpy(p->home, "/tmp/pipectl-rows-XXXXXX");
	assert_non_null(mkdtemp(p->home));
	p->diags = pctl_diag_list_create();
	p->call = pctl_diag_list_call(p->diags);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static void place_end(place *p)
{
	pctl_diag_list_destroy(p->diags);
	nftw(p->home, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void write_text(const place *p, const char *name, const char *text)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", p->home, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void rows__come_back_as_they_were(void **state)
{
	const pctl_quarantine_entry one = {"a", "", "tab\there", "line\nbreak", 7, 1};
	const pctl_quarantine_entry two = {"back\\slash", "\\t", "", "", UINT32_MAX, 0};
	const pctl_record_type *t = &pctl_quarantine_type;
	pctl_arena *a = pctl_arena_create();
	const pctl_quarantine_entry *rows;
	pctl_kept r, s;
	char path[128];
	place p;

	(void)state;
	place_begin(&p);
	snprintf(path, sizeof(path), "%s/rows", p.home);
	assert_int_equal(pctl_kept_load(&r, t, a, path, p.call), PCTL_OK);
	for (uint32_t i = 0; i < 40; i++)
		assert_true(pctl_kept_add(&r, i % 2 ? &two : &one));
	pctl_kept_remove(&r, 0);
	assert_int_equal(pctl_kept_save(&r, path, 1, p.call), PCTL_OK);
	assert_int_equal(pctl_kept_load(&s, t, a, path, p.call), PCTL_OK);
	assert_int_equal(s.n, 39);
	rows = (const pctl_quarantine_entry *)(const void *)s.rows;
	assert_string_equal(rows[0].plugin, two.plugin);
	assert_string_equal(rows[0].driver, two.driver);
	assert_int_equal(rows[0].strikes, UINT32_MAX);
	assert_string_equal(rows[37].cause, one.cause);
	assert_string_equal(rows[37].who, one.who);
	assert_true(rows[37].in_force && !rows[38].in_force);
	/* What was read goes on. */
	assert_true(pctl_kept_add(&s, &one));
	assert_int_equal(s.n, 40);
	assert_int_equal(pctl_diag_list_count(p.diags), 0);
	/* Another header, another file's rows, a missing end of line, a wrong escape. */
	assert_int_equal(pctl_kept_load(&s, &pctl_refused_type, a, path, p.call), PCTL_E_STORE);
	assert_int_equal(s.n, 0);
	for (uint32_t i = 0; i < 4; i++) {
		static const char *const rest[] = {"\na\t\theld\t1\thost\tx", "\na\t\theld\t1\n",
						   "\na\t\theld\t1\thost\ta\\x\n", ""};
		char text[256];

		snprintf(text, sizeof(text), "%.*s%s", (int)strcspn(t->opening, "\n"), t->opening,
			 rest[i]);
		write_text(&p, "rows", text);
		assert_int_equal(pctl_kept_load(&s, t, a, path, p.call), PCTL_E_STORE);
		assert_int_equal(s.n, 0);
	}
	pctl_arena_destroy(a);
	place_end(&p);
}

static pctl_status open_at(const place *p, pctl_registry **r)
{
	const char *dirs[] = {p->home};
	const pctl_registry_options o = {.dirs = dirs,
					 .n_dirs = 1,
					 .flags = PCTL_REGISTRY_NO_DEFAULT_DIRS,
					 .home = p->home,
					 .strikes = 2};

	return pctl_registry_open(&o, p->call, r);
}

static void quarantine__counts_holds_and_is_released(void **state)
{
	const pctl_quarantine_entry *e;
	pctl_registry *r;
	uint32_t n;
	place p;

	(void)state;
	place_begin(&p);
	assert_int_equal(open_at(&p, &r), PCTL_OK);
	assert_int_equal(pctl_quarantine_strike(r, "vulkan", "lvp", "fell\tover", p.call), PCTL_OK);
	assert_null(pctl_quarantine_find(r, "vulkan", "lvp"));
	assert_int_equal(pctl_quarantine_count(r), 1);
	/* Going well in between forgets what was counted. */
	assert_int_equal(pctl_quarantine_well(r, "vulkan", "lvp", p.call), PCTL_OK);
	assert_int_equal(pctl_quarantine_count(r), 0);
	assert_int_equal(pctl_quarantine_strike(r, "vulkan", "lvp", "fell\tover", p.call), PCTL_OK);
	pctl_registry_close(r);
	/* The count survives the process. */
	assert_int_equal(open_at(&p, &r), PCTL_OK);
	assert_int_equal(pctl_diag_list_count(p.diags), 0);
	assert_int_equal(pctl_quarantine_strike(r, "vulkan", "lvp", "fell again", p.call), PCTL_OK);
	assert_int_equal(pctl_diag_list_count(p.diags), 1);
	e = pctl_quarantine_find(r, "vulkan", "lvp");
	assert_non_null(e);
	assert_string_equal(e->cause, "fell again");
	assert_string_equal(e->who, "host");
	assert_int_equal(e->strikes, 2);
	assert_null(pctl_quarantine_find(r, "vulkan", "other"));
	assert_null(pctl_quarantine_find(r, "vulkan", NULL));
	/* Going well does not release. */
	assert_int_equal(pctl_quarantine_well(r, "vulkan", "lvp", p.call), PCTL_OK);
	assert_non_null(pctl_quarantine_find(r, "vulkan", "lvp"));
	assert_int_equal(pctl_quarantine_put(r, "rank", NULL, "wrong result", "operator", p.call),
			 PCTL_OK);
	assert_non_null(pctl_quarantine_find(r, "rank", ""));
	assert_string_equal(pctl_quarantine_at(r, 0)->plugin, "rank");
	assert_int_equal(pctl_quarantine_release(r, "vulkan", "lvp", p.call, &n), PCTL_OK);
	assert_int_equal(n, 1);
	assert_int_equal(pctl_quarantine_release(r, "vulkan", NULL, p.call, &n), PCTL_OK);
	assert_int_equal(n, 0);
	assert_int_equal(pctl_quarantine_count(r), 1);
	pctl_registry_close(r);
	place_end(&p);
}

static void quarantine__two_processes_do_not_undo_each_other(void **state)
{
	pctl_registry *run, *person;
	place p;

	(void)state;
	place_begin(&p);
	assert_int_equal(open_at(&p, &run), PCTL_OK);
	assert_int_equal(open_at(&p, &person), PCTL_OK);
	assert_int_equal(pctl_quarantine_put(person, "opencl", "pocl", "wrong", "operator", p.call),
			 PCTL_OK);
	assert_int_equal(pctl_quarantine_strike(run, "vulkan", "lvp", "fell", p.call), PCTL_OK);
	assert_non_null(pctl_quarantine_find(run, "opencl", "pocl"));
	assert_int_equal(pctl_quarantine_strike(person, "vulkan", "lvp", "fell", p.call), PCTL_OK);
	assert_int_equal(pctl_quarantine_find(person, "vulkan", "lvp")->strikes, 2);
	assert_int_equal(pctl_quarantine_well(run, "vulkan", "lvp", p.call), PCTL_OK);
	assert_non_null(pctl_quarantine_find(run, "vulkan", "lvp"));
	pctl_registry_close(run);
	pctl_registry_close(person);
	place_end(&p);
}

static void quarantine__a_damaged_file_is_not_ignored(void **state)
{
	pctl_registry *r;
	place p;

	(void)state;
	place_begin(&p);
	write_text(&p, "quarantine.tsv", "whatever\n");
	assert_int_equal(open_at(&p, &r), PCTL_E_STORE);
	assert_null(r);
	assert_int_equal(pctl_diag_list_at(p.diags, 0)->code, PC3031_PLUGIN_STORE);
	place_end(&p);
}

static void refused(const char *text, uint32_t code, const char *words)
{
	const pctl_plugin_info *info;
	pctl_registry *r;
	place p;

	place_begin(&p);
	write_text(&p, "x.plugin.cfg", text);
	assert_int_equal(open_at(&p, &r), PCTL_OK);
	assert_int_equal(pctl_registry_count(r), 1);
	info = pctl_registry_at(r, 0);
	assert_int_equal(info->state, PCTL_PLUGIN_REFUSED);
	if (info->code != code || !strstr(info->why, words))
		fail_msg("PC%u \"%s\" instead of PC%u \"%s\"", info->code, info->why, code, words);
	pctl_registry_close(r);
	place_end(&p);
}

#define GOOD                                                              \
	"kind = \"oplib\"; library = \"x.so\"; abi : { min = \"1.0\"; };" \
	"interfaces = [ \"pctl.oplib/1\" ]; "

static void manifest__is_held_to_its_schema(void **state)
{
	(void)state;
	refused("plugin : { id = \"x\"; " GOOD " ops = [ \"x.a@1\" ]; };", PC3007_PLUGIN_LIBRARY,
		"x.so");
	refused("plugin : { id = \"X\"; " GOOD " ops = [ \"x.a@1\" ]; };", PC3001_PLUGIN_MANIFEST,
		"[a-z]");
	refused("plugin : { id = \"x\"; " GOOD " };", PC3001_PLUGIN_MANIFEST, "ops");
	refused("plugin : { id = \"x\"; " GOOD " ops = [ \"x.a\" ]; };", PC3001_PLUGIN_MANIFEST,
		"x.plugin.cfg:1:");
	refused("plugin : { id = \"x\"; " GOOD " ops = [ \"x.a@0\" ]; };", PC3001_PLUGIN_MANIFEST,
		"@0");
	refused("plugin : { id = \"x\"; " GOOD " ops = [ \"x.a@1\" ]; sha256 = \"12\"; };",
		PC3001_PLUGIN_MANIFEST, "64");
	refused("plugin : { id = \"x\"; " GOOD " ops = [ \"x.a@1\" ]; librry = \"y\"; };",
		PC1020_CONF_UNKNOWN_KEY, "librry");
	refused("plugin : { id = \"x\"; " GOOD " ops = [ 1 ]; };", PC1022_CONF_KIND, "");
	refused("plugin : { id = \"x\"; };", PC1021_CONF_MISSING_KEY, "kind");
	refused("plugin : { id = ", PC1001_CONF_SYNTAX, "");
	refused("plugin : { id = \"x\"; kind = \"backend\"; library = \"x.so\"; abi : { min = "
		"\"1.0\"; };"
		"interfaces = [ \"pctl.oplib/1\" ]; };",
		PC3001_PLUGIN_MANIFEST, "pctl.backend/1");
	refused("plugin : { id = \"x\"; kind = \"backend\"; library = \"x.so\"; abi : { min = "
		"\"1.1\"; };"
		"interfaces = [ \"pctl.backend/1\" ]; };",
		PC3016_PLUGIN_ABI, "1.1");
}

static void manifest__drivers_become_environments(void **state)
{
	const pctl_driver_env *const *envs;
	pctl_registry *r;
	char dir[96], list[256];
	uint32_t n;
	place p;

	(void)state;
	place_begin(&p);
	snprintf(dir, sizeof(dir), "%s/icd", p.home);
	mkdir(dir, 0700);
	write_text(&p, "icd/zink_icd.x86_64.json", "{}");
	write_text(&p, "icd/lvp_icd.x86_64.json", "{}");
	write_text(&p, "icd/notes.txt", "");
	write_text(&p, "lvp_icd.json", "{}");
	write_text(
		&p, "x.plugin.cfg",
		"plugin : { id = \"x\"; kind = \"backend\"; library = \"x.so\"; abi : { min = "
		"\"1.0\"; };"
		"interfaces = [ \"pctl.backend/1\" ]; drivers = \"vulkan\"; driver_settings = ("
		"{ driver = \"zink\"; set = [ \"PIPECTL_TEST_A=1\", \"PATH=nowhere\" ]; } ); };");
	snprintf(list, sizeof(list), "%s:%s/lvp_icd.json", dir, p.home);
	setenv("VK_DRIVER_FILES", list, 1);
	assert_int_equal(open_at(&p, &r), PCTL_OK);
	assert_int_equal(pctl_driver_envs(r, pctl_registry_at(r, 0), p.call, &envs, &n), PCTL_OK);
	unsetenv("VK_DRIVER_FILES");
	assert_int_equal(n, 3);
	assert_string_equal(envs[0]->key, "lvp");
	assert_string_equal(envs[1]->key, "zink");
	assert_string_equal(envs[2]->key, "lvp~2");
	snprintf(list, sizeof(list), "VK_ICD_FILENAMES=%s/zink_icd.x86_64.json", dir);
	/* A declared name has the value that the user has set. */
	assert_int_equal(envs[1]->n_set, 4);
	assert_string_equal(envs[1]->set[1], list);
	assert_string_equal(envs[1]->set[2], "PIPECTL_TEST_A=1");
	assert_string_not_equal(envs[1]->set[3], "PATH=nowhere");
	/* Of such values it is known that the user chose them: they are part of the device's key. */
	assert_int_equal(envs[1]->n_chosen, 1);
	assert_string_equal(envs[1]->chosen[0], envs[1]->set[3]);
	assert_int_equal(envs[0]->n_chosen, 0);
	assert_int_equal(envs[0]->n_set, 2);
	pctl_registry_close(r);
	place_end(&p);
}

/* Of a process that is gone nothing can be told, as of one that lets nobody look into it. */
static void files_of_nobody(const place *p, char text[512])
{
	const pid_t child = fork();
	const pctl_driver_files of = {.pid = child};
	pctl_str_buf all = PCTL_STR_BUF_INIT, libraries = PCTL_STR_BUF_INIT;
	pctl_registry *r;

	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(open_at(p, &r), PCTL_OK);
	for (int i = 0; i < 2; i++) {
		pctl_str_drop(&all);
		pctl_str_drop(&libraries);
		assert_int_equal(pctl_driver_files_add(r, &of, &all, &libraries, p->call), PCTL_OK);
		assert_true(all.n < 512 && strstr(libraries.data, "cannot be read\t"));
		/* Within one run of pipectl it stays the same. */
		assert_true(i == 0 || strcmp(text, all.data) == 0);
		strcpy(text, all.data);
	}
	pctl_str_drop(&all);
	pctl_str_drop(&libraries);
	pctl_registry_close(r);
}

static void files__that_cannot_be_told_are_like_no_others(void **state)
{
	char first[512], second[512];
	place p;

	(void)state;
	place_begin(&p);
	files_of_nobody(&p, first);
	files_of_nobody(&p, second);
	assert_string_not_equal(first, second);
	place_end(&p);
}

/* A kernel of the host's with that age in seconds, without blocks on the disk. */
static void compiled(const place *p, const char *name, off_t n_bytes, time_t age)
{
	const struct timespec times[2] = {{1700000000 - age, 0}, {1700000000 - age, 0}};
	char path[160];

	write_text(p, name, "");
	snprintf(path, sizeof(path), "%s/%s", p->home, name);
	assert_int_equal(truncate(path, n_bytes), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static int is_there(const place *p, const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", p->home, name);
	return access(path, F_OK) == 0;
}

static uint32_t looks(const place *p, uint64_t most, uint32_t runs)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < runs; i++)
		n += (uint32_t)pctl_cache_trim(p->home, most);
	return n;
}

/* Of 160 MiB an empty cache has room for ten runs of 16, of which the last may fill it. */
static void cache__is_walked_when_it_may_be_full(void **state)
{
	const uint64_t mib = UINT64_C(1) << 20, most = 160 * mib;
	const char *const wrong[] = {"", "bytes 1 runs 0 looks 1", "bytes 1 runs 0 looks 1\n\n",
				     "bytes -", "bytes 99999999999999999999999999999 runs 0"};
	char name[16];
	place p;

	(void)state;
	place_begin(&p);
	compiled(&p, "bafkfirst", 1, 9);
	assert_int_equal(looks(&p, most, 1), 1); /* nothing is known */
	assert_int_equal(looks(&p, most, 9), 0);
	assert_int_equal(looks(&p, most, 1), 1);
	assert_int_equal(looks(&p, most, 100), 10);
	/* 181 MiB: seen by the run that looks, and the oldest go until an eighth is free. */
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "bafk%d", i);
		compiled(&p, name, (off_t)(30 * mib), 100 - i);
	}
	write_text(&p, "plugins.tsv", "is nothing that was compiled");
	assert_int_equal(looks(&p, most, 10), 1);
	assert_true(!is_there(&p, "bafk0") && !is_there(&p, "bafk1") && is_there(&p, "bafk2"));
	assert_true(is_there(&p, "bafk5") && is_there(&p, "bafkfirst") &&
		    is_there(&p, "plugins.tsv"));
	/* Two runs may fill what is left of 160 MiB; a smaller bound is looked at at once, a larger one later. */
	assert_int_equal(looks(&p, most, 2), 0);
	assert_int_equal(looks(&p, most, 1), 1);
	assert_int_equal(looks(&p, 100 * mib, 1), 1);
	assert_true(!is_there(&p, "bafk3") && is_there(&p, "bafk4"));
	assert_int_equal(looks(&p, UINT64_MAX - 1, 1000), 0);
	/* A note that is none is like no note. */
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		write_text(&p, "compiled", wrong[i]);
		assert_int_equal(looks(&p, most, 2), 1);
	}
	place_end(&p);
}

PCTL_TESTS_MAIN(PCTL_TEST(cache__is_walked_when_it_may_be_full),
		PCTL_TEST(files__that_cannot_be_told_are_like_no_others),
		PCTL_TEST(rows__come_back_as_they_were),
		PCTL_TEST(quarantine__counts_holds_and_is_released),
		PCTL_TEST(quarantine__two_processes_do_not_undo_each_other),
		PCTL_TEST(quarantine__a_damaged_file_is_not_ignored),
		PCTL_TEST(manifest__is_held_to_its_schema),
		PCTL_TEST(manifest__drivers_become_environments))
