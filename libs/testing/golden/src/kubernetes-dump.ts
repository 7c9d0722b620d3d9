import type { KubeClient, KubeObject, Resource } from '@kube-ovn/kube'
import {
  adminNetworkPolicyResource,
  baselineAdminNetworkPolicyResource,
  clusterNetworkPolicyResource,
  definitions,
  networkAttachmentResource,
} from '@kube-ovn/kube-api'
import {
  configMaps,
  daemonSets,
  deployments,
  endpoints,
  namespaces,
  nodes,
  pods,
  serviceCidrs,
  networkPolicies,
  services,
  statefulSets,
} from '@kube-ovn/kube-api/core'
import { canonicalText, isList, isObject, mapTexts, sortKeys } from './dump.ts'
import type { Dump, Json, JsonObject } from './dump.ts'
import type { MacNames, Names } from './mac-names.ts'

/** The kinds that a dump holds. */
export const dumpedResources: readonly Resource[] = [
  nodes,
  namespaces,
  pods,
  services,
  endpoints,
  serviceCidrs,
  networkPolicies,
  configMaps,
  deployments,
  statefulSets,
  daemonSets,
  networkAttachmentResource,
  adminNetworkPolicyResource,
  baselineAdminNetworkPolicyResource,
  clusterNetworkPolicyResource,
  ...definitions.map(({ resource }): Resource => {
    const { group, version, kind, plural, namespaced } = resource
    return { group, version, kind, plural, namespaced }
  }),
]

const serverMetadata: ReadonlySet<string> = new Set([
  'managedFields',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'generation',
  'selfLink',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generateName',
])

const times: ReadonlySet<string> = new Set([
  'lastTransitionTime',
  'lastUpdateTime',
  'lastHeartbeatTime',
  'lastProbeTime',
  'observedGeneration',
])

const uuidPattern = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g
const timePattern = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\b/g

export type RawObjects = ReadonlyMap<string, readonly JsonObject[]>

/** Reads every object of the kinds that a dump holds. */
export async function listObjects(client: KubeClient): Promise<RawObjects> {
  const lists = await Promise.all(
    dumpedResources.map(async (resource): Promise<[string, readonly JsonObject[]]> => {
      const { items } = await client.list(resource)
      return [resource.kind, items.map(plain)]
    }),
  )
  return new Map(lists)
}

/** The object as JSON holds it; counts beyond the range of numbers become texts. */
function plain(object: KubeObject): JsonObject {
  return JSON.parse(
    JSON.stringify(object, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  ) as JsonObject
}

/** Names the MAC addresses of nodes, of recorded addresses, of Vips and OvnEips, and of pods, in this order. */
export function learnKubernetesMacs(raw: RawObjects, macs: MacNames): void {
  const annotation = (object: JsonObject): string =>
    text(at(object, 'metadata', 'annotations', 'ovn.kubernetes.io/mac_address'))
  for (const node of raw.get('Node') ?? []) macs.learn(annotation(node), `node-${nameOf(node)}`)
  for (const ip of sorted(raw.get('IP') ?? []))
    macs.learn(text(at(ip, 'spec', 'macAddress')), `IP/${nameOf(ip)}`)
  for (const vip of sorted(raw.get('Vip') ?? [])) {
    const written = [at(vip, 'spec', 'macAddress'), at(vip, 'status', 'mac')].map(text).join(' ')
    macs.learn(written, `Vip/${nameOf(vip)}`)
  }
  for (const eip of sorted(raw.get('OvnEip') ?? []))
    macs.learn(text(at(eip, 'spec', 'macAddress')), `OvnEip/${nameOf(eip)}`)
  for (const pod of sorted(raw.get('Pod') ?? [])) {
    macs.learn(annotation(pod), `pod:${text(at(pod, 'metadata', 'namespace'))}/${nameOf(pod)}`)
  }
}

/** Prints the objects in a form in which two runs can be compared. */
export function dumpKubernetes(raw: RawObjects, names: Names): Dump {
  const name = (value: string): string =>
    names.apply(value).replaceAll(timePattern, '<time>').replaceAll(uuidPattern, '<uuid>')
  const kinds = [...raw].map(([kind, objects]): [string, readonly JsonObject[]] => [
    kind,
    objects
      .filter((object) => !isServerOwned(kind, nameOf(object)))
      .map((object) => sortKeys(mapTexts(withoutEmpty(shown(kind, object)), name)) as JsonObject)
      .sort((a, b) => (sortText(a) < sortText(b) ? -1 : 1)),
  ])
  return Object.fromEntries(
    kinds.filter(([, objects]) => objects.length > 0).sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

function isServerOwned(kind: string, name: string): boolean {
  return kind === 'ConfigMap' && /^(kube-root-ca\.crt|extension-apiserver|kube-apiserver-legacy)/.test(name)
}

function shown(kind: string, object: JsonObject): JsonObject {
  const metadata = shownMetadata(isObject(object['metadata']) ? object['metadata'] : {})
  const spec = isObject(object['spec']) ? object['spec'] : {}
  const status = isObject(object['status']) ? object['status'] : {}
  switch (kind) {
    case 'Node':
    case 'Namespace':
    case 'NetworkPolicy':
      return { metadata }
    case 'Pod':
      return {
        metadata,
        spec: { nodeName: spec['nodeName'] ?? null },
        status: pick(status, ['phase', 'podIP', 'podIPs']),
      }
    case 'Service':
      return { metadata, spec: pick(spec, ['clusterIPs', 'ipFamilies', 'type', 'loadBalancerIP']), status }
    case 'Endpoints':
      return { metadata, subsets: withoutTargets(object['subsets'] ?? null) }
    case 'ConfigMap':
      return { metadata, data: object['data'] ?? null }
    case 'Deployment':
    case 'StatefulSet':
    case 'DaemonSet':
      return { metadata, spec: pick(spec, ['replicas']) }
    case 'ServiceCIDR':
    case 'NetworkAttachmentDefinition':
    case 'AdminNetworkPolicy':
    case 'BaselineAdminNetworkPolicy':
    case 'ClusterNetworkPolicy':
      return { metadata, status: withoutTimes(status) }
    default:
      return { metadata, spec, status: withSortedLists(withoutTimes(status)) }
  }
}

function shownMetadata(metadata: JsonObject): JsonObject {
  const kept = Object.fromEntries(Object.entries(metadata).filter(([key]) => !serverMetadata.has(key)))
  const annotations = isObject(kept['annotations']) ? kept['annotations'] : {}
  const owners = isList(kept['ownerReferences']) ? kept['ownerReferences'] : []
  return {
    ...kept,
    annotations: Object.fromEntries(
      Object.entries(annotations).filter(
        ([key]) =>
          !/^(kubectl\.|endpoints\.kubernetes\.io\/last-change|deployment\.kubernetes\.io)/.test(key),
      ),
    ),
    ownerReferences: owners.map((owner) => (isObject(owner) ? omit(owner, ['uid']) : owner)),
    ...(metadata['deletionTimestamp'] === undefined ? {} : { deleting: true }),
  }
}

function withoutTargets(subsets: Json): Json {
  if (!isList(subsets)) return subsets
  return subsets.map((subset) =>
    isObject(subset)
      ? Object.fromEntries(
          Object.entries(subset).map(([key, value]) => [
            key,
            key.endsWith('ddresses') && isList(value)
              ? value.map((address) => (isObject(address) ? omit(address, ['targetRef']) : address))
              : value,
          ]),
        )
      : subset,
  )
}

function withoutTimes(value: Json): Json {
  if (isList(value)) return value.map(withoutTimes)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !times.has(key))
      .map(([key, item]) => [key, withoutTimes(item)]),
  )
}

/** Lists in a status whose order means nothing. */
function withSortedLists(status: Json): Json {
  if (!isObject(status)) return status
  const unordered: ReadonlySet<string> = new Set([
    'conditions',
    'readyNodes',
    'notReadyNodes',
    'vlans',
    'subnets',
  ])
  return Object.fromEntries(
    Object.entries(status).map(([key, value]) => [
      key,
      unordered.has(key) && isList(value)
        ? [...value].sort((a, b) => (listText(a) < listText(b) ? -1 : 1))
        : value,
    ]),
  )
}

function listText(value: Json): string {
  return isObject(value) ? `${text(value['type'])} ${text(value['node'])}` : canonicalText(value)
}

/** Nothing, an empty text and an empty list mean the same to readers of these objects. */
function withoutEmpty(value: Json): Json {
  if (isList(value)) return value.map(withoutEmpty)
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, item]): [string, Json] => [key, withoutEmpty(item)])
  return Object.fromEntries(entries.filter(([, item]) => !isEmpty(item)))
}

function isEmpty(value: Json): boolean {
  if (value === null || value === '') return true
  return isList(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0
}

function sorted(objects: readonly JsonObject[]): readonly JsonObject[] {
  return [...objects].sort((a, b) => (sortText(a) < sortText(b) ? -1 : 1))
}

function sortText(object: JsonObject): string {
  return `${text(at(object, 'metadata', 'namespace'))}/${nameOf(object)}`
}

function nameOf(object: JsonObject): string {
  return text(at(object, 'metadata', 'name'))
}

function at(object: JsonObject, ...path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((value, key) => (isObject(value) ? value[key] : undefined), object)
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

function pick(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => keys.includes(key)))
}

function omit(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)))
}
