# scenario/NAME.scn becomes the test scenario/NAME. Paths are relative to tests/.
add_executable(run_scenario scenario/run_scenario.c scenario/datagram.c scenario/observed.c scenario/words.c
    support/build.c)
target_link_libraries(run_scenario PRIVATE wf_decoder)
file(GLOB scenarios CONFIGURE_DEPENDS scenario/*.scn)
foreach(scenario ${scenarios})
    get_filename_component(name ${scenario} NAME_WE)
    add_test(NAME scenario/${name} COMMAND run_scenario ${scenario})
endforeach()
