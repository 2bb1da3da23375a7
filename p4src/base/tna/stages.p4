// Where tables begin on the chip. Left alone, the compiler takes the order that needs most stages.
#ifndef FCN_TNA_STAGES_P4
#define FCN_TNA_STAGES_P4

#define PLACED(table) STAGE_##table

#define STAGE_port_role @stage(0)
#define STAGE_port_mac @stage(0)
#define STAGE_notification_port @stage(0)
#define STAGE_trusted_source @stage(0)
#define STAGE_endpoint @stage(0)
#define STAGE_domain_mode
#define STAGE_cnp_profile @stage(1)
#define STAGE_flow_learning @stage(1)
#define STAGE_service_sid @stage(1)
#define STAGE_flow_by_label_ipv4 @stage(1)
#define STAGE_flow_by_label_ipv6 @stage(2)
#define STAGE_soundness @stage(1)
#define STAGE_fingerprint_of_ipv4
#define STAGE_fingerprint_of_ipv6 @stage(5)
#define STAGE_flow_ipv4 @stage(6)
#define STAGE_flow_ipv6 @stage(7)
#define STAGE_gateway_ipv4 @stage(0)
#define STAGE_gateway_ipv6
#define STAGE_advertisement
#define STAGE_comparison @stage(8)
#define STAGE_digest_type
#define STAGE_customer_arrival
#define STAGE_wan_arrival
#define STAGE_notification_arrival
#define STAGE_tunnel_arrival
#define STAGE_marking_curve
#define STAGE_light_congestion
#define STAGE_light_policy
#define STAGE_flow_control
#define STAGE_hold_level
#define STAGE_arn_upstream
#if __TARGET_TOFINO__ == 2
#define STAGE_own_congestion @stage(8)
#define STAGE_light_notified @stage(9)
#else
#define STAGE_own_congestion
#define STAGE_light_notified
#endif

#endif
