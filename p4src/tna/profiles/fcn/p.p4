// The transit node of profile fcn for chips: no mode besides Fast CNPs.
#define HAS_TWO_THRESHOLD 0
#define HAS_FLOW_CONTROL 0
#define HAS_FANTEL 0
#define HAS_LINKS 0
#include "../../../base/tna/externs.p4"
#include "../../../base/metadata.p4"
#include "../../../two_threshold/tna/off.p4"
#include "../../../flow_control/tna/off.p4"
#include "../../../fantel/tna/off.p4"
#include "../../p.p4"
