import { controllerDefinitions } from '@kube-ovn/kube-api'
import { customResourceDefinitions, events } from '@kube-ovn/kube-api/core'
import type { Resource } from '@kube-ovn/kube'

/** A right of the controller that no feature needs by itself. */
export interface OwnRight {
  readonly resource: Resource
  readonly verbs: readonly string[]
  /** Names of the only objects that it is about. */
  readonly names?: readonly string[]
}

export const ownRights: readonly OwnRight[] = [
  { resource: events, verbs: ['create', 'list', 'patch'] },
  // Which fields a status has, and whether a kind is being deleted or one of its objects.
  {
    resource: customResourceDefinitions,
    verbs: ['get', 'list', 'watch'],
    names: controllerDefinitions.map(({ resource: { plural, group } }) => `${plural}.${group}`).sort(),
  },
]
