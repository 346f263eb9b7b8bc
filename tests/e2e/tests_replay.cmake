# A test for each case_NAME of replay.py.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/replay.py replay_cases REGEX "^def case_")
foreach(line ${replay_cases})
    string(REGEX REPLACE "^def case_([a-z0-9_]+).*" "\\1" case "${line}")
    add_test(NAME e2e/replay_${case} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/replay.py
        $<TARGET_FILE:whoflow> ${case})
    set_tests_properties(e2e/replay_${case} PROPERTIES TIMEOUT 300)
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/replay.py)
