import { AnnotationInvalidError } from '@kube-ovn/annotations'
import { IndexedStore, type EventNote, type Node } from '@kube-ovn/kube'
import { expect, it } from 'vitest'
import { createRefusalReporter } from './reporter.ts'

it('tells what a feature can not have on the Node, with field, value and cure, once there is one', () => {
  const events: EventNote[] = []
  const store = new IndexedStore<Node>()
  const report = createRefusalReporter({ record: (event) => events.push(event) }, store, 'n1')
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
