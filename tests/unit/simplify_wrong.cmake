# Wrong rules of what is hoisted and numbered, for test_legalize_simplify, and of lengths that are checked before loops, for
# test_legalize_lengths: copies of the sources with one place changed, whose names begin with that of the rule. A place that is no
# longer there ends the configuration.
set(simplify_source ${CMAKE_SOURCE_DIR}/core/compiler/legalize)
set(simplify_made ${CMAKE_CURRENT_BINARY_DIR}/simplify_wrong)

# legal_copy(test sources symbols name file from to): copies, in a test, of sources that define symbols, in which FROM reads TO in FILE.
function(legal_copy test sources symbols name file from to)
  foreach(symbol ${symbols})
    list(APPEND renamed legal_${symbol}=${name}_${symbol})
  endforeach()
  foreach(source ${sources})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${simplify_source}/${source})
    file(READ ${simplify_source}/${source} text)
    if(source STREQUAL file)
      string(REPLACE "${from}" "${to}" changed "${text}")
      if(changed STREQUAL text)
        message(FATAL_ERROR "${file} does not say \"${from}\"")
      endif()
      set(text "${changed}")
    endif()
    file(CONFIGURE OUTPUT ${simplify_made}/${name}_${source} CONTENT "${text}" @ONLY)
    target_sources(${test} PRIVATE ${simplify_made}/${name}_${source})
    set_source_files_properties(${simplify_made}/${name}_${source} PROPERTIES COMPILE_DEFINITIONS "${renamed}")
  endforeach()
endfunction()

function(simplify_copy name file from to)
  legal_copy(test_legalize_simplify "pure.c;hoist.c;number.c"
    "purity_open;purity_close;purity_of;is_barrier;waits;loop_end;hoist_pass;number_pass" ${name} ${file} "${from}" "${to}")
endfunction()

function(lengths_copy name from to)
  legal_copy(test_legalize_lengths "lengths.c;lengths_bound.c" "lengths_pass;length_checked;length_bound;length_require"
    ${name} lengths_bound.c "${from}" "${to}")
endfunction()

simplify_copy(memory pure.c "!x->is_written[place.root]" "1")
simplify_copy(behind number.c "forget(x, held_at(x, &place));\n}" "(void)place;\n}")
simplify_copy(turn number.c "forget_stored(x, v, end);\n" "")
simplify_copy(merge number.c "memcpy(x->held, kept_at(x, x->depth), x->n_held * sizeof(*x->held));\n}\n\nstatic void control"
  "}\n\nstatic void control")
simplify_copy(exchanged number.c "op == PCTL_OP_NE;" "op == PCTL_OP_NE || op == PCTL_OP_SUB;")
simplify_copy(identity number.c "case PCTL_OP_SUB:\n\tcase PCTL_OP_OR:" "case PCTL_OP_SUB:\n\tcase PCTL_OP_AND:\n\tcase PCTL_OP_OR:")
# What a loop counts is stored at its end: without that store, it would turn for ever.
simplify_copy(moved hoist.c "x->stores[middle] < loop->first" "x->stores[middle] < loop->first + 9")

lengths_copy(wraps "require(x, PCTL_OP_GE, n, a);" "")
lengths_copy(overflows "require(x, PCTL_OP_GE, zeros, word(x, 32));" "")
lengths_copy(equal "require(x, PCTL_OP_LT, most" "require(x, PCTL_OP_LE, most")
lengths_copy(first "word(x, size[d] - 1)" "word(x, 0)")
lengths_copy(lowest "op2(x, PCTL_OP_MIN, first" "op2(x, PCTL_OP_AND, first")
lengths_copy(stored "!is_stored(x, o, local)" "is_stored(x, o, local) < 2")
