/* CIDs and evidence as values of records. */
#include "runtime/cas/codings.h"

#include "runtime/cas/cid.h"
#include "runtime/cas/evidence.h"

static void print_cid(const void *member, char *out)
{
	pctl_cid_format(member, out);
}

static int parse_cid(const char *text, void *member)
{
	return pctl_cid_parse(text, member);
}

static void print_evidence(const void *member, char *out)
{
	pctl_evidence_text(*(const pctl_evidence *)member, out);
}

static int parse_evidence(const char *text, void *member)
{
	return pctl_evidence_parse(text, member);
}

const pctl_record_coding pctl_cid_coding = {"a CID", print_cid, parse_cid};
const pctl_record_coding pctl_evidence_coding = {
	"how results stand (\"verified\", \"not verified\" ..)", print_evidence, parse_evidence};
