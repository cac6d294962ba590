/* Snapshots that are offered; see snapshots.h. */
#include "chain/engine/abci/snapshots.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chain/home/adopt.h"
#include "foundation/base/file.h"

#define PATH_SIZE 4096u
#define WORK "new" /* a name that is no height */

static pctl_status path_of(const char *dir, const char *name, const pctl_call *call,
			   char out[PATH_SIZE])
{
	return (size_t)snprintf(out, PATH_SIZE, "%s/%s", dir, name) < PATH_SIZE
		       ? PCTL_OK
		       : pctl_refuse(call, PC3_IO, "%s: the path is too long", dir);
}

/* ---- which there are ------------------------------------------------------------------------ */

/* A height in one spelling, or 0. */
static uint64_t height_of(const char *name)
{
	char *end = NULL;
	const uint64_t height = name[0] >= '1' && name[0] <= '9' ? strtoull(name, &end, 10) : 0;

	return height == 0 || *end != '\0' || height > INT64_MAX ? 0 : height;
}

static int by_height(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Heights of a folder, the newest first, in the arena. */
static pctl_status heights_of(const char *dir, pctl_arena *a, const pctl_call *call, uint64_t **out,
			      uint32_t *n_out)
{
	struct dirent **names = NULL;
	const int n = scandir(dir, &names, NULL, NULL);
	pctl_status status = PCTL_OK;

	*n_out = 0;
	*out = pctl_arena_array(a, n < 0 ? 1 : (size_t)n + 1, sizeof(**out));
	if (*out == NULL)
		status = pctl_no_memory(call, "a list of snapshots");
	for (int i = 0; i < n; i++) {
		const uint64_t height = height_of(names[i]->d_name);

		if (status == PCTL_OK && height != 0)
			(*out)[(*n_out)++] = height;
		free(names[i]);
	}
	free(names);
	if (status == PCTL_OK && *n_out > 1)
		qsort(*out, *n_out, sizeof(**out), by_height);
	return status;
}

static pctl_status read_offer(const char *dir, uint64_t height, pctl_arena *a,
			      const pctl_call *call, pctl_abci_snapshot *out)
{
	char name[40], path[PATH_SIZE], *text = NULL;
	uint64_t n = 0;
	pctl_offer offer;
	pctl_cid cid;
	pctl_status status;

	snprintf(name, sizeof(name), "%" PRIu64 "/offer", height);
	status = path_of(dir, name, call, path);
	if (status == PCTL_OK)
		status = pctl_file_read(path, PCTL_OFFER_MAX, call, &text, &n);
	if (status == PCTL_OK)
		status = pctl_offer_read(text, n, a, call, &offer);
	if (status == PCTL_OK)
		status = pctl_cid_of(text, n, call, &cid);
	if (status == PCTL_OK) {
		*out = (pctl_abci_snapshot){
			.height = height, .n_parcels = offer.n_parcels, .n_text = (uint32_t)n};
		memcpy(out->digest, cid.digest, sizeof(out->digest));
		out->text = (uint8_t *)pctl_arena_dup_n(a, text, (size_t)n);
		if (out->text == NULL)
			status = pctl_no_memory(call, "an offer");
	}
	free(text);
	return status;
}

pctl_status pctl_abci_snapshot_list(const char *dir, pctl_arena *a, const pctl_call *call,
				    pctl_abci_snapshot *out, uint32_t *n_out)
{
	uint64_t *heights;
	uint32_t n;
	pctl_status status = heights_of(dir, a, call, &heights, &n);

	*n_out = 0;
	for (uint32_t i = 0; status == PCTL_OK && i < n && i < PCTL_ABCI_SNAPSHOTS_KEPT; i++) {
		/* One that the disk has damaged is offered to nobody. */
		status = read_offer(dir, heights[i], a, NULL, &out[*n_out]);
		*n_out += status == PCTL_OK;
		if (status != PCTL_E_NOMEM)
			status = PCTL_OK;
	}
	return status;
}

pctl_status pctl_abci_snapshot_parcel(const char *dir, uint64_t height, uint32_t number,
				      const pctl_call *call, char **out, uint64_t *n_out)
{
	char name[64], path[PATH_SIZE];
	pctl_status status;

	*out = NULL;
	*n_out = 0;
	snprintf(name, sizeof(name), "%" PRIu64 "/%06" PRIu32, height, number);
	status = path_of(dir, name, call, path);
	return status == PCTL_OK && pctl_file_exists(path)
		       ? pctl_file_read(path, 2 * PCTL_PARCEL_BYTES + (1u << 20), call, out, n_out)
		       : status;
}

/* ---- making one ----------------------------------------------------------------------------- */

static pctl_status forget_old(const char *dir, pctl_arena *a, const pctl_call *call)
{
	char name[32], path[PATH_SIZE];
	uint64_t *heights;
	uint32_t n;
	pctl_status status = heights_of(dir, a, call, &heights, &n);

	for (uint32_t i = PCTL_ABCI_SNAPSHOTS_KEPT; status == PCTL_OK && i < n; i++) {
		snprintf(name, sizeof(name), "%" PRIu64, heights[i]);
		status = path_of(dir, name, call, path);
		if (status == PCTL_OK)
			status = pctl_home_remove(path, call);
	}
	return status;
}

/* Beside the others, and whole before it has the name of its height. */
static pctl_status make(pctl_chain *reader, const char *dir, pctl_arena *a, const pctl_call *call)
{
	char work[PATH_SIZE], files[PATH_SIZE], parcels[PATH_SIZE], to[PATH_SIZE], name[32];
	pctl_snapshot_report report = {.height = 0};
	pctl_offer offer;
	pctl_status status = path_of(dir, WORK, call, work);

	if (status == PCTL_OK)
		status = path_of(work, "files", call, files);
	if (status == PCTL_OK)
		status = path_of(work, "parcels", call, parcels);
	if (status == PCTL_OK)
		status = pctl_home_remove(work, call);
	if (status == PCTL_OK)
		status = pctl_snapshot_write(reader, files, 0, call, &report);
	if (status == PCTL_OK)
		status = pctl_parcels_write(files, parcels, call, &offer, a);
	snprintf(name, sizeof(name), "%" PRIu64, report.height);
	if (status == PCTL_OK)
		status = path_of(dir, name, call, to);
	if (status == PCTL_OK && !pctl_dir_exists(to) && rename(parcels, to) != 0)
		status = pctl_refuse(call, PC3_IO, "%s: %s", to, strerror(errno));
	return status;
}

pctl_status pctl_abci_snapshot_make(pctl_chain *reader, const char *dir, const pctl_call *call)
{
	char work[PATH_SIZE];
	pctl_arena *a = pctl_arena_create();
	pctl_status status =
		a == NULL ? pctl_no_memory(call, "a snapshot") : make(reader, dir, a, call);

	/* A folder that is not whole is no use to anybody, and takes room that may be what was lacking. */
	if (path_of(dir, WORK, NULL, work) == PCTL_OK)
		(void)pctl_home_remove(work, NULL);
	if (status == PCTL_OK)
		status = forget_old(dir, a, call);
	pctl_arena_destroy(a);
	return status;
}
