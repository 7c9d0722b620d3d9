import { problemText } from '@kube-ovn/errors'
import { vipLabels } from '@kube-ovn/annotations'
import { formatIp, formatIpList } from '@kube-ovn/ip'
import {
  conditionType,
  setCondition,
  vipReason,
  vipResource,
  vipType,
  withObservedGeneration,
  type Condition,
} from '@kube-ovn/kube-api'
import {
  defaultSecurityGroup,
  externalId,
  logicalSwitch,
  securityGroupMark,
  vipPort,
  virtualPortOption,
  vipVirtualPort,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubeEvent, KubePatch, OwnedRow } from '@kube-ovn/reconcile'
import {
  externalIds,
  generationAfter,
  memberOf,
  ref,
  withOurFinalizer,
  withoutOurFinalizer,
} from '@kube-ovn/domains-control'
import { portNamesOf } from './port-names.ts'
import type { VipPlacement, VipSnapshot } from './snapshot.ts'

/**
 * Computes the ports of a Vip, and what the Vip itself is told.
 *
 * One that is only reserved has no port: a Pod may borrow its addresses. One that Pods share has a virtual port, which
 * OVN binds where one of them announces the address. That of a machine on a host's network has a port of its own. For that of a
 * SwitchLBRule the router answers: two ports of a switch may not have one MAC address.
 *
 * @see ovn-nb(5), Logical_Switch_Port, type virtual
 */
export function desiredVip(vip: VipSnapshot): Desired {
  const { name, object, placement, problem } = vip
  if (vip.isDeleting) {
    const merge = { metadata: { finalizers: withoutOurFinalizer(object.metadata.finalizers) } }
    return { ...nothing, patches: [{ resource: vipResource, name, merge }] }
  }
  const told = {
    patches: [vipPatch(vip)],
    events: vipEvents(vip),
    ...(problem === undefined ? {} : { problem }),
  }
  // A slip in an edit takes nobody's address away.
  if (placement === undefined) return { ...nothing, ...told, ...(vip.isAnother ? {} : { hold: true }) }
  const rows = placement.hasPorts ? portRows(vip, placement) : []
  const members = rows.map(({ kind, id }) =>
    memberOf(ref(logicalSwitch, placement.subnet), 'ports', ref(kind, id)),
  )
  return { ...nothing, ...told, rows, members }
}

function portRows({ name, object }: VipSnapshot, placement: VipPlacement): readonly OwnedRow[] {
  const { subnet, provider, isDefaultVpc, type, addresses, mac, parents } = placement
  const namespace = object.spec?.namespace ?? ''
  const names = portNamesOf(object, type, provider)
  const ids = { [externalId.logicalSwitch]: subnet }
  const rows: OwnedRow[] = []
  if (names.own !== undefined) {
    rows.push({
      kind: vipPort,
      id: names.own,
      columns: {
        name: names.own,
        addresses: [[mac, ...texts(addresses)].join(' ')],
        external_ids: externalIds({
          ...ids,
          ...(namespace === '' ? {} : { [externalId.pod]: `${namespace}/${name}` }),
          // As of every port with addresses there.
          ...(isDefaultVpc ? {} : { [securityGroupMark(defaultSecurityGroup)]: 'false' }),
        }),
      },
    })
  }
  if (names.virtual !== undefined) {
    rows.push({
      kind: vipVirtualPort,
      id: names.virtual,
      columns: {
        name: names.virtual,
        type: 'virtual',
        options: {
          [virtualPortOption.address]: formatIpList(addresses),
          [virtualPortOption.parents]: parents.length === 0 ? undefined : parents.join(','),
        },
        external_ids: externalIds(ids),
      },
    })
  }
  return rows
}

function texts({ v4, v6 }: VipPlacement['addresses']): readonly string[] {
  return [v4, v6].filter((address) => address !== undefined).map((address) => formatIp(address))
}

/**
 * What the Vip has is written into its specification where that says nothing. It has no status subresource: what is
 * written makes another generation of it.
 */
function vipPatch(vip: VipSnapshot): KubePatch {
  const { name, object, placement } = vip
  const { generation } = object.metadata
  const present = contentOf(vip, generation)
  const next = generationAfter(object, present)
  const content = next === generation ? present : contentOf(vip, next)
  if (placement === undefined) return { resource: vipResource, name, merge: content }
  const { subnet, borrower } = placement
  const finalizers = withOurFinalizer(object.metadata.finalizers)
  const metadata = { labels: vipLabels({ subnet, borrower }), finalizers }
  return { resource: vipResource, name, merge: { metadata, ...content } }
}

/** Specification and status, about this generation. */
function contentOf(vip: VipSnapshot, generation: number | undefined): NonNullable<KubePatch['merge']> {
  const { object, placement, saysGeneration, now } = vip
  const conditions = withObservedGeneration(vipConditions(vip), generation, now)
  const told = {
    ...(saysGeneration && generation !== undefined ? { observedGeneration: generation } : {}),
    ...(conditions.length === 0 ? {} : { conditions: conditions.map((condition) => ({ ...condition })) }),
  }
  if (placement === undefined) return Object.keys(told).length === 0 ? {} : { status: told }
  const { addresses, mac, type } = placement
  const v4ip = addresses.v4 === undefined ? undefined : formatIp(addresses.v4)
  const v6ip = addresses.v6 === undefined ? undefined : formatIp(addresses.v6)
  const { spec } = object
  const filledIn = {
    ...(v4ip === undefined || (spec?.v4ip ?? '') !== '' ? {} : { v4ip }),
    ...(v6ip === undefined || (spec?.v6ip ?? '') !== '' ? {} : { v6ip }),
    // The router's address is written anew when it is another one.
    ...((spec?.macAddress ?? '') !== '' && type !== vipType.switchLb ? {} : { macAddress: mac }),
  }
  const has = { v4ip: v4ip ?? null, v6ip: v6ip ?? null, mac, type: type === vipType.plain ? null : type }
  return {
    ...(Object.keys(filledIn).length === 0 ? {} : { spec: filledIn }),
    status: { ...has, ...told },
  }
}

/** There is no condition before anything was wrong: the status alone says that a Vip has its addresses. */
function vipConditions({ object, problem, now }: VipSnapshot): readonly Condition[] {
  const before = object.status?.conditions ?? []
  if (problem !== undefined) {
    const message = problemText(problem)
    const reason = vipReason.acquireAddressFailed
    return setCondition(before, { type: conditionType.ready, status: 'False', reason, message }, now)
  }
  if (before.length === 0) return before
  const reason = vipReason.acquireAddressSucceeded
  return setCondition(before, { type: conditionType.ready, status: 'True', reason }, now)
}

/** Tells the user once, when the problem appears: afterwards the condition holds it. */
function vipEvents({ name, object, problem }: VipSnapshot): readonly KubeEvent[] {
  if (problem === undefined || object.metadata.uid === undefined) return []
  const message = problemText(problem)
  const isKnown = object.status?.conditions?.some(
    (condition) => condition.type === conditionType.ready && condition.message === message,
  )
  if (isKnown === true) return []
  const regarding = { resource: vipResource, name, uid: object.metadata.uid }
  return [{ regarding, type: 'Warning', reason: vipReason.acquireAddressFailed, message }]
}
