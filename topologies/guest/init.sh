#!/bin/sh
# First program of a guest: loads the modules, makes the RoCE device, then runs the commands that
# arrive on the virtio-serial port. Request: "<id> <base64 of a shell script>", one a line. Reply:
# "<id> <exit status> <base64 of its output>". Scripts run at the same time.
export PATH=/usr/bin:/usr/sbin:/bin:/sbin HOME=/ TERM=dumb
/bin/busybox --install -s
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mkdir -p /dev/shm /run /tmp
mount -t tmpfs none /tmp

while read -r module; do
    insmod "$module" || echo "insmod $module failed"
done </modules/order

# Only asked whether this accelerator brings a guest up to here.
if grep -q fcn.probe /proc/cmdline; then
    reboot -f
fi

ip link set lo up
ulimit -l unlimited
port=/dev/vport0p1
until [ -c $port ]; do usleep 20000; done
exec 3<>$port
echo "ready" >&3

answer() {
    output=$(printf '%s' "$2" | base64 -d >/run/$1.sh && sh /run/$1.sh 2>&1 3>&- </dev/null)
    status=$?
    encoded=$(printf '%s' "$output" | base64 -w 0)
    flock /run/lock sh -c 'printf "%s %s %s\n" "$1" "$2" "${3:--}" >&3' reply "$1" $status "$encoded"
    rm -f /run/$1.sh
}

while read -r id script <&3; do
    answer "$id" "$script" &
done
