import type { Command } from 'commander'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everyCommand, expectOneSentence, lines } from './every-command.fixture.ts'
import { buildProgram, interruptedCode } from './program.ts'
import { runCaptured } from './run-captured.ts'

/** These ask no cluster, or have commands below them that do. */
const others = ['nb', 'sb', 'ipam', 'completion']

const sink = new Writable()
const program = buildProgram({
  ...{ stdin: Readable.from([]), stdout: sink, stderr: sink, directory: '/', environment: {}, exitCode: 0 },
  signal: new AbortController().signal,
})

function namesUnder(command: Command, path: readonly string[] = []): readonly string[] {
  return command.commands
    .filter((child) => child.name() !== '__complete')
    .flatMap((child) => {
      const own = [...path, child.name()]
      return [own.join(' '), ...namesUnder(child, own)]
    })
}

it('is asked of every command that there is', () => {
  expect([...Object.keys(lines), ...others].toSorted()).toEqual(namesUnder(program).toSorted())
})

/** They pass on what a tool prints, as it is, or print a program. */
const asTheyAre = ['nbctl', 'sbctl', 'icnbctl', 'icsbctl', 'vsctl', 'ofctl', 'dpctl', 'appctl', 'tcpdump']

it.each(everyCommand.filter(({ name }) => !asTheyAre.includes(name)))(
  '$name prints tables, also wide and without titles, JSON and YAML',
  ({ name }) => {
    const command = name
      .split(' ')
      .reduce<Command | undefined>(
        (found, word) => found?.commands.find((child) => child.name() === word),
        program,
      )
    const flags = new Map(command?.options.map((option) => [option.long, option]))
    expect(flags.get('--output')?.short).toBe('-o')
    expect(flags.get('--output')?.argChoices).toEqual(
      expect.arrayContaining(['table', 'wide', 'json', 'yaml']),
    )
    expect([...flags.keys()]).toContain('--no-headers')
  },
)

let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kube-ovn-every-command-'))
  const subnet = { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata: { name: 'quay' } }
  await writeFile(join(directory, 'manifest.yaml'), JSON.stringify(subnet))
})
afterAll(() => rm(directory, { recursive: true }))

async function kubeconfigOf(port: number): Promise<string> {
  const path = join(directory, `kubeconfig-${port}`)
  const named = { name: 'a' }
  const content = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'a' },
    clusters: [{ ...named, cluster: { server: `https://127.0.0.1:${port}` } }],
    users: [{ ...named, user: { token: 'a' } }],
    contexts: [{ ...named, context: { cluster: 'a', user: 'a' } }],
  }
  await writeFile(path, JSON.stringify(content), { mode: 0o600 })
  return path
}

describe('a cluster that can not be reached', () => {
  it.each(everyCommand)('$name says in one sentence what to see to', async ({ args }) => {
    const choice = ['--kubeconfig', await kubeconfigOf(1)]
    const ended = await runCaptured([...choice, ...args], { directory })
    expectOneSentence(
      ended,
      /see whether it runs, and whether --context and --kubeconfig name the right cluster/,
    )
  })
})

describe('a command line with a flag that there is not', () => {
  // What follows the name of a tool is for the tool.
  const passed = ['nbctl', 'sbctl', 'icnbctl', 'icsbctl', 'vsctl', 'ofctl', 'dpctl', 'appctl', 'tcpdump']
  it.each(everyCommand.filter(({ name }) => !passed.includes(name)))('$name names it', async ({ args }) => {
    const ended = await runCaptured([...args, '--wrong'], { directory })
    expect(ended).toMatchObject({ exitCode: 2, stdout: '' })
    expect(ended.stderr).toMatch(/^kubectl-ko: unknown option '--wrong'\n/)
  })
})

describe('an API server that does not answer', () => {
  it.each(everyCommand)('$name ends as soon as it is told to', async ({ args }) => {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => sockets.add(socket.on('error', () => undefined)))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const connected = once(server, 'connection')
    const choice = ['--kubeconfig', await kubeconfigOf((server.address() as AddressInfo).port)]
    const user = new AbortController()
    const ended = runCaptured([...choice, ...args], { directory, signal: user.signal })
    await connected
    const toldMs = performance.now()
    user.abort(new DOMException('SIGINT', 'AbortError'))
    expect(await ended).toEqual({ exitCode: interruptedCode, stdout: '', stderr: '' })
    // A connection on which nobody answers is given up by itself after this long.
    expect(performance.now() - toldMs).toBeLessThan(9_500)
    for (const socket of sockets) socket.destroy()
    server.close()
  })
})
