# Asks a program for a word at a time.
count=$1
megabytes=$2
printf -v catalogue "%*s" $((megabytes << 20)) ""

ask() {
    word=$(/bin/echo "$1")
}

began=${EPOCHREALTIME/[.,]/}
number=0
while [ "$number" -lt "$count" ]; do
    ask "$number"
    number=$((number + 1))
done
ended=${EPOCHREALTIME/[.,]/}
echo $(((ended - began) * 1000))
[ -n "$catalogue" ]
