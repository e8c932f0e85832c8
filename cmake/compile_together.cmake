# Many generated files include the same large headers: compiled 16 at a time they
# save a quarter of what the build takes.  Descriptions of types name their static
# variables alike, so each of them stays by itself.
foreach(_part rosidl_generator_c rosidl_generator_py rosidl_typesupport_c
    rosidl_typesupport_introspection_c rosidl_typesupport_fastrtps_c)
  set(_target ${PROJECT_NAME}__${_part})
  set_target_properties(${_target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  get_target_property(_sources ${_target} SOURCES)
  list(FILTER _sources INCLUDE REGEX "__description\\.c$")
  set_source_files_properties(${_sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endforeach()
