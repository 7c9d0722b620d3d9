import { dropPackets, eventually, findColumn, ovnCentral, pingAll, placeOf, startPing } from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import type { Router } from './bgp-routers.ts'
import type { Ferry } from './ferry.ts'
import { koOf } from './kubectl-ko/run-program.ts'
import { traceTcp } from './kubectl-ko/trace-verdict.ts'

/** Next hops of a VPC that speak BFD, of each family. */
export function bfdNextHops(given: () => Ferry): void {
  it('leave a next hop that BFD finds dead, as traces do, and come back to it', async () => {
    const { cluster, families, frr, bird, targets, pods } = given()
    await using stack = new AsyncDisposableStack()
    const central = await ovnCentral(cluster)
    const [pod] = pods.ferry
    if (pod === undefined) return expect.unreachable()
    const place = placeOf(cluster, pod)
    const statesOf = async (router: Router): Promise<string> => {
      const states = await Promise.all(
        families.map((family) =>
          findColumn(central, 'BFD', 'status', `dst_ip="${router.addresses[family]}"`),
        ),
      )
      return states.flat().join()
    }
    const inEach = (state: string): string => families.map(() => state).join()
    const untilStates = (wanted: string, of: Router): Promise<unknown> =>
      eventually(`${of.name} is ${wanted}`, async () =>
        (await statesOf(of)) === inEach(wanted) ? true : undefined,
      )
    const untilAllAnswer = (): Promise<unknown> =>
      eventually('all targets answer', async () =>
        (await pingAll(place, targets)).size === targets.length ? true : undefined,
      )
    await untilStates('up', frr)
    await untilStates('up', bird)
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
    expect(await statesOf(frr)).toBe(inEach('down'))
    expect(await statesOf(bird)).toBe(inEach('up'))
    const losses = await Promise.all(pings.map((ping) => ping.stop()))
    const lost = losses.map((loss) => loss.lost.length)
    console.log(`lost while a next hop died, of 20 a second: ${lost.join(', ')}`)
    // It had some of them, and the other one had others.
    expect(Math.min(...lost)).toBeLessThan(Math.max(...lost) / 2)
    const traced = await Promise.all(
      targets
        .slice(0, 2 * families.length)
        .map((target) => traceTcp(koOf(cluster.kubeconfig), pod, target, 80)),
    )
    const hops = families.map((family) => bird.addresses[family])
    expect(traced.map(({ wayOut }) => wayOut?.nextHop)).toEqual([...hops, ...hops])
    await silence[Symbol.asyncDispose]()
    await untilStates('up', frr)
    await untilAllAnswer()
  })
}
