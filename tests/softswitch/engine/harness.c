/* Executes recorded calls of the control interface; see engine_recorder.py for the commands.
 * Built with ASan and UBSan. Without arguments it runs a memory engine and prints the output
 * packets: port, time, length, CRC-32. With interface names as arguments these are ports 1, 2, ...,
 * until the input ends. */
#include <stdio.h>
#include <stdlib.h>

static uint64_t number(void)
{
    unsigned long v;
    if (scanf("%lu", &v) != 1)
        exit(2);
    return v;
}

static uint32_t n32(void) { return (uint32_t)number(); }

/* Exactly n octets on the heap, so that ASan sees a read beyond them. */
static uint8_t *octets(size_t n)
{
    uint8_t *p = malloc(n ? n : 1);
    for (size_t i = 0; p && i < n; i++) {
        unsigned v;
        if (scanf("%2x", &v) != 1)
            exit(3);
        p[i] = (uint8_t)v;
    }
    return p;
}

static uint32_t *numbers(uint32_t n)
{
    uint32_t *p = malloc((n ? n : 1) * sizeof *p);
    for (uint32_t i = 0; p && i < n; i++)
        p[i] = n32();
    return p;
}

static sw_action_ref action_ref(void)
{
    sw_action_ref a = {.target = n32(), .id = n32(), .timeout_ns = number()};
    a.n_args = n32();
    a.args = octets(a.n_args);
    return a;
}

static void table_command(sw_engine *e, char c)
{
    uint32_t table = n32();
    uint32_t words = sw_prog.tables[table].words;
    if (c == 'x') {
        sw_ctl_table_delete(e, table, n32());
        return;
    }
    if (c == 'a') {
        uint32_t prefix = n32();
        int32_t priority = (int32_t)n32();
        uint64_t *key = (void *)octets(words * 8), *mask = (void *)octets(words * 8);
        uint64_t *high = (void *)octets(words * 8);
        sw_action_ref a = action_ref();
        sw_ctl_table_add(e, table, key, mask, high, prefix, priority, &a);
        free(key);
        free(mask);
        free(high);
        free((void *)(uintptr_t)a.args);
        return;
    }
    uint32_t handle = c == 'm' ? n32() : 0;
    bool none = c == 'd' && n32() == 0;
    if (none) {
        sw_ctl_table_default(e, table, NULL);
        return;
    }
    sw_action_ref a = action_ref();
    if (c == 'm')
        sw_ctl_table_modify(e, table, handle, &a);
    else
        sw_ctl_table_default(e, table, &a);
    free((void *)(uintptr_t)a.args);
}

static void profile_command(sw_engine *e, char c)
{
    uint32_t slot = n32();
    if (c == 'M') {
        uint32_t action = n32(), n = n32();
        uint8_t *args = octets(n);
        sw_ctl_member_set(e, slot, action, args, n);
        free(args);
    } else if (c == 'R') {
        uint32_t n = n32(), *members = numbers(n);
        sw_ctl_group_set(e, slot, n, members);
        free(members);
    } else if (c == 'N') {
        sw_ctl_member_drop(e, slot);
    } else {
        sw_ctl_group_drop(e, slot);
    }
}

static void replication_command(sw_engine *e, char c)
{
    uint32_t id = n32(), n = n32(), *ports = numbers(n), *instances = numbers(n);
    if (c == 'S') {
        uint32_t class = n32();
        sw_ctl_session_set(e, id, n, ports, instances, class, n32());
    } else {
        sw_ctl_mgroup_set(e, id, n, ports, instances);
    }
    free(ports);
    free(instances);
}

static void packet_command(sw_engine *e)
{
    uint32_t port = n32(), n = n32();
    uint8_t *p = octets(n);
    sw_ctl_inject(e, port, p, n);
    free(p);
}

static void print_outputs(sw_engine *e)
{
    size_t n = sw_ctl_out_size(e);
    uint8_t *out = malloc(n + 1);
    n = sw_ctl_out_take(e, out, n);
    for (size_t at = 0; at < n;) {
        uint64_t when;
        uint32_t port, len;
        memcpy(&when, out + at, 8);
        memcpy(&port, out + at + 8, 4);
        memcpy(&len, out + at + 12, 4);
        printf("%u %lu %u %08lx\n", port, (unsigned long)when, len,
               (unsigned long)sw_hash_crc32(out + at + 16, len));
        at += 16 + ((len + 7u) & ~7u);
    }
    free(out);
    n = sw_ctl_events_size(e);
    out = malloc(n + 1);
    sw_ctl_events_take(e, out, n);
    free(out);
}

int main(int argc, char **argv)
{
    char c;
    sw_engine *e = sw_engine_new(510, 511, 8, argc == 1, -1);
    for (int i = 1; i < argc; i++)
        if (sw_ctl_port_attach(e, (uint32_t)i, argv[i]))
            return 5;
    if (argc > 1 && sw_ctl_start(e))
        return 6;
    while (scanf(" %c", &c) == 1) {
        if (strchr("amdx", c))
            table_command(e, c);
        else if (strchr("MNRT", c))
            profile_command(e, c);
        else if (strchr("SG", c))
            replication_command(e, c);
        else if (c == 'P')
            packet_command(e);
        else if (c == 'A')
            sw_ctl_advance(e, number());
        else if (c == 'Q') {
            uint32_t port = n32(), depth = n32();
            uint64_t pps = number(), bps = number();
            sw_ctl_port_queue(e, port, depth, pps, bps, number());
        } else if (c == '!') {
            puts("ready");
            fflush(stdout);
        } else
            return 4;
        print_outputs(e);
    }
    sw_engine_free(e);
    return 0;
}
