import {
  applyAll,
  deleteAll,
  eventually,
  findColumn,
  idlePod,
  injectFault,
  ofStack,
  ovnCentral,
  pingAll,
  placeOf,
  runAt,
  startPing,
  strike,
  untilPodsReady,
  type ApiObject,
  type Cluster,
} from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import { linkOf, type Ferry } from './ferry.ts'
import { startCapture } from './packet-capture.ts'

const barge = 'barge'
const sea = 'sea'
const pods = { ipv4: '10.52.0.0/24', ipv6: 'fd00:10:52::/112' }

interface OvnEip extends ApiObject {
  readonly status?: {
    readonly v4Ip?: string
    readonly v6Ip?: string
    readonly macAddress?: string
    readonly ready?: boolean
  }
}

/** A VPC whose traffic to the outside all nodes share that have an OvnEip of their own. */
export function sharedWays(given: () => Ferry): void {
  it('share what leaves a VPC among nodes, and leave out one whose agent is gone', async () => {
    const { cluster, families, frr, targets } = given()
    await using stack = new AsyncDisposableStack()
    const central = await ovnCentral(cluster)
    const objects = objectsOf(cluster)
    stack.defer(() => deleteAll(cluster.api, objects))
    await applyAll(cluster.api, objects)
    const [pod] = await untilPodsReady(cluster.api, barge, '', 1)
    if (pod === undefined) return expect.unreachable()
    const router = await eipOf(cluster, `${barge}-${sea}`)
    const back = (verb: 'replace' | 'del'): Promise<unknown> =>
      runAt(frr.place, ['ip', '-batch', '-'], {
        input: families
          .map((family) => `route ${verb} ${pods[family]} via ${addressOf(router, family)}\n`)
          .join(''),
      })
    await back('replace')
    stack.defer(async () => void (await back('del')))
    const eips = await eventually('the OvnEips of all nodes are ready', async () => {
      const all = await Promise.all(cluster.nodes.map(({ name }) => eipOf(cluster, name)))
      return all.every(({ ready }) => ready === true) ? all : undefined
    })
    const addressesOf = (eip: NonNullable<OvnEip['status']>): readonly string[] =>
      families.map((family) => addressOf(eip, family))
    const addresses = eips.flatMap(addressesOf)
    const untilStates = (wanted: string, of: readonly string[]): Promise<unknown> =>
      eventually(`sessions with ${of.join()} are ${wanted}`, async () => {
        const states = await Promise.all(
          of.map((address) => findColumn(central, 'BFD', 'status', `dst_ip="${address}"`)),
        )
        return states.flat().every((state) => state === wanted) || undefined
      })
    await untilStates('up', addresses)
    const place = placeOf(cluster, pod)
    // By the NIC of which node packets come, by their MAC addresses.
    const pattern = targets.map((target) => `dst host ${target}`).join(' or ')
    const capture = await startCapture(frr.place, [
      '-e',
      '-i',
      await linkOf(frr),
      `(${pattern}) and (icmp or icmp6)`,
    ])
    stack.defer(async () => void (await capture.stop()))
    const senders = (from = 0): ReadonlySet<string> =>
      new Set(
        [
          ...capture
            .seen()
            .slice(from)
            .matchAll(/ (\S+) > \S+, ethertype/g),
        ].map(([, mac = '']) => mac),
      )
    await eventually('all targets answer', async () =>
      (await pingAll(place, targets)).size === targets.length ? true : undefined,
    )
    const macs = eips.map(({ macAddress = '' }) => macAddress)
    await eventually('packets come by all nodes', () =>
      Promise.resolve(sameMacs(senders(), macs) || undefined),
    )
    const [first] = cluster.nodes
    const [own] = eips
    if (first === undefined || own === undefined) return expect.unreachable('there are nodes')
    const itsAddresses = addressesOf(own)
    const all = macs.toSorted()
    const others = all.filter((mac) => mac !== own.macAddress)
    /** Pings all targets while something happens, until packets come by other nodes than before; tells what was lost of each. */
    const lostDuring = async (
      what: string,
      action: () => Promise<void>,
      wanted: readonly string[],
    ): Promise<void> => {
      const pings = targets.map((target) => startPing(place, target))
      await Promise.all(pings.map((ping) => ping.started()))
      await action()
      await eventually(`all packets come by ${wanted.join()}`, async () => {
        const position = capture.seen().length
        const sent = pings.map((ping) => ping.sent())
        await Promise.all(pings.map((ping) => ping.more(20)))
        const isAnswered = pings.every((ping, index) => ping.answered() > (sent[index] ?? 0) + 10)
        return isAnswered && sameMacs(senders(position), wanted) ? true : undefined
      })
      const losses = await Promise.all(pings.map((ping) => ping.stop()))
      console.log(`lost ${what}, of 20 a second: ${losses.map(({ lost }) => lost.length).join(', ')}`)
    }
    const agent = { machine: first.name, component: 'agent' } as const
    {
      await using frozen = new AsyncDisposableStack()
      const freeze = async (): Promise<void> =>
        void frozen.use(await injectFault(cluster, { kind: 'pause', target: agent }))
      // The NIC forwards all the same: nobody is sent there any more before it ends.
      await lostDuring('when an agent stood still', freeze, others)
    }
    await lostDuring('when it went on', () => Promise.resolve(), all)
    await lostDuring(
      'when it was killed, and another one came',
      () => strike(cluster, { kind: 'kill', target: agent }),
      all,
    )
    await lostDuring(
      'when it was ended, and another one came',
      () => strike(cluster, { kind: 'restart', target: agent }),
      all,
    )
    expect((await eipOf(cluster, first.name)).ready).toBe(true)
    const eip = { apiVersion: 'kubeovn.io/v1', kind: 'OvnEip', metadata: { name: first.name } }
    await lostDuring('when its OvnEip was deleted', () => cluster.api.delete(eip), others)
    await untilStates(
      'up',
      addresses.filter((address) => !itsAddresses.includes(address)),
    )
    for (const address of itsAddresses)
      expect(await findColumn(central, 'BFD', 'status', `dst_ip="${address}"`)).toEqual([])
  })
}

function addressOf({ v4Ip = '', v6Ip = '' }: NonNullable<OvnEip['status']>, family: 'ipv4' | 'ipv6'): string {
  return family === 'ipv4' ? v4Ip : v6Ip
}

function sameMacs(seen: ReadonlySet<string>, wanted: readonly string[]): boolean {
  return [...seen].toSorted().join() === wanted.toSorted().join()
}

async function eipOf(cluster: Cluster, name: string): Promise<NonNullable<OvnEip['status']>> {
  return eventually(`OvnEip ${name} has addresses`, async () => {
    const { status } = await cluster.api.call<OvnEip>('GET', `/apis/kubeovn.io/v1/ovn-eips/${name}`)
    return status?.macAddress === undefined ? undefined : status
  })
}

function objectsOf({ nodes, topology }: Cluster): readonly ApiObject[] {
  const kubeOvn = (kind: string, name: string, spec: object): ApiObject => ({
    ...{ apiVersion: 'kubeovn.io/v1', kind, metadata: { name } },
    ...{ spec },
  })
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: barge } },
    kubeOvn('Vpc', barge, {
      ...{ namespaces: [barge], enableExternal: true, enableBfd: true, extraExternalSubnets: [sea] },
    }),
    kubeOvn('Subnet', `${barge}-pods`, {
      ...{
        vpc: barge,
        cidrBlock: ofStack(topology.stack, pods).join(),
        namespaces: [barge],
        enableEcmp: true,
      },
    }),
    ...nodes.map(({ name }) => kubeOvn('OvnEip', name, { externalSubnet: sea, type: 'lsp' })),
    idlePod({ name: `${barge}-1`, namespace: barge }, nodes[0]?.name),
  ]
}
