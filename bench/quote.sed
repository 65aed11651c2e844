# Lines of any text as lines of a C string.
s/\\/\\\\/g
s/"/\\"/g
s/.*/"&\\n"/
