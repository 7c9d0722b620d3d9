/** The type and the labels of a metric of Kube-OVN 1.17, by its name. */
export type UpstreamMetrics = Readonly<
  Record<string, readonly ['counter' | 'gauge' | 'histogram', ...string[]]>
>

const queue = ['name', 'controller'] as const
/** What its dashboards show of every process; the others of `process_*` are there as well, `go_*` is Go's own. */
const ofProcess = {
  process_resident_memory_bytes: ['gauge'],
  process_cpu_seconds_total: ['counter'],
} as const
const logs = { klog_lines_total: ['gauge', 'level'], klog_bytes_total: ['gauge', 'level'] } as const
/** What client-go and the client of OVSDB show, in controller and agent. */
const clients = {
  ovs_client_request_latency_milliseconds: ['histogram', 'db', 'method', 'code'],
  rest_client_request_latency_seconds: ['histogram', 'verb', 'url'],
  rest_client_requests_total: ['counter', 'code', 'method', 'host'],
  workqueue_depth: ['gauge', ...queue, 'priority'],
  workqueue_adds_total: ['counter', ...queue],
  workqueue_retries_total: ['counter', ...queue],
  workqueue_queue_duration_seconds: ['histogram', ...queue],
  workqueue_work_duration_seconds: ['histogram', ...queue],
  workqueue_unfinished_work_seconds: ['gauge', ...queue],
  workqueue_longest_running_processor_seconds: ['gauge', ...queue],
} as const

const pingSource = ['src_node_name', 'src_node_ip', 'src_pod_ip'] as const
const pingedNode = [...pingSource, 'target_node_name', 'target_node_ip'] as const
const pingedPod = [...pingedNode, 'target_pod_ip'] as const
const datapath = ['hostname', 'datapath'] as const
const port = ['hostname', 'interfaceName'] as const
const member = ['hostname', 'db_name', 'server_id', 'cluster_id'] as const
const logicalSwitch = ['hostname', 'uuid', 'logical_switch_name'] as const
const subnet = ['subnet_name', 'protocol', 'subnet_cidr'] as const
const gatewayPackets = ['hostname', 'subnet_name', 'cidr', 'direction', 'protocol'] as const
const peer = ['node', 'peer', 'peer_asn'] as const

/** All with the same type and labels. */
function each(names: readonly string[], ...metric: UpstreamMetrics[string]): UpstreamMetrics {
  return Object.fromEntries(names.map((name) => [name, metric]))
}

function prefixed(
  prefix: string,
  names: readonly string[],
  ...metric: UpstreamMetrics[string]
): UpstreamMetrics {
  return each(
    names.map((name) => `${prefix}${name}`),
    ...metric,
  )
}

/** What dashboards and alerts of Kube-OVN 1.17 may ask for, by component. */
export const upstreamMetrics = {
  controller: {
    ...ofProcess,
    ...clients,
    ...logs,
    leader_election_master_status: ['gauge', 'name'],
    ...each(['subnet_available_ip_count', 'subnet_used_ip_count'], 'gauge', ...subnet),
    centralized_subnet_info: [
      'gauge',
      ...['subnet_name', 'enable_ecmp', 'gateway_node', 'active_gateway', 'match', 'nexthops'],
    ],
    subnet_ipam_info: ['gauge', 'subnet_name', 'cidr', 'free', 'reserved', 'available', 'using'],
    subnet_ip_assign_info: ['gauge', 'subnet_name', 'ip', 'pod_name'],
  },
  agent: {
    ...ofProcess,
    ...clients,
    ...logs,
    cni_op_latency_seconds: ['histogram', 'node_name', 'method', 'status_code'],
    ...prefixed(
      'cni_wait_',
      ['address', 'route', 'connectivity'].map((what) => `${what}_seconds_total`),
      'counter',
      'node_name',
    ),
    ...each(['ovn_subnet_gateway_packets', 'ovn_subnet_gateway_packet_bytes'], 'counter', ...gatewayPackets),
    ip_local_port_range: ['gauge', 'hostname', 'start', 'end'],
    dns_search_domain: ['gauge', 'hostname', 'additional'],
    tcp_mem: ['gauge', 'hostname', 'minimum', 'pressure', 'maximum'],
    ...each(
      [
        ...['checksum_err_count', 'tcp_tw_recycle', 'tcp_mtu_probing', 'nf_conntrack_tcp_be_liberal'],
        ...['bridge_nf_call_iptables', 'max_size'],
      ],
      ...(['gauge', 'hostname'] as const),
    ),
  },
  pinger: {
    ...ofProcess,
    ...logs,
    ...prefixed(
      'pinger_',
      [
        ...['ovs_up', 'ovs_down', 'ovn_controller_up', 'ovn_controller_down', 'inconsistent_port_binding'],
        ...['apiserver', 'internal_dns', 'external_dns'].flatMap((what) => [
          `${what}_healthy`,
          `${what}_unhealthy`,
        ]),
      ],
      ...(['gauge', 'nodeName'] as const),
    ),
    ...prefixed(
      'pinger_',
      ['apiserver_latency_ms', 'internal_dns_latency_ms', 'external_dns_latency_ms'],
      ...(['histogram', 'nodeName'] as const),
    ),
    pinger_pod_ping_latency_ms: ['histogram', ...pingedPod],
    ...prefixed('pinger_pod_ping_', ['lost_total', 'count_total'], 'counter', ...pingedPod),
    pinger_node_ping_latency_ms: ['histogram', ...pingedNode],
    ...prefixed('pinger_node_ping_', ['lost_total', 'count_total'], 'counter', ...pingedNode),
    pinger_external_ping_latency_ms: ['histogram', ...pingSource, 'target_address'],
    pinger_external_ping_lost_total: ['counter', ...pingSource, 'target_address'],
    kube_ovn_ovs_status: ['gauge', 'hostname', 'component'],
    kube_ovn_ovs_info: [
      'gauge',
      ...['system_id', 'rundir', 'hostname', 'system_type', 'system_version', 'ovs_version', 'db_version'],
    ],
    kube_ovn_failed_req_count: ['gauge', 'hostname'],
    kube_ovn_log_file_size_bytes: ['gauge', 'hostname', 'component', 'filename'],
    kube_ovn_db_file_size_bytes: ['gauge', 'hostname', 'db_name'],
    kube_ovn_datapath: ['gauge', ...datapath, 'type'],
    kube_ovn_dp_total: ['gauge', 'hostname'],
    kube_ovn_dp_if: ['gauge', ...datapath, 'port', 'type', 'ofPort'],
    ...prefixed(
      'kube_ovn_dp_',
      [
        ...['if_total', 'flows_total', 'flows_lookup_hit', 'flows_lookup_missed', 'flows_lookup_lost'],
        ...['masks_hit', 'masks_total', 'masks_hit_ratio'],
      ],
      ...(['gauge', ...datapath] as const),
    ),
    kube_ovn_interface: ['gauge', 'hostname', 'uuid', 'interfaceName'],
    kube_ovn_interface_mac_in_use: ['gauge', ...port, 'mac_address'],
    ...prefixed(
      'kube_ovn_interface_',
      ['admin_state', 'link_state', 'mtu', 'of_port', 'if_index'],
      ...(['gauge', ...port] as const),
    ),
    ...prefixed(
      'kube_ovn_interface_',
      [
        ...['tx_packets', 'tx_bytes', 'rx_packets', 'rx_bytes', 'rx_crc_err', 'rx_dropped', 'rx_errors'],
        ...['rx_frame_err', 'rx_missed_err', 'rx_over_err', 'tx_dropped', 'tx_errors', 'collisions'],
        'rx_multicast_packets',
      ],
      ...(['gauge', ...port, 'pod_name', 'pod_namespace'] as const),
    ),
  },
  monitor: {
    ...ofProcess,
    kube_ovn_ovn_status: ['gauge', 'hostname', 'component'],
    kube_ovn_ovn_status_content: ['gauge', 'hostname', 'component', 'status'],
    kube_ovn_failed_req_count: ['gauge', 'hostname'],
    kube_ovn_log_file_size_bytes: ['gauge', 'hostname', 'component', 'filename'],
    ...prefixed(
      'kube_ovn_',
      ['db_file_size_bytes', 'db_status', 'cluster_enabled'],
      ...(['gauge', 'hostname', 'db_name'] as const),
    ),
    kube_ovn_chassis_info: ['gauge', 'hostname', 'uuid', 'name', 'ip'],
    kube_ovn_logical_switch_info: ['gauge', 'hostname', 'uuid', 'name'],
    kube_ovn_logical_switch_external_id: ['gauge', ...logicalSwitch, 'key', 'value'],
    kube_ovn_logical_switch_port_binding: ['gauge', ...logicalSwitch, 'port'],
    ...prefixed('kube_ovn_logical_switch_', ['tunnel_key', 'ports_num'], 'gauge', ...logicalSwitch),
    kube_ovn_logical_switch_port_info: [
      ...(['gauge', ...logicalSwitch, 'name', 'chassis', 'datapath', 'port_binding'] as const),
      ...['mac_address', 'ip_address'],
    ],
    kube_ovn_logical_switch_port_tunnel_key: ['gauge', ...logicalSwitch, 'port_name'],
    kube_ovn_cluster_role: ['gauge', ...member, 'server_role'],
    kube_ovn_cluster_status: ['gauge', ...member, 'server_status'],
    ...prefixed(
      'kube_ovn_cluster_',
      [
        ...['term', 'leader_self', 'vote_self', 'election_timer', 'log_not_committed', 'log_not_applied'],
        ...['log_index_start', 'log_index_next', 'peer_count', 'next_index', 'match_index'],
        ...['inbound_connections_total', 'outbound_connections_total'],
        ...['inbound_connections_error_total', 'outbound_connections_error_total'],
      ],
      ...(['gauge', ...member] as const),
    ),
    ...prefixed(
      'kube_ovn_cluster_',
      ['inbound_peer_connected', 'outbound_peer_connected'],
      ...(['gauge', ...member, 'peer_id', 'peer_address'] as const),
    ),
    ...prefixed('kube_ovn_cluster_', ['peer_next_index', 'peer_match_index'], 'gauge', ...member, 'peer_id'),
  },
  speaker: {
    ...ofProcess,
    ...logs,
    ...prefixed(
      'kube_ovn_speaker_bgp_peer_',
      ['up', 'session_state', 'flap_count', 'out_queue'],
      ...(['gauge', ...peer] as const),
    ),
    ...prefixed(
      'kube_ovn_speaker_bgp_peer_',
      ['received_messages', 'sent_messages'],
      ...(['gauge', 'node', 'peer', 'type'] as const),
    ),
    ...prefixed(
      'kube_ovn_speaker_bfd_server_',
      ['received_packets', 'received_drop', 'received_error', 'invalid_packet', 'unknown_peer'],
      ...(['gauge', 'node'] as const),
    ),
    ...prefixed(
      'kube_ovn_speaker_bfd_peer_',
      [
        ...['up', 'session_state', 'remote_session_state', 'failure_transitions'],
        ...['transmitted_packets', 'received_packets'],
      ],
      ...(['gauge', 'node', 'peer'] as const),
    ),
  },
} as const satisfies Readonly<Record<string, UpstreamMetrics>>

/** So many limits of buckets, each `factor` times the one before it. */
function exponential(first: number, factor: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) => first * factor ** n)
}

const requestSeconds = exponential(0.001, 2, 10)
const queueSeconds = exponential(1e-8, 10, 12)
const answerMs = [2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50]
const pingMs = [0.25, 0.5, 1, 2, 5, 10, 30]

/** The limits of the buckets of its histograms, whoever shows them. */
export const upstreamBuckets: Readonly<Record<string, readonly number[]>> = {
  ovs_client_request_latency_milliseconds: exponential(1, 2, 10),
  rest_client_request_latency_seconds: requestSeconds,
  workqueue_queue_duration_seconds: queueSeconds,
  workqueue_work_duration_seconds: queueSeconds,
  cni_op_latency_seconds: requestSeconds,
  pinger_apiserver_latency_ms: answerMs,
  pinger_internal_dns_latency_ms: answerMs,
  pinger_external_dns_latency_ms: answerMs,
  pinger_pod_ping_latency_ms: pingMs,
  pinger_node_ping_latency_ms: pingMs,
  pinger_external_ping_latency_ms: [...pingMs, 50, 100],
}
