import { ip } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { desiredReservation } from './feature.ts'

const fields = { name: 'web.shop', podName: 'web', namespace: 'shop', subnet: 'blue' }

it.each([
  { name: 'nothing of one that names pod and subnet', given: fields, want: undefined },
  {
    name: 'nothing of one in a further network',
    given: { ...fields, name: 'web.shop.net.default.ovn' },
    want: undefined,
  },
  { name: 'the missing pod', given: { ...fields, podName: '' }, want: 'field=spec.podName' },
  { name: 'the missing namespace', given: { ...fields, namespace: '' }, want: 'field=spec.namespace' },
  { name: 'the missing subnet', given: { ...fields, subnet: '' }, want: 'field=spec.subnet' },
  { name: 'the unknown type', given: { ...fields, podType: 'Job' }, want: 'value=Job' },
  {
    name: 'what its name must be',
    given: { ...fields, name: 'web' },
    want: 'name it like the port: web.shop',
  },
])('tells $name', ({ given, want }) => {
  const object = ip(given)
  const desired = desiredReservation({
    object: { ...object, metadata: { ...object.metadata, uid: 'u1' } },
    saysGeneration: true,
  })
  expect(desired.events.map(({ type, message }) => [type, message])).toEqual(
    want === undefined ? [] : [['Warning', expect.stringContaining(want)]],
  )
})
