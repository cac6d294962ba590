/* Tokens to a tree of positions, with recovery after errors. Values stay empty: libconfig gives
 * them. Internal to conf. */
#ifndef PIPECTL_FOUNDATION_CONF_PARSE_H
#define PIPECTL_FOUNDATION_CONF_PARSE_H

#include "foundation/conf/scan.h"

/* Read all tokens of the scanner. The root group, also when errors were reported (s->status tells);
 * NULL for lack of memory. Nodes and strings live in the scanner's arena. */
pctl_conf_value *pctl_conf_parse(pctl_conf_scanner *s);

#endif
