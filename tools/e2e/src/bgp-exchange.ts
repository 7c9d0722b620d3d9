import { chartNamespace, startPing, untilRolledOut } from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import type { Routed } from './bgp-routed.ts'
import { patience } from './bgp-lab.ts'

/** That those outside lose nothing while speakers are exchanged, as an upgrade does. */
export function exchangedSpeakers(given: () => Routed): void {
  it('lose no packet while speakers are exchanged', async () => {
    const { cluster, frr, host, nodes, pods, speakers } = given()
    const addresses = pods.flatMap(({ status }) => (status?.podIPs ?? []).map(({ ip }) => ip))
    // Not from FRR by IPv6: BFD ends that session where the machine stands still for a second, whatever is exchanged.
    const pings = [
      ...addresses
        .filter((address) => !address.includes(':'))
        .map((address) => startPing(frr.place, address)),
      ...addresses.map((address) => startPing(host.place, address)),
    ]
    for (const ping of pings) await ping.started()
    await cluster.api.mergePatch(`/apis/apps/v1/namespaces/${chartNamespace}/daemonsets/kube-ovn-speaker`, {
      spec: { template: { metadata: { annotations: { 'example.com/generation': '2' } } } },
    })
    await untilRolledOut(cluster.api, 'daemonsets', chartNamespace, 'kube-ovn-speaker')
    for (const node of nodes)
      for (const address of [frr.addresses.ipv4, frr.addresses.ipv6])
        await expect.poll(() => speakers.up(node, address), patience).toBe(1)
    const losses = await Promise.all(pings.map((ping) => ping.stop()))
    console.log(`${losses.map(({ sent }) => sent).join(', ')} packets while speakers were exchanged`)
    expect(losses.map(({ lost }) => lost)).toEqual(pings.map(() => []))
  })
}
