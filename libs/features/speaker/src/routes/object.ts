import { bgpAnnotations, type BgpPolicy } from '@kube-ovn/annotations'
import { refusalOf } from '@kube-ovn/errors'
import { cidrOf, networkText, type Ip } from '@kube-ovn/ip'
import type { KubeObject } from '@kube-ovn/kube-api/core'
import type { AnnouncementProblem } from './snapshot.ts'

/** Tells of a field of an object that says nothing that can be done. */
export type Tell = (problem: Omit<AnnouncementProblem, 'object'>) => void

/** Tells of an object, at the end of a list. */
export function tellingOf(kind: string, { metadata }: KubeObject, problems: AnnouncementProblem[]): Tell {
  const object = [kind, metadata.namespace, metadata.name].filter((part) => part !== undefined).join('/')
  return (problem) => problems.push({ object, ...problem })
}

/** Who announces an object; `undefined` for nobody, and for a policy that is told of. */
export function policyOf(object: KubeObject, tell: Tell): BgpPolicy | undefined {
  try {
    return bgpAnnotations.policy.read(object.metadata.annotations)
  } catch (error) {
    tell(refusalOf(error))
    return undefined
  }
}

/** The prefix of an address alone. */
export function hostPrefix(address: Ip): string {
  return networkText(cidrOf(address, typeof address === 'number' ? 32 : 128))
}

/** The address that a field has; none where it is empty, or is none of the kind, which is told of. */
export function addressIn(
  field: string,
  text: string | undefined,
  parse: (text: string) => Ip | undefined,
  cure: string,
  tell: Tell,
): readonly Ip[] {
  if (text === undefined || text === '') return []
  const address = parse(text)
  if (address === undefined) tell({ field, value: text, cure })
  return address === undefined ? [] : [address]
}
