/* Where the home of an installation has Wasmtime's library, which contracts run in. */
#ifndef PIPECTL_CHAIN_HOME_WASM_H
#define PIPECTL_CHAIN_HOME_WASM_H

#include "host/installation.h"

/* The path that PIPECTL_WASMTIME says, else HOME/wasm/libwasmtime.so, whether there is anything or not; in the arena of `in`, whose
 * configuration is read. NULL: no memory. */
const char *pctl_home_wasm(pctl_installation *in);

#endif
