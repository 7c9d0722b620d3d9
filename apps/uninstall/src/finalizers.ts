import { controllerFinalizer, deprecatedControllerFinalizer } from '@kube-ovn/annotations'
import {
  KubeConflictError,
  KubeNotFoundError,
  listAll,
  type KubeClient,
  type KubeObject,
  type ObjectMeta,
  type Resource,
} from '@kube-ovn/kube'
import { apiGroup, controllerDefinitions } from '@kube-ovn/kube-api'

const ours: readonly string[] = [controllerFinalizer, deprecatedControllerFinalizer]
const pageSize = 500

/** Kinds of others, whose definitions we only bring along, get no finalizer of ours. */
export const ownKinds = controllerDefinitions
  .map(({ resource }) => resource)
  .filter(({ group }) => group === apiGroup)

/** Takes our finalizers off all objects of all our kinds and tells how many objects of each had one. */
export async function removeFinalizers(
  client: KubeClient,
): Promise<readonly { readonly kind: string; readonly count: number }[]> {
  const counts = []
  for (const resource of ownKinds) {
    let count = 0
    for (const object of await objectsOf(client, resource)) {
      if (object.metadata.finalizers?.some((finalizer) => ours.includes(finalizer)) !== true) continue
      await release(client, resource, object)
      count += 1
    }
    counts.push({ kind: resource.kind, count })
  }
  return counts
}

/** None when the definition was deleted already. */
async function objectsOf(client: KubeClient, resource: Resource): Promise<readonly KubeObject[]> {
  try {
    return (await listAll(client, resource, { limit: pageSize })).items
  } catch (error) {
    if (error instanceof KubeNotFoundError) return []
    throw error
  }
}

/** Finalizers of others stay, and so do those that they add meanwhile: the patch is of the version that was read. */
async function release(client: KubeClient, resource: Resource, read: KubeObject): Promise<void> {
  let object: KubeObject | undefined = read
  while (object !== undefined) {
    const { name, resourceVersion, finalizers = [] }: ObjectMeta = object.metadata
    const kept = finalizers.filter((finalizer) => !ours.includes(finalizer))
    try {
      await client.patch(resource, { name }, 'application/merge-patch+json', {
        metadata: { resourceVersion, finalizers: kept },
      })
      return
    } catch (error) {
      if (error instanceof KubeNotFoundError) return
      if (!(error instanceof KubeConflictError)) throw error
      object = await client.get(resource, { name })
    }
  }
}
