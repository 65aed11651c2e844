#!/bin/sh
# A plugin needs nothing of the library by name and offers one symbol. Weak symbols are the C++
# library's own (emulated plugin).
# usage: symbols.sh PLUGIN...
status=0
for plugin; do
  [ -e "$plugin" ] || { echo "$plugin is not there"; status=1; continue; }
  missing=$(nm -D --undefined-only "$plugin" | grep 'szg_\|szego')
  if [ -n "$missing" ]; then
    echo "$plugin has undefined symbols of the library:"
    echo "$missing"
    status=1
  fi
  offered=$(nm -D --defined-only "$plugin" | awk '$2 != "W" && $2 != "V" && $2 != "u" { print $3 }')
  if [ "$offered" != szego_plugin ]; then
    echo "$plugin offers, where szego_plugin alone is expected:"
    echo "$offered"
    status=1
  fi
done
exit $status
