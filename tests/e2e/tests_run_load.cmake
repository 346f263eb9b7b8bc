# A test for each case_NAME of run_load.py.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/run_load.py run_load_cases REGEX "^def case_")
foreach(line ${run_load_cases})
    string(REGEX REPLACE "^def case_([a-z0-9_]+).*" "\\1" case "${line}")
    add_test(NAME e2e/run_load_${case} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/run_load.py
        $<TARGET_FILE:whoflow> ${case})
    set_tests_properties(e2e/run_load_${case} PROPERTIES TIMEOUT 300)
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/run_load.py)
