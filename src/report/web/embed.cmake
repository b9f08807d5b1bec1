# Writes files as arrays of C. cmake -DOUT=web.c "-DFILES=name=path;name=path" -P embed.cmake; an empty path is an empty file.
set(source "/* Written by embed.cmake. */\n#include \"report/web/web.h\"\n")
foreach(entry ${FILES})
  string(REGEX MATCH "^([a-z_]+)=(.*)$" entry ${entry})
  set(name ${CMAKE_MATCH_1})
  set(bytes "")
  if(CMAKE_MATCH_2)
    file(READ ${CMAKE_MATCH_2} bytes HEX)
  endif()
  string(LENGTH "${bytes}" digits)
  math(EXPR n "${digits} / 2")
  # 0x..: bytes above 127 are no char, so that the array is of unsigned char.
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
  string(APPEND source "static const unsigned char ${name}[] = {\n${bytes}0};\n"
    "const report_web_file report_web_${name} = {(const char *)${name}, ${n}};\n")
endforeach()
file(WRITE ${OUT} "${source}")
