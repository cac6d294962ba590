/* Matrix tiles in legalisation: what ordinary code (tile.c) and a device's own tiles (tile_native.c) share. */
#ifndef PIPECTL_COMPILER_LEGALIZE_TILE_H
#define PIPECTL_COMPILER_LEGALIZE_TILE_H

#include "compiler/legalize/legal_parts.h"

#define LEGAL_TILE_PRODUCTS \
	28u /* two sizes of each side, two signs; of floats two of M, three of K, two types */

/* One load or store under way. Values are those of the new program. */
typedef struct legal_tile_access {
	const pctl_inst *in;
	pctl_place place;
	uint32_t array_elem; /* new type of the array's elements, or of the components of these */
	uint32_t width;	     /* components of an element, 1 of a scalar */
	uint32_t offset, stride, lane;
	uint32_t by_rows;
} legal_tile_access;

/* Words that each lane has of a tile: of four components of 8 bits, or of one. */
uint32_t legal_tile_words(const pctl_type *t);
legal_tile_access legal_tile_access_of(legal *l, const pctl_inst *in);
/* Element `index` of the array (component, where elements are vectors), loaded, or *stored into it. */
uint32_t legal_tile_element(legal *l, const legal_tile_access *a, uint32_t index,
			    const uint32_t *stored);
/* Word i of a lane's share of left or right, which is word i * 32 + lane of the tile: of left row after row, of right column
 * after column. */
uint32_t legal_tile_load_four(legal *l, const legal_tile_access *a, const pctl_type *t, uint32_t i);
/* Word i of a lane's share of left or right, whatever its components: floats are their bits, u32 or u64. */
uint32_t legal_tile_load_word(legal *l, const legal_tile_access *a, const pctl_type *t, uint32_t i);
/* Components that lie in 16 bytes of memory. */
uint32_t legal_tile_in_line(const pctl_type *t);
/* Four components lie in one element of an array. */
int legal_tile_is_packed(const pctl_type *t);
/* Where component i of a lane's share of a result, component i * 32 + lane by rows, lies. */
uint32_t legal_tile_result_number(legal *l, const legal_tile_access *a, const pctl_type *t,
				  uint32_t i);

/* tile_whole.c: what holds of a load or store of the source, whenever it runs. */
#define LEGAL_TILE_ONE_OFFSET 1u /* all lanes of a subgroup bring one */
#define LEGAL_TILE_ONE_STRIDE 2u
#define LEGAL_TILE_ALIGNED 4u /* both are multiples of 16 bytes */
#define LEGAL_TILE_INSIDE 8u  /* so are all components */
#define LEGAL_TILE_WHOLE 15u
uint32_t legal_tile_seen(const legal *l, const pctl_inst *in);

/* tile_native.c: the words of the largest tile that is moved, of those that lie in u32, i32 and u64. */
#define LEGAL_TILE_ROOMS 3u
void legal_tile_whole_words(const pctl_program *p, uint32_t words[LEGAL_TILE_ROOMS]);
/* The same, but of those that are not seen to be whole. */
void legal_tile_seen_words(const pctl_program *p, uint32_t words[LEGAL_TILE_ROOMS]);

#endif
