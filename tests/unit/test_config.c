/* The host's configuration: where the home and the file are found, every key with twins, values
 * completed to paths. */
#include "main.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/diag/diag.h"
#include "runtime/config/hostconf.h"

static char dir[64];
static pctl_diag_list *diags;

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/pctl-host-XXXXXX");
	unsetenv("PIPECTL_HOME");
	unsetenv("XDG_DATA_HOME");
	setenv("HOME", "/nonexistent", 1);
	return mkdtemp(dir) == NULL || chdir(dir) != 0 || mkdir("home", 0700) != 0 ||
	       mkdir("gas", 0700) != 0;
}

static int drop_dir(void **state)
{
	char command[96];

	(void)state;
	pctl_diag_list_destroy(diags);
	diags = NULL;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return chdir("/") != 0 || system(command) != 0;
}

static void put(const char *name, const char *text)
{
	assert_int_equal(pctl_file_write(name, text, strlen(text), 0, NULL), PCTL_OK);
}

static pctl_host_config *load(const char *home, const char *config)
{
	const pctl_host_options o = {.home = home, .config = config};
	pctl_host_config *c = NULL;
	pctl_status status;

	pctl_diag_list_destroy(diags);
	diags = pctl_diag_list_create();
	status = pctl_host_config_load(&o, pctl_diag_list_call(diags), &c);
	assert_int_equal(status == PCTL_OK, c != NULL);
	return c;
}

static uint32_t first_code(void)
{
	return pctl_diag_list_count(diags) > 0 ? pctl_diag_list_at(diags, 0)->code : 0;
}

static void home_is(const char *option, const char *wanted, const char *origin)
{
	pctl_host_config *c;

	put("empty.cfg", "");
	c = load(option, "empty.cfg");
	assert_non_null(c);
	assert_string_equal(c->home, wanted);
	assert_string_equal(c->home_origin, origin);
	pctl_host_config_destroy(c);
}

static void host__home(void **state)
{
	(void)state;
	home_is(NULL, "/nonexistent/.local/share/pipectl", "HOME");
	setenv("XDG_DATA_HOME", "relative", 1); /* the specification says to ignore it */
	home_is(NULL, "/nonexistent/.local/share/pipectl", "HOME");
	setenv("XDG_DATA_HOME", "/xdg", 1);
	home_is(NULL, "/xdg/pipectl", "XDG_DATA_HOME");
	setenv("PIPECTL_HOME", "", 1);
	home_is(NULL, "/xdg/pipectl", "XDG_DATA_HOME");
	setenv("PIPECTL_HOME", "/own", 1);
	home_is(NULL, "/own", "PIPECTL_HOME");
	home_is("given", "given", "--home");
	unsetenv("PIPECTL_HOME");
	unsetenv("XDG_DATA_HOME");
	unsetenv("HOME");
	assert_null(load(NULL, "empty.cfg"));
	assert_int_equal(first_code(), PC4320_HOST_CONFIG_HOME);
}

static void host__which_file(void **state)
{
	pctl_host_config *c;
	const char *path;
	uint32_t n = 0, n_used = 0;
	int used;

	(void)state;
	put("home/pipectl.cfg", "memo = \"off\";\n");
	put("other.cfg", "output : { colour = \"never\"; };\n");
	c = load("home", NULL);
	assert_string_equal(c->config, "home/pipectl.cfg");
	assert_false(c->memo);
	assert_int_equal(c->colour, PCTL_WHEN_AUTO);
	assert_string_equal(pctl_host_config_origin(c, "memo"), "home/pipectl.cfg:1");
	assert_string_equal(pctl_host_config_origin(c, "output.colour"), "built in");
	while ((path = pctl_host_config_searched_at(c, n, &used)) != NULL) {
		n++;
		n_used += (uint32_t)used;
	}
	assert_int_equal(n, 4);
	assert_int_equal(n_used, 1);
	pctl_host_config_destroy(c);
	c = load("home", "other.cfg");
	assert_string_equal(c->config, "other.cfg");
	assert_true(c->memo);
	assert_int_equal(c->colour, PCTL_WHEN_NEVER);
	pctl_host_config_destroy(c);
	assert_null(load("home", "absent.cfg"));
	assert_int_equal(first_code(), PC4321_HOST_CONFIG_FILE);
	assert_null(load("home", "home"));
	assert_int_equal(first_code(), PC4321_HOST_CONFIG_FILE);
}

static void good(const char *text)
{
	pctl_host_config *c;

	put("c.cfg", text);
	c = load("home", "c.cfg");
	if (c == NULL)
		pctl_diag_render_text(diags, stderr, 0);
	assert_non_null(c);
	pctl_host_config_destroy(c);
}

static void bad(const char *text, uint32_t code)
{
	put("c.cfg", text);
	assert_null(load("home", "c.cfg"));
	if (pctl_diag_list_count(diags) != 1)
		pctl_diag_render_text(diags, stderr, 0);
	assert_int_equal(pctl_diag_list_count(diags), 1);
	assert_int_equal(first_code(), code);
	assert_int_equal(pctl_diag_list_at(diags, 0)->pos.line, 1);
}

static void host__every_key_has_twins(void **state)
{
	(void)state;
	good("");
	bad("directory : { };", PC1020_CONF_UNKNOWN_KEY);
	good("directories : { cas = \"/x\"; memo = \"m\"; cache = \"c\"; };");
	bad("directories : { cas = 1; };", PC1022_CONF_KIND);
	bad("directories : { memo = true; };", PC1022_CONF_KIND);
	bad("directories : { cache = ( ); };", PC1022_CONF_KIND);
	bad("directories : { ledger = \"l\"; };", PC1020_CONF_UNKNOWN_KEY);
	good("plugins : { dirs = ( \"/a\", \"b\" ); disabled = [ \"mock\" ]; };");
	bad("plugins : { dirs = \"/a\"; };", PC1022_CONF_KIND);
	bad("plugins : { disabled = ( \"\" ); };", PC1023_CONF_WORD);
	good("workers : { path = \"w\"; probe = \"1s\"; start = 5; call = \"1h\"; grace = "
	     "\"1min\"; strikes = 1; in_process = true; };");
	bad("workers : { path = 3; };", PC1022_CONF_KIND);
	bad("workers : { probe = 0; };", PC1024_CONF_RANGE);
	bad("workers : { start = \"25h\"; };", PC1024_CONF_RANGE);
	bad("workers : { call = \"soon\"; };", PC1025_CONF_QUANTITY);
	bad("workers : { grace = -1; };", PC1024_CONF_RANGE);
	bad("workers : { strikes = 0; };", PC1024_CONF_RANGE);
	bad("workers : { in_process = \"yes\"; };", PC1022_CONF_KIND);
	good("limits : { memory = \"8G\"; time = \"1h\"; };");
	bad("limits : { memory = \"lots\"; };", PC1025_CONF_QUANTITY);
	bad("limits : { time = 1.5; };", PC1022_CONF_KIND);
	good("cache : { kernels = 0; gc_grace = \"1h\"; };");
	bad("cache : { kernels = -1; };", PC1024_CONF_RANGE);
	bad("cache : { gc_grace = \"1 h\"; };", PC1025_CONF_QUANTITY);
	good("memo = \"on\";");
	bad("memo = \"yes\";", PC1023_CONF_WORD);
	good("output : { colour = \"never\"; progress = \"always\"; };");
	bad("output : { colour = \"red\"; };", PC1023_CONF_WORD);
	bad("output : { progress = true; };", PC1022_CONF_KIND);
	good("log : { file = \"a.log\"; level = \"error\"; format = \"json\"; };");
	bad("log : { level = \"chatty\"; };", PC1023_CONF_WORD);
	bad("log : { file = 1; };", PC1022_CONF_KIND);
	bad("log : { format = \"xml\"; };", PC1023_CONF_WORD);
	bad("log : { rotate = true; };", PC1020_CONF_UNKNOWN_KEY);
	good("defaults : { policy = \"\"; gas = \"\"; };");
	bad("defaults : { policy = \"no/such.cfg\"; };", PC4322_HOST_CONFIG_DEFAULT);
	bad("defaults : { gas = 1; };", PC1022_CONF_KIND);
}

static void host__paths_are_completed(void **state)
{
	pctl_host_config *c;
	char *path;

	(void)state;
	assert_int_equal(mkdir("conf", 0700), 0);
	assert_int_equal(mkdir("conf/policy", 0700), 0);
	put("conf/policy/strict.cfg", "");
	put("home/mine.cfg", "");
	put("conf/c.cfg",
	    "directories : { memo = \"/m\"; }; plugins : { dirs = ( \"more\", \"/abs\" ); disabled "
	    "= ( \"mock\" ); };\n"
	    "workers : { path = \"bin/w\"; start = \"2s\"; strikes = 7; in_process = true; };\n"
	    "limits : { memory = \"1K\"; time = \"1s\"; }; cache : { kernels = \"2K\"; gc_grace = "
	    "\"1min\"; };\n"
	    "defaults : { policy = \"policy/strict.cfg\"; gas = \"mine.cfg\"; };\n"
	    "output : { colour = \"always\"; progress = \"never\"; "
	    "};\n");
	c = load("home", "conf/c.cfg");
	assert_non_null(c);
	assert_string_equal(c->cas_dir, "home/cas");
	assert_string_equal(c->memo_dir, "/m");
	assert_string_equal(c->cache_dir, "home/cache");
	assert_int_equal(c->n_plugin_dirs, 2);
	assert_string_equal(c->plugin_dirs[0], "conf/more");
	assert_string_equal(c->plugin_dirs[1], "/abs");
	assert_string_equal(c->plugins_disabled[0], "mock");
	assert_string_equal(c->worker, "conf/bin/w");
	assert_int_equal(c->start_ms, 2000);
	assert_int_equal(c->probe_ms, 10000);
	assert_int_equal(c->call_ms, 120000);
	assert_int_equal(c->grace_ms, 10000);
	assert_int_equal(c->strikes, 7);
	assert_true(c->in_process);
	assert_int_equal(c->memory_bytes, 1024);
	assert_int_equal(c->time_ms, 1000);
	assert_int_equal(c->cache_bytes, 2048);
	assert_int_equal(c->gc_grace_s, 60);
	assert_string_equal(c->policy, "conf/policy/strict.cfg");
	assert_string_equal(c->gas, "home/mine.cfg");
	assert_string_equal(c->conf_dir, "conf");
	assert_int_equal(c->colour, PCTL_WHEN_ALWAYS);
	assert_string_equal(c->progress, "never");
	path = pctl_host_config_find(c, "conf/c.cfg");
	assert_string_equal(path, "conf/c.cfg");
	free(path);
	path = pctl_host_config_find(c, "c.cfg");
	assert_string_equal(path, "conf/c.cfg");
	free(path);
	assert_null(pctl_host_config_find(c, "nowhere.cfg"));
	assert_null(pctl_host_config_find(c, "/nowhere.cfg"));
	pctl_host_config_destroy(c);
}

static void host__gas_is_required_when_it_is_asked_for(void **state)
{
	pctl_host_config *c;
	const char *path = NULL;

	(void)state;
	put("c.cfg", "defaults : { gas = \"gas/mine.cfg\"; };");
	c = load("home", "c.cfg");
	assert_non_null(c);
	assert_null(c->gas);
	assert_int_equal(pctl_host_config_require_gas(c, pctl_diag_list_call(diags), &path),
			 PCTL_E_INVALID);
	assert_int_equal(first_code(), PC4322_HOST_CONFIG_DEFAULT);
	assert_null(path);
	pctl_host_config_destroy(c);
	put("gas/mine.cfg", "");
	c = load("home", "c.cfg");
	assert_int_equal(pctl_host_config_require_gas(c, pctl_diag_list_call(diags), &path),
			 PCTL_OK);
	assert_string_equal(path, "gas/mine.cfg");
	pctl_host_config_destroy(c);
	put("c.cfg", "defaults : { gas = \"\"; };");
	c = load("home", "c.cfg");
	assert_int_equal(pctl_host_config_require_gas(c, pctl_diag_list_call(diags), &path),
			 PCTL_OK);
	assert_null(path);
	pctl_host_config_destroy(c);
}

/* conf/pipectl.cfg states the built-in values, every one of them. */
static void host__shipped_file_is_the_built_in(void **state)
{
	pctl_host_config *shipped, *built_in;

	(void)state;
	put("gas/structured-3.cfg", "");
	assert_int_equal(system("cp -r " PIPECTL_SOURCE_DIR "/conf/pipectl.cfg " PIPECTL_SOURCE_DIR
				"/conf/policy ."),
			 0);
	put("empty.cfg", "");
	shipped = load("home", "pipectl.cfg");
	assert_non_null(shipped);
	built_in = load("home", "empty.cfg");
	assert_non_null(built_in);
	assert_int_equal(pctl_host_config_setting_count(shipped),
			 pctl_host_config_setting_count(built_in));
	for (uint32_t i = 0; i < pctl_host_config_setting_count(shipped); i++) {
		const pctl_conf_setting *a = pctl_host_config_setting_at(shipped, i);
		const pctl_conf_setting *b = pctl_host_config_setting_at(built_in, i);

		assert_string_equal(a->key, b->key);
		assert_string_equal(a->value, b->value);
		assert_string_not_equal(a->origin, "built in");
		assert_string_equal(b->origin, "built in");
		assert_non_null(a->field->doc);
	}
	assert_string_equal(shipped->policy, "policy/default.cfg");
	pctl_host_config_destroy(shipped);
	pctl_host_config_destroy(built_in);
}

#define IN_DIR(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)
PCTL_TESTS_MAIN(IN_DIR(host__home), IN_DIR(host__which_file), IN_DIR(host__every_key_has_twins),
		IN_DIR(host__paths_are_completed),
		IN_DIR(host__gas_is_required_when_it_is_asked_for),
		IN_DIR(host__shipped_file_is_the_built_in))
