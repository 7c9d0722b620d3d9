import { domainPattern, longestDomain } from '@kube-ovn/kube-api'
import { NameNotFollowedError, PolicyInvalidError } from './errors.ts'

/** Whether anybody finds out what names stand for. */
export interface NameService {
  readonly followsNames: boolean
}

/**
 * Reads a DNS name: from the root whether or not it says so, in small letters.
 *
 * @param until what is so while it can not be used
 * @throws NameNotFollowedError, PolicyInvalidError
 */
export function readDomainName(
  text: unknown,
  { field, until, followsNames }: NameService & { readonly field: string; readonly until: string },
): string {
  const value = String(text)
  if (!followsNames) throw new NameNotFollowedError({ field, value, until })
  const lower = value.toLowerCase()
  const name = lower.endsWith('.') ? lower : `${lower}.`
  if (domainPattern.test(name) && name.length <= longestDomain) return name
  const cure = `write a name like www.example.com or *.example.com, of letters, digits and dashes (other alphabets as xn--…); ${until}`
  throw new PolicyInvalidError({ field, value, cure })
}
