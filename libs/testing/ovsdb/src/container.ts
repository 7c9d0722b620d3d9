import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { run } from './command.ts'
import { CommandFailedError } from './errors.ts'
import { ensureImage, ensureNetwork } from './image.ts'

/**
 * A container with the OVS and OVN commands in which nothing runs yet.
 *
 * Its first process reads a pipe from this one. When this process ends, however that happens, the pipe closes
 * and the container goes away.
 */
export class Container implements AsyncDisposable {
  readonly name: string
  /** IPv4 address, reachable from the host. */
  readonly address: string
  readonly #attached: ChildProcess
  /** What a command is put behind, to run inside. */
  readonly #inside: readonly [string, ...string[]]

  private constructor(
    name: string,
    address: string,
    attached: ChildProcess,
    inside: readonly [string, ...string[]],
  ) {
    this.name = name
    this.address = address
    this.#attached = attached
    this.#inside = inside
  }

  static async start(): Promise<Container> {
    const [image, network] = await Promise.all([ensureImage(), ensureNetwork()])
    const name = `kube-ovn-test-ovsdb-${process.pid}-${crypto.randomUUID().slice(0, 8)}`
    const command = [
      ...['run', '--rm', '--interactive', '--name', name, '--label', 'kube-ovn.test=1', '--network', network],
      // For the packet filter that keeps the members of a cluster apart.
      ...['--cap-add', 'NET_ADMIN'],
      ...['--tmpfs', '/var/lib/ovn', '--tmpfs', '/run', image],
      ...['sh', '-c', 'mkdir -p /run/ovn /run/openvswitch /var/log/ovn && hostname -i && exec cat'],
    ]
    const attached = spawn('docker', command, { stdio: ['pipe', 'pipe', 'pipe'] })
    const lines: string[] = []
    attached.stderr.on('data', (chunk: Buffer) => lines.push(chunk.toString()))
    const [address] = await Promise.race([
      once(createInterface(attached.stdout), 'line') as Promise<[string]>,
      once(attached, 'exit').then(([exitCode]: unknown[]): never => {
        throw new CommandFailedError(['docker', ...command], Number(exitCode), lines.join(''))
      }),
    ])
    return new Container(name, address.trim(), attached, await wayInside(name))
  }

  /** Runs a command inside and answers its standard output. Throws {@link CommandFailedError}. */
  run(command: readonly [string, ...string[]], input?: string, signal?: AbortSignal): Promise<string> {
    return run([...this.#inside, ...command], input, signal)
  }

  /** Runs a shell script inside. */
  script(text: string): Promise<string> {
    return this.run(['sh', '-e'], text)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#attached.exitCode !== null) return
    const exit = once(this.#attached, 'exit')
    this.#attached.stdin?.end()
    await exit
  }
}

/** Root enters the namespaces by itself, which takes a tenth of the time that the engine takes for it. */
async function wayInside(name: string): Promise<readonly [string, ...string[]]> {
  if (process.getuid?.() !== 0) return ['docker', 'exec', '--interactive', name]
  const pid = await run(['docker', 'inspect', '--format', '{{.State.Pid}}', name])
  return ['nsenter', `--target=${pid.trim()}`, '--mount', '--uts', '--ipc', '--net', '--pid', '--']
}
