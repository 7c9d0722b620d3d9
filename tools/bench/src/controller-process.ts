import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, statSync, watch } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { processorSeconds } from './processor-time.ts'

const repository = join(import.meta.dirname, '../../..')
const program = join(repository, 'dist/programs/controller.mjs')
const dockerfile = join(repository, 'tools/images/images/controller/Dockerfile')

const sampleMs = 500
const answerMs = 10_000

/** Of a processor; what it uses when it has nothing to do. */
const quietShare = 0.04

/** How long it may be busy with what is there; a slow machine needs a tenth of it. */
const patienceMs = 10 * 60_000

export interface ControllerPlan {
  readonly kubeconfig: string
  /** Servers of the Northbound. */
  readonly northbound: string
  /** Where its log goes. */
  readonly logFile: string
  /** Beside those of this machine, e.g. for faketime. */
  readonly environment?: Readonly<Record<string, string>>
  /** Beside those of the bench. */
  readonly flags?: readonly string[]
}

/** The controller as it is released, in a process of its own, whose costs are read from outside. */
export class ControllerProcess implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #pid: number
  readonly #logFile: string
  /** Where its own part of the log begins. */
  readonly #logStart: number
  readonly #kill = (): void => void this.#child.kill('SIGKILL')

  private constructor(child: ChildProcess, pid: number, logFile: string, logStart: number) {
    this.#child = child
    this.#pid = pid
    this.#logFile = logFile
    this.#logStart = logStart
    process.once('exit', this.#kill)
  }

  static start(plan: ControllerPlan): ControllerProcess {
    const log = openSync(plan.logFile, 'a', 0o600)
    const { size } = statSync(plan.logFile)
    const child = spawn(process.execPath, [program, ...flags(plan)], {
      stdio: ['ignore', log, log],
      env: { ...process.env, ...imageEnvironment(), ...plan.environment, POD_NAMESPACE: 'kube-system' },
    })
    closeSync(log)
    if (child.pid === undefined) throw new TypeError('the controller could not be started')
    return new ControllerProcess(child, child.pid, plan.logFile, size)
  }

  /** Processor time used so far, in seconds. */
  get cpuSeconds(): number {
    return processorSeconds(this.#pid)
  }

  /** Resident memory, in MiB: what it is now, and the most that it ever was. */
  get rssMib(): { readonly now: number; readonly peak: number } {
    const status = readFileSync(`/proc/${this.#pid}/status`, 'utf8')
    const kib = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1])
    return { now: kib('VmRSS') / 1024, peak: kib('VmHWM') / 1024 }
  }

  /**
   * Resolves when it leads and has nothing left to do: for two seconds it uses next to no processor time. Answers since when that is so, by
   * `performance.now()`.
   *
   * @throws Error with what it was seen to do, when that takes too long
   */
  async untilQuiet(): Promise<number> {
    return await this.#untilCalm(async () => {
      const before = this.cpuSeconds
      await delay(sampleMs)
      const share = ((this.cpuSeconds - before) * 1000) / sampleMs
      return share <= quietShare ? undefined : `it uses ${share.toFixed(2)} of a processor`
    })
  }

  /**
   * Resolves when it leads and has served every key: for two seconds none waits and none is in work, by its own metrics. It may use the
   * processor meanwhile, for what is no key's.
   *
   * @throws Error with what it was seen to do, when that takes too long
   */
  async untilServed(): Promise<void> {
    await this.#untilCalm(async () => {
      await delay(sampleMs)
      try {
        const names = ['workqueue_depth', 'controller_runtime_active_workers']
        const [waiting, working] = await this.#metrics(...names)
        return waiting === 0 && working === 0 ? undefined : `${waiting} keys wait, ${working} are in work`
      } catch (error) {
        return `it does not answer: ${String(error)}`
      }
    })
  }

  /** How many keys were queued since it began. */
  async queuedKeys(): Promise<number> {
    const [added] = await this.#metrics('workqueue_adds_total')
    return added ?? 0
  }

  /** Takes samples until four in a row see nothing; a sample tells what it saw. Answers when the first of the four began. */
  async #untilCalm(sample: () => Promise<string | undefined>): Promise<number> {
    const deadlineMs = performance.now() + patienceMs
    await this.#untilLeading()
    let seen: string | undefined
    let sinceMs = performance.now()
    for (let calm = 0; calm < 4;) {
      if (performance.now() > deadlineMs)
        throw new Error(`the controller is not done after ${patienceMs / 60_000} minutes: ${seen}`)
      this.#requireAlive()
      if (calm === 0) sinceMs = performance.now()
      const found = await sample()
      seen = found ?? seen
      calm = found === undefined ? calm + 1 : 0
    }
    return sinceMs
  }

  /** Resolves when its log says that it leads. */
  async #untilLeading(): Promise<void> {
    const left = new AbortController()
    const late = AbortSignal.timeout(patienceMs)
    const signal = AbortSignal.any([left.signal, late])
    const ended = once(this.#child, 'exit', { signal }).catch(() => undefined)
    const log = watch(this.#logFile)
    try {
      while (!this.#log().includes('"msg":"leading"')) {
        this.#requireAlive()
        await Promise.race([once(log, 'change', { signal }), ended])
      }
    } catch (error) {
      if (!late.aborted) throw error
      throw new Error(`the controller does not lead after ${patienceMs / 60_000} minutes`, { cause: error })
    } finally {
      left.abort()
      log.close()
    }
  }

  /** The sums of metrics, whatever their labels, as a scrape finds them. */
  async #metrics(...names: readonly string[]): Promise<readonly number[]> {
    const served = this.#log()
      .split('\n')
      .find((line) => line.includes('"health checks served"'))
    const { endpoints } = JSON.parse(served ?? '{}') as { endpoints?: readonly string[] }
    const port = endpoints?.[0]?.split(':').at(-1)
    // On a connection of its own: by a fast clock one that is kept is given up while it is used again.
    const asked = get({
      host: 'localhost',
      port,
      path: '/metrics',
      agent: false,
      signal: AbortSignal.timeout(answerMs),
    })
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    const lines = (await text(response)).split('\n')
    return names.map((name) =>
      lines
        .filter((line) => line.startsWith(`${name}{`))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0),
    )
  }

  /** How many lines of its log have this in them. */
  linesWith(text: string): number {
    return this.#log().split(text).length - 1
  }

  #log(): string {
    return readFileSync(this.#logFile).subarray(this.#logStart).toString('utf8')
  }

  #requireAlive(): void {
    if (this.#child.exitCode === null && this.#child.signalCode === null) return
    throw new Error(`the controller ended: ${this.#log().slice(-2000)}`)
  }

  /** Lets it end in good order, so that it hands its Lease back. */
  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#kill)
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await ended
  }
}

function flags({ kubeconfig, northbound, flags: others = [] }: ControllerPlan): readonly string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--ovn-nb-addr=${northbound}`,
    '--default-cidr=10.16.0.0/16,fd00:10:16::/112',
    '--node-switch-cidr=100.64.0.0/16,fd00:100:64::/112',
    '--service-cluster-ip-range=10.96.0.0/12,fd00:10:96::/112',
    '--default-exclude-ips=',
    '--pprof-port=0',
    ...others,
  ]
}

/** The variables that its image sets, so that what is measured runs as what is released. */
function imageEnvironment(): Readonly<Record<string, string>> {
  const variables = readFileSync(dockerfile, 'utf8').matchAll(/^ENV (\w+)=(?:"(.*)"|(\S+))$/gm)
  return Object.fromEntries(variables.map(([, name = '', quoted, plain = '']) => [name, quoted ?? plain]))
}
