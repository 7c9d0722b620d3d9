import { controllerFinalizer, deprecatedControllerFinalizer } from '@kube-ovn/annotations'

/** The finalizers of an object that is in our care, with ours under its present name. */
export function withOurFinalizer(finalizers: readonly string[] = []): readonly string[] {
  return [...withoutOurFinalizer(finalizers), controllerFinalizer]
}

/** The finalizers of an object that we let go. */
export function withoutOurFinalizer(finalizers: readonly string[] = []): readonly string[] {
  return finalizers.filter((finalizer) => !isOurs(finalizer))
}

/** Whether an object is in our care, or was in that of an older version. */
export function hasOurFinalizer(finalizers: readonly string[] = []): boolean {
  return finalizers.some(isOurs)
}

function isOurs(finalizer: string): boolean {
  return finalizer === controllerFinalizer || finalizer === deprecatedControllerFinalizer
}
