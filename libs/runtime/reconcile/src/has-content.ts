import { mergePatch, type MergeFragment } from '@kube-ovn/kube'

/** Whether an object, or a part of it, has all of the content already, so that the kernel would send nothing of it. */
export function hasContent(present: unknown, content: MergeFragment): boolean {
  return mergePatch(present, content) === undefined
}
