/* The environment of a worker: a fixed list, never the host's own. What a user or an attacker has set (LD_PRELOAD,
 * VK_LAYER_PATH, MESA_*, ..) would change results or tell a plugin where it is; only what is listed here, what the
 * driver's environment sets and what the manifest names gets through. */
#include <stdlib.h>
#include <string.h>

#include "runtime/plugin/registry_private.h"

/* Directories of drivers that would otherwise write into the user's caches or /tmp. */
static const struct {
	const char *name, *sub;
} private_dirs[] = {
	{"HOME", "home"},
	{"TMPDIR", "tmp"},
	{"POCL_CACHE_DIR", "pocl"},
	{"XDG_RUNTIME_DIR", "run"},
	{"MESA_SHADER_CACHE_DIR", "mesa"},
	{"XDG_CACHE_HOME", "cache"},
	{"__GL_SHADER_DISK_CACHE_PATH", "gl"},
	{"CUDA_CACHE_PATH", "cuda"},
};
#define N_PRIVATE (sizeof(private_dirs) / sizeof(private_dirs[0]))

static const char *const fixed[] = {
	"PATH=/usr/bin:/bin",
	"LANG=C",
	"LC_ALL=C",
	"TZ=UTC0",
	/* Large buffers of drivers that compute on processors lie in large pages, where the system gives those to who asks (madvise):
	 * weights are read from end to end, and an address is translated for each page. */
	"GLIBC_TUNABLES=glibc.malloc.hugetlb=1",
	/* Layers that a package has put between program and driver for everybody; those that the plugin asks for by
	 * name (validation) are not meant. */
	"VK_LOADER_LAYERS_DISABLE=~implicit~",
};
#define N_FIXED (sizeof(fixed) / sizeof(fixed[0]))

/* How the run-time of a sanitizer is told what to do; nothing in any other build. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
static const char *const checkers[] = {
#ifdef SANITIZED
	"ASAN_OPTIONS",
	"LSAN_OPTIONS",
	"TSAN_OPTIONS",
	"UBSAN_OPTIONS",
	"LLVM_PROFILE_FILE",
#endif
	NULL};

typedef struct building {
	pctl_arena *arena;
	const char **out;
	size_t n, cap;
	int failed;
} building;

static int same_name(const char *a, const char *b)
{
	const size_t n = strcspn(a, "=");

	return strcspn(b, "=") == n && !memcmp(a, b, n);
}

/* The first that sets a name wins. */
static void add(building *b, const char *text)
{
	size_t i;

	b->failed |= !text || b->n >= b->cap;
	for (i = 0; !b->failed && i < b->n; i++)
		if (same_name(b->out[i], text))
			return;
	if (!b->failed)
		b->out[b->n++] = text;
}

static void pass(building *b, const char *name)
{
	const char *value = secure_getenv(name);

	if (value)
		add(b, pctl_arena_printf(b->arena, "%s=%s", name, value));
}

void pctl_worker_environment_add(const known_plugin *p, const pctl_driver_env *env,
				 pctl_str_buf *text)
{
	uint32_t i;

	for (i = 0; i < env->n_chosen; i++)
		pctl_str_addf(text, "setting %zu:%s\n", strlen(env->chosen[i]), env->chosen[i]);
	for (i = 0; i < p->n_environment; i++) {
		const char *value = secure_getenv(p->environment[i]);

		if (value)
			pctl_str_addf(text, "variable %s %zu:%s\n", p->environment[i],
				      strlen(value), value);
	}
}

const char *pctl_worker_private_dir(uint32_t i)
{
	return i < N_PRIVATE ? private_dirs[i].sub : NULL;
}

char *const *pctl_worker_environment(pctl_arena *a, const known_plugin *p,
				     const pctl_driver_env *env, const char *dir)
{
	building b = {.arena = a};
	size_t i;

	b.cap = (env ? env->n_set : 0) + p->n_environment + N_PRIVATE + N_FIXED + 8;
	b.out = pctl_arena_array(a, b.cap + 1, sizeof(*b.out));
	if (!b.out)
		return NULL;
	if (env && env->wrapped)
		add(&b, "PIPECTL_WRAP_LIBRARY=" PCTL_LAUNCH_FURTHER_PATH);
	for (i = 0; env && i < env->n_set; i++)
		add(&b, env->set[i]);
	for (i = 0; i < N_PRIVATE; i++)
		add(&b, dir ? pctl_arena_printf(a, "%s=%s/%s", private_dirs[i].name, dir,
						private_dirs[i].sub)
			    : pctl_arena_printf(a, "%s=/nonexistent", private_dirs[i].name));
	for (i = 0; i < N_FIXED; i++)
		add(&b, fixed[i]);
	for (i = 0; i < p->n_environment; i++)
		pass(&b, p->environment[i]);
	for (i = 0; checkers[i]; i++)
		pass(&b, checkers[i]);
	return b.failed ? NULL : (char *const *)(uintptr_t)b.out;
}
