import {
  execInPod,
  impersonating,
  KubeClient,
  loadAccess,
  type ClusterAccess,
  type ExecRequest,
} from '@kube-ovn/kube'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { CommandFailedError } from './errors.ts'

/** How the command line says which cluster is meant, and with whose rights. */
export interface ClusterChoice {
  readonly kubeconfig?: string
  readonly context?: string
  readonly as?: string
  readonly asGroup?: readonly string[]
  readonly systemNamespace: string
}

export interface PodContainer {
  readonly namespace: string
  readonly pod: string
  readonly container: string
}

export interface CommandOutput {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

const userAgent = 'kubectl-ko'

/**
 * Runs the command that its arguments are, and ends it when the input ends: nothing else tells a process in a container that
 * the connection is gone.
 */
const endingWithInput = `
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
{ cat <&3; kill "$child"; } >/dev/null 2>&1 &
exec 3<&-
wait "$child"`

/** The cluster that a command is about. */
export class Cluster implements AsyncDisposable {
  /** What it is asked for ends when the user wants that. */
  readonly client: KubeClient
  /**
   * For what is made and has to go again: it does all that it is told, also when the user has had enough. Who makes an object by a
   * request that is given up does not know whether it is there.
   */
  readonly steadyClient: KubeClient
  /** Namespace of the components. */
  readonly namespace: string
  readonly #access: ClusterAccess
  readonly #signal: AbortSignal

  private constructor(access: ClusterAccess, namespace: string, signal: AbortSignal) {
    this.#access = access
    this.#signal = signal
    this.namespace = namespace
    const options = { userAgent, connections: 8, timeoutMs: 20_000, repeats: 5 }
    this.client = new KubeClient(access, { ...options, signal })
    this.steadyClient = new KubeClient(access, options)
  }

  static async open(choice: ClusterChoice, signal: AbortSignal): Promise<Cluster> {
    const access = await loadAccess(choice.kubeconfig, choice.context)
    const { as: user, asGroup: groups = [] } = choice
    const own = user === undefined ? access : impersonating(access, { user, groups })
    return new Cluster(own, choice.systemNamespace, signal)
  }

  /** Runs a command in a container, passes on what it prints, and answers its exit code. */
  run(
    where: PodContainer,
    command: readonly string[],
    to: { readonly stdout: Writable; readonly stderr: Writable },
    stdin?: ExecRequest['stdin'],
  ): Promise<number> {
    return execInPod(this.#access, {
      ...where,
      command,
      userAgent,
      signal: this.#signal,
      ...(stdin !== undefined && { stdin }),
      onStdout: (chunk) => drained(to.stdout, chunk),
      onStderr: (chunk) => drained(to.stderr, chunk),
    })
  }

  /** Like {@link run}, of a command that goes on until it is told to end: it does not outlive us. */
  runWithUs(
    where: PodContainer,
    command: readonly string[],
    to: { readonly stdout: Writable; readonly stderr: Writable },
  ): Promise<number> {
    return this.run(where, ['bash', '-c', endingWithInput, 'bash', ...command], to, this.#untilAborted())
  }

  /** An input without content, which ends when we do. */
  async *#untilAborted(): AsyncGenerator<Uint8Array, void, undefined> {
    if (!this.#signal.aborted) await once(this.#signal, 'abort')
    yield* []
  }

  /** Runs a command in a container and answers what it printed, and how it ended. */
  async ask(
    where: PodContainer,
    command: readonly string[],
    stdin?: ExecRequest['stdin'],
  ): Promise<CommandOutput> {
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
    const exitCode = await execInPod(this.#access, {
      ...where,
      command,
      userAgent,
      signal: this.#signal,
      ...(stdin !== undefined && { stdin }),
      onStdout: (chunk) => void stdout.push(Buffer.from(chunk)),
      onStderr: (chunk) => void stderr.push(Buffer.from(chunk)),
    })
    return {
      exitCode,
      stdout: Buffer.concat(stdout).toString('utf8'),
      stderr: Buffer.concat(stderr).toString('utf8'),
    }
  }

  /**
   * Runs a command in a container and answers what it printed.
   *
   * @throws CommandFailedError when it ended with an error
   */
  async tell(where: PodContainer, command: readonly string[]): Promise<string> {
    const output = await this.ask(where, command)
    if (output.exitCode === 0) return output.stdout
    throw commandFailed(where, command, output)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.client, this.steadyClient].map((client) => client[Symbol.asyncDispose]()))
  }
}

export function commandFailed(
  { namespace, pod, container }: PodContainer,
  command: readonly string[],
  { exitCode, stdout, stderr }: CommandOutput,
): CommandFailedError {
  return new CommandFailedError({
    pod: `${namespace}/${pod}`,
    command: command.join(' '),
    exitCode,
    answer: (stderr.trim() || stdout.trim()).slice(0, 500),
    cure: `look at the log of the container: kubectl -n ${namespace} logs ${pod} -c ${container}`,
  })
}

function drained(stream: Writable, chunk: Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  stream.write(chunk, (error) => (error === undefined || error === null ? resolve() : reject(error)))
  return promise
}
