/* Structures and diagnostics on the wire, and shared windows; see protocol.h. */
#include "runtime/ipc/protocol.h"
#include "runtime/ipc/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int pctl_ipc_is_posted(uint16_t op)
{
	switch (op) {
	case PCTL_IPC_BUFFER_DESTROY:
	case PCTL_IPC_KERNEL_DESTROY:
	case PCTL_IPC_LIST_BEGIN:
	case PCTL_IPC_LIST_DISPATCH:
	case PCTL_IPC_LIST_INDIRECT:
	case PCTL_IPC_LIST_COPY:
	case PCTL_IPC_LIST_FILL:
	case PCTL_IPC_LIST_BARRIER:
	case PCTL_IPC_LIST_TIMESTAMP:
	case PCTL_IPC_LIST_DESTROY:
	case PCTL_IPC_SUBMIT:
	case PCTL_IPC_TRACE:
		return 1;
	default:
		return 0;
	}
}

int pctl_ipc_status_known(pctl_status s)
{
	return (s >= PCTL_OK && s <= PCTL_E_CANCELLED) ||
	       (s >= PCTL_E_USAGE && s <= PCTL_E_NOT_FOUND) ||
	       (s >= PCTL_E_EXEC && s <= PCTL_E_NOTHING) || s == PCTL_E_INTERNAL;
}

static int ends(const char *text, size_t n)
{
	return memchr(text, 0, n) != NULL;
}

static int fail_if(pctl_ipc_in *in, int bad)
{
	if (bad)
		in->failed = 1;
	return !in->failed;
}

static int head_ok(const pctl_head *h, size_t n)
{
	return h->size == n && h->major == PCTL_ABI_MAJOR;
}

int pctl_ipc_get_device_info(pctl_ipc_in *in, pctl_device_info *out)
{
	pctl_ipc_get(in, out, sizeof(*out));
	return fail_if(in, !head_ok(&out->head, sizeof(*out)) || out->kind > PCTL_DEVICE_DISCRETE ||
				   out->reserved || !ends(out->name, sizeof(out->name)) ||
				   !ends(out->driver, sizeof(out->driver)));
}

int pctl_ipc_get_key_value(pctl_ipc_in *in, pctl_key_value *out)
{
	pctl_ipc_get(in, out, sizeof(*out));
	return fail_if(in,
		       !ends(out->key, sizeof(out->key)) || !ends(out->value, sizeof(out->value)));
}

int pctl_ipc_get_caps(pctl_ipc_in *in, pctl_device_caps *out)
{
	pctl_ipc_get(in, out, sizeof(*out));
	return fail_if(in, !head_ok(&out->head, sizeof(*out)));
}

int pctl_ipc_get_support(pctl_ipc_in *in, pctl_support *out)
{
	pctl_ipc_get(in, out, sizeof(*out));
	return fail_if(in, !head_ok(&out->head, sizeof(*out)) || out->supported > 1 ||
				   !ends(out->reason, sizeof(out->reason)));
}

int pctl_ipc_get_completion(pctl_ipc_in *in, pctl_completion *out)
{
	pctl_ipc_get(in, out, sizeof(*out));
	return fail_if(in, !head_ok(&out->head, sizeof(*out)) || out->done > 1 ||
				   out->n_timestamps >
					   sizeof(out->timestamps) / sizeof(out->timestamps[0]));
}

int pctl_ipc_get_counts(pctl_ipc_in *in, pctl_counts *out)
{
	pctl_ipc_get(in, out, sizeof(*out));
	return fail_if(in, !head_ok(&out->head, sizeof(*out)));
}

static void put_pos(pctl_ipc_out *o, const pctl_pos *p)
{
	pctl_ipc_put_string(o, p->file);
	pctl_ipc_put_u32(o, p->line);
	pctl_ipc_put_u32(o, p->column);
	pctl_ipc_put_u32(o, p->end_column);
}

static void get_pos(pctl_ipc_in *in, pctl_pos *p)
{
	memset(p, 0, sizeof(*p));
	p->file = pctl_ipc_get_string(in);
	p->line = pctl_ipc_get_u32(in);
	p->column = pctl_ipc_get_u32(in);
	p->end_column = pctl_ipc_get_u32(in);
}

#define NOTES_MAX 64u

void pctl_ipc_put_diag(pctl_ipc_out *o, const pctl_diag *d)
{
	const uint32_t n = d->n_notes < NOTES_MAX ? d->n_notes : NOTES_MAX;
	uint32_t i;

	pctl_ipc_put_u32(o, d->code);
	pctl_ipc_put_u32(o, d->severity);
	put_pos(o, &d->pos);
	pctl_ipc_put_string(o, d->subject);
	pctl_ipc_put_string(o, d->message ? d->message : "");
	pctl_ipc_put_string(o, d->hint);
	pctl_ipc_put_string(o, d->plugin);
	pctl_ipc_put_u32(o, n);
	for (i = 0; i < n; i++) {
		put_pos(o, &d->notes[i].pos);
		pctl_ipc_put_string(o, d->notes[i].message ? d->notes[i].message : "");
	}
}

int pctl_ipc_get_diag(pctl_ipc_in *in, const char *plugin, const pctl_call *call)
{
	pctl_note notes[NOTES_MAX];
	pctl_diag d = {.head = PCTL_HEAD(pctl_diag)};
	uint32_t i;

	d.code = pctl_ipc_get_u32(in);
	d.severity = pctl_ipc_get_u32(in);
	get_pos(in, &d.pos);
	d.subject = pctl_ipc_get_string(in);
	d.message = pctl_ipc_get_string(in);
	d.hint = pctl_ipc_get_string(in);
	d.plugin = pctl_ipc_get_string(in);
	d.n_notes = pctl_ipc_get_u32(in);
	if (!fail_if(in, d.severity > PCTL_SEVERITY_ERROR || !d.message || d.n_notes > NOTES_MAX))
		return 0;
	for (i = 0; i < d.n_notes; i++) {
		memset(&notes[i], 0, sizeof(notes[i]));
		get_pos(in, &notes[i].pos);
		notes[i].message = pctl_ipc_get_string(in);
		if (!fail_if(in, !notes[i].message))
			return 0;
	}
	if (in->failed)
		return 0;
	d.notes = d.n_notes ? notes : NULL;
	pctl_words_emit(plugin, &d, call);
	return 1;
}

#define WINDOW_MAX (1ull << 30)

static int window_map(int fd, uint64_t n_bytes, pctl_ipc_window *out)
{
	void *p = mmap(NULL, (size_t)n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED) {
		close(fd);
		return 0;
	}
	out->data = p;
	out->n_bytes = n_bytes;
	out->fd = fd;
	return 1;
}

int pctl_ipc_window_create(uint64_t n_bytes, pctl_ipc_window *out)
{
	int fd;

	memset(out, 0, sizeof(*out));
	out->fd = -1;
	if (n_bytes == 0 || n_bytes > WINDOW_MAX) {
		errno = EINVAL;
		return 0;
	}
	fd = memfd_create("pipectl-window", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return 0;
	/* The worker writes into it, and may not run what it wrote. */
	if (fchmod(fd, 0600) < 0 || ftruncate(fd, (off_t)n_bytes) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
		close(fd);
		return 0;
	}
	return window_map(fd, n_bytes, out);
}

int pctl_ipc_window_attach(int fd, pctl_ipc_window *out)
{
	struct stat st;
	int seals;

	memset(out, 0, sizeof(*out));
	out->fd = -1;
	if (fd < 0) {
		errno = EBADF;
		return 0;
	}
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || (seals & (F_SEAL_SHRINK | F_SEAL_GROW)) != (F_SEAL_SHRINK | F_SEAL_GROW) ||
	    fstat(fd, &st) < 0 || st.st_size <= 0 || (uint64_t)st.st_size > WINDOW_MAX) {
		close(fd);
		errno = EPERM;
		return 0;
	}
	return window_map(fd, (uint64_t)st.st_size, out);
}

void pctl_ipc_window_close(pctl_ipc_window *w)
{
	if (w->data)
		munmap(w->data, (size_t)w->n_bytes);
	if (w->fd >= 0)
		close(w->fd);
	memset(w, 0, sizeof(*w));
	w->fd = -1;
}
