# The elementary forms as C (forms2c.py): their hard cases and every f16 and bf16 input, on the host. All of f32 takes
# minutes a function: core/compiler/legalize/softfloat/HARD.md has the command.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(elementary_functions exp exp2 exp10 log log2 log10 sinh cosh tanh asinh acosh atanh sin cos tan asin acos atan rsqrt cbrt)
file(GLOB elementary_forms CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/compiler/legalize/softfloat/*.wgsl)
set(elementary_c ${CMAKE_CURRENT_BINARY_DIR}/elementary_forms.h)
add_custom_command(OUTPUT ${elementary_c}
  COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/forms2c.py -o ${elementary_c} ${elementary_functions}
          ${elementary_forms}
  DEPENDS ${elementary_forms} ${CMAKE_CURRENT_SOURCE_DIR}/forms2c.py VERBATIM)
add_executable(elementary elementary.c ${elementary_c})
set_target_properties(elementary PROPERTIES C_EXTENSIONS ON)
target_compile_options(elementary PRIVATE -O2 -ffp-contract=off)
list(TRANSFORM elementary_functions REPLACE "(.+)" "FUNCTION(\\1)" OUTPUT_VARIABLE elementary_rows)
list(JOIN elementary_rows "," elementary_rows)
target_compile_definitions(elementary PRIVATE _GNU_SOURCE FORMS="${elementary_c}" "FUNCTIONS=${elementary_rows}")
target_link_libraries(elementary PRIVATE PkgConfig::MPFR m)
foreach(function ${elementary_functions})
  add_test(NAME elementary_${function} COMMAND elementary quick ${CMAKE_CURRENT_SOURCE_DIR}/hard/${function}.txt)
  set_tests_properties(elementary_${function} PROPERTIES LABELS conform TIMEOUT 120)
endforeach()
# The constants are what the scripts print, line by line; without Sollya there is nothing to compare with. (It ends with
# status 3 at the end of a file.)
find_program(SOLLYA sollya)
foreach(family exp log hyperbolic)
  if(SOLLYA)
    set(forms ${CMAKE_SOURCE_DIR}/core/compiler/legalize/softfloat)
    add_test(NAME elementary_constants_${family}
             COMMAND sh -c "lines=$(${SOLLYA} ${forms}/sollya/${family}.sollya); test -n \"$lines\" && ! printf '%s\\n' \"$lines\" | grep -vxFf ${forms}/${family}.wgsl")
    set_tests_properties(elementary_constants_${family} PROPERTIES LABELS conform TIMEOUT 120)
  endif()
endforeach()
include(hard.cmake)
