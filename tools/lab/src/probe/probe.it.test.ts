import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  missingForNamespaces,
  openTestNetwork,
  type TestNamespace,
  type TestNetwork,
} from '@kube-ovn/testing-net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { programs } from '../paths.ts'
import { tryProgram } from '../program.ts'
import { askHere } from './ask.ts'
import { parseOutcomes, type ListenerPlace, type Outcome, type Protocol, type Question } from './question.ts'
import { measureRate } from './rate.ts'

const families = ['ipv4', 'ipv6'] as const
type Family = (typeof families)[number]
const addresses = {
  client: { ipv4: '10.9.0.1', ipv6: 'fd09::1' },
  server: { ipv4: '10.9.0.2', ipv6: 'fd09::2' },
}
/** Of those who listen to multicast. */
const group = { ipv4: '239.255.77.77', ipv6: 'ff15::7777' }
/** Where one serves in the server's namespace, and where nobody does but listeners of a question. */
const served = 18_080
const port = 18_081

/** How long an answer that comes may take, also on a machine with other things to do. */
const patienceMs = 30_000
/** How long one that does not come is waited for. */
const silenceMs = 1_500

let network: TestNetwork
let client: TestNamespace
let server: TestNamespace
let serving: ChildProcess

/** Runs the program in the client's namespace, as it would run in a pod. */
function run(args: readonly string[], input = '', ...before: readonly string[]) {
  const command = [`--net=${client.path}`, ...before, programs.probe, ...args]
  return tryProgram('nsenter', command, { input })
}

async function askInPod(question: Partial<Question>, ...before: readonly string[]): Promise<Outcome> {
  const asked = {
    target: addresses.server.ipv4,
    port: served,
    isOurs: true,
    timeoutMs: patienceMs,
    ...question,
  }
  const { stdout, stderr } = await run(['ask'], JSON.stringify([asked]), ...before)
  const [outcome] = stderr === '' ? parseOutcomes(stdout) : []
  return outcome ?? expect.unreachable(stderr)
}

/** A question asked from here, in the client's namespace. */
function question(family: Family, protocol: Protocol, more: Partial<Question> = {}): Question {
  return {
    netns: client.path,
    source: addresses.client[family],
    target: addresses.server[family],
    isOurs: false,
    timeoutMs: patienceMs,
    port,
    protocol,
    ...more,
  }
}

/** The same with a listener at its target. */
function listened(
  family: Family,
  protocol: Protocol,
  transport: ListenerPlace['protocol'],
  more: Partial<Question> = {},
): Question {
  const asked = question(family, protocol, more)
  const { target: address, port } = asked
  return { ...asked, isOurs: true, listeners: [{ netns: server.path, address, port, protocol: transport }] }
}

describe.skipIf(missingForNamespaces() !== undefined)('the probe between two namespaces', () => {
  beforeAll(async () => {
    network = openTestNetwork()
    client = network.namespace('client')
    server = network.namespace('server')
    network.connect(
      { namespace: client, name: 'eth0', addresses: ['10.9.0.1/24', 'fd09::1/64'] },
      { namespace: server, name: 'eth0', addresses: ['10.9.0.2/24', 'fd09::2/64'] },
    )
    client.run('ip', 'route', 'add', 'default', 'via', '10.9.0.2')
    serving = server.start(programs.probe, 'serve')
    await once(serving.stdout ?? serving, 'data')
  })

  afterAll(() => network[Symbol.dispose]())

  describe.each(families)('asks over %s one that serves, which says what it saw:', (family) => {
    const at = addresses.server[family]
    const seen = { source: addresses.client[family], sourcePort: expect.any(Number), at, ttl: 64, dscp: 46 }
    it.each([
      ['tcp', { seen }],
      ['udp', { seen, answerTtl: 64 }],
      ['http', { seen, detail: 'HTTP 200' }],
      // To a group it is sent over up to four routers.
      ['multicast', { seen: { ...seen, at: group[family], ttl: 4 } }],
      // The kernel answers.
      ['ping', { answerTtl: 64 }],
    ] as const)('%s', async (protocol, became) => {
      const [source, target] = [addresses.client[family], addresses.server[family]]
      expect(await askInPod({ protocol, dscp: 46, source, target })).toEqual({
        kind: 'reached',
        ms: expect.any(Number),
        ...became,
      })
    })

    it('sctp, or that the kernel has none', async () => {
      const outcome = await askInPod({ protocol: 'sctp', target: addresses.server[family] })
      if (outcome.kind === 'skipped') expect(outcome.reason).toBe('the kernel has no sctp (EPROTONOSUPPORT)')
      else expect(outcome).toMatchObject({ kind: 'reached', seen: { source: addresses.client[family] } })
    })

    it('how much of a stream arrived', async () => {
      const startedMs = performance.now()
      const { stdout } = await run(['rate', addresses.server[family], String(served), '200'])
      const elapsedMs = performance.now() - startedMs
      const { mbps, bytes, ms } = JSON.parse(stdout) as { mbps: number; bytes: number; ms: number }
      expect(ms).toBeGreaterThanOrEqual(200)
      expect(ms).toBeLessThan(elapsedMs)
      expect(bytes).toBeGreaterThan(0)
      expect(mbps).toBeCloseTo((bytes * 8) / 1000 / ms, 3)
    })
  })

  describe.each(families)('asks over %s with a listener of its own in the other namespace:', (family) => {
    it('tells by every protocol what that saw', async () => {
      const outcomes = await askHere([
        listened(family, 'tcp', 'tcp', { dscp: 10 }),
        listened(family, 'http', 'tcp', { dscp: 11 }),
        listened(family, 'udp', 'udp', { dscp: 12 }),
        listened(family, 'multicast', 'multicast', { dscp: 13 }),
        question(family, 'ping'),
      ])
      const source = addresses.client[family]
      expect(outcomes).toMatchObject([
        { kind: 'reached', seen: { source, ttl: 64, dscp: 10 } },
        { kind: 'reached', seen: { source, ttl: 64, dscp: 11 } },
        { kind: 'reached', seen: { source, ttl: 64, dscp: 12 } },
        { kind: 'reached', seen: { source, ttl: 4, dscp: 13 } },
        { kind: 'reached', answerTtl: 64 },
      ])
    })

    it('tells members of a group apart', async () => {
      const stranger = {
        ...listened(family, 'multicast', 'multicast', { timeoutMs: silenceMs }),
        target: addresses.client[family],
      }
      expect(await askHere([stranger])).toEqual([{ kind: 'lost', reason: 'no answer' }])
    })

    it('leaves a port to the program that listens there', async () => {
      const [tcp, udp] = await askHere([
        listened(family, 'tcp', 'tcp', { port: served }),
        listened(family, 'udp', 'udp', { port: served }),
      ])
      // A connection is all that is asked of a stranger. The one who serves answers datagrams as ours do.
      expect(tcp).toEqual({ kind: 'reached', ms: expect.any(Number) })
      expect(udp).toMatchObject({ kind: 'reached' })
    })

    it('measures how fast a stream goes', async () => {
      const to = { netns: server.path, address: addresses.server[family], port }
      const { bytes, mbps, ms } = await measureRate({ netns: client.path }, to, 200)
      expect(bytes).toBeGreaterThan(0)
      expect(mbps).toBeCloseTo((bytes * 8) / 1000 / ms, 3)
    })

    it('tells a closed port', async () => {
      const refused = { kind: 'lost', reason: 'ECONNREFUSED' }
      expect(await askHere([question(family, 'tcp'), question(family, 'udp')])).toEqual([refused, refused])
    })

    it('asks a thousand at once', async () => {
      const many = Array.from({ length: 1000 }, (_, index) =>
        index % 2 === 0 ? listened(family, 'tcp', 'tcp') : listened(family, 'udp', 'udp'),
      )
      const kinds = (await askHere(many)).map(({ kind }) => kind)
      expect(new Set(kinds)).toEqual(new Set(['reached']))
    })
  })

  it('asks for names over both families', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'kube-ovn-probe-'))
    const corefile = join(directory, 'Corefile')
    writeFileSync(corefile, '. {\n  hosts {\n    10.0.0.7 web.shop\n    fd00::7 web.shop\n  }\n}\n')
    const dns = server.start(programs.coredns, '-conf', corefile)
    for (let said = ''; !said.includes('CoreDNS-');) said += String(await once(dns.stdout ?? dns, 'data'))
    rmSync(directory, { recursive: true })
    const at = { name: 'web.shop', port: 53 }
    expect(
      await askHere([
        question('ipv4', 'dns', at),
        question('ipv6', 'dns', at),
        question('ipv4', 'dns', { ...at, name: 'nobody.shop.' }),
      ]),
    ).toMatchObject([
      { kind: 'reached', detail: '10.0.0.7' },
      { kind: 'reached', detail: 'fd00::7' },
      { kind: 'lost', reason: expect.stringMatching(/^DNS answered with code/) },
    ])
  })

  it('tells silence from a lost answer', async () => {
    server.run('ip', 'route', 'add', 'blackhole', '192.0.2.0/24')
    const silent = question('ipv4', 'ping', { target: '192.0.2.1', timeoutMs: silenceMs })
    expect(await askHere([silent])).toEqual([{ kind: 'lost', reason: 'no answer' }])
    server.run('ip', 'rule', 'add', 'iif', 'lo', 'blackhole', 'priority', '1')
    try {
      const seen = { source: '10.9.0.1' }
      const brief = { timeoutMs: silenceMs }
      const asked = [listened('ipv4', 'udp', 'udp', brief), listened('ipv4', 'multicast', 'multicast', brief)]
      expect(await askHere(asked)).toMatchObject([
        { kind: 'lost', reason: 'the request arrived, its answer did not', seen },
        // That it arrived is all that a packet to a group is sent for.
        { kind: 'reached', seen },
      ])
    } finally {
      server.run('ip', 'rule', 'del', 'priority', '1')
    }
  })

  it('does not take a namespace that is gone for a network that loses packets', async () => {
    await expect(askHere([question('ipv4', 'ping', { netns: '/proc/0/ns/net' })])).rejects.toMatchObject({
      details: {
        exitCode: 1,
        output:
          'kube-ovn-probe: can not ask 10.9.0.2 by ping: open /proc/0/ns/net: no such file or directory',
      },
    })
  })

  describe('without rights', () => {
    const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--bounding-set=-all']

    function allowPing(groups: string): void {
      client.run('bash', '-c', `echo ${groups} > /proc/sys/net/ipv4/ping_group_range`)
    }

    it('does everything but ping, and says what that needs', async () => {
      allowPing('1 0')
      expect(await askInPod({ protocol: 'udp' }, ...nobody)).toMatchObject({ kind: 'reached' })
      expect(await askInPod({ protocol: 'http' }, ...nobody)).toMatchObject({ kind: 'reached' })
      expect(await askInPod({ protocol: 'ping' }, ...nobody)).toEqual({
        kind: 'skipped',
        reason: 'ping needs CAP_NET_RAW, or a group in net.ipv4.ping_group_range',
      })
    })

    it.each(families)('pings over %s where its group may', async (family) => {
      allowPing('0 65534')
      const target = addresses.server[family]
      expect(await askInPod({ protocol: 'ping', target }, ...nobody)).toMatchObject({
        kind: 'reached',
        answerTtl: 64,
      })
    })
  })

  describe('bad input is one sentence and exit code 2:', () => {
    const udp = { target: '10.9.0.2', port: served, protocol: 'udp', isOurs: true, timeoutMs: 100 }
    it.each([
      [[], '', 'say what to do: serve, ask or rate; --help explains'],
      [['listen'], '', 'there is no command "listen"; --help explains'],
      [['--verbose'], '', 'there is no command "--verbose"; --help explains'],
      [['ask', '--fast'], '', 'there is no command "ask --fast"; --help explains'],
      [['serve', '-p'], '', 'the port is a number from 1 to 65535, not "-p"'],
      [['serve', '65536'], '', 'the port is a number from 1 to 65535, not "65536"'],
      [['rate', 'nowhere', '1', '1'], '', '"nowhere" is not an address of IPv4 or of IPv6 without zone'],
      [['rate', '10.9.0.2', '1', '1e9'], '', 'the duration in ms is a number from 1 to 600000, not "1e9"'],
      [['ask'], '', 'the input is not a JSON list of questions: unexpected end of JSON input'],
      [['ask'], '\0\xff[', 'the input is not a JSON list of questions: invalid character'],
      [['ask'], '{}', 'the input is not a JSON list of questions: json: cannot unmarshal object'],
      [['ask'], '[1]', 'question 1 is not understood: json: cannot unmarshal number'],
      [['ask'], [udp, {}], 'question 2 is not understood: target must be an address without zone'],
      [['ask'], [{ ...udp, target: 'nowhere' }], 'question 1 is not understood: ParseAddr("nowhere")'],
      [['ask'], [{ ...udp, port: 65_536 }], 'question 1 is not understood: json: cannot unmarshal number'],
      [['ask'], [{ ...udp, colour: 'red' }], 'question 1 is not understood: json: unknown field "colour"'],
      [['ask'], [{ ...udp, protocol: 'pigeon' }], 'question 1 is not understood: protocol must be ping'],
      [['ask'], [{ ...udp, dscp: 64 }], 'question 1 is not understood: dscp must be from 0 to 63'],
      [['ask'], [{ ...udp, timeoutMs: 0 }], 'question 1 is not understood: timeoutMs must be from 1'],
      [['ask'], [{ ...udp, protocol: 'multicast' }], 'question 1 is not understood: source must be'],
      [['ask'], [{ ...udp, protocol: 'dns', name: 'x'.repeat(99) }], 'question 1 is not understood: name'],
    ])('%j %j', async (args, input, sentence) => {
      const text = typeof input === 'string' ? input : JSON.stringify(input)
      const { exitCode, stdout, stderr } = await run(args, text)
      expect({ exitCode, stdout, lines: stderr.split('\n').length }).toEqual({
        exitCode: 2,
        stdout: '',
        lines: 2,
      })
      expect(stderr).toContain(`kube-ovn-probe: ${sentence}`)
    })

    it('a port that is taken', async () => {
      const { exitCode, stderr } = await tryProgram('nsenter', [
        `--net=${server.path}`,
        programs.probe,
        'serve',
      ])
      expect({ exitCode, stderr }).toEqual({
        exitCode: 2,
        stderr: 'kube-ovn-probe: can not have port 18080 of tcp at 0.0.0.0 (EADDRINUSE): choose another\n',
      })
    })
  })

  it('explains itself, with examples', async () => {
    const { exitCode, stdout } = await run(['--help'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('kube-ovn-probe rate fd00:10:16::5 9000 1000')
  })

  it('serves on after garbage on every port, and keeps none of it', async () => {
    const before = residentKilobytes(serving)
    const flood = `
      exec 2>/dev/null
      for i in {1..200}; do
        exec {silent}<>/dev/tcp/10.9.0.2/${served}
        printf '\\377\\0GET kube-ovn-probe 99999999999999999999\\nGET / HTTP' >&$silent
        printf 'kube-ovn-probe %s' x$i > /dev/udp/10.9.0.2/${served}
      done
      for i in {1..20}; do head -c 5000000 /dev/zero > /dev/tcp/10.9.0.2/${served}; done
      head -c 60000 /dev/zero > /dev/udp/10.9.0.2/${served}
      true`
    client.run('bash', '-c', flood)
    for (const protocol of ['tcp', 'udp', 'http'] as const)
      expect(await askInPod({ protocol })).toMatchObject({ kind: 'reached' })
    expect(residentKilobytes(serving) - before).toBeLessThan(16_000)
  })

  it('is one static file of less than 10 MB', () => {
    const file = readFileSync(programs.probe)
    expect(file.length).toBeLessThan(10_000_000)
    expect(programHeaderTypes(file)).not.toContain(elf.interpreter)
    expect(programHeaderTypes(file)).not.toContain(elf.dynamic)
    expect(programHeaderTypes(file)).toContain(elf.load)
  })
})

function residentKilobytes({ pid }: ChildProcess): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

/** Types of program headers (elf(5)). */
const elf = { load: 1, dynamic: 2, interpreter: 3 } as const

/** Reads what a loader is told to do with an ELF file of 64 bits, little-endian. */
function programHeaderTypes(file: Buffer): readonly number[] {
  expect(file.subarray(0, 6).toString('hex')).toBe('7f454c460201')
  const [start, size, count] = [
    Number(file.readBigUInt64LE(32)),
    file.readUInt16LE(54),
    file.readUInt16LE(56),
  ]
  return Array.from({ length: count }, (_, index) => file.readUInt32LE(start + index * size))
}
