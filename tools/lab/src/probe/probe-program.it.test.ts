import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { missingForNamespaces, openTestNetwork, type TestNetwork } from '@kube-ovn/testing-net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runProgram } from '../program.ts'
import { parseOutcomes, type Question } from './question.ts'

const program = join(import.meta.dirname, 'main.ts')
const families = ['ipv4', 'ipv6'] as const
const client = { ipv4: '10.9.0.1', ipv6: 'fd09::1' }
const server = { ipv4: '10.9.0.2', ipv6: 'fd09::2' }
const port = 18_080

let network: TestNetwork
let paths: { readonly client: string; readonly server: string }
let ending: () => void

/** Runs the program in the client's namespace, as it would run in a pod. */
function run(input: string, ...args: readonly string[]): Promise<string> {
  return runProgram('nsenter', [`--net=${paths.client}`, process.execPath, program, ...args], { input })
}

async function ask(questions: readonly Question[]) {
  return parseOutcomes(await run(JSON.stringify(questions), 'ask'))
}

describe.skipIf(missingForNamespaces() !== undefined)('the probe as a program', () => {
  beforeAll(async () => {
    network = openTestNetwork()
    const [from, to] = [network.namespace('client'), network.namespace('server')]
    network.connect(
      { namespace: from, name: 'eth0', addresses: ['10.9.0.1/24', 'fd09::1/64'] },
      { namespace: to, name: 'eth0', addresses: ['10.9.0.2/24', 'fd09::2/64'] },
    )
    paths = { client: from.path, server: to.path }
    const child = spawn('nsenter', [`--net=${to.path}`, process.execPath, program, 'serve'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    ending = () => child.kill('SIGKILL')
    await once(child.stdout, 'data')
  })

  afterAll(() => {
    ending()
    network[Symbol.dispose]()
  })

  it.each(families)('asks one that serves over %s, which says what it saw', async (family) => {
    const outcomes = await ask(
      (['ping', 'tcp', 'udp', 'http', 'multicast'] as const).map((protocol) => ({
        ...{ protocol, port, dscp: 46, isOurs: true, timeoutMs: 3000 },
        source: client[family],
        target: server[family],
      })),
    )
    const seen = { source: client[family] }
    expect(outcomes).toMatchObject([
      { kind: 'reached', answerTtl: 64 },
      { kind: 'reached', seen },
      { kind: 'reached', seen: { ...seen, ttl: 64, dscp: 46 } },
      { kind: 'reached', seen, detail: 'HTTP 200' },
      { kind: 'reached', seen: { ...seen, dscp: 46 } },
    ])
  })

  it('does SCTP where the kernel has it, and says so where it has not', async () => {
    const [outcome] = await ask([
      { protocol: 'sctp', port, isOurs: true, timeoutMs: 3000, target: server.ipv4 },
    ])
    if (outcome?.kind === 'skipped') expect(outcome.reason).toContain('the kernel has no sctp')
    else expect(outcome).toMatchObject({ kind: 'reached', seen: { source: client.ipv4 } })
  })

  it('tells what is closed', async () => {
    const [outcome] = await ask([
      { protocol: 'tcp', port: 9, isOurs: true, timeoutMs: 3000, target: server.ipv4 },
    ])
    expect(outcome).toEqual({ kind: 'lost', reason: 'ECONNREFUSED' })
  })

  it.each(families)('measures how fast a stream goes over %s', async (family) => {
    const rate = JSON.parse(await run('', 'rate', server[family], String(port), '200')) as { mbps: number }
    expect(rate.mbps).toBeGreaterThan(1)
  })

  it('refuses a question that it does not understand', async () => {
    await expect(run('[{"target":"nowhere"}]', 'ask')).rejects.toThrow('a program failed')
  })
})
