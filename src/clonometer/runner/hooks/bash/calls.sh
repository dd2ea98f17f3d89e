{ enable -f "$CLONOMETER_LIBRARY" clonometer_calls "$_" && enable -d clonometer_calls "$_" || : "$_"; } 2>/dev/null
