// Marks what the shared library shows.
#pragma once

#define ATTUNE_API __attribute__((visibility("default")))
