import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { join } from 'node:path'
import { hasMachine, machineOf, nodeNamed } from '../cluster/lookup.ts'
import { powerOff, powerOn } from '../cluster/node-life.ts'
import { freezeContainer, inspectContainer, thawContainer } from '../docker/container.ts'
import { FaultStandsError } from '../errors.ts'
import { insideContainer, runAt } from '../namespaces.ts'
import { behave, misbehave } from './api-server.ts'
import { restoreClock, shiftClock } from './clock.ts'
import { emptyDisk, fillDisk } from './full-disk.ts'
import { heal, partition } from './partition.ts'
import {
  endAndAwaitSuccessor,
  holdDaemon,
  processesOf,
  releaseDaemon,
  signalComponent,
  signalWhatRuns,
} from './processes.ts'
import { restoreDisk, slowDisk } from './slow-disk.ts'
import { faultWords } from './words.ts'
import { repairOnSignal } from './signals.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Blow, Fault, Target } from './fault.ts'

/** A fault that stands until this is disposed of, or the process is told to end. */
export interface StandingFault extends AsyncDisposable {
  readonly fault: Fault
  /** Takes the fault away; once is enough, twice is fine. */
  repair(): Promise<void>
}

/** Breaks something for as long as the result lives. */
export async function injectFault(cluster: Cluster, fault: Fault): Promise<StandingFault> {
  let repaired: Promise<void> | undefined
  const forget = repairOnSignal(() => repair())
  function repair(): Promise<void> {
    repaired ??= repairFault(cluster, fault).finally(forget)
    return repaired
  }
  try {
    await applyFault(cluster, fault)
  } catch (error) {
    forget()
    throw error
  }
  return { fault, repair, [Symbol.asyncDispose]: repair }
}

/**
 * Breaks something that stays broken until {@link repairFault}, also when this process has ended. What can not be broken is left whole.
 *
 * @throws {FaultStandsError} if it is broken like that already
 * @throws {LabUsageError} if what is to be broken is not there
 */
export async function applyFault(cluster: Cluster, fault: Fault): Promise<void> {
  const standing = standingFaults(cluster)
  if (standing.some((other) => isSame(other, fault)))
    throw new FaultStandsError('the fault stands already', {
      fault: faultWords(fault),
      cure: 'undo it first (npm run lab -- fault undo)',
    })
  findTargets(cluster, fault)
  // Before it is done, so that whoever comes after a crash knows.
  writeRecord(cluster, [...standing, fault])
  try {
    await breakIt(cluster, fault)
  } catch (error) {
    // If that fails as well, it stays on record.
    await repairFault(cluster, fault).catch(() => undefined)
    throw error
  }
}

/** There is one API server: it misbehaves in one way at a time. */
function isSame(one: Fault, other: Fault): boolean {
  return (one.kind === 'api-server' && other.kind === 'api-server') || isDeepStrictEqual(one, other)
}

/**
 * Makes sure that what a fault is to break is there.
 *
 * @throws {LabUsageError} naming what there is
 */
function findTargets(cluster: Cluster, fault: Fault): void {
  switch (fault.kind) {
    case 'partition':
      nodeNamed(cluster, fault.node)
      if ('node' in fault.from) nodeNamed(cluster, fault.from.node)
      return
    case 'clock':
      nodeNamed(cluster, fault.target.machine)
      return
    case 'pause':
    case 'stop':
    case 'full-disk':
    case 'slow-disk': {
      const { machine, component } = fault.target
      if (component !== undefined) processesOf(cluster, { machine, component })
      else if (fault.kind === 'stop') nodeNamed(cluster, machine)
      else machineOf(cluster, machine)
      return
    }
    case 'api-server':
  }
}

/** Takes a fault away, whoever applied it. */
export async function repairFault(cluster: Cluster, fault: Fault): Promise<void> {
  await mend(cluster, fault)
  writeRecord(
    cluster,
    standingFaults(cluster).filter((other) => !isDeepStrictEqual(other, fault)),
  )
}

/** The faults of a lab that nobody has repaired yet, oldest first. */
export function standingFaults(cluster: Cluster): readonly Fault[] {
  const path = recordOf(cluster)
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Fault[]) : []
}

/** Does something to a component that it must recover from by itself, and waits until it has. */
export async function strike(cluster: Cluster, blow: Blow): Promise<void> {
  switch (blow.kind) {
    case 'kill':
      return endAndAwaitSuccessor(cluster, blow.target, 'SIGKILL')
    case 'restart':
      return endAndAwaitSuccessor(cluster, blow.target, 'SIGTERM')
    case 'compact':
      return compact(cluster)
  }
}

function breakIt(cluster: Cluster, fault: Fault): Promise<void> {
  switch (fault.kind) {
    case 'pause':
      return pause(cluster, fault.target)
    case 'stop':
      return stop(cluster, fault.target)
    case 'partition':
      return partition(cluster, fault.node, fault.from)
    case 'full-disk':
      return fillDisk(cluster, fault.target)
    case 'slow-disk':
      return slowDisk(cluster, fault.target, fault.delayMs)
    case 'clock':
      return shiftClock(cluster, fault.target.component, fault.target.machine, fault.offsetSeconds)
    case 'api-server':
      return misbehave(cluster, fault.faults)
  }
}

async function mend(cluster: Cluster, fault: Fault): Promise<void> {
  // A node that has been removed took it along.
  if ('target' in fault && fault.kind !== 'clock' && !hasMachine(cluster, fault.target.machine)) return
  switch (fault.kind) {
    case 'pause':
      return resume(cluster, fault.target)
    case 'stop':
      return start(cluster, fault.target)
    case 'partition':
      return heal(cluster, fault.node, fault.from)
    case 'full-disk':
      return emptyDisk(cluster, fault.target)
    case 'slow-disk':
      return restoreDisk(cluster, fault.target)
    case 'clock':
      return restoreClock(cluster, fault.target.component)
    case 'api-server':
      return behave(cluster)
  }
}

async function pause(cluster: Cluster, { component, machine }: Target): Promise<void> {
  if (component === undefined) await freezeContainer(machineOf(cluster, machine).id)
  else signalComponent(cluster, { component, machine }, 'SIGSTOP')
}

async function resume(cluster: Cluster, { component, machine }: Target): Promise<void> {
  if (component === undefined) await thawContainer(machineOf(cluster, machine).id)
  else signalWhatRuns(cluster, { component, machine }, 'SIGCONT')
}

async function stop(cluster: Cluster, { component, machine }: Target): Promise<void> {
  if (component === undefined) {
    // What is killed says good-bye to whom it is connected to, and what loses its power does not. This ends with the NICs.
    for (const network of ['kubernetes', 'tunnel'] as const) await partition(cluster, machine, { network })
    await powerOff(cluster, nodeNamed(cluster, machine).name)
  } else await holdDaemon(cluster, { component, machine })
}

async function start(cluster: Cluster, { component, machine }: Target): Promise<void> {
  if (component === undefined) {
    // Somebody may have started it meanwhile.
    const { pid } = await inspectContainer(nodeNamed(cluster, machine).container.id)
    if (pid === 0) await powerOn(cluster, machine)
  } else await releaseDaemon(cluster, { component, machine })
}

/** etcd's own HTTP gateway, since its command line is another package. */
async function compact(cluster: Cluster): Promise<void> {
  const ask = (path: string, body: object): Promise<string> =>
    runAt(insideContainer(cluster.control), [
      ...['curl', '-sS', '--fail-with-body', '-m', '10'],
      ...[`http://127.0.0.1:2379/v3/kv/${path}`, '--data', JSON.stringify(body)],
    ])
  const range = await ask('range', { key: Buffer.from('0').toString('base64') })
  const { revision } = (JSON.parse(range) as { header: { revision: string } }).header
  await ask('compaction', { revision, physical: true })
}

function recordOf({ directory }: Cluster): string {
  return join(directory, 'faults.json')
}

function writeRecord(cluster: Cluster, faults: readonly Fault[]): void {
  writeFileSync(recordOf(cluster), JSON.stringify(faults, undefined, 2))
}
