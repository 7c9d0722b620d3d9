/** Replaced by the bundler with the version of the release. */
declare const KUBE_OVN_VERSION: string | undefined

export const version = typeof KUBE_OVN_VERSION === 'string' ? KUBE_OVN_VERSION : 'development'

/**
 * Says that this program and the controller are of releases that differ in more than their fixes; nothing where that is not so, or
 * where one of them is of no release.
 *
 * @param tags of images of the controller
 */
export function skewOf(own: string, tags: readonly string[]): string | undefined {
  const ours = releaseOf(own)
  const others = [...new Set(tags)].filter((tag) => releaseOf(tag) !== undefined && releaseOf(tag) !== ours)
  if (ours === undefined || others.length === 0) return undefined
  return `this kubectl-ko is of ${own}, the cluster runs ${others.join(', ')}: use that of the cluster's version, or what it shows may lack something`
}

/** `1.17` of `v1.17.2-amd64`. */
function releaseOf(tag: string): string | undefined {
  return /^v?(\d+\.\d+)\.\d+/.exec(tag)?.[1]
}
