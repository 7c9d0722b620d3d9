import { controlFeatures, declarationsOf } from '@kube-ovn/assembly-controller'
import { defaultsOf } from '@kube-ovn/process'

/** What the flags that features declare are when nobody gives them. */
export function flagDefaults(): Readonly<Record<string, unknown>> {
  return defaultsOf(declarationsOf(controlFeatures).flags)
}
