import { cidrText, formatIp, parseCidr, parseIp, type Cidr, type Ip } from '@kube-ovn/ip'
import { annotation, flagAnnotation } from './annotation.ts'
import { AnnotationInvalidError } from './errors.ts'

const prefix = 'ovn.kubernetes.io'

/** The way of one family. */
export interface ForwardedFamily {
  /** The address in the attached network under which clients come. */
  readonly address: Ip
  /** By which answers leave that network; absent: clients are inside of it. */
  readonly gateway?: Ip
  /** The cluster address of the Service. */
  readonly to: Ip
}

/** A port of the Service: it is the same outside. */
export interface ForwardedPort {
  readonly protocol: 'TCP' | 'UDP' | 'SCTP'
  readonly port: number
}

/** What a Pod forwards that serves a Service in an attached network. */
export interface Forwards {
  readonly families: readonly ForwardedFamily[]
  readonly ports: readonly ForwardedPort[]
  /** From where clients may come; none: from anywhere. */
  readonly sources: readonly Cidr[]
}

/** Annotations of such a Pod. The controller writes them. */
export const forwarderAnnotations = {
  /** What it forwards, as JSON. It reads that in a volume of its own. */
  forwards: annotation(`${prefix}/lb_svc_forwards`, parseForwards, formatForwards),
  /** The node agent lets the Pod's network namespace forward packets. */
  forwarding: flagAnnotation(`${prefix}/forwarding`),
} as const

/** Labels of such Pods, and of what makes them. The original has the same ones. */
export const forwarderLabel = {
  /** `lb-svc-<service>`, cut to what a label may be. */
  app: 'app',
  namespace: 'namespace',
  service: 'service',
} as const

function formatForwards({ families, ports, sources }: Forwards): string {
  return JSON.stringify({
    families: families.map(({ address, gateway, to }) => ({
      address: formatIp(address),
      ...(gateway === undefined ? {} : { gateway: formatIp(gateway) }),
      to: formatIp(to),
    })),
    ports: ports.map(({ port, protocol }) => `${port}/${protocol}`),
    ...(sources.length === 0 ? {} : { sources: sources.map((cidr) => cidrText(cidr)) }),
  })
}

/** Of each list; the API server takes no Service with so many ports. */
const mostEntries = 4096

function parseForwards(text: string, field: string): Forwards {
  const refuse = (): never => {
    throw new AnnotationInvalidError({
      field,
      value: text,
      cure: 'delete the Pod: the controller writes it anew',
    })
  }
  const list = (value: unknown): readonly unknown[] =>
    Array.isArray(value) && value.length <= mostEntries ? (value as readonly unknown[]) : refuse()
  const word = (value: unknown): string => (typeof value === 'string' ? value : refuse())
  const { families, ports, sources = [] } = readObject(text) ?? refuse()
  return {
    families: list(families).map((one) => {
      const { address, gateway, to } = isObject(one) ? one : refuse()
      return {
        address: parseIp(word(address), field),
        ...(gateway === undefined ? {} : { gateway: parseIp(word(gateway), field) }),
        to: parseIp(word(to), field),
      }
    }),
    ports: list(ports).map((one) => parsePort(word(one)) ?? refuse()),
    sources: list(sources).map((one) => parseCidr(word(one), field)),
  }
}

function readObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parsePort(text: string): ForwardedPort | undefined {
  const { port, protocol } = /^(?<port>\d{1,5})\/(?<protocol>TCP|UDP|SCTP)$/.exec(text)?.groups ?? {}
  const number = Number(port)
  if (protocol === undefined || number < 1 || number > 65535) return undefined
  return { protocol: protocol as ForwardedPort['protocol'], port: number }
}
