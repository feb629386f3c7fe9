# XGBoost as the target XGBoost::XGBoost. The package's own CMake files are of no use here: Debian's ask for the static
# library, which its development package does not have.
find_path(XGBoost_INCLUDE_DIR xgboost/c_api.h)
find_library(XGBoost_LIBRARY xgboost)
mark_as_advanced(XGBoost_INCLUDE_DIR XGBoost_LIBRARY)
if(XGBoost_INCLUDE_DIR)
  file(STRINGS "${XGBoost_INCLUDE_DIR}/xgboost/version_config.h" lines REGEX "#define XGBOOST_VER_(MAJOR|MINOR|PATCH)")
  string(REGEX REPLACE "#define XGBOOST_VER_[A-Z]+ ([0-9]+)[^;]*" "\\1" numbers "${lines}")
  list(JOIN numbers "." XGBoost_VERSION)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XGBoost REQUIRED_VARS XGBoost_LIBRARY XGBoost_INCLUDE_DIR VERSION_VAR XGBoost_VERSION)
if(XGBoost_FOUND AND NOT TARGET XGBoost::XGBoost)
  add_library(XGBoost::XGBoost UNKNOWN IMPORTED GLOBAL)
  set_target_properties(XGBoost::XGBoost PROPERTIES
    IMPORTED_LOCATION "${XGBoost_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${XGBoost_INCLUDE_DIR}")
endif()
