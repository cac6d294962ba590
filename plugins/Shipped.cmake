# Writes OUT, a C file with id and SHA-256 of every library in FILES (id=path): the ones that were built with this pipectl.
set(rows "")
foreach(entry ${FILES})
  string(REGEX MATCH "^([^=]+)=(.+)$" entry "${entry}")
  set(id "${CMAKE_MATCH_1}")
  file(SHA256 "${CMAKE_MATCH_2}" hash)
  string(APPEND rows "\t\"${id}\",\n\t\"${hash}\",\n")
endforeach()
file(WRITE "${OUT}.new" "/* Made by the build: the libraries that came with this pipectl. */
#include <stddef.h>

extern const char *const pctl_shipped_files[];
const char *const pctl_shipped_files[] = {
${rows}\tNULL};
")
file(COPY_FILE "${OUT}.new" "${OUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${OUT}.new")
