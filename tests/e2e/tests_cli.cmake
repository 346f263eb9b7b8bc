# A test for each case_NAME of cli_program.py.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/cli_program.py cli_cases REGEX "^def case_")
foreach(line ${cli_cases})
    string(REGEX REPLACE "^def case_([a-z0-9_]+).*" "\\1" case "${line}")
    add_test(NAME e2e/cli_${case} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/cli_program.py
        $<TARGET_FILE:whoflow> ${case})
    set_tests_properties(e2e/cli_${case} PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/cli_program.py)
