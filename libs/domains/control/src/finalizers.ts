import { controllerFinalizer, hasControllerFinalizer } from '@kube-ovn/annotations'

/** The finalizers of an object that is in our care, with ours under its present name. */
export function withOurFinalizer(finalizers: readonly string[] = []): readonly string[] {
  return [...withoutOurFinalizer(finalizers), controllerFinalizer]
}

/** The finalizers of an object that we let go. */
export function withoutOurFinalizer(finalizers: readonly string[] = []): readonly string[] {
  return finalizers.filter((finalizer) => !hasControllerFinalizer([finalizer]))
}
