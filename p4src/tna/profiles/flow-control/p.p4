// The transit node of profile flow-control for chips: as fcn, and it asks its neighbours to hold (SRF-5, SRF-6).
#define HAS_TWO_THRESHOLD 0
#define HAS_FLOW_CONTROL 1
#define HAS_FANTEL 0
#define HAS_LINKS 0
#include "../../../base/tna/externs.p4"
#include "../../../base/metadata.p4"
#include "../../../two_threshold/tna/off.p4"
#include "../../../flow_control/tna/p.p4"
#include "../../../fantel/tna/off.p4"
#include "../../p.p4"
