import { refusalOf } from '@kube-ovn/errors'
import { blockRange, formatIp, mostEntries, parseCidr, parseIp, type Ip } from '@kube-ovn/ip'
import type { LbRule, LbRuleSpec } from '@kube-ovn/kube-api'
import type { Service, ServicePort } from '@kube-ovn/kube-api/core'
import { readLabelTerm } from '@kube-ovn/label-selector'
import { ruleServiceName, type LbRuleKind } from '../services/made-services.ts'
import { LbRuleInvalidError, LbRulePartError } from './errors.ts'

type Spec = NonNullable<Service['spec']>

/** The Service that a rule asks for. */
export interface ServicePlan {
  readonly namespace: string
  readonly name: string
  /** That of IPv4 first. */
  readonly vips: readonly Ip[]
  /** Absent where the backends are given by their addresses. */
  readonly selector: Readonly<Record<string, string>> | undefined
  /** In the order in which they are written. */
  readonly endpoints: readonly string[]
  readonly sessionAffinity: NonNullable<Spec['sessionAffinity']>
  readonly ports: readonly (Omit<ServicePort, 'targetPort' | 'protocol'> & {
    readonly targetPort: number
    readonly protocol: NonNullable<ServicePort['protocol']>
  })[]
  /** Annotations that the Service has for the rule; `undefined` for one that it is not to have. */
  readonly annotations: Readonly<Record<string, string | undefined>>
  readonly ineffective: LbRulePartError | undefined
}

/**
 * Reads what a rule asks for, whatever says which addresses these are.
 *
 * @throws LbRuleInvalidError that names the field
 */
export function servicePlan(
  kind: LbRuleKind,
  { metadata, spec = {} }: LbRule,
  { vips, annotations }: Pick<ServicePlan, 'vips' | 'annotations'>,
): ServicePlan {
  const endpoints = endpointsOf(spec)
  const hasEndpoints = endpoints.length > 0
  return {
    namespace: namespaceOf(spec),
    name: nameOf(kind, metadata.name),
    vips,
    selector: hasEndpoints ? undefined : selectorOf(spec),
    endpoints,
    sessionAffinity: affinityOf(spec),
    ports: portsOf(spec),
    annotations,
    ineffective: hasEndpoints ? ineffectiveOf(spec) : undefined,
  }
}

/** The one in which the Service is, whatever else is written. */
export function namespaceOf({ namespace = '' }: LbRuleSpec): string {
  return namespace === '' ? 'default' : namespace
}

const nameForm = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const longestName = 63

/** Services have names of another form than rules (RFC 1123, section 2.1: labels). */
function nameOf(kind: LbRuleKind, rule: string): string {
  const name = ruleServiceName(kind, rule)
  if (name.length <= longestName && nameForm.test(name)) return name
  const most = longestName - kind.prefix.length
  const cure = `create it anew under a name of at most ${most} small letters, digits and dashes: the Service is named after it`
  throw new LbRuleInvalidError({ field: 'metadata.name', value: rule, cure })
}

/** Annotations of a rule that its Service has as well; those that are empty the Service is not to have. */
export function copiedAnnotations(
  { metadata: { annotations } }: LbRule,
  copied: readonly { readonly key: string }[],
): ServicePlan['annotations'] {
  return Object.fromEntries(
    copied.map(({ key }) => {
      const text = annotations?.[key] ?? ''
      return [key, text === '' ? undefined : text] as const
    }),
  )
}

/** More of a subset of Endpoints Kubernetes does not copy into slices (kube-controller-manager, --mirroring-max-endpoints-per-subset). */
const mostEndpoints = 1000

function endpointsOf({ endpoints = [] }: LbRuleSpec): readonly string[] {
  checkCount('spec.endpoints', endpoints, mostEndpoints)
  const addresses = endpoints.map((text, index) => {
    const field = `spec.endpoints[${index}]`
    const ip = refusing(field, text, () => parseIp(text.trim(), field))
    checkAddress(ip, field)
    return formatIp(ip)
  })
  return [...new Set(addresses)]
}

/** Those that mean the host itself, a link, or many. Kubernetes takes no endpoints of them. */
const noHosts = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/3',
  '::/127',
  'fe80::/10',
  'ff00::/8',
].map((text) => blockRange(parseCidr(text)))

/** @throws LbRuleInvalidError where no backends, and no clients, can have it */
export function checkAddress(ip: Ip, field: string): void {
  if (!noHosts.some(({ first, last }) => typeof first === typeof ip && first <= ip && ip <= last)) return
  throw new LbRuleInvalidError({
    field,
    value: formatIp(ip),
    cure: 'write an address that hosts elsewhere may have: none of loopback, of a link, or of a group',
  })
}

function selectorOf({ selector = [] }: LbRuleSpec): Readonly<Record<string, string>> | undefined {
  const field = 'spec.selector'
  checkCount(field, selector)
  if (selector.length === 0) {
    const cure =
      'write the labels of the backends into spec.selector, like app:web, or their addresses into spec.endpoints'
    throw new LbRuleInvalidError({ field, value: '', cure })
  }
  return Object.fromEntries(
    selector.map((text) => {
      const term = readLabelTerm(text)
      if (term !== undefined) return term
      const cure = 'write a label and its value, separated by a colon, like app:web'
      throw new LbRuleInvalidError({ field, value: text, cure })
    }),
  )
}

function affinityOf({ sessionAffinity: value = '' }: LbRuleSpec): 'None' | 'ClientIP' {
  if (value === '' || value === 'None') return 'None'
  if (value === 'ClientIP') return value
  const cure = 'write ClientIP or None, or leave it empty'
  throw new LbRuleInvalidError({ field: 'spec.sessionAffinity', value, cure })
}

const protocols = ['TCP', 'UDP', 'SCTP'] as const

function portsOf({ ports = [] }: LbRuleSpec): ServicePlan['ports'] {
  checkCount('spec.ports', ports)
  if (ports.length === 0)
    throw new LbRuleInvalidError({ field: 'spec.ports', value: '', cure: 'write at least one port' })
  const read = ports.map(({ name = '', port = 0, targetPort = 0, protocol = '' }, index) => {
    const field = (part: string) => `spec.ports[${index}].${part}`
    const known = protocols.find((one) => one === (protocol === '' ? 'TCP' : protocol))
    if (known === undefined) {
      const cure = `write ${protocols.join(', ')}, or leave it empty`
      throw new LbRuleInvalidError({ field: field('protocol'), value: protocol, cure })
    }
    checkPort(port, field('port'))
    if (targetPort !== 0) checkPort(targetPort, field('targetPort'))
    checkPortName(name, ports.length > 1, field('name'))
    return {
      ...(name === '' ? {} : { name }),
      protocol: known,
      port,
      targetPort: targetPort === 0 ? port : targetPort,
    }
  })
  checkDistinct(
    'name',
    read.flatMap(({ name }) => name ?? []),
  )
  checkDistinct(
    'port',
    read.map(({ port, protocol }) => `${port}/${protocol}`),
  )
  return read
}

const mostPort = 65_535

function checkPort(port: number, field: string): void {
  if (Number.isInteger(port) && port >= 1 && port <= mostPort) return
  const cure = `write a number from 1 to ${mostPort}`
  throw new LbRuleInvalidError({ field, value: String(port), cure })
}

function checkPortName(name: string, isNeeded: boolean, field: string): void {
  if (name === '' ? !isNeeded : name.length <= longestName && nameForm.test(name)) return
  const cure = 'write a name of small letters, digits and dashes: where there are several ports each has one'
  throw new LbRuleInvalidError({ field, value: name, cure })
}

function checkDistinct(part: string, values: readonly string[]): void {
  const index = values.findIndex((value, at) => values.indexOf(value) < at)
  const value = values[index]
  if (value === undefined) return
  const cure = 'write another one: it is there twice'
  throw new LbRuleInvalidError({ field: `spec.ports[${index}].${part}`, value, cure })
}

function checkCount(field: string, list: readonly unknown[], most = mostEntries): void {
  if (list.length <= most) return
  const cure = `write at most ${most}`
  throw new LbRuleInvalidError({ field, value: `${list.length} entries`, cure })
}

function ineffectiveOf({ selector = [] }: LbRuleSpec): LbRulePartError | undefined {
  if (selector.length === 0) return undefined
  return new LbRulePartError({
    field: 'spec.selector',
    value: selector.join(','),
    cure: 'remove it, or spec.endpoints: as long as both are there, endpoints count',
  })
}

/** Reads what is written in a field. */
export function refusing<T>(field: string, value: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new LbRuleInvalidError({ ...refusalOf(error), field, value }, { cause: error })
  }
}
