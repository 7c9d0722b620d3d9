import type { ApiFault } from '@kube-ovn/testing-kube'
import { networkNames } from '../cluster/topology.ts'
import { LabUsageError } from '../errors.ts'
import { components, componentTraits, type Component } from './component.ts'
import {
  services,
  type Blow,
  type ClockComponent,
  type Fault,
  type OtherSide,
  type Service,
  type Target,
} from './fault.ts'

/** What a user may type after `fault apply`. */
export const faultUsage = `kill COMPONENT@MACHINE                 SIGKILL; what supervises it starts it again
restart COMPONENT@MACHINE              SIGTERM; the same
compact                                etcd forgets its history
pause COMPONENT@MACHINE | MACHINE      frozen
stop DAEMON@MACHINE | NODE             ended and kept down; a node as by a power cut
partition NODE [NETWORK|NODE|SERVICE]  silence; without a second word, all its networks
full-disk COMPONENT@MACHINE            not a byte left where its data is
slow-disk COMPONENT@MACHINE MS          every write of a database takes so much longer
clock COMPONENT@NODE SECONDS           controller or agent; its clock is off by so much
api-server FAULT…                      refuse, delay=MS, status=CODE, drop-watches[=MS]; each may begin with read:, write: or watch:

  MACHINE    control, outside, router-N, node-N
  COMPONENT  ${components.join(', ')}
  NETWORK    ${networkNames.join(', ')}
  SERVICE    ${Object.keys(services).join(', ')}
`

/** How many words may follow, where that is not any number. */
const mostWords: Readonly<Record<string, number>> = {
  ...{ compact: 0, kill: 1, restart: 1, pause: 1, stop: 1, 'full-disk': 1 },
  ...{ partition: 2, 'slow-disk': 2, clock: 2 },
}

/**
 * Reads what a user typed.
 *
 * @throws {LabUsageError} naming the word and what would have been right
 */
export function parseFault([kind = '', ...words]: readonly string[]): Fault | Blow {
  const [first = '', second] = words
  const surplus = words[mostWords[kind] ?? Infinity]
  if (surplus !== undefined) throw wrong(surplus, `nothing more after ${kind}; one fault at a time`)
  switch (kind) {
    case 'compact':
      return { kind }
    case 'kill':
    case 'restart':
      return { kind, target: parseComponent(first) }
    case 'pause':
      return { kind, target: parseTarget(first) }
    case 'stop': {
      const target = parseTarget(first)
      if (target.component !== undefined && componentTraits[target.component].daemon === undefined)
        throw wrong(first, 'a daemon of the lab such as kubelet or etcd; pause or kill what runs in pods')
      return { kind, target }
    }
    case 'partition':
      if (first === second) throw wrong(first, 'another node than itself')
      return { kind, node: parseMachine(first), from: parseOtherSide(second) }
    case 'full-disk': {
      const target = parseComponent(first)
      if (componentTraits[target.component].dataDirectory === undefined)
        throw wrong(
          first,
          `one of ${components.filter((name) => componentTraits[name].dataDirectory).join(', ')}`,
        )
      return { kind, target }
    }
    case 'slow-disk': {
      const target = parseComponent(first)
      if (componentTraits[target.component].writes === undefined)
        throw wrong(first, `one of ${components.filter((name) => componentTraits[name].writes).join(', ')}`)
      return { kind, target, delayMs: parseMilliseconds(second ?? '') }
    }
    case 'clock':
      return { kind, target: parseClockTarget(first), offsetSeconds: parseSeconds(second ?? '') }
    case 'api-server':
      if (words.length === 0) throw wrong('api-server', 'what is wrong with it, e.g. status=429')
      return { kind, faults: words.map(parseApiFault) }
    default:
      throw wrong(
        kind || 'nothing',
        'kill, restart, compact, pause, stop, partition, full-disk, slow-disk, clock or api-server',
      )
  }
}

/** The words that {@link parseFault} reads a fault from. */
export function faultWords(fault: Fault): string {
  switch (fault.kind) {
    case 'pause':
    case 'stop':
    case 'full-disk':
      return `${fault.kind} ${targetWord(fault.target)}`
    case 'slow-disk':
      return `slow-disk ${targetWord(fault.target)} ${fault.delayMs}`
    case 'clock':
      return `clock ${targetWord(fault.target)} ${fault.offsetSeconds}`
    case 'partition':
      return ['partition', fault.node, ...otherSideWords(fault.from)].join(' ')
    case 'api-server':
      return ['api-server', ...fault.faults.map(apiFaultWord)].join(' ')
  }
}

function targetWord({ component, machine }: Target): string {
  return component === undefined ? machine : `${component}@${machine}`
}

function parseTarget(word: string): Target {
  if (!word.includes('@')) return { machine: parseMachine(word) }
  return parseComponent(word)
}

function parseComponent(word: string): Target & { readonly component: Component } {
  const [name = '', machine = ''] = word.split('@')
  const component = components.find((candidate) => candidate === name)
  if (component === undefined) throw wrong(word, `COMPONENT@MACHINE with one of ${components.join(', ')}`)
  return { component, machine: parseMachine(machine) }
}

function parseClockTarget(word: string): Target & { readonly component: ClockComponent } {
  const { component, machine } = parseComponent(word)
  if (component !== 'controller' && component !== 'agent')
    throw wrong(word, 'controller@NODE or agent@NODE; the clock of others can not be set by itself')
  return { component, machine }
}

function parseMachine(word: string): string {
  if (!/^[a-z][a-z0-9-]*$/.test(word)) throw wrong(word || 'nothing', 'the name of a machine, e.g. node-1')
  return word
}

function parseOtherSide(word: string | undefined): OtherSide {
  if (word === undefined) return { network: 'all' }
  const network = networkNames.find((name) => name === word)
  if (network !== undefined) return { network }
  const service = (Object.keys(services) as Service[]).find((name) => name === word)
  return service === undefined ? { node: parseMachine(word) } : { service }
}

function otherSideWords(from: OtherSide): readonly string[] {
  if ('node' in from) return [from.node]
  if ('service' in from) return [from.service]
  return from.network === 'all' ? [] : [from.network]
}

function parseMilliseconds(word: string): number {
  const ms = Number(word)
  if (!/^\d+$/.test(word) || ms < 1 || ms > 60_000)
    throw wrong(word || 'nothing', 'milliseconds from 1 to 60000')
  return ms
}

function parseSeconds(word: string): number {
  const seconds = Number(word)
  if (word === '' || !Number.isInteger(seconds) || Math.abs(seconds) > 10 * 365 * 24 * 3600)
    throw wrong(word || 'nothing', 'whole seconds, e.g. 3600 or -60')
  return seconds
}

function parseApiFault(word: string): ApiFault {
  const [, kind, rest = ''] = /^(?:(read|write|watch):)?(.*)$/.exec(word) ?? []
  const [name, value] = rest.split('=')
  const number = Number(value)
  const narrowed = kind === 'read' || kind === 'write' || kind === 'watch' ? ({ kind } as const) : {}
  if (rest === 'refuse') return { ...narrowed, answer: 'reset' }
  if (rest === 'drop-watches') return { kind: 'watch', resetAfterMs: 0 }
  if (value !== undefined && Number.isInteger(number) && number >= 0) {
    if (name === 'drop-watches') return { kind: 'watch', resetAfterMs: number }
    if (name === 'delay') return { ...narrowed, delayMs: number }
    if (name === 'status' && number >= 400 && number <= 599) return { ...narrowed, answer: number }
  }
  throw wrong(
    word,
    'refuse, delay=MS, status=400…599 or drop-watches[=MS], after read:, write:, watch: or nothing',
  )
}

function apiFaultWord({ kind, delayMs, answer, resetAfterMs }: ApiFault): string {
  const prefix = kind === undefined ? '' : `${kind}:`
  if (answer === 'reset') return `${prefix}refuse`
  if (answer !== undefined) return `${prefix}status=${answer}`
  if (delayMs !== undefined) return `${prefix}delay=${delayMs}`
  return `drop-watches=${resetAfterMs ?? 0}`
}

function wrong(argument: string, cure: string): LabUsageError {
  return new LabUsageError('the fault is not understood', { argument, cure })
}
