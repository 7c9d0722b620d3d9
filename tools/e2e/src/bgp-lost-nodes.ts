import { injectFault, type Cluster, type LabNode } from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import { leadBehind, patience, reactionMs } from './bgp-lab.ts'
import { bfd, learned } from './bgp-routers.ts'
import type { Routed } from './bgp-routed.ts'
import { expectWithin, timed, type Seen } from './bgp-traffic.ts'

const isDeep = process.env['KUBE_OVN_DEEP'] === '1'

/** That routers give up what a node has told them when it is gone without a word, and have it again when it is back. */
export function lostNodes(given: () => Routed): void {
  const isTold = async (family: 'ipv4' | 'ipv6'): Promise<boolean> => {
    const { frr, pods } = given()
    const table = await learned(frr, family)
    return (pods[1].status?.podIPs ?? []).some(({ ip }) => table.has(ip))
  }
  /** The sessions that BFD watches. */
  const watched = (): readonly string[] => [given().frr.addresses.ipv6, given().bird.addresses.ipv6]
  const untilAlive = async (): Promise<void> => {
    const { speakers, nodes } = given()
    for (const address of watched())
      await expect.poll(async () => (await speakers.status(nodes[1], address))?.bfd, patience).toBe('Up')
  }
  const areBack = (): Promise<readonly unknown[]> =>
    Promise.all(watched().map((address) => given().speakers.up(given().nodes[1], address)))
  const untilAllAsBefore = async (): Promise<void> => {
    const { pods, nodes, untilTold, untilReached } = given()
    const [, pod] = pods
    await untilTold(pod, nodes[1])
    await untilReached(...(pod.status?.podIPs ?? []).map(({ ip }) => ip))
  }

  it('of a node that is cut off are given up within what BFD is set to, long before their hold time', async () => {
    const { cluster, frr, nodes, pods, speakers, untilTold } = given()
    const [, node] = nodes
    const [times, backTimes]: [Seen[], Seen[]] = [[], []]
    for (let round = 0; round < 3; round++) {
      await untilAlive()
      {
        await using cuts = new AsyncDisposableStack()
        times.push(
          await timed(
            async () => void cuts.use(await cutOff(cluster, node)),
            () => isTold('ipv6'),
            false,
          ),
        )
        // The session without BFD waits for its hold time.
        expect(await isTold('ipv4')).toBe(true)
        await expect.poll(() => speakers.up(node, frr.addresses.ipv6), patience).toBe(0)
      }
      // Whatever was tried meanwhile, and however often it was lost lately.
      backTimes.push(await timed(untilAlive, areBack, [1, 1]))
      await untilTold(pods[1], node)
    }
    expectWithin(bfd.multiplier * bfd.ms + reactionMs, 'routes were given up', times)
    console.log(`back ${backTimes.map(({ ms }) => Math.round(ms)).join(', ')} ms after the way was`)
    await untilAllAsBefore()
    expect(
      await speakers.metric(node, 'bfd_peer_failure_transitions', frr.addresses.ipv6),
    ).toBeGreaterThanOrEqual(times.length)
  })

  it('of a node that loses its power are given up by BFD, and told again when it has started', async ({
    skip,
  }) => {
    skip(!isDeep, 'it takes a minute: KUBE_OVN_DEEP=1 runs it')
    const { cluster, nodes } = given()
    const [, node] = nodes
    await untilAlive()
    {
      await using losses = new AsyncDisposableStack()
      // What ends says good-bye as long as it has a way to.
      const lose = async (): Promise<void> => void losses.use(await cutOff(cluster, node))
      const seen = await timed(lose, () => isTold('ipv6'), false)
      losses.use(await injectFault(cluster, { kind: 'stop', target: { machine: node.name } }))
      console.log(`routes of a node without power were given up after ${Math.round(seen.ms)} ms`)
      expect(await isTold('ipv4')).toBe(true)
    }
    await expect.poll(areBack, patience).toEqual([1, 1])
    await leadBehind(cluster, node.name)
    await untilAllAsBefore()
  })
}

function cutOff(cluster: Cluster, { name }: LabNode): ReturnType<typeof injectFault> {
  return injectFault(cluster, { kind: 'partition', node: name, from: { network: 'physical' } })
}
