# Turns a file into a header with one constant: cmake -DINPUT=page.html -DOUTPUT=page.h -DNAME=kPage -P embed.cmake
file(READ "${INPUT}" text)
file(WRITE "${OUTPUT}.new" "#pragma once\n#include <string_view>\ninline constexpr std::string_view ${NAME} = R\"page(${text})page\";\n")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
