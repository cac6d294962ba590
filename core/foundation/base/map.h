/* A map from strings to pointers that iterates in the order of insertion. Keys are copied. */
#ifndef PIPECTL_FOUNDATION_BASE_MAP_H
#define PIPECTL_FOUNDATION_BASE_MAP_H

#include <stdint.h>

typedef struct pctl_map pctl_map;

pctl_map *pctl_map_create(void);
void pctl_map_destroy(pctl_map *m); /* values are the caller's */
/* 1: put; 0: no memory. An existing key keeps its place and gets the new value. */
int pctl_map_put(pctl_map *m, const char *key, void *value);
/* The value, or NULL; has tells a NULL value from an absent key. */
void *pctl_map_get(const pctl_map *m, const char *key);
int pctl_map_has(const pctl_map *m, const char *key);
/* The map's own copy of the key, which lives as long as the map; NULL where it has none. */
const char *pctl_map_key(const pctl_map *m, const char *key);
uint32_t pctl_map_count(const pctl_map *m);
const char *pctl_map_key_at(const pctl_map *m, uint32_t i);
void *pctl_map_value_at(const pctl_map *m, uint32_t i);

#endif
