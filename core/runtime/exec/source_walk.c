/* The bytes of a source from the first to the last: read, hashed, taken; see source_private.h. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/exec/source_private.h"

#define PIECES 2u /* one is taken while the other is read */

/* error: of errno, 0: none; n 0 without one: the file became shorter. */
typedef struct piece {
	uint8_t *room;
	const void *data;
	uint64_t n;
	int error;
} piece;

/* Pieces n_taken to n_read - 1 lie in `pieces`, each in the place of its number. */
typedef struct walk {
	const pctl_data_source *s;
	const pctl_call *call;
	pctl_status (*take)(void *ctx, uint64_t offset, const void *data, uint64_t n);
	void *ctx;
	pctl_hasher *hasher;
	piece pieces[PIECES];
	pthread_mutex_t lock;
	pthread_cond_t moved;
	uint64_t n_read, n_taken;
	int is_over, is_read; /* nobody takes any more; nothing more comes */
} walk;

/* The bytes from `offset` on, at most a piece of them, hashed. It says nothing, since it may be another thread. */
static void read_piece(const walk *w, uint64_t offset, piece *p)
{
	const pctl_data_source *s = w->s;
	const uint64_t left = s->n_bytes - offset;
	ssize_t got;

	p->n = left < PCTL_SOURCE_PIECE ? left : PCTL_SOURCE_PIECE;
	p->data = p->room;
	p->error = 0;
	if (s->has_blob) {
		/* A map shows what somebody else writes to the file: what is hashed is what is handed on. */
		p->data = s->blob.mapped ? memcpy(p->room, s->blob.data + offset, p->n)
					 : s->blob.data + offset;
	} else if (s->bytes != NULL) {
		p->data = s->bytes + offset;
	} else if (!s->is_zero) {
		do
			got = pread(s->fd, p->room, p->n, (off_t)(s->base + offset));
		while (got < 0 && errno == EINTR);
		p->error = got < 0 ? errno : 0;
		p->n = got > 0 ? (uint64_t)got : 0;
	}
	if (p->n != 0 && pctl_hasher_update(w->hasher, p->data, p->n) != PCTL_OK)
		p->error = EIO;
}

static pctl_status take_piece(const walk *w, uint64_t offset, const piece *p)
{
	pctl_status status = PCTL_OK;

	if (p->error != 0)
		return pctl_source_io_error(w->call, w->s, p->error);
	if (p->n == 0)
		return pctl_refuse(w->call, PC5210_INPUT_CHANGED,
				   "%s became shorter while it was read", w->s->name);
	if (w->take != NULL)
		status = w->take(w->ctx, offset, p->data, p->n);
	if (status == PCTL_OK && pctl_is_cancelled(w->call))
		status = pctl_refuse(w->call, PC4_CANCELLED, "cancelled while reading %s",
				     w->s->name);
	return status;
}

static pctl_status alone(walk *w)
{
	pctl_status status = PCTL_OK;
	uint64_t offset = 0;

	while (status == PCTL_OK && offset < w->s->n_bytes) {
		piece *p = &w->pieces[0];

		read_piece(w, offset, p);
		status = take_piece(w, offset, p);
		offset += p->n;
	}
	return status;
}

/* ---- two threads -------------------------------------------------------------------------- */

static void *read_ahead(void *ctx)
{
	walk *w = ctx;
	uint64_t offset = 0;
	int goes_on = 1;

	while (goes_on && offset < w->s->n_bytes) {
		piece *p;

		pthread_mutex_lock(&w->lock);
		while (!w->is_over && w->n_read - w->n_taken == PIECES)
			pthread_cond_wait(&w->moved, &w->lock);
		goes_on = !w->is_over;
		p = &w->pieces[w->n_read % PIECES];
		pthread_mutex_unlock(&w->lock);
		if (!goes_on)
			break;
		read_piece(w, offset, p);
		offset += p->n;
		goes_on = p->error == 0 && p->n != 0;
		pthread_mutex_lock(&w->lock);
		w->n_read++;
		pthread_cond_signal(&w->moved);
		pthread_mutex_unlock(&w->lock);
	}
	pthread_mutex_lock(&w->lock);
	w->is_read = 1;
	pthread_cond_signal(&w->moved);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static pctl_status take_all(walk *w)
{
	pctl_status status = PCTL_OK;
	uint64_t offset = 0;

	while (status == PCTL_OK && offset < w->s->n_bytes) {
		const piece *p;
		int is_there;

		pthread_mutex_lock(&w->lock);
		while (w->n_read == w->n_taken && !w->is_read)
			pthread_cond_wait(&w->moved, &w->lock);
		is_there = w->n_read != w->n_taken;
		p = &w->pieces[w->n_taken % PIECES];
		pthread_mutex_unlock(&w->lock);
		status = is_there ? take_piece(w, offset, p)
				  : pctl_source_io_error(w->call, w->s, EIO);
		offset += p->n;
		pthread_mutex_lock(&w->lock);
		w->n_taken++;
		w->is_over = status != PCTL_OK;
		pthread_cond_signal(&w->moved);
		pthread_mutex_unlock(&w->lock);
	}
	return status;
}

static pctl_status together(walk *w)
{
	pthread_t reader;
	pctl_status status;

	if (pthread_mutex_init(&w->lock, NULL) != 0)
		return alone(w);
	if (pthread_cond_init(&w->moved, NULL) != 0) {
		pthread_mutex_destroy(&w->lock);
		return alone(w);
	}
	if (pthread_create(&reader, NULL, read_ahead, w) == 0) {
		status = take_all(w);
		pthread_join(reader, NULL);
	} else {
		status = alone(w);
	}
	pthread_cond_destroy(&w->moved);
	pthread_mutex_destroy(&w->lock);
	return status;
}

pctl_status pctl_source_walk(const pctl_data_source *s, const pctl_call *call,
			     pctl_status (*take)(void *ctx, uint64_t offset, const void *data,
						 uint64_t n),
			     void *ctx, pctl_cid *cid)
{
	const uint64_t room = s->n_bytes < PCTL_SOURCE_PIECE ? s->n_bytes + 1 : PCTL_SOURCE_PIECE;
	const uint32_t n = take != NULL && s->n_bytes > PCTL_SOURCE_PIECE ? PIECES : 1;
	/* What goes wrong is told by the thread of the caller. */
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	walk w = {.s = s, .call = call, .take = take, .ctx = ctx};
	pctl_status status;

	status = pctl_hasher_create(&quiet, &w.hasher);
	for (uint32_t i = 0; i < n && status == PCTL_OK; i++) {
		w.pieces[i].room = s->is_zero ? calloc(1, room) : malloc(room);
		if (w.pieces[i].room == NULL)
			status = PCTL_E_NOMEM;
	}
	if (status != PCTL_OK)
		status = pctl_refuse(call, PC2_NOMEM, "no memory to read %s", s->name);
	else
		status = n == 1 ? alone(&w) : together(&w);
	if (status == PCTL_OK) {
		status = pctl_hasher_finish(w.hasher, cid);
		w.hasher = NULL;
		if (status != PCTL_OK)
			status = pctl_source_io_error(call, s, EIO);
	}
	pctl_hasher_destroy(w.hasher);
	for (uint32_t i = 0; i < PIECES; i++)
		free(w.pieces[i].room);
	return status;
}
