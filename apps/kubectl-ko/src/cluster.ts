import {
  execInPod,
  impersonating,
  KubeClient,
  loadAccess,
  type ClusterAccess,
  type ExecRequest,
} from '@kube-ovn/kube'
import { once } from 'node:events'
import { PassThrough, type Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
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
 * the connection is gone. Who is held up because nobody reads what it prints does not see that it is to end, and is killed. It
 * leaves no child behind: whoever is the first process of the container may not wait for those of others.
 */
const endingWithInput = `
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
cat <&3 >/dev/null 2>&1 &
input=$!
exec 3<&-
is_running() { [[ -n $(jobs -r %1 2>/dev/null) ]]; }
wait -n "$child" "$input"
{
  if is_running; then
    kill "$child"
    sleep 5 &
    wait -n "$child" "$!"
    if is_running; then kill -KILL "$child"; fi
  fi
  wait "$child"
  code=$?
  kill $(jobs -pr)
  wait
} 2>/dev/null
exit "$code"`

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

  /**
   * Runs a command in a container, passes on what it prints, and answers its exit code. Without an input it does not outlive us.
   *
   * @param stdin what the command reads; it ends when it has done that
   */
  async run(
    where: PodContainer,
    command: readonly string[],
    to: { readonly stdout: Writable; readonly stderr: Writable },
    stdin?: ExecRequest['stdin'],
  ): Promise<number> {
    const ended = new AbortController()
    const words = ['bash', '-c', endingWithInput, 'bash', ...command]
    try {
      return await execInPod(this.#access, {
        ...where,
        ...(stdin === undefined
          ? { command: words, stdin: untilAborted(AbortSignal.any([this.#signal, ended.signal])) }
          : { command, stdin }),
        userAgent,
        signal: this.#signal,
        onStdout: (chunk) => drained(to.stdout, chunk),
        onStderr: (chunk) => drained(to.stderr, chunk),
      })
    } finally {
      ended.abort()
    }
  }

  /** Like {@link run}, and answers what the command printed, and how it ended. */
  async ask(
    where: PodContainer,
    command: readonly string[],
    stdin?: ExecRequest['stdin'],
  ): Promise<CommandOutput> {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()]
    const ended = this.run(where, command, { stdout, stderr }, stdin).finally(() => {
      stdout.end()
      stderr.end()
    })
    const [exitCode, printed, said] = await Promise.all([ended, text(stdout), text(stderr)])
    return { exitCode, stdout: printed, stderr: said }
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

/** An input without content, which ends when it is told to. */
async function* untilAborted(signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
  if (!signal.aborted) await once(signal, 'abort')
  yield* []
}

function drained(stream: Writable, chunk: Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  stream.write(chunk, (error) => (error === undefined || error === null ? resolve() : reject(error)))
  return promise
}
