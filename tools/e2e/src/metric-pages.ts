import { samplesOf } from '@kube-ovn/lab'
import { absentMetrics, upstreamMetrics, type Program, type UpstreamMetrics } from '@kube-ovn/lint'

/** The program behind a job of Prometheus. */
export const programOfJob: Readonly<Record<string, Program>> = {
  'kube-ovn-controller': 'controller',
  'kube-ovn-cni': 'agent',
  'kube-ovn-pinger': 'pinger',
  'kube-ovn-monitor': 'monitor',
  'kube-ovn-speaker': 'speaker',
}

/** In what a page of a program is not as upstream's: names, types, help, and labels of all series that there are. */
export function faultsOf(program: Program, page: string): readonly string[] {
  const wanted: UpstreamMetrics = upstreamMetrics[program]
  const absent = absentMetrics(program)
  return Object.entries(wanted)
    .filter(([name]) => !absent.includes(name))
    .flatMap(([name, [type, ...labels]]) => {
      const shown = new RegExp(`^# TYPE ${name} (\\w+)$`, 'm').exec(page)?.[1]
      if (shown === undefined) return [`${name} is missing`]
      const own = new Set<string>(labels)
      return [
        ...(shown === type ? [] : [`${name} is a ${shown}`]),
        ...(new RegExp(`^# HELP ${name} \\S`, 'm').test(page) ? [] : [`${name} has no help`]),
        ...samplesOf(page, type === 'histogram' ? `${name}_count` : name)
          .filter((sample) => own.symmetricDifference(new Set(Object.keys(sample.labels))).size > 0)
          .map(({ line }) => `labels of ${line}`),
      ]
    })
}

/** What promtool would have otherwise, by what it says, and why it stays. */
const accepted: readonly (readonly [finding: RegExp, why: string])[] = [
  [/^(klog_lines|klog_bytes)_total non-counter metrics .*"_total"/, 'upstream copies counters into gauges'],
  [
    /^kube_ovn_(dp|dp_if|dp_flows|dp_masks|cluster_(in|out)bound_connections(_error)?)_total non-counter metrics .*"_total"/,
    'upstream calls a number of things so',
  ],
  [/^nodejs_active_(handles|requests|resources)_total non-counter metrics .*"_total"/, 'of prom-client'],
  [
    /^(subnet_(available|used)_ip|checksum_err|kube_ovn_(failed_req|cluster_peer|speaker_bgp_peer_flap))_count non-histogram and non-summary metrics .*"_count"/,
    'upstream calls a number of things so',
  ],
  [
    /^(kube_ovn_interface(_\w+)?|kube_ovn_dp_if) label names .*snake_case/,
    'interfaceName, ofPort of upstream',
  ],
  [/^pinger_\w+ label names .*snake_case/, 'nodeName of upstream, which ours have as well'],
  [/^pinger_\w+_latency_ms metric names .*abbreviated units/, 'upstream has them in ms, and so has ours'],
  [/^ovs_client_request_latency_milliseconds use base unit/, 'upstream has it in ms'],
]

/** Whether promtool finds fault with what has to be so. */
export function isAccepted(finding: string): boolean {
  return accepted.some(([pattern]) => pattern.test(finding))
}
