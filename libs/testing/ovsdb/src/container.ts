import { run } from '@kube-ovn/testing-docker'
import { connectEngine } from './engine.ts'
import { HeldContainer } from './held-container.ts'
import { ensureImage, ensureNetwork } from './image.ts'

/** A container with the OVS and OVN commands in which nothing runs yet. It ends with this process at the latest. */
export class Container implements AsyncDisposable {
  readonly name: string
  /** IPv4 address, reachable from the host. */
  readonly address: string
  /** Its files, as this machine sees them: for sockets, by root alone. */
  readonly root: string
  readonly #release: () => Promise<void>
  /** What a command is put behind, to run inside. */
  readonly #inside: readonly [string, ...string[]]

  private constructor(
    name: string,
    address: string,
    pid: number,
    release: () => Promise<void>,
    inside: readonly [string, ...string[]],
  ) {
    this.name = name
    this.address = address
    this.root = `/proc/${pid}/root`
    this.#release = release
    this.#inside = inside
  }

  static async start(): Promise<Container> {
    const engine = await connectEngine()
    const [image, network] = await Promise.all([ensureImage(), ensureNetwork()])
    const name = `kube-ovn-test-ovsdb-${process.pid}-${crypto.randomUUID().slice(0, 8)}`
    const held = new HeldContainer(image)
      .withName(name)
      .withNetworkMode(network.name)
      // For the packet filter that keeps the members of a cluster apart.
      .withAddedCapabilities('NET_ADMIN')
      .withTmpFs(Object.fromEntries(directories.map((path) => [path, ''])))
      .withCommand(['cat'])
    const started = await held.start()
    const id = started.getId()
    const { State } = await engine.container.getById(id).inspect()
    const address = started.getIpAddress(network.name)
    return new Container(name, address, State.Pid, () => held.release(id), wayInside(name, State.Pid))
  }

  /** Runs a command inside and answers its standard output. Throws {@link CommandFailedError}. */
  run(command: readonly [string, ...string[]], input?: string): Promise<string> {
    return run([...this.#inside, ...command], input)
  }

  /** Runs a shell script inside. */
  script(text: string): Promise<string> {
    return this.run(['sh', '-e'], text)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#release()
  }
}

/** Where the daemons keep what they write, in memory. */
const directories = ['/var/lib/ovn', '/var/log/ovn', '/run/ovn', '/run/openvswitch']

/** Root enters the namespaces by itself, which takes a tenth of the time that the engine takes for it. */
function wayInside(name: string, pid: number): readonly [string, ...string[]] {
  if (process.getuid?.() !== 0) return ['docker', 'exec', '--interactive', name]
  return ['nsenter', `--target=${pid}`, '--mount', '--uts', '--ipc', '--net', '--pid', '--']
}
