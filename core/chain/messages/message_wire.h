/* Whether bytes are the canonical encoding of a message, seen on the bytes themselves: nothing is packed for it. */
#ifndef PIPECTL_CHAIN_MESSAGES_MESSAGE_WIRE_H
#define PIPECTL_CHAIN_MESSAGES_MESSAGE_WIRE_H

#include <protobuf-c/protobuf-c.h>

/*
 * 1 when packing the message that these bytes unpack to would give these bytes again: fields ascending by number and
 * none twice but repeated ones, one field of a choice, no default written out, tags, lengths and numbers in their
 * shortest form and in the range of their type, no NUL in a string. Else 0, with *at the offset of the first field that
 * is another. Survives any bytes; a field that the type has not is 0 too. The types of messages.proto alone: u32, u64,
 * bool, enum, string, bytes and messages, repeated only strings and messages.
 */
int pctl_wire_is_canonical(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t n,
			   size_t *at);

/* Read a varint of at most 64 bits in its shortest form at *at, which moves behind it; 0 when there is none. */
int pctl_wire_varint(const uint8_t *bytes, size_t n, size_t *at, uint64_t *out);

#endif
