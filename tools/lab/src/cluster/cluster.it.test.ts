import { eventually } from '../kubernetes/wait.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { installDns } from '../dns.ts'
import { listContainers } from '../docker/container.ts'
import { kubectl } from '../kubernetes/kubectl.ts'
import { addressesOfPod, untilPodsReady, type PodObject } from '../kubernetes/workloads.ts'
import { insideContainer, insidePodNetwork, runAt, tryAt } from '../namespaces.ts'
import { auditPosition, isWrite, readAudit } from '../observe/audit-log.ts'
import { pingAll } from '../probe/ping.ts'
import { askSourceAddress, fetchText } from '../probe/tcp.ts'
import { createCluster, type Cluster } from './cluster.ts'
import { untilNodesReady } from './readiness.ts'
import { findLabs, removeLab } from './leftovers.ts'
import { switchName } from './names.ts'

const id = `test-${process.pid}`
let cluster: Cluster
let pod: PodObject

beforeAll(async () => {
  cluster = await createCluster({ id, nodes: 1, podNetwork: 'bridge' })
  await untilNodesReady(cluster)
  await cluster.api.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', labels: { app: 'web' } },
    ...{ spec: podSpec },
  })
  await installDns(cluster)
  const [ready] = await untilPodsReady(cluster.api, 'default', 'app=web', 1)
  if (ready === undefined) throw new Error('untilPodsReady resolved without a pod')
  pod = ready
})

afterAll(removeWhole)

const podSpec = {
  terminationGracePeriodSeconds: 0,
  containers: [
    {
      name: 'web',
      image: 'docker.io/library/busybox:stable',
      command: [
        'sh',
        '-c',
        'mkdir /www && hostname > /www/index.html && exec busybox httpd -f -p 8080 -h /www',
      ],
    },
  ],
}

it('is dual stack: a pod is reached from its node over both families', async () => {
  const node = insideContainer(cluster.nodes[0]?.container ?? cluster.control)
  const addresses = addressesOfPod(pod)
  expect(addresses).toHaveLength(2)
  expect([...(await pingAll(node, addresses))].sort()).toEqual([...addresses].sort())
  for (const address of addresses) expect(await fetchText(node, address, 8080)).toBe('web')
})

it('shows the outside host where a pod comes from', async () => {
  const node = cluster.nodes[0]
  const place = node && insidePodNetwork(node.container, pod.metadata.uid ?? '')
  expect(place && (await askSourceAddress(place, cluster.outside.addresses.ipv4, 8080))).toBe(
    node?.physical.ipv4,
  )
})

it('has an outside host that keeps its MAC address, whatever ports its switch has', async () => {
  const { place } = cluster.outside
  const own = async (): Promise<string> => {
    const [link] = JSON.parse(await runAt(place, ['ip', '-json', 'link', 'show', switchName])) as [
      { readonly address: string },
    ]
    return link.address
  }
  const before = await own()
  // Bridges take the lowest one there is.
  const lowest = ['lowest', 'address', '00:00:00:00:00:01']
  await runAt(place, ['ip', 'link', 'add', ...lowest, 'type', 'veth', 'peer', 'name', 'unused'])
  try {
    await runAt(place, ['ip', 'link', 'set', 'lowest', 'master', switchName])
    expect(await own()).toBe(before)
  } finally {
    await runAt(place, ['ip', 'link', 'delete', 'lowest'])
  }
  expect(await own()).toBe(before)
})

it('lets no packet out: an unknown address gets no answer', async () => {
  const node = insideContainer(cluster.nodes[0]?.container ?? cluster.control)
  const { exitCode } = await tryAt(node, ['ping', '-c', '1', '-W', '1', '192.0.2.1'])
  expect(exitCode).not.toBe(0)
})

it('answers names of Services in pods', async () => {
  const name = 'kubernetes.default.svc.cluster.local'
  // Nothing announces when kube-proxy has put a new Service into effect.
  const output = await eventually('CoreDNS answers a pod', () =>
    kubectl(cluster, 'exec', 'web', '--', 'getent', 'hosts', name).catch(() => undefined),
  )
  expect(output).toMatch(/^(10\.96\.0\.1|fd00:10:96::1)\s/)
})

it('counts writes to the API from the audit log', async () => {
  const position = auditPosition(cluster)
  await cluster.api.mergePatch('/api/v1/namespaces/default/pods/web', {
    metadata: { labels: { counted: 'yes' } },
  })
  await cluster.api.call('GET', '/api/v1/namespaces/default/pods/web')
  const writes = readAudit(cluster, position).filter(
    (request) => isWrite(request) && request.user === 'admin',
  )
  expect(writes).toMatchObject([{ verb: 'patch', resource: 'pods', name: 'web', status: 200 }])
})

it('can be found while it runs', async () => {
  const lab = (await findLabs()).find(({ topology }) => topology.id === id)
  expect(lab).toMatchObject({ isOwned: true })
  expect(lab?.machines.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual(
    ['control', 'node-1', 'outside'].map((name) => ({ name, isRunning: true })),
  )
})

/** Removes the lab as a user does, and looks for what is left. */
async function removeWhole(): Promise<void> {
  await removeLab(id)
  expect(await listContainers(`kube-ovn.lab=${id}`)).toEqual([])
}
