import { expect, it } from 'vitest'
import { parseSamples, stateOf } from './controller-state.ts'

const text = `# HELP workqueue_depth Current depth of the work queue.
# TYPE workqueue_depth gauge
workqueue_depth{name="pod-port",controller="pod-port",priority=""} 3
workqueue_depth{name="subnet",controller="subnet",priority=""} 1
controller_runtime_active_workers{controller="pod-port"} 2
workqueue_longest_running_processor_seconds{name="pod-port",controller="pod-port"} 0.25
workqueue_longest_running_processor_seconds{name="subnet",controller="subnet"} 7.5e0
kube_ovn_drift_found_total{controller="subnet"} 2
kube_ovn_drift_healed_total{controller="subnet"} 1
kube_ovn_drift_found_total{controller="pod-port"} 5
kube_ovn_drift_healed_total{controller="pod-port"} 5
kube_ovn_drift_found_total{controller="node"} 0
kube_ovn_orphans_held{kind="ls"} 4
leader_election_master_status{name="kube-ovn-controller"} 1
`

it('reads what waits, what is in work, and what strangers changed', () => {
  expect(stateOf(parseSamples(text))).toEqual({
    queued: 4,
    inWork: 2,
    longestSeconds: 7.5,
    drift: [
      { feature: 'pod-port', found: 5, healed: 5 },
      { feature: 'subnet', found: 2, healed: 1 },
    ],
    orphansHeld: 4,
  })
})

it('reads labels with signs in them', () => {
  expect(parseSamples('a{b="x,y\\"}",c="1"} 2\nbare 3\n')).toEqual([
    {
      name: 'a',
      labels: new Map([
        ['b', 'x,y\\"}'],
        ['c', '1'],
      ]),
      value: 2,
    },
    { name: 'bare', labels: new Map(), value: 3 },
  ])
})
