/* What the plugin keeps of a kernel: blobs given back by the host, files in the cache directory,
 * and both of them corrupted. */
#include "main.h"
#include "step.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* A kernel built from a blob computes the same; a damaged blob is ignored. */
static void blobs(rig *r)
{
	rig_program p = step_program(0);
	uint8_t blob[1 << 16];
	uint64_t n = 0, again = 0, i;
	pctl_kernel *k = NULL;

	OK(r->api->kernel_build(r->dev, &r->call, p.wire, p.n, 0, NULL, 0, &k));
	OK(r->api->kernel_cache(r->dev, &r->call, k, 0, NULL, &n));
	assert_true(n < sizeof(blob));
	OK(r->api->kernel_cache(r->dev, &r->call, k, sizeof(blob), blob, &again));
	assert_int_equal(n, again);
	r->api->kernel_destroy(r->dev, k);
	for (i = 0; i < 40 && n; i++) {
		const uint64_t at = rig_random(7, i) % n;

		OK(r->api->kernel_build(r->dev, &r->call, p.wire, p.n, 0, blob, i == 1 ? n / 2 : n,
					&k));
		r->api->kernel_destroy(r->dev, k);
		blob[at] ^= 0x10;
	}
	free(p.wire);
}

static uint32_t n_cached(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	uint32_t n = 0;

	assert_non_null(d);
	while ((e = readdir(d)) != NULL)
		if (strncmp(e->d_name, "vk-", 3) == 0) {
			assert_null(strstr(e->d_name, ".bin.")); /* nothing half written */
			n++;
		}
	closedir(d);
	return n;
}

static void corrupt(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	char name[600];
	int fd;

	assert_non_null(d);
	while ((e = readdir(d)) != NULL) {
		if (strncmp(e->d_name, "vk-", 3) != 0)
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		fd = open(name, O_WRONLY);
		assert_true(fd >= 0);
		assert_int_equal(pwrite(fd, "corrupted", 7, 90), 7);
		close(fd);
	}
	closedir(d);
}

static void clear(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	char name[600];

	assert_non_null(d);
	while ((e = readdir(d)) != NULL) {
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		unlink(name);
	}
	closedir(d);
	assert_int_equal(rmdir(path), 0);
}

static void test_vulkan__cache_directory(void **state)
{
	char path[] = "/tmp/pipectl-vk-XXXXXX";
	uint32_t i, round, n = 0;
	rig one, *r = &one;

	(void)state;
	assert_non_null(mkdtemp(path));
	setenv("PIPECTL_TEST_CACHE_DIR", path, 1);
	for (round = 0; round < 3; round++) {
		for (i = 0; devices_open(r, i); i++) {
			rig_program p = step_program(0);
			pctl_kernel *k = NULL;

			OK(r->api->kernel_build(r->dev, &r->call, p.wire, p.n, 0, NULL, 0, &k));
			r->api->kernel_destroy(r->dev, k);
			free(p.wire);
			rig_close(r);
		}
		if (round == 0)
			n = n_cached(path);
		assert_int_equal(n_cached(path), n);
		if (round == 1)
			corrupt(path);
	}
	unsetenv("PIPECTL_TEST_CACHE_DIR");
	clear(path);
}

DEVICE_TEST(cache_blobs, blobs)

PCTL_TESTS_MAIN(PCTL_TEST(test_vulkan__cache_blobs), PCTL_TEST(test_vulkan__cache_directory))
