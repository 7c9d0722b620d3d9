import { expect, it } from 'vitest'
import { desiredResolvers } from './desired.ts'

it('is an object for each name, with the policies that it goes with, and no other', () => {
  const owner = {
    ...{ apiVersion: 'policy.networking.k8s.io/v1alpha1', kind: 'AdminNetworkPolicy' },
    ...{ name: 'web', uid: 'u1' },
  }
  const [first, second] = ['www.example.com.', '*.baidu.com.'].map((domain) => ({ domain }))
  const desired = desiredResolvers({
    label: 'anp/web',
    wanted: [
      { name: 'anp-web-01234567', domain: first?.domain ?? '', owners: [owner] },
      { name: 'anp-web-fb3029ce', domain: second?.domain ?? '', owners: [] },
    ],
    surplus: ['anp-web-76543210'],
  })
  const resolver = { apiVersion: 'kubeovn.io/v1', kind: 'DNSNameResolver' }
  const labels = { anp: 'web' }
  expect(desired.patches.map(({ resource: _resource, ...patch }) => patch)).toEqual([
    { name: 'anp-web-76543210', remove: true },
    {
      name: 'anp-web-01234567',
      apply: {
        ...resolver,
        metadata: { name: 'anp-web-01234567', labels, ownerReferences: [owner] },
        spec: { name: 'www.example.com.' },
      },
    },
    {
      name: 'anp-web-fb3029ce',
      apply: { ...resolver, metadata: { name: 'anp-web-fb3029ce', labels }, spec: { name: '*.baidu.com.' } },
    },
  ])
})
