# Building plugins outside of pipectl's tree.
#
# pipectl_add_plugin(ID SOURCES FILE... [MANIFEST FILE] [LIBS LIBRARY...])
#   a backend: the target plugin_ID
# pipectl_add_oplib(ID SOURCES FILE... [KERNELS FILE.wgsl...] [MANIFEST FILE] [LIBS LIBRARY...])
#   an op library: the target oplib_ID; kernels.h holds each kernel as a C string KERNEL_<NAME>
#
# The manifest is ID.plugin.cfg beside the CMakeLists.txt unless MANIFEST names another. Library and manifest are put
# below the build directory as they will be installed, so that `pipectl --plugin-dir BUILD/plugins.d` finds the plugin.
set(PIPECTL_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/EmbedText.cmake")

function(_pipectl_module kind folder id)
  cmake_parse_arguments(P "" "MANIFEST" "SOURCES;KERNELS;LIBS" ${ARGN})
  if(NOT id MATCHES "^[a-z][a-z0-9-]*$")
    message(FATAL_ERROR "plugin id \"${id}\" is not of the form [a-z][a-z0-9-]*")
  endif()
  if(NOT P_SOURCES)
    message(FATAL_ERROR "plugin \"${id}\" has no SOURCES")
  endif()
  if(P_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "plugin \"${id}\": what is ${P_UNPARSED_ARGUMENTS}?")
  endif()
  if(NOT P_MANIFEST)
    set(P_MANIFEST ${id}.plugin.cfg)
  endif()
  get_filename_component(manifest ${P_MANIFEST} ABSOLUTE)
  if(NOT EXISTS ${manifest})
    message(FATAL_ERROR "plugin \"${id}\" has no manifest ${manifest}")
  endif()

  set(target ${kind}_${id})
  add_library(${target} MODULE ${P_SOURCES})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${id} C_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${folder})
  # One multiplication and one addition are two roundings, on every machine.
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  target_compile_features(${target} PRIVATE c_std_11)
  target_link_libraries(${target} PRIVATE pipectl::sdk ${P_LIBS})
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL)
  if(P_KERNELS)
    set(kernels)
    foreach(kernel ${P_KERNELS})
      get_filename_component(kernel ${kernel} ABSOLUTE)
      list(APPEND kernels ${kernel})
    endforeach()
    set(embedded ${CMAKE_CURRENT_BINARY_DIR}/${id}.kernels/kernels.h)
    add_custom_command(OUTPUT ${embedded}
      COMMAND ${CMAKE_COMMAND} -DOUT=${embedded} -P ${PIPECTL_EMBED_SCRIPT} ${kernels}
      DEPENDS ${kernels} ${PIPECTL_EMBED_SCRIPT} VERBATIM)
    target_sources(${target} PRIVATE ${embedded})
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${id}.kernels)
  endif()
  configure_file(${manifest} ${CMAKE_BINARY_DIR}/plugins.d/${id}.plugin.cfg COPYONLY)
  install(TARGETS ${target} LIBRARY DESTINATION ${PIPECTL_INSTALL_DIR}/${folder})
  install(FILES ${manifest} DESTINATION ${PIPECTL_INSTALL_DIR}/plugins.d RENAME ${id}.plugin.cfg)
endfunction()

function(pipectl_add_plugin id)
  _pipectl_module(plugin plugins ${id} ${ARGN})
endfunction()

function(pipectl_add_oplib id)
  _pipectl_module(oplib ops ${id} ${ARGN})
endfunction()
