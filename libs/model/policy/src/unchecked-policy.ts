import type { NetworkPolicyPeer, NetworkPolicyPort } from '@kube-ovn/kube-api/core'
import type { LabelSelector } from '@kube-ovn/label-selector'
import type { PolicyDirection } from '@kube-ovn/ovn-names'
import { isKnown, networkPolicyFields } from './known-fields.ts'
import type { Tried } from './tried.ts'
import { readSelector } from './unchecked-selector.ts'
import { listOf, recordOf, refuse, refuseText, textOf, type Written } from './written.ts'

/** What is written in a policy. */
export interface GivenPolicy {
  readonly subject: LabelSelector
  /** Directions that are restricted. */
  readonly restricted: readonly PolicyDirection[]
  readonly rules: Readonly<Record<PolicyDirection, readonly GivenRule[]>>
}

/** What is written in a rule. What has not the form of a peer or a port is `undefined`, counts for nothing, and is told already. */
export interface GivenRule {
  readonly peers: readonly (NetworkPolicyPeer | undefined)[] | undefined
  readonly ports: readonly (NetworkPolicyPort | undefined)[] | undefined
}

/** A rule of which something can not be read, and that allows nothing. */
const hidden: GivenRule = { peers: [undefined], ports: undefined }

/**
 * Reads the spec of a policy that nobody made sure of: of a MultiNetworkPolicy an API server knows no more than a definition that others installed, and
 * of a NetworkPolicy a newer one knows more than is known here.
 *
 * What can not be read fails closed. A rule allows nothing by it, a direction is restricted, and a policy of which it is not known which pods it is for is
 * for all of its namespace and allows nothing: more than others allow these pods it must not.
 */
export function readUnchecked(written: unknown, tried: Tried): GivenPolicy {
  const untilRead = 'until then it is for all pods of its namespace, and allows nothing'
  const spec = written === undefined ? {} : tried(() => recordOf(written, 'spec', untilRead))
  if (spec === undefined) return { subject: {}, restricted: directions, rules: { ingress: [], egress: [] } }
  const { podSelector = {}, ...rest } = spec
  const { podSelector: subjectFields, ...fields } = networkPolicyFields.spec
  const readSubject = readSelector(podSelector, 'spec.podSelector', { tried, until: untilRead })
  const about = { field: 'spec.podSelector', until: untilRead, tried }
  const subject = isKnown(podSelector, subjectFields, about) ? readSubject : undefined
  const [ingress, egress] = [readRules(spec, 'ingress', tried), readRules(spec, 'egress', tried)]
  const isAllKnown = isKnown(rest, fields, { field: 'spec', until: untilAllowed, tried })
  return {
    subject: subject ?? {},
    restricted: restrictedBy(spec, tried),
    rules: subject === undefined || !isAllKnown ? { ingress: [], egress: [] } : { ingress, egress },
  }
}

const directions = ['ingress', 'egress'] as const
const typeNames = { ingress: 'Ingress', egress: 'Egress' } as const

const untilList = 'until then both directions are restricted'

/** An API server fills in the types of a NetworkPolicy that has none, in the same way. */
function restrictedBy({ policyTypes, egress }: Written, tried: Tried): readonly PolicyDirection[] {
  if (policyTypes === undefined || isEmptyList(policyTypes))
    return egress === undefined || isEmptyList(egress) ? ['ingress'] : directions
  const types = tried(() => listOf(policyTypes, 'spec.policyTypes', untilList))
  return types?.flatMap((type, place) => readType(type, `spec.policyTypes[${place}]`, tried)) ?? directions
}

/** A word that is neither of them may be meant for either. */
function readType(type: unknown, field: string, tried: Tried): readonly PolicyDirection[] {
  const meant = typeof type === 'string' ? type.toLowerCase() : ''
  const direction = directions.find((one) => one === meant)
  const until = direction === undefined ? untilList : `until then it is as if it were ${typeNames[direction]}`
  if (direction === undefined || type !== typeNames[direction])
    tried(() => refuse(field, type, `write Ingress or Egress; ${until}`))
  return direction === undefined ? directions : [direction]
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

const untilAllowed = 'until then it allows nothing'

function readRules(spec: Written, direction: PolicyDirection, tried: Tried): readonly GivenRule[] {
  const field = `spec.${direction}`
  const { [direction]: rules = [] } = spec
  return (tried(() => listOf(rules, field, untilAllowed)) ?? []).map((one, at): GivenRule => {
    const place = `${field}[${at}]`
    const rule = tried(() => recordOf(one, place, untilAllowed))
    if (rule === undefined) return hidden
    const about = { field: place, until: untilAllowed, tried }
    if (!isKnown(rule, networkPolicyFields[direction], about)) return hidden
    const side = direction === 'ingress' ? 'from' : 'to'
    return {
      peers: readEach(rule[side], `${place}.${side}`, tried, readPeer),
      ports: readEach(rule['ports'], `${place}.ports`, tried, readPort),
    }
  })
}

/** An absent list is about everybody or everything, one that can not be read about nobody and nothing. */
function readEach<T>(
  written: unknown,
  field: string,
  tried: Tried,
  read: (entry: Written, field: string, tried: Tried) => T | undefined,
): readonly (T | undefined)[] | undefined {
  if (written === undefined) return undefined
  const entries = tried(() => listOf(written, field, 'until then the rule allows nothing')) ?? [undefined]
  return entries.map((entry, at) => {
    if (entry === undefined) return undefined
    const place = `${field}[${at}]`
    const record = tried(() => recordOf(entry, place, untilAllowed))
    return record === undefined ? undefined : read(record, place, tried)
  })
}

function readPeer(
  { ipBlock, podSelector, namespaceSelector }: Written,
  field: string,
  tried: Tried,
): NetworkPolicyPeer | undefined {
  const selectors = { podSelector, namespaceSelector }
  const given = Object.entries(selectors).filter(([, selector]) => selector !== undefined)
  if ((ipBlock === undefined) === (given.length === 0)) {
    const names = [...(ipBlock === undefined ? [] : ['ipBlock']), ...given.map(([name]) => name)].join()
    const cure = `write ipBlock, or podSelector and namespaceSelector or one of them; ${untilAllowed}`
    return tried(() => refuseText(field, names, cure))
  }
  if (ipBlock !== undefined) return tried(() => ({ ipBlock: readBlock(ipBlock, `${field}.ipBlock`) }))
  const read = given.map(
    ([name, selector]) =>
      [name, readSelector(selector, `${field}.${name}`, { tried, until: untilAllowed })] as const,
  )
  return read.some(([, selector]) => selector === undefined) ? undefined : Object.fromEntries(read)
}

function readBlock(written: unknown, field: string): NonNullable<NetworkPolicyPeer['ipBlock']> {
  const until = 'until then the block allows nothing'
  const { cidr, except } = recordOf(written, field, until)
  const prefix = textOf(cidr, `${field}.cidr`, until)
  if (except === undefined) return { cidr: prefix }
  const texts = listOf(except, `${field}.except`, until)
  return { cidr: prefix, except: texts.map((one, at) => textOf(one, `${field}.except[${at}]`, until)) }
}

function readPort(
  { protocol, port, endPort }: Written,
  field: string,
  tried: Tried,
): NetworkPolicyPort | undefined {
  const until = 'until then the port allows nothing'
  return tried(() => {
    if (port !== undefined && typeof port !== 'string' && typeof port !== 'number')
      return refuse(`${field}.port`, port, `write a number or the name of a port; ${until}`)
    if (endPort !== undefined && typeof endPort !== 'number')
      return refuse(`${field}.endPort`, endPort, `write a number; ${until}`)
    if (endPort !== undefined && port === undefined)
      return refuse(`${field}.endPort`, endPort, `write port beside it; ${until}`)
    return {
      ...(protocol === undefined ? {} : { protocol: textOf(protocol, `${field}.protocol`, until) }),
      ...(port === undefined ? {} : { port }),
      ...(endPort === undefined ? {} : { endPort }),
    }
  })
}
