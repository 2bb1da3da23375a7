#!/bin/sh
# First program of a guest: loads the modules, then runs the commands that arrive on the
# virtio-serial port. Request: "<id> <base64 of a shell script>", one a line. Reply: "<id> <exit
# status> <base64 of its output, - when empty>". Scripts run at the same time.
# busybox's shell prefers its own programs to those on PATH: iproute2 is /bin/ip.
export PATH=/usr/bin:/usr/sbin:/bin:/sbin HOME=/ TERM=dumb
/bin/busybox --install -s
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev

while read -r module; do
    insmod "$module" || echo "insmod $module failed"
done </modules/order

# Probe of an accelerator: booting this far is enough.
if grep -q fcn.probe /proc/cmdline; then
    reboot -f
fi

/bin/ip link set lo up
ulimit -l unlimited
until port=$(ls /dev/vport* 2>/dev/null); do usleep 20000; done
exec 3<>"$port"
echo ready >&3

# One writer, so that replies never mix: those who have one put its number into the pipe.
mkfifo /run/done
exec 4<>/run/done
while read -r id <&4; do
    cat /run/$id.reply >&3
    rm -f /run/$id.*
done &

answer() {
    printf '%s' "$2" | base64 -d >/run/$1.script
    sh /run/$1.script >/run/$1.output 2>&1 3>&- 4>&- </dev/null
    status=$?
    output=$(base64 -w 0 /run/$1.output)
    echo "$1 $status ${output:--}" >/run/$1.reply
    echo $1 >&4
}

while read -r id script <&3; do
    answer "$id" "$script" &
done

# The host closed the channel.
reboot -f
