/* Between the plain messages of message.h and those protobuf-c generates. Private to message*.c. */
#ifndef PIPECTL_CHAIN_MESSAGES_MESSAGE_PB_H
#define PIPECTL_CHAIN_MESSAGES_MESSAGE_PB_H

#include <messages.pb-c.h>

#include "foundation/base/arena.h"
#include "chain/messages/message.h"

/* protobuf-c's structs have no const; what is packed is only read. */
static inline char *borrow(const char *s)
{
	return (char *)(uintptr_t)s;
}

static inline char **borrow_all(const char *const *s)
{
	return (char **)(uintptr_t)s;
}

#define MAKE(a, T, init)                          \
	T *pb = pctl_arena_alloc(a, sizeof(*pb)); \
	if (pb == NULL)                           \
		return NULL;                      \
	init(pb)

static inline ProtobufCBinaryData bytes_to(const pctl_msg_bytes *m)
{
	return (ProtobufCBinaryData){m->n, (uint8_t *)(uintptr_t)m->data};
}

/* Into the generated form, whose parts lie in the arena and borrow the strings. NULL: no memory. */
Gpu__Request *pctl_request_to_pb(const pctl_request *r, pctl_arena *a);
Gpu__Response *pctl_response_to_pb(const pctl_response *r, pctl_arena *a);

/* Back; arrays lie in the arena, strings stay where they are. PC5784 when a message inside is absent that must be
 * there, PC2 for lack of memory. */
pctl_status pctl_request_from_pb(const Gpu__Request *pb, pctl_arena *a, const pctl_call *call,
				 pctl_request *out);
pctl_status pctl_response_from_pb(const Gpu__Response *pb, pctl_arena *a, const pctl_call *call,
				  pctl_response *out);

/* Of the graph, message_pb_graph.c. */
Gpu__MsgQueryGraph *pctl_graph_to_pb(const pctl_msg_graph *m, pctl_arena *a);
Gpu__MsgQueryGraphResponse *pctl_graph_response_to_pb(const pctl_msg_graph_response *m,
						      pctl_arena *a);

#endif
