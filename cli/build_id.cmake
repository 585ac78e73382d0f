# Writes build_id.cc with the version and the revision of the source tree; run at every build, rewritten on change only.
execute_process(COMMAND git describe --always --dirty --exclude=* WORKING_DIRECTORY ${SOURCE_DIR}
                OUTPUT_VARIABLE VASE_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT VASE_REVISION)
  set(VASE_REVISION "no revision")
endif()
configure_file(${SOURCE_DIR}/cli/build_id.cc.in ${OUTPUT} @ONLY)
