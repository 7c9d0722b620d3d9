import type { Refused } from '@kube-ovn/errors'
import { AnnotationInvalidError } from './errors.ts'

/** Reads the text of an annotation as a JSON object. @throws AnnotationInvalidError that says what is `refused` */
export function parseObject(refused: Refused): Readonly<Record<string, unknown>> {
  let json: unknown
  try {
    json = JSON.parse(refused.value)
  } catch (cause) {
    throw new AnnotationInvalidError(refused, { cause })
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new AnnotationInvalidError(refused)
  return json as Readonly<Record<string, unknown>>
}
