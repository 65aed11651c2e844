#!/bin/sh
# A plugin needs nothing of the library by name and offers one symbol. Weak symbols are the C++
# library's own (emulated plugin).
# usage: symbols.sh [--entry SYMBOL] PLUGIN...
status=0
entry=szego_plugin
if [ "$1" = --entry ]; then entry=$2; shift 2; fi
for plugin; do
  [ -e "$plugin" ] || { echo "$plugin is not there"; status=1; continue; }
  missing=$(nm -D --undefined-only "$plugin" | grep 'szg_\|szego')
  if [ -n "$missing" ]; then
    echo "$plugin has undefined symbols of the library:"
    echo "$missing"
    status=1
  fi
  offered=$(nm -D --defined-only "$plugin" | awk '$2 != "W" && $2 != "V" && $2 != "u" { print $3 }')
  if [ "$offered" != "$entry" ]; then
    echo "$plugin offers, where $entry alone is expected:"
    echo "$offered"
    status=1
  fi
done
exit $status
