# Files of the tree as strings of the library.

# espalier_literals(OUT TAG BETWEEN TEXT): TEXT as raw string literals, each with BETWEEN in front: nothing where they are one
# literal, which compilers need not take above 64 KiB, or " +" behind a std::string.
function(espalier_literals out tag between text)
  string(LENGTH "${text}" length)
  set(pieces "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 12000 piece)
    string(APPEND pieces "${between}\n      R\"${tag}(${piece})${tag}\"")
    math(EXPR at "${at} + 12000")
  endwhile()
  set(${out} "${pieces}" PARENT_SCOPE)
endfunction()

# espalier_generate(FILE TEXT): writes FILE where it has another text, so that nothing is compiled again without need.
function(espalier_generate file text)
  set(old "")
  if(EXISTS ${file})
    file(READ ${file} old)
  endif()
  if(NOT old STREQUAL text)
    file(WRITE ${file} "${text}")
  endif()
endfunction()
