import { setTimeout as delay } from 'node:timers/promises'
import {
  acceleratedMs,
  addressesOfPod,
  addStrayInterface,
  applyAll,
  beTheWorld,
  controllerLeader,
  databaseLeader,
  deleteAll,
  eventually,
  forbidFlows,
  idlePod,
  injectFault,
  nbctl,
  presets,
  runAt,
  startPrometheus,
  takeEndpoints,
  untilPodsReady,
  worldAddress,
  worldName,
  type ApiObject,
  type Cluster,
  type Fault,
  type Prometheus,
} from '@kube-ovn/lab'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInLab } from './describe-in-lab.ts'
import { addStrangersPort, addUnownedRows, editSteadily, startPods } from './monitoring-drills.ts'
import { faultsOf, isAccepted, programOfJob } from './metric-pages.ts'
import { expectSeries, expectToFire, isOfSpeaker, patience } from './prometheus-claims.ts'
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

const fullName = 'full'
const fullNamespace: ApiObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: fullName } }
/** Of two addresses, of which the gateway has one. */
const fullSubnet = {
  apiVersion: 'kubeovn.io/v1',
  kind: 'Subnet',
  metadata: { name: fullName },
  spec: { cidrBlock: '10.49.0.0/30', namespaces: [fullName] },
} as ApiObject

let cluster: Cluster
let prometheus: Prometheus

beforeAll(async () => {
  ;({ cluster } = lab)
  prometheus = await startPrometheus(cluster)
})
afterAll(() => prometheus[Symbol.asyncDispose]())

const jobs = ['kube-ovn-cni', 'kube-ovn-controller', 'kube-ovn-monitor', 'kube-ovn-pinger']

/** An hour of the rules, as fast as the lab's Prometheus is. */
const quietMs = acceleratedMs(60)
const isDeep = process.env['KUBE_OVN_DEEP'] === '1'

/** Expects that these alerts fire while faults stand. */
async function expectFiring(faults: readonly Fault[], alerts: readonly string[]): Promise<void> {
  await using stack = new AsyncDisposableStack()
  for (const fault of faults) stack.use(await injectFault(cluster, fault))
  await expectToFire(prometheus, alerts)
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
    const curl = [
      'curl',
      '--globoff',
      '--insecure',
      '--silent',
      '--output',
      '/dev/null',
      '--write-out',
      '%{http_code}',
    ]
    const pages = new Map(
      (await prometheus.targets()).map(({ labels, scrapeUrl }) => [labels['job'] ?? '', scrapeUrl]),
    )
    expect([...pages.keys()].toSorted()).toEqual(jobs)
    for (const page of pages.values())
      for (const [path, status] of [
        ['/metrics', '401'],
        ['/healthz', '200'],
      ] as const)
        expect(await onNode(...curl, new URL(path, page).href), page).toBe(status)
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
    await expectSeries(prometheus, (name) => !isOfSpeaker(name), 80)
  })

  it('fires no alert in quiet for an hour, of the time by which the rules go', async ({ skip }) => {
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
      ['KubeOvnAgentDown', 'KubeOvnControllerDown', 'KubeOvnExporterDown', 'KubeOvnRaftPeerLost'],
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

  it('fires those about a controller that hangs, which leaves none that leads for a while', async () => {
    const machine = (await controllerLeader(cluster)).spec.nodeName ?? ''
    await expectFiring(
      [{ kind: 'pause', target: { component: 'controller', machine } }],
      ['KubeOvnNoLeader', 'KubeOvnControllerDown'],
    )
  })

  it('fires the one about rows of nobody, too many to be deleted unasked', async () => {
    await using _rows = await addUnownedRows(cluster)
    await expectToFire(prometheus, ['KubeOvnOrphansHeld'])
  })

  it('fires those about a data path that has no room for flows, and an API server that refuses pingers', async () => {
    const [first = ''] = cluster.nodes.map(({ name }) => name)
    await using _flows = await forbidFlows(cluster, first)
    // It still says who may read metrics.
    const answer: Fault = { kind: 'api-server', faults: [{ kind: 'read', path: '^/version$', answer: 503 }] }
    await expectFiring([answer], ['KubeOvnDatapathLosesPackets', 'KubeOvnApiserverUnhealthy'])
  })

  it('fires those about a Subnet that has no address left, and an address that a stranger has taken', async () => {
    await using stack = new AsyncDisposableStack()
    stack.defer(() => deleteAll(cluster.api, [fullNamespace, fullSubnet]))
    await applyAll(cluster.api, [fullNamespace, fullSubnet])
    await cluster.api.apply(idlePod({ name: 'last', namespace: fullName }))
    const [pod] = await untilPodsReady(cluster.api, fullName, 'app=last', 1)
    stack.use(await addStrangersPort(cluster, fullName, addressesOfPod(pod ?? expect.unreachable())[0] ?? ''))
    await expectToFire(prometheus, ['KubeOvnSubnetIPExhaustion', 'KubeOvnAddressConflict'])
  })

  it('fires the one about a database that is slow to commit', async ({ skip }) => {
    skip(!isDeep, 'it takes a minute: KUBE_OVN_DEEP=1 runs it')
    const slow = cluster.nodes.map(({ name: machine }): Fault => ({
      kind: 'slow-disk',
      target: { component: 'northbound', machine },
      delayMs: 150,
    }))
    await using _edits = await editSteadily(cluster)
    await expectFiring(slow, ['KubeOvnOvsdbSlowRequest'])
  })

  it('fires those about objects that ovn-northd has not brought into the Southbound, and pods that wait for it in vain', async ({
    skip,
  }) => {
    skip(!isDeep, 'it takes more than a minute: KUBE_OVN_DEEP=1 runs it')
    const { place, node } = await databaseLeader(cluster, 'northbound')
    await using stack = new AsyncDisposableStack()
    for (const { name: machine } of cluster.nodes)
      stack.use(await injectFault(cluster, { kind: 'pause', target: { component: 'northd', machine } }))
    await nbctl(place, 'ls-add', 'not-there')
    stack.defer(async () => void (await nbctl(place, 'ls-del', 'not-there')))
    stack.use(await startPods(cluster, node, 16))
    await expectToFire(prometheus, ['KubeOvnInconsistentObjects', 'KubeOvnAttachmentsFail'])
  })

  it('fires the one about controllers that are nowhere', async ({ skip }) => {
    skip(!isDeep, 'it takes more than a minute: KUBE_OVN_DEEP=1 runs it')
    const replicas = cluster.topology.nodes.filter(({ isMaster }) => isMaster).length
    await scaleController(0)
    try {
      await expectToFire(prometheus, ['KubeOvnControllerAbsent'])
    } finally {
      await scaleController(replicas)
    }
    await controllerLeader(cluster)
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

async function scaleController(replicas: number): Promise<void> {
  const path = '/apis/apps/v1/namespaces/kube-system/deployments/kube-ovn-controller'
  await cluster.api.mergePatch(path, { spec: { replicas } })
}
