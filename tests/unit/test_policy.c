/* Policies: a good and a bad twin for every key, inheritance that may only tighten, and every
 * question with both answers. */
#include "main.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/diag/diag.h"
#include "pipectl/backend.h"
#include "pipectl/oplib.h"
#include "runtime/policy/policy.h"

static char dir[64];
static pctl_diag_list *diags;

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/pctl-policy-XXXXXX");
	return mkdtemp(dir) == NULL || chdir(dir) != 0;
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

static pctl_policy *read_policy(const char *path)
{
	pctl_policy *p = NULL;
	pctl_status status;

	pctl_diag_list_destroy(diags);
	diags = pctl_diag_list_create();
	status = pctl_policy_read(path, NULL, NULL, pctl_diag_list_call(diags), &p);
	assert_int_equal(status == PCTL_OK, p != NULL);
	return p;
}

/* A policy whose group holds `body`. */
static pctl_policy *policy(const char *body)
{
	char text[1024];

	snprintf(text, sizeof(text), "policy : { %s };\n", body);
	put("p.cfg", text);
	return read_policy("p.cfg");
}

static void good(const char *body)
{
	pctl_policy *p = policy(body);

	if (p == NULL)
		pctl_diag_render_text(diags, stderr, 0);
	assert_non_null(p);
	assert_int_equal(pctl_diag_list_count(diags), 0);
	pctl_policy_destroy(p);
}

static void bad(const char *body, uint32_t code)
{
	assert_null(policy(body));
	if (pctl_diag_list_count(diags) != 1 || pctl_diag_list_at(diags, 0)->code != code)
		pctl_diag_render_text(diags, stderr, 0);
	assert_int_equal(pctl_diag_list_count(diags), 1);
	assert_int_equal(pctl_diag_list_at(diags, 0)->code, code);
	assert_string_equal(pctl_diag_list_at(diags, 0)->pos.file, "p.cfg");
	assert_int_equal(pctl_diag_list_at(diags, 0)->pos.line, 1);
}

static void policy__every_key_has_twins(void **state)
{
	static const char hash[] =
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	char body[256];

	(void)state;
	good("");
	good("about = \"x\";");
	bad("about = 1;", PC1022_CONF_KIND);
	good("class = \"approximate\";");
	bad("class = \"exact\";", PC1023_CONF_WORD);
	good("certificate = ( { ops = \"rank.*\"; level = \"L4\"; } );");
	bad("certificate = ( { ops = \"rank.*\"; level = \"L5\"; } );", PC1023_CONF_WORD);
	bad("certificate = ( { ops = \"rank.*\"; } );", PC1021_CONF_MISSING_KEY);
	bad("certificate = ( { ops = \"\"; level = \"L1\"; } );", PC4303_POLICY_VALUE);
	good("race = \"checked\";");
	good("memo_bytes = \"1GiB\";");
	bad("memo_bytes = -1;", PC1024_CONF_RANGE);
	good("race_cost = 5;");
	bad("race_cost = -1;", PC1024_CONF_RANGE);
	bad("race = \"none\";", PC1023_CONF_WORD);
	good("verify = \"all\";");
	good("verify = \"sample=0.000001\";");
	good("verify = \"sample=1\";");
	bad("verify = \"sample=1.1\";", PC4303_POLICY_VALUE);
	bad("verify = \"sample=0.0000001\";", PC4303_POLICY_VALUE);
	bad("verify = \"sample=0.\";", PC4303_POLICY_VALUE);
	bad("verify = \"some\";", PC4303_POLICY_VALUE);
	bad("verify = 1;", PC1022_CONF_KIND);
	good("quorum = \"2 of 3\";");
	bad("quorum = \"3 of 2\";", PC4303_POLICY_VALUE);
	bad("quorum = \"0 of 2\";", PC4303_POLICY_VALUE);
	bad("quorum = \"2 of 65\";", PC4303_POLICY_VALUE);
	bad("quorum = \"2/3\";", PC4303_POLICY_VALUE);
	good("backends : { order = ( \"cpu\" ); allowed = [ \"cpu\", \"vulkan:0\" ]; forbidden = ( "
	     "\"opencl/cpu\" ); };");
	bad("backends : { order = ( 1 ); };", PC1022_CONF_KIND);
	bad("backends : { order = ( \"CPU\" ); };", PC4303_POLICY_VALUE);
	bad("backends : { allowed = ( \"vulkan/fast\" ); };", PC4303_POLICY_VALUE);
	bad("backends : { forbidden = ( \"vulkan:\" ); };", PC4303_POLICY_VALUE);
	bad("backends : { forbid = ( ); };", PC1020_CONF_UNKNOWN_KEY);
	good("plugins : { allowed = ( \"cpu\" ); isolation = \"worker\"; };");
	bad("plugins : { allowed = ( \"a b\" ); };", PC1023_CONF_WORD);
	bad("plugins : { isolation = \"none\"; };", PC1023_CONF_WORD);
	snprintf(body, sizeof(body), "plugins : { sha256 : { cpu = \"%s\"; }; };", hash);
	good(body);
	bad("plugins : { sha256 : { cpu = \"abc\"; }; };", PC4303_POLICY_VALUE);
	good("limits : { memory = \"4GiB\"; time = \"10min\"; };");
	bad("limits : { memory = \"4GB?\"; };", PC1025_CONF_QUANTITY);
	bad("limits : { time = \"10 min\"; };", PC1025_CONF_QUANTITY);
	bad("limits : { queue = 1; };", PC1020_CONF_UNKNOWN_KEY);
	good("memo = \"off\";");
	bad("memo = \"on\";", PC1023_CONF_WORD);
	bad("memo = false;", PC1022_CONF_KIND);
	good("deprecated = \"refuse\";");
	bad("deprecated = \"never\";", PC1023_CONF_WORD);
	good("dirty = \"refuse\";");
	bad("dirty = \"no\";", PC1023_CONF_WORD);
	good("signed = \"required\";");
	bad("signed = \"yes\";", PC1023_CONF_WORD);
	snprintf(body, sizeof(body), "signers = ( \"%s\" );", hash);
	good(body);
	bad("signers = ( \"me\" );", PC4303_POLICY_VALUE);
	good("telemetry = \"off\";");
	bad("telemetry = \"remote\";", PC1023_CONF_WORD);
	bad("clas = \"strict\";", PC1020_CONF_UNKNOWN_KEY);
	bad("inherits = \"absent.cfg\";", PC4302_POLICY_INHERITS);
}

static void policy__files_that_hold_no_policy(void **state)
{
	(void)state;
	put("p.cfg", "pipeline : { };\n");
	assert_null(read_policy("p.cfg"));
	assert_int_equal(pctl_diag_list_at(diags, 0)->code, PC1020_CONF_UNKNOWN_KEY);
	assert_int_equal(pctl_diag_list_at(diags, 1)->code, PC4304_POLICY_NO_GROUP);
	put("p.cfg", "policy = 1;\n");
	assert_null(read_policy("p.cfg"));
	assert_int_equal(pctl_diag_list_at(diags, 0)->code, PC1022_CONF_KIND);
	assert_null(read_policy("absent.cfg"));
	assert_int_equal(pctl_diag_list_at(diags, 0)->code, PC3_IO);
}

static void policy__values_and_origins(void **state)
{
	pctl_policy *p = policy("class = \"integer\";\n race = \"proven\"; verify = "
				"\"sample=0.25\"; quorum = \"2 of 3\";\n"
				"limits : { memory = \"4GiB\"; time = \"2s\"; }; memo = "
				"\"off\"; dirty = \"refuse\";\n"
				"telemetry = \"off\"; plugins : { isolation = \"worker\"; };");

	(void)state;
	assert_non_null(p);
	assert_string_equal(p->path, "p.cfg");
	assert_int_equal(p->max_class, PCTL_CLASS_INTEGER);
	assert_int_equal(p->race, PCTL_RACE_PROVEN);
	assert_int_equal(p->verify, PCTL_VERIFY_SAMPLE);
	assert_int_equal(p->verify_ppm, 250000);
	assert_int_equal(p->quorum_k, 2);
	assert_int_equal(p->quorum_n, 3);
	assert_true(p->memory_bytes == 4ull << 30);
	assert_int_equal(p->time_ms, 2000);
	assert_false(p->memo || p->dirty || p->telemetry || p->in_process);
	assert_int_equal(p->n_order, 6);
	assert_string_equal(pctl_policy_origin(p, "class"), "p.cfg:1");
	assert_string_equal(pctl_policy_origin(p, "race"), "p.cfg:2");
	assert_string_equal(pctl_policy_origin(p, "limits.time"), "p.cfg:3");
	assert_string_equal(pctl_policy_origin(p, "backends.order"), "built in");
	assert_null(pctl_policy_origin(p, "nothing"));
	assert_true(pctl_policy_setting_count(p) > 15);
	pctl_policy_destroy(p);
}

/* conf/policy/default.cfg states the built-in values, all of them, and they are what its comments
 * say. */
static void policy__shipped_default_is_the_built_in(void **state)
{
	pctl_policy *shipped = read_policy(PIPECTL_SOURCE_DIR "/conf/policy/default.cfg"),
		    *built_in = NULL;

	(void)state;
	assert_non_null(shipped);
	assert_int_equal(pctl_policy_default(NULL, &built_in), PCTL_OK);
	assert_int_equal(pctl_policy_setting_count(shipped), pctl_policy_setting_count(built_in));
	for (uint32_t i = 0; i < pctl_policy_setting_count(shipped); i++) {
		const pctl_conf_setting *a = pctl_policy_setting_at(shipped, i);
		const pctl_conf_setting *b = pctl_policy_setting_at(built_in, i);

		assert_string_equal(a->key, b->key);
		if (strcmp(a->key, "about") == 0 || strcmp(a->key, "inherits") == 0)
			continue;
		assert_string_equal(a->value, b->value);
		assert_string_not_equal(a->origin, "built in"); /* every key is in the file */
		assert_string_equal(b->origin, "built in");
		assert_non_null(a->field->doc);
	}
	pctl_policy_destroy(shipped);
	pctl_policy_destroy(built_in);
}

/* ---- inheritance
 * ------------------------------------------------------------------------------------------------
 */

/* Parent and child bodies: `same` and `tighter` are accepted, `weaker` is refused with PC4301 and a
 * note at the parent. */
static void inherits(const char *parent, const char *tighter, const char *weaker)
{
	char text[1024];
	const pctl_diag *d;

	snprintf(text, sizeof(text), "policy : { %s };\n", parent);
	put("parent.cfg", text);
	good("inherits = \"parent.cfg\";");
	snprintf(text, sizeof(text), "inherits = \"parent.cfg\"; %s", parent);
	good(text);
	snprintf(text, sizeof(text), "inherits = \"parent.cfg\"; %s", tighter);
	good(text);
	snprintf(text, sizeof(text), "inherits = \"parent.cfg\"; %s", weaker);
	bad(text, PC4301_POLICY_WEAKER);
	d = pctl_diag_list_at(diags, 0);
	assert_int_equal(d->n_notes, 1);
	assert_string_equal(d->notes[0].pos.file, "parent.cfg");
}

#define PROGRAM(n) "limits : { program : { array = " n "; }; };"
#define H1 "1111111111111111111111111111111111111111111111111111111111111111"
#define H2 "2222222222222222222222222222222222222222222222222222222222222222"
#define H3 "3333333333333333333333333333333333333333333333333333333333333333"

static void policy__a_child_may_only_tighten(void **state)
{
	(void)state;
	inherits("class = \"strict\";", "class = \"integer\";", "class = \"approximate\";");
	inherits("race = \"checked\";", "race = \"proven\";", "race = \"trusted\";");
	inherits("memo = \"verified\";", "memo = \"off\";", "memo = \"any\";");
	inherits("deprecated = \"refuse\";", "", "deprecated = \"warn\";");
	inherits("dirty = \"refuse\";", "", "dirty = \"allow\";");
	inherits("signed = \"required\";", "", "signed = \"any\";");
	inherits("signers = ( \"" H1 "\" );", "signers = ( );",
		 "signers = ( \"" H1 "\", \"" H2 "\" );");
	inherits("signers = ( \"" H1 "\", \"" H2 "\" );", "signed = \"required\"; signers = ( );",
		 "signers = ( \"" H2 "\", \"" H3 "\" );");
	inherits("telemetry = \"off\";", "", "telemetry = \"local\";");
	inherits("verify = \"sample=0.5\";", "verify = \"all\";", "verify = \"sample=0.4\";");
	inherits("verify = \"sample=0.5\";", "verify = \"sample=0.6\";", "verify = \"none\";");
	inherits("quorum = \"2 of 3\";", "quorum = \"3 of 3\";", "quorum = \"2 of 4\";");
	inherits("quorum = \"2 of 2\";", "quorum = \"3 of 3\";", "quorum = \"2 of 3\";");
	inherits("quorum = \"2 of 3\";", "quorum = \"4 of 5\";", "quorum = \"1 of 1\";");
	inherits("limits : { memory = \"2G\"; };", "limits : { memory = \"1G\"; };",
		 "limits : { memory = \"3G\"; };");
	inherits("limits : { time = \"2s\"; };", "limits : { time = 1999; };",
		 "limits : { time = 0; };");
	inherits(PROGRAM("2"), PROGRAM("1"), PROGRAM("0"));
	inherits("backends : { allowed = ( \"cpu\", \"vulkan\" ); };",
		 "backends : { allowed = ( \"cpu\" ); };",
		 "backends : { allowed = ( \"cpu\", \"opencl\" ); };");
	inherits("backends : { allowed = ( \"cpu\" ); };",
		 "backends : { forbidden = ( \"cpu\" ); };", "backends : { allowed = ( ); };");
	inherits("backends : { forbidden = ( \"opencl\" ); };",
		 "backends : { forbidden = ( \"vulkan\", \"opencl\" ); };",
		 "backends : { forbidden = ( \"vulkan\" ); };");
	inherits("plugins : { allowed = ( \"cpu\", \"null\" ); };",
		 "plugins : { allowed = ( \"null\" ); };",
		 "plugins : { allowed = ( \"mock\" ); };");
	inherits("plugins : { isolation = \"worker\"; };", "",
		 "plugins : { isolation = \"in-process\"; };");
	inherits("plugins : { sha256 : { cpu = \"" H1 "\"; }; };",
		 "plugins : { sha256 : { cpu = \"" H1 "\"; mock = \"" H2 "\"; }; };",
		 "plugins : { sha256 : { cpu = \"" H2 "\"; }; };");
	inherits("plugins : { sha256 : { cpu = \"" H1 "\"; }; };", "",
		 "plugins : { sha256 : { }; };");
	inherits("certificate = ( { ops = \"rank.*\"; level = \"L2\"; } );",
		 "certificate = ( { ops = \"*\"; level = \"L3\"; } );",
		 "certificate = ( { ops = \"rank.*\"; level = \"L1\"; } );");
	inherits("certificate = ( { ops = \"rank.*\"; level = \"L2\"; } );", "",
		 "certificate = ( );");
	/* What the parent does not set is free. */
	put("parent.cfg", "policy : { race = \"proven\"; };\n");
	good("inherits = \"parent.cfg\"; class = \"approximate\"; backends : { order = ( \"cpu\" "
	     "); };");
}

static void policy__chains(void **state)
{
	char name[32], text[128];
	pctl_policy *p;

	(void)state;
	assert_int_equal(mkdir("sub", 0700), 0);
	put("sub/grand.cfg", "policy : { class = \"integer\"; race = \"checked\"; };\n");
	put("sub/parent.cfg", "policy : { inherits = \"grand.cfg\";\n race = \"proven\"; };\n");
	p = policy("inherits = \"sub/parent.cfg\"; memo = \"off\";");
	assert_non_null(p);
	assert_int_equal(p->max_class, PCTL_CLASS_INTEGER);
	assert_string_equal(pctl_policy_origin(p, "class"), "sub/grand.cfg:1");
	assert_string_equal(pctl_policy_origin(p, "race"), "sub/parent.cfg:2");
	assert_string_equal(pctl_policy_origin(p, "memo"), "p.cfg:1");
	pctl_policy_destroy(p);
	bad("inherits = \"sub/parent.cfg\"; class = \"strict\";", PC4301_POLICY_WEAKER);
	/* A parent that is weaker than its own parent spoils the child. */
	put("sub/parent.cfg", "policy : { inherits = \"grand.cfg\"; race = \"trusted\"; };\n");
	assert_null(policy("inherits = \"sub/parent.cfg\";"));
	assert_int_equal(pctl_diag_list_at(diags, 0)->code, PC4301_POLICY_WEAKER);
	assert_string_equal(pctl_diag_list_at(diags, 0)->pos.file, "sub/parent.cfg");
	/* A parent with errors of its own: they are shown, and where it was named. */
	put("sub/parent.cfg", "policy : { rase = \"trusted\"; };\n");
	assert_null(policy("inherits = \"sub/parent.cfg\";"));
	assert_int_equal(pctl_diag_list_at(diags, 0)->code, PC1020_CONF_UNKNOWN_KEY);
	assert_int_equal(pctl_diag_list_at(diags, 1)->code, PC4302_POLICY_INHERITS);
	bad("inherits = \"p.cfg\";", PC4302_POLICY_INHERITS);
	for (uint32_t i = 0; i < 9; i++) {
		snprintf(name, sizeof(name), "c%u.cfg", i);
		snprintf(text, sizeof(text),
			 i < 8 ? "policy : { inherits = \"c%u.cfg\"; };" : "policy : { };", i + 1);
		put(name, text);
	}
	p = read_policy("c1.cfg");
	assert_non_null(p);
	pctl_policy_destroy(p);
	assert_null(read_policy("c0.cfg"));
	assert_int_equal(pctl_diag_list_at(diags, 0)->code, PC4302_POLICY_INHERITS);
}

/* ---- questions
 * --------------------------------------------------------------------------------------------------
 */

static uint32_t code_of_last(void)
{
	const uint32_t n = pctl_diag_list_count(diags);

	return n > 0 ? pctl_diag_list_at(diags, n - 1)->code : 0;
}

static void policy__class(void **state)
{
	pctl_policy *p = policy("class = \"strict\";");
	const pctl_call *call = pctl_diag_list_call(diags);

	(void)state;
	assert_int_equal(pctl_policy_class(p, 0), PCTL_CLASS_STRICT);
	assert_int_equal(pctl_policy_class(p, PCTL_CLASS_INTEGER), PCTL_CLASS_INTEGER);
	assert_int_equal(pctl_policy_class(p, PCTL_CLASS_APPROXIMATE), PCTL_CLASS_STRICT);
	assert_int_equal(pctl_policy_class_allowed(p, PCTL_CLASS_STRICT, 0, "job \"a\"", call),
			 PCTL_OK);
	assert_int_equal(pctl_policy_class_allowed(p, PCTL_CLASS_APPROXIMATE, 0, "job \"a\"", call),
			 PCTL_E_INVALID);
	assert_non_null(strstr(pctl_diag_list_at(diags, 0)->message, "p.cfg:1"));
	assert_int_equal(pctl_policy_class_allowed(p, PCTL_CLASS_STRICT, PCTL_CLASS_INTEGER,
						   "job \"a\"", call),
			 PCTL_E_INVALID);
	assert_int_equal(code_of_last(), PC4310_POLICY_CLASS);
	assert_non_null(
		strstr(pctl_diag_list_at(diags, 1)->message, "the pipeline allows integer"));
	pctl_policy_destroy(p);
}

static const pctl_policy_device lavapipe = {"vulkan", "llvmpipe (LLVM 15.0.6, 256 bits)", 0,
					    PCTL_DEVICE_CPU};
static const pctl_policy_device h200 = {"vulkan", "NVIDIA H200", 1, PCTL_DEVICE_DISCRETE};
static const pctl_policy_device pocl = {"opencl", "cpu-portable", 0, PCTL_DEVICE_CPU};
static const pctl_policy_device reference = {"cpu", "lockstep", 0, PCTL_DEVICE_REFERENCE};
static const pctl_policy_device mock = {"mock", NULL, 0, PCTL_DEVICE_OTHER};

static void policy__backend_patterns(void **state)
{
	(void)state;
	assert_true(pctl_policy_backend_match("vulkan", &lavapipe));
	assert_false(pctl_policy_backend_match("vulka", &lavapipe));
	assert_false(pctl_policy_backend_match("vulkan2", &lavapipe));
	assert_true(pctl_policy_backend_match("*", &mock));
	assert_true(pctl_policy_backend_match("vulkan:0", &lavapipe));
	assert_false(pctl_policy_backend_match("vulkan:0", &h200));
	assert_true(pctl_policy_backend_match("vulkan:nvidia", &h200));
	assert_true(pctl_policy_backend_match("vulkan:LLVMPIPE", &lavapipe));
	assert_false(pctl_policy_backend_match("opencl:llvmpipe", &lavapipe));
	assert_true(pctl_policy_backend_match("vulkan/discrete", &h200));
	assert_true(pctl_policy_backend_match("vulkan/gpu", &h200));
	assert_false(pctl_policy_backend_match("vulkan/gpu", &lavapipe));
	assert_true(pctl_policy_backend_match("cpu/reference", &reference));
	assert_false(pctl_policy_backend_match("cpu/nonsense", &reference));
	assert_false(pctl_policy_backend_match("mock:x", &mock));
}

static void policy__backends(void **state)
{
	pctl_policy *p = policy("");
	const pctl_call *call = pctl_diag_list_call(diags);

	(void)state;
	assert_int_equal(pctl_policy_backend_allowed(p, &mock, call), PCTL_OK);
	assert_true(pctl_policy_backend_rank(p, &h200) < pctl_policy_backend_rank(p, &pocl));
	assert_true(pctl_policy_backend_rank(p, &pocl) < pctl_policy_backend_rank(p, &lavapipe));
	assert_true(pctl_policy_backend_rank(p, &lavapipe) <
		    pctl_policy_backend_rank(p, &reference));
	assert_int_equal(pctl_policy_backend_rank(p, &mock), UINT32_MAX);
	pctl_policy_destroy(p);
	p = policy("backends : { allowed = ( \"vulkan\", \"cpu\" ); forbidden = ( "
		   "\"vulkan:llvmpipe\" ); order = ( \"cpu\" ); };");
	call = pctl_diag_list_call(diags);
	assert_int_equal(pctl_policy_backend_allowed(p, &h200, call), PCTL_OK);
	assert_int_equal(pctl_policy_backend_allowed(p, &lavapipe, call), PCTL_E_UNSUPPORTED);
	assert_int_equal(code_of_last(), PC4312_POLICY_BACKEND);
	assert_int_equal(pctl_policy_backend_allowed(p, &pocl, call), PCTL_E_UNSUPPORTED);
	assert_non_null(strstr(pctl_diag_list_at(diags, 1)->message, "p.cfg:1"));
	assert_int_equal(pctl_policy_backend_rank(p, &reference), 0);
	assert_int_equal(pctl_policy_backend_rank(p, &h200), UINT32_MAX);
	pctl_policy_destroy(p);
}

static void policy__plugins_certificates_limits(void **state)
{
	pctl_policy *p = policy(
		"plugins : { allowed = ( \"cpu\", \"mock\" ); sha256 : { cpu = \"" H1 "\"; }; };"
		"certificate = ( { ops = \"*\"; level = \"L1\"; }, { ops = \"rank.*\"; level = "
		"\"L3\"; },"
		"{ ops = \"*.step\"; level = \"L2\"; } ); limits : { memory = \"1M\"; };");
	pctl_plugin_rules rules;
	const pctl_call *call = pctl_diag_list_call(diags);

	(void)state;
	pctl_policy_plugin_rules(p, &rules);
	assert_int_equal(rules.n_allowed, 2);
	assert_string_equal(rules.allowed[1], "mock");
	assert_int_equal(rules.n_pins, 1);
	assert_string_equal(rules.pins[0], "cpu");
	assert_string_equal(rules.pins[1], H1);
	assert_int_equal(rules.only_workers, 0);
	assert_string_equal(rules.pins_by, "p.cfg:1");
	assert_int_equal(pctl_policy_certificate(p, "int.add"), 1);
	assert_int_equal(pctl_policy_certificate(p, "rank.step"), 3);
	assert_int_equal(pctl_policy_certificate(p, "other.step"), 2);
	assert_int_equal(pctl_policy_certificate(p, "other.stepper"), 1);
	assert_int_equal(pctl_policy_memory_allowed(p, 1 << 20, "run", call), PCTL_OK);
	assert_int_equal(pctl_policy_memory_allowed(p, (1 << 20) + 1, "run", call), PCTL_E_LIMIT);
	assert_int_equal(code_of_last(), PC4314_POLICY_LIMIT);
	pctl_policy_destroy(p);
	p = policy("");
	assert_int_equal(pctl_policy_certificate(p, "rank.step"), 0);
	assert_int_equal(pctl_policy_memory_allowed(p, UINT64_MAX, "run", NULL), PCTL_OK);
	pctl_policy_plugin_rules(p, &rules);
	assert_int_equal(rules.n_allowed + rules.n_pins + rules.only_workers, 0);
	assert_int_equal(pctl_policy_least(0, 5), 5);
	assert_int_equal(pctl_policy_least(5, 0), 5);
	assert_int_equal(pctl_policy_least(5, 4), 4);
	assert_int_equal(pctl_policy_least(0, 0), 0);
	pctl_policy_destroy(p);
}

static void policy__the_order_of_atomics(void **state)
{
	const pctl_pos pos = {"k.wgsl", 7, 3, 0, 0};
	pctl_policy *p = policy("class = \"strict\";");
	const pctl_call *call = pctl_diag_list_call(diags);

	(void)state;
	assert_int_equal(
		pctl_policy_order_allowed(p, PCTL_CLASS_APPROXIMATE, "j", &pos, "do", call),
		PCTL_E_INVALID);
	assert_int_equal(code_of_last(), PC4315_POLICY_ORDER);
	assert_non_null(strstr(pctl_diag_list_at(diags, 0)->message, "the policy allows strict"));
	assert_int_equal(pctl_diag_list_at(diags, 0)->pos.line, 7);
	assert_string_equal(pctl_diag_list_at(diags, 0)->hint, "do");
	pctl_policy_destroy(p);
	p = policy("class = \"approximate\";");
	call = pctl_diag_list_call(diags);
	assert_int_equal(
		pctl_policy_order_allowed(p, PCTL_CLASS_APPROXIMATE, "j", &pos, "do", call),
		PCTL_OK);
	assert_int_equal(pctl_policy_order_allowed(p, PCTL_CLASS_INTEGER, "j", &pos, "do", call),
			 PCTL_E_INVALID);
	assert_non_null(
		strstr(pctl_diag_list_at(diags, 0)->message, "the pipeline allows integer"));
	pctl_policy_destroy(p);
}

/* Which evidence may stand in place of a run: as strong as the policy would ask of the run itself. */
static void policy__evidence(void **state)
{
	static const pctl_evidence none = {PCTL_EVIDENCE_NONE, 0, 0, 0, 0},
				   l2 = {PCTL_EVIDENCE_CERTIFIED, 2, 0, 0, 0},
				   two = {PCTL_EVIDENCE_QUORUM, 0, 2, 3, 2},
				   one = {PCTL_EVIDENCE_QUORUM, 0, 1, 1, 1},
				   verified = {PCTL_EVIDENCE_VERIFIED, 0, 0, 0, 0};
	static const struct {
		const char *body;
		uint32_t level;
		int none, l2, one, two, verified;
	} cases[] = {
		{"memo = \"off\";", 2, 0, 0, 0, 0, 0},
		{"memo = \"verified\";", 0, 0, 0, 0, 1, 1},
		{"memo = \"verified\";", 2, 0, 1, 0, 1, 1},
		{"memo = \"verified\";", 3, 0, 0, 0, 1, 1},
		{"memo = \"any\";", 0, 1, 1, 1, 1, 1},
		{"memo = \"any\"; quorum = \"2 of 3\";", 2, 0, 0, 0, 1, 1},
		{"memo = \"any\"; quorum = \"3 of 3\";", 2, 0, 0, 0, 0, 1},
		{"memo = \"any\"; verify = \"all\";", 2, 0, 0, 0, 0, 1},
		{"memo = \"any\"; verify = \"sample=0.5\";", 2, 0, 0, 0, 0, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pctl_policy *p = policy(cases[i].body);
		const uint32_t level = cases[i].level;

		assert_non_null(p);
		assert_int_equal(pctl_policy_evidence_suffices(p, none, level), cases[i].none);
		assert_int_equal(pctl_policy_evidence_suffices(p, l2, level), cases[i].l2);
		assert_int_equal(pctl_policy_evidence_suffices(p, one, level), cases[i].one);
		assert_int_equal(pctl_policy_evidence_suffices(p, two, level), cases[i].two);
		assert_int_equal(pctl_policy_evidence_suffices(p, verified, level),
				 cases[i].verified);
		pctl_policy_destroy(p);
	}
}

static void policy__certificate_levels(void **state)
{
	pctl_policy *p =
		policy("certificate = ( { ops = \"rank.*\"; level = \"L3\"; } ); memo = \"any\";");
	const pctl_call *call = pctl_diag_list_call(diags);

	(void)state;
	assert_int_equal(pctl_policy_certificate_allowed(p, "int.add", 0, "d", NULL, call),
			 PCTL_OK);
	assert_int_equal(pctl_policy_certificate_allowed(p, "rank.step", 3, "d", NULL, call),
			 PCTL_OK);
	assert_int_equal(pctl_policy_certificate_allowed(p, "rank.step", 4, "d", NULL, call),
			 PCTL_OK);
	assert_int_equal(pctl_policy_certificate_allowed(p, "rank.step", 2, "vulkan:0", "so", call),
			 PCTL_E_UNSUPPORTED);
	assert_int_equal(code_of_last(), PC4316_POLICY_CERTIFICATE);
	assert_non_null(strstr(pctl_diag_list_at(diags, 0)->message,
			       "vulkan:0 holds certificate level L2 for rank.step, the policy asks "
			       "for L3"));
	pctl_policy_destroy(p);
}

#define IN_DIR(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)
PCTL_TESTS_MAIN(IN_DIR(policy__every_key_has_twins), IN_DIR(policy__files_that_hold_no_policy),
		IN_DIR(policy__values_and_origins), IN_DIR(policy__shipped_default_is_the_built_in),
		IN_DIR(policy__a_child_may_only_tighten), IN_DIR(policy__chains),
		IN_DIR(policy__class), PCTL_TEST(policy__backend_patterns),
		IN_DIR(policy__backends), IN_DIR(policy__plugins_certificates_limits),
		IN_DIR(policy__the_order_of_atomics), IN_DIR(policy__evidence),
		IN_DIR(policy__certificate_levels))
