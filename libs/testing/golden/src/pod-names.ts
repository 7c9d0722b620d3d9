import { podAnnotations } from '@kube-ovn/annotations'
import { compareIps, tryParseIp } from '@kube-ovn/ip'
import type { Ip } from '@kube-ovn/ip'
import { isList, isObject } from './dump.ts'
import type { Json, JsonObject } from './dump.ts'
import type { Names } from './mac-names.ts'

interface Member {
  readonly name: string
  /** `namespace/name` of the ReplicaSet. */
  readonly set: string
  readonly address: Ip | undefined
}

/** Gives pods of ReplicaSets, whose names are drawn at random, names by the order of their addresses. */
export function podNames(pods: readonly JsonObject[]): Names {
  const members = pods.flatMap(memberOf)
  const renames = [...Map.groupBy(members, ({ set }) => set)].flatMap(([set, group]) => {
    const setName = set.slice(set.indexOf('/') + 1)
    const base = setName.replace(/-[a-z0-9]+$/, '')
    const numbered = group
      .sort(byAddress)
      .map(({ name }, index): [string, string] => [name, `${base}-#${index + 1}`])
    return [...numbered, [setName, `${base}-#`] as [string, string]]
  })
  // The name of a set is part of those of its pods.
  const longestFirst = renames.sort(([a], [b]) => b.length - a.length)
  return { apply: (text) => longestFirst.reduce((named, [from, to]) => named.replaceAll(from, to), text) }
}

function byAddress(a: Member, b: Member): number {
  if (a.address === undefined || b.address === undefined) {
    return a.address === b.address ? 0 : a.address === undefined ? 1 : -1
  }
  return compareIps(a.address, b.address)
}

function memberOf(pod: JsonObject): readonly Member[] {
  const metadata = objectAt(pod, 'metadata')
  const owners = isList(metadata['ownerReferences']) ? metadata['ownerReferences'] : []
  const set = owners.find((owner) => isObject(owner) && owner['kind'] === 'ReplicaSet')
  if (set === undefined || !isObject(set)) return []
  const addresses = text(objectAt(metadata, 'annotations')[podAnnotations().ipAddress.key])
  return [
    {
      name: text(metadata['name']),
      set: `${text(metadata['namespace'])}/${text(set['name'])}`,
      address: tryParseIp(addresses.split(',')[0] ?? ''),
    },
  ]
}

function objectAt(object: JsonObject, key: string): JsonObject {
  const value = object[key]
  return isObject(value) ? value : {}
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}
