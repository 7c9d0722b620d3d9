import { PolicyInvalidError } from './errors.ts'

/** An object that nobody made sure of. */
export type Written = Readonly<Record<string, unknown>>

/** @throws PolicyInvalidError, as the others */
export function recordOf(value: unknown, field: string, until: string): Written {
  return isRecord(value) ? value : refuse(field, value, `write an object; ${until}`)
}

function isRecord(value: unknown): value is Written {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function listOf(value: unknown, field: string, until: string): readonly unknown[] {
  return Array.isArray(value) ? value : refuse(field, value, `write a list; ${until}`)
}

export function textOf(value: unknown, field: string, until: string): string {
  return typeof value === 'string' ? value : refuse(field, value, `write a text; ${until}`)
}

export function refuse(field: string, value: unknown, cure: string): never {
  return refuseText(field, toldOf(value), cure)
}

/** What has parts is not written out: they may be nested deeper than any stack is. */
function toldOf(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return 'a list'
  return isRecord(value) ? 'an object' : JSON.stringify(value)
}

export function refuseText(field: string, value: string, cure: string): never {
  throw new PolicyInvalidError({ field, value, cure })
}
