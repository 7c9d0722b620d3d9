import { addressesOfPod, untilPodsReady } from '@kube-ovn/lab'
import { describe, expect, it } from 'vitest'
import { first, nameOf, portOf, type Ko, type KoSuite } from './suite.ts'
import { TraceMatrix } from './trace-matrix.ts'
import { traceTcp } from './trace-verdict.ts'

/** What becomes of packets. */
export function describePackets(given: () => KoSuite): void {
  const ko: Ko = (...args) => given().ko(...args)

  describe('ovn-trace', () => {
    it('delivers to pods of other subnets, by each family and protocol', async () => {
      const target = first(given().stock)
      for (const address of addressesOfPod(target)) {
        for (const protocol of [['icmp'], ['tcp', '80'], ['udp', '53']]) {
          const { exitCode, stdout, stderr } = await ko(
            'ovn-trace',
            nameOf(first(given().shop)),
            address,
            ...protocol,
          )
          expect(exitCode).toBe(0)
          expect(stdout.trimEnd().split('\n').at(-1)).toContain(`output to "${portOf(target)}"`)
          expect(stderr.trimEnd().split('\n').at(-1)).toBe(`delivered to ${portOf(target)}`)
        }
      }
    })

    it('names the policy that drops a packet', async () => {
      const address = first(addressesOfPod(first(given().tills)))
      const { exitCode, stdout } = await ko(
        'ovn-trace',
        nameOf(first(given().shop)),
        address,
        'tcp',
        '8080',
        '-o',
        'json',
      )
      expect(exitCode).toBe(0)
      expect(JSON.parse(stdout)).toMatchObject({
        verdict: { outcome: 'dropped', by: { table: 'ACL', owner: 'network-policy/guarded/till' } },
      })
    })

    it('tells the node by which a packet leaves the cluster, and the routing policy that keeps one in', async () => {
      const pod = first(given().shop)
      const isV6 = given().cluster.stack === 'ipv6'
      const [outside, forbidden] = isV6 ? ['2001:db8::1', '2001:db8::2'] : ['198.51.100.1', '198.51.100.2']
      const out = await ko('ovn-trace', nameOf(pod), outside, 'icmp')
      const node = pod.spec.nodeName ?? ''
      expect(out.stderr.trimEnd().split('\n').at(-1)).toBe(`leaves by ${node} with the node's address`)

      const match = `ip${isV6 ? 6 : 4}.dst == ${forbidden}`
      // Its mark says that it is of somebody else, so that nobody takes it away.
      const row = [`match="${match}"`, 'priority=32767', 'action=drop', 'external_ids:tried-by=kubectl-ko']
      const added = await ko(
        ...['nbctl', '--wait=sb', '--', '--id=@policy', 'create', 'Logical_Router_Policy', ...row],
        ...['--', 'add', 'Logical_Router', 'ovn-cluster', 'policies', '@policy'],
      )
      expect(added).toMatchObject({ exitCode: 0 })
      try {
        const kept = await ko('ovn-trace', nameOf(pod), forbidden, 'icmp', '-o', 'json')
        expect(JSON.parse(kept.stdout)).toMatchObject({
          verdict: {
            outcome: 'dropped',
            stage: 'lr_in_policy',
            by: { table: 'Logical_Router_Policy', match, action: 'drop' },
          },
        })
      } finally {
        await ko('nbctl', 'lr-policy-del', 'ovn-cluster', '32767', match)
      }
    })

    it('goes on through the flows of the node, from pods and from nodes', async () => {
      const target = first(given().stock)
      const address = first(addressesOfPod(target))
      for (const source of [
        nameOf(first(given().shop)),
        `node//${first(given().shop).spec?.nodeName ?? ''}`,
      ]) {
        const { exitCode, stdout, stderr } = await ko('trace', source, address, 'tcp', '80')
        expect(exitCode).toBe(0)
        expect(stdout).toContain('Start OVS Tracing')
        expect(stdout).toContain('Datapath actions:')
        expect(stderr).toContain(`delivered to ${portOf(target)}`)
      }
    })
  })

  it('traces tell what becomes of packets: of pods, Services, policies, private subnets and VPCs', async () => {
    const [caller] = await untilPodsReady(given().cluster.api, 'guarded', 'app=caller', 2)
    await using matrix = await TraceMatrix.make(given().cluster, {
      ...{
        shop: first(given().shop),
        stock: first(given().stock),
        till: first(given().tills),
        caller: first(caller === undefined ? [] : [caller]),
      },
    })
    const sent = await matrix.tell((pair) => matrix.probe(pair))
    const traced = await matrix.tell(async ({ from, address, port }) => {
      const { outcome, ports } = await traceTcp(ko, from, address, port)
      // What leaves by a node is not for any of the pods that are asked here.
      const isForNode = ports.some((name) => name.startsWith('node-'))
      return outcome === 'delivered' && !isForNode ? 'arrives' : 'is lost'
    })
    expect(traced).toEqual(sent)
    // It says nothing where all is allowed, or nothing.
    for (const outcome of ['arrives', 'is lost'])
      expect(sent.filter((one) => one.endsWith(outcome)).length).toBeGreaterThan(3)
  })

  it('tcpdump sees what reaches a pod, and ends by itself', async () => {
    // The kubelet's probes come all the time.
    const { exitCode, stdout } = await ko('tcpdump', nameOf(first(given().shop)), '-c', '1', 'tcp')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/ IP6? /)
  })
}
