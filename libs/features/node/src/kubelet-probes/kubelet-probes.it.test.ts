import { createServer, type Server } from 'node:net'
import { text } from 'node:stream/consumers'
import { podAnnotations } from '@kube-ovn/annotations'
import type { Container, Pod, ServiceCidr } from '@kube-ovn/kube-api/core'
import { inNamespace, openNetlink, type Netlink } from '@kube-ovn/netlink'
import { missingForNamespaces, openTestNetwork, type TestNamespace } from '@kube-ovn/testing-net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeProbePath } from '../sinks/probe-path.ts'
import { nodeOf, subnetOf, TestNode, type TestAgent } from '../testing/test-node.ts'

const missing = missingForNamespaces('nft', 'bash', 'timeout')

const keys = podAnnotations()
const addresses = ['10.40.0.5', 'fd00:10:40::5']
/** What there is of the way to a pod `red`. */
const way = [
  ...['ovn-probes-pod', 'ovn-probes', 'rule of ipv4', 'rule of ipv6'],
  ...['inet kube-ovn-probes', 'netdev kube-ovn-probes-726564_h'],
]
const gateways = ['10.40.0.1', 'fd00:10:40::1']

describe.skipIf(missing)(
  `probes into VPCs${missing === undefined ? '' : ` (${missing})`}`,
  { timeout: 300_000 },
  () => {
    let node: TestNode
    let agent: TestAgent
    let host: Netlink
    let stack: AsyncDisposableStack

    beforeEach(async () => {
      stack = new AsyncDisposableStack()
      node = stack.use(await TestNode.start())
      await node.database.vsctl('add-br', 'br-int')
      host = stack.use(openNetlink({ netns: node.host.path }))
      const index = host.link('eth0')?.index ?? 0
      host.addAddress(index, '2001:db8::10/64', { noDad: true })
      host.replaceRoute({ destination: '0.0.0.0/0', gateway: '192.0.2.1' })
      host.replaceRoute({ destination: '::/0', gateway: '2001:db8::1' })
      for (const vpc of ['red', 'blue'])
        node.subnets.put(vpc, subnetOf(vpc, { vpc, cidrBlock: '10.40.0.0/24,fd00:10:40::/112' }))
      agent = start()
    })
    afterEach(() => stack?.disposeAsync())

    function start(reachesVpcs = true): TestAgent {
      return node.startAgent({}, undefined, { reachesVpcs })
    }

    async function settle(): Promise<void> {
      expect(await agent.settle()).toEqual([])
    }

    /** A pod whose link is where the agent of pods puts it; it says its name on the ports where it listens. */
    async function attach(
      name: string,
      { vpc = name, listens = [8080], probes = [8080], port = '' }: Partial<PodOptions> = {},
    ): Promise<TestNamespace> {
      const network = stack.use(openTestNetwork())
      const inside = network.namespace(name)
      const link = linkOf(name)
      const mac = join(host, link, inside.path)
      for (const number of listens) await listen(inside, number, name)
      const readinessProbe = { tcpSocket: { port: port === '' ? 0 : port } }
      const containers: Container[] = [
        ...probes.map((number) => ({ name: `c${number}`, readinessProbe: { httpGet: { port: number } } })),
        { name: 'named', ports: [{ name: 'other', containerPort: 9999 }], readinessProbe },
      ]
      node.pods.put(`shop/${name}`, podOf(name, { vpc, mac, containers }))
      await node.addPodPort(link, name, `uid-${name}`, { 'iface-id': `${name}.shop`, if_name: 'eth0' })
      await settle()
      return inside
    }

    async function listen(inside: TestNamespace, port: number, name: string): Promise<void> {
      const server = createServer((socket) => void socket.on('error', () => undefined).end(`${name}\n`))
      await new Promise<void>((resolve, reject) => {
        server.once('listening', resolve).once('error', reject)
        inNamespace(inside.path, () => void server.listen(port))
      })
      stack.defer(() => closed(server))
    }

    /** What the node's own process reads there, or why it does not. */
    async function ask(port: number, seconds = 60): Promise<readonly string[]> {
      return Promise.all(
        addresses.map(async (address) => {
          const script = `exec 3<>/dev/tcp/${address}/${port} && cat <&3`
          const child = node.host.start('timeout', String(seconds), 'bash', '-c', script)
          if (child.stdout === null || child.stderr === null) return ''
          const [said, complaint] = await Promise.all([text(child.stdout), text(child.stderr)])
          return said.trim() || (/refused/.test(complaint) ? 'refused' : 'nothing')
        }),
      )
    }

    /** Whatever there is of the way: links, rules, tables. */
    async function traces(): Promise<readonly string[]> {
      const tables = await node.netfilter.listTables()
      return [
        ...host.links().flatMap(({ name }) => (name.startsWith('ovn-probes') ? [name] : [])),
        ...host.rules().flatMap(({ family, table }) => (table === 10_001 ? [`rule of ${family}`] : [])),
        ...tables.flatMap(({ family, name }) => (name.startsWith('kube-ovn-') ? [`${family} ${name}`] : [])),
      ]
    }

    it('reach the port that listens, and are refused where none does', async () => {
      await attach('red', { probes: [8080, 8081] })
      expect(await ask(8080)).toEqual(['red', 'red'])
      expect(await ask(8081)).toEqual(['refused', 'refused'])
    })

    it('leave whatever is not probed alone', async () => {
      await attach('red', { listens: [8080, 9090], port: 'missing' })
      expect(node.host.run('nft', 'list', 'table', 'inet', 'kube-ovn-probes')).not.toContain('9090')
    })

    it('tell pods with one address apart by their ports', async () => {
      await attach('red', { listens: [8080, 9090], probes: [8080] })
      await attach('blue', { listens: [8080, 9090], probes: [], port: 'other' })
      await attach('green', { vpc: 'blue', listens: [9090], probes: [9090] })
      expect(await ask(8080)).toEqual(['red', 'red'])
      expect(await ask(9090)).toEqual(['green', 'green'])
    })

    it('go to the elder of two pods with one address and port, and the other one’s owner is told', async () => {
      await attach('red')
      await attach('blue')
      expect(await ask(8080)).toEqual(['red', 'red'])
      expect(problems()).toMatchObject([
        {
          ...{ pod: 'shop/blue', holder: 'pod shop/red' },
          value: `${addresses[0]}:8080,[${addresses[1]}]:8080`,
          cure: 'probe another port, or by exec, or let another node run the Pod',
        },
      ])
      node.pods.put('shop/red', undefined)
      await settle()
      expect(await ask(8080)).toEqual(['blue', 'blue'])
    })

    it('never go astray where the default VPC has the address', async () => {
      node.subnets.put('wide', subnetOf('wide', { cidrBlock: '10.40.0.0/16' }))
      await attach('red')
      expect(problems()).toMatchObject([
        { pod: 'shop/red', holder: 'subnet wide (10.40.0.0/16) of the default VPC' },
      ])
      expect(await traces()).toEqual([expect.stringMatching(/^netdev /)])
      node.subnets.put('wide', undefined)
      await settle()
      expect(await ask(8080)).toEqual(['red', 'red'])
    })

    it('never come between the node and what it has to reach, at an address that a VPC has, too', async () => {
      await attach('red')
      for (const [holder, put] of [
        ['node n2', (there) => node.nodes.put('n2', there ? nodeOf('n2', '10.40.0.5') : undefined)],
        [
          'Services (fd00:10:40::/112)',
          (there) => node.serviceCidrs.put('more', there ? readyPrefix('fd00:10:40::/112') : undefined),
        ],
      ] as const satisfies readonly (readonly [string, (there: boolean) => void])[]) {
        const before = problems().length
        put(true)
        await settle()
        expect(problems().slice(before)).toMatchObject([{ pod: 'shop/red', holder }])
        expect(await traces()).toEqual([expect.stringMatching(/^netdev /)])
        put(false)
        await settle()
        expect(await ask(8080)).toEqual(['red', 'red'])
      }
    })

    it('let no pod into the node', async () => {
      const inside = await attach('red', { probes: [8080, 8081], listens: [8080] })
      await listen(node.host, 7070, 'node')
      const script = 'exec 3<>/dev/tcp/169.254.81.2/7070 && cat <&3'
      const child = inside.start('timeout', '2', 'bash', '-c', script)
      expect(child.stdout && (await text(child.stdout))).toBe('')
      // From a probed port it gets past the first table.
      inside.run('nft', 'add table ip t; add chain ip t c { type nat hook postrouting priority 0; }')
      inside.run('nft', 'add rule ip t c tcp dport 7070 snat to 10.40.0.5:8081')
      const other = inside.start('timeout', '2', 'bash', '-c', script)
      expect(other.stdout && (await text(other.stdout))).toBe('')
      expect(await ask(8080)).toEqual(['red', 'red'])
    })

    it('go on over a restart, which writes nothing', async () => {
      await attach('red')
      await agent.stop()
      expect(await ask(8080)).toEqual(['red', 'red'])
      agent = start()
      await settle()
      expect([await agent.writes(), await ask(8080)]).toEqual([0, ['red', 'red']])
    })

    it('go on while the next agent has not heard of the database yet, and when it has', async () => {
      await attach('red')
      await agent.stop()
      const ovs = node.openDatabase()
      agent = node.startAgent({}, undefined, { reachesVpcs: true, ovs })
      await settle()
      expect([await agent.writes(), await traces(), await ask(8080)]).toEqual([0, way, ['red', 'red']])
      await ovs.connect()
      await settle()
      expect([await agent.writes(), await ask(8080)]).toEqual([0, ['red', 'red']])
      // What went meanwhile is taken away all the same.
      node.pods.put('shop/red', undefined)
      await settle()
      expect(await traces()).toEqual([])
    })

    it('heal, whatever somebody does to their way', { timeout: 600_000 }, async () => {
      await attach('red')
      for (const vandalism of [
        'ip link del ovn-probes',
        'ip link set ovn-probes down',
        'ip link set ovn-probes arp on',
        'ip addr flush dev ovn-probes',
        'ip -6 rule del fwmark 0x90003/0x90003',
        'ip route flush table 10001',
        'nft delete table inet kube-ovn-probes',
        'nft flush ruleset',
      ]) {
        node.host.run('bash', '-c', vandalism)
        const askAgain = async (): Promise<unknown> => [vandalism, ...(await ask(8080, 2))]
        await expect.poll(askAgain).toEqual([vandalism, 'red', 'red'])
      }
      await settle()
    })

    it('leave nothing behind when the last pod has gone, when they are switched off, or at an uninstallation', async () => {
      expect(await traces()).toEqual([])
      await attach('red')
      expect(await traces()).toEqual(way)
      node.pods.put('shop/red', undefined)
      await settle()
      expect(await traces()).toEqual([])
      await attach('blue')
      await agent.stop()
      agent = start(false)
      await settle()
      expect(await traces()).toEqual([])
      await agent.stop()
      agent = start()
      await settle()
      await agent.stop()
      expect(removeProbePath(host)).toHaveLength(4)
      expect(await traces()).toEqual(['inet kube-ovn-probes', `netdev kube-ovn-probes-${linkOf('blue')}`])
      expect(removeProbePath(host)).toEqual([])
    })

    it('cost a pod of the default VPC nothing', async () => {
      node.subnets.put('plain', subnetOf('plain', { cidrBlock: '10.40.0.0/24,fd00:10:40::/112' }))
      await settle()
      const before = await agent.writes()
      await attach('red', { vpc: 'plain' })
      expect([await traces(), (await agent.writes()) - before]).toEqual([[], 0])
    })

    function problems(): readonly unknown[] {
      return agent.log.lines
        .filter(({ level }) => level === 'warn' || level === 'error')
        .map(({ fields }) => fields['err'] as { readonly details?: unknown } | undefined)
        .map((err) => err?.details)
    }
  },
)

interface PodOptions {
  readonly vpc: string
  readonly listens: readonly number[]
  readonly probes: readonly number[]
  /** The name of a further one. */
  readonly port: string
}

/** Joins a pod to the node by a veth pair, with gateways that nobody is behind; answers its MAC address. */
function join(host: Netlink, link: string, netns: string): string {
  host.createVeth({ name: link, up: true, peer: { name: 'eth0', netns } })
  using inside = openNetlink({ netns })
  const { index = 0, mac = '' } = inside.link('eth0') ?? {}
  inside.changeLink(index, { up: true })
  inside.addAddress(index, `${addresses[0]}/24`)
  inside.addAddress(index, `${addresses[1]}/112`, { noDad: true })
  for (const gateway of gateways) {
    inside.replaceNeighbour({ index, address: gateway, mac: '02:00:00:00:00:01' })
    inside.replaceRoute({ destination: gateway.includes(':') ? '::/0' : '0.0.0.0/0', gateway })
  }
  return mac
}

function readyPrefix(cidr: string): ServiceCidr {
  const conditions = [{ type: 'Ready', status: 'True' } as const]
  return { metadata: { name: 'more' }, spec: { cidrs: [cidr] }, status: { conditions } }
}

/** As the agent names a pod's link. */
function linkOf(name: string): string {
  return `${Buffer.from(name).toString('hex').slice(0, 12)}_h`
}

let created = 0

function podOf(
  name: string,
  { vpc, mac, containers }: { readonly vpc: string; readonly mac: string; readonly containers: Container[] },
): Pod {
  const creationTimestamp = new Date(1_700_000_000_000 + 1000 * created++).toISOString()
  const annotations = {
    [keys.allocated.key]: 'true',
    [keys.routed.key]: 'true',
    [keys.ipAddress.key]: addresses.join(),
    [keys.macAddress.key]: mac,
    [keys.cidr.key]: '10.40.0.0/24,fd00:10:40::/112',
    [keys.gateway.key]: gateways.join(),
    [keys.logicalSwitch.key]: vpc,
  }
  return {
    metadata: { namespace: 'shop', name, uid: `uid-${name}`, annotations, creationTimestamp },
    spec: { containers },
  }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()))
}
