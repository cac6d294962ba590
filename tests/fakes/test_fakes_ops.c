/* An op library that is not pipectl's own runs in a worker: it answers as it would in the host, and one that ends its
 * process, crashes, hangs or lies costs its own call only. ops.c has an op for each. */
#include "setup.h"

#include "runtime/ipc/process.h"
#include "planted/planted.h"
#include "foundation/base/clock.h"

typedef struct asking {
	fixture f;
	pctl_oplib_instance lib;
	pctl_op_query q;
	pctl_tensor_type type;
	uint32_t n_commands, n_bindings;
} asking;

static void ask_for(asking *a, const char *op)
{
	uint32_t index;

	assert_int_equal(pctl_registry_find_op(a->f.r, op, 1, a->f.call, &a->lib, &index), PCTL_OK);
	assert_string_equal(a->lib.table->op_at(a->lib.inst, index)->name, op);
	a->type = (pctl_tensor_type){.dtype = PCTL_SCALAR_U32, .rank = 1, .dim = {3}};
	a->q = (pctl_op_query){
		.head = PCTL_HEAD(pctl_op_query), .op = index, .n_in = 1, .in = &a->type};
}

static void begin(asking *a, const char *op, uint32_t call_ms)
{
	char path[256];
	FILE *out;

	memset(a, 0, sizeof(*a));
	fixture_begin(&a->f);
	snprintf(path, sizeof(path), "%s/stranger.plugin.cfg", a->f.dir);
	out = fopen(path, "w");
	assert_non_null(out);
	fprintf(out, "@include \"%s\"\n", FAKES "/stranger.plugin.cfg");
	assert_int_equal(fclose(out), 0);
	{
		const char *dirs[] = {a->f.dir};
		const pctl_registry_options o = {.dirs = dirs,
						 .n_dirs = 1,
						 .flags = PCTL_REGISTRY_NO_DEFAULT_DIRS,
						 .home = a->f.home,
						 .worker = WORKER,
						 .call_ms = call_ms};

		assert_int_equal(pctl_registry_open(&o, a->f.call, &a->f.r), PCTL_OK);
	}
	ask_for(a, op);
}

static pctl_status put_kernel(void *ctx, const pctl_plan_kernel *k)
{
	asking *a = ctx;

	assert_string_equal(k->name, "stranger/next.wgsl");
	assert_int_equal(k->bindings[1].buffer, 1);
	a->n_commands++;
	a->n_bindings = k->n_bindings;
	return PCTL_OK;
}

static pctl_status put_temp(void *ctx, uint64_t n_bytes, uint32_t *buffer)
{
	asking *a = ctx;

	(void)n_bytes;
	*buffer = 2 + a->n_commands++;
	return PCTL_OK;
}

static pctl_status infer(asking *a)
{
	pctl_op_result r = {.head = PCTL_HEAD(pctl_op_result)};
	const pctl_status s = a->lib.table->infer(a->lib.inst, a->f.call, &a->q, &r);

	assert_int_equal(r.out[0].dim[0], s ? 0 : 3);
	return s;
}

static pctl_status plan(asking *a)
{
	const pctl_plan_caps caps = {.head = PCTL_HEAD(pctl_plan_caps)};
	const pctl_plan_sink sink = {.head = PCTL_HEAD(pctl_plan_sink),
				     .ctx = a,
				     .temp = put_temp,
				     .kernel = put_kernel};

	a->n_commands = 0;
	return a->lib.table->plan(a->lib.inst, a->f.call, &a->q, &caps, PCTL_PLAN_RUN, &sink);
}

static pctl_status reference(asking *a)
{
	uint32_t in[3] = {0, 41, UINT32_MAX}, out[3] = {7, 7, 7};
	pctl_span from = {in, sizeof(in)}, to = {out, sizeof(out)};
	const pctl_status s = a->lib.table->reference(a->lib.inst, a->f.call, &a->q, &from, &to);

	assert_int_equal(out[0], s ? 7 : 1);
	assert_int_equal(out[1], s ? 7 : 42);
	assert_int_equal(out[2], s ? 7 : 0);
	return s;
}

static const char *last_words(const asking *a, uint32_t code)
{
	uint32_t i = pctl_diag_list_count(a->f.diags);

	while (i-- > 0)
		if (pctl_diag_list_at(a->f.diags, i)->code == code)
			return pctl_diag_list_at(a->f.diags, i)->message;
	fail_msg("code %u is missing", code);
	return "";
}

static void oplib__a_good_one_works(void **state)
{
	asking a;
	uint32_t i;

	(void)state;
	begin(&a, "stranger.good", 5000);
	assert_string_equal(a.lib.table->op_at(a.lib.inst, a.q.op)->spec, "y = x + 1 modulo 2^32");
	assert_string_equal(a.lib.table->op_at(a.lib.inst, a.q.op)->in[0].type, "u32[n]");
	assert_string_equal(a.lib.table->rules(a.lib.inst, a.q.op)->laws[0].custom, "y - x = 1");
	assert_null(a.lib.table->function(a.lib.inst, a.q.op, PCTL_SCALAR_U32));
	for (i = 0; i < 3; i++) {
		assert_int_equal(infer(&a), PCTL_OK);
		assert_int_equal(plan(&a), PCTL_OK);
		assert_int_equal(a.n_commands, 1);
		assert_int_equal(a.n_bindings, 2);
		assert_int_equal(reference(&a), PCTL_OK);
	}
	/* The host itself has not loaded it. */
	{
		char line[4096];
		FILE *maps = fopen("/proc/self/maps", "r");

		assert_non_null(maps);
		while (fgets(line, sizeof(line), maps))
			assert_null(strstr(line, "ops.so"));
		fclose(maps);
	}
	fixture_end(&a.f);
}

/* One fault: which call shows it, and what the refusal says. The next question gets a new worker. */
static void fault(const char *op, pctl_status (*ask)(asking *), const char *how, const char *words)
{
	const char *said;
	asking a;

	begin(&a, op, 1500);
	assert_int_equal(ask(&a), pctl_code_status(PC3111_WORKER_OPLIB));
	said = last_words(&a, PC3111_WORKER_OPLIB);
	if (!strstr(said, "\"stranger\"") || !strstr(said, op) || !strstr(said, words))
		fail_msg("\"%s\" lacks \"%s\"", said, words);
	assert_int_equal(a.n_commands, 0);
	planted(how, op, "PC3111", said);
	/* The same instance stays lost, and is counted once; a new question is answered by a new worker. */
	assert_int_equal(ask(&a), pctl_code_status(PC3111_WORKER_OPLIB));
	ask_for(&a, "stranger.good");
	assert_int_equal(reference(&a), PCTL_OK);
	assert_int_equal(pctl_quarantine_count(a.f.r), 1);
	assert_int_equal(pctl_quarantine_at(a.f.r, 0)->strikes, 1);
	fixture_end(&a.f);
}

static void oplib__its_end_is_its_own(void **state)
{
	(void)state;
	fault("stranger.exit_infer", infer, "exit(0) in infer", "exited with status 0");
	fault("stranger.quit_plan", plan, "_exit(0) in plan", "exited with status 0");
	fault("stranger.crash_reference", reference, "a crash in reference", "SIGSEGV");
}

static void oplib__a_hang_has_a_limit(void **state)
{
	(void)state;
	fault("stranger.hang_infer", infer, "a hang in infer", "1500 ms");
	fault("stranger.hang_reference", reference, "a hang in reference", "1500 ms");
	fault("stranger.spin_plan", plan, "a plan without end", "1500 ms");
}

static void oplib__a_lie_on_the_channel_is_malformed(void **state)
{
	(void)state;
	fault("stranger.babble_infer", infer, "an answer that is no frame", "malformed");
	fault("stranger.forge_infer", infer, "a type of a thousand dimensions", "malformed");
	fault("stranger.forge_plan", plan, "a plan with lengths beyond its bytes", "malformed");
}

static uint64_t cancel_at;

static uint32_t is_cancelled(void *ctx)
{
	(void)ctx;
	return pctl_clock_ms() >= cancel_at;
}

/* Who was interrupted is not blamed, and is gone long before the limit of a call, ten minutes here. */
static void oplib__a_hang_answers_an_interrupt(void **state)
{
	pctl_op_result r = {.head = PCTL_HEAD(pctl_op_result)};
	pctl_call call;
	asking a;

	(void)state;
	begin(&a, "stranger.hang_infer", 600000);
	call = *a.f.call;
	call.cancelled = is_cancelled;
	cancel_at = pctl_clock_ms() + 200;
	assert_int_equal(a.lib.table->infer(a.lib.inst, &call, &a.q, &r), PCTL_E_CANCELLED);
	assert_true(pctl_clock_ms() - cancel_at < 120000);
	planted("a hang that is interrupted", "stranger.hang_infer", "PC0004",
		last_words(&a, PC4_CANCELLED));
	ask_for(&a, "stranger.good");
	assert_int_equal(pctl_quarantine_count(a.f.r), 0);
	fixture_end(&a.f);
}

static void oplib__three_ends_hold_it(void **state)
{
	asking a;
	uint32_t i;

	(void)state;
	begin(&a, "stranger.exit_infer", 5000);
	for (i = 0; i < 3; i++) {
		pctl_oplib_instance lib;
		uint32_t op;

		assert_int_equal(infer(&a), pctl_code_status(PC3111_WORKER_OPLIB));
		assert_int_equal(
			pctl_registry_find_op(a.f.r, "stranger.exit_infer", 1, a.f.call, &lib, &op),
			i < 2 ? PCTL_OK : pctl_code_status(PC3005_PLUGIN_QUARANTINED));
		a.lib = i < 2 ? lib : a.lib;
	}
	assert_non_null(
		strstr(last_words(&a, PC3005_PLUGIN_QUARANTINED), "plugin release stranger"));
	planted("three workers lost in a row", "stranger", "quarantine",
		last_words(&a, PC3005_PLUGIN_QUARANTINED));
	fixture_end(&a.f);
}

static void oplib__a_refusal_without_a_word_gets_one(void **state)
{
	asking a;

	(void)state;
	begin(&a, "stranger.wordless_infer", 5000);
	assert_int_equal(infer(&a), PCTL_E_INVALID);
	assert_non_null(strstr(last_words(&a, PC3118_WORKER_WORDLESS), "stranger.wordless_infer"));
	ask_for(&a, "stranger.good");
	assert_int_equal(pctl_quarantine_count(a.f.r), 0);
	fixture_end(&a.f);
}

/* Which of two libraries would answer is not left to the order in which they are found. */
static void oplib__two_of_one_op_are_refused(void **state)
{
	pctl_oplib_instance lib;
	char path[256], line[256];
	const char *dirs[1];
	pctl_registry_options o;
	uint32_t op;
	FILE *in, *out;
	asking a;

	(void)state;
	begin(&a, "stranger.good", 5000);
	snprintf(path, sizeof(path), "%s/again.plugin.cfg", a.f.dir);
	in = fopen(FAKES "/stranger.plugin.cfg", "r");
	out = fopen(path, "w");
	assert_non_null(in);
	assert_non_null(out);
	while (fgets(line, sizeof(line), in)) {
		char *id = strstr(line, "id = \"stranger\""), *so = strstr(line, "/ops.so");

		if (id)
			memcpy(id, "id = \"again\";  \n", 17);
		if (so)
			strcpy(so, "/ops_again.so\";\n");
		fputs(line, out);
	}
	fclose(in);
	assert_int_equal(fclose(out), 0);
	pctl_registry_close(a.f.r);
	dirs[0] = a.f.dir;
	o = (pctl_registry_options){.dirs = dirs,
				    .n_dirs = 1,
				    .flags = PCTL_REGISTRY_NO_DEFAULT_DIRS,
				    .home = a.f.home,
				    .worker = WORKER};
	assert_int_equal(pctl_registry_open(&o, a.f.call, &a.f.r), PCTL_OK);
	assert_int_equal(pctl_registry_find_op(a.f.r, "stranger.good", 1, a.f.call, &lib, &op),
			 PCTL_E_PLUGIN);
	assert_non_null(strstr(last_words(&a, PC3024_PLUGIN_OP_DUPLICATE),
			       "defined by \"again\" and by \"stranger\""));
	planted("two libraries of one op", "stranger.good", "PC3024",
		last_words(&a, PC3024_PLUGIN_OP_DUPLICATE));
	/* Each by its own name is found; what there is none of, or is of the other kind, says so. */
	assert_int_equal(pctl_registry_oplib(a.f.r, "again", a.f.call, &lib), PCTL_OK);
	assert_int_equal(pctl_registry_oplib(a.f.r, "nobody", a.f.call, &lib), PCTL_E_PLUGIN);
	assert_non_null(strstr(last_words(&a, PC3003_PLUGIN_UNKNOWN), "nobody"));
	{
		const pctl_plugin_info *info;

		assert_int_equal(pctl_registry_backend(a.f.r, "stranger", a.f.call, &info),
				 PCTL_E_PLUGIN);
		assert_non_null(strstr(last_words(&a, PC3032_PLUGIN_KIND), "is an op library"));
	}
	fixture_end(&a.f);
}

/* The library attributes.c with an op of n attributes. */
static pctl_status open_attributes(uint32_t n, fixture *f, pctl_oplib_instance *lib)
{
	const char *dirs[1];
	char path[256];
	uint32_t op;
	FILE *out;

	fixture_begin(f);
	snprintf(path, sizeof(path), "%s/attributes.plugin.cfg", f->dir);
	out = fopen(path, "w");
	assert_non_null(out);
	fprintf(out,
		"plugin : { id = \"attributes\"; kind = \"oplib\"; library = "
		"\"%s/attributes_%u.so\"; abi : { min = \"1.0\"; };\n"
		"  interfaces = [ \"pctl.oplib/1\" ]; ops = [ \"attributes.copy@1\" ]; };\n",
		FAKES, n);
	assert_int_equal(fclose(out), 0);
	dirs[0] = f->dir;
	{
		const pctl_registry_options o = {.dirs = dirs,
						 .n_dirs = 1,
						 .flags = PCTL_REGISTRY_NO_DEFAULT_DIRS,
						 .home = f->home,
						 .worker = WORKER};

		assert_int_equal(pctl_registry_open(&o, f->call, &f->r), PCTL_OK);
	}
	return pctl_registry_find_op(f->r, "attributes.copy", 1, f->call, lib, &op);
}

/* A proof would have no problems of it, and say nothing. */
static void oplib__an_op_has_so_many_attributes_at_most(void **state)
{
	asking a = {0};

	(void)state;
	assert_int_equal(open_attributes(PCTL_ATTRS_MAX, &a.f, &a.lib), PCTL_OK);
	assert_int_equal(a.lib.table->op_at(a.lib.inst, 0)->n_attr, PCTL_ATTRS_MAX);
	fixture_end(&a.f);
	assert_int_equal(open_attributes(PCTL_ATTRS_MAX + 1, &a.f, &a.lib),
			 pctl_code_status(PC3038_PLUGIN_OP_SIZE));
	assert_null(a.lib.table);
	assert_non_null(
		strstr(last_words(&a, PC3038_PLUGIN_OP_SIZE),
		       "the op attributes.copy@1 has 13 attributes, and an op has at most 12"));
	planted("an op of thirteen attributes", "attributes.copy", "PC3038",
		last_words(&a, PC3038_PLUGIN_OP_SIZE));
	assert_int_equal(pctl_quarantine_count(a.f.r), 0);
	fixture_end(&a.f);
}

PCTL_TESTS_MAIN(PCTL_TEST(oplib__an_op_has_so_many_attributes_at_most),
		PCTL_TEST(oplib__two_of_one_op_are_refused), PCTL_TEST(oplib__a_good_one_works),
		PCTL_TEST(oplib__its_end_is_its_own), PCTL_TEST(oplib__a_hang_has_a_limit),
		PCTL_TEST(oplib__a_lie_on_the_channel_is_malformed),
		PCTL_TEST(oplib__a_hang_answers_an_interrupt), PCTL_TEST(oplib__three_ends_hold_it),
		PCTL_TEST(oplib__a_refusal_without_a_word_gets_one))
