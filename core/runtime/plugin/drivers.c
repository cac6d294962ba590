/* Driver environments: which drivers a loader would find on this machine, and what must be set so
 * that it finds exactly one of them. A driver file is the unit; nothing is loaded here. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/order.h"
#include "foundation/base/vec.h"
#include "runtime/plugin/devices.h"
#include "runtime/plugin/registry_private.h"

typedef struct found {
	pctl_registry *r;
	known_plugin *p;
	const char **files;
	uint32_t n, cap;
	int failed;
} found;

/* How a loader is told, and where its drivers are listed. */
typedef struct loader {
	const char *const *user; /* variables a user may have set, the first that is set counts */
	const char *const *dirs;
	const char *suffix;
	const char *const *set; /* variables to set to the driver's file */
} loader;

static const char *const vulkan_user[] = {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", NULL};
static const char *const vulkan_dirs[] = {"/etc/vulkan/icd.d", "/usr/local/etc/vulkan/icd.d",
					  "/usr/local/share/vulkan/icd.d",
					  "/usr/share/vulkan/icd.d", NULL};
static const char *const opencl_user[] = {"OCL_ICD_VENDORS", NULL};
static const char *const opencl_dirs[] = {"/etc/OpenCL/vendors", NULL};

static const loader loaders[] = {
	[PCTL_DRIVERS_VULKAN] = {vulkan_user, vulkan_dirs, ".json", vulkan_user},
	[PCTL_DRIVERS_OPENCL] = {opencl_user, opencl_dirs, ".icd", opencl_user},
};

static void add_file(found *f, const char *path)
{
	const char *copy;
	uint32_t i;

	for (i = 0; i < f->n; i++)
		if (!strcmp(f->files[i], path))
			return;
	copy = pctl_arena_dup(f->r->arena, path);
	if (!copy || !pctl_vec_reserve((void **)&f->files, f->n, &f->cap, sizeof(*f->files)))
		f->failed = 1;
	else
		f->files[f->n++] = copy;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void add_dir(found *f, const char *dir, const char *suffix)
{
	struct dirent **names = NULL;
	const int n = scandir(dir, &names, NULL, by_bytes);
	const size_t k = strlen(suffix);
	int i;

	for (i = 0; i < n; i++) {
		const char *name = names[i]->d_name;
		const size_t len = strlen(name);
		char *path = NULL;

		if (name[0] != '.' && len > k && !strcmp(name + len - k, suffix) &&
		    (path = pctl_path_join(dir, name)))
			add_file(f, path);
		free(path);
		free(names[i]);
	}
	free(names);
}

/* A user's list: files and directories, parted by colons. */
static void add_list(found *f, const char *list, const char *suffix)
{
	char *copy = strdup(list), *rest = copy, *item;

	while (copy && (item = strsep(&rest, ":"))) {
		if (!*item)
			continue;
		if (pctl_dir_exists(item))
			add_dir(f, item, suffix);
		else
			add_file(f, item);
	}
	f->failed |= !copy;
	free(copy);
}

static void sort_from(found *f, uint32_t first)
{
	if (f->n > first)
		qsort(f->files + first, f->n - first, sizeof(*f->files), pctl_order_texts);
}

static void find_files(found *f, const loader *l)
{
	const char *user = NULL;
	uint32_t i, n_system;

	for (i = 0; l->user[i] && !user; i++)
		user = secure_getenv(l->user[i]);
	if (user && *user) {
		add_list(f, user, l->suffix);
		return;
	}
	for (i = 0; l->dirs[i]; i++)
		add_dir(f, l->dirs[i], l->suffix);
	sort_from(f, 0);
	/* What the system offers comes first: a further driver must not become "device 0". */
	n_system = f->n;
	for (i = 0; i < f->p->info.n_drivers_extra; i++)
		if (pctl_file_exists(f->p->info.drivers_extra[i]))
			add_file(f, f->p->info.drivers_extra[i]);
	sort_from(f, n_system);
}

/* A short stable name: "lvp" of lvp_icd.x86_64.json, "pocl" of pocl.icd, "oclgrind-rt" of
 * liboclgrind-rt-icd.so; numbered when two files would share one. */
static const char *make_key(pctl_arena *a, const char *path, pctl_driver_env *const *before,
			    uint32_t n_before)
{
	const char *base = strrchr(path, '/');
	const char *key, *cut;
	uint32_t i, k = 1;
	char *stem;
	size_t n;

	base = base ? base + 1 : path;
	n = strcspn(base, ".");
	if (n > 3 && !strncmp(base, "lib", 3)) {
		base += 3;
		n -= 3;
	}
	cut = n > 4 ? base + n - 4 : base;
	if (n > 4 && (!memcmp(cut, "_icd", 4) || !memcmp(cut, "-icd", 4)))
		n -= 4;
	stem = pctl_arena_dup_n(a, base, n ? n : strlen(base));
	for (key = stem; key;) {
		for (i = 0; i < n_before && strcmp(before[i]->key, key); i++)
			;
		if (i == n_before)
			break;
		key = pctl_arena_printf(a, "%s~%u", stem, ++k);
	}
	return key;
}

static pctl_driver_env *make_env(pctl_registry *r, const known_plugin *p, const loader *l,
				 const char *file, const char *key)
{
	pctl_driver_env *e = pctl_arena_alloc(r->arena, sizeof(*e));
	const char **set, **chosen;
	uint32_t i, k, n = 0;

	set = pctl_arena_array(r->arena, 4 + 16, sizeof(*set));
	chosen = pctl_arena_array(r->arena, 4 + 16, sizeof(*chosen));
	if (!e || !set || !chosen || !key)
		return NULL;
	e->key = key;
	e->file = file;
	for (i = 0; l->set[i]; i++)
		set[n++] = pctl_arena_printf(r->arena, "%s=%s", l->set[i], file);
	for (i = 0; i < p->n_settings; i++) {
		const driver_setting *ds = &p->settings[i];

		for (k = 0; !strcmp(ds->driver, key) && k < ds->n_set && n < 20; k++) {
			char *name = strndup(ds->set[k], strcspn(ds->set[k], "="));
			const char *user = name ? secure_getenv(name) : NULL;

			/* What the user has set is meant. */
			set[n] = user ? pctl_arena_printf(r->arena, "%s=%s", name, user)
				      : ds->set[k];
			if (set[n] && strcmp(set[n], ds->set[k]) != 0)
				chosen[e->n_chosen++] = set[n];
			n++;
			free(name);
		}
		if (strcmp(ds->driver, key) != 0)
			continue;
		e->calls = ds->calls;
		e->n_calls = ds->n_calls;
		e->programs = ds->programs;
		e->n_programs = ds->n_programs;
	}
	for (i = 0; i < n; i++)
		if (!set[i])
			return NULL;
	e->set = set;
	e->n_set = n;
	e->chosen = chosen;
	return e;
}

static const pctl_driver_env no_driver = {.key = ""};
static const pctl_driver_env *const no_drivers[] = {&no_driver};

pctl_status pctl_driver_envs(pctl_registry *r, const pctl_plugin_info *info, const pctl_call *call,
			     const pctl_driver_env *const **out, uint32_t *n_out)
{
	/* Every info lies at the start of its plugin. */
	known_plugin *p = (known_plugin *)(uintptr_t)info;
	found f = {.r = r, .p = p};
	pctl_driver_env **envs = NULL;
	const loader *l;
	uint32_t i;

	*out = no_drivers;
	*n_out = 1;
	if (info->drivers == PCTL_DRIVERS_NONE)
		return PCTL_OK;
	if (p->has_envs)
		goto out;
	l = &loaders[info->drivers];
	find_files(&f, l);
	envs = pctl_arena_array(r->arena, f.n + 1u, sizeof(*envs));
	for (i = 0; envs && i < f.n && !f.failed; i++) {
		envs[i] = make_env(r, p, l, f.files[i], make_key(r->arena, f.files[i], envs, i));
		f.failed |= !envs[i];
		if (envs[i])
			envs[i]->order = i;
	}
	free(f.files);
	if (!envs || f.failed) {
		*n_out = 0;
		return pctl_refuse(call, PC2_NOMEM, "no memory for the drivers of \"%s\"",
				   info->id);
	}
	p->envs = (const pctl_driver_env *const *)envs;
	p->n_envs = f.n;
	p->has_envs = 1;
out:
	*out = p->envs;
	*n_out = p->n_envs;
	return PCTL_OK;
}
