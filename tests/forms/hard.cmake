# pow and atan2 as C like the others in elementary.cmake, and the hard cases of all functions on devices, as strict WGSL
# that went through the legaliser.
foreach(variant "" _fused _fast _fast_fused)
  set(bivariate_c ${CMAKE_CURRENT_BINARY_DIR}/bivariate${variant}_forms.h)
  set(more)
  if(variant MATCHES "_fused")
    list(APPEND more mad64=mad64_fused)
  endif()
  if(variant MATCHES "_fast")
    list(APPEND more pow_fast atan2_fast)
  endif()
  add_custom_command(OUTPUT ${bivariate_c}
    COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/forms2c.py -o ${bivariate_c} pow atan2 ${more} ${elementary_forms}
    DEPENDS ${elementary_forms} ${CMAKE_CURRENT_SOURCE_DIR}/forms2c.py VERBATIM)
  add_executable(bivariate${variant} bivariate.c ${bivariate_c})
  set_target_properties(bivariate${variant} PROPERTIES C_EXTENSIONS ON)
  target_compile_options(bivariate${variant} PRIVATE -O2 -ffp-contract=off)
  target_compile_definitions(bivariate${variant} PRIVATE _GNU_SOURCE FORMS="${bivariate_c}"
                             $<$<BOOL:$<FILTER:${variant},INCLUDE,_fast>>:FAST>)
  target_link_libraries(bivariate${variant} PRIVATE PkgConfig::MPFR m)
  foreach(function pow atan2)
    add_test(NAME bivariate_${function}${variant} COMMAND bivariate${variant} check ${CMAKE_CURRENT_SOURCE_DIR}/hard/${function}.txt)
    add_test(NAME bivariate_${function}_random${variant} COMMAND bivariate${variant} run ${function} structured 1000000 1)
    set_tests_properties(bivariate_${function}${variant} bivariate_${function}_random${variant} PROPERTIES LABELS conform TIMEOUT 300)
  endforeach()
endforeach()

file(GLOB hard_lists CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/hard/*.txt)
add_executable(hard hard.c)
target_link_libraries(hard PRIVATE pctl_warnings tests_rig pctl_legalize pctl_wgsl)

function(hard_test id target how)
  add_dependencies(hard ${target})
  add_test(NAME hard_${id} COMMAND hard --plugin $<TARGET_FILE:${target}> ${how} ${hard_lists})
  set_tests_properties(hard_${id} PROPERTIES LABELS "conform;device" TIMEOUT 900
                       ENVIRONMENT "${ARGN};XDG_RUNTIME_DIR=${CMAKE_BINARY_DIR}")
endfunction()

hard_test(cpu plugin_cpu --integers)
hard_test(cpu_fused plugin_cpu --fuse)
if(EXISTS /etc/OpenCL/vendors/pocl.icd)
  hard_test(pocl plugin_opencl --fuse OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd
            "POCL_CACHE_DIR=${CMAKE_CURRENT_BINARY_DIR}/pocl-cache")
  set_tests_properties(hard_pocl PROPERTIES COST 45)
  pctl_matrix(hard_pocl)
endif()
if(EXISTS ${lavapipe})
  hard_test(lavapipe plugin_vulkan "" VK_ICD_FILENAMES=${lavapipe} VK_DRIVER_FILES=${lavapipe})
endif()

foreach(family trig arctrig pow root fast)
  if(SOLLYA)
    add_test(NAME elementary_constants_${family}
             COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/constants.py ${SOLLYA}
                     ${CMAKE_SOURCE_DIR}/core/compiler/legalize/softfloat ${family})
    set_tests_properties(elementary_constants_${family} PROPERTIES LABELS conform TIMEOUT 300)
    pctl_larger(elementary_constants_${family})
  endif()
endforeach()
