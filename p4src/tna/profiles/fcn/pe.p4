// The provider edge of profile fcn for chips: no mode besides Fast CNPs.
#define HAS_TWO_THRESHOLD 0
#define HAS_FLOW_CONTROL 0
#define HAS_FANTEL 0
#include "../../../base/tna/externs.p4"
#include "../../../base/metadata.p4"
#include "../../../two_threshold/tna/off.p4"
#include "../../pe.p4"
