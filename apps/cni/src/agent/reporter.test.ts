import { AnnotationInvalidError } from '@kube-ovn/annotations'
import { ProbeTargetTakenError, QosInvalidError } from '@kube-ovn/features-node'
import { IndexedStore, type EventNote, type Node, type Pod } from '@kube-ovn/kube'
import type { Subnet } from '@kube-ovn/kube-api'
import { expect, it } from 'vitest'
import { createRefusalReporter } from './reporter.ts'

it('tells what a feature can not have on the Node, with field, value and cure, once there is one', () => {
  const events: EventNote[] = []
  const store = new IndexedStore<Node>()
  const report = createRefusalReporter(
    { record: (event) => events.push(event) },
    { nodes: store, pods: new IndexedStore<Pod>(), subnets: new IndexedStore<Subnet>() },
    'n1',
  )
  const details = { field: 'ovn.kubernetes.io/tunnel_interface', value: 'eth7', cure: 'give one of eth0' }
  report('tunnels', new AnnotationInvalidError(details))
  store.put('n1', { metadata: { name: 'n1', uid: 'uid-1' } })
  report('tunnels', new AnnotationInvalidError(details))
  report('host-firewall', new TypeError('no chain'))
  expect(events).toMatchObject([
    {
      regarding: { name: 'n1', uid: 'uid-1' },
      type: 'Warning',
      reason: 'NodeNetworkConfigureFailed',
      message:
        'tunnels: invalid annotation (field=ovn.kubernetes.io/tunnel_interface value=eth7); give one of eth0',
    },
    { message: 'host-firewall: no chain' },
  ])
})

it('tells what is wrong with annotations of a Pod on the Pod', () => {
  const events: EventNote[] = []
  const pods = new IndexedStore<Pod>()
  const report = createRefusalReporter(
    { record: (event) => events.push(event) },
    { nodes: new IndexedStore<Node>(), pods, subnets: new IndexedStore<Subnet>() },
    'n1',
  )
  const details = { field: 'ovn.kubernetes.io/loss', value: 'all', cure: 'write less', pod: 'shop/web-0' }
  const problem = new QosInvalidError({ ...details, stage: 'netem' })
  report('port-qos', problem)
  pods.put('shop/web-0', {
    metadata: { namespace: 'shop', name: 'web-0', uid: 'uid-2' },
    spec: { containers: [] },
  })
  report('port-qos', problem)
  const target = { field: 'spec.containers[].readinessProbe', value: '10.0.0.5:80', cure: 'probe by exec' }
  report(
    'kubelet-probes',
    new ProbeTargetTakenError({ ...target, pod: 'shop/web-0', holder: 'pod shop/db-0' }),
  )
  expect(events).toMatchObject([
    {
      regarding: { namespace: 'shop', name: 'web-0', uid: 'uid-2' },
      type: 'Warning',
      reason: 'PodQoSUpdateFailed',
      message:
        'quality of service is not as asked for (field=ovn.kubernetes.io/loss value=all pod=shop/web-0 stage=netem); write less node=n1',
    },
    {
      ...{ regarding: { name: 'web-0', uid: 'uid-2' }, type: 'Warning', reason: 'PodProbeUnreachable' },
      message: expect.stringContaining('holder=pod shop/db-0); probe by exec node=n1'),
    },
  ])
})
