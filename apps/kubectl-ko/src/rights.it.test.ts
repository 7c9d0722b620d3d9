import {
  daemonSets,
  deployments,
  namespaces,
  networkPolicies,
  nodes,
  pods,
  type KubeObject,
  type Pod,
  type Resource,
} from '@kube-ovn/kube'
import { definitions } from '@kube-ovn/kube-api'
import { chartCrds, foreignCrds, startKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Cluster } from './cluster.ts'
import { components } from './commands/reload.ts'
import { everyCommand } from './every-command.fixture.ts'
import { askedKind } from './explain/asked-kind.ts'
import { unmetOf } from './explain/unmet.ts'
import { runCaptured } from './run-captured.ts'
import { LiveFacts } from './top/live-facts.ts'

const namespace = 'kube-system'
const roles = ['kube-ovn-ko-reader', 'kube-ovn-ko'] as const

/** What docs/user/kubectl-ko.md says that readers may run. */
const ofReaders = ['status', 'top', 'topology', 'ipam who', 'ipam verify', 'ipam leaks', 'why', 'version']
/** They make objects, or ask the API server for what would become of them. */
const ofNoRole = ['plan', 'perf']

/** Somebody who has one of the roles. */
function people(role: string): readonly object[] {
  const account = { name: role, namespace }
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account },
    {
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding' },
      metadata: { name: `${role}-tried` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    },
  ]
}

let api: KubeApi
let directory: string

beforeAll(async () => {
  const accounts = { extraObjects: roles.flatMap(people) }
  api = await startKubeApi({ crds: [chartCrds, foreignCrds], accounts })
  directory = await mkdtemp(join(tmpdir(), 'kube-ovn-rights-of-people-'))
  const subnet = { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata: { name: 'quay' } }
  await writeFile(join(directory, 'manifest.yaml'), JSON.stringify(subnet))
  await createComponents()
})
afterAll(async () => {
  await rm(directory, { recursive: true })
  await api[Symbol.asyncDispose]()
})

const type = 'application/merge-patch+json'

interface Counted extends KubeObject {
  readonly spec: object
  readonly status?: object
}

/** A node with all components, of which whoever waits for a rollout sees that it is done. */
async function createComponents(): Promise<void> {
  await api.client.create(nodes, { metadata: { name: 'node-1' } })
  await api.client.create(namespaces, { metadata: { name: 'shop' } })
  const containers = [
    ...[
      ['ovn-central', 'ovn-central'],
      ['ovs', 'openvswitch'],
      ['kube-ovn-cni', 'cni-server'],
    ],
    ...[
      ['kube-ovn-pinger', 'pinger'],
      ['kube-ovn-controller', 'kube-ovn-controller'],
    ],
  ] as const
  for (const [app = '', container = ''] of containers)
    await createPod({ namespace, name: `${app}-0`, labels: { app } }, container, app === 'ovs')
  await createPod({ namespace: 'shop', name: 'web' }, 'web', false)
  const policy = { metadata: { namespace: 'shop', name: 'web' }, spec: { podSelector: {} } }
  await api.client.create(networkPolicies, policy)
  for (const { name, kind } of components) {
    const labels = { app: name }
    const template = { metadata: { labels }, spec: { containers: [{ name, image: 'i' }] } }
    const resource = (kind === 'Deployment' ? deployments : daemonSets) as Resource<Counted>
    const spec = { selector: { matchLabels: labels }, template }
    await api.client.create(resource, { metadata: { namespace, name }, spec })
    const observedGeneration = 1000
    const status =
      kind === 'Deployment'
        ? { observedGeneration, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 }
        : {
            ...{ observedGeneration, desiredNumberScheduled: 1, currentNumberScheduled: 1 },
            ...{ numberReady: 1, numberMisscheduled: 0, updatedNumberScheduled: 1, numberAvailable: 1 },
          }
    await api.client.patch(resource, { namespace, name }, type, { status }, { subresource: 'status' })
  }
}

async function createPod(metadata: Pod['metadata'], container: string, hostNetwork: boolean): Promise<void> {
  const spec: Pod['spec'] = { nodeName: 'node-1', hostNetwork, containers: [{ name: container, image: 'i' }] }
  await api.client.create(pods, { metadata, spec })
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
  await api.client.patch(pods, metadata, type, { status }, { subresource: 'status' })
}

async function run(
  role: string,
  lines: readonly (readonly string[])[],
  unused: readonly string[],
): Promise<void> {
  const kubeconfig = await api.accountKubeconfig(`${namespace}/${role}`)
  const choice = ['--kubeconfig', kubeconfig]
  for (const line of lines) await runCaptured([...choice, ...line], { directory })
  // What `top` does in a terminal.
  const { signal } = new AbortController()
  await using cluster = await Cluster.open({ kubeconfig, systemNamespace: namespace }, signal)
  await using live = new LiveFacts(cluster, () => undefined)
  await live.start(signal)
  // It watches a moment after it has listed.
  await expect.poll(() => unusedOf(role)).toEqual(unused)
}

async function unusedOf(role: string): Promise<readonly string[]> {
  const whose = `${namespace}/${role} may `
  return (await api.unusedRights())
    .filter((right) => right.startsWith(whose))
    .map((right) => right.slice(whose.length))
}

const linesOf = (names: readonly string[]): readonly (readonly string[])[] =>
  everyCommand.filter(({ name }) => names.includes(name)).map(({ args }) => args)

describe('a role of the chart allows what its commands need, and nothing else', () => {
  it('kube-ovn-ko-reader', async () => {
    await run('kube-ovn-ko-reader', linesOf(ofReaders), [])
    // Whoever may not look into Open vSwitch is told the other steps.
    expect(await api.missingRights()).toEqual([`${namespace}/kube-ovn-ko-reader may get pods/exec`])
  })

  it('kube-ovn-ko', async () => {
    const names = everyCommand.map(({ name }) => name).filter((name) => !ofNoRole.includes(name))
    const ofKinds = [
      ...definitions.map(({ resource }) => resource),
      ...['networkpolicy', 'multinetworkpolicy', 'pod', 'service'].map((kind) => ({
        kind,
        namespaced: true,
      })),
      ...[
        'adminnetworkpolicy',
        'baselineadminnetworkpolicy',
        'clusternetworkpolicy',
        'node',
        'namespace',
      ].map((kind) => ({ kind, namespaced: false })),
    ]
    // What explain finds out while a tool tells it rows, which none does here.
    const kubeconfig = await api.accountKubeconfig(`${namespace}/kube-ovn-ko`)
    await using cluster = await Cluster.open(
      { kubeconfig, systemNamespace: namespace },
      new AbortController().signal,
    )
    for (const { kind, namespaced } of ofKinds)
      await unmetOf(cluster, askedKind(kind), namespaced ? 'shop/web' : 'web')
    // The server asks for both, and notes one.
    await run(
      'kube-ovn-ko',
      [
        ...linesOf(names),
        ['diagnose', 'node', 'node-1'],
        ['diagnose', 'IPPorts', 'tcp-10.96.0.1-443'],
        ['nb', 'restore', 'manifest.yaml', '--yes'],
        ['log', 'all'],
      ],
      ['create pods/exec'],
    )
    expect(await api.missingRights()).toEqual([`${namespace}/kube-ovn-ko-reader may get pods/exec`])
  })
})
