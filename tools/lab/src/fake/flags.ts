import { LabUsageError } from '../errors.ts'
import type { Topology } from '../cluster/topology.ts'
import { wholeNumber } from '../topology-flags.ts'
import { maxFakeNodes, maxFakePods, type FakePlan } from './plan.ts'

/** The flags that say how many fakes there are to be, as they were typed. */
interface FakeFlags {
  readonly 'fake-nodes'?: string | undefined
  readonly 'fake-pods'?: string | undefined
}

/**
 * Reads how many fakes there are to be.
 *
 * @throws {LabUsageError} naming the flag and what would have been right
 */
export function chooseFakes(flags: FakeFlags, { podNetwork }: Pick<Topology, 'podNetwork'>): FakePlan {
  const nodes = wholeNumber('--fake-nodes', flags['fake-nodes'] ?? '0', maxFakeNodes, 0)
  const pods = wholeNumber('--fake-pods', flags['fake-pods'] ?? '0', maxFakePods, 0)
  if (nodes > 0 && podNetwork === 'bridge')
    throw wrong(`--fake-nodes ${nodes}`, 'the pod network kube-ovn, which has a Southbound; bridge has none')
  if (nodes === 0 && pods > 0)
    throw wrong(`--fake-pods ${pods}`, 'give --fake-nodes as well, for the pods to be on')
  return { nodes, pods }
}

function wrong(argument: string, cure: string): LabUsageError {
  return new LabUsageError('the command line is not understood', { argument, cure })
}
