/** What a panel of Kube-OVN 1.17 is about, and the panels of ours that show that. */
interface UpstreamPanel {
  /** As upstream's panels call it, or several that differ in one word. */
  readonly about: string
  /** What its main query asks for, as far as that is known; ours asks for the same, where `instead` does not say for what. */
  readonly asks: readonly string[]
  /** Titles of ours; none where there is no such panel. */
  readonly ours: readonly string[]
  /** What ours asks for, or why there is none. */
  readonly instead?: readonly string[] | string
}

interface UpstreamDashboard {
  readonly title: string
  readonly uid: string
  readonly panels: readonly UpstreamPanel[]
}

const up: UpstreamPanel = { about: 'Up', asks: ['up'], ours: ['Up'] }
const errorLog: UpstreamPanel = {
  about: 'Error Log in 10 Minutes',
  asks: ['klog_lines_total'],
  ours: ['Errors in the log in 10 minutes'],
}
const processes: readonly UpstreamPanel[] = [
  { about: 'Memory', asks: ['process_resident_memory_bytes'], ours: ['Memory'] },
  { about: 'CPU', asks: ['process_cpu_seconds_total'], ours: ['Processor'] },
  {
    about: 'Goroutine',
    asks: ['go_goroutines'],
    ours: ['Delay of the event loop (p99)'],
    instead: ['kube_ovn_event_loop_delay_seconds'],
  },
]
/** Upstream takes them from recording rules about containers, which only some clusters have. */
const daemons = (title: string): readonly UpstreamPanel[] => [
  {
    about: 'Memory of the pods',
    asks: [],
    ours: [title],
    instead: ['kube_ovn_daemon_memory'],
  },
  {
    about: 'CPU of the pods',
    asks: [],
    ours: [],
    instead: 'nothing of ours measures processes of others: the dashboards of the cluster have it',
  },
]
const latency = 'ovs_client_request_latency_milliseconds'

/** Titles, uids, and what the panels are about. */
export const upstreamDashboards: readonly UpstreamDashboard[] = [
  {
    title: 'Kube-OVN / Kube-OVN-CNI',
    uid: 'YYfp8bOGz',
    panels: [
      up,
      errorLog,
      { about: 'CNI operation count', asks: ['cni_op_latency_seconds_count'], ours: ['Operations'] },
      {
        about: 'CNI latency',
        asks: ['cni_op_latency_seconds_sum', 'cni_op_latency_seconds_count'],
        ours: ['Operations: latency'],
      },
      {
        about: 'OVS client request count and latency',
        asks: [`${latency}_count`, `${latency}_sum`],
        ours: ['Where the time of an attachment goes'],
        instead: ['kube_ovn_cni_add_seconds_sum', 'kube_ovn_cni_add_seconds_count'],
      },
      {
        about: 'Client-Go Latency',
        asks: ['rest_client_request_latency_seconds_bucket'],
        ours: ['Requests to the API server: latency (p99)'],
      },
      ...processes,
    ],
  },
  {
    title: 'Kube-OVN / Controller',
    uid: 'GWoNlLAWz',
    panels: [
      up,
      errorLog,
      { about: 'Work queue add rate', asks: ['workqueue_adds_total'], ours: ['Work queue: added'] },
      {
        about: 'Work queue retry count',
        asks: ['workqueue_retries_total'],
        ours: ['Work queue: tried again'],
      },
      { about: 'Work queue depth', asks: ['workqueue_depth'], ours: ['Work queue: depth'] },
      {
        about: 'Work queue latency',
        asks: ['workqueue_queue_duration_seconds_bucket'],
        ours: ['Work queue: wait (p99)'],
      },
      { about: 'OVS client request count', asks: [`${latency}_count`], ours: ['Transactions of OVN'] },
      {
        about: 'OVS client request latency',
        asks: [`${latency}_bucket`],
        ours: ['Transactions of OVN: latency (p99)'],
      },
      {
        about: 'Kube API request rate',
        asks: ['rest_client_requests_total'],
        ours: ['Requests to the API server'],
      },
      {
        about: 'Kube API request latency (p99)',
        asks: ['rest_client_request_latency_seconds_bucket'],
        ours: ['Requests to the API server: latency (p99)'],
      },
      ...processes,
    ],
  },
  {
    title: 'Kube-OVN / OVN',
    uid: 'c4ykUItGk',
    panels: [
      {
        about: 'OVN DB Up',
        asks: [],
        ours: ['Databases that can be written'],
        instead: ['kube_ovn_db_status'],
      },
      { about: 'Chassis', asks: ['kube_ovn_chassis_info'], ours: ['Chassis'] },
      { about: 'Role of Northbound and Southbound', asks: ['kube_ovn_cluster_role'], ours: ['Roles'] },
      { about: 'Logical switches', asks: ['kube_ovn_logical_switch_info'], ours: ['Logical switches'] },
      {
        about: 'Ports',
        asks: ['kube_ovn_logical_switch_ports_num'],
        ours: ['Ports of logical switches'],
      },
      { about: 'Size of databases', asks: ['kube_ovn_db_file_size_bytes'], ours: ['Databases: size'] },
      { about: 'Size of logs', asks: ['kube_ovn_log_file_size_bytes'], ours: ['Logs: size'] },
      ...daemons('Memory of daemons: cells'),
    ],
  },
  {
    title: 'Kube-OVN / OVS',
    uid: 'xI0I5dpMk',
    panels: [
      // Upstream's shows the contrary of its title.
      { about: 'OVS Up', asks: ['pinger_ovs_down'], ours: ['Open vSwitch up'], instead: ['pinger_ovs_up'] },
      { about: 'Version of the database and of OVS', asks: ['kube_ovn_ovs_info'], ours: ['Versions'] },
      { about: 'Flows', asks: ['kube_ovn_dp_flows_total'], ours: ['Flows'] },
      {
        about: 'Flow hit ratio',
        asks: ['kube_ovn_dp_flows_lookup_hit', 'kube_ovn_dp_flows_lookup_missed'],
        ours: ['Packets that a flow was found for'],
      },
      {
        about: 'Size of database and logs',
        asks: ['kube_ovn_db_file_size_bytes', 'kube_ovn_log_file_size_bytes'],
        ours: ['Database and logs: size'],
      },
      { about: 'Interfaces', asks: ['kube_ovn_dp_if_total'], ours: ['Interfaces of data paths'] },
      { about: 'Packets received', asks: ['kube_ovn_interface_rx_packets'], ours: ['Packets received'] },
      { about: 'Packets sent', asks: ['kube_ovn_interface_tx_packets'], ours: ['Packets sent'] },
      {
        about: 'Bytes received',
        asks: ['kube_ovn_interface_rx_bytes'],
        ours: ['Bytes received: first ten pods'],
      },
      { about: 'Bytes sent', asks: ['kube_ovn_interface_tx_bytes'], ours: ['Bytes sent: first ten pods'] },
      ...daemons('Memory of daemons: cells and rules'),
    ],
  },
  {
    title: 'Kube-OVN / Pinger',
    uid: 'LIbmpK0Zk',
    panels: [
      {
        about: 'OVS up and down',
        asks: ['pinger_ovs_up', 'pinger_ovs_down'],
        ours: ['Open vSwitch up', 'Open vSwitch down'],
      },
      {
        about: 'ovn-controller up and down',
        asks: ['pinger_ovn_controller_up', 'pinger_ovn_controller_down'],
        ours: ['ovn-controller up', 'ovn-controller down'],
      },
      {
        about: 'DNS accessible and unaccessible',
        asks: ['pinger_internal_dns_healthy', 'pinger_internal_dns_unhealthy'],
        ours: ['Internal DNS accessible', 'Internal DNS unaccessible'],
      },
      {
        about: 'API server accessible and unaccessible',
        asks: ['pinger_apiserver_healthy', 'pinger_apiserver_unhealthy'],
        ours: ['API server accessible', 'API server unaccessible'],
      },
      errorLog,
      { about: 'Flows of data paths', asks: ['kube_ovn_dp_flows_total'], ours: ['Flows of data paths'] },
      {
        about: 'Inconsistent port bindings',
        asks: ['pinger_inconsistent_port_binding'],
        ours: ['Inconsistent port bindings'],
      },
      {
        about: 'MTU of interfaces',
        asks: ['kube_ovn_interface_mtu'],
        ours: ['Smallest MTU of an interface'],
      },
      {
        about: 'Average latency of the API server',
        asks: ['pinger_apiserver_latency_ms_sum', 'pinger_apiserver_latency_ms_count'],
        ours: ['API server: latency'],
      },
      {
        about: 'Average latency of DNS',
        asks: [
          ...['pinger_internal_dns_latency_ms_sum', 'pinger_internal_dns_latency_ms_count'],
          ...['pinger_external_dns_latency_ms_sum', 'pinger_external_dns_latency_ms_count'],
        ],
        ours: ['Internal DNS: latency', 'External DNS: latency'],
      },
      {
        about: 'Ping pod failures by source and target node',
        asks: ['pinger_pod_ping_lost_total'],
        ours: ['Pods: packets lost'],
      },
      {
        about: 'Ping node failures by source and target node',
        asks: ['pinger_node_ping_lost_total'],
        ours: ['Nodes: packets lost'],
      },
      ...processes,
    ],
  },
]

/** Its alerts: how long each stands before it fires, and how severe it is. */
export const upstreamAlerts: Readonly<Record<string, readonly [duration: string, severity: string]>> = {
  KubeOvnControllerDown: ['5m', 'critical'],
  KubeOvnControllerAbsent: ['15m', 'critical'],
  KubeOvnSubnetIPExhaustion: ['10m', 'warning'],
  KubeOvnOvsDown: ['3m', 'critical'],
  KubeOvnOvnControllerDown: ['3m', 'critical'],
  KubeOvnApiserverUnhealthy: ['5m', 'warning'],
  KubeOvnInternalDNSUnhealthy: ['5m', 'warning'],
  KubeOvnOvsdbSlowRequest: ['10m', 'warning'],
}
