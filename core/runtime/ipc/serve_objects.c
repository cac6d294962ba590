/* Numbers and tickets of the worker, and the messages that come beside the channel; see
 * serve_objects.h. */
#include "runtime/ipc/serve_objects.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/vec.h"

int pctl_serve_object_put(pctl_ipc_server *s, uint32_t id, const object *o)
{
	int ok = 0;

	if (id == 0 || id >= PCTL_IPC_OBJECTS_MAX)
		return 0;
	pthread_mutex_lock(&s->lock);
	if (id >= s->n_objects) {
		uint32_t n = s->n_objects ? s->n_objects : 64;
		object *grown;

		while (n <= id)
			n *= 2;
		grown = realloc(s->objects, n * sizeof(*grown));
		if (!grown)
			goto out;
		memset(grown + s->n_objects, 0, (n - s->n_objects) * sizeof(*grown));
		s->objects = grown;
		s->n_objects = n;
	}
	if (s->objects[id].kind != PCTL_IPC_NO_OBJECT)
		goto out;
	s->objects[id] = *o;
	ok = 1;
out:
	pthread_mutex_unlock(&s->lock);
	return ok;
}

object *pctl_serve_object_get(pctl_ipc_server *s, uint32_t id, uint32_t kind, uint32_t device)
{
	object *o;

	if (id == 0 || id >= s->n_objects)
		return NULL;
	o = &s->objects[id];
	if (o->kind != kind || (device && o->device != device))
		return NULL;
	return o;
}

void pctl_serve_object_drop(pctl_ipc_server *s, uint32_t id)
{
	pthread_mutex_lock(&s->lock);
	if (id < s->n_objects)
		memset(&s->objects[id], 0, sizeof(s->objects[id]));
	pthread_mutex_unlock(&s->lock);
}

uint32_t pctl_serve_object_number(const pctl_ipc_server *s, const object *o)
{
	return (uint32_t)(o - s->objects);
}

static void clear_kind(pctl_ipc_server *s, uint32_t device, uint32_t kind)
{
	uint32_t i;

	for (i = 1; i < s->n_objects; i++) {
		const object o = s->objects[i];
		pctl_device *dev;

		if (o.kind != kind || (device && o.device != device))
			continue;
		dev = s->objects[o.device].p;
		pctl_serve_object_drop(s, i);
		if (!o.p)
			continue;
		switch (kind) {
		case PCTL_IPC_LIST:
			s->table->list_destroy(dev, o.p);
			break;
		case PCTL_IPC_KERNEL:
			s->table->kernel_destroy(dev, o.p);
			break;
		case PCTL_IPC_BUFFER:
			s->table->buffer_destroy(dev, o.p);
			break;
		default:
			s->table->device_close(o.p);
			break;
		}
	}
}

void pctl_serve_objects_clear(pctl_ipc_server *s, uint32_t device)
{
	uint32_t i, kept = 0;

	clear_kind(s, device, PCTL_IPC_LIST);
	clear_kind(s, device, PCTL_IPC_KERNEL);
	clear_kind(s, device, PCTL_IPC_BUFFER);
	if (!device)
		clear_kind(s, 0, PCTL_IPC_DEVICE);
	pthread_mutex_lock(&s->lock);
	for (i = 0; i < s->n_tickets; i++)
		if (device && s->tickets[i].device != device)
			s->tickets[kept++] = s->tickets[i];
	s->n_tickets = kept;
	pthread_mutex_unlock(&s->lock);
}

int pctl_serve_ticket_put(pctl_ipc_server *s, const ticket *t)
{
	int ok;

	pthread_mutex_lock(&s->lock);
	ok = pctl_vec_reserve((void **)&s->tickets, s->n_tickets, &s->cap_tickets, sizeof(*t));
	if (ok)
		s->tickets[s->n_tickets++] = *t;
	pthread_mutex_unlock(&s->lock);
	return ok;
}

static uint32_t find_ticket(const pctl_ipc_server *s, uint32_t device, uint64_t host)
{
	uint32_t i;

	for (i = 0; i < s->n_tickets; i++)
		if (s->tickets[i].device == device && s->tickets[i].host == host)
			break;
	return i;
}

int pctl_serve_ticket_get(pctl_ipc_server *s, uint32_t device, uint64_t host, ticket *out)
{
	const uint32_t i = find_ticket(s, device, host);

	if (i == s->n_tickets)
		return 0;
	*out = s->tickets[i];
	return 1;
}

void pctl_serve_ticket_drop(pctl_ipc_server *s, uint32_t device, uint64_t host)
{
	uint32_t i;

	pthread_mutex_lock(&s->lock);
	i = find_ticket(s, device, host);
	if (i < s->n_tickets) {
		s->n_tickets--;
		memmove(s->tickets + i, s->tickets + i + 1,
			(s->n_tickets - i) * sizeof(*s->tickets));
	}
	pthread_mutex_unlock(&s->lock);
}

int pctl_serve_ticket_early(pctl_ipc_server *s, uint32_t device, uint64_t host)
{
	uint32_t i;
	int found = 0;

	pthread_mutex_lock(&s->lock);
	for (i = 0; i < s->n_early && !found; i++) {
		if (s->early[i].object != device || s->early[i].ticket != host)
			continue;
		s->early[i] = s->early[--s->n_early];
		found = 1;
	}
	pthread_mutex_unlock(&s->lock);
	return found;
}

void pctl_ipc_server_control(pctl_ipc_server *s, const pctl_ipc_control *m)
{
	uint32_t i;

	if (m->what == PCTL_IPC_CANCEL_CALL) {
		atomic_store(&s->cancelled_seq, m->object);
		return;
	}
	if (m->what != PCTL_IPC_CANCEL_TICKET)
		return;
	pthread_mutex_lock(&s->lock);
	i = find_ticket(s, m->object, m->ticket);
	if (i < s->n_tickets && m->object < s->n_objects &&
	    s->objects[m->object].kind == PCTL_IPC_DEVICE) {
		if (s->tickets[i].status == PCTL_OK)
			s->table->cancel(s->objects[m->object].p, s->tickets[i].backend);
	} else {
		/* Either it overtook its submit, or it came too late and will never be asked for:
		 * the oldest give way. */
		if (s->n_early == EARLY_MAX)
			memmove(s->early, s->early + 1, --s->n_early * sizeof(*s->early));
		s->early[s->n_early++] = *m;
	}
	pthread_mutex_unlock(&s->lock);
}
