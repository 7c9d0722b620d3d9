import { serviceAnnotations, type Annotations } from '@kube-ovn/annotations'
import { refusalOf } from '@kube-ovn/errors'
import { contains, formatIp, mostEntries, parseCidr, parseIp, parseIpList, type Ip } from '@kube-ovn/ip'
import type { SwitchLbRule, SwitchLbRuleSpec } from '@kube-ovn/kube-api'
import type { Service, ServicePort } from '@kube-ovn/kube-api/core'
import { readLabelTerm } from '@kube-ovn/label-selector'
import { ruleServiceName } from '@kube-ovn/domains-control/services'
import { SwitchLbRuleInvalidError, SwitchLbRulePartError } from './errors.ts'

type Spec = NonNullable<Service['spec']>

/** The Service that a SwitchLBRule asks for. */
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
  readonly ineffective: SwitchLbRulePartError | undefined
}

/**
 * Reads what a SwitchLBRule asks for.
 *
 * @throws SwitchLbRuleInvalidError that names the field
 */
export function planOf({ metadata, spec = {} }: SwitchLbRule): ServicePlan {
  const vips = vipsOf(spec)
  const endpoints = endpointsOf(spec)
  const hasEndpoints = endpoints.length > 0
  return {
    namespace: namespaceOf(spec),
    name: nameOf(metadata.name),
    vips,
    selector: hasEndpoints ? undefined : selectorOf(spec),
    endpoints,
    sessionAffinity: affinityOf(spec),
    ports: portsOf(spec),
    annotations: annotationsOf(vips, metadata.annotations),
    ineffective: hasEndpoints ? ineffectiveOf(spec) : undefined,
  }
}

/** The one in which the Service is, whatever else is written. */
export function namespaceOf({ namespace = '' }: SwitchLbRuleSpec): string {
  return namespace === '' ? 'default' : namespace
}

const nameForm = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const longestName = 63

/** Services have names of another form than rules (RFC 1123, section 2.1: labels). */
function nameOf(rule: string): string {
  const name = ruleServiceName(rule)
  if (name.length <= longestName && nameForm.test(name)) return name
  const most = longestName - ruleServiceName('').length
  const cure = `create it anew under a name of at most ${most} small letters, digits and dashes: the Service is named after it`
  throw new SwitchLbRuleInvalidError({ field: 'metadata.name', value: rule, cure })
}

function vipsOf({ vip = '' }: SwitchLbRuleSpec): readonly Ip[] {
  const field = 'spec.vip'
  const { v4, v6 } = refusing(field, vip, () => parseIpList(vip, field))
  const vips = [v4, v6].filter((ip) => ip !== undefined)
  for (const ip of vips) checkAddress(ip, field)
  return vips
}

/** Its addresses, whatever else is written; none when these can not be read. */
export function writtenVips({ spec = {} }: SwitchLbRule): readonly Ip[] {
  try {
    return vipsOf(spec)
  } catch (error) {
    if (error instanceof SwitchLbRuleInvalidError) return []
    throw error
  }
}

function endpointsOf({ endpoints = [] }: SwitchLbRuleSpec): readonly string[] {
  checkCount('spec.endpoints', endpoints)
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
].map((text) => parseCidr(text))

function checkAddress(ip: Ip, field: string): void {
  const found = noHosts.find((cidr) => contains(cidr, ip))
  if (found === undefined) return
  throw new SwitchLbRuleInvalidError({
    field,
    value: formatIp(ip),
    cure: 'write an address that hosts elsewhere may have: none of loopback, of a link, or of a group',
  })
}

function selectorOf({ selector = [] }: SwitchLbRuleSpec): Readonly<Record<string, string>> | undefined {
  const field = 'spec.selector'
  checkCount(field, selector)
  if (selector.length === 0) {
    const cure =
      'write the labels of the backends into spec.selector, like app:web, or their addresses into spec.endpoints'
    throw new SwitchLbRuleInvalidError({ field, value: '', cure })
  }
  return Object.fromEntries(
    selector.map((text) => {
      const term = readLabelTerm(text)
      if (term !== undefined) return term
      const cure = 'write a label and its value, separated by a colon, like app:web'
      throw new SwitchLbRuleInvalidError({ field, value: text, cure })
    }),
  )
}

function affinityOf({ sessionAffinity: value = '' }: SwitchLbRuleSpec): 'None' | 'ClientIP' {
  if (value === '' || value === 'None') return 'None'
  if (value === 'ClientIP') return value
  const cure = 'write ClientIP or None, or leave it empty'
  throw new SwitchLbRuleInvalidError({ field: 'spec.sessionAffinity', value, cure })
}

const protocols = ['TCP', 'UDP', 'SCTP'] as const

function portsOf({ ports = [] }: SwitchLbRuleSpec): ServicePlan['ports'] {
  checkCount('spec.ports', ports)
  if (ports.length === 0)
    throw new SwitchLbRuleInvalidError({ field: 'spec.ports', value: '', cure: 'write at least one port' })
  const read = ports.map(({ name = '', port = 0, targetPort = 0, protocol = '' }, index) => {
    const field = (part: string) => `spec.ports[${index}].${part}`
    const known = protocols.find((one) => one === (protocol === '' ? 'TCP' : protocol))
    if (known === undefined) {
      const cure = `write ${protocols.join(', ')}, or leave it empty`
      throw new SwitchLbRuleInvalidError({ field: field('protocol'), value: protocol, cure })
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
  throw new SwitchLbRuleInvalidError({ field, value: String(port), cure })
}

function checkPortName(name: string, isNeeded: boolean, field: string): void {
  if (name === '' ? !isNeeded : name.length <= longestName && nameForm.test(name)) return
  const cure = 'write a name of small letters, digits and dashes: where there are several ports each has one'
  throw new SwitchLbRuleInvalidError({ field, value: name, cure })
}

function checkDistinct(part: string, values: readonly string[]): void {
  const index = values.findIndex((value, at) => values.indexOf(value) < at)
  const value = values[index]
  if (value === undefined) return
  const cure = 'write another one: it is there twice'
  throw new SwitchLbRuleInvalidError({ field: `spec.ports[${index}].${part}`, value, cure })
}

function checkCount(field: string, list: readonly unknown[]): void {
  if (list.length <= mostEntries) return
  const cure = `write at most ${mostEntries}`
  throw new SwitchLbRuleInvalidError({ field, value: `${list.length} entries`, cure })
}

function annotationsOf(
  vips: readonly Ip[],
  written: Annotations | undefined,
): Readonly<Record<string, string | undefined>> {
  const { switchLbVip, logicalRouter, logicalSwitch, healthCheck } = serviceAnnotations
  const copied = [logicalRouter.key, logicalSwitch.key, healthCheck.key].map((key) => {
    const text = written?.[key] ?? ''
    return [key, text === '' ? undefined : text] as const
  })
  return { [switchLbVip.key]: vips.map((ip) => formatIp(ip)).join(','), ...Object.fromEntries(copied) }
}

function ineffectiveOf({ selector = [] }: SwitchLbRuleSpec): SwitchLbRulePartError | undefined {
  if (selector.length === 0) return undefined
  return new SwitchLbRulePartError({
    field: 'spec.selector',
    value: selector.join(','),
    cure: 'remove it, or spec.endpoints: as long as both are there, endpoints count',
  })
}

function refusing<T>(field: string, value: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new SwitchLbRuleInvalidError({ ...refusalOf(error), field, value }, { cause: error })
  }
}
