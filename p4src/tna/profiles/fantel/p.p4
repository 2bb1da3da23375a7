// The transit node of profile fantel for chips: as fcn, and it tells PEs of congested paths (FAN-6). Tofino 2 watches links, too
// (FAN-4), for which Tofino 1 has not the stages.
#define HAS_TWO_THRESHOLD 0
#define HAS_FLOW_CONTROL 0
#define HAS_FANTEL 1
#if __TARGET_TOFINO__ == 2
#define HAS_LINKS 1
#else
#define HAS_LINKS 0
#endif
#include "../../../base/tna/externs.p4"
#include "../../../base/metadata.p4"
#include "../../../two_threshold/tna/off.p4"
#include "../../../flow_control/tna/off.p4"
#include "../../../fantel/tna/p.p4"
#include "../../p.p4"
