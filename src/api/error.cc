#include <attune/error.h>

namespace attune {
inline namespace v1 {

// Out of line, so that the types live in the library and are caught by name everywhere.
Error::Error(const std::string& message) : std::runtime_error(message) {}
Error::~Error() = default;
UserError::UserError(const std::string& message) : Error(message) {}
UserError::~UserError() = default;
UnsupportedError::UnsupportedError(const std::string& message) : Error(message) {}
UnsupportedError::~UnsupportedError() = default;
InternalError::InternalError(const std::string& message) : Error(message) {}
InternalError::~InternalError() = default;

}  // namespace v1
}  // namespace attune
