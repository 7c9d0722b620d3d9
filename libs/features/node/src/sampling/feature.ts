import { contribution, type Answer, type NodeFeature } from '@kube-ovn/fragments'
import { rowTable } from '@kube-ovn/tables'
import { sampleCollectors, type SampleCollectors } from '../sinks/sample-collectors.ts'
import { agentTable } from '../tables.ts'

const collectorTable = rowTable({
  name: 'sample-collectors',
  of: agentTable,
  row: ({ samples: { set: id, targets } }): Answer<SampleCollectors> | undefined =>
    targets.length === 0 ? undefined : { want: { id, targets } },
})

/** Tells collectors by IPFIX of the samples that ACLs of policies have taken. */
export const sampling: NodeFeature = {
  name: 'sampling',
  contributions: [contribution(sampleCollectors, collectorTable)],
}
