import { nicKey, primaryProvider } from '@kube-ovn/annotations'
import * as annotations from '@kube-ovn/annotations'
import { controllerDefinitions, objectSchema } from '@kube-ovn/kube-api'
import type { KubeObject } from '@kube-ovn/kube'
import { ignoredAnnotations, missingFeatures, needless, type AnnotatedKind } from '@kube-ovn/no-effect'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { compare, outcomeOf, type Own, type Outcome, type Verdict } from './outcome.ts'
import { annotationSamples, fieldCompanions, fieldSamples, objectOfField, sampleOf } from './samples.ts'
import { scene, type Scene } from './scene.ts'
import { upstreamAnnotations, upstreamNodeLabels, upstreamProviderNetworkKeys } from './upstream.ts'

const root = join(import.meta.dirname, '../../../..')
const listOf = {
  Subnet: 'subnets',
  Vpc: 'vpcs',
  IP: 'ips',
  IPPool: 'ipPools',
  DNSNameResolver: 'dnsNameResolvers',
  EgressFirewall: 'egressFirewalls',
  SecurityGroup: 'securityGroups',
  Vip: 'vips',
  OvnEip: 'ovnEips',
  SwitchLBRule: 'switchLbRules',
  RouterLBRule: 'routerLbRules',
  VpcDns: 'vpcDnses',
  Vlan: 'vlans',
  ProviderNetwork: 'providerNetworks',
} as const
const annotated = { ...listOf, Pod: 'pods', Node: 'nodes', Namespace: 'namespaces' } as const

/** The scene with its first object of a kind changed. */
function changed(kind: keyof Scene, change: (object: never) => object, of = scene): Scene {
  const [first, ...others] = of[kind]
  return { ...of, [kind]: [change(first as never), ...others] }
}

function withSpec(kind: keyof Scene, fields: Readonly<Record<string, unknown>>, of = scene): Scene {
  const change = (object: { readonly spec?: object }) => ({
    ...object,
    spec: { ...object.spec, ...fields },
  })
  return changed(kind, change, of)
}

/** The scene with the object of that name first. */
function withFirst(kind: keyof Scene, name: string | undefined): Scene {
  if (name === undefined) return scene
  const objects: readonly KubeObject[] = scene[kind]
  const isFirst = ({ metadata }: KubeObject) => metadata.name === name
  return {
    ...scene,
    [kind]: [...objects.filter(isFirst), ...objects.filter((object) => !isFirst(object))],
  }
}

function withMetadata(kind: keyof Scene, part: 'annotations' | 'labels', key: string, text: string): Scene {
  return changed(kind, (object: { readonly metadata: Readonly<Record<string, object>> }) => ({
    ...object,
    metadata: { ...object.metadata, [part]: { ...object.metadata[part], [key]: text } },
  }))
}

/** The most that any of the changed scenes came to. */
function verdictOf(own: Own, changes: readonly Scene[], base = scene): Verdict {
  const before = outcomeOf(base, own)
  const verdicts = changes.map((one) => compare(before, outcomeOf(one, own)))
  return verdicts.includes('effect') ? 'effect' : verdicts.includes('refused') ? 'refused' : 'none'
}

/** What holds of whatever a user may write: it does something, or somebody is told, or the data say why it need not be. */
function judge(verdict: Verdict, isTold: boolean, isNeedless: boolean): string {
  if (isTold && isNeedless) return 'is listed as missing and as needless: leave it in one of the lists'
  const hasEffect = verdict === 'effect' || (isNeedless && verdict === 'refused')
  if (isTold || isNeedless)
    return hasEffect ? 'has an effect: take it off the list in libs/model/no-effect' : 'fine'
  return verdict === 'none' ? 'has no effect: list it in libs/model/no-effect, or build it' : 'fine'
}

const written: Outcome = outcomeOf(scene)

it('comes to rest without a problem', () => {
  expect(JSON.parse(written.problems)).toEqual([])
})

describe.each(controllerDefinitions)('a field of $resource.kind', ({ resource, ...definition }) => {
  const kind = resource.kind as keyof typeof listOf
  const told = kind === 'Subnet' ? missingFeatures.flatMap(({ subnet = [] }) => subnet) : []
  const idle = needless.flatMap(({ fields }) => fields?.[kind] ?? [])
  const { properties = {} } = objectSchema({ resource, ...definition }).properties?.['spec'] ?? {}
  const fields = Object.entries(properties)

  it.each(fields)('%s has an effect, or is told of', (field, schema) => {
    const samples = fieldSamples[kind]?.[field] ?? [sampleOf(schema)]
    const own = { kind: listOf[kind], spec: field }
    const of = withFirst(own.kind, objectOfField[kind]?.[field])
    // Each of several samples stands for a part of the field.
    const company = fieldCompanions[kind]?.[field] ?? {}
    const base = withSpec(own.kind, company, of)
    const verdicts = samples.map((value) =>
      verdictOf(own, [withSpec(own.kind, { ...company, [field]: value }, of)], base),
    )
    for (const verdict of verdicts)
      expect(judge(verdict, told.includes(field), idle.includes(field))).toBe('fine')
  })

  it('is in no list that does not exist', () => {
    const names = fields.map(([name]) => name)
    expect([...told, ...idle].filter((name) => !names.includes(name))).toEqual([])
  })
})

/** Keys that are the subject of a test of their own: what decides about them is no feature, or needs more than objects. */
const provenElsewhere: Readonly<Record<string, string>> = {
  chassis: 'libs/features/network/src/vpc-external/vpc-external.it.test.ts',
  delete_orphans: 'libs/assembly/controller/src/orphan-confirmation.it.test.ts',
  migrationJobName: 'libs/features/pods/src/pod-port/machines.it.test.ts',
}

it.each(Object.entries(provenElsewhere))('the effect of %s is proven by %s', (name, path) => {
  expect(readFileSync(join(root, path), 'utf8').toLowerCase()).toContain(
    name.replaceAll('_', '').toLowerCase().slice(0, 9),
  )
})

interface Key {
  readonly kind: keyof typeof annotated
  readonly key: string
}

/** Every key of the annotations library, and every one of upstream's. */
function allKeys(): readonly Key[] {
  const { podAnnotations, vipAnnotations, networkAnnotations, nodeAnnotations } = annotations
  const { namespaceAnnotations, vpcAnnotations, interfaceAnnotations, kubevirtAnnotations } = annotations
  const { bgpAnnotations, qosAnnotations } = annotations
  const nic = interfaceAnnotations({ namespace: 'shop', name: 'camera' }, 'net1')
  const codecs = {
    Pod: [
      podAnnotations(),
      vipAnnotations,
      networkAnnotations,
      kubevirtAnnotations,
      bgpAnnotations,
      qosAnnotations(),
      { ipAddress: nic.ipAddress },
    ],
    Node: [nodeAnnotations],
    Namespace: [namespaceAnnotations],
    Subnet: [bgpAnnotations],
    Vpc: [vpcAnnotations],
  }
  const known = Object.entries(codecs).flatMap(([kind, groups]) =>
    groups.flatMap((group) =>
      Object.values(group).map(({ key }: { readonly key: string }) => `${kind} ${key}`),
    ),
  )
  const upstream = Object.entries(upstreamAnnotations).flatMap(([kind, names]) =>
    names.map((name) => `${kind} ${nicKey(primaryProvider, name)}`),
  )
  return [...new Set([...known, ...upstream])].map((text) => {
    const [kind = '', key = ''] = text.split(' ')
    return { kind: kind as Key['kind'], key }
  })
}

it('knows of every group of annotations', () => {
  const groups = Object.keys(annotations).filter((name) => name.endsWith('Annotations'))
  expect(groups.sort()).toEqual([
    'bgpAnnotations',
    // Of Pods that the controller makes for Services.
    'forwarderAnnotations',
    'interfaceAnnotations',
    // Nothing reads these but kubectl and its plugin.
    'kubectlAnnotations',
    'kubevirtAnnotations',
    'multiNetworkPolicyAnnotations',
    'namespaceAnnotations',
    'networkAnnotations',
    // What these decide is proven by suites of features: no scene has NetworkPolicies or Services.
    'networkPolicyAnnotations',
    'nodeAnnotations',
    'podAnnotations',
    // What a node reaches by other NICs, no scene has.
    'providerNetworkAnnotations',
    'qosAnnotations',
    'serviceAnnotations',
    'vipAnnotations',
    'vpcAnnotations',
  ])
})

describe('an annotation', () => {
  const keys = allKeys().filter(({ key }) => !(key.slice(key.indexOf('/') + 1) in provenElsewhere))
  it.each(keys)('$key of a $kind has an effect, or is told of', ({ kind, key }) => {
    const name = key.slice(key.indexOf('/') + 1)
    const own: Own = { kind: annotated[kind], key }
    const texts = annotationSamples[name.split('.')[0] ?? ''] ?? ['true', '7', 'sample']
    const verdict = verdictOf(
      own,
      texts.map((text) => withMetadata(own.kind, 'annotations', key, text)),
    )
    const isTold = texts.every((text) => ignoredOf(kind, { [key]: text }) > 0)
    const isNeedless = needless.some(({ annotations: idle }) => idle?.[kind as AnnotatedKind]?.includes(name))
    // What the controller writes is put right.
    const isWritten =
      written.objects[own.kind]?.some(({ metadata }) => key in (metadata.annotations ?? {})) === true
    const isOutput = isWritten && verdict === 'none' && !isTold && !isNeedless
    expect(isOutput ? 'fine' : judge(verdict, isTold, isNeedless)).toBe('fine')
  })

  it.each(upstreamProviderNetworkKeys)('%s of a Node about a provider network has an effect', (name) => {
    const key = `provider.provider-network.kubernetes.io/${name}`
    const own = { kind: 'nodes', key } as const
    const verdict = verdictOf(own, [withMetadata('nodes', 'annotations', key, 'true')])
    expect(judge(verdict, false, false)).toBe('fine')
  })
})

function ignoredOf(kind: keyof typeof annotated, given: Readonly<Record<string, string>>): number {
  return ignoredAnnotations(kind as AnnotatedKind, given, [primaryProvider]).length
}

it.each(upstreamNodeLabels)('a Node labelled %s is another, or is told', (name) => {
  const key = nicKey(primaryProvider, name)
  const texts = annotationSamples[name] ?? ['true']
  const verdict = verdictOf(
    { kind: 'nodes', key },
    texts.map((text) => withMetadata('nodes', 'labels', key, text)),
  )
  const isTold = missingFeatures.some(({ nodeLabels = [] }) => nodeLabels.includes(name))
  expect(judge(verdict, isTold, false)).toBe('fine')
})

describe('a flag that the controller reads and that is listed', () => {
  it.each([['pod-nic-type', { podNicType: 'offload-port' }]])(
    '%s changes no more than what is written down',
    (flag, settings) => {
      expect(missingFeatures.some(({ controllerFlags = [] }) => controllerFlags.includes(flag))).toBe(true)
      const strip = (text: string): string =>
        text.replaceAll(/"[a-z]+\.kubernetes\.io\/pod_nic_type": "[^"]*"/g, '')
      expect(strip(outcomeOf(scene, undefined, settings).made)).toBe(strip(written.made))
    },
  )
})
