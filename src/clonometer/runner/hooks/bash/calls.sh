if { enable -f "$CLONOMETER_LIBRARY" clonometer_calls "$_" && enable -d clonometer_calls "$_"; false "$_"; } 2>/dev/null <"/dev/null${BASH_XTRACEFD:+/}"; then :; fi
