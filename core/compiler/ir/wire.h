/* The wire form, version 1: what the writer and the reader share. Not for third parties.
 *
 * Header (24 bytes): magic "pctlIR\r\n", u16 major, u16 minor, u32 zero, u64 capabilities;
 * little-endian. Then the sections below in this order, each a byte with its number, a count, and
 * that many records. Inside sections every number is an unsigned LEB128 in its shortest form, a
 * name is its length and its bytes. An atomic, a LOAD_UNIFORM and a BARRIER carry one more number,
 * the memory scope, zero in this version.
 */
#ifndef PIPECTL_COMPILER_IR_WIRE_H
#define PIPECTL_COMPILER_IR_WIRE_H

#include "compiler/ir/tables.h"

#define PCTL_WIRE_MAGIC "pctlIR\r\n"
#define PCTL_WIRE_HEADER_BYTES 24u

enum {
	PCTL_WIRE_TYPES = 1,
	PCTL_WIRE_VARS = 2,
	PCTL_WIRE_OVERRIDES = 3,
	PCTL_WIRE_FUNCTIONS = 4,
	PCTL_WIRE_ENTRIES = 5,
	PCTL_WIRE_MAXIMA = 6,
	PCTL_WIRE_META = 7
};

static inline int pctl_wire_has_scope(uint16_t op)
{
	return op == PCTL_OP_BARRIER || op == PCTL_OP_LOAD_UNIFORM ||
	       pctl_op_get(op)->kind == PCTL_OPKIND_atomic;
}

#endif
