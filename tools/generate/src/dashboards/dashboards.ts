import type { Dashboard, Panel } from './dashboard.ts'

/** Titles, uids and what is shown are upstream's; where that shows goroutines, the delay of the event loop is. */
export const dashboards: readonly Dashboard[] = [
  {
    name: 'controller',
    title: 'Kube-OVN / Controller',
    uid: 'GWoNlLAWz',
    job: 'kube-ovn-controller',
    panels: [
      up('kube-ovn-controller'),
      number('Leaders', 'sum(leader_election_master_status{job="kube-ovn-controller"})'),
      number('Connected to the Northbound', 'sum(kube_ovn_database_connected{db="OVN_Northbound"})'),
      number('Findings about addresses', 'sum(kube_ovn_address_findings)'),
      number('Held deletions', 'sum(kube_ovn_orphans_held) or vector(0)'),
      ...errors('kube-ovn-controller'),
      graph(
        'Work queue: added',
        'ops',
        'sum by (name) (rate(workqueue_adds_total{job="kube-ovn-controller",instance=~"$instance"}[5m]))',
        '{{name}}',
      ),
      graph(
        'Work queue: tried again',
        'ops',
        'sum by (name) (rate(workqueue_retries_total{job="kube-ovn-controller",instance=~"$instance"}[5m])) or vector(0)',
        '{{name}}',
      ),
      graph(
        'Work queue: depth',
        'short',
        'sum by (name) (workqueue_depth{job="kube-ovn-controller",instance=~"$instance"})',
        '{{name}}',
      ),
      graph(
        'Work queue: wait (p99)',
        's',
        'histogram_quantile(0.99, sum by (le, name) (rate(workqueue_queue_duration_seconds_bucket{job="kube-ovn-controller",instance=~"$instance"}[5m])))',
        '{{name}}',
      ),
      graph(
        'Work queue: work (p99)',
        's',
        'histogram_quantile(0.99, sum by (le, name) (rate(workqueue_work_duration_seconds_bucket{job="kube-ovn-controller",instance=~"$instance"}[5m])))',
        '{{name}}',
      ),
      graph(
        'Transactions of OVN',
        'ops',
        'sum by (db, code) (rate(ovs_client_request_latency_milliseconds_count{instance=~"$instance"}[5m]))',
        '{{db}} {{code}}',
      ),
      graph(
        'Transactions of OVN: latency (p99)',
        'ms',
        'histogram_quantile(0.99, sum by (le, db) (rate(ovs_client_request_latency_milliseconds_bucket{instance=~"$instance"}[5m])))',
        '{{db}}',
      ),
      graph(
        'Requests to the API server',
        'ops',
        'sum by (code) (rate(rest_client_requests_total{job="kube-ovn-controller",instance=~"$instance"}[5m]))',
        '{{code}}',
      ),
      graph(
        'Requests to the API server: latency (p99)',
        's',
        'histogram_quantile(0.99, sum by (le, verb, url) (rate(rest_client_request_latency_seconds_bucket{job="kube-ovn-controller",instance=~"$instance"}[5m])))',
        '{{verb}} {{url}}',
      ),
      graph(
        'Subnets: part of the addresses that is taken',
        'percentunit',
        'subnet_used_ip_count / (subnet_used_ip_count + subnet_available_ip_count)',
        '{{subnet_name}}',
      ),
      graph(
        'Drift found and healed',
        'ops',
        'sum(rate(kube_ovn_drift_found_total[5m])) or vector(0)',
        'found',
      ),
      ...processes('kube-ovn-controller'),
    ],
  },
  {
    name: 'cni',
    title: 'Kube-OVN / Kube-OVN-CNI',
    uid: 'YYfp8bOGz',
    job: 'kube-ovn-cni',
    panels: [
      up('kube-ovn-cni'),
      number('Fragments that are refused', 'sum(kube_ovn_node_fragments_refused) or vector(0)'),
      ...errors('kube-ovn-cni'),
      graph(
        'Operations',
        'ops',
        'sum by (method, status_code) (rate(cni_op_latency_seconds_count{instance=~"$instance"}[5m]))',
        '{{method}} {{status_code}}',
      ),
      graph(
        'Operations: latency',
        's',
        'sum by (method) (rate(cni_op_latency_seconds_sum{instance=~"$instance"}[5m])) / sum by (method) (rate(cni_op_latency_seconds_count{instance=~"$instance"}[5m]))',
        '{{method}}',
      ),
      graph(
        'Where the time of an attachment goes',
        's',
        'sum by (part) (rate(kube_ovn_cni_add_seconds_sum{instance=~"$instance"}[5m])) / sum by (part) (rate(kube_ovn_cni_add_seconds_count{instance=~"$instance"}[5m]))',
        '{{part}}',
      ),
      graph(
        'Waiting for addresses',
        's',
        'sum by (node_name) (rate(cni_wait_address_seconds_total{instance=~"$instance"}[5m]))',
        '{{node_name}}',
      ),
      graph(
        'Requests to the API server',
        'ops',
        'sum by (code) (rate(rest_client_requests_total{job="kube-ovn-cni",instance=~"$instance"}[5m]))',
        '{{code}}',
      ),
      graph(
        'Requests to the API server: latency (p99)',
        's',
        'histogram_quantile(0.99, sum by (le, verb) (rate(rest_client_request_latency_seconds_bucket{job="kube-ovn-cni",instance=~"$instance"}[5m])))',
        '{{verb}}',
      ),
      graph('UDP packets with a wrong checksum', 'pps', 'rate(checksum_err_count[5m])', '{{hostname}}'),
      ...processes('kube-ovn-cni'),
    ],
  },
  {
    name: 'pinger',
    title: 'Kube-OVN / Pinger',
    uid: 'LIbmpK0Zk',
    job: 'kube-ovn-pinger',
    panels: [
      number('Open vSwitch up', 'sum(pinger_ovs_up)'),
      number('Open vSwitch down', 'sum(pinger_ovs_down)'),
      number('ovn-controller up', 'sum(pinger_ovn_controller_up)'),
      number('ovn-controller down', 'sum(pinger_ovn_controller_down)'),
      number('API server accessible', 'sum(pinger_apiserver_healthy)'),
      number('API server unaccessible', 'sum(pinger_apiserver_unhealthy)'),
      number('Internal DNS accessible', 'sum(pinger_internal_dns_healthy)'),
      number('Internal DNS unaccessible', 'sum(pinger_internal_dns_unhealthy)'),
      ...errors('kube-ovn-pinger'),
      graph('Checks that fail', 'short', 'sum by (check) (pinger_check_failed)', '{{check}}'),
      graph('Inconsistent port bindings', 'short', 'pinger_inconsistent_port_binding', '{{nodeName}}'),
      graph(
        'Flows of data paths',
        'short',
        'sum by (hostname) (kube_ovn_dp_flows_total{instance=~"$instance"})',
        '{{hostname}}',
      ),
      graph(
        'Smallest MTU of an interface',
        'short',
        'min by (hostname) (kube_ovn_interface_mtu{instance=~"$instance"} > 0)',
        '{{hostname}}',
      ),
      graph(
        'Pods: packets lost',
        'percentunit',
        'sum by (src_node_name, target_node_name) (rate(pinger_pod_ping_lost_total[5m])) / sum by (src_node_name, target_node_name) (rate(pinger_pod_ping_count_total[5m]))',
        '{{src_node_name}} to {{target_node_name}}',
      ),
      graph(
        'Nodes: packets lost',
        'percentunit',
        'sum by (src_node_name, target_node_name) (rate(pinger_node_ping_lost_total[5m])) / sum by (src_node_name, target_node_name) (rate(pinger_node_ping_count_total[5m]))',
        '{{src_node_name}} to {{target_node_name}}',
      ),
      average(
        'Pods: round trip',
        'pinger_pod_ping_latency_ms',
        'src_node_name, target_node_name',
        '{{src_node_name}} to {{target_node_name}}',
      ),
      average(
        'Nodes: round trip',
        'pinger_node_ping_latency_ms',
        'src_node_name, target_node_name',
        '{{src_node_name}} to {{target_node_name}}',
      ),
      average(
        'Outside: round trip',
        'pinger_external_ping_latency_ms',
        'src_node_name, target_address',
        '{{src_node_name}} to {{target_address}}',
      ),
      average('API server: latency', 'pinger_apiserver_latency_ms', 'nodeName', '{{nodeName}}'),
      average('Internal DNS: latency', 'pinger_internal_dns_latency_ms', 'nodeName', '{{nodeName}}'),
      average('External DNS: latency', 'pinger_external_dns_latency_ms', 'nodeName', '{{nodeName}}'),
      ...processes('kube-ovn-pinger'),
    ],
  },
  {
    name: 'ovn',
    title: 'Kube-OVN / OVN',
    uid: 'c4ykUItGk',
    job: 'kube-ovn-monitor',
    panels: [
      up('kube-ovn-monitor'),
      number('Databases that can be written', 'sum(kube_ovn_db_status)'),
      number('Active ovn-northd', 'count(kube_ovn_ovn_status{component="ovn-northd"} == 1)'),
      number('Chassis', 'count(count by (name) (kube_ovn_chassis_info))'),
      number('Logical switches', 'max(count by (instance) (kube_ovn_logical_switch_info))'),
      number('Contradictions', 'max(kube_ovn_inconsistent_objects)'),
      graph(
        'Roles',
        'short',
        'count by (db_name, server_role) (kube_ovn_cluster_role)',
        '{{db_name}} {{server_role}}',
      ),
      graph('Health', 'short', 'kube_ovn_ovn_status', '{{hostname}} {{component}}'),
      graph('Contradictions by kind', 'short', 'max by (kind) (kube_ovn_inconsistent_objects)', '{{kind}}'),
      graph(
        'Contradictions: age of the oldest',
        's',
        'max by (kind) (kube_ovn_inconsistent_seconds)',
        '{{kind}}',
      ),
      graph(
        'Ports of logical switches',
        'short',
        'max by (logical_switch_name) (kube_ovn_logical_switch_ports_num)',
        '{{logical_switch_name}}',
      ),
      graph('Rows', 'short', 'max by (db_name, table) (kube_ovn_logical_objects)', '{{db_name}} {{table}}'),
      graph(
        'Databases: size',
        'bytes',
        'kube_ovn_db_file_size_bytes{job="kube-ovn-monitor",instance=~"$instance"}',
        '{{hostname}} {{db_name}}',
      ),
      graph(
        'Logs: size',
        'bytes',
        'kube_ovn_log_file_size_bytes{job="kube-ovn-monitor",instance=~"$instance"}',
        '{{hostname}} {{component}}',
      ),
      graph('Cluster: term', 'short', 'kube_ovn_cluster_term', '{{hostname}} {{db_name}}'),
      graph(
        'Cluster: entries not applied',
        'short',
        'kube_ovn_cluster_log_not_applied',
        '{{hostname}} {{db_name}}',
      ),
      graph(
        'Cluster: connections that are not up',
        'short',
        'kube_ovn_cluster_outbound_connections_error_total',
        '{{hostname}} {{db_name}}',
      ),
      graph(
        'Memory of daemons: cells',
        'short',
        'kube_ovn_daemon_memory{job="kube-ovn-monitor",kind="cells"}',
        '{{hostname}} {{component}}',
      ),
      ...processes('kube-ovn-monitor'),
    ],
  },
  {
    name: 'ovs',
    title: 'Kube-OVN / OVS',
    uid: 'xI0I5dpMk',
    job: 'kube-ovn-pinger',
    panels: [
      number('Open vSwitch up', 'sum(pinger_ovs_up)'),
      number('Open vSwitch down', 'sum(pinger_ovs_down)'),
      number('Data paths', 'sum(kube_ovn_dp_total)'),
      number('Interfaces', 'count(kube_ovn_interface)'),
      number('Interfaces whose link is down', 'count(kube_ovn_interface_link_state == 0) or vector(0)'),
      graph(
        'Versions',
        'short',
        'count by (ovs_version, db_version) (kube_ovn_ovs_info)',
        '{{ovs_version}}, schema {{db_version}}',
      ),
      graph('Flows', 'short', 'kube_ovn_dp_flows_total{instance=~"$instance"}', '{{hostname}} {{datapath}}'),
      graph(
        'Packets that a flow was found for',
        'percentunit',
        'rate(kube_ovn_dp_flows_lookup_hit{instance=~"$instance"}[5m]) / (rate(kube_ovn_dp_flows_lookup_hit{instance=~"$instance"}[5m]) + rate(kube_ovn_dp_flows_lookup_missed{instance=~"$instance"}[5m]))',
        '{{hostname}} {{datapath}}',
      ),
      graph(
        'Packets that were lost on the way to ovs-vswitchd',
        'pps',
        'rate(kube_ovn_dp_flows_lookup_lost{instance=~"$instance"}[5m])',
        '{{hostname}} {{datapath}}',
      ),
      graph(
        'Masks for each packet',
        'short',
        'kube_ovn_dp_masks_hit_ratio{instance=~"$instance"}',
        '{{hostname}} {{datapath}}',
      ),
      graph(
        'Interfaces of data paths',
        'short',
        'kube_ovn_dp_if_total{instance=~"$instance"}',
        '{{hostname}} {{datapath}}',
      ),
      graph(
        'Packets received',
        'pps',
        'sum by (hostname) (rate(kube_ovn_interface_rx_packets{instance=~"$instance"}[5m]))',
        '{{hostname}}',
      ),
      graph(
        'Packets sent',
        'pps',
        'sum by (hostname) (rate(kube_ovn_interface_tx_packets{instance=~"$instance"}[5m]))',
        '{{hostname}}',
      ),
      graph(
        'Bytes received: first ten pods',
        'Bps',
        'topk(10, sum by (pod_namespace, pod_name) (rate(kube_ovn_interface_rx_bytes{pod_name!="",instance=~"$instance"}[5m])))',
        '{{pod_namespace}}/{{pod_name}}',
      ),
      graph(
        'Bytes sent: first ten pods',
        'Bps',
        'topk(10, sum by (pod_namespace, pod_name) (rate(kube_ovn_interface_tx_bytes{pod_name!="",instance=~"$instance"}[5m])))',
        '{{pod_namespace}}/{{pod_name}}',
      ),
      graph(
        'Packets dropped',
        'pps',
        'sum by (hostname) (rate(kube_ovn_interface_rx_dropped{instance=~"$instance"}[5m]) + rate(kube_ovn_interface_tx_dropped{instance=~"$instance"}[5m]))',
        '{{hostname}}',
      ),
      graph(
        'Events in ovs-vswitchd',
        'ops',
        'topk(10, sum by (event) (rate(kube_ovn_ovs_coverage_events{instance=~"$instance"}[5m])))',
        '{{event}}',
      ),
      graph(
        'Memory of daemons: cells and rules',
        'short',
        'kube_ovn_daemon_memory{job="kube-ovn-pinger",kind=~"cells|rules",instance=~"$instance"}',
        '{{hostname}} {{component}} {{kind}}',
      ),
      graph(
        'Database and logs: size',
        'bytes',
        'sum by (hostname) (kube_ovn_db_file_size_bytes{job="kube-ovn-pinger",instance=~"$instance"}) + sum by (hostname) (kube_ovn_log_file_size_bytes{job="kube-ovn-pinger",instance=~"$instance"})',
        '{{hostname}}',
      ),
    ],
  },
  {
    name: 'speaker',
    title: 'Kube-OVN / Speaker',
    uid: 'kubeovnspeaker',
    job: 'kube-ovn-speaker',
    panels: [
      up('kube-ovn-speaker'),
      number('Sessions that are up', 'sum(kube_ovn_speaker_bgp_peer_up)'),
      number('Sessions that are down', 'count(kube_ovn_speaker_bgp_peer_up == 0) or vector(0)'),
      graph('State of sessions', 'short', 'kube_ovn_speaker_bgp_peer_session_state', '{{node}} {{peer}}'),
      graph(
        'Routes that neighbours were told',
        'short',
        'kube_ovn_speaker_routes_advertised',
        '{{node}} {{peer}}',
      ),
      graph(
        'Routes that they are still to be told',
        'short',
        'kube_ovn_speaker_routes_wanted - kube_ovn_speaker_routes_advertised',
        '{{node}} {{peer}}',
      ),
      graph(
        'Messages received',
        'ops',
        'sum by (type) (rate(kube_ovn_speaker_bgp_peer_received_messages[5m]))',
        '{{type}}',
      ),
      graph(
        'Messages sent',
        'ops',
        'sum by (type) (rate(kube_ovn_speaker_bgp_peer_sent_messages[5m]))',
        '{{type}}',
      ),
      graph('Sessions that were lost', 'short', 'kube_ovn_speaker_bgp_peer_flap_count', '{{node}} {{peer}}'),
      ...processes('kube-ovn-speaker'),
    ],
  },
]

function number(title: string, expr: string): Panel {
  return { title, isNumber: true, queries: [{ expr }] }
}

function graph(title: string, unit: NonNullable<Panel['unit']>, expr: string, legend: string): Panel {
  return { title, unit, queries: [{ expr, legend }] }
}

function average(title: string, histogram: string, labels: string, legend: string): Panel {
  const rate = (part: string): string => `sum by (${labels}) (rate(${histogram}_${part}[5m]))`
  return graph(title, 'ms', `${rate('sum')} / ${rate('count')}`, legend)
}

function up(job: string): Panel {
  return number('Up', `sum(up{job="${job}"})`)
}

function errors(job: string): readonly Panel[] {
  const lines = `klog_lines_total{job="${job}",level="ERROR",instance=~"$instance"}`
  return [graph('Errors in the log in 10 minutes', 'short', `delta(${lines}[10m])`, '{{instance}}')]
}

function processes(job: string): readonly Panel[] {
  const of = `{job="${job}",instance=~"$instance"}`
  return [
    graph('Memory', 'bytes', `process_resident_memory_bytes${of}`, '{{instance}}'),
    graph('Processor', 'percentunit', `rate(process_cpu_seconds_total${of}[5m])`, '{{instance}}'),
    graph(
      'Delay of the event loop (p99)',
      's',
      `kube_ovn_event_loop_delay_seconds{job="${job}",instance=~"$instance",quantile="0.99"}`,
      '{{instance}}',
    ),
  ]
}
