/* What the tests of planted faults share: a temporary home, manifests written into it, and the
 * check that no process is left. */
#ifndef PIPECTL_TESTS_FAKES_SETUP_H
#define PIPECTL_TESTS_FAKES_SETUP_H

#include "main.h"

#include <dirent.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <errno.h>
#include <signal.h>

#include "foundation/diag/diag.h"
#include "runtime/plugin/devices.h"
#include "runtime/plugin/registry_private.h"

#define FAKES PIPECTL_BINARY_DIR "/fakes"
#define WORKER PIPECTL_BINARY_DIR "/bin/pipectl-worker"

typedef struct fixture {
	char home[64], dir[96];
	pctl_diag_list *diags;
	const pctl_call *call;
	pctl_registry *r;
	char sha256[2 * PCTL_DIGEST_BYTES + 1];
	const char *pin[2];	   /* of fixture_pin */
	pctl_worker_limits limits; /* none unless set */
	uint32_t without;	   /* PCTL_CONFINE_* */
	uint32_t call_ms;	   /* 0: 5 s */
} fixture;

static inline void fixture_begin(fixture *f)
{
	memset(f, 0, sizeof(*f));
	strcpy(f->home, "/tmp/pipectl-fakes-XXXXXX");
	assert_non_null(mkdtemp(f->home));
	snprintf(f->dir, sizeof(f->dir), "%s/plugins.d", f->home);
	assert_int_equal(mkdir(f->dir, 0700), 0);
	f->diags = pctl_diag_list_create();
	assert_non_null(f->diags);
	f->call = pctl_diag_list_call(f->diags);
}

/* A manifest of `id` for `library`; `more` are further lines of it. */
static inline void fixture_manifest(const fixture *f, const char *id, const char *library,
				    const char *more)
{
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s.plugin.cfg", f->dir, id);
	out = fopen(path, "w");
	assert_non_null(out);
	fprintf(out,
		"plugin : { id = \"%s\"; kind = \"backend\"; library = \"%s\"; abi : { min = "
		"\"1.0\"; };\n"
		"interfaces = [ \"pctl.backend/1\" ];\n%s };\n",
		id, library, more);
	assert_int_equal(fclose(out), 0);
}

/* As a policy does: this file is meant. */
static inline void fixture_pin(fixture *f, const char *id, const char *library)
{
	assert_true(pctl_plugin_hash_file(library, f->sha256));
	f->pin[0] = id;
	f->pin[1] = f->sha256;
}

static inline void fixture_open(fixture *f, uint32_t probe_ms)
{
	const char *dirs[] = {f->dir};
	const pctl_plugin_rules rules = {.pins = f->pin,
					 .n_pins = f->pin[0] != NULL,
					 .pins_by = "test",
					 .limits = f->limits};
	const pctl_registry_options o = {.dirs = dirs,
					 .n_dirs = 1,
					 .flags = PCTL_REGISTRY_NO_DEFAULT_DIRS,
					 .home = f->home,
					 .worker = WORKER,
					 .probe_ms = probe_ms,
					 .rules = &rules,
					 .without = f->without,
					 .start_ms = 20000,
					 .call_ms = f->call_ms ? f->call_ms : 5000,
					 .grace_ms = 300};

	pctl_registry_close(f->r);
	f->r = NULL;
	assert_int_equal(pctl_registry_open(&o, f->call, &f->r), PCTL_OK);
}

/* No child of this process is left, neither running nor unreaped. */
static inline void assert_no_children(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static inline int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static inline void remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void fixture_end(fixture *f)
{
	pctl_registry_close(f->r);
	pctl_diag_list_destroy(f->diags);
	assert_no_children();
	remove_tree(f->home);
}

/* 1 when a diagnostic of this code was collected. */
static inline int has_code(const fixture *f, uint32_t code)
{
	uint32_t i;

	for (i = 0; i < pctl_diag_list_count(f->diags); i++)
		if (pctl_diag_list_at(f->diags, i)->code == code)
			return 1;
	return 0;
}

#endif
