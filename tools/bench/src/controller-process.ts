import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const repository = join(import.meta.dirname, '../../..')
const program = join(repository, 'dist/programs/controller.mjs')
const dockerfile = join(repository, 'tools/images/images/controller/Dockerfile')

/** Ticks per second of the times in /proc/PID/stat; the same on every Linux that Node runs on. */
const ticksPerSecond = 100

/** Places of the user and system time in /proc/PID/stat, counted after the command's name. */
const userTicks = 11
const systemTicks = 12

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
    const stat = readFileSync(`/proc/${this.#pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[userTicks]) + Number(fields[systemTicks])) / ticksPerSecond
  }

  /** Resident memory, in MiB: what it is now, and the most that it ever was. */
  get rssMib(): { readonly now: number; readonly peak: number } {
    const status = readFileSync(`/proc/${this.#pid}/status`, 'utf8')
    const kib = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1])
    return { now: kib('VmRSS') / 1024, peak: kib('VmHWM') / 1024 }
  }

  /** Resolves when it leads and has nothing left to do: for two seconds it uses no more than this share of a processor. */
  async untilQuiet(share = 0.04): Promise<void> {
    while (!this.#log().includes('"msg":"leading"')) {
      this.#requireAlive()
      await delay(100)
    }
    for (let calm = 0; calm < 4;) {
      const before = this.cpuSeconds
      await delay(500)
      this.#requireAlive()
      calm = this.cpuSeconds - before <= share / 2 ? calm + 1 : 0
    }
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
  const variables = readFileSync(dockerfile, 'utf8').matchAll(/^ENV (\w+)=(\S+)$/gm)
  return Object.fromEntries(variables.map(([, name = '', value = '']) => [name, value]))
}
