import { setTimeout as delay } from 'node:timers/promises'
import { parser } from '@prometheus-io/lezer-promql'
import {
  accelerated,
  addStrayInterface,
  alertRules,
  beTheWorld,
  controllerLeader,
  databaseLeader,
  dashboards,
  eventually,
  injectFault,
  presets,
  runAt,
  startPrometheus,
  takeEndpoints,
  worldAddress,
  worldName,
  type Cluster,
  type Fault,
  type Prometheus,
} from '@kube-ovn/lab'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInLab } from './describe-in-lab.ts'
import { faultsOf, isAccepted, programOfJob } from './metric-pages.ts'
import { useSuiteLab } from './suite-lab.ts'

const describe = describeInLab('scrapes a cluster whose databases are three, and breaks it')

const values = {
  features: { enableSecureServing: true },
  pinger: {
    enabled: true,
    enableVerboseConnCheck: true,
    targets: {
      externalAddresses: { v4: worldAddress.ipv4, v6: worldAddress.ipv6 },
      externalDomain: { v4: `${worldName}.`, v6: `${worldName}.` },
    },
  },
}
const lab = useSuiteLab(
  { id: 'monitoring', ...presets['ha'] },
  { values, beforeChart: async (made) => void (await beTheWorld(made)) },
)

let cluster: Cluster
let prometheus: Prometheus

beforeAll(async () => {
  ;({ cluster } = lab)
  prometheus = await startPrometheus(cluster)
})
afterAll(() => prometheus[Symbol.asyncDispose]())

const jobs = ['kube-ovn-cni', 'kube-ovn-controller', 'kube-ovn-monitor', 'kube-ovn-pinger']
/** A cluster without routers has no speaker. */
const isOfSpeaker = (name: string): boolean => /speaker|Bgp|RoutesNotAdvertised/.test(name)
/** The data path of a lab, in userspace, has no masks; and rows are held only where somebody has to decide. */
const withoutSeriesHere = ['kube_ovn_dp_masks_hit_ratio', 'kube_ovn_orphans_held']

/** Ten minutes of an alert, and as much of a rate, as fast as the lab's Prometheus is. */
const quietMs = 80_000
const isDeep = process.env['KUBE_OVN_DEEP'] === '1'
const patience = { timeoutMs: 120_000, pauseMs: 1000 }

/** Which of these expressions, by what they are for, have no series. */
async function withoutSeries(
  expressions: readonly (readonly [string, string])[],
): Promise<readonly (readonly [string, string])[]> {
  const missing: (readonly [string, string])[] = []
  for (const [what, expression] of expressions)
    if (
      !withoutSeriesHere.some((name) => expression.includes(name)) &&
      (await prometheus.query(expression)).length === 0
    )
      missing.push([what, expression])
  return missing
}

/** The series that an alert is about, whatever values they have: its expression finds something only when all is not well. */
function selectorsOf(expression: string): readonly string[] {
  const found: string[] = []
  parser.parse(expression).iterate({
    enter({ name, from, to }) {
      // What is asked for by the value of a status may never have been.
      if (name === 'VectorSelector') found.push(expression.slice(from, to).replace(/status_code!="200"/, ''))
    },
  })
  return found
}

/** Each of them fires at one time or another: what hangs too long is started again, and its alert ends. */
async function untilFiring(alerts: readonly string[]): Promise<void> {
  const silent = new Set(alerts)
  await eventually(
    `${alerts.join(', ')} fire`,
    async () => {
      for (const alert of await prometheus.firing()) silent.delete(alert)
      return silent.size === 0 ? true : undefined
    },
    patience,
  ).catch((error: unknown) => {
    expect([...silent], String(error)).toEqual([])
    throw error
  })
}

/** Expects that these alerts fire while faults stand. */
async function expectFiring(faults: readonly Fault[], alerts: readonly string[]): Promise<void> {
  await using stack = new AsyncDisposableStack()
  for (const fault of faults) stack.use(await injectFault(cluster, fault))
  await untilFiring(alerts)
}

function expectQuiet(): Promise<unknown> {
  let firing: readonly string[] = []
  return eventually(
    'nothing fires',
    async () => {
      firing = await prometheus.firing()
      return firing.length === 0 ? true : undefined
    },
    { timeoutMs: 240_000, pauseMs: 1000, seen: () => firing.join(', ') },
  )
}

describe('a Prometheus', () => {
  it('scrapes every program by TLS, and nobody else may', async () => {
    const expected = jobs.flatMap((job) => cluster.nodes.map(() => `${job} up`))
    // Each has been scraped once: a machine that is busy may miss one of them at any time.
    const scraped = new Set<string>()
    const seen = async (): Promise<readonly string[]> =>
      (await prometheus.targets())
        .map(({ labels, health, lastError }) => {
          const target = `${labels['job']} ${labels['instance']}`
          if (health === 'up') scraped.add(target)
          return `${labels['job']} ${scraped.has(target) ? 'up' : lastError || health}`
        })
        .toSorted()
    await expect.poll(seen, { timeout: patience.timeoutMs, interval: 1000 }).toEqual(expected)
    const curl = ['curl', '--insecure', '--silent', '--output', '/dev/null', '--write-out', '%{http_code}']
    for (const port of [10_660, 10_661, 10_665])
      for (const [path, status] of [
        ['metrics', '401'],
        ['healthz', '200'],
      ])
        expect(await onNode(...curl, `https://${cluster.nodes[0]?.kubernetes.ipv4}:${port}/${path}`)).toBe(
          status,
        )
  })

  it('is shown pages that are as upstream’s, and that promtool finds no other fault with', async () => {
    const found = (await prometheus.targets()).map(async (target) => {
      const page = await prometheus.readPage(target)
      const { job = '' } = target.labels
      const program = programOfJob[job]
      const faults = program === undefined ? ['of nobody'] : faultsOf(program, page)
      const others = (await prometheus.findFaults(page)).filter((one) => !isAccepted(one))
      return { job, faults: [...faults, ...others].map((fault) => `${job}: ${fault}`) }
    })
    const pages = await Promise.all(found)
    expect(pages.flatMap(({ faults }) => faults)).toEqual([])
    expect(new Set(pages.map(({ job }) => job))).toEqual(new Set(jobs))
  })

  it('finds series for every panel of every dashboard, and for every alert', async () => {
    const ownDashboards = dashboards.filter(({ name }) => !isOfSpeaker(name))
    const ownAlerts = alertRules.filter(({ alert }) => !isOfSpeaker(alert))
    const panels = ownDashboards.flatMap(({ name, panels }) =>
      panels.flatMap(({ title, targets }) =>
        targets.map(({ expr }) => [`${name}, ${title}`, accelerated(expr)] as const),
      ),
    )
    const alerts = ownAlerts.flatMap(({ alert, expr }) =>
      selectorsOf(expr).map((selector) => [alert, selector] as const),
    )
    expect(panels.length).toBeGreaterThan(80)
    expect(new Set(alerts.map(([alert]) => alert)).size).toBe(ownAlerts.length)
    let missing: readonly (readonly [string, string])[] = [...panels, ...alerts]
    await eventually(
      'everything has series',
      async () => {
        // A scrape that a busy machine misses takes some away for a moment: each is there at one time or another.
        missing = await withoutSeries(missing)
        return missing.length === 0 ? true : undefined
      },
      patience,
    ).catch((error: unknown) => {
      expect(
        missing.map(([what, expression]) => `${what}: ${expression}`),
        String(error),
      ).toEqual([])
      throw error
    })
  })

  it('fires no alert in quiet for longer than the longest of them takes', async ({ skip }) => {
    skip(!isDeep, 'it waits for what must not come: KUBE_OVN_DEEP=1 runs it')
    const seen = new Set<string>()
    const endMs = performance.now() + quietMs
    while (performance.now() < endMs) {
      for (const alert of await prometheus.firing()) seen.add(alert)
      await delay(1000)
    }
    expect([...seen]).toEqual([])
  })

  it('fires the alerts about a node that is cut off: also the member of the databases on it is gone', async ({
    skip,
  }) => {
    skip(!isDeep, 'it takes a minute: KUBE_OVN_DEEP=1 runs it')
    const node = await nodeOfNoLeader()
    await expectFiring(
      [{ kind: 'partition', node, from: { network: 'kubernetes' } }],
      ['KubeOvnAgentDown', 'KubeOvnControllerDown', 'KubeOvnRaftPeerLost'],
    )
  })

  it('fires those about tunnels that are cut, daemons that hang, a port that nobody knows, and names that are not found', async () => {
    const [first = '', second = ''] = cluster.nodes.map(({ name }) => name)
    await using _dns = await takeEndpoints(cluster, 'kube-dns')
    await using _stray = await addStrayInterface(cluster, first)
    await expectFiring(
      [
        { kind: 'partition', node: second, from: { network: 'tunnel' } },
        { kind: 'pause', target: { component: 'ovn-controller', machine: first } },
      ],
      [
        'KubeOvnPodsUnreachable',
        'KubeOvnNodesUnreachable',
        'KubeOvnOvnControllerDown',
        'KubeOvnPortBindingsMissing',
        'KubeOvnInternalDNSUnhealthy',
      ],
    )
  })

  it('fires those about databases and ovn-northd that hang, and about Open vSwitch', async () => {
    const [first = ''] = cluster.nodes.map(({ name }) => name)
    const everywhere = (component: 'northd'): readonly Fault[] =>
      cluster.nodes.map(({ name: machine }) => ({ kind: 'pause', target: { component, machine } }))
    await expectFiring(
      [
        ...everywhere('northd'),
        { kind: 'pause', target: { component: 'northbound', machine: first } },
        // It would have Open vSwitch started again within a minute, and an alert is for what lasts longer.
        { kind: 'pause', target: { component: 'kubelet', machine: first } },
        { kind: 'pause', target: { component: 'ovsdb-server', machine: first } },
      ],
      [
        'KubeOvnNorthdInactive',
        'KubeOvnDatabaseStorageFailed',
        'KubeOvnMonitorBlind',
        'KubeOvnOvsDown',
        'KubeOvnExporterBlind',
      ],
    )
  })

  it('fires those about databases whose members do not reach each other', async () => {
    const faults = cluster.nodes.map(({ name: node }): Fault => ({
      kind: 'partition',
      node,
      from: { service: 'raft' },
    }))
    await expectFiring(faults, ['KubeOvnDatabaseWithoutLeader', 'KubeOvnDatabaseDisconnected'])
  })

  it('is quiet again once all is repaired', async () => {
    await expectQuiet()
  })
})

async function onNode(...command: readonly string[]): Promise<string> {
  const [node] = cluster.nodes
  return node === undefined ? expect.unreachable() : runAt(node.place, command)
}

/** Its agent and its controller can be missed. */
async function nodeOfNoLeader(): Promise<string> {
  const leaders = [
    (await controllerLeader(cluster)).spec.nodeName,
    (await databaseLeader(cluster, 'northbound')).node,
    (await databaseLeader(cluster, 'southbound')).node,
  ]
  return cluster.nodes.find(({ name }) => !leaders.includes(name))?.name ?? cluster.nodes.at(-1)?.name ?? ''
}
