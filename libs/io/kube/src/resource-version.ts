/**
 * Compares two resource versions of one resource: negative when `a` is older, 0 when equal, positive when newer.
 *
 * Since Kubernetes 1.35 they are documented to be decimal numbers of any length without leading zeros, which compare
 * by length and then by digits, without being parsed. A missing version is older than any other.
 *
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
 */
export function compareResourceVersions(a: string | undefined, b: string | undefined): number {
  const left = a ?? ''
  const right = b ?? ''
  if (left.length !== right.length) return left.length - right.length
  if (left === right) return 0
  return left < right ? -1 : 1
}
