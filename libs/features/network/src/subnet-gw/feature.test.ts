import { subnet, node, vpc } from '@kube-ovn/testing-builders'
import { stillWorld } from '@kube-ovn/domains-control/testing/still-world'
import { pairFlags } from '@kube-ovn/domains-control/topology'
import type { ObjectChange } from '@kube-ovn/kube'
import type { Node } from '@kube-ovn/kube-api/core'
import type { Subnet } from '@kube-ovn/kube-api'
import { defaultsOf } from '@kube-ovn/process'
import { expect, it } from 'vitest'
import { subnetGateway } from './feature.ts'

const blue = subnet({ name: 'blue', cidrBlock: '10.1.0.0/24' })
const red = subnet({ name: 'red1', vpc: 'red', cidrBlock: '10.2.0.0/24' })
const objects = { subnets: [blue, red], vpcs: [vpc({ name: 'red' })], nodes: [node({ name: 'n1' })] }
const world = stillWorld(objects, {}, { settings: { flags: defaultsOf(pairFlags) } })

function keysOf(plural: string, change: Omit<ObjectChange<Subnet | Node>, 'initial'>): readonly string[] {
  return subnetGateway.triggers.flatMap((trigger) =>
    trigger.on === 'object' && trigger.resource.plural === plural
      ? [...trigger.keys({ ...change, initial: false } as ObjectChange<never>, world)]
      : [],
  )
}

const inDefault = { ...red, spec: { ...red.spec, vpc: '' } }

it.each([
  { name: 'one that comes', old: undefined, new: blue, want: ['blue/n1'] },
  { name: 'one of another VPC that comes', old: undefined, new: red, want: [] },
  { name: 'one that is to be in the default VPC from now on', old: red, new: inDefault, want: ['red1/n1'] },
  { name: 'one that is not to be there any more', old: inDefault, new: red, want: ['red1/n1'] },
  {
    name: 'an edit of anything else',
    old: blue,
    new: { ...blue, spec: { ...blue.spec, mtu: 1300 } },
    want: [],
  },
  { name: 'one that goes', old: blue, new: undefined, want: ['blue/n1'] },
])('looks at the pairs of a subnet with nodes for $name', ({ want, ...change }) => {
  const key = (change.new ?? change.old)?.metadata.name ?? ''
  expect(keysOf('subnets', { key, ...change })).toEqual(want)
})

it('looks at the pairs of a node with subnets of the default VPC alone', () => {
  const one = node({ name: 'n2' })
  expect(keysOf('nodes', { key: 'n2', old: undefined, new: one })).toEqual(['blue/n2'])
})
