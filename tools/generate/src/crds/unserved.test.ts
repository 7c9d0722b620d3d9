import { join } from 'node:path'
import { apiGroup, definitions } from '@kube-ovn/kube-api'
import { readDefinitions } from '@kube-ovn/testing-kube'
import { describe, expect, it } from 'vitest'
import { root } from '../generated-file.ts'

const unserved = await readDefinitions([join(root, 'helm/kube-ovn/files/unserved-definitions.yaml')])

/** What the plugin of 1.17 asks for, one after the other, before it diagnoses anything. */
const asked = [
  ...['vpcs', 'vpc-nat-gateways', 'vpc-egress-gateways', 'subnets', 'ips', 'vlans', 'provider-networks'],
  ...['security-groups', 'vips', 'vpc-dnses', 'switch-lb-rules', 'ippools', 'ovn-eips', 'ovn-fips'],
  ...['ovn-dnat-rules', 'ovn-snat-rules', 'iptables-eips', 'iptables-fip-rules', 'iptables-snat-rules'],
  'iptables-dnat-rules',
]

describe('definitions of kinds that are not there', () => {
  it('are those that scripts ask for, and none of ours', () => {
    const own = definitions.map(({ resource }) => resource.plural)
    const wanted = asked.filter((plural) => !own.includes(plural))
    expect(unserved.map(({ spec }) => spec.names.plural).toSorted()).toEqual(wanted.toSorted())
    for (const { metadata, spec } of unserved) {
      expect(spec.group).toBe(apiGroup)
      expect(metadata.name).toBe(`${spec.names.plural}.${spec.group}`)
    }
  })

  it('let nobody make an object', () => {
    for (const { spec } of unserved)
      expect(spec.versions).toEqual([expect.objectContaining({ name: 'v1', served: false, storage: true })])
  })
})
