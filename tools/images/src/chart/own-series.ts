import {
  addressAuditMetrics,
  agentMetrics,
  kernelMetrics,
  leaderMetrics,
  monitorMetrics,
  pingerMetrics,
  Registry,
  speakerMetrics,
  subnetMetrics,
  vswitchMetrics,
  type MonitorReading,
} from '@kube-ovn/telemetry'

/** How a program measures something that is wrong, and the same when it is well; answers what it measures in a minute. */
type Measured = (registry: Registry, isIll: () => boolean) => () => void

const nothing = (): void => undefined

/**
 * For alerts whose drill in a lab takes long, or something that is not there as on a cluster: what their program measures, by the very metrics that
 * it serves, whose names, labels and units are not written down a second time here.
 */
export const measured: Readonly<Record<string, Measured>> = {
  KubeOvnNoLeader(registry, isIll) {
    leaderMetrics(registry, 'kube-ovn-controller', () => !isIll())
    return nothing
  },
  KubeOvnSubnetIPExhaustion(registry, isIll) {
    const common = { name: 'blue', protocol: 'Dual', cidr: '10.1.0.0/24,fd00::/64' }
    // Nine of ten are not more than 90 %.
    subnetMetrics(registry, () => [{ ...common, used: isIll() ? 91 : 90, available: isIll() ? 9 : 10 }])
    return nothing
  },
  KubeOvnOvsdbSlowRequest(registry, isIll) {
    const metrics = kernelMetrics(registry)
    return () => {
      for (let count = 0; count < 90; count++) metrics.transacted('committed', 5, 10)
      // One of ten; and one of a hundred, which is not one of twenty.
      for (let count = 0; count < (isIll() ? 10 : 1); count++) metrics.transacted('committed', 5, 300)
    }
  },
  KubeOvnOrphansHeld(registry, isIll) {
    const metrics = kernelMetrics(registry)
    return () => metrics.orphansHeld(isIll() ? new Map([['lsp', 51]]) : new Map())
  },
  KubeOvnAddressConflict(registry, isIll) {
    const metrics = addressAuditMetrics(registry)
    const common = { workMs: 5, longestSliceMs: 1, endedAtMs: 0 }
    return () => metrics.audited({ ...common, standing: new Map([['two-owners', isIll() ? 1 : 0]]) })
  },
  KubeOvnAttachmentsFail(registry, isIll) {
    const metrics = agentMetrics(registry, 'n1')
    return () => {
      for (let count = 0; count < 12; count++) {
        metrics.answered('/api/v1/add', 200, 30)
        // A few fail where a node starts.
        if (isIll() || count < 3) metrics.answered('/api/v1/add', 500, 30)
      }
    }
  },
  KubeOvnApiserverUnhealthy(registry, isIll) {
    const metrics = pingerMetrics(registry, { nodeName: 'n1', nodeIp: '192.0.2.1', podIp: '10.16.0.2' })
    return () => metrics.health('apiserver', !isIll(), 3)
  },
  KubeOvnDatapathLosesPackets(registry, isIll) {
    let lost = 1_000_000
    const masks = { hit: 5, total: 2, hitsPerPacket: 1.5 }
    vswitchMetrics(registry, () => ({
      ...{ hostname: 'n1', daemons: [], logs: [], databaseBytes: 1, failedRequests: 0, system: undefined },
      ...{ interfaces: [], coverage: new Map() },
      datapaths: [
        {
          name: 'ovs-system',
          type: 'system',
          flows: 3,
          lookups: { hit: 9, missed: 3, lost },
          masks,
          ports: [],
        },
      ],
    }))
    return () => void (lost += isIll() ? 3000 : 0)
  },
  KubeOvnInconsistentObjects(registry, isIll) {
    let seconds = 0
    const read = (): MonitorReading => ({
      ...{ daemons: [], databases: [], logs: [], failedRequests: 0, sources: new Map() },
      ...{ northbound: undefined, southbound: undefined },
      inconsistent: new Map([['port-without-binding', { count: 1, seconds }]]),
    })
    monitorMetrics(registry, 'n1', read, undefined)
    // One that waits for half a minute, and then another one, is nothing odd.
    return () => void (seconds = isIll() ? seconds + 60 : 20)
  },
  KubeOvnBgpSessionDown: (registry, isIll) => ofSpeaker(registry, () => ({ isUp: !isIll(), advertised: 3 })),
  KubeOvnRoutesNotAdvertised: (registry, isIll) =>
    ofSpeaker(registry, () => ({ isUp: true, advertised: isIll() ? 2 : 3 })),
}

function ofSpeaker(
  registry: Registry,
  read: () => { readonly isUp: boolean; readonly advertised: number },
): () => void {
  speakerMetrics(registry, 'n1', () => {
    const { isUp, advertised } = read()
    const state = isUp ? 'established' : 'active'
    const peer = {
      address: '192.0.2.9',
      as: 65_001,
      flaps: 0,
      queuedBytes: 0,
      received: {},
      sent: {},
    } as const
    return { peers: [{ ...peer, state, wanted: 3, advertised, bfd: undefined }], problems: 0, bfd: undefined }
  })
  return nothing
}

/**
 * The series of pages that a program serves each minute, as `promtool test rules` reads them: while something is wrong, and then for as long
 * again while it is well.
 *
 * @param names of series; others of the pages are left out
 * @param job that Prometheus scrapes them by
 */
export async function servedSeries(
  measure: Measured,
  minutes: number,
  names: (name: string) => boolean,
  job: string,
): Promise<readonly (readonly [series: string, values: string])[]> {
  const registry = new Registry()
  let minute = 0
  const measureMinute = measure(registry, () => minute < minutes)
  const values = new Map<string, string[]>()
  for (; minute < 2 * minutes; minute++) {
    measureMinute()
    for (const line of (await registry.metrics()).split('\n')) {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      if (!names(name)) continue
      const series = `${name}{job="${job}"${labels === '' ? '' : `,${labels}`}}`
      const own = values.get(series) ?? Array.from({ length: minute }, () => '_')
      values.set(series, own)
      own.push(value)
    }
    // What is not on the page has no value.
    for (const own of values.values()) if (own.length === minute) own.push('_')
  }
  return [...values].map(([series, own]) => [series, own.join(' ')])
}
