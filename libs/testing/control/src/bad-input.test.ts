import type { KubeObject } from '@kube-ovn/kube'
import type { ProviderNetwork, Subnet, Vlan, Vpc } from '@kube-ovn/kube-api'
import { node, providerNetwork, subnet, vlan, vpc } from '@kube-ovn/testing-builders'
import { controlEffects } from './effects.ts'
import { describe, expect, it } from 'vitest'

interface Given {
  readonly subnets?: readonly Subnet[]
  readonly vpcs?: readonly Vpc[]
  readonly vlans?: readonly Vlan[]
  readonly providerNetworks?: readonly ProviderNetwork[]
}

type Kind = keyof Given

/** What is well, and stays so whatever else somebody writes. */
const well: Required<Given> = {
  subnets: [
    subnet({ name: 'blue', cidrBlock: '10.1.0.0/24,fd00:1::/120', natOutgoing: true }),
    subnet({ name: 'red1', vpc: 'red', cidrBlock: '10.2.0.0/24,fd00:2::/120' }),
    subnet({ name: 'dock', vlan: 'dock', cidrBlock: '10.3.0.0/24,fd00:3::/120' }),
  ],
  vpcs: [vpc({ name: 'red', staticRoutes: [{ cidr: '10.9.0.0/16', nextHopIP: '10.2.0.9' }] })],
  vlans: [vlan({ name: 'dock', provider: 'quay', id: 10 })],
  providerNetworks: [providerNetwork({ name: 'quay', defaultInterface: 'eth1' })],
}

function effectsOf(given: Given): Effects {
  const all = Object.fromEntries(
    (Object.keys(well) as Kind[]).map((kind) => [
      kind,
      [...well[kind], ...(given[kind] ?? [])].map((object: KubeObject, place) => ({
        ...object,
        // Whoever was first has it.
        metadata: {
          uid: `uid of ${object.metadata.name}`,
          creationTimestamp: `2026-01-01T00:00:0${place}Z`,
          ...object.metadata,
        },
      })),
    ]),
  )
  return controlEffects({ ...all, nodes: [node({ annotations: { 'ovn.kubernetes.io/chassis': 'c1' } })] })
}

type Effects = ReturnType<typeof controlEffects>

const quiet = effectsOf({})

/** Rows, but for what any further subnet changes: MAC addresses, which are drawn one after the other, and the set of all overlay prefixes. */
function madeOf({ made }: Effects): readonly string[] {
  return made
    .map((one) => JSON.stringify(one).replace(/([\da-f]{2}:){5}[\da-f]{2}/g, 'MAC'))
    .filter((one) => !one.includes('u2o_overlay_cidrs'))
}

interface WithConditions extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly { readonly status: string; readonly message?: string }[]
  }
}

/** What the conditions of an object say. */
function toldOf(effects: Effects, kind: Kind, name: string): string {
  const objects = effects.objects[kind] as readonly WithConditions[]
  const { conditions = [] } = objects.find(({ metadata }) => metadata.name === name)?.status ?? {}
  return [...new Set(conditions.map(({ message = '' }) => message))].join('\n')
}

interface Case {
  readonly name: string
  readonly given: Given
  /** Of the object that is told of it, the last one that is given unless it says otherwise. */
  readonly told: RegExp
}

function subnetCase(
  name: string,
  spec: Omit<NonNullable<Parameters<typeof subnet>[0]>, 'name'>,
  told: RegExp,
): Case {
  return { name, given: { subnets: [subnet({ name: 'bad', ...spec })] }, told }
}

function vpcCase(
  name: string,
  spec: Omit<NonNullable<Parameters<typeof vpc>[0]>, 'name'>,
  told: RegExp,
): Case {
  return { name, given: { vpcs: [vpc({ name: 'bad', ...spec })] }, told }
}

describe('what can not be carried out is told with field, value and cure, and nothing else notices', () => {
  it.each<Case>([
    subnetCase(
      'a prefix of another subnet',
      { cidrBlock: '10.1.0.0/16' },
      /spec.cidrBlock "10.1.0.0\/16".*blue/,
    ),
    subnetCase(
      'a prefix of another subnet of the same VPC',
      { vpc: 'red', cidrBlock: '10.2.0.128/25' },
      /spec.cidrBlock "10.2.0.128\/25".*red1/,
    ),
    subnetCase('no prefix', { cidrBlock: '10.8.0.0/33' }, /spec.cidrBlock "10.8.0.0\/33"/),
    subnetCase(
      'a gateway elsewhere',
      { cidrBlock: '10.8.0.0/24', gateway: '10.9.0.1' },
      /spec.gateway "10.9.0.1"/,
    ),
    subnetCase(
      'an unknown VPC',
      { vpc: 'nowhere', cidrBlock: '10.8.0.0/24' },
      /spec.vpc "nowhere": create a Vpc/,
    ),
    subnetCase(
      'an unknown Vlan',
      { vlan: 'nowhere', cidrBlock: '10.8.0.0/24' },
      /spec.vlan "nowhere": create/,
    ),
    subnetCase(
      'an unknown gateway node',
      { cidrBlock: '10.8.0.0/24', gatewayType: 'centralized', gatewayNode: 'nobody' },
      /spec.gatewayNode "nobody"/,
    ),
    subnetCase(
      'a logical gateway, and a connection beside a physical one',
      { vlan: 'dock', cidrBlock: '10.8.0.0/24', logicalGateway: true, u2oInterconnection: true },
      /spec.(u2oInterconnection|logicalGateway)/,
    ),
    subnetCase(
      'an external gateway, and NAT',
      { cidrBlock: '10.8.0.0/24', natOutgoing: true, externalEgressGateway: '172.18.0.9' },
      /spec.externalEgressGateway "172.18.0.9": switch natOutgoing off/,
    ),
    vpcCase(
      'a peering with itself',
      { vpcPeerings: [{ remoteVpc: 'bad', localConnectIP: '169.254.0.1/30' }] },
      /spec.vpcPeerings\[0\].remoteVpc "bad": name another Vpc/,
    ),
    vpcCase(
      'a peering with nobody',
      { vpcPeerings: [{ remoteVpc: 'nobody', localConnectIP: '169.254.0.1/30' }] },
      /spec.vpcPeerings\[0\].remoteVpc "nobody": create a Vpc/,
    ),
    vpcCase(
      'two peerings in one prefix',
      {
        vpcPeerings: [
          { remoteVpc: 'red', localConnectIP: '169.254.0.1/30' },
          { remoteVpc: 'ovn-cluster', localConnectIP: '169.254.0.1/24' },
        ],
      },
      /spec.vpcPeerings\[1\].localConnectIP "169.254.0.1\/24".*spec.vpcPeerings\[0\]/,
    ),
    {
      name: 'a next hop that nobody reaches',
      given: {
        vpcs: [vpc({ name: 'bad', staticRoutes: [{ cidr: '10.9.0.0/16', nextHopIP: '10.99.0.1' }] })],
        subnets: [subnet({ name: 'of-bad', vpc: 'bad', cidrBlock: '10.8.0.0/24' })],
      },
      told: /spec.staticRoutes\[0\].nextHopIP "10.99.0.1": choose an address in a subnet of the VPC/,
    },
    vpcCase(
      'a match that is none',
      { policyRoutes: [{ priority: 1, match: 'ip4.src == (', action: 'drop' }] },
      /spec.policyRoutes\[0\].match "ip4.src == \("/,
    ),
    vpcCase('BFD with nobody', { enableBfd: true }, /spec.enableBfd "true": set enableExternal/),
    vpcCase(
      'an external subnet that is not there',
      { enableExternal: true, extraExternalSubnets: ['nowhere'] },
      /spec.extraExternalSubnets\[0\] "nowhere": create a Subnet/,
    ),
    {
      name: 'a Vlan of an unknown provider',
      given: { vlans: [vlan({ name: 'bad', provider: 'nowhere', id: 11 })] },
      told: /spec.provider "nowhere"/,
    },
    {
      name: 'a Vlan whose id is out of range',
      given: { vlans: [vlan({ name: 'bad', provider: 'quay', id: 4096 })] },
      told: /spec.id "4096"/,
    },
  ])('$name', ({ given, told }) => {
    const kind = (['vpcs', 'subnets', 'vlans'] as const).find((one) => given[one] !== undefined) ?? 'subnets'
    const effects = effectsOf(given)
    expect(toldOf(effects, kind, 'bad')).toMatch(told)
    const made = new Set(madeOf(effects))
    expect(madeOf(quiet).filter((one) => !made.has(one))).toEqual([])
    for (const other of Object.keys(well) as Kind[])
      for (const { metadata } of well[other])
        expect(toldOf(effects, other, metadata.name)).toBe(toldOf(quiet, other, metadata.name))
  })
})
