// Everything of attune's C++ interface.
#pragma once

#include <attune/error.h>
#include <attune/session.h>
#include <attune/space.h>
#include <attune/tensor.h>
#include <attune/tuner.h>
#include <attune/version.h>
