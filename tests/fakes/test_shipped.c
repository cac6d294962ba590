/* What is shipped passes its own examination: every manifest of the build tree is usable, its op
 * list is the library's, and every op is found in exactly one library and can be loaded. */
#include "setup.h"

static void shipped__every_plugin_is_usable(void **state)
{
	const pctl_registry_options o = {.worker = WORKER, .probe_ms = 30000};
	uint32_t i, op, backends = 0;
	fixture f;

	(void)state;
	fixture_begin(&f);
	assert_int_equal(pctl_registry_open(&o, f.call, &f.r), PCTL_OK);
	assert_true(pctl_registry_count(f.r) > 0);
	for (i = 0; i < pctl_registry_count(f.r); i++) {
		const pctl_plugin_info *p = pctl_registry_at(f.r, i);

		if (p->state != PCTL_PLUGIN_USABLE)
			fail_msg("%s: PC%u %s", p->id, p->code, p->why);
		assert_non_null(p->version);
		assert_int_equal(strlen(p->sha256), 64);
		backends += p->kind == PCTL_PLUGIN_BACKEND;
	}
	assert_true(backends > 0);
	for (i = 0; i < pctl_registry_op_count(f.r); i++) {
		const pctl_op_name *name = pctl_registry_op_at(f.r, i);
		pctl_oplib_instance lib;

		assert_int_equal(
			pctl_registry_find_op(f.r, name->name, name->version, f.call, &lib, &op),
			PCTL_OK);
		assert_string_equal(lib.table->op_at(lib.inst, op)->name, name->name);
	}
	fixture_end(&f);
}

static void shipped__an_unknown_op_names_the_nearest(void **state)
{
	const pctl_registry_options o = {.worker = WORKER};
	pctl_oplib_instance lib;
	const pctl_diag *d;
	uint32_t op;
	fixture f;

	(void)state;
	fixture_begin(&f);
	assert_int_equal(pctl_registry_open(&o, f.call, &f.r), PCTL_OK);
	assert_int_equal(pctl_registry_find_op(f.r, "int.popcuont", 1, f.call, &lib, &op),
			 PCTL_E_NOT_FOUND);
	d = pctl_diag_list_at(f.diags, 0);
	assert_int_equal(d->code, PC3030_OP_LIBRARY_NONE);
	assert_non_null(strstr(d->hint, "\"int.popcount\""));
	assert_int_equal(pctl_registry_find_op(f.r, "int.popcount", 9, f.call, &lib, &op),
			 PCTL_E_NOT_FOUND);
	fixture_end(&f);
}

PCTL_TESTS_MAIN(PCTL_TEST(shipped__every_plugin_is_usable),
		PCTL_TEST(shipped__an_unknown_op_names_the_nearest))
