import { SkeletonError } from './errors.ts'

/** One name in the forms in which folders, values and types have it. */
export interface Name {
  /** dns-zone */
  readonly kebab: string
  /** dnsZone */
  readonly camel: string
  /** DnsZone */
  readonly pascal: string
  /** dns zone */
  readonly words: string
}

/** @throws SkeletonError for what is no name of a folder here */
export function parseName(text: string): Name {
  if (!/^[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*$/.test(text))
    throw new SkeletonError('a name is refused', {
      field: 'NAME',
      value: text,
      cure: 'write small letters and digits, words apart by hyphens, e.g. dns-zone',
    })
  const words = text.split('-')
  const pascal = words.map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`).join('')
  return {
    kebab: text,
    camel: `${pascal.slice(0, 1).toLowerCase()}${pascal.slice(1)}`,
    pascal,
    words: words.join(' '),
  }
}
