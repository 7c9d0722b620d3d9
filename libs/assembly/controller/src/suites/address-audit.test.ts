import { controllerFinalizer } from '@kube-ovn/annotations'
import type { Pod } from '@kube-ovn/kube-api/core'
import { ip, node, pod, statefulSet, subnet } from '@kube-ovn/testing-builders'
import { describe, expect, it } from 'vitest'
import { type StillObjects, type StillRows, stillWorld } from '@kube-ovn/domains-control/testing/still-world'
import { desiredStatus } from '@kube-ovn/features-addresses/subnet-status'
import type { ControlWorld } from '@kube-ovn/domains-control'
import { auditAddresses } from '@kube-ovn/domains-control/address-audit'

const family = { name: 'dual stack', cidrBlock: '10.1.0.0/24,fd00:1::/120', at: dual }

function dual(number: number): string {
  return `10.1.0.${number},fd00:1::${number}`
}

/** The same story in both families and in each alone. */
const families = [
  family,
  { name: 'IPv4', cidrBlock: '10.1.0.0/24', at: (number: number) => `10.1.0.${number}` },
  { name: 'IPv6', cidrBlock: 'fd00:1::/120', at: (number: number) => `fd00:1::${number}` },
]

type At = (number: number) => string

function mac(number: number): string {
  return `00:00:5e:00:53:0${number}`
}

function toldPod(at: At, name: string, number: number): Pod {
  const annotations = {
    'ovn.kubernetes.io/allocated': 'true',
    'ovn.kubernetes.io/ip_address': at(number),
    'ovn.kubernetes.io/mac_address': mac(number),
    'ovn.kubernetes.io/logical_switch': 'blue',
  }
  return pod({ name, namespace: 'shop', node: 'n1', phase: 'Running', annotations })
}

function recordOf(at: At, name: string, number: number) {
  const addresses = at(number).split(',')
  return ip({
    name: `${name}.shop`,
    podName: name,
    namespace: 'shop',
    subnet: 'blue',
    v4IpAddress: addresses.find((text) => !text.includes(':')) ?? '',
    v6IpAddress: addresses.find((text) => text.includes(':')) ?? '',
    macAddress: mac(number),
    labels: { 'ovn.kubernetes.io/ip_reserved': 'false' },
  })
}

function portOf(at: At, name: string, number: number) {
  return {
    name: `${name}.shop`,
    addresses: [[mac(number), ...at(number).split(',')].join(' ')],
    external_ids: { vendor: 'kube-ovn', ls: 'blue', pod: `shop/${name}` },
  }
}

/** Two pods with everything that belongs to them, and the port of the router. */
function quiet(
  at: At,
  cidrBlock: string,
): { objects: Required<Pick<StillObjects, 'nodes' | 'subnets' | 'pods' | 'ips'>>; ports: readonly object[] } {
  return {
    objects: {
      nodes: [node({ name: 'n1' })],
      subnets: [subnet({ name: 'blue', cidrBlock })],
      pods: [toldPod(at, 'a', 2), toldPod(at, 'b', 3)],
      ips: [recordOf(at, 'a', 2), recordOf(at, 'b', 3)],
    },
    ports: [
      portOf(at, 'a', 2),
      portOf(at, 'b', 3),
      { name: 'blue-ovn-cluster', addresses: ['router'], external_ids: {} },
    ],
  }
}

function rowsOf(ports: readonly object[]): StillRows {
  const uuids = ports.map((_, index) => `Logical_Switch_Port ${index}`)
  return { Logical_Switch: [{ name: 'blue', ports: uuids }], Logical_Switch_Port: ports }
}

/** What is found, as `rule name source value: owners`. */
function findings(world: ControlWorld): readonly string[] {
  return auditAddresses(world).map(({ rule, name, source, value, owners }) => {
    return `${rule} ${name} (${source}) ${value}: ${owners.join(' ')}`
  })
}

/** The start of a message for each address that `at` gives. */
function each(at: At, number: number, text: (address: string) => string): readonly string[] {
  return at(number).split(',').map(text)
}

describe.each(families)('auditAddresses, $name', ({ at, cidrBlock }) => {
  it('finds nothing where all agree', () => {
    const { objects, ports } = quiet(at, cidrBlock)
    expect(findings(stillWorld(objects, rowsOf(ports)))).toEqual([])
  })

  it("finds a stranger's port with the address of a pod, and names both", () => {
    const { objects, ports } = quiet(at, cidrBlock)
    const stranger = {
      name: 'vm-7',
      addresses: [`00:00:5e:00:53:99 ${at(3).replace(',', ' ')}`],
      external_ids: {},
    }
    const world = stillWorld(objects, rowsOf([...ports, stranger]))
    expect(findings(world)).toEqual(
      each(at, 3, (ip) => `held-twice vm-7 (logical switch port) ${ip}: port/vm-7 pod/shop/b`),
    )
    expect(auditAddresses(world)[0]?.cure).toBe(
      'remove logical switch port vm-7, or give it another address: pod/shop/b has this one',
    )
  })

  it("finds a stranger's port with an address that may still be handed out, and one with a MAC address of a pod", () => {
    const { objects, ports } = quiet(at, cidrBlock)
    const stranger = { name: 'vm-7', addresses: [`${mac(2)} ${at(9).replace(',', ' ')}`], external_ids: {} }
    const world = stillWorld(objects, rowsOf([...ports, stranger]))
    expect(findings(world)).toEqual([
      ...each(at, 9, (ip) => `unheld vm-7 (logical switch port) ${ip}: port/vm-7`),
      `mac-held-twice vm-7 (logical switch port) ${mac(2)}: port/vm-7 pod/shop/a`,
    ])
    expect(auditAddresses(world)[0]?.cure).toContain('to spec.excludeIps of subnet blue')
  })

  it('finds two records of one address, and names both owners', () => {
    const { objects, ports } = quiet(at, cidrBlock)
    const reserved = ip({ ...recordOf(at, 'c', 3).spec, name: 'c.shop', macAddress: '' })
    const world = stillWorld({ ...objects, ips: [...objects.ips, reserved] }, rowsOf(ports))
    expect(findings(world)).toEqual(
      each(at, 3, (ip) => `held-twice c.shop (IP object) ${ip}: reservation/shop/c pod/shop/b`),
    )
  })

  it('finds a pod that was told the address of another, and its port too', () => {
    const { objects, ports } = quiet(at, cidrBlock)
    const pods = [...objects.pods, toldPod(at, 'c', 2)]
    const world = stillWorld({ ...objects, pods }, rowsOf([...ports, portOf(at, 'c', 2)]))
    // Both run: the one whose durable record was read first has it.
    expect(findings(world)).toEqual([
      ...each(at, 2, (ip) => `held-twice c.shop (logical switch port) ${ip}: pod/shop/c pod/shop/a`),
      `mac-held-twice c.shop (logical switch port) ${mac(2)}: pod/shop/c pod/shop/a`,
      ...each(at, 2, (ip) => `held-twice c.shop (Pod) ${ip}: pod/shop/c pod/shop/a`),
      `mac-held-twice c.shop (Pod) ${mac(2)}: pod/shop/c pod/shop/a`,
    ])
  })

  it('finds a record and a port that outlived their pod', () => {
    const { objects, ports } = quiet(at, cidrBlock)
    const world = stillWorld({ ...objects, pods: objects.pods.slice(0, 1) }, rowsOf(ports))
    expect(findings(world)).toEqual([
      'ownerless b.shop (logical switch port) : pod/shop/b',
      'ownerless b.shop (IP object) : pod/shop/b',
    ])
    expect(auditAddresses(world)[1]?.cure).toBe('delete IP object b.shop: pod/shop/b does not exist')
  })

  it('finds nothing wrong with what waits for a member of a StatefulSet', () => {
    const { objects, ports } = quiet(at, cidrBlock)
    const record = recordOf(at, 'db-0', 4)
    const kept = { ...record, spec: { ...record.spec, podType: 'StatefulSet' } }
    const away = { ...objects, ips: [...objects.ips, kept] }
    const rows = rowsOf([...ports, portOf(at, 'db-0', 4)])
    const set = statefulSet({ name: 'db', namespace: 'shop' })
    expect(findings(stillWorld({ ...away, statefulSets: [set] }, rows))).toEqual([])
    expect(findings(stillWorld(away, rows))).toEqual([
      'ownerless db-0.shop (logical switch port) : statefulset-pod/shop/db-0',
      'ownerless db-0.shop (IP object) : statefulset-pod/shop/db-0',
    ])
  })

  it('keeps what a user reserved for a pod to come', () => {
    const { objects, ports } = quiet(at, cidrBlock)
    const { spec = {}, ...rest } = recordOf(at, 'later', 7)
    const reserved = { ...rest, spec, metadata: { name: 'later.shop', finalizers: ['somebody.else'] } }
    const world = stillWorld({ ...objects, ips: [...objects.ips, reserved] }, rowsOf(ports))
    expect(findings(world)).toEqual([])
    const ours = { ...reserved, metadata: { ...reserved.metadata, finalizers: [controllerFinalizer] } }
    const other = stillWorld({ ...objects, ips: [...objects.ips, ours] }, rowsOf(ports))
    expect(findings(other)).toEqual(['ownerless later.shop (IP object) : pod/shop/later'])
  })

  it('finds a pod that was told its address and has no port', () => {
    const { objects, ports } = quiet(at, cidrBlock)
    const world = stillWorld(objects, rowsOf(ports.slice(1)))
    expect(findings(world)).toEqual(['portless a.shop (Pod) : pod/shop/a'])
  })

  it('finds an address that its subnet no longer has', () => {
    const { objects, ports } = quiet(at, cidrBlock)
    const world = stillWorld({ ...objects, pods: [...objects.pods, toldPod(at, 'c', 0)] }, rowsOf(ports))
    expect(findings(world)).toEqual([
      ...each(at, 0, (ip) => `outside c.shop (Pod) ${ip.replace('::0', '::')}: pod/shop/c`),
      'portless c.shop (Pod) : pod/shop/c',
    ])
  })

  it('finds a lease that nothing records, and a record whose lease was lost', () => {
    const { objects, ports } = quiet(at, cidrBlock)
    const world = stillWorld(objects, rowsOf(ports))
    world.ipam.allocate({ subnet: 'blue', nic: 'ghost.shop', owner: 'pod/shop/ghost' })
    world.ipam.release('a.shop', 'pod/shop/a')
    expect(findings(world)).toEqual([
      ...['logical switch port', 'IP object', 'Pod'].flatMap((source) => {
        return each(at, 2, (ip) => `unheld a.shop (${source}) ${ip}: pod/shop/a`)
      }),
      `unrecorded ghost.shop (IPAM) ${at(4)}: pod/shop/ghost`,
    ])
  })

  it('finds counts of a Subnet that are wrong', () => {
    const { objects, ports } = quiet(at, cidrBlock)
    const { statistics } = { statistics: stillWorld(objects, rowsOf(ports)).ipam.statistics('blue') }
    const [patch] = desiredStatus({ name: 'blue', statistics }).patches
    const { status: right } = (patch?.merge ?? expect.unreachable()) as { status: Record<string, number> }
    const key = at === families[2]?.at ? 'v6usingIPs' : 'v4usingIPs'
    function withStatus(status: object) {
      return stillWorld({ ...objects, subnets: [subnet({ name: 'blue', cidrBlock, status })] }, rowsOf(ports))
    }
    expect(findings(withStatus(right))).toEqual([])
    for (const wrong of [5, 1.5])
      expect(findings(withStatus({ ...right, [key]: wrong }))).toEqual([
        `miscounted blue (Subnet) ${key} is ${wrong} and should be 2: `,
      ])
  })
})
