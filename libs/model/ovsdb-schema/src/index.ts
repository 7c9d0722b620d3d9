export { ovnNorthboundSchema, type OvnNorthbound } from './generated/ovn-northbound.ts'
export { ovnSouthboundSchema, type OvnSouthbound } from './generated/ovn-southbound.ts'
export { openVswitchSchema, type OpenVswitch } from './generated/open-vswitch.ts'
