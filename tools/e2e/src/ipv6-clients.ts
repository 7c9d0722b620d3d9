import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import {
  addressesOfPod,
  applyAll,
  deleteAll,
  eventually,
  idlePod,
  namespaceOf,
  placeOf,
  runAt,
  untilPodsReady,
  withinStack,
  type ApiObject,
  type Cluster,
  type Place,
} from '@kube-ovn/lab'
import { expect, it } from 'vitest'

const run = promisify(execFile)

const name = 'anchor'
const nameServer = 'fd00:10:49::53'

/** A subnet that answers both kinds of clients, and a pod on each node. */
function objectsOf({ nodes }: Cluster): readonly ApiObject[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    {
      ...{ apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata: { name } },
      spec: {
        ...{ cidrBlock: '10.49.0.0/24,fd00:10:49::/112', namespaces: [name] },
        ...{ enableDHCP: true, dhcpV6Options: `dns_server=${nameServer}`, enableIPv6RA: true },
      },
    },
    ...nodes.map((node) => idlePod({ name: `${name}-${node.name}`, namespace: name }, node.name)),
  ] as readonly ApiObject[]
}

/**
 * Solicits an address as RFC 8415 has it, with a client identifier (1) and an IA_NA (3) of identity 7, until an ADVERTISE (2) comes.
 * Prints that in hexadecimal, without type and transaction.
 */
const client = `
  import { createSocket } from 'node:dgram'
  const option = (code, body) => {
    const head = Buffer.alloc(4)
    head.writeUInt16BE(code, 0)
    head.writeUInt16BE(body.length, 2)
    return Buffer.concat([head, body])
  }
  const solicit = Buffer.concat([
    Buffer.from([1, 0, 0, 9]),
    option(1, Buffer.from('0003000102000000aa01', 'hex')),
    option(3, Buffer.from('000000070000000000000000', 'hex')),
    option(6, Buffer.from([0, 23])),
  ])
  const socket = createSocket('udp6')
  socket.bind(546, '::', () => {
    const ask = () => socket.send(solicit, 547, 'ff02::1:2%eth0')
    ask()
    const again = setInterval(ask, 1000)
    socket.on('message', (answer) => {
      if (answer[0] !== 2 || answer[3] !== 9) return
      clearInterval(again)
      console.log(answer.subarray(4).toString('hex'))
      socket.close()
    })
  })`

async function solicit(place: Place): Promise<ReadonlyMap<number, Buffer>> {
  const command = [process.execPath, '--input-type=module', '--eval', client]
  const { stdout } = await run('nsenter', [`--net=${namespaceOf(place)}`, '--', ...command], {
    timeout: 60_000,
  })
  return optionsOf(Buffer.from(stdout.trim(), 'hex'))
}

/** Options of DHCPv6 by their code. */
function optionsOf(bytes: Buffer): ReadonlyMap<number, Buffer> {
  const options = new Map<number, Buffer>()
  for (let at = 0; at + 4 <= bytes.length;) {
    const end = at + 4 + bytes.readUInt16BE(at + 2)
    options.set(bytes.readUInt16BE(at), bytes.subarray(at + 4, end))
    at = end
  }
  return options
}

function ipv6Of(bytes: Buffer | undefined): string {
  const groups = Array.from({ length: 8 }, (_, index) => bytes?.readUInt16BE(index * 2).toString(16))
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

/** Machines in pods that configure themselves, over IPv6. */
export function ipv6Clients(lab: () => Cluster): void {
  it('get the address of their pod by DHCPv6, and a gateway by router advertisements', async ({ skip }) => {
    const cluster = lab()
    const { stack: families } = cluster.topology
    skip(families === 'ipv4', 'the cluster has no IPv6')
    const objects = objectsOf(cluster).map((object) => withinStack(object, families))
    await using stack = new AsyncDisposableStack()
    stack.defer(() => deleteAll(cluster.api, objects))
    await applyAll(cluster.api, objects)
    const pods = await untilPodsReady(cluster.api, name, '', cluster.nodes.length)
    for (const pod of pods) {
      const place = placeOf(cluster, pod)
      const advertised = await solicit(place)
      // IA_NA has its identity and two times before its own options; IAADDR (5) begins with the address.
      const lease = optionsOf(advertised.get(3)?.subarray(12) ?? Buffer.alloc(0))
      expect([ipv6Of(lease.get(5)), ipv6Of(advertised.get(23))]).toEqual([
        addressesOfPod(pod).find((address) => address.includes(':')),
        nameServer,
      ])

      await runAt(place, ['sysctl', '-qw', 'net.ipv6.conf.eth0.accept_ra=2'])
      // A host solicits routers when its link comes up.
      await runAt(place, ['ip', 'link', 'set', 'eth0', 'down'])
      await runAt(place, ['ip', 'link', 'set', 'eth0', 'up'])
      const gateway = await eventually('a router is advertised', async () => {
        const text = await runAt(place, ['ip', '-6', '-json', 'route', 'show', 'proto', 'ra'])
        const routes = JSON.parse(text) as readonly { readonly dst: string; readonly gateway?: string }[]
        return routes.find(({ dst }) => dst === 'default')?.gateway
      })
      expect(gateway).toMatch(/^fe80::/)
    }
  })
}
