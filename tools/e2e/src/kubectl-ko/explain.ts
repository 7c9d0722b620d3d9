import { addressesOfPod, applyAll, deleteAll, eventually, kubectl, type PodObject } from '@kube-ovn/lab'
import { describe, expect, it } from 'vitest'
import { first, nameOf, type Ko, type KoSuite } from './suite.ts'

interface Explained {
  readonly rows: readonly { readonly row: string; readonly table: string; readonly owner: string }[]
  readonly unmet: readonly { readonly what: string }[]
}

/** From rows, flows and logged packets to objects, and back. */
export function describeExplain(given: () => KoSuite): void {
  const ko: Ko = (...args) => given().ko(...args)

  describe('explain', () => {
    it('leads from a pod to its row, and back', async () => {
      const { stdout, exitCode } = await ko('explain', `pod/${nameOf(first(given().shop))}`, '-o', 'json')
      const { rows, unmet } = JSON.parse(stdout) as Explained
      expect({ exitCode, unmet }).toEqual({ exitCode: 0, unmet: [] })
      const back = await ko('explain', first(rows).row.slice(0, 8), '-o', 'json')
      expect(JSON.parse(back.stdout)).toMatchObject({
        rows: [{ table: 'Logical_Switch_Port', owner: `pod-port/${nameOf(first(given().shop))}` }],
      })
    })

    it('keeps to the kind that it is asked about', async () => {
      const namesake = {
        ...{ apiVersion: 'kubeovn.io/v1', kind: 'Vpc', metadata: { name: 'stock' } },
        spec: { namespaces: [] },
      }
      const ownersOf = async (object: string): Promise<readonly string[]> => {
        const { rows } = JSON.parse((await ko('explain', object, '-o', 'json')).stdout) as Explained
        return [...new Set(rows.map(({ owner }) => owner))].toSorted()
      }
      const subnet = await ownersOf('subnet/stock')
      expect(subnet).toContain('subnet/stock')
      expect(subnet.filter((owner) => !owner.startsWith('subnet'))).toEqual([])
      await applyAll(given().cluster.api, [namesake])
      try {
        await expect.poll(() => ownersOf('vpc/stock'), { timeout: 60_000 }).toContain('vpc/stock')
        expect((await ownersOf('vpc/stock')).filter((owner) => owner.startsWith('subnet'))).toEqual([])
        expect(await ownersOf('subnet/stock')).toEqual(subnet)
      } finally {
        await deleteAll(given().cluster.api, [namesake])
      }
    })

    it('knows what a Service has in load balancers of all, and which Service a flow is of', async () => {
      const { cluster } = given()
      const dns = await cluster.api.call<{ readonly spec: { readonly clusterIPs: readonly string[] } }>(
        ...(['GET', '/api/v1/namespaces/kube-system/services/kube-dns'] as const),
      )
      const listed = await ko('nbctl', '--format=json', '--columns=_uuid,vips', 'list', 'Load_Balancer')
      const { data } = JSON.parse(listed.stdout) as {
        readonly data: readonly (readonly [[string, string], [string, [string, string][]]])[]
      }
      const entries = data.flatMap(([[, row], [, vips]]) =>
        vips
          .filter(([entry]) =>
            dns.spec.clusterIPs.some((ip) => entry.startsWith(ip.includes(':') ? `[${ip}]:` : `${ip}:`)),
          )
          .map(([entry, backends]) => `${row} vips ${entry}: ${entry} to ${backends}`),
      )
      // A port of each protocol at least.
      expect(entries.length).toBeGreaterThanOrEqual(2 * dns.spec.clusterIPs.length)
      const asked = await ko('explain', 'service/kube-system/kube-dns', '-o', 'json')
      const { rows } = JSON.parse(asked.stdout) as {
        readonly rows: readonly Readonly<Record<'row' | 'owner' | 'id' | 'content', string>>[]
      }
      expect(asked.exitCode).toBe(0)
      expect(rows.map(({ row, id, content }) => `${row} ${id}: ${content}`).toSorted()).toEqual(
        entries.toSorted(),
      )
      expect(new Set(rows.map(({ owner }) => owner))).toEqual(new Set(['service/kube-system/kube-dns']))
      const shown = await ko('explain', 'svc/kube-system/kube-dns')
      expect(shown).toMatchObject({ exitCode: 0, stderr: '' })
      expect(shown.stdout).toMatch(/^Load_Balancer +[0-9a-f]{8} .* service\/kube-system\/kube-dns +vips /m)

      const [address = ''] = dns.spec.clusterIPs
      const match = `match="ct.new && ip${address.includes(':') ? 6 : 4}.dst == ${address} && udp.dst == 53"`
      const flow = await ko('sbctl', '--bare', '--columns=_uuid', 'find', 'Logical_Flow', match)
      const whose = await ko('explain', first(flow.stdout.split('\n')))
      expect(whose.exitCode).toBe(0)
      expect(whose.stdout).toMatch(/^Logical_Flow .* service\/kube-system\/kube-dns +of the row below/m)
      expect(whose.stdout).toMatch(/^Load_Balancer .* service\/kube-system\/kube-dns +vips \S+:53 +-$/m)
    })

    it('knows the rows of an EgressFirewall, and the rule that each is of', async () => {
      const firewall = {
        ...{ apiVersion: 'k8s.ovn.org/v1', kind: 'EgressFirewall' },
        metadata: { name: 'default', namespace: 'stock' },
        spec: { egress: [{ type: 'Deny', to: { cidrSelector: '192.0.2.0/24' } }] },
      }
      await applyAll(given().cluster.api, [firewall])
      try {
        const shown = async (): Promise<string> =>
          (await ko('explain', 'egressfirewall/stock/default')).stdout
        await expect
          .poll(shown, { timeout: 60_000 })
          .toMatch(/^ACL .* egress-firewall\/stock\/default .* \d+ +spec\.egress\[0\]: denies$/m)
        expect(await shown()).toMatch(/^At most \d+ OpenFlow rules on a node that has one of its ports\.$/m)
        expect((await ko('explain', 'egressfirewall/stock/default')).exitCode).toBe(0)
        expect((await ko('explain')).exitCode).toBe(0)
      } finally {
        await deleteAll(given().cluster.api, [firewall])
      }
    })

    it('knows flows of every table', async () => {
      const node = first(given().shop).spec?.nodeName ?? ''
      const { stdout } = await ko('ofctl', node, 'dump-flows', 'br-int')
      const cookieOf = new Map(
        [...stdout.matchAll(/cookie=(0x[0-9a-f]+), .*?table=(\d+),/g)].map(([, cookie = '', table = '']) => [
          table,
          cookie,
        ]),
      )
      const cookies = [...cookieOf.values()].filter((_, index) => index % 4 === 0)
      expect(cookies.length).toBeGreaterThan(8)
      const unknown: string[] = []
      for (const cookie of cookies) {
        const { exitCode, stderr } = await ko('explain', cookie)
        // A flow may have gone since.
        if (exitCode !== 0 && (await ko('ofctl', node, 'dump-flows', 'br-int')).stdout.includes(cookie))
          unknown.push(`${cookie}: ${stderr}`)
      }
      expect(unknown).toEqual([])
    })

    it('leads from a packet that was dropped and logged to its policy', async () => {
      const target = first(given().tills)
      const address = first(addressesOfPod(target))
      const [vswitch] = (
        await given().cluster.api.list<PodObject>(
          '/api/v1/namespaces/kube-system/pods?labelSelector=app%3Dovs',
        )
      ).filter(({ spec }) => spec?.nodeName === target.spec?.nodeName)
      const inPod = (pod: PodObject | undefined, container: string, command: string): Promise<string> => {
        const { namespace = '', name = '' } = pod?.metadata ?? {}
        const words = ['exec', '-n', namespace, name, '-c', container, '--', 'sh', '-c', command]
        return kubectl(given().cluster, ...words)
      }
      const line = await eventually('the packet is in the log', async () => {
        await inPod(first(given().shop), 'web', `busybox nc -w 1 ${address} 8080 -e true; true`)
        const log = await inPod(vswitch, 'openvswitch', 'cat /var/log/ovn/ovn-controller.log')
        return log.split('\n').findLast((one) => one.includes('acl_log') && one.includes(address))
      })
      const { exitCode, stdout } = await ko('explain', line)
      expect(exitCode).toBe(0)
      expect(stdout).toContain(`(Pod ${nameOf(first(given().shop))}) to `)
      expect(stdout).toMatch(
        /^ACL .* network-policy\/guarded\/till .*spec\.policyTypes: denies what no rule /m,
      )
    })

    it('says what an object lacks, and that there is none', async () => {
      const overlapping = {
        ...{ apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata: { name: 'overlaps' } },
        spec: { cidrBlock: '10.16.0.0/24' },
      }
      await applyAll(given().cluster.api, [overlapping])
      try {
        await expect
          .poll(async () => (await ko('explain', 'subnet/overlaps')).stdout, { timeout: 60_000 })
          .toMatch(/^condition \w+ .*does not overlap 10\.16\.0\.0\/16/m)
      } finally {
        await deleteAll(given().cluster.api, [overlapping])
      }
      const policy = {
        ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
        metadata: { name: 'nameless', namespace: 'guarded' },
        spec: {
          podSelector: {},
          ingress: [
            { from: [{ podSelector: { matchLabels: { app: 'none' } } }] },
            { ports: [{ port: 'none' }] },
          ],
        },
      }
      await applyAll(given().cluster.api, [policy])
      try {
        const asked = await ko('explain', 'networkpolicy/guarded/nameless')
        expect(asked.stdout).toMatch(/^spec\.ingress\[0\]\.from .* selects no pod$/m)
        expect(asked.stdout).toMatch(/^spec\.ingress\[1\]\.ports .*no pod has a port none of TCP$/m)
        expect(asked.exitCode).toBe(1)
      } finally {
        await deleteAll(given().cluster.api, [policy])
      }
      const { exitCode, stdout } = await ko('explain', 'subnet/no-such')
      expect(exitCode).toBe(1)
      expect(stdout).toContain('there is no such object')
      expect(await ko('explain', 'subnets.kubeovn.io/shop')).toMatchObject({
        exitCode: 2,
        stderr: expect.stringMatching(/value=subnets\.kubeovn\.io\).*write one of: .*, subnet, /),
      })
    })

    it('knows of every row of the Northbound whose it is', async () => {
      const { exitCode, stdout } = await ko('explain')
      expect(stdout).toMatch(/^each of \d+ rows is of an object\n$/)
      expect(exitCode).toBe(0)
    })
  })
}
