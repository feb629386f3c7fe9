// The border for exceptions: internal ones go in, public ones come out.
#pragma once

#include "api/inner.h"

#include <attune/error.h>

#include <new>

namespace attune {
inline namespace v1 {

template <class Body> auto guarded(const Body& body) {
  try {
    return body();
  } catch (const inner::UserError& error) {
    throw UserError(error.what());
  } catch (const inner::UnsupportedError& error) {
    throw UnsupportedError(error.what());
  } catch (const inner::Error& error) {
    throw InternalError(error.what());
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw InternalError(error.what());
  }
}

}  // namespace v1
}  // namespace attune
