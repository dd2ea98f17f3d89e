# Asks a program for a word at a time.
export LC_ALL=C
count=$1
megabytes=$2
printf -v page "%*s" $((1 << 20)) ""
for ((number = 0; number < megabytes; number++)); do catalogue[number]=$page; done

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
