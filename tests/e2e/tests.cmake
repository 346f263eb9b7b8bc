# End-to-end tests of the program as a user runs it; a file for each command.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
include(e2e/tests_replay.cmake OPTIONAL)
include(e2e/tests_run.cmake OPTIONAL)
include(e2e/tests_run_load.cmake OPTIONAL)
include(e2e/tests_cli.cmake OPTIONAL)
