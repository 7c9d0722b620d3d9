import * as annotations from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import { describe, expect, it } from 'vitest'
import {
  allowed,
  asJson,
  hostileSize,
  hostileTexts,
  keptBytes,
  timesLonger,
} from '@kube-ovn/domains-control/testing/cost'

/** A function that reads the text, and answers what is kept of it. */
type Reader = (text: string) => unknown

const { interfaceAnnotations, podAnnotations } = annotations

/** What the package gives that is no annotation, or is one of some that have a name in common. */
const readersOf: Readonly<Record<string, readonly (readonly [string, Reader])[]>> = {
  podAnnotations: [
    ...codecsOf('pod', podAnnotations()),
    ['any annotation of a provider', (text) => podAnnotations(text).ipPool.parse('10.16.0.5')],
  ],
  interfaceAnnotations: [
    ...codecsOf('interface', interfaceAnnotations({ namespace: 'shop', name: 'net1' }, 'eth1')),
    [
      'any annotation of an interface',
      (text) => interfaceAnnotations({ namespace: 'a', name: 'b' }, text).ipAddress.parse('10.16.0.5'),
    ],
  ],
  hasControllerFinalizer: [['hasControllerFinalizer', (text) => annotations.hasControllerFinalizer([text])]],
  isOvnProvider: [['isOvnProvider', annotations.isOvnProvider]],
  networkOfNic: [['networkOfNic', annotations.networkOfNic]],
  readPodNetwork: [
    ['readPodNetwork', (text) => annotations.readPodNetwork(everyValue(podAnnotations(), text))],
  ],
  readPodRequest: [
    ['readPodRequest', (text) => annotations.readPodRequest(everyValue(podAnnotations(), text))],
  ],
  readInterfaceRequest: [
    [
      'readInterfaceRequest',
      (text) => {
        const keys = interfaceAnnotations({ namespace: 'shop', name: 'net1' }, 'eth1')
        return annotations.readInterfaceRequest(everyValue(keys, text), keys)
      },
    ],
  ],
  readNodeNetwork: [
    ['readNodeNetwork', (text) => annotations.readNodeNetwork(everyValue(annotations.nodeAnnotations, text))],
  ],
  isAttachedSubnetKey: [['isAttachedSubnetKey', annotations.isAttachedSubnetKey]],
  readBorrowedVips: [
    [
      'readBorrowedVips',
      (text) => annotations.readBorrowedVips({ [podAnnotations().borrowedVip.key]: text }),
    ],
  ],
  readPortVips: [
    ['readPortVips', (text) => annotations.readPortVips({ [podAnnotations().portVips.key]: text })],
  ],
  readSharedVips: [
    [
      'readSharedVips',
      (text) => annotations.readSharedVips({ [annotations.vipAnnotations.shared.key]: text }),
    ],
  ],
  staleNicKeys: [
    [
      'staleNicKeys',
      (text) => annotations.staleNicKeys({ [`${text}.kubernetes.io/allocated`]: 'true' }, new Set()),
    ],
  ],
  allocatedNics: [
    [
      'allocatedNics, by key',
      (text) => annotations.allocatedNics({ [`a.${text}.kubernetes.io/allocated`]: 'true' }),
    ],
    [
      'allocatedNics, by address',
      (text) =>
        annotations.allocatedNics({
          [podAnnotations().allocated.key]: 'true',
          [podAnnotations().ipAddress.key]: text,
        }),
    ],
  ],
  placedNics: [
    [
      'placedNics, by key',
      (text) => annotations.placedNics({ [`a.${text}.kubernetes.io/allocated`]: 'true' }),
    ],
    [
      'placedNics, by address',
      (text) =>
        annotations.placedNics({
          [podAnnotations().allocated.key]: 'true',
          [podAnnotations().ipAddress.key]: text,
        }),
    ],
  ],
  givenProviders: [
    [
      'givenProviders',
      (text) => annotations.givenProviders({ [`a.${text}.kubernetes.io/allocated`]: 'true' }),
    ],
  ],
  isExternalVpc: [['isExternalVpc', (text) => annotations.isExternalVpc({ [text]: text })]],
  ipLabels: [
    ['ipLabels', (text) => annotations.ipLabels({ subnet: text, nodeName: text, isReserved: true })],
  ],
  ovnEipLabels: [
    ['ovnEipLabels', (text) => annotations.ovnEipLabels({ subnet: text, type: 'nat', v4: text, v6: text })],
  ],
  labelValue: [['labelValue', (text) => annotations.labelValue(text)]],
  bgpPeerLabels: [['bgpPeerLabels', (text) => annotations.bgpPeerLabels(text)]],
  vipLabels: [['vipLabels', (text) => annotations.vipLabels({ subnet: text, borrower: text })]],
  nicKey: [['nicKey', (text) => annotations.nicKey(text, text)]],
  networksOfMarks: [
    [
      'networksOfMarks',
      (text) => annotations.networksOfMarks({ [`${text}.provider-network.kubernetes.io/ready`]: text }),
    ],
  ],
  providerNetworkKeysOf: [['providerNetworkKeysOf', (text) => annotations.providerNetworkKeysOf(text)]],
  readProviderNetworkRequest: [
    [
      'readProviderNetworkRequest',
      (text) =>
        annotations.readProviderNetworkRequest('quay', {
          [annotations.providerNetworkKeysOf('quay').interface]: text,
        }),
    ],
  ],
  ofProviderNetworks: [['ofProviderNetworks', (text) => annotations.ofProviderNetworks({ [text]: text })]],
  isMirrorKey: [['isMirrorKey', annotations.isMirrorKey]],
  isQosKey: [['isQosKey', annotations.isQosKey]],
  qosAnnotations: [
    ...codecsOf('quality of service', annotations.qosAnnotations()),
    ['any rate of a provider', (text) => annotations.qosAnnotations(text).ingressRate.parse('10')],
  ],
  readNicQos: [
    ['readNicQos', (text) => annotations.readNicQos(everyValue(annotations.qosAnnotations(), text))],
  ],
  addressRequestKeys: [],
  AnnotationInvalidError: [],
}

function codecsOf(name: string, group: object): readonly (readonly [string, Reader])[] {
  return Object.entries(group as Readonly<Record<string, unknown>>).map(([field, codec]) => {
    if (!isCodec(codec)) throw new Error(`${name}.${field} is not an annotation`)
    return [`${name}.${field}`, (text) => codec.parse(text)] as const
  })
}

function isCodec(value: unknown): value is annotations.Annotation<unknown> {
  return typeof value === 'object' && value !== null && 'parse' in value && 'key' in value
}

function everyValue(group: object, text: string): Readonly<Record<string, string>> {
  const codecs = Object.values(group as Readonly<Record<string, annotations.Annotation<unknown>>>)
  return Object.fromEntries(codecs.map(({ key }) => [key, key.endsWith('/allocated') ? 'true' : text]))
}

/** The texts, and the same as JSON. */
const hostile = Object.entries(hostileTexts).map(([shape, text]) => ({ shape, text, json: asJson(text) }))

/** How much may be kept of a text, bytes. */
const most = allowed.kept * hostileSize

/** Every way in which the package reads a text. */
const readers = Object.entries(annotations as Readonly<Record<string, unknown>>).flatMap(([name, value]) => {
  const known = readersOf[name]
  if (known !== undefined) return known
  if (isCodec(value)) return [[name, (text: string) => value.parse(text)] as const]
  if (typeof value !== 'object' || value === null) return []
  // Keys of labels and taints are read by nobody.
  return Object.values(value).every((key) => typeof key === 'string') ? [] : codecsOf(name, value)
})

it('covers whatever reads a text', () => {
  const functions = Object.entries(annotations).filter(([, value]) => typeof value === 'function')
  expect(functions.map(([name]) => name).filter((name) => readersOf[name] === undefined)).toEqual([])
})

/** What is read, or the refusal. */
function outcomeOf(read: Reader, text: string): unknown {
  try {
    return read(text)
  } catch (error) {
    if (error instanceof KubeOvnError) return error
    throw error
  }
}

function toldOf(outcome: unknown): object | undefined {
  return outcome instanceof KubeOvnError ? outcome.details : undefined
}

// For machines that are busy: what is measured is compared with what is measured beside it.
describe.each(readers)('%s', { timeout: 600_000 }, (_name, read) => {
  it('costs little, whatever is written', () => {
    const slow = hostile.map(({ shape, text, json }) => ({
      shape,
      times: timesLonger(() => void outcomeOf(read, text), json),
    }))
    expect(slow.filter(({ times }) => times > allowed.times)).toEqual([])
  })

  it('keeps little, whatever is written', () => {
    const refused = Object.values(hostileTexts).filter((text) => outcomeOf(read, text) instanceof Error)
    // What is the text itself costs nothing beside it.
    const accepted = Object.entries(hostileTexts).filter(
      ([, text]) => !refused.includes(text) && outcomeOf(read, text) !== text,
    )
    // All at once: most keep next to nothing, and a collection of garbage for each takes minutes.
    const together = keptBytes(
      () => accepted.map(([, text]) => outcomeOf(read, text)),
      Number.POSITIVE_INFINITY,
    )
    const each = together > most ? accepted : []
    const heavy = each.map(([shape, text]) => ({
      shape,
      bytes: keptBytes(() => outcomeOf(read, text), most),
    }))
    expect(heavy.filter(({ bytes }) => bytes > most)).toEqual([])
    // Made anew, so that it shows when what is told keeps all of what is refused.
    const refusals = keptBytes(() => refused.map((text) => toldOf(outcomeOf(read, `${text} `))), most)
    expect(refusals).toBeLessThanOrEqual(most)
  })
})

it('remembers nothing of keys that were read once', () => {
  const round = (number: number): void => {
    const names = Array.from({ length: 3000 }, (_, index) => `net${index}.shop-${number}.ovn`)
    const given = names.flatMap((name) => [
      [`${name}.kubernetes.io/allocated`, 'true'],
      [`${name}.kubernetes.io/cidr`, '10.16.0.0/16'],
    ])
    expect(annotations.staleNicKeys(Object.fromEntries(given), new Set())).toHaveLength(6000)
    for (const name of names) podAnnotations(name).ipAddress.parse('10.16.0.5')
    const long = `${'n'.repeat(hostileSize)}${number}`
    outcomeOf((text) => podAnnotations(text).ipAddress.read({}), long)
    const asked = JSON.stringify([{ name: 'net1', interface: long }])
    expect(outcomeOf(annotations.networkAnnotations.further.parse, asked)).toBeInstanceOf(Error)
  }
  let number = 0
  round(number++)
  const grown = keptBytes(() => {
    for (let times = 0; times < 10; times++) round(number++)
  }, most)
  expect(grown).toBeLessThanOrEqual(most)
})
