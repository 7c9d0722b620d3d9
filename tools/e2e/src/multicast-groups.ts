import {
  addressesOfPod,
  applyAll,
  askHere,
  deleteAll,
  eventually,
  idlePod,
  namespaceOf,
  ofStack,
  placeOf,
  untilPodsReady,
  type ApiObject,
  type Cluster,
  type PodObject,
} from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import { startCapture } from './packet-capture.ts'

const name = 'choir'
const port = 18_090
const subnetPath = `/apis/kubeovn.io/v1/subnets/${name}`
const cidrs = { ipv4: '10.97.1.0/24', ipv6: 'fd00:10:97:1::/112' }
const patienceMs = 20_000

/** What is sent to a group, in a Subnet with pods on two nodes. */
export function multicastGroups(given: () => Cluster): void {
  it('comes to everybody, and to members alone where it is snooped, in each family', async () => {
    const cluster = given()
    await using stack = new AsyncDisposableStack()
    const objects = objectsOf(cluster)
    stack.defer(() => deleteAll(cluster.api, objects.toReversed()))
    await applyAll(cluster.api, objects)
    const pods = await untilPodsReady(cluster.api, name, `tier=${name}`, 3)
    const [sender, member, bystander] = ['sender', 'member', 'bystander'].map(
      (role) => pods.find(({ metadata }) => metadata.name === role) ?? expect.unreachable(`${role} is there`),
    )
    if (sender === undefined || member === undefined || bystander === undefined)
      return expect.unreachable('three were waited for')
    const sources = addressesOfPod(sender)
    const reached = sources.map(() => 'reached')
    const heardByBystander = () => heardDuring(cluster, { sender, member, bystander })

    const flooded = await heardByBystander()
    expect(flooded).toEqual({ outcomes: reached, sources })

    await cluster.api.mergePatch(subnetPath, { spec: { enableMulticastSnoop: true } })
    await eventually(
      'it is snooped',
      async () => (await heardByBystander()).sources.length === 0 || undefined,
    )
    expect(await heardByBystander()).toEqual({ outcomes: reached, sources: [] })
  })
}

interface Choir {
  readonly sender: PodObject
  readonly member: PodObject
  readonly bystander: PodObject
}

/** What sending to the group has come to at the member, who joins it for as long, and of which senders the bystander has got it. */
async function heardDuring(
  cluster: Cluster,
  { sender, member, bystander }: Choir,
): Promise<{ readonly outcomes: readonly string[]; readonly sources: readonly string[] }> {
  const place = placeOf(cluster, bystander)
  const capture = await startCapture(place, ['--immediate-mode', '-i', 'eth0', `udp port ${port}`])
  await using stack = new AsyncDisposableStack()
  stack.defer(async () => void (await capture.stop()))
  const outcomes = await ask(cluster, { sender, to: member, protocol: 'multicast' })
  // What is heard of this was sent after all of that, on the same way.
  await ask(cluster, { sender, to: bystander, protocol: 'udp' })
  const lines = await eventually('the bystander hears what is meant for it', () => {
    const seen = capture.seen().split('\n')
    const isHeard = addressesOfPod(bystander).every((own) =>
      seen.some((line) => line.includes(`> ${own}.${port}:`)),
    )
    return Promise.resolve(isHeard ? seen : undefined)
  })
  const toGroups = lines.filter((line) => / > (?:2[23]\d\.|ff)/.test(line))
  return {
    outcomes,
    sources: addressesOfPod(sender).filter((source) => toGroups.some((line) => line.includes(` ${source}.`))),
  }
}

/** What became of a question in each family. */
async function ask(
  cluster: Cluster,
  {
    sender,
    to,
    protocol,
  }: { readonly sender: PodObject; readonly to: PodObject; readonly protocol: 'multicast' | 'udp' },
): Promise<readonly string[]> {
  const [netns, listening] = [sender, to].map((pod) => namespaceOf(placeOf(cluster, pod)))
  if (netns === undefined || listening === undefined) return expect.unreachable('there are two')
  const targets = addressesOfPod(to)
  const questions = addressesOfPod(sender).flatMap((source, index) => {
    const target = targets[index]
    if (target === undefined) return []
    const listeners = [{ netns: listening, address: target, port, protocol }]
    return [{ netns, source, target, port, protocol, isOurs: true, timeoutMs: patienceMs, listeners }]
  })
  return (await askHere(questions)).map((outcome) =>
    outcome.kind === 'lost' ? `lost: ${outcome.reason}` : outcome.kind,
  )
}

/** Who sends is on one node, the others on another one. */
function objectsOf({ nodes, topology }: Cluster): readonly ApiObject[] {
  const [first, last] = [nodes[0], nodes.at(-1)].map((node) => node?.name)
  const labels = { tier: name }
  const spec = { cidrBlock: ofStack(topology.stack, cidrs).join(), namespaces: [name] }
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata: { name }, spec } as ApiObject,
    ...Object.entries({ sender: first, member: last, bystander: last }).map(([role, node]) =>
      idlePod({ name: role, namespace: name, labels }, node),
    ),
  ]
}
