# The elementary forms as C (forms2c.py): their hard cases and every f16 and bf16 input, on the host. All of f32 takes
# minutes a function: core/compiler/legalize/softfloat/HARD.md has the command.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(elementary_functions exp exp2 exp10 log log2 log10 sinh cosh tanh asinh acosh atanh sin cos tan asin acos atan rsqrt cbrt erf erfc log1p expm1)
file(GLOB elementary_forms CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/compiler/legalize/softfloat/*.wgsl)
# A run of all of them as C; `alias` is one of softfloat.def's.
function(elementary_run variant functions alias)
  set(forms_c ${CMAKE_CURRENT_BINARY_DIR}/elementary${variant}_forms.h)
  set(roots ${functions})
  set(rows ${functions})
  if(variant MATCHES "_fast")
    list(TRANSFORM roots APPEND _fast)
    list(APPEND roots ${functions})
  endif()
  list(TRANSFORM rows REPLACE "(.+)" "FUNCTION(\\1)")
  list(JOIN rows "," rows)
  add_custom_command(OUTPUT ${forms_c}
    COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/forms2c.py -o ${forms_c} ${roots} ${alias} ${elementary_forms}
    DEPENDS ${elementary_forms} ${CMAKE_CURRENT_SOURCE_DIR}/forms2c.py VERBATIM)
  add_executable(elementary${variant} elementary.c ${forms_c})
  set_target_properties(elementary${variant} PROPERTIES C_EXTENSIONS ON)
  target_compile_options(elementary${variant} PRIVATE -O2 -ffp-contract=off)
  target_compile_definitions(elementary${variant} PRIVATE _GNU_SOURCE FORMS="${forms_c}" "FUNCTIONS=${rows}"
                             $<$<BOOL:$<FILTER:${variant},INCLUDE,_fast>>:FAST>)
  target_link_libraries(elementary${variant} PRIVATE PkgConfig::MPFR m)
  foreach(function ${functions})
    add_test(NAME elementary_${function}${variant}
             COMMAND elementary${variant} quick ${CMAKE_CURRENT_SOURCE_DIR}/hard/${function}.txt)
    set_tests_properties(elementary_${function}${variant} PROPERTIES LABELS conform TIMEOUT 300)
  endforeach()
endfunction()
# Twice, as devices compute mad64: rounded twice, and fused.
elementary_run("" "${elementary_functions}" "")
elementary_run(_fused "${elementary_functions}" mad64=mad64_fused)
elementary_run(_fast "exp;exp2;expm1;log;log2;log1p;erf;sin;cos;tan;atan;tanh;rsqrt" "")
elementary_run(_fast_fused "exp;exp2;expm1;log;log2;log1p;erf;sin;cos;tan;atan;tanh;rsqrt" mad64=mad64_fused)
add_test(NAME elementary_planted
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/planted.py ${CMAKE_SOURCE_DIR}/core/compiler/legalize/softfloat
                 ${CMAKE_CURRENT_SOURCE_DIR}/hard ${CMAKE_CURRENT_SOURCE_DIR}/elementary.c ${CMAKE_CURRENT_BINARY_DIR}/planted ${CMAKE_C_COMPILER})
set_tests_properties(elementary_planted PROPERTIES LABELS conform TIMEOUT 600)
# The constants are what the scripts print, line by line; without Sollya there is nothing to compare with. (It ends with
# status 3 at the end of a file.)
find_program(SOLLYA sollya)
foreach(family exp log hyperbolic erf)
  if(SOLLYA)
    set(forms ${CMAKE_SOURCE_DIR}/core/compiler/legalize/softfloat)
    add_test(NAME elementary_constants_${family}
             COMMAND sh -c "lines=$(${SOLLYA} ${forms}/sollya/${family}.sollya); test -n \"$lines\" && ! printf '%s\\n' \"$lines\" | grep -vxFf ${forms}/${family}.wgsl")
    set_tests_properties(elementary_constants_${family} PROPERTIES LABELS conform TIMEOUT 300)
    pctl_larger(elementary_constants_${family})
  endif()
endforeach()
include(hard.cmake)
