/* The tables of the files of a block that are read back, shared by writing and reading. */
#ifndef PIPECTL_CHAIN_BLOCKS_BLOCK_LINES_H
#define PIPECTL_CHAIN_BLOCKS_BLOCK_LINES_H

#include "chain/blocks/block_record.h"
#include "foundation/record/record.h"

/* A line of `genesis`. */
typedef struct pctl_block_parameter {
	char name[64], value[PCTL_PARAM_TEXT_SIZE];
} pctl_block_parameter;

/* A file that is a list of lines: pctl_block_parameter, _message, _result or _need, as its type says. */
typedef struct pctl_block_lines {
	void *items;
	uint32_t n, reserved;
} pctl_block_lines;

extern const pctl_record_type pctl_block_header_type; /* pctl_block_header */
extern const pctl_record_type pctl_block_genesis_type, pctl_block_messages_type,
	pctl_block_results_type, pctl_block_manifest_type; /* pctl_block_lines */

#endif
