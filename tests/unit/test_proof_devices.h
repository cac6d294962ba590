/* A fixture for tests of proofs over the shipped plugins: the reference backend, or the device that PIPECTL_PROOF_DEVICE
 * names beside it. */
#ifndef PIPECTL_TESTS_PROOF_DEVICES_H
#define PIPECTL_TESTS_PROOF_DEVICES_H

#include <stdlib.h>

#include "main.h"

#include "foundation/diag/diag.h"
#include "runtime/graph/library.h"
#include "runtime/graph/type.h"
#include "evidence/proof/plans.h"

/* The shipped plugins, and the device named by PIPECTL_PROOF_DEVICE (the reference without). */
static struct {
	pctl_diag_list *said;
	const pctl_call *call;
	pctl_registry *registry;
	pctl_op_library *library;
	pctl_devices *devices;
	pctl_backend_instance *backend, *other;
	pctl_profiles *profiles;
	pctl_proof_context context;
} rig;

static void must(pctl_status status, const char *what)
{
	const uint32_t n = pctl_diag_list_count(rig.said);

	if (status != PCTL_OK)
		fail_msg("%s: %s", what,
			 n == 0 ? "nothing said" : pctl_diag_list_at(rig.said, n - 1)->message);
}
#define MUST(x) must(x, #x)

/* A device in place of the reference, with its profile from the tests' home. */
static void open_other(const char *selector)
{
	const pctl_profiles_options options = {.home = PIPECTL_BINARY_DIR "/test-home"};
	pctl_session_options session = {.id = selector, .name = selector};
	const pctl_device_entry *entry;

	pctl_devices_destroy(rig.devices);
	MUST(pctl_profiles_open(&options, rig.call, &rig.profiles));
	MUST(pctl_devices_find(rig.registry, selector, 0, rig.call, &rig.devices, &entry));
	MUST(pctl_backend_instance_open(rig.registry, entry->backend, entry->env, 0, rig.call,
					&rig.other));
	session.backend = rig.other;
	session.index = entry->in_driver;
	session.device_kind = entry->kind;
	session.profiles = rig.profiles;
	MUST(pctl_session_open(&session, rig.call, &rig.context.device));
	rig.context.entry = entry;
}

static int set_up(void **state)
{
	/* No list of directories: those of the build tree are the installation's own, whose op libraries run in this process, as
	 * they do for `pipectl certify`. */
	const pctl_registry_options options = {.home = PIPECTL_BINARY_DIR "/test-home",
					       .worker = PIPECTL_BINARY_DIR "/bin/pipectl-worker"};
	pctl_session_options session = {.id = "cpu:0", .name = "cpu:0"};
	const pctl_device_entry *entry;

	(void)state;
	rig.said = pctl_diag_list_create();
	rig.call = pctl_diag_list_call(rig.said);
	MUST(pctl_registry_open(&options, rig.call, &rig.registry));
	rig.library = pctl_op_library_create(rig.registry, rig.call);
	rig.context.ops = pctl_op_library_source(rig.library);
	rig.context.kernels = pctl_kernels_create(rig.context.ops);
	MUST(pctl_devices_find(rig.registry, "cpu", PCTL_DEVICES_IN_PROCESS, rig.call, &rig.devices,
			       &entry));
	MUST(pctl_backend_instance_open(rig.registry, entry->backend, entry->env,
					PCTL_INSTANCE_IN_PROCESS, rig.call, &rig.backend));
	session.backend = rig.backend;
	session.index = entry->in_driver;
	session.device_kind = entry->kind;
	MUST(pctl_session_open(&session, rig.call, &rig.context.device));
	rig.context.registry = rig.registry;
	rig.context.entry = entry;
	rig.context.reference = rig.context.device;
	rig.context.seed = 1;
	rig.context.cases = 1000;
	if (getenv("PIPECTL_PROOF_DEVICE") != NULL)
		open_other(getenv("PIPECTL_PROOF_DEVICE"));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (rig.context.device != rig.context.reference)
		pctl_session_close(rig.context.device);
	pctl_session_close(rig.context.reference);
	pctl_backend_instance_close(rig.other, NULL);
	pctl_backend_instance_close(rig.backend, NULL);
	pctl_profiles_close(rig.profiles);
	pctl_devices_destroy(rig.devices);
	pctl_kernels_destroy(rig.context.kernels);
	pctl_op_library_destroy(rig.library);
	pctl_registry_close(rig.registry);
	pctl_diag_list_destroy(rig.said);
	return 0;
}

static inline uint32_t count_of(uint32_t code)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pctl_diag_list_count(rig.said); i++)
		n += pctl_diag_list_at(rig.said, i)->code == code;
	return n;
}

static int run_all(const struct CMUnitTest *tests, size_t n)
{
	return _cmocka_run_group_tests("plans", tests, n, set_up, tear_down) != 0 ||
	       tests_skipped != 0;
}

#endif
