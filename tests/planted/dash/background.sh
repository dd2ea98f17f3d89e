# Starts a program beside it for each page.
export LC_ALL=C
count=$1
megabytes=$2
catalogue=$(head -c $((megabytes << 20)) /dev/zero | tr "\\0" x)

start() {
    /bin/true "$1" &
    wait
}

read -r began _ </proc/uptime
number=0
while [ "$number" -lt "$count" ]; do
    start "$number"
    number=$((number + 1))
done
read -r ended _ </proc/uptime
echo $(((${ended%.*}${ended#*.} - ${began%.*}${began#*.}) * 10000000))
[ -n "$catalogue" ]
