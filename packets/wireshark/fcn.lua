-- Wireshark and tshark: the messages of fast congestion notification (docs/packets.md).
--
--   tshark -X lua_script:packets/wireshark/fcn.lua -r capture.pcap
--
-- or copy this file into Wireshark's personal Lua plugins folder (Help > About > Folders).
-- Display filters: fast_cnp, fast_cnp.label == 0x8a1b2, arn, arn.time > 1000, fantel, fantel.path == 5, roce_cnp,
-- roce_cnp.qp == 0x118.

set_plugin_info({
    version = "1.0",
    description = "Fast CNP, ARN, FANTEL and RoCEv2 CNP",
})

local udp_port = DissectorTable.get("udp.port")

-- Makes a protocol the one of a UDP destination port, which is a preference. `messages` are what it is a port of;
-- `dissect` is called for packets to that port only, while the dissector table matches source ports, too.
local function dissect_udp_port(proto, port, messages, dissect)
    proto.prefs.port = Pref.uint("UDP port", port, "UDP destination port of " .. messages)
    function proto.dissector(buffer, packet, root)
        return packet.dst_port == port and dissect(buffer, packet, root) or 0
    end
    function proto.prefs_changed()
        if port ~= proto.prefs.port then
            udp_port:remove(port, proto)
            port = proto.prefs.port
            udp_port:add(port, proto)
        end
    end
    udp_port:add(port, proto)
end

-- The five-tuple of ARN and FANTEL ---------------------------------------------------------------

local ADDRESS_LENGTH = { [4] = 4, [6] = 16 }
local FIVE_TUPLE_LENGTH = { [4] = 16, [6] = 40 }

-- The fields of a protocol's five-tuple, `all` as a list.
local function five_tuple_of(name)
    local fields = {
        version = ProtoField.uint8(name .. ".ip_version", "IP version", base.DEC, nil, 0xF0),
        label = ProtoField.uint32(name .. ".label", "Flow label", base.HEX, nil, 0x0FFFFF00),
        protocol = ProtoField.uint8(name .. ".protocol", "Protocol", base.DEC),
        source = {
            [4] = ProtoField.ipv4(name .. ".src", "Source"), [6] = ProtoField.ipv6(name .. ".src6", "Source"),
        },
        destination = {
            [4] = ProtoField.ipv4(name .. ".dst", "Destination"),
            [6] = ProtoField.ipv6(name .. ".dst6", "Destination"),
        },
        sport = ProtoField.uint16(name .. ".sport", "Source port", base.DEC),
        dport = ProtoField.uint16(name .. ".dport", "Destination port", base.DEC),
    }
    fields.all = {
        fields.version, fields.label, fields.protocol, fields.source[4], fields.source[6],
        fields.destination[4], fields.destination[6], fields.sport, fields.dport,
    }
    return fields
end

local function add_five_tuple(tree, fields, octets)
    local version = bit.rshift(octets(0, 1):uint(), 4)
    local address = ADDRESS_LENGTH[version]
    tree:add(fields.version, octets(0, 1))
    tree:add(fields.label, octets(0, 4))
    tree:add(fields.protocol, octets(3, 1))
    tree:add(fields.source[version], octets(4, address))
    tree:add(fields.destination[version], octets(4 + address, address))
    tree:add(fields.sport, octets(4 + 2 * address, 2))
    tree:add(fields.dport, octets(6 + 2 * address, 2))
end

local function joined(list, more)
    for _, item in ipairs(more) do list[#list + 1] = item end
    return list
end

-- Fast CNP (draft "Fast Congestion Notification in WAN", section 4.2): UDP, then
-- FlowLabel(20) CL(3) Rvd(9) -------------------------------------------------------------------

local FAST_CNP_PORT = 1021 -- RFC 4727 experimental, until TBD1 is assigned
local FAST_CNP_LENGTH = 4
local FCN_LABEL_BIT = 0x80000

local fast_cnp = Proto("fast_cnp", "Fast Congestion Notification Packet")

local label_kind = { [0] = "not a label of a RoCE flow", [1] = "label of a RoCE flow" }
local level_name = {
    [0] = "unused", [1] = "1 (lowest)", [2] = "2", [3] = "3",
    [4] = "4", [5] = "5", [6] = "6", [7] = "7 (highest)",
}

local label = ProtoField.uint24("fast_cnp.label", "Flow label", base.HEX, nil, 0xFFFFF0)
local kind = ProtoField.uint8("fast_cnp.label.roce", "Kind", base.DEC, label_kind, 0x80)
local level = ProtoField.uint8("fast_cnp.level", "Congestion level", base.DEC, level_name, 0x0E)
local reserved = ProtoField.uint16("fast_cnp.reserved", "Reserved", base.HEX, nil, 0x01FF)
fast_cnp.fields = { label, kind, level, reserved }

local bad_length = ProtoExpert.new(
    "fast_cnp.length.bad", "Malformed: a Fast CNP is 4 octets behind the UDP header",
    expert.group.MALFORMED, expert.severity.ERROR)
local foreign_label = ProtoExpert.new(
    "fast_cnp.label.foreign", "The label has the top bit clear: it is of no RoCE flow",
    expert.group.PROTOCOL, expert.severity.WARN)
local reserved_set = ProtoExpert.new(
    "fast_cnp.reserved.set", "Reserved bits are not zero (receivers ignore them)",
    expert.group.PROTOCOL, expert.severity.NOTE)
fast_cnp.experts = { bad_length, foreign_label, reserved_set }

local function dissect_fast_cnp(buffer, packet, root)
    packet.cols.protocol = "FastCNP"
    local tree = root:add(fast_cnp, buffer())
    if buffer:reported_len() ~= FAST_CNP_LENGTH then
        tree:add_proto_expert_info(bad_length)
        packet.cols.info = string.format("Malformed Fast CNP, %d octets", buffer:reported_len())
        return buffer:len()
    end
    -- Of a truncated capture the octets present are shown; Wireshark marks the rest.
    local word = buffer(0, FAST_CNP_LENGTH):uint()
    local label_value = bit.rshift(word, 12)
    local level_value = bit.band(bit.rshift(word, 9), 0x7)
    local label_tree = tree:add(label, buffer(0, 3))
    label_tree:add(kind, buffer(0, 1))
    tree:add(level, buffer(2, 1))
    local reserved_tree = tree:add(reserved, buffer(2, 2))
    if bit.band(label_value, FCN_LABEL_BIT) == 0 then
        label_tree:add_proto_expert_info(foreign_label)
    end
    if bit.band(word, 0x1FF) ~= 0 then
        reserved_tree:add_proto_expert_info(reserved_set)
    end
    packet.cols.info =
        string.format("Fast CNP: flow label 0x%05x, level %d", label_value, level_value)
    tree:append_text(string.format(", flow label 0x%05x, level %d", label_value, level_value))
    return FAST_CNP_LENGTH
end

dissect_udp_port(fast_cnp, FAST_CNP_PORT, "Fast CNPs", dissect_fast_cnp)

-- ARN (draft-hu-rtgwg-rocev2-fcn-00, section 4.1.1): UDP, then Type(8) Version(4) Rsvd(4) Metric(8)
-- Para-Type(8) and the parameters it names ------------------------------------------------------

local ARN_PORT = 1022 -- RFC 4727 experimental
local ARN_HEADER_LENGTH = 4
local ARN_HOP_LIMIT = 255

local arn = Proto("arn", "Adaptive Routing Notification")

local arn_type_name = { [1] = "congestion detected", [2] = "congestion eliminated" }
local arn_type = ProtoField.uint8("arn.type", "Type", base.DEC, arn_type_name)
local arn_version = ProtoField.uint8("arn.version", "Version", base.DEC, nil, 0xF0)
local arn_metric = ProtoField.uint8("arn.metric", "Metric", base.DEC)
local arn_para_type = ProtoField.uint8("arn.para_type", "Parameters", base.HEX)
local arn_five_tuple = five_tuple_of("arn")
local arn_path = ProtoField.uint32("arn.path", "Path ID", base.DEC)
local arn_priority = ProtoField.uint32("arn.priority", "Priority", base.DEC)
local arn_time = ProtoField.uint32("arn.time", "Time (microseconds)", base.DEC)
arn.fields = joined(
    { arn_type, arn_version, arn_metric, arn_para_type, arn_path, arn_priority, arn_time }, arn_five_tuple.all)

-- By bit of Para-Type, those behind the five-tuple's.
local arn_words = {
    { field = arn_path, text = "path %d" },
    { field = arn_priority, text = "priority %d" },
    { field = arn_time, text = "%d us" },
}

local arn_malformed = ProtoExpert.new(
    "arn.malformed", "Malformed: length, type, version or parameters of an ARN are wrong",
    expert.group.MALFORMED, expert.severity.ERROR)
local arn_hop_limit = ProtoExpert.new(
    "arn.hop_limit", "The hop limit is not 255: it is no neighbour's",
    expert.group.PROTOCOL, expert.severity.WARN)
arn.experts = { arn_malformed, arn_hop_limit }

local arn_hop_limit_field = Field.new("ipv6.hlim")

-- Octets of the message by what its first octets say, nil when there is no such message.
local function arn_length(buffer)
    if buffer:len() < ARN_HEADER_LENGTH then return nil end
    local para_type = buffer(3, 1):uint()
    if not arn_type_name[buffer(0, 1):uint()] or buffer(1, 1):uint() >= 0x10 or para_type > 15 then
        return nil
    end
    local length = ARN_HEADER_LENGTH
    if bit.band(para_type, 1) ~= 0 then
        if buffer:len() == ARN_HEADER_LENGTH then return nil end
        local five_tuple = FIVE_TUPLE_LENGTH[bit.rshift(buffer(ARN_HEADER_LENGTH, 1):uint(), 4)]
        if not five_tuple then return nil end
        length = length + five_tuple
    end
    for flag = 1, #arn_words do
        length = length + 4 * bit.band(bit.rshift(para_type, flag), 1)
    end
    return length
end

local function dissect_arn(buffer, packet, root)
    packet.cols.protocol = "ARN"
    local tree = root:add(arn, buffer())
    if buffer:reported_len() ~= arn_length(buffer) then
        tree:add_proto_expert_info(arn_malformed)
        packet.cols.info = string.format("Malformed ARN, %d octets", buffer:reported_len())
        return buffer:len()
    end
    local type_value, para_type = buffer(0, 1):uint(), buffer(3, 1):uint()
    local text = arn_type_name[type_value]
    tree:add(arn_type, buffer(0, 1))
    tree:add(arn_version, buffer(1, 1))
    tree:add(arn_metric, buffer(2, 1))
    tree:add(arn_para_type, buffer(3, 1))
    local at = ARN_HEADER_LENGTH
    if bit.band(para_type, 1) ~= 0 then
        add_five_tuple(tree, arn_five_tuple, buffer(at))
        at = at + FIVE_TUPLE_LENGTH[bit.rshift(buffer(at, 1):uint(), 4)]
        text = text .. ", five-tuple"
    end
    for flag, word in ipairs(arn_words) do
        if bit.band(para_type, bit.lshift(1, flag)) ~= 0 then
            tree:add(word.field, buffer(at, 4))
            text = text .. ", " .. string.format(word.text, buffer(at, 4):uint())
            at = at + 4
        end
    end
    local hop_limit = arn_hop_limit_field()
    if hop_limit and hop_limit.value ~= ARN_HOP_LIMIT then
        tree:add_proto_expert_info(arn_hop_limit)
    end
    packet.cols.info = "ARN: " .. text
    tree:append_text(", " .. text)
    return at
end

dissect_udp_port(arn, ARN_PORT, "ARN messages", dissect_arn)

-- FANTEL (draft-hzh-fantel-wan-tunnel-01, section 5): behind UDP Version(8) Type(8) Code(8) Rsvd(8), or
-- ICMPv6 type 200 with Code, then Type(8) Version(8) Rsvd(16); then the TLVs that Code names --------

local FANTEL_PORT = 61021 -- of the range that is never assigned, until TBD is
local FANTEL_ICMPV6_TYPE = 200 -- RFC 4443, private experimentation
local FANTEL_HEADER_LENGTH = 4
local FANTEL_ICMPV6_LENGTH = 8
local FANTEL_PARAMETERS = 7
local TLV_HEADER_LENGTH = 4
local FIVE_TUPLE = 3
local HIGHEST_LEVEL = 7
local PERMILLE = 1000

local fantel = Proto("fantel", "Fast Notification for Traffic Engineering and Load Balancing")

local fantel_type_name = {
    [1] = "failure", [2] = "failure cleared", [3] = "congestion", [4] = "congestion cleared",
    [5] = "load",
}
local fantel_cause_name = {
    [0] = "unknown", [1] = "link down", [2] = "neighbour silent", [3] = "administrative",
    [4] = "neighbour down",
}
local fantel_version = ProtoField.uint8("fantel.version", "Version", base.DEC)
local fantel_type = ProtoField.uint8("fantel.type", "Type", base.DEC, fantel_type_name)
local fantel_code = ProtoField.uint8("fantel.code", "Parameters", base.HEX)
local fantel_parameter = ProtoField.bytes("fantel.parameter", "Parameter")
local fantel_tlv_type = ProtoField.uint8("fantel.tlv.type", "Type", base.DEC)
local fantel_tlv_version = ProtoField.uint8("fantel.tlv.version", "Version", base.DEC)
local fantel_tlv_length = ProtoField.uint16("fantel.tlv.length", "Length", base.DEC)
local fantel_node = ProtoField.uint32("fantel.node", "Node", base.DEC)
local fantel_link = ProtoField.uint32("fantel.link", "Link", base.DEC)
local fantel_epoch = ProtoField.uint32("fantel.epoch", "Epoch", base.DEC)
local fantel_sequence = ProtoField.uint32("fantel.sequence", "Sequence number", base.DEC)
local fantel_path = ProtoField.uint32("fantel.path", "Path ID", base.DEC)
local fantel_five_tuple = five_tuple_of("fantel")
local fantel_cause = ProtoField.uint8("fantel.cause", "Cause", base.DEC, fantel_cause_name)
local fantel_queue = ProtoField.uint8("fantel.queue", "Queue", base.DEC)
local fantel_level = ProtoField.uint8("fantel.level", "Congestion level", base.DEC)
local fantel_depth = ProtoField.uint32("fantel.depth", "Depth (packets or cells)", base.DEC)
local fantel_utilization = ProtoField.uint16("fantel.utilization", "Utilization (permille)", base.DEC)
local fantel_load = ProtoField.uint16("fantel.load", "Load (permille)", base.DEC)
fantel.fields = joined({
    fantel_version, fantel_type, fantel_code, fantel_parameter, fantel_tlv_type, fantel_tlv_version,
    fantel_tlv_length, fantel_node, fantel_link, fantel_epoch, fantel_sequence, fantel_path, fantel_cause,
    fantel_queue, fantel_level, fantel_depth, fantel_utilization, fantel_load,
}, fantel_five_tuple.all)

local fantel_malformed = ProtoExpert.new(
    "fantel.malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)
fantel.experts = { fantel_malformed }

local function permille_tlv(name, field, what)
    local function text(value)
        local permille = value(0, 2):uint()
        return permille <= PERMILLE and string.format("%s at %.1f %%", what, permille / 10) or nil
    end
    return { name = name, length = 4, fields = { { field, 0, 2 } }, text = text }
end

-- By type of TLV: its name, the octets of its value, the fields with offset and octets, and what the packet list says,
-- which is nil for a value that no sound message has.
local fantel_tlv = {
    {
        name = "Origin", length = 16,
        fields = {
            { fantel_node, 0, 4 }, { fantel_link, 4, 4 }, { fantel_epoch, 8, 4 }, { fantel_sequence, 12, 4 },
        },
        text = function(value)
            return string.format("node %d, link %d, message %d.%d", value(0, 4):uint(), value(4, 4):uint(),
                value(8, 4):uint(), value(12, 4):uint())
        end,
    },
    {
        name = "Path ID", length = 4, fields = { { fantel_path, 0, 4 } },
        text = function(value) return string.format("path %d", value(0, 4):uint()) end,
    },
    { name = "Five-tuple", text = function() return "five-tuple" end },
    {
        name = "Failure cause", length = 4, fields = { { fantel_cause, 0, 1 } },
        text = function(value)
            local cause = value(0, 1):uint()
            return fantel_cause_name[cause] or string.format("cause %d", cause)
        end,
    },
    {
        name = "Buffer status", length = 8,
        fields = { { fantel_queue, 0, 1 }, { fantel_level, 1, 1 }, { fantel_depth, 4, 4 } },
        text = function(value)
            local level = value(1, 1):uint()
            return level <= HIGHEST_LEVEL and string.format("queue %d at level %d", value(0, 1):uint(), level) or nil
        end,
    },
    permille_tlv("Link utilization", fantel_utilization, "link"),
    permille_tlv("Device load", fantel_load, "node"),
}

-- Shows the TLV of the type at the start of the octets. Its octets and its text, or nil and what is wrong.
local function add_fantel_tlv(tree, wanted, octets)
    local tlv = fantel_tlv[wanted]
    if octets:len() < TLV_HEADER_LENGTH then return nil, "it ends before " .. tlv.name end
    local length = octets(2, 2):uint()
    if octets(0, 1):uint() ~= wanted then return nil, "another TLV than " .. tlv.name end
    if octets(1, 1):uint() ~= 0 then return nil, "version of " .. tlv.name end
    if length == 0 or octets:len() < TLV_HEADER_LENGTH + length then return nil, "length of " .. tlv.name end
    local value = octets(TLV_HEADER_LENGTH, length)
    local ip_version = bit.rshift(value(0, 1):uint(), 4)
    local sound_length = wanted == FIVE_TUPLE and FIVE_TUPLE_LENGTH[ip_version] or tlv.length
    if length ~= sound_length then return nil, "length of " .. tlv.name end
    local text = tlv.text(value)
    if not text then return nil, "value of " .. tlv.name end
    local branch = tree:add(fantel_parameter, octets(0, TLV_HEADER_LENGTH + length))
    branch:set_text(tlv.name)
    branch:add(fantel_tlv_type, octets(0, 1))
    branch:add(fantel_tlv_version, octets(1, 1))
    branch:add(fantel_tlv_length, octets(2, 2))
    if wanted == FIVE_TUPLE then
        add_five_tuple(branch, fantel_five_tuple, value)
    else
        for _, field in ipairs(tlv.fields) do branch:add(field[1], value(field[2], field[3])) end
    end
    return TLV_HEADER_LENGTH + length, text
end

-- What is wrong with the message whose TLVs begin at an offset, or nil and what the packet list says.
local function add_fantel(tree, octets, at, version, event, code)
    tree:add(fantel_type, event)
    tree:add(fantel_version, version)
    tree:add(fantel_code, code)
    local text = fantel_type_name[event:uint()]
    if version:uint() ~= 0 then return "version" end
    if not text then return "type" end
    if code:uint() >= bit.lshift(1, FANTEL_PARAMETERS) then return "unknown bits of Code" end
    if bit.band(code:uint(), 1) == 0 then return "no origin" end
    for wanted = 1, FANTEL_PARAMETERS do
        if bit.band(code:uint(), bit.lshift(1, wanted - 1)) ~= 0 then
            if at == octets:len() then return "it ends before " .. fantel_tlv[wanted].name end
            local length, said = add_fantel_tlv(tree, wanted, octets(at))
            if not length then return said end
            at = at + length
            text = text .. ", " .. said
        end
    end
    if at < octets:len() then return "octets behind the parameters" end
    return nil, text
end

local function dissect_fantel(octets, packet, root, start, positions)
    packet.cols.protocol = "FANTEL"
    local tree = root:add(fantel, octets)
    if packet.caplen < packet.len then
        packet.cols.info = "FANTEL, cut short in the capture"
        return
    end
    local wrong, text = "header", nil
    if octets:len() >= start then
        local version, event, code = octets(positions[1], 1), octets(positions[2], 1), octets(positions[3], 1)
        wrong, text = add_fantel(tree, octets, start, version, event, code)
    end
    if wrong then
        tree:add_proto_expert_info(fantel_malformed, "Malformed: " .. wrong)
        packet.cols.info = string.format("Malformed FANTEL, %d octets", octets:len())
    else
        packet.cols.info = "FANTEL: " .. text
        tree:append_text(", " .. text)
    end
end

-- The last argument: where version, type and Code are.
dissect_udp_port(fantel, FANTEL_PORT, "FANTEL messages", function(buffer, packet, root)
    dissect_fantel(buffer(), packet, root, FANTEL_HEADER_LENGTH, { 0, 1, 2 })
    return buffer:len()
end)

-- Wireshark has no table of ICMPv6 types.
local fantel_icmpv6 = Proto("fantel_icmpv6", "FANTEL over ICMPv6")
local icmpv6_field = Field.new("icmpv6")
local icmpv6_type_field = Field.new("icmpv6.type")

function fantel_icmpv6.dissector(_, packet, root)
    -- The first one is the outermost; one inside it is quoted by an error message.
    local icmpv6, icmpv6_type = icmpv6_field(), icmpv6_type_field()
    if icmpv6 and icmpv6_type and icmpv6_type.value == FANTEL_ICMPV6_TYPE then
        dissect_fantel(icmpv6.range, packet, root, FANTEL_ICMPV6_LENGTH, { 5, 4, 1 })
    end
end

register_postdissector(fantel_icmpv6)

-- RoCEv2 CNP (IBTA annex A17.9): Wireshark's own dissector does not know the opcode ------------

local CNP_OPCODE = 0x81
local BTH_LENGTH = 12
local CNP_RESERVED_LENGTH = 16
local CNP_LENGTH = BTH_LENGTH + CNP_RESERVED_LENGTH + 4 -- ICRC

local cnp = Proto("roce_cnp", "RoCEv2 Congestion Notification Packet")

local cnp_qp = ProtoField.uint24("roce_cnp.qp", "Queue pair to slow down", base.HEX)
local cnp_p_key = ProtoField.uint16("roce_cnp.p_key", "Partition key", base.HEX)
local cnp_fecn = ProtoField.bool("roce_cnp.fecn", "FECN", 8, nil, 0x80)
local cnp_becn = ProtoField.bool("roce_cnp.becn", "BECN", 8, nil, 0x40)
local cnp_zeros = ProtoField.bytes("roce_cnp.reserved", "Reserved")
local cnp_icrc = ProtoField.uint32("roce_cnp.icrc", "ICRC", base.HEX)
cnp.fields = { cnp_qp, cnp_p_key, cnp_fecn, cnp_becn, cnp_zeros, cnp_icrc }

local cnp_bad_length = ProtoExpert.new(
    "roce_cnp.length.bad", "Malformed: a CNP is 32 octets behind the UDP header",
    expert.group.MALFORMED, expert.severity.ERROR)
local cnp_no_becn = ProtoExpert.new(
    "roce_cnp.becn.clear", "BECN is clear", expert.group.PROTOCOL, expert.severity.WARN)
local cnp_nonzero = ProtoExpert.new(
    "roce_cnp.reserved.set", "The 16 octets behind the BTH are not zero",
    expert.group.PROTOCOL, expert.severity.WARN)
cnp.experts = { cnp_bad_length, cnp_no_becn, cnp_nonzero }

local bth_field = Field.new("infiniband.bth")
local opcode_field = Field.new("infiniband.bth.opcode")
local udp_length_field = Field.new("udp.length")

local function dissect_cnp(payload, udp_length, packet, root)
    packet.cols.protocol = "RoCEv2 CNP"
    local tree = root:add(cnp, payload)
    if udp_length ~= CNP_LENGTH + 8 or payload:len() < CNP_LENGTH then
        tree:add_proto_expert_info(cnp_bad_length)
        packet.cols.info = "Malformed CNP"
        return
    end
    local qp = payload:range(5, 3)
    tree:add(cnp_qp, qp)
    tree:add(cnp_p_key, payload:range(2, 2))
    tree:add(cnp_fecn, payload:range(4, 1))
    local becn = tree:add(cnp_becn, payload:range(4, 1))
    if bit.band(payload:range(4, 1):uint(), 0x40) == 0 then
        becn:add_proto_expert_info(cnp_no_becn)
    end
    local zeros = payload:range(BTH_LENGTH, CNP_RESERVED_LENGTH)
    local zeros_tree = tree:add(cnp_zeros, zeros)
    if zeros:bytes() ~= ByteArray.new(string.rep("00", CNP_RESERVED_LENGTH)) then
        zeros_tree:add_proto_expert_info(cnp_nonzero)
    end
    tree:add_le(cnp_icrc, payload:range(CNP_LENGTH - 4, 4))
    packet.cols.info = string.format("CNP: slow down QP 0x%06x", qp:uint())
    tree:append_text(string.format(", slow down QP 0x%06x", qp:uint()))
end

function cnp.dissector(buffer, packet, root)
    -- A tunnelled packet has one set of fields per RoCEv2 header; the last one is the innermost.
    local bths, opcodes, lengths = { bth_field() }, { opcode_field() }, { udp_length_field() }
    local bth, opcode, udp_length = bths[#bths], opcodes[#opcodes], lengths[#lengths]
    if bth and udp_length and opcode.value == CNP_OPCODE then
        dissect_cnp(buffer(bth.offset), udp_length.value, packet, root)
    end
end

register_postdissector(cnp)
