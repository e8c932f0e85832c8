# The ROS wheels on PyPI export targets that name include folders of the
# machine that built them; CMake refuses such a target.  Drop the folders that
# are not on this machine.  With an ordinary ROS installation nothing changes.
get_property(_targets DIRECTORY PROPERTY IMPORTED_TARGETS)
foreach(_target IN LISTS _targets)
  get_target_property(_dirs ${_target} INTERFACE_INCLUDE_DIRECTORIES)
  if(_target MATCHES "__rosidl_generator_py$" AND _dirs)
    set(_kept "")
    foreach(_dir IN LISTS _dirs)
      if(EXISTS "${_dir}")
        list(APPEND _kept "${_dir}")
      endif()
    endforeach()
    set_target_properties(${_target} PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${_kept}")
  endif()
endforeach()

# NumPy may lie in a virtual environment inside the source folder; CMake refuses
# to export such a folder, and nobody needs it who only uses the interfaces.
set(_target ${PROJECT_NAME}__rosidl_generator_py)
get_target_property(_dirs ${_target} INTERFACE_INCLUDE_DIRECTORIES)
list(FILTER _dirs EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/.*/numpy/")
set_target_properties(${_target} PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${_dirs}")
