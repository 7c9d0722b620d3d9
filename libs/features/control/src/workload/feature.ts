import { cronJobs, daemonSets, deployments, jobs, statefulSets } from '@kube-ovn/kube-api/core'
import type { Workload } from '@kube-ovn/kube-api/core'
import type { ObjectChange, Resource, Store } from '@kube-ovn/kube'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, Feature, ObjectTrigger } from '@kube-ovn/reconcile'
import type { ControlWorld } from '../world.ts'
import { misplacedRequests } from './misplaced.ts'

interface WorkloadSnapshot {
  readonly resource: Resource
  readonly object: Workload
}

const resources: readonly Resource<Workload>[] = [deployments, statefulSets, daemonSets, jobs]

/** Tells users of annotations that have no effect where they stand. Keys are `kind/namespace/name`. */
export const workload: Feature<string, WorkloadSnapshot, ControlWorld> = {
  name: 'workload',
  kinds: [],
  triggers: resources.map((resource): ObjectTrigger<string, ControlWorld> => ({
    on: 'object',
    resource,
    keys: ({ key, old, new: current }: ObjectChange<Workload>) =>
      [old, current].some((object) => object !== undefined && isMisplaced(object))
        ? [`${resource.kind}/${key}`]
        : [],
  })),
  observe(key, world) {
    const [kind = '', namespace = '', name = ''] = key.split('/')
    const resource = resources.find((one) => one.kind === kind)
    const object = storeOf(kind, world)?.get(`${namespace}/${name}`)
    return resource === undefined || object === undefined ? undefined : { resource, object }
  },
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredWorkload(snapshot)),
}

function storeOf(kind: string, world: ControlWorld): Store<Workload> | undefined {
  switch (kind) {
    case deployments.kind:
      return world.deployments
    case statefulSets.kind:
      return world.statefulSets
    case daemonSets.kind:
      return world.daemonSets
    case jobs.kind:
      return world.jobs
    default:
      return undefined
  }
}

function isMisplaced(object: Workload): boolean {
  return Object.keys(misplacedRequests(object)).length > 0
}

function desiredWorkload({ resource, object }: WorkloadSnapshot): Desired {
  const { regarding, place, cure } = authorOf(resource, object)
  const events = Object.entries(misplacedRequests(object)).map(([key, value]) => {
    const message = `${key} ${JSON.stringify(value)} has no effect on ${place}: write it into ${cure}`
    return { regarding, type: 'Warning', reason: 'AnnotationIgnored', message } as const
  })
  return { ...nothing, events }
}

/** Where a user wrote the annotations of a workload, and where they belong. A Job has those that its CronJob gives it. */
function authorOf(resource: Resource, { metadata }: Workload) {
  const { namespace = '', name, uid = '', ownerReferences = [] } = metadata
  const cronJob = ownerReferences.find(({ kind }) => kind === cronJobs.kind)
  if (resource.kind !== jobs.kind || cronJob === undefined) {
    const regarding = { resource, namespace, name, uid }
    return { regarding, place: `a ${resource.kind}`, cure: 'spec.template.metadata.annotations' }
  }
  return {
    regarding: { resource: cronJobs, namespace, name: cronJob.name, uid: cronJob.uid },
    place: 'the Jobs of a CronJob',
    cure: 'spec.jobTemplate.spec.template.metadata.annotations',
  }
}
