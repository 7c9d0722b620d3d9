// Generated from ovn-sb.ovsschema by tools/generate/src/ovsdb/main.ts; do not edit.

/** A row of table ACL_ID. */
export interface AclId {
  readonly _uuid: string
  /** 0…32767 */
  readonly id: number
}

/** A row of table Address_Set. */
export interface AddressSet {
  readonly _uuid: string
  readonly addresses: readonly string[]
  readonly name: string
}

/** A row of table Advertised_Route. */
export interface AdvertisedRoute {
  readonly _uuid: string
  /** strong reference to Datapath_Binding */
  readonly datapath: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly ip_prefix: string
  /** strong reference to Port_Binding */
  readonly logical_port: string
  /** strong reference to Port_Binding */
  readonly tracked_port: string | undefined
}

/** A row of table BFD. */
export interface Bfd {
  readonly _uuid: string
  readonly chassis_name: string
  readonly detect_mult: number
  readonly disc: number
  readonly dst_ip: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly logical_port: string
  readonly min_rx: number
  readonly min_tx: number
  readonly options: Readonly<Record<string, string>>
  /** 49152…65535 */
  readonly src_port: number
  readonly status: 'down' | 'init' | 'up' | 'admin_down'
}

/** A row of table Chassis. */
export interface Chassis {
  readonly _uuid: string
  /** strong reference to Encap */
  readonly encaps: readonly string[]
  readonly external_ids: Readonly<Record<string, string>>
  readonly hostname: string
  readonly name: string
  readonly nb_cfg: number
  readonly other_config: Readonly<Record<string, string>>
  readonly transport_zones: readonly string[]
  readonly vtep_logical_switches: readonly string[]
}

/** A row of table Chassis_Private. */
export interface ChassisPrivate {
  readonly _uuid: string
  /** weak reference to Chassis */
  readonly chassis: string | undefined
  readonly external_ids: Readonly<Record<string, string>>
  readonly name: string
  readonly nb_cfg: number
  readonly nb_cfg_timestamp: number
}

/** A row of table Chassis_Template_Var. */
export interface ChassisTemplateVar {
  readonly _uuid: string
  readonly chassis: string
  readonly variables: Readonly<Record<string, string>>
}

/** A row of table Connection. */
export interface Connection {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly inactivity_probe: number | undefined
  readonly is_connected: boolean
  /** 1000… */
  readonly max_backoff: number | undefined
  readonly other_config: Readonly<Record<string, string>>
  readonly read_only: boolean
  readonly role: string
  readonly status: Readonly<Record<string, string>>
  readonly target: string
}

/** A row of table Controller_Event. */
export interface ControllerEvent {
  readonly _uuid: string
  /** weak reference to Chassis */
  readonly chassis: string | undefined
  readonly event_info: Readonly<Record<string, string>>
  readonly event_type: 'empty_lb_backends'
  readonly seq_num: number
}

/** A row of table DHCP_Options. */
export interface DhcpOptions {
  readonly _uuid: string
  /** 0…254 */
  readonly code: number
  readonly name: string
  readonly type:
    'bool' | 'uint8' | 'uint16' | 'uint32' | 'ipv4' | 'static_routes' | 'str' | 'host_id' | 'domains'
}

/** A row of table DHCPv6_Options. */
export interface DHCPv6Options {
  readonly _uuid: string
  /** 0…254 */
  readonly code: number
  readonly name: string
  readonly type: 'ipv6' | 'str' | 'mac' | 'domain'
}

/** A row of table DNS. */
export interface Dns {
  readonly _uuid: string
  /** strong reference to Datapath_Binding */
  readonly datapaths: readonly string[]
  readonly external_ids: Readonly<Record<string, string>>
  readonly options: Readonly<Record<string, string>>
  readonly records: Readonly<Record<string, string>>
}

/** A row of table Datapath_Binding. */
export interface DatapathBinding {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly load_balancers: readonly string[]
  /** 1…16777215 */
  readonly tunnel_key: number
}

/** A row of table ECMP_Nexthop. */
export interface EcmpNexthop {
  readonly _uuid: string
  /** strong reference to Datapath_Binding */
  readonly datapath: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly mac: string
  readonly nexthop: string
  /** strong reference to Port_Binding */
  readonly port: string
}

/** A row of table Encap. */
export interface Encap {
  readonly _uuid: string
  readonly chassis_name: string
  readonly ip: string
  readonly options: Readonly<Record<string, string>>
  readonly type: 'geneve' | 'stt' | 'vxlan'
}

/** A row of table FDB. */
export interface Fdb {
  readonly _uuid: string
  /** 1…16777215 */
  readonly dp_key: number
  readonly mac: string
  /** 1…16777215 */
  readonly port_key: number
  readonly timestamp: number
}

/** A row of table Gateway_Chassis. */
export interface GatewayChassis {
  readonly _uuid: string
  /** weak reference to Chassis */
  readonly chassis: string | undefined
  readonly external_ids: Readonly<Record<string, string>>
  readonly name: string
  readonly options: Readonly<Record<string, string>>
  /** 0…32767 */
  readonly priority: number
}

/** A row of table HA_Chassis. */
export interface HaChassis {
  readonly _uuid: string
  /** weak reference to Chassis */
  readonly chassis: string | undefined
  readonly external_ids: Readonly<Record<string, string>>
  /** 0…32767 */
  readonly priority: number
}

/** A row of table HA_Chassis_Group. */
export interface HaChassisGroup {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  /** strong reference to HA_Chassis */
  readonly ha_chassis: readonly string[]
  readonly name: string
  /** weak reference to Chassis */
  readonly ref_chassis: readonly string[]
}

/** A row of table IGMP_Group. */
export interface IgmpGroup {
  readonly _uuid: string
  readonly address: string
  /** weak reference to Chassis */
  readonly chassis: string | undefined
  readonly chassis_name: string
  /** weak reference to Datapath_Binding */
  readonly datapath: string | undefined
  /** weak reference to Port_Binding */
  readonly ports: readonly string[]
  readonly protocol: string
}

/** A row of table IP_Multicast. */
export interface IpMulticast {
  readonly _uuid: string
  /** weak reference to Datapath_Binding */
  readonly datapath: string
  readonly enabled: boolean | undefined
  readonly eth_src: string
  readonly idle_timeout: number | undefined
  readonly ip4_src: string
  readonly ip6_src: string
  readonly querier: boolean | undefined
  readonly query_interval: number | undefined
  readonly query_max_resp: number | undefined
  readonly seq_no: number
  readonly table_size: number | undefined
}

/** A row of table Learned_Route. */
export interface LearnedRoute {
  readonly _uuid: string
  /** strong reference to Datapath_Binding */
  readonly datapath: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly ip_prefix: string
  /** strong reference to Port_Binding */
  readonly logical_port: string
  readonly nexthop: string
}

/** A row of table Load_Balancer. */
export interface LoadBalancer {
  readonly _uuid: string
  /** strong reference to Logical_DP_Group */
  readonly datapath_group: string | undefined
  /** strong reference to Datapath_Binding */
  readonly datapaths: readonly string[]
  readonly external_ids: Readonly<Record<string, string>>
  /** strong reference to Logical_DP_Group */
  readonly lr_datapath_group: string | undefined
  /** strong reference to Logical_DP_Group */
  readonly ls_datapath_group: string | undefined
  readonly name: string
  readonly options: Readonly<Record<string, string>>
  readonly protocol: 'tcp' | 'udp' | 'sctp' | undefined
  readonly vips: Readonly<Record<string, string>>
}

/** A row of table Logical_DP_Group. */
export interface LogicalDpGroup {
  readonly _uuid: string
  /** weak reference to Datapath_Binding */
  readonly datapaths: readonly string[]
}

/** A row of table Logical_Flow. */
export interface LogicalFlow {
  readonly _uuid: string
  readonly actions: string
  readonly controller_meter: string | undefined
  readonly external_ids: Readonly<Record<string, string>>
  readonly flow_desc: string | undefined
  /** strong reference to Datapath_Binding */
  readonly logical_datapath: string | undefined
  /** strong reference to Logical_DP_Group */
  readonly logical_dp_group: string | undefined
  readonly match: string
  readonly pipeline: 'ingress' | 'egress'
  /** 0…65535 */
  readonly priority: number
  /** 0…32 */
  readonly table_id: number
  readonly tags: Readonly<Record<string, string>>
}

/** A row of table MAC_Binding. */
export interface MacBinding {
  readonly _uuid: string
  /** strong reference to Datapath_Binding */
  readonly datapath: string
  readonly ip: string
  readonly logical_port: string
  readonly mac: string
  readonly timestamp: number
}

/** A row of table Meter. */
export interface Meter {
  readonly _uuid: string
  /** strong reference to Meter_Band */
  readonly bands: readonly string[]
  readonly name: string
  readonly unit: 'kbps' | 'pktps'
}

/** A row of table Meter_Band. */
export interface MeterBand {
  readonly _uuid: string
  readonly action: 'drop'
  /** 0…4294967295 */
  readonly burst_size: number
  /** 1…4294967295 */
  readonly rate: number
}

/** A row of table Mirror. */
export interface Mirror {
  readonly _uuid: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly filter: 'from-lport' | 'to-lport' | 'both'
  readonly index: number
  readonly name: string
  readonly sink: string
  readonly type: 'gre' | 'erspan' | 'local'
}

/** A row of table Multicast_Group. */
export interface MulticastGroup {
  readonly _uuid: string
  /** strong reference to Datapath_Binding */
  readonly datapath: string
  readonly name: string
  /** weak reference to Port_Binding */
  readonly ports: readonly string[]
  /** 32768…65535 */
  readonly tunnel_key: number
}

/** A row of table Port_Binding. */
export interface PortBinding {
  readonly _uuid: string
  /** weak reference to Chassis */
  readonly additional_chassis: readonly string[]
  /** weak reference to Encap */
  readonly additional_encap: readonly string[]
  /** weak reference to Chassis */
  readonly chassis: string | undefined
  /** strong reference to Datapath_Binding */
  readonly datapath: string
  /** weak reference to Encap */
  readonly encap: string | undefined
  readonly external_ids: Readonly<Record<string, string>>
  /** strong reference to Gateway_Chassis */
  readonly gateway_chassis: readonly string[]
  /** strong reference to HA_Chassis_Group */
  readonly ha_chassis_group: string | undefined
  readonly logical_port: string
  readonly mac: readonly string[]
  /** weak reference to Mirror */
  readonly mirror_rules: readonly string[]
  readonly nat_addresses: readonly string[]
  readonly options: Readonly<Record<string, string>>
  readonly parent_port: string | undefined
  readonly port_security: readonly string[]
  /** weak reference to Chassis */
  readonly requested_additional_chassis: readonly string[]
  /** weak reference to Chassis */
  readonly requested_chassis: string | undefined
  /** 1…4095 */
  readonly tag: number | undefined
  /** 1…32767 */
  readonly tunnel_key: number
  readonly type: string
  readonly up: boolean | undefined
  readonly virtual_parent: string | undefined
}

/** A row of table Port_Group. */
export interface PortGroup {
  readonly _uuid: string
  readonly name: string
  readonly ports: readonly string[]
}

/** A row of table RBAC_Permission. */
export interface RbacPermission {
  readonly _uuid: string
  readonly authorization: readonly string[]
  readonly insert_delete: boolean
  readonly table: string
  readonly update: readonly string[]
}

/** A row of table RBAC_Role. */
export interface RbacRole {
  readonly _uuid: string
  readonly name: string
  /** value: weak reference to RBAC_Permission */
  readonly permissions: Readonly<Record<string, string>>
}

/** A row of table SB_Global. */
export interface SbGlobal {
  readonly _uuid: string
  /** strong reference to Connection */
  readonly connections: readonly string[]
  readonly external_ids: Readonly<Record<string, string>>
  readonly ipsec: boolean
  readonly nb_cfg: number
  readonly options: Readonly<Record<string, string>>
  /** strong reference to SSL */
  readonly ssl: string | undefined
}

/** A row of table SSL. */
export interface Ssl {
  readonly _uuid: string
  readonly bootstrap_ca_cert: boolean
  readonly ca_cert: string
  readonly certificate: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly private_key: string
  readonly ssl_ciphers: string
  readonly ssl_ciphersuites: string
  readonly ssl_protocols: string
}

/** A row of table Service_Monitor. */
export interface ServiceMonitor {
  readonly _uuid: string
  readonly chassis_name: string
  readonly external_ids: Readonly<Record<string, string>>
  readonly ip: string
  readonly logical_port: string
  readonly options: Readonly<Record<string, string>>
  /** 0…65535 */
  readonly port: number
  readonly protocol: 'tcp' | 'udp' | undefined
  readonly src_ip: string
  readonly src_mac: string
  readonly status: 'online' | 'offline' | 'error' | undefined
}

/** A row of table Static_MAC_Binding. */
export interface StaticMacBinding {
  readonly _uuid: string
  /** strong reference to Datapath_Binding */
  readonly datapath: string
  readonly ip: string
  readonly logical_port: string
  readonly mac: string
  readonly override_dynamic_mac: boolean
}

/** Row types of database OVN_Southbound (schema version 20.41.0) by table. */
export type OvnSouthbound = {
  readonly ACL_ID: AclId
  readonly Address_Set: AddressSet
  readonly Advertised_Route: AdvertisedRoute
  readonly BFD: Bfd
  readonly Chassis: Chassis
  readonly Chassis_Private: ChassisPrivate
  readonly Chassis_Template_Var: ChassisTemplateVar
  readonly Connection: Connection
  readonly Controller_Event: ControllerEvent
  readonly DHCP_Options: DhcpOptions
  readonly DHCPv6_Options: DHCPv6Options
  readonly DNS: Dns
  readonly Datapath_Binding: DatapathBinding
  readonly ECMP_Nexthop: EcmpNexthop
  readonly Encap: Encap
  readonly FDB: Fdb
  readonly Gateway_Chassis: GatewayChassis
  readonly HA_Chassis: HaChassis
  readonly HA_Chassis_Group: HaChassisGroup
  readonly IGMP_Group: IgmpGroup
  readonly IP_Multicast: IpMulticast
  readonly Learned_Route: LearnedRoute
  readonly Load_Balancer: LoadBalancer
  readonly Logical_DP_Group: LogicalDpGroup
  readonly Logical_Flow: LogicalFlow
  readonly MAC_Binding: MacBinding
  readonly Meter: Meter
  readonly Meter_Band: MeterBand
  readonly Mirror: Mirror
  readonly Multicast_Group: MulticastGroup
  readonly Port_Binding: PortBinding
  readonly Port_Group: PortGroup
  readonly RBAC_Permission: RbacPermission
  readonly RBAC_Role: RbacRole
  readonly SB_Global: SbGlobal
  readonly SSL: Ssl
  readonly Service_Monitor: ServiceMonitor
  readonly Static_MAC_Binding: StaticMacBinding
}

/** The schema of database OVN_Southbound as its .ovsschema file has it. */
export const ovnSouthboundSchema = {
  name: 'OVN_Southbound',
  version: '20.41.0',
  tables: {
    SB_Global: {
      columns: {
        nb_cfg: { type: { key: 'integer' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        connections: { type: { key: { type: 'uuid', refTable: 'Connection' }, min: 0, max: 'unlimited' } },
        ssl: { type: { key: { type: 'uuid', refTable: 'SSL' }, min: 0, max: 1 } },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        ipsec: { type: 'boolean' },
      },
      maxRows: 1,
      isRoot: true,
    },
    Chassis: {
      columns: {
        name: { type: 'string' },
        hostname: { type: 'string' },
        encaps: { type: { key: { type: 'uuid', refTable: 'Encap' }, min: 1, max: 'unlimited' } },
        vtep_logical_switches: { type: { key: 'string', min: 0, max: 'unlimited' } },
        nb_cfg: { type: { key: 'integer' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        other_config: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        transport_zones: { type: { key: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: true,
      indexes: [['name']],
    },
    Chassis_Private: {
      columns: {
        name: { type: 'string' },
        chassis: { type: { key: { type: 'uuid', refTable: 'Chassis', refType: 'weak' }, min: 0, max: 1 } },
        nb_cfg: { type: { key: 'integer' } },
        nb_cfg_timestamp: { type: { key: 'integer' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: true,
      indexes: [['name']],
    },
    Encap: {
      columns: {
        type: { type: { key: { type: 'string', enum: ['set', ['geneve', 'stt', 'vxlan']] } } },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        ip: { type: 'string' },
        chassis_name: { type: 'string' },
      },
      indexes: [['type', 'ip']],
    },
    Address_Set: {
      columns: { name: { type: 'string' }, addresses: { type: { key: 'string', min: 0, max: 'unlimited' } } },
      indexes: [['name']],
      isRoot: true,
    },
    Port_Group: {
      columns: { name: { type: 'string' }, ports: { type: { key: 'string', min: 0, max: 'unlimited' } } },
      indexes: [['name']],
      isRoot: true,
    },
    Logical_Flow: {
      columns: {
        logical_datapath: { type: { key: { type: 'uuid', refTable: 'Datapath_Binding' }, min: 0, max: 1 } },
        logical_dp_group: { type: { key: { type: 'uuid', refTable: 'Logical_DP_Group' }, min: 0, max: 1 } },
        pipeline: { type: { key: { type: 'string', enum: ['set', ['ingress', 'egress']] } } },
        table_id: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 32 } } },
        priority: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 65535 } } },
        match: { type: 'string' },
        actions: { type: 'string' },
        tags: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        controller_meter: { type: { key: { type: 'string' }, min: 0, max: 1 } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        flow_desc: { type: { key: { type: 'string' }, min: 0, max: 1 } },
      },
      isRoot: true,
    },
    Logical_DP_Group: {
      columns: {
        datapaths: {
          type: {
            key: { type: 'uuid', refTable: 'Datapath_Binding', refType: 'weak' },
            min: 0,
            max: 'unlimited',
          },
        },
      },
      isRoot: false,
    },
    Multicast_Group: {
      columns: {
        datapath: { type: { key: { type: 'uuid', refTable: 'Datapath_Binding' } } },
        name: { type: 'string' },
        tunnel_key: { type: { key: { type: 'integer', minInteger: 32768, maxInteger: 65535 } } },
        ports: {
          type: {
            key: { type: 'uuid', refTable: 'Port_Binding', refType: 'weak' },
            min: 0,
            max: 'unlimited',
          },
        },
      },
      indexes: [
        ['datapath', 'tunnel_key'],
        ['datapath', 'name'],
      ],
      isRoot: true,
    },
    Mirror: {
      columns: {
        name: { type: 'string' },
        filter: { type: { key: { type: 'string', enum: ['set', ['from-lport', 'to-lport', 'both']] } } },
        sink: { type: 'string' },
        type: { type: { key: { type: 'string', enum: ['set', ['gre', 'erspan', 'local']] } } },
        index: { type: 'integer' },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['name']],
      isRoot: true,
    },
    Meter: {
      columns: {
        name: { type: 'string' },
        unit: { type: { key: { type: 'string', enum: ['set', ['kbps', 'pktps']] } } },
        bands: {
          type: {
            key: { type: 'uuid', refTable: 'Meter_Band', refType: 'strong' },
            min: 1,
            max: 'unlimited',
          },
        },
      },
      indexes: [['name']],
      isRoot: true,
    },
    Meter_Band: {
      columns: {
        action: { type: { key: { type: 'string', enum: ['set', ['drop']] } } },
        rate: { type: { key: { type: 'integer', minInteger: 1, maxInteger: 4294967295 } } },
        burst_size: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 4294967295 } } },
      },
      isRoot: false,
    },
    Datapath_Binding: {
      columns: {
        tunnel_key: { type: { key: { type: 'integer', minInteger: 1, maxInteger: 16777215 } } },
        load_balancers: { type: { key: { type: 'uuid' }, min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['tunnel_key']],
      isRoot: true,
    },
    Port_Binding: {
      columns: {
        logical_port: { type: 'string' },
        type: { type: 'string' },
        gateway_chassis: {
          type: {
            key: { type: 'uuid', refTable: 'Gateway_Chassis', refType: 'strong' },
            min: 0,
            max: 'unlimited',
          },
        },
        ha_chassis_group: {
          type: { key: { type: 'uuid', refTable: 'HA_Chassis_Group', refType: 'strong' }, min: 0, max: 1 },
        },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        datapath: { type: { key: { type: 'uuid', refTable: 'Datapath_Binding' } } },
        tunnel_key: { type: { key: { type: 'integer', minInteger: 1, maxInteger: 32767 } } },
        parent_port: { type: { key: 'string', min: 0, max: 1 } },
        tag: { type: { key: { type: 'integer', minInteger: 1, maxInteger: 4095 }, min: 0, max: 1 } },
        virtual_parent: { type: { key: 'string', min: 0, max: 1 } },
        chassis: { type: { key: { type: 'uuid', refTable: 'Chassis', refType: 'weak' }, min: 0, max: 1 } },
        additional_chassis: {
          type: { key: { type: 'uuid', refTable: 'Chassis', refType: 'weak' }, min: 0, max: 'unlimited' },
        },
        encap: { type: { key: { type: 'uuid', refTable: 'Encap', refType: 'weak' }, min: 0, max: 1 } },
        additional_encap: {
          type: { key: { type: 'uuid', refTable: 'Encap', refType: 'weak' }, min: 0, max: 'unlimited' },
        },
        mirror_rules: {
          type: { key: { type: 'uuid', refTable: 'Mirror', refType: 'weak' }, min: 0, max: 'unlimited' },
        },
        mac: { type: { key: 'string', min: 0, max: 'unlimited' } },
        port_security: { type: { key: 'string', min: 0, max: 'unlimited' } },
        nat_addresses: { type: { key: 'string', min: 0, max: 'unlimited' } },
        up: { type: { key: 'boolean', min: 0, max: 1 } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        requested_chassis: {
          type: { key: { type: 'uuid', refTable: 'Chassis', refType: 'weak' }, min: 0, max: 1 },
        },
        requested_additional_chassis: {
          type: { key: { type: 'uuid', refTable: 'Chassis', refType: 'weak' }, min: 0, max: 'unlimited' },
        },
      },
      indexes: [['datapath', 'tunnel_key'], ['logical_port']],
      isRoot: true,
    },
    MAC_Binding: {
      columns: {
        logical_port: { type: 'string' },
        ip: { type: 'string' },
        mac: { type: 'string' },
        timestamp: { type: { key: 'integer' } },
        datapath: { type: { key: { type: 'uuid', refTable: 'Datapath_Binding' } } },
      },
      indexes: [['logical_port', 'ip']],
      isRoot: true,
    },
    DHCP_Options: {
      columns: {
        name: { type: 'string' },
        code: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 254 } } },
        type: {
          type: {
            key: {
              type: 'string',
              enum: [
                'set',
                ['bool', 'uint8', 'uint16', 'uint32', 'ipv4', 'static_routes', 'str', 'host_id', 'domains'],
              ],
            },
          },
        },
      },
      isRoot: true,
    },
    DHCPv6_Options: {
      columns: {
        name: { type: 'string' },
        code: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 254 } } },
        type: { type: { key: { type: 'string', enum: ['set', ['ipv6', 'str', 'mac', 'domain']] } } },
      },
      isRoot: true,
    },
    Connection: {
      columns: {
        target: { type: 'string' },
        max_backoff: { type: { key: { type: 'integer', minInteger: 1000 }, min: 0, max: 1 } },
        inactivity_probe: { type: { key: 'integer', min: 0, max: 1 } },
        read_only: { type: 'boolean' },
        role: { type: 'string' },
        other_config: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        is_connected: { type: 'boolean', ephemeral: true },
        status: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' }, ephemeral: true },
      },
      indexes: [['target']],
    },
    SSL: {
      columns: {
        private_key: { type: 'string' },
        certificate: { type: 'string' },
        ca_cert: { type: 'string' },
        bootstrap_ca_cert: { type: 'boolean' },
        ssl_protocols: { type: 'string' },
        ssl_ciphers: { type: 'string' },
        ssl_ciphersuites: { type: 'string' },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      maxRows: 1,
    },
    DNS: {
      columns: {
        records: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        datapaths: {
          type: { key: { type: 'uuid', refTable: 'Datapath_Binding' }, min: 1, max: 'unlimited' },
        },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: true,
    },
    RBAC_Role: {
      columns: {
        name: { type: 'string' },
        permissions: {
          type: {
            key: { type: 'string' },
            value: { type: 'uuid', refTable: 'RBAC_Permission', refType: 'weak' },
            min: 0,
            max: 'unlimited',
          },
        },
      },
      isRoot: true,
    },
    RBAC_Permission: {
      columns: {
        table: { type: 'string' },
        authorization: { type: { key: 'string', min: 0, max: 'unlimited' } },
        insert_delete: { type: 'boolean' },
        update: { type: { key: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: true,
    },
    Gateway_Chassis: {
      columns: {
        name: { type: 'string' },
        chassis: { type: { key: { type: 'uuid', refTable: 'Chassis', refType: 'weak' }, min: 0, max: 1 } },
        priority: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 32767 } } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['name']],
      isRoot: false,
    },
    HA_Chassis: {
      columns: {
        chassis: { type: { key: { type: 'uuid', refTable: 'Chassis', refType: 'weak' }, min: 0, max: 1 } },
        priority: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 32767 } } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: false,
    },
    HA_Chassis_Group: {
      columns: {
        name: { type: 'string' },
        ha_chassis: {
          type: {
            key: { type: 'uuid', refTable: 'HA_Chassis', refType: 'strong' },
            min: 0,
            max: 'unlimited',
          },
        },
        ref_chassis: {
          type: { key: { type: 'uuid', refTable: 'Chassis', refType: 'weak' }, min: 0, max: 'unlimited' },
        },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['name']],
      isRoot: true,
    },
    Controller_Event: {
      columns: {
        event_type: { type: { key: { type: 'string', enum: ['set', ['empty_lb_backends']] } } },
        event_info: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        chassis: { type: { key: { type: 'uuid', refTable: 'Chassis', refType: 'weak' }, min: 0, max: 1 } },
        seq_num: { type: { key: 'integer' } },
      },
      isRoot: true,
    },
    IP_Multicast: {
      columns: {
        datapath: { type: { key: { type: 'uuid', refTable: 'Datapath_Binding', refType: 'weak' } } },
        enabled: { type: { key: 'boolean', min: 0, max: 1 } },
        querier: { type: { key: 'boolean', min: 0, max: 1 } },
        eth_src: { type: 'string' },
        ip4_src: { type: 'string' },
        ip6_src: { type: 'string' },
        table_size: { type: { key: 'integer', min: 0, max: 1 } },
        idle_timeout: { type: { key: 'integer', min: 0, max: 1 } },
        query_interval: { type: { key: 'integer', min: 0, max: 1 } },
        query_max_resp: { type: { key: 'integer', min: 0, max: 1 } },
        seq_no: { type: 'integer' },
      },
      indexes: [['datapath']],
      isRoot: true,
    },
    IGMP_Group: {
      columns: {
        address: { type: 'string' },
        protocol: { type: 'string' },
        datapath: {
          type: { key: { type: 'uuid', refTable: 'Datapath_Binding', refType: 'weak' }, min: 0, max: 1 },
        },
        chassis: { type: { key: { type: 'uuid', refTable: 'Chassis', refType: 'weak' }, min: 0, max: 1 } },
        ports: {
          type: {
            key: { type: 'uuid', refTable: 'Port_Binding', refType: 'weak' },
            min: 0,
            max: 'unlimited',
          },
        },
        chassis_name: { type: 'string' },
      },
      indexes: [['address', 'datapath', 'chassis']],
      isRoot: true,
    },
    Service_Monitor: {
      columns: {
        ip: { type: 'string' },
        protocol: { type: { key: { type: 'string', enum: ['set', ['tcp', 'udp']] }, min: 0, max: 1 } },
        port: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 65535 } } },
        logical_port: { type: 'string' },
        src_mac: { type: 'string' },
        src_ip: { type: 'string' },
        chassis_name: { type: 'string' },
        status: {
          type: { key: { type: 'string', enum: ['set', ['online', 'offline', 'error']] }, min: 0, max: 1 },
        },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['logical_port', 'ip', 'port', 'protocol']],
      isRoot: true,
    },
    Load_Balancer: {
      columns: {
        name: { type: 'string' },
        vips: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        protocol: {
          type: { key: { type: 'string', enum: ['set', ['tcp', 'udp', 'sctp']] }, min: 0, max: 1 },
        },
        datapaths: {
          type: { key: { type: 'uuid', refTable: 'Datapath_Binding' }, min: 0, max: 'unlimited' },
        },
        datapath_group: { type: { key: { type: 'uuid', refTable: 'Logical_DP_Group' }, min: 0, max: 1 } },
        ls_datapath_group: { type: { key: { type: 'uuid', refTable: 'Logical_DP_Group' }, min: 0, max: 1 } },
        lr_datapath_group: { type: { key: { type: 'uuid', refTable: 'Logical_DP_Group' }, min: 0, max: 1 } },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      isRoot: true,
    },
    BFD: {
      columns: {
        src_port: { type: { key: { type: 'integer', minInteger: 49152, maxInteger: 65535 } } },
        disc: { type: { key: { type: 'integer' } } },
        logical_port: { type: 'string' },
        dst_ip: { type: 'string' },
        min_tx: { type: { key: { type: 'integer' } } },
        min_rx: { type: { key: { type: 'integer' } } },
        detect_mult: { type: { key: { type: 'integer' } } },
        status: { type: { key: { type: 'string', enum: ['set', ['down', 'init', 'up', 'admin_down']] } } },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        options: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
        chassis_name: { type: 'string' },
      },
      indexes: [['logical_port', 'dst_ip', 'src_port', 'disc']],
      isRoot: true,
    },
    FDB: {
      columns: {
        mac: { type: 'string' },
        dp_key: { type: { key: { type: 'integer', minInteger: 1, maxInteger: 16777215 } } },
        port_key: { type: { key: { type: 'integer', minInteger: 1, maxInteger: 16777215 } } },
        timestamp: { type: { key: 'integer' } },
      },
      indexes: [['mac', 'dp_key']],
      isRoot: true,
    },
    Static_MAC_Binding: {
      columns: {
        logical_port: { type: 'string' },
        ip: { type: 'string' },
        mac: { type: 'string' },
        override_dynamic_mac: { type: 'boolean' },
        datapath: { type: { key: { type: 'uuid', refTable: 'Datapath_Binding' } } },
      },
      indexes: [['logical_port', 'ip']],
      isRoot: true,
    },
    ECMP_Nexthop: {
      columns: {
        nexthop: { type: 'string' },
        port: {
          type: { key: { type: 'uuid', refTable: 'Port_Binding', refType: 'strong' }, min: 1, max: 1 },
        },
        datapath: {
          type: { key: { type: 'uuid', refTable: 'Datapath_Binding', refType: 'strong' }, min: 1, max: 1 },
        },
        mac: { type: 'string' },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['nexthop', 'port']],
      isRoot: true,
    },
    Chassis_Template_Var: {
      columns: {
        chassis: { type: 'string' },
        variables: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['chassis']],
      isRoot: true,
    },
    Advertised_Route: {
      columns: {
        datapath: { type: { key: { type: 'uuid', refTable: 'Datapath_Binding', refType: 'strong' } } },
        logical_port: { type: { key: { type: 'uuid', refTable: 'Port_Binding', refType: 'strong' } } },
        ip_prefix: { type: 'string' },
        tracked_port: {
          type: { key: { type: 'uuid', refTable: 'Port_Binding', refType: 'strong' }, min: 0, max: 1 },
        },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['datapath', 'logical_port', 'ip_prefix', 'tracked_port']],
      isRoot: true,
    },
    Learned_Route: {
      columns: {
        datapath: { type: { key: { type: 'uuid', refTable: 'Datapath_Binding', refType: 'strong' } } },
        logical_port: { type: { key: { type: 'uuid', refTable: 'Port_Binding', refType: 'strong' } } },
        ip_prefix: { type: 'string' },
        nexthop: { type: 'string' },
        external_ids: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
      indexes: [['datapath', 'logical_port', 'ip_prefix', 'nexthop']],
      isRoot: true,
    },
    ACL_ID: {
      columns: { id: { type: { key: { type: 'integer', minInteger: 0, maxInteger: 32767 } } } },
      isRoot: true,
    },
  },
} as const
