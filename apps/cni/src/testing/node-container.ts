import { spawn, type ChildProcess } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { mkdirSync, realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import {
  ensureTestImage,
  ensureTestNetwork,
  testLabel,
  testNetwork,
  waitForEnd,
} from '@kube-ovn/testing-docker'

const dockerfile = `FROM debian:trixie-slim
RUN apt-get update \\
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \\
    libatomic1 openvswitch-switch ovn-central ovn-host iproute2 nftables iputils-ping ethtool procps \\
 && rm -rf /var/lib/apt/lists/*
`

const repository = join(import.meta.dirname, '../../../..')

/** The plugin, run from its source by what it is compiled with. */
export const pluginCommand: readonly string[] = [
  join(createRequire(import.meta.url).resolve('bun/package.json'), '../bin/bun.exe'),
  join(repository, 'apps/cni/src/plugin/main.ts'),
]

/** Agents start from their sources again and again: what Node has compiled of them is for all. */
function compileCacheMount(): readonly string[] {
  const cache = process.env['NODE_COMPILE_CACHE']
  if (cache === undefined) return []
  // The checkout, where it may be, can not be written to from inside.
  mkdirSync(cache, { recursive: true })
  return ['--env', `NODE_COMPILE_CACHE=${cache}`, '--volume', `${cache}:${cache}`]
}

const startVswitchd =
  'ovs-vswitchd unix:/run/openvswitch/db.sock --pidfile --detach --log-file=/var/log/openvswitch/ovs-vswitchd.log'

/** Where the container has the plugins of the CNI project, and `cnitool`. */
const cniProgramDirectory = '/opt/cni-programs'

/** Where tools/bootstrap built them, which links them beside the other programs that images are made of. */
function cniPrograms(): string {
  return dirname(realpathSync(join(repository, 'dist/programs/cnitool')))
}

/** What a node has before the agent starts: databases, northd, vswitchd in user space, ovn-controller. */
const startOvn = `
mount -o remount,rw /proc/sys
sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0
mkdir -p /run/ovn /run/openvswitch /var/lib/ovn /var/log/ovn /var/log/openvswitch
/usr/share/ovn/scripts/ovn-ctl start_northd >/dev/null
/usr/share/openvswitch/scripts/ovs-ctl --no-ovs-vswitchd --no-mlockall --system-id=chassis-1 start >/dev/null
ovs-vsctl --no-wait set Open_vSwitch . external_ids:ovn-remote=unix:/run/ovn/ovnsb_db.sock \\
  external_ids:ovn-encap-type=geneve external_ids:ovn-bridge-datapath-type=netdev
${startVswitchd}
/usr/share/ovn/scripts/ovn-ctl start_controller >/dev/null
`

/** Outcome of a command. */
export interface Finished {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/**
 * A container that is a node: real OVN with the userspace data path, and the agent from this checkout.
 *
 * It goes away when the pipe to its first process closes, however this process ends.
 */
export class NodeContainer implements AsyncDisposable {
  readonly name: string
  readonly address: string
  readonly #attached: ChildProcess
  #agent: ChildProcess | undefined
  #agentLog: string[] = []
  readonly #logEvents = new EventEmitter()

  private constructor(name: string, address: string, attached: ChildProcess) {
    this.name = name
    this.address = address
    this.#attached = attached
  }

  static async start(): Promise<NodeContainer> {
    const [image] = await Promise.all([ensureTestImage('node', { dockerfile }), ensureTestNetwork()])
    const name = `kube-ovn-test-cni-${randomUUID().slice(0, 8)}`
    const nodeDirectory = dirname(process.execPath)
    const attached = spawn(
      'docker',
      [
        ...['run', '--rm', '--interactive', '--name', name, '--label', testLabel, '--network', testNetwork],
        ...['--cap-add', 'ALL', '--cap-drop', 'SYS_RESOURCE'],
        ...['--security-opt', 'seccomp=unconfined', '--security-opt', 'apparmor=unconfined'],
        ...['--device', '/dev/net/tun', '--tmpfs', '/run:exec'],
        ...['--volume', `${repository}:${repository}:ro`, '--volume', `${nodeDirectory}:/opt/node:ro`],
        ...['--volume', `${cniPrograms()}:${cniProgramDirectory}:ro`],
        ...compileCacheMount(),
        ...[image, 'sh', '-c', 'hostname -i && exec cat'],
      ],
      { stdio: ['pipe', 'pipe', 'pipe'] },
    )
    const errors: Buffer[] = []
    attached.stderr.on('data', (chunk: Buffer) => errors.push(chunk))
    const [address] = await Promise.race([
      once(createInterface(attached.stdout), 'line') as Promise<[string]>,
      once(attached, 'exit').then((): never => {
        throw new TypeError(`node container ended: ${Buffer.concat(errors).toString()}`)
      }),
    ])
    await using stack = new AsyncDisposableStack()
    const node = stack.use(new NodeContainer(name, address.trim(), attached))
    await node.script(startOvn)
    stack.move()
    return node
  }

  /** Runs a command inside, whatever its outcome. */
  async try(
    command: readonly string[],
    options: { input?: string; env?: Record<string, string> } = {},
  ): Promise<Finished> {
    const env = Object.entries(options.env ?? {}).flatMap(([key, value]) => ['--env', `${key}=${value}`])
    return finish(spawn('docker', ['exec', '--interactive', ...env, this.name, ...command]), options.input)
  }

  /** Runs a shell script inside and answers what it printed. */
  async script(text: string): Promise<string> {
    const { exitCode, stdout, stderr } = await this.try(['sh', '-e'], { input: text })
    if (exitCode !== 0) throw new TypeError(`script failed with ${exitCode}: ${stderr}${stdout}\n${text}`)
    return stdout.trimEnd()
  }

  /** Kills ovs-vswitchd and starts another one, which takes the lock of the first one's file: that must have ended before. */
  async replaceVswitchd(): Promise<void> {
    await this.script(
      `pid=$(cat /run/openvswitch/ovs-vswitchd.pid)\nkill -KILL $pid\n${waitForEnd}\n${startVswitchd}`,
    )
  }

  /** Calls the CNI plugin as a runtime does. */
  async plugin(
    verb: string,
    pod: string,
    configuration: object = {},
    env: Record<string, string> = {},
  ): Promise<Finished> {
    return this.try(pluginCommand, {
      input: JSON.stringify({
        cniVersion: '1.1.0',
        name: 'kube-ovn',
        type: 'kube-ovn',
        server_socket: '/run/openvswitch/kube-ovn-daemon.sock',
        ...configuration,
      }),
      env: {
        CNI_COMMAND: verb,
        CNI_CONTAINERID: containerId(pod),
        CNI_NETNS: `/run/netns/${pod}`,
        CNI_IFNAME: 'eth0',
        CNI_PATH: '/opt/cni/bin',
        CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${pod}`,
        ...env,
      },
    })
  }

  /** Installs plugins and configuration as on every node; our plugin is a script that runs its source. */
  async install(...flags: readonly string[]): Promise<void> {
    await this.script(
      `mkdir -p /run/plugin\nprintf '#!/bin/sh\\nexec ${pluginCommand.join(' ')}\\n' > /run/plugin/kube-ovn`,
    )
    const program = join(repository, 'apps/cni/src/install/main.ts')
    const sources = `--source-dirs=/run/plugin,${cniProgramDirectory}`
    const { exitCode, stderr } = await this.try(['/opt/node/node', program, 'install', sources, ...flags])
    if (exitCode !== 0) throw new TypeError(`installation failed with ${exitCode}: ${stderr}`)
  }

  /** Calls the list of plugins that is installed, as libcni does for a runtime. */
  async cnitool(verb: string, pod: string, env: Record<string, string> = {}): Promise<Finished> {
    return this.try([`${cniProgramDirectory}/cnitool`, verb, 'kube-ovn', `/run/netns/${pod}`], {
      env: { CNI_PATH: '/opt/cni/bin', ...env },
    })
  }

  /** Starts the agent; `kubeconfig` is a file of this machine. */
  async startAgent(kubeconfig: string, nodeName: string, flags: readonly string[] = []): Promise<void> {
    const text = await readFile(kubeconfig, 'utf8')
    await this.try(['sh', '-c', 'cat > /run/kubeconfig'], { input: text })
    const command = [
      'exec /opt/node/node',
      `${repository}/apps/cni/src/agent/main.ts`,
      '--kubeconfig=/run/kubeconfig',
      '--enable-tproxy',
      '-v=4',
      ...flags,
    ]
    const script = `echo $$ > /run/agent.pid; ${command.join(' ')}`
    const env = [
      '--env',
      `NODE_NAME=${nodeName}`,
      '--env',
      `POD_IP=${this.address}`,
      '--env',
      `POD_IPS=${this.address}`,
    ]
    const agent = spawn('docker', ['exec', ...env, this.name, 'sh', '-c', script], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#agent = agent
    this.#agentLog = []
    createInterface(agent.stderr).on('line', (line) => {
      this.#agentLog.push(line)
      this.#logEvents.emit('change')
    })
    await this.logged('agent started')
  }

  /** Ends the agent by a signal and waits for its end. */
  async stopAgent(signal: 'TERM' | 'KILL' = 'TERM'): Promise<void> {
    const agent = this.#agent
    if (agent === undefined) return
    const exit = once(agent, 'exit')
    await this.script(`kill -${signal} $(cat /run/agent.pid)`)
    await exit
    this.#agent = undefined
  }

  /** Lines that the agent has logged since its start. */
  get agentLog(): readonly Record<string, unknown>[] {
    return this.#agentLog
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  }

  /** Waits for a line with this message and these fields. */
  async logged(
    msg: string,
    fields: Record<string, unknown> = {},
    timeoutMs = 30_000,
  ): Promise<Record<string, unknown>> {
    const deadline = AbortSignal.timeout(timeoutMs)
    for (;;) {
      const found = this.agentLog.find(
        (line) => line['msg'] === msg && Object.entries(fields).every(([key, value]) => line[key] === value),
      )
      if (found !== undefined) return found
      try {
        await once(this.#logEvents, 'change', { signal: deadline })
      } catch (cause) {
        throw new TypeError(`agent did not log "${msg}":\n${this.#agentLog.join('\n')}`, { cause })
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#attached.exitCode !== null) return
    const exit = once(this.#attached, 'exit')
    this.#attached.stdin?.end()
    await exit
  }
}

/** A container id, as long as containerd's, that is the same for a pod each time. */
export function containerId(pod: string): string {
  return createHash('sha256').update(pod).digest('hex')
}

async function finish(child: ChildProcess, input = ''): Promise<Finished> {
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk))
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(input)
  const [code] = (await once(child, 'close')) as [number | null]
  return {
    exitCode: code ?? -1,
    stdout: Buffer.concat(stdout).toString(),
    stderr: Buffer.concat(stderr).toString(),
  }
}
