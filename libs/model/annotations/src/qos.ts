import { annotation, type Annotation, type Annotations } from './annotation.ts'
import { AnnotationInvalidError } from './errors.ts'
import { primaryProvider, type Provider } from './pod.ts'

/** The annotations about how fast a NIC is, and how bad on purpose. Users set them, also while the Pod runs. */
export interface QosAnnotations {
  /** Into the NIC, Mbit/s; 0 is any. */
  readonly ingressRate: Annotation<number>
  /** Out of the NIC, Mbit/s; 0 is any. */
  readonly egressRate: Annotation<number>
  /** How much of it may come at once, Mbit. */
  readonly ingressBurst: Annotation<number>
  readonly egressBurst: Annotation<number>
  /** What comes into the NIC is late by so many milliseconds, */
  readonly latency: Annotation<number>
  /** more or less so many. */
  readonly jitter: Annotation<number>
  /** How many packets may wait meanwhile. */
  readonly limit: Annotation<number>
  /** How many of a hundred packets into the NIC are lost. */
  readonly loss: Annotation<number>
}

/** Open vSwitch reckons in kbit/s in 32 bits when it polices, and in bit/s when it shapes. */
const highestRate = Math.floor((2 ** 32 - 1) / 1000)

/** tc-netem(8) reckons in microseconds in 32 bits. */
const longestDelay = Math.floor((2 ** 32 - 1) / 1000)

const longestQueue = 2 ** 32 - 1

/** Gives the annotations of the NIC in the provider's network; those of the first one are a Node's, too. */
export function qosAnnotations(provider: Provider = primaryProvider): QosAnnotations {
  const whole = (name: string, most: number, unit: string): Annotation<number> =>
    wholeNumber(`${provider}.kubernetes.io/${name}`, most, unit)
  return {
    ingressRate: whole('ingress_rate', highestRate, 'Mbit/s'),
    egressRate: whole('egress_rate', highestRate, 'Mbit/s'),
    ingressBurst: whole('ingress_burst', highestRate, 'Mbit'),
    egressBurst: whole('egress_burst', highestRate, 'Mbit'),
    latency: whole('latency', longestDelay, 'milliseconds'),
    jitter: whole('jitter', longestDelay, 'milliseconds'),
    limit: whole('limit', longestQueue, 'packets'),
    loss: whole('loss', 100, 'percent'),
  }
}

/** Whether something is asked of a NIC by this key, whichever NIC it is. */
export function isQosKey(key: string): boolean {
  return qosNames.has(key.slice(key.indexOf('/') + 1)) && key.includes('.kubernetes.io/')
}

const qosNames = new Set([
  ...['ingress_rate', 'egress_rate', 'ingress_burst', 'egress_burst'],
  ...['latency', 'jitter', 'limit', 'loss'],
])

/** How fast a NIC is to be in one direction. */
export interface NicRate {
  /** Mbit/s, more than 0. */
  readonly rate: number
  /** Mbit; `undefined` where nothing is said, or nothing that can be read. */
  readonly burst: number | undefined
}

/** What is asked of a NIC, as far as it can be read. */
export interface NicQos {
  readonly ingress: NicRate | undefined
  readonly egress: NicRate | undefined
  /** What is more than 0. */
  readonly disturbance: Partial<Readonly<Record<'latency' | 'jitter' | 'limit' | 'loss', number>>>
  /** Why the rest is not used. */
  readonly problems: readonly AnnotationInvalidError[]
}

/** Reads what is asked of a NIC: one bad value takes no effect from the others. */
export function readNicQos(annotations: Annotations | undefined, provider?: Provider): NicQos {
  const keys = qosAnnotations(provider)
  const problems: AnnotationInvalidError[] = []
  function read(wanted: Annotation<number>): number | undefined {
    try {
      return annotations?.[wanted.key] === '' ? undefined : wanted.read(annotations)
    } catch (error) {
      if (!(error instanceof AnnotationInvalidError)) throw error
      problems.push(error)
      return undefined
    }
  }
  function readRate(rate: number | undefined, burst: number | undefined): NicRate | undefined {
    return rate === undefined || rate === 0 ? undefined : { rate, burst }
  }
  const ingress = readRate(read(keys.ingressRate), read(keys.ingressBurst))
  const egress = readRate(read(keys.egressRate), read(keys.egressBurst))
  const { latency, jitter, limit, loss } = keys
  const asked = Object.entries({ latency, jitter, limit, loss }).map(
    ([name, key]) => [name, read(key)] as const,
  )
  const disturbance = Object.fromEntries(asked.filter(([, value]) => value !== undefined && value > 0))
  return { ingress, egress, disturbance, problems }
}

function wholeNumber(key: string, most: number, unit: string): Annotation<number> {
  return annotation(key, (text, field) => parseWhole(text, field, most, unit), String)
}

function parseWhole(text: string, field: string, most: number, unit: string): number {
  // "10.0" is a whole number all the same; more digits or blanks than these are none that could be meant.
  const value = /^\s{0,16}\d{1,16}(\.0{0,16})?\s{0,16}$/.test(text) ? Number(text) : undefined
  if (value !== undefined && value <= most) return value
  throw new AnnotationInvalidError({
    field,
    value: text,
    cure: `write a whole number of ${unit} from 0 to ${most}, or remove it`,
  })
}
