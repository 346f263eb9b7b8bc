# The corpus is not part of the project: ../shared/corpus beside the checkout, or -DWF_CORPUS=FOLDER. Without it these are skipped by name.
set(WF_CORPUS "${PROJECT_SOURCE_DIR}/../shared/corpus" CACHE PATH "Folder of the capture corpus")
find_package(Python3 COMPONENTS Interpreter REQUIRED)
foreach(only forward reversed)
    add_test(NAME corpus/${only} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/check_corpus.py
        --whoflow $<TARGET_FILE:whoflow> --corpus ${WF_CORPUS} --workers 8 --only ${only})
    set_tests_properties(corpus/${only} PROPERTIES SKIP_RETURN_CODE 77 LABELS slow TIMEOUT 1800)
endforeach()

# Our ecs documents beside Filebeat's goldens: every difference has its rule (docs/golden-differences.md).
add_test(NAME corpus/golden COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/compare_golden.py
    --whoflow $<TARGET_FILE:whoflow> --corpus ${WF_CORPUS})
set_tests_properties(corpus/golden PROPERTIES SKIP_RETURN_CODE 77)
