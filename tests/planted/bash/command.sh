# Checks each page by a program.
export LC_ALL=C
count=$1
megabytes=$2
printf -v page "%*s" $((1 << 20)) ""
for ((number = 0; number < megabytes; number++)); do catalogue[number]=$page; done

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
