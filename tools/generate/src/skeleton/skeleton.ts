import { SkeletonError } from './errors.ts'

/** A change of a file that lists things of a sort. */
export interface ListEdit {
  readonly path: string
  readonly edit: (text: string) => string
}

export interface PackageLink {
  /** Folder of who imports. */
  readonly from: string
  readonly name: string
  /** Folder of the package. */
  readonly to: string
}

/** Something new: files of its own, and its lines in lists. Paths are of the checkout. */
export interface Skeleton {
  readonly files: Readonly<Record<string, string>>
  readonly edits: readonly ListEdit[]
  /** Packages of the workspace that a folder imports from now on; the next installation links them the same way. */
  readonly links?: readonly PackageLink[]
}

/**
 * Puts text behind what a pattern matches first.
 *
 * @throws SkeletonError when it matches nothing: the list has another form than the skeleton knows
 */
export function insertAfter(path: string, pattern: RegExp, added: string): ListEdit {
  return { path, edit: (text) => replaceOnce(path, text, pattern, (match) => `${match}${added}`) }
}

/** Puts text before what a pattern matches first. */
export function insertBefore(path: string, pattern: RegExp, added: string): ListEdit {
  return { path, edit: (text) => replaceOnce(path, text, pattern, (match) => `${added}${match}`) }
}

function replaceOnce(
  path: string,
  text: string,
  pattern: RegExp,
  replacement: (match: string) => string,
): string {
  if (pattern.test(text)) return text.replace(pattern, replacement)
  throw new SkeletonError('a list has no place for what is new', {
    field: path,
    value: pattern.source,
    cure: 'correct the pattern in tools/generate/src/skeleton',
  })
}
