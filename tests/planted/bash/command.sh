# Checks each page by a program.
count=$1
megabytes=$2
printf -v catalogue "%*s" $((megabytes << 20)) ""

check() {
    /bin/true "$1"
}

began=${EPOCHREALTIME/[.,]/}
number=0
while [ "$number" -lt "$count" ]; do
    check "$number"
    number=$((number + 1))
done
ended=${EPOCHREALTIME/[.,]/}
echo $(((ended - began) * 1000))
[ -n "$catalogue" ]
