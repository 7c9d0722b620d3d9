import { globSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { ControlPlane } from './control-plane.ts'
import { rounded } from './statistics.ts'

const nodeCount = 100
const podCount = 10_000

/** How much faster the controller's clock runs than the machine's. */
const speed = 20
const simulatedMinutes = 15

/** Where Debian has libfaketime, for programs with threads. */
const libraries = '/usr/lib/*/faketime/libfaketimeMT.so.1'

/** What limits others, not the controller itself, is of the machine's time: it must not end sooner on a faster clock. */
const scaledFlags = [
  // Lists that are read again are told of at this level.
  '--v=4',
  `--leader-elect-lease-duration=${30 * speed}s`,
  `--leader-elect-renew-deadline=${20 * speed}s`,
  `--ovsdb-inactivity-timeout=${10 * speed}`,
  `--ovsdb-con-timeout=${3 * speed}`,
]

/** @throws Error that says what to install */
function findLibrary(): string {
  const [library] = globSync(libraries)
  if (library === undefined)
    throw new Error(`there is no ${libraries}: install libfaketime (Debian: faketime)`)
  return library
}

/** A controller that has nothing to do, and hears everything once more when the API server comes back without its history. */
export const kernelIdle: Benchmark = {
  name: 'kernel-idle',
  summary: 'transactions in 15 simulated minutes with 10,000 pods in place, incl. a resync',
  async run(): Promise<BenchmarkResult> {
    await using plane = await ControlPlane.start(nodeCount)
    await plane.populate(podCount)
    await using controller = plane.startController({
      environment: { LD_PRELOAD: findLibrary(), FAKETIME: `+0 x${speed}` },
      flags: scaledFlags,
    })
    // How busy it is says nothing here: watches, on which the server is silent for too long by the fast clock, are opened anew all the time.
    await controller.untilServed()
    const cpuBefore = controller.cpuSeconds
    const transactionsBefore = await plane.northbound.transactions()
    await plane.api.forgetWrites()
    const halfMs = (simulatedMinutes * 60_000) / speed / 2
    console.log(`${simulatedMinutes} minutes on a clock ${speed} times as fast`)
    await delay(halfMs)
    const idleCpu = controller.cpuSeconds - cpuBefore
    const early = await plane.writes()
    console.log('the API server forgets its history and starts anew: everything is listed again')
    await plane.api.compact()
    await plane.api.kill()
    await plane.api.restart()
    await delay(halfMs)
    await controller.untilServed()
    const relisted = controller.linesWith('"code":"kube-gone"')
    if (relisted === 0) throw new Error('nothing was listed again: this was no resync')
    const writes = [...early, ...(await plane.writes())]
    return {
      value: (await plane.northbound.transactions()) - transactionsBefore,
      unit: 'transactions',
      apiWrites: writes.length,
      cpuSecondsIdle: rounded(idleCpu),
      cpuSecondsResync: rounded(controller.cpuSeconds - cpuBefore - 2 * idleCpu),
    }
  },
}
