import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './command.ts'

/** Where ip-netns(8) keeps its namespaces. */
const namespaceFolder = '/run/netns'
const namePrefix = 'test'

let made = 0

/** Is one network namespace of a test. */
export interface TestNamespace {
  /** As `ip -n` takes it; unique on this machine. */
  readonly name: string
  /** As setns and CNI take it. */
  readonly path: string
  /** Runs a command inside and yields what it printed. */
  run(command: string, ...args: string[]): string
  /** Runs `ip -json` inside and yields what it printed, parsed. */
  ip(...args: string[]): unknown
  /** Starts a command inside that goes on until the network is disposed of. */
  start(command: string, ...args: string[]): ChildProcess
}

/** Is a set of network namespaces that vanish with everything in them when it is disposed of, or the process exits. */
export interface TestNetwork extends Disposable {
  /** Makes a namespace with loopback up. The name is for people; the real one is made unique. */
  namespace(name: string): TestNamespace
  /** Joins two namespaces by a veth pair, both ends up. Addresses are `ADDRESS/LENGTH`. */
  connect(a: TestLinkEnd, b: TestLinkEnd): void
}

interface TestLinkEnd {
  readonly namespace: TestNamespace
  readonly name: string
  readonly addresses?: readonly string[]
}

/**
 * Opens a network for a test.
 *
 * It is made with ip(8), not with our own netlink library, so that tests of that have something to be compared with.
 */
export function openTestNetwork(): TestNetwork {
  removeLeftovers()
  return new KernelNetwork()
}

class KernelNetwork implements TestNetwork {
  readonly #namespaces: string[] = []
  readonly #children = new Set<ChildProcess>()
  readonly #atExit = (): void => this[Symbol.dispose]()

  constructor() {
    process.once('exit', this.#atExit)
  }

  namespace(label: string): TestNamespace {
    const name = `${namePrefix}-${process.pid}-${++made}-${label}`
    run('ip', ['netns', 'add', name])
    this.#namespaces.push(name)
    run('ip', ['-n', name, 'link', 'set', 'lo', 'up'])
    return {
      name,
      path: `${namespaceFolder}/${name}`,
      run: (command, ...args) => run('ip', ['netns', 'exec', name, command, ...args]),
      ip: (...args) => parse(run('ip', ['-n', name, '-json', ...args])),
      start: (command, ...args) => this.#start(name, command, args),
    }
  }

  connect(a: TestLinkEnd, b: TestLinkEnd): void {
    const pair = ['type', 'veth', 'peer', 'name', b.name, 'netns', b.namespace.name]
    run('ip', ['-n', a.namespace.name, 'link', 'add', a.name, ...pair])
    for (const { namespace, name, addresses = [] } of [a, b]) {
      for (const address of addresses) {
        // Duplicate address detection would make an IPv6 address unusable for a second.
        const options = address.includes(':') ? ['nodad'] : []
        run('ip', ['-n', namespace.name, 'address', 'add', address, 'dev', name, ...options])
      }
      run('ip', ['-n', namespace.name, 'link', 'set', name, 'up'])
    }
  }

  [Symbol.dispose](): void {
    process.off('exit', this.#atExit)
    for (const child of this.#children) child.kill('SIGKILL')
    this.#children.clear()
    for (const name of this.#namespaces.splice(0)) run('ip', ['netns', 'delete', name])
  }

  #start(name: string, command: string, args: readonly string[]): ChildProcess {
    // `ip netns exec` becomes the command, so that killing the child kills it.
    const child = spawn('ip', ['netns', 'exec', name, command, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#children.add(child)
    child.once('exit', () => this.#children.delete(child))
    return child
  }
}

function parse(json: string): unknown {
  return json.trim() === '' ? [] : JSON.parse(json)
}

/** Removes namespaces of test processes that were killed before they could. */
function removeLeftovers(): void {
  if (!existsSync(namespaceFolder)) return
  for (const name of readdirSync(namespaceFolder)) {
    const owner = new RegExp(`^${namePrefix}-(\\d+)-\\d+-`).exec(name)?.[1]
    if (owner !== undefined && !existsSync(`/proc/${owner}`)) removeLeftover(name)
  }
}

/** Another process that looks now may be faster. */
function removeLeftover(name: string): void {
  try {
    run('ip', ['netns', 'delete', name])
  } catch (error) {
    if (existsSync(join(namespaceFolder, name))) throw error
  }
}
