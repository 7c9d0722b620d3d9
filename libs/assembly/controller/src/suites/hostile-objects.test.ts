import { networkAnnotations, nodeAnnotations, podAnnotations, vipAnnotations } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import { parseIpList, parseRangeSets } from '@kube-ovn/ip'
import { objectKey, type IndexedStore, type KubeObject } from '@kube-ovn/kube'
import { controllerDefinitions, objectSchema, takesPart } from '@kube-ovn/kube-api'
import type { Definition, IpPool, JsonSchema, SecurityGroup, Subnet } from '@kube-ovn/kube-api'
import { parseEgressFirewall, parseSecurityGroup } from '@kube-ovn/policy'
import { defaultsOf } from '@kube-ovn/process'
import { decide, nothing } from '@kube-ovn/reconcile'
import { namespace, node, pod, subnet } from '@kube-ovn/testing-builders'
import { describe, expect, it } from 'vitest'
import {
  addressesOf,
  addressesOfEip,
  addressesOfVip,
  reservationProblem,
} from '@kube-ovn/domains-control/addresses'
import { controlFeatures } from '../features.ts'
import {
  addressSetOf,
  eipRequest,
  eipTypeOf,
  labelsOf,
  requestFor,
  typeOf,
} from '@kube-ovn/features-addresses'
import { dnsPlanOf, planOf, readDnsConfig } from '@kube-ovn/features-services'
import { servicePlan } from '@kube-ovn/domains-control/lb-rules'
import { lbRuleKinds } from '@kube-ovn/domains-control/services'
import { labelOfMade } from '@kube-ovn/domains-control/policies'
import { namespacesOfPool, resolveSubnet, tagOf } from '@kube-ovn/domains-control/topology'
import {
  allowed,
  allowedToAct,
  hostileLists,
  hostileSize,
  hostileTexts,
  keptBytes,
  timesLonger,
} from '@kube-ovn/domains-control/testing/cost'
import { controlSettings } from '@kube-ovn/domains-control/testing/settings'
import { claimOf } from '@kube-ovn/domains-control/testing/vpcs'
import { stillWorld } from '@kube-ovn/domains-control/testing/still-world'
import { domains, mergeDeclarations, watched } from '@kube-ovn/domains-control'
import type { AllocatingWorld, Watch, WatchedKinds } from '@kube-ovn/domains-control'

type Kind = keyof WatchedKinds

interface Sample {
  readonly field: string
  readonly shape: string
  readonly object: KubeObject
}

type Reader = (object: KubeObject) => unknown

const dnsConfig = readDnsConfig(
  { 'coredns-vip': '10.96.0.3', 'nad-name': 'ovn-nad' },
  { place: 'kube-system/vpc-dns-config', image: 'coredns', apiServer: '10.96.0.1' },
)
const dnsSurroundings = {
  namespace: 'kube-system',
  provider: 'ovn-nad.default.ovn',
  defaultSubnet: { name: 'ovn-default', gateways: parseIpList('10.16.0.1') },
  corefile: { name: 'mine', makes: false },
}

/** What there is of each custom resource beside the field in question, and what reads it. */
const resources: Readonly<
  Record<string, { readonly kind: Kind; readonly spec: object; readonly read: readonly Reader[] }>
> = {
  Subnet: {
    kind: 'subnets',
    spec: { cidrBlock: '10.30.0.0/16,fd00:30::/64' },
    read: [
      ({ metadata, ...rest }) => resolveSubnet(metadata.name, (rest as Subnet).spec ?? {}, controlSettings()),
    ],
  },
  Vpc: { kind: 'vpcs', spec: {}, read: [(object) => claimOf(object)] },
  Vlan: {
    kind: 'vlans',
    spec: { id: 7, provider: 'quay' },
    read: [(object) => tagOf(object, controlSettings())],
  },
  ProviderNetwork: {
    kind: 'providerNetworks',
    spec: { defaultInterface: 'eth1' },
    read: [(object) => takesPart(object, { name: 'n1', labels: { a: 'b' } })],
  },
  IP: {
    kind: 'ips',
    spec: { subnet: 'blue', podName: 'bad', namespace: 'shop' },
    read: [(object) => reservationProblem(object), (object) => addressesOf(object)],
  },
  IPPool: {
    kind: 'ipPools',
    spec: { subnet: 'blue', ips: ['10.17.0.9'] },
    read: [
      (object) => namespacesOfPool(object),
      (object) => parseRangeSets((object as IpPool).spec?.ips ?? []),
      (object) => addressSetOf('bad', (object as IpPool).spec?.ips ?? []),
    ],
  },
  DNSNameResolver: {
    kind: 'dnsNameResolvers',
    spec: { name: 'www.example.com.' },
    read: [(object) => labelOfMade(object)],
  },
  EgressFirewall: {
    kind: 'egressFirewalls',
    spec: { egress: [] },
    // By its name it is one that counts.
    read: [(object) => parseEgressFirewall({ ...object, metadata: { name: 'default', namespace: 'shop' } })],
  },
  SecurityGroup: {
    kind: 'securityGroups',
    spec: { allowSameGroupTraffic: true },
    read: [(object) => parseSecurityGroup(object as SecurityGroup)],
  },
  SwitchLBRule: {
    kind: 'switchLbRules',
    spec: { vip: '1.1.1.1', namespace: 'shop', selector: ['app:web'], ports: [{ port: 80 }] },
    read: [(object) => planOf(object)],
  },
  RouterLBRule: {
    kind: 'routerLbRules',
    spec: { ovnEip: 'eip', vpc: 'blue', namespace: 'shop', selector: ['app:web'], ports: [{ port: 80 }] },
    read: [(object) => servicePlan(lbRuleKinds.router, object, { vips: [], annotations: {} })],
  },
  VpcDns: {
    kind: 'vpcDnses',
    spec: { vpc: 'blue', subnet: 'blue' },
    read: [(object) => dnsPlanOf(object, dnsConfig, dnsSurroundings)],
  },
  OvnEip: {
    kind: 'ovnEips',
    spec: { externalSubnet: 'blue', type: 'lsp' },
    read: [(object) => addressesOfEip(object), (object) => eipRequest(object), (object) => eipTypeOf(object)],
  },
  Vip: {
    kind: 'vips',
    spec: { subnet: 'blue' },
    read: [
      (object) => addressesOfVip(object),
      (object) => labelsOf(object),
      (object) => requestFor(object, typeOf(object)),
    ],
  },
}

/** A field with a single text in it is hardly ever taken apart. */
const textShapes = ['IPv4 addresses', 'commas', 'labels', 'lists in lists']
/** Of those that are accepted, and of those that are not. */
const codecShapes = [
  ...textShapes,
  'as many entries as may be',
  'as many addresses as may be',
  'as many names as may be',
  'a JSON list of objects',
]
const codecTexts = Object.entries(hostileTexts).filter(([shape]) => codecShapes.includes(shape))
const someTexts = Object.entries(hostileTexts).filter(([shape]) => textShapes.includes(shape))

/** Rules of a SecurityGroup that are all of one priority, as many as fit. @param port first and last one, by the place of a rule */
function rulesOfOnePriority(port: (index: number) => number): readonly object[] {
  return Array.from({ length: hostileSize / 160 }, (_, index) => ({
    ...{ ipVersion: 'ipv6', priority: 1, policy: index % 2 === 0 ? 'deny' : 'allow', protocol: 'tcp' },
    ...{ remoteType: 'address', remoteAddress: '::/0', portRangeMin: port(index), portRangeMax: port(index) },
  }))
}

/** Lists of what is about the same thing, by kind. */
const hostileItems: Readonly<Record<string, readonly (readonly [string, string, unknown])[]>> = {
  SecurityGroup: [
    ['ingressRules', 'rules that might contradict each other', rulesOfOnePriority((index) => 1 + index)],
    ['egressRules', 'rules that contradict each other', rulesOfOnePriority(() => 1)],
  ],
}

/** Everything bad that may stand in a field, by what it is. */
function valuesOf(schema: JsonSchema): readonly (readonly [string, unknown])[] {
  const { type, items, properties = {}, additionalProperties } = schema
  if (type === 'string') return someTexts
  if (type === 'array' && items?.type === 'string') return Object.entries(hostileLists)
  if (type === 'array' && items !== undefined)
    return valuesOf(items).map(([shape, value]) => [`a list of ${shape}`, [value]] as const)
  if (additionalProperties !== undefined) {
    const names = hostileLists['names'] ?? []
    return [['many keys', Object.fromEntries(names.map((name) => [name, '1']))]]
  }
  return Object.entries(properties).flatMap(([name, field]) =>
    valuesOf(field).map(([shape, value]) => [`${name}: ${shape}`, { [name]: value }] as const),
  )
}

function samplesOf(definition: Definition): readonly Sample[] {
  const { spec = {} } = resources[definition.resource.kind] ?? {}
  const name = definition.resource.kind === 'IP' ? 'bad.shop' : 'bad'
  const parts = objectSchema(definition).properties ?? {}
  const fieldsOf = (part: string) => Object.entries(parts[part]?.properties ?? {})
  const object = (more: object) => ({ metadata: { name, uid: 'u' }, spec, ...more })
  const inSpec = fieldsOf('spec').flatMap(([field, schema]) =>
    valuesOf(schema).map(([shape, value]) => {
      return { field: `spec.${field}`, shape, object: object({ spec: { ...spec, [field]: value } }) }
    }),
  )
  const inStatus = fieldsOf('status').flatMap(([field, schema]) =>
    valuesOf(schema).map(([shape, value]) => {
      return { field: `status.${field}`, shape, object: object({ status: { [field]: value } }) }
    }),
  )
  const items = (hostileItems[definition.resource.kind] ?? []).map(([field, shape, value]) => {
    return { field: `spec.${field}`, shape, object: object({ spec: { ...spec, [field]: value } }) }
  })
  return [...inSpec, ...items, ...inStatus]
}

function annotated(
  groups: readonly object[],
  make: (annotations: Readonly<Record<string, string>>) => KubeObject,
): readonly Sample[] {
  const codecs = groups.flatMap((group) =>
    Object.values(group as Readonly<Record<string, { readonly key: string }>>),
  )
  return codecs.flatMap(({ key }) =>
    codecTexts.map(([shape, text]) => ({
      field: key,
      shape,
      object: make({ [key]: text }),
    })),
  )
}

/** What users write and the controller acts on: by kind, whether it is a custom resource or carries annotations. */
const acted: readonly (readonly [Kind, readonly Sample[]])[] = [
  ...controllerDefinitions.map((definition) => {
    const { kind = 'vpcs' } = resources[definition.resource.kind] ?? {}
    return [kind, samplesOf(definition)] as const
  }),
  [
    'pods',
    annotated([podAnnotations(), vipAnnotations, networkAnnotations], (annotations) =>
      pod({ name: 'bad', namespace: 'shop', node: 'n1', annotations }),
    ),
  ],
  ['nodes', annotated([nodeAnnotations], (annotations) => node({ name: 'n2', annotations }))],
]

function emptyWorld(): AllocatingWorld {
  const subnets = [
    subnet({ name: 'join', cidrBlock: '100.64.0.0/16,fd00:100:64::/112' }),
    subnet({ name: 'ovn-default', cidrBlock: '10.16.0.0/16,fd00:10:16::/112' }),
    subnet({ name: 'blue', cidrBlock: '10.17.0.0/16,fd00:10:17::/64', namespaces: ['shop'] }),
  ]
  const namespaces = [namespace({ name: 'default' }), namespace({ name: 'shop' })]
  const declarations = mergeDeclarations([domains, ...controlFeatures])
  return stillWorld(
    { namespaces, nodes: [node()], subnets },
    {},
    { declarations, settings: { flags: defaultsOf(declarations.flags) } },
  )
}

/** Takes an object in, or out, as an informer does, and decides all that it concerns. */
function act(
  kind: Kind,
  key: string,
  object: KubeObject | undefined,
  world: AllocatingWorld,
): readonly object[] {
  const { trim, resource } = watched[kind] as Watch<KubeObject>
  const store = world.store({ resource }) as IndexedStore<KubeObject>
  const old = store.get(key)
  const current = object === undefined ? undefined : (trim?.(object) ?? object)
  if (current === undefined) store.delete(key)
  else store.put(key, current)
  const change = { key, old, new: current, initial: false } as never
  return controlFeatures.flatMap((feature) => {
    const concerned = feature.triggers.flatMap((trigger) =>
      trigger.on === 'object' && trigger.resource === resource ? [...trigger.keys(change, world)] : [],
    )
    return [...new Set(concerned)].map((one) => decide(feature, one, world).desired)
  })
}

/** Whether it can be read at all. */
function isAccepted(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch (error) {
    if (error instanceof KubeOvnError) return false
    throw error
  }
}

// For machines that are busy: what is measured is compared with what is measured beside it.
const patience = { timeout: 600_000 }

/** How much may be kept of an object, bytes. */
const mostKept = allowed.kept * hostileSize

/** One text wherever users of any kind that is watched may write one. */
function writtenEverywhere(text: string): KubeObject {
  const annotations = { [podAnnotations().ipPool.key]: text, [vipAnnotations.shared.key]: text }
  const template = {
    metadata: { annotations },
    spec: { networks: [{ name: text, multus: { networkName: text } }] },
  }
  const object = {
    metadata: { name: 'bad', namespace: 'shop', uid: 'u', labels: { app: text }, annotations },
    spec: { config: text, template, vmiName: text, nodeName: text },
    status: { phase: text, addresses: [{ type: 'InternalIP', address: text }] },
  }
  return object
}

describe.each(Object.entries(watched))('%s', patience, (_kind, { trim, indexes = {} }) => {
  /** What an informer keeps, and where it can be found. */
  function take(object: KubeObject): unknown {
    const kept = (trim as ((object: KubeObject) => KubeObject) | undefined)?.(object) ?? object
    const found = Object.values(
      indexes as Readonly<Record<string, (object: KubeObject) => readonly string[]>>,
    )
    return [kept, found.map((keysOf) => keysOf(kept))]
  }

  it('are taken in at little cost, whatever is written', () => {
    const slow = Object.entries(hostileTexts).map(([shape, text]) => {
      const object = writtenEverywhere(text)
      return { shape, times: timesLonger(() => void isAccepted(() => take(object)), JSON.stringify(object)) }
    })
    expect(slow.filter(({ times }) => times > allowed.times)).toEqual([])
  })

  it('take little memory, whatever is written', () => {
    const accepted = codecTexts
      .map(([, text]) => writtenEverywhere(text))
      .filter((object) => isAccepted(() => take(object)))
    // All at once: a collection of garbage for each takes minutes.
    const most = mostKept * Math.max(1, accepted.length)
    expect(keptBytes(() => accepted.map((object) => take(object)), most)).toBeLessThanOrEqual(most)
  })
})

describe.each(controllerDefinitions)('$resource.kind', patience, (definition) => {
  const samples = samplesOf(definition)
  const readers = resources[definition.resource.kind]?.read

  it('has readers here', () => {
    expect(readers).toBeDefined()
  })

  it('is read at little cost, whatever is written', () => {
    const slow = samples.flatMap(({ field, shape, object }) => {
      const json = JSON.stringify(object)
      return (readers ?? []).map((read) => {
        return { field, shape, times: timesLonger(() => void isAccepted(() => read(object)), json) }
      })
    })
    expect(slow.filter(({ times }) => times > allowed.times)).toEqual([])
  })

  it('is kept at little cost, whatever is written', () => {
    const wide = samples.filter(({ field, shape }) => field.startsWith('spec.') && shape in hostileLists)
    const readings = wide.flatMap(({ field, shape, object }) =>
      (readers ?? [])
        .filter((read) => isAccepted(() => read(object)))
        .map((read) => ({ field, shape, make: () => read(object) })),
    )
    expect(heavyOf(readings).map(({ field, shape }) => ({ field, shape }))).toEqual([])
  })
})

describe.each(acted)('%s', patience, (kind, samples) => {
  it('are served in proportion to their size', () => {
    const world = emptyWorld()
    const slow = samples.map(({ field, shape, object }) => {
      const key = objectKey(object)
      const serve = () => void act(kind, key, object, world)
      const undo = () => void act(kind, key, undefined, world)
      return { field, shape, times: timesLonger(serve, JSON.stringify(object), { most: allowedToAct, undo }) }
    })
    expect(slow.filter(({ times }) => times > allowedToAct)).toEqual([])
  })

  it('leave nothing behind', () => {
    const world = emptyWorld()
    const some = samples.filter((_, index) => index % Math.ceil(samples.length / 20) === 0)
    let round = 0
    const serveAll = (): void => {
      round++
      for (const sample of some) {
        const fresh = renewed(sample.object, round)
        act(kind, objectKey(fresh), fresh, world)
        act(kind, objectKey(fresh), undefined, world)
      }
    }
    serveAll()
    // Ten rounds, and ten more whose growth counts: no name and no text was there in a round before.
    const grown = keptBytes(() => {
      for (let times = 0; times < 10; times++) serveAll()
      return nothing
    }, mostKept)
    expect(grown).toBeLessThanOrEqual(mostKept)
  })
})

/**
 * Those of which each keeps more than it may. A collection of garbage for each takes minutes: where several together keep no more than one
 * may, none of them does.
 */
function heavyOf<T extends { readonly make: () => unknown }>(readings: readonly T[]): readonly T[] {
  if (readings.length === 0) return []
  if (keptBytes(() => readings.map(({ make }) => make()), mostKept) <= mostKept) return []
  const half = Math.ceil(readings.length / 2)
  return readings.length === 1
    ? readings
    : [...heavyOf(readings.slice(0, half)), ...heavyOf(readings.slice(half))]
}

/** The object as another user might have written it: other names, and texts that mean as much, but are not the same. */
function renewed({ metadata, ...rest }: KubeObject, round: number): KubeObject {
  const { name, annotations = {} } = metadata
  const further = Object.fromEntries(
    Object.values(annotations).map((text) => [podAnnotations(`net${round}.shop.ovn`).ipPool.key, text]),
  )
  const object = { ...rest, metadata: { ...metadata, annotations: { ...annotations, ...further } } }
  const { metadata: texts, ...others } = withBlanks(object, ' '.repeat(round)) as typeof object
  return { ...others, metadata: { ...texts, name: name.replace('bad', `bad-${round}`) } }
}

/** The same value with more blanks before each text that is long. */
function withBlanks(value: unknown, blanks: string): unknown {
  if (typeof value === 'string') return value.length > 100 ? `${blanks}${value}` : value
  if (Array.isArray(value)) return value.map((one) => withBlanks(one, blanks))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withBlanks(one, blanks)]))
}
