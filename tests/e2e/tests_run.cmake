# A test for each case_NAME of run_live.py.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/run_live.py run_cases REGEX "^def case_")
foreach(line ${run_cases})
    string(REGEX REPLACE "^def case_([a-z0-9_]+).*" "\\1" case "${line}")
    add_test(NAME e2e/run_${case} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/run_live.py
        $<TARGET_FILE:whoflow> ${case})
    set_tests_properties(e2e/run_${case} PROPERTIES TIMEOUT 300)
endforeach()
set_tests_properties(e2e/run_silence_is_told_with_what_to_check PROPERTIES COST 100) # waits 30 s: first, beside the others
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/run_live.py)
