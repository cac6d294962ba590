/* All records that are lines, for what goes over every one of them: tests/unit/test_chain_lines.c and tests/fuzz. */
#ifndef PIPECTL_TESTS_LINES_H
#define PIPECTL_TESTS_LINES_H

#include "chain/blocks/block_lines.h"
#include "chain/sync/parcel.h"
#include "chain/sync/snapshot.h"
#include "evidence/certify/certificate.h"
#include "evidence/certify/journal_private.h"
#include "evidence/proof/regression.h"
#include "evidence/receipt/block_receipt.h"
#include "evidence/receipt/trace.h"
#include "runtime/cas/memo_private.h"
#include "runtime/plugin/registry_private.h"

/* type, and a file of tests/golden/records that holds one; tail: bytes at its end that are no part of it. A row is a line of
 * the file, the one of this number; its checksum is none either. */
typedef struct line_record {
	const pctl_record_type *type;
	const char *golden;
	uint32_t tail, line;
} line_record;

static const line_record line_records[] = {
	{&pctl_memo_type, "memo", 69, 0},
	{&pctl_made_type, "made", 69, 0},
	{&pctl_certificate_head_type, "proof-head", 0, 0},
	{&pctl_units_type, "units", 0, 0},
	{&pctl_journal_line_type, "journal", 17, 7},
	{&pctl_regression_type, "regressions", 0, 1},
	{&pctl_block_statement_type, "statements", 0, 5},
	{&pctl_block_statements_type, "statements", 0, 0},
	{&pctl_trace_leaf_type, "trace", 0, 1},
	{&pctl_block_header_type, "block-header", 0, 0},
	{&pctl_block_genesis_type, "block-genesis", 0, 0},
	{&pctl_block_messages_type, "block-messages", 0, 0},
	{&pctl_block_results_type, "block-results", 0, 0},
	{&pctl_block_manifest_type, "block-manifest", 0, 0},
	{&pctl_quarantine_type, "quarantine", 0, 0},
	{&pctl_verdicts_type, "plugins", 0, 0},
	{&pctl_devices_type, "devices", 0, 0},
	{&pctl_refused_type, "refused", 0, 0},
	{&pctl_driver_files_type, "driver-files", 0, 0},
	{&pctl_row_proof_type, "proof-row", 0, 0},
	{&pctl_snapshot_index_type, "snapshot", 0, 0},
	{&pctl_offer_type, "offer", 0, 0},
};
#define N_LINE_RECORDS (sizeof(line_records) / sizeof(line_records[0]))

#endif
