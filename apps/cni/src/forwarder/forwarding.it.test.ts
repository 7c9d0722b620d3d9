import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { forwarderAnnotations, type Forwards } from '@kube-ovn/annotations'
import { parseCidr, parseIp } from '@kube-ovn/ip'
import { missingForNamespaces, openTestNetwork, type TestNamespace } from '@kube-ovn/testing-net'
import { describe, expect, it } from 'vitest'

const missing = missingForNamespaces('nft', 'setpriv')

/** Of the Service, and its ports that somebody answers. */
const service = { v4: '10.96.0.9', v6: 'fd00:10:96::9' }
const ports = [80, 443, 8080]

/** Of the Pod in the attached network, and in the cluster's. */
const outer = { v4: '10.1.0.5', v6: 'fd00:1::5' }
const inner = { v4: '10.16.0.5', v6: 'fd00:16::5' }

const families = [
  { address: parseIp(outer.v4), gateway: parseIp('10.1.0.1'), to: parseIp(service.v4) },
  { address: parseIp(outer.v6), gateway: parseIp('fd00:1::1'), to: parseIp(service.v6) },
]

/** Tells who connects under which address it sees them, and then sends back what comes. */
const echo = `
  const { createServer } = require('node:net'), { createSocket } = require('node:dgram')
  const ports = ${JSON.stringify(ports)}
  let closed = ports.length + 2
  const opened = () => { if (--closed === 0) console.log('all listen') }
  for (const port of ports) createServer((socket) => {
    socket.on('error', () => {})
    socket.write(socket.remoteAddress.replace('::ffff:', '') + '\\n')
    socket.pipe(socket)
  }).listen(port, '::', opened)
  // Answers come from where the question went to.
  for (const [type, own] of [['udp4', '${service.v4}'], ['udp6', '${service.v6}']]) {
    const udp = createSocket(type).on('message', (_, { address, port }) => udp.send(address, port, address))
    udp.bind(53, own, opened)
  }`

/** Prints what is answered on each port, or the code of why nothing is. */
const ask = (address: string, asked: readonly number[]): readonly string[] => [
  process.execPath,
  '--eval',
  `for (const port of ${JSON.stringify(asked)}) {
    const socket = require('node:net').connect({ host: ${JSON.stringify(address)}, port, timeout: 3000 })
    const tell = (text) => { console.log(port, String(text).trim()); socket.destroy() }
    socket.on('data', tell).on('error', ({ code }) => tell(code)).on('timeout', () => tell('silence'))
  }`,
]

/** A client that is not in the attached network, the gateway of that, the Pod, and the cluster. */
async function startNetwork(): Promise<
  AsyncDisposable & {
    readonly client: TestNamespace
    readonly pod: TestNamespace
    readonly readyFile: string
    publish(forwards: Forwards | string): Promise<void>
    startForwarder(): () => Promise<void>
    readonly lines: string[]
  }
> {
  await using stack = new AsyncDisposableStack()
  const network = stack.use(openTestNetwork())
  const [client, gateway, pod, cluster] = ['client', 'gateway', 'pod', 'cluster'].map((name) =>
    network.namespace(name),
  ) as [TestNamespace, TestNamespace, TestNamespace, TestNamespace]
  network.connect(
    { namespace: client, name: 'eth0', addresses: ['192.0.2.2/24', '2001:db8::2/64'] },
    { namespace: gateway, name: 'outside', addresses: ['192.0.2.1/24', '2001:db8::1/64'] },
  )
  network.connect(
    { namespace: gateway, name: 'street', addresses: ['10.1.0.1/24', 'fd00:1::1/64'] },
    { namespace: pod, name: 'net1', addresses: [`${outer.v4}/24`, `${outer.v6}/64`] },
  )
  network.connect(
    { namespace: cluster, name: 'pods', addresses: ['10.16.0.1/16', 'fd00:16::1/64'] },
    { namespace: pod, name: 'eth0', addresses: [`${inner.v4}/16`, `${inner.v6}/64`] },
  )
  for (const [one, v4, v6] of [
    [client, '192.0.2.1', '2001:db8::1'],
    [pod, '10.16.0.1', 'fd00:16::1'],
  ] as const) {
    one.run('ip', 'route', 'add', 'default', 'via', v4)
    one.run('ip', '-6', 'route', 'add', 'default', 'via', v6)
  }
  for (const forwarding of [gateway, pod])
    for (const setting of [
      'net.ipv4.ip_forward=1',
      'net.ipv6.conf.all.forwarding=1',
      'net.ipv4.conf.all.rp_filter=2',
    ])
      forwarding.run('sysctl', '-qw', setting)
  cluster.run('ip', 'address', 'add', `${service.v4}/32`, 'dev', 'lo')
  cluster.run('ip', '-6', 'address', 'add', `${service.v6}/128`, 'dev', 'lo', 'nodad')
  const server = cluster.start(process.execPath, '--eval', echo)
  await once(server.stdout ?? process.stdin, 'data')
  const directory = await mkdtemp(join(tmpdir(), 'kube-ovn-forwards-'))
  stack.defer(() => rm(directory, { recursive: true }))
  const [volume, readyFile] = [join(directory, 'volume'), join(directory, 'ready')]
  await mkdir(volume)
  let version = 0
  /** As the kubelet writes a volume: beside a link that is then swapped. */
  async function publish(forwards: Forwards | string): Promise<void> {
    version += 1
    const place = join(volume, `..${version}`)
    await mkdir(place)
    const text = typeof forwards === 'string' ? forwards : forwarderAnnotations.forwards.format(forwards)
    await writeFile(join(place, 'forwards'), text)
    await symlink(`..${version}`, join(volume, '..next'))
    await rename(join(volume, '..next'), join(volume, '..data'))
  }
  await publish('')
  await symlink('..data/forwards', join(volume, 'forwards'))
  const lines: string[] = []
  const all = stack.move()
  return {
    ...{ client, pod, readyFile, publish, lines },
    startForwarder: () => {
      const rights = ['--bounding-set=-all,+net_admin', '--inh-caps=-all', '--no-new-privs']
      const program = [process.execPath, join(import.meta.dirname, 'main.ts')]
      const flags = [`--forwards-file=${join(volume, 'forwards')}`, `--ready-file=${readyFile}`]
      const child = pod.start('setpriv', ...rights, ...program, ...flags)
      if (child.stderr !== null)
        createInterface({ input: child.stderr }).on('line', (line) => lines.push(line))
      return async () => {
        child.kill('SIGTERM')
        await once(child, 'close')
      }
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

describe.skipIf(missing)(`forwarding${missing === undefined ? '' : ` (${missing})`}`, () => {
  it('leads clients to the declared ports of the Service and no others, as they change, over a restart', async () => {
    await using network = await startNetwork()
    const { client, pod, readyFile, publish, lines } = network
    const answers = (asked: readonly number[] = ports): readonly (readonly string[])[] =>
      [outer.v4, outer.v6].map((address) => {
        const [command = '', ...args] = ask(address, asked)
        return client
          .run(command, ...args)
          .trim()
          .split('\n')
          .toSorted()
      })
    const seen = (answered: readonly number[]): readonly (readonly string[])[] =>
      [inner.v4, inner.v6].map((address) =>
        ports.map((port) => `${port} ${answered.includes(port) ? address : 'ECONNREFUSED'}`).toSorted(),
      )
    const stop = network.startForwarder()
    const told = (text: string): number => lines.filter((line) => line.includes(text)).length
    const untilTold = async (text: string, times: number): Promise<void> => {
      await expect.poll(() => told(text), { message: lines.join('\n') }).toBe(times)
    }

    await publish({
      families,
      ports: [
        { protocol: 'TCP', port: 80 },
        { protocol: 'UDP', port: 53 },
      ],
      sources: [],
    })
    await untilTold('in effect', 1)
    expect(existsSync(readyFile)).toBe(true)
    expect(answers()).toEqual(seen([80]))
    expect(datagram(client, outer.v4)).toBe(inner.v4)
    expect(datagram(client, outer.v6)).toBe(inner.v6)

    // Who sends packets for the Service by the Pod is not led there: only what comes to the Pod's own address is.
    client.run('ip', 'route', 'add', '10.1.0.0/24', 'via', '192.0.2.1')
    expect(pod.run('nft', 'list', 'chain', 'inet', 'kube-ovn-lb-svc', 'forward')).toContain('policy drop')

    const open = openConnection(client, outer.v4, 80)
    expect(await open.line()).toBe(inner.v4)
    await publish({ families, ports: [{ protocol: 'TCP', port: 443 }], sources: [] })
    await untilTold('in effect', 2)
    expect(answers()).toEqual(seen([443]))
    // Not even a connection that was open before is led to a port that is declared no more.
    open.ping()
    await expect(Promise.race([open.line(), silence()])).resolves.toBeUndefined()

    const kept = openConnection(client, outer.v6, 443)
    expect(await kept.line()).toBe(inner.v6)
    await publish('nonsense')
    await untilTold('can not be read', 1)
    expect(answers()).toEqual(seen([443]))
    await publish({ families, ports: [{ protocol: 'TCP', port: 443 }], sources: [] })
    await stop()
    expect(answers()).toEqual(seen([443]))
    network.startForwarder()
    await untilTold('in effect', 3)
    kept.ping()
    expect(await kept.line()).toBe('ping')
    expect(answers()).toEqual(seen([443]))

    const elsewhere = ['198.51.100.0/24', '2001:db8::/32'].map((text) => parseCidr(text))
    await publish({ families, ports: [{ protocol: 'TCP', port: 443 }], sources: elsewhere })
    await untilTold('in effect', 4)
    expect(answers()).toEqual([seen([])[0], seen([443])[1]])
  })

  it('says what is missing, and ends, where the namespace does not forward, or the address is another one', async () => {
    await using network = await startNetwork()
    const { pod, publish, readyFile, lines } = network
    pod.run('sysctl', '-qw', 'net.ipv6.conf.all.forwarding=0')
    const forwards = { families, ports: [{ protocol: 'TCP', port: 80 }], sources: [] } as const
    await publish(forwards)
    network.startForwarder()
    const log = { message: 'what is logged' }
    await expect
      .poll(() => lines.join('\n'), log)
      .toContain('"field":"net/ipv6/conf/all/forwarding","value":"0"')
    const other = { families: [{ address: parseIp('10.1.0.6'), to: parseIp(service.v4) }] }
    await publish({ ...forwards, ...other })
    network.startForwarder()
    await expect.poll(() => lines.join('\n'), log).toContain('"field":"address","value":"10.1.0.6"')
    expect(existsSync(readyFile)).toBe(false)
  })
})

/** How long nothing may come, to be taken for nothing at all: what is let through comes within a millisecond. */
async function silence(): Promise<undefined> {
  await new Promise((resolve) => setTimeout(resolve, 2000))
}

function datagram(from: TestNamespace, address: string): string {
  const type = address.includes(':') ? 'udp6' : 'udp4'
  const script = `const socket = require('node:dgram').createSocket('${type}')
    const end = (text) => { console.log(String(text)); socket.close(); clearTimeout(limit) }
    const limit = setTimeout(end, 5000, 'silence')
    socket.on('message', end).send('who', 53, '${address}')`
  return from.run(process.execPath, '--eval', script).trim()
}

interface OpenConnection {
  line(): Promise<string>
  /** Sends a line, which the server sends back. */
  ping(): void
}

function openConnection(from: TestNamespace, address: string, port: number): OpenConnection {
  const script = `const socket = require('node:net').connect(${port}, '${address}')
    process.on('SIGUSR2', () => socket.write('ping\\n'))
    socket.on('error', () => {}).pipe(process.stdout)`
  const child = from.start(process.execPath, '--eval', script)
  const lines = createInterface({ input: child.stdout ?? process.stdin })[Symbol.asyncIterator]()
  return {
    line: async () => String((await lines.next()).value),
    ping: () => void child.kill('SIGUSR2'),
  }
}
