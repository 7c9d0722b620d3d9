import {
  chassisAnnotation,
  eventually,
  findColumn,
  gatewayLabel,
  labelNode,
  ovnCentral,
  startPing,
  type Place,
} from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import { linkOf, type Ferry } from './ferry.ts'
import { startCapture } from './packet-capture.ts'

/** A VPC's router whose port outside is on one of several nodes. */
export function gatewayMoves(given: () => Ferry): void {
  it('keep what is outside in touch, in each family, when their gateway moves to another node', async () => {
    const { cluster, families, bird, own, ownPort } = given()
    await using stack = new AsyncDisposableStack()
    const central = await ovnCentral(cluster)
    const before = await hostOf(central, ownPort)
    const nodes = await cluster.api.list('/api/v1/nodes')
    const host = nodes.find(({ metadata: { annotations } }) => annotations?.[chassisAnnotation] === before)
    if (host === undefined) return expect.unreachable(`a node has the chassis ${before}`)
    const pings = families.map((family) => startPing(bird.place, own[family]))
    await Promise.all(pings.map((ping) => ping.started()))
    // Of IPv6, OVN announces nothing.
    const announcement = `arp src host ${own.ipv4} and arp[14:4] = arp[24:4]`
    const capture = await startCapture(bird.place, ['-i', await linkOf(bird), announcement])
    stack.defer(async () => void (await capture.stop()))
    const label = (value: string | null): Promise<unknown> =>
      labelNode(cluster.api, host.metadata.name, gatewayLabel, value)
    stack.defer(async () => void (await label('true')))
    await label(null)
    await eventually('the port is on another node', async () => {
      const now = await hostOf(central, ownPort)
      return now !== '' && now !== before ? now : undefined
    })
    // Who had to wait until entries of bridges and of neighbours expire would wait for minutes.
    const sent = pings.map((ping) => ping.sent())
    await eventually('the new one answers in each family', () =>
      Promise.resolve(pings.every((ping, index) => ping.answered() > (sent[index] ?? 0) + 20) || undefined),
    )
    const losses = await Promise.all(pings.map((ping) => ping.stop()))
    console.log(
      `lost while a gateway moved, of 20 a second: ${losses.map(({ lost }) => lost.length).join(', ')}`,
    )
    const unannounced = (): readonly string[] =>
      families.includes('ipv4') && !capture.seen().includes(own.ipv4) ? [own.ipv4] : []
    await expect.poll(unannounced, { timeout: 120_000 }).toEqual([])
  })
}

/** The chassis that has a port of a router, by what ovn-northd says of it; empty for none. */
async function hostOf(central: Place, port: string): Promise<string> {
  const [status = ''] = await findColumn(central, 'Logical_Router_Port', 'status', `name=${port}`)
  return /hosting-chassis="?([^" ,}]+)/.exec(status)?.[1] ?? ''
}
