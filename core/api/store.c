/* The store by CID; see pipectl.h. */
#include <stdlib.h>

#include "api/private.h"

struct pipectl_blob {
	pctl_blob blob;
};

static pctl_status begin(pipectl *p, const char *cid, pctl_cid *out)
{
	pctl_status status = pipectl_begin(p, NULL, "store");

	if (status == PCTL_OK && cid != NULL)
		status = pctl_cid_read(cid, &p->call, out);
	return status == PCTL_OK ? pctl_installation_store(&p->host, &p->call) : status;
}

pctl_status pipectl_store_put(pipectl *p, const void *data, uint64_t n_bytes,
			      char cid[PIPECTL_CID_SIZE])
{
	pctl_cid put;
	pctl_status status = begin(p, NULL, NULL);

	cid[0] = '\0';
	if (status == PCTL_OK && data == NULL && n_bytes != 0)
		status = pipectl_misused(&p->call, "there are no bytes to put");
	if (status == PCTL_OK)
		status = pctl_store_put(p->host.store, data == NULL ? "" : data, n_bytes, &p->call,
					&put);
	if (status == PCTL_OK)
		(void)pctl_cid_format(&put, cid);
	return pipectl_end(p, status);
}

pctl_status pipectl_store_put_fd(pipectl *p, int fd, char cid[PIPECTL_CID_SIZE], uint64_t *n_bytes)
{
	pctl_cid put;
	pctl_status status = begin(p, NULL, NULL);

	cid[0] = '\0';
	*n_bytes = 0;
	if (status == PCTL_OK)
		status = pctl_store_put_fd(p->host.store, fd, &p->call, &put, n_bytes);
	if (status == PCTL_OK)
		(void)pctl_cid_format(&put, cid);
	return pipectl_end(p, status);
}

pctl_status pipectl_store_get(pipectl *p, const char *cid, pipectl_blob **out)
{
	pctl_cid wanted;
	pctl_status status = begin(p, cid == NULL ? "" : cid, &wanted);
	pipectl_blob *b = NULL;

	*out = NULL;
	if (status == PCTL_OK && (b = calloc(1, sizeof(*b))) == NULL)
		status = pctl_no_memory(&p->call, "a blob");
	if (status == PCTL_OK)
		status = pctl_store_get(p->host.store, &wanted, &p->call, &b->blob);
	if (status == PCTL_OK)
		*out = b;
	else
		free(b);
	return pipectl_end(p, status);
}

const void *pipectl_blob_data(const pipectl_blob *b)
{
	return b->blob.data;
}

uint64_t pipectl_blob_bytes(const pipectl_blob *b)
{
	return b->blob.n_bytes;
}

void pipectl_blob_release(pipectl_blob *b)
{
	if (b == NULL)
		return;
	pctl_blob_release(&b->blob);
	free(b);
}

pctl_status pipectl_store_get_file(pipectl *p, const char *cid, const char *path)
{
	pctl_cid wanted;
	pctl_status status = begin(p, cid == NULL ? "" : cid, &wanted);

	if (status == PCTL_OK && path == NULL)
		status = pipectl_misused(&p->call, "there is no path to write to");
	if (status == PCTL_OK)
		status = pctl_store_get_file(p->host.store, &wanted, path, &p->call);
	return pipectl_end(p, status);
}

pctl_status pipectl_store_has(pipectl *p, const char *cid, uint32_t *out)
{
	pctl_cid wanted;
	pctl_status status = begin(p, cid == NULL ? "" : cid, &wanted);

	*out = status == PCTL_OK && pctl_store_has(p->host.store, &wanted);
	return pipectl_end(p, status);
}
