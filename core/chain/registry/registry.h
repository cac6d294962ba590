/* The registry: shaders that were uploaded, by CID, with their profiles and tags, and the names that point to them. */
#ifndef PIPECTL_CHAIN_REGISTRY_REGISTRY_H
#define PIPECTL_CHAIN_REGISTRY_REGISTRY_H

#include "chain/messages/message.h"
#include "chain/state/state.h"

#define PCTL_ACCOUNT_NAME_SIZE 65u

/*
 * sender      who uploaded it first
 * height      of the block that took it in
 * deprecated  height since which its uploader advises against it, and under version 1 of the rules new jobs are refused; 0: it is not
 * profile     response to its upload, owned; released with pctl_shader_row_clear
 */
typedef struct pctl_shader_row {
	char cid[PCTL_CID_TEXT_SIZE], implements[PCTL_CID_TEXT_SIZE];
	char sender[PCTL_ACCOUNT_NAME_SIZE];
	char description[PCTL_MESSAGE_DESCRIPTION_MAX + 1u];
	uint64_t height, deprecated;
	pctl_response profile;
} pctl_shader_row;
void pctl_shader_row_clear(pctl_shader_row *row);

/* 1 in *found when it is registered, and then since when it is deprecated. */
pctl_status pctl_shaders_look(pctl_chain_state *s, const char *cid, const pctl_call *call,
			      int *found, uint64_t *deprecated);
/* PC5804. */
pctl_status pctl_shaders_read(pctl_chain_state *s, const char *cid, const pctl_call *call,
			      pctl_shader_row *out);
/* Shaders (of a tag, unless it is NULL) in the order of their CIDs, without their profiles. A visitor that returns
 * non-zero ends the walk. */
typedef int (*pctl_shaders_visit)(void *ctx, const pctl_shader_row *row);
pctl_status pctl_shaders_list(pctl_chain_state *s, const char *tag, pctl_shaders_visit visit,
			      void *ctx, const pctl_call *call);
/* Tags of a shader, ascending. */
typedef int (*pctl_tags_visit)(void *ctx, const char *tag);
pctl_status pctl_shaders_tags(pctl_chain_state *s, const char *cid, pctl_tags_visit visit,
			      void *ctx, const pctl_call *call);

/* One decision about a name: the first, or one that moved it. */
typedef struct pctl_alias_row {
	char name[PCTL_MESSAGE_ALIAS_MAX + 1u], cid[PCTL_CID_TEXT_SIZE];
	char sender[PCTL_ACCOUNT_NAME_SIZE];
	uint64_t decision, height; /* decision: 1, 2, .. of this name */
} pctl_alias_row;

/* Where a name points in block `height`. PC5822: it was never given, or its time is over (from version 2 of the rules on, where it is
 * its account's for alias_blocks from each time that it was paid for). */
pctl_status pctl_aliases_at(pctl_chain_state *s, const char *name, uint64_t height,
			    const pctl_call *call, pctl_alias_row *out);
/* The same, whatever its time. */
pctl_status pctl_aliases_read(pctl_chain_state *s, const char *name, const pctl_call *call,
			      pctl_alias_row *out);
/* All decisions, by name, then in their order. */
typedef int (*pctl_aliases_visit)(void *ctx, const pctl_alias_row *row);
pctl_status pctl_aliases_list(pctl_chain_state *s, pctl_aliases_visit visit, void *ctx,
			      const pctl_call *call);

#endif
