import {
  daemonSets,
  deployments,
  leases,
  nodes,
  pods,
  type KubeObject,
  type Pod,
  type Resource,
} from '@kube-ovn/kube'
import { subnetResource } from '@kube-ovn/kube-api'
import { sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { drawTerminal } from './terminal-picture.ts'
import { Tmux, type Size } from './tmux.ts'

const main = join(import.meta.dirname, '../main.ts')
const pictures = join(import.meta.dirname, '../../../../docs/public/kubectl-ko')
const [small, large] = [
  { columns: 80, rows: 24 },
  { columns: 200, rows: 50 },
] as const

/** A machine that is busy takes long to start the program. */
const patient = { timeout: 180_000 }
vi.setConfig({ testTimeout: 240_000 })

let api: KubeApi

beforeAll(async () => {
  api = await sharedKubeApi()
})

interface Counted extends KubeObject {
  readonly spec: object
  readonly status?: object
}

const type = 'application/merge-patch+json'

/** The components, as their controllers would say that they are, and a leader whose lease does not run out. */
async function createComponents(): Promise<void> {
  const labels = { app: 'a' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const spec = { selector: { matchLabels: labels }, template }
  const kinds = [
    [
      deployments as Resource<Counted>,
      ['ovn-central', 'kube-ovn-controller'],
      { replicas: 1, readyReplicas: 1 },
    ],
    [
      daemonSets as Resource<Counted>,
      ['ovs-ovn', 'kube-ovn-cni'],
      { desiredNumberScheduled: 12, numberReady: 12, currentNumberScheduled: 12, numberMisscheduled: 0 },
    ],
  ] as const
  for (const [resource, names, status] of kinds)
    for (const name of names) {
      const ref = { namespace: 'kube-system', name }
      await api.client.create(resource, { metadata: ref, spec })
      await api.client.patch(resource, ref, type, { status }, { subresource: 'status' })
    }
  const ref = { namespace: 'kube-system', name: 'ovn-central-6fd4b8f6c5-x2x7v' }
  const led = ['nb', 'sb', 'northd'].map((one) => [`ovn-${one}-leader`, 'true'] as const)
  await api.client.create(pods, {
    metadata: { ...ref, labels: { app: 'ovn-central', ...Object.fromEntries(led) } },
    spec: { hostNetwork: true, containers: [{ name: 'c', image: 'i' }] },
  })
  const running = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
  await api.client.patch(pods, ref, type, { status: running }, { subresource: 'status' })
  await api.client.create(leases, {
    metadata: { namespace: 'kube-system', name: 'kube-ovn-controller' },
    spec: {
      holderIdentity: 'kube-ovn-controller-6fd6488f9-zg8fk',
      renewTime: new Date(Date.now() + 3600_000).toISOString().replace('Z', '000Z'),
    },
  })
}

/** More nodes and subnets than the small terminal has lines, fewer than the large one. */
beforeEach(async () => {
  await createComponents()
  for (let index = 1; index <= 12; index++) {
    const [name, team] = ['node', 'team'].map((kind) => `${kind}-${String(index).padStart(2, '0')}`) as [
      string,
      string,
    ]
    await api.client.create(nodes, { metadata: { name } })
    const status = { conditions: [{ type: 'Ready', status: index === 7 ? 'False' : 'True' }] }
    await api.client.patch(nodes, { name }, type, { status }, { subresource: 'status' })
    for (const app of ['ovs', 'kube-ovn-cni']) await createPod(`${app}-${name}`, app, name)
    await api.client.create(subnetResource, {
      metadata: { name: team },
      spec: { vpc: 'ovn-cluster', cidrBlock: `10.${index}.0.0/24`, gateway: `10.${index}.0.1` },
    })
    const subnetStatus = {
      v4usingIPs: index * 20,
      v4availableIPs: 253 - index * 20,
      conditions: [{ type: 'Ready', status: 'True' }],
    }
    await api.client.patch(
      subnetResource,
      { name: team },
      type,
      { status: subnetStatus },
      { subresource: 'status' },
    )
  }
})
afterEach(() => api.reset())

async function createPod(name: string, app: string, node: string): Promise<void> {
  const ref = { namespace: 'kube-system', name }
  const spec: Pod['spec'] = { nodeName: node, hostNetwork: true, containers: [{ name: 'c', image: 'i' }] }
  await api.client.create(pods, { metadata: { ...ref, labels: { app } }, spec })
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
  await api.client.patch(pods, ref, type, { status }, { subresource: 'status' })
}

function top(size: Size, environment: Readonly<Record<string, string>> = {}): Promise<Tmux> {
  // What the test's own surroundings say of colours, and of having no terminal, is not for it.
  const without = ['CI', 'FORCE_COLOR', 'NO_COLOR'].flatMap((name) => ['-u', name])
  const given = Object.entries({ NODE_ENV: 'production', ...environment }).map(
    ([name, value]) => `${name}=${value}`,
  )
  const command = ['env', ...without, ...given, process.execPath, main]
  return Tmux.start([...command, '--kubeconfig', api.kubeconfigPath, 'top'], size)
}

/** Resolves with what is shown once that is all. */
async function shown(terminal: Tmux, last: RegExp): Promise<readonly string[]> {
  await expect.poll(() => terminal.capture(), patient).toMatch(last)
  return (await terminal.capture()).trimEnd().split('\n')
}

describe.each([
  ['80x24', small, /team-\d+ .*\n.*… \d+ more/],
  ['200x50', large, /team-01 /],
] as const)('at %s', (name, size, last) => {
  it('fits, shows what is wrong first, and looks as in the documentation', async () => {
    await using terminal = await top(size)
    const lines = await shown(terminal, last)
    expect(lines.length).toBeLessThanOrEqual(size.rows)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(size.columns)
    expect(lines.find((line) => line.startsWith('node-'))).toMatch(/^node-07 +no /)
    expect(lines.find((line) => line.startsWith('team-'))).toMatch(/^team-12 /)
    const picture = drawTerminal(await terminal.capture({ isColoured: true }), {
      ...size,
      title: `kubectl ko top in a terminal of ${size.columns} columns and ${size.rows} lines`,
    })
    await expect(picture).toMatchFileSnapshot(join(pictures, `top-${name}.svg`))
    await terminal.press('q')
    await expect.poll(() => terminal.runs(), patient).toBe(false)
  })

  it('has colours where they are wanted', async () => {
    await using coloured = await top(size)
    await shown(coloured, last)
    expect(await coloured.capture({ isColoured: true })).toContain('\u001B[31m')
    await using plain = await top(size, { NO_COLOR: '1' })
    await shown(plain, last)
    expect(await plain.capture({ isColoured: true })).not.toMatch(/\[3[1-7]m/)
  })
})

it('takes up a terminal that grows and shrinks while it runs', async () => {
  await using terminal = await top(small)
  await shown(terminal, /team-\d+ .*\n.*… \d+ more/)
  await terminal.resize(large)
  await shown(terminal, /team-01 /)
  await terminal.resize(small)
  await expect.poll(() => terminal.capture(), patient).not.toContain('team-01 ')
  const lines = await shown(terminal, /… \d+ more/)
  expect(lines[0]).toMatch(/^kubectl ko top/)
  expect(lines.length).toBeLessThanOrEqual(small.rows)
})

it('shows what changes', async () => {
  await using terminal = await top(large)
  await shown(terminal, /node-07 +no /)
  const status = { conditions: [{ type: 'Ready', status: 'True' }] }
  await api.client.patch(nodes, { name: 'node-07' }, type, { status }, { subresource: 'status' })
  expect(await shown(terminal, /node-07 +yes /)).toContain('no problems')
})
