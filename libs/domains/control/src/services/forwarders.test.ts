import { serviceAnnotations } from '@kube-ovn/annotations'
import { service, type ServiceFields } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { isForwarded } from './forwarders.ts'

const annotations = { [serviceAnnotations.attachmentProvider.key]: 'street.default' }

it.each<readonly [string, ServiceFields, boolean]>([
  ['of type LoadBalancer, in a network', { annotations }, true],
  ['of another type', { annotations, type: 'ClusterIP' }, false],
  ['for somebody else', { annotations, loadBalancerClass: 'example.com/other' }, false],
  ['in no network', {}, false],
])('a Service asks for an address in an attached network: %s', (_name, fields, is) => {
  expect(isForwarded(service({ type: 'LoadBalancer', ...fields }))).toBe(is)
})
