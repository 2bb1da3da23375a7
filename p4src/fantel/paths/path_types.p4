// Types of policies and their paths. The controller reads constants and enumerations from here.
#ifndef FCN_PATH_TYPES_P4
#define FCN_PATH_TYPES_P4

#include "../../base/types.p4"

// Up to 8 paths to one PE among which traffic is distributed; the number is the index of what is known of them.
typedef bit<8> policy_t;
// A path's place in its policy
typedef bit<3> path_slot_t;
// A bit for each of a policy's paths, by its slot
typedef bit<8> path_set_t;
// Flows that are moved together: a hash
typedef bit<6> path_bucket_t;
// policy_t ++ path_slot_t, and that ++ PathReport but LOAD
typedef bit<11> path_cell_t;
typedef bit<13> path_report_cell_t;
// How much of a path is in use: its utilization in steps of 8 permille, and 16 more for each level of its queue
typedef bit<8> path_load_t;
#define PATH_LOAD(utilization, level) ((path_load_t)((utilization) >> 3) + ((level) << 4))
// Flows that hash alike: together they stay on a path, or leave it.
typedef bit<16> flowlet_cell_t;
// path_cell_t ++ 0 for failure, 1 for congestion
typedef bit<12> path_fault_cell_t;
// A link or node that is on a path: an index of all of them, and a bit among those of one path
typedef bit<12> reporter_cell_t;
typedef bit<32> reporter_set_t;
// In the place of such a bit: somebody says so by hand.
const reporter_set_t PATH_BY_HAND = 0x80000000;
// Or this PE has seen it of the first link of the path.
const reporter_set_t PATH_BY_PE = 0x40000000;

const int POLICY_CELLS = 256;
const int POLICY_TABLE_SIZE = 1024;
const int PATH_SLOTS = 8;
const int PATH_CELLS = 2048;
const int PATH_REPORT_CELLS = 8192;
const int PATH_FAULT_CELLS = 4096;
const int PATH_BUCKETS = 64;
const int FLOWLET_CELLS = 65536;
const int PATH_REPORTER_CELLS = 4096;
const int PATH_REPORTERS = 30;
const int PATH_TABLE_SIZE = 16384;
// At most so many senders hear of it each time that a node says of a path that it is congested.
const int PATH_CNPS = 64;

// A tunnel's number with this bit is that of a policy in a VRF: no route needs another action, and no other packet
// another field of metadata.
const tunnel_t POLICY_BIT = 0x8000;
#define IS_POLICY(tunnel) (tunnel)[15:15] == 1

#endif
