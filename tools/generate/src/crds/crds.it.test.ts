import { join } from 'node:path'
import type { Refused } from '@kube-ovn/errors'
import { KubeInvalidError, KubeNotFoundError, type Resource } from '@kube-ovn/kube'
import { ipResource, subnetResource, vpcResource } from '@kube-ovn/kube-api'
import { customResourceDefinitions } from '@kube-ovn/kube-api/core'
import { readDefinitions, sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { root } from '../generated-file.ts'

let api: KubeApi

beforeAll(async () => {
  api = await sharedKubeApi()
})
afterEach(() => api.reset())

const accepted: readonly { readonly name: string; readonly resource: Resource; readonly spec?: object }[] = [
  { name: 'a subnet without a spec', resource: subnetResource },
  { name: 'a CIDR with host bits', resource: subnetResource, spec: { cidrBlock: '10.1.0.5/16' } },
  { name: 'IPv6 before IPv4', resource: subnetResource, spec: { cidrBlock: 'fd00::/64,10.0.0.0/8' } },
  { name: 'an IPv6 CIDR in capitals', resource: subnetResource, spec: { cidrBlock: 'FD00:10::/64' } },
  { name: 'no CIDR, on a vlan', resource: subnetResource, spec: { cidrBlock: '', vlan: 'v', gateway: '' } },
  {
    name: 'a gateway outside of its CIDR',
    resource: subnetResource,
    spec: { cidrBlock: '10.1.0.0/16', gateway: '10.2.0.1' },
  },
  { name: 'two gateways', resource: subnetResource, spec: { gateway: '10.1.0.1,fd00::1' } },
  {
    name: 'an unknown protocol, which the controller overwrites',
    resource: subnetResource,
    spec: { protocol: 'ipv4' },
  },
  {
    name: 'a route table number of 32 bits',
    resource: subnetResource,
    spec: { policyRoutingTableID: 4_294_967_295 },
  },
  {
    name: 'fields of features to come',
    resource: subnetResource,
    spec: {
      natOutgoingPolicyRules: [{ match: { srcIPs: '10.0.0.0/8' }, action: 'nat' }],
      acls: [{ direction: 'to-lport', priority: 1, match: 'ip4', action: 'drop' }],
      namespaceSelectors: [{ matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] }],
      u2oFeatures: { overlayOnlyRouting: true },
    },
  },
  {
    name: 'routes and peerings of a VPC',
    resource: vpcResource,
    spec: {
      staticRoutes: [{ cidr: '0.0.0.0/0', nextHopIP: '10.0.0.1', policy: 'policyDst' }],
      policyRoutes: [{ priority: 10, match: 'ip4', action: 'drop' }],
      vpcPeerings: [{ remoteVpc: 'b', localConnectIP: '169.254.0.1/30' }],
      bfdPort: { enabled: true, ip: '10.255.255.255', nodeSelector: { matchLabels: { a: 'b' } } },
    },
  },
  {
    name: 'addresses of both families',
    resource: ipResource,
    spec: { v4IpAddress: '10.1.0.5', v6IpAddress: 'fd00::5', macAddress: '00:00:00:53:6B:B1', attachIps: [] },
  },
  {
    name: 'an IP without addresses',
    resource: ipResource,
    spec: { v4IpAddress: '', v6IpAddress: '', macAddress: '' },
  },
]

const refused: readonly (Refused & { readonly resource: Resource })[] = [
  { resource: subnetResource, field: 'cidrBlock', value: '10.0.0.0/33', cure: 'write one like 10.16.0.0/16' },
  { resource: subnetResource, field: 'cidrBlock', value: 'hello', cure: 'write one like 10.16.0.0/16' },
  { resource: subnetResource, field: 'cidrBlock', value: '10.0.0.0', cure: 'write one like 10.16.0.0/16' },
  { resource: subnetResource, field: 'cidrBlock', value: '10.0.0.0/8, fd00::/64', cure: 'without spaces' },
  { resource: subnetResource, field: 'gateway', value: '10.1.0.256', cure: 'write one like 10.16.0.1' },
  {
    resource: subnetResource,
    field: 'gatewayType',
    value: 'central',
    cure: 'write distributed or centralized',
  },
  { resource: ipResource, field: 'v4IpAddress', value: 'fd00::1', cure: 'write one like 10.16.0.15' },
  { resource: ipResource, field: 'v6IpAddress', value: '10.16.0.15', cure: 'write one like fd00:10:16::f' },
  { resource: ipResource, field: 'macAddress', value: '00:00', cure: 'write one like 00:00:00:53:6b:b6' },
]

describe('the API server accepts', () => {
  it.each(accepted)('$name, and keeps it as it is', async ({ resource, spec }) => {
    const object = { metadata: { name: 'example' }, ...(spec === undefined ? {} : { spec }) }
    expect(await api.client.create(resource, object)).toMatchObject(object)
  })

  it('null, as absent: clients of upstream write it for lists that are empty', async () => {
    const created = await api.client.create(subnetResource, {
      metadata: { name: 'example' },
      spec: JSON.parse('{"excludeIps":null,"mtu":1400}') as object,
    })
    expect(created.spec).toEqual({ mtu: 1400 })
  })

  it('counts of addresses beyond what a number holds exactly', async () => {
    const ref = { name: 'example' }
    await api.client.create(subnetResource, { metadata: ref })
    const status = { status: { v6availableIPs: 18_446_744_073_709_551_614n } }
    const options = { subresource: 'status' }
    const patched = await api.client.patch(
      subnetResource,
      ref,
      'application/merge-patch+json',
      status,
      options,
    )
    expect(Number(patched.status?.v6availableIPs)).toBe(2 ** 64)
  })

  it('defaults of upstream, and no others', async () => {
    const spec = { bfdPort: { ip: '10.0.0.1' } }
    const created = await api.client.create(vpcResource, { metadata: { name: 'example' }, spec })
    expect(created.spec).toEqual({ bfdPort: { ip: '10.0.0.1', enabled: false } })
  })
})

describe('the API server refuses', () => {
  it.each(refused)(
    '$field $value, naming field, value and cure',
    async ({ resource, field, value, cure }) => {
      const object = { metadata: { name: 'example' }, spec: { [field]: value } }
      const refusal = await api.client.create(resource, object).catch((error: unknown) => error)
      expect(refusal).toBeInstanceOf(KubeInvalidError)
      const text = JSON.stringify((refusal as KubeInvalidError).details)
      for (const part of [`spec.${field}`, value, cure]) expect(text).toContain(part)
    },
  )
})

it('takes definitions of kinds that nobody acts on, and serves none of them', async () => {
  const all = await readDefinitions([join(root, 'helm/kube-ovn/files/unserved-definitions.yaml')])
  // What tests of others serve, as an earlier installation may.
  const present = new Set(
    (await api.client.list(customResourceDefinitions)).items.map(({ metadata }) => metadata.name),
  )
  const definitions = all.filter(({ metadata }) => !present.has(metadata.name))
  expect(definitions.length).toBeGreaterThan(5)
  onTestFinished(async () => {
    for (const { metadata } of definitions)
      await api.client.remove(customResourceDefinitions, { name: metadata.name })
  })
  for (const definition of definitions) {
    const { metadata, spec } = definition
    await api.client.create(customResourceDefinitions, definition)
    const made = await api.client.get(customResourceDefinitions, { name: metadata.name })
    expect(made?.spec.versions).toEqual([expect.objectContaining({ served: false })])
    const { kind, plural } = spec.names
    const resource: Resource = {
      ...{ group: spec.group, version: 'v1', kind, plural },
      namespaced: spec.scope === 'Namespaced',
    }
    await expect(api.client.list(resource)).rejects.toThrow(KubeNotFoundError)
  }
})
