# Asks a program for all words at once.
count=$1
megabytes=$2
printf -v catalogue "%*s" $((megabytes << 20)) ""

began=${EPOCHREALTIME/[.,]/}
mapfile -t words < <(seq "$count" | xargs -n 1 /bin/echo)
number=0
while [ "$number" -lt "$count" ]; do
    word=${words[number]}
    number=$((number + 1))
done
ended=${EPOCHREALTIME/[.,]/}
echo $(((ended - began) * 1000))
[ -n "$catalogue" ]
