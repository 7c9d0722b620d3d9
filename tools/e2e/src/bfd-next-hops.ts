import { dropPackets, eventually, findColumn, ovnCentral, pingAll, placeOf, startPing } from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import type { Router } from './bgp-routers.ts'
import type { Ferry } from './ferry.ts'
import { koOf } from './kubectl-ko/run-program.ts'
import { traceTcp } from './kubectl-ko/trace-verdict.ts'

/** Next hops of a VPC that speak BFD, of both families. */
export function bfdNextHops(given: () => Ferry): void {
  it('leave a next hop that BFD finds dead, as traces do, and come back to it', async () => {
    const { cluster, frr, bird, targets, pods } = given()
    await using stack = new AsyncDisposableStack()
    const central = await ovnCentral(cluster)
    const [pod] = pods.ferry
    if (pod === undefined) return expect.unreachable()
    const place = placeOf(cluster, pod)
    const statesOf = async (router: Router): Promise<string> => {
      const states = await Promise.all(
        Object.values(router.addresses).map((address: string) =>
          findColumn(central, 'BFD', 'status', `dst_ip="${address}"`),
        ),
      )
      return states.flat().join()
    }
    const untilStates = (wanted: string, of: Router): Promise<unknown> =>
      eventually(`${of.name} is ${wanted}`, async () => ((await statesOf(of)) === wanted ? true : undefined))
    const untilAllAnswer = (): Promise<unknown> =>
      eventually('all targets answer', async () =>
        (await pingAll(place, targets)).size === targets.length ? true : undefined,
      )
    await untilStates('up,up', frr)
    await untilStates('up,up', bird)
    await untilAllAnswer()
    const pings = targets.map((target) => startPing(place, target))
    await Promise.all(pings.map((ping) => ping.started()))
    const silence = await dropPackets(frr.place, { input: [''], output: [''] })
    stack.use(silence)
    const sent = pings.map((ping) => ping.sent())
    // While the next hop is still dead.
    await eventually('all are answered again', () =>
      Promise.resolve(
        pings.every(
          (ping, index) => ping.answered() > (sent[index] ?? 0) + 40 && ping.sent() - ping.answered() < 10,
        ) || undefined,
      ),
    )
    expect(await statesOf(frr)).toBe('down,down')
    expect(await statesOf(bird)).toBe('up,up')
    const losses = await Promise.all(pings.map((ping) => ping.stop()))
    const lost = losses.map((loss) => loss.lost.length)
    console.log(`lost while a next hop died, of 20 a second: ${lost.join(', ')}`)
    // It had some of them, and the other one had others.
    expect(Math.min(...lost)).toBeLessThan(Math.max(...lost) / 2)
    const traced = await Promise.all(
      targets.slice(0, 4).map((target) => traceTcp(koOf(cluster.kubeconfig), pod, target, 80)),
    )
    const { ipv4, ipv6 } = bird.addresses
    expect(traced.map(({ wayOut }) => wayOut?.nextHop)).toEqual([ipv4, ipv6, ipv4, ipv6])
    await silence[Symbol.asyncDispose]()
    await untilStates('up,up', frr)
    await untilAllAnswer()
  })
}
