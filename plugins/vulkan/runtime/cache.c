/* Compiled pipelines kept across runs, as blobs the host stores (kernel_cache) and as files in the
 * cache directory. A blob names the device, driver and program it is for; what does not fit, or
 * whose sum is wrong, counts as absent. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/vk.h"

#define MAX_BLOB_BYTES (64u << 20)

typedef struct blob_head {
	uint8_t magic[8];
	uint8_t device_uuid[VK_UUID_SIZE];
	uint8_t driver_uuid[VK_UUID_SIZE];
	uint8_t cache_uuid[VK_UUID_SIZE];
	uint32_t vendor;
	uint32_t device;
	uint32_t driver_version;
	uint32_t reserved;
	uint64_t program[2];
	uint64_t n_payload;
	uint64_t sum[2];
} blob_head;

/* Two multiplicative hashes over bytes: for names and damage, not against malice. */
void pctl_vk_hash(const void *data, uint64_t n, uint64_t out[2])
{
	const uint8_t *at = data;
	uint64_t a = 0xcbf29ce484222325ull, b = 0x9e3779b97f4a7c15ull, i;

	for (i = 0; i < n; i++) {
		a = (a ^ at[i]) * 0x100000001b3ull;
		b = (b + at[i]) * 0xff51afd7ed558ccdull;
		b ^= b >> 29;
	}
	out[0] = a;
	out[1] = b;
}

static void fill_head(const pctl_device *dev, const uint64_t hash[2], const uint8_t *payload,
		      uint64_t n, blob_head *out)
{
	memset(out, 0, sizeof(*out));
	memcpy(out->magic, "PCTLVKC1", sizeof(out->magic));
	memcpy(out->device_uuid, dev->ids.deviceUUID, VK_UUID_SIZE);
	memcpy(out->driver_uuid, dev->ids.driverUUID, VK_UUID_SIZE);
	memcpy(out->cache_uuid, dev->props.pipelineCacheUUID, VK_UUID_SIZE);
	out->vendor = dev->props.vendorID;
	out->device = dev->props.deviceID;
	out->driver_version = dev->props.driverVersion;
	memcpy(out->program, hash, sizeof(out->program));
	out->n_payload = n;
	pctl_vk_hash(payload, n, out->sum);
}

const uint8_t *pctl_vk_blob_open(const pctl_device *dev, const uint64_t hash[2],
				 const uint8_t *blob, uint64_t n, uint64_t *n_payload)
{
	blob_head expected;

	*n_payload = 0;
	if (!blob || n <= sizeof(expected))
		return NULL;
	fill_head(dev, hash, blob + sizeof(expected), n - sizeof(expected), &expected);
	if (memcmp(blob, &expected, sizeof(expected)) != 0)
		return NULL;
	*n_payload = n - sizeof(expected);
	return blob + sizeof(expected);
}

uint8_t *pctl_vk_blob_make(const pctl_device *dev, const uint64_t hash[2], VkPipelineCache cache,
			   uint64_t *n)
{
	blob_head head;
	size_t size = 0;
	uint8_t *blob = NULL;

	*n = 0;
	if (!cache || vkGetPipelineCacheData(dev->vk, cache, &size, NULL) != VK_SUCCESS ||
	    size == 0 || size > MAX_BLOB_BYTES)
		return NULL;
	blob = malloc(sizeof(head) + size);
	if (!blob)
		return NULL;
	if (vkGetPipelineCacheData(dev->vk, cache, &size, blob + sizeof(head)) != VK_SUCCESS) {
		free(blob);
		return NULL;
	}
	fill_head(dev, hash, blob + sizeof(head), size, &head);
	memcpy(blob, &head, sizeof(head));
	*n = sizeof(head) + size;
	return blob;
}

/* ---- files ---- */

static int file_name(const pctl_device *dev, const uint64_t hash[2], char *out, size_t capacity)
{
	uint64_t key[2];
	blob_head head;
	int n;

	fill_head(dev, hash, (const uint8_t *)"", 0, &head);
	pctl_vk_hash(&head, sizeof(head), key);
	n = snprintf(out, capacity, "%s/vk-%016" PRIx64 "%016" PRIx64 ".bin", dev->inst->cache_dir,
		     key[0], key[1]);
	return n > 0 && (size_t)n < capacity;
}

static int read_all(int fd, uint8_t *to, uint64_t n)
{
	uint64_t done = 0;
	ssize_t got;

	while (done < n) {
		got = read(fd, to + done, n - done);
		if (got <= 0)
			return 0;
		done += (uint64_t)got;
	}
	return 1;
}

uint8_t *pctl_vk_cache_load(const pctl_device *dev, const uint64_t hash[2], uint64_t *n)
{
	char name[4096];
	struct stat st;
	uint8_t *blob = NULL;
	int fd;

	*n = 0;
	if (!dev->inst->cache_dir || !file_name(dev, hash, name, sizeof(name)))
		return NULL;
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    st.st_size <= (off_t)MAX_BLOB_BYTES)
		blob = malloc((size_t)st.st_size);
	if (blob && !read_all(fd, blob, (uint64_t)st.st_size)) {
		free(blob);
		blob = NULL;
	}
	if (blob)
		*n = (uint64_t)st.st_size;
	close(fd);
	return blob;
}

/* A cache that cannot be written is no error: the pipeline is compiled again next time. */
void pctl_vk_cache_save(const pctl_device *dev, const uint64_t hash[2], const uint8_t *blob,
			uint64_t n)
{
	char name[4096], temporary[4200];
	uint64_t done = 0;
	ssize_t put = 0;
	int fd;

	if (!dev->inst->cache_dir || !file_name(dev, hash, name, sizeof(name)))
		return;
	snprintf(temporary, sizeof(temporary), "%s.XXXXXX", name);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return;
	while (done < n && (put = write(fd, blob + done, n - done)) > 0)
		done += (uint64_t)put;
	if (close(fd) != 0 || done != n || rename(temporary, name) != 0)
		unlink(temporary);
}
