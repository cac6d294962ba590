/* Between the plain messages of message.h and those protobuf-c generates. Private to message*.c. */
#ifndef PIPECTL_CHAIN_MESSAGES_MESSAGE_PB_H
#define PIPECTL_CHAIN_MESSAGES_MESSAGE_PB_H

#include <messages.pb-c.h>

#include "foundation/base/arena.h"
#include "chain/messages/message.h"

/* Into the generated form, whose parts lie in the arena and borrow the strings. NULL: no memory. */
Gpu__Request *pctl_request_to_pb(const pctl_request *r, pctl_arena *a);
Gpu__Response *pctl_response_to_pb(const pctl_response *r, pctl_arena *a);

/* Back; arrays lie in the arena, strings stay where they are. PC5784 when a message inside is absent that must be
 * there, PC2 for lack of memory. */
pctl_status pctl_request_from_pb(const Gpu__Request *pb, pctl_arena *a, const pctl_call *call,
				 pctl_request *out);
pctl_status pctl_response_from_pb(const Gpu__Response *pb, pctl_arena *a, const pctl_call *call,
				  pctl_response *out);

#endif
