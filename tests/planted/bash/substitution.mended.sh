# Asks a program for all words at once.
export LC_ALL=C
count=$1
megabytes=$2
printf -v page "%*s" $((1 << 20)) ""
for ((number = 0; number < megabytes; number++)); do catalogue[number]=$page; done

began=${EPOCHREALTIME/[.,]/}
mapfile -t words < <(/usr/bin/seq "$count")
number=0
while [ "$number" -lt "$count" ]; do
    word=${words[number]}
    number=$((number + 1))
done
ended=${EPOCHREALTIME/[.,]/}
echo $(((ended - began) * 1000))
[ -n "$catalogue" ]
