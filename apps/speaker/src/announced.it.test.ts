import { speakerApp } from '@kube-ovn/annotations'
import { nodes, pods } from '@kube-ovn/kube'
import { subnetResource } from '@kube-ovn/kube-api'
import { missingForGobgp } from '@kube-ovn/testing-bgp'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bgp, own, router, SpeakerNode } from './speaker-fixture.ts'

const missing = missingForGobgp()
const merge = 'application/merge-patch+json'
const cidrs = {
  red: { ipv4: '10.16.0.0/16', ipv6: 'fd00:10:16::/112' },
  blue: { ipv4: '10.17.0.0/16', ipv6: 'fd00:10:17::/112' },
} as const
/** Another address of the node, which a route may lead from. */
const otherHop = '192.0.2.7'

type SubnetName = keyof typeof cidrs
type Policy = 'true' | 'cluster' | 'local' | 'everywhere' | undefined

interface PodModel {
  readonly subnet: SubnetName
  readonly node: 'node-1' | 'node-2'
  policy: Policy
}

/** What has been said to the API server and to the kernel so far. */
interface Model {
  readonly subnets: Record<SubnetName, Policy>
  readonly pods: Map<number, PodModel>
  hasNode: boolean
  isDrained: boolean
  hop: string
}

const policy = fc.constantFrom<Policy>('true', 'cluster', 'local', 'everywhere', undefined)
const subnet = fc.constantFrom<SubnetName>('red', 'blue')
const index = fc.nat({ max: 5 })
const event = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      ...{ kind: fc.constant('pod' as const), index, policy, subnet },
      node: fc.constantFrom('node-1' as const, 'node-2' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pod policy' as const), index, policy }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('subnet policy' as const), subnet, policy }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('node' as const, 'drain' as const, 'hop' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('speaker' as const, 'router' as const) }) },
)
type Event = typeof event extends fc.Arbitrary<infer E> ? E : never

/** What a router is to know, in the words of docs/user/bgp.md rather than by the code that is tested. */
function wantedOf({ subnets, pods, hasNode, isDrained, hop }: Model): Readonly<Record<string, string>> {
  if (!hasNode) return {}
  const found: Record<string, string> = {}
  const tell = ({ ipv4, ipv6 }: { readonly ipv4: string; readonly ipv6: string }): void => {
    found[ipv4] = hop
    found[ipv6] = own.ipv6
  }
  const isCluster = (policy: Policy): boolean => policy === 'true' || policy === 'cluster'
  for (const name of ['red', 'blue'] as const) if (isCluster(subnets[name]) && !isDrained) tell(cidrs[name])
  for (const [index, { subnet, node, policy }] of pods) {
    // What nobody can make sense of is no policy of the Subnet either.
    const effective = policy ?? subnets[subnet]
    if (isCluster(effective) ? !isDrained : effective === 'local' && node === 'node-1')
      tell({ ipv4: `${addressesOf(index, subnet)[0]}/32`, ipv6: `${addressesOf(index, subnet)[1]}/128` })
  }
  return found
}

function addressesOf(index: number, subnet: SubnetName): readonly [ipv4: string, ipv6: string] {
  const third = subnet === 'red' ? 16 : 17
  return [`10.${third}.0.${index + 1}`, `fd00:10:${third}::${index + 1}`]
}

describe.skipIf(missing)(`what is announced${missing === undefined ? '' : ` (${missing})`}`, () => {
  const node = SpeakerNode.ofSuite()

  async function begin(): Promise<Model> {
    for (const name of ['red', 'blue'] as const)
      await node.createSubnet(name, `${cidrs[name].ipv4},${cidrs[name].ipv6}`)
    // Another speaker is there for what any can announce.
    await node.api.client.create(nodes, { metadata: { name: 'node-2' } })
    const ref = { namespace: 'kube-system', name: 'speaker-2' }
    await node.api.client.create(pods, {
      metadata: { ...ref, labels: { app: speakerApp } },
      spec: { nodeName: 'node-2', containers: [{ name: 'c', image: 'c' }] },
    })
    const conditions = [{ type: 'Ready', status: 'True' }]
    await node.api.client.patch(pods, ref, merge, { status: { conditions } }, { subresource: 'status' })
    node.here.run('ip', 'address', 'add', `${otherHop}/24`, 'dev', 'eth0')
    node.start('--graceful-restart')
    await untilSession()
    return {
      subnets: { red: undefined, blue: undefined },
      pods: new Map(),
      ...{ hasNode: true, isDrained: false, hop: own.ipv4 },
    }
  }

  /** Sessions of IPv4 that there have been since the speaker was started. */
  function sessions(): number {
    return node.log.lines.filter(
      ({ message, fields }) => message === 'BGP session was established' && fields['peer'] === router.ipv4,
    ).length
  }

  /** Waits for the next session: one that begins is dialled from where routes lead from, and the router knows its neighbour by one address. */
  async function untilSession(before = 0): Promise<void> {
    await expect.poll(sessions, { timeout: 60_000 }).toBeGreaterThan(before)
  }

  function leadFrom(model: Model, hop: string): void {
    model.hop = hop
    node.here.run('ip', 'route', 'replace', `${router.ipv4}/32`, 'dev', 'eth0', 'src', hop)
  }

  async function happen(model: Model, event: Event): Promise<void> {
    const { client } = node.api
    switch (event.kind) {
      case 'pod': {
        const { index, kind: _, ...made } = event
        const name = `pod-${index}`
        if (model.pods.delete(index)) return node.removePod(name)
        model.pods.set(index, made)
        const addresses = addressesOf(index, made.subnet).join(',')
        return node.createPod(name, made.node, addresses, made.policy, made.subnet)
      }
      case 'pod policy': {
        const found = model.pods.get(event.index)
        if (found === undefined) return
        found.policy = event.policy
        const ref = { namespace: 'default', name: `pod-${event.index}` }
        await client.patch(pods, ref, merge, annotated(event.policy))
        return
      }
      case 'subnet policy':
        model.subnets[event.subnet] = event.policy
        await client.patch(subnetResource, { name: event.subnet }, merge, annotated(event.policy))
        return
      case 'node':
        model.hasNode = !model.hasNode
        model.isDrained = false
        if (model.hasNode) await client.create(nodes, { metadata: { name: 'node-1' } })
        else await client.remove(nodes, { name: 'node-1' })
        return
      case 'drain':
        if (!model.hasNode) return
        model.isDrained = !model.isDrained
        await client.patch(nodes, { name: 'node-1' }, merge, { spec: { unschedulable: model.isDrained } })
        return
      case 'hop':
        leadFrom(model, model.hop === own.ipv4 ? otherHop : own.ipv4)
        return
      case 'speaker':
        leadFrom(model, own.ipv4)
        await node.stop()
        node.start('--graceful-restart')
        return untilSession()
      case 'router': {
        leadFrom(model, own.ipv4)
        const before = sessions()
        await node.restartRouter()
        await untilSession(before)
      }
    }
  }

  it('is what is desired after any sequence of events', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(event, { minLength: 1, maxLength: 5 }), { minLength: 12, maxLength: 12 }),
        async (bursts) => {
          const model = await begin()
          for (const burst of bursts) {
            for (const one of burst) await happen(model, one)
            await expect.poll(() => node.told(), { timeout: 60_000 }).toEqual(wantedOf(model))
          }
          // Nothing of it is what the router has kept of a speaker before this one.
          await expect.poll(() => node.staleRoutes(), { timeout: 60_000 }).toEqual([])
        },
      ),
      // A world is made for each test, and what was found is shown as it was.
      { numRuns: 1, endOnFailure: true },
    )
  })
})

function annotated(policy: Policy): object {
  return { metadata: { annotations: { [bgp]: policy ?? null } } }
}
