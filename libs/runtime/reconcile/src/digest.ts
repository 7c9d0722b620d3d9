import { createHash } from 'node:crypto'

/** Stands for a text where there is no room for all of it: the first hexadecimal digits of its SHA-256. */
export function digestOf(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits)
}
